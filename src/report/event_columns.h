/* Columns of annotated source and disassembly: one for each event of a profile, and of source lines that call
 * another one for what their calls did, as far as there is room for them beside the text. */
#ifndef TARE_REPORT_EVENT_COLUMNS_H
#define TARE_REPORT_EVENT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/columns.h"
#include "report/document.h"
#include "result/named_profile.h"

enum {
	EVENT_COLUMNS_MOST = 32,
	EVENTS_WITH_COUNTS = 1, /* with so many events at most, counts stand beside the shares */
	EVENTS_WITH_LABELS =
		2, /* … their labels are the headings, where there is room; else numbers are, and a list
				 * says whose */
};

struct event_columns {
	struct document *document;
	const struct named_profile *named;
	size_t events[EVENT_COLUMNS_MOST], n; /* those that have counts */
	size_t inclusive;                     /* of the first so many also what the calls did */
	bool labels;
	size_t left_out, inclusive_left_out; /* events that there is no room for */
};

/* The events that the options ask for. `beside`: columns of a terminal for all else in a line. */
struct profile_report_options;
void event_columns_open(struct event_columns *columns, struct document *document,
			const struct named_profile *named, const struct profile_report_options *options,
			size_t beside, bool inclusive);

/* Before the tables: which number is which event, where the headings are numbers, and what there is no room
 * for. */
void event_columns_legend(struct event_columns *columns);

/* Each returns how many columns it filled: the table's other columns come behind them. counts[columns->n], as
 * columns->events are; of 0 the cell is empty. */
size_t event_columns_headings(struct event_columns *columns, struct columns *table);
size_t event_columns_inclusive_headings(struct event_columns *columns, struct columns *table, size_t c);
size_t event_columns_cells(struct event_columns *columns, struct columns_row *row, const uint64_t *counts);

#endif
