#include "trust/paper_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"

extern const struct embedded_file paper_files[];

static const char SUFFIX[] = ".table";

struct table_reading {
	const char *source;
	size_t line;
	struct arena *arena;
	struct paper_table *out;
	struct error *err;
};

static bool wrong(const struct table_reading *r, const char *what)
{
	return error_set(r->err, ERROR_SYNTAX, "%s:%zu: %s", r->source, r->line, what);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Without blanks at both ends; NULL when memory ran out. */
static const char *keep(const struct table_reading *r, const char *text, size_t length)
{
	while (length && is_blank(*text))
		text++, length--;
	while (length && is_blank(text[length - 1]))
		length--;
	const char *kept = arena_strndup(r->arena, text, length);
	if (!kept)
		error_no_memory(r->err);
	return kept;
}

/* Cells between bars; *n is at most PAPER_COLUMNS_MOST. */
static bool split(const struct table_reading *r, const char *text, size_t length, const char **cells, size_t *n)
{
	const char *end = text + length;
	*n = 0;
	for (;;) {
		const char *bar = memchr(text, '|', (size_t)(end - text));
		const char *stop = bar ? bar : end;
		if (*n == PAPER_COLUMNS_MOST)
			return wrong(r, "too many columns");
		if (!(cells[(*n)++] = keep(r, text, (size_t)(stop - text))))
			return false;
		if (!bar)
			return true;
		text = bar + 1;
	}
}

static bool read_columns(struct table_reading *r, const char *text, size_t length)
{
	struct paper_table *t = r->out;
	if (t->n_columns)
		return wrong(r, "the columns are given twice");
	if (!split(r, text, length, t->columns, &t->n_columns))
		return false;
	for (size_t i = 0; i < t->n_columns; i++) {
		if (!t->columns[i][0])
			return wrong(r, "a column has no name");
		for (size_t k = 0; k < i; k++)
			if (strcmp(t->columns[k], t->columns[i]) == 0)
				return wrong(r, "two columns have the same name");
	}
	return true;
}

static bool read_row(struct table_reading *r, const char *text, size_t length)
{
	struct paper_table *t = r->out;
	size_t n;
	if (!t->n_columns)
		return wrong(r, "a row stands before the columns");
	if (t->n_rows == PAPER_ROWS_MOST)
		return wrong(r, "too many rows");
	if (!split(r, text, length, t->cells[t->n_rows], &n))
		return false;
	if (n != t->n_columns)
		return wrong(r, "the row has another number of cells than there are columns");
	for (size_t i = 0; i < t->n_rows; i++)
		if (strcmp(t->cells[i][0], t->cells[t->n_rows][0]) == 0)
			return wrong(r, "two rows begin with the same cell");
	t->n_rows++;
	return true;
}

static bool read_text(struct table_reading *r, const char **to, const char *text, size_t length)
{
	if (*to)
		return wrong(r, "the key is given twice");
	if (!(*to = keep(r, text, length)))
		return false;
	return (*to)[0] || wrong(r, "the key has no value");
}

static bool read_key(struct table_reading *r, const char *key, const char *value, size_t length)
{
	struct paper_table *t = r->out;
	const struct {
		const char *name;
		const char **to;
	} texts[] = {{"paper", &t->paper}, {"number", &t->number}, {"title", &t->title}, {"note", &t->note}};
	if (strcmp(key, "columns") == 0)
		return read_columns(r, value, length);
	if (strcmp(key, "row") == 0)
		return read_row(r, value, length);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(key, texts[i].name) == 0)
			return read_text(r, texts[i].to, value, length);
	return wrong(r, "not a key: 'paper', 'number', 'title', 'note', 'columns' and 'row' are");
}

static bool read_line(struct table_reading *r, const char *line, size_t length)
{
	const char *text = keep(r, line, length);
	if (!text)
		return false;
	if (!text[0] || text[0] == '#')
		return true;
	size_t n = strlen(text);
	if (text[0] == '[') {
		if (r->out->name || text[n - 1] != ']' || n < 3)
			return wrong(r, "a table begins with one [NAME]");
		return (r->out->name = keep(r, text + 1, n - 2)) != NULL;
	}
	const char *sign = strchr(text, '=');
	if (!sign)
		return wrong(r, "neither KEY = VALUE nor a comment");
	if (!r->out->name)
		return wrong(r, "a table begins with [NAME]");
	const char *key = keep(r, text, (size_t)(sign - text));
	return key && read_key(r, key, sign + 1, strlen(sign + 1));
}

bool paper_table_read(const char *text, size_t length, const char *source, struct arena *arena,
		      struct paper_table *out, struct error *err)
{
	struct table_reading r = {.source = source, .arena = arena, .out = out, .err = err};
	*out = (struct paper_table){0};
	if (memchr(text, '\0', length))
		return error_set(err, ERROR_SYNTAX, "%s: it has a NUL character", source);
	for (const char *end = text + length; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
		r.line++;
		if (!read_line(&r, text, (size_t)(stop - text)))
			return false;
		text = newline ? newline + 1 : end;
	}
	return (out->name && out->paper && out->number && out->title && out->n_rows) ||
	       wrong(&r, "the table has no name, paper, number, title or row");
}

/* "korn-2.table" is korn-2. */
static bool is_named(const struct embedded_file *file, const char *name)
{
	size_t length = strlen(name);
	return strncmp(file->name, name, length) == 0 && strcmp(file->name + length, SUFFIX) == 0;
}

bool paper_table_find(const char *name, struct arena *arena, struct paper_table *out, struct error *err)
{
	for (const struct embedded_file *file = paper_files; file->name; file++)
		if (is_named(file, name))
			return paper_table_read(file->text, file->length, file->name, arena, out, err);
	return error_set(err, ERROR_NOT_FOUND, "there is no table '%s' of a paper", name);
}

const char *paper_cell(const struct paper_table *table, const char *row, const char *column)
{
	for (size_t i = 0; i < table->n_rows; i++)
		for (size_t k = 0; k < table->n_columns; k++)
			if (strcmp(table->cells[i][0], row) == 0 && strcmp(table->columns[k], column) == 0)
				return table->cells[i][k];
	return NULL;
}

double paper_number(const char *cell)
{
	char digits[40];
	size_t n = 0;
	const char *at = cell + strcspn(cell, "0123456789");
	if (!*at)
		return NAN;
	if (at > cell && at[-1] == '-' && (at == cell + 1 || at[-2] == ' '))
		digits[n++] = '-';
	for (; n + 1 < sizeof digits && ((*at >= '0' && *at <= '9') || *at == '.' || *at == ','); at++) {
		/* a comma parts thousands; before two digits it is a misprint of the point ("18,62") */
		size_t behind = *at == ',' ? strspn(at + 1, "0123456789") : 0;
		if (*at != ',')
			digits[n++] = *at;
		else if (behind != 3)
			digits[n++] = '.';
	}
	digits[n] = '\0';
	return strtod(digits, NULL);
}
