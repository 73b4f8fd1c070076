#include "report/columns.h"

#include <string.h>

#include "report/table.h"

enum { GAP = 2, NAME_LEAST = 12, NAME_SHORTEST = 8 };

/* The first `have` columns of a text in `columns`, without its middle: what names differ in is at their ends. */
static void append_ends(struct str *out, const char *text, size_t have, size_t columns)
{
	size_t front = (columns - 1) / 2, back = columns - 1 - front;
	size_t from = text_behind(text, have - back), end = text_fitting(text, have);
	str_append_bytes(out, text, text_fitting(text, front));
	str_append(out, "\u2026");
	str_append_bytes(out, text + from, end - from);
}

/* Where the last " (…)" of a text begins, that ends it; NULL: there is none. */
static const char *place_of(const char *text)
{
	const char *last = NULL;
	for (const char *at = text; (at = strstr(at, " (")); at++)
		last = at;
	return last && last > text && text[strlen(text) - 1] == ')' ? last : NULL;
}

/* Where the parameter list of a C++ name begins, that ends it but for "const" and "[clone …]"; NULL: there is
 * none. */
static const char *parameters_of(const char *name, size_t bytes)
{
	size_t at = bytes, depth = 0;
	const char *clone = memmem(name, bytes, " [clone", 7);
	if (clone)
		at = (size_t)(clone - name);
	if (at > 6 && memcmp(name + at - 6, " const", 6) == 0)
		at -= 6;
	if (at == 0 || name[at - 1] != ')')
		return NULL;
	while (at-- > 0) {
		depth += name[at] == ')';
		depth -= name[at] == '(';
		if (depth == 0)
			return at > 0 && name[at - 1] != ' ' ? name + at : NULL;
	}
	return NULL;
}

/* A name in fewer columns than it has: without its parameters where that is enough, for what it is called says
 * most. */
static void append_name(struct str *out, const char *name, size_t bytes, size_t have, size_t columns)
{
	enum { MARK = 3 /* "(…)" */ };
	const char *parameters = parameters_of(name, bytes);
	struct str called = {0};
	if (!parameters) {
		append_ends(out, name, have, columns);
		return;
	}
	str_append_bytes(&called, name, (size_t)(parameters - name));
	const char *text = called.text ? called.text : "";
	size_t width = text_columns(text);
	if (columns > 2 * MARK && width + MARK > columns)
		append_ends(out, text, width, columns - MARK);
	else if (width + MARK <= columns)
		str_append(out, text);
	else
		append_ends(out, name, have, columns);
	if (columns > 2 * MARK || width + MARK <= columns)
		str_append(out, "(\u2026)");
	str_free(&called);
}

void columns_shorten(struct str *out, const char *text, size_t columns)
{
	enum { PLACE_LEAST = 8, MARKS = 4 /* " (…)" */ };
	size_t have = text_columns(text);
	if (have <= columns || columns < 3) {
		str_append_bytes(out, text, text_fitting(text, columns < have ? columns : have));
		return;
	}
	const char *place = place_of(text);
	size_t name = place ? have - text_columns(place) : have;
	if (name > columns) {
		append_name(out, text, place ? (size_t)(place - text) : strlen(text), name, columns);
		return;
	}
	str_append_bytes(out, text, (size_t)(place - text));
	/* of where it is, the end says most: the line */
	if (columns >= name + MARKS + PLACE_LEAST) {
		str_append(out, " (\u2026");
		str_append(out, text + text_behind(text, have - (columns - name - MARKS + 1)));
	}
}

static const char *cell_of(const struct columns_row *row, size_t c) { return row->cells[c] ? row->cells[c] : ""; }

static void put(FILE *out, const char *text, size_t width, bool left, bool last)
{
	size_t have = text_columns(text), pad = have < width ? width - have : 0;
	if (!left)
		fprintf(out, "%*s", (int)pad, "");
	fputs(text, out);
	if (left && !last)
		fprintf(out, "%*s", (int)pad, "");
}

/* What the first n columns need beside the one that is shortened. */
static size_t others_of(const struct columns *t, const size_t *widths, size_t n)
{
	size_t used = 0;
	for (size_t c = 0; c < n; c++)
		used += c == t->flexible ? 0 : widths[c] + GAP;
	return used;
}

/* How many of a row's n cells its line has room for: the others stand below it. */
static size_t cells_on_line(const struct columns *t, const struct columns_row *row, const size_t *widths, size_t n,
			    size_t room)
{
	while (t->folds && n > t->flexible + 2) {
		size_t before = others_of(t, widths, n - 1) + widths[t->flexible];
		size_t last = t->left[n - 1] ? text_columns(cell_of(row, n - 1)) : widths[n - 1];
		if (before + GAP + last < room)
			break;
		n--;
	}
	return n;
}

/* The cells from `from` on, at the end of a line. */
static void put_below(FILE *out, const struct columns_row *row, size_t from, size_t n, size_t width)
{
	struct str below = {0};
	for (size_t c = from; c < n; c++)
		str_appendf(&below, "%s%s", *cell_of(row, c) && below.text ? "  " : "", cell_of(row, c));
	const char *text = below.text ? below.text : "";
	size_t have = text_columns(text);
	fprintf(out, "\n%*s%s", have < width ? (int)(width - have) : 0, "", text);
	str_free(&below);
}

