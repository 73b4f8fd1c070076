/* Counters that are right in a part of their range: those that wrap, saturate, begin late, never show little, are
 * throttled, or count more than once beyond a size. See verdict.h. */
#include <math.h>

#include "trust/verdict_shapes.h"

enum {
	BITS_LEAST = 8,
	BITS_MOST = 62,
	TURNS_MOST = 64, /* of the first point that wraps */
	RANGE_LEAST = 256,
	ABOVE_LEAST = 3, /* points beyond a limit: fewer do not tell how it goes on */
};

static const double THROTTLED_GROWS = 2; /* from the first size that loses events to the largest */

/* Surely another count than the truth: with few executions any form holds. */
static bool differs(const struct fit_point *p) { return fabs(p->mean - p->x) > p->t * p->se; }

/* ---- begins anew ---- */

/* What is counted too much below the range: an offset, that wraps with the rest. */
static double offset_below(const struct fit *fit, double range)
{
	double w = 0, sum = 0;
	for (size_t i = 0; i < fit->n && fit->points[i].x < range; i++) {
		double se = fit->points[i].se, weight = se > 0 ? 1 / (se * se) : 1;
		w += weight;
		sum += weight * (fit->points[i].mean - fit->points[i].x);
	}
	return w > 0 ? sum / w : 0;
}

static bool holds_modulo(const struct fit *fit, double range, size_t beyond_least, double *form)
{
	double o = offset_below(fit, range);
	size_t beyond = 0;
	for (size_t i = 0; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		beyond += p->x >= range && differs(p) && (!i || p->x != fit->points[i - 1].x);
		form[i] = fmod(fmax(p->x + o, 0), range);
	}
	return beyond >= beyond_least && fit_holds(fit, form, fit->varies ? 1 : 0);
}

/* The range from the point at `first`, of which `turns` are lost; larger points know it better. */
static double range_from(const struct fit *fit, size_t first, double o, double turns)
{
	double range = (fit->points[first].x + o - fit->points[first].mean) / turns;
	for (size_t i = first + 1; i < fit->n && range >= RANGE_LEAST; i++) {
		double lost = fit->points[i].x + o - fit->points[i].mean, q = nearbyint(lost / range);
		if (q >= 1)
			range = lost / q;
	}
	return nearbyint(range);
}

bool shape_wraps(const struct fit *fit, double *form, struct verdict *v)
{
	v->shape = SHAPE_WRAPS;
	v->bits = 0;
	for (unsigned bits = BITS_LEAST; bits <= BITS_MOST; bits++)
		if (holds_modulo(fit, ldexp(1, (int)bits), 1, form)) {
			v->bits = v->bits ? v->bits : bits;
			v->bits_most = bits;
		}
	if (v->bits)
		return true;
	size_t first = 0;
	while (first < fit->n && !(fit->points[first].x - fit->points[first].mean > RANGE_LEAST / 2.0))
		first++;
	double o = first < fit->n ? offset_below(fit, fit->points[first].x) : 0;
	for (double turns = 1; first < fit->n && turns <= TURNS_MOST; turns++) {
		v->offset = range_from(fit, first, o, turns);
		if (v->offset >= RANGE_LEAST && holds_modulo(fit, v->offset, ABOVE_LEAST, form))
			return true;
	}
	v->shape = SHAPE_NONE;
	v->offset = 0;
	return false;
}

/* ---- is right beyond a size ---- */

/* max(0, x − c): nothing is seen of what is smaller than c. */
bool shape_late(const struct fit *fit, double *form, struct verdict *v)
{
	double w = 0, sum = 0;
	size_t none = 0, above = 0;
	for (size_t i = 0; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		double weight = p->se > 0 ? 1 / (p->se * p->se) : 1;
		none += p->x > 0 && p->mean == 0 && differs(p);
		if (p->least > 0 && p->mean > 5 * p->sd) { /* nearer ones are cut off at 0 */
			above++;
			w += weight;
			sum += weight * (p->x - p->mean);
		}
	}
	double c = w > 0 ? sum / w : 0;
	if (!none || above < ABOVE_LEAST || !(c >= 1))
		return false;
	if (fabs(c - nearbyint(c)) < 0.5 && fit->varies)
		c = nearbyint(c);
	for (size_t i = 0; i < fit->n; i++)
		form[i] = fmax(0, fit->points[i].x - c);
	if (!fit_holds(fit, form, 0))
		return false;
	v->shape = SHAPE_LATE;
	v->offset = c;
	return true;
}

/* max(x, c) */
bool shape_at_least(const struct fit *fit, double *form, struct verdict *v)
{
	double c = INFINITY;
	size_t below = 0, above = 0;
	for (size_t i = 0; i < fit->n; i++)
		c = fmin(c, fit->points[i].mean);
	for (size_t i = 0; i < fit->n; i++) {
		double x = fit->points[i].x;
		below += x < c && differs(&fit->points[i]) && (!i || x != fit->points[i - 1].x);
		above += x > c;
		form[i] = fmax(x, c);
	}
	if (below < 2 || above < ABOVE_LEAST || !fit_holds(fit, form, 0))
		return false;
	v->shape = SHAPE_AT_LEAST;
	v->offset = c;
	return true;
}

/* ---- is right up to a size ---- */

