/* The inside of an event table; for the files of src/event/ only.
 *
 * 1. A row that was handed out stays valid until the table is freed, even when a later one replaces it.
 * 2. Every text in a row lives in the table's arena. */
#ifndef TARE_EVENT_TABLE_H
#define TARE_EVENT_TABLE_H

#include "base/arena.h"
#include "base/nearest.h"
#include "event/event.h"
#include "event/pfm.h"
#include "event/rows.h"

struct event_table {
	struct arena arena;
	struct rows rows;           /* struct event_definition */
	struct pfm_names pfm_names; /* collected when a name is none of the rows' */
	bool pfm_names_collected;
};

/* How a name, with level and period cut off, was found in the table. */
struct event_match {
	const struct event_definition *row;
	enum event_naming naming; /* NAMED_CANONICAL (also aliases), NAMED_PAPI or NAMED_PAPER */
	bool alias;               /* found by one of the row's aliases */
};

/* Canonical names first, then aliases, PAPI's and the papers' names, at last these without their tool in front.
 * False when no row has it. */
bool event_table_match(const struct event_table *table, const char *name, struct event_match *match);

/* The names nearest to one that event_table_match() does not know. */
void event_table_nearest(const struct event_table *table, const char *name, struct nearest *found);

#endif
