#include "cli/count_breakdown.h"

#include "profile/breakdown.h"

bool count_break_down(struct result *result, enum breakdown_by by, struct error *err)
{
	struct symbols *symbols;
	if (!symbols_new(NULL, &symbols, err))
		return false;
	bool done = breakdown_new(result->locations, symbols, by, &result->breakdown, err);
	symbols_free(symbols);
	if (done) {
		result->breakdown->run = result->first_run;
		result->breakdown->runs = result->repetitions;
	}
	return done;
}

const char *count_breakdown_defect(const struct result *result)
{
	for (size_t i = 0; result->breakdown && i < result->breakdown->n_events; i++)
		if (result->breakdown->events[i].defect)
			return result->breakdown->events[i].defect;
	return NULL;
}
