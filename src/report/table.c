#include "report/table.h"

#include <string.h>

#include "base/str.h"
#include "report/columns.h"

enum {
	GAP = 2,
	NAME_MOST = 30,
	NAME_LEAST = 12,
	WIDTH_DEFAULT = 80,
	WIDE = 100,
	GROSS_COLUMNS = 16,
	STATISTICS_COLUMNS = 10,
	BREAKDOWN_NUMBER_LEAST = 6,
	UNIT_SHORT = 5 /* columns: ms, MiB, CPUs, GiB/s */
};

struct style style_of(const struct report_options *options)
{
	if (!options->colour)
		return (struct style){"", "", "", ""};
	return (struct style){"\033[1m", "\033[2m", "\033[33m", "\033[0m"};
}

int table_width(const struct report_options *options)
{
	return options->width >= 40 ? options->width : WIDTH_DEFAULT;
}

static void spaces(FILE *out, size_t n) { fprintf(out, "%*s", (int)n, ""); }

void text_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width)
{
	size_t column = at;
	bool first = true;
	while (*text) {
		size_t bytes = strcspn(text, " ");
		char word[512], shown[2048];
		snprintf(word, sizeof word, "%.*s", (int)(bytes < sizeof word ? bytes : sizeof word - 1), text);
		str_escape_to(shown, sizeof shown, word);
		size_t columns = text_columns(shown);
		bool hangs = first && column > indent; /* behind a label */
		if ((!first && column + 1 + columns > width) || (hangs && column + columns > width)) {
			fputc('\n', out);
			spaces(out, indent);
			column = indent;
			first = true;
		}
		fprintf(out, "%s%s", first ? "" : " ", shown);
		column += columns + !first;
		first = false;
		text += bytes < sizeof word ? bytes : sizeof word - 1;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* Pads a cell; the last column is not padded. */
static void put(FILE *out, const char *text, size_t width, bool right, bool last)
{
	size_t columns = text_columns(text), pad = columns < width ? width - columns : 0;
	if (right)
		spaces(out, pad);
	fputs(text, out);
	if (!right && !last)
		spaces(out, pad);
}

/* Widths of the columns of a table of counts; wide: there is also room for the share of the value. Numbers have
 * their points below each other: `fractions` columns are kept for the point and what follows it. */
struct table_shape {
	size_t widths[CELLS], fractions[CELLS];
	size_t share, width;
	bool wide;
	bool short_units; /* those that are words, as "branches", are left out: a name needs the room */
};

static bool has_points(int c) { return c == CELL_VALUE || c == CELL_SPREAD; }

/* Columns of the point and the digits after it at the text's end. */
static size_t fraction_of(const char *text)
{
	size_t length = strlen(text), digits = 0;
	while (digits < length && text[length - digits - 1] >= '0' && text[length - digits - 1] <= '9')
		digits++;
	return digits < length && text[length - digits - 1] == '.' ? digits + 1 : 0;
}

static const char *cell_of(const struct document_row *row, int c) { return row->cells[c] ? row->cells[c] : ""; }

static const char *shown_cell(const struct document_row *row, int c, const struct table_shape *shape)
{
	const char *text = cell_of(row, c);
	return c == CELL_UNIT && shape->short_units && row->kind != ROW_HEADINGS && text_columns(text) > UNIT_SHORT
		       ? ""
		       : text;
}

static const char *share_of(const struct document_row *row, const struct table_shape *shape)
{
	return shape->wide && row->share ? row->share : "";
}

static void print_cells(FILE *out, const struct document_row *row, const struct table_shape *shape)
{
	int last = CELL_NAME;
	for (int c = CELL_NAME; c < CELLS; c++)
		if (shape->widths[c] && shown_cell(row, c, shape)[0])
			last = c;
	for (int c = CELL_VALUE; c <= last; c++) {
		if (!shape->widths[c])
			continue;
		const char *text = shown_cell(row, c, shape),
			   *share = c == CELL_SPREAD ? share_of(row, shape) : "";
		bool right = c == CELL_VALUE || c == CELL_SPREAD || c == CELL_RAN;
		size_t width = shape->widths[c], behind = 0;
		if (has_points(c) && row->estimate && text[0] && shape->fractions[c])
			behind = shape->fractions[c] - fraction_of(text);
		behind = text_columns(text) + behind <= width ? behind : 0;
		/* the unit belongs to its number */
		spaces(out, c == CELL_UNIT ? 1 : GAP);
		put(out, text, width - behind, right, c == last);
		if (c < last || share[0])
			spaces(out, behind);
		if (c == CELL_SPREAD && shape->share && (c < last || share[0]))
			put(out, share, shape->share, true, false);
	}
	fputc('\n', out);
}

static void print_count(FILE *out, const struct document_row *row, const struct table_shape *shape,
			const struct style *style)
{
	const char *name = cell_of(row, CELL_NAME);
	size_t columns = text_columns(name), start = GAP + shape->widths[CELL_NAME];
	spaces(out, GAP);
	fputs(name, out);
	if (columns > shape->widths[CELL_NAME]) {
		fputc('\n', out);
		spaces(out, start);
	} else {
		spaces(out, shape->widths[CELL_NAME] - columns);
	}
	if (!row->known) {
		spaces(out, GAP);
		fputs(style->dim, out);
		text_wrap(out, row->text ? row->text : "", start + GAP, start + GAP, shape->width);
		fputs(style->off, out);
		return;
	}
	fputs(row->warn ? style->warn : "", out);
	print_cells(out, row, shape);
	fputs(row->warn ? style->off : "", out);
}

static void print_head(FILE *out, const struct document_table *table, const struct document_row *row,
		       const struct table_shape *shape, const struct style *style)
{
	fputc('\n', out);
	spaces(out, GAP);
	fputs(style->bold, out);
	if (row->kind == ROW_TITLE) {
		text_wrap(out, row->text, GAP, 2 * GAP, shape->width);
	} else {
		struct document_row headings = {0};
		memcpy(headings.cells, table->headings, sizeof headings.cells);
		put(out, cell_of(row, CELL_NAME), shape->widths[CELL_NAME], false, !row->known);
		if (row->known)
			print_cells(out, &headings, shape);
		else
			fputc('\n', out);
	}
	fputs(style->off, out);
}

/* The widest name that leaves room for the other columns; a longer one gets a line of its own. */
static size_t name_width(const struct document_table *table, const struct table_shape *shape)
{
	size_t others = GAP, most = NAME_MOST, widest = 0;
	for (int c = CELL_VALUE; c < CELLS; c++)
		others += shape->widths[c] ? shape->widths[c] + (c == CELL_UNIT ? 1 : GAP) : 0;
	others += shape->share;
	if (others + most > shape->width)
		most = others + NAME_LEAST < shape->width ? shape->width - others : NAME_LEAST;
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct document_row *row = &table->rows.items[i];
		size_t columns = text_columns(cell_of(row, CELL_NAME));
		if (row->kind == ROW_COUNT && columns > widest && columns <= most)
			widest = columns;
	}
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct document_row *row = &table->rows.items[i];
		size_t columns = text_columns(cell_of(row, CELL_NAME));
		if ((row->kind == ROW_HEADINGS || row->kind == ROW_TITLE) && columns > widest)
			widest = columns;
	}
	return widest;
}

