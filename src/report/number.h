/* How a number looks to a reader: grouped digits, units of a readable size, and no more digits than its
 * interval makes meaningful. CSV and JSON do not use this: they give full precision in base units. */
#ifndef TARE_REPORT_NUMBER_H
#define TARE_REPORT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "result/result.h"

enum { NUMBER_BYTES = 64 }; /* enough for any grouped double that is shown */

/* 1234567.25 with 1 decimal is "1,234,567.3"; infinities are "∞". */
void number_group(char out[NUMBER_BYTES], double value, int decimals);

/* Four significant digits and an SI prefix: "11.99 G". */
void number_compact(char out[NUMBER_BYTES], double value);

/* The shortest decimal text that reads back as the same double; value is finite. */
void number_exact(char out[NUMBER_BYTES], double value);

struct number_scale {
	double factor;    /* shown = value × factor */
	const char *unit; /* of what is shown; "" when the unit goes without saying */
	int decimals;
};

/* What of times and of sizes a table has: they get one unit each, so that a column is compared at a glance.
 * Zeroed: each number has the unit of its own size. */
struct number_units {
	double time_least, time_most; /* ns, of those above 0 */
	double bytes_least, bytes_most;
};

void number_units_add(struct number_units *units, const struct estimate *estimate);

/* As number_scale_of(), in the table's unit. */
struct number_scale number_scale_in(const struct number_units *units, const struct estimate *estimate,
				    bool is_metric);

/* For an estimate that is known. Times and sizes get a readable unit; counts keep theirs, unless the event's
 * name already says it ("page-faults", unit "faults"). */
struct number_scale number_scale_of(const struct estimate *estimate, bool is_metric);

/* Decimals that show two significant digits of a half-width, at least `least` and at most 6. */
int number_half_width_decimals(double half_width, int least);

#endif
