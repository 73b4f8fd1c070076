/* A figure of stacked bars, a bar for each category: data for a page's drawing (html/stacked.c). Plain; all
 * of it is the document's (its arena). */
#ifndef TARE_REPORT_STACKED_H
#define TARE_REPORT_STACKED_H

#include <stdbool.h>
#include <stddef.h>

struct stacked_part {
	const char *name;
	unsigned look; /* which of the page's colours */
};

struct stacked_figure {
	const char *title, *x_label, *y_label;
	const char *unit; /* of the values: "ms", "%" */
	const char *const *categories;
	size_t n;
	const struct stacked_part *parts; /* from the axis upwards */
	size_t n_parts;
	const double *values; /* [category * n_parts + part]; NAN or 0: nothing is drawn */
	const double *marks;  /* a line over each bar, of each category; NAN: none. NULL: none at all */
	const char *mark_name;
	bool lying; /* from left to right, a line for each category with its name above it */
};

#endif