/* widths: of what stands before a number's fraction, where numbers have points. */
static void measure_row(struct table_shape *shape, const struct document_row *row)
{
	if (row->kind != ROW_COUNT && row->kind != ROW_RUN)
		return;
	for (int c = CELL_VALUE; c < CELLS; c++) {
		const char *text = shown_cell(row, c, shape);
		size_t fraction = has_points(c) ? fraction_of(text) : 0, columns = text_columns(text) - fraction;
		if (columns > shape->widths[c])
			shape->widths[c] = columns;
		if (fraction > shape->fractions[c])
			shape->fractions[c] = fraction;
	}
	if (text_columns(share_of(row, shape)) > shape->share)
		shape->share = text_columns(share_of(row, shape));
}

static struct table_shape shape_with(const struct document_table *table, const struct report_options *options,
				     bool short_units)
{
	struct table_shape shape = {.width = (size_t)table_width(options),
				    .wide = table_width(options) >= WIDE,
				    .short_units = short_units};
	for (size_t i = 0; i < table->rows.count; i++)
		measure_row(&shape, &table->rows.items[i]);
	for (int c = CELL_VALUE; c < CELLS; c++)
		shape.widths[c] += has_points(c) ? shape.fractions[c] : 0;
	for (int c = CELL_VALUE; c < CELLS; c++)
		/* a column that no row needs is not there */
		if (shape.widths[c] > 0 && text_columns(table->headings[c]) > shape.widths[c])
			shape.widths[c] = text_columns(table->headings[c]);
	shape.widths[CELL_NAME] = name_width(table, &shape);
	return shape;
}

