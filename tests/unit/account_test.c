/* The operating system's account of an execution: each event has its own value, in its unit. */
#include "measure/account.h"
#include "event/event.h"
#include "tap.h"

// clang-format off: a table, a row a line
static const struct account account = {
	.complete = true,
	.known = true,
	.elapsed_ns = 2,
	.user_ns = 3,
	.system_ns = 5,
	.peak_memory_bytes = 7,
	.minor_faults = 11,
	.major_faults = 13,
	.voluntary_switches = 17,
	.involuntary_switches = 19,
	.probes_ns = 23,
	.probes_elapsed_ns = 29,
};
static const struct {
	const char *event;
	double value;
} truths[] = {
	{"elapsed-time", 2},
	{"user-time", 3},
	{"system-time", 5},
	{"cpu-time", 3 + 5},
	{"peak-memory", 7},
	{"page-faults", 11 + 13},
	{"minor-faults", 11},
	{"major-faults", 13},
	{"context-switches", 17 + 19},
	{"voluntary-switches", 17},
	{"involuntary-switches", 19},
};
// clang-format on

int main(void)
{
	struct account unknown = account;
	unknown.known = false;
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
		const struct event_definition row = {
			.name = truths[i].event, .unit = "ns", .counted_by = COUNTED_BY_PROCESS};
		struct event event = {.text = row.name,
				      .label = row.name,
				      .definition = &row,
				      .levels = LEVEL_USER | LEVEL_KERNEL};
		struct target command = {.kind = TARGET_COMMAND}, process = {.kind = TARGET_PROCESSES};
		bool clock = strcmp(row.name, "elapsed-time") == 0;
		double value = -1;
		ok(account_value(&account, &event, &value) && value == truths[i].value, "%s is %g", row.name,
		   truths[i].value);
		ok(account_value(&unknown, &event, &value) == clock, "%s is %s where there is no account",
		   row.name, clock ? "known even" : "not known");
		ok(!account_lacks(&event, &command), "%s is in the account of a program that is started",
		   row.name);
		ok((account_lacks(&event, &process) == NULL) == clock, "%s is %s of a process that runs already",
		   row.name, clock ? "known" : "not known");
		event.levels = LEVEL_USER;
		ok(account_lacks(&event, &command) != NULL, "%s is not known of one level alone", row.name);
	}
	const struct event_definition other = {
		.name = "instructions", .unit = "instructions", .counted_by = COUNTED_BY_PERF};
	// clang-format off: a table, a row a line
	const struct event event = {.text = "instructions",
				    .label = "instructions",
				    .definition = &other,
				    .levels = LEVEL_USER | LEVEL_KERNEL};
	// clang-format on
	double value;
	ok(!account_value(&account, &event, &value), "what the system keeps no account of has no value");
	return done();
}
