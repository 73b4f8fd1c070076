/* Multiplexed counters: the estimate's interval contains the truth in at least 95 % of runs.
 *
 * Ten events share seven counters. The truth of a user-level event is counted beforehand, all the time and alone
 * (exact_test shows that such a count is exact and the same each time); a kernel-level event varies a little from run to
 * run, its truth is the range over a few such runs. A run counts as right when the interval meets that.
 * Bounds that the report leaves open say nothing wrong and nothing useful: they are counted apart. */
#include <stdlib.h>

#include "tap.h"
#include "vm/counted.h"

#define TEN "instructions:u,cycles:u,instructions:k,cycles:k,instructions:uk,cycles:uk,r8:u,r11:u,r8:k,r11:k"
static const char *const events[] = { "instructions:u", "cycles:u", "instructions:k", "cycles:k", "instructions:uk",
	"cycles:uk", "r8:u", "r11:u", "r8:k", "r11:k" };
/* a cycle is an instruction in the guest: the truth of each is that of its level */
static const char *const levels[] = { "instructions:u", "instructions:k", "instructions:uk" };
enum { EVENTS = sizeof events / sizeof *events, LEVELS = 3, TRUTH_RUNS = 3 };

static int level_of(const char *event)
{
	const char *colon = strchr(event, ':');
	return strcmp(colon, ":u") == 0 ? 0 : strcmp(colon, ":k") == 0 ? 1 : 2;
}

struct tally {
	unsigned intervals, right, scaled, open, missing, runs;
	double width; /* sum of relative half-widths of the closed ones */
	unsigned closed;
};

struct range {
	double least, most;
};

static bool truths_of(const char *program, const char *first, const char *second, struct range truth[LEVELS])
{
	for (int level = 0; level < LEVELS; level++)
		truth[level] = (struct range){ INFINITY, 0 };
	for (int i = 0; i < TRUTH_RUNS; i++) {
		struct counted *c = tare_run("count", "-e", "instructions:u,instructions:k,instructions:uk", program, first,
					     second, NULL);
		for (int level = 0; level < LEVELS; level++) {
			struct row row = event_row(c, levels[level]);
			if (!row.known || strcmp(row.source, "hw") != 0) {
				printf("# no truth: status %d, %s %s\n", c->status, row.why, c->said);
				counted_free(c);
				return false;
			}
			truth[level].least = fmin(truth[level].least, row.value);
			truth[level].most = fmax(truth[level].most, row.value);
		}
		counted_free(c);
	}
	return true;
}

static void one_run(const char *program, const char *first, const char *second, const struct range truth[LEVELS],
		    struct tally *t)
{
	struct counted *c = tare_run("count", "-e", TEN, program, first, second, NULL);
	t->runs++;
	for (int i = 0; i < EVENTS; i++) {
		struct row row = event_row(c, events[i]);
		struct range is = truth[level_of(events[i])];
		if (!row.known) {
			t->missing++;
			continue;
		}
		bool scaled = strcmp(row.source, "scaled") == 0;
		double low = row.has_interval ? row.low : row.value, high = row.has_interval ? row.high : row.value;
		bool right = low <= is.most && high >= is.least;
		t->scaled += scaled;
		t->intervals++;
		t->right += right;
		if (scaled && isinf(high))
			t->open++;
		else if (scaled)
			t->width += (high - low) / 2 / is.most, t->closed++;
		if (!right)
			printf("# %s %s %s, %s: %.0f in %.0f … %.0f (%s, ran %.2f), truth %.0f … %.0f\n", program, first,
			       second ? second : "", events[i], row.value, low, high, row.source, row.share_running,
			       is.least, is.most);
	}
	counted_free(c);
}

static void report(const struct tally *t, const char *what)
{
	double share = (double)t->right / t->intervals;
	printf("# %s: %u runs, %u estimates, %u of them scaled, %u not counted; %u open above; the closed ones' mean "
	       "half-width is %.1f %%\n",
	       what, t->runs, t->intervals, t->scaled, t->missing, t->open, t->closed ? 100 * t->width / t->closed : 0);
	ok(t->scaled >= t->runs * 3, "%s: counters are shared", what);
	ok(share >= 0.95, "%s: %.1f %% of the intervals contain the truth, at least 95 %% (%u of %u)", what, 100 * share,
	   t->right, t->intervals);
}

int main(void)
{
	if (no_pmu()) {
		skip(no_pmu(), "intervals of shared counters contain the truth");
		return done();
	}
	if (!in_guest()) {
		skip("the number of counters is known of the guest only", "intervals of shared counters contain the truth");
		return done();
	}
	struct range truth[LEVELS];
	struct tally steady = { 0 }, phases = { 0 }, irregular = { 0 }, brief = { 0 };
	char first[24];

	if (!ok(truths_of(kernel("loop"), "50000000", NULL, truth), "a steady program's truth is known"))
		return done();
	for (int i = 0; i < 25; i++)
		one_run(kernel("loop"), "50000000", NULL, truth, &steady);
	report(&steady, "a steady program of 100 ms");

	if (!ok(truths_of(kernel("phases"), "1500", NULL, truth), "a program of short phases has a known truth"))
		return done();
	for (int i = 0; i < 20; i++)
		one_run(kernel("phases"), "1500", NULL, truth, &phases);
	report(&phases, "phases of 40 and 17 µs in turn");

	bool known = true;
	for (int i = 0; i < 20 && known; i++) {
		snprintf(first, sizeof first, "%d", 1 + i);
		known = truths_of(getenv("TARE_IRREGULAR"), first, "15", truth);
		if (known)
			one_run(getenv("TARE_IRREGULAR"), first, "15", truth, &irregular);
	}
	ok(known, "irregular programs have a known truth");
	report(&irregular, "phases of milliseconds at random");

	if (!ok(truths_of(kernel("phases"), "120", NULL, truth), "a short program's truth is known"))
		return done();
	for (int i = 0; i < 25; i++)
		one_run(kernel("phases"), "120", NULL, truth, &brief);
	report(&brief, "a program of 7 ms, shorter than two turns");
	return done();
}
