#include "cli/grid.h"

#include <stdbool.h>
#include <string.h>

#include "report/table.h"

struct widths {
	size_t first, second, numbers[GRID_NUMBERS_MOST], unit;
	bool above; /* the first text has a line of its own */
};

struct grid_row *grid_add(struct grid *grid, const char *first, const char *second, const char *unit)
{
	struct grid_row row = {.first = first, .second = second, .unit = unit};
	return vec_push(&grid->rows, row) ? &grid->rows.items[grid->rows.count - 1] : NULL;
}

static void widen(size_t *width, const char *text)
{
	size_t columns = text_columns(text);
	if (columns > *width)
		*width = columns;
}

static struct widths widths_of(const struct grid *grid, size_t width)
{
	struct widths w = {0};
	widen(&w.first, grid->first_heading);
	for (size_t i = 0; i < grid->n_numbers; i++)
		widen(&w.numbers[i], grid->headings[i]);
	for (size_t i = 0; i < grid->rows.count; i++) {
		const struct grid_row *row = &grid->rows.items[i];
		widen(&w.first, row->first);
		widen(&w.second, row->second);
		widen(&w.unit, row->unit);
		for (size_t j = 0; j < grid->n_numbers; j++)
			widen(&w.numbers[j], row->numbers[j]);
	}
	size_t all = 2 + w.first + (w.second ? 2 + w.second : 0) + (w.unit ? 1 + w.unit : 0);
	for (size_t i = 0; i < grid->n_numbers; i++)
		all += 2 + w.numbers[i];
	w.above = all > width;
	return w;
}

static void pad(FILE *out, size_t columns) { fprintf(out, "%*s", (int)columns, ""); }

static void left(FILE *out, const char *text, size_t columns)
{
	fputs(text, out);
	pad(out, columns - text_columns(text));
}

static void line(FILE *out, const struct grid *grid, const struct widths *w, const char *first, const char *second,
		 const char *const *numbers, const char *unit)
{
	pad(out, w->above ? 4 : 2);
	if (!w->above)
		left(out, first, w->first);
	if (w->second) {
		pad(out, w->above ? 0 : 2);
		left(out, second, w->second);
	}
	for (size_t i = 0; i < grid->n_numbers; i++) {
		pad(out, 2 + w->numbers[i] - text_columns(numbers[i]));
		fputs(numbers[i], out);
	}
	fprintf(out, "%s%s\n", *unit ? " " : "", unit);
}

void grid_print(FILE *out, struct grid *grid, size_t width)
{
	struct widths w = widths_of(grid, width);
	const char *last = "";
	if (grid->rows.count)
		line(out, grid, &w, grid->first_heading, "", grid->headings, "");
	for (size_t i = 0; i < grid->rows.count; i++) {
		const struct grid_row *row = &grid->rows.items[i];
		const char *numbers[GRID_NUMBERS_MOST];
		bool again = strcmp(last, row->first) == 0;
		for (size_t j = 0; j < grid->n_numbers; j++)
			numbers[j] = row->numbers[j];
		if (w.above && !again)
			fprintf(out, "  %s\n", row->first);
		line(out, grid, &w, again ? "" : row->first, row->second, numbers, row->unit);
		last = row->first;
	}
	vec_free(&grid->rows);
}
