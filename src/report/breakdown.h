/* A breakdown's rows in their order, and as an object of the JSON result. Its text is built in build_breakdown.c;
 * report_breakdown_tsv() is in report.h. */
#ifndef TARE_REPORT_BREAKDOWN_H
#define TARE_REPORT_BREAKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "report/json_writer.h"
#include "result/breakdown.h"

enum { BREAKDOWN_ROWS_SHOWN = 25 }; /* of each event, in text; the others are one line */

void breakdown_json(struct json *json, const char *key, const struct breakdown *breakdown);

/* The stack of a row's allocation: "malloc (libc.so.6) < main (a.out:FILE:3)". */
void breakdown_append_frames(struct str *text, const struct breakdown_row *row);

double breakdown_share(uint64_t count, uint64_t sum); /* 0 of nothing */

/* The rows that have counts of an event, the largest first; of equal ones in their own order. inclusive: by
 * what they have with what was called there, as far as it is known. *n: how many. The caller frees them with
 * free(); NULL when memory ran out. */
const struct breakdown_row **breakdown_sorted(const struct breakdown *breakdown, size_t event, bool inclusive,
					      size_t *n);

#endif
