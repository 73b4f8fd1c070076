/* Outliers: Rosner's generalized extreme Studentized deviate many-outlier procedure (Rosner: Percentage points for
 * a generalized ESD many-outlier procedure, Technometrics 25 (1983); NIST/SEMATECH e-Handbook 1.3.5.17.3).
 *
 * Of i = 1 … most, R_i is the largest |x - mean| / s of what is left, and that value is taken out. The outliers
 * are the first i values so taken, for the largest i with R_i > λ_i. λ_i is chosen so that a sample of a normal
 * distribution has an outlier with probability alpha, however many values are looked at: the rate is that of the
 * whole sample, not of each value. With most = 1 it is Grubbs's test, which is exact; Rosner found the others
 * right from 15 values on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"
#include "stats/student.h"

/* A distribution of times has a longer tail than the normal one: with 1 % a sample of such times still has an
 * outlier now and then (stats_coverage_test has the rates), with 5 % in every fifth sample. */
static const double ALPHA = 0.01;
/* As of the modified z-score of Iglewicz, Hoaglin (1993): deviations of the floor are what rounding and the
 * clock's ticks do. */
static const double FLOORS = 3.5;

enum { LEAST_VALUES = 5, VALUES_OF_ONE = 10 };

/* λ of the next step when n values are left. */
static double critical(size_t n, double alpha)
{
	/* t at probability 1 - alpha / 2n, with n - 2 degrees of freedom */
	double t = student_two_sided(1 - alpha / (double)n, (double)(n - 2));
	return (double)(n - 1) * t / sqrt(((double)n - 2 + t * t) * (double)n);
}

/* The value in order[0 … n-1] that is farthest from their mean; *score in their standard deviations, 0 when all
 * are equal. */
static size_t farthest(const double *x, const size_t *order, size_t n, double *values, double *score)
{
	size_t at = 0;
	for (size_t i = 0; i < n; i++)
		values[i] = x[order[i]];
	double mean = stats_mean(values, n), sd = stats_sd(values, n);
	for (size_t i = 1; i < n; i++)
		if (fabs(values[i] - mean) > fabs(values[at] - mean))
			at = i;
	*score = sd > 0 ? fabs(values[at] - mean) / sd : 0;
	return at;
}

size_t stats_esd_outliers(const double *x, size_t n, size_t most, double alpha, bool *marks)
{
	size_t found = 0, left = n;
	memset(marks, 0, n * sizeof *marks);
	size_t *order = malloc((n + 1) * sizeof *order);
	double *values = malloc((n + 1) * sizeof *values);
	for (size_t i = 0; order && values && i < n; i++)
		order[i] = i;
	for (size_t step = 1; order && values && step <= most && left > 2; step++) {
		double score, least = critical(left, alpha);
		size_t at = farthest(x, order, left, values, &score), taken = order[at];
		/* behind what is left are those that were taken out, the last one first */
		memmove(order + at, order + at + 1, (left - at - 1) * sizeof *order);
		order[--left] = taken;
		if (score > least)
			found = step;
	}
	for (size_t i = 0; i < found; i++)
		marks[order[n - 1 - i]] = true;
	free(order);
	free(values);
	return found;
}

size_t stats_outliers(const double *x, size_t n, double floor, bool *marks)
{
	size_t found = 0;
	memset(marks, 0, n * sizeof *marks);
	if (n < LEAST_VALUES ||
	    stats_esd_outliers(x, n, n < 2 * VALUES_OF_ONE ? 1 : n / VALUES_OF_ONE, ALPHA, marks) == 0)
		return 0;
	double median = stats_median(x, n);
	for (size_t i = 0; i < n; i++) {
		marks[i] = marks[i] && fabs(x[i] - median) > FLOORS * floor;
		found += marks[i];
	}
	return found;
}
