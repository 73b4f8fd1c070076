#include "trust/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trust/verdict_fit.h"
#include "trust/verdict_shapes.h"

/* An offset that spreads by more than this share of itself is noise, not a constant. */
static const double OFFSET_SPREAD = 0.5;

static double distinct_predictions(const struct fit *fit)
{
	size_t n = fit->n > 0;
	for (size_t i = 1; i < fit->n; i++)
		n += fit->points[i].x != fit->points[i - 1].x;
	return (double)n;
}

static bool all_equal(const struct fit *fit, bool to_prediction)
{
	for (size_t i = 0; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		if (p->least != p->most || p->mean != (to_prediction ? p->x : fit->points[0].mean))
			return false;
	}
	return true;
}

static bool all_zero(const struct fit *fit)
{
	for (size_t i = 0; i < fit->n; i++)
		if (fit->points[i].least != 0 || fit->points[i].most != 0)
			return false;
	return true;
}

/* Of one execution, as a share of the prediction. */
static double error_of(const struct fit_point *p)
{
	double spread = p->least < p->most ? p->t95 * p->sd * sqrt(1 + 1 / p->n) : 0;
	return (fabs(p->mean - p->x) + spread) / p->x;
}

/* Korn's "N at which … is within 5 %": the smallest tested x from which on all are. */
static double usable_from(const struct fit *fit)
{
	double from = INFINITY;
	for (size_t i = fit->n; i-- > 0;) {
		if (!(fit->points[i].x > 0))
			continue;
		if (error_of(&fit->points[i]) > VERDICT_USABLE)
			return from;
		from = fit->points[i].x;
	}
	return 0;
}

static void describe(const struct fit *fit, struct verdict *v)
{
	double worst = 0;
	v->points = fit->n;
	v->worst = fit->event->n_points;
	v->least = fit->n ? fit->points[0].x : NAN;
	v->most = fit->n ? fit->points[fit->n - 1].x : NAN;
	v->error = NAN;
	for (size_t i = 0; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		double share = fabs(p->mean - p->x) / fmax(p->x, 1);
		v->executions += (size_t)p->n;
		if (share > worst)
			worst = share, v->worst = p->index;
		if (p->x > 0)
			v->error = fabs(p->mean - p->x) / p->x;
	}
	v->usable_from = usable_from(fit);
}

static bool is(struct verdict *v, enum verdict_kind kind)
{
	v->kind = kind;
	return true;
}

/* mean(y) = x, at each point and in all of them together. */
static bool unbiased(const struct fit *fit, double *form)
{
	struct fitted_line offset = {.k = 1}, through = {0};
	for (size_t i = 0; i < fit->n; i++)
		form[i] = fit->points[i].x;
	return fit->varies && fit_holds(fit, form, 0) && fit_line(fit, form, false, true, &offset) &&
	       !fit_differs(fit, offset.o, offset.se_o, 0) &&
	       (!fit_line(fit, form, true, false, &through) || !fit_differs(fit, through.k, through.se_k, 1));
}

static double spread_of(const struct fit *fit)
{
	double sum = 0;
	for (size_t i = 0; i < fit->n; i++)
		sum += fit->points[i].least < fit->points[i].most ? fit->points[i].sd : 0;
	return fit->n ? sum / (double)fit->n : 0;
}

/* Surely another slope than 1: what each point alone has too few executions to tell. */
static bool grows(const struct fit *fit)
{
	struct fitted_line line = {0};
	double *x = calloc(fit->n + 1, sizeof *x);
	bool told = false;
	for (size_t i = 0; x && i < fit->n; i++)
		x[i] = fit->points[i].x;
	told = x && fit->varies && fit_line(fit, x, false, false, &line) && fit_differs(fit, line.k, line.se_k, 1);
	free(x);
	return told;
}

/* y = x + o. One that spreads as much as itself is noise; it stays in the threshold. */
static bool offset(const struct fit *fit, double *form, struct verdict *v)
{
	struct fitted_line line = {.k = 1};
	for (size_t i = 0; i < fit->n; i++)
		form[i] = fit->points[i].x;
	if (!fit_line(fit, form, false, true, &line))
		return false;
	if (!fit->varies)
		line.o = fit->points[0].mean - fit->points[0].x;
	for (size_t i = 0; i < fit->n; i++)
		form[i] = fit->points[i].x + line.o;
	if (!fit_holds(fit, form, 0) || grows(fit))
		return false;
	v->offset = line.o;
	v->half_width = fit->varies ? fit->points[0].t95 * line.se_o : 0;
	return is(v, spread_of(fit) > OFFSET_SPREAD * fabs(line.o) ? VERDICT_NOISY : VERDICT_OFFSET);
}

