/* A document's tables as aligned rows for a reader, and text broken into lines. Strings may come from anywhere
 * (program arguments, native event names): control characters in them never reach the terminal. */
#ifndef TARE_REPORT_TABLE_H
#define TARE_REPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text_columns.h"
#include "report/document.h"
#include "report/report.h"

struct style {
	const char *bold, *dim, *warn, *off; /* escape sequences, or "" */
};

struct style style_of(const struct report_options *options);
int table_width(const struct report_options *options);

/* Prints text, broken at spaces so that lines end before column `width`; the first line starts at column `at`,
 * the others at `indent`. Ends with a line feed. */
void text_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width);

/* A table of estimates: each part of it after an empty line, with the same columns. */
void table_print_counts(FILE *out, const struct document_table *table, const struct report_options *options);

/* A table of gross, tare and net. */
void table_print_gross(FILE *out, const struct document_table *table, const struct report_options *options);

/* A table of least, median, most and standard deviation. */
void table_print_statistics(FILE *out, const struct document_table *table, const struct report_options *options);

/* A table of a breakdown. */
void table_print_breakdown(FILE *out, const struct document_table *table, const struct report_options *options);

#endif
