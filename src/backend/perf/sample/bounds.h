/*
 * Where samples are taken: in regions, or from one place of code to another. Probes (uprobes) report each time
 * that a thread comes to an edge of these; which samples are in between is decided when all records are in the
 * order of time.
 *
 *     task starts ──► its hits and samples, in the order of time ──► task ends
 *
 * What always holds:
 *  1. A region is one thread's: a sample is in it from the thread's outermost entry to the return of that frame,
 *     with what is called from there (probe/pass.h). A forked process goes on in its parent's regions, a thread
 *     begins in none.
 *  2. `begin` and `end` switch for all that is sampled, whichever thread came there.
 *  3. The kernel puts probes into a file: other processes that execute it also reach them, and are left out.
 *  4. If a hit was lost, no sample of the execution is used: on which side it was is not known.
 *  5. A sample whose stack pointer is above the region's frame is left out and counted: the region was left by a
 *     longjmp or an exception that no probe saw, or a signal's handler runs on another stack.
 */
#ifndef TARE_BACKEND_PERF_SAMPLE_BOUNDS_H
#define TARE_BACKEND_PERF_SAMPLE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/perf/probe/pass.h"
#include "backend/perf/probe/places.h"
#include "backend/perf/probe/trace.h"
#include "backend/perf/sample/record.h"
#include "backend/sampling.h"
#include "base/hash.h"
#include "base/vec.h"

struct bounded_task {
	uint32_t tid;
	struct thread_passes *passes; /* NULL: it has ended */
};

struct sample_bounds {
	const struct sampling_places *asked;
	bool whole_cpus;              /* any thread may come by */
	struct region_asked *regions; /* inside, begin, end: with the edges that are probed */
	size_t n_regions;
	struct region_edge *edges; /* of these */
	struct probe_places places;
	struct group_plan plan;
	struct trace_probes trace;
	bool traced; /* trace is open */
	struct pass_sums sums;
	VEC(struct bounded_task) tasks;
	struct hash_index by_tid;
	bool on;       /* between begin and end */
	uint64_t hits; /* of all processes */
	struct sampling_bounds_account account;
};

/* Finds the probes and asks the kernel whether it can place them. */
bool bounds_new(const struct sampling_places *asked, bool whole_cpus, struct sample_bounds **out,
		struct error *err);
void bounds_free(struct sample_bounds *bounds); /* NULL is accepted */

/* A probe as an event of one CPU, disabled; cgroup: of that group's tasks alone (its folder), or -1. The
 * descriptor, or -1 with errno. */
int bounds_open_probe(const struct sample_bounds *bounds, size_t probe, int cgroup, int cpu, uint64_t read_format);
extern const struct record_layout bounds_layout; /* of its records */

/* False when memory ran out. parent: 0 for what was there before. */
bool bounds_started(struct sample_bounds *bounds, uint32_t tid, uint32_t parent, bool forked);
void bounds_exec(struct sample_bounds *bounds, uint32_t tid);
void bounds_ended(struct sample_bounds *bounds, uint32_t tid);
bool bounds_hit(struct sample_bounds *bounds, size_t probe, const struct record *hit);
/* Is it to be kept? */
bool bounds_keep(struct sample_bounds *bounds, const struct sample *sample);
/* counted: what all probes' counters have; lost: what the kernel says that it dropped. */
void bounds_finish(struct sample_bounds *bounds, uint64_t counted, uint64_t lost);

#endif
