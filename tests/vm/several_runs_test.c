/* More events than counters: one run of the program and shared counters, or several runs and nothing shared. */
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"
#include "vm/counted.h"

/* Ten countings, where the guest has seven counters (one of them for cycles alone); under different names, for
 * tare counts what is asked for twice only once. */
#define TEN "instructions:u,cycles:u,instructions:k,cycles:k,instructions:uk,cycles:uk,r8:u,r11:u,r8:k,r11:k"
static const char *const exact_here[] = {"instructions:u", "cycles:u", "r8:u",
					 "r11:u"}; /* a cycle is an instruction */
static const char *const kernel_here[] = {"instructions:k", "cycles:k", "r8:k", "r11:k"};

/* Every row counted all the time, by hardware, and the user level's as predicted. */
static void nothing_scaled(const struct counted *c, const char *what)
{
	double truth = (double)predicted("phases", "instructions", 30);
	bool exact = true, all_the_time = true;
	json_t *row;
	size_t i;
	for (i = 0; i < sizeof exact_here / sizeof *exact_here; i++) {
		struct row r = event_row(c, exact_here[i]);
		if (!agrees(r.value, truth))
			printf("# %s: %.0f, predicted %.0f (source %s) %s\n", exact_here[i], r.value, truth,
			       r.source, r.why);
		exact &= agrees(r.value, truth);
	}
	json_array_foreach(json_object_get(c->report, "results"), i, row)
	{
		const char *source = json_string_value(json_object_get(row, "source"));
		all_the_time &= source && strcmp(source, "hw") == 0 &&
				json_number_value(json_object_get(row, "share_running")) == 1;
	}
	ok(i == 10 && all_the_time, "%s: ten events are counted all the time, none is scaled", what);
	ok(exact, "%s: what the user level does is counted as predicted", what);
	double least = INFINITY, most = 0;
	for (i = 0; i < sizeof kernel_here / sizeof *kernel_here; i++) {
		double value = event_row(c, kernel_here[i]).value;
		least = fmin(least, value);
		most = isnan(value) ? NAN : fmax(most, value);
	}
	ok(least > 100000 && most < 1.2 * least,
	   "%s: the kernel's counts of different runs agree within 20 %% (%.0f to %.0f)", what, least, most);
}

int main(void)
{
	if (no_pmu()) {
		skip(no_pmu(), "events that do not fit get runs of their own");
		return done();
	}
	if (!in_guest()) {
		skip("the number of counters is known of the guest only",
		     "events that do not fit get runs of their own");
		return done();
	}
	struct counted *c = tare_run("count", "--several-runs", "-e", TEN, kernel("phases"), "30", NULL);
	nothing_scaled(c, "--several-runs");
	size_t passes = (size_t)json_integer_value(json_object_get(c->report, "passes"));
	ok(passes == 2, "ten events and seven counters need two passes (%zu)", passes);
	counted_free(c);

	c = tare_run("count", "-r", "3", "-e", TEN, kernel("phases"), "30", NULL);
	nothing_scaled(c, "-r 3");
	passes = (size_t)json_integer_value(json_object_get(c->report, "passes"));
	json_int_t executions = json_integer_value(json_object_get(c->report, "executions"));
	ok(passes == 2 && executions == 7,
	   "three repetitions of two passes after one warm-up are seven executions (%d)", (int)executions);
	counted_free(c);

	c = tare_run("count", "-r", "3", "-e", "instructions:u,instructions:k,cycles:u", kernel("phases"), "5",
		     NULL);
	passes = (size_t)json_integer_value(json_object_get(c->report, "passes"));
	ok(passes == 1, "events that fit need one pass (%zu)", passes);
	counted_free(c);

	/* A plain run: once, whatever is asked for. */
	unlink("/tmp/tare-test-marks");
	c = tare_run("count", "-e", TEN, "/bin/sh", "-c", "echo x >>/tmp/tare-test-marks", NULL);
	FILE *marks = fopen("/tmp/tare-test-marks", "r");
	char text[20] = "";
	size_t bytes = marks ? fread(text, 1, sizeof text - 1, marks) : 0;
	if (marks)
		fclose(marks);
	unlink("/tmp/tare-test-marks");
	ok(bytes == 2, "a plain run with more events than counters runs the program once (%zu bytes)", bytes);
	ok(json_integer_value(json_object_get(c->report, "executions")) == 1, "and says so");
	counted_free(c);

	/* An event that had no turn is not counted: null and a reason, never 0. */
	c = tare_run("count", "-e", TEN, kernel("empty"), NULL);
	size_t i, n_missing = 0, zero = 0;
	json_t *row;
	json_array_foreach(json_object_get(c->report, "results"), i, row)
	{
		json_t *value = json_object_get(row, "value");
		n_missing += json_is_null(value) && json_string_length(json_object_get(row, "why")) > 0;
		zero += json_is_number(value) && json_number_value(value) == 0;
	}
	ok(i == 10 && n_missing == 3 && zero == 0,
	   "a program too short for a turn: seven events counted, three not, with their reason (%zu, %zu zero)",
	   n_missing, zero);
	counted_free(c);
	return done();
}
