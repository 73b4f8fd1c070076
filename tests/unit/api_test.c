/* libtare as a program sees it: the public header and the shared library, nothing of the inside. Page faults are
 * the known event: each first touch of a private page is one, on any machine and without a PMU; at user level, so
 * that the tests need no privilege. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "tap.h"
#include "tare.h"

enum { PAGES = 100 };

/* The second event: a clock where this user may have one, so that two parts of the kernel count. */
static bool has_clock;
#define SECOND (has_clock ? "task-clock" : "minor-faults:u")
#define BOTH (has_clock ? "page-faults:u,task-clock" : "page-faults:u,minor-faults:u")

static struct tare_counters *open_with(int scope, const char *events)
{
	const struct tare_options options = {.size = sizeof options, .scope = scope};
	struct tare_counters *c = NULL;
	struct tare_error error = {0};
	if (!tare_open(&options, &c, &error) || !tare_add(c, events, &error)) {
		printf("# %s; %s\n", error.text, error.hint);
		tare_close(c);
		return NULL;
	}
	touch(1);
	return c;
}

/* The first event's count in this reading. */
static uint64_t now(const struct tare_counters *c)
{
	struct tare_reading readings[TARE_EVENTS_MOST];
	return tare_read(c, readings, NULL) ? readings[0].count : UINT64_MAX;
}

/* What `touch(PAGES)` counts with a started set. */
static uint64_t faults_of_touch(const struct tare_counters *c)
{
	uint64_t before = 0, after = 0;
	for (int twice = 0; twice < 2; twice++) {
		before = now(c);
		touch(PAGES);
		after = now(c);
	}
	return after - before;
}

/* ---- opening and adding ---- */

static void test_options(void)
{
	struct {
		struct tare_options known;
		int newer;
	} longer = {.known = {.size = sizeof longer}};
	struct tare_options options = {.size = sizeof options, .scope = 7};
	struct tare_counters *c = NULL;
	struct tare_error error = {0};
	ok(!tare_open(&options, &c, &error) && !c && error.code == TARE_ERROR_USAGE,
	   "a scope that is none is refused");
	options = (struct tare_options){.size = sizeof options.size, .scope = 7};
	ok(tare_open(&options, &c, &error) && c, "a field beyond the given size is not looked at");
	tare_close(c);
	ok(tare_open(&longer.known, &c, &error) && c, "a longer struct whose tail is 0 is accepted");
	tare_close(c);
	longer.newer = 1;
	ok(!tare_open(&longer.known, &c, &error) && error.code == TARE_ERROR_USAGE,
	   "a longer struct whose tail is used is refused, not ignored");
	options.size = 0;
	ok(!tare_open(&options, &c, NULL), "options without a size are refused, and no error need be given");
	tare_close(NULL);
	ok(strcmp(tare_version(), VERSION) == 0, "the library says its version");
}

static void test_adding(void)
{
	struct tare_counters *c;
	struct tare_error error = {0};
	struct tare_reading readings[TARE_EVENTS_MOST];
	if (!ok(tare_open(NULL, &c, &error), "a set opens without options"))
		return;
	ok(!tare_start(c, &error) && error.code == TARE_ERROR_USAGE && error.hint[0] &&
		   !tare_read(c, readings, NULL) && !tare_stop(c, readings, NULL) && !tare_reset(c, NULL),
	   "a set without events cannot be started, read, stopped or reset");
	ok(tare_event_count(c) == 0 && !tare_event_name(c, 0), "a set begins without events");
	ok(!tare_add(c, "page-fautls", &error) && error.code == TARE_ERROR_USAGE &&
		   strstr(error.hint, "page-faults"),
	   "an unknown event is an error that names the nearest");
	ok(!tare_add(c, "", &error) && !tare_add(c, NULL, &error), "no name is an error");
	ok(!tare_add(c, "peak-memory", &error) && tare_event_count(c) == 0,
	   "an event that no counter counts is an error when it is added");
	ok(!tare_add(c, "page-faults:u,minor-faults:u,nonsense", &error) && tare_event_count(c) == 0,
	   "of a list all events are added, or none");
	size_t files = open_files();
	ok(!tare_add(c, "page-faults:u,minor-faults:u,peak-memory", &error) && tare_event_count(c) == 0 &&
		   open_files() == files,
	   "also when the last is known, but cannot be counted; no counter of the others stays open");
	ok(tare_add(c, BOTH, &error) && tare_event_count(c) == 2, "a list is added");
	ok(tare_add(c, "minor-faults:u", &error) && tare_event_count(c) == 3, "an event is added to others");
	equal_text(tare_event_name(c, 1), SECOND, "events are in the order of their adding");
	equal_text(tare_event_unit(c, 1), has_clock ? "ns" : "faults", "an event has its unit");
	equal_text(tare_event_source(c, 2), "os", "an event says who counts it");
	ok(!tare_event_name(c, 3) && !tare_event_unit(c, 3) && !tare_event_source(c, 3),
	   "there is no event behind the last");
	ok(tare_start(c, &error) && !tare_add(c, "major-faults:u", &error) && error.code == TARE_ERROR_USAGE,
	   "a set that is started takes no events");
	tare_close(c);
}

