#include "report/event_columns.h"

#include "report/number.h"
#include "report/profile.h"
#include "report/profile_rows.h"
#include "report/table.h"

/* Columns of a terminal, with the two before each. */
enum { INDENT = 2, GAP = 2, SHARE = GAP + 6, CALLS = GAP + 10, CALLS_OF_NUMBER = GAP + 9 };

static const char *label_of(struct event_columns *e, size_t i)
{
	struct str label = {0};
	profile_append_escaped(&label, e->named->profile->events[e->events[i]].label);
	return document_str(e->document, &label);
}

/* What the columns take with labels as headings. */
static size_t labelled(struct event_columns *e, bool inclusive)
{
	size_t columns = e->n <= EVENTS_WITH_COUNTS ? SHARE : 0;
	for (size_t i = 0; i < e->n; i++) {
		const char *label = label_of(e, i);
		size_t width = GAP + text_columns(label ? label : "");
		columns += (width > SHARE ? width : SHARE) + (inclusive ? CALLS : 0);
	}
	return columns;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* All have a share before any has what calls did. */
static void fit(struct event_columns *e, size_t room, bool inclusive)
{
	size_t all = e->n, calls;
	e->labels = e->n <= EVENTS_WITH_LABELS && labelled(e, inclusive) <= room;
	if (e->n <= EVENTS_WITH_COUNTS || e->labels) {
		e->inclusive = inclusive ? e->n : 0;
		return;
	}
	e->n = least(all, room > SHARE ? room / SHARE : 1);
	e->left_out += all - e->n;
	if (!inclusive)
		return;
	calls = room > e->n * SHARE ? (room - e->n * SHARE) / CALLS_OF_NUMBER : 0;
	/* beside them are the line's number and its text */
	e->inclusive = least(least(calls, e->n), COLUMNS_MOST - 2 - e->n);
	e->inclusive_left_out = e->n - e->inclusive;
}

void event_columns_open(struct event_columns *e, struct document *document, const struct named_profile *named,
			const struct profile_report_options *options, size_t beside, bool inclusive)
{
	/* a page scrolls */
	size_t width = options->draw ? SIZE_MAX : (size_t)table_width(&options->text);
	*e = (struct event_columns){.document = document, .named = named};
	for (size_t i = 0; i < named->profile->n_events; i++) {
		if (!named->sums[i] || (options->one_event && options->event != i))
			continue;
		if (e->n < EVENT_COLUMNS_MOST)
			e->events[e->n++] = i;
		else
			e->left_out++;
	}
	fit(e, width > INDENT + beside ? width - INDENT - beside : 0, inclusive);
}

/* "[2]", "[2] to [5]" */
static const char *numbers(struct event_columns *e, size_t first, size_t n)
{
	return n == 1 ? document_printf(e->document, "[%zu]", first)
		      : document_printf(e->document, "[%zu] to [%zu]", first, first + n - 1);
}

static void add_left_out(struct event_columns *e)
{
	const char *more = e->left_out ? numbers(e, e->n + 1, e->left_out) : NULL;
	const char *calls = e->inclusive_left_out ? numbers(e, e->inclusive + 1, e->inclusive_left_out) : NULL;
	if (more)
		document_add(e->document, BLOCK_PARAGRAPH, NULL,
			     document_printf(e->document,
					     "%s: no room for a column; -e EVENT shows one event, and a wider "
					     "terminal more",
					     more));
	if (calls)
		document_add(e->document, BLOCK_PARAGRAPH, NULL,
			     document_printf(e->document,
					     "%s with calls: no room; -e EVENT shows it of one event, and a wider "
					     "terminal of more",
					     calls));
}

void event_columns_legend(struct event_columns *e)
{
	if (e->labels)
		return;
	document_add(e->document, BLOCK_GAP, NULL, NULL);
	for (size_t i = 0; i < e->n; i++)
		document_add(e->document, BLOCK_PARAGRAPH, NULL,
			     document_printf(e->document, "[%zu] %sshare of %s%s", i + 1,
					     e->n <= EVENTS_WITH_COUNTS ? "count and " : "", label_of(e, i),
					     i < e->inclusive ? ", + with calls" : ""));
	add_left_out(e);
}

size_t event_columns_headings(struct event_columns *e, struct columns *table)
{
	size_t c = 0;
	table->ordered = true;
	table->axis = AXIS_HEAT;
	for (size_t i = 0; i < e->n; i++) {
		table->headings[c++] = e->labels ? label_of(e, i) : document_printf(e->document, "[%zu]", i + 1);
		if (e->n <= EVENTS_WITH_COUNTS)
			table->headings[c++] = "share";
	}
	return c;
}

size_t event_columns_inclusive_headings(struct event_columns *e, struct columns *table, size_t c)
{
	for (size_t i = 0; i < e->inclusive; i++)
		table->headings[c++] = e->labels ? "with calls"
						 : document_printf(e->document, "[%zu]+calls", i + 1);
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
