#include "trust/apply.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trust/rules.h"

/* A count that breaks a law (trust/conservation.h) keeps that for its evidence. */
static bool rests_on(struct estimate *e, const char *evidence)
{
	if (e->trust != TRUST_REFUTED)
		e->evidence = evidence;
	return evidence != NULL;
}

static bool not_known(struct result *result, struct estimate *e, const char *why)
{
	e->why = arena_strdup(&result->arena, why);
	e->known = e->has_interval = false;
	e->source = SOURCE_NONE;
	e->share_running = 0;
	e->n_runs = 0;
	return e->why != NULL;
}

static bool refuse(struct result *result, struct estimate *e, const struct subtraction *s)
{
	char what[200], text[500];
	const char *program = result->command[0], *slash = strrchr(program, '/');
	snprintf(what, sizeof what, "the program '%.100s'", slash ? slash + 1 : program);
	subtraction_refusal(s, what, e->unit, 1, NULL, text, sizeof text);
	/* "inside the region" is said of regions */
	char *place = strstr(text, " inside the region");
	if (place)
		memmove(place, place + strlen(" inside the region"),
			strlen(place + strlen(" inside the region")) + 1);
	return not_known(result, e, text);
}

static bool take_off(struct result *result, struct estimate *e, const struct overhead *row, const char *id)
{
	struct pass_costs costs = {.region = {.value = row->mean, .sd = row->sd, .n = (double)row->n},
				   .t = interval_factor(row->half_width, row->sd, (double)row->n)};
	struct pass_counts once = {.passes = 1};
	struct subtraction s;
	subtract(e->value, &costs, &once, &s);
	e->has_tare = true;
	e->gross = e->value;
	e->tare = s.tare;
	if (!rests_on(e, arena_strdup(&result->arena, id)))
		return false;
	if (s.state == TOO_SMALL_TO_MEASURE)
		return refuse(result, e, &s);
	/* independent: the runs' mean and the calibration's */
	double below = hypot(e->value - e->low, row->half_width),
	       above = hypot(e->high - e->value, row->half_width);
	e->value = s.net;
	if (e->has_interval) {
		e->low = fmax(e->value - below, 0);
		e->high = e->value + above;
	} else {
		e->low = e->high = e->value;
	}
	for (size_t i = 0; i < e->n_runs; i++)
		e->runs[i] -= s.tare;
	e->run_min -= s.tare;
	e->run_median -= s.tare;
	e->run_max -= s.tare;
	return true;
}

static bool apply(struct result *result, struct estimate *e, const struct calibration *c)
{
	e->bound = NAN;
	if (!e->known || !estimate_is_total(e))
		return true;
	if (e->source == SOURCE_EXACT || e->source == SOURCE_MODEL || e->source == SOURCE_SAMPLED) {
		e->has_tare = true;
		e->gross = e->value;
		e->tare = 0;
		return true;
	}
	if (e->measuring.state == MEASURING_INCLUDED) { /* of regions' probes, little of it: measure/estimate.c */
		e->bound = fmin(e->measuring.count + e->measuring.half_width, fmax(e->value, 0));
		return rests_on(e, "region-trial");
	}
	/* without a level it is the operating system's account, which nobody calibrated */
	if (!c || !result->command || result->target || !e->level || !e->level[0])
		return true;
	const struct overhead *row = calibration_overhead(c, e->event, INTERFACE_COMMAND, OVERHEAD_PROGRAM, false);
	if (!row)
		return true;
	if (row->constant)
		return e->source != SOURCE_HW || take_off(result, e, row, c->id);
	e->bound = fmin(fmax(row->most, 0), fmax(e->value, 0));
	return rests_on(e, arena_strdup(&result->arena, c->id));
}

/* Of a region: what the backend found out about its own measuring. No calibration has its probes. */
static bool apply_to_region(struct result *result, const struct region_row *row, struct estimate *e)
{
	struct subtraction s;
	if (!apply(result, e, NULL))
		return false;
	if (!e->known || e->has_tare || e->measuring.state == MEASURING_UNKNOWN)
		return true;
	rests_on(e, "region-trial");
	if (e->measuring.state == MEASURING_TAKEN_OFF) {
		e->has_tare = true;
		e->tare = e->measuring.count;
		e->gross = e->value + e->tare;
		return true;
	}
	weigh(e->value, e->measuring.count, e->measuring.inside, e->measuring.half_width, &s);
	e->bound = fmax(e->measuring.count + e->measuring.half_width, 0);
	if (s.state != TOO_SMALL_TO_MEASURE) {
		e->bound = fmin(e->bound, fmax(e->value, 0));
		return true;
	}
	char what[200], text[500];
	snprintf(what, sizeof what, "region '%.150s'", row->name);
	subtraction_refusal(
		&s, what, e->unit, (double)row->exits,
		"most of that is of probes inside it: ask for fewer regions at once, or for one without recursion",
		text, sizeof text);
	e->gross = e->value;
	return not_known(result, e, text);
}

bool trust_apply_to_regions(struct result *result)
{
	bool done = true;
	for (size_t r = 0; r < result->n_regions; r++)
		for (size_t i = 0; i < result->regions[r].n_estimates; i++)
			done = apply_to_region(result, &result->regions[r], &result->regions[r].estimates[i]) &&
			       done;
	return done;
}

bool trust_apply(struct result *result, const struct calibration *c)
{
	bool done = true;
	/* an empty program with probes in it was not calibrated */
	if (result->n_regions)
		c = NULL;
	for (size_t i = 0; i < result->n_estimates; i++)
		done = apply(result, &result->estimates[i], c) && done;
	for (size_t i = 0; i < result->n_metrics; i++)
		result->metrics[i].bound = NAN;
	return trust_apply_to_regions(result) && done;
}
