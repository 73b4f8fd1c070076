#include "report/paper.h"

#include <math.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/html/html.h"
#include "report/json_writer.h"
#include "report/table.h"

enum { VERSION = 1, INDENT = 2, BETWEEN = 2, FLEXIBLE_LEAST = 12 };

static const char *cell_of(const struct paper_row *row, size_t column)
{
	return row->cells[column] ? row->cells[column] : "";
}

/* Columns that it needs, with its first column as short as may be. */
static size_t least_width(const struct paper_block *block)
{
	size_t sum = INDENT;
	for (size_t c = 0; c < block->n_columns; c++) {
		size_t widest = text_columns(block->columns[c]);
		for (size_t r = 0; r < block->rows.count; r++) {
			size_t width = text_columns(cell_of(&block->rows.items[r], c));
			widest = width > widest ? width : widest;
		}
		sum += BETWEEN + (c == 0 && widest > FLEXIBLE_LEAST ? FLEXIBLE_LEAST : widest);
	}
	return sum;
}

static bool is_number(const char *cell) { return strspn(cell, "0123456789.,+-–%~±()NA e") == strlen(cell); }

static void add_table(struct document *d, const struct paper_block *block)
{
	document_add(d, BLOCK_GAP, NULL, NULL);
	struct columns *columns = document_add_columns(d, block->n_columns);
	if (!columns)
		return;
	columns->flexible = 0;
	columns->cut_at_end = true;
	columns->ordered = true; /* a row without a name belongs to the one above */
	for (size_t c = 0; c < block->n_columns; c++) {
		bool numbers = c > 0;
		for (size_t r = 0; r < block->rows.count; r++)
			numbers &= is_number(cell_of(&block->rows.items[r], c));
		columns->headings[c] = document_escaped(d, block->columns[c]);
		columns->left[c] = !numbers;
	}
	for (size_t r = 0; r < block->rows.count; r++) {
		struct columns_row row = {0};
		for (size_t c = 0; c < block->n_columns; c++)
			row.cells[c] = document_escaped(d, cell_of(&block->rows.items[r], c));
		if (!vec_push(&columns->rows, row))
			d->failed = true;
	}
}

/* Where there is no room for the table: "libperfex within 5%: 250; …" below the row's name. */
static void add_rows(struct document *d, const struct paper_block *block)
{
	for (size_t r = 0; r < block->rows.count; r++) {
		const struct paper_row *row = &block->rows.items[r];
		struct str text = {0};
		for (size_t c = 1; c < block->n_columns; c++)
			if (cell_of(row, c)[0])
				str_appendf(&text, "%s%s%s%s", text.length ? "; " : "", block->columns[c],
					    block->columns[c][0] ? ": " : "", cell_of(row, c));
		if (cell_of(row, 0)[0])
			document_add(d, BLOCK_GAP, NULL, NULL);
		document_add_str(d, BLOCK_NOTE,
				 cell_of(row, 0)[0] ? document_printf(d, "%s:", cell_of(row, 0)) : "-", &text,
				 "–");
	}
}

/* width 0: there is no limit. */
static void build(struct document *d, const struct paper_study *study, size_t width)
{
	document_add(d, BLOCK_GAP, NULL, NULL);
	document_add(d, BLOCK_TITLE, "tare verify:", study->title);
	for (size_t i = 0; i < study->blocks.count; i++) {
		const struct paper_block *block = &study->blocks.items[i];
		switch (block->kind) {
		case PAPER_HEADING:
			document_add(d, BLOCK_GAP, NULL, NULL);
			document_add(d, BLOCK_HEADING, block->text,
				     block->detail ? document_printf(d, ": %s", block->detail) : "");
			break;
		case PAPER_TEXT:
			document_add(d, BLOCK_GAP, NULL, NULL);
			document_add(d, BLOCK_PARAGRAPH, NULL, block->text);
			break;
		case PAPER_MISSING:
			document_add(d, BLOCK_GAP, NULL, NULL);
			document_add(d, BLOCK_NOTE, "!", document_printf(d, "Not run: %s", block->text));
			break;
		case PAPER_TABLE:
			if (width && least_width(block) > width)
				add_rows(d, block);
			else
				add_table(d, block);
			break;
		case PAPER_FIGURE: document_add_figure(d, &block->figure); break;
		}
	}
	document_add(d, BLOCK_GAP, NULL, NULL);
	document_add(d, BLOCK_PARAGRAPH, NULL,
		     document_printf(d, "%zu executions, each a process of its own.", study->executions));
}

