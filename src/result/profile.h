/*
 * A profile: where events of a program took place, by place of code and by how control came there. Plain records
 * without names. Who collects makes one (profile/collect.h from samples, profile/counted.h from the engine's
 * counts), store/profile/ keeps it, profile/named.h gives its places names, reports print that.
 *
 * Counts are of two kinds: of an event that was sampled they are samples, each standing for `gap` events; of one
 * that was counted they are the events themselves.
 *
 * What always holds:
 *  1. Each module, task (of a run) and node is there once. nodes[0] is the root: no place, its own parent. A node
 *     comes after its parent.
 *  2. Each (node, task, event) has at most one cell, and no cell's count is 0.
 *  3. Of a sampled event the cells' sum is `samples`; of a counted one it is `total`, or `why` says why there are
 *     no cells. What was lost is in `lost` and in no cell.
 */
#ifndef TARE_RESULT_PROFILE_H
#define TARE_RESULT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "result/result.h"

enum profile_gaps {
	GAPS_NONE,        /* counted, not sampled */
	GAPS_FIXED,       /* always `gap` (prime: fixed at a prime number) */
	GAPS_JITTER,      /* gap + uniform(0, gap / 8): pfmon's, Wu and Mencer */
	GAPS_EXPONENTIAL, /* mean gap; redrawn every `redraw` samples */
	GAPS_RATE,        /* the kernel adjusts the gap to a rate (perf's -F) */
};

const char *profile_gaps_name(enum profile_gaps gaps); /* "none", "fixed", "jitter", "exponential", "rate" */

/* With a gap for more samples than this, intervals are too narrow where a program's phases are long: at 16 they
 * cover 68 %, not 95 (tests/unit/gaps_test.c). */
enum { PROFILE_REDRAW_MOST = 4 };

struct profile_event {
	const char *label, *unit, *machine; /* machine: of a model; NULL */
	enum source source;                 /* hw, os, exact, model: of the event that was counted or sampled */
	const char *why;                    /* there are no cells of it: why; NULL */
	enum profile_gaps gaps;
	uint64_t gap; /* mean, in `unit`; 0 of a counted event, and of GAPS_RATE (see rate) */
	double rate;  /* of GAPS_RATE: samples a second; 0 */
	/* of EXPONENTIAL and JITTER: a gap is drawn anew every so many samples, as it was done; 1: each; 0: not
	 * to the end (because a thread or a child began), or not known (because the file ends before it says so)
	 * */
	uint32_t redraw;
	uint64_t seed;
	/* CPU time of a sample, as measured at the start to choose the gap (session/profile_gap.h); 0: the gap was
	 * given, or it could not be measured */
	double cost_ns;
	uint64_t samples;   /* obtained */
	uint64_t lost;      /* samples that the kernel says it had no room for */
	uint64_t throttled; /* how often the kernel stopped it for a while */
	bool has_total;     /* total is known: the event's count of the same execution */
	uint64_t total;
	/* Of events whose set took turns with others (tare profile --switch-timeout): which part of the time it
	 * had; 0: all of it, there are no sets. Samples and total are of that part */
	double part;
	double turn_samples; /* of a turn, as a sample sees it: what samples are to be divided by for intervals */
	bool has_scaled; /* the event's count of the whole time, as far as the turns tell, and its 95 % interval */
	double scaled, scaled_low, scaled_high; /* high INFINITY: the turns say nothing of the spread */
	/* of the counter, by what was verified here; unverified in a file: not kept (session/trusting.h) */
	enum trust trust;
	const char *evidence; /* as struct estimate has it; NULL */
};

enum profile_module_kind {
	MODULE_FILE,      /* path; offsets are of the file */
	MODULE_VDSO,      /* "[vdso]" */
	MODULE_ANONYMOUS, /* "": memory of no file; offset is the address, `pid` says whose */
	MODULE_KERNEL,  /* "[kernel]", or a kernel module's name in []; offset is the address, or from its begin */
	MODULE_UNKNOWN, /* "[unknown]": no mapping had the address */
};

struct profile_module {
	enum profile_module_kind kind;
	const char *path;
	uint32_t pid;         /* ANONYMOUS: the process; 0 */
	uint8_t build_id[20]; /* of the file as it was; build_id_bytes 0: not known */
	uint8_t build_id_bytes;
};

