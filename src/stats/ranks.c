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
#include <gsl/gsl_randist.h>
#include <limits.h>
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

/* The two for a mean of 0, too: such a row stays at 0. GSL gives NAN. */
static double poisson_at(unsigned k, double mean) { return mean > 0 ? gsl_ran_poisson_pdf(k, mean) : k == 0; }

static double poisson_below(unsigned k, double mean)
{
	return k == 0 ? 0 : mean > 0 ? gsl_cdf_poisson_P(k - 1, mean) : 1;
}

/* The chance that no other row has more than k, ties at k shared. With T others at k
 * too, its part is 1/(1 + T) = ∫ s^T ds over 0 … 1: so the integrand is Π (P(X_i < k) + s · P(X_i = k)). Gauss and
 * Legendre's five points are exact up to nine rows that tie. */
static double none_above(const uint64_t *counts, size_t n, size_t which, unsigned k)
{
	static const double at[] = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842,
				    0.953089922969332};
	static const double weight[] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
					0.118463442528095};
	double products[] = {1, 1, 1, 1, 1};
	for (size_t i = 0; i < n; i++) {
		double mean = (double)counts[i];
		if (i == which || k > mean + 10 * sqrt(mean) + 30)
			continue; /* it is below k: the rest is less than 1e-15 */
		double below = poisson_below(k, mean), equal = poisson_at(k, mean);
		for (size_t s = 0; s < 5; s++)
			products[s] *= below + at[s] * equal;
	}
	double sum = 0;
	for (size_t s = 0; s < 5; s++)
		sum += weight[s] * products[s];
	return sum;
}

double stats_top_chance(const uint64_t *counts, size_t n, size_t which)
{
	gsl_set_error_handler_off();
	double mean = (double)counts[which], reach = 9 * sqrt(mean) + 30, chance = 0;
	if (n == 1)
		return 1;
	if (mean + reach > UINT_MAX / 2)
		return NAN;
	for (unsigned k = (unsigned)fmax(0, mean - reach); k <= mean + reach; k++)
		chance += poisson_at(k, mean) * none_above(counts, n, which, k);
	return fmin(chance, 1);
}