/* Does what is counted too much or too little stay as it is while the count grows? Then it is overhead, and the
 * threshold law says from where on it does not matter. */
static bool bounded(const struct fit *fit, double *overhead)
{
	double most[2] = {0, 0};
	for (size_t i = 0; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		double *half = &most[i >= fit->n / 2];
		*half = fmax(*half, error_of(p) * p->x);
	}
	*overhead = fmax(most[0], most[1]);
	return fit->n >= 4 && fit->points[fit->n - 1].x >= 10 * fmax(fit->points[0].x, 1) &&
	       most[1] <= 2 * most[0];
}

static bool judge_kernels(const struct judged_event *event, bool known, struct verdict *v);

/* An offset of each kernel's own: their starts differ. */
static bool of_kernels(const struct fit *fit)
{
	for (size_t i = 0; i < fit->n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct fit_point *p = &fit->points[i], *q = &fit->points[k];
			if (strcmp(fit->event->points[p->index].kernel, fit->event->points[q->index].kernel) ==
				    0 &&
			    p->mean - p->x != q->mean - q->x)
				return false;
		}
	return true;
}

/* No form fits all points: is it overhead, is it one kernel, or is it just wrong? */
static bool judge_rest(const struct fit *fit, struct verdict *v, bool whole)
{
	double overhead;
	if (whole && judge_kernels(fit->event, true, v))
		return true;
	if (!fit->varies && !of_kernels(fit))
		return is(v, VERDICT_WRONG); /* what never varies is not noise */
	if (whole && judge_kernels(fit->event, false, v))
		return true;
	if (isfinite(v->usable_from))
		return is(v, VERDICT_NOISY);
	return is(v, bounded(fit, &overhead) ? VERDICT_NOISY : VERDICT_WRONG);
}

bool verdict_forms(const struct fit *fit, double *form, bool whole, struct verdict *v)
{
	if (all_equal(fit, true))
		return is(v, VERDICT_EXACT);
	if (all_zero(fit))
		return is(v, VERDICT_NOTHING);
	if (distinct_predictions(fit) < 2) {
		v->why = "one size alone does not tell an offset from a factor";
		return is(v, VERDICT_UNJUDGED);
	}
	if (all_equal(fit, false)) {
		v->shape = SHAPE_STUCK;
		v->offset = fit->points[0].mean;
		return is(v, VERDICT_WRONG);
	}
	if (shape_interrupts(fit, v))
		return is(v, VERDICT_PROPORTIONAL);
	if (shape_carry(fit, v))
		return is(v, VERDICT_WRONG);
	if (shape_some_interrupts(fit, v) || shape_ticks(fit, v) || shape_kernel(fit, v))
		return is(v, VERDICT_PROPORTIONAL);
	if (shape_before(fit, v) || shape_leaks(fit, v) || shape_accumulates(fit, v) || shape_mixes(fit, v) ||
	    shape_peak(fit, v) || shape_keeps(fit, v) || shape_drifts(fit, v) || shape_bits(fit, form, v) ||
	    shape_powers(fit, form, v))
		return is(v, VERDICT_WRONG);
	if (shape_resolution(fit, form, v)) {
		v->usable_from = fmax(v->usable_from, v->period / VERDICT_USABLE);
		return is(v, VERDICT_NOISY);
	}
	if (shape_drops(fit, v) || (whole && shape_sometimes(fit, v)) || shape_restarts(fit, v) ||
	    shape_random(fit, v))
		return is(v, VERDICT_WRONG);
	if (shape_lags(fit, v) || unbiased(fit, form))
		return is(v, VERDICT_NOISY);
	if (offset(fit, form, v))
		return true;
	if (shape_interrupts_noisy(fit, form, v))
		return is(v, VERDICT_PROPORTIONAL);
	if (shape_times(fit, form, v) || shape_each(fit, form, v))
		return is(v, VERDICT_PROPORTIONAL);
	if (shape_stuck_bit(fit, form, v) || shape_instead(fit, form, v) || shape_wraps(fit, form, v) ||
	    shape_signed(fit, form, v) || shape_code(fit, form, v) || shape_saturates(fit, form, v) ||
	    shape_late(fit, form, v) || shape_at_least(fit, form, v) || shape_from(fit, form, v) ||
	    shape_beyond(fit, form, v) || shape_throttled(fit, form, v))
		return is(v, VERDICT_WRONG);
	if (shape_also(fit, form, v) || shape_turns(fit, form, v))
		return is(v, VERDICT_PROPORTIONAL);
	if (shape_pair(fit, form, v))
		return is(v, VERDICT_WRONG);
	if (shape_line(fit, form, v))
		return is(v, v->factor < 0 ? VERDICT_WRONG : VERDICT_PROPORTIONAL);
	return (shape_power_law(fit, form, v) || shape_curve(fit, v)) && is(v, VERDICT_WRONG);
}

