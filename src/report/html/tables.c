/* A document's tables as tables of a page. Rows that belong to the one above (a run, a process, a candidate of a
 * comparison) are in its <tbody>: what is sorted are those. Numbers have their points below each other: what is
 * missing behind a point is there, unseen (<i>). */
#include <math.h>
#include <string.h>

#include "report/columns.h"
#include "report/html/html.h"
#include "report/number.h"

static const char *cell_of(const struct document_row *row, int c) { return row->cells[c] ? row->cells[c] : ""; }

/* more than any number has behind its point */
static const char ZEROS[] = "0000000000000000000000000000000000000000000000000000000000000000";

/* Bytes of the point and the digits after it at the text's end. */
static size_t fraction_of(const char *text)
{
	size_t length = strlen(text), digits = 0;
	while (digits < length && text[length - digits - 1] >= '0' && text[length - digits - 1] <= '9')
		digits++;
	return digits < length && text[length - digits - 1] == '.' ? digits + 1 : 0;
}

static void put_number(struct html *html, const char *text, size_t fraction)
{
	size_t have = fraction_of(text);
	html_text(html, text);
	if (text[0] && have < fraction)
		html_markup(html, "<i>%s%.*s</i>", have ? "" : ".", (int)(fraction - (have ? have : 1)), ZEROS);
}

/* class: "n": a number, "l": a text, "name": what the row is about. */
static void put_heading(struct html *html, const char *class, const char *text, int span)
{
	html_markup(html, "<th scope=\"col\" class=\"%s\"", class);
	if (span > 1)
		html_markup(html, " colspan=\"%d\"", span);
	html_markup(html, ">");
	html_text(html, text);
	html_markup(html, "</th>");
}

static void open_table(struct html *html, const char *class)
{
	html_markup(html, "<div class=\"table\"><table class=\"%s\">\n<thead><tr>", class);
}

static void close_table(struct html *html) { html_markup(html, "</tbody>\n</table></div>\n"); }

/* ---- estimates ---- */

struct counts_shape {
	bool used[CELLS];
	size_t fractions[CELLS];
	bool shares; /* a column for row->share, behind CELL_SPREAD */
};

static struct counts_shape shape_of(const struct document_table *table)
{
	struct counts_shape shape = {0};
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct document_row *row = &table->rows.items[i];
		if (row->kind != ROW_COUNT && row->kind != ROW_RUN)
			continue;
		shape.shares |= row->share != NULL;
		for (int c = CELL_VALUE; c < CELLS; c++) {
			size_t fraction = fraction_of(cell_of(row, c));
			shape.used[c] |= cell_of(row, c)[0] != '\0';
			if (fraction > shape.fractions[c])
				shape.fractions[c] = fraction;
		}
	}
	return shape;
}

static const char *class_of(int c)
{
	switch (c) {
	case CELL_NAME: return "name";
	case CELL_VALUE: return "n value";
	case CELL_SPREAD: return "n spread";
	case CELL_RAN: return "n ran";
	case CELL_UNIT: return "unit";
	case CELL_SOURCE: return "l source";
	case CELL_NOTE: return "l note";
	default: return "l";
	}
}

/* "[1]" leads to its note. */
static void put_note_cell(struct html *html, const char *text)
{
	int length = (int)strcspn(text[0] ? text + 1 : text, "]");
	if (text[0] != '[') {
		html_text(html, text);
		return;
	}
	html_markup(html, "<a href=\"#n%.*s\">", length, text + 1);
	html_text(html, text);
	html_markup(html, "</a>");
}

static void put_count_cell(struct html *html, const struct document_row *row, const struct counts_shape *shape,
			   int c)
{
	const char *text = cell_of(row, c);
	html_markup(html, "<td class=\"%s\"", class_of(c));
	if (c == CELL_VALUE && row->kind == ROW_COUNT && row->estimate && isfinite(row->estimate->value))
		html_markup(html, " data-v=\"%.17g\"", row->estimate->value);
	html_markup(html, ">");
	if (c == CELL_NOTE)
		put_note_cell(html, text);
	else
		put_number(html, text, c == CELL_VALUE || c == CELL_SPREAD ? shape->fractions[c] : 0);
	html_markup(html, "</td>");
	if (c == CELL_SPREAD && shape->shares) {
		html_markup(html, "<td class=\"n share\">");
		html_text(html, row->share ? row->share + strspn(row->share, " ") : "");
		html_markup(html, "</td>");
	}
}

