/* Ranks that samples tell apart: by hand, and how often they are wrong in simulated profiles (seeded). */
#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#include "base/random.h"
#include "stats/stats.h"
#include "tap.h"

/* expected: first and last of each row in turn */
static bool ranked(const uint64_t *counts, size_t n, const size_t *expected)
{
	struct rank_range ranks[16];
	if (!stats_ranks(counts, n, 0.05, ranks))
		return false;
	bool equal = true;
	for (size_t i = 0; i < n; i++)
		equal = equal && ranks[i].first == expected[2 * i] && ranks[i].last == expected[2 * i + 1];
	return equal;
}

static void by_hand(void)
{
	/* 2·P(B(n, 1/2) >= a): 6 of 6: 2/64 = 0.031; 5 of 5: 0.0625; 8 of 9: 0.039; 7 of 8: 0.070 */
	ok(ranked((uint64_t[]){6, 0}, 2, (size_t[]){1, 1, 2, 2}), "6 against 0 are told apart: p = 2/64");
	ok(ranked((uint64_t[]){5, 0}, 2, (size_t[]){1, 2, 1, 2}), "5 against 0 are not: p = 2/32");
	ok(ranked((uint64_t[]){8, 1}, 2, (size_t[]){1, 1, 2, 2}), "8 against 1 are: p = 20/512");
	ok(ranked((uint64_t[]){7, 1}, 2, (size_t[]){1, 2, 1, 2}), "7 against 1 are not: p = 18/256");
	ok(ranked((uint64_t[]){100, 99, 10, 9}, 4, (size_t[]){1, 2, 1, 2, 3, 4, 3, 4}),
	   "two pairs, each told from the other pair");
	/* 100 and 75: 2·P(B(175, 1/2) >= 100) = 0.069; 75 and 50: 0.031; 100 and 50: 5·10^-5; three tests at 1/60 */
	ok(ranked((uint64_t[]){100, 75, 50}, 3, (size_t[]){1, 2, 1, 3, 2, 3}),
	   "neighbours that are not told apart do not tie the first row to the last");
	/* six tests, each at 1/120; 9 against 1: 22/1024 = 0.0215 */
	ok(ranked((uint64_t[]){1000, 500, 9, 1}, 4, (size_t[]){1, 1, 2, 2, 3, 4, 3, 4}),
	   "of six pairs each has a sixth of the error");
	/* two tests can be: the pairs of the first row, with p = 2/2^10 at the least */
	ok(ranked((uint64_t[]){10, 0, 0, 0, 0, 0, 0, 0}, 8,
		  (size_t[]){1, 1, 2, 8, 2, 8, 2, 8, 2, 8, 2, 8, 2, 8, 2, 8}),
	   "pairs that have too few samples to be told apart take nothing of it: 21 of 28");
	ok(ranked((uint64_t[]){8, 0, 0, 0, 0, 0, 0, 0}, 8,
		  (size_t[]){1, 8, 1, 8, 1, 8, 1, 8, 1, 8, 1, 8, 1, 8, 1, 8}),
	   "2/2^8 is more than a seventh of 5 percent");
	/* of the three pairs two can be told apart: 9 against 1 has p = 0.0215, between 0.05/3 and 0.05/2 */
	ok(ranked((uint64_t[]){9, 1, 1}, 3, (size_t[]){1, 1, 2, 3, 2, 3}), "a row makes no pair with itself");
	/* 6,000 and 6,300: z = 299/sqrt(12300) = 2.696, p = 0.0070 */
	ok(ranked((uint64_t[]){6300, 6000}, 2, (size_t[]){1, 1, 2, 2}) &&
		   ranked((uint64_t[]){6200, 6000}, 2, (size_t[]){1, 2, 1, 2}),
	   "many samples: 6300 and 6000 are told apart, 6200 and 6000 are not");
	ok(ranked((uint64_t[]){UINT64_C(1) << 60, (UINT64_C(1) << 60) - 1000}, 2, (size_t[]){1, 2, 1, 2}),
	   "2^60 samples are no trouble");
	struct rank_range ranks[4] = {{7, 7}};
	ok(!stats_ranks((uint64_t[]){1, 2}, 2, 0.05, ranks) && ranks[0].first == 7,
	   "rows that are not in order are refused");
	ok(!stats_ranks((uint64_t[]){2, 1}, 2, 0, ranks), "an error rate of 0 is refused");
	ok(stats_ranks(NULL, 0, 0.05, NULL) && ranked((uint64_t[]){0}, 1, (size_t[]){1, 1}),
	   "no rows and one row are ranked");
}

