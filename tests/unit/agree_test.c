/* `tare profile --check`: programs that are in step with a gap are found, others are accused in at most 5 % of the checks. Simulated,
 * seeded; through the function that the command takes (profile/replicates.h).
 *
 * The simulator: a program is a function of time that says which of its rows runs. A check is three runs with one gap and three with another,
 * in turn, of about 1000 and 618 samples. A program is clean when its shares do not depend on the gap: then no row may be told to, in 95 % of
 * the checks or more. */
#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#include "base/random.h"
#include "profile/replicates.h"
#include "stats/stats.h"
#include "tap.h"

enum { ROWS = 12, RUNS = 6 };
static int draws = 1000; /* agree_test TIMES: so many times as many (make check-full) */
static const double FIRST = 65536, SECOND = 106039, WHOLE = 65536 * 1000.0;
static const double shares[ROWS] = {0.40, 0.20, 0.10, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01, 0.006, 0.004};

static double normal(struct random *r)
{
	return sqrt(-2 * log(1 - random_unit(r))) * cos(2 * M_PI * random_unit(r));
}

/* ---- programs: one run ---- */

struct simulated {
	uint64_t k[ROWS], n;
};

struct program {
	const char *name;
	void (*run)(struct simulated *out, double gap, struct random *r);
};

static size_t row_at(double part, const double *of)
{
	size_t row = 0;
	while (row < ROWS - 1 && part >= of[row])
		part -= of[row++];
	return row;
}

static void take(struct simulated *out, size_t row)
{
	out->k[row]++;
	out->n++;
}

static double turn(double time, double period) { return time / period - floor(time / period); }

static void independent(struct simulated *out, double gap, struct random *r)
{
	for (double time = 0; time < WHOLE; time += gap)
		take(out, row_at(random_unit(r), shares));
}

/* Each run's shares are its own: a program that works on the clock, or on addresses */
static void differing(struct simulated *out, double gap, struct random *r)
{
	double own[ROWS], sum = 0;
	for (size_t i = 0; i < ROWS; i++)
		sum += own[i] = shares[i] * exp(0.25 * normal(r));
	for (size_t i = 0; i < ROWS; i++)
		own[i] /= sum;
	for (double time = 0; time < WHOLE; time += gap)
		take(out, row_at(random_unit(r), own));
}

static void from_loop(struct simulated *out, double gap, double period, struct random *r)
{
	for (double time = random_unit(r) * gap; time < WHOLE; time += gap)
		take(out, row_at(turn(time, period), shares));
}

static void short_loop(struct simulated *out, double gap, struct random *r)
{
	from_loop(out, gap, FIRST / 64.37, r);
}
static void medium_loop(struct simulated *out, double gap, struct random *r)
{
	from_loop(out, gap, FIRST * 2.7182818, r);
}
static void long_phases(struct simulated *out, double gap, struct random *r)
{
	from_loop(out, gap, WHOLE / 10, r);
}
static void one_phase(struct simulated *out, double gap, struct random *r) { from_loop(out, gap, WHOLE, r); }

/* Iterations that take 20 % more or less, of about a gap: neighbouring samples are alike */
static void random_loop(struct simulated *out, double gap, struct random *r)
{
	double begin = -random_unit(r) * FIRST, length = FIRST;
	for (double time = random_unit(r) * gap; time < WHOLE; time += gap) {
		while (time >= begin + length) {
			begin += length;
			length = FIRST * (0.8 + 0.4 * random_unit(r));
		}
		take(out, row_at((time - begin) / length, shares));
	}
}

/* tare's default gaps: half fixed and half exponential, drawn anew each 4 */
static void drawn_gaps(struct simulated *out, double gap, struct random *r)
{
	double next = 0, time = random_unit(r) * gap;
	for (unsigned i = 0; time < WHOLE; i++, time += next) {
		if (i % 4 == 0)
			next = gap * (0.5 - 0.5 * log(1 - random_unit(r)));
		take(out, row_at(turn(time, FIRST * 3.3), shares));
	}
}

/* Samples come in clusters of ten: calls that take ten gaps, of random rows */
static void clustered(struct simulated *out, double gap, struct random *r)
{
	double end = 0;
	size_t row = 0;
	for (double time = 0; time < WHOLE; time += gap) {
		if (time >= end) {
			row = row_at(random_unit(r), shares);
			end = time + 10 * FIRST;
		}
		take(out, row);
	}
}

