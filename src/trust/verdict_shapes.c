#include "trust/verdict_shapes.h"

#include <math.h>
#include <string.h>

enum {
	STEP_LEAST = 16,    /* events of a sample, or a step: smaller common divisors come about by chance */
	DEFICITS_LEAST = 4, /* different ones: likewise */
	RATIO_MOST = 64,
	EACH_POINTS_LEAST = 4, /* points that show more, with predictions of their own */
	SOME_LEAST = 8,        /* executions that show more: fewer have a common divisor by chance */
	BITS_DISTINCT = 8,     /* of a few low bits: so many different counts, that all lack them */
	STEPS_DISTINCT = 8,    /* of a few events: likewise */
};

/* Less than this is not a proportion that anybody has to know of. */
static const double FACTOR_LEAST = 1e-3;

static const struct judged_point *judged(const struct fit *fit, size_t i)
{
	return &fit->event->points[fit->points[i].index];
}

static double common_divisor(double a, double b)
{
	while (b > 0) {
		double rest = fmod(a, b);
		a = b;
		b = rest;
	}
	return a;
}

/* ---- what an execution's own account explains ---- */

/* y − x = k·u for a whole k, in each execution, and u is not always the same (that would be an offset). */
static bool explained_by_interrupts(const struct fit *fit, double *each)
{
	double least = INFINITY, most = -INFINITY;
	*each = NAN;
	for (size_t i = 0; i < fit->n; i++) {
		const struct judged_point *p = judged(fit, i);
		if (!p->interrupts)
			return false;
		for (size_t k = 0; k < p->n; k++) {
			double u = p->interrupts[k], off = p->observed[k] - p->predicted;
			least = fmin(least, u);
			most = fmax(most, u);
			if (u > 0 && isnan(*each))
				*each = off / u;
			if (off != (u > 0 ? *each * u : 0))
				return false;
		}
	}
	return least < most && *each != 0 && *each == floor(*each);
}

bool shape_interrupts(const struct fit *fit, struct verdict *v)
{
	double each;
	if (!explained_by_interrupts(fit, &each))
		return false;
	v->shape = SHAPE_INTERRUPTS;
	v->factor = each;
	return true;
}

/* y − x = k·w, where 0 ≤ w ≤ u in each execution: w is of one kind of them (switches, faults) alone. Some
 * executions have none of that kind: what is always there is an overhead. */
bool shape_some_interrupts(const struct fit *fit, struct verdict *v)
{
	double each = 0;
	size_t some = 0, none = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < fit->n; i++) {
			const struct judged_point *p = judged(fit, i);
			if (!p->interrupts)
				return false;
			for (size_t k = 0; k < p->n; k++) {
				double off = p->observed[k] - p->predicted;
				if (!(off >= 0) || off != floor(off) || (pass && off > each * p->interrupts[k]))
					return false;
				if (pass == 0)
					each = common_divisor(each, off), some += off > 0, none += off == 0;
			}
		}
	if (!fit->varies || !(each >= STEP_LEAST) || some < SOME_LEAST || none < SOME_LEAST)
		return false;
	v->shape = SHAPE_SOME;
	v->factor = each;
	return true;
}

/* The same with noise: mean(y) = x + o + k·mean(u), with k near 1 and surely not 0. */
bool shape_interrupts_noisy(const struct fit *fit, double *form, struct verdict *v)
{
	double uu = 0, ud = 0, w = 0, wu = 0, wd = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < fit->n; i++) {
			const struct judged_point *p = judged(fit, i);
			double se = fit->points[i].se, weight = se > 0 ? 1 / (se * se) : 1, sum = 0;
			if (!p->interrupts)
				return false;
			for (size_t k = 0; k < p->n; k++)
				sum += p->interrupts[k];
			double u = sum / (double)p->n, d = fit->points[i].mean - fit->points[i].x;
			if (pass == 0) {
				w += weight, wu += weight * u, wd += weight * d;
				continue;
			}
			uu += weight * (u - wu / w) * (u - wu / w);
			ud += weight * (u - wu / w) * (d - wd / w);
			form[i] = u;
		}
	double k = ud / uu, o = wd / w - k * wu / w;
	for (size_t i = 0; i < fit->n; i++)
		form[i] = fit->points[i].x + o + k * form[i];
	if (!fit->varies || !(uu > 0) || !(fabs(k - 1) < 0.25) || !fit_differs(fit, k, sqrt(1 / uu), 0) ||
	    !fit_holds(fit, form, 0))
		return false;
	v->shape = SHAPE_INTERRUPTS;
	v->factor = 1;
	v->offset = o;
	return true;
}

/* ---- steps ---- */

/* All observed counts, or all deficits, as multiples of one number. */
struct steps {
	double period;
	size_t distinct;      /* values seen, up to DEFICITS_LEAST */
	size_t values;        /* points with a value of their own */
	double least_deficit; /* y <= x: not negative */
	double most_deficit, predicted, lost;
};

