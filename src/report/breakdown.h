/* A breakdown in the report's formats: in the listing of SpeedShop's prof (Zagha, "counts(%) cum counts(%)
 * procedure (dso:file)"), and as an object of the JSON result. report_breakdown_tsv() is in report.h. */
#ifndef TARE_REPORT_BREAKDOWN_H
#define TARE_REPORT_BREAKDOWN_H

#include <stdio.h>

#include "report/json_writer.h"
#include "report/report.h"
#include "result/breakdown.h"

enum { BREAKDOWN_ROWS_SHOWN = 25 }; /* of each event, in text; the others are one line */

void breakdown_text(FILE *out, const struct breakdown *breakdown, const struct report_options *options);
void breakdown_json(struct json *json, const char *key, const struct breakdown *breakdown);

/* The rows that have counts of an event, the largest first; of equal ones in their own order. *n: how many. The
 * caller frees them with free(); NULL when memory ran out. */
const struct breakdown_row **breakdown_sorted(const struct breakdown *breakdown, size_t event, size_t *n);

#endif
