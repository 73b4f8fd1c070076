/* tare: performance counters inside a program.
 *
 *     struct tare_error error;
 *     struct tare_counters *counters;
 *     struct tare_reading before[2], after[2], spent[2];
 *
 *     if (!tare_open(NULL, &counters, &error) || !tare_add(counters, "instructions:u,page-faults", &error) ||
 *         !tare_start(counters, &error)) {
 *             fprintf(stderr, "%s\n%s\n", error.text, error.hint);
 *             return 1;
 *     }
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
 * The library never prints (but where TARE_EVENTS in the environment asks for a report of regions, below), never
 * exits and changes no signal's disposition (but of one that tare_overflow() takes). It depends on libc and
 * libpfm4. A set of counters belongs to the thread or process that opened it; after fork(2) the child may only
 * close it.
 *
 * Threads: tare_read() and the tare_event_… functions may be called for one set by several threads at the same
 * time; the others by one at a time and not beside them. tare_read() takes no lock and no memory: it may be called
 * in a signal handler.
 *
 * C99 and C++. Fortran has a module (tare-fortran(3)); programs instrumented for PAPI, libhpm or libperfex have
 * tare_papi_hl.h, tare_hpm.h and tare_perfex.h.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TARE_H
#define TARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#if __cplusplus >= 201103L
#include <exception>
#endif
extern "C" {
#endif

#if defined(__GNUC__)
#define TARE_API __attribute__((visibility("default")))
#else
#define TARE_API
#endif

/* The first call of a function of a shared library looks its name up, some thousand instructions in what
 * it is the end of. Not so by this: the loader has looked it up before. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define TARE_LOOKED_UP __attribute__((noplt))
#endif
#endif
#if !defined(TARE_LOOKED_UP)
#define TARE_LOOKED_UP
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
	TARE_ERROR_IO = 9,     /* reading failed */
	TARE_ERROR_SYSTEM = 10 /* any other failure of the operating system */
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
	TARE_COUNTED = 0, /* count is all there was */
	TARE_PARTLY = 1,  /* counted for running_ns of enabled_ns: events shared the counters; see tare_scaled() */
	TARE_NOT_COUNTED = 2 /* there is no count, whatever `count` holds: the event was never on a counter, or
				TARE_SOME_CPUS holds and the threads were not on those CPUs all the time, or
				TARE_LOST_COUNTS */
};

/* struct tare_reading.flags. */
enum tare_flag {
	/* The event's PMU belongs to one kind of core of a machine with several (cpu_atom/…/): it counts on those
	 * alone. What runs elsewhere cannot be told from sharing a counter, so that there is nothing to
	 * extrapolate from. */
	TARE_SOME_CPUS = 1,

