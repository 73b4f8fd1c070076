/* Columns of annotated source and disassembly: one for each event of a profile. */
#ifndef TARE_REPORT_EVENT_COLUMNS_H
#define TARE_REPORT_EVENT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "report/columns.h"
#include "report/document.h"
#include "result/named_profile.h"

enum {
	EVENT_COLUMNS_MOST = 32,
	EVENTS_WITH_COUNTS = 1, /* with so many events at most, counts stand beside the shares */
	EVENTS_WITH_LABELS = 2, /* … their labels are the headings; else numbers are, and a list says whose */
};

struct event_columns {
	struct document *document;
	const struct named_profile *named;
	size_t events[EVENT_COLUMNS_MOST], n; /* those that have counts */
};

/* The events that the options ask for; more than there is room for are told by a note. */
struct profile_report_options;
void event_columns_open(struct event_columns *columns, struct document *document,
			const struct named_profile *named, const struct profile_report_options *options);

/* Before the table: which number is which event, where the headings are numbers. */
void event_columns_legend(struct event_columns *columns);

/* Each returns how many columns it filled: the table's other columns come behind them. counts[columns->n], as
 * columns->events are; of 0 the cell is empty. */
size_t event_columns_headings(struct event_columns *columns, struct columns *table);
size_t event_columns_cells(struct event_columns *columns, struct columns_row *row, const uint64_t *counts);

#endif