static void measure(const struct columns *t, size_t *widths)
{
	for (size_t c = 0; c < t->n; c++) {
		widths[c] = text_columns(t->headings[c] ? t->headings[c] : "");
		for (size_t i = 0; i < t->rows.count; i++) {
			size_t have = text_columns(cell_of(&t->rows.items[i], c));
			if (have > widths[c])
				widths[c] = have;
		}
	}
}

static void print(FILE *out, const struct columns *t, const size_t *measured, size_t indent, size_t width,
		  const struct style *style)
{
	size_t widths[COLUMNS_MOST], used;
	struct columns_row titles = {0};
	memcpy(widths, measured, sizeof widths);
	memcpy(titles.cells, t->headings, sizeof titles.cells);
	size_t least = widths[t->flexible] < NAME_LEAST ? widths[t->flexible] : NAME_LEAST, first = t->n;
	while (t->folds && first > t->flexible + 2 && indent + others_of(t, widths, first) + least >= width)
		first--;
	used = indent + others_of(t, widths, first);
	/* a short cell of a column that has no room stands beside the others where it can */
	size_t title = first < t->n ? GAP + text_columns(cell_of(&titles, first)) : 0;
	used += used + title + least < width ? title : 0;
	size_t room = used + NAME_SHORTEST < width ? width - used - 1 : NAME_SHORTEST;
	if (widths[t->flexible] > room)
		widths[t->flexible] = room;
	fprintf(out, "%*s%s", (int)indent, "", style->dim);
	size_t headings = t->n; /* without empty ones at the end */
	while (headings > 0 && !*cell_of(&titles, headings - 1))
		headings--;
	headings = cells_on_line(t, &titles, widths, headings, width - indent);
	for (size_t c = 0; c < headings; c++) {
		const char *heading = cell_of(&titles, c);
		struct str shown = {0};
		str_append_bytes(&shown, heading, text_fitting(heading, widths[c]));
		put(out, shown.text ? shown.text : "", widths[c], t->left[c], c + 1 == headings);
		fputs(c + 1 < headings ? "  " : "", out);
		str_free(&shown);
	}
	fprintf(out, "%s\n", style->off);
	for (size_t i = 0; i < t->rows.count; i++) {
		const struct columns_row *row = &t->rows.items[i];
		size_t n = t->n; /* without empty cells at the end */
		while (n > 0 && !*cell_of(row, n - 1))
			n--;
		size_t fit = cells_on_line(t, row, widths, n, width - indent), below = fit;
		while (below < n && fit > 0 && !*cell_of(row, fit - 1))
			fit--;
		fprintf(out, "%*s%s", (int)indent, "", row->emphasis ? style->bold : "");
		for (size_t c = 0; c < fit; c++) {
			struct str shown = {0};
			if (t->cut_at_end && c == t->flexible)
				str_append_bytes(&shown, cell_of(row, c),
						 text_fitting(cell_of(row, c), widths[c]));
			else
				columns_shorten(&shown, cell_of(row, c), widths[c]);
			put(out, shown.text ? shown.text : "", widths[c], t->left[c], c + 1 == fit);
			fputs(c + 1 < fit ? "  " : "", out);
			str_free(&shown);
		}
		if (below < n)
			put_below(out, row, below, n, width - 1);
		fprintf(out, "%s\n", row->emphasis ? style->off : "");
	}
}

/* False: memory ran out. The caller frees the rows. */
static bool copy_without_spare(struct columns *out, const struct columns *t)
{
	*out = *t;
	out->n = 0;
	memset(&out->rows, 0, sizeof out->rows);
	for (size_t c = 0; c < t->n; c++) {
		if (t->spare[c])
			continue;
		out->headings[out->n] = t->headings[c];
		out->left[out->n] = t->left[c];
		out->flexible = c == t->flexible ? out->n : out->flexible;
		out->n++;
	}
	for (size_t i = 0; i < t->rows.count; i++) {
		struct columns_row row = t->rows.items[i];
		size_t n = 0;
		for (size_t c = 0; c < t->n; c++)
			if (!t->spare[c])
				row.cells[n++] = t->rows.items[i].cells[c];
		if (!vec_push(&out->rows, row))
			return false;
	}
	return true;
}

static bool has_room(const struct columns *t, const size_t *widths, size_t indent, size_t width)
{
	return t->folds || indent + others_of(t, widths, t->n) + NAME_LEAST < width;
}

void columns_print(FILE *out, const struct columns *all, size_t indent, size_t width, const struct style *style)
{
	size_t widths[COLUMNS_MOST] = {0};
	struct columns t = *all, fewer = {0};
	measure(&t, widths);
	if (!has_room(&t, widths, indent, width)) {
		for (size_t c = 0; c < t.n; c++)
			t.headings[c] = t.short_headings[c] ? t.short_headings[c] : t.headings[c];
		measure(&t, widths);
	}
	if (!has_room(&t, widths, indent, width) && copy_without_spare(&fewer, &t)) {
		measure(&fewer, widths);
		print(out, &fewer, widths, indent, width, style);
	} else {
		print(out, &t, widths, indent, width, style);
	}
	vec_free(&fewer.rows);
}