	/* The counter was taken away (by a hypervisor, by prctl(PR_TASK_PERF_EVENTS_DISABLE)): the count is too
	 * small. Of a thread's set, tare_stop() and tare_region_read() in that thread see it, and tare_read() when
	 * nothing was counted since the reading before: the times stood still, or cycles, instructions or branches
	 * at user level did, and with them all hardware counters of the set. What was given back in between is not
	 * seen. tare_reset() begins anew. */
	TARE_LOST_COUNTS = 2
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
 * On success true, and *counters is a set that the caller closes with tare_close(); on failure false, and it is
 * NULL.
 *
 * Errors: USAGE (an option is not known), NO_MEMORY. */
TARE_API bool tare_open(const struct tare_options *options, struct tare_counters **counters,
			struct tare_error *error);

/* Adds one event, or several with commas between them, in the names that `tare list` shows: "cycles",
 * "instructions:u" (user level alone), "skl::INST_RETIRED:ANY", "PAPI_TOT_INS". Their indices follow those of the
 * events before. All or none are added. Only while the set is not started, and for a thread's set by that thread.
 *
 * Under tare's engine ('tare count --on exact', '--on model:NAME') the engine answers: for each thread of the
 * program it counts what stands between two calls of a set, exactly, and nothing of the calls themselves
 * (libtare(3)).
 *
 * Each is tried here: an event that cannot be counted is an error, not a reading of 0. The trial is a little known
 * work in the calling thread: loops, page faults, system calls, a sleep of microseconds. It takes up to some
 * milliseconds; what it did is not in the readings.
 *
 * Events of a thread that fit the counters at the same time start and stop at the same instant; those that do not
 * fit take turns (TARE_PARTLY).
 *
 * Errors: USAGE (unknown name, set is started), UNSUPPORTED (not on this machine), PERMISSION, BUSY, LIMIT,
 * NO_MEMORY. */
TARE_API bool tare_add(struct tare_counters *counters, const char *events, struct tare_error *error);

/* How many events the set has: the length of every array of readings. */
TARE_API size_t tare_event_count(const struct tare_counters *counters);

/* The index-th event's name as reports show it, its unit ("instructions", "ns", …), and by what it is counted:
 * "hw" (a hardware counter), "os" (the kernel), or under tare's engine "exact" (the engine) or "model" (a machine
 * that it models). NULL when there is no such event. The texts belong to
 * the set. */
TARE_API const char *tare_event_name(const struct tare_counters *counters, size_t index);
TARE_API const char *tare_event_unit(const struct tare_counters *counters, size_t index);
TARE_API const char *tare_event_source(const struct tare_counters *counters, size_t index);

/* Starts the counters, or lets them go on after tare_stop(): counts add up until tare_reset(). The events of a
 * process start one after the other, thread by thread. A set that is started stays so.
 *
 * Errors: USAGE (no events, forked), SYSTEM. */
TARE_API bool tare_start(struct tare_counters *counters, struct tare_error *error);

/* Fills readings[tare_event_count()], whether the set is started or not. One read(2) for the events of a thread
 * that fit at the same time, so that all of them are of one instant, or no system call at all ("how readings were
 * taken", below); for a process one for each event and thread.
 * On failure the readings mean nothing.
 *
 * Errors: USAGE (no events, forked), IO. */
TARE_API TARE_LOOKED_UP bool tare_read(const struct tare_counters *counters, struct tare_reading *readings,
				       struct tare_error *error);

/* Stops the counters and fills readings[tare_event_count()] (may be NULL). Their counts stay readable. A set that
 * is stopped stays so.
 *
 * Errors: USAGE (no events, forked), SYSTEM, IO. */
TARE_API TARE_LOOKED_UP bool tare_stop(struct tare_counters *counters, struct tare_reading *readings,
				       struct tare_error *error);

/* From here on, readings begin at 0 again. Does not stop the counters. On failure readings are as before.
 *
 * Errors: as tare_read(). */
TARE_API bool tare_reset(struct tare_counters *counters, struct tare_error *error);

/* Ends the counting and frees the set. NULL is accepted. The only call that a forked child may make for its
 * parent's set. */
TARE_API void tare_close(struct tare_counters *counters);

/* ---- readings ---- */

/* What came between two readings of one set, n events each; out may be either of them. The state is that of the
 * time between: an event that was not on a counter then is TARE_NOT_COUNTED, whatever it counted before. */
TARE_API void tare_difference(const struct tare_reading *before, const struct tare_reading *after, size_t n,
			      struct tare_reading *out);

/* The count, extrapolated to the enabled time where it was counted in a part of it: count × enabled_ns /
 * running_ns. That assumes an even rate and is an estimate, with an error that one reading does not show. False
 * when there is none (TARE_NOT_COUNTED); *value is as before then. */
TARE_API bool tare_scaled(const struct tare_reading *reading, double *value);

/* ---- overflow ----
 *
 *     static void each_millisecond(const struct tare_overflow *overflow, void *data) { … }
 *
 *     tare_overflow(counters, 0, 1000000, each_millisecond, NULL, &error)
 *
 * The program's own handler, called each time that an event of a thread's set took place `period` times more (a
 * clock: ran so many nanoseconds), while the set is started. It is called in that thread by a signal, with the
 * place that was interrupted. What is defined:
 *
 * - A period is counted by a counter of its own, from the handler's return (the first from tare_start()) on: what
 *   the handler itself does is in no period, and it is not interrupted by its own event. So there are at most
 *   count / period calls. Readings have the handler's events in them. That counter is always on the machine: one
 *   less is left for the set, whose events may have to take turns then.
 * - In a system call the handler is called at its end; of a PMU's event the address is some instructions behind
 *   the one that overflowed (skid).
 * - The library takes one real-time signal that has its default disposition, the last one there is, with the first
 *   call and for the life of the process, and unblocks it in the calling thread. While the thread blocks it, or
 *   another handler does, no period begins. Interrupted system calls go on (SA_RESTART) where the kernel has that;
 *   sleeps and waits end with EINTR.
 * - The handler may do what signal handlers may, call tare_read() and tare_scaled(), and enter and leave regions
 *   that it has a handle of; not stop, start or close a set.
 * - tare_close() ends it. In a forked child there is none. Stop the set before execve(2): a signal that is on its
 *   way would end the new program. */

struct tare_overflow {
	size_t event;        /* its index in the set */
	uint64_t period;     /* as asked for */
	const void *address; /* where the thread goes on after the handler; NULL where this CPU is not known */
	void *context;       /* the thread's registers: a ucontext_t (sigaction(2)) */
};

typedef void (*tare_overflow_handler)(const struct tare_overflow *overflow, void *data);

/* Sets the handler of the set's event, instead of one that it had; handler NULL: there is none from here on.
 * `data` is passed to it. Only while the set is not started, for a thread's set, and by that thread. Whether the
 * event overflows here is tried, with a little known work as in tare_add(). On failure the event has no handler.
 *
 * Errors: USAGE (no such event, the set is started or not a thread's, a period of 0 or 2^62, of a clock less than
 * 10000 ns), UNSUPPORTED (it counts here and does not overflow), PERMISSION, BUSY (no signal is left), LIMIT (256
 * counters with a handler), SYSTEM, NO_MEMORY. */
TARE_API bool tare_overflow(struct tare_counters *counters, size_t event, uint64_t period,
			    tare_overflow_handler handler, void *data, struct tare_error *error);

/* ---- how readings were taken ----
 *
 * Where the machine lets programs read its counters (x86-64: the PMU's file `rdpmc` in /sys is 1, which is usual;
 * arm64: sysctl kernel.perf_user_access=1), the thread that opened a set of hardware events reads them without a
 * system call, in some tens of instructions; so do regions. Nothing else changes: states, times and counts are
 * those that read(2) gives, which is asked when a counter is not on the machine at the moment, when the kernel has
 * closed the counters, for other threads, for processes, and for a set with an event that the kernel counts
 * (page-faults). The events of a group are read one after the other then, with no other thread's instructions in
 * between.
 *
 * The first reading and then ever rarer ones (the 2nd, 4th, … and each 65536th) are compared with read(2): two
 * system calls more, before the reading; in regions outside of what is counted. A count that is not between those
 * of two read(2) ends reading without system calls for that set or thread, for good: tare_read() fails once then,
 * with TARE_ERROR_IO, and the regions that the thread had entered are TARE_NOT_COUNTED.
 *
 * TARE_USER_READ=0 in the environment leaves it all to read(2).
 *
 * Closing the counters to programs while one reads them: on arm64 each reading asks two instructions before, and
 * read(2) goes on; a thread that is interrupted exactly there, and whose counters are closed in that interrupt,
 * ends by an illegal instruction (SIGILL). On x86-64 the kernel says nothing to those that read already: writing 0
 * to the PMU's file `rdpmc` ends them by SIGSEGV, whatever library they use. */

struct tare_reads {
	uint64_t by_user; /* readings of all events without a system call */
	uint64_t by_call; /* … and by read(2) */
	uint64_t checks;  /* those of by_user that were compared with read(2) */
	/* how often one was made again, because the kernel interrupted it: at the end of a region that is in its
	 * count, at the begin in those of the regions around it */
	uint64_t again;
	/* why there are readings by read(2), a constant text; "" when there is no reason to tell */
	const char *why;
};

/* Fills *reads for a set: since tare_open(). Any thread of the process may call it. */
TARE_API void tare_reads_of(const struct tare_counters *counters, struct tare_reads *reads);

/* ---- regions ----
 *
 *     static struct tare_region *sort;
 *     if (!sort)
 *             sort = tare_region("sort", NULL);
 *     tare_region_begin(sort);
 *     sort_all();
 *     tare_region_end(sort);
 *
 * and then  TARE_EVENTS=instructions:u,page-faults ./program
 *
 * A region is a named piece of the program. A thread enters and leaves it any number of times, from any place;
 * regions may be nested in each other and may overlap. Each thread has free-running counters of its own, from its
 * first tare_region_begin() on: what a region counted is the sum of the differences between its leavings and its
 * enterings in that thread. A region that a thread enters again before it has left it (recursion) counts from the
 * outermost entry to the outermost exit, once. The reading itself is in the difference (see tare_read()).
 *
 * Regions are counted where tare_regions_start() was called, or where the environment asks for it:
 *
 *     TARE_EVENTS  the events, as for tare_add(). Not set or empty: nothing is counted, nothing is reported, and a
 *                  region costs a load and a branch, and on x86-64 two instructions that do nothing (marks for
 *                  tare's engine).
 *     TARE_OUTPUT  the file that the report is written to at exit(3); %p in it is the process id, %% a %. Not set
 *                  or empty: standard error. A file that is there is overwritten.
 *     TARE_FORMAT  "text" (also when not set or empty) or "csv".
 *
 * They are ignored in programs that run with another user's rights (secure_getenv(3)). With TARE_EVENTS set the
 * library prints: the report, or why there is none. Events that cannot be counted are said on standard error when
 * the library is loaded, and the program runs on without. A process that ends by a signal or _exit(2) reports
 * nothing.
 *
 * What is defined:
 * - Entries and exits that do not match, in any one thread, are reported by the region's name. The counts are
 * those of the passes that ended. While one that did not end is open, later ones of that thread are seen as
 * recursion: then the region is TARE_NOT_COUNTED, for its sum has not all that was left.
 * - A thread that ends inside a region has entered it and not left it. So has one that longjmp(3)s or throws out
 *   of it; tare::region leaves by its destructor, also by an exception.
 * - After fork(2) the parent's regions go on; in the child nothing is counted and nothing reported. The report
 * says how many children there were. A program that is exec'd begins anew.
 * - Signal handlers may begin and end regions that they have a handle of: neither function takes a lock or calls
 *   malloc(3). A handler that enters the region that it interrupts is a recursion of it. Up to 4 KiB of stack.
 * - A thread whose counters cannot be opened (open files, memory) has entries and exits, and TARE_NOT_COUNTED.
 * - The shared library is not unloaded by dlclose(3); names are copied. So handles stay valid, and plugins with
 * regions can go before the report. */

/* Opaque: one name. Valid until the process ends. */
struct tare_region;

enum { TARE_REGIONS_MOST = 1 << 20 };

/* Not 0 while regions are counted: 1 by this library, 2 by tare's engine, which runs the program ('tare count --on
 * exact') and does by itself what the functions below say. 1 also while 'tare profile' has their begins and ends
 * marked in time. To be read only, by them. */
TARE_API extern int tare_regions_on;

/* Marks for tare's engine: two instructions that do nothing, the second a nop that it knows by its number. Under
 * the engine a region lasts from mark to mark, and has no instruction of this library in it. Without marks the
 * functions' own are met. */
#define TARE_REGIONS_HERE_ 1
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__ILP32__)
#define TARE_REGIONS_ON_(whose) __builtin_expect(__atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED) & (whose), 0)
#define TARE_MARK_(instruction, number, operand)                                                                  \
	__asm__ __volatile__(instruction                                                                          \
			     "{q}\t{%0, %%rdi|rdi, %0}\n\t.byte 0x66, 0x0f, 0x1f, 0x87\n\t.long 0x5441520" number \
			     :                                                                                    \
			     : operand                                                                            \
			     : "rdi", "memory")
