/* Named regions inside libtare: which part holds what.
 *
 *     struct region_set ──► names (hash table, a lock)       struct region_thread ──► chunks[id / 64] ──► slots
 *          │  └──────► plan: how the events are opened         ▲ one each thread; a list, newest first
 *          └───────────────────────────────────────────────────┘
 *
 * 1. tare_region_enter() and …_leave() take no lock and no memory of malloc: memory is from mmap(2), published
 * with one compare-and-swap, and every counter of a slot is changed by its thread alone (its signal handlers
 * included), as own_add.h says; other threads only read them.
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
#include "api/marks.h"

enum { SLOTS_OF_CHUNK = 64, CHUNKS_MOST = TARE_REGIONS_MOST / SLOTS_OF_CHUNK };

struct tare_region {
	const char *text; /* = name. First: the engine reads it (backend/exact) */
	uint32_t id;      /* 0, 1, … in order of their making */
	uint64_t hash;
	struct tare_region *same_bucket;
	size_t name_bytes;
	char name[];
};

/* As the kernel gives them: the event's scale is not in yet. */
struct sum {
	_Atomic uint64_t count, enabled_ns, running_ns;
};

enum begun {
	BEGUN_NOT, /* the begin could not be read */
	BEGUN_RAW, /* by read(2) */
	BEGUN_USER /* by user reads: the time is a mark */
};

/* A point on the clock of user reads (region_pass.h). */
struct user_mark {
	uint64_t base_ns, cycles;
};

struct slot {
	/* exits are those of a thread that was in the region: entries − exits is the depth */
	_Atomic uint64_t entries, exits;
	_Atomic uint64_t pending; /* exits inside a pass that has not ended: their counts are in no sum */
	enum begun begun;
	unsigned tries; /* user reads at the begin that were interrupted */
	struct user_mark begin_mark;
	_Atomic uint64_t marks_base_ns, marks_cycles; /* sums of times of passes that user reads began and ended */
	/* of passes of other regions, and of recursion, inside the passes of this one: see struct region_thread */
	uint64_t inside_begin[3];
	_Atomic uint64_t inside[3];
	_Atomic uint64_t strays; /* exits of a thread that was not in the region */
	_Atomic uint64_t unread; /* passes without a count: the counters could not be read or opened */
	struct sum sums[];       /* [events]; then the begin's counts [events] and times [events] */
};

struct begin_times {
	uint64_t enabled_ns, running_ns;
};

static inline uint64_t *slot_begin(struct slot *slot, size_t events) { return (uint64_t *)(slot->sums + events); }

/* Of a begin by read(2). */
static inline struct begin_times *slot_begin_times(struct slot *slot, size_t events)
{
	return (struct begin_times *)(slot_begin(slot, events) + events);
}

static inline size_t slot_bytes(size_t events)
{
	return sizeof(struct slot) + events * (sizeof(struct sum) + sizeof(uint64_t) + sizeof(struct begin_times));
}

/* In a forked child all of it is 0 (MADV_WIPEONFORK). */
struct region_thread {
	bool ready; /* its counters are open, and it is not a copy in a forked child */
	uint32_t n; /* events */
	size_t slot_bytes;
	struct user_reads *user;   /* where user reads are tried; NULL where not */
	_Atomic uint64_t calls[3]; /* enters and leaves that read counters; what else was done in regions
				      (recursion, checks) */
	/* calls[0], at which user reads are checked: in no region, and inside of one, whose count the check is
	 * in */
	_Atomic uint64_t check_at[2];
	struct tare_counters *set; /* in the same memory; only what reading needs of it */
	struct region_thread *next;
	pid_t thread;
	uint32_t number;      /* 0, 1, … in order of their first regions */
	_Atomic int os_errno; /* why it has no counters; 0 when it has */
	_Atomic bool ended;   /* its counters are closed */
	_Atomic bool lost;    /* its counters were taken away (watched.h) */
	/* page faults of the thread and of the process until its first region; the thread's since, at its end */
	uint64_t faults_before, process_faults_before;
	_Atomic uint64_t faults;
	_Atomic(struct slot *) chunks[CHUNKS_MOST];
};

enum report_format { REPORT_TEXT, REPORT_CSV };

struct region_set {
	struct tare_counters *model; /* the set whose events were tried; never started */
	size_t slot_bytes;
	size_t plan_fds; /* counters of one thread */
	struct plan_counter {
		struct event_encoding encoding;
		unsigned levels;
		bool user_read;
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
struct region_set *regions_of_process(void);
/* as tare_region() */
struct tare_region *region_of_name(const char *name, size_t bytes, struct tare_error *error);
/* Fortran's: blanks at its end are not of it; NULL while nothing is counted */
struct tare_region *region_of_text(const char *name, size_t bytes);
struct tare_region **regions_listed(size_t *n, struct error *err); /* in order of id; the caller frees it */
/* While regions are marked, not counted. */
void regions_mark(const struct tare_region *region, enum region_mark_kind kind);

/* region_thread.c */
struct slot *slot_find(struct region_thread *thread, uint32_t id);
struct region_thread *region_thread_known(void); /* the calling one's, or NULL */
void region_thread_end(void *thread);
/* What region_pass.h leaves to do. True: nothing stands in the way of region_pass_enter() any more. */
bool region_enter_slowly(struct tare_region *region);
void region_leave_slowly(struct tare_region *region);
/* Of the calling thread: have its counters been taken away? */
void region_thread_watch(void);
/* Page faults of a thread since its first region, at most. */
uint64_t region_thread_faults(const struct region_thread *thread);
void region_thread_reads(const struct region_thread *thread, struct tare_reads *out);
/* Adds what a slot has to passes, sums and `unread`. */
struct region_sums {
	struct tare_region_passes passes;
	uint64_t unread, strays, pending;
	bool lost;
	uint64_t faults; /* region_report.c's: most page faults that its threads had */
	uint64_t inside[3];
	struct tare_reading readings[TARE_EVENTS_MOST]; /* raw, until region_sums_finish() */
};
void region_sums_add(struct region_sums *out, const struct region_thread *thread, const struct slot *slot);
void region_sums_finish(struct region_sums *out, const struct region_set *regions);

/* region_report.c: to a descriptor. False with errno. */
bool region_report(const struct region_set *regions, int fd);

#endif
