/* A verdict in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trust/verdict.h"

static const char *const kinds[VERDICT_KINDS] = {
	[VERDICT_UNJUDGED] = "unjudged",
	[VERDICT_EXACT] = "exact",
	[VERDICT_OFFSET] = "offset",
	[VERDICT_PROPORTIONAL] = "proportional",
	[VERDICT_NOISY] = "noisy",
	[VERDICT_WRONG] = "wrong",
	[VERDICT_NOTHING] = "counts nothing here",
	[VERDICT_UNPREDICTABLE] = "unpredictable",
	[VERDICT_NOT_COUNTED] = "not counted",
};

static const char *const shapes[VERDICT_SHAPES] = {
	[SHAPE_NONE] = "",
	[SHAPE_TIMES] = "times",
	[SHAPE_ALSO] = "also",
	[SHAPE_INTERRUPTS] = "interrupts",
	[SHAPE_SOME] = "some interrupts",
	[SHAPE_TICKS] = "ticks",
	[SHAPE_TURNS] = "turns",
	[SHAPE_EACH] = "each",
	[SHAPE_KERNEL] = "kernel",
	[SHAPE_INSTEAD] = "instead",
	[SHAPE_LEVEL] = "level",
	[SHAPE_STUCK] = "stuck",
	[SHAPE_WRAPS] = "wraps",
	[SHAPE_SATURATES] = "saturates",
	[SHAPE_DROPS] = "drops",
	[SHAPE_THROTTLED] = "throttled",
	[SHAPE_BEYOND] = "beyond",
	[SHAPE_SHIFTS] = "shifts",
	[SHAPE_STOPS] = "stops",
	[SHAPE_BITS] = "low bits",
	[SHAPE_LATE] = "late",
	[SHAPE_AT_LEAST] = "at least",
	[SHAPE_RANDOM] = "random",
	[SHAPE_RESTARTS] = "restarts",
	[SHAPE_BIT_CLEAR] = "bit clear",
	[SHAPE_BIT_SET] = "bit set",
	[SHAPE_SIGNED] = "signed",
	[SHAPE_POWERS] = "powers",
	[SHAPE_GRAY] = "gray code",
	[SHAPE_BYTES] = "bytes",
	[SHAPE_HALVES] = "halves",
	[SHAPE_DECIMAL] = "decimal",
	[SHAPE_SINGLE] = "single",
	[SHAPE_DIGITS] = "digits",
	[SHAPE_ROTATED] = "rotated",
	[SHAPE_FLIPPED] = "flipped",
	[SHAPE_SUM] = "sum",
	[SHAPE_DIFFERENCE] = "difference",
	[SHAPE_LARGER] = "larger",
	[SHAPE_SMALLER] = "smaller",
	[SHAPE_BEFORE] = "before",
	[SHAPE_LEAKS] = "leaks",
	[SHAPE_ACCUMULATES] = "accumulates",
	[SHAPE_MIXES] = "mixes",
	[SHAPE_SMOOTHS] = "smooths",
	[SHAPE_PEAK] = "peak",
	[SHAPE_KEEPS] = "keeps",
	[SHAPE_CARRY] = "carry",
	[SHAPE_DRIFTS] = "drifts",
	[SHAPE_POWER_LAW] = "power law",
	[SHAPE_CURVE] = "curve",
	[SHAPE_RESOLUTION] = "resolution",
	[SHAPE_EXCESS] = "excess",
	[SHAPE_LAGS] = "lags",
};

const char *verdict_kind_name(enum verdict_kind kind) { return kinds[kind]; }
const char *verdict_shape_name(enum verdict_shape shape) { return shapes[shape]; }

struct words {
	char *out;
	size_t bytes;
};

static void say(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct words *w, const char *format, ...)
{
	size_t at = strlen(w->out);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(w->out + at, w->bytes - at, format, arguments);
	va_end(arguments);
}

static const char *other_of(const struct judged_event *e, size_t other)
{
	return other < e->n_others ? e->others[other] : "another event";
}

static const double DOWN_NEAR = 1e-6; /* a line through counts of 48 bits is not nearer to -1 */