struct profile_task {
	uint32_t pid, tid;
	const char *name; /* its last comm; "" if not known */
	uint32_t run;     /* of profile->runs; 0 */
};

struct profile_node {
	uint32_t parent; /* the caller's node; 0: none */
	uint32_t module;
	/* in the module. Of a node that has cells: the instruction. Of a caller: the last byte of the call
	 * instruction (the return address - 1), so that it is in the caller's function and line */
	uint64_t offset;
};

/* One of several executions whose samples are in one profile. Each task is of one run. */
struct profile_run {
	uint64_t seed;
	int wait_status;
	uint64_t *gaps;    /* [n_events]; 0 of GAPS_RATE */
	uint64_t *samples; /* [n_events]: of the cells whose tasks are this run's */
};

struct profile_cell {
	uint32_t node, task, event;
	uint64_t count;
};

#define PROFILE_NO_CALLER UINT32_MAX

/*
 * One arc of an exact call graph. Samples have none: their nodes say who called whom. The inclusive count of a
 * function is the sum over all arcs that lead to it from other functions.
 */
struct profile_arc {
	/* caller_module PROFILE_NO_CALLER: the program, a thread or a process begins there (caller_offset is 0) */
	uint32_t caller_module, callee_module;
	uint64_t caller_offset; /* the last byte of the call (or jump, of a tail call) */
	uint64_t callee_offset; /* the function's entry */
	uint64_t calls;
	/* [n_events]: events from the call to its return, of the callee and all that it called. A call of a
	 * function that is active already on the same stack adds 0: it is in the outermost call's. 0 of an event
	 * that has no cells (why) */
	uint64_t *inclusive;
};

/* One sample, where its time is asked for. */
struct profile_moment {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t node, task, event;
};

/* The begin or the end of a region that the program itself names (libtare). */
struct profile_mark {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t thread;
	bool end;
	const char *region;
};

enum profile_stacks { STACKS_NONE, STACKS_FRAME_POINTER, STACKS_DWARF, STACKS_EXACT };

const char *profile_stacks_name(enum profile_stacks stacks); /* "none", "frame pointers", "DWARF", "exact" */

struct profile {
	struct arena arena;
	struct machine_facts machine;
	const char *const *command; /* NULL-terminated; NULL: what ran already was profiled */
	const char *target;         /* "process 123", "all CPUs"; NULL with a command */
	const char *tare_version;
	double clock_mhz;            /* of its first CPU, as the kernel told when it was taken; 0: not known */
	uint64_t started_unix;       /* seconds */
	uint64_t first_ns, last_ns;  /* CLOCK_MONOTONIC: when sampling began and ended */
	uint64_t user_ns, system_ns; /* the program's, 0 without one */
	int wait_status;             /* of the command */
	int pid;                     /* that its file is named after (SpeedShop's), 0: none */
	enum profile_stacks stacks;
	struct profile_event *events;
	size_t n_events;
	struct profile_module *modules;
	size_t n_modules;
	struct profile_task *tasks;
	size_t n_tasks;
	struct profile_run *runs; /* profile/merge.h makes them */
	size_t n_runs;            /* 0: one execution */
	bool checks_gaps; /* runs took two gaps in turn: 0, 2, 4 … the events' own, 1, 3, 5 … another */
	struct profile_node *nodes;
	size_t n_nodes;
	struct profile_cell *cells; /* by node, task, event, ascending */
	size_t n_cells;
	struct profile_arc *arcs;
	size_t n_arcs;
	/* of all samples, in order of time; only where they are asked for (a kept file has them) */
	struct profile_moment *moments;
	size_t n_moments;
	struct profile_mark *marks; /* by time; of one execution (n_runs 0) */
	size_t n_marks;
	const char **notes; /* what a reader has to know */
	size_t n_notes;
};

/* Adds a note, which is of the profile's arena or a constant; NULL: there was no memory for it. False when memory
 * ran out. Of a profile that is complete: one that is being built has profile_builder_note(). */
bool profile_add_note(struct profile *profile, const char *note);

static inline void profile_free(struct profile *profile)
{
	arena_free(&profile->arena);
	*profile = (struct profile){0};
}

#endif
