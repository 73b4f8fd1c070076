/*
 * Where the time of waiting goes: what was seen of threads that left a CPU → time by place.
 *
 * A thread that leaves its CPU is sampled (context-switches, a sample each time: its place), then switched out;
 * later it is switched in. Between out and in it waits, or, where it was preempted, it is ready. What it waits
 * for, a look at it meanwhile tells: the system call that it is in.
 *
 *     sample   out ........ look ........ in        one wait, of the sample's place, in the call of the look
 *
 * What always holds:
 *  1. A wait that was not seen to end has no time.
 *  2. A place's time is the sum of its waits; a preempted thread's time is of no place.
 *  3. A wait without a sample since the thread last came in is of OFF_CPU_NO_PLACE.
 * These functions run nothing and read no clock. Times are ns of one clock. */
#ifndef TARE_EXPLAIN_OFF_CPU_H
#define TARE_EXPLAIN_OFF_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum off_cpu_kind { OFF_CPU_SAMPLE, OFF_CPU_OUT, OFF_CPU_IN, OFF_CPU_LOOK };

#define OFF_CPU_NO_PLACE UINT32_MAX
#define OFF_CPU_NO_CALL (-2L) /* not looked at; -1 is the kernel's: in no system call */

struct off_cpu_event {
	uint64_t time_ns;
	uint32_t tid;
	enum off_cpu_kind kind;
	bool preempted; /* OUT */
	uint32_t place; /* SAMPLE */
	long call;      /* LOOK */
};

struct off_cpu_wait {
	uint32_t place;
	long call; /* of the last look in it; OFF_CPU_NO_CALL */
	uint64_t waits, ns;
};

struct off_cpu {
	VEC(struct off_cpu_wait) waits; /* one of each place and call, the longest time first */
	uint64_t preempted_ns;
	uint64_t unended; /* waits */
};

/* Events in any order: they are sorted here, those of one time stay as they are. False: memory ran out. To be
 * freed with off_cpu_free() either way. */
bool off_cpu_join(struct off_cpu_event *events, size_t n, struct off_cpu *out);
void off_cpu_free(struct off_cpu *off);

#endif