/* Names that get a line of their own. */
static size_t long_names(const struct document_table *table, const struct table_shape *shape)
{
	size_t n = 0;
	for (size_t i = 0; i < table->rows.count; i++)
		n += table->rows.items[i].kind == ROW_COUNT &&
		     text_columns(cell_of(&table->rows.items[i], CELL_NAME)) > shape->widths[CELL_NAME];
	return n;
}

static struct table_shape shape_of(const struct document_table *table, const struct report_options *options)
{
	struct table_shape shape = shape_with(table, options, false);
	struct table_shape shorter = shape_with(table, options, true);
	return long_names(table, &shorter) < long_names(table, &shape) ? shorter : shape;
}

void table_print_counts(FILE *out, const struct document_table *table, const struct report_options *options)
{
	struct style style = style_of(options);
	struct table_shape shape = shape_of(table, options);
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct document_row *row = &table->rows.items[i];
		switch (row->kind) {
		case ROW_HEADINGS:
		case ROW_TITLE: print_head(out, table, row, &shape, &style); break;
		case ROW_COUNT: print_count(out, row, &shape, &style); break;
		case ROW_RUN:
			spaces(out, GAP);
			put(out, cell_of(row, CELL_NAME), shape.widths[CELL_NAME], false, false);
			print_cells(out, row, &shape);
			break;
		case ROW_FRAME: break; /* of breakdowns only */
		}
	}
}

/* Columns of the widest text of a cell. */
static size_t widest_of(const struct document_table *table, int cell)
{
	size_t widest = text_columns(table->headings[cell] ? table->headings[cell] : "");
	for (size_t i = 0; i < table->rows.count; i++) {
		size_t columns = text_columns(cell_of(&table->rows.items[i], cell));
		widest = columns > widest ? columns : widest;
	}
	return widest;
}

enum { NUMBERS_MOST = 4 };

/* Each of the n columns as wide as its cells are, and `columns` wide where there is room for that; what all of
 * them take. */
static size_t fit_numbers(const struct document_table *table, const int *numbers, size_t n, size_t columns,
			  size_t room, size_t *widths)
{
	size_t used;
	do {
		used = 0;
		for (size_t c = 0; c < n; c++) {
			size_t own = widest_of(table, numbers[c]);
			widths[c] = own > columns ? own : columns;
			used += 1 + widths[c];
		}
	} while (used > room && columns-- > 0);
	return used;
}

/* A table of numbers: a name, `n` columns, the unit, a remark. Where names leave no room, those that are longer
 * get a line of their own. */