/* One kernel's points. */
static bool judge_alone(const struct judged_event *event, const char *kernel, struct verdict *v)
{
	struct judged_point *points = calloc(event->n_points + 1, sizeof *points);
	struct judged_event alone = *event;
	struct fit fit = {0};
	bool found = false;
	if (!points)
		return false;
	alone.points = points;
	alone.n_points = 0;
	for (size_t i = 0; i < event->n_points; i++)
		if (strcmp(event->points[i].kernel, kernel) == 0)
			points[alone.n_points++] = event->points[i];
	double *form = calloc(alone.n_points + 1, sizeof *form);
	if (form && fit_new(&alone, true, &fit) && fit.n) {
		if (!verdict_forms(&fit, form, true, v)) {
			v->usable_from = usable_from(&fit);
			judge_rest(&fit, v, false);
		}
		found = verdict_accuses(v->kind) || v->kind == VERDICT_NOTHING;
	}
	fit_free(&fit);
	free(form);
	free(points);
	return found;
}

/* Of this kernel, the point that differs most. */
static size_t worst_of(const struct judged_event *event, const char *kernel)
{
	size_t at = event->n_points;
	double worst = 0;
	for (size_t i = 0; i < event->n_points; i++) {
		const struct judged_point *p = &event->points[i];
		for (size_t k = 0; strcmp(p->kernel, kernel) == 0 && isfinite(p->predicted) && k < p->n; k++) {
			double share = fabs(p->observed[k] - p->predicted) / fmax(p->predicted, 1);
			if (share > worst)
				worst = share, at = i;
		}
	}
	return at;
}

/* A kernel on which the counter is wrong, where no form fits all of them. known: in a known form. */
static bool judge_kernels(const struct judged_event *event, bool known, struct verdict *v)
{
	struct verdict common = *v;
	for (size_t i = 0; i < event->n_points; i++) {
		const char *kernel = event->points[i].kernel;
		bool seen = false;
		for (size_t k = 0; k < i; k++)
			seen |= strcmp(event->points[k].kernel, kernel) == 0;
		*v = common;
		if (seen || !kernel || !judge_alone(event, kernel, v) ||
		    (known && v->shape == SHAPE_NONE && v->kind != VERDICT_NOTHING))
			continue;
		v->only = kernel;
		v->only_kind = v->kind;
		v->kind = VERDICT_WRONG;
		v->usable_from = INFINITY;
		v->worst = worst_of(event, kernel);
		return true;
	}
	*v = common;
	return false;
}

/* Executions that are not exact; INFINITY: one of them is too far off, or shows nothing at all. */
static double odd_of(const struct judged_point *p)
{
	double odd = 0;
	for (size_t k = 0; k < p->n; k++) {
		double off = fabs(p->observed[k] - p->predicted);
		if (off > VERDICT_ODD_EVENTS || (off > 0 && p->observed[k] == 0))
			return INFINITY;
		odd += off > 0;
	}
	return odd;
}

/* No more than one, or than this share of the executions. */
static bool are_few(double odd, double executions, double share) { return odd <= fmax(1, share * executions); }

/* Likewise of all sizes of a kernel together: what one kernel does again and again is a fault. */
static bool are_few_of_kernel(const struct fit *fit, const char *kernel)
{
	double executions = 0, odd = 0;
	for (size_t i = 0; i < fit->n; i++) {
		const struct judged_point *p = &fit->event->points[fit->points[i].index];
		if (strcmp(p->kernel, kernel) == 0)
			executions += (double)p->n, odd += odd_of(p);
	}
	return are_few(odd, executions, VERDICT_ODD_MOST);
}

/* Exact but for a few executions, which something else disturbed: at any size alike, else it grows with the
 * count. The engine and models are not disturbed. */
