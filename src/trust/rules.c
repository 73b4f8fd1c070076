/* Without libm's functions: libtare needs libc and libpfm4 alone (sqrt is an instruction, by -fno-math-errno). */
#include "trust/rules.h"

#include <math.h>
#include <stdio.h>

/* Beyond it every double is a whole number. */
static const double WHOLE_FROM = 4503599627370496.0; /* 2^52 */

static double nearest_whole(double x)
{
	if (!(fabs(x) < WHOLE_FROM))
		return x;
	return (double)(long long)(x < 0 ? x - 0.5 : x + 0.5);
}

double threshold_repetitions(double overhead, double share, double events_each)
{
	if (!(events_each > 0) || !(share > 0))
		return 0;
	if (!(overhead > 0))
		return 1;
	/* 139 / (0.05 · 4) is 695, whatever a binary fraction makes of 0.05 */
	double n = overhead / (share * events_each), nearest = nearest_whole(n);
	if (nearest < n && n - nearest >= 1e-9 * n)
		nearest++;
	return nearest < 1 ? 1 : nearest;
}

/* Of n-process means, used in `times` passes of one process: the process's own difference from the mean (sd, the
 * same in all its passes) and that of the calibration's mean (sd/√n). */
static double half_width(const struct pass_cost *cost, double times, double t)
{
	double spread = cost->sd > 0 ? t * cost->sd * sqrt(1 + 1 / cost->n) : 0;
	return (spread + cost->site) * times;
}

double interval_factor(double half_width, double sd, double n) { return sd > 0 ? half_width * sqrt(n) / sd : 0; }

/* With n repetitions the net is n times as large, and so is what is inside; the rest stays. */
static double repetitions(double net, double rest, double inside)
{
	return threshold_repetitions(rest, TOO_SMALL, net - inside / TOO_SMALL);
}

/* Is the net certain enough? */
static void judge(struct subtraction *s)
{
	s->repeat = 0;
	bool enough = s->net >= 0 && s->half_width <= TOO_SMALL * s->net;
	s->state = enough ? SUBTRACTED : TOO_SMALL_TO_MEASURE;
	double rest = s->tare - s->inside, rest_uncertain = s->half_width - s->inside_half_width;
	if (!enough)
		s->repeat = repetitions(s->net, rest > rest_uncertain ? rest : rest_uncertain,
					s->inside_half_width);
}

void subtract(double gross, const struct pass_costs *costs, const struct pass_counts *counts,
	      struct subtraction *out)
{
	bool calls = counts->enters > 0 || counts->leaves > 0;
	*out = (struct subtraction){.state = NOT_SUBTRACTED, .gross = gross, .net = gross};
	if (counts->again > 0 || (calls && !costs->has_enter_leave))
		return;
	out->tare = counts->passes * costs->region.value;
	/* of the same processes: what makes one of them dear makes all of them dear */
	out->half_width = half_width(&costs->region, counts->passes, costs->t);
	if (calls) {
		out->inside = counts->enters * costs->enter.value + counts->leaves * costs->leave.value;
		out->inside_half_width = half_width(&costs->enter, counts->enters, costs->t) +
					 half_width(&costs->leave, counts->leaves, costs->t);
		out->tare += out->inside;
		out->half_width += out->inside_half_width + counts->first_enters * costs->first_enter;
	}
	out->net = gross - out->tare;
	judge(out);
}

void weigh(double gross, double overhead, double inside, double half_width, struct subtraction *out)
{
	*out = (struct subtraction){.state = NOT_SUBTRACTED,
				    .gross = gross,
				    .tare = overhead,
				    .inside = inside,
				    .net = gross - overhead,
				    .half_width = half_width};
	if (overhead <= 0 || overhead <= TOO_SMALL * out->net)
		return;
	out->state = TOO_SMALL_TO_MEASURE;
	out->repeat = repetitions(out->net, overhead - inside, inside);
}

void subtraction_widen(struct subtraction *s, double more)
{
	s->half_width += more;
	if (s->state != NOT_SUBTRACTED)
		judge(s);
}

/* As few digits as say it: 40, 139.25. */
static void number(char *out, size_t bytes, double value)
{
	double whole = nearest_whole(value);
	if (fabs(value - whole) < 0.005)
		snprintf(out, bytes, "%.0f", whole == 0 ? 0.0 : whole);
	else
		snprintf(out, bytes, fabs(value) < 10 ? "%.2f" : "%.1f", value);
}

void subtraction_refusal(const struct subtraction *s, const char *what, const char *unit, double passes,
			 const char *fewer, char *out, size_t out_bytes)
{
	double n = passes > 1 ? passes : 1;
	char net[48], tare[48], width[48], advice[200];
	number(net, sizeof net, s->net / n);
	number(tare, sizeof tare, s->tare / n);
	number(width, sizeof width, s->half_width / n);
	if (s->repeat > 0)
		snprintf(advice, sizeof advice, "repeat it at least %.0f times inside the region", s->repeat);
	else if (fewer && s->inside > 0)
		snprintf(advice, sizeof advice, "%s", fewer);
	else
		snprintf(advice, sizeof advice, "repeat it inside the region until it counts more than that");
	if (s->net < 0)
		snprintf(out, out_bytes,
			 "%s is too small to measure: it counts fewer %s than an overhead of %s ± %s; %s", what,
			 unit, tare, width, advice);
	else
		snprintf(out, out_bytes, "%s is too small to measure: %s %s against an overhead of %s ± %s%s; %s",
			 what, net, unit, tare, width, n > 1 ? " in each pass" : "", advice);
}
