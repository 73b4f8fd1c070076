/* Results of several commands → a comparison: what differs beyond chance, and beyond this machine's noise
 * floor. */
#ifndef TARE_TRUST_COMPARISON_H
#define TARE_TRUST_COMPARISON_H

#include "base/error.h"
#include "result/comparison.h"
#include "store/calibration/calibration.h"

/* In how many of 100 comparisons `detectable` would have been found. */
#define COMPARISON_POWER 0.8

/* results[0 … n-1], n >= 2, are borrowed (the array and names[n] are not), results[0] is the baseline. Rows are
 * those of all results together, in the order of their first; per-thread, per-process and per-CPU rows are left
 * out. calibration: of this machine, whose noise floors count; NULL. NULL when memory ran out. The caller frees
 * it with comparison_free(). */
struct comparison *trust_compare(const struct result *const *results, const char *const *names, size_t n,
				 double confidence, const struct calibration *calibration, struct error *err);

#endif
