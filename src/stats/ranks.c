/* Rows in the order of their samples: which ranks do the samples tell apart?
 *
 * Of two rows with a and b samples, a >= b, that are equally hot, a is B(a + b, 1/2): whatever the other rows have
 * (the multinomial distribution, given a + b; Przyborowski, Wilenski: Homogeneity of results in testing samples
 * from Poisson series, Biometrika 31 (1940)). Neighbours are tested, two-sided, because their order was taken from
 * the same samples. Where neighbours are told apart, all rows above are told apart from all rows below: their
 * samples differ by more.
 *
 * The error rate is that of all claims together (Bonferroni): the chance that any row above such a place is in
 * truth no hotter than any row below one. Pairs with so few samples that no outcome could tell them apart are no
 * tests (Tarone: A modified Bonferroni method for discrete data, Biometrics 46 (1990)): the hundreds of rows with
 * one sample at the end of a profile cost nothing. Seen at 5 % (tests/unit/ranks_test.c): 4.3 % for two equal
 * rows, 1.8 % for six equal pairs, 0.8 % for three equal rows, less for more. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "stats/stats.h"
#include "stats/student.h"

/* Up to here the binomial distribution itself; above, the normal one with the continuity correction: at p = 1/2 it
 * has no skewness, and 2 % of the p-value at 10^-5 are the most that it is off. */
static const double EXACT_MOST = 10000;

/* P of a split at least as uneven as a, b; two-sided. */
static double uneven(double a, double b)
{
	if (a == b)
		return 1;
	if (a + b <= EXACT_MOST)
		return fmin(1, 2 * gsl_cdf_binomial_Q((unsigned)a - 1, 0.5, (unsigned)(a + b)));
	return fmin(1, 2 * normal_probability(-(a - b - 1) / sqrt(a + b)));
}

/* The least p-value that so many samples of two rows can have: all in one. */
static double least_possible(double samples) { return ldexp(2, -(int)fmin(samples, 1000)); }

/* How many tests there are: the least number K of which no more than K could have p <= error / K. Neighbours' sums
 * fall, so those are the first ones. */
static size_t tests_of(const uint64_t *counts, size_t n, double error_rate)
{
	size_t tests = 1;
	while (tests + 1 < n &&
	       least_possible((double)counts[tests] + (double)counts[tests + 1]) <= error_rate / (double)tests)
		tests++;
	return tests;
}

bool stats_ranks(const uint64_t *counts, size_t n, double error_rate, size_t *ranks)
{
	if (!(error_rate > 0 && error_rate < 1))
		return false;
	for (size_t i = 1; i < n; i++)
		if (counts[i] > counts[i - 1])
			return false;
	gsl_set_error_handler_off();
	double level = error_rate / (double)tests_of(counts, n, error_rate);
	for (size_t i = 0; i < n; i++)
		ranks[i] = i > 0 && uneven((double)counts[i - 1], (double)counts[i]) > level ? ranks[i - 1]
											     : i + 1;
	return true;
}
