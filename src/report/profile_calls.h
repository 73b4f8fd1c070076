/*
 * A function's callers and callees, of one event: what a butterfly listing and the browser show.
 *
 * What always holds, where the profile has stacks: the callers' counts add up to the function's inclusive count (of the
 * outermost call of a recursion; a function that nothing called has the caller "(none)"), and its own count and the
 * callees' (of the innermost call) do so, too.
 */
#ifndef TARE_REPORT_PROFILE_CALLS_H
#define TARE_REPORT_PROFILE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/named_profile.h"

#define PROFILE_NO_CALLER UINT32_MAX /* of a function at the bottom of its stack */

struct profile_call {
	uint32_t row; /* of by_function */
	uint64_t count;
};

struct profile_calls {
	uint64_t self, inclusive;
	struct profile_call *callers, *callees; /* the largest first */
	size_t n_callers, n_callees;
	bool recursive; /* it is in some stack more than once */
};

/* *out is the caller's, to be freed by profile_calls_free(). False when memory ran out. */
bool profile_calls_of(const struct named_profile *named, uint32_t row, size_t event, struct profile_calls *out);
void profile_calls_free(struct profile_calls *calls);

#endif
