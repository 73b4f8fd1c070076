/* Counters that show executions before the one that is counted: they are read too early, or not set to 0.
 * Points, and the executions of each, stand in the order in which they ran. See verdict.h. */
#include <math.h>
#include <string.h>

#include "trust/verdict_shapes.h"

enum { POINTS_LEAST = 4, EXECUTIONS_LEAST = 30, KEPT_LEAST = 3 };

static const double ALIKE = 0.01; /* as a share: a counter's noise */
static const double APART = 0.2;  /* surely another count */
static const double LEAK_LEAST = 0.02;
static const double DRIFT_LEAST = 10;  /* events, from the first execution to the last */
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

/* What execution k of size p has of the one before, which is of size q for the first one: x, or what was shown. */
static double left_of(const struct judged_point *p, const struct judged_point *q, size_t k, bool shown)
{
	if (shown)
		return k ? p->observed[k - 1] : q->observed[q->n - 1];
	return k ? p->predicted : q->predicted;
}

/* y = x + f · (b − x), b: left_of(). f is told by the first executions of sizes that are farthest apart. */
static bool is_mean(const struct judged_event *e, bool shown, double *share)
{
	double farthest = 0;
	size_t seen = 0;
	*share = 0;
	for (size_t i = 0; i < e->n_points; i++) {
		const struct judged_point *p = &e->points[i], *q = before(e, i);
		double apart = q && is_known(p) ? left_of(p, q, 0, shown) - p->predicted : 0;
		if (fabs(apart) > farthest)
			farthest = fabs(apart), *share = (p->observed[0] - p->predicted) / apart;
	}
	if (!(*share >= LEAK_LEAST && *share <= 1 - LEAK_LEAST))
		return false;
	for (size_t i = 0; i < e->n_points; i++) {
		const struct judged_point *p = &e->points[i], *q = before(e, i);
		if (!is_known(p))
			continue;
		for (size_t k = q ? 0 : 1; k < p->n; k++) {
			double more = *share * (left_of(p, q, k, shown) - p->predicted);
			if (!(fabs(p->observed[k] - p->predicted - more) <= LEAK_ROUNDING))
				return false;
		}
		seen += q && *share * fabs(p->predicted - q->predicted) > 2 * LEAK_ROUNDING;
	}
	return seen >= POINTS_LEAST;
}

bool shape_mixes(const struct fit *fit, struct verdict *v)
{
	double share;
	bool mixes = is_mean(fit->event, false, &share);
	if (!mixes && !is_mean(fit->event, true, &share))
		return false;
	v->shape = mixes ? SHAPE_MIXES : SHAPE_SMOOTHS;
	v->factor = share;
	return true;
}

/* The largest x of all executions so far. What ran before the first one is not known. */
bool shape_peak(const struct fit *fit, struct verdict *v)
{
	const struct judged_event *e = fit->event;
	double most = 0;
	size_t kept = 0, grows = 0;
	for (size_t i = 0; i < e->n_points; i++) {
		const struct judged_point *p = &e->points[i];
		if (!is_known(p))
			continue;
		most = most > 0 ? most : p->observed[0];
		kept += p->predicted < (1 - APART) * most;
		grows += p->predicted > most;
		most = fmax(most, p->predicted);
		for (size_t k = 0; k < p->n; k++)
			if (!alike(p->observed[k], most))
				return false;
	}
	if (kept < POINTS_LEAST || !grows)
		return false;
	v->shape = SHAPE_PEAK;
	return true;
}

/* The larger x of the execution and the one before. Only the first execution of a kernel has a larger one before
 * it, of another kernel: where one that this event has no points of ran between, it shows any more. */
bool shape_keeps(const struct fit *fit, struct verdict *v)
{
	const struct judged_event *e = fit->event;
	size_t kept = 0;
	for (size_t i = 0; i < e->n_points; i++) {
		const struct judged_point *p = &e->points[i], *q = i ? p - 1 : NULL;
		if (!is_known(p))
			continue;
		for (size_t k = 1; k < p->n; k++)
			if (p->observed[k] != p->predicted)
				return false;
		bool begins = !q || strcmp(p->kernel, q->kernel) != 0;
		if (p->observed[0] < p->predicted || (!begins && p->observed[0] != p->predicted))
			return false;
		kept += q && is_known(q) && q->predicted > p->predicted && p->observed[0] == q->predicted;
	}
	if (kept < KEPT_LEAST)
		return false;
	v->shape = SHAPE_KEEPS;
	return true;
}

/* y = x + o + r · i, i: how many executions ran before. To the last event: noise is not a line. */
bool shape_drifts(const struct fit *fit, struct verdict *v)
{
	const struct judged_event *e = fit->event;
	double n = 0, first = 0, last = 0, i = 0;
	for (size_t at = 0; at < e->n_points; at++) {
		const struct judged_point *p = &e->points[at];
		for (size_t k = 0; is_known(p) && k < p->n; k++) {
			last = p->observed[k] - p->predicted;
			first = n == 0 ? last : first;
			n++;
		}
	}
	double each = (last - first) / (n - 1);
	if (n < EXECUTIONS_LEAST || !(fabs(last - first) >= DRIFT_LEAST))
		return false;
	for (size_t at = 0; at < e->n_points; at++) {
		const struct judged_point *p = &e->points[at];
		for (size_t k = 0; is_known(p) && k < p->n; k++)
			if (!(fabs(p->observed[k] - p->predicted - first - each * i++) <= 1))
				return false;
	}
	v->shape = SHAPE_DRIFTS;
	v->factor = each;
	return true;
}
