/* What a report says of a region beside its counts. */
#ifndef TARE_REPORT_REGION_H
#define TARE_REPORT_REGION_H

#include "base/str.h"
#include "result/region.h"

const char *region_kind_name(enum region_kind kind); /* "function", "code", "library" */

/* "entered 100 times and left 99 times"; "entered 100 times" when it was left as often; "never entered". */
void region_append_passes(struct str *text, const struct region_row *row);

/* What is wrong with its passes ("in 1 of 4 threads it was entered and left unequally often: …"); appends nothing
 * when all is well. */
void region_append_trouble(struct str *text, const struct region_row *row);

#endif
