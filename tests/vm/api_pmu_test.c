/* libtare on hardware counters: regions of a thread exact to the instruction, levels, groups, more events than
 * counters, processes. In the guest counting is exact; on other machines an interrupt adds a little (agrees() in
 * counted.h says the same of the command). */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"
#include "tare.h"
#include "vm/most_common.h"

enum { TURNS = 100000 };

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

static bool exact_here;

static bool is_count(uint64_t count, uint64_t truth)
{
	return exact_here ? count == truth : count >= truth && (double)count <= (double)truth * 1.001 + 100;
}

static struct tare_counters *started(int scope, const char *events)
{
	const struct tare_options options = {.size = sizeof options, .scope = scope};
	struct tare_counters *c = NULL;
	struct tare_error error = {0};
	if (tare_open(&options, &c, &error) && tare_add(c, events, &error) && tare_start(c, &error))
		return c;
	printf("# %s; %s\n", error.text, error.hint);
	tare_close(c);
	return NULL;
}

/* One region around a loop; spent[TARE_EVENTS_MOST]. One function, so that every caller has the same instructions.
 */
__attribute__((noinline)) static void region(struct tare_counters *c, uint64_t turns, struct tare_reading *spent)
{
	struct tare_reading before[TARE_EVENTS_MOST], after[TARE_EVENTS_MOST];
	tare_read(c, before, NULL);
	loop(turns);
	tare_read(c, after, NULL);
	tare_difference(before, after, tare_event_count(c), spent);
}

/* The same region several times; the last one, with the most common count of instructions (event 0) of those that were
 * counted all the time. */
static void usual_region(struct tare_counters *c, uint64_t turns, struct tare_reading *spent)
{
	enum { TIMES = 101 };
	uint64_t counts[TIMES];
	size_t n = 0;
	for (size_t i = 0; i < (exact_here ? 1 : TIMES); i++) {
		region(c, turns, spent);
		if (spent[0].state == TARE_COUNTED)
			counts[n++] = spent[0].count;
	}
	if (!n)
		return;
	spent[0].state = TARE_COUNTED;
	spent[0].count = most_common(counts, n);
}

static void test_regions(void)
{
	struct tare_counters *c = started(TARE_THREAD,
					  "instructions:u,cycles:u,instructions:k,page-faults:u,task-clock");
	struct tare_reading one[TARE_EVENTS_MOST], two[TARE_EVENTS_MOST], none[TARE_EVENTS_MOST];
	if (!ok(c != NULL, "hardware and software events are of one set"))
		return;
	region(c, 1, none); /* the code is there from now on */
	usual_region(c, 1, none);
	usual_region(c, TURNS, one);
	usual_region(c, 2 * TURNS, two);
	printf("# a region around a loop of 2 instructions: %" PRIu64 ":u %" PRIu64 ":k\n", none[0].count,
	       none[2].count);
	ok(is_count(one[0].count - none[0].count, 2 * (TURNS - 1)) && one[0].state == TARE_COUNTED,
	   "a region's instructions are those of the loop, the reading's own taken off (%" PRIu64 ")",
	   one[0].count - none[0].count);
	ok(is_count(two[0].count - one[0].count, 2 * TURNS),
	   "twice the turns are twice the instructions (%" PRIu64 ")", two[0].count - one[0].count);
	ok(two[1].count > 0, "cycles are counted beside them");
	ok(two[2].count > 0 && two[2].count < 2 * TURNS,
	   "a system call's kernel instructions are counted at their level");
	ok(two[3].count == 0 && two[3].state == TARE_COUNTED, "no page fault is a count of 0");
	ok(two[4].count > 0 && two[4].state == TARE_COUNTED, "a clock in a group of another PMU goes");
	ok(one[0].enabled_ns == one[1].enabled_ns && one[0].enabled_ns == one[4].enabled_ns,
	   "all events of the group have the same times");
	uint64_t same = 0;
	for (int i = 0; i < 100; i++) {
		struct tare_reading again[TARE_EVENTS_MOST];
		region(c, TURNS, again);
		same += again[0].count == one[0].count;
	}
	ok(exact_here ? same == 100 : same > 0, "a hundred times the same region gives the same count (%d times)",
	   (int)same);
	tare_close(c);
}

