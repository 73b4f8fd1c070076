/* Counters that differ from one execution to the next: faulty in some of them, or another share of the events in
 * each. See verdict.h.
 *
 * Executions are split into those that are right and those that are not, and each part is judged for itself: the
 * right ones must not be accused, the others must follow a form that accuses, or none while they are far off.
 * What a clean counter does now and then (an interrupt, another program's events) has a size of its own: it does
 * not grow with the count. So the faulty executions have to be spread over a wide range of counts. */
#include <math.h>
#include <stdlib.h>

#include "trust/verdict_shapes.h"

enum {
	MIXED_LEAST = 4,
	EXECUTIONS_LEAST = 5,
	LESS_LEAST = 30, /* executions: noise to both sides does not show that */
};

static const double RANGE_LEAST = 100;  /* largest to smallest count of the points that have both */
static const double GROSS = 0.2;        /* so far from the prediction, as a share: far off */
static const double GROSS_FROM = 100;   /* predicted events: an overhead is not far off from here on */
static const double TIGHT = 0.05;       /* what is right spreads by no more, as a share of large counts */
static const double RANDOM_LEAST = 0.1; /* standard deviation, as a share */
static const double EXACT_LEAST = 0.1;  /* share of the executions */
static const double EXCESS_GROWS = 4;   /* from the smaller half of the points to the larger */
static const double LAG_GROWS = 2;      /* likewise */
static const double LAG_RANGE = 10;     /* largest to smallest count of the points that cannot lose all */
static const double CARRY_NEAR = 1e-3;  /* as a share of the power of two */
static const double CARRY_BIT_LEAST = 20;
static const double CARRIES_LEAST = 2; /* one that is near a power of two is so by chance */

/* ---- another share each time ---- */

bool shape_random(const struct fit *fit, struct verdict *v)
{
	size_t from = fit->n / 2;
	double least = INFINITY, most = 0;
	if (!fit->varies || fit->n < MIXED_LEAST || !(fit->points[from].x > 0))
		return false;
	const struct fit_point *first = &fit->points[from], *last = &fit->points[fit->n - 1];
	if (last->x < RANGE_LEAST / 4 * first->x || last->sd / last->x < 0.5 * first->sd / first->x)
		return false; /* noise that does not grow with the count */
	for (size_t i = from; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		if (p->n < EXECUTIONS_LEAST || p->sd < RANDOM_LEAST * p->x || !(p->most - p->least >= p->sd))
			return false;
		least = fmin(least, p->least / p->x);
		most = fmax(most, p->most / p->x);
	}
	v->shape = SHAPE_RANDOM;
	v->least_share = least;
	v->most_share = most;
	return true;
}

/* Right each time up to a size; beyond, executions lose what came before some moment of theirs, which is another
 * one each time: a counter that is not kept when the program is switched out. */
bool shape_restarts(const struct fit *fit, struct verdict *v)
{
	size_t right = 0, n = fit->n, halved = 0;
	double least = INFINITY, most = 0;
	while (right < n && fit->points[right].least == fit->points[right].most &&
	       fit->points[right].mean == fit->points[right].x)
		right++;
	if (right < 2 || n - right < 3 || !(fit->points[right - 1].x > fit->points[0].x))
		return false;
	for (size_t i = right; i < n; i++) {
		const struct fit_point *p = &fit->points[i];
		if (p->most > p->x || p->n < EXECUTIONS_LEAST)
			return false;
		halved += p->least < 0.5 * p->x && p->most - p->least > RANDOM_LEAST * p->x;
		least = fmin(least, p->least / p->x);
		most = fmax(most, p->most / p->x);
	}
	/* nearer to the size few executions are switched out */
	if (halved < 3 || 2 * halved < n - right)
		return false;
	v->shape = SHAPE_RESTARTS;
	v->offset = fit->points[right - 1].x;
	v->least_share = least;
	v->most_share = most;
	return true;
}

/* ---- too much or too little, whatever the size ---- */

/* A carry into a higher half that came too early or too late in some of the executions: they differ by a power of
 * two, the others by next to nothing. */
