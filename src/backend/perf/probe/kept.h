/*
 * Probes that stay registered from one execution to the next.
 *
 * The kernel waits for all CPUs when the last counter of a probe is closed: 60 to 100 ms for each probe of each
 * execution. So a counter that never counts holds each probe's event (trace.h): an execution's own counters open
 * and close without that wait.
 *
 * What always holds:
 *  1. What holds a probe is a counter of a process that has ended: the kernel puts breakpoints into the memory of
 *     counters' processes alone. So an execution's counters decide alone which of its breakpoints there are.
 *  2. A probe is of a file as it was: where another one stands at its path, or it was written, all are let go of.
 *  3. What is not kept has no event here: follow.c makes one for the execution.
 */
#ifndef TARE_BACKEND_PERF_PROBE_KEPT_H
#define TARE_BACKEND_PERF_PROBE_KEPT_H

#include <sys/stat.h>

#include "backend/perf/probe/group.h"
#include "backend/perf/probe/trace.h"

enum { PROBES_KEPT = 64 };

struct kept_probe {
	struct probe_place place; /* its module is of its own; without edges */
	struct stat file;
	int holder; /* -1: none could be opened, and each execution waits */
};

struct kept_probes { /* zeroed: none */
	struct trace_probes trace;
	struct kept_probe probes[PROBES_KEPT];
	size_t n;
	struct probe_place primer; /* of the last execution's program (follow.c); its module is of its own */
};

/* Gives the plan's places and the primer their events. No counter of a kept one is open. */
void kept_probes_hold(struct kept_probes *kept, const struct group_plan *plan);
/* A follower has begun with the plan's: they can be probed. */
void kept_probes_checked(struct kept_probes *kept, const struct group_plan *plan);
/* The next execution opens it before its program begins. */
void kept_probes_set_primer(struct kept_probes *kept, const char *module, uint64_t offset);
/* No counter of them is open any more. */
void kept_probes_free(struct kept_probes *kept);

#endif
