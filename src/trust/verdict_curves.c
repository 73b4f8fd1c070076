/* Counters that grow with their event, and not in proportion to it. See verdict.h. */
#include <math.h>
#include <string.h>

#include "trust/verdict_shapes.h"

enum {
	CURVE_POINTS_LEAST = 5, /* of different predictions above 0 */
	CURVE_RANGE = 100,      /* largest to smallest of them: over less any curve is nearly a line */
	CURVE_BENDS = 3,        /* times as many for each event at one end as at the other */
};

/* A counter that is overhead, and then its event, has an exponent near 1. */
static const double EXPONENT_LEAST = 0.1, EXPONENT_NEAR = 0.02;

static bool is_wide(const struct fit *fit)
{
	size_t n = 0;
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < fit->n; i++) {
		double x = fit->points[i].x;
		if (!(x > 0))
			continue;
		n += x != most;
		least = fmin(least, x);
		most = x;
	}
	return n >= CURVE_POINTS_LEAST && most >= CURVE_RANGE * least;
}

/* ---- c · x^p ---- */

/* The line through the logarithms, whose weights are those of the counts. False: too few are above 0. */
static bool fit_exponent(const struct fit *fit, double *p)
{
	double w = 0, wx = 0, wy = 0, xx = 0, xy = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < fit->n; i++) {
			const struct fit_point *at = &fit->points[i];
			if (!(at->x > 0) || !(at->mean > 0))
				continue;
			double se = fmax(at->se, 1), weight = at->mean / se * (at->mean / se);
			if (pass == 0) {
				w += weight, wx += weight * log(at->x), wy += weight * log(at->mean);
				continue;
			}
			double dx = log(at->x) - wx / w;
			xx += weight * dx * dx;
			xy += weight * dx * (log(at->mean) - wy / w);
		}
	*p = xy / xx;
	return xx > 0;
}

static bool holds_power(const struct fit *fit, double p, bool scaled, double *form, struct verdict *v)
{
	struct fitted_line line = {.k = 1};
	for (size_t i = 0; i < fit->n; i++)
		form[i] = fit->points[i].x > 0 ? pow(fit->points[i].x, p) : 0;
	if (scaled && (!fit_line(fit, form, true, false, &line) || !(line.k > 0)))
		return false;
	for (size_t i = 0; i < fit->n; i++)
		form[i] *= line.k;
	if (!fit_holds(fit, form, 1))
		return false;
	v->shape = SHAPE_POWER_LAW;
	v->factor = line.k;
	v->period = p;
	return true;
}

/* Roots and whole powers, of the event itself, are what counters are wrong by; others stay as they are. */
bool shape_power_law(const struct fit *fit, double *form, struct verdict *v)
{
	double p;
	const struct fit_point *last = &fit->points[fit->n - 1];
	/* what comes near the truth in the end is an overhead */
	if (!(fabs(last->mean - last->x) > VERDICT_USABLE * last->x) || !is_wide(fit) || !fit_exponent(fit, &p) ||
	    !(p > 0) || !(fabs(p - 1) >= EXPONENT_LEAST))
		return false;
	for (int part = 1; part <= 3; part++) {
		double near = nearbyint(p * part) / part;
		if (near > 0 && fabs(p - near) < EXPONENT_NEAR &&
		    (holds_power(fit, near, false, form, v) || holds_power(fit, near, true, form, v)))
			return true;
	}
	return holds_power(fit, p, true, form, v);
}

/* ---- any other ---- */

/* Events shown for each that took place; a count is known to a whole one. */
static double ratio(const struct fit_point *p, double more) { return (p->mean + more) / p->x; }

/* Among points of growing predictions (kernel: of that one): never less, and always bent in the same direction.
 * *bends: is the range wide, and CURVE_BENDS reached? */
static bool is_bent(const struct fit *fit, const char *kernel, bool up, bool *wide, bool *bends)
{
	const struct fit_point *first = NULL, *last = NULL;
	for (size_t i = 0; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		if (!(p->x > 0) || (kernel && strcmp(fit->event->points[p->index].kernel, kernel) != 0))
			continue;
		if (last && (p->mean < last->mean || (p->x == last->x && p->mean != last->mean) ||
			     (up ? ratio(p, 1) < ratio(last, -1) : ratio(p, -1) > ratio(last, 1))))
			return false;
		first = first ? first : p;
		last = p;
	}
	*wide = first && last->x >= CURVE_RANGE * first->x;
	*bends = *wide && (up ? ratio(last, 0) >= CURVE_BENDS * ratio(first, 0)
			      : ratio(first, 0) >= CURVE_BENDS * ratio(last, 0));
	return true;
}

/* Each kernel that has a wide range has to show it: else kernels differ, and no more is known. */
bool shape_curve(const struct fit *fit, struct verdict *v)
{
	const struct fit_point *first = &fit->points[0], *last = &fit->points[fit->n - 1];
	size_t kernels = 0;
	bool wide, bends;
	while (first < last && !(first->x > 0))
		first++;
	bool up = ratio(last, 0) > ratio(first, 0);
	if (fit->varies || !is_wide(fit) || !is_bent(fit, NULL, up, &wide, &bends) || !bends)
		return false;
	for (size_t i = 0; i < fit->n; i++) {
		if (!is_bent(fit, fit->event->points[fit->points[i].index].kernel, up, &wide, &bends) ||
		    (wide && !bends))
			return false;
		kernels += wide;
	}
	if (!kernels)
		return false;
	v->shape = SHAPE_CURVE;
	v->offset = first->x;
	v->least_share = ratio(first, 0);
	v->period = last->x;
	v->most_share = ratio(last, 0);
	return true;
}
