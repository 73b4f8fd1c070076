#include "compat/choose.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "compat/perfex_events.h"

/* row NULL: why_not is why there is none. label NULL: the event's own. */
static bool add(struct session *session, const struct event_definition *row, const char *levels, const char *label,
		const char *shown, const char *why_not, struct error *err)
{
	char request[256];
	if (!row)
		return session_add_uncounted(session, label, why_not, err);
	/* the clocks and counts of the operating system have no levels to choose */
	snprintf(request, sizeof request, "%s%s", row->name, row->counted_by == COUNTED_BY_PROCESS ? "" : levels);
	return session_add_event_as(session, request, shown, err);
}

bool p5mon_choose(struct session *session, const struct parameters *parameters, bool p5mon_labels,
		  struct error *err)
{
	const char *levels = parameters->user_events && parameters->kernel_events ? ""
			     : parameters->user_events                            ? ":u"
										  : ":k";
	bool none = !parameters->user_events && !parameters->kernel_events;
	const char *why = none ? "user_events and kernel_events are both no"
			       : "no event of tare has the meaning of this Pentium event";
	for (size_t i = 0; i < P5MON_EVENTS; i++) {
		char label[160];
		const struct p5mon_event *event = p5mon_event_at(i);
		if (!parameters->events[i])
			continue;
		snprintf(label, sizeof label, "p5mon:%s", event->parameter);
		const struct event_definition *row = parameters->errata && event->erratum
							     ? event_table_find(session->events, event->erratum)
							     : paper_event_find(session->events, "p5mon",
										event->parameter);
		/* in tare's own table a row is called what was counted */
		if (!add(session, none ? NULL : row, levels, label, p5mon_labels ? label : NULL, why, err))
			return false;
	}
	return true;
}

static bool add_perfex(struct session *session, size_t index, const char *levels, struct error *err)
{
	char label[160];
	const char *family = session->n_machines ? session->operations->family(session->backend, 0) : NULL;
	enum perfex_machine machine = family && strcmp(family, "r12000") == 0 ? PERFEX_R12000 : PERFEX_R10000;
	snprintf(label, sizeof label, "%s:%s", perfex_machine_name(machine),
		 perfex_event_of(machine, index)->listed);
	/* perfex counts at user level unless told otherwise */
	return add(session, perfex_event_definition(session->events, machine, index), levels, label, label,
		   "no event of tare has the meaning of this R10000 event", err);
}

bool perfex_choose(struct session *session, const char *list, struct perfex_chosen *chosen, struct error *err)
{
	unsigned long long index;
	char number[24];
	size_t digits = strspn(list, "0123456789");
	/* perfex -k: also at kernel level */
	const char *levels = strcmp(list + digits, ":uk") == 0 ? "" : ":u";
	snprintf(number, sizeof number, "%.*s", digits < sizeof number ? (int)digits : 0, list);
	if (!isdigit((unsigned char)list[0]) || (list[digits] && *levels) || !str_to_u64(number, &index))
		return session_add_events(session, list, err);
	if (index >= PERFEX_EVENTS)
		return error_set(err, ERROR_USAGE, "perfex's events are 0 to %d, not %s", PERFEX_EVENTS - 1, list);
	long *counter = &chosen->counter[index / PERFEX_PER_COUNTER];
	if (*counter != PERFEX_NONE) {
		error_set(err, ERROR_USAGE, "conflicting counters: events %ld and %llu are both of counter %llu",
			  *counter, index, index / PERFEX_PER_COUNTER);
		return error_hint(err, "choose one of 0 to 15 and one of 16 to 31");
	}
	*counter = (long)index;
	return add_perfex(session, index, levels, err);
}

bool perfex_choose_all(struct session *session, struct error *err)
{
	for (size_t i = 0; i < PERFEX_EVENTS; i++)
		if (!add_perfex(session, i, ":u", err))
			return false;
	return true;
}
