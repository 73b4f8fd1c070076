/* `tare verify` where the PMU counts exactly, and has few events: what it says of each kind of counter, and what a later count makes of it.
 *
 * In the guest a cycle is an instruction (tests/vm/README.md), which `--cpi 1` says; elsewhere nothing predicts cycles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "vm/counted.h"

static char store[64], report[64];

static json_t *verdict_of(json_t *root, const char *event)
{
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(root, "verdicts"), i, row)
		if (strcmp(json_string_value(json_object_get(row, "event")), event) == 0)
			return row;
	return NULL;
}

static const char *text_of(json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));
	return text ? text : "";
}

static void is_exact(json_t *root, const char *event)
{
	json_t *row = verdict_of(root, event);
	ok(strcmp(text_of(row, "verdict"), "exact") == 0 && strcmp(text_of(row, "source"), "hw") == 0,
	   "%s is exact (%s %s)", event, text_of(row, "verdict"), text_of(row, "text"));
	ok(json_number_value(json_object_get(row, "offset")) == 0 &&
		   json_integer_value(json_object_get(row, "executions")) >= 60,
	   "... with nothing to take off, in each of its executions");
}

/* The trial of the counter is the evidence, or the executions of the kernels are. */
static void counts_nothing(json_t *root, const char *event, const char *says)
{
	json_t *row = verdict_of(root, event);
	ok(strcmp(text_of(row, "verdict"), "counts nothing here") == 0 && strstr(text_of(row, "text"), says),
	   "%s counts nothing here: '%s' (%s)", event, says, text_of(row, "text"));
	ok(!json_is_true(json_object_get(row, "fault")), "... which is no fault: no count of it is shown");
}

static void judge_counters(void)
{
	struct counted *c = tare_run("verify", "--quick", "--kernels", "calls", "--cpi", "1", "--store", store,
				     "--json", "-o", report, NULL);
	json_t *root = json_load_file(report, 0, NULL);
	if (!ok(c->status == 0 && root, "tare verify ends without a fault (%d)", c->status))
		printf("# %s\n", c->said);
	is_exact(root, "instructions:u");
	is_exact(root, "cycles:u");
	counts_nothing(root, "branches:u", "it opens, but counted nothing for a loop of 20000 branches");
	counts_nothing(root, "returns:u", "");
	equal_text(text_of(verdict_of(root, "instructions:k"), "verdict"), "unpredictable",
		   "the kernel's instructions have no prediction");
	json_decref(root);
	counted_free(c);
}

static json_t *only_row(const struct counted *c, const char *event) { return row_of(c, event, 0); }

/* Ten events on seven counters, with what was verified beside them. */
static void count_with_marks(void)
{
	static const char ten[] = "instructions:u,cycles:u,r8:u,r11:u,instructions:k,cycles:k,r8:k,r11:k,instructions:uk,"
				  "cycles:uk";
	static const char *const user[] = {"instructions:u", "cycles:u"};
	struct counted *c =
		tare_run("count", "--store", store, "-e", "instructions:u,cycles:u", kernel("loop"), "1000", NULL);
	for (size_t i = 0; i < 2; i++)
		equal_text(text_of(only_row(c, user[i]), "trust"), "verified", user[i]);
	counted_free(c);

	/* Half a second: long enough for each event to have many turns of 4 ms. With a quarter of that, one had so
	 * few that its interval had no upper end. */
	double truth = (double)predicted("loop", "instructions", 240000000);
	size_t scaled = 0;
	c = tare_run("count", "--store", store, "-e", ten, kernel("loop"), "240000000", NULL);
	for (size_t i = 0; i < 2; i++) {
		struct row row = event_row(c, user[i]);
		bool is_scaled = strcmp(row.source, "scaled") == 0;
		scaled += is_scaled;
		/* how often the interval holds the truth is scaled_test's fact */
		ok(fabs(row.value - truth) <= 0.1 * truth && (row.high - row.low) / 2 <= 0.1 * truth,
		   "%s, %s: at most 10 %% off, by an interval of at most 10 %% to each side (%.0f: %.0f, %.0f to %.0f)",
		   user[i], row.source, truth, row.value, row.low, row.high);
		equal_text(text_of(only_row(c, user[i]), "trust"), is_scaled ? "unverified" : "verified",
			   is_scaled ? "... a counter that counts right says nothing of what was extrapolated"
				     : "... counted all the time");
	}
	printf("# %zu of 2 scaled\n", scaled);
	counted_free(c);
}

int main(void)
{
	if (!in_guest()) {
		skip("what this machine's PMU counts is not known", "tare verify judges the guest's counters");
		return done();
	}
	snprintf(store, sizeof store, "/tmp/tare-verify-%d.db", (int)getpid());
	snprintf(report, sizeof report, "/tmp/tare-verify-%d.json", (int)getpid());
	judge_counters();
	count_with_marks();
	unlink(store);
	unlink(report);
	return done();
}
