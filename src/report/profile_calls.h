/*
 * A function's callers and callees, of one event: what a butterfly listing and the browser show.
 *
 * What always holds, where the profile has stacks: the callers' counts add up to the function's inclusive count
 * (of the outermost call of a recursion; a function that nothing called has the caller "(none)"), and its own
 * count and the callees' (of the innermost call) also do so.
 * Of an exact call graph the callers' counts add up in the same way; what a recursion calls counts with the
 * outermost call, so that a function's own count and the callees' may be more than its inclusive count there.
 */
#ifndef TARE_REPORT_PROFILE_CALLS_H
#define TARE_REPORT_PROFILE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/named_profile.h"

struct profile_call {
	uint32_t row;   /* of by_function; PROFILE_NO_CALLER: none, a stack begins there */
	uint64_t count; /* inclusive */
	uint64_t calls; /* counted ones; 0 of samples */
};

struct profile_calls {
	uint64_t self, inclusive;
	struct profile_call *callers, *callees; /* the largest first */
	size_t n_callers, n_callees;
	bool recursive; /* it calls itself, at once or through others */
	bool nested;    /* inclusive is not known (named_count.nested) */
	bool counted;   /* calls were counted, not sampled */
};

/* *out is the caller's, to be freed by profile_calls_free(). False when memory ran out. */
bool profile_calls_of(const struct named_profile *named, uint32_t row, size_t event, struct profile_calls *out);
void profile_calls_free(struct profile_calls *calls);

#endif
