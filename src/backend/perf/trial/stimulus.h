/* Known work: what a counter must have counted afterwards, if it counts what its name says.
 *
 * 1. The least counts are arithmetic about the code in stimulus.c, with room for what is measured differently from
 *    CPU to CPU; they tell a counter that works from one that is a constant zero, not a good one from a bad one
 *    (that is `tare verify`'s work).
 * 2. A stimulus takes at most some 100 µs (5 ms where energy is waited for), and leaves the process as it was. */
#ifndef TARE_BACKEND_PERF_TRIAL_STIMULUS_H
#define TARE_BACKEND_PERF_TRIAL_STIMULUS_H

#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

struct stimulus {
	const char *what; /* "a loop of 40000 instructions" */
	/* Does the work; false when this machine cannot (then nothing is known). *least_count: what must have been
	 * counted at least. */
	bool (*run)(uint64_t *least_count);
};

/* For an event with this encoding; NULL when none is known. The canonical name decides where there is one. pmu:
 * the name of its PMU for types beyond PERF_TYPE_MAX, else "". levels: what is counted of it. */
const struct stimulus *stimulus_find(const struct event *event, const struct event_encoding *encoding,
				     const char *pmu, unsigned levels);

/* One of each: what an event that has no stimulus of its own is tried with. */
void stimulus_all(void);

/* A user-level loop of STIMULUS_LOOPS turns, two instructions each, one of them a branch. */
enum { STIMULUS_LOOPS = 20000 };
void stimulus_loop(uint64_t turns);

#endif
