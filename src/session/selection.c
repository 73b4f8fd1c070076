#include "session/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/metric_level.h"
#include "session/selection_inside.h"
#include "session/session.h"

bool selection_add_row(struct session *s, long event, const char *label, const char *why, struct error *err)
{
	if (s->selection.rows.count >= EVENT_LIST_MOST)
		return error_set(err, ERROR_LIMIT, "more than %d events", EVENT_LIST_MOST);
	return vec_push(&s->selection.rows,
			((struct asked_row){event, label, why, NULL, s->selection.required})) ||
	       error_no_memory(err);
}

long selection_find(const struct session *s, const char *label)
{
	for (size_t i = 0; i < s->selection.events.count; i++)
		if (strcmp(s->selection.events.items[i].label, label) == 0)
			return (long)i;
	return ROW_NO_EVENT;
}

/* An event asked for twice is counted and shown once, unless `again`. */
bool selection_add_event(struct session *s, const struct event *event, const char *label, bool again,
			 struct error *err)
{
	long known = again ? ROW_NO_EVENT : selection_find(s, event->label);
	for (size_t i = 0; known != ROW_NO_EVENT && i < s->selection.rows.count; i++)
		if (s->selection.rows.items[i].event == known)
			s->selection.rows.items[i].required |= s->selection.required;
	if (known != ROW_NO_EVENT)
		return vec_push(&s->selection.asked, (size_t)known) || error_no_memory(err);
	if (s->selection.events.count >= EVENT_LIST_MOST)
		return error_set(err, ERROR_LIMIT, "more than %d events", EVENT_LIST_MOST);
	if (!vec_push(&s->selection.events, *event) ||
	    !vec_push(&s->selection.asked, s->selection.events.count - 1))
		return error_no_memory(err);
	return selection_add_row(s, (long)s->selection.events.count - 1, label, NULL, err);
}

bool selection_counted(const struct session *s, const struct event *event, struct availability *answer)
{
	*answer = (struct availability){.state = READING_UNSUPPORTED};
	s->operations->available(s->backend, event, answer);
	return answer->state == READING_COUNTED;
}

/* For the remark under the table. That the engine knows one level only is known. */
static void remember_user_only(struct session *s, const struct event *event, const char *why)
{
	bool same = s->selection.user_only.length && strcmp(why, s->selection.user_only_why) == 0;
	if (s->selection.user_only.length && !same)
		str_appendf(&s->selection.user_only, " (%s); ", s->selection.user_only_why);
	str_appendf(&s->selection.user_only, "%s%s",
		    same                            ? ", "
		    : s->selection.user_only.length ? ""
						    : "user level only: ",
		    event->label);
	snprintf(s->selection.user_only_why, sizeof s->selection.user_only_why, "%s", why);
}

/* Where no level was asked for: both where that works, else the program's own part, under a name that says so
 * (instructions:u). */
void selection_settle_level(struct session *s, struct event *event)
{
	struct availability answer, refusal;
	struct event user;
	char request[256];
	/* the kernel's account of a program that tare starts has both levels */
	bool account = s->target.kind == TARGET_COMMAND && event->definition &&
		       (event->definition->counted_by & COUNTED_BY_PROCESS);
	if (event->text[metric_level_at(event->text)] || account || selection_counted(s, event, &refusal))
		return;
	snprintf(request, sizeof request, "%s:u", event->text);
	if (!event_parse(s->events, request, &user, NULL))
		return;
	/* then its reason is the one to be told */
	if (!selection_counted(s, &user, &answer) && !(answer.prevented && !refusal.prevented))
		return;
	if (answer.state == READING_COUNTED && answer.source != SOURCE_EXACT && answer.source != SOURCE_MODEL)
		remember_user_only(s, event, refusal.why);
	*event = user;
}

/* Is the same event asked for at user level as well? Then both are shown, each for itself. */
static bool has_user_twin(const struct event *events, size_t n, const struct event *event)
{
	char label[256];
	snprintf(label, sizeof label, "%s:u", event->label);
	for (size_t i = 0; i < n; i++)
		if (strcmp(events[i].label, label) == 0)
			return true;
	return false;
}

/* ---- several machines in one run ---- */

static bool is_modelled(const struct session *s, const struct event *event)
{
	struct availability answer;
	return selection_counted(s, event, &answer) && answer.source == SOURCE_MODEL;
}

/* "r12000::l1d-misses", at the level at which it can be counted. */
bool selection_event_of_machine(struct session *s, const struct event *event, size_t machine, struct event *out,
				struct error *err)
{
	char request[512];
	snprintf(request, sizeof request, "%s::%s", s->machines[machine], event->text);
	if (!event_parse(s->events, request, out, err))
		return false;
	selection_settle_level(s, out);
	return true;
}

/* Is it to be asked of each machine? What the engine counts by itself is the same on all. */
bool selection_is_of_each_machine(struct session *s, const struct event *event)
{
	struct event one;
	if (event->machine)
		return false;
	for (size_t i = 0; s->n_machines > 1 && i < s->n_machines; i++)
		if (selection_event_of_machine(s, event, i, &one, NULL) && is_modelled(s, &one))
			return true;
	return false;
}

bool selection_add_of_each_machine(struct session *s, const struct event *event, struct error *err)
{
	for (size_t i = 0; i < s->n_machines; i++) {
		struct event one;
		if (!selection_event_of_machine(s, event, i, &one, err) ||
		    !selection_add_event(s, &one, NULL, false, err))
			return false;
	}
	return true;
}

bool session_add_events(struct session *s, const char *list, struct error *err)
{
	struct event *events = NULL;
	size_t n = 0;
	bool done = event_parse_list(s->events, list, &events, &n, err);
	for (size_t i = 0; done && i < n; i++) {
		if (selection_is_of_each_machine(s, &events[i])) {
			done = selection_add_of_each_machine(s, &events[i], err);
			continue;
		}
		if (!has_user_twin(events, n, &events[i]))
			selection_settle_level(s, &events[i]);
		done = selection_add_event(s, &events[i], NULL, false, err);
	}
	free(events);
	return done;
}

bool session_add_required(struct session *s, const char *list, struct error *err)
{
	s->selection.required = true;
	bool done = session_add_events(s, list, err);
	s->selection.required = false;
	return done;
}

/* ---- rows under names of their own ---- */

bool session_add_event_as(struct session *s, const char *request, const char *label, struct error *err)
{
	struct event event;
	char *own = label ? arena_strdup(&s->selection.arena, label) : NULL;
	if (label && !own)
		return error_no_memory(err);
	return event_parse(s->events, request, &event, err) && selection_add_event(s, &event, own, true, err);
}

bool session_add_uncounted(struct session *s, const char *label, const char *why, struct error *err)
{
	char *own_label = arena_strdup(&s->selection.arena, label),
	     *own_why = arena_strdup(&s->selection.arena, why);
	if (!own_label || !own_why)
		return error_no_memory(err);
	return selection_add_row(s, ROW_NO_EVENT, own_label, own_why, err);
}

void selection_free(struct selection *selection)
{
	vec_free(&selection->events);
	vec_free(&selection->metrics);
	vec_free(&selection->rows);
	vec_free(&selection->asked);
	str_free(&selection->user_only);
	arena_free(&selection->arena);
	*selection = (struct selection){0};
}
