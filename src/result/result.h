/* Plain records: what was read, what one run gave, and what is reported.
 *
 * struct estimate is the project's currency: no number reaches a report in any other form. */
#ifndef TARE_RESULT_RESULT_H
#define TARE_RESULT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "result/breakdown.h"
#include "result/locations.h"
#include "result/region.h"

/* Where a number came from. */
enum source {
	SOURCE_NONE,    /* there is no number */
	SOURCE_HW,      /* a hardware counter, all the time */
	SOURCE_OS,      /* a count or clock kept by the kernel */
	SOURCE_EXACT,   /* tare's engine */
	SOURCE_MODEL,   /* a machine model */
	SOURCE_SCALED,  /* a hardware counter, part of the time, extrapolated */
	SOURCE_SAMPLED, /* estimated from samples */
};

enum trust { TRUST_UNVERIFIED, TRUST_VERIFIED, TRUST_BIASED, TRUST_REFUTED };

const char *source_name(enum source source); /* "hw", "os", … ; "none" */
const char *trust_name(enum trust trust);    /* "verified", … */
/* Behind a number or its source: "✓", "~", "✗", or nothing. The engine's counts are verified by the tests of
 * their release, always: no mark. */
const char *trust_mark(enum trust trust, enum source source);
/* The one that a reader has to know of first: refuted, biased, unverified, verified. */
enum trust trust_weakest(enum trust a, enum trust b);

/* What became of one counter. "Not counted", "unsupported here" and 0 are different things. */
enum reading_state {
	READING_COUNTED,     /* count_raw holds for running_ns of enabled_ns */
	READING_NEVER_RAN,   /* open, but never on a counter */
	READING_UNSUPPORTED, /* this machine cannot count it */
	READING_DENIED,      /* this user may not count it */
	READING_FAILED,      /* it broke on the way; why says how */
	/* Of an event, never of a reading: its counter runs, but nothing that was tried moved it. What it counts
	 * is a count if it is above 0; a 0 is as likely a counter that counts nothing (measure/measurement.h,
	 * session_judge_unproven()). */
	READING_UNPROVEN,
};

/* What the measuring itself counts in a number, as far as the backend found out (regions by probes); trust/apply.h
 * judges it. */
enum measuring_state {
	MEASURING_UNKNOWN,
	MEASURING_TAKEN_OFF, /* the number is without it already */
	MEASURING_INCLUDED,  /* the number has it, and it cannot be taken off */
};

struct measuring {
	enum measuring_state state;
	/* in the event's unit; TAKEN_OFF: negative where the measuring hides more than it adds */
	double count;
	double half_width; /* ±, of INCLUDED */
	/* of INCLUDED: so much of count is of probes within the passes, and comes again where more is done in
	 * them */
	double inside;
};

struct reading {
	enum reading_state state;
	enum source source;
	uint64_t count_raw;  /* as the backend read it, times the encoding's scale, rounded */
	uint64_t enabled_ns; /* wall time of the measured tasks while the counter was asked for */
	uint64_t running_ns; /* … while it really counted; = enabled_ns without multiplexing */
	/* of SOURCE_SAMPLED: what groups[n_groups] of of_groups alike counted, in the run's arena. The estimate is
	 * unsampled + of_groups × their mean; count_raw is that, rounded */
	const double *groups;
	unsigned n_groups, of_groups;
	double unsampled;
	const char *why;            /* when not COUNTED: the reason; borrowed from the run's arena */
	bool has_least;             /* … but at least count_raw took place, as source saw it */
	const char *machine;        /* of SOURCE_MODEL: the modelled machine's name, likewise; NULL */
	pid_t tid;                  /* 0: all tasks together */
	pid_t pid;                  /* a process's own row; 0: none */
	const char *command;        /* the program that it executed last; NULL: not known. In the run's arena */
	int cpu;                    /* -1: all CPUs together */
	bool unproven;              /* of COUNTED: the event is READING_UNPROVEN */
	struct measuring measuring; /* of COUNTED */
};

/* How much a reader needs a note. */
enum note_rank {
	NOTE_ACT,    /* something is to be done, or a number is not what it seems */
	NOTE_READ,   /* what a number means */
	NOTE_DETAIL, /* where it comes from: for who asks for it (-v) */
};

struct result_note {
	const char *text;
	enum note_rank rank;
};

/* One execution of the program under one group of events. */
struct run {
	struct reading *readings; /* n_events × n_rows: readings[row * n_events + event] */
	size_t n_events;
	size_t n_rows;    /* 1, or one per thread/CPU when asked */
	int wait_status;  /* as wait4(2) gives it; 0 for targets that are not commands */
	bool interrupted; /* ended by the user before the program did */
	/* the times, faults and memory below are the engine's as well as the program's */
	bool under_engine;
	const struct result_note *remarks; /* what is to be known of the readings; in the arena */
	size_t n_remarks;
	uint64_t elapsed_ns;
	/* the operating system's account of the run (rusage of the program and its waited-for children) */
	uint64_t user_ns, system_ns;
	uint64_t peak_memory_bytes;
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	/* those asked for, in that order, then those that the program named itself; in the arena */
	struct run_region *regions;
	size_t n_regions;
	uint64_t probes_ns; /* of the program's time, so much is what probes of regions took; 0 without … */
	uint64_t probes_elapsed_ns; /* … and of the time on the clock */
	uint64_t steal_ns;          /* of all CPUs, while it ran; 10 ms resolution */
	struct arena arena;
};

