/* Where a program's time goes, by cause: what `tare explain` reports. A plain record; texts and arrays are in its
 * arena.
 *
 * What always holds:
 *  1. Times are seconds, of all threads together. A time that is not known is NAN, never 0.
 *  2. least <= typical <= most where they are known.
 *  3. A cause has no time that its own counts or its own measurement does not give: what is left of the measured
 *     time is `unexplained`, and what the causes have above it is `overlap`; one of the two is 0. */
#ifndef TARE_RESULT_EXPLANATION_H
#define TARE_RESULT_EXPLANATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "result/breakdown.h"
#include "result/result.h"

enum cause {
	CAUSE_COMPUTING,
	CAUSE_L1,
	CAUSE_L2,
	CAUSE_L3,
	CAUSE_MEMORY,
	CAUSE_TLB,
	CAUSE_BRANCHES,
	CAUSE_FAULTS,
	CAUSE_CALLS,
	CAUSE_LOCKS, /* the rest: time on no CPU */
	CAUSE_IO,
	CAUSE_SLEEPING,
	CAUSE_WAITING, /* anything else: children, signals */
	CAUSE_NOT_RUNNING,
	CAUSES,
	CAUSES_COUNTED = CAUSE_LOCKS, /* those before it come from counts and costs */
};

const char *cause_name(enum cause cause); /* "computing", "memory", … */

struct bounded { /* NAN: not known */
	double typical, least, most;
};

/* One event of a cause, and its cost. */
struct explained_part {
	const char *event;     /* "l2-hits:u", or two: "dtlb-misses:u − dtlb-walks:u" */
	const char *operation; /* of the table of costs */
	bool counted;
	double count;
	enum source source;
	const char *machine;    /* of a model */
	const char *why;        /* not counted, or without a cost: why; NULL */
	struct bounded cost;    /* seconds of one */
	struct bounded seconds; /* count × cost */
	const char *cost_source;
};

struct explained_cause {
	enum cause cause;
	bool known; /* typical is: of a part at least */
	struct bounded seconds;
	bool measured; /* from the system's account or by looking at the threads, not from counts */
	struct explained_part *parts;
	size_t n_parts;
	const char *why; /* not known: why; NULL */
};

/* A function, line or object: its share of the causes, by typical costs. */
struct explained_place {
	const char *name, *module, *file, *kind; /* as struct breakdown_row has them */
	unsigned line;
	const char *allocated_in; /* of a heap object: where it was allocated; NULL */
	unsigned allocated_at;
	double seconds[CAUSES_COUNTED]; /* NAN: the cause has no counts by place */
	double sum;
};

/* Where threads waited, by stack, of an execution that was sampled each time that a thread left its CPU. */
struct explained_wait {
	enum cause cause;
	double seconds;
	uint64_t times;
	long call;              /* the system call that it waited in; -1: in none; -2: not known */
	const char **functions; /* the user's, the innermost first */
	size_t n_functions;
	const char *file; /* the first line of the stack that is not of the C library, else of it; NULL */
	unsigned line;
	bool is_own; /* it is not of the C library */
};

/* Page faults of a source line of that execution. */
struct explained_fault {
	const char *function, *file; /* file NULL: not known */
	unsigned line;
	uint64_t faults;
};

/* A system call of an execution under the engine: from its begin to its end, so with all waiting in it. */
struct explained_call {
	const char *name;
	uint64_t count;
	double seconds; /* NAN: it does not come back, or was not timed */
	/* of call_places: the user's functions, the innermost first … */
	const char **functions;
	size_t n_functions;
	const char *file; /* … and the first line of the stack that is not of the C library; NULL */
	unsigned line;
};

struct explained_advice {
	const char *rule;     /* "conflict-misses", … */
	const char *text;     /* what to do */
	const char *evidence; /* the numbers that the rule applies to */
	const char *function; /* that it is about, or of code without lines; NULL */
	const char *file;     /* the line behind it; NULL: none is known, and why */
	unsigned line;
	const char *why_no_line;
	bool of_function; /* it is about all of the function; the line has most of it */
	/* that it is about, by typical costs; of the time that shares are of. NAN: no cost is known */
	double seconds, share;
};

struct explanation {
	struct arena arena;
	const char *const *command;
	const char *on;      /* as it was asked for */
	const char *machine; /* whose costs these are: title */
	const char *costs_source;
	const char *why_no_costs; /* NULL: there are some */
	/* of one execution without an engine */
	bool has_measured;
	double elapsed_s, user_s, system_s, cpu_s;
	double not_running_s, waiting_s; /* NAN: not known */
	double total_s;                  /* that the causes are compared with */
	size_t threads_most;
	double confidence;
	struct explained_cause causes[CAUSES];
	double sum_typical, sum_least, sum_most; /* of all that is known */
	struct bounded counted;                  /* of the causes on the CPU, which are compared with cpu_s */
	double unexplained_s, overlap_s;         /* of total_s; NAN without it */
	bool modelled, exact, hardware;          /* sources of the counts */
	enum breakdown_by by;                    /* of the places */
	struct explained_place *places;
	size_t n_places;
	bool has_waits;
	VEC(struct explained_wait) waits;   /* the longest first */
	VEC(struct explained_fault) faults; /* the most first */
	double waits_s, preempted_s;        /* thread-seconds: of all waits; ready, while others ran */
	const char *why_no_waits;           /* asked for, and not measured; NULL */
	bool has_calls;
	VEC(struct explained_call) calls; /* the longest time first */
	/* those that were timed, by call and by the stack that they were made from; likewise */
	VEC(struct explained_call) call_places;
	double calls_s;                      /* thread-seconds: of all that are known */
	const char *why_no_calls;            /* as why_no_waits */
	VEC(struct explained_advice) advice; /* the longest time first */
	VEC(struct result_note) notes;
	struct result *result; /* of the counting execution; freed with it */
	int wait_status;       /* of the execution that was not under an engine */
};

void explanation_free(struct explanation *e);

#endif
