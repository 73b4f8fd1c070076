/* tare_overflow(): the handler is called once a period, in the thread that overflowed, with the place that was interrupted. Page faults
 * and the CPU clock on any machine; cycles, exactly, where there is a PMU (the guest). */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../faults.h"
#include "tap.h"
#include "tare.h"

enum { PAGES = 1000, MS = 1000000 };

static struct tare_counters *set_of(int scope, const char *events)
{
	const struct tare_options options = {.size = sizeof options, .scope = scope};
	struct tare_counters *c = NULL;
	struct tare_error error = {0};
	if (tare_open(&options, &c, &error) && tare_add(c, events, &error))
		return c;
	printf("# %s: %s; %s\n", events, error.text, error.hint);
	tare_close(c);
	return NULL;
}

struct seen {
	atomic_int calls, elsewhere; /* elsewhere: in another thread than `thread` */
	atomic_int in_burn;
	pthread_t thread;
	size_t event;
	uint64_t period, count; /* count: of the set, read by the handler */
	const struct tare_counters *set;
	struct tare_region *region;
};

/* In a section of its own, which the linker names: how long it is depends on the compiler and its checks. */
__attribute__((noinline, section("burning"))) static void burn(uint64_t cpu_ns)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((uint64_t)((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec) < cpu_ns);
}

extern const char __start_burning[], __stop_burning[];

static void on_overflow(const struct tare_overflow *overflow, void *data)
{
	struct seen *seen = data;
	const char *place = (const char *)(uintptr_t)overflow->address;
	atomic_fetch_add(&seen->calls, 1);
	seen->event = overflow->event;
	seen->period = overflow->period;
	if (overflow->context && place >= __start_burning && place < __stop_burning)
		atomic_fetch_add(&seen->in_burn, 1);
	if (!pthread_equal(pthread_self(), seen->thread))
		atomic_fetch_add(&seen->elsewhere, 1);
	if (seen->set) {
		struct tare_reading readings[TARE_EVENTS_MOST];
		if (tare_read(seen->set, readings, NULL))
			seen->count = readings[overflow->event].count;
	}
	if (seen->region) {
		tare_region_begin(seen->region);
		tare_region_end(seen->region);
	}
	errno = EXDEV; /* the library puts back what was there */
}

static uint64_t count_of(const struct tare_counters *c, size_t event)
{
	struct tare_reading readings[TARE_EVENTS_MOST];
	return tare_read(c, readings, NULL) ? readings[event].count : UINT64_MAX;
}

/* ---- page faults: exact ---- */

static void test_faults(void)
{
	struct tare_error error = {0};
	struct seen seen = {.thread = pthread_self()};
	struct tare_counters *c = set_of(TARE_THREAD, "minor-faults:u,page-faults:u");
	if (!ok(c && tare_overflow(c, 1, 10, on_overflow, &seen, &error),
		"a handler for each tenth page fault: %s", error.text))
		return;
	touch(PAGES);
	equal_u64((uint64_t)seen.calls, 0, "it is not called before the set is started");
	seen.set = c;
	errno = 0;
	tare_start(c, NULL);
	touch(PAGES); /* the handler's own pages are there from now on */
	int before = seen.calls;
	uint64_t faults = count_of(c, 1);
	touch(PAGES);
	int called = seen.calls - before;
	faults = count_of(c, 1) - faults;
	ok(errno == 0, "the program's errno is as it was");
	tare_stop(c, NULL, NULL);
	/* what is over of a period at the beginning and the end */
	ok(called >= (int)(faults / 10) - (OWN_FAULTS ? 20 : 1) && called <= (int)(faults / 10) + 1,
	   "%d calls for %" PRIu64 " page faults", called, faults);
	ok(seen.event == 1 && seen.period == 10, "it is told the event and the period");
	ok(seen.count > 0 && seen.count <= count_of(c, 1), "it can read the set (%" PRIu64 ")", seen.count);
	before = seen.calls;
	touch(PAGES);
	ok(seen.calls == before, "it is not called after the set was stopped");
	tare_start(c, NULL);
	touch(PAGES);
	tare_stop(c, NULL, NULL);
	ok(seen.calls >= before + PAGES / 10 - 2, "and again when it is started again");
	ok(tare_overflow(c, 1, 0, NULL, NULL, &error), "without a handler: %s", error.text);
	before = seen.calls;
	tare_start(c, NULL);
	touch(PAGES);
	ok(seen.calls == before, "it is called no more");
	tare_close(c);
}