/* At least one point below, and two above that show the same (or one that shows 2^w − 1). */
bool shape_saturates(const struct fit *fit, double *form, struct verdict *v)
{
	const struct fit_point *last = &fit->points[fit->n - 1];
	size_t above = 0, below = 0;
	double top = 0;
	for (size_t i = 0; i < fit->n; i++)
		top = fmax(top, fit->points[i].mean);
	if (!(top < last->x))
		return false;
	for (size_t i = 0; i < fit->n; i++) {
		above += fit->points[i].x > top && differs(&fit->points[i]);
		below += fit->points[i].x <= top && fit->points[i].x > 0;
		form[i] = fmin(fit->points[i].x, top);
	}
	int exponent;
	bool full = frexp(top + 1, &exponent) == 0.5 && top >= 255;
	if (!below || !(above >= 2 || (above == 1 && full)) || !fit_holds(fit, form, fit->varies ? 1 : 0))
		return false;
	v->shape = SHAPE_SATURATES;
	v->offset = top;
	return true;
}

/* Right up to a size, then a smaller share of what comes on top. Of events at different rates there is no one size
 * and no one share: then it is enough that all of the larger points fall short, by more the larger they are. */
bool shape_throttled(const struct fit *fit, double *form, struct verdict *v)
{
	size_t right = 0, n = fit->n;
	while (right < n && !differs(&fit->points[right]))
		right++;
	if (right < 2 || n - right < 3 || !(fit->points[right - 1].x > 0))
		return false;
	for (size_t i = right; i < n; i++) {
		const struct fit_point *p = &fit->points[i], *before = &fit->points[i - 1];
		if (!(p->mean < p->x) || !differs(p) || !(p->x - p->mean >= before->x - before->mean) ||
		    !(p->mean > 0))
			return false;
	}
	const struct fit_point *first = &fit->points[right], *last = &fit->points[n - 1];
	double share = last->x > first->x ? (last->mean - first->mean) / (last->x - first->x) : NAN;
	double knee = (first->mean - share * first->x) / (1 - share);
	for (size_t i = 0; i < n; i++)
		form[i] = fmin(fit->points[i].x, knee + share * (fit->points[i].x - knee));
	bool one = isfinite(knee) && share > 0 && share < 1 && fit_holds(fit, form, 2);
	if (!one && !(last->x - last->mean >= THROTTLED_GROWS * (first->x - first->mean)))
		return false; /* as many at any size: they are not read, or come too late */
	v->shape = SHAPE_THROTTLED;
	v->offset = one ? knee : fit->points[right - 1].x;
	v->factor = one ? share : NAN;
	return true;
}

/* Right up to a size, then one of m events, from the first on: another unit. */
static bool holds_unit(const struct fit *fit, size_t right, double m, double *form)
{
	for (size_t i = 0; i < fit->n; i++)
		form[i] = i < right ? fit->points[i].x : floor(fit->points[i].x / m);
	return m >= 2 && fit_holds(fit, form, 0);
}

/* Right up to a size, then k for each event that comes on top; or k, or 1/k, for each of all events. It never
 * varies, and k is whole: noise that grows with the count has no such form. */
bool shape_beyond(const struct fit *fit, double *form, struct verdict *v)
{
	size_t right = 0, n = fit->n;
	while (right < n && !differs(&fit->points[right]))
		right++;
	if (fit->varies || right < 2 || n - right < ABOVE_LEAST)
		return false;
	const struct fit_point *below = &fit->points[right - 1], *first = below + 1, *last = &fit->points[n - 1];
	double k = nearbyint((last->mean - first->mean) / (last->x - first->x));
	double knee = (k * first->x - first->mean) / (k - 1), m = floor(last->x / last->mean);
	if (below->x < first->x && holds_unit(fit, right, m, form)) {
		v->shape = SHAPE_BEYOND;
		v->factor = 1 / m;
		v->offset = below->x;
		v->period = first->x;
		return true;
	}
	if (!(k >= 2) || !(knee == 0 || (knee >= below->x && knee < first->x)))
		return false;
	for (size_t i = 0; i < n; i++)
		form[i] = i < right ? fit->points[i].x : k * fit->points[i].x - (k - 1) * knee;
	if (!fit_holds(fit, form, 0))
		return false;
	v->shape = SHAPE_BEYOND;
	v->factor = k;
	v->offset = knee > 0 ? knee : below->x;
	v->period = knee > 0 ? 0 : first->x;
	return true;
}

/* Right up to a size; from the next one on always so many more or less, or always the same. It never varies. */
bool shape_from(const struct fit *fit, double *form, struct verdict *v)
{
	size_t right = 0, n = fit->n;
	while (right < n && !differs(&fit->points[right]))
		right++;
	if (fit->varies || right < 2 || n - right < ABOVE_LEAST ||
	    !(fit->points[right].x > fit->points[right - 1].x))
		return false;
	const struct fit_point *first = &fit->points[right], *last = &fit->points[n - 1];
	bool stops = first->mean == last->mean && last->x > first->x;
	double c = stops ? first->mean : first->mean - first->x;
	for (size_t i = 0; i < n; i++)
		form[i] = i < right ? fit->points[i].x : stops ? c : fit->points[i].x + c;
	if (!fit_differs_within_kernel(fit, form) || !fit_holds(fit, form, 0))
		return false;
	v->shape = stops ? SHAPE_STOPS : SHAPE_SHIFTS;
	v->offset = first[-1].x;
	v->period = first->x;
	v->factor = c;
	return true;
}
