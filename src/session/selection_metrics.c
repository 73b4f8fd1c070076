/* Metrics that are asked for by name, at one level, or of each machine; and those of the standard set. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "session/metric_level.h"
#include "session/selection_inside.h"
#include "session/session.h"

/* Metrics shown when nothing was asked for and all their events are counted anyway. */
static const char *const default_metrics[] = {"ipc", "branch-miss-rate", "cpu-utilisation", NULL};

/* Most sessions need no metric. */
static bool need_metrics(struct session *s, struct error *err)
{
	return s->metrics || (s->metrics = metric_table_new(err));
}

/* Clocks and counts that the operating system keeps of a process as a whole. */
static bool has_no_levels(const struct session *s, const char *name)
{
	const struct event_definition *row = event_table_find(s->events, name);
	return row && row->counted_by == COUNTED_BY_PROCESS;
}

/* All of its events at that level: one that cannot be counted so leaves the metric without a value, it is never
 * mixed with those of both levels. */
static const struct metric *at_level(struct session *s, const struct metric *metric, const char *level,
				     struct error *err)
{
	size_t n = metric_event_count(metric);
	const char **requests = arena_alloc(&s->selection.arena, (n + 1) * sizeof *requests);
	bool done = requests != NULL;
	for (size_t i = 0; done && i < n; i++) {
		const char *event = metric_event(metric, i);
		requests[i] = event[metric_level_at(event)] || has_no_levels(s, event)
				      ? event
				      : arena_printf(&s->selection.arena, "%s%s", event, level);
		done = requests[i] != NULL;
	}
	if (done)
		return metric_at_level(s->metrics, metric, level, requests, err);
	error_no_memory(err);
	return NULL;
}

/* "ipc", "ipc:u" */
static const struct metric *metric_named(struct session *s, const char *word, struct error *err)
{
	size_t length = metric_level_at(word);
	char *name = arena_strndup(&s->selection.arena, word, length);
	if (!name) {
		error_no_memory(err);
		return NULL;
	}
	const struct metric *metric = metric_find(s->metrics, name, err);
	return metric && word[length] ? at_level(s, metric, word + length, err) : metric;
}

/* The metric over one machine's events: "r12000::l1d-load-miss-rate:u". */
static const struct metric *of_machine(struct session *s, const struct metric *metric, size_t machine,
				       struct error *err)
{
	struct arena *arena = &s->selection.arena;
	size_t n = metric_event_count(metric);
	const char **requests = arena_alloc(arena, (n + 1) * sizeof *requests);
	const char *name = arena_printf(arena, "%s::%s", s->machines[machine], metric_name(metric));
	bool done = requests && name;
	for (size_t i = 0; done && i < n; i++) {
		struct event event, one;
		requests[i] = metric_event(metric, i);
		if (event_parse(s->events, requests[i], &event, NULL) && selection_is_of_each_machine(s, &event) &&
		    selection_event_of_machine(s, &event, machine, &one, NULL))
			requests[i] = one.text;
	}
	if (done)
		return metric_renamed(s->metrics, metric, name, requests, err);
	error_no_memory(err);
	return NULL;
}

static bool is_metric_of_each_machine(struct session *s, const struct metric *metric)
{
	for (size_t i = 0; i < metric_event_count(metric); i++) {
		struct event event;
		if (event_parse(s->events, metric_event(metric, i), &event, NULL) &&
		    selection_is_of_each_machine(s, &event))
			return true;
	}
	return false;
}

static bool add_metric(struct session *s, const struct metric *metric, struct error *err)
{
	for (size_t i = 0; i < s->selection.metrics.count; i++)
		if (s->selection.metrics.items[i] == metric)
			return true;
	for (size_t i = 0; i < metric_event_count(metric); i++) {
		struct event event;
		if (!event_parse(s->events, metric_event(metric, i), &event, err) ||
		    !selection_add_event(s, &event, NULL, false, err))
			return false;
	}
	return vec_push(&s->selection.metrics, metric) || error_no_memory(err);
}

/* Does the backend count it, or does the operating system keep it of a program that tare starts? */
static bool known_here(const struct session *s, const struct event *event)
{
	struct availability answer;
	bool account = event->definition && (event->definition->counted_by & COUNTED_BY_PROCESS);
	return (account && s->target.kind == TARGET_COMMAND) || selection_counted(s, event, &answer);
}

/* Are all of its events known here? */
static bool works(const struct session *s, const struct metric *metric)
{
	for (size_t i = 0; i < metric_event_count(metric); i++) {
		struct event event;
		if (!event_parse(s->events, metric_event(metric, i), &event, NULL) || !known_here(s, &event))
			return false;
	}
	return true;
}

/* As selection_settle_level(), of a metric; NULL on failure. */
static const struct metric *settle_metric(struct session *s, const struct metric *metric, struct error *err)
{
	const char *name = metric_name(metric);
	if (name[metric_level_at(name)] || works(s, metric))
		return metric;
	const struct metric *user = at_level(s, metric, ":u", err);
	return user && works(s, user) ? user : user ? metric : NULL;
}

bool session_add_metrics(struct session *s, const char *list, struct error *err)
{
	char *copy = strdup(list), *rest = copy;
	bool done = (copy || error_no_memory(err)) && need_metrics(s, err);
	for (char *word; done && (word = strsep(&rest, ","));) {
		const struct metric *metric = NULL;
		word = str_trim(word);
		if (!*word)
			done = error_set(err, ERROR_USAGE, "an empty name in the list of metrics '%s'", list);
		else if (!(metric = metric_named(s, word, err)) || !(metric = settle_metric(s, metric, err)))
			done = false;
		else if (!is_metric_of_each_machine(s, metric))
			done = add_metric(s, metric, err);
		else
			for (size_t i = 0; done && i < s->n_machines; i++) {
				const struct metric *one = of_machine(s, metric, i, err);
				done = one && add_metric(s, one, err);
			}
	}
	free(copy);
	return done;
}

/* … and asked for already? */
static bool has_inputs(const struct session *s, const struct metric *metric)
{
	for (size_t i = 0; i < metric_event_count(metric); i++) {
		long at = selection_find(s, metric_event(metric, i));
		if (at == ROW_NO_EVENT || !known_here(s, &s->selection.events.items[at]))
			return false;
	}
	return true;
}

bool selection_add_default_metrics(struct session *s, struct error *err)
{
	if (!need_metrics(s, err))
		return false;
	for (const char *const *name = default_metrics; *name; name++) {
		const struct metric *metric = metric_find(s->metrics, *name, NULL);
		/* where only the program's own part can be counted, its rates */
		if (metric && !has_inputs(s, metric))
			metric = at_level(s, metric, ":u", NULL);
		if (metric && has_inputs(s, metric) && !add_metric(s, metric, err))
			return false;
	}
	return true;
}
