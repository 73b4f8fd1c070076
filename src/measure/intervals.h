/*
 * Counts over time: what was counted in each interval of an execution, while it runs.
 *
 * 1. An interval's count is the difference of two readings of the same counters. Readings are not taken at one
 *    instant in all threads: what is missing from one interval is in the next, so that the sum over all intervals
 *    is the count of the whole execution.
 * 2. A counter that shared its register in the interval is scaled by the interval's own enabled and running time,
 *    and says so (SOURCE_SCALED, share_running). Then the sum is not that of the whole.
 * 3. The last interval ends where the execution does, and is shorter than the rest.
 */
#ifndef TARE_MEASURE_INTERVALS_H
#define TARE_MEASURE_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "result/result.h"

struct time_count {
	bool known;
	double value; /* in the event's unit */
	enum source source;
	double share_running; /* 0 … 1 of the interval */
	const char *why;      /* when not known */
};

struct time_interval {
	double begin_seconds, end_seconds; /* since the execution began */
	const struct event *const *events;
	size_t n;
	const struct time_count *counts; /* [n] */
	const struct reading *totals;    /* [n], since the execution began */
	bool last;
};

/* Called in order of time; what it is given lives until it returns. */
typedef void interval_tell(void *context, const struct time_interval *interval);

struct intervals {
	uint64_t every_ns; /* 0: only when they are asked for by intervals_read() */
	interval_tell *tell;
	void *context;
	bool begins_off; /* counting is not on yet: intervals_turned() */
	size_t missed;   /* readings that failed */
	/* inside */
	const struct event *const *events;
	size_t n;
	uint64_t began_ns, ended_ns, next_ns; /* the last interval ended at ended_ns */
	struct reading *before;               /* n, cumulative; of state FAILED: not known how much was told */
	struct time_count *counts;
	bool on, was_on; /* now; at some time in the interval */
};

/* The execution begins now; every_ns, tell, context and begins_off are set; tell NULL: nobody wants intervals.
 * False when memory ran out. */
bool intervals_begin(struct intervals *intervals, const struct event *const *events, size_t n, uint64_t now_ns);
/* Tells what was counted since the last interval was told: now[n] are cumulative readings. NULL: they could not be
 * read; then the next interval also has these counts. */
void intervals_read(struct intervals *intervals, const struct reading *now, uint64_t now_ns, bool last);
/* Counting was turned on or off: of an interval in which it was never on, nothing is known. */
void intervals_turned(struct intervals *intervals, bool on);
void intervals_free(struct intervals *intervals);

#endif
