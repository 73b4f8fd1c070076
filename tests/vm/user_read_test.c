/* Readings without a system call, on a PMU that counts exactly: equal to read(2)'s and to the arithmetic; what
 * they do when the kernel does not open the counters, and when it closes them.
 *
 * A process that has readings of one kind is a child of this test, so that every fact starts afresh. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/region_pass.h"
#include "tap.h"
#include "tare.h"

enum { TURNS = 1000, PASSES = 300 };

/* Exactly 2n instructions at user level. */
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

#if defined(__aarch64__)
#define ACCESS_FILE "/proc/sys/kernel/perf_user_access"
#else
#define ACCESS_FILE "/sys/bus/event_source/devices/cpu/rdpmc"
#endif

static bool allow(bool on)
{
	int fd = open(ACCESS_FILE, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, on ? "1\n" : "0\n", 2) == 2;
	if (fd >= 0)
		close(fd);
	return written;
}

/* One region: what the tests compare. noinline: every caller has the same instructions. */
__attribute__((noinline)) static void pass(struct tare_region *region, uint64_t turns)
{
	tare_region_enter(region);
	loop(turns);
	tare_region_leave(region);
}

struct counted {
	uint64_t one, two; /* instructions of PASSES passes of TURNS, and of 2 × TURNS */
	uint64_t by_user, by_call, checks, again;
	uint64_t enabled_ns, running_ns;
	int32_t state;
	char why[160];
};

static void see_reads(struct counted *out, int scope)
{
	struct tare_reads reads;
	tare_region_reads(scope, &reads);
	out->by_user = reads.by_user;
	out->by_call = reads.by_call;
	out->checks = reads.checks;
	out->again = reads.again;
	snprintf(out->why, sizeof out->why, "%s", reads.why);
}

static void region_twice(void *to)
{
	struct counted *out = to;
	struct tare_error error;
	struct tare_reading readings[TARE_EVENTS_MOST];
	if (!tare_regions_start("instructions:u,cycles:u", &error)) {
		snprintf(out->why, sizeof out->why, "%.150s", error.text);
		return;
	}
	struct tare_region *warm = tare_region("warm", NULL), *one = tare_region("one", NULL),
			   *two = tare_region("two", NULL);
	/* the first pass of each region touches its memory, and the first readings are checked */
	for (int i = 0; i < 5; i++)
		pass(warm, TURNS);
	for (int i = 0; i < PASSES; i++)
		pass(one, TURNS);
	for (int i = 0; i < PASSES; i++)
		pass(two, 2 * TURNS);
	tare_region_read(one, TARE_THREAD, NULL, readings, NULL);
	out->one = readings[0].count;
	tare_region_read(two, TARE_THREAD, NULL, readings, NULL);
	out->two = readings[0].count;
	out->state = readings[0].state;
	out->enabled_ns = readings[0].enabled_ns;
	out->running_ns = readings[0].running_ns;
	see_reads(out, TARE_PROCESS);
}

/* Runs `what` in a child, which fills *out. The status as wait(2) gives it. */
static int in_child(void (*what)(void *), void *out, size_t bytes)
{
	int ends[2], status = -1;
	if (pipe(ends) != 0)
		return -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		what(out);
		_exit(write(ends[1], out, bytes) == (ssize_t)bytes ? 0 : 1);
	}
	close(ends[1]);
	if (read(ends[0], out, bytes) != (ssize_t)bytes)
		memset(out, 0, bytes);
	close(ends[0]);
	waitpid(child, &status, 0);
	return status;
}

