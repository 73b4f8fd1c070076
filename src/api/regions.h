/* Named regions inside libtare: who holds what.
 *
 *     struct regions ──► names (hash table, a lock)       struct region_thread ──► chunks[id / 64] ──► slots
 *          │  └──────► plan: how the events are opened         ▲ one each thread; a list, newest first
 *          └───────────────────────────────────────────────────┘
 *
 * 1. tare_region_enter() and …_leave() take no lock and no memory of malloc: memory is from mmap(2), published
 * with one compare-and-swap, and every counter of a slot is changed by its thread alone (its signal handlers
 * included), with relaxed atomic operations; other threads only read them.
 * 2. A slot's depth is raised before its `begin` is read and lowered after its sums are written. So a handler that
 * interrupts either sees a depth that is not 0 and leaves both alone.
 * 3. Regions, threads and slots are never freed: handles stay valid, and exit(3) may run beside threads that are
 * still in regions. An ended thread's counters are closed.
 * 4. Thread's counters are opened as `plan` says: what was tried once, by tare_add() in the thread that started.
 */
#ifndef TARE_API_REGIONS_H
#define TARE_API_REGIONS_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/counters.h"

enum { SLOTS_OF_CHUNK = 64, CHUNKS_MOST = TARE_REGIONS_MOST / SLOTS_OF_CHUNK };

struct tare_region {
	uint32_t id; /* 0, 1, … in order of their making */
	uint64_t hash;
	struct tare_region *same_bucket;
	size_t name_bytes;
	char name[];
};

/* As the kernel gives them: the event's scale is not in yet. */
struct sum {
	_Atomic uint64_t count, enabled_ns, running_ns;
};

struct slot {
	_Atomic uint64_t entries, exits;
	_Atomic uint64_t strays;  /* exits of a thread that was not in the region */
	_Atomic uint64_t unread;  /* passes without a count: the counters could not be read or opened */
	_Atomic uint64_t pending; /* exits inside a pass that has not ended: their counts are in no sum */
	_Atomic int64_t depth;
	bool begun;        /* `begin` was read */
	struct sum sums[]; /* [events] totals, then [events] begin */
};

struct region_thread {
	struct region_thread *next;
	pid_t thread;
	uint32_t number;           /* 0, 1, … in order of their first regions */
	_Atomic int os_errno;      /* why it has no counters; 0 when it has */
	_Atomic bool ended;        /* its counters are closed */
	struct tare_counters *set; /* in the same memory; only what counters_read_raw() needs of it */
	_Atomic(struct slot *) chunks[CHUNKS_MOST];
};

enum report_format { REPORT_TEXT, REPORT_CSV };

struct regions {
	struct tare_counters *model; /* the set whose events were tried; never started */
	size_t slot_bytes;
	size_t plan_fds; /* counters of one thread */
	struct plan_counter {
		struct event_encoding encoding;
		unsigned levels;
	} * plan; /* [plan_fds], in the order of the events and their kinds */
	_Atomic(struct region_thread *) threads;
	_Atomic uint32_t n_threads;
	_Atomic uint64_t lost; /* entries and exits for which there was no memory */
	uint64_t forks;
	pthread_key_t thread_end;
	bool has_thread_end;
	/* of the environment */
	bool report;
	enum report_format format;
	char *output; /* NULL: standard error */
};

/* region.c. One for the process: what the environment and tare_regions_start() opened. NULL before. */
struct regions *regions_of_process(void);
struct tare_region **regions_listed(size_t *n, struct error *err); /* in order of id; the caller frees it */

/* region_thread.c */
struct slot *slot_find(struct region_thread *thread, const struct regions *regions, uint32_t id);
struct region_thread *region_thread_known(void); /* the calling one's, or NULL */
void region_thread_end(void *thread);
/* Adds what a slot has to passes, sums and `unread`. */
struct region_sums {
	struct tare_region_passes passes;
	uint64_t unread, strays, pending;
	struct tare_reading readings[TARE_EVENTS_MOST]; /* raw, until region_sums_finish() */
};
void region_sums_add(struct region_sums *out, const struct slot *slot, size_t n);
void region_sums_finish(struct region_sums *out, const struct regions *regions);

/* region_report.c: to a descriptor. False with errno. */
bool region_report(const struct regions *regions, int fd);

#endif