static void test_bounds(void)
{
	struct tare_counters *c;
	struct tare_error error = {0};
	struct rlimit files, few;
	size_t before = open_files();
	if (!ok(tare_open(NULL, &c, &error), "a set opens"))
		return;
	bool all = true;
	for (int i = 0; all && i < TARE_EVENTS_MOST; i++)
		all = tare_add(c, "page-faults:u", &error);
	ok(all && tare_event_count(c) == TARE_EVENTS_MOST,
	   "a set takes as many events as it says, the same one too");
	ok(!tare_add(c, "page-faults:u", &error) && error.code == TARE_ERROR_LIMIT && error.hint[0],
	   "and one more is an error");
	struct tare_reading readings[TARE_EVENTS_MOST];
	ok(tare_start(c, NULL), "all of them start");
	bool same = true;
	for (int twice = 0; twice < 2; twice++) {
		same = tare_reset(c, NULL);
		touch(PAGES);
		same = same && tare_read(c, readings, &error);
	}
	for (int i = 0; same && i < TARE_EVENTS_MOST; i++)
		same = readings[i].count == readings[0].count && readings[i].state == TARE_COUNTED;
	ok(same && readings[0].count == PAGES, "the events of a thread are read at one instant");
	tare_close(c);
	equal_u64(open_files(), before, "closing a set closes its counters");

	getrlimit(RLIMIT_NOFILE, &files);
	few = (struct rlimit){.rlim_cur = before + 2, .rlim_max = files.rlim_max};
	if (!tare_open(NULL, &c, &error))
		return;
	setrlimit(RLIMIT_NOFILE, &few);
	bool added = true;
	for (int i = 0; added && i < 16; i++)
		added = tare_add(c, "page-faults:u", &error);
	setrlimit(RLIMIT_NOFILE, &files);
	ok(!added && (error.code == TARE_ERROR_LIMIT || error.os_errno == EMFILE),
	   "too many open files are an error (%s)", error.text);
	tare_close(c);
	equal_u64(open_files(), before, "and leave none open");
}

/* ---- counting ---- */

/* Does the task clock agree with the time that it was enabled? page-faults and task-clock are counted by different
 * parts of the kernel, which can lose the second of a group (api/read.c, tell_all()). */
static bool goes(const struct tare_reading *clock)
{
	uint64_t difference = clock->count > clock->enabled_ns ? clock->count - clock->enabled_ns
							       : clock->enabled_ns - clock->count;
	return clock->count > 0 && difference <= clock->enabled_ns / 10 + 20000;
}

