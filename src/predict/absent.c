/* Where the engine is not built (its tables say what an instruction counts). */
#include "predict/predict.h"

bool predict(const char *file, const char *place, const struct event *events, size_t n_events,
	     struct prediction *out, struct error *err)
{
	(void)place, (void)events, (void)n_events;
	*out = (struct prediction){0};
	error_set(err, ERROR_UNSUPPORTED, "the code of '%s' cannot be read here", file);
	return error_hint(err, "counts are predicted by a tare that was built for x86-64");
}
