/* Reading a thread's counters without a system call.
 *
 * Linux maps one page a counter into the program (struct perf_event_mmap_page in linux/perf_event.h, whose comment
 * is the protocol): which register holds the count now (`index`), what to add to it (`offset`), the times up to
 * the last change and how to bring them up to date by the clock, all under a sequence number (`lock`). The writer
 * is the kernel on the reader's own CPU, so that compiler barriers are all that is needed.
 *
 * 1. Only the thread whose counters they are reads them so (`owner`), and only sets in which every event has a
 * page with the capability: one reading is of one kind, by the registers or by read(2), never a mixture.
 * 2. A reading that finds a counter off its register (index 0), the capability gone, or the registers closed says
 * so, and its caller uses read(2). The next one tries again.
 * 3. Counts are checked: the first reading, and then each that ends an interval (1, 2, 4, … CHECK_EVERY readings),
 * lies between two of read(2). One that does not ends user reads for good (USER_DISAGREED).
 * 4. `why` is written by the owner and its signal handlers alone; it only leaves USER_READS. */
#ifndef TARE_API_USER_READ_H
#define TARE_API_USER_READ_H

#include <linux/perf_event.h>
#include <stdatomic.h>

#include "api/counters.h"
#include "api/own_add.h"
#include "api/user_access.h"

enum user_why {
	USER_READS,       /* they are used */
	USER_NOT_WANTED,  /* TARE_USER_READ=0 */
	USER_NO_REGISTER, /* an event that the kernel counts */
	USER_CORES,       /* cores of several kinds: a register of one is none of another */
	USER_PROCESS,     /* counters of other threads */
	USER_MANY,        /* USER_EVENTS_MOST */
	USER_TURNS,       /* several groups: some are always off their registers */
	USER_NO_MACHINE,  /* not on this architecture */
	USER_CLOSED,      /* the kernel gives no page, or not the capability */
	USER_NO_CLOCK,    /* … or no clock: the times would stand still */
	USER_DISAGREED,   /* with read(2) */
	USER_OFF,         /* said of USER_READS where some readings were read(2)'s */
};
const char *user_why_text(enum user_why why);

typedef const struct perf_event_mmap_page user_page;

/* More than the registers of today's cores; a check in a signal handler takes three readings of them on its
 * stack. */
enum { USER_EVENTS_MOST = 24 };

enum { CHECK_EVERY = 1 << 16 };

struct user_reads {
	const void
		*owner; /* its thread pointer; a thread that gets the same later finds index 0: the events ended */
	_Atomic int why; /* enum user_why */
	_Atomic uint64_t by_user, by_call, checks, again;
	_Atomic uint64_t check_at;          /* by_user, at which the next reading is checked */
	_Atomic uint64_t by_call_elsewhere; /* by other threads than the owner */
	size_t n;                           /* pages that are mapped: all, or none */
	size_t page_bytes;
	uint64_t mult, shift; /* of the page's clock, which does not change its rate: it is checked */
	/* in the order of the events: a group, whose leader is the first */
	user_page *pages[USER_EVENTS_MOST];
	uint64_t shifts[USER_EVENTS_MOST]; /* 64 − pmc_width: registers are sign-extended from there */
};

/* Is it worth asking for, when a counter of this type is opened? `pmu` is the folder's name of a type that has
 * one. */
bool user_type(uint32_t type, const char *pmu);

/* May every event of the set have a page? `wanted` is what the environment says. */
enum user_why user_possible(const struct tare_counters *c, bool wanted);
bool user_wanted(void);

/* Maps the pages of a set's counters for the calling thread. Sets `why`. */
void user_open(struct user_reads *reads, const struct tare_counters *c);
void user_close(struct user_reads *reads);

enum user_time {
	USER_BEGIN, /* of what is measured: checks are before the reading */
	USER_END    /* … after it */
};
enum user_result {
	USER_READ,
	USER_REFUSED /* read(2) is next */,
	USER_WRONG /* and so may be all since the last check */
};

/* Fills raw[] of the set; USER_REFUSED also for other threads than the owner. */
enum user_result user_read(const struct tare_counters *c, enum user_time time, struct tare_reading *raw);

/* A reading between two of read(2); `done` is how many readings there were. When the next check is due; 0: this
 * one has ended user reads. Another reading is right where either could not be had now. */
uint64_t user_check(const struct tare_counters *c, uint64_t done);

/* A reading was by read(2). */
void user_called(const struct tare_counters *c);

struct user_reads_counted {
	uint64_t by_user, by_call, checks, again;
	enum user_why why;
};
struct user_reads_counted user_reads_count(const struct user_reads *reads);

static inline const void *user_thread(void) { return __builtin_thread_pointer(); }

/* ---- the protocol ---- */

#define user_barrier() __asm__ volatile("" : : : "memory")

/* cap_user_rdpmc as a mask: for the bit-field compilers make more than one instruction. */
enum { USER_CAP_RDPMC = 1 << 2 };

/* What is used twice looks large to compilers, for its table of instructions (user_access.h). */
#define USER_INLINE static inline __attribute__((always_inline))

/* What was loaded once is not loaded again. */
#define user_pin(value) __asm__ volatile("" : "+r"(value))

/* The sequence number, and the first of what it protects. */
struct user_head {
	uint32_t sequence;
	user_place place;
	uint64_t offset; /* arm64 alone: elsewhere it is added from memory */
};

USER_INLINE struct user_head user_head(user_page *page)
{
	struct user_head head;
#if defined(__aarch64__)
	/* an interrupted pair of loads is done again as a whole */
	__asm__ volatile("ldp %0, %1, [%2]" : "=&r"(head.place), "=r"(head.offset) : "r"(&page->lock) : "memory");
	head.sequence = (uint32_t)head.place;
#else
	head.sequence = page->lock;
	user_barrier();
	head.place = page->index;
	user_pin(head.place);
	head.offset = 0;
#endif
	return head;
}

/* Is what came since then still protected? */
USER_INLINE bool user_same(user_page *page, uint32_t sequence)
{
	user_barrier();
	return page->lock == sequence;
}

/* False: the counter is on no register. The capability need not be asked of each page: where an event lacks it,
 * Linux gives its index as 0 (x86_pmu_event_idx(), armv8pmu_user_event_idx()). */
USER_INLINE bool user_count(user_page *page, struct user_head head, const uint64_t *shift, uint64_t *count)
{
	uint64_t value;
	if (!user_pmc(head.place, &value))
		return false;
	value = (uint64_t)((int64_t)(value << *shift) >> *shift);
#if defined(__aarch64__)
	(void)page;
	*count = value + head.offset;
#else
	*count = value + (uint64_t)page->offset;
#endif
	return true;
}

#endif