static void test_equal(void)
{
	struct counted user = {0}, call = {0};
	setenv("TARE_USER_READ", "0", 1);
	int status = in_child(region_twice, &call, sizeof call);
	unsetenv("TARE_USER_READ");
	ok(status == 0 && call.by_user == 0 && call.by_call == 2 * (5 + 2 * PASSES) &&
		   strstr(call.why, "TARE_USER_READ"),
	   "TARE_USER_READ=0: every reading is by read(2) (%" PRIu64 ", %s)", call.by_call, call.why);
	/* a reading that the kernel comes into is made again, which counts: then another child */
	for (unsigned tries = 0; tries < 10 && (!tries || user.again); tries++)
		status = in_child(region_twice, &user, sizeof user);
	ok(status == 0 && user.by_call == 0 && user.by_user == 2 * (5 + 2 * PASSES) && !*user.why,
	   "with access every reading is without a system call (%" PRIu64 " and %" PRIu64 ") %s", user.by_user,
	   user.by_call, user.why);
	ok(user.checks >= 10, "… and %" PRIu64 " of them were compared with read(2)", user.checks);
	equal_u64(user.two - user.one, 2ull * TURNS * PASSES,
		  "twice the turns are twice the instructions, to the last one, by user reads");
	equal_u64(call.two - call.one, 2ull * TURNS * PASSES, "… and by read(2)");
	ok(user.state == TARE_COUNTED && user.enabled_ns == user.running_ns && user.enabled_ns > 0,
	   "counted all the time: %" PRIu64 " of %" PRIu64 " ns", user.running_ns, user.enabled_ns);
	uint64_t in_loop = 2ull * TURNS * PASSES;
	printf("# a pass by user reads counts %.2f instructions beside the loop, by read(2) %.2f\n",
	       (double)(user.one - in_loop) / PASSES, (double)(call.one - in_loop) / PASSES);
	ok(user.one > in_loop && (user.one - in_loop) % PASSES == 0,
	   "each of %d passes has the same instructions beside the loop's, checked or not", PASSES);
}

/* ---- what it costs ---- */

static struct tare_counters *started(const char *events)
{
	struct tare_counters *c;
	struct tare_error error;
	if (tare_open(NULL, &c, &error) && tare_add(c, events, &error) && tare_start(c, &error))
		return c;
	printf("# %s\n", error.text);
	return NULL;
}

struct cost {
	uint64_t read_pair, region_pair, tare_read_pair;
	bool read;
};

/* Per pair, from the difference of 1000 and 2000 of them; less those of the loop around. */
static void costs(void *to)
{
	enum { PAIRS = 1000 };
	struct cost *out = to;
	struct tare_counters *counts = started("instructions:u"), *two = started("instructions:u,cycles:u");
	struct tare_region *region = tare_region("empty", NULL);
	struct tare_error error;
	if (!counts || !two || !tare_regions_start("instructions:u,cycles:u", &error))
		return;
	for (int i = 0; i < 100; i++) {
		tare_region_begin(region);
		tare_region_end(region);
	}
	size_t n = tare_event_count(two);
	uint64_t spent[4][3] = {0}; /* [what][0, 1, 2 × PAIRS] */
	out->read = true;
	for (int what = 0; what < 4; what++)
		for (int times = 0; times < 3; times++) {
			struct tare_reading before, after, readings[2];
			tare_read(counts, &before, NULL);
			if (what == 0)
				for (int i = 0; i < times * PAIRS; i++) {
					struct user_mark begin, end;
					uint64_t values[2];
					/* both, whatever the first says: what is measured is that */
					bool first = user_mark(two->user, n, &begin, values),
					     second = user_mark(two->user, n, &end, values);
					out->read &= first & second;
				}
			else if (what == 1)
				for (int i = 0; i < times * PAIRS; i++) {
					tare_region_begin(region);
					tare_region_end(region);
				}
			else if (what == 2)
				for (int i = 0; i < times * PAIRS; i++) {
					tare_read(two, readings, NULL);
					tare_read(two, readings, NULL);
				}
			else
				for (int i = 0; i < times * PAIRS; i++)
					__asm__ volatile("" : : : "memory");
			tare_read(counts, &after, NULL);
			spent[what][times] = after.count - before.count;
		}
	uint64_t around = spent[3][2] - spent[3][1];
	out->read_pair = (spent[0][2] - spent[0][1] - around) / PAIRS;
	out->region_pair = (spent[1][2] - spent[1][1] - around) / PAIRS;
	out->tare_read_pair = (spent[2][2] - spent[2][1] - around) / PAIRS;
}

