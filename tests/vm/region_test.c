/* `tare count --region` by probes on hardware counters: instructions of regions equal the arithmetic to the instruction.
 *
 * What each function executes is written in regions.S. What probes add and take (their traps; instructions that the kernel does in their
 * place) is measured by tare itself on this machine and taken out: the functions begin with each kind of instruction. */
#include <stdlib.h>

#include "tap.h"
#include "vm/counted.h"

enum { N = 100, TIMES = 10, WORK = 2 + 2 * N };
#ifdef __aarch64__
enum { LEVEL = 12, DEEPEST = 9 };
#else
enum { LEVEL = 13, DEEPEST = 10 };
#endif

static const char *program(void)
{
	const char *named = getenv("TARE_REGIONS");
	return named ? named : "/bin/regions";
}

static json_t *region_of(const struct counted *c, const char *name)
{
	size_t i;
	json_t *region;
	json_array_foreach(json_object_get(c->report, "regions"), i,
			   region) if (strcmp(json_string_value(json_object_get(region, "name")), name) ==
				       0) return region;
	return NULL;
}

static double value_of(const json_t *region, const char *event)
{
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(region, "results"), i,
			   row) if (strcmp(json_string_value(json_object_get(row, "event")), event) ==
				    0) return json_is_number(json_object_get(row, "value"))
		? json_number_value(json_object_get(row, "value"))
		: NAN;
	return NAN;
}

static json_t *row_of_region(const json_t *region, const char *event)
{
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(region, "results"), i,
			   row) if (strcmp(json_string_value(json_object_get(row, "event")), event) ==
				    0) return row;
	return NULL;
}

static double number_of(const json_t *region, const char *member)
{
	return json_is_number(json_object_get(region, member)) ? json_number_value(json_object_get(region, member))
							       : NAN;
}

/* Elsewhere than in the guest an interrupt may add to a count, and a hypervisor's PMU lose some, or all. */
static bool is_count(double is, double instructions)
{
	return in_guest() ? is == instructions
			  : isnan(is) || fabs(is - instructions) <= 100 + instructions / 1000;
}

static void check(const struct counted *c, const char *name, double entries, double threads, double instructions,
		  const char *fact)
{
	json_t *region = region_of(c, name);
	double is = value_of(region, "instructions:u");
	bool holds = number_of(region, "entries") == entries && number_of(region, "exits") == entries &&
		     number_of(region, "threads") == threads && number_of(region, "unbalanced_threads") == 0 &&
		     is_count(is, instructions);
	if (!holds)
		printf("# entries %g, exits %g, threads %g, instructions %.0f, expected %g, %g, %.0f: %s\n",
		       number_of(region, "entries"), number_of(region, "exits"), number_of(region, "threads"), is,
		       entries, threads, instructions, c->said);
	ok(holds, "%s", fact);
}

static struct counted *run(const char *part, const char *first, const char *second)
{
	return tare_run("count", "--on", "perf", "-e", "instructions:u,page-faults", "--region", first, "--region",
			second, program(), part, "10", "100", NULL);
}

