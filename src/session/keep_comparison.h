/* Comparisons that are kept: what was found of each command is kept with its run, and a comparison is put together
 * again from its runs. What it found is not computed again: a calibration, and the noise floor with it, may have
 * changed since. */
#ifndef TARE_SESSION_KEEP_COMPARISON_H
#define TARE_SESSION_KEEP_COMPARISON_H

#include "result/comparison.h"
#include "session/keep.h"

/* The side of command `at`, for run->side; NULL when memory ran out. It borrows from the comparison, and what it
 * has of its own is the arena's. */
struct kept_side *keep_side(struct arena *arena, const struct comparison *comparison, size_t at);

struct kept_comparison {
	struct comparison *comparison;
	struct kept_run *runs; /* [n]: its results are theirs */
	size_t n;
};

/* The comparison that a run is of; its runs may have come from another store, in any order. True with
 * out->comparison NULL: the run has none, or other runs of it are not in the store any more. The caller frees it
 * with keep_comparison_free(). */
bool keep_load_comparison(const struct keeping *keeping, const struct kept_run *run, struct kept_comparison *out,
			  struct error *err);
void keep_comparison_free(struct kept_comparison *kept);

#endif