#if defined(__clang__) /* for "rm" it stores a register to memory first, between two marks */
#define TARE_MARK_HANDLE_ "r"
#else
#define TARE_MARK_HANDLE_ "rm"
#endif
#define TARE_MARK_ENTER_(region) TARE_MARK_("mov", "2", TARE_MARK_HANDLE_(region))
#define TARE_MARK_LEAVE_(region) TARE_MARK_("mov", "3", TARE_MARK_HANDLE_(region))
#define TARE_MARK_ENTER_NAME_(name) TARE_MARK_("lea", "4", "m"(*(const char *)(name)))
#define TARE_MARK_LEAVE_NAME_(name) TARE_MARK_("lea", "5", "m"(*(const char *)(name)))
/* The address of a name for the calls below. Out of the compiler's sight: it would load it once for the calls of a
 * begin and its end, between their marks, and that load would be in the region. */
#define TARE_ADDRESS_(to, name)                                                                                   \
	__asm__ __volatile__("lea{q}\t{%1, %0|%0, %1}" : "=r"(to) : "m"(*(const char *)(name)))
#else
#define TARE_ADDRESS_(to, name) ((to) = (name))
#if defined(__GNUC__)
#define TARE_REGIONS_ON_(whose) __builtin_expect(__atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED), 0)
#else
#define TARE_REGIONS_ON_(whose) (tare_regions_on)
#endif
#define TARE_MARK_ENTER_(region) ((void)0)
#define TARE_MARK_LEAVE_(region) ((void)0)
#define TARE_MARK_ENTER_NAME_(name) ((void)0)
#define TARE_MARK_LEAVE_NAME_(name) ((void)0)
#endif