static bool exact_but_for_few(const struct fit *fit, struct verdict *v)
{
	double executions = 0, odd[2] = {0, 0};
	if (fit->event->source != SOURCE_HW && fit->event->source != SOURCE_OS)
		return false;
	for (size_t i = 0; i < fit->n; i++) {
		const struct judged_point *p = &fit->event->points[fit->points[i].index];
		double here = odd_of(p);
		if (!are_few(here, (double)p->n, VERDICT_ODD_OF_SIZE) ||
		    (here > 0 && !are_few_of_kernel(fit, p->kernel)))
			return false;
		executions += (double)p->n;
		odd[i >= fit->n / 2] += here;
	}
	if (executions < VERDICT_EXACT_LEAST || odd[0] + odd[1] > VERDICT_ODD_MOST * executions ||
	    odd[1] > VERDICT_ODD_GROWS * fmax(odd[0], 1))
		return false;
	v->sometimes = (odd[0] + odd[1]) / executions;
	v->usable_from = v->offset = v->half_width = 0;
	return is(v, VERDICT_EXACT);
}

static bool any_moves(const struct fit *fit) { return fit->n && fit->points[fit->n - 1].x > 0; }

/* Without a prediction: nothing but what other levels' predictions say. */
static bool judge_unpredicted(const struct judged_event *event, struct verdict *v)
{
	struct fit fit = {0};
	bool done = fit_new(event, false, &fit);
	double *form = calloc(fit.n + 1, sizeof *form);
	done = done && form;
	if (done && fit.n == 0) {
		v->kind = v->refused ? VERDICT_NOT_COUNTED : VERDICT_UNJUDGED;
		v->why = v->refused ? v->why_refused : "nothing was observed";
	} else if (done) {
		v->points = fit.n;
		for (size_t i = 0; i < fit.n; i++)
			v->executions += (size_t)fit.points[i].n;
		v->kind = shape_level(&fit, form, v) ? VERDICT_WRONG : VERDICT_UNPREDICTABLE;
	}
	free(form);
	fit_free(&fit);
	return done;
}

/* A refusal is part of the evidence, whatever the other executions say. */
static void add_refusals(const struct judged_event *event, struct verdict *v)
{
	for (size_t i = 0; i < event->n_points; i++) {
		const struct judged_point *p = &event->points[i];
		v->refused += p->refused;
		v->refused_of += p->n + p->refused;
		if (p->refused && !v->why_refused)
			v->why_refused = p->why_refused ? p->why_refused : "no reason was given";
	}
}

bool verdict_judge(const struct judged_event *event, struct verdict *out)
{
	struct fit fit = {0};
	*out = (struct verdict){.worst = event->n_points, .error = NAN, .least = NAN, .most = NAN};
	bool done = fit_new(event, true, &fit);
	double *form = calloc(fit.n + 1, sizeof *form);
	done = done && form;
	add_refusals(event, out);
	if (done && fit.n == 0) {
		out->usable_from = INFINITY;
		done = judge_unpredicted(event, out);
	} else if (done) {
		describe(&fit, out);
		if (!any_moves(&fit) && all_zero(&fit))
			out->why = "no kernel moves it";
		else if (!verdict_forms(&fit, form, true, out))
			judge_rest(&fit, out, true);
		double overhead;
		if (out->kind == VERDICT_NOISY && isinf(out->usable_from) && bounded(&fit, &overhead))
			out->usable_from = overhead / VERDICT_USABLE; /* beyond all tested sizes */
		if (out->kind == VERDICT_NOISY && out->shape == SHAPE_NONE && !exact_but_for_few(&fit, out))
			shape_excess(&fit, out);
	}
	free(form);
	fit_free(&fit);
	return done;
}

enum trust verdict_trust(enum verdict_kind kind, bool offset_off, double from, double count)
{
	switch (kind) {
	case VERDICT_EXACT: return TRUST_VERIFIED;
	case VERDICT_OFFSET: return offset_off ? TRUST_VERIFIED : TRUST_BIASED;
	case VERDICT_PROPORTIONAL: return TRUST_BIASED;
	case VERDICT_NOISY: return count >= from ? TRUST_VERIFIED : TRUST_BIASED;
	case VERDICT_WRONG: return TRUST_REFUTED;
	default: return TRUST_UNVERIFIED;
	}
}

bool verdict_accuses(enum verdict_kind kind) { return kind == VERDICT_PROPORTIONAL || kind == VERDICT_WRONG; }