int main(void)
{
	static const struct {
		const char *part, *function, *fact;
		double instructions;
	} functions[] = {
		{"work", "region_work",
		 "a function that begins with a plain instruction has its instructions, from the first to the "
		 "return",
		 WORK},
		{"nop", "region_nop", "so has one that begins with a nop", WORK},
		{"frame", "region_frame", "with a push", WORK + 1},
		{"branch", "region_branch", "with a branch, which the kernel may do itself", WORK},
		{"lines", "region_lines", "and any other", WORK + 1},
	};
	if (no_pmu()) {
		skip(no_pmu(), "instructions of regions are exact");
		return done();
	}
	struct counted *tried = run("work", "region_work", "unused=main");
	bool silent = strstr(tried->said, "this kernel's tracing does not answer");
	counted_free(tried);
	if (silent && !in_guest()) {
		skip("this kernel's tracing does not answer", "instructions of regions are exact");
		return done();
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		struct counted *c = run(functions[i].part, functions[i].function, "unused=main");
		check(c, functions[i].function, TIMES, 1, TIMES * functions[i].instructions, functions[i].fact);
		counted_free(c);
	}

	struct counted *c = run("lines", "loop=regions.S:60-61", "region_lines");
	check(c, "loop", TIMES, 1, TIMES * 2 * N,
	      "lines have theirs, from the first of them to the first that is not");
	check(c, "region_lines", TIMES, 1, TIMES * (WORK + 1),
	      "and the function around them its own, the probes inside taken out");
	counted_free(c);

	c = run("outer", "region_outer", "region_work");
	check(c, "region_work", TIMES, 1, TIMES * WORK, "nested regions are counted both, the inner one");
	check(c, "region_outer", TIMES, 1, TIMES * (7 + 2 * WORK), "and the outer one with what it calls");
	json_t *own = row_of_region(region_of(c, "region_outer"), "instructions:u");
	ok(!in_guest() || (number_of(own, "gross") - number_of(own, "tare") == TIMES * (7 + 2 * WORK) &&
			   number_of(own, "tare") != 0),
	   "of which gross and tare say what the probes did (%g, %g)", number_of(own, "gross"),
	   number_of(own, "tare"));
	counted_free(c);

	/* the same event by its number: what traps add to it is not subtracted */
	c = tare_run("count", "--on", "perf", "-e", "r8:u", "--region", "region_outer", "--region", "region_work",
		     program(), "outer", "10", "100", NULL);
	if (in_guest()) {
		double truth = TIMES * (7 + 2 * WORK);
		own = row_of_region(region_of(c, "region_outer"), "r8:u");
		double value = number_of(own, "value"), bound = number_of(own, "bound");
		ok(bound > 0 && bound <= 50 && value >= truth && value - bound <= truth,
		   "what traps add to a hardware event is measured, and told (%.0f, up to %.0f of it, for %.0f)",
		   value, bound, truth);
		own = row_of(c, "r8:u", 0);
		ok(number_of(own, "value") > truth && number_of(own, "bound") >= bound,
		   "and of the whole program's count (up to %.0f)", number_of(own, "bound"));
	}
	counted_free(c);

	c = run("recurse", "region_recurse", "region_work");
	check(c, "region_recurse", TIMES, 1, TIMES * (4 * (LEVEL + WORK) + DEEPEST + WORK),
	      "recursion is one pass");
	check(c, "region_work", 5 * TIMES, 1, 5 * TIMES * WORK,
	      "in which other regions are entered as often as they are");
	counted_free(c);

	c = run("threads", "region_work", "region_nop");
	check(c, "region_work", 4 * TIMES, 4, 4 * TIMES * WORK,
	      "threads are counted, each from its first instruction");
	check(c, "region_nop", 0, 0, 0, "a region that is not entered is 0");
	ok(value_of(region_of(c, "region_work"), "page-faults") == 0,
	   "and the probes' page faults are no region's");
	counted_free(c);

	c = run("children", "region_work", "region_nop");
	check(c, "region_work", 3 * TIMES, 3, 3 * TIMES * WORK, "so are child processes");
	counted_free(c);

	/* five events and as many of the region are more than seven counters */
	static const char five[] = "instructions:u,instructions:k,instructions:uk,cycles:u,cycles:k";
	c = tare_run("count", "--on", "perf", "--several-runs", "-e", five, "--region", "region_work", program(),
		     "work", "10", "100", NULL);
	check(c, "region_work", TIMES, 1, TIMES * WORK,
	      "with --several-runs all counters of regions have a place");
	json_t *kernel = row_of_region(region_of(c, "region_work"), "cycles:k");
	const char *why = json_string_value(
		json_object_get(row_of_region(region_of(c, "region_work"), "instructions:k"), "why"));
	ok(why && strstr(why, "too small to measure"),
	   "so that none is shared; the kernel's instructions, the probes' alone, are refused (%s)",
	   why ? why : "");
	why = json_string_value(json_object_get(kernel, "why"));
	ok(why && strstr(why, "region 'region_work' is too small to measure"),
	   "cycles of the kernel, the probes' alone, are refused (%s)", why ? why : "");
	counted_free(c);
	c = tare_run("count", "--on", "perf", "-e", five, "--region", "region_work", program(), "work", "10",
		     "100", NULL);
	check(c, "region_work", TIMES, 1, TIMES * WORK,
	      "in one run the regions' counters are on the PMU, whatever becomes of the program's");
	counted_free(c);
	/* eight events do not fit seven counters */
	c = tare_run(
		"count", "--on", "perf", "-e",
		"instructions:u,instructions:k,instructions:uk,cycles:u,cycles:k,cycles:uk,r8:u,r8:k,r11:u,r11:k",
		"--region", "region_work", program(), "work", "10", "100", NULL);
	json_t *region = region_of(c, "region_work");
	size_t i, left_out = 0;
	json_t *row;
	json_array_foreach(json_object_get(region, "results"), i, row)
		left_out += json_is_null(json_object_get(row, "value")) &&
			    strstr(json_string_value(json_object_get(row, "why")), "--several-runs");
	ok(region && left_out > 0,
	   "events of a region that do not fit the counters are not counted, and say so (%zu)", left_out);
	double some = value_of(region, "instructions:u");
	ok(isnan(some) || (is_count(some, TIMES * WORK) && number_of(region, "entries") == TIMES),
	   "what is counted beside them is right");
	counted_free(c);

	c = tare_run("count", "--on", "perf", "--no-children", "-e", "instructions:u", "--region", "region_work",
		     program(), "children", "10", "100", NULL);
	check(c, "region_work", 0, 0, 0, "but not with --no-children");
	counted_free(c);
	return done();
}