/* The same for languages that cannot see a variable of C: whether regions are counted
 * (or marked in time, under 'tare profile'). */
TARE_API bool tare_regions_counted(void);

/* Begins to count regions, without environment variables: nothing is printed at the end. Once in a process; the
 * calling thread tries the events as tare_add() does.
 *
 * Errors: as tare_add(); USAGE also when regions are counted already (also by the environment). */
TARE_API bool tare_regions_start(const char *events, struct tare_error *error);

/* The region of this name: every call with the same bytes gives the same. The name is any bytes up to a 0 byte, of
 * any length; reports escape what is not printable ASCII. May be called before regions are counted, and by any
 * thread; not in signal handlers. NULL on failure; the functions below do nothing for NULL.
 *
 * Errors: USAGE (no name or an empty one), LIMIT (TARE_REGIONS_MOST), NO_MEMORY. */
TARE_API struct tare_region *tare_region(const char *name, struct tare_error *error);

/* What tare_region_begin() and tare_region_end() do when regions are counted. */
TARE_API TARE_LOOKED_UP void tare_region_enter(struct tare_region *region);
TARE_API TARE_LOOKED_UP void tare_region_leave(struct tare_region *region);

/* The same by name, for the Fortran module: as Fortran compilers call a procedure with a character argument. The
 * name has `bytes` characters; blanks at its end do not belong to it. Nothing is counted for an empty name, or
 * without memory. */
