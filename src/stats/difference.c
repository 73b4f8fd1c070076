/* Is the mean of y another one than that of x, and by how much?
 *
 * 1. The p-value is Welch's (stats_welch), but never below p_least = 2·nx^nx·ny^ny / (nx+ny)^(nx+ny): so
 *    probable it is, whatever their common distribution, that two equal programs give nx times one value and ny
 *    times another (it is greatest with two values, one with the share nx/(nx+ny)). That decides where both
 *    samples are constant, and Welch's error of 0 would make one run each a proof.
 * 2. The interval of the ratio of the means is Fieller's (Some problems in interval estimation, JRSS B 16,
 *    1954) with Welch's degrees of freedom: it contains 1 if and only if the difference's interval contains 0.
 * 3. The difference that could have been seen: (t(1 − alpha/2) + t(power)) standard errors, by Student's
 *    distribution in the place of the non-central one: at 5 runs each and more the power is then within 3 % of
 *    what was asked (tests/unit/comparison_test.c plants such differences). */
#include <math.h>

#include "stats/stats.h"
#include "stats/student.h"

double stats_least_p(size_t nx, size_t ny)
{
	if (nx == 0 || ny == 0)
		return 1;
	double x = (double)nx, y = (double)ny;
	return fmin(1, 2 * exp(x * log(x / (x + y)) + y * log(y / (x + y))));
}

/* Hedges' g: the difference in pooled standard deviations, without the bias of small samples (J. Educ. Stat. 6,
 * 1981). */
static double effect_size(double difference, double sx, size_t nx, double sy, size_t ny)
{
	double df = (double)(nx + ny) - 2;
	double pooled = sqrt(((double)(nx - 1) * sx * sx + (double)(ny - 1) * sy * sy) / df);
	return pooled > 0 ? difference / pooled * (1 - 3 / (4 * df - 1)) : NAN;
}

static double superiority(const double *x, size_t nx, const double *y, size_t ny)
{
	double above = 0;
	for (size_t i = 0; i < nx; i++)
		for (size_t j = 0; j < ny; j++)
			above += y[j] > x[i] ? 1 : y[j] == x[i] ? 0.5 : 0;
	return above / ((double)nx * (double)ny);
}

/* mean(y)/mean(x) − 1. vx, vy: squared standard errors; t: the quantile. */
static void find_relative(struct stats_difference *d, double vx, double vy, double t)
{
	double mx = d->mean_x, my = d->mean_y;
	if (mx == 0 && vx == 0) { /* from nothing: no change, or one without bounds */
		bool more = d->has_interval ? d->absolute.low > 0 : false;
		d->relative = my == 0 && vy == 0 ? (struct interval){0, 0, 0}
						 : (struct interval){INFINITY, more ? INFINITY : 0, INFINITY};
		d->has_relative = d->has_interval && my >= 0;
		return;
	}
	double a = mx * mx - t * t * vx, b = mx * my, c = my * my - t * t * vy;
	d->relative.value = (my - mx) / mx;
	d->relative.low = -INFINITY;
	d->relative.high = INFINITY;
	if (d->has_interval && d->constant && mx > 0) { /* without the rounding of what follows */
		d->relative.low = d->relative.high = d->relative.value;
		d->has_relative = true;
		return;
	}
	if (!d->has_interval || !(mx > 0) || !(a > 0))
		return; /* x may be 0: then the ratio has no bound */
	double root = sqrt(fmax(0, b * b - a * c));
	d->relative.low = (b - root) / a - 1;
	d->relative.high = (b + root) / a - 1;
	d->has_relative = true;
}

/* From the means and the squared standard errors vx and vy. */
static bool fill(struct stats_difference *d, double vx, size_t nx, double vy, size_t ny, double confidence)
{
	d->absolute = (struct interval){d->mean_y - d->mean_x, -INFINITY, INFINITY};
	d->error = sqrt(vx + vy);
	d->constant = d->error == 0;
	d->all_equal = d->constant && d->mean_x == d->mean_y;
	if (nx < 2 || ny < 2) {
		find_relative(d, vx, vy, 0);
		return true;
	}
	if (d->constant) {
		/* so many equal values say something of the spread, fewer do not */
		d->has_interval = d->p_least <= 1 - confidence;
		if (d->has_interval)
			d->absolute.low = d->absolute.high = d->absolute.value;
		d->p_value = d->all_equal ? 1 : d->p_least;
		d->t = 0;
		find_relative(d, vx, vy, 0);
		return true;
	}
	d->df = (vx + vy) * (vx + vy) / (vx * vx / (double)(nx - 1) + vy * vy / (double)(ny - 1));
	d->t = student_two_sided(confidence, d->df);
	if (!isfinite(d->t * d->error))
		return false;
	d->has_interval = true;
	d->absolute.low = d->absolute.value - d->t * d->error;
	d->absolute.high = d->absolute.value + d->t * d->error;
	d->p_value = fmax(d->p_least, student_p_value(d->absolute.value / d->error, d->df));
	find_relative(d, vx, vy, d->t);
	return true;
}

static struct stats_difference nothing_yet(size_t nx, size_t ny)
{
	return (struct stats_difference){
		.p_value = 1, .p_least = stats_least_p(nx, ny), .effect = NAN, .superiority = NAN, .t = NAN};
}

bool stats_difference(const double *x, size_t nx, const double *y, size_t ny, double confidence,
		      struct stats_difference *d)
{
	*d = nothing_yet(nx, ny);
	if (nx < 1 || ny < 1 || !(confidence > 0 && confidence < 1))
		return false;
	d->mean_x = stats_mean(x, nx);
	d->mean_y = stats_mean(y, ny);
	d->superiority = superiority(x, nx, y, ny);
	double sx = nx > 1 ? stats_sd(x, nx) : 0, sy = ny > 1 ? stats_sd(y, ny) : 0;
	if (nx > 1 && ny > 1)
		d->effect = effect_size(d->mean_y - d->mean_x, sx, nx, sy, ny);
	return fill(d, sx * sx / (double)nx, nx, sy * sy / (double)ny, ny, confidence);
}

bool stats_difference_of_means(const struct interval *x, size_t nx, const struct interval *y, size_t ny,
			       double confidence, struct stats_difference *d)
{
	*d = nothing_yet(nx, ny);
	if (nx < 2 || ny < 2 || !(confidence > 0 && confidence < 1))
		return false;
	double ex = (x->high - x->low) / 2 / student_two_sided(confidence, (double)(nx - 1));
	double ey = (y->high - y->low) / 2 / student_two_sided(confidence, (double)(ny - 1));
	d->mean_x = x->value;
	d->mean_y = y->value;
	return isfinite(ex) && isfinite(ey) && fill(d, ex * ex, nx, ey * ey, ny, confidence);
}

double stats_detectable(const struct stats_difference *d, double alpha, double power)
{
	if (d->p_least > alpha || !(power > 0.5 && power < 1))
		return INFINITY;
	if (d->constant)
		return 0;
	/* student_two_sided(c) is the (1 + c)/2 quantile: of `power` it is that of 2·power − 1 */
	return (student_two_sided(1 - alpha, d->df) + student_two_sided(2 * power - 1, d->df)) * d->error;
}
