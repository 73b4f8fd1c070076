/* For formats without a source column: which of their numbers a machine model gave. */
#ifndef TARE_REPORT_MODELLED_H
#define TARE_REPORT_MODELLED_H

#include <stdio.h>

#include "result/result.h"

/* A line that begins with `before` and names them; nothing when there are none. */
void modelled_print(FILE *out, const struct result *result, const char *before);

/* What a reader has to know of the result (that the program failed, above all): a line each, behind `before`. */
void notes_print(FILE *out, const struct result *result, const char *before);

#endif
