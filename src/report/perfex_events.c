#include "report/perfex_events.h"

#include "report/p5mon_events.h"

const struct event_definition *perfex_event_definition(const struct event_table *table, size_t index)
{
	const struct perfex_event *event = perfex_event_at(index);
	if (!event)
		return NULL;
	const struct event_definition *row = paper_event_find(table, "r10000", event->listed);
	return row ? row : paper_event_find(table, "r10000", event->appendix);
}
