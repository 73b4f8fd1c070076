/* Readings without a system call: opening, the whole of a set with its times, checks. See user_read.h. */
#include "api/user_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A thread that is moved or interrupted between any two instructions this often does not read by itself. */
enum { TRIES_MOST = 100 };

/* The clock of the times against that of read(2): each rounds to whole ns. */
#ifndef USER_TIME_SLACK_NS
#define USER_TIME_SLACK_NS 2
#endif

const char *user_why_text(enum user_why why)
{
	switch (why) {
	case USER_READS: return "";
	case USER_NOT_WANTED: return "TARE_USER_READ=0 in the environment";
	case USER_NO_REGISTER: return "a software event has no hardware register";
	case USER_CORES: return "the machine has cores of several kinds";
	case USER_PROCESS: return "counters of other threads";
	case USER_MANY: return "too many events to read from registers";
	case USER_TURNS: return "the events take turns on the counters";
	case USER_NO_MACHINE: return "not built for this architecture";
	case USER_CLOSED:
#if defined(__aarch64__)
		return "the kernel does not allow programs to read the counters (sysctl kernel.perf_user_access=1 "
		       "would)";
#else
		return "the kernel does not allow programs to read the counters (the PMU's file rdpmc, or locked "
		       "memory)";
#endif
	case USER_NO_CLOCK: return "the kernel gives programs no clock for the counters' times";
	case USER_DISAGREED: return "a reading disagreed with read(2)";
	default:
#if defined(__aarch64__)
		return "some events had no hardware counter at that time, or the kernel did not allow reading it "
		       "(sysctl "
		       "kernel.perf_user_access=1 "
		       "would)";
#else
		return "some events had no hardware counter at that time";
#endif
	}
}

bool user_wanted(void)
{
	const char *value = secure_getenv("TARE_USER_READ");
	return !value || strcmp(value, "0") != 0;
}

/* config1 is another thing to any other PMU, so that no other may be asked. */
bool user_type(uint32_t type, const char *pmu)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW ||
	       strncmp(pmu, "armv", 4) == 0;
}

#ifndef USER_EVENT
#define USER_EVENT(event) ((event)->source == SOURCE_HW)
#endif

enum user_why user_possible(const struct tare_counters *c, bool wanted)
{
	if (!USER_ACCESS)
		return USER_NO_MACHINE;
	if (c->scope != TARE_THREAD)
		return USER_PROCESS;
	for (size_t e = 0; e < c->events.count; e++) {
		const struct counted_event *event = &c->events.items[e];
		if (!USER_EVENT(event))
			return USER_NO_REGISTER;
		if (event->kinds != 1 || (event->flags & TARE_SOME_CPUS))
			return USER_CORES;
	}
	if (c->events.count > USER_EVENTS_MOST)
		return USER_MANY;
	if (c->groups.count != 1)
		return USER_TURNS;
	return wanted ? USER_READS : USER_NOT_WANTED;
}

#ifndef USER_MAP
#define USER_MAP(fd, bytes) mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0)
#define USER_UNMAP(page, bytes) munmap(page, bytes)
#endif

void user_open(struct user_reads *reads, const struct tare_counters *c)
{
	enum user_why why = USER_READS;
	reads->owner = user_thread();
	reads->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	for (reads->n = 0; why == USER_READS && reads->n < c->events.count; reads->n++) {
		void *map = USER_MAP(c->events.items[reads->n].fds[0], reads->page_bytes);
		if (map == MAP_FAILED) {
			why = USER_CLOSED;
			break;
		}
		user_page *page = reads->pages[reads->n] = map;
		reads->shifts[reads->n] = 64u - page->pmc_width;
		if (!page->cap_user_rdpmc || !page->pmc_width || page->pmc_width > 64)
			why = USER_CLOSED;
		else if (!page->cap_user_time)
			why = USER_NO_CLOCK;
		reads->mult = page->time_mult;
		reads->shift = page->time_shift;
	}
	atomic_store_explicit(&reads->why, why, memory_order_relaxed);
	if (why != USER_READS)
		user_close(reads);
}

void user_close(struct user_reads *reads)
{
	for (; reads->n; reads->n--)
		USER_UNMAP((void *)reads->pages[reads->n - 1], reads->page_bytes);
}

/* ---- reading ---- */

/* The page's times, brought up to date. False when the kernel no longer gives what that needs. */
struct user_times {
	uint64_t enabled_ns, running_ns;
};

static bool user_times(user_page *page, struct user_times *out)
{
	if (!page->cap_user_time)
		return false;
	uint64_t cycles = user_cycles();
	if (page->cap_user_time_short)
		cycles = page->time_cycles + ((cycles - page->time_cycles) & page->time_mask);
	uint64_t mult = page->time_mult, shift = page->time_shift, rest = cycles & (((uint64_t)1 << shift) - 1);
	uint64_t since = page->time_offset + (cycles >> shift) * mult + ((rest * mult) >> shift);
	out->enabled_ns = page->time_enabled + since;
	out->running_ns = page->time_running + since;
	return true;
}