static struct steps steps_of(const struct fit *fit, bool deficits)
{
	struct steps s = {.least_deficit = INFINITY};
	double seen[DEFICITS_LEAST];
	for (size_t i = 0; i < fit->n; i++) {
		const struct judged_point *p = judged(fit, i);
		s.values += fit->points[i].mean > 0 && (!i || fit->points[i].mean != fit->points[i - 1].mean);
		for (size_t k = 0; k < p->n; k++) {
			double deficit = p->predicted - p->observed[k],
			       value = deficits ? deficit : p->observed[k];
			s.least_deficit = fmin(s.least_deficit, deficit);
			s.most_deficit = fmax(s.most_deficit, deficit);
			s.predicted += p->predicted;
			s.lost += deficit;
			if (!(value > 0) || value != floor(value))
				continue;
			s.period = common_divisor(s.period, value);
			size_t at = 0;
			while (at < s.distinct && seen[at] != value)
				at++;
			if (at == s.distinct && at < DEFICITS_LEAST)
				seen[s.distinct++] = value;
		}
	}
	return s;
}

/* Samples of `period` events each: what is lost is a multiple of it, and not always the same share. */
bool shape_drops(const struct fit *fit, struct verdict *v)
{
	bool of_samples = false;
	struct steps s = steps_of(fit, true);
	if (!(s.period >= STEP_LEAST && s.distinct == DEFICITS_LEAST)) {
		s = steps_of(fit, false); /* a sampled count itself has whole samples only */
		of_samples = true;
	}
	if (!(s.period >= STEP_LEAST && s.distinct == DEFICITS_LEAST && s.least_deficit >= 0) || !fit->varies ||
	    (of_samples && s.most_deficit < s.period))
		return false;
	v->shape = SHAPE_DROPS;
	v->period = s.period;
	v->factor = 1 - s.lost / s.predicted;
	return true;
}

static bool is_power_of_two(double x)
{
	int exponent;
	return x >= 2 && frexp(x, &exponent) == 0.5;
}

/* Values are multiples of 2^b, and at most so far from the truth. A few bits only where it is always the truth
 * without them: clean counts may be even by chance. */
bool shape_bits(const struct fit *fit, double *form, struct verdict *v)
{
	struct steps s = steps_of(fit, false);
	bool differs = false, all = true;
	if (!is_power_of_two(s.period))
		return false;
	for (size_t i = 0; i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		form[i] = s.period * floor(p->x / s.period);
		differs |= p->mean != p->x;
		all &= fabs(p->mean - p->x) <= s.period + p->t * p->se;
	}
	bool cut = !fit->varies && fit_holds(fit, form, 0) && s.values >= BITS_DISTINCT;
	if (s.most_deficit <= 0) /* rounded up: no bit is lost */
		return false;
	if (!differs || !(cut || (all && s.period >= STEP_LEAST && s.distinct == DEFICITS_LEAST)))
		return false;
	v->shape = SHAPE_BITS;
	v->bits = (unsigned)ilogb(s.period);
	return true;
}

/* Of a few events: where each count is the truth, rounded in one way. Each kernel's own counts may be
 * multiples by themselves. */
static bool holds_steps(const struct fit *fit, struct steps s, double (*rounded)(double), double *form)
{
	for (size_t i = 0; i < fit->n; i++)
		form[i] = s.period * rounded(fit->points[i].x / s.period);
	return !fit->varies && s.period >= 2 && s.values >= STEPS_DISTINCT &&
	       fit_differs_within_kernel(fit, form) && fit_holds(fit, form, 0);
}

bool shape_resolution(const struct fit *fit, double *form, struct verdict *v)
{
	struct steps s = steps_of(fit, false);
	bool down = s.least_deficit >= 0 && s.most_deficit < s.period && s.most_deficit > 0;
	bool up = s.most_deficit <= 0 && s.least_deficit > -s.period && s.least_deficit < 0;
	bool nearest = s.most_deficit <= s.period / 2 && s.least_deficit >= -s.period / 2;
	bool large = s.period >= STEP_LEAST && s.distinct == DEFICITS_LEAST && (down || up || nearest);
	if (!large && !holds_steps(fit, s, floor, form) && !holds_steps(fit, s, ceil, form) &&
	    !holds_steps(fit, s, nearbyint, form))
		return false;
	v->shape = SHAPE_RESOLUTION;
	v->period = s.period;
	return true;
}

/* ---- proportions ---- */

/* Whole ratios are what counters are wrong by; others stay as they are. */
static double whole_ratio(double k)
{
	double up = nearbyint(k), down = nearbyint(1 / k);
	if (up >= 2 && up <= RATIO_MOST && fabs(k - up) < 0.01 * up)
		return up;
	return down >= 2 && down <= RATIO_MOST && fabs(1 / k - down) < 0.01 * down ? 1 / down : k;
}

