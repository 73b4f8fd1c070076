/* Rows in the order of their samples: which of them do the samples tell apart?
 *
 * Of two rows with a and b samples, a >= b, that are equally hot, a is B(a + b, 1/2): whatever the other rows have
 * (the multinomial distribution, given a + b; Przyborowski, Wilenski: Homogeneity of results in testing samples
 * from Poisson series, Biometrika 31 (1940)). Every pair is tested, two-sided, because their order was taken from
 * the same samples. A row's rank is then anything from behind the rows that are told to be hotter to before those
 * that are told to be colder (Klein, Wright, Wieczorek: A joint confidence region for an overall ranking of
 * populations, J. Royal Statistical Society C 69 (2020)).
 *
 * The error rate is that of all pairs together (Bonferroni): the chance that any row that is told to be hotter
 * than another is in truth no hotter. Pairs with so few samples that no outcome could tell them apart are not
 * tests (Tarone: A modified Bonferroni method for discrete data, Biometrics 46 (1990)): the hundreds of rows with
 * one sample at the end of a profile cost nothing among themselves. */
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

/* How many pairs have p <= level as an outcome. As the first row's counts fall, its partners get fewer. */
static double pairs_that_can(const uint64_t *counts, size_t n, double level)
{
	double pairs = 0;
	size_t partners = n;
	for (size_t i = 0; i < n; i++) {
		while (partners > 0 && least_possible((double)counts[i] + (double)counts[partners - 1]) > level)
			partners--;
		pairs += partners > i + 1 ? (double)(partners - i - 1) : 0;
	}
	return pairs;
}

/* How many tests there are: the least number K of which no more than K could have p <= error / K. */
static double tests_of(const uint64_t *counts, size_t n, double error_rate)
{
	double low = 0, high = fmax(1, (double)n * (double)(n - 1) / 2); /* low is too few, high is enough */
	while (high - low > 1) {
		double middle = floor((low + high) / 2);
		if (pairs_that_can(counts, n, error_rate / middle) <= middle)
			high = middle;
		else
			low = middle;
	}
	return high;
}

bool stats_ranks(const uint64_t *counts, size_t n, double error_rate, struct rank_range *ranks)
{
	if (!(error_rate > 0 && error_rate < 1))
		return false;
	for (size_t i = 1; i < n; i++)
		if (counts[i] > counts[i - 1])
			return false;
	gsl_set_error_handler_off();
	double level = n ? error_rate / tests_of(counts, n, error_rate) : 1;
	/* what is told from a row is told from all rows below it: hotter and colder only grow */
	for (size_t i = 0, hotter = 0; i < n; i++) {
		while (hotter < i && uneven((double)counts[hotter], (double)counts[i]) <= level)
			hotter++;
		ranks[i].first = hotter + 1;
	}
	for (size_t i = n, last = n; i-- > 0;) {
		while (last > i + 1 && uneven((double)counts[i], (double)counts[last - 1]) <= level)
			last--;
		ranks[i].last = last;
	}
	return true;
}

/* Also for a mean of 0: such a row stays at 0. GSL gives NAN. */
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
