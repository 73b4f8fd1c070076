/* A table of any columns, fitted to a width: numbers to the right, and one column of names that is shortened in
 * its middle when there is no room. Where it would have hardly any, headings are shorter, and then some columns
 * are left out. */
#ifndef TARE_REPORT_COLUMNS_H
#define TARE_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"
#include "base/vec.h"

enum { COLUMNS_MOST = 40 };

/* What a reader who sorts the table does with a row. */
enum columns_place {
	COLUMNS_OWN,
	COLUMNS_BELOW, /* it goes with the row above */
	COLUMNS_LAST,  /* a sum: it stays at the end */
};

/* A row's number as a drawing has it, on the axis that the table's rows share. */
struct columns_range {
	bool known;
	double at, low, high; /* low = high = at: no interval; both infinite: it has no ends */
	double floor;         /* of AXIS_DIFFERENCE: what one command against itself differed by; NAN: not known */
	int sign;             /* likewise, where it is beyond chance: -1 less, 1 more; 0: it is not */
};

enum columns_axis {
	AXIS_NONE,
	AXIS_SHARE,      /* parts of 1, from 0 on */
	AXIS_DIFFERENCE, /* relative differences in percent, on both sides of 0 */
	AXIS_HEAT,       /* parts of 1 that stand beside a text */
};

struct columns_row {
	const char *cells[COLUMNS_MOST]; /* NULL: empty. Without control characters */
	bool emphasis;                   /* TOTAL, the line that is asked about */
	enum columns_place place;
	struct columns_range range; /* zeroed: nothing to draw */
};

struct columns {
	size_t n;
	const char *headings[COLUMNS_MOST];
	/* where the headings leave names too little room; NULL: the same */
	const char *short_headings[COLUMNS_MOST];
	bool spare[COLUMNS_MOST]; /* left out where even so they have too little */
	bool left[COLUMNS_MOST];  /* names; else numbers, to the right */
	size_t flexible;          /* the column that is shortened */
	bool cut_at_end;          /* … at its end, not in its middle */
	bool ordered;             /* the order of rows is what they say: source text, callers and callees */
	bool folds;               /* cells that the line has no room for stand below it, at its end */
	bool matrix;              /* few narrow columns: also a table on a phone */
	enum columns_axis axis;   /* of the rows' ranges */
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
