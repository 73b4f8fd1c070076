#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "report/number.h"

enum column { NAME, VALUE, UNIT, SPREAD, RAN, SOURCE, TRUST, NOTE, COLUMNS };

enum { NAME_BYTES = 256, CELL_BYTES = 2 * NUMBER_BYTES + 8, GAP = 2, NAME_MOST = 30, RANGE_MOST = 12,
       WIDTH_DEFAULT = 80 };

struct row {
	const struct estimate *estimate;
	struct number_scale scale;
	char name[NAME_BYTES];
	char cells[COLUMNS][CELL_BYTES]; /* all but NAME */
};

struct style style_of(const struct report_options *options)
{
	if (!options->colour)
		return (struct style){ "", "", "", "" };
	return (struct style){ "\033[1m", "\033[2m", "\033[33m", "\033[0m" };
}

int table_width(const struct report_options *options)
{
	return options->width >= 40 ? options->width : WIDTH_DEFAULT;
}

size_t text_columns(const char *text)
{
	size_t columns = 0;
	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

static void spaces(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

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
		if (!first && column + 1 + columns > width) {
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

static void fill_name(struct row *row, bool sub_row)
{
	const struct estimate *e = row->estimate;
	if (sub_row && e->tid)
		snprintf(row->name, sizeof row->name, "  thread %d", (int)e->tid);
	else if (sub_row)
		snprintf(row->name, sizeof row->name, "  CPU %d", e->cpu);
	else
		str_escape_to(row->name, sizeof row->name, e->event);
}

static void fill_spread(struct row *row)
{
	const struct estimate *e = row->estimate;
	char *cell = row->cells[SPREAD];
	double factor = row->scale.factor, below = (e->value - e->low) * factor, above = (e->high - e->value) * factor;
	char a[NUMBER_BYTES], b[NUMBER_BYTES];
	if (!e->has_interval) {
		snprintf(cell, CELL_BYTES, "\u00b1?");
	} else if (isfinite(above) && fabs(above - below) <= 0.02 * fmax(above, below)) {
		double half_width = (above + below) / 2;
		number_group(a, half_width, number_half_width_decimals(half_width, row->scale.decimals));
		snprintf(cell, CELL_BYTES, "\u00b1 %s", a);
	} else {
		/* in full where that is short */
		number_group(a, e->low * factor, e->low == 0 ? 0 : row->scale.decimals);
		number_group(b, e->high * factor, row->scale.decimals);
		if (text_columns(a) + text_columns(b) > RANGE_MOST) {
			number_compact(a, e->low * factor);
			number_compact(b, e->high * factor);
		}
		snprintf(cell, CELL_BYTES, "%s \u2026 %s", a, b);
	}
}

static void fill(struct row *row, const struct estimate *e, bool sub_row, bool is_metric, bool show_trust,
		 struct footnotes *notes)
{
	*row = (struct row){ .estimate = e };
	fill_name(row, sub_row);
	if (e->note) {
		size_t i = 0;
		while (i < notes->texts.count && strcmp(notes->texts.items[i], e->note) != 0)
			i++;
		if (i < notes->texts.count || vec_push(&notes->texts, e->note))
			snprintf(row->cells[NOTE], CELL_BYTES, "[%zu]", i + 1);
	}
	if (!e->known)
		return;
	char number[NUMBER_BYTES];
	row->scale = number_scale_of(e, is_metric);
	number_group(number, e->value * row->scale.factor, row->scale.decimals);
	snprintf(row->cells[VALUE], CELL_BYTES, "%s", number);
	str_escape_to(row->cells[UNIT], CELL_BYTES, row->scale.unit);
	fill_spread(row);
	/* 99.96 % must not be shown as 100 %: it is not all the time */
	if (e->share_running < 1)
		snprintf(row->cells[RAN], CELL_BYTES, "%.*f %%", e->share_running > 0.99 ? 2 : 0,
			 fmin(e->share_running * 100, 99.99));
	snprintf(row->cells[SOURCE], CELL_BYTES, "%s", source_name(e->source));
	if (show_trust)
		snprintf(row->cells[TRUST], CELL_BYTES, "%s", trust_name(e->trust));
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

static void print_cells(FILE *out, const char *const cells[COLUMNS], const size_t widths[COLUMNS])
{
	int last = NAME;
	for (int c = NAME; c < COLUMNS; c++)
		if (widths[c] && cells[c][0])
			last = c;
	for (int c = VALUE; c <= last; c++) {
		if (!widths[c])
			continue;
		/* the unit belongs to its number */
		spaces(out, c == UNIT ? 1 : GAP);
		put(out, cells[c], widths[c], c == VALUE || c == SPREAD || c == RAN, c == last);
	}
	fputc('\n', out);
}

static void print_row(FILE *out, const struct row *row, const size_t widths[COLUMNS], const struct style *style,
		      size_t width)
{
	const struct estimate *e = row->estimate;
	size_t columns = text_columns(row->name), start = GAP + widths[NAME];
	spaces(out, GAP);
	fputs(row->name, out);
	if (columns > widths[NAME]) {
		fputc('\n', out);
		spaces(out, start);
	} else {
		spaces(out, widths[NAME] - columns);
	}
	if (!e->known) {
		struct str text = { 0 };
		str_appendf(&text, "not counted: %s", e->why ? e->why : "no reason is known");
		if (row->cells[NOTE][0])
			str_appendf(&text, " %s", row->cells[NOTE]);
		char *line = str_take(&text);
		spaces(out, GAP);
		fputs(style->dim, out);
		text_wrap(out, line ? line : "not counted", start + GAP, start + GAP, width);
		fputs(style->off, out);
		free(line);
		return;
	}
	const char *cells[COLUMNS] = { row->name };
	for (int c = VALUE; c < COLUMNS; c++)
		cells[c] = row->cells[c];
	bool warn = e->trust == TRUST_REFUTED || e->source == SOURCE_SCALED;
	fputs(warn ? style->warn : "", out);
	print_cells(out, cells, widths);
	fputs(warn ? style->off : "", out);
}

static void print_runs(FILE *out, const struct row *row, const size_t widths[COLUMNS])
{
	const struct estimate *e = row->estimate;
	for (size_t i = 0; i < e->n_runs; i++) {
		char name[32], number[NUMBER_BYTES];
		snprintf(name, sizeof name, "    run %zu", i + 1);
		/* one execution's count is whole, whatever the mean is */
		int decimals = row->scale.factor == 1 && e->runs[i] == floor(e->runs[i]) ? 0 : row->scale.decimals;
		number_group(number, e->runs[i] * row->scale.factor, decimals);
		spaces(out, GAP);
		put(out, name, widths[NAME], false, false);
		spaces(out, GAP);
		put(out, number, widths[VALUE], true, false);
		if (row->scale.unit[0])
			fprintf(out, " %s", row->cells[UNIT]);
		fputc('\n', out);
	}
}

static size_t widest(const struct row *rows, size_t n, enum column column, const char *heading)
{
	size_t width = 0;
	for (size_t i = 0; i < n; i++) {
		size_t columns = text_columns(column == NAME ? rows[i].name : rows[i].cells[column]);
		if (column == NAME && columns > NAME_MOST)
			continue;
		if (columns > width)
			width = columns;
	}
	/* a column that no row needs is not there */
	if (width > 0 && text_columns(heading) > width)
		width = text_columns(heading);
	return width;
}

void table_print(FILE *out, const char *heading, const struct estimate *estimates, size_t n, bool is_metric,
		 bool show_trust, const struct report_options *options, struct footnotes *notes)
{
	struct style style = style_of(options);
	size_t width = (size_t)table_width(options), widths[COLUMNS], known = 0;
	char spread[32] = "\u00b1";
	struct row *rows = calloc(n, sizeof *rows);
	if (n == 0)
		return;
	if (!rows) {
		fputs("  (out of memory: the table is not shown)\n", out);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		bool sub_row = estimates[i].tid || estimates[i].cpu >= 0;
		fill(&rows[i], &estimates[i], sub_row, is_metric, show_trust, notes);
		known += estimates[i].known;
		if (estimates[i].known && estimates[i].has_interval)
			snprintf(spread, sizeof spread, "%g %%", estimates[i].confidence * 100);
	}
	const char *headings[COLUMNS] = { heading, "value", "", spread, "ran", "source", "trust", "" };
	for (int c = NAME; c < COLUMNS; c++)
		widths[c] = widest(rows, n, c, headings[c]);
	if (widths[NAME] == 0)
		widths[NAME] = text_columns(heading);

	spaces(out, GAP);
	fputs(style.bold, out);
	put(out, heading, widths[NAME], false, known == 0);
	if (known)
		print_cells(out, headings, widths);
	else
		fputc('\n', out);
	fputs(style.off, out);
	for (size_t i = 0; i < n; i++) {
		print_row(out, &rows[i], widths, &style, width);
		if (options->all_repetitions)
			print_runs(out, &rows[i], widths);
	}
	free(rows);
}