void run_free(struct run *run); /* its contents, not the struct */

/* One reported number. */
struct estimate {
	const char *event; /* label, or metric's name */
	const char *unit;
	const char *level; /* "user", "kernel", "user+kernel"; "" where that has no meaning */
	bool known;        /* false: value, low, high mean nothing and why says the reason */
	/* A time-out ended the program on the way, and value is of the part before: until
	 * session_cut_short(), which makes a lower bound of it. */
	bool cut_short;
	double value;      /* in unit; tare already subtracted where a calibration is there */
	double low, high;  /* the confidence interval; both = value when nothing is uncertain. high may be
	                       +infinity, low is never below what was really counted */
	bool has_interval; /* false: one run says nothing of the spread (shown as ±?) */
	double confidence; /* 0.95, 0.99 */
	size_t n_runs;
	/* when not known: executions in which its counter ran and showed 0, of an event that was never seen to
	 * move; not kept */
	size_t n_silent;
	double *runs; /* n_runs values in order of the repetitions; NULL when n_runs is 0 */
	/* of runs; NAN: there is none */
	double run_min, run_median, run_max, run_sd;
	enum source source;
	enum trust trust;
	const char *machine;  /* of SOURCE_MODEL: the modelled machine's name ("r12000"); NULL */
	const char *evidence; /* id of what the verdict rests on; NULL */
	/* of a metric that was derived here: the labels of the events that it is made of; not kept */
	const char *const *inputs;
	size_t n_inputs;
	bool has_tare;      /* what the measuring counts is known, and value is net: gross − tare */
	double gross, tare; /* in unit; gross also of what is refused because of measuring.state INCLUDED */
	/* not taken off, but up to so much of the value may be the measuring (trust/apply.h); NAN: not known. Set
	 * when the result is complete */
	double bound;
	/* as the backend knows it, the mean over the runs; what it means is in the fields above */
	struct measuring measuring;
	double share_running; /* 0 … 1 of the enabled time; 1 without multiplexing */
	const char *why;      /* when not known */
	/* when known: why some of the executions gave no count, which `runs` do not have; NULL: all gave one;
	 * not kept (the note says it) */
	const char *missing_why;
	bool has_least; /* when not known: but it is `least` or more, as `least_source` counted it */
	double least;
	enum source least_source;
	const char *note;    /* a remark for the reader (an outlier and its cause, …); NULL */
	pid_t tid;           /* 0: all */
	pid_t pid;           /* a process's own row; 0: all */
	const char *command; /* the program that the row's process executed last, without its folder; NULL */
	int cpu;             /* -1: all */
};

/* Is it of everything that was counted, not of one thread, process or CPU? */
static inline bool estimate_is_total(const struct estimate *e) { return e->tid == 0 && e->pid == 0 && e->cpu < 0; }

/* All that one `tare count` found. Strings and arrays live in arena. */
struct machine_facts {
	const char *cpu, *kernel, *hostname, *architecture;
	int cpus;
	const char *pmu;        /* "none", or names of the core PMUs */
	const char *hypervisor; /* "" when none is seen */
};

struct outlier {
	size_t repetition; /* 0-based */
	const char *event;
	const char *cause; /* "41 involuntary context switches (median 2)" or "no cause seen" */
};

struct result {
	struct arena arena;
	struct machine_facts machine;
	const char *const *command; /* NULL-terminated; NULL when no command was run */
	const char *target;         /* "process 123", "all CPUs"; NULL with a command */
	uint64_t started_unix;      /* seconds */
	size_t repetitions;         /* asked for */
	size_t repetitions_done;    /* complete; fewer after an interrupt */
	size_t executions;          /* of the program, the warm-up runs included */
	size_t warm_ups;
	size_t passes;          /* groups of events, each with runs of its own */
	double elapsed_seconds; /* all runs together */
	double confidence;
	struct estimate *estimates;
	size_t n_estimates;
	struct estimate *metrics;
	size_t n_metrics;
	struct outlier *outliers;
	size_t n_outliers;
	struct region_row *regions; /* as run->regions */
	size_t n_regions;
	const struct result_note *notes; /* shown under the table, e.g. what --several-runs would give */
	size_t n_notes;
	/* of a command, what its counts depend on: "--reproducible --cpu x86-64-v3 --no-children"; NULL: not
	 * known */
	const char *conditions;
	int wait_status; /* of the first run that failed; what tare's own exit status follows */
	bool timed_out;  /* the last run was told to end; `interrupted` is also set */
	bool interrupted;
	/* basic blocks of the first execution under the engine, as tab-separated lines; NULL */
	char *blocks;
	char *system_calls;     /* system calls of that execution by name, likewise; NULL */
	const char *blocks_why; /* why there are none, though they (or system calls) were asked for */
	bool under_engine;      /* an execution was: elapsed_seconds is not the program's own */
	/* of --reproducible: what the program was given in that execution that other machines, or other runs,
	 * need not give it (result/given.h); NULL: not known */
	const char *given;
	size_t first_run;            /* 1-based: the repetition that blocks, system calls and locations are of */
	struct locations *locations; /* where that execution's events took place, in an arena of their own; NULL */
	const char *locations_why;   /* why they are not known, though they were asked for */
	struct breakdown *breakdown; /* the same by name, likewise; who has the names adds it */
};

struct result *result_new(void); /* zeroed; NULL when memory ran out */
void result_free(struct result *result);

#endif
