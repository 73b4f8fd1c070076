/*
 * The columns of a CSV row (RFC 4180): each writes a comma, then its value. Quotes inside of quotes are doubled.
 */
#ifndef TARE_REPORT_CSV_COLUMNS_H
#define TARE_REPORT_CSV_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

/* NULL is as "". */
void csv_text(FILE *out, const char *text);
/* All digits that tell the value from others; empty where it is not known or not finite. */
void csv_number(FILE *out, bool known, double value);

#endif
