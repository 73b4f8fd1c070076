/* `tare count` on hardware counters against the kernels' predicted counts: equality, with nothing to subtract.
 *
 * Why nothing: the counter is enabled by the exec itself and disabled by the exit, and at the user level the first
 * instruction that it sees is the program's first. */
#include <stdlib.h>

#include "tap.h"
#include "vm/counted.h"
#include "vm/most_common.h"

static double counted_once(const char *name, const char *argument)
{
	struct counted *c = tare_run("count", "-e", "instructions:u", kernel(name), argument, NULL);
	struct row row = event_row(c, "instructions:u");
	if (!row.known || strcmp(row.source, "hw") != 0)
		printf("# status %d, source '%s', why '%s': %s\n", c->status, row.source, row.why, c->said);
	double value = row.known && strcmp(row.source, "hw") == 0 ? row.value : NAN;
	counted_free(c);
	return value;
}

/* The most common of so many counts. A host that takes counters away makes one unknown now and then, not four in a
 * row: NAN. In the guest each one is. */
static double instructions_of(const char *name, const char *argument, size_t times)
{
	enum { MOST = 9, UNKNOWN_MOST = 3 };
	uint64_t counts[MOST];
	size_t n = 0, unknown = 0;
	while (n < times && n < MOST) {
		double count = counted_once(name, argument);
		if (!isnan(count))
			counts[n++] = (uint64_t)count;
		else if (in_guest() || ++unknown > UNKNOWN_MOST)
			return NAN;
	}
	return (double)most_common(counts, n);
}

int main(void)
{
	static const char *const names[] = {"loop",        "chain",  "loads",      "stores",   "array",
					    "branches",    "calls",  "syscalls",   "children", "pages",
					    "phases",      "linear", "misaligned", "fp-add",   "fp-add-single",
					    "fp-multiply", "fp-fma"};
	static const uint64_t arguments[] = {1, 2, 10, 999, 4000};
	if (no_pmu()) {
		skip(no_pmu(), "the kernels' instructions are counted as predicted");
		return done();
	}
	double nothing = instructions_of("empty", NULL, 1);
	ok(agrees(nothing, (double)predicted("empty", "instructions", 0)),
	   "a program of three instructions counts three: measuring adds nothing at the user level (%g)", nothing);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (kernel_missing(names[i])) {
			skip("this CPU cannot run it", names[i]);
			continue;
		}
		for (size_t a = 0; a < sizeof arguments / sizeof *arguments; a++) {
			char argument[24];
			uint64_t n = strcmp(names[i], "phases") == 0 ? 1 + a : arguments[a];
			snprintf(argument, sizeof argument, "%" PRIu64, n);
			double truth = (double)predicted(names[i], "instructions", n);
			double count = instructions_of(names[i], argument, 1);
			uint64_t faults = predicted(names[i], "page-faults-more", n);
			if (!ok(agrees_with_faults(count, truth, faults == UINT64_MAX ? 0 : (double)faults),
				"%s %s counts the predicted %.0f instructions", names[i], argument, truth))
				printf("# is %.0f\n", count);
		}
	}

	/* The same, from differences alone: whatever measuring might add is the same in both. */
	double once = instructions_of("loop", "20000", 9), twice = instructions_of("loop", "40000", 9);
	ok(twice - once == 40000, "20,000 iterations more are exactly 40,000 instructions more (%.0f)",
	   twice - once);

	struct counted *c = tare_run("count", "-r", "10", "--warm-up", "0", "--all-repetitions", "-e",
				     "instructions:u", kernel("loop"), "5000", NULL);
	json_t *runs = json_object_get(row_of(c, "instructions:u", 0), "runs"), *run;
	double truth = (double)predicted("loop", "instructions", 5000);
	size_t same = 0, known = 0, index;
	json_array_foreach(runs, index, run)
	{
		known += json_is_number(run);
		same += json_is_number(run) && agrees(json_number_value(run), truth);
	}
	ok(json_array_size(runs) == 10 && same == known && known >= (in_guest() ? 10 : 1),
	   "ten runs, the first included, count the same (%zu of %zu)", same, known);
	struct row row = event_row(c, "instructions:u");
	if (in_guest())
		ok(row.low == truth && row.high == truth, "and their interval has no width (%.17g to %.17g)",
		   row.low, row.high);
	counted_free(c);

	/* Work between fork and exec, and the environment that exec copies, belong to nobody's count. */
	static char large[100000];
	memset(large, 'x', sizeof large - 1);
	setenv("TARE_TEST_LARGE", large, 1);
	ok(instructions_of("empty", NULL, 1) == nothing || !in_guest(),
	   "a large environment, copied by exec, changes no user count");
	unsetenv("TARE_TEST_LARGE");
	return done();
}
