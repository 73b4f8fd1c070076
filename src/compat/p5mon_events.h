/* The 38 events of the Pentium and the clock as run_p5mon names them (Safford, Tables 2.3, 3.2 and C.1): the names
 * of a tool's interface, not what they mean here. Which canonical event counts one is said by the row in
 * data/events/ that lists "p5mon:<parameter>" among its papers' names; several have no meaning on other CPUs. */
#ifndef TARE_COMPAT_P5MON_EVENTS_H
#define TARE_COMPAT_P5MON_EVENTS_H

#include <stddef.h>

#include "event/event.h"

struct p5mon_event {
	int code;              /* the event select's value; P5MON_CLOCKS for count_clocks, which has none */
	const char *parameter; /* "data_read_miss" */
	/* "Data Read Miss"; the thesis prints seven of them, the others follow their pattern */
	const char *title;
	/* the event that counts as the Pentium did, by an erratum; NULL: tare counts no erratum of it */
	const char *erratum;
};

enum { P5MON_CLOCKS = -1, P5MON_EVENTS = 39 };

/* In the order of Table C.1, the clock last, as in Figure 4.3. */
const struct p5mon_event *p5mon_event_at(size_t index);
/* By parameter, as it is written there; NULL when there is none. */
const struct p5mon_event *p5mon_event_named(const char *parameter);

/* The canonical event that has the paper's name "prefix:name" (letters without case); NULL when there is none. */
const struct event_definition *paper_event_find(const struct event_table *table, const char *prefix,
						const char *name);

#endif
