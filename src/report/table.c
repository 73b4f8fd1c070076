#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "report/number.h"

enum table_column { NAME, VALUE, UNIT, SPREAD, RAN, SOURCE, TRUST, NOTE, COLUMNS };

enum {
	NAME_BYTES = 256,
	CELL_BYTES = 2 * NUMBER_BYTES + 8,
	GAP = 2,
	NAME_MOST = 30,
	NAME_LEAST = 12,
	RANGE_MOST = 12,
	WIDTH_DEFAULT = 80,
	WIDE = 100
};

struct table_row {
	const struct estimate *estimate;
	struct number_scale scale;
	char name[NAME_BYTES];
	char cells[COLUMNS][CELL_BYTES]; /* all but NAME */
	bool why_below;                  /* the note has the reason for which it was not counted */
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

size_t text_columns(const char *text)
{
	size_t columns = 0;
	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
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

static void fill_name(struct table_row *row, bool sub_row)
{
	const struct estimate *e = row->estimate;
	if (sub_row && e->tid)
		snprintf(row->name, sizeof row->name, "  thread %d", (int)e->tid);
	else if (sub_row && e->pid)
		snprintf(row->name, sizeof row->name, "  process %d", (int)e->pid);
	else if (sub_row)
		snprintf(row->name, sizeof row->name, "  CPU %d", e->cpu);
	else
		str_escape_to(row->name, sizeof row->name, e->event);
}

/* wide: there is room for the share of the value too. */
static void fill_spread(struct table_row *row, bool wide)
{
	const struct estimate *e = row->estimate;
	char *cell = row->cells[SPREAD];
	double factor = row->scale.factor, below = (e->value - e->low) * factor,
	       above = (e->high - e->value) * factor;
	char a[NUMBER_BYTES], b[NUMBER_BYTES];
	if (!e->has_interval) {
		snprintf(cell, CELL_BYTES, "\u00b1?");
	} else if (isfinite(above) && fabs(above - below) <= 0.02 * fmax(above, below)) {
		double half_width = (above + below) / 2;
		number_group(a, half_width,
			     half_width > 0 ? number_half_width_decimals(half_width, row->scale.decimals) : 0);
		int used = snprintf(cell, CELL_BYTES, "\u00b1 %s", a);
		double percent = fabs(100 * half_width / (e->value * factor));
		if (wide && half_width > 0 && isfinite(percent)) {
			number_group(b, percent, percent < 0.001 ? 0 : number_half_width_decimals(percent, 0));
			snprintf(cell + used, CELL_BYTES - (size_t)used, " (%s %%)", b);
		}
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

static bool equal(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static void fill_note(struct table_row *row, const char *text, const char *more, struct footnotes *notes)
{
	size_t i = 0;
	while (i < notes->items.count &&
	       !(equal(notes->items.items[i].text, text) && equal(notes->items.items[i].more, more)))
		i++;
	if (i < notes->items.count || vec_push(&notes->items, ((struct footnote){text, more})))
		snprintf(row->cells[NOTE], CELL_BYTES, "[%zu]", i + 1);
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

static void fill(struct table_row *row, const struct estimate *e, bool is_metric, bool show_trust, bool wide,
		 const struct table_reasons *reasons, struct footnotes *notes)
{
	*row = (struct table_row){.estimate = e};
	fill_name(row, !estimate_is_total(e));
	row->why_below = !e->known && shares_reason(reasons, e);
	if (row->why_below)
		fill_note(row, e->why, e->note, notes);
	else if (e->note)
		fill_note(row, e->note, NULL, notes);
	if (!e->known)
		return;
	char number[NUMBER_BYTES];
	row->scale = number_scale_of(e, is_metric);
	number_group(number, e->value * row->scale.factor, row->scale.decimals);
	snprintf(row->cells[VALUE], CELL_BYTES, "%s", number);
	str_escape_to(row->cells[UNIT], CELL_BYTES, row->scale.unit);
	fill_spread(row, wide);
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

static void print_row(FILE *out, const struct table_row *row, const size_t widths[COLUMNS],
		      const struct style *style, size_t width)
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
		struct str text = {0};
		if (e->has_least) {
			char least[NUMBER_BYTES];
			number_group(least, e->least, 0);
			str_appendf(&text, "\u2265 %s, %s", least, source_name(e->least_source));
		} else {
			str_append(&text, "not counted");
		}
		if (!row->why_below)
			str_appendf(&text, ": %s", e->why ? e->why : "no reason is known");
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
	const char *cells[COLUMNS] = {row->name};
	for (int c = VALUE; c < COLUMNS; c++)
		cells[c] = row->cells[c];
	bool warn = e->trust == TRUST_REFUTED || e->source == SOURCE_SCALED;
	fputs(warn ? style->warn : "", out);
	print_cells(out, cells, widths);
	fputs(warn ? style->off : "", out);
}

static void print_runs(FILE *out, const struct table_row *row, const size_t widths[COLUMNS])
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

static void widen_cells(size_t widths[COLUMNS], const struct table_row *rows, size_t n,
			const char *const headings[COLUMNS])
{
	for (size_t i = 0; i < n; i++)
		for (int c = VALUE; c < COLUMNS; c++)
			if (text_columns(rows[i].cells[c]) > widths[c])
				widths[c] = text_columns(rows[i].cells[c]);
	for (int c = VALUE; c < COLUMNS; c++)
		/* a column that no row needs is not there */
		if (widths[c] > 0 && text_columns(headings[c]) > widths[c])
			widths[c] = text_columns(headings[c]);
}

/* The widest name that leaves room for the other columns; a longer one gets a line of its own. */
static size_t name_width(const size_t widths[COLUMNS], const struct table_row *rows, size_t n, size_t width)
{
	size_t others = GAP, most = NAME_MOST, widest = 0;
	for (int c = VALUE; c < COLUMNS; c++)
		others += widths[c] ? widths[c] + (c == UNIT ? 1 : GAP) : 0;
	if (others + most > width)
		most = others + NAME_LEAST < width ? width - others : NAME_LEAST;
	for (size_t i = 0; i < n; i++)
		if (text_columns(rows[i].name) > widest && text_columns(rows[i].name) <= most)
			widest = text_columns(rows[i].name);
	return widest;
}

static void print_block(FILE *out, const char *const headings[COLUMNS], const struct table_row *rows, size_t n,
			const size_t widths[COLUMNS], const struct report_options *options, const char *title)
{
	struct style style = style_of(options);
	bool known = false;
	for (size_t i = 0; i < n; i++)
		known |= rows[i].estimate->known;
	fputc('\n', out);
	spaces(out, GAP);
	fputs(style.bold, out);
	if (title) {
		text_wrap(out, title, GAP, 2 * GAP, (size_t)table_width(options));
	} else {
		put(out, headings[NAME], widths[NAME], false, !known);
		if (known)
			print_cells(out, headings, widths);
		else
			fputc('\n', out);
	}
	fputs(style.off, out);
	for (size_t i = 0; i < n; i++) {
		print_row(out, &rows[i], widths, &style, (size_t)table_width(options));
		if (options->all_repetitions)
			print_runs(out, &rows[i], widths);
	}
}

void table_print(FILE *out, const struct table_block *blocks, size_t n_blocks, bool show_trust,
		 const struct report_options *options, struct footnotes *notes)
{
	size_t widths[COLUMNS] = {0}, n = 0, used = 0;
	struct table_reasons reasons = {0};
	char spread[32] = "\u00b1";
	for (size_t b = 0; b < n_blocks; b++) {
		n += blocks[b].n;
		for (size_t i = 0; i < blocks[b].n; i++)
			count_reason(&reasons, &blocks[b].estimates[i]);
	}
	bool titles = false;
	for (size_t b = 0; b < n_blocks; b++)
		titles |= blocks[b].title != NULL;
	if (n == 0 && !titles)
		return;
	struct table_row *rows = calloc(n + 1, sizeof *rows);
	if (!rows) {
		fputs("  (out of memory: the table is not shown)\n", out);
		return;
	}
	for (size_t b = 0; b < n_blocks; b++) {
		for (size_t i = 0; i < blocks[b].n; i++) {
			const struct estimate *e = &blocks[b].estimates[i];
			fill(&rows[used++], e, blocks[b].is_metric, show_trust, table_width(options) >= WIDE,
			     &reasons, notes);
			if (e->known && e->has_interval)
				snprintf(spread, sizeof spread, "%g %%", e->confidence * 100);
		}
	}
	const char *headings[COLUMNS] = {"", "value", "", spread, "ran", "source", "trust", ""};
	widen_cells(widths, rows, n, headings);
	widths[NAME] = name_width(widths, rows, n, (size_t)table_width(options));
	used = 0;
	for (size_t b = 0; b < n_blocks; b++) {
		headings[NAME] = blocks[b].heading;
		if (blocks[b].n && text_columns(headings[NAME]) > widths[NAME])
			widths[NAME] = text_columns(headings[NAME]);
	}
	for (size_t b = 0; b < n_blocks; b++) {
		headings[NAME] = blocks[b].heading;
		if (blocks[b].n || blocks[b].title)
			print_block(out, headings, rows + used, blocks[b].n, widths, options, blocks[b].title);
		used += blocks[b].n;
	}
	free(rows);
}