TARE_API TARE_LOOKED_UP void tare_region_enter_text_(const char *name, size_t bytes);
TARE_API TARE_LOOKED_UP void tare_region_leave_text_(const char *name, size_t bytes);

/* Inline even in code that the compiler takes for cold (main) or does not optimise: behind a call, the end of the
 * function that begins a region would be in it. */
#if defined(__GNUC__)
#define TARE_INLINE_ static inline __attribute__((always_inline))
#define TARE_MEMBER_ __attribute__((always_inline))
#else
#define TARE_INLINE_ static inline
#define TARE_MEMBER_
#endif

/* Both keep errno. */
TARE_INLINE_ void tare_region_begin(struct tare_region *region)
{
	if (TARE_REGIONS_ON_(TARE_REGIONS_HERE_))
		tare_region_enter(region);
	else
		TARE_MARK_ENTER_(region);
}

TARE_INLINE_ void tare_region_end(struct tare_region *region)
{
	TARE_MARK_LEAVE_(region);
	if (TARE_REGIONS_ON_(TARE_REGIONS_HERE_))
		tare_region_leave(region);
}

/* How often a region was entered and left. */
struct tare_region_passes {
	uint64_t entries, exits;
	uint64_t threads;    /* that entered or left it */
	uint64_t unbalanced; /* of these: with entries ≠ exits, or that left it when they were not in it */
};

