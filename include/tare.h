/* tare: performance counters inside a program.
 *
 *     struct tare_error error;
 *     struct tare_counters *counters;
 *     struct tare_reading before[2], after[2], spent[2];
 *
 *     if (!tare_open(NULL, &counters, &error) || !tare_add(counters, "instructions:u,page-faults", &error) ||
 *         !tare_start(counters, &error))
 *             fprintf(stderr, "%s\n%s\n", error.text, error.hint);
 *     tare_read(counters, before, NULL);
 *     work();
 *     tare_read(counters, after, NULL);
 *     tare_difference(before, after, 2, spent);
 *     tare_close(counters);
 *
 * Counters run freely from tare_start() to tare_stop(). What a piece of the program did is the difference of two
 * readings, so that reading disturbs less than stopping and starting would: one system call for the events of a
 * thread that fit the machine's counters at the same time.
 *
 * The library never prints, never exits and changes no signal's disposition. It depends on libc and libpfm4. A set of
 * counters belongs to the thread or process that opened it; after fork(2) the child may only close it.
 *
 * Threads: tare_read() and the tare_event_… functions may be called for one set by several threads at the same time;
 * the others by one at a time and not beside them. tare_read() takes no lock and no memory: it may be called in a
 * signal handler.
 *
 * C99 and C++. */
/* SPDX-License-Identifier: MIT */
#ifndef TARE_H
#define TARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TARE_API __attribute__((visibility("default")))
#else
#define TARE_API
#endif

/* ---- errors ---- */

/* struct tare_error.code. Numbers never change. */
enum tare_error_code {
	TARE_ERROR_NONE = 0,
	TARE_ERROR_USAGE = 1,       /* the call is malformed, or names an event that is not known */
	TARE_ERROR_SYNTAX = 2,      /* a text does not parse */
	TARE_ERROR_NOT_FOUND = 3,   /* a file, thread or process is not there */
	TARE_ERROR_UNSUPPORTED = 4, /* this machine or kernel cannot do it */
	TARE_ERROR_PERMISSION = 5,  /* it could, but this user may not */
	TARE_ERROR_BUSY = 6,        /* another user holds the resource */
	TARE_ERROR_LIMIT = 7,       /* a limit (open files, events of a set) was reached */
	TARE_ERROR_NO_MEMORY = 8,
	TARE_ERROR_IO = 9,          /* reading failed */
	TARE_ERROR_SYSTEM = 10      /* any other failure of the operating system */
};

/* Belongs to the caller, who may pass NULL; written only when a function fails. */
struct tare_error {
	int code;       /* enum tare_error_code */
	int os_errno;   /* 0 when the operating system was not the cause */
	char text[512]; /* what failed, on what and why: lower case, no full stop */
	char hint[512]; /* what can be done, or "" */
};

/* ---- a set of counters ---- */

/* Opaque. From tare_open() to tare_close(). */
struct tare_counters;

/* What is counted. */
enum tare_scope {
	TARE_THREAD = 0, /* the thread that calls tare_open() */
	TARE_PROCESS = 1 /* every thread of the calling process: those there are, and those that will be */
};

struct tare_options {
	size_t size; /* sizeof(struct tare_options): the library knows by it what its caller knows */
	int scope;   /* enum tare_scope */
};

enum { TARE_EVENTS_MOST = 64 }; /* of one set */

/* struct tare_reading.state. Numbers never change. */
enum tare_state {
	TARE_COUNTED = 0,    /* count is all there was */
	TARE_PARTLY = 1,     /* counted for running_ns of enabled_ns: events shared the counters; see tare_scaled() */
	TARE_NOT_COUNTED = 2 /* there is no count, whatever `count` holds: the event was never on a counter, or
	                        TARE_SOME_CPUS holds and the threads were not on those CPUs all the time */
};

/* struct tare_reading.flags. */
enum tare_flag {
	/* The event's PMU belongs to one kind of core of a machine with several (cpu_atom/…/): it counts on those alone.
	 * What runs elsewhere cannot be told from sharing a counter, so that there is nothing to extrapolate from. */
	TARE_SOME_CPUS = 1
};

