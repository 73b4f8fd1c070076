/* Results as text, CSV and JSON. Every writer writes to a stream
 * and leaves it to the caller to find out, by file_finish(), whether all of it arrived. */
#ifndef TARE_REPORT_REPORT_H
#define TARE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "event/event.h"
#include "result/breakdown.h"
#include "result/job.h"
#include "result/result.h"

enum {
	NOTE_LINES_MOST = 5, /* of a report's notes, without `verbose` */
	/* of a report of the standard set, likewise, where rows may be left out: a terminal has 24 and a prompt */
	SCREEN_LINES = 23,
};

struct report_origin; /* report/origin.h */

struct report_options {
	/* of text: all notes, and what machine it was; quiet: of the notes only those that something follows from,
	 * and no title */
	bool verbose, quiet;
	bool all_repetitions; /* also every repetition's value */
	bool gross;           /* also gross, tare and net */
	bool statistics;      /* also least, median, most and standard deviation of the repetitions */
	bool one_line;        /* of JSON: no line breaks in it, for JSON Lines */
	/* of text: what was counted is the standard set of this table, whose details may be left out; NULL */
	const struct event_table *standard;
	const struct report_origin *origin; /* of a page: where the result comes from; NULL */
	const struct rank_place *rank;      /* of JSON: which rank it is of; NULL */
	bool colour;
	int width; /* of the terminal; 0: not a terminal, 80 assumed */
};

void report_text(FILE *out, const struct result *result, const struct report_options *options);
void report_csv(FILE *out, const struct result *result, const struct report_options *options);
/* html/html.h: a page for a browser. Of the options, those of what is shown count. */
void report_html(FILE *out, const struct result *result, const struct report_options *options);
/* docs/result.schema.json; of the options, `statistics` counts. */
void report_json(FILE *out, const struct result *result, const struct report_options *options);

/* A breakdown as tab-separated lines below a line of column names: of each event its rows, the largest first, then
 * one of kind "total". Tabs, line ends and backslashes in names are escaped as \t, \n, \\. */
void report_breakdown_tsv(FILE *out, const struct breakdown *breakdown);

#endif
