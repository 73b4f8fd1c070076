#include "trust/noise.h"

#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"
#include "stats/student.h"

bool noise_floor_of(const double *runs, size_t n, double confidence, struct noise_floor *out)
{
	size_t each = n / 2;
	if (each < 2)
		return false;
	double *a = malloc(2 * each * sizeof *a), *b = a + each;
	if (!a)
		return false;
	for (size_t i = 0; i < each; i++) {
		a[i] = runs[2 * i];
		b[i] = runs[2 * i + 1];
	}
	double mean_a = stats_mean(a, each), mean_b = stats_mean(b, each), mean = (mean_a + mean_b) / 2;
	double va = pow(stats_sd(a, each), 2) / (double)each, vb = pow(stats_sd(b, each), 2) / (double)each;
	free(a);
	if (!(mean > 0))
		return false;
	double df = va + vb > 0 ? (va + vb) * (va + vb) / ((va * va + vb * vb) / (double)(each - 1)) : 1;
	double significant = va + vb > 0 ? student_two_sided(confidence, df) * sqrt(va + vb) / mean : 0;
	out->n = each;
	out->mean = mean;
	out->relative_sd = sqrt((va + vb) / 2 * (double)each) / mean;
	out->seen = fabs(mean_a - mean_b) / mean;
	out->floor = fmax(significant, out->seen);
	return true;
}
