#include "session/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/str.h"
#include "session/session.h"

/* ---- reading one ---- */

static bool not_a_gate(const char *text, const char *why, struct error *err)
{
	error_set(err, ERROR_USAGE, "'%s' is not a gate: %s", text, why);
	return error_hint(err, "'instructions<+1%%', 'l1d-misses<=+0%%', 'page-faults<+10' or 'instructions<1e9'");
}

bool gate_parse(const char *text, struct gate *out, struct error *err)
{
	char number[64], name[sizeof out->event];
	*out = (struct gate){.text = text};
	size_t length = strcspn(text, "<>");
	if (!text[length])
		return not_a_gate(text, "it has no < or >", err);
	if (length >= sizeof name)
		return not_a_gate(text, "its event's name is too long", err);
	memcpy(name, text, length);
	name[length] = '\0';
	const char *event = str_trim(name);
	if (!*event || strchr(event, ','))
		return not_a_gate(text, *event ? "it has more than one event" : "it has no event", err);
	memcpy(out->event, event, strlen(event) + 1);
	const char *at = text + length;
	out->below = *at++ == '<';
	if (*at == '=') {
		out->inclusive = true;
		at++;
	}
	if (snprintf(number, sizeof number, "%s", at) >= (int)sizeof number)
		return not_a_gate(text, "its bound is too long", err);
	char *bound = str_trim(number);
	size_t n = strlen(bound);
	bool percent = n > 0 && bound[n - 1] == '%', minus = *bound == '-', sign = minus || *bound == '+';
	if (percent)
		bound[n - 1] = '\0';
	bound = str_trim(bound + sign);
	if (*bound == '-' || *bound == '+' || !str_to_double(bound, &out->limit))
		return not_a_gate(text, "its bound is not a number", err);
	/* a division is rounded once: 7/100 is the 0.07 that a difference of 7 in 100 is */
	out->limit = (minus ? -out->limit : out->limit) / (percent ? 100 : 1);
	out->bound = percent ? GATE_RELATIVE : sign ? GATE_DIFFERENCE : GATE_VALUE;
	return true;
}

void gate_free(struct gate *gate)
{
	for (size_t i = 0; i < gate->labels.count; i++)
		free(gate->labels.items[i]);
	vec_free(&gate->labels);
}

static bool keep_label(struct gate *gate, const char *label)
{
	char *own = strdup(label);
	if (own && vec_push(&gate->labels, own))
		return true;
	free(own);
	return false;
}

bool session_add_gate(struct session *session, struct gate *gate, struct error *err)
{
	struct error unknown = {0}, no_metric = {0};
	size_t before = session->selection.asked.count;
	if (session_add_events(session, gate->event, &unknown)) {
		for (size_t i = before; i < session->selection.asked.count; i++) {
			const struct event *event =
				&session->selection.events.items[session->selection.asked.items[i]];
			if (!keep_label(gate, event->label))
				return error_no_memory(err);
		}
		return true;
	}
	/* a metric's name is none of an event's; of what is neither, the event's message has the nearest names */
	gate->is_metric = unknown.code != ERROR_NO_MEMORY && session_add_metrics(session, gate->event, &no_metric);
	if (!gate->is_metric) {
		if (err)
			*err = unknown;
		return false;
	}
	return keep_label(gate, gate->event) || error_no_memory(err);
}

/* ---- judging ---- */

struct judged {
	enum gate_outcome outcome;
	const char *reason;
};

static struct judged undecided(struct arena *arena, const char *why)
{
	return (struct judged){GATE_UNDECIDED, why ? arena_strdup(arena, why) : NULL};
}

/* Does the whole of low … high keep the bound, or break it? */
static enum gate_outcome decide(const struct gate *gate, double low, double high)
{
	double nearest = gate->below ? high : low, farthest = gate->below ? low : high, limit = gate->limit;
	if (gate->below ? nearest < limit || (gate->inclusive && nearest == limit)
			: nearest > limit || (gate->inclusive && nearest == limit))
		return GATE_PASSED;
	if (gate->below ? farthest > limit || (!gate->inclusive && farthest == limit)
			: farthest < limit || (!gate->inclusive && farthest == limit))
		return GATE_FAILED;
	return GATE_UNDECIDED;
}