static void say_times(struct words *w, const struct judged_event *e, const struct verdict *v)
{
	if (fabs(v->factor + 1) < DOWN_NEAR) {
		say(w, "counts down from %.15g", nearbyint(v->offset));
		return;
	}
	if (v->factor == 2)
		say(w, "counts each event twice");
	else if (v->factor == 0.5)
		say(w, strstr(e->event, "branch") ? "counts half of the branches" : "counts half of the events");
	else if (v->factor == floor(v->factor) && v->factor > 0)
		say(w, "counts each event %g times", v->factor);
	else if (1 / v->factor > 1 && 1 / v->factor == nearbyint(1 / v->factor))
		say(w, "counts one of %g events", 1 / v->factor);
	else
		say(w, "counts %.4g times the events", v->factor);
	if (v->offset != 0)
		say(w, ", %+.6g", v->offset);
	if (v->also_other)
		say(w, " (or %s instead: these kernels do not tell)", other_of(e, v->other));
}

static void say_beyond(struct words *w, const struct verdict *v)
{
	if (v->period > 0)
		say(w, "up to %.15g it is right; from %.15g on it counts ", v->offset, v->period);
	else
		say(w, "beyond %.15g it counts ", v->offset);
	if (v->factor < 1)
		say(w, "one of %.15g events", nearbyint(1 / v->factor));
	else
		v->factor == 2 ? say(w, "each event twice") : say(w, "each event %g times", v->factor);
}

static void say_from(struct words *w, const struct verdict *v)
{
	say(w, "up to %.15g it is right; from %.15g on it ", v->offset, v->period);
	if (v->shape == SHAPE_STOPS)
		say(w, "shows %.15g", v->factor);
	else
		say(w, v->factor > 0 ? "counts %.15g too many" : "misses %.15g", fabs(v->factor));
}

/* Counters that are known for it: Nieto et al. 4.2; rep: AMD and Intel differ in what an iteration is. */
static void say_also(struct words *w, const struct judged_event *e, const struct verdict *v)
{
	const char *other = other_of(e, v->other);
	if (v->factor < 0)
		say(w, "misses %s", other);
	else if (strncmp(other, "rep-iterations", 14) == 0)
		say(w, "counts each iteration of a rep instruction");
	else
		say(w, "also counts %s", other);
	if (fabs(v->factor) != 1)
		say(w, ", %.4g times", fabs(v->factor));
	if (strncmp(e->event, "fp-", 3) == 0 && strncmp(other, "stores", 6) == 0 && v->factor > 0)
		say(w, " (as the POWER4 does)");
}

/* What is known roughly is told so. */
static double two_digits(double count)
{
	double unit = pow(10, fmax(0, floor(log10(count)) - 1));
	return unit * nearbyint(count / unit);
}