/* A region's counts so far: passes that have ended. scope TARE_THREAD: the calling thread's; TARE_PROCESS: all
 * threads', also those that have ended. Fills *passes and readings[] of the events of tare_regions_start(), as
 * many as they are; either may be NULL. Not in signal handlers. Other threads that are in the region meanwhile may
 * be seen between two events' sums. Under tare's engine regions are counted from outside the program, and are in
 * the report of 'tare count': the program itself is told TARE_NOT_COUNTED.
 *
 * Errors: USAGE (no region, scope, regions are not counted, forked). */
TARE_API bool tare_region_read(const struct tare_region *region, int scope, struct tare_region_passes *passes,
			       struct tare_reading *readings, struct tare_error *error);

/* ---- stubs for assembly ----
 *
 *             call    tare_asm_begin_7
 *             …
 *             call    tare_asm_end_7
 *
 * tare_asm_begin_N and tare_asm_end_N, N = 0 … 99, enter and leave region number N from any place in a piece of
 * assembly (libtare(3), "FROM ASSEMBLY"). They change no general register, no flag, no vector register, mask or
 * x87 register and no control word, at any alignment of the stack. They take no arguments and are not for C.
 * `tare annotate-asm` inserts them into a compiler's output. */

enum { TARE_ASM_REGIONS = 100 };

/* Makes the regions of all numbers, so that a stub may be used in a signal handler for the first time; and binds
 * the stubs of libraries that dlopen(3) brought since. Need not be called otherwise. Changes no register
 * either. */
TARE_API void tare_asm_init(void);

/* What region `number` is called from here on; the name is copied. Otherwise it is "asm_0", … "asm_99". Not in
 * signal handlers. Where two parts of a program give one number two names, it counts from then on under a name
 * that tells both, "asm_7: a, b".
 *
 * Errors: USAGE (number, no name, the number has another name), and as tare_region(). */
TARE_API bool tare_asm_name(unsigned number, const char *name, struct tare_error *error);

/* Fills *reads for the regions: of the calling thread (TARE_THREAD), or of all (TARE_PROCESS; `why` is that of the
 * first thread that has one). All 0 when regions are not counted. Not in signal handlers. */
TARE_API void tare_region_reads(int scope, struct tare_reads *reads);

#ifdef __cplusplus
} /* extern "C" */

/* C++11 and later: all of it is in this header, and calls the functions above. */
#if __cplusplus >= 201103L
namespace tare
{
/* In a region from here to the end of the scope, however it is left. By name, the region is looked up each time,
 * before it is entered. */
class region
{
      public:
	TARE_MEMBER_ explicit region(struct tare_region *of) noexcept : of_(of) { tare_region_begin(of_); }
	TARE_MEMBER_ explicit region(const char *name) noexcept
	    : of_(__atomic_load_n(&tare_regions_on, __ATOMIC_RELAXED) ? tare_region(name, nullptr) : nullptr)
	{
		tare_region_begin(of_);
	}
	TARE_MEMBER_ ~region() { tare_region_end(of_); }
	region(const region &) = delete;
	region &operator=(const region &) = delete;

      private:
	struct tare_region *of_;
};

/* What tare::counters throws. */
class error : public std::exception
{
      public:
	explicit error(const struct tare_error &of) noexcept : of_(of) {}
	const char *what() const noexcept override { return of_.text; }
	const char *hint() const noexcept { return of_.hint; }
	int code() const noexcept /* enum tare_error_code */ { return of_.code; }
	int os_errno() const noexcept { return of_.os_errno; }

