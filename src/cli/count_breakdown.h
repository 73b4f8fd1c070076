/* --by: what the execution's locations are called. */
#ifndef TARE_CLI_COUNT_BREAKDOWN_H
#define TARE_CLI_COUNT_BREAKDOWN_H

#include <stdbool.h>

#include "base/error.h"
#include "result/result.h"

/* Adds result->breakdown to a result that has locations. */
bool count_break_down(struct result *result, enum breakdown_by by, struct error *err);

/* Is anything in it that must not be believed? Then the first such event's sentence; NULL. */
const char *count_breakdown_defect(const struct result *result);

#endif