bool shape_carry(const struct fit *fit, struct verdict *v)
{
	double most = 0, executions = 0, odd = 0;
	int exponent;
	if (!fit->varies)
		return false;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < fit->n; i++) {
			const struct judged_point *p = &fit->event->points[fit->points[i].index];
			for (size_t k = 0; k < p->n; k++) {
				double off = p->observed[k] - p->predicted;
				if (pass == 0) {
					most = fabs(off) > fabs(most) ? off : most;
					continue;
				}
				if (fabs(off) > CARRY_NEAR * fabs(most) &&
				    fabs(off - most) > CARRY_NEAR * fabs(most))
					return false;
				executions++;
				odd += fabs(off - most) <= CARRY_NEAR * fabs(most);
			}
			if (pass == 0 && i + 1 == fit->n) { /* the power of two next to it */
				double power = frexp(fabs(most), &exponent) < 0.75 ? exponent - 1 : exponent;
				double all = copysign(exp2(power), most);
				if (power < CARRY_BIT_LEAST)
					return false;
				most = all;
			}
		}
	if (2 * odd > executions || odd < CARRIES_LEAST)
		return false;
	v->shape = SHAPE_CARRY;
	v->bits = (unsigned)ilogb(most);
	v->factor = copysign(1, most);
	v->sometimes = odd / executions;
	return true;
}

/* Executions show less, by what has nothing to do with the count: the last events before the end were not read. */
bool shape_lags(const struct fit *fit, struct verdict *v)
{
	double most = 0, least = INFINITY, of_half[2] = {0, 0};
	size_t from = 0, n = fit->n, less = 0;
	for (size_t i = 0; i < n; i++) {
		const struct fit_point *p = &fit->points[i];
		if (p->most > p->x || p->least < 0 || (p->x > 0 && p->n < EXECUTIONS_LEAST))
			return false;
		most = fmax(most, p->x - p->least);
		const struct judged_point *q = &fit->event->points[p->index];
		for (size_t k = 0; k < q->n; k++)
			less += q->observed[k] < q->predicted;
	}
	while (from < n && fit->points[from].x < 2 * most) /* nearer to it all may be lost */
		from++;
	if (!fit->varies || less < LESS_LEAST || n - from < 2 * MIXED_LEAST ||
	    fit->points[n - 1].x < LAG_RANGE * fit->points[from].x)
		return false;
	for (size_t i = from; i < n; i++) {
		const struct fit_point *p = &fit->points[i];
		double *half = &of_half[i >= (from + n) / 2];
		*half = fmax(*half, p->x - p->least);
		least = fmin(least, p->x - p->most);
	}
	if (of_half[1] > LAG_GROWS * of_half[0] || of_half[0] > LAG_GROWS * of_half[1] || least > most / 4)
		return false;
	v->shape = SHAPE_LAGS;
	v->offset = most;
	return true;
}

/* All executions are right or show more, by what has nothing to do with the count. */
bool shape_excess(const struct fit *fit, struct verdict *v)
{
	double executions = 0, exact = 0, most = 0, sum[2] = {0, 0}, n[2] = {0, 0};
	if (!fit->varies) /* what never varies is of no interrupt */
		return false;
	for (size_t i = 0; i < fit->n; i++) {
		const struct judged_point *p = &fit->event->points[fit->points[i].index];
		for (size_t k = 0; k < p->n; k++) {
			double excess = p->observed[k] - p->predicted;
			if (excess < 0)
				return false;
			executions++;
			exact += excess == 0;
			most = fmax(most, excess);
			sum[i >= fit->n / 2] += excess;
			n[i >= fit->n / 2]++;
		}
	}
	if (exact < EXACT_LEAST * executions || exact == executions || fit->n < MIXED_LEAST ||
	    fit->points[fit->n - 1].x < RANGE_LEAST * fmax(fit->points[0].x, 1) ||
	    sum[1] * n[0] > EXCESS_GROWS * fmax(sum[0], 1) * n[1])
		return false;
	v->shape = SHAPE_EXCESS;
	v->offset = most;
	v->sometimes = 1 - exact / executions;
	return true;
}

/* ---- some of the executions ---- */

struct part {
	struct judged_event event;
	struct judged_point *points;
	double *values; /* of all points, behind each other: observed, then interrupts */
	size_t executions;
};

static bool is_right(const struct judged_point *p, size_t execution, double share)
{
	return fabs(p->observed[execution] - p->predicted) <= share * p->predicted;
}

static void part_free(struct part *part)
{
	free(part->points);
	free(part->values);
}