/* Are all of them counted at once? A hypervisor that takes counters away does so now and then, not five times. */
static bool all_fit(struct tare_counters *c, size_t n)
{
	for (int i = 0; i < 5; i++) {
		struct tare_reading spent[TARE_EVENTS_MOST];
		size_t counted = 0;
		region(c, TURNS, spent);
		for (size_t j = 0; j < n; j++)
			counted += spent[j].state == TARE_COUNTED;
		if (counted == n)
			return true;
	}
	return false;
}

/* The least number of equal events that do not fit at the same time, or 0. */
static size_t too_many(void)
{
	struct tare_counters *c;
	struct tare_error error;
	size_t n = 0;
	if (!tare_open(NULL, &c, &error))
		return 0;
	while (n < TARE_EVENTS_MOST && tare_add(c, "instructions:u", &error)) {
		n++;
		tare_start(c, NULL);
		bool fit = all_fit(c, n);
		tare_stop(c, NULL, NULL);
		if (!fit) {
			tare_close(c);
			return n;
		}
	}
	tare_close(c);
	return 0;
}

static void test_turns(void)
{
	size_t n = too_many();
	if (n == 0) {
		skip("this PMU counts 64 events at the same time", "events that do not fit take turns");
		return;
	}
	printf("# %zu events are one more than fits\n", n);
	struct tare_counters *c;
	struct tare_reading spent[TARE_EVENTS_MOST];
	struct tare_error error = {0};
	if (!ok(tare_open(NULL, &c, &error), "a set opens"))
		return;
	for (size_t i = 0; i < n; i++)
		tare_add(c, "instructions:u", &error);
	ok(tare_event_count(c) == n && tare_start(c, &error), "more events than counters are accepted");
	/* long enough for many turns of 4 ms or less each */
	enum { LONG = 400000000 };
	region(c, LONG, spent);
	size_t partly = 0, wrong = 0, bad = 0;
	for (size_t i = 0; i < n; i++) {
		double value = -1;
		bool scaled = tare_scaled(&spent[i], &value);
		partly += spent[i].state == TARE_PARTLY;
		/* counted part ≤ truth, to what the two readings themselves add */
		wrong += spent[i].state == TARE_PARTLY && (double)spent[i].count > 2.0 * LONG * 0.999;
		bad += !scaled || fabs(value - 2.0 * LONG) > 2.0 * LONG * 0.2;
		printf("# %" PRIu64 " in %" PRIu64 " of %" PRIu64 " ns: %.0f\n", spent[i].count,
		       spent[i].running_ns, spent[i].enabled_ns, value);
	}
	ok(partly >= 1 && wrong == 0, "events that do not fit take turns, and say so (%zu of %zu)", partly, n);
	/* elsewhere the rate need not be even: a hypervisor may take counters away for a while */
	ok(bad == 0 || !exact_here, "an even rate is extrapolated to the truth within a fifth");
	tare_close(c);
}

static void *work(void *turns)
{
	loop(*(uint64_t *)turns);
	return NULL;
}

static void test_process(void)
{
	struct tare_counters *all = started(TARE_PROCESS, "instructions:u"),
			     *mine = started(TARE_THREAD, "instructions:u");
	struct tare_reading before, after, spent;
	uint64_t turns = 50 * TURNS;
	if (!ok(all && mine, "sets of a process and of a thread count side by side"))
		return;
	tare_read(all, &before, NULL);
	tare_read(mine, &spent, NULL);
	uint64_t own = spent.count;
	for (int i = 0; i < 4; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, work, &turns);
		pthread_join(thread, NULL);
	}
	tare_read(mine, &spent, NULL);
	tare_read(all, &after, NULL);
	tare_difference(&before, &after, 1, &after);
	own = spent.count - own;
	uint64_t truth = 4 * 2 * turns, others = after.count - own, least = truth - (exact_here ? 0 : truth / 1000);
	ok(others >= least && others < truth + truth / 20,
	   "four threads' instructions are in the process's count, once (%" PRIu64 ")", others);
	ok(own < truth / 20, "and not in the thread's");
	tare_close(all);
	tare_close(mine);
}

int main(void)
{
	struct tare_counters *c;
	struct tare_error error = {0};
	exact_here = getenv("TARE_IN_GUEST") != NULL;
	bool counts = tare_open(NULL, &c, &error) && tare_add(c, "instructions:u", &error);
	tare_close(c);
	if (!counts && !exact_here) {
		skip(error.text, "libtare counts a loop's instructions");
		return done();
	}
	if (!ok(counts, "libtare can count instructions (%s)", counts ? "yes" : error.text))
		return done();
	test_regions();
	test_turns();
	test_process();
	return done();
}
