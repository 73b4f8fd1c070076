#include "trust/overhead.h"

#include <math.h>

#include "stats/stats.h"

bool overhead_summarise(const double *values, size_t n, double confidence, struct overhead *out)
{
	struct interval interval;
	if (n == 0)
		return false;
	out->n = n;
	out->mean = stats_mean(values, n);
	out->median = stats_median(values, n);
	out->sd = n > 1 ? stats_sd(values, n) : 0;
	out->half_width = stats_mean_interval(values, n, confidence, &interval) ? interval.high - interval.value
										: 0;
	out->least = out->most = values[0];
	for (size_t i = 1; i < n; i++) {
		out->least = fmin(out->least, values[i]);
		out->most = fmax(out->most, values[i]);
	}
	/* equal numbers have no spread, whatever the rounding of their mean makes of it */
	if (out->least == out->most) {
		out->mean = out->least;
		out->sd = out->half_width = 0;
	}
	return true;
}