/* One event's reading, since tare_add() or the last tare_reset(). */
struct tare_reading {
	uint64_t count;      /* in the event's unit (tare_event_unit()); grows from reading to reading */
	uint64_t enabled_ns; /* how long the threads ran while the counter was started; of all threads together */
	uint64_t running_ns; /* … and how long it really counted in that */
	int32_t state;       /* enum tare_state */
	uint32_t flags;      /* enum tare_flag, or-ed */
};

/* The library's version, "1.2.3". */
TARE_API const char *tare_version(void);

/* Opens an empty set. options NULL: a thread's.
 * On success true, and *counters is a set that the caller closes with tare_close(); on failure false, and it is NULL.
 * Errors: USAGE (an option is not known), NO_MEMORY. */
TARE_API bool tare_open(const struct tare_options *options, struct tare_counters **counters,
			struct tare_error *error);

/* Adds one event, or several with commas between them, in the names that `tare list` shows: "cycles",
 * "instructions:u" (user level alone), "skl::INST_RETIRED:ANY", "PAPI_TOT_INS". Their indices follow those of the events
 * before. All or none are added. Each is tried here: an event that cannot be counted is an error, not a reading of 0.
 * Events of a thread that fit the counters at the same time start and stop at the same instant; those that do not fit
 * take turns (TARE_PARTLY). Only while the set is not started, and for a thread's set by that thread.
 * The trial is a little known work in the calling thread: loops, page faults, system calls, a sleep of microseconds. It takes
 * up to some milliseconds; what it did is not in the readings.
 * Errors: USAGE (unknown name, set is started), UNSUPPORTED (not on this machine), PERMISSION, BUSY, LIMIT, NO_MEMORY. */
TARE_API bool tare_add(struct tare_counters *counters, const char *events, struct tare_error *error);

/* How many events the set has: the length of every array of readings. */
TARE_API size_t tare_event_count(const struct tare_counters *counters);

/* The index-th event's name as reports show it, its unit ("instructions", "ns", …), and by what it is counted: "hw" (a
 * hardware counter) or "os" (the kernel). NULL when there is no such event. The texts belong to the set. */
TARE_API const char *tare_event_name(const struct tare_counters *counters, size_t index);
TARE_API const char *tare_event_unit(const struct tare_counters *counters, size_t index);
TARE_API const char *tare_event_source(const struct tare_counters *counters, size_t index);

/* Starts the counters, or lets them go on after tare_stop(): counts add up until tare_reset(). The events of a process
 * start one after the other, thread by thread. A set that is started stays so.
 * Errors: USAGE (no events, forked), SYSTEM. */
TARE_API bool tare_start(struct tare_counters *counters, struct tare_error *error);

/* Fills readings[tare_event_count()], whether the set is started or not. One read(2) for the events of a thread that fit
 * at the same time, so that all of them are of one instant; for a process one for each event and thread.
 * On failure the readings mean nothing. Errors: USAGE (no events, forked), IO. */
TARE_API bool tare_read(const struct tare_counters *counters, struct tare_reading *readings,
			struct tare_error *error);

/* Stops the counters and fills readings[tare_event_count()] (may be NULL). Their counts stay readable. A set that is
 * stopped stays so. Errors: USAGE (no events, forked), SYSTEM, IO. */
TARE_API bool tare_stop(struct tare_counters *counters, struct tare_reading *readings, struct tare_error *error);

/* From here on, readings begin at 0 again. Does not stop the counters.
 * Errors: as tare_read(); readings are as before then. */
TARE_API bool tare_reset(struct tare_counters *counters, struct tare_error *error);

/* Ends the counting and frees the set. NULL is accepted. The only call that a forked child may make for its parent's
 * set. */
TARE_API void tare_close(struct tare_counters *counters);

/* ---- readings ---- */

/* What came between two readings of one set, n events each; out may be either of them. The state is that of the time
 * between: an event that was not on a counter then is TARE_NOT_COUNTED, whatever it counted before. */
TARE_API void tare_difference(const struct tare_reading *before, const struct tare_reading *after, size_t n,
			      struct tare_reading *out);

/* The count, extrapolated to the enabled time where it was counted in a part of it: count × enabled_ns / running_ns.
 * That assumes an even rate and is an estimate, with an error that one reading does not show.
 * False when there is none (TARE_NOT_COUNTED); *value is as before then. */
TARE_API bool tare_scaled(const struct tare_reading *reading, double *value);

#ifdef __cplusplus
}
#endif

#endif