static void say_shape(struct words *w, const struct judged_event *e, const struct verdict *v)
{
	switch (v->shape) {
	case SHAPE_TIMES: say_times(w, e, v); break;
	case SHAPE_ALSO: say_also(w, e, v); break;
	case SHAPE_INTERRUPTS:
		if (fabs(v->factor) == 1)
			say(w, v->factor > 0 ? "counts one more for each interrupt or fault"
					     : "misses one event for each interrupt or fault");
		else
			say(w,
			    v->factor > 0 ? "counts %.15g more for each interrupt or fault"
					  : "misses %.15g events for each interrupt or fault",
			    fabs(v->factor));
		break;
	case SHAPE_SOME:
		say(w, "counts %.15g more for some of the interrupts, faults and switches", v->factor);
		break;
	case SHAPE_TICKS:
		say(w, "counts one more for each tick of the timer (about %.0f a second)", v->factor);
		break;
	case SHAPE_TURNS:
		say(w, "%s %.15g in each turn of a kernel's loop", v->factor > 0 ? "counts too many:" : "misses",
		    fabs(v->factor));
		break;
	case SHAPE_EACH:
		if (fabs(v->factor) == 1)
			say(w, "counts one %s for each %.15g events", v->factor > 0 ? "more" : "less", v->period);
		else
			say(w, "counts %.15g %s for each %.15g events", fabs(v->factor),
			    v->factor > 0 ? "more" : "less", v->period);
		break;
	case SHAPE_KERNEL:
		say(w, "also counts what the kernel executes: about %.0f for each interrupt or fault",
		    two_digits(v->factor));
		break;
	case SHAPE_INSTEAD: say(w, "counts %s instead", other_of(e, v->other)); break;
	case SHAPE_SUM: say(w, "counts %s and %s together", other_of(e, v->other), other_of(e, v->another)); break;
	case SHAPE_DIFFERENCE:
		say(w, "shows the difference between %s and %s", other_of(e, v->other), other_of(e, v->another));
		break;
	case SHAPE_LARGER:
	case SHAPE_SMALLER:
		say(w, "counts %s or %s, whichever is %s", other_of(e, v->other), other_of(e, v->another),
		    v->shape == SHAPE_LARGER ? "more" : "less");
		break;
	case SHAPE_BIT_CLEAR:
	case SHAPE_BIT_SET:
		say(w, "bit %u never moves: it is always %d", v->bits, v->shape == SHAPE_BIT_SET);
		break;
	case SHAPE_SIGNED: say(w, "shows its low %u bits as a number with a sign", v->bits); break;
	case SHAPE_POWERS: say(w, "shows powers of two only"); break;
	case SHAPE_GRAY: say(w, "shows a Gray code of the count"); break;
	case SHAPE_BYTES: say(w, "shows its %u bytes in reverse order", v->bits / 8); break;
	case SHAPE_HALVES: say(w, "shows the two halves of its %u bits in reverse order", v->bits); break;
	case SHAPE_DECIMAL: say(w, "shows decimal digits of four bits each"); break;
	case SHAPE_SINGLE: say(w, "shows %u bits only: floating point in single precision", v->bits); break;
	case SHAPE_DIGITS: say(w, "shows %u decimal digits only", v->bits); break;
	case SHAPE_ROTATED: say(w, "shows its %u bits rotated left by %.0f", v->bits, v->offset); break;
	case SHAPE_FLIPPED: say(w, "flips the bits %#llx of each count", (unsigned long long)v->offset); break;
	case SHAPE_LEAKS: say(w, "adds %.3g %% of the events of the execution before", 100 * v->factor); break;
	case SHAPE_BEFORE: say(w, "shows the events of the execution before"); break;
	case SHAPE_ACCUMULATES: say(w, "is not set to 0: it shows the events of all executions so far"); break;
	case SHAPE_MIXES:
		say(w, "shows a mean with the execution before, which has %.3g %% of it", 100 * v->factor);
		break;
	case SHAPE_SMOOTHS:
		say(w, "shows a moving mean of the executions: what it showed before has %.3g %% of it",
		    100 * v->factor);
		break;
	case SHAPE_KEEPS: say(w, "shows the events of the execution before where those were more"); break;
	case SHAPE_CARRY: say(w, "counts 2^%u too %s", v->bits, v->factor > 0 ? "many" : "few"); break;
	case SHAPE_PEAK: say(w, "is not set to 0: it shows the most events of all executions so far"); break;
	case SHAPE_DRIFTS:
		say(w, "shows %.3g %s with each execution", fabs(v->factor), v->factor > 0 ? "more" : "less");
		break;
	case SHAPE_POWER_LAW:
		say(w, "is not linear: of n events it shows ");
		if (v->factor != 1)
			say(w, "%.4g · ", v->factor);
		say(w, "n^%.4g", v->period);
		break;
	case SHAPE_CURVE:
		say(w, "is not linear: it shows %.3g times the events at %.15g, %.3g times at %.15g",
		    v->least_share, v->offset, v->most_share, v->period);
		break;
	case SHAPE_LEVEL: say(w, "counts another level: %s", other_of(e, v->other)); break;
	case SHAPE_STUCK: say(w, v->sometimes > 0 ? "shows %.15g" : "always shows %.15g", v->offset); break;
	case SHAPE_WRAPS:
		say(w, "begins anew at ");
		v->bits ? say(w, "2^%u", v->bits) : say(w, "%.15g", v->offset);
		if (v->bits_most > v->bits)
			say(w, ", or up to 2^%u: these kernels do not tell", v->bits_most);
		break;
	case SHAPE_BEYOND: say_beyond(w, v); break;
	case SHAPE_SHIFTS:
	case SHAPE_STOPS: say_from(w, v); break;
	case SHAPE_BITS:
		v->bits == 1 ? say(w, "loses its lowest bit") : say(w, "loses its low %u bits", v->bits);
		break;
	case SHAPE_LATE: say(w, "misses the first %.15g events", v->offset); break;
	case SHAPE_AT_LEAST: say(w, "never shows less than %.15g", v->offset); break;
	case SHAPE_RANDOM:
		say(w, "shows another share of the events each time: %.3g %% to %.3g %%", 100 * v->least_share,
		    100 * v->most_share);
		break;
	case SHAPE_RESTARTS:
		say(w, "begins anew at times: beyond %.15g it shows %.3g %% to %.3g %% of the events", v->offset,
		    100 * v->least_share, 100 * v->most_share);
		break;
	case SHAPE_EXCESS:
		say(w, "shows up to %.15g more, at any size, as of interrupts or other programs", v->offset);
		break;
	case SHAPE_LAGS:
		say(w, "shows up to %.15g less, at any size, as one that is read too early", v->offset);
		break;
	case SHAPE_SATURATES: say(w, "stays at %.15g", v->offset); break;
	case SHAPE_DROPS: say(w, "loses samples of %.15g: %.3g %% are left", v->period, 100 * v->factor); break;
	case SHAPE_THROTTLED:
		say(w, "throttled: beyond %.0f it loses events", v->offset);
		if (isfinite(v->factor))
			say(w, ", %.5g %% are left", 100 * v->factor);
		break;
	case SHAPE_RESOLUTION: say(w, "counts in steps of %.15g", v->period); break;
	case SHAPE_NONE: break;
	}
}