/* As many decimals as show the interval's width by two digits (of one number, four of it), and each end on its own
 * side of the bound. */
static int decimals_of(double low, double high, double limit)
{
	enum { DECIMALS_MOST = 9 };
	const double ends[] = {low, high};
	int decimals = 0;
	for (double step = 1; decimals < DECIMALS_MOST; decimals++, step /= 10) {
		bool shown = low == high || high - low >= 20 * step;
		for (int i = 0; i < 2; i++) {
			char text[400];
			snprintf(text, sizeof text, "%.*f", decimals, ends[i]);
			double seen = strtod(text, NULL);
			shown &= (seen < limit) == (ends[i] < limit) && (seen > limit) == (ends[i] > limit) &&
				 (low != high || fabs(seen - low) <= 5e-5 * fabs(low));
		}
		if (shown)
			break;
	}
	return decimals;
}

/* "-1.25 … +0.50 %" */
static const char *range_text(struct arena *arena, const struct gate *gate, double low, double high)
{
	const bool relative = gate->bound == GATE_RELATIVE;
	const double scale = relative ? 100 : 1;
	const char *form = gate->bound == GATE_VALUE ? "%.*f" : "%+.*f", *unit = relative ? " %" : "";
	const int decimals = decimals_of(scale * low, scale * high, scale * gate->limit);
	char *a = arena_printf(arena, form, decimals, scale * low),
	     *b = arena_printf(arena, form, decimals, scale * high);
	if (!a || !b)
		return NULL;
	return low == high ? arena_printf(arena, "%s%s", a, unit)
			   : arena_printf(arena, "%s \u2026 %s%s", a, b, unit);
}

/* How many runs would decide it, as the interval narrows with their root; a tenth more, as its ends are not
 * sure. */
static const char *what_would_decide(struct arena *arena, const struct gate *gate, double value, double low,
				     double high, size_t runs)
{
	double half = (high - low) / 2, distance = fabs(gate->limit - value);
	double needed = distance > 0 ? 1.1 * (double)runs * (half / distance) * (half / distance) : INFINITY;
	const char *range = range_text(arena, gate, low, high);
	if (!range)
		return NULL;
	if (needed > 10000)
		return arena_printf(arena, "%s holds the bound: so near it no number of runs decides", range);
	return arena_printf(arena, "%s holds the bound: about -r %.0f would decide", range, ceil(needed) + 1);
}

/* An exact +0 % of "<+0%" is neither below its bound nor above it. */
static const char *on_the_bound(struct arena *arena, const struct gate *gate, double at)
{
	const size_t name = strcspn(gate->text, "<>");
	const char *range = range_text(arena, gate, at, at);
	return range ? arena_printf(arena, "%s is the bound itself: '%.*s=%s' would pass", range, (int)name + 1,
				    gate->text, gate->text + name + 1)
		     : NULL;
}

static bool equal(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* A metric does not say of itself that one of its events lacks a run: then some row of its result does. */
static bool lacks_runs(const struct result *result)
{
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		if (e->known && estimate_is_total(e) && e->n_runs < result->repetitions)
			return true;
	}
	return false;
}

/* Why an estimate is not what all runs counted; NULL: it is. */
static const char *not_whole(struct arena *arena, const struct estimate *e, const struct result *result,
			     bool is_metric)
{
	if (!e)
		return "not counted: there is no such row";
	if (!e->known)
		return arena_printf(arena, "not counted: %s", e->why ? e->why : "no reason is known");
	if (e->trust == TRUST_REFUTED)
		return "refuted: this count is known to be wrong";
	if ((e->n_runs < result->repetitions && !(is_metric && e->n_runs == 0 && e->has_interval)) ||
	    result->repetitions_done < result->repetitions)
		return arena_printf(arena, "not counted in all runs (%zu of %zu): %s", e->n_runs,
				    result->repetitions, e->note ? e->note : "they ended early");
	if (is_metric && lacks_runs(result))
		return "some of its events were not counted in all runs";
	if (e->source == SOURCE_SAMPLED)
		return "estimated from some of the sets, and what a few cause may be in none of them: count all "
		       "(--sampled=1/1)";
	if (e->source == SOURCE_SCALED || e->share_running < 1)
		return "counted only part of the time: ask for fewer events at once, or --several-runs";
	return NULL;
}

