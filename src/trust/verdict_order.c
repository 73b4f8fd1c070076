/* Counters that show executions before the one that is counted: they are read too early, or not set to 0.
 * Points, and the executions of each, stand in the order in which they ran. See verdict.h. */
#include <math.h>
#include <string.h>

#include "trust/verdict_shapes.h"

enum { POINTS_LEAST = 4 };

static const double ALIKE = 0.01; /* as a share: a counter's noise */
static const double APART = 0.2;  /* surely another count */
static const double LEAK_LEAST = 0.02;
static const double LEAK_ROUNDING = 2; /* events: the share is known to one, and each count is whole */

static bool alike(double count, double expected) { return fabs(count - expected) <= ALIKE * expected; }

static bool is_known(const struct judged_point *p) { return p->n > 0 && isfinite(p->predicted); }

/* The size that ran before: of the same kernel. NULL: none, or it is to count the same. */
static const struct judged_point *before(const struct judged_event *e, size_t i)
{
	const struct judged_point *p = &e->points[i], *q = i ? p - 1 : p;
	bool same = i && is_known(q) && strcmp(p->kernel, q->kernel) == 0;
	return same && fabs(p->predicted - q->predicted) > APART * fmax(p->predicted, q->predicted) ? q : NULL;
}

/* The first execution of a size shows the count of the size before, all others their own, which is the same. */
bool shape_before(const struct fit *fit, struct verdict *v)
{
	const struct judged_event *e = fit->event;
	size_t seen = 0;
	for (size_t i = 0; i < e->n_points; i++) {
		const struct judged_point *p = &e->points[i], *q = before(e, i);
		if (!is_known(p))
			continue;
		for (size_t k = 1; k < p->n; k++)
			if (!alike(p->observed[k], p->predicted))
				return false;
		if (q && !alike(p->observed[0], q->predicted))
			return false;
		seen += q && p->n > 1;
	}
	if (seen < POINTS_LEAST)
		return false;
	v->shape = SHAPE_BEFORE;
	return true;
}

/* y = x + f · (x of the execution before), to the last event. Only the first execution of a size has another size
 * before it. */
bool shape_leaks(const struct fit *fit, struct verdict *v)
{
	const struct judged_event *e = fit->event;
	const struct judged_point *largest = &e->points[fit->points[fit->n - 1].index];
	double share = largest->n > 1 ? largest->observed[1] / largest->predicted - 1 : 0;
	size_t seen = 0;
	if (!(share >= LEAK_LEAST && share <= 1))
		return false;
	for (size_t i = 0; i < e->n_points; i++) {
		const struct judged_point *p = &e->points[i], *q = before(e, i);
		if (!is_known(p))
			continue;
		for (size_t k = q ? 0 : 1; k < p->n; k++) {
			double left = share * (k ? p->predicted : q->predicted);
			if (!(fabs(p->observed[k] - p->predicted - left) <= LEAK_ROUNDING))
				return false;
		}
		seen += q && share * fabs(p->predicted - q->predicted) > 2 * LEAK_ROUNDING;
	}
	if (seen < POINTS_LEAST)
		return false;
	v->shape = SHAPE_LEAKS;
	v->factor = share;
	return true;
}

/* From one execution to the next the count grows by what the execution counts. */
bool shape_accumulates(const struct fit *fit, struct verdict *v)
{
	const struct judged_event *e = fit->event;
	size_t seen = 0;
	for (size_t i = 0; i < e->n_points; i++) {
		const struct judged_point *p = &e->points[i];
		if (!is_known(p))
			continue;
		for (size_t k = 1; k < p->n; k++)
			if (!alike(p->observed[k] - p->observed[k - 1], p->predicted))
				return false;
		seen += p->n > 1 && p->predicted > 0;
	}
	if (seen < POINTS_LEAST)
		return false;
	v->shape = SHAPE_ACCUMULATES;
	return true;
}