static void test_counting(void)
{
	struct tare_counters *c = open_with(TARE_THREAD, BOTH);
	struct tare_reading before[2], after[2], spent[2];
	struct tare_error error = {0};
	if (!ok(c != NULL, "page faults of a thread can be counted"))
		return;
	touch(PAGES);
	ok(tare_read(c, before, &error) && before[0].count == 0 && before[0].enabled_ns == 0,
	   "nothing is counted before the start, and adding is not counted");
	tare_start(c, &error);
	for (int twice = 0; twice < 2; twice++) {
		tare_read(c, before, &error);
		touch(PAGES);
		tare_read(c, after, &error);
		tare_difference(before, after, 2, spent);
	}
	equal_u64(spent[0].count, PAGES, "what was done is the difference of two readings, to the last fault");
	ok(spent[0].state == TARE_COUNTED && spent[0].enabled_ns == spent[0].running_ns && spent[0].enabled_ns > 0,
	   "a counter that always runs says so");
	/* a guest can lose milliseconds anywhere, between two clocks too: most rounds must agree */
	int rounds = 0;
	for (int i = 0; i < 20; i++) {
		tare_read(c, before, &error);
		touch(PAGES);
		tare_read(c, after, &error);
		tare_difference(before, after, 2, spent);
		rounds += goes(&spent[1]);
	}
	if (has_clock)
		ok(rounds >= 15, "a clock in a group goes for as long as the group is enabled (%d of 20 times)",
		   rounds);
	else
		skip("this user may have no clock", "a clock in a group goes for as long as the group is enabled");
	tare_read(c, before, &error);
	tare_read(c, after, &error);
	ok(before[0].count == after[0].count, "reading does nothing that is counted");

	ok(tare_stop(c, before, &error), "counters stop");
	touch(PAGES);
	ok(tare_read(c, after, &error) && after[0].count == before[0].count &&
		   after[0].enabled_ns == before[0].enabled_ns,
	   "nothing is counted between stop and start");
	ok(tare_stop(c, NULL, &error) && tare_start(c, &error) && tare_start(c, &error),
	   "stopping and starting twice is once");
	tare_stop(c, before, &error);
	tare_start(c, &error);
	touch(PAGES);
	equal_u64(now(c), before[0].count + PAGES, "counts add up over several starts");
	tare_reset(c, &error);
	touch(PAGES);
	ok(tare_reset(c, &error), "a running set is reset");
	touch(PAGES);
	equal_u64(now(c), PAGES, "after a reset counts begin at 0, and go on");
	ok(tare_read(c, after, &error) && after[0].enabled_ns == after[0].running_ns &&
		   after[0].state == TARE_COUNTED && after[0].enabled_ns < before[0].enabled_ns,
	   "and so do its times");
	rounds = 0;
	for (int i = 0; i < 20; i++) {
		tare_stop(c, NULL, &error);
		tare_reset(c, &error);
		tare_start(c, &error);
		touch(PAGES);
		tare_read(c, after, &error);
		rounds += goes(&after[1]);
	}
	if (has_clock)
		ok(rounds >= 15, "a clock in a group goes again after it was stopped (%d of 20 times)", rounds);
	else
		skip("this user may have no clock", "a clock in a group goes again after it was stopped");
	tare_stop(c, before, &error);
	ok(tare_reset(c, &error) && now(c) == 0, "a stopped set is reset");
	tare_difference(before, before, 2, before);
	ok(before[0].count == 0 && before[0].state == TARE_COUNTED,
	   "between a reading and itself nothing was counted");
	tare_close(c);
}

static void test_adding_later(void)
{
	struct tare_counters *c = open_with(TARE_THREAD, "page-faults:u");
	struct tare_error error = {0};
	if (!ok(c != NULL && tare_start(c, &error), "a set is started"))
		return;
	touch(PAGES);
	tare_stop(c, NULL, &error);
	uint64_t counted = now(c);
	/* adding tries the event, which takes page faults and time */
	ok(tare_add(c, "minor-faults:u,page-faults:u", &error) && now(c) == counted,
	   "adding leaves the counts of others alone");
	ok(!tare_add(c, "minor-faults:u,peak-memory", &error) && now(c) == counted && tare_event_count(c) == 3,
	   "adding that fails does so too");
	struct tare_reading readings[3];
	ok(tare_read(c, readings, &error) && readings[1].count == 0 && readings[1].enabled_ns == 0 &&
		   readings[2].count == 0,
	   "an event that is added later begins at 0");
	struct tare_reading before[3];
	for (int twice = 0; twice < 2; twice++) {
		tare_read(c, before, &error);
		tare_start(c, &error);
		touch(PAGES);
		tare_stop(c, readings, &error);
	}
	tare_difference(before, readings, 3, before);
	ok(before[0].count == PAGES && before[1].count == PAGES && before[2].count == PAGES &&
		   readings[0].count >= counted + 2 * PAGES && readings[1].count < counted + 2 * PAGES,
	   "and counts with the others from then on");
	tare_close(c);
}

