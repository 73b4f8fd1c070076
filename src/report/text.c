/* A report as text for a reader: line breaks, colours, aligned columns. What it says is built in build.c. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "report/build.h"
#include "report/columns.h"
#include "report/report.h"
#include "report/table.h"

/* A label, then text that is broken at `hang`; 0: below where it begins, unless there is no room for it. */
static void put_labelled(FILE *out, const struct document_block *block, size_t indent, size_t hang,
			 const struct report_options *options)
{
	struct style style = style_of(options);
	struct str whole = {0};
	bool bold = block->kind == BLOCK_TITLE;
	const char *text = block->text ? block->text : "";
	size_t at = indent, width = (size_t)table_width(options);
	fprintf(out, "%*s", (int)indent, "");
	size_t label = block->label ? text_columns(block->label) : 0;
	if ((!hang && label > width / 3) || indent + label > width) { /* also it is broken */
		str_appendf(&whole, "%s %s", block->label, text);
		text = whole.text ? whole.text : "";
		hang = hang ? hang : indent + 2;
	} else if (block->label) {
		fprintf(out, "%s%s%s%s", bold ? style.bold : "", block->label, bold ? style.off : "",
			*text ? " " : "");
		at += text_columns(block->label) + 1;
	}
	text_wrap(out, text, at, hang ? hang : at, width);
	str_free(&whole);
}

/* Broken where a terminal is too narrow for it; the label is not. */
static void put_heading(FILE *out, const struct document_block *block, const struct report_options *options)
{
	struct style style = style_of(options);
	const char *label = block->label ? block->label : "", *text = block->text ? block->text : "";
	size_t at = text_columns(label);
	fprintf(out, "%s%s%s", style.bold, label, style.off);
	if (options->width && at + text_columns(text) > (size_t)table_width(options))
		text_wrap(out, text, at, 4, (size_t)table_width(options));
	else
		fprintf(out, "%s\n", text);
}

static void put_block(FILE *out, const struct document_block *block, const struct report_options *options)
{
	struct style style = style_of(options);
	switch (block->kind) {
	case BLOCK_GAP: fputc('\n', out); break;
	case BLOCK_TITLE: put_labelled(out, block, 0, 2, options); break;
	case BLOCK_SUBTITLE: put_labelled(out, block, 2, 4, options); break;
	case BLOCK_PARAGRAPH:
	case BLOCK_REMARK:
	case BLOCK_NOTE: put_labelled(out, block, 2, 0, options); break;
	case BLOCK_LINE: fprintf(out, "  %s\n", block->text ? block->text : ""); break;
	case BLOCK_HEADING: put_heading(out, block, options); break;
	case BLOCK_WARNING: fprintf(out, "  %s%s%s\n", style.warn, block->text, style.off); break;
	case BLOCK_COUNTS: table_print_counts(out, &block->table, options); break;
	case BLOCK_GROSS: table_print_gross(out, &block->table, options); break;
	case BLOCK_STATISTICS: table_print_statistics(out, &block->table, options); break;
	case BLOCK_BREAKDOWN: table_print_breakdown(out, &block->table, options); break;
	case BLOCK_FACT:
	case BLOCK_FLAME:
	case BLOCK_FIGURE:
	case BLOCK_STACKED: break; /* of pages alone */
	case BLOCK_COLUMNS: columns_print(out, block->columns, 2, (size_t)table_width(options), &style); break;
	}
}

/* ---- notes: as many as there is room for ---- */

/* The block as its lines of text; NULL when memory ran out. The caller frees it. */
static char *lines_of(const struct document_block *block, const struct report_options *options, size_t *lines)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	*lines = 0;
	if (!memory)
		return NULL;
	put_block(memory, block, options);
	if (fclose(memory) != 0) {
		free(text);
		return NULL;
	}
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		++*lines;
	return text;
}

static bool is_wanted(const struct document_block *block, const struct report_options *options)
{
	return options->verbose || block->rank == NOTE_ACT || (block->rank == NOTE_READ && !options->quiet);
}

static size_t lines_of_notes(const struct document *document, const struct report_options *options)
{
	size_t all = 0, lines;
	for (size_t i = 0; i < document->blocks.count; i++) {
		const struct document_block *block = &document->blocks.items[i];
		if (block->ranked && is_wanted(block, options)) {
			free(lines_of(block, options, &lines));
			all += lines;
		}
	}
	return all;
}

