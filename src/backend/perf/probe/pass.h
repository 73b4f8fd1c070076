/*
 * From probes' hits to passes of regions: one thread's state, and the sums over threads.
 *
 *     hit ──► ENTER: a pass opens, unless the thread is in one ──► … ──► LEAVE by the same frame: it ends, and is counted
 *
 * What always holds:
 *  1. A pass is the difference of two readings of one thread's counters. Of a pass whose end was not seen nothing
 *     is counted.
 *  2. Frames tell a region that comes again (deeper: part of the open pass) from one whose end was never seen (a
 *     longjmp, an exception: the stack is above it). Stacks grow downwards, on all machines that Linux runs on
 *     here.
 *  3. Plain state without system calls: tests/unit/region_pass_test.c drives it.
 */
#ifndef TARE_BACKEND_PERF_PROBE_PASS_H
#define TARE_BACKEND_PERF_PROBE_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/region.h"

/* The sums of one region over all threads. */
struct pass_sum {
	uint64_t entries, exits, unbalanced, threads;
	uint64_t enabled_ns, running_ns; /* of the passes that ended */
	/* of any probes, in those passes: each has one trap, from the first one's end and the last one's begin,
	 * and others' */
	uint64_t hits;
	/* as passes_inside() was asked, in passes whose end was not seen */
	uint64_t doubtful;
};

/* What probes do to a count of instructions at user level: measured on this machine (trial.h). */
struct probe_bias {
	bool known;
	int64_t trap;                 /* counted for the trap, before the reading */
	int64_t missed[EDGE_CLASSES]; /* of a probed instruction of that class, since the kernel did it itself */
};

struct pass_sums {
	struct probe_bias bias;
	int64_t *corrections; /* [region]: to be added to its instructions */
	size_t n_regions, n_events;
	struct pass_sum *regions; /* [n_regions] */
	uint64_t *counts;         /* [region × n_events + event] */
};

struct edge_ref { /* an edge of the regions asked for */
	uint32_t region, edge;
};

/* What a probe reports. */
struct hit {
	uint64_t enabled_ns, running_ns;
	const uint64_t *values; /* [n_events] */
	uint64_t ip;
	/* the register of that DWARF number */
	uint64_t (*reg)(const void *context, int number);
	const void *context;
};

struct thread_passes; /* of one thread */

/* NULL when memory ran out. regions and sums are borrowed. */
struct thread_passes *passes_new(const struct region_asked *regions, struct pass_sums *sums);
void passes_hit(struct thread_passes *passes, const struct edge_ref *edges, size_t n, const struct hit *hit);
/* Does the thread come to the region by this edge, which was hit? Whether it is in a pass already does not
 * matter. */
bool edge_enters(const struct region_asked *asked, const struct region_edge *edge, const struct hit *hit);
/* The thread goes on where `from` was: it was forked there. */
void passes_fork(struct thread_passes *passes, const struct thread_passes *from);
/* Is a pass open of any region? Not of one whose frame is below the stack pointer (0: it is not known): *above. */
bool passes_inside(struct thread_passes *passes, uint64_t stack, bool *above);
/* The thread has executed another program: what was open has ended without being seen. */
void passes_exec(struct thread_passes *passes);
/* The thread has ended; adds what is only known now, and frees. NULL is accepted. */
void passes_end(struct thread_passes *passes);

#endif