static void test_costs(void)
{
	struct cost cost = {0};
	/* an interrupt in one of its readings sends that one to read(2): then another child */
	for (unsigned tries = 0; tries < 10 && !cost.read; tries++)
		in_child(costs, &cost, sizeof cost);
	ok(cost.read && cost.read_pair && cost.read_pair <= 100,
	   "reading two events at a begin and an end takes %" PRIu64 " instructions, and at most 100",
	   cost.read_pair);
	printf("# the whole of tare_region_begin() and …_end() around nothing takes %" PRIu64
	       " instructions, two tare_read() %" PRIu64 "\n",
	       cost.region_pair, cost.tare_read_pair);
}

/* ---- opened and closed ---- */

static void closed_at_first(void *to)
{
	struct counted *out = to;
	region_twice(out);
	allow(true);
	usleep(1000); /* the kernel opens the counters of a thread when it is scheduled */
	struct tare_region *region = tare_region("later", NULL);
	for (int i = 0; i < PASSES; i++)
		pass(region, TURNS);
	struct counted later;
	see_reads(&later, TARE_PROCESS);
	out->checks = later.by_user;
}

/* The thread closes its own counters inside a pass: the page does not know of it yet. */
static void closed_inside(void *to)
{
	struct counted *out = to;
	struct tare_error error;
	struct tare_reading readings[2];
	if (!tare_regions_start("instructions:u,cycles:u", &error))
		return;
	struct tare_region *region = tare_region("r", NULL);
	pass(region, TURNS);
	tare_region_enter(region);
	loop(TURNS);
	allow(false);
	tare_region_leave(region);
	pass(region, TURNS);
	tare_region_read(region, TARE_THREAD, NULL, readings, NULL);
	out->one = readings[0].count;
	out->state = readings[0].state;
	out->enabled_ns = readings[0].enabled_ns;
	out->running_ns = readings[0].running_ns;
	see_reads(out, TARE_PROCESS);
}

/* Another process opens and closes them, while this one waits: the page says so then. (While it runs, too, a
 * thread can be interrupted between asking and reading: api/user_access.h.) */
