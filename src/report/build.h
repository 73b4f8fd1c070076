/* A result → the report as data. */
#ifndef TARE_REPORT_BUILD_H
#define TARE_REPORT_BUILD_H

#include "report/document.h"
#include "report/report.h"

/* Appends the report of a result, which outlives the document. Of the options, those of what is shown count. */
void report_build(struct document *document, const struct result *result, const struct report_options *options);

/* text.c: a document as text. */
void report_document_text(FILE *out, const struct document *document, const struct report_options *options);

/* Its parts in files of their own. */

/* Remarks on rows: each is said once, under its number, however many rows have it. A reason for which several
 * rows were not counted is one too, with the rows' remark after it. */
struct footnote {
	const char *text, *more; /* borrowed from the result; more is NULL or follows text */
};
struct footnotes {
	VEC(struct footnote) items;
};

/* Rows under their heading ("event", "metric"). */
struct counts_section {
	const char *heading;
	const struct estimate *estimates;
	size_t n;
	bool is_metric;
	const char *title; /* a line of its own in the place of the headings; NULL */
};

/* One table of the sections that have rows or a title. */
void build_counts(struct document *document, const struct counts_section *sections, size_t n_sections,
		  bool all_repetitions, struct footnotes *notes);

/* Gross, tare and net of each event, and what the tare is. */
void build_gross(struct document *document, const struct result *result);

/* Least, median, most and standard deviation of each event's repetitions. */
void build_statistics(struct document *document, const struct result *result);

/* A breakdown, of each event's rows the first BREAKDOWN_ROWS_SHOWN; and its notes. first_only: of the first event
 * that has rows. */
void build_breakdown(struct document *document, const struct breakdown *breakdown, bool first_only);

#endif
