/* Counters that show executions before the one that is counted: they are read too early, or never set to 0.
 * Points, and the executions of each, stand in the order in which they ran. See verdict.h. */
#include <math.h>
#include <string.h>

#include "trust/verdict_shapes.h"

enum { POINTS_LEAST = 4 };

static const double ALIKE = 0.01; /* as a share: a counter's noise */
static const double APART = 0.2;  /* surely another count */

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
