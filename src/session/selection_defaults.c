/* The standard set: what is counted when nothing was asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/selection_inside.h"
#include "session/session.h"

static const char only_a_model[] = "only a machine model counts it here, and that slows the program: ask for it "
				   "with -e NAME, or --on model:host";

/* At whichever level it is asked for. */
static bool is_only_modelled(const struct session *s, const struct event *event)
{
	char request[256];
	struct event user;
	bool (*asks)(struct backend *, const struct event *) = s->operations->only_modelled;
	snprintf(request, sizeof request, "%s:u", event->text);
	return asks && asks(s->backend, event) && event_parse(s->events, request, &user, NULL) &&
	       asks(s->backend, &user);
}

/* Where nobody chose a machine, no default set slows the program down for the sake of one. */
static bool add_unmodelled(struct session *s, const struct event_definition *row, struct error *err)
{
	if (!selection_add_row(s, ROW_NO_EVENT, row->name, only_a_model, err))
		return false;
	s->selection.rows.items[s->selection.rows.count - 1].unit = row->unit;
	return true;
}

/* Can it never count there? The engine and the models count programs that tare starts; of a backend that counts
 * nothing else the error says so. */
static bool is_not_for_target(const struct session *s, const struct event_definition *row,
			      const struct event *event)
{
	struct availability answer;
	if (row->default_of_tasks && s->target.kind == TARGET_CPUS)
		return true;
	if (s->target.kind == TARGET_COMMAND || s->operations->starts_only ||
	    !selection_counted(s, event, &answer))
		return false;
	return answer.source == SOURCE_EXACT || answer.source == SOURCE_MODEL;
}

static bool add_events(struct session *s, struct error *err)
{
	const struct event_table *table = s->events;
	s->selection.defaults = true;
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		struct event event;
		struct availability answer;
		if (!row->in_default_set && !row->default_if_exact)
			continue;
		/* the kernel's account of a process is there only for programs that tare starts */
		if (row->counted_by == COUNTED_BY_PROCESS && s->target.kind != TARGET_COMMAND &&
		    strcmp(row->name, "elapsed-time") != 0)
			continue;
		if (!event_parse(s->events, row->name, &event, err))
			return false;
		if (selection_is_of_each_machine(s, &event)) {
			if (!selection_add_of_each_machine(s, &event, err))
				return false;
			continue;
		}
		if (s->n_machines == 0 && is_only_modelled(s, &event)) {
			if (s->target.kind == TARGET_COMMAND && !add_unmodelled(s, row, err))
				return false;
			continue;
		}
		selection_settle_level(s, &event);
		if (is_not_for_target(s, row, &event))
			continue;
		if (!row->in_default_set &&
		    !(selection_counted(s, &event, &answer) && answer.source == SOURCE_EXACT))
			continue;
		if (!selection_add_event(s, &event, NULL, false, err))
			return false;
	}
	return true;
}

/* Does anything of the set count on what already runs? If not, it would be watched in vain: then the error has the
 * reason, and the step that changes it. */
static bool anything_counts(const struct session *s, struct error *err)
{
	struct availability first = {.state = READING_UNSUPPORTED,
				     .why = "no event of the standard set counts there"};
	bool answered = false;
	for (size_t i = 0; i < s->selection.events.count; i++) {
		const struct event *event = &s->selection.events.items[i];
		struct availability answer;
		if (event->definition && event->definition->counted_by == COUNTED_BY_PROCESS)
			continue;
		if (selection_counted(s, event, &answer) || answer.state == READING_UNPROVEN)
			return true;
		if (!answered || (first.state != READING_DENIED && answer.state == READING_DENIED))
			first = answer;
		answered = true;
	}
	error_set(err, first.state == READING_DENIED ? ERROR_PERMISSION : ERROR_UNSUPPORTED,
		  "nothing can be counted: %s", first.why);
	if (first.remedy[0])
		error_hint(err, "%s", first.remedy);
	return false;
}

bool session_add_defaults(struct session *s, struct error *err)
{
	return add_events(s, err) &&
	       (s->target.kind == TARGET_COMMAND || s->operations->starts_only || anything_counts(s, err)) &&
	       selection_add_default_metrics(s, err);
}