static int columns_used(const struct counts_shape *shape)
{
	int n = shape->shares;
	for (int c = CELL_VALUE; c < CELLS; c++)
		n += shape->used[c];
	return n;
}

static void put_count(struct html *html, const struct document_row *row, const struct counts_shape *shape)
{
	const char *name = cell_of(row, CELL_NAME);
	bool below = row->kind == ROW_RUN || name[0] == ' ';
	html_markup(html, "<tr%s><th scope=\"row\" class=\"name%s\">", row->warn ? " class=\"warn\"" : "",
		    below ? " below" : "");
	html_text(html, name + strspn(name, " "));
	html_markup(html, "</th>");
	if (!row->known) {
		html_markup(html, "<td class=\"why\" colspan=\"%d\">", columns_used(shape));
		html_text(html, row->text);
		html_markup(html, "</td></tr>\n");
		return;
	}
	for (int c = CELL_VALUE; c < CELLS; c++)
		if (shape->used[c])
			put_count_cell(html, row, shape, c);
	html_markup(html, "</tr>\n");
}

static void open_section(struct html *html, const struct document_table *table, const struct document_row *head,
			 const struct counts_shape *shape)
{
	if (head->kind == ROW_TITLE) {
		html_markup(html, "<h2 class=\"sub\">");
		html_text(html, head->text);
		html_markup(html, "</h2>\n");
	}
	open_table(html, "counts");
	put_heading(html, "name", cell_of(head, CELL_NAME), 1);
	for (int c = CELL_VALUE; head->known && c < CELLS; c++)
		if (shape->used[c] && c != CELL_UNIT)
			put_heading(html, class_of(c), table->headings[c],
				    (c == CELL_VALUE && shape->used[CELL_UNIT]) ||
						    (c == CELL_SPREAD && shape->shares)
					    ? 2
					    : 1);
	html_markup(html, "</tr></thead>\n<tbody>\n");
}

void html_counts(struct html *html, const struct document_table *table)
{
	struct counts_shape shape = shape_of(table);
	bool open = false, first = true;
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct document_row *row = &table->rows.items[i];
		if (row->kind == ROW_HEADINGS || row->kind == ROW_TITLE) {
			if (open)
				close_table(html);
			open_section(html, table, row, &shape);
			open = first = true;
			continue;
		}
		if (!first && row->kind != ROW_RUN && cell_of(row, CELL_NAME)[0] != ' ')
			html_markup(html, "</tbody><tbody>\n");
		put_count(html, row, &shape);
		first = false;
	}
	if (open)
		close_table(html);
}

/* ---- tables of numbers ---- */

static void put_remark(struct html *html, const struct document_row *row)
{
	html_markup(html, "<td class=\"unit\">");
	html_text(html, cell_of(row, CELL_UNIT));
	if (row->cells[CELL_REMARK]) {
		html_markup(html, " ");
		html_text(html, cell_of(row, CELL_REMARK));
	}
	html_markup(html, "</td>");
}

void html_numbers(struct html *html, const struct document_table *table, const int *columns, size_t n, bool runs)
{
	open_table(html, "numbers");
	put_heading(html, "name", table->headings[CELL_NAME], 1);
	for (size_t c = 0; c < n; c++)
		put_heading(html, "n", table->headings[columns[c]], 1);
	html_markup(html, "<td></td>%s</tr></thead>\n<tbody>\n", runs ? "<td></td>" : "");
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct document_row *row = &table->rows.items[i];
		html_markup(html, "%s<tr><th scope=\"row\" class=\"name\">", i ? "</tbody><tbody>\n" : "");
		html_text(html, cell_of(row, CELL_NAME));
		html_markup(html, "</th>");
		for (size_t c = 0; c < n; c++) {
			html_markup(html, "<td class=\"n\">");
			html_text(html, cell_of(row, columns[c]));
			html_markup(html, "</td>");
		}
		put_remark(html, row);
		if (runs) {
			html_markup(html, "<td class=\"plot\">");
			html_runs(html, row->estimate);
			html_markup(html, "</td>");
		}
		html_markup(html, "</tr>\n");
	}
	close_table(html);
}