static void test_arithmetic(void)
{
	const struct tare_reading
		partly = {.count = 300, .enabled_ns = 1000, .running_ns = 250, .state = TARE_PARTLY},
		none = {.enabled_ns = 1000, .state = TARE_NOT_COUNTED},
		all = {.count = 7, .enabled_ns = 1000, .running_ns = 1000},
		later = {.count = 300, .enabled_ns = 3000, .running_ns = 250, .state = TARE_PARTLY};
	struct tare_reading between;
	double value = -1;
	ok(tare_scaled(&partly, &value) && value == 1200, "a part is extrapolated to the whole time");
	ok(tare_scaled(&all, &value) && value == 7, "a whole is left as it is");
	ok(!tare_scaled(&none, &value) && value == 7, "what never ran has no value, not even 0");
	tare_difference(&partly, &later, 1, &between);
	ok(between.state == TARE_NOT_COUNTED && between.enabled_ns == 2000,
	   "an event that was not on a counter between two readings was not counted there");
	const struct tare_reading some = {.count = 5, .enabled_ns = 10, .running_ns = 10, .flags = TARE_SOME_CPUS},
				  less = {.count = 9, .enabled_ns = 30, .running_ns = 20, .flags = TARE_SOME_CPUS};
	tare_difference(&some, &less, 1, &between);
	ok(between.state == TARE_NOT_COUNTED && between.flags == TARE_SOME_CPUS && !tare_scaled(&between, &value),
	   "an event of some CPUs only is not extrapolated to the time on others");
	tare_difference(&some, &some, 1, &between);
	ok(between.state == TARE_COUNTED && between.count == 0, "and is counted where nothing is missing");
	tare_difference(&none, &partly, 1, &between);
	ok(between.state == TARE_COUNTED && between.count == 300,
	   "readings of one instant have nothing uncounted between");
}

/* ---- threads, processes, signals ---- */

struct other {
	sem_t go, done;
	bool once; /* ends after its first turn */
};

static void *work(void *context)
{
	struct other *other = context;
	do {
		sem_wait(&other->go);
		touch(PAGES);
		sem_post(&other->done);
	} while (!other->once);
	return NULL;
}

static void let_work(struct other *other)
{
	sem_post(&other->go);
	sem_wait(&other->done);
}

static void test_threads(void)
{
	struct other other = {.once = true};
	pthread_t thread;
	sem_init(&other.go, 0, 0);
	sem_init(&other.done, 0, 0);
	pthread_create(&thread, NULL, work, &other);
	struct tare_counters *mine = open_with(TARE_THREAD, "page-faults:u"), *all = open_with(TARE_PROCESS, BOTH);
	struct tare_error error = {0};
	if (!ok(mine && all, "sets of a thread and of a process open side by side"))
		return;
	ok(tare_start(mine, &error) && tare_start(all, &error), "and start");
	touch(1);
	let_work(&other);
	pthread_join(thread, NULL);
	uint64_t others = now(all) - now(mine);
	ok(now(mine) < PAGES, "a thread's set does not count another thread");
	ok(others >= PAGES && others < 2 * PAGES,
	   "a process's set counts a thread that was there, after its end (%d more)", (int)others);

	uint64_t before = now(all), own = now(mine);
	pthread_create(&thread, NULL, work, &other);
	let_work(&other);
	pthread_join(thread, NULL);
	others = now(all) - before - (now(mine) - own);
	ok(others >= PAGES && others < 2 * PAGES,
	   "a process's set counts a thread that came later, once (%d more)", (int)others);

	before = now(all);
	pid_t child = fork();
	if (child == 0) {
		touch(10 * PAGES);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	ok(now(all) - before < 10 * PAGES, "a process's set does not count a forked child");
	struct tare_reading readings[2];
	ok(tare_stop(all, readings, &error) && readings[0].state == TARE_COUNTED && readings[1].count > 0,
	   "a process's set stops");
	before = now(all);
	touch(PAGES);
	equal_u64(now(all), before, "and counts nothing more");
	ok(tare_reset(all, &error) && now(all) == 0, "and is reset");
	tare_close(mine);
	tare_close(all);
}

static void *add_elsewhere(void *set) { return tare_add(set, "page-faults:u", NULL) ? set : NULL; }

static void *read_often(void *set)
{
	uint64_t last = 0;
	for (int i = 0; i < 20000; i++) {
		uint64_t count = now(set);
		if (count < last)
			return set;
		last = count;
	}
	return NULL;
}

static void test_sharing(void)
{
	struct tare_counters *c = open_with(TARE_THREAD, "page-faults:u");
	pthread_t threads[4];
	void *failed = NULL, *added;
	if (!ok(c && tare_start(c, NULL), "a set is started"))
		return;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, read_often, c);
	for (int i = 0; i < 50; i++)
		touch(PAGES);
	for (int i = 0; i < 4; i++) {
		void *one;
		pthread_join(threads[i], &one);
		failed = one ? one : failed;
	}
	ok(!failed, "four threads read one set, and no count goes back");
	equal_u64(faults_of_touch(c), PAGES, "being read disturbs no count");
	tare_stop(c, NULL, NULL);
	pthread_create(&threads[0], NULL, add_elsewhere, c);
	pthread_join(threads[0], &added);
	ok(!added, "a thread's set takes events from that thread alone");
	tare_close(c);
}