/* Two events of one set, each with a handler of its own; and one set after the other. */
static void test_several(void)
{
	struct seen one = {.thread = pthread_self()}, two = one;
	struct tare_counters *c = set_of(TARE_THREAD, "page-faults:u,minor-faults:u");
	bool did = c && tare_overflow(c, 0, 10, on_overflow, &one, NULL) &&
		   tare_overflow(c, 1, 50, on_overflow, &two, NULL) && tare_start(c, NULL);
	touch(PAGES);
	tare_stop(c, NULL, NULL);
	ok(did && one.calls >= PAGES / 10 - 1 && two.calls >= PAGES / 50 - 1 && two.calls < one.calls,
	   "two events have a handler each (%d, %d calls)", one.calls, two.calls);
	tare_close(c);
	int before = one.calls;
	touch(PAGES);
	ok(one.calls == before, "a closed set calls nothing");
	size_t open = open_files();
	for (int i = 0; i < 50; i++) {
		c = set_of(TARE_THREAD, "page-faults:u");
		did = did && c && tare_overflow(c, 0, 100, on_overflow, &one, NULL);
		tare_close(c);
	}
	ok(did && open_files() == open, "50 sets one after the other leave nothing behind");
}

/* ---- the CPU clock: places ---- */

static void test_clock(void)
{
	struct tare_error error = {0};
	struct seen seen = {.thread = pthread_self()};
	struct tare_counters *c = set_of(TARE_THREAD, "cpu-clock");
	if (!ok(c && tare_overflow(c, 0, MS, on_overflow, &seen, &error), "a handler for each millisecond: %s",
		error.text))
		return;
	tare_start(c, NULL);
	burn(100 * MS);
	tare_stop(c, NULL, NULL);
	uint64_t due = count_of(c, 0) / MS;
	/* a handler's own time is in no period; a busy machine's timers are late */
	ok(seen.calls > (int)due / 2 && seen.calls <= (int)due + 1, "%d calls in %" PRIu64 " ms", seen.calls, due);
	ok(seen.in_burn > seen.calls / 2, "at the places that the time went to (%d)", seen.in_burn);
	ok(!tare_overflow(c, 0, 9999, on_overflow, &seen, &error) && error.code == TARE_ERROR_USAGE,
	   "a period that the kernel would make longer is an error: %s", error.text);
	tare_close(c);
}

/* ---- threads ---- */

static void *in_thread(void *data)
{
	struct seen *seen = data;
	struct tare_counters *c = set_of(TARE_THREAD, "page-faults:u");
	seen->thread = pthread_self();
	bool did = c && tare_overflow(c, 0, 10, on_overflow, seen, NULL) && tare_start(c, NULL);
	for (int i = 0; did && i < 5; i++)
		touch(PAGES);
	tare_close(c);
	return did ? seen : NULL;
}

static void test_threads(void)
{
	enum { THREADS = 4 };
	static struct seen seen[THREADS];
	pthread_t threads[THREADS];
	int elsewhere = 0, most = 0, least = INT32_MAX;
	bool did = true;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, in_thread, &seen[i]);
	for (int i = 0; i < THREADS; i++) {
		void *got;
		pthread_join(threads[i], &got);
		did = did && got;
		elsewhere += seen[i].elsewhere;
		most = seen[i].calls > most ? seen[i].calls : most;
		least = seen[i].calls < least ? seen[i].calls : least;
	}
	ok(did && elsewhere == 0, "each thread's handler is called in that thread");
	ok(least >= 5 * PAGES / 10 - 1 && (OWN_FAULTS || most < 5 * PAGES / 10 + 50),
	   "for its own page faults (%d … %d calls)", least, most);
}

/* ---- regions ---- */

static void test_regions(void)
{
	struct tare_error error = {0};
	if (!ok(tare_regions_start("page-faults:u", &error), "regions beside handlers: %s", error.text))
		return;
	struct seen seen = {.thread = pthread_self(), .region = tare_region("handler", NULL)};
	struct tare_region *work = tare_region("work", NULL);
	struct tare_region_passes passes, handlers;
	struct tare_reading reading;
	struct tare_counters *c = set_of(TARE_THREAD, "page-faults:u,cpu-clock");
	bool did = c && tare_overflow(c, 0, 3, on_overflow, &seen, NULL) &&
		   tare_overflow(c, 1, MS / 10, on_overflow, &seen, NULL) && tare_start(c, NULL);
	for (int i = 0; i < 2000; i++) {
		tare_region_begin(work);
		touch(3);
		tare_region_end(work);
	}
	tare_stop(c, NULL, NULL);
	tare_close(c);
	did = did && tare_region_read(work, TARE_THREAD, &passes, &reading, &error);
	did = did && tare_region_read(seen.region, TARE_THREAD, &handlers, NULL, &error);
	ok(did && passes.entries == 2000 && passes.exits == 2000 && passes.unbalanced == 0,
	   "regions that handlers interrupt stay whole: %s", error.text);
	ok(handlers.entries == (uint64_t)seen.calls && handlers.exits == handlers.entries && seen.calls >= 2000,
	   "and so do the handlers' own (%d)", seen.calls);
	ok(reading.state == TARE_COUNTED && reading.count >= 6000 && (OWN_FAULTS || reading.count < 6100),
	   "the region has its page faults (%" PRIu64 ")", reading.count);
}

/* ---- fork ---- */