/* The exact binomial and the normal distribution meet where one takes over: the least difference that is told apart grows evenly. */
static void meets(void)
{
	uint64_t at[2];
	for (int side = 0; side < 2; side++) {
		uint64_t sum = side ? 10002 : 10000, a = sum / 2;
		struct rank_range ranks[2] = {{1, 2}, {1, 2}};
		for (; ranks[1].first == 1; a++)
			stats_ranks((uint64_t[]){a, sum - a}, 2, 0.001, ranks);
		at[side] = 2 * (a - 1) - sum;
	}
	printf("# told apart by %.0f and %.0f samples\n", (double)at[0], (double)at[1]);
	ok(at[0] == at[1], "exact and normal test agree at 10,000 samples");
}

static double pmf(double mean, int k) { return mean > 0 ? exp(k * log(mean) - mean - lgamma(k + 1.0)) : k == 0; }

/* By all outcomes of three rows. */
static double top_by_outcomes(const uint64_t counts[3])
{
	double chance = 0;
	for (int a = 0; a < 60; a++)
		for (int b = 0; b <= a; b++)
			for (int c = 0; c <= a; c++)
				chance += pmf((double)counts[0], a) * pmf((double)counts[1], b) *
					  pmf((double)counts[2], c) / (1 + (a == b) + (a == c));
	return chance;
}

static void top(void)
{
	const uint64_t counts[][3] = {{4, 2, 0}, {9, 9, 9}, {1, 12, 3}, {20, 10, 15}, {0, 0, 0}};
	for (size_t i = 0; i < 5; i++)
		near(stats_top_chance(counts[i], 3, 0), top_by_outcomes(counts[i]), 1e-9,
		     "the chance of the top is the sum over all outcomes");
	near(stats_top_chance((uint64_t[]){9, 9, 9}, 3, 1), 1 / 3.0, 1e-9, "of three equal rows each has a third");
	near(stats_top_chance((uint64_t[]){100000, 99000}, 2, 0), 0.98752, 1e-4,
	     "100,000 and 99,000 samples: Φ(1000/√199000) = 0.9875");
	near(stats_top_chance((uint64_t[]){7}, 1, 0), 1, 0, "one row is the top");
	uint64_t many[400];
	double sum = 0;
	for (size_t i = 0; i < 400; i++)
		many[i] = i % 7;
	for (size_t i = 0; i < 400; i++)
		sum += stats_top_chance(many, 400, i);
	near(sum, 1, 1e-3, "some row of 400 is the top");
	ok(isnan(stats_top_chance((uint64_t[]){UINT64_C(1) << 40, 1}, 2, 0)), "2^40 samples have none");
}

enum { ROWS_MOST = 1200 };

struct row {
	double share;
	uint64_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
				    : (x->share > y->share) - (x->share < y->share);
}

static uint64_t poisson(struct random *r, double mean)
{
	if (mean > 500) /* rounding to the nearest: exact enough for means of which the square root is 22 */
		return (uint64_t)fmax(
			0, round(mean + sqrt(mean) * gsl_cdf_ugaussian_Pinv(random_unit(r) + 0x1.0p-54)));
	uint64_t k = 0;
	for (double left = exp(-mean), product = random_unit(r); product > left; product *= random_unit(r))
		k++;
	return k;
}

