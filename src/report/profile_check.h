/* What two gaps tell of the same rows: cells of the listing, and what is said below it. */
#ifndef TARE_REPORT_PROFILE_CHECK_H
#define TARE_REPORT_PROFILE_CHECK_H

#include "report/build.h"
#include "result/named_profile.h"

/* "yes", "no", "runs differ", "too few"; "" of none. */
const char *profile_verdict_text(enum named_verdict verdict);
/* "agrees", "depends", "varies", "few", NULL of none: stable names for JSON and CSV. */
const char *profile_verdict_name(enum named_verdict verdict);

/* "3 runs", "6 runs, in turn with a gap of 1 ms and 1.62 ms" */
void profile_append_runs(struct str *text, const struct profile *profile, size_t event,
			 void (*append_amount)(struct str *text, double value, const char *unit));

/* Below a listing: each row whose share depends on the gap, and how many agree. rows[n] as listed. */
void build_profile_check(struct document *document, size_t event, const struct named_row *const *rows, size_t n,
			 bool by_line);

#endif