static void print_numbers(FILE *out, const struct document_table *table, const struct report_options *options,
			  const int *numbers, size_t n, size_t columns)
{
	struct style style = style_of(options);
	size_t widths[NUMBERS_MOST], unit_columns = widest_of(table, CELL_UNIT);
	size_t room = (size_t)table_width(options) - GAP - (unit_columns ? 1 + unit_columns : 0);
	size_t widest = text_columns(table->headings[CELL_NAME]);
	if (table->name_least > widest)
		widest = table->name_least;
	size_t used = fit_numbers(table, numbers, n, columns, room > widest ? room - widest : 0, widths);
	if (widest + used > room)
		widest = used < room ? room - used : 0;
	fprintf(out, "  %s", style.bold);
	put(out, widest < text_columns(table->headings[CELL_NAME]) ? "" : table->headings[CELL_NAME], widest,
	    false, false);
	for (size_t c = 0; c < n; c++) {
		spaces(out, 1);
		put(out, table->headings[numbers[c]], widths[c], true, false);
	}
	fprintf(out, "%s\n", style.off);
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct document_row *row = &table->rows.items[i];
		const char *unit = cell_of(row, CELL_UNIT), *remark = cell_of(row, CELL_REMARK),
			   *name = cell_of(row, CELL_NAME);
		spaces(out, GAP);
		put(out, name, widest, false, false);
		if (text_columns(name) > widest) {
			fputc('\n', out);
			spaces(out, GAP + widest);
		}
		for (size_t c = 0; c < n; c++) {
			spaces(out, 1);
			put(out, cell_of(row, numbers[c]), widths[c], true, false);
		}
		fprintf(out, "%s%s%s%s\n", unit[0] ? " " : "", unit, remark[0] ? "  " : "", remark);
	}
}

void table_print_gross(FILE *out, const struct document_table *table, const struct report_options *options)
{
	static const int numbers[] = {CELL_GROSS, CELL_TARE, CELL_NET};
	print_numbers(out, table, options, numbers, 3, GROSS_COLUMNS);
}

void table_print_statistics(FILE *out, const struct document_table *table, const struct report_options *options)
{
	static const int numbers[] = {CELL_MIN, CELL_MEDIAN, CELL_MAX, CELL_SD};
	print_numbers(out, table, options, numbers, 4, STATISTICS_COLUMNS);
}

/* The last cell of a row that has taken `used` columns: on a terminal as much of it as the line has room for. */
static void put_rest(FILE *out, const char *text, size_t used, const struct report_options *options)
{
	struct str shown = {0};
	size_t width = (size_t)options->width, room = width > used + NAME_LEAST ? width - used : NAME_LEAST;
	if (options->width > 0)
		columns_shorten(&shown, text, room);
	fprintf(out, "%s\n", options->width > 0 && shown.text ? shown.text : text);
	str_free(&shown);
}

void table_print_breakdown(FILE *out, const struct document_table *table, const struct report_options *options)
{
	struct style style = style_of(options);
	int width = BREAKDOWN_NUMBER_LEAST;
	for (size_t i = 0; i < table->rows.count; i++)
		for (int cell = CELL_COUNT; cell <= CELL_CUMULATIVE; cell += CELL_CUMULATIVE - CELL_COUNT)
			if ((int)text_columns(cell_of(&table->rows.items[i], cell)) > width)
				width = (int)text_columns(cell_of(&table->rows.items[i], cell));
	fprintf(out, "  %s%*s       %*s         %s%s\n", style.dim, width + 2, table->headings[CELL_COUNT],
		width + 2, table->headings[CELL_CUMULATIVE], table->headings[CELL_NAME], style.off);
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct document_row *row = &table->rows.items[i];
		if (row->kind == ROW_FRAME)
			fprintf(out, "%*s", 2 * width + 24, "");
		else if (!row->cells[CELL_CUMULATIVE])
			fprintf(out, "  %*s(%6s) %*s          ", width, cell_of(row, CELL_COUNT),
				cell_of(row, CELL_SHARE), width, "-");
		else
			fprintf(out, "  %*s(%6s) %*s(%6s)  ", width, cell_of(row, CELL_COUNT),
				cell_of(row, CELL_SHARE), width, cell_of(row, CELL_CUMULATIVE),
				cell_of(row, CELL_CUMULATIVE_SHARE));
		size_t used = 2 * (size_t)width + (row->kind == ROW_FRAME ? 24 : 21);
		put_rest(out, cell_of(row, CELL_NAME), used, options);
	}
}
