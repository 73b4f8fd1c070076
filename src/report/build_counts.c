/* The table of estimates: what stands in each cell, and which remark a row points to. */
#include <math.h>
#include <string.h>

#include "report/build.h"
#include "report/number.h"
#include "report/table.h"

enum {
	RANGE_MOST = 12, /* columns of an interval in full */
	COMMAND_BYTES = 48
};

static const char *name_of(struct document *document, const struct estimate *e)
{
	char command[COMMAND_BYTES] = "";
	if (estimate_is_total(e))
		return document_escaped(document, e->event);
	if (e->command) {
		char shown[COMMAND_BYTES - 4];
		str_escape_to(shown, sizeof shown, e->command);
		snprintf(command, sizeof command, " (%s)", shown);
	}
	if (e->tid)
		return document_printf(document, "  thread %d%s", (int)e->tid, command);
	if (e->pid)
		return document_printf(document, "  process %d%s", (int)e->pid, command);
	return document_printf(document, "  CPU %d", e->cpu);
}

static void fill_half_width(struct document *document, struct document_row *row, double half_width,
			    const struct number_scale *scale)
{
	const struct estimate *e = row->estimate;
	char number[NUMBER_BYTES];
	number_group(number, half_width,
		     half_width > 0 ? number_half_width_decimals(half_width, scale->decimals) : 0);
	row->cells[CELL_SPREAD] = document_printf(document, "\u00b1 %s", number);
	double percent = fabs(100 * half_width / (e->value * scale->factor));
	if (half_width > 0 && isfinite(percent)) {
		number_group(number, percent, percent < 0.001 ? 0 : number_half_width_decimals(percent, 0));
		row->share = document_printf(document, " (%s %%)", number);
	}
}

static void fill_spread(struct document *document, struct document_row *row, const struct number_scale *scale)
{
	const struct estimate *e = row->estimate;
	double factor = scale->factor, below = (e->value - e->low) * factor, above = (e->high - e->value) * factor;
	char a[NUMBER_BYTES], b[NUMBER_BYTES];
	if (!e->has_interval) {
		row->cells[CELL_SPREAD] = "\u00b1?";
	} else if (isfinite(above) && fabs(above - below) <= 0.02 * fmax(above, below)) {
		fill_half_width(document, row, (above + below) / 2, scale);
	} else {
		/* in full where that is short */
		number_group(a, e->low * factor, e->low == 0 ? 0 : scale->decimals);
		number_group(b, e->high * factor, scale->decimals);
		if (text_columns(a) + text_columns(b) > RANGE_MOST) {
			number_compact(a, e->low * factor);
			number_compact(b, e->high * factor);
		}
		row->cells[CELL_SPREAD] = document_printf(document, "%s \u2026 %s", a, b);
	}
}