/* Notes in the order of their ranks; those that do not fit are counted in one line. */
static void put_notes(FILE *out, const struct document *document, const struct report_options *options)
{
	size_t all = lines_of_notes(document, options), hidden = 0, used = 0;
	size_t details = document->details;
	bool more = details || all > NOTE_LINES_MOST; /* one line says so */
	size_t room = options->verbose ? all : more ? NOTE_LINES_MOST - 1 : NOTE_LINES_MOST;
	if (all || details)
		fputc('\n', out);
	for (size_t i = 0; i < document->blocks.count; i++) {
		const struct document_block *block = &document->blocks.items[i];
		size_t lines;
		if (!block->ranked || !is_wanted(block, options))
			continue;
		char *text = lines_of(block, options, &lines);
		/* the first warning is shown whatever its length */
		bool fits = text && (used + lines <= room || (used == 0 && block->rank == NOTE_ACT));
		if (fits) {
			fputs(text, out);
			used += lines;
		}
		hidden += !fits;
		free(text);
	}
	if (!hidden && !details)
		return;
	fputs("  - ", out);
	if (details)
		fprintf(out, "%zu more count%s%s", details, details == 1 ? "" : "s", hidden ? " and " : "");
	if (hidden)
		fprintf(out, "%zu more note%s", hidden, hidden == 1 ? "" : "s");
	fprintf(out, ": -v shows %s\n", hidden + details == 1 ? "it" : "them");
}

void report_document_text(FILE *out, const struct document *document, const struct report_options *options)
{
	for (size_t i = 0; i < document->blocks.count; i++) {
		const struct document_block *block = &document->blocks.items[i];
		bool title = block->kind == BLOCK_TITLE || (block->kind == BLOCK_GAP && i == 0);
		if (!block->ranked && !(options->quiet && title))
			put_block(out, block, options);
	}
	put_notes(out, document, options);
	const char *trouble = document_trouble(document);
	if (trouble)
		fprintf(out, "  (%s)\n", trouble);
}

/* ---- a screen: of the standard set as many rows as there is room for ---- */

static size_t lines_of_report(const struct document *document, const struct report_options *options)
{
	char *text = NULL;
	size_t length = 0, lines = 0;
	FILE *memory = open_memstream(&text, &length);
	if (!memory)
		return 0;
	report_document_text(memory, document, options);
	if (fclose(memory) == 0)
		for (const char *at = text; (at = strchr(at, '\n')); at++)
			lines++;
	free(text);
	return lines;
}

/* Of an event that was not counted the row says why, and stays. */
static unsigned detail_of(const struct document_row *row, const struct event_table *standard)
{
	char name[64];
	if (row->kind != ROW_COUNT || !row->known || !row->estimate || row->estimate->trust == TRUST_REFUTED)
		return 0;
	const char *label = row->estimate->event, *machine = strstr(label, "::");
	label = machine ? machine + 2 : label;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(label, ":"), label);
	const struct event_definition *event = event_table_find(standard, name);
	return event ? event->detail : 0;
}

/* Leaves the rows with that number out. */
static void leave_out(struct document_table *table, const struct event_table *standard, unsigned number)
{
	size_t kept = 0;
	for (size_t i = 0; i < table->rows.count; i++)
		if (detail_of(&table->rows.items[i], standard) != number)
			table->rows.items[kept++] = table->rows.items[i];
	table->rows.count = kept;
}

static const char *cell_of(const struct document_row *row)
{
	return row->cells[CELL_NAME] ? row->cells[CELL_NAME] : "";
}

/* The last metric, and the heading of what then is empty. False: there is none. */
static bool leave_out_metric(struct document_table *table)
{
	struct document_row *rows = table->rows.items;
	size_t heading = table->rows.count;
	for (size_t i = 0; i < table->rows.count; i++)
		if (rows[i].kind == ROW_HEADINGS)
			heading = strcmp(cell_of(&rows[i]), "metric") == 0 ? i : table->rows.count;
	size_t end = heading;
	while (end + 1 < table->rows.count && rows[end + 1].kind == ROW_COUNT)
		end++;
	if (heading == table->rows.count || end == heading)
		return false;
	size_t first = end == heading + 1 ? heading : end;
	memmove(&rows[first], &rows[end + 1], (table->rows.count - end - 1) * sizeof *rows);
	table->rows.count -= end + 1 - first;
	return true;
}

/* One event more is left to `verbose`, or one metric. False: there is none left that may be. */
static bool leave_out_next(struct document *document, const struct event_table *standard)
{
	unsigned highest = 0;
	for (size_t i = 0; i < document->blocks.count; i++) {
		const struct document_table *table = &document->blocks.items[i].table;
		for (size_t r = 0; document->blocks.items[i].kind == BLOCK_COUNTS && r < table->rows.count; r++)
			if (detail_of(&table->rows.items[r], standard) > highest)
				highest = detail_of(&table->rows.items[r], standard);
	}
	for (size_t i = 0; highest && i < document->blocks.count; i++)
		if (document->blocks.items[i].kind == BLOCK_COUNTS)
			leave_out(&document->blocks.items[i].table, standard, highest);
	bool less = highest > 0;
	for (size_t i = 0; !less && i < document->blocks.count; i++)
		if (document->blocks.items[i].kind == BLOCK_COUNTS)
			less = leave_out_metric(&document->blocks.items[i].table);
	document->details += less;
	return less;
}

void report_text(FILE *out, const struct result *result, const struct report_options *options)
{
	struct document document = {0};
	report_build(&document, result, options);
	while (options->standard && !options->verbose && !options->all_repetitions &&
	       lines_of_report(&document, options) > SCREEN_LINES && leave_out_next(&document, options->standard))
		continue;
	report_document_text(out, &document, options);
	document_free(&document);
}
