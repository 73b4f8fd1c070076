/* Intervals for the middle of one sample.
 *
 * Sources: the t-interval is in any textbook; run_p5mon's own: docs/closed-forms.md 2, recovered from the
 * examples in Safford's Figures 4.4, 4.6 and 4.7. Median: order statistics and the binomial distribution
 * (Conover: Practical nonparametric statistics, 3rd ed., section 3.2). */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"
#include "stats/student.h"

bool stats_mean_interval(const double *x, size_t n, double confidence, struct interval *out)
{
	if (n < 2)
		return false;
	double mean = stats_mean(x, n);
	double half = student_two_sided(confidence, (double)(n - 1)) * stats_sd(x, n) / sqrt((double)n);
	if (!isfinite(half))
		return false;
	*out = (struct interval){.value = mean, .low = mean - half, .high = mean + half};
	return true;
}

bool stats_mean_interval_p5mon(const double *x, size_t n, double confidence, struct interval *out)
{
	if (n < 1)
		return false;
	double mean = stats_mean(x, n), half = 0;
	if (n > 1) {
		double population_sd = stats_sd(x, n) * sqrt((double)(n - 1) / (double)n);
		/* the thesis's digits (Figures 4.6 and 4.7) come out only with t as tables print it, to three
		 * places */
		double t = round(student_two_sided(confidence, (double)n) * 1000) / 1000;
		half = t * population_sd / sqrt((double)n);
	}
	*out = (struct interval){.value = mean, .low = mean - half, .high = mean + half};
	return true;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* [x(k), x(n+1-k)], 1-based order statistics, holds the median unless fewer than k of n values fall on one
 * side of it: coverage 1 - 2 P(B(n, 1/2) <= k-1) whatever the distribution. The largest k that still has
 * the confidence is taken. */
bool stats_median_interval(const double *x, size_t n, double confidence, struct interval *out)
{
	double tail = (1 - confidence) / 2;
	size_t k = 0;
	if (n > 100000000u)
		return false;
	/* a bisection over k: the binomial's lower tail grows with k */
	size_t low = 0, high = n / 2 + 1;
	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;
		if (gsl_cdf_binomial_P((unsigned)(middle - 1), 0.5, (unsigned)n) <= tail)
			low = middle;
		else
			high = middle;
	}
	k = low;
	if (k == 0)
		return false;
	double *sorted = malloc(n * sizeof *sorted);
	if (!sorted)
		return false;
	for (size_t i = 0; i < n; i++)
		sorted[i] = x[i];
	qsort(sorted, n, sizeof *sorted, compare_doubles);
	*out = (struct interval){
		.value = n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1]) / 2,
		.low = sorted[k - 1],
		.high = sorted[n - k],
	};
	free(sorted);
	return true;
}