/* Is a row that is told to be hotter than another in truth no hotter? */
static bool wrong(const struct row *rows, const struct rank_range *ranks, size_t n)
{
	double coldest =
		INFINITY; /* of the rows that are told to be hotter than this one: they grow from row to row */
	size_t hotter = 0;
	for (size_t i = 0; i < n; i++) {
		for (; hotter < ranks[i].first - 1; hotter++)
			coldest = fmin(coldest, rows[hotter].share);
		if (coldest <= rows[i].share)
			return true;
	}
	return false;
}

/* Do the first and last ranks say the same of each pair? */
static bool agree(const struct rank_range *ranks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t hotter = ranks[i].first - 1;
		if (ranks[i].last <= i || hotter > i || (hotter > 0 && ranks[hotter - 1].last > i) ||
		    (hotter < i && ranks[hotter].last <= i))
			return false;
	}
	return true;
}

/* Independent Poisson counts: a multinomial's, whatever their sum is. expected[n]; least_found: pairs told apart, on average; 0: nothing is to be found. */
static void judge(const char *what, const double *expected, size_t n, double least_found)
{
	enum { DRAWS = 4000 };
	struct random r = {.state = 31 + n};
	static struct row rows[ROWS_MOST];
	static uint64_t counts[ROWS_MOST];
	static struct rank_range ranks[ROWS_MOST];
	unsigned errors = 0, disagree = 0;
	double pairs = 0;
	for (int draw = 0; draw < DRAWS; draw++) {
		for (size_t i = 0; i < n; i++)
			rows[i] = (struct row){expected[i], poisson(&r, expected[i])};
		qsort(rows, n, sizeof *rows, by_count);
		for (size_t i = 0; i < n; i++)
			counts[i] = rows[i].count;
		stats_ranks(counts, n, 0.05, ranks);
		errors += wrong(rows, ranks, n);
		disagree += !agree(ranks, n);
		for (size_t i = 0; i < n; i++)
			pairs += (double)ranks[i].first - 1;
	}
	double p = errors ? gsl_cdf_binomial_Q(errors - 1, 0.05, DRAWS) : 1;
	printf("# %s: wrong in %.2f %% of the profiles, p = %.3f; %.1f pairs are told apart\n", what,
	       100.0 * errors / DRAWS, p, pairs / DRAWS);
	ok(p >= 0.01, "%s: an error rate of at most 5 %% is not rejected at 99 %%", what);
	ok(disagree == 0, "… first and last ranks say the same of each pair");
	if (least_found > 0)
		ok(pairs / DRAWS >= least_found, "… and %.0f pairs or more are told apart", least_found);
}

static void simulated(void)
{
	static double e[ROWS_MOST];
	static const size_t sizes[] = {2, 3, 10, 100};
	for (size_t s = 0; s < 4; s++)
		for (int scale = 0; scale < 2; scale++) {
			char what[64];
			for (size_t i = 0; i < sizes[s]; i++)
				e[i] = scale ? 300 : 5;
			snprintf(what, sizeof what, "%zu rows that are equally hot, %g samples each", sizes[s],
				 e[0]);
			judge(what, e, sizes[s], 0);
		}
	for (size_t i = 0; i < 12; i++)
		e[i] = 10000 * pow(0.2, (double)(i / 2));
	judge("six equal pairs, each a fifth of the one before", e, 12, 54);
	for (size_t i = 0; i < 12; i++)
		e[i] = 10000 * pow(0.2, (double)(i / 2)) * (i % 2 ? 0.999 : 1);
	judge("six pairs that differ by a thousandth", e, 12, 54);
	for (size_t i = 0; i < 30; i++)
		e[i] = 3000 / (double)(i + 1);
	judge("shares that fall as 1/rank", e, 30, 290);
	for (size_t i = 0; i < 1200; i++)
		e[i] = i < 2 ? 400 : i < 200 ? 5 : 0.7;
	judge("two hot rows, 200 warm and 1000 cold ones", e, 1200, 2396);
	for (size_t i = 0; i < 40; i++)
		e[i] = 1 + (double)(i / 2) * 0.9;
	judge("20 pairs with a few samples each", e, 40, 0);
}

int main(void)
{
	by_hand();
	meets();
	top();
	simulated();
	return done();
}
