/* A table of any columns, fitted to a width: numbers to the right, and one column of names that is shortened in
 * its middle when there is no room. */
#ifndef TARE_REPORT_COLUMNS_H
#define TARE_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"
#include "base/vec.h"

enum { COLUMNS_MOST = 40 };

struct columns_row {
	const char *cells[COLUMNS_MOST]; /* NULL: empty. Without control characters */
	bool emphasis;                   /* TOTAL, the line that is asked about */
};

struct columns {
	size_t n;
	const char *headings[COLUMNS_MOST];
	bool left[COLUMNS_MOST]; /* names; else numbers, to the right */
	size_t flexible;         /* the column that is shortened */
	bool cut_at_end;         /* … at its end, not in its middle */
	VEC(struct columns_row) rows;
};

struct style;

/* indent columns stand before each line; lines end before `width`, if the numbers leave room. */
void columns_print(FILE *out, const struct columns *columns, size_t indent, size_t width,
		   const struct style *style);

/* The text in at most `columns` of a terminal; appended. Of "name (where)" the name stays as long as it fits, and
 * as much of the end of `where` as there is room for; a name that is longer has "…" in its middle. */
void columns_shorten(struct str *out, const char *text, size_t columns);

#endif