static void in_step(struct simulated *out, double gap, struct random *r)
{
	(void)r;
	for (double time = 0.5 * FIRST / 64; time < WHOLE; time += gap)
		take(out, row_at(turn(time, FIRST / 64), shares));
}

static void nearly_in_step(struct simulated *out, double gap, struct random *r)
{
	(void)r;
	for (double time = 0; time < WHOLE; time += gap)
		take(out, row_at(turn(time, FIRST * 1.0001), shares));
}

/* Row 7 has 3 % of the time, all within a loop of 40 % that is in step with the first gap */
static void partly_in_step(struct simulated *out, double gap, struct random *r)
{
	for (double time = 0; time < WHOLE; time += gap)
		if (turn(time, WHOLE / 10) < 0.6)
			take(out, (size_t)(random_unit(r) * 6));
		else
			take(out, turn(time, FIRST / 8) < 0.075 ? 7 : 8);
}

/* Zagha's: a loop with 100 misses, of which each 1000th is sampled */
static void hundred_sites(struct simulated *out, double gap, struct random *r)
{
	(void)r;
	uint64_t each = gap == FIRST ? 1000 : 1619;
	for (uint64_t miss = each; miss < 1000000; miss += each)
		take(out, (miss - 1) % 100 / 9);
}

/* ---- a check ---- */

static struct named_place places[ROWS];
static struct named_frame frames[ROWS];
static struct named_function functions[ROWS];
static uint32_t place_of_node[ROWS + 1];

struct checked {
	enum named_verdict verdicts[ROWS];
	double first[ROWS], second[ROWS], high[ROWS], low[ROWS];
};

static void check(const struct program *program, struct random *r, struct checked *out)
{
	static struct profile_cell cells[ROWS * RUNS];
	static struct named_count counts[2][ROWS];
	static struct named_row rows[2][ROWS];
	static struct profile_node nodes[ROWS + 1];
	struct profile_task tasks[RUNS] = {0};
	struct profile_run runs[RUNS] = {0};
	uint64_t samples[RUNS], sum = 0;
	struct profile_event event = {.gaps = GAPS_FIXED};
	// clang-format off: a table, a row a line
	struct profile p = {.events = &event,
			    .n_events = 1,
			    .tasks = tasks,
			    .n_tasks = RUNS,
			    .runs = runs,
			    .n_runs = RUNS,
			    .nodes = nodes,
			    .n_nodes = ROWS + 1,
			    .cells = cells,
			    .checks_gaps = true};
	// clang-format on
	memset(counts, 0, sizeof counts);
	for (uint32_t run = 0; run < RUNS; run++) {
		struct simulated one = {0};
		program->run(&one, run % 2 ? SECOND : FIRST, r);
		tasks[run].run = run;
		samples[run] = one.n;
		runs[run].samples = &samples[run];
		sum += one.n;
		for (uint32_t i = 0; i < ROWS; i++) {
			counts[0][i].self += one.k[i];
			counts[1][i].self += one.k[i];
			if (one.k[i])
				cells[p.n_cells++] = (struct profile_cell){i + 1, run, 0, one.k[i]};
		}
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[0][i].counts = &counts[0][i];
		rows[1][i].counts = &counts[1][i];
		places[i] = (struct named_place){.first_frame = i, .n_frames = 1};
		frames[i] = (struct named_frame){.function = i, .line_row = i};
		functions[i].row = i;
		place_of_node[i + 1] = i;
	}
	place_of_node[0] = UINT32_MAX;
	// clang-format off: a table, a row a line
	struct named_profile named = {.profile = &p,
				      .functions = functions,
				      .frames = frames,
				      .places = places,
				      .place_of_node = place_of_node,
				      .sums = &sum,
				      .by_function = {rows[0], ROWS},
				      .by_line = {rows[1], ROWS}};
	// clang-format on
	bool done = replicates_add(&named, 0, 0.95);
	for (size_t i = 0; i < ROWS; i++) {
		const struct named_check *c = counts[0][i].check;
		out->verdicts[i] = done && c ? c->verdict : VERDICT_NONE;
		out->first[i] = c ? c->first : NAN;
		out->second[i] = c ? c->second : NAN;
		out->low[i] = c ? c->low : NAN;
		out->high[i] = c ? c->high : NAN;
	}
	named_profile_free(&named);
}