/* The executions that are right, or the others, of all points with enough events. */
static bool part_new(const struct judged_event *event, bool right, double share, double from, struct part *out)
{
	size_t all = 0;
	for (size_t i = 0; i < event->n_points; i++)
		all += event->points[i].n;
	*out = (struct part){.event = *event,
			     .points = calloc(event->n_points + 1, sizeof *out->points),
			     .values = calloc(2 * all + 1, sizeof *out->values)};
	if (!out->points || !out->values)
		return false;
	double *next = out->values;
	out->event.points = out->points;
	for (size_t i = 0; i < event->n_points; i++) {
		const struct judged_point *p = &event->points[i];
		struct judged_point *q = &out->points[i];
		double *observed = next, *interrupts = next + p->n;
		*q = *p;
		q->n = 0;
		q->observed = observed;
		q->interrupts = p->interrupts ? interrupts : NULL;
		next += 2 * p->n;
		for (size_t k = 0; isfinite(p->predicted) && p->predicted >= from && k < p->n; k++) {
			if (is_right(p, k, share) != right)
				continue;
			observed[q->n] = p->observed[k];
			if (p->interrupts)
				interrupts[q->n] = p->interrupts[k];
			q->n++;
		}
		out->executions += q->n;
	}
	return true;
}

/* Do points of a wide range of counts have executions of both parts? */
static bool is_mixed(const struct part *right, const struct part *wrong)
{
	double least = INFINITY, most = 0;
	size_t mixed = 0;
	for (size_t i = 0; i < right->event.n_points; i++) {
		double x = right->points[i].predicted;
		if (!right->points[i].n || !wrong->points[i].n || !(x > 0))
			continue;
		mixed++;
		least = fmin(least, x);
		most = fmax(most, x);
	}
	return mixed >= MIXED_LEAST && most >= RANGE_LEAST * least;
}

/* Are about as many executions faulty where counts are large as where they are small? An overhead is far off where
 * they are small. */
static bool stays(const struct fit *fit, const struct part *right, const struct part *wrong)
{
	double executions[2] = {0, 0}, faulty[2] = {0, 0};
	size_t points = 0, seen = 0;
	for (size_t i = 0; i < fit->n; i++)
		points += right->points[fit->points[i].index].n || wrong->points[fit->points[i].index].n;
	for (size_t i = 0; i < fit->n; i++) {
		size_t at = fit->points[i].index;
		int half = seen >= points / 2;
		seen += right->points[at].n || wrong->points[at].n;
		faulty[half] += (double)wrong->points[at].n;
		executions[half] += (double)(wrong->points[at].n + right->points[at].n);
	}
	return faulty[1] >= MIXED_LEAST && faulty[1] * executions[0] >= 0.5 * faulty[0] * executions[1];
}

/* So few executions may be left that any form would hold. */
static bool is_sharp(const struct fit *fit)
{
	size_t sharp = 0;
	for (size_t i = 0; i < fit->n; i++)
		sharp += fit->points[i].t * fit->points[i].se < GROSS * fit->points[i].x;
	return sharp >= MIXED_LEAST && 2 * sharp >= fit->n;
}

static bool is_tight(const struct fit *fit)
{
	double least = INFINITY, most = 0;
	for (size_t i = fit->n / 2; i < fit->n; i++) {
		least = fmin(least, fit->points[i].least / fit->points[i].x);
		most = fmax(most, fit->points[i].most / fit->points[i].x);
	}
	return most - least <= TIGHT;
}

/* Is a size seen more than once, of several? Else a count that never varies is one that was not seen to. */
static bool is_repeated(const struct fit *fit)
{
	size_t repeated = 0;
	for (size_t i = 0; i < fit->n; i++)
		repeated += fit->points[i].n > 1;
	return repeated >= MIXED_LEAST;
}

/* A form that many counts have which do not vary. */
static bool is_loose(const struct verdict *v)
{
	return v->shape == SHAPE_CURVE || (v->shape == SHAPE_THROTTLED && !isfinite(v->factor));
}

/* Judges one part, by verdict_forms() alone. alike: the faulty executions of a point have to agree, since they
 * were told from the right ones by any difference: else noise is taken for them. */
static bool judge_part(const struct part *part, bool right, bool alike, struct verdict *v)
{
	struct fit fit = {0};
	bool found = false;
	double *form = calloc(part->event.n_points + 1, sizeof *form);
	*v = (struct verdict){.worst = part->event.n_points};
	if (form && fit_new(&part->event, true, &fit) && fit.n) {
		bool fits = verdict_forms(&fit, form, false, v);
		if (!fits)
			*v = (struct verdict){.worst = part->event.n_points};
		found = right ? is_tight(&fit) && !verdict_accuses(v->kind) && v->kind != VERDICT_NOTHING
			      : fits && is_sharp(&fit) && !(alike && fit.varies) &&
					(verdict_accuses(v->kind) || v->kind == VERDICT_NOTHING) &&
					(is_repeated(&fit) || !is_loose(v));
	}
	fit_free(&fit);
	free(form);
	return found;
}

