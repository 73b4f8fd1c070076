/*
 * The counters and probes of one thread, in one group, and the ring buffer that their readings come through.
 *
 * What always holds:
 *  1. Every hit of a probe carries the group's counts of that thread at that instant: the kernel writes them in
 *     the trap.
 *  2. A hit that did not arrive is known of: by the kernel's record of lost ones, and because the probes also
 *     count their hits.
 *  3. The group is pinned: on the PMU all the time, or, where it does not fit, not at all (which is said). Probes
 *     are of it, so that a hit while it waited for its turn would not be seen. Others' counters wait instead, and
 *     are scaled.
 *  4. The leader counts nothing: it can always be opened, so that a counter that cannot is missing alone.
 *
 * Sources: perf_event_open(2), MMAP layout and PERF_SAMPLE_READ; the uprobe PMU:
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-uprobe is its format folder. Samples of groups may not
 * be inherited before Linux 6.12, and a probe's path is a pointer into the memory of whoever forks
 * (perf_uprobe_init()), so that each thread has a group of its own, opened by follow.c.
 */
#ifndef TARE_BACKEND_PERF_PROBE_GROUP_H
#define TARE_BACKEND_PERF_PROBE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend/perf/probe/pass.h"
#include "base/error.h"
#include "event/event.h"

struct probe_place {
	const char *module;
	uint64_t offset;
	uint64_t trace_id;  /* trace.h; 0: none, by the PMU */
	bool all_registers; /* an indirect jump: any may hold its target */
	bool checked;       /* a process had it before: it can be probed */
	const struct edge_ref *edges;
	size_t n_edges;
};

struct group_event {
	const struct event_encoding *encoding;
	unsigned levels;
	int os_errno; /* why it could not be opened where it was tried; 0 */
};

struct group_plan {
	struct group_event *events;
	size_t n_events;
	struct probe_place *probes;
	size_t n_probes;
	uint32_t uprobe_type; /* of the PMU */
};

struct probe_group;

/* Disabled, with all events whose os_errno is 0; those that the kernel refuses get theirs. False, with the errno,
 * when a probe cannot be opened (*probe: which; SIZE_MAX: none of them is at fault) or the buffer. */
bool group_open(struct group_plan *plan, pid_t tid, size_t pages, struct probe_group **out, size_t *probe);
/* The same of a program that is held before its exec, which puts the probes in: nothing waits for them. */
bool group_open_before_exec(struct group_plan *plan, pid_t tid, size_t pages, struct probe_group **out,
			    size_t *probe);
struct perf_event_attr;
/* What makes an event this probe: of a thread, a process or a CPU. */
void group_place_probe(struct perf_event_attr *attr, const struct group_plan *plan,
		       const struct probe_place *probe);
/* Can the kernel put a probe there? Asked for where it answers: in a process that has the file in memory (a
 * program that maps it later would run without the probe, and nobody would be told). False with errno. */
bool probe_check(const struct group_plan *plan, size_t probe);
/* A probe of one process that reports nothing; the descriptor, or -1 with errno. before_exec: as above. */
int primer_open(const struct group_plan *plan, pid_t process, const struct probe_place *place, bool before_exec);
/* A probe of one process that executes nothing, and so never counts (kept.h). */
int holder_open(const struct group_plan *plan, pid_t process, const struct probe_place *place);
bool group_enable(struct probe_group *group);
int group_fd(const struct probe_group *group); /* to be polled */
/* Gives the hits so far to passes. False: hits were lost, and no more is to be believed. */
bool group_drain(struct probe_group *group, struct thread_passes *passes);
/* Of the thread as it stands; only when everything has been drained. NULL: every hit has arrived; otherwise why
 * not. */
const char *group_incomplete(struct probe_group *group);
uint64_t group_hits(const struct probe_group *group);
/* From its first hit to its last. */
uint64_t group_hits_ns(const struct probe_group *group);
void group_close(struct probe_group *group); /* NULL is accepted */

#endif