void report_paper_text(FILE *out, const struct paper_study *study, const struct report_options *options)
{
	struct document d = {0};
	build(&d, study, (size_t)table_width(options));
	report_document_text(out, &d, options);
	document_free(&d);
}

void report_paper_html(FILE *out, const struct paper_study *study)
{
	struct document d = {0};
	build(&d, study, 0);
	report_document_html(out, &d, study->title);
	document_free(&d);
}

/* ---- JSON ---- */

static void write_cells(struct json *json, const char *key, const char *const *cells, size_t n)
{
	json_write_open(json, key, '[');
	for (size_t i = 0; i < n; i++)
		json_write_text(json, NULL, cells[i] ? cells[i] : "");
	json_write_close(json, ']');
}

static void write_series(struct json *json, const struct paper_series *series)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "name", series->name);
	json_write_text(json, "source", series->source);
	json_write_open(json, "x", '[');
	for (size_t i = 0; i < series->n; i++)
		json_write_number(json, NULL, series->x[i]);
	json_write_close(json, ']');
	json_write_open(json, "y", '[');
	for (size_t i = 0; i < series->n; i++)
		json_write_number(json, NULL, series->y[i]);
	json_write_close(json, ']');
	json_write_close(json, '}');
}

static void write_block(struct json *json, const struct paper_block *block)
{
	static const char *const kinds[] = {[PAPER_HEADING] = "heading",
					    [PAPER_TEXT] = "text",
					    [PAPER_MISSING] = "not run",
					    [PAPER_TABLE] = "table",
					    [PAPER_FIGURE] = "figure"};
	json_write_open(json, NULL, '{');
	json_write_text(json, "kind", kinds[block->kind]);
	if (block->kind == PAPER_TABLE) {
		write_cells(json, "columns", block->columns, block->n_columns);
		json_write_open(json, "rows", '[');
		for (size_t i = 0; i < block->rows.count; i++)
			write_cells(json, NULL, block->rows.items[i].cells, block->n_columns);
		json_write_close(json, ']');
	} else if (block->kind == PAPER_FIGURE) {
		json_write_text(json, "title", block->figure.title);
		json_write_text(json, "x", block->figure.x_label);
		json_write_text(json, "y", block->figure.y_label);
		json_write_bool(json, "percent", block->figure.percent);
		json_write_bool(json, "bars", block->figure.bars);
		if (block->figure.bars)
			write_cells(json, "categories", block->figure.categories, block->figure.n_categories);
		json_write_open(json, "series", '[');
		for (size_t i = 0; i < block->figure.series.count; i++)
			write_series(json, &block->figure.series.items[i]);
		json_write_close(json, ']');
	} else {
		json_write_text(json, "text", block->text);
		if (block->detail)
			json_write_text(json, "detail", block->detail);
	}
	json_write_close(json, '}');
}

void report_paper_json(FILE *out, const struct paper_study *study)
{
	struct json json = {.out = out, .lines = 2};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "version", VERSION);
	json_write_text(&json, "study", "paper");
	json_write_text(&json, "paper", study->paper);
	json_write_text(&json, "title", study->title);
	json_write_integer(&json, "executions", (int64_t)study->executions);
	json_write_open(&json, "blocks", '[');
	for (size_t i = 0; i < study->blocks.count; i++)
		write_block(&json, &study->blocks.items[i]);
	json_write_close(&json, ']');
	json_write_close(&json, '}');
	fputc('\n', out);
}
