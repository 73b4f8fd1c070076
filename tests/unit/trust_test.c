/* Calibration's arithmetic: fits, the noise floor, what is subtracted and what is refused. */
#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#include "base/random.h"
#include "stats/stats.h"
#include "tap.h"
#include "trust/fit.h"
#include "trust/noise.h"
#include "trust/overhead.h"
#include "trust/rules.h"

static double normal(struct random *r) { return gsl_cdf_ugaussian_Pinv(random_unit(r) + 0x1.0p-54); }

/* ---- Korn, Table 2 ---- */

/* The versions of his loop that the table can name, and 50,000. */
static const double versions[] = {250, 500, 1000, 5000, 10000, 20000, 30000, 40000, 50000, 100000};

/* The smallest version from which on all comply; 0: none. */
static double first_version(double threshold)
{
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		if (versions[i] >= threshold)
			return versions[i];
	return 0;
}

static void test_korn(void)
{
	/* overhead, and the error at 250 iterations: O / (250 · k); then what is within 5 % and 10 % from which
	 * version on. "NA" is 0. */
	static const struct {
		const char *event;
		double overhead, error_at_250, within_5, within_10;
	} rows[] = {
		{"decoded instructions", 830000, 10.86, 100000, 30000},
		{"decoded loads", 230000, 6.63, 40000, 20000},
		{"decoded stores", 69000, 1.935, 10000, 5000},
		{"conditional resolved branches", 219000, 265.858, 0, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double k = rows[i].overhead / (250 * rows[i].error_at_250);
		double n5 = threshold_repetitions(rows[i].overhead, 0.05, k),
		       n10 = threshold_repetitions(rows[i].overhead, 0.10, k);
		printf("# %s: k = %.1f, N = %.0f and %.0f\n", rows[i].event, k, n5, n10);
		ok(first_version(n5) == rows[i].within_5 && first_version(n10) == rows[i].within_10,
		   "the threshold law gives Korn's Table 2 its columns: %s", rows[i].event);
	}
	near(threshold_repetitions(139, 0.05, 4), 695, 0, "139 over 5 % of 4 is 695 repetitions, not 696");
	near(threshold_repetitions(139, 0.05, 40), 70, 0, "a fraction of a repetition is a whole one");
	near(threshold_repetitions(0, 0.05, 40), 1, 0, "without overhead once is enough");
	near(threshold_repetitions(139, 0.05, 0), 0, 0, "what counts nothing helps in no number");
}

/* ---- lines ---- */

static void test_fit(void)
{
	/* Nieto, Table 10: mean reported counts of 0, 1, 10, 100, 1000 and 10000 blocks */
	const double blocks[] = {0, 1, 10, 100, 1000, 10000}, counts[] = {139, 173, 479, 3539, 34139, 340139};
	struct line_fit line;
	ok(line_fit(blocks, counts, 6, 0.95, &line), "a line goes through Nieto's Table 10");
	near(line.o, 139, 1e-9, "its overhead is 139");
	near(line.c, 34, 1e-12, "a block has 34 instructions");
	near(line.residual_most, 0, 1e-9, "nothing is left over");
	ok(!line_fit(blocks, counts, 1, 0.95, &line), "one point makes no line");
	const double same[] = {5, 5, 5};
	ok(!line_fit(same, counts, 3, 0.95, &line), "points above each other make no line");
	ok(line_fit(blocks, counts, 2, 0.95, &line) && isnan(line.o_half_width),
	   "two points say nothing of their error");

	enum { DRAWS = 4000 };
	struct random r = {.state = 139};
	size_t in_o = 0, in_c = 0;
	for (int draw = 0; draw < DRAWS; draw++) {
		double noisy[6];
		for (int i = 0; i < 6; i++)
			noisy[i] = 139 + 34 * blocks[i] + 3 * normal(&r);
		line_fit(blocks, noisy, 6, 0.95, &line);
		in_o += fabs(line.o - 139) <= line.o_half_width;
		in_c += fabs(line.c - 34) <= line.c_half_width;
	}
	/* the binomial standard error is 0.34 %: ± 1.5 % is 4.4 of them */
	printf("# covered: o %.2f %%, c %.2f %%\n", 100.0 * (double)in_o / DRAWS, 100.0 * (double)in_c / DRAWS);
	near((double)in_o / DRAWS, 0.95, 0.015, "the overhead's 95 % interval covers it in 95 % of noisy fits");
	near((double)in_c / DRAWS, 0.95, 0.015, "and the block's");
}

static void test_overhead(void)
{
	const double values[] = {97, 97, 97}, spread[] = {90, 100, 110, 104};
	struct overhead o = {0};
	struct interval i;
	overhead_summarise(values, 3, 0.95, &o);
	ok(o.mean == 97 && o.sd == 0 && o.half_width == 0 && o.median == 97 && o.least == 97 && o.most == 97,
	   "equal processes have no spread at all");
	overhead_summarise(spread, 4, 0.95, &o);
	stats_mean_interval(spread, 4, 0.95, &i);
	ok(o.mean == 101 && o.median == 102 && o.least == 90 && o.most == 110,
	   "a row has mean, median, least and most");
	near(o.half_width, i.high - i.value, 1e-12, "its ± is the t-interval");
	ok(!overhead_summarise(spread, 0, 0.95, &o), "no process, no row");
}

/* ---- the noise floor ---- */

static void test_floor(void)
{
	enum { N = 100, DRAWS = 3000 };
	double runs[N];
	struct noise_floor floor = {0};
	for (int i = 0; i < N; i++)
		runs[i] = 1000 + (i % 4 < 2 ? 10 : -10); /* A and B have the same two values equally often */
	ok(noise_floor_of(runs, N, 0.95, &floor) && floor.n == 50, "a hundred runs are fifty a side");
	double sd = sqrt(50.0 / 49) * 10, t = gsl_cdf_tdist_Pinv(0.975, 98);
	near(floor.relative_sd, sd / 1000, 1e-12, "the spread is that of one run");
	near(floor.seen, 0, 1e-15, "the sides are equal");
	near(floor.floor, t * sd * sqrt(2.0 / 50) / 1000, 1e-12,
	     "the floor is what Welch's test would find significant");

	for (int i = 0; i < N; i++)
		runs[i] = i % 2 ? 1020 : 1000;
	noise_floor_of(runs, N, 0.95, &floor);
	near(floor.floor, 20.0 / 1010, 1e-12, "sides that differ without spread: their difference is the floor");
	for (int i = 0; i < N; i++)
		runs[i] = 0;
	ok(!noise_floor_of(runs, N, 0.95, &floor), "an event that never takes place has no floor");
	runs[0] = 1;
	ok(!noise_floor_of(runs, 3, 0.95, &floor), "three runs are too few");

	/* What it is for: of two equal programs, a difference above the floor is claimed in at most 5 %. */
	struct random r = {.state = 4711};
	size_t claimed = 0;
	for (int draw = 0; draw < DRAWS; draw++) {
		double a = 0, b = 0;
		for (int i = 0; i < N; i++)
			runs[i] = 1e6 + 2e4 * normal(&r);
		noise_floor_of(runs, N, 0.95, &floor);
		for (int i = 0; i < N / 2; i++) {
			a += 1e6 + 2e4 * normal(&r);
			b += 1e6 + 2e4 * normal(&r);
		}
		claimed += fabs(a - b) / (1e6 * N / 2) > floor.floor;
	}
	double share = (double)claimed / DRAWS;
	printf("# of %d equal pairs %.2f %% are claimed to differ\n", DRAWS, 100 * share);
	ok(share > 0.025 && share < 0.06, "equal programs are told apart in no more than 5 %%");
}

/* ---- what is subtracted ---- */

static void test_subtract(void)
{
	struct pass_costs exact = {.region = {97, 0, 100},
				   .enter = {150, 0, 100},
				   .leave = {130, 0, 100},
				   .has_enter_leave = true,
				   .t = 1.984};
	struct pass_costs spread = {.region = {139, 1.5, 100}, .t = 1.984};
	struct subtraction s;
	char text[300];

	subtract(97 + 1000, &exact, &(struct pass_counts){.passes = 1}, &s);
	ok(s.state == SUBTRACTED && s.net == 1000 && s.tare == 97 && s.gross == 1097 && s.half_width == 0,
	   "one pass: gross less one empty region is net");
	subtract(1e6 * (97 + 7), &exact, &(struct pass_counts){.passes = 1e6}, &s);
	ok(s.state == SUBTRACTED && s.net == 7e6, "a million passes: a million empty regions");
	subtract(97 + 3 * (150 + 130) + 5, &exact, &(struct pass_counts){.passes = 1, .enters = 3, .leaves = 3},
		 &s);
	ok(s.state == SUBTRACTED && s.net == 5, "calls of other regions inside are taken off as well");
	subtract(97 + 150 + 5, &exact, &(struct pass_counts){.passes = 1, .enters = 1}, &s);
	ok(s.state == SUBTRACTED && s.net == 5, "of a region that overlaps, only the call that is inside");
	subtract(97, &exact, &(struct pass_counts){.passes = 1}, &s);
	ok(s.state == SUBTRACTED && s.net == 0, "an empty region counts 0 where the overhead is exact");
	subtract(500, &spread, &(struct pass_counts){.passes = 1, .enters = 1, .leaves = 1}, &s);
	ok(s.state == NOT_SUBTRACTED && s.net == 500, "calls inside whose cost is not known: gross");
	subtract(500, &exact, &(struct pass_counts){.passes = 1, .again = 2}, &s);
	ok(s.state == NOT_SUBTRACTED && s.net == 500, "recursion: gross");
	subtract(90, &exact, &(struct pass_counts){.passes = 1}, &s);
	ok(s.state == TOO_SMALL_TO_MEASURE && s.repeat == 0, "a count below the overhead is refused, not 0");
	subtraction_refusal(&s, "region 'x'", "instructions", 1, NULL, text, sizeof text);
	equal_text(text,
		   "region 'x' is too small to measure: it counts fewer instructions than an overhead of 97 ± 0; "
		   "repeat it "
		   "inside the region until it counts more than that",
		   "and says so");

	subtract(139 + 40, &spread, &(struct pass_counts){.passes = 1}, &s);
	near(s.half_width, 1.984 * 1.5 * sqrt(1.01), 1e-9, "a pass is as uncertain as another process");
	ok(s.state == TOO_SMALL_TO_MEASURE && s.repeat == 70, "40 against 139 ± 3 is refused");
	subtraction_refusal(&s, "region 'x'", "instructions", 1, NULL, text, sizeof text);
	equal_text(text,
		   "region 'x' is too small to measure: 40 instructions against an overhead of 139 ± 2.99; repeat "
		   "it at "
		   "least 70 times inside the region",
		   "with what it is and what to do");
	subtract(139 + 40 * s.repeat, &spread, &(struct pass_counts){.passes = 1}, &s);
	ok(s.state == SUBTRACTED && s.net == 2800, "and repeated so often it is measured");
	subtract(10 * (139 + 40), &spread, &(struct pass_counts){.passes = 10}, &s);
	ok(s.state == TOO_SMALL_TO_MEASURE && s.repeat == 70,
	   "more passes do not help: the process's own difference is in each of them");
	subtraction_refusal(&s, "region 'x'", "instructions", 10, NULL, text, sizeof text);
	ok(strstr(text, "40 instructions against an overhead of 139 ± 2.99 in each pass;") != NULL,
	   "the refusal is of one pass");
	subtract(139 + 60, &spread, &(struct pass_counts){.passes = 1}, &s);
	ok(s.state == SUBTRACTED && s.net == 60, "60 ± 3 is within 5 %%, and is measured");
	subtraction_widen(&s, 0.5);
	ok(s.state == TOO_SMALL_TO_MEASURE && s.repeat == 47, "but not when something else adds to the ±");

	/* Of another region inside: its calls' 280 ± 6 are measured again with each repetition. */
	// clang-format off: a table, a row a line
	struct pass_costs inner = {.region = {97, 0, 100},
				   .enter = {150, 0, 100, 3},
				   .leave = {130, 0, 100, 3},
				   .has_enter_leave = true,
				   .t = 1.984};
	// clang-format on
	struct pass_counts once_inside = {.passes = 1, .enters = 1, .leaves = 1};
	subtract(97 + 280 + 119, &inner, &once_inside, &s);
	ok(s.state == TOO_SMALL_TO_MEASURE && s.net == 119 && s.half_width == 6 && s.repeat == 0,
	   "119 with ± 6 of calls inside: refused, and no number of repetitions is promised");
	for (double n = 10; n <= 1e6; n *= 10) {
		struct subtraction more;
		subtract(97 + n * (280 + 119), &inner,
			 &(struct pass_counts){.passes = 1, .enters = n, .leaves = n}, &more);
		if (more.state != TOO_SMALL_TO_MEASURE)
			s.repeat = n;
	}
	ok(s.repeat == 0, "and none would help");
	subtraction_refusal(&s, "region 'x'", "instructions", 1, "count fewer inside", text, sizeof text);
	equal_text(text,
		   "region 'x' is too small to measure: 119 instructions against an overhead of 377 ± 6; count "
		   "fewer inside",
		   "what helps is said in its place");
	inner.region.site = 3;
	subtract(97 + 280 + 121, &inner, &once_inside, &s);
	ok(s.state == TOO_SMALL_TO_MEASURE && s.repeat == 1940,
	   "121: the calls inside can be had, the region's own 97 want 97 / (0.05 · 1)");
	double n = s.repeat;
	subtract(97 + n * (280 + 121), &inner, &(struct pass_counts){.passes = 1, .enters = n, .leaves = n}, &s);
	ok(s.state == SUBTRACTED && s.net == n * 121, "and repeated so often it is measured");
	subtract(97 + 40 * 7, &(struct pass_costs){.region = {97, 0, 100, 200}},
		 &(struct pass_counts){.passes = 1}, &s);
	ok(s.state == TOO_SMALL_TO_MEASURE && s.repeat == 15,
	   "where the ± is more than the overhead, it is what the repetitions have to bring down");

	weigh(1500, 1000, 900, 30, &s);
	ok(s.state == TOO_SMALL_TO_MEASURE && s.repeat == 0,
	   "of what is not taken off: no repetition brings 900 of probes inside under a twentieth of 500");
	weigh(1500, 1000, 20, 30, &s);
	ok(s.state == TOO_SMALL_TO_MEASURE && s.repeat == 196,
	   "20 of them can be had: 980 / (0.05 · (500 - 400))");
	s = (struct subtraction){.state = NOT_SUBTRACTED, .net = 1};
	subtraction_widen(&s, 5);
	ok(s.state == NOT_SUBTRACTED, "what is gross stays gross");
	near(interval_factor(1.984 * 1.5 / 10, 1.5, 100), 1.984, 1e-12, "t is found again in a kept interval");
}

int main(void)
{
	test_korn();
	test_fit();
	test_overhead();
	test_floor();
	test_subtract();
	return done();
}