static void closed_often(void *to)
{
	enum { OFTEN = 300, EACH = 10 };
	struct counted *out = to;
	struct tare_error error;
	struct tare_reading readings[2];
	int asked[2], done_[2];
	char byte = 0;
	if (pipe(asked) != 0 || pipe(done_) != 0 || !tare_regions_start("instructions:u,cycles:u", &error))
		return;
	struct tare_region *region = tare_region("r", NULL);
	pid_t other = fork();
	if (other == 0) {
		close(asked[1]);
		for (unsigned i = 0; read(asked[0], &byte, 1) == 1; i++) {
			allow(i % 2);
			if (write(done_[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	close(asked[0]);
	for (int i = 0; i < OFTEN; i++) {
		for (int k = 0; k < EACH; k++)
			pass(region, 10);
		if (write(asked[1], &byte, 1) != 1 || read(done_[0], &byte, 1) != 1)
			break;
	}
	close(asked[1]);
	waitpid(other, NULL, 0);
	tare_region_read(region, TARE_THREAD, NULL, readings, NULL);
	out->one = readings[0].count;
	out->two = 2 * 10 * OFTEN * EACH;
	out->enabled_ns = OFTEN * EACH;
	out->state = readings[0].state;
	see_reads(out, TARE_PROCESS);
}

static void test_closing(void)
{
	struct counted got = {0};
	allow(false);
	int status = in_child(closed_at_first, &got, sizeof got);
	ok(status == 0 && got.by_user == 0 && got.by_call == 2 * (5 + 2 * PASSES) &&
		   strstr(got.why, "perf_user_access"),
	   "perf_user_access=0: every reading is by read(2), and it is said what would help (%s)", got.why);
	equal_u64(got.two - got.one, 2ull * TURNS * PASSES, "… and exact");
	ok(got.checks == 2 * PASSES, "opened later, the next readings need no system call (%" PRIu64 ")",
	   got.checks);
	allow(true);
	status = in_child(closed_inside, &got, sizeof got);
	ok(status == 0 && got.by_user == 3 && got.by_call == 3,
	   "closed inside of a pass: no illegal instruction, read(2) goes on "
	   "(status %d, %" PRIu64 " and %" PRIu64 ")",
	   status, got.by_user, got.by_call);
	ok(got.state == TARE_COUNTED && got.one > 3 * 2 * TURNS && got.one < 3 * 2 * TURNS + 2000,
	   "a pass that begins by registers and ends by read(2) is counted (%" PRIu64 ")", got.one);
	ok(got.enabled_ns >= got.one && got.enabled_ns < got.one + 100000 && got.running_ns == got.enabled_ns,
	   "… and its time (%" PRIu64 " ns)", got.enabled_ns);
	allow(true);
	status = in_child(closed_often, &got, sizeof got);
	ok(status == 0 && got.by_user == 3000 && got.by_call == 3000 && got.state == TARE_COUNTED,
	   "opened and closed 300 times: %" PRIu64 " readings one way, %" PRIu64 " the other", got.by_user,
	   got.by_call);
	uint64_t over = (got.one - got.two) / got.enabled_ns;
	ok(got.one > got.two && over > 50 && over < 300,
	   "… and each pass has between %d and %d instructions of its own (%" PRIu64 ")", 50, 300, over);
	allow(true);
}

/* ---- threads, nesting, many ---- */

enum { THREADS = 8 };

struct shape {
	uint64_t thread[THREADS], total, empty; /* PASSES passes each */
	uint64_t inner, middle, outer;          /* PASSES passes, of TURNS in each level */
	uint64_t million, million_again, checks;
	uint64_t by_user, by_call, again;
	uint64_t interrupted; /* readings made again, of the regions that are to be exact */
};

static struct tare_region *shared;
static void *in_thread(void *of)
{
	uint64_t number = (uint64_t)(uintptr_t)of;
	struct tare_reading readings[2];
	for (int i = 0; i < PASSES; i++)
		pass(shared, (number + 1) * TURNS);
	tare_region_read(shared, TARE_THREAD, NULL, readings, NULL);
	return (void *)(uintptr_t)readings[0].count;
}

__attribute__((noinline)) static void nested(struct tare_region *outer, struct tare_region *middle,
					     struct tare_region *inner)
{
	tare_region_enter(outer);
	loop(TURNS);
	tare_region_enter(middle);
	loop(TURNS);
	tare_region_enter(inner);
	loop(TURNS);
	tare_region_leave(inner);
	tare_region_leave(middle);
	tare_region_leave(outer);
}

static uint64_t count_of(struct tare_region *region, int scope)
{
	struct tare_reading readings[2];
	tare_region_read(region, scope, NULL, readings, NULL);
	return readings[0].state == TARE_COUNTED ? readings[0].count : 0;
}

static void shapes(void *to)
{
	enum { MILLION = 1000000 };
	struct shape *out = to;
	struct tare_error error;
	if (!tare_regions_start("instructions:u,cycles:u", &error))
		return;
	struct tare_region *empty = tare_region("empty", NULL), *million = tare_region("million", NULL);
	struct tare_region *outer = tare_region("outer", NULL), *middle = tare_region("middle", NULL),
			   *inner = tare_region("inner", NULL);
	shared = tare_region("shared", NULL);
	for (int i = 0; i < PASSES; i++)
		pass(empty, 1);
	out->empty = count_of(empty, TARE_THREAD) - 2 * PASSES;
	struct tare_reads reads;
	tare_region_reads(TARE_THREAD, &reads);
	out->interrupted = reads.again;
	for (int i = 0; i < MILLION; i++)
		pass(million, 1);
	tare_region_reads(TARE_THREAD, &reads);
	out->million_again = reads.again;
	struct tare_region_passes passes;
	tare_region_read(million, TARE_THREAD, &passes, NULL, NULL);
	out->million = passes.entries == MILLION && passes.exits == MILLION
			       ? count_of(million, TARE_THREAD) - 2ull * MILLION
			       : 0;
	for (int i = 0; i < PASSES; i++)
		nested(outer, middle, inner);
	tare_region_reads(TARE_THREAD, &reads);
	out->interrupted += reads.again - out->million_again;
	out->inner = count_of(inner, TARE_THREAD);
	out->middle = count_of(middle, TARE_THREAD);
	out->outer = count_of(outer, TARE_THREAD);
	pthread_t threads[THREADS];
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, in_thread, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *count;
		pthread_join(threads[i], &count);
		out->thread[i] = (uint64_t)(uintptr_t)count;
	}
	out->total = count_of(shared, TARE_PROCESS);
	tare_region_reads(TARE_PROCESS, &reads);
	out->by_user = reads.by_user;
	out->by_call = reads.by_call;
	out->checks = reads.checks;
	out->again = reads.again - out->million_again;
}

static void test_shapes(void)
{
	struct shape got = {0};
	int status = -1;
	/* as in test_equal() */
	for (unsigned tries = 0; tries < 10 && (!tries || got.interrupted); tries++)
		status = in_child(shapes, &got, sizeof got);
	uint64_t own = got.empty / PASSES, right = 0, exact = 0, sum = 0;
	printf("# a pass has %" PRIu64 " instructions of its own; %" PRIu64
	       " readings without a system call, %" PRIu64 " by read(2), %" PRIu64 " checks\n",
	       own, got.by_user, got.by_call, got.checks);
	ok(status == 0 && own > 0 && got.empty % PASSES == 0 && got.by_user > 2000000,
	   "two million readings by registers");
	for (unsigned i = 0; i < THREADS; i++) {
		uint64_t expected = PASSES * ((uint64_t)2 * TURNS * (i + 1) + own),
			 more = got.thread[i] - expected;
		right += got.thread[i] >= expected && more <= got.again * 100;
		exact += more == 0;
		sum += got.thread[i];
		if (more)
			printf("# thread %u: %" PRIu64 ", expected %" PRIu64 "\n", i, got.thread[i], expected);
	}
	ok(right == THREADS && exact + got.again >= THREADS,
	   "each of 8 threads has its own instructions, to the last one, but for %" PRIu64 " interrupted readings",
	   got.again);
	equal_u64(got.total, sum, "… and the total is theirs");
	/* nested() passes other arguments than pass(): some instructions more or less between the two readings */
	uint64_t inner = got.inner - (uint64_t)2 * TURNS * PASSES, middle = got.middle - got.inner,
		 outer = got.outer - got.middle;
	ok(got.inner > (uint64_t)2 * TURNS * PASSES && inner % PASSES == 0 && inner / PASSES > own - 8 &&
		   inner / PASSES < own + 8,
	   "3 deep: the innermost is as if it were alone (%" PRIu64 " of its own in a pass)", inner / PASSES);
	ok(middle > (uint64_t)2 * TURNS * PASSES && middle % PASSES == 0 && outer % PASSES == 0,
	   "… and each level adds its loop and, in every pass, the same instructions of the pass inside (%" PRIu64
	   ", %" PRIu64 ")",
	   middle / PASSES - 2 * TURNS, outer / PASSES - 2 * TURNS);
	uint64_t more = got.million - 1000000 * own;
	ok(got.million >= 1000000 * own && more <= got.million_again * 100,
	   "a million passes are a million times one, but for %" PRIu64
	   " readings that the kernel interrupted (%" PRIu64 " instructions)",
	   got.million_again, more);
}

int main(void)
{
	if (!getenv("TARE_IN_GUEST")) {
		skip("this machine's settings are not changed", "readings without a system call");
		return done();
	}
	if (!ok(allow(true), "the kernel can open the counters"))
		return done();
	test_equal();
	test_costs();
	test_closing();
	test_shapes();
	allow(false);
	return done();
}
