/* Results as text, CSV and JSON, and in the papers' tools' own formats. Every writer writes to a stream
 * and leaves it to the caller to find out, by file_finish(), whether all of it arrived. */
#ifndef TARE_REPORT_REPORT_H
#define TARE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "event/event.h"
#include "result/breakdown.h"
#include "result/result.h"

struct report_options {
	bool all_repetitions; /* every repetition's value too */
	bool gross;           /* gross, tare and net too */
	bool colour;
	int width;            /* of the terminal; 0: not a terminal, 80 assumed */
};

void report_text(FILE *out, const struct result *result, const struct report_options *options);
void report_csv(FILE *out, const struct result *result, const struct report_options *options);
void report_json(FILE *out, const struct result *result); /* docs/result.schema.json */

/* A breakdown as tab-separated lines below a line of column names: of each event its rows, the largest first, then one of kind "total".
 * Tabs, line ends and backslashes in names are escaped as \t, \n, \\. */
void report_breakdown_tsv(FILE *out, const struct breakdown *breakdown);

/* run_p5mon's report (Safford, Figures 4.2–4.4) and parseable file (Figures 4.7, 4.8). Intervals as the
 * thesis computed them (LAB.md section 3), and labelled as such in a '#'-free last line. */
struct p5mon_header {
	const char *parameter_file; /* "" when none */
	const char *arguments;      /* the -F arguments, joined by spaces */
	const char *directory;
};
void report_p5mon(FILE *out, const struct result *result, const struct event_table *table,
                  const struct p5mon_header *header, bool all_results);
void report_p5mon_file(FILE *out, const struct result *result, const struct event_table *table, bool all_results);

/* perfex's listing (Zagha, Appendix C): dotted lines, counter 0's events then counter 1's. */
void report_perfex(FILE *out, const struct result *result, const struct event_table *table);

#endif
