/*
 * A document as one page for a browser, which works without a network.
 *
 * What always holds:
 *  1. Every text of the document goes through html_text(): it can be neither markup nor script. The page's
 *     Content-Security-Policy names its own script and style by their sums (SHA-256), and allows nothing else:
 *     what went past the escaping would not run, and nothing is fetched.
 *  2. The writer adds no sentence of its own; its words are names of parts and of buttons.
 *  3. Without scripts the page is whole; the script sorts tables and switches between light and dark.
 *  4. The same document gives the same bytes.
 */
#ifndef TARE_REPORT_HTML_HTML_H
#define TARE_REPORT_HTML_HTML_H

#include <stdio.h>

#include "base/str.h"
#include "report/columns.h"
#include "report/document.h"

/* name: of the browser's tab, and the heading where the document has no title. */
void report_document_html(FILE *out, const struct document *document, const char *name);

/* ---- the writer's parts ---- */

struct html {
	FILE *out;
	const struct document *document;
	struct str text; /* escaped text on its way out */
	bool names;      /* the last block was the title, or a name below it */
	double hottest;  /* of AXIS_HEAT: the largest share of all tables */
};

/* A text, escaped; NULL is "". */
void html_text(struct html *html, const char *text);
/* A name in a table: one that is very long is cut in its middle. */
void html_name(struct html *html, const char *text);
/* The page's own markup. */
void html_markup(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* plots.c: drawings by hand, whose horizontal places are percents: they are as wide as their cell. */

/* Between ticks: 1, 2 or 5 times a power of ten, so that `most` has two to five of them. */
double html_step(double most);

/* What the rows' ranges share. */
struct html_axis {
	enum columns_axis kind;
	double low, high; /* of the ranges that are drawn */
	double unit;      /* above 0: so much is linear, beyond it the axis is logarithmic (asinh) */
};
struct html_axis html_axis_of(const struct columns *columns);
/* Where 0 is, and what distances mean. */
void html_axis(struct html *html, const struct html_axis *axis);
void html_range(struct html *html, const struct html_axis *axis, const struct columns_range *range);
/* The repetitions' values from the least to the most, the first one above; their quartiles and median, the mean
 * with its interval below. */
void html_runs(struct html *html, const struct estimate *estimate);

/* figure.c: lines over an axis, with what each is, and its points' numbers as tips. */
void html_figure(struct html *html, const struct paper_figure *figure);
/* bars.c: the same of a figure of bars. */
void html_bars(struct html *html, const struct paper_figure *figure);
/* stacked.c: of bars whose parts stand on each other. */
void html_stacked(struct html *html, const struct stacked_figure *figure);

/* tables.c */
void html_counts(struct html *html, const struct document_table *table);
/* runs: with a drawing of each row's repetitions. */
void html_numbers(struct html *html, const struct document_table *table, const int *columns, size_t n, bool runs);
void html_breakdown(struct html *html, const struct document_table *table);
void html_columns(struct html *html, const struct columns *columns);

#endif
