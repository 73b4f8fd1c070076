/* `tare explain` with hardware counters: counts × costs, compared with the measured time.
 *
 * An instruction is given the cost of 1 ns. In the guest that is what it takes: so the program's own part of the CPU
 * time is explained, and what is left is the kernel's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "tap.h"
#include "vm/counted.h"

static const char costs[] = "[costs]\nmachine = planted\ntitle = planted\nsource = made up\n\n[cost]\nof = instruction\n"
			    "unit = ns\nminimum = 0.5\ntypical = 1\nmaximum = 2\nsource = made up\n";

static json_t *first_of(json_t *rows, const char *key, const char *text)
{
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row)
		if (strcmp(json_string_value(json_object_get(row, key)), text) == 0)
			return row;
	return NULL;
}

static double number(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static json_t *explained(const char *on, const char *folder, char *const argument)
{
	char costs_path[64], report[64];
	snprintf(costs_path, sizeof costs_path, "%s/planted.costs", folder);
	snprintf(report, sizeof report, "%s/report.json", folder);
	FILE *file = fopen(costs_path, "w");
	if (!file || fputs(costs, file) < 0 || fclose(file) != 0)
		return NULL;
	struct counted *c = tare_run("explain", "-q", "--on", on, "--costs", costs_path, "--json", "-o", report,
				     kernel("loop"), argument, NULL);
	json_t *result = c->status == 0 ? json_load_file(report, 0, NULL) : NULL;
	if (!result)
		printf("# status %d: %s\n", c->status, c->said);
	counted_free(c);
	unlink(costs_path);
	unlink(report);
	return result;
}

static void by_counters(const char *on, const char *folder)
{
	json_t *result = explained(on, folder, "4000000");
	json_t *computing = first_of(json_object_get(result, "causes"), "cause", "computing");
	json_t *part = first_of(json_object_get(computing, "parts"), "event", "instructions:u");
	json_t *measured = json_object_get(result, "measured"), *sum = json_object_get(result, "sum");
	double truth = (double)predicted("loop", "instructions", 4000000), count = number(part, "count");
	if (!ok(result && part, "--on %s: a program is explained", on))
		return;
	/* elsewhere more events may share the counters, and what is scaled is an estimate */
	const char *source = json_string_value(json_object_get(part, "source"));
	bool whole = source && strcmp(source, "hw") == 0;
	if (whole || in_guest())
		ok(whole && agrees(count, truth), "--on %s: its instructions are the hardware's count, %.0f (%.0f)",
		   on, truth, count);
	else if (!isfinite(count)) {
		json_decref(result);
		return;
	}
	json_t *seconds = json_object_get(part, "seconds");
	ok(fabs(number(seconds, "typical") - count * 1e-9) < 1e-12 &&
		   fabs(number(seconds, "least") - count * 0.5e-9) < 1e-12 &&
		   fabs(number(seconds, "most") - count * 2e-9) < 1e-12,
	   "--on %s: their time is the count times its cost: least, typical and most", on);
	double left = number(result, "unexplained_seconds") - number(result, "overlap_seconds");
	ok(fabs(number(sum, "typical") + left - number(measured, "total_seconds")) < 1e-9,
	   "--on %s: the sum and what is unexplained are the measured time", on);
	if (in_guest())
		ok(number(computing, "typical") <= number(measured, "total_seconds") && left >= 0,
		   "--on %s: where an instruction takes 1 ns, they take no more than was measured", on);
	json_decref(result);
}

int main(void)
{
	char folder[] = "/tmp/explain-XXXXXX";
	if (no_pmu()) {
		skip(no_pmu(), "a program is explained by hardware counters");
		return done();
	}
	if (!mkdtemp(folder))
		return 1;
	by_counters("auto", folder);
	by_counters("perf", folder);
	rmdir(folder);
	return done();
}