static const char *not_comparable(struct arena *arena, const struct comparison *c, const struct compared *base,
				  const struct compared *one, size_t command, bool is_metric)
{
	const struct result *first = c->results[0], *other = c->results[command];
	const char *why = not_whole(arena, one->estimate, other, is_metric);
	if (why)
		return why;
	if ((why = not_whole(arena, base->estimate, first, is_metric)))
		return arena_printf(arena, "the baseline is %s", why);
	if (WIFSIGNALED(other->wait_status) || first->wait_status != other->wait_status)
		return "the command did not end as the baseline did";
	if (!one->has_numbers)
		return one->why ? one->why : "not compared";
	return c->interrupted ? "interrupted" : NULL;
}

/* Ends and middle of what the gate bounds; false: there is no interval. */
static bool ends_of(const struct gate *gate, const struct compared *one, double *low, double *value, double *high)
{
	/* what this machine's A/A runs differ by is not a difference */
	double floor = isfinite(one->floor) ? one->floor : 0;
	switch (gate->bound) {
	case GATE_RELATIVE:
		*low = one->relative_low - floor;
		*value = one->relative;
		*high = one->relative_high + floor;
		return one->has_relative;
	case GATE_DIFFERENCE:
		floor *= fabs(one->estimate->value - one->difference);
		*low = one->low - floor;
		*value = one->difference;
		*high = one->high + floor;
		return one->has_interval;
	case GATE_VALUE:
		*low = one->estimate->low;
		*value = one->estimate->value;
		*high = one->estimate->high;
		/* with it, the difference's interval shows that there were runs enough */
		return one->estimate->has_interval && one->has_interval;
	}
	return false;
}

static struct judged judge(struct arena *arena, const struct comparison *c, const struct gate *gate,
			   const struct comparison_row *row, size_t command)
{
	const struct compared *one = &row->commands[command];
	double low, value, high;
	const char *why = not_comparable(arena, c, &row->commands[0], one, command, row->is_metric);
	if (why)
		return undecided(arena, why);
	if (!ends_of(gate, one, &low, &value, &high) || isnan(low) || isnan(high))
		return undecided(arena, one->why ? one->why : "there is no interval: more runs (-r 10) make one");
	enum gate_outcome outcome = decide(gate, low, high);
	if (low == high && high == gate->limit && !gate->inclusive)
		return (struct judged){GATE_UNDECIDED, on_the_bound(arena, gate, low)};
	if (outcome == GATE_FAILED && (gate->below ? low : high) == gate->limit)
		outcome = GATE_UNDECIDED; /* not above it */
	if (outcome == GATE_UNDECIDED)
		return (struct judged){outcome, what_would_decide(arena, gate, value, low, high,
								  c->results[command]->repetitions)};
	return (struct judged){outcome, range_text(arena, gate, low, high)};
}

static bool is_of(const struct gate *gate, const struct comparison_row *row)
{
	size_t length = strlen(gate->event);
	if (row->region || (gate->labels.count && row->is_metric != gate->is_metric))
		return false;
	if (gate->labels.count == 0) /* of stored runs alone */
		return equal(gate->event, row->event) ||
		       (strncmp(row->event, gate->event, length) == 0 && equal(row->event + length, ":u"));
	for (size_t i = 0; i < gate->labels.count; i++)
		if (equal(gate->labels.items[i], row->event))
			return true;
	/* a metric's level is settled as an event's is */
	const char *name = strstr(row->event, "::");
	name = gate->is_metric && name ? name + 2 : row->event;
	return gate->is_metric && strncmp(name, gate->event, length) == 0 &&
	       (!name[length] || equal(name + length, ":u"));
}