static int accused(const struct program *program, uint64_t seed, int *agreeing)
{
	struct random r = {.state = seed};
	int found = 0;
	*agreeing = 0;
	for (int draw = 0; draw < draws; draw++) {
		struct checked c;
		bool any = false;
		check(program, &r, &c);
		for (size_t i = 0; i < ROWS; i++)
			any |= c.verdicts[i] == VERDICT_DEPENDS;
		*agreeing += c.verdicts[0] == VERDICT_AGREES;
		found += any;
	}
	return found;
}

static void test_clean(void)
{
	static const struct program programs[] = {
		{"independent samples", independent},
		{"programs that differ from run to run", differing},
		{"a short loop, out of step", short_loop},
		{"a loop of e gaps", medium_loop},
		{"ten long phases", long_phases},
		{"one phase", one_phase},
		{"a loop of about a gap, whose iterations differ", random_loop},
		{"tare's drawn gaps", drawn_gaps},
		{"samples in clusters of ten", clustered},
	};
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		int agreeing, found = accused(&programs[i], 1000 * i, &agreeing);
		printf("# %s: %d of %d checks accuse a row; the largest row agrees in %d\n", programs[i].name,
		       found, draws, agreeing);
		ok(found == 0 || gsl_cdf_binomial_Q((unsigned)found - 1, 0.05, (unsigned)draws) >= 0.01,
		   "%s: that at most 5 %% of the checks accuse a row is not rejected at 99 %%", programs[i].name);
		if (programs[i].run == independent || programs[i].run == short_loop)
			ok(agreeing >= draws * 9 / 10, "… and a row of 40 %% agrees in nine of ten or more");
	}
}

static void test_found(void)
{
	static const struct program programs[] = {
		{"a loop in step, 64 to a gap", in_step},
		{"a loop nearly in step", nearly_in_step},
		{"a part of the program in step", partly_in_step},
		{"Zagha's loop with 100 misses at a gap of 1000", hundred_sites},
	};
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		int agreeing, found = accused(&programs[i], 77 + i, &agreeing);
		equal_u64((uint64_t)found, (uint64_t)draws, programs[i].name);
	}
	struct random r = {.state = 5};
	struct checked c;
	check(&programs[2], &r, &c);
	ok(c.verdicts[7] == VERDICT_DEPENDS && fabs(c.first[7] - 0.4) < 0.01 && fabs(c.second[7] - 0.03) < 0.01,
	   "40 %% at one gap and 3 %% at the other: the share depends on the gap");
	ok(c.low[7] < c.second[7] - c.first[7] && c.high[7] > c.second[7] - c.first[7] && c.high[7] < 0,
	   "the interval of the difference is around it, and is not around 0");
}

/* ---- the numbers ---- */

static void test_statistics(void)
{
	static const uint64_t ka[] = {30, 30, 30}, kb[] = {50, 50, 50}, n[] = {100, 100, 100}, none[] = {0, 0, 0};
	struct share_runs a = {ka, n, 3}, b = {kb, n, 3};
	struct share_agreement s;
	ok(stats_shares_agree(&a, &b, 0.95, &s) && s.spread == 1,
	   "runs that agree have no less spread than independent samples");
	/* p = 241/602: error sqrt(0.40033 · 0.59967 · 2/300) = 0.040006; t = 0.2/0.040006 = 4.9993, 4 degrees of freedom */
	near(s.p, 0.0074943, 1e-6, "its p-value is that of Student's t with four degrees of freedom");
	static const uint64_t wide[] = {10, 30, 50};
	a.k = wide;
	/* X² = 2 · 20² / (100 · 0.40033 · 0.59967) = 33.324, by 4 */
	ok(stats_shares_agree(&a, &b, 0.95, &s), "runs may differ");
	near(s.spread, 33.3243 / 4, 1e-4, "the spread is Pearson's X² by its degrees of freedom");
	ok(s.p > 0.1, "then the same difference is not shown");
	a.k = none;
	b.k = none;
	ok(stats_shares_agree(&a, &b, 0.95, &s) && s.p == 1 && s.difference.low < 0 && s.difference.high > 0,
	   "no samples at either gap are no difference, with an interval");
	b.n = none;
	ok(!stats_shares_agree(&a, &b, 0.95, &s), "a run without samples has no share");
	a.runs = b.runs = 1;
	b.n = n;
	ok(!stats_shares_agree(&a, &b, 0.95, &s), "one run at each gap tells nothing of the spread");
}

int main(int n, char **arguments)
{
	if (n > 1)
		draws *= atoi(arguments[1]);
	test_statistics();
	test_clean();
	test_found();
	return done();
}
