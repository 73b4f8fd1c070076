/* The report of models against counters, where a counter itself is not to be relied on. Sums are in tests/cli/verify_models_test.py. */
#include <stdlib.h>

#include "report/models_study.h"
#include "tap.h"
#include "trust/models_errors.h"

static char *report_of(const struct models_study *study, bool json)
{
	char *text = NULL;
	size_t bytes;
	const struct report_options options = {.width = 300};
	FILE *out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	if (json)
		report_models_json(out, study);
	else
		report_models_text(out, study, &options);
	fclose(out);
	return text;
}

static void counter_of(enum trust trust, bool told, const char *mark)
{
	struct models_pair pair = {.model = 900, .counter = 1000, .low = 950, .high = 1050};
	struct models_event event = {.label = "l1d-misses:u", .trust = trust};
	struct models_program program = {.name = "gzip", .pairs = &pair};
	struct models_study study = {.model = "host",
				     .counters = "perf",
				     .n_events = 1,
				     .n_programs = 1,
				     .events = &event,
				     .programs = &program};
	models_pair_judge(&pair);
	ok(models_sum_up(&study) && event.compared == 1 && event.inside == 0 && event.trust == trust,
	   "the counter's trust stays as it is");
	char *text = report_of(&study, false), *json = report_of(&study, true);
	ok((strstr(text, "is not the model's") != NULL) == told, "%s: that the counter is %s is %s", mark,
	   trust_name(trust), told ? "told" : "not told");
	ok(strstr(text, mark) != NULL, "... with its mark");
	ok(strstr(text, "-10 % gzip") != NULL, "... beside the error");
	ok(strstr(json, trust_name(trust)) != NULL, "... and in JSON");
	free(text);
	free(json);
}

int main(void)
{
	counter_of(TRUST_VERIFIED, false, "l1d-misses:u✓");
	counter_of(TRUST_UNVERIFIED, false, "l1d-misses:u ");
	counter_of(TRUST_BIASED, true, "l1d-misses:u~");
	counter_of(TRUST_REFUTED, true, "l1d-misses:u✗");
	return done();
}
