/* Derived metrics. Where all inputs were counted in the same executions (one pass, and the account of that pass)
 * at least twice, the metric is computed for each execution and gets a t-interval: what varies together (cycles
 * and instructions of one run) then cancels as it should. Otherwise the estimates' intervals are propagated. */
#include <stdlib.h>
#include <string.h>

#include "measure/measurement.h"
#include "stats/stats.h"

/* The event that a metric's input names; n_events when it was not asked for. */
static size_t find_input(const struct measurement *s, const char *request)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (strcmp(s->events[i].text, request) == 0 || strcmp(s->events[i].label, request) == 0)
			return i;
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].definition && strcmp(s->events[i].definition->name, request) == 0 &&
		    s->events[i].levels == (LEVEL_USER | LEVEL_KERNEL))
			return i;
	return s->n_events;
}

/* Totals come before their rows, in the order of the request. */
static const struct estimate *total_of(const struct measurement *s, size_t event)
{
	const struct estimate *e = s->result->estimates;
	for (size_t i = 0; i < event; i++) {
		e++;
		for (size_t row = s->n_events; row < s->series.count; row++)
			e += s->series.items[row].event == i;
	}
	return e;
}

/* From the source that says least about the truth to the one that says most. */
static int weakness(enum source source)
{
	static const enum source order[] = {SOURCE_HW,    SOURCE_OS,     SOURCE_EXACT,
					    SOURCE_MODEL, SOURCE_SCALED, SOURCE_SAMPLED};
	for (int i = 0; i < (int)(sizeof order / sizeof *order); i++)
		if (order[i] == source)
			return i;
	return -1;
}

/* Counts of a modelled machine per this machine's time would be a rate of neither. */
static const char no_time[] = "not computed: it would divide counts of a modelled machine by the time of this one";

static bool is_time(const struct measurement *s, size_t event)
{
	const struct event_definition *row = s->events[event].definition;
	return row && row->kind == EVENT_DURATION;
}

/* The pass that counts all inputs; false when they are spread over several. */
static bool common_pass(const struct measurement *s, const size_t *inputs, size_t n, size_t *pass)
{
	bool found = false;
	*pass = 0;
	for (size_t i = 0; i < n; i++) {
		size_t p = s->pass_of[inputs[i]];
		if (p == PASS_NONE)
			continue;
		if (found && p != *pass)
			return false;
		*pass = p;
		found = true;
	}
	/* the account alone: that of a native execution */
	while (!found && *pass + 1 < s->passes && measurement_account(s, *pass, 0)->under_engine)
		++*pass;
	return true;
}

/* The metric of each execution in which all inputs are known; returns how many. */
static size_t per_execution(const struct measurement *s, const struct metric *metric, const size_t *inputs,
			    size_t n, struct metric_input *values, double *out)
{
	size_t pass, count = 0;
	if (!common_pass(s, inputs, n, &pass))
		return 0;
	for (size_t r = 0; r < s->options.repetitions; r++) {
		bool known = true;
		for (size_t i = 0; i < n && known; i++) {
			double value;
			known = measurement_value(s, inputs[i], pass, r, &value);
			values[i] = (struct metric_input){known, value, value, value};
		}
		struct metric_input derived;
		if (known && metric_evaluate(metric, values, &derived, NULL))
			out[count++] = derived.value;
	}
	return count;
}

static bool derive(struct measurement *s, const struct metric *metric, struct estimate *e)
{
	struct arena *arena = &s->result->arena;
	size_t n = metric_event_count(metric), runs = 0;
	bool memory = false, scaled = false, modelled = false, timed = false;
	*e = (struct estimate){.event = arena_strdup(arena, metric_name(metric)),
			       .unit = arena_strdup(arena, metric_unit(metric)),
			       .level = "",
			       .confidence = s->options.confidence,
			       .share_running = 1,
			       .cpu = -1};
	const char *caution = metric_caution(metric);
	e->note = caution ? arena_strdup(arena, caution) : NULL;
	size_t *inputs = calloc(n + 1, sizeof *inputs);
	struct metric_input *values = calloc(n + 1, sizeof *values);
	double *each = calloc(s->options.repetitions, sizeof *each);
	if (!e->event || !e->unit || (caution && !e->note) || !inputs || !values || !each)
		goto out;
	memory = true;

	const char **labels = arena_alloc(arena, (n + 1) * sizeof *labels);
	if (!(memory = labels != NULL))
		goto out;
	e->inputs = labels;
	for (size_t i = 0; i < n; i++) {
		const char *name = metric_event(metric, i);
		inputs[i] = find_input(s, name);
		if (inputs[i] == s->n_events) {
			e->why = arena_printf(arena, "needs '%s', which was not counted", name);
			memory = e->why != NULL;
			goto out;
		}
		const struct estimate *input = total_of(s, inputs[i]);
		labels[e->n_inputs++] = input->event;
		if (!input->known) {
			e->why = arena_printf(arena, "needs '%s', not counted: %s", name, input->why);
			memory = e->why != NULL;
			goto out;
		}
		values[i] = (struct metric_input){true, input->value, input->low, input->high};
		e->has_interval |= input->has_interval;
		scaled |= input->source == SOURCE_SCALED || input->source == SOURCE_SAMPLED;
		modelled |= input->source == SOURCE_MODEL || input->source == SOURCE_SAMPLED;
		timed |= is_time(s, inputs[i]);
		if (weakness(input->source) > weakness(e->source))
			e->source = input->source;
		if (input->machine && !e->machine)
			e->machine = input->machine;
		if (input->share_running < e->share_running)
			e->share_running = input->share_running;
	}

	if (modelled && timed) {
		e->source = SOURCE_NONE;
		e->machine = NULL;
		e->has_interval = false;
		e->why = no_time;
		goto out;
	}
	struct metric_input derived;
	struct error reason;
	if (!metric_evaluate(metric, values, &derived, &reason)) {
		e->source = SOURCE_NONE;
		e->machine = NULL;
		e->has_interval = false;
		e->why = arena_strdup(arena, reason.text);
		memory = e->why != NULL;
		goto out;
	}
	e->known = true;
	e->value = derived.value;
	e->low = derived.low;
	e->high = derived.high;
	runs = per_execution(s, metric, inputs, n, values, each);
	if (runs > 0) {
		e->n_runs = runs;
		e->runs = arena_alloc(arena, runs * sizeof *each);
		if (!(memory = e->runs != NULL))
			goto out;
		memcpy(e->runs, each, runs * sizeof *each);
	}
	struct interval interval;
	/* scaled and sampled inputs carry an error that the repetitions do not show */
	if (!scaled && stats_mean_interval(each, runs, s->options.confidence, &interval)) {
		e->value = interval.value;
		e->low = interval.low;
		e->high = interval.high;
		e->has_interval = true;
	}
	/* counts and times are not negative, and neither is what has no difference in it */
	if (e->low < 0 && e->value >= 0 && !strstr(metric_formula(metric), " - "))
		e->low = 0;
out:
	free(inputs);
	free(values);
	free(each);
	return memory;
}

bool measurement_derive(struct measurement *s)
{
	struct result *result = s->result;
	if (s->n_metrics == 0)
		return true;
	result->metrics = arena_alloc(&result->arena, s->n_metrics * sizeof *result->metrics);
	if (!result->metrics)
		return false;
	for (size_t i = 0; i < s->n_metrics; i++)
		if (!derive(s, s->metrics[i], &result->metrics[result->n_metrics++]))
			return false;
	return true;
}
