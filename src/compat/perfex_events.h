/* What counts perfex's events here (event/perfex_event.h has their names and numbers). */
#ifndef TARE_COMPAT_PERFEX_EVENTS_H
#define TARE_COMPAT_PERFEX_EVENTS_H

#include <stddef.h>

#include "event/event.h"
#include "event/perfex_event.h"

/* The canonical event that counts it; NULL when there is none. */
const struct event_definition *perfex_event_definition(const struct event_table *table,
						       enum perfex_machine machine, size_t index);

#endif
