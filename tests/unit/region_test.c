/* Regions of libtare from outside, started by tare_regions_start(). Page faults are the known event (api_test.c);
 * the environment's side is tests/api/region_report_test. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "tap.h"
#include "tare.h"

static void faults(uint64_t is, uint64_t expected, const char *fact)
{
	if (OWN_FAULTS)
		ok(is >= expected, "%s (or more, sanitized)", fact);
	else
		equal_u64(is, expected, fact);
}

struct seen {
	struct tare_region_passes passes;
	struct tare_reading readings[TARE_EVENTS_MOST];
};

static struct seen see(const struct tare_region *region, int scope)
{
	struct seen seen = {0};
	if (!tare_region_read(region, scope, &seen.passes, seen.readings, NULL))
		seen.passes.entries = UINT64_MAX;
	return seen;
}

/* All code paths and stacks are there before anything is counted to the last fault. */
static void warm(void)
{
	struct tare_region *region = tare_region("warm", NULL);
	for (int i = 0; i < 2; i++) {
		tare_region_begin(region);
		touch(1);
		tare_region_end(region);
	}
	see(region, TARE_THREAD);
}

static void passes(const char *fact, struct seen seen, uint64_t entries, uint64_t exits, uint64_t unbalanced)
{
	if (!ok(seen.passes.entries == entries && seen.passes.exits == exits &&
			seen.passes.unbalanced == unbalanced,
		"%s", fact))
		printf("# entries %" PRIu64 ", exits %" PRIu64 ", unbalanced %" PRIu64 "\n", seen.passes.entries,
		       seen.passes.exits, seen.passes.unbalanced);
}

static void test_before_start(void)
{
	struct tare_region *region = tare_region("early", NULL);
	struct tare_error error = {0};
	ok(region && region == tare_region("early", NULL), "one name is one region");
	ok(!tare_region("", &error) && error.code == TARE_ERROR_USAGE, "a region without a name is refused");
	tare_region_begin(region);
	tare_region_end(region);
	ok(!tare_region_read(region, TARE_THREAD, NULL, NULL, &error) && error.code == TARE_ERROR_USAGE,
	   "a region that is not counted has no reading");
	ok(!tare_regions_start("no-such-event", &error) && error.code == TARE_ERROR_USAGE && !tare_regions_on,
	   "events that are not known are refused, and regions stay off");
}

static void test_nesting(void)
{
	struct tare_region *a = tare_region("a", NULL), *b = tare_region("b", NULL);
	tare_region_begin(a);
	touch(10);
	tare_region_begin(b);
	touch(20);
	tare_region_end(a);
	touch(40);
	tare_region_end(b);
	faults(see(a, TARE_THREAD).readings[0].count, 30,
	       "overlapping regions: the first has its own and the shared");
	faults(see(b, TARE_THREAD).readings[0].count, 60,
	       "overlapping regions: the second has the shared and its own");

	struct tare_region *recursive = tare_region("recursive", NULL);
	for (int pass = 0; pass < 3; pass++) {
		tare_region_begin(recursive);
		touch(5);
		tare_region_begin(recursive);
		touch(5);
		tare_region_end(recursive);
		tare_region_end(recursive);
	}
	struct seen seen = see(recursive, TARE_THREAD);
	faults(seen.readings[0].count, 30, "recursion counts once");
	passes("… and each entry is one", seen, 6, 6, 0);
}

static void *thread_main(void *of)
{
	struct tare_region *region = tare_region("threads", NULL);
	warm();
	for (int i = 0; i < 4; i++) {
		tare_region_begin(region);
		touch(*(size_t *)of);
		tare_region_end(region);
	}
	struct seen seen = see(region, TARE_THREAD);
	uint64_t expected = 4 * *(size_t *)of, is = seen.readings[0].count;
	return (void *)(uintptr_t)(OWN_FAULTS ? is >= expected : is == expected);
}

