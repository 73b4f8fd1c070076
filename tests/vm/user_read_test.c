/* Readings without a system call, on a PMU that counts exactly: equal to read(2)'s and to the arithmetic; what they
 * do when the kernel does not open the counters, and when it closes them.
 *
 * A process that has readings of one kind is a child of this test, so that every fact starts afresh. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
	uint64_t one, two;          /* instructions of PASSES passes of TURNS, and of 2 × TURNS */
	uint64_t by_user, by_call, checks;
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
	struct counted user = { 0 }, call = { 0 };
	setenv("TARE_USER_READ", "0", 1);
	int status = in_child(region_twice, &call, sizeof call);
	unsetenv("TARE_USER_READ");
	ok(status == 0 && call.by_user == 0 && call.by_call == 2 * (5 + 2 * PASSES) &&
	       strstr(call.why, "TARE_USER_READ"),
	   "TARE_USER_READ=0: every reading is by read(2) (%" PRIu64 ", %s)", call.by_call, call.why);
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

__attribute__((noinline)) static bool mark(const struct user_reads *user, struct user_mark *to, _Atomic uint64_t *counts)
{
	return user_mark(user, to, counts, 1);
}

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

/* Per pair, from the difference of 1000 and 2000 of them; the loop around is 2 to 4 instructions of it. */
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
	uint64_t spent[3][3] = { 0 }; /* [what][0, 1, 2 × PAIRS] */
	out->read = true;
	for (int what = 0; what < 3; what++)
		for (int times = 0; times < 3; times++) {
			struct tare_reading before, after, readings[2];
			tare_read(counts, &before, NULL);
			if (what == 0)
				for (int i = 0; i < times * PAIRS; i++) {
					struct user_mark begin, end;
					_Atomic uint64_t values[2];
					out->read &= mark(two->user, &begin, values) & mark(two->user, &end, values);
				}
			else if (what == 1)
				for (int i = 0; i < times * PAIRS; i++) {
					tare_region_begin(region);
					tare_region_end(region);
				}
			else
				for (int i = 0; i < times * PAIRS; i++) {
					tare_read(two, readings, NULL);
					tare_read(two, readings, NULL);
				}
			tare_read(counts, &after, NULL);
			spent[what][times] = after.count - before.count;
		}
	for (int what = 0; what < 3; what++)
		for (int times = 0; times < 3; times++)
			printf("# %d %d %" PRIu64 "\n", what, times, spent[what][times]);
	out->read_pair = (spent[0][2] - spent[0][1]) / PAIRS;
	out->region_pair = (spent[1][2] - spent[1][1]) / PAIRS;
	out->tare_read_pair = (spent[2][2] - spent[2][1]) / PAIRS;
	fflush(stdout);
}

static void test_costs(void)
{
	struct cost cost = { 0 };
	in_child(costs, &cost, sizeof cost);
	ok(cost.read && cost.read_pair && cost.read_pair <= 100,
	   "reading two events at a begin and an end takes %" PRIu64 " instructions, and at most 100", cost.read_pair);
	printf("# the whole of tare_region_begin() and …_end() around nothing takes %" PRIu64
	       " instructions, two tare_read() %" PRIu64 "\n",
	       cost.region_pair, cost.tare_read_pair);
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
	allow(false);
	return done();
}
