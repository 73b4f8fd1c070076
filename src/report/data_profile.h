/*
 * A data profile: which data a program touches, and where it misses. One row for each variable, allocation site,
 * stack, mapping or file, a column for each event. The rows are a breakdown's (result/breakdown.h, by object).
 *
 * What always holds:
 *  1. Rows stand in the order of the first event that has rows; the share is of it.
 *  2. An event's rows, "others" included, add up to TOTAL, which is its count.
 *  3. An event that is not known by data has no column: a note says why.
 */
#ifndef TARE_REPORT_DATA_PROFILE_H
#define TARE_REPORT_DATA_PROFILE_H

#include <stdio.h>

#include "report/report.h"

struct data_profile_options {
	struct report_options text; /* colour, width, origin */
	size_t top;                 /* rows; 0: until 99 % of the first event's count, at most 40 */
};

/* Of results whose breakdown is by object. */
void report_data_profile_text(FILE *out, const struct result *result, const struct data_profile_options *options);
/* html/html.h */
void report_data_profile_html(FILE *out, const struct result *result, const struct data_profile_options *options);
/* All events, all rows; a row for each datum and event. Columns are only ever added at the end. */
void report_data_profile_csv(FILE *out, const struct result *result);

#endif