static bool holds_times(const struct fit *fit, double k, double o, double *form)
{
	for (size_t i = 0; i < fit->n; i++)
		form[i] = k * fit->points[i].x + o;
	return fit_holds(fit, form, 1);
}

static void predictions(const struct fit *fit, double *z)
{
	for (size_t i = 0; i < fit->n; i++)
		z[i] = fit->points[i].x;
}

static bool other_fits(const struct fit *fit, double *form, bool same_base, size_t *other);

bool shape_times(const struct fit *fit, double *form, struct verdict *v)
{
	struct fitted_line line = {0};
	predictions(fit, form);
	if (!fit_line(fit, form, true, false, &line) || !(fabs(line.k - 1) >= FACTOR_LEAST) ||
	    !fit_differs(fit, line.k, line.se_k, 1) || !fit_differs(fit, line.k, line.se_k, 0))
		return false;
	double whole = whole_ratio(line.k);
	v->factor = holds_times(fit, whole, 0, form) ? whole : line.k;
	if (!holds_times(fit, v->factor, 0, form))
		return false;
	v->shape = SHAPE_TIMES;
	v->offset = 0;
	v->also_other = other_fits(fit, form, false, &v->other);
	return true;
}

bool shape_line(const struct fit *fit, double *form, struct verdict *v)
{
	struct fitted_line line = {0};
	predictions(fit, form);
	if (!(fit->n >= 4) || !fit_line(fit, form, false, false, &line) || !(fabs(line.k - 1) >= FACTOR_LEAST))
		return false;
	double whole = whole_ratio(line.k);
	if (whole != line.k) {
		struct fitted_line fixed = {.k = whole};
		predictions(fit, form);
		if (fit_line(fit, form, false, true, &fixed) && holds_times(fit, whole, fixed.o, form))
			line = fixed;
	}
	if (!holds_times(fit, line.k, line.o, form))
		return false;
	v->shape = SHAPE_TIMES;
	v->factor = line.k;
	v->offset = line.o;
	return true;
}

/* ---- other events ---- */

static size_t base_length(const char *event) { return strcspn(event, ":"); }

static bool same_base_name(const char *a, const char *b)
{
	return base_length(a) == base_length(b) && strncmp(a, b, base_length(a)) == 0;
}

/* z[n]: the other event's predictions; NAN where it has none. False where it has too few, or is always 0. */
static bool predictions_of(const struct fit *fit, size_t other, double *z, size_t *known)
{
	bool moves = false;
	*known = 0;
	for (size_t i = 0; i < fit->n; i++) {
		const double *others = judged(fit, i)->others;
		z[i] = others ? others[other] : NAN;
		if (!isfinite(z[i]))
			continue;
		++*known;
		moves |= z[i] > 0;
	}
	return moves && *known >= 3;
}

static bool other_fits(const struct fit *fit, double *form, bool same_base, size_t *other)
{
	const struct judged_event *e = fit->event;
	size_t known;
	for (size_t o = 0; o < e->n_others; o++) {
		if (strcmp(e->others[o], e->event) == 0 || same_base_name(e->others[o], e->event) != same_base ||
		    !predictions_of(fit, o, form, &known) || 2 * known <= fit->n)
			continue;
		for (size_t i = 0; i < fit->n; i++) /* what is not predicted says nothing against it */
			if (!isfinite(form[i]))
				form[i] = fit->points[i].mean;
		if (!fit_holds(fit, form, 0))
			continue;
		*other = o;
		return true;
	}
	return false;
}

bool shape_instead(const struct fit *fit, double *form, struct verdict *v)
{
	if (other_fits(fit, form, true, &v->other))
		v->shape = SHAPE_LEVEL;
	else if (other_fits(fit, form, false, &v->other))
		v->shape = SHAPE_INSTEAD;
	else
		return false;
	return true;
}

/* y − x = f·z. Where z is predicted for few of the points, the others have to be right. */
static bool adds_other(const struct fit *fit, size_t other, double *form, double *factor)
{
	double zz = 0, zd = 0;
	size_t known;
	if (!predictions_of(fit, other, form, &known))
		return false;
	for (size_t i = 0; i < fit->n; i++) {
		double w = fit->points[i].se > 0 ? 1 / (fit->points[i].se * fit->points[i].se) : 1;
		if (!isfinite(form[i]))
			continue;
		zz += w * form[i] * form[i];
		zd += w * form[i] * (fit->points[i].mean - fit->points[i].x);
	}
	double f = zd / zz, whole = nearbyint(f);
	*factor = fabs(whole) >= 1 && fabs(f - whole) < 0.01 ? whole : f;
	for (size_t i = 0; i < fit->n; i++)
		form[i] = isfinite(form[i])    ? fit->points[i].x + *factor * form[i]
			  : 2 * known > fit->n ? fit->points[i].mean
					       : fit->points[i].x;
	return fabs(*factor) >= FACTOR_LEAST && fit_holds(fit, form, *factor == whole ? 0 : 1);
}

