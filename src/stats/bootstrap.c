/* The bootstrap interval of a ratio of means.
 *
 * Bias-corrected percentiles (Efron: Better bootstrap confidence intervals, JASA 82 (1987), without its
 * acceleration: estimated from a few skewed values it made coverage worse here, 93.1 % where this has 94.1 %). The
 * tails are widened for small samples as in Hesterberg: What teachers should know about the bootstrap, The
 * American Statistician 69 (2015), section 4.4: percentiles of small samples are too narrow by sqrt((n-1)/n) and
 * by the normal in place of the t distribution.
 *
 * Of pairs the interval is the wider of that and Student's t of the log ratio, by linearization (Cochran: Sampling
 * techniques, 3rd ed. 1977, section 6.3): a pair's own ratio varies less than its two times, whose tails cancel.
 * Percentiles alone covered 93.97 % of 10^5 draws of 10 pairs. A studentized bootstrap of the log ratio (Hall:
 * Theoretical comparison of bootstrap confidence intervals, Annals of Statistics 16 (1988)) covered 96.3 % of 10
 * pairs and 98 % of 5 in its symmetric form, 93.8 and 94.8 % in its other.
 *
 * Coverage seen at 95 % for run times (normal noise on a floor with an exponential tail; 10^4 draws, 1000
 * resamples, tests/unit/stats_coverage_test.c): two samples of 5: 97.1, of 10: 95.6, of 30: 94.6; pairs, 10: 95.6,
 * 30: 95.0. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "stats/stats.h"
#include "stats/student.h"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double ratio(double sum_x, size_t nx, double sum_y, size_t ny)
{
	return sum_x / (double)nx / (sum_y / (double)ny);
}

/* The ratio's relative half-width on the log scale: t · √( Σ (x_i/mean_x - y_i/mean_y)² / (n (n-1)) ). */
static double log_half_width(const double *x, const double *y, size_t n, double mean_x, double mean_y,
			     double confidence)
{
	double squares = 0;
	for (size_t i = 0; i < n; i++) {
		double difference = x[i] / mean_x - y[i] / mean_y;
		squares += difference * difference;
	}
	return student_two_sided(confidence, (double)(n - 1)) * sqrt(squares / ((double)n * (double)(n - 1)));
}

bool stats_ratio_bootstrap(const double *x, size_t nx, const double *y, size_t ny, bool paired, double confidence,
			   size_t resamples, uint64_t seed, struct interval *out)
{
	if (nx < 2 || ny < 2 || (paired && nx != ny) || resamples < 1000 || !(confidence > 0 && confidence < 1))
		return false;
	double mean_y = stats_mean(y, ny);
	if (mean_y == 0)
		return false;
	double sum_x = stats_mean(x, nx) * (double)nx, sum_y = mean_y * (double)ny;
	double value = ratio(sum_x, nx, sum_y, ny);

	double *ratios = malloc(resamples * sizeof *ratios);
	if (!ratios)
		return false;
	struct random random = {.state = seed};
	double below = 0;
	for (size_t r = 0; r < resamples; r++) {
		double rx = 0, ry = 0;
		for (size_t i = 0; i < nx; i++) {
			size_t pick = random_below(&random, nx);
			rx += x[pick];
			if (paired)
				ry += y[pick];
		}
		for (size_t i = 0; i < ny && !paired; i++)
			ry += y[random_below(&random, ny)];
		ratios[r] = ratio(rx, nx, ry, ny);
		if (isnan(ratios[r])) /* 0/0: a resample of zeros says nothing; it counts as the value itself */
			ratios[r] = value;
		below += ratios[r] < value ? 1 : ratios[r] == value ? 0.5 : 0;
	}
	qsort(ratios, resamples, sizeof *ratios, compare_doubles);

	/* one resample at the least on either side keeps the correction finite */
	double share = fmin(fmax(below, 0.5), (double)resamples - 0.5) / (double)resamples;
	double bias = normal_quantile(share);
	/* Hesterberg's widening, with the smaller sample's size where they differ */
	double n = (double)(nx < ny ? nx : ny);
	double z = sqrt(n / (n - 1)) * student_two_sided(confidence, n - 1);
	double ends[2];
	for (int side = 0; side < 2; side++) {
		double level = normal_probability(2 * bias + (side ? z : -z));
		size_t index = (size_t)fmin(fmax(floor(level * (double)(resamples + 1)) - (side ? 0 : 1), 0),
					    (double)(resamples - 1));
		ends[side] = ratios[index];
	}
	*out = (struct interval){.value = value, .low = fmin(ends[0], value), .high = fmax(ends[1], value)};
	free(ratios);
	if (paired && value > 0) {
		double half = log_half_width(x, y, nx, value * mean_y, mean_y, confidence);
		out->low = fmin(out->low, value * exp(-half));
		out->high = fmax(out->high, value * exp(half));
	}
	return true;
}