static bool try_all(const struct user_reads *reads, struct tare_reading *raw, bool *again)
{
	user_page *leader = reads->pages[0];
	struct user_times times;
	struct user_head first = user_head(leader);
	bool read = leader->cap_user_rdpmc && user_times(leader, &times) &&
		    user_count(leader, first, &reads->shifts[0], &raw[0].count);
	*again = false;
	for (size_t i = 1; read && i < reads->n; i++) {
		user_page *page = reads->pages[i];
		struct user_head head = user_head(page);
		read = user_count(page, head, &reads->shifts[i], &raw[i].count);
		*again |= !user_same(page, head.sequence);
	}
	for (size_t i = 0; read && i < reads->n; i++) {
		raw[i].enabled_ns = times.enabled_ns;
		raw[i].running_ns = times.running_ns;
	}
	/* nothing was scheduled between the first count and the last */
	*again |= !user_same(leader, first.sequence);
	return read && !*again;
}

static bool read_all(const struct tare_counters *c, struct tare_reading *raw)
{
	bool again = true, read = false;
	unsigned tries;
	for (tries = 0; again && tries < TRIES_MOST; tries++)
		read = try_all(c->user, raw, &again);
	if (tries > 1)
		own_add(&c->user->again, 1);
	return read;
}

/* ---- checking ---- */

static bool between(uint64_t low, uint64_t value, uint64_t high, uint64_t slack)
{
	return value - (low - slack) <= high - low + 2 * slack;
}

uint64_t user_check(const struct tare_counters *c, uint64_t done)
{
	struct tare_reading low[USER_EVENTS_MOST], value[USER_EVENTS_MOST], high[USER_EVENTS_MOST];
	struct user_reads *reads = c->user;
	if (!counters_read_raw(c, low) || !read_all(c, value) || !counters_read_raw(c, high))
		return done + 1;
	user_page *page = reads->pages[0];
	bool right = page->time_mult == reads->mult && page->time_shift == reads->shift;
	for (size_t i = 0; i < c->events.count; i++)
		right = right && between(low[i].count, value[i].count, high[i].count, 0) &&
			between(low[i].enabled_ns, value[i].enabled_ns, high[i].enabled_ns, USER_TIME_SLACK_NS) &&
			between(low[i].running_ns, value[i].running_ns, high[i].running_ns, USER_TIME_SLACK_NS);
	own_add(&reads->checks, 1);
	if (!right) {
		atomic_store_explicit(&reads->why, USER_DISAGREED, memory_order_relaxed);
		return 0;
	}
	return done + (done < CHECK_EVERY ? done + 1 : CHECK_EVERY);
}

static bool check_now(const struct tare_counters *c, uint64_t done)
{
	own_set(&c->user->check_at, UINT64_MAX); /* handlers in here do not */
	uint64_t next = user_check(c, done);
	own_set(&c->user->check_at, next);
	return next != 0;
}

enum user_result user_read(const struct tare_counters *c, enum user_time time, struct tare_reading *raw)
{
	struct user_reads *reads = c->user;
	if (atomic_load_explicit(&reads->why, memory_order_relaxed) != USER_READS || reads->owner != user_thread())
		return USER_REFUSED;
	uint64_t done = own_add(&reads->by_user, 1);
	bool due = done >= atomic_load_explicit(&reads->check_at, memory_order_relaxed);
	if (due && time == USER_BEGIN && !check_now(c, done))
		return USER_WRONG;
	bool read = read_all(c, raw);
	if (!read)
		own_add(&reads->by_user, (uint64_t)-1);
	if (due && time == USER_END && !check_now(c, done))
		return USER_WRONG;
	return read ? USER_READ : USER_REFUSED;
}

void user_called(const struct tare_counters *c)
{
	struct user_reads *reads = c->user;
	if (reads->owner == user_thread())
		own_add(&reads->by_call, 1);
	else
		atomic_fetch_add_explicit(&reads->by_call_elsewhere, 1, memory_order_relaxed);
}

struct user_reads_counted user_reads_count(const struct user_reads *of)
{
	struct user_reads *reads = (struct user_reads *)of; /* C11's atomic_load takes no const before DR 459 */
	return (struct user_reads_counted){
		.by_user = atomic_load_explicit(&reads->by_user, memory_order_relaxed),
		.by_call = atomic_load_explicit(&reads->by_call, memory_order_relaxed) +
			   atomic_load_explicit(&reads->by_call_elsewhere, memory_order_relaxed),
		.checks = atomic_load_explicit(&reads->checks, memory_order_relaxed),
		.again = atomic_load_explicit(&reads->again, memory_order_relaxed),
		.why = (enum user_why)atomic_load_explicit(&reads->why, memory_order_relaxed),
	};
}

void tare_reads_of(const struct tare_counters *c, struct tare_reads *out)
{
	struct user_reads_counted counted = user_reads_count(c->user);
	*out = (struct tare_reads){
		.by_user = counted.by_user,
		.by_call = counted.by_call,
		.checks = counted.checks,
		.again = counted.again,
		.why = user_why_text(counted.why == USER_READS && counted.by_call ? USER_OFF : counted.why)};
}
