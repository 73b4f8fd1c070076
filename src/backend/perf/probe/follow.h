/*
 * The process that follows a program's threads: it opens a group (group.h) for each before its first instruction,
 * and adds up.
 *
 * Why a process of its own: new threads are seen by ptrace(2), whose stops would otherwise be reported to whoever
 * waits for the program; and the buffers have to be emptied while the program runs. It is the tracer, tare stays
 * the parent.
 *
 * What always holds:
 *  1. No thread that belongs to the target runs without its group, or the report says that the counts are not
 *     complete, and why.
 *  2. The program's signals, stops and status are its own: what is delivered to it is passed on.
 *  3. Probes that take nearly all of the time are taken out, and then no region is counted.
 *  4. When this process ends the program runs on (no PTRACE_O_EXITKILL).
 */
#ifndef TARE_BACKEND_PERF_PROBE_FOLLOW_H
#define TARE_BACKEND_PERF_PROBE_FOLLOW_H

#include <limits.h>

#include "backend/perf/probe/group.h"

enum { REGION_WHY_BYTES = 256 };

/* Shared with tare: in memory mapped by both. */
struct follow_report {
	char why[REGION_WHY_BYTES]; /* the counts are not complete; "": they are */
	struct error failed;        /* it could not begin; code 0: it could */
	uint64_t hits, threads;     /* of the threads that had any */
	bool too_dear;              /* the probes were taken out (stop_probing()); why also says so */
	uint64_t unprimed;          /* processes whose first probed instruction is a page fault (prime()) */
	char primer[PATH_MAX];      /* the file, and the offset in it, of the program's primer; "": none */
	uint64_t primer_offset;
	int begun;
};

struct follow_task {
	pid_t program; /* held before its exec */
	bool children; /* also follow what it forks */
	const struct region_asked *regions;
	struct group_plan *plan;
	const struct probe_place *primer; /* probably the program's; its module may be NULL */
	struct pass_sums *sums;           /* shared */
	struct follow_report *report;     /* shared */
	int *os_errno;                    /* shared: [plan->n_events] */
	double trap_ns;                   /* what a hit costs; 0: not known */
	int control; /* one byte is written when it has begun; one read, or the end of file, ends it */
};

_Noreturn void follow(const struct follow_task *task);

#endif
