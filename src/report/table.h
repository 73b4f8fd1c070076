/* Estimates as aligned rows for a reader. Strings of the result may come from anywhere (program arguments, native
 * event names): control characters in them never reach the terminal. */
#ifndef TARE_REPORT_TABLE_H
#define TARE_REPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vec.h"
#include "report/report.h"
#include "result/result.h"

/* Remarks on rows: each is printed once, under its number, however many rows have it. A reason for which several
 * rows were not counted is one too, with the rows' remark after it. */
struct footnote {
	const char *text, *more; /* borrowed from the result; more is NULL or follows text */
};
struct footnotes {
	VEC(struct footnote) items;
};

struct style {
	const char *bold, *dim, *warn, *off; /* escape sequences, or "" */
};

struct style style_of(const struct report_options *options);
int table_width(const struct report_options *options);

/* Columns that text takes on a terminal (UTF-8; one a character). */
size_t text_columns(const char *text);

/* Prints text, broken at spaces so that lines end before column `width`; the first line starts at column `at`,
 * the others at `indent`. Ends with a line feed. */
void text_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width);

/* A block of rows under its heading ("event", "metric"). */
struct table_block {
	const char *heading;
	const struct estimate *estimates;
	size_t n;
	bool is_metric;
	const char *title; /* a line of its own in the place of the headings; NULL */
};

/* The blocks that have rows, each after an empty line, with the same columns. show_trust: a column for it. */
void table_print(FILE *out, const struct table_block *blocks, size_t n_blocks, bool show_trust,
		 const struct report_options *options, struct footnotes *notes);

#endif