static bool add(struct comparison *c, const struct gate *gate, const struct comparison_row *row, size_t command,
		struct gate_result *out)
{
	struct judged judged = row ? judge(&c->arena, c, gate, row, command)
				   : undecided(&c->arena, "not counted: no row has this event");
	*out = (struct gate_result){.text = arena_strdup(&c->arena, gate->text),
				    .command = command,
				    .outcome = judged.outcome,
				    .reason = judged.reason};
	/* of several machines each is named */
	if (row && gate->labels.count > 1)
		out->text = arena_printf(&c->arena, "%s (%s)", gate->text, row->event);
	return out->text && out->reason;
}

bool gates_judge(struct comparison *c, const struct gate *gates, size_t n)
{
	VEC(struct gate_result) results = {0};
	bool done = true;
	for (size_t i = 0; done && i < n; i++)
		for (size_t command = 1; done && command < c->n; command++) {
			struct gate_result one;
			size_t found = 0;
			for (size_t r = 0; done && r < c->n_rows; r++)
				if (is_of(&gates[i], &c->rows[r])) {
					done = add(c, &gates[i], &c->rows[r], command, &one) &&
					       vec_push(&results, one);
					found++;
				}
			if (done && !found)
				done = add(c, &gates[i], NULL, command, &one) && vec_push(&results, one);
		}
	if (done && (c->gates = arena_alloc(&c->arena, (results.count + 1) * sizeof *c->gates))) {
		c->n_gates = results.count;
		if (results.count)
			memcpy(c->gates, results.items, results.count * sizeof *c->gates);
	} else {
		done = false;
	}
	vec_free(&results);
	return done;
}

/* ---- one result alone ---- */

static const struct estimate *row_of(const struct gate *gate, const struct result *result, const char *label)
{
	const struct estimate *rows = gate->is_metric ? result->metrics : result->estimates;
	size_t n = gate->is_metric ? result->n_metrics : result->n_estimates, length = strlen(label);
	for (size_t i = 0; i < n; i++)
		if (estimate_is_total(&rows[i]) && equal(rows[i].event, label))
			return &rows[i];
	for (size_t i = 0; gate->is_metric && i < n; i++)
		if (estimate_is_total(&rows[i]) && strncmp(rows[i].event, label, length) == 0 &&
		    equal(rows[i].event + length, ":u"))
			return &rows[i];
	return NULL;
}

static struct judged condition_of(const struct gate *gate, const struct result *result, struct arena *arena,
				  const struct estimate *e)
{
	const char *why = not_whole(arena, e, result, gate->is_metric);
	if (why)
		return undecided(arena, why);
	double low = e->has_interval ? e->low : e->value, high = e->has_interval ? e->high : e->value;
	switch (decide(gate, low, high)) {
	case GATE_PASSED: /* it holds */ return (struct judged){GATE_FAILED, range_text(arena, gate, low, high)};
	case GATE_FAILED: return (struct judged){GATE_PASSED, range_text(arena, gate, low, high)};
	default:
		return (struct judged){GATE_UNDECIDED,
				       what_would_decide(arena, gate, e->value, low, high, e->n_runs)};
	}
}

enum gate_outcome gate_condition(const struct gate *gate, const struct result *result, struct arena *arena,
				 const char **reason)
{
	struct judged worst = {GATE_PASSED, ""};
	if (gate->labels.count == 0)
		worst = undecided(arena, "not counted: no row has this event");
	for (size_t i = 0; i < gate->labels.count; i++) {
		struct judged one = condition_of(gate, result, arena, row_of(gate, result, gate->labels.items[i]));
		/* what is not counted is told before what was counted too much */
		if (i == 0 || one.outcome == GATE_UNDECIDED || worst.outcome == GATE_PASSED)
			worst = one;
		if (worst.outcome == GATE_UNDECIDED)
			break;
	}
	*reason = worst.reason;
	return worst.outcome;
}