static void take(struct verdict *v, const struct verdict *of, double share)
{
	v->shape = of->kind == VERDICT_NOTHING ? SHAPE_STUCK : of->shape;
	v->factor = of->factor;
	v->offset = of->kind == VERDICT_NOTHING ? 0 : of->offset;
	v->other = of->other;
	v->also_other = of->also_other;
	v->bits = of->bits;
	v->bits_most = of->bits_most;
	v->period = of->period;
	v->least_share = of->least_share;
	v->most_share = of->most_share;
	v->sometimes = share;
}

/* The point with the execution that is farthest off. */
static void find_worst(const struct part *wrong, struct verdict *v)
{
	double worst = 0;
	for (size_t i = 0; i < wrong->event.n_points; i++)
		for (size_t k = 0; k < wrong->points[i].n; k++) {
			double x = wrong->points[i].predicted, off = fabs(wrong->points[i].observed[k] - x) / x;
			if (off > worst)
				worst = off, v->worst = i;
		}
}

/* Are shares lost where counts are large, too? Where they are small, any few events are a share. */
static bool loses_in_large(const struct part *wrong, double from)
{
	double n = 0, sum = 0;
	for (size_t i = 0; i < wrong->event.n_points; i++)
		for (size_t k = 0; k < wrong->points[i].n && wrong->points[i].predicted >= from; k++)
			n++, sum += wrong->points[i].observed[k] / wrong->points[i].predicted;
	return n > 0 && sum / n <= 1 - RANDOM_LEAST;
}

/* Faulty executions that show fewer events than took place, another share of them each time. */
static bool loses_any_share(const struct part *wrong, struct verdict *of)
{
	size_t executions = 0, points = 0;
	double least = INFINITY, most = 0, sum = 0, squares = 0, largest = 0;
	for (size_t i = 0; i < wrong->event.n_points; i++) {
		const struct judged_point *p = &wrong->points[i];
		points += p->n && p->predicted >= GROSS_FROM;
		largest = p->n ? fmax(largest, p->predicted) : largest;
		for (size_t k = 0; k < p->n; k++) {
			double share = p->observed[k] / p->predicted;
			if (!(share < 1))
				return false;
			if (p->predicted < GROSS_FROM)
				continue;
			executions++;
			least = fmin(least, share), most = fmax(most, share);
			sum += share, squares += share * share;
		}
	}
	double n = (double)executions, mean = sum / n;
	if (points < MIXED_LEAST || executions < EXECUTIONS_LEAST ||
	    !(squares / n - mean * mean > RANDOM_LEAST * RANDOM_LEAST) || mean > 1 - RANDOM_LEAST ||
	    !loses_in_large(wrong, sqrt(GROSS_FROM * largest)))
		return false;
	*of = (struct verdict){.shape = SHAPE_RANDOM, .least_share = least, .most_share = most};
	return true;
}

static bool split(const struct fit *fit, double share, double from, struct verdict *v)
{
	struct part right = {0}, wrong = {0};
	struct verdict of_right, of_wrong;
	bool found = part_new(fit->event, true, share, from, &right) &&
		     part_new(fit->event, false, share, from, &wrong) && is_mixed(&right, &wrong) &&
		     stays(fit, &right, &wrong) && judge_part(&right, true, false, &of_right);
	if (found) {
		double part = (double)wrong.executions / (double)(right.executions + wrong.executions);
		bool form = judge_part(&wrong, false, share == 0, &of_wrong) ||
			    (share == 0 && loses_any_share(&wrong, &of_wrong));
		found = form || share > 0; /* far off, in no form: likewise */
		if (found && !form)
			of_wrong = (struct verdict){.shape = SHAPE_NONE}, find_worst(&wrong, v);
		if (found)
			take(v, &of_wrong, part);
	}
	part_free(&right);
	part_free(&wrong);
	return found;
}

bool shape_sometimes(const struct fit *fit, struct verdict *v)
{
	return fit->varies && (split(fit, 0, 0, v) || split(fit, GROSS, GROSS_FROM, v));
}