void html_breakdown(struct html *html, const struct document_table *table)
{
	static const int numbers[] = {CELL_COUNT, CELL_SHARE, CELL_CUMULATIVE, CELL_CUMULATIVE_SHARE};
	open_table(html, "list");
	put_heading(html, "n", table->headings[CELL_COUNT], 2);
	put_heading(html, "n", table->headings[CELL_CUMULATIVE], 2);
	put_heading(html, "name", table->headings[CELL_NAME], 1);
	html_markup(html, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct document_row *row = &table->rows.items[i];
		if (row->kind == ROW_FRAME) {
			html_markup(html, "<tr><td colspan=\"4\"></td><td class=\"name below\">");
		} else {
			html_markup(html, "%s<tr>", i ? "</tbody><tbody>\n" : "");
			for (size_t c = 0; c < 4; c++) {
				html_markup(html, "<td class=\"n\">");
				html_text(html, cell_of(row, numbers[c]));
				html_markup(html, "</td>");
			}
			html_markup(html, "<td class=\"name\">");
		}
		html_text(html, cell_of(row, CELL_NAME));
		html_markup(html, "</td></tr>\n");
	}
	close_table(html);
}

/* ---- columns ---- */

static const char *class_of_column(const struct columns *columns, size_t c)
{
	return c == columns->flexible ? "name" : columns->left[c] ? "l" : "n";
}

static bool draws(const struct html_axis *axis)
{
	return axis->kind == AXIS_SHARE || axis->kind == AXIS_DIFFERENCE;
}

/* 1 … 8, by the part of the hottest row; 0: nothing took place there. */
static int heat_of(const struct html *html, const struct html_axis *axis, const struct columns_row *row)
{
	if (axis->kind != AXIS_HEAT || !row->range.known || !(html->hottest > 0))
		return 0;
	return 1 + (int)fmin(7, 8 * row->range.at / html->hottest);
}

static void open_row(struct html *html, const struct html_axis *axis, const struct columns_row *row)
{
	int heat = heat_of(html, axis, row);
	const char *look = row->emphasis && axis->kind != AXIS_HEAT ? "strong" : NULL;
	if (heat)
		html_markup(html, "<tr class=\"h%d\">", heat);
	else if (look || row->place == COLUMNS_BELOW)
		html_markup(html, "<tr class=\"%s%s%s\">", look ? look : "",
			    look && row->place == COLUMNS_BELOW ? " " : "",
			    row->place == COLUMNS_BELOW ? "below" : "");
	else
		html_markup(html, "<tr>");
}

static void put_range(struct html *html, const struct html_axis *axis, const struct columns_row *row)
{
	html_markup(html, "<td class=\"plot\">");
	if (row->range.known)
		html_range(html, axis, &row->range);
	html_markup(html, "</td>");
}

/* The drawing stands before the last column. */
static void put_columns_row(struct html *html, const struct columns *columns, const struct html_axis *axis,
			    const struct columns_row *row)
{
	open_row(html, axis, row);
	for (size_t c = 0; c < columns->n; c++) {
		const char *text = row->cells[c] ? row->cells[c] : "";
		if (draws(axis) && c + 1 == columns->n)
			put_range(html, axis, row);
		html_markup(html, "<td class=\"%s\">", class_of_column(columns, c));
		text += row->place == COLUMNS_BELOW ? strspn(text, " ") : 0;
		if (columns->ordered)
			html_text(html, text);
		else
			html_name(html, text);
		html_markup(html, "</td>");
	}
	html_markup(html, "</tr>\n");
}

static void put_columns_headings(struct html *html, const struct columns *columns, const struct html_axis *axis)
{
	open_table(html, columns->matrix                 ? "matrix"
			 : columns->ordered              ? "ordered"
			 : axis->kind == AXIS_DIFFERENCE ? "list forest"
							 : "list");
	for (size_t c = 0; c < columns->n; c++) {
		if (draws(axis) && c + 1 == columns->n) {
			html_markup(html, "<td class=\"plot\">");
			html_axis(html, axis);
			html_markup(html, "</td>");
		}
		put_heading(html, class_of_column(columns, c), columns->headings[c], 1);
	}
	html_markup(html, "</tr></thead>\n<tbody>\n");
}

void html_columns(struct html *html, const struct columns *columns)
{
	struct html_axis axis = html_axis_of(columns);
	enum columns_place before = COLUMNS_OWN;
	put_columns_headings(html, columns, &axis);
	for (size_t i = 0; i < columns->rows.count; i++) {
		const struct columns_row *row = &columns->rows.items[i];
		if (row->place == COLUMNS_LAST && before != COLUMNS_LAST)
			html_markup(html, "</tbody><tbody class=\"foot\">\n");
		else if (i && row->place == COLUMNS_OWN && !columns->ordered)
			html_markup(html, "</tbody><tbody>\n");
		put_columns_row(html, columns, &axis, row);
		before = row->place;
	}
	close_table(html);
}