static void test_fork(void)
{
	struct seen seen = {.thread = pthread_self()};
	struct tare_counters *c = set_of(TARE_THREAD, "page-faults:u");
	bool did = c && tare_overflow(c, 0, 10, on_overflow, &seen, NULL) && tare_start(c, NULL);
	int before = seen.calls, status = 0;
	pid_t child = fork();
	if (child == 0) {
		int had = seen.calls;
		touch(PAGES);
		bool none = seen.calls == had && !tare_overflow(c, 0, 10, on_overflow, &seen, NULL);
		tare_close(c);
		struct tare_counters *own = set_of(TARE_THREAD, "page-faults:u");
		none = none && own && tare_overflow(own, 0, 10, on_overflow, &seen, NULL) && tare_start(own, NULL);
		had = seen.calls;
		touch(PAGES);
		_exit(none && seen.calls >= had + PAGES / 10 - 1 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ok(did && WIFEXITED(status) && WEXITSTATUS(status) == 0,
	   "a forked child has no handler of its parent's, and may have its own");
	before = seen.calls;
	touch(PAGES);
	ok(seen.calls >= before + PAGES / 10 - 1, "the parent's goes on");
	tare_close(c);
}

/* ---- refusals ---- */

static void nothing(int number) { (void)number; }

static void test_refusals(void)
{
	struct tare_error error = {0};
	struct seen seen = {.thread = pthread_self()};
	struct tare_counters *c = set_of(TARE_THREAD, "page-faults:u,context-switches"),
			     *process = set_of(TARE_PROCESS, "page-faults:u");
	if (!ok(c && process, "sets for mistakes"))
		return;
	ok(!tare_overflow(c, 2, 10, on_overflow, &seen, &error) && error.code == TARE_ERROR_USAGE,
	   "an event that the set has not: %s", error.text);
	ok(!tare_overflow(c, 0, 0, on_overflow, &seen, &error) && error.code == TARE_ERROR_USAGE, "no period: %s",
	   error.text);
	ok(!tare_overflow(c, 0, 1ull << 62, on_overflow, &seen, &error) && error.code == TARE_ERROR_USAGE,
	   "a period beyond the kernel's: %s", error.text);
	ok(!tare_overflow(process, 0, 10, on_overflow, &seen, &error) && error.code == TARE_ERROR_USAGE,
	   "a process's set: %s", error.text);
	tare_start(c, NULL);
	ok(!tare_overflow(c, 0, 10, on_overflow, &seen, &error) && error.code == TARE_ERROR_USAGE,
	   "a started set: %s", error.text);
	tare_stop(c, NULL, NULL);
	tare_close(c);
	tare_close(process);

	/* a child whose program has all signals */
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
			signal(number, nothing);
		c = set_of(TARE_THREAD, "page-faults:u");
		bool refused = !tare_overflow(c, 0, 10, on_overflow, &seen, &error);
		_exit(refused && error.code == TARE_ERROR_BUSY ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "no signal is left");
	c = set_of(TARE_THREAD, "page-faults:u");
	ok(!tare_overflow(c, 1, 10, on_overflow, &seen, NULL) && tare_overflow(c, 0, 10, on_overflow, &seen, NULL),
	   "errors need no place");
	tare_close(c);
}

/* ---- the PMU ---- */

/* Exactly 2n instructions. */
static void loop(uint64_t n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#elif defined(__x86_64__)
	__asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(n) : : "cc");
#else
	while (n--)
		__asm__ volatile("" : "+r"(n));
#endif
}

static void test_cycles(void)
{
	struct tare_error error = {0};
	struct seen seen = {.thread = pthread_self()};
	struct tare_counters *c = set_of(TARE_THREAD, "cycles:u");
	if (!c) {
		skip("this machine has no PMU (the guest's tests stand for it)", "cycles call a handler");
		return;
	}
	if (!ok(tare_overflow(c, 0, 100000, on_overflow, &seen, &error), "a handler for each 100,000 cycles: %s",
		error.text))
		return;
	tare_start(c, NULL);
	loop(5000000);
	tare_stop(c, NULL, NULL);
	uint64_t due = count_of(c, 0) / 100000;
	/* the handler's own cycles are in no period */
	ok((uint64_t)seen.calls <= due && (uint64_t)seen.calls >= due * 9 / 10 && due >= 10,
	   "%d calls for %" PRIu64 " periods", seen.calls, due);
	tare_close(c);
	c = set_of(TARE_THREAD, "instructions:u");
	if (getenv("TARE_IN_GUEST"))
		ok(c && !tare_overflow(c, 0, 100000, on_overflow, &seen, &error) &&
			   error.code == TARE_ERROR_UNSUPPORTED,
		   "an event that counts and does not overflow is found by trial: %s", error.text);
	tare_close(c);
}

int main(void)
{
	/* before libtare has taken one */
	test_refusals();
	test_faults();
	test_several();
	test_clock();
	test_threads();
	test_regions();
	test_fork();
	test_cycles();
	return done();
}
