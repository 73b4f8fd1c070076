#include "compat/perfex_events.h"

#include "compat/p5mon_events.h"

const struct event_definition *perfex_event_definition(const struct event_table *table,
						       enum perfex_machine machine, size_t index)
{
	const struct perfex_event *event = perfex_event_of(machine, index);
	if (!event)
		return NULL;
	const struct event_definition *row = paper_event_find(table, event->appendix ? "r10000" : "r12000",
							      event->listed);
	return row || !event->appendix ? row : paper_event_find(table, "r10000", event->appendix);
}