static double farthest(const struct judged_point *p)
{
	double most = p->observed[0];
	for (size_t i = 1; i < p->n; i++)
		if (fabs(p->observed[i] - p->predicted) > fabs(most - p->predicted))
			most = p->observed[i];
	return most;
}

static void say_threshold(struct words *w, const struct verdict *v)
{
	if (v->usable_from == 0)
		say(w, "within 5 %% at all sizes");
	else if (isinf(v->usable_from))
		say(w, "not within 5 %% at any size");
	else
		say(w, "within 5 %% from %.6g on", ceil(v->usable_from));
}

void verdict_text(const struct judged_event *e, const struct verdict *v, char *out, size_t out_bytes)
{
	struct words words = {out, out_bytes}, *w = &words;
	if (out_bytes == 0)
		return;
	*out = '\0';
	if (v->only)
		say(w, "%s: ", v->only);
	if (v->only && v->only_kind == VERDICT_NOTHING)
		say(w, "counts nothing");
	if (v->sometimes > 0 && v->kind != VERDICT_EXACT)
		say(w, "in %.3g %% of the executions it ", 100 * v->sometimes);
	say_shape(w, e, v);
	switch (v->kind) {
	case VERDICT_UNJUDGED:
	case VERDICT_NOT_COUNTED: say(w, "%s", v->why ? v->why : "no verdict"); break;
	case VERDICT_EXACT:
		if (v->sometimes > 0)
			say(w, "in all but %.0f of %zu executions",
			    nearbyint(v->sometimes * (double)v->executions), v->executions);
		break;
	case VERDICT_OFFSET:
		say(w, v->half_width > 0 ? "%+.6g ± %.3g" : "%+.15g", v->offset, v->half_width);
		break;
	case VERDICT_NOISY:
		say(w, "%s", *out ? "; " : "");
		say_threshold(w, v);
		break;
	case VERDICT_WRONG:
		if (v->shape == SHAPE_NONE && v->only_kind != VERDICT_NOTHING) {
			say(w, "%s", "follows no known form");
			if (v->worst < e->n_points && e->points[v->worst].n)
				say(w, ": %s %g shows %.15g, not %.15g", e->points[v->worst].kernel,
				    e->points[v->worst].size, farthest(&e->points[v->worst]),
				    e->points[v->worst].predicted);
		}
		break;
	case VERDICT_UNPREDICTABLE:
		say(w, "no prediction; %s%s", e->witness ? "witness: " : "no other witness",
		    e->witness ? e->witness : "");
		break;
	default: break;
	}
}
