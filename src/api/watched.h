/* Do a set's counters still count? The trial of tare_add() has seen it, but they can be taken away later: by a
 * hypervisor (time goes on, counts stand still), or by prctl(PR_TASK_PERF_EVENTS_DISABLE) in the program (the time
 * stands still). The count is too small then, and nothing of the kernel says so.
 *
 * 1. Between two readings of a thread's own started set the thread was running: the enabled time is longer, and an
 *    event that each program has (`always_moves()`) has a larger count if it was on its counter all the time.
 * 2. One that stands still is read again until it moves: after 20 ms of the thread's time it has lost counts, and
 *    with it, where it is a hardware counter, all hardware counters of the set. (A clock that goes by ticks of 10 ms
 *    is not a loss.)
 * 3. What was taken away and given back between two readings is not seen. */
#ifndef TARE_API_WATCHED_H
#define TARE_API_WATCHED_H

#include "api/counters.h"

struct watched {
	bool on;                                    /* last[] is a reading of the set as it is started */
	struct tare_reading last[TARE_EVENTS_MOST]; /* raw */
};

/* The calling thread's own set? */
bool watched_possible(const struct tare_counters *c);

/* The set is started, and this was a raw reading before. */
void watched_begin(const struct tare_counters *c, const struct tare_reading *raw);

/* After a raw reading: events that have stood still since the last one get TARE_LOST_COUNTS. Cheap. */
void watched_reading(const struct tare_counters *c, const struct tare_reading *raw);

/* The last one, with the counters still on. False: this set is not watched. */
bool watched_end(const struct tare_counters *c, struct tare_reading *raw);

/* Does every counter of the calling thread's set, which is on, move? lost[] may be NULL. */
bool watched_moves(const struct tare_counters *c, const struct tare_reading *last, const struct tare_reading *now,
		   bool *lost);

#endif