static void *thread_that_ends_inside(void *of)
{
	tare_region_begin(of);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[8];
	size_t pages[8], right = 0;
	for (size_t i = 0; i < 8; i++) {
		pages[i] = i + 1;
		pthread_create(&threads[i], NULL, thread_main, &pages[i]);
	}
	for (size_t i = 0; i < 8; i++) {
		void *as_expected;
		pthread_join(threads[i], &as_expected);
		right += as_expected != NULL;
	}
	struct seen all = see(tare_region("threads", NULL), TARE_PROCESS);
	equal_u64(right, 8, "each of 8 threads reads its own count");
	faults(all.readings[0].count, 4 * 36, "the total is that of all threads, ended ones too");
	passes("… and so are the entries", all, 32, 32, 0);
	ok(all.passes.threads == 8, "8 threads were in it");

	struct tare_region *left = tare_region("ended", NULL);
	pthread_create(&threads[0], NULL, thread_that_ends_inside, left);
	pthread_join(threads[0], NULL);
	all = see(left, TARE_PROCESS);
	passes("a thread that ends inside has not left", all, 1, 0, 1);
	ok(all.readings[0].state == TARE_NOT_COUNTED, "… and has no count, not 0");
}

static void *thread_without_descriptors(void *of)
{
	struct rlimit limit, none;
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	tare_region_begin(of);
	tare_region_end(of);
	setrlimit(RLIMIT_NOFILE, &limit);
	return NULL;
}

static void test_failures(void)
{
	static jmp_buf back;
	struct tare_region *jumped = tare_region("longjmp", NULL), *stray = tare_region("stray", NULL);
	pthread_t thread;
	if (setjmp(back) == 0) {
		tare_region_begin(jumped);
		longjmp(back, 1);
	}
	passes("longjmp out of a region: entered, not left", see(jumped, TARE_THREAD), 1, 0, 1);
	for (int i = 0; i < 2; i++) {
		tare_region_begin(jumped);
		tare_region_end(jumped);
	}
	ok(see(jumped, TARE_THREAD).readings[0].state == TARE_NOT_COUNTED,
	   "passes after a longjmp out of the region are not counted as 0");
	tare_region_end(stray);
	passes("an exit without entry is one", see(stray, TARE_THREAD), 0, 1, 1);
	tare_region_begin(stray);
	passes("… and an entry after it does not make it good", see(stray, TARE_THREAD), 1, 1, 1);
	tare_region_begin(NULL);
	tare_region_end(NULL);

	struct tare_region *closed = tare_region("no descriptors", NULL);
	pthread_create(&thread, NULL, thread_without_descriptors, closed);
	pthread_join(thread, NULL);
	struct seen seen = see(closed, TARE_PROCESS);
	passes("a thread whose counters cannot be opened has entries and exits", seen, 1, 1, 0);
	ok(seen.readings[0].state == TARE_NOT_COUNTED, "… and is not counted");
}

static void test_fork(void)
{
	struct tare_region *region = tare_region("fork", NULL);
	int status = 0;
	tare_region_begin(region);
	pid_t child = fork();
	if (child == 0) {
		struct tare_error error = {0};
		tare_region_end(region);
		tare_region_enter(region); /* as if the flag were not there */
		bool refused = !tare_region_read(region, TARE_THREAD, NULL, NULL, &error);
		_exit(refused && error.code == TARE_ERROR_USAGE && tare_region("in the child", NULL) ? 0 : 1);
	}
	waitpid(child, &status, 0);
	tare_region_end(region);
	ok(child > 0 && status == 0, "a forked child counts nothing, and is told so");
	passes("… and its parent goes on", see(region, TARE_THREAD), 1, 1, 0);
}

/* A child that no handler of pthread_atfork(3) has seen, and in which the parent's descriptors mean something else: what
 * a region read there would be the child's data. */
static void test_bare_fork(void)
{
	struct tare_region *region = tare_region("bare fork", NULL);
	int status = -1, ends[2] = {-1, -1};
	tare_region_begin(region);
	tare_region_end(region);
	tare_region_begin(region);
	if (pipe(ends) != 0 ||
	    write(ends[1],
		  "the child's own data, and more than a reading takes; the child's own data, and "
		  "more than a reading takes",
		  100) != 100)
		return;
	fflush(stdout);
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		char path[32], target[32];
		int replaced = 0, left = 0;
		for (int fd = 3; fd < 256; fd++) {
			snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
			ssize_t bytes = readlink(path, target, sizeof target - 1);
			target[bytes > 0 ? bytes : 0] = 0;
			if (strstr(target, "[perf_event]"))
				replaced += dup2(ends[0], fd) == fd;
		}
		tare_region_begin(region);
		tare_region_end(region);
		tare_region_end(region);
		_exit(replaced && ioctl(ends[0], FIONREAD, &left) == 0 && left == 100 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	tare_region_end(region);
	close(ends[0]);
	close(ends[1]);
	ok(child > 0 && status == 0,
	   "a child by clone(2) reads none of the descriptors that were its parent's counters");
}

/* Such a child of a thread that has no counters yet: there are none to be opened in it. */
static struct tare_region *first_in_child;
static void *clone_without_counters(void *of)
{
	static struct tare_region_passes of_child;
	int *status = of;
	fflush(stdout);
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		struct tare_region *region = first_in_child;
		size_t before = open_files();
		tare_region_begin(region);
		size_t inside = open_files();
		tare_region_end(region);
		_exit(inside != before || tare_region_read(region, TARE_THREAD, &of_child, NULL, NULL));
	}
	if (child > 0)
		waitpid(child, status, 0);
	return NULL;
}

