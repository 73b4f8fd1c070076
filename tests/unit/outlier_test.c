/* What tare names as the cause of a run that stands out (measure/outlier.c), from accounts of the operating system that are written here. */
#include "measure/measurement.h"
#include "tap.h"

enum { RUNS = 8, ODD = 5 };

/* The cause of run ODD, which counts twice as much as all others, when its account is `odd` and all others' are `usual`. */
static const char *cause(const struct account *usual, const struct account *odd)
{
	static char text[400];
	static const struct event_definition row = {
		.name = "instructions", .unit = "instructions", .counted_by = COUNTED_BY_PERF};
	// clang-format off: a table, a row a line
	const struct event event = {.text = "instructions",
				    .label = "instructions",
				    .definition = &row,
				    .levels = LEVEL_USER | LEVEL_KERNEL};
	// clang-format on
	struct estimate estimate = {.event = "instructions", .known = true};
	struct result result = {.estimates = &estimate, .n_estimates = 1};
	struct series_count counts[RUNS];
	struct account accounts[RUNS];
	bool by_account = false;
	size_t pass_of = 0;
	struct series series = {.counts = counts};
	// clang-format off: a table, a row a line
	struct measurement s = {.events = &event,
				.n_events = 1,
				.by_account = &by_account,
				.pass_of = &pass_of,
				.passes = 1,
				.accounts = accounts,
				.result = &result};
	// clang-format on
	s.options.repetitions = RUNS;
	s.series.items = &series;
	s.series.count = 1;
	for (size_t i = 0; i < RUNS; i++) {
		counts[i] = (struct series_count){
			.value = i == ODD ? 2000 : 1000, .share = 1, .state = READING_COUNTED, .reached = true};
		accounts[i] = i == ODD ? *odd : *usual;
	}
	bool named = measurement_name_outliers(&s) && result.n_outliers == 1 &&
		     result.outliers[0].repetition == ODD;
	snprintf(text, sizeof text, "%s", named ? result.outliers[0].cause : "(it is not named)");
	arena_free(&result.arena);
	return text;
}

int main(void)
{
	// clang-format off: a table, a row a line
	const struct account usual = {.complete = true,
				      .known = true,
				      .minor_faults = 1000,
				      .involuntary_switches = 1,
				      .voluntary_switches = 10};
	// clang-format on
	struct account odd = usual;
	equal_text(cause(&usual, &odd), "no cause seen", "an account like all others is no cause");
	/* 2 % of 1000 are 20, two switches two: what a run may differ by is 3.5 of them */
	odd.minor_faults = 1070, odd.involuntary_switches = 8, odd.voluntary_switches = 17;
	equal_text(cause(&usual, &odd), "no cause seen", "neither is what differs by as much as runs do");
	odd.minor_faults = 1071;
	equal_text(cause(&usual, &odd), "1071 minor page faults (median 1000)", "what differs by more is");
	odd.involuntary_switches = 101;
	equal_text(cause(&usual, &odd),
		   "101 involuntary context switches (median 1), 1071 minor page faults (median 1000)",
		   "of several causes the one that stands out more comes first");
	odd = usual, odd.minor_faults = 10, odd.wait_status = 3 << 8;
	equal_text(cause(&usual, &odd), "the program ended with exit status 3",
		   "fewer faults than usual are no cause, another exit status is");
	return done();
}