      private:
	struct tare_error of_;
};

/* Owns a set of counters. Each call that can fail is there twice: with a tare_error it returns whether it was done
 * and throws nothing, without one it throws tare::error (not there under -fno-exceptions). Readings are arrays of
 * size() elements. */
class counters
{
      public:
	/* Opens the set and adds the events. On failure it is false in a condition, and only good to be
	 * destroyed. */
	counters(const char *events, int scope, struct tare_error &error) noexcept
	{
		struct tare_options options = {sizeof options, scope};
		if (tare_open(&options, &set_, &error) && !tare_add(set_, events, &error)) {
			tare_close(set_);
			set_ = nullptr;
		}
	}
	counters(counters &&other) noexcept : set_(other.set_) { other.set_ = nullptr; }
	counters &operator=(counters &&other) noexcept
	{
		struct tare_counters *mine = set_;
		set_ = other.set_;
		other.set_ = mine;
		return *this;
	}
	counters(const counters &) = delete;
	counters &operator=(const counters &) = delete;
	~counters() { tare_close(set_); }
	explicit operator bool() const noexcept { return set_ != nullptr; }
	/* For the functions above; stays this object's. */
	struct tare_counters *get() const noexcept { return set_; }
	std::size_t size() const noexcept { return tare_event_count(set_); }
	const char *name(std::size_t index) const noexcept { return tare_event_name(set_, index); }
	bool start(struct tare_error &error) noexcept { return tare_start(set_, &error); }
	bool read(struct tare_reading *readings, struct tare_error &error) const noexcept
	{
		return tare_read(set_, readings, &error);
	}
	bool stop(struct tare_reading *readings, struct tare_error &error) noexcept
	{
		return tare_stop(set_, readings, &error);
	}
	bool reset(struct tare_error &error) noexcept { return tare_reset(set_, &error); }
#if defined(__cpp_exceptions)
	explicit counters(const char *events, int scope = TARE_THREAD) : set_(nullptr)
	{
		struct tare_error why;
		counters opened(events, scope, why);
		check(static_cast<bool>(opened), why);
		*this = static_cast<counters &&>(opened);
	}
	void start()
	{
		struct tare_error why;
		check(start(why), why);
	}
	void read(struct tare_reading *readings) const
	{
		struct tare_error why;
		check(read(readings, why), why);
	}
	void stop(struct tare_reading *readings = nullptr)
	{
		struct tare_error why;
		check(stop(readings, why), why);
	}
	void reset()
	{
		struct tare_error why;
		check(reset(why), why);
	}
#endif

      private:
	struct tare_counters *set_ = nullptr;
#if defined(__cpp_exceptions)
	static void check(bool done, const struct tare_error &why)
	{
		if (!done)
			throw error(why);
	}
#endif
};
} // namespace tare
#endif
#endif

/* Regions by name alone, in the manner of libhpm and of PAPI's high-level interface: the handle is looked up once
 * at each place, when regions are counted. `name` is a constant text. Of one place, threads may look it up at the
 * same time: they get the same. Not for a first use in a signal handler (tare_region()). The first TARE_REGION_END
 * of a place looks its name up inside of the region: some hundred instructions, once, that are in its count (not
 * under tare's engine). Regions that are shorter than many times that want handles. */
#if defined(__GNUC__)
#define TARE_REGION_CALL(function, name)                                                                          \
	do {                                                                                                      \
		static struct tare_region *tare_here_;                                                            \
		struct tare_region *tare_found_ = __atomic_load_n(&tare_here_, __ATOMIC_ACQUIRE);                 \
		if (!tare_found_) {                                                                               \
			const char *tare_name_;                                                                   \
			TARE_ADDRESS_(tare_name_, name);                                                          \
			tare_found_ = tare_region(tare_name_, NULL);                                              \
			__atomic_store_n(&tare_here_, tare_found_, __ATOMIC_RELEASE);                             \
		}                                                                                                 \
		function(tare_found_);                                                                            \
	} while (0)
#define TARE_REGION_BEGIN(name)                                                                                   \
	do {                                                                                                      \
		if (TARE_REGIONS_ON_(TARE_REGIONS_HERE_))                                                         \
			TARE_REGION_CALL(tare_region_enter, name);                                                \
		else                                                                                              \
			TARE_MARK_ENTER_NAME_(name);                                                              \
	} while (0)
#define TARE_REGION_END(name)                                                                                     \
	do {                                                                                                      \
		TARE_MARK_LEAVE_NAME_(name);                                                                      \
		if (TARE_REGIONS_ON_(TARE_REGIONS_HERE_))                                                         \
			TARE_REGION_CALL(tare_region_leave, name);                                                \
	} while (0)
#endif

#endif
