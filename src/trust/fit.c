#include "trust/fit.h"

#include <math.h>

#include "stats/stats.h"
#include "stats/student.h"

bool line_fit(const double *x, const double *y, size_t n, double confidence, struct line_fit *out)
{
	double xx = 0, xy = 0, squares = 0;
	if (n < 2)
		return false;
	double x_mean = stats_mean(x, n), y_mean = stats_mean(y, n);
	for (size_t i = 0; i < n; i++) {
		xx += (x[i] - x_mean) * (x[i] - x_mean);
		xy += (x[i] - x_mean) * (y[i] - y_mean);
	}
	if (!(xx > 0))
		return false;
	*out = (struct line_fit){.c = xy / xx};
	out->o = y_mean - out->c * x_mean;
	for (size_t i = 0; i < n; i++) {
		double residual = y[i] - (out->o + out->c * x[i]);
		squares += residual * residual;
		out->residual_most = fmax(out->residual_most, fabs(residual));
	}
	if (n == 2) {
		out->o_half_width = out->c_half_width = NAN;
		return true;
	}
	double s = sqrt(squares / (double)(n - 2)), t = student_two_sided(confidence, (double)(n - 2));
	out->c_half_width = t * s / sqrt(xx);
	out->o_half_width = t * s * sqrt(1 / (double)n + x_mean * x_mean / xx);
	return true;
}
