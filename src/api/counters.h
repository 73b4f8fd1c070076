/* What a set of counters is inside libtare.
 *
 *     struct tare_counters ──► groups[] ──► events[first … first+n-1] ──► counters of the kernel (fds)
 *
 * 1. A kernel counter only ever grows. A reading is what it gives less what it gave at the last reset (`base`).
 * 2. Every event is in one group; groups are in order of the events and not empty.
 * 3. A `grouped` group has two events or more, each with one counter, that start, stop and are read at one
 * instant. Any other group has one event, with a counter for each thread there was (PROCESS: the kernel does not
 * read groups of inherited counters, perf_event_open(2)) and for each kind of core (backend/perf/counter/cores.h),
 * that are added up.
 * 4. Nothing is counted but when `started`, the trials of tare_add() apart; those are in `base`. */
#ifndef TARE_API_COUNTERS_H
#define TARE_API_COUNTERS_H

#include <sys/types.h>

#include "backend/backend.h"
#include "base/vec.h"
#include "event/event.h"
#include "tare.h"

struct counted_event {
	struct event event; /* strings live in the table */
	const char *unit;   /* borrowed from the table, or static */
	enum source source;
	double scale;   /* counts × scale = value in the unit */
	uint32_t flags; /* enum tare_flag */
	int *fds;       /* fds[thread × kinds + kind] */
	size_t n_fds, kinds;
	struct tare_reading base; /* count, enabled_ns and running_ns as the kernel gave them */
};

struct counter_group {
	size_t first, n;
	bool grouped; /* read from the first event's counter with PERF_FORMAT_GROUP. A single event is read
			 without, which takes a quarter less time (bench/read.c) */
};

/* A page that is zero in a forked child (madvise(2), MADV_WIPEONFORK): tells a set from a copy of it without a
 * system call. */
struct guard {
	unsigned alive;
};

struct tare_counters {
	enum tare_scope scope;
	bool started;
	pid_t process; /* that opened the set */
	pid_t thread;
	struct guard *guard; /* NULL where the kernel has no MADV_WIPEONFORK (before Linux 4.14) */
	VEC(struct counted_event) events;
	VEC(struct counter_group) groups;
	struct user_reads *user; /* never NULL */
	struct watched *watched; /* watched.h; NULL in sets of regions' threads */
	bool user_wanted;
	struct engine_set *engine; /* tare's engine answers (engine_set.h); NULL: the kernel counts */
	struct event_table *table;
	struct backend *perf; /* NULL with an engine; what it found out about events and the machine */
};

/* add.c: removes the events from `count` on. */
void counters_cut(struct tare_counters *c, size_t count);

/* read.c: fills count, enabled_ns and running_ns of raw[events.count] with what the kernel gives. False with
 * errno; 0 as errno means that the kernel put a counter into its error state. */
bool counters_read_raw(const struct tare_counters *c, struct tare_reading *raw);

/* The same, without a system call where that goes (user_read.h). `at_end`: of what is measured; what a check costs
 * comes after the reading then, and before it otherwise. False with EIDRM as errno: a check found that the
 * readings since the last one may be wrong; the next ones are read(2)'s. */
bool counters_read(const struct tare_counters *c, bool at_end, struct tare_reading *raw);

/* fail.c: copies an inner error to the caller's; false. */
bool api_fail(struct tare_error *out, const struct error *inner);
bool api_fail_text(struct tare_error *out, enum tare_error_code code, const char *text, const char *hint);
bool api_fail_errno(struct tare_error *out, enum tare_error_code code, int os_errno, const char *text);

/* open.c: as tare_open(); `engine`: tare's engine answers. */
bool counters_open_by(bool engine, const struct tare_options *options, struct tare_counters **counters,
		      struct tare_error *error);
/* open.c: false with the error when c is a copy in a forked child. */
bool counters_here(const struct tare_counters *c, struct tare_error *error);

#endif