static void test_fork(void)
{
	struct tare_counters *c = open_with(TARE_THREAD, "page-faults:u");
	struct tare_error error = {0};
	if (!ok(c && tare_start(c, NULL), "a set is started"))
		return;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		struct tare_reading reading;
		int wrong = 0;
		wrong |= tare_read(c, &reading, &error) || error.code != TARE_ERROR_USAGE || !error.hint[0] ? 1
													    : 0;
		wrong |= tare_stop(c, NULL, NULL) || tare_reset(c, NULL) || tare_start(c, NULL) ||
					 tare_add(c, "minor-faults:u", NULL)
				 ? 2
				 : 0;
		tare_close(c);
		struct tare_counters *own = open_with(TARE_THREAD, "page-faults:u");
		tare_start(own, NULL);
		wrong |= !own || faults_of_touch(own) != PAGES ? 4 : 0;
		_exit(wrong);
	}
	int status = 0;
	waitpid(child, &status, 0);
	int wrong = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
	ok(!(wrong & 1), "a forked child that reads its parent's set gets an error, not its parent's counts");
	ok(!(wrong & 2), "and can do nothing else with it");
	ok(!(wrong & 4), "but open one of its own");
	equal_u64(faults_of_touch(c), PAGES, "what the child closed still counts in the parent");
	tare_close(c);
}

static struct tare_counters *in_handler;
static volatile sig_atomic_t handler_read;

static void handle(int number)
{
	(void)number;
	struct tare_reading reading;
	handler_read = tare_read(in_handler, &reading, NULL);
}

static void test_signal(void)
{
	in_handler = open_with(TARE_THREAD, "page-faults:u");
	if (!ok(in_handler && tare_start(in_handler, NULL), "a set is started"))
		return;
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	ok(handler_read, "a set can be read in a signal handler");
	signal(SIGUSR1, SIG_DFL);
	tare_close(in_handler);
}

static void test_descriptors(void)
{
	struct tare_counters *c = open_with(TARE_PROCESS, BOTH), *d = open_with(TARE_THREAD, BOTH);
	size_t leaking = 0, counters = 0;
	for (int fd = 3; fd < 256; fd++) {
		char path[64], target[64] = "";
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof target - 1) < 0 || !strstr(target, "perf_event"))
			continue;
		counters++;
		leaking += !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	ok(c && d && counters >= 4 && leaking == 0, "no counter is left open over exec");
	tare_close(c);
	tare_close(d);
}

/* ---- a PMU, where there is one ---- */

static void test_hardware(void)
{
	enum { TURNS = 100000 };
	struct tare_counters *c;
	struct tare_error error = {0};
	struct tare_reading before[1], after[1], spent[1];
	if (!tare_open(NULL, &c, &error))
		return;
	if (!tare_add(c, "instructions:u", &error)) {
		ok(error.code == TARE_ERROR_UNSUPPORTED || error.code == TARE_ERROR_PERMISSION ||
			   error.code == TARE_ERROR_BUSY,
		   "a hardware event that cannot be counted is an error that says why (%s)", error.text);
		ok(tare_event_count(c) == 0, "and is not added");
		skip("no hardware counter of instructions here", "instructions of a loop are counted");
		tare_close(c);
		return;
	}
	equal_text(tare_event_source(c, 0), "hw", "a hardware counter is named as the source");
	tare_start(c, &error);
	tare_read(c, before, &error);
	for (volatile unsigned i = 0; i < TURNS; i++)
		;
	tare_read(c, after, &error);
	tare_difference(before, after, 1, spent);
	ok(spent->state != TARE_COUNTED || spent->count >= 2 * TURNS, "instructions of a loop are counted");
	tare_close(c);
}

int main(void)
{
	struct tare_counters *c;
	struct tare_error error = {0};
	if (!tare_open(NULL, &c, &error) || !tare_add(c, "page-faults:u", &error)) {
		printf("# %s; %s\n", error.text, error.hint);
		if (error.code == TARE_ERROR_PERMISSION || error.code == TARE_ERROR_UNSUPPORTED) {
			skip(error.text, "page faults are counted");
			return done();
		}
		ok(false, "page faults are counted");
		return done();
	}
	has_clock = tare_add(c, "task-clock", NULL);
	tare_close(c);
	test_options();
	test_adding();
	test_bounds();
	test_counting();
	test_adding_later();
	test_arithmetic();
	test_threads();
	test_sharing();
	test_fork();
	test_signal();
	test_descriptors();
	test_hardware();
	return done();
}
