/* Numbers in columns for a reader: as wide as their contents, and no wider than the terminal as far as that goes.
 *
 *     event         what        median   mean        two texts from the left, numbers to the right, a unit behind
 *     task-clock    a region       300  300.8 ns
 *
 * Where a line would be too long, the first text stands on a line of its own above the rows that share it. */
#ifndef TARE_CLI_GRID_H
#define TARE_CLI_GRID_H

#include <stdio.h>

#include "base/vec.h"
#include "report/number.h"

enum { GRID_NUMBERS_MOST = 6 };

struct grid_row {
	const char *first, *second; /* borrowed until printed */
	char numbers[GRID_NUMBERS_MOST][NUMBER_BYTES];
	const char *unit;
};

struct grid {
	const char *first_heading;
	const char *headings[GRID_NUMBERS_MOST];
	size_t n_numbers;
	VEC(struct grid_row) rows;
};

/* An empty row, to be filled; NULL when memory ran out. A first text that is the row's before is printed once. */
struct grid_row *grid_add(struct grid *grid, const char *first, const char *second, const char *unit);

/* Prints the headings and rows, and empties it. Nothing where there is no row. */
void grid_print(FILE *out, struct grid *grid, size_t width);

#endif
