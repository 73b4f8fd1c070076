/* One sample: location, spread, quantiles.
 *
 * Sums are taken in long double about the first value: NIST's NumAcc4 (a mean of 10^7 with a spread of
 * 0.1) loses half its digits in plain double sums.
 *
 * Sources: quantiles: Hyndman, Fan: Sample quantiles in statistical packages, The American Statistician
 * 50 (1996), type 7. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

/* The reciprocal of Φ⁻¹(3/4): the MAD of a normal sample times this estimates its standard deviation. */
static const double MAD_TO_SD = 1.4826022185056018;

double stats_mean(const double *x, size_t n)
{
	if (n == 0)
		return NAN;
	long double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (long double)x[i] - x[0];
	return (double)(x[0] + sum / n);
}

double stats_sd(const double *x, size_t n)
{
	if (n < 2)
		return NAN;
	long double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (long double)x[i] - x[0];
	long double mean = sum / n, squares = 0, rest = 0;
	for (size_t i = 0; i < n; i++) {
		long double d = (long double)x[i] - x[0] - mean;
		squares += d * d;
		rest += d; /* what rounding left of Σd = 0: Chan, Golub, LeVeque's correction */
	}
	long double variance = (squares - rest * rest / n) / (n - 1);
	return variance > 0 ? (double)sqrtl(variance) : 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* A sorted copy that the caller frees; NULL when memory ran out. */
static double *sorted_copy(const double *x, size_t n)
{
	double *copy = malloc((n ? n : 1) * sizeof *copy);
	if (!copy)
		return NULL;
	memcpy(copy, x, n * sizeof *copy);
	qsort(copy, n, sizeof *copy, compare_doubles);
	return copy;
}

static double quantile_of_sorted(const double *sorted, size_t n, double p)
{
	double position = (double)(n - 1) * p;
	size_t below = (size_t)position;
	if (below + 1 >= n)
		return sorted[n - 1];
	double part = position - (double)below;
	return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double stats_quantile(const double *x, size_t n, double p)
{
	if (n == 0 || !(p >= 0 && p <= 1))
		return NAN;
	double *sorted = sorted_copy(x, n);
	if (!sorted)
		return NAN;
	double q = quantile_of_sorted(sorted, n, p);
	free(sorted);
	return q;
}

double stats_median(const double *x, size_t n) { return stats_quantile(x, n, 0.5); }

double stats_mad(const double *x, size_t n)
{
	if (n == 0)
		return NAN;
	double *distances = malloc(n * sizeof *distances);
	if (!distances)
		return NAN;
	double median = stats_median(x, n);
	for (size_t i = 0; i < n; i++)
		distances[i] = fabs(x[i] - median);
	double mad = MAD_TO_SD * stats_median(distances, n);
	free(distances);
	return mad;
}
