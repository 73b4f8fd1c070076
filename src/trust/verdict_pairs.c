/* Counters that show two other events at once: their sum, how far they are apart, the larger or the smaller
 * of both. See verdict.h. */
#include <math.h>
#include <string.h>

#include "trust/verdict_shapes.h"

static double prediction(const struct fit *fit, size_t i, size_t other)
{
	const double *others = fit->event->points[fit->points[i].index].others;
	return others ? others[other] : NAN;
}

/* Of one kernel's straight lines, some two add up to any other. */
static bool several_kernels(const struct fit *fit)
{
	const struct judged_point *points = fit->event->points;
	for (size_t i = 1; i < fit->n; i++)
		if (strcmp(points[fit->points[i].index].kernel, points[fit->points[0].index].kernel) != 0)
			return true;
	return false;
}

static double together(enum verdict_shape shape, double x, double y)
{
	switch (shape) {
	case SHAPE_SUM: return x + y;
	case SHAPE_DIFFERENCE: return fabs(x - y);
	case SHAPE_LARGER: return fmax(x, y);
	default: return fmin(x, y);
	}
}

/* Both are predicted at all points. */
static bool holds_pair(const struct fit *fit, size_t a, size_t b, enum verdict_shape shape, double *form)
{
	for (size_t i = 0; i < fit->n; i++) {
		double x = prediction(fit, i, a), y = prediction(fit, i, b);
		if (!isfinite(x) || !isfinite(y))
			return false;
		form[i] = together(shape, x, y);
	}
	return fit_holds(fit, form, 0);
}

bool shape_pair(const struct fit *fit, double *form, struct verdict *v)
{
	size_t n = fit->event->n_others;
	if (!several_kernels(fit))
		return false;
	static const enum verdict_shape shapes[] = {SHAPE_SUM, SHAPE_DIFFERENCE, SHAPE_LARGER, SHAPE_SMALLER};
	for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
		for (size_t a = 0; a < n; a++)
			for (size_t b = a + 1; b < n; b++)
				if (holds_pair(fit, a, b, shapes[k], form)) {
					v->shape = shapes[k];
					v->other = a;
					v->another = b;
					return true;
				}
	return false;
}