bool shape_also(const struct fit *fit, double *form, struct verdict *v)
{
	const struct judged_event *e = fit->event;
	double factor;
	for (size_t o = 0; o < e->n_others; o++)
		if (strcmp(e->others[o], e->event) != 0 && adds_other(fit, o, form, &factor)) {
			v->shape = SHAPE_ALSO;
			v->other = o;
			v->factor = factor;
			return true;
		}
	return false;
}

/* y = x ± s·⌊x / m⌋ for whole s and m, to the last event. d = ⌊x / m⌋ where x / (d + 1) < m <= x / d; where
 * several m are left, it is a multiple of s (samples are lost), or a power of two. */
bool shape_each(const struct fit *fit, double *form, struct verdict *v)
{
	const struct fit_point *last = &fit->points[fit->n - 1];
	double sign = last->mean < last->x ? -1 : 1, step = 0, least = 2, most = INFINITY;
	size_t told = 0;
	if (fit->varies)
		return false;
	for (size_t i = 0; i < fit->n; i++)
		step = common_divisor(step, fabs(fit->points[i].mean - fit->points[i].x));
	for (size_t i = 0; step > 0 && i < fit->n; i++) {
		const struct fit_point *p = &fit->points[i];
		double d = sign * (p->mean - p->x) / step;
		least = fmax(least, floor(p->x / (d + 1)) + 1);
		most = d > 0 ? fmin(most, floor(p->x / d)) : most;
		told += d > 0 && p->x != fit->points[i - (i > 0)].x;
	}
	double power = exp2(ceil(log2(least))), multiple = step * ceil(least / step),
	       m = least == most                  ? least
		   : step > 1 && multiple <= most ? multiple
						  : power;
	if (told < EACH_POINTS_LEAST || !(m <= most) || (sign < 0 && m <= step)) /* all of them: it begins anew */
		return false;
	for (size_t i = 0; i < fit->n; i++)
		form[i] = fit->points[i].x + sign * step * floor(fit->points[i].x / m);
	if (!fit_holds(fit, form, 0))
		return false;
	v->shape = SHAPE_EACH;
	v->factor = sign * step;
	v->period = m;
	return true;
}

/* y − x = k·n, for a whole k and kernels of several kinds: of one kernel alone it is any factor. */
bool shape_turns(const struct fit *fit, double *form, struct verdict *v)
{
	double nn = 0, nd = 0;
	bool several = false;
	for (size_t i = 0; i < fit->n; i++) {
		double size = judged(fit, i)->size, se = fit->points[i].se, w = se > 0 ? 1 / (se * se) : 1;
		several |= strcmp(judged(fit, i)->kernel, judged(fit, 0)->kernel) != 0;
		nn += w * size * size;
		nd += w * size * (fit->points[i].mean - fit->points[i].x);
	}
	double k = nearbyint(nd / nn);
	for (size_t i = 0; i < fit->n; i++)
		form[i] = fit->points[i].x + k * judged(fit, i)->size;
	if (!several || !(fabs(k) >= 1) || !(fabs(nd / nn - k) < 0.01) ||
	    !fit_differs(fit, nd / nn, fit->varies ? sqrt(1 / nn) : 0, 0) || !fit_holds(fit, form, 0))
		return false;
	v->shape = SHAPE_TURNS;
	v->factor = k;
	return true;
}

bool shape_level(const struct fit *fit, double *form, struct verdict *v)
{
	const struct judged_event *e = fit->event;
	size_t known;
	for (size_t o = 0; o < e->n_others; o++) {
		struct fitted_line line = {0};
		double least = INFINITY, most = 0;
		if (!same_base_name(e->others[o], e->event) || strcmp(e->others[o], e->event) == 0 ||
		    !predictions_of(fit, o, form, &known) || known < fit->n)
			continue;
		for (size_t i = 0; i < fit->n; i++) {
			least = fmin(least, form[i]);
			most = fmax(most, form[i]);
		}
		/* its own count has nothing to do with the other's: a slope of 1 over a wide range is not
		 * chance */
		if (most < 100 * fmax(least, 1) || !fit_line(fit, form, false, false, &line) ||
		    fabs(line.k - 1) > VERDICT_USABLE || !fit_differs(fit, line.k, line.se_k, 0))
			continue;
		v->shape = SHAPE_LEVEL;
		v->other = o;
		v->factor = line.k;
		v->offset = line.o;
		return true;
	}
	return false;
}
