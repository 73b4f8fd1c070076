/* Counters that show two other events at once: their sum, or how far they are apart. See verdict.h. */
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

/* Both are predicted at all points, and both move. */
static bool holds_pair(const struct fit *fit, size_t a, size_t b, bool sum, double *form)
{
	bool moves_a = false, moves_b = false;
	for (size_t i = 0; i < fit->n; i++) {
		double x = prediction(fit, i, a), y = prediction(fit, i, b);
		if (!isfinite(x) || !isfinite(y))
			return false;
		moves_a |= x > 0;
		moves_b |= y > 0;
		form[i] = sum ? x + y : fabs(x - y);
	}
	return moves_a && moves_b && fit_holds(fit, form, 0);
}

bool shape_pair(const struct fit *fit, double *form, struct verdict *v)
{
	size_t n = fit->event->n_others;
	if (!several_kernels(fit))
		return false;
	for (int sum = 1; sum >= 0; sum--)
		for (size_t a = 0; a < n; a++)
			for (size_t b = a + 1; b < n; b++)
				if (holds_pair(fit, a, b, sum, form)) {
					v->shape = sum ? SHAPE_SUM : SHAPE_DIFFERENCE;
					v->other = a;
					v->another = b;
					return true;
				}
	return false;
}
