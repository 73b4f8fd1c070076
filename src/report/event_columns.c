#include "report/event_columns.h"

#include "report/number.h"
#include "report/profile.h"
#include "report/profile_rows.h"

void event_columns_open(struct event_columns *e, struct document *document, const struct named_profile *named,
			const struct profile_report_options *options)
{
	size_t all = 0;
	*e = (struct event_columns){.document = document, .named = named};
	for (size_t i = 0; i < named->profile->n_events; i++) {
		if (!named->sums[i] || (options->one_event && options->event != i))
			continue;
		if (all++ < EVENT_COLUMNS_MOST)
			e->events[e->n++] = i;
	}
	if (all > e->n)
		document_add(document, BLOCK_PARAGRAPH, NULL,
			     document_printf(document, "the first %zu of %zu events are shown beside the lines",
					     e->n, all));
}

static const char *label_of(struct event_columns *e, size_t i)
{
	struct str label = {0};
	profile_append_escaped(&label, e->named->profile->events[e->events[i]].label);
	return document_str(e->document, &label);
}

void event_columns_legend(struct event_columns *e)
{
	if (e->n <= EVENTS_WITH_LABELS)
		return;
	document_add(e->document, BLOCK_GAP, NULL, NULL);
	for (size_t i = 0; i < e->n; i++)
		document_add(e->document, BLOCK_LINE, NULL,
			     document_printf(e->document, "[%zu] share of %s", i + 1, label_of(e, i)));
}

size_t event_columns_headings(struct event_columns *e, struct columns *table)
{
	size_t c = 0;
	table->ordered = true;
	table->axis = AXIS_HEAT;
	for (size_t i = 0; i < e->n; i++) {
		if (e->n > EVENTS_WITH_LABELS)
			table->headings[c++] = document_printf(e->document, "[%zu]", i + 1);
		else
			table->headings[c++] = label_of(e, i);
		if (e->n <= EVENTS_WITH_COUNTS)
			table->headings[c++] = "share";
	}
	return c;
}

size_t event_columns_cells(struct event_columns *e, struct columns_row *row, const uint64_t *counts)
{
	size_t c = 0;
	if (e->n) {
		double share = profile_share(counts[0], e->named->sums[e->events[0]]);
		row->range = (struct columns_range){
			.known = counts[0] > 0, .at = share, .low = share, .high = share};
	}
	for (size_t i = 0; i < e->n; i++) {
		char number[NUMBER_BYTES];
		number_group(number, (double)counts[i], 0);
		if (e->n <= EVENTS_WITH_COUNTS)
			row->cells[c++] = counts[i] ? document_printf(e->document, "%s", number) : "";
		row->cells[c++] = counts[i] ? document_printf(
						      e->document, "%.1f%%",
						      100 * profile_share(counts[i], e->named->sums[e->events[i]]))
					    : "";
	}
	return c;
}