static bool equal(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static void fill_note(struct document *document, struct document_row *row, const char *text, const char *more,
		      struct footnotes *notes)
{
	size_t i = 0;
	while (i < notes->items.count &&
	       !(equal(notes->items.items[i].text, text) && equal(notes->items.items[i].more, more)))
		i++;
	if (i < notes->items.count || vec_push(&notes->items, ((struct footnote){text, more})))
		row->cells[CELL_NOTE] = document_printf(document, "[%zu]", i + 1);
}

/* Reasons seen so far, few: a table of very many rows is not searched for each of them. */
struct table_reasons {
	const char *texts[16];
	size_t rows[16];
	size_t n;
};

static void count_reason(struct table_reasons *reasons, const struct estimate *e)
{
	size_t i = 0;
	if (e->known || !e->why)
		return;
	while (i < reasons->n && strcmp(reasons->texts[i], e->why) != 0)
		i++;
	if (i == sizeof reasons->texts / sizeof *reasons->texts)
		return;
	reasons->texts[i] = e->why;
	reasons->rows[i]++;
	reasons->n = i < reasons->n ? reasons->n : i + 1;
}

static bool shares_reason(const struct table_reasons *reasons, const struct estimate *e)
{
	for (size_t i = 0; i < reasons->n; i++)
		if (equal(reasons->texts[i], e->why))
			return reasons->rows[i] > 1;
	return false;
}

/* Why there is no count; `below`: the note that the row points to says it. */
static const char *not_counted(struct document *document, const struct document_row *row, bool below)
{
	const struct estimate *e = row->estimate;
	struct str text = {0};
	if (e->has_least) {
		char least[NUMBER_BYTES];
		number_group(least, e->least, 0);
		/* the event's name says what is counted, not in what a time or a size is given */
		bool has_unit = equal(e->unit, "ns") || equal(e->unit, "bytes");
		str_appendf(&text, "\u2265 %s%s%s, %s", least, has_unit ? " " : "", has_unit ? e->unit : "",
			    source_name(e->least_source));
	} else {
		str_append(&text, "not counted");
	}
	if (!below)
		str_appendf(&text, ": %s", e->why ? e->why : "no reason is known");
	if (row->cells[CELL_NOTE])
		str_appendf(&text, " %s", row->cells[CELL_NOTE]);
	const char *kept = document_str(document, &text);
	return kept ? kept : "not counted";
}

static void fill_cells(struct document *document, struct document_row *row, const struct number_scale *scale)
{
	const struct estimate *e = row->estimate;
	char number[NUMBER_BYTES];
	number_group(number, e->value * scale->factor, scale->decimals);
	row->cells[CELL_VALUE] = document_printf(document, "%s", number);
	row->cells[CELL_UNIT] = document_escaped(document, scale->unit);
	fill_spread(document, row, scale);
	/* 99.96 % must not be shown as 100 %: it is not all the time */
	if (e->share_running < 1)
		row->cells[CELL_RAN] = document_printf(document, "%.*f %%", e->share_running > 0.99 ? 2 : 0,
						       fmin(e->share_running * 100, 99.99));
	row->cells[CELL_SOURCE] = document_printf(document, "%s%s", source_name(e->source),
						  trust_mark(e->trust, e->source));
	row->warn = e->trust == TRUST_REFUTED || e->source == SOURCE_SCALED;
}

static struct document_row row_of(struct document *document, const struct estimate *e,
				  const struct number_scale *scale, const struct table_reasons *reasons,
				  struct footnotes *notes)
{
	struct document_row row = {.kind = ROW_COUNT, .known = e->known, .estimate = e};
	bool below = !e->known && shares_reason(reasons, e);
	row.cells[CELL_NAME] = name_of(document, e);
	if (below)
		fill_note(document, &row, e->why, e->note, notes);
	else if (e->note)
		fill_note(document, &row, e->note, NULL, notes);
	if (e->known)
		fill_cells(document, &row, scale);
	else
		row.text = not_counted(document, &row, below);
	return row;
}

static struct document_row run_of(struct document *document, const struct document_row *mean,
				  const struct number_scale *scale, size_t run)
{
	struct document_row row = {.kind = ROW_RUN, .known = true, .estimate = mean->estimate};
	double value = mean->estimate->runs[run];
	/* one execution's count is whole, whatever the mean is */
	int decimals = scale->factor == 1 && value == floor(value) ? 0 : scale->decimals;
	char number[NUMBER_BYTES];
	number_group(number, value * scale->factor, decimals);
	row.cells[CELL_NAME] = document_printf(document, "    run %zu", run + 1);
	row.cells[CELL_VALUE] = document_printf(document, "%s", number);
	row.cells[CELL_UNIT] = mean->cells[CELL_UNIT];
	return row;
}

static void push(struct document *document, struct document_table *table, struct document_row row)
{
	if (!vec_push(&table->rows, row))
		document->failed = true;
}

static void add_section_head(struct document *document, struct document_table *table,
			     const struct counts_section *section)
{
	struct document_row row = {.kind = section->title ? ROW_TITLE : ROW_HEADINGS, .text = section->title};
	if (section->n)
		row.cells[CELL_NAME] = section->heading;
	for (size_t i = 0; i < section->n; i++)
		row.known |= section->estimates[i].known;
	push(document, table, row);
}

static void add_rows(struct document *document, struct document_table *table, const struct estimate *e,
		     bool is_metric, bool all_repetitions, const struct number_units *units,
		     const struct table_reasons *reasons, struct footnotes *notes)
{
	struct number_scale scale = {0};
	if (e->known)
		scale = number_scale_in(units, e, is_metric);
	struct document_row row = row_of(document, e, &scale, reasons, notes);
	push(document, table, row);
	for (size_t i = 0; all_repetitions && e->known && i < e->n_runs; i++)
		push(document, table, run_of(document, &row, &scale, i));
	if (e->known && e->has_interval)
		table->headings[CELL_SPREAD] = document_printf(document, "%g %%", e->confidence * 100);
}

void build_counts(struct document *document, const struct counts_section *sections, size_t n_sections,
		  bool all_repetitions, struct footnotes *notes)
{
	struct table_reasons reasons = {0};
	struct number_units units = {0};
	struct document_table *table = NULL;
	for (size_t s = 0; s < n_sections; s++)
		for (size_t i = 0; i < sections[s].n; i++) {
			count_reason(&reasons, &sections[s].estimates[i]);
			number_units_add(&units, &sections[s].estimates[i]);
		}
	for (size_t s = 0; s < n_sections; s++) {
		if (!sections[s].n && !sections[s].title)
			continue;
		if (!table) {
			table = document_add_table(document, BLOCK_COUNTS);
			if (!table)
				return;
			*table = (struct document_table){
				.headings = {"", "value", "", "\u00b1", "ran", "source", "trust", ""}};
		}
		add_section_head(document, table, &sections[s]);
		for (size_t i = 0; i < sections[s].n; i++)
			add_rows(document, table, &sections[s].estimates[i], sections[s].is_metric,
				 all_repetitions, &units, &reasons, notes);
	}
}