static void test_first_in_child(void)
{
	pthread_t thread;
	int status = -1;
	first_in_child = tare_region("first in the child", NULL);
	pthread_create(&thread, NULL, clone_without_counters, &status);
	pthread_join(thread, NULL);
	ok(status == 0, "one in which a region is the thread's first opens no counter");
}

static struct tare_region *in_handler;
static volatile sig_atomic_t handled;
static void handler(int signal)
{
	(void)signal;
	tare_region_begin(in_handler);
	handled++;
	tare_region_end(in_handler);
}

static void *thread_in_handler(void *unused)
{
	raise(SIGUSR1);
	return unused;
}

static void test_signals(void)
{
	struct sigaction action = {.sa_handler = handler}, before;
	struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
	pthread_t thread;
	in_handler = tare_region("handler", NULL);
	sigaction(SIGUSR1, &action, &before);
	sigaction(SIGALRM, &action, NULL);
	pthread_create(&thread, NULL, thread_in_handler, NULL);
	pthread_join(thread, NULL);
	passes("a thread's first region may be in a handler", see(in_handler, TARE_PROCESS), 1, 1, 0);
	setitimer(ITIMER_REAL, &often, NULL);
	uint64_t own = 0;
	while (handled < 200 && own < 10 * 1000 * 1000) {
		tare_region_begin(in_handler);
		own++;
		tare_region_end(in_handler);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	uint64_t all = own + (uint64_t)handled;
	passes("handlers that enter what they interrupt lose nothing", see(in_handler, TARE_PROCESS), all, all, 0);
}

static void test_sizes(void)
{
	enum { MANY = 100000, LONG = 10000 };
	struct tare_region *region = NULL;
	char name[LONG + 1];
	size_t made = 0, right = 0;
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "many %u", i);
		region = tare_region(name, NULL);
		made += region != NULL;
		tare_region_begin(region);
		tare_region_end(region);
	}
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "many %u", i);
		right += see(tare_region(name, NULL), TARE_THREAD).passes.exits == 1;
	}
	ok(made == MANY && right == MANY, "100000 regions are each entered once");
	memset(name, 0xff, LONG);
	name[LONG] = 0;
	region = tare_region(name, NULL);
	name[LONG - 1] = 'x';
	ok(region && region != tare_region(name, NULL),
	   "names of 10000 bytes that are no UTF-8 differ in the last");
	for (unsigned i = 0; i < 1000000; i++) {
		tare_region_begin(region);
		tare_region_end(region);
	}
	passes("1000000 entries are 1000000", see(region, TARE_THREAD), 1000000, 1000000, 0);
	faults(see(region, TARE_THREAD).readings[0].count, 0, "… and an empty region has no page fault");
	TARE_REGION_BEGIN("many 7");
	TARE_REGION_END("many 7");
	passes("the macro's region is that of its name", see(tare_region("many 7", NULL), TARE_THREAD), 2, 2, 0);
}

int main(void)
{
	struct tare_error error = {0};
	test_before_start();
	if (!tare_regions_start("page-faults:u,minor-faults:u", &error)) {
		skip(error.text, "regions count");
		return done();
	}
	ok(!tare_regions_start("page-faults:u", &error) && error.code == TARE_ERROR_USAGE,
	   "regions are started once");
	warm();
	test_nesting();
	test_threads();
	test_failures();
	test_fork();
	test_bare_fork();
	test_first_in_child();
	test_signals();
	test_sizes();
	return done();
}
