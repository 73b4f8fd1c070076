/* Regions by user reads, on replaced registers: see user_read_test.c. Regions are of the process, so that each
 * test is a child. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/regions.h"
#include "api/user_read.h"
#include "replaced_kernel.h"
#include "tap.h"
#include "tare.h"

#define EVENTS "page-faults:u,minor-faults:u"

static unsigned not_so;
static void need(bool holds, const char *what)
{
	if (!holds) {
		printf("# not so: %s\n", what);
		not_so++;
	}
}

static struct tare_region *warm;

/* The registers say what read(2) says. */
static void follow(unsigned time)
{
	struct tare_reading raw[TARE_EVENTS_MOST];
	const struct region_thread *thread = region_thread_known();
	(void)time;
	counters_read_raw(thread->set, raw);
	for (size_t i = 0; i < 2; i++) {
		pages[i]->lock += 2;
		set_values(i, raw[i].count - 77, 77);
	}
}

static void no_checks(struct region_thread *thread)
{
	own_set(&thread->check_at[0], UINT64_MAX);
	own_set(&thread->check_at[1], UINT64_MAX);
}

static struct tare_reading *read_region(struct tare_region *region)
{
	static struct tare_reading readings[2];
	tare_region_read(region, TARE_THREAD, NULL, readings, NULL);
	return readings;
}

static struct tare_reads thread_reads(void)
{
	struct tare_reads reads;
	tare_region_reads(TARE_THREAD, &reads);
	return reads;
}

static struct region_thread *warm_thread(void)
{
	warm = tare_region("warm", NULL);
	struct tare_region *second = tare_region("second", NULL);
	interrupt_next(follow, 1);
	tare_region_begin(warm); /* its first reading is checked */
	no_checks(region_thread_known());
	tare_region_end(warm);
	tare_region_begin(second);
	tare_region_end(second);
	struct tare_reads reads = thread_reads();
	need(reads.by_user == 4 && reads.checks == 1 && interrupts == 1, "four user reads, one checked");
	if (not_so)
		printf("# by_user %d, by_call %d, checks %d, interrupts %u, pages %zu: %s\n", (int)reads.by_user,
		       (int)reads.by_call, (int)reads.checks, interrupts, n_pages, reads.why);
	return region_thread_known();
}

static void regions_by_registers(void)
{
	struct region_thread *thread = warm_thread();
	struct tare_region *region = tare_region("r", NULL);
	struct tare_reads before = thread_reads();
	thread->set->user->mult = pages[0]->time_mult = 1u << 31;
	thread->set->user->shift = pages[0]->time_shift = 32; /* two cycles a ns */
	for (int pass = 0; pass < 3; pass++) {
		tare_region_begin(region);
		replaced_registers[1] += 10;
		replaced_registers[2] += 20;
		replaced_clock += 2001;
		pages[0]->time_enabled += 5; /* it was off the CPU and back */
		pages[0]->time_running += 5;
		tare_region_end(region);
		replaced_registers[1]++;
	}
	struct tare_reading *r = read_region(region);
	need(r[0].count == 30 && r[1].count == 60, "three passes' counts");
	need(r[0].enabled_ns == 15 + 3001 && r[0].running_ns == r[0].enabled_ns && r[0].state == TARE_COUNTED,
	     "their times, with halves of ns");
	need(thread_reads().by_user == before.by_user + 6 && thread_reads().by_call == before.by_call,
	     "no system call");
}

static void regions_mixed(void)
{
	warm_thread();
	struct tare_region *a = tare_region("a", NULL), *b = tare_region("b", NULL), *c = tare_region("c", NULL);
	struct tare_region *all[] = { a, b, c };
	for (int i = 0; i < 3; i++) { /* their memory is there */
		tare_region_begin(all[i]);
		tare_region_end(all[i]);
	}
	struct tare_reading raw[2], was;
	counters_read_raw(region_thread_known()->set, raw);
	set_values(0, raw[0].count - 1000, 995);
	was = *read_region(a);
	const uint64_t second_ns = 1000000000;
	pages[0]->time_enabled = pages[0]->time_running = raw[0].enabled_ns - 3 * second_ns;
	replaced_clock = 0;
	tare_region_begin(a);
	pages[0]->index = 0;
	tare_region_end(a);
	/* a sanitizer has page faults of its own */
#ifdef SANITIZED
	const uint64_t more = 1000;
#else
	const uint64_t more = 0;
#endif
	need(read_region(a)->count - was.count - 5 <= more, "begun by registers, ended by read(2)");
	need((read_region(a)->enabled_ns - was.enabled_ns) / second_ns == 3 &&
		 (read_region(a)->running_ns - was.running_ns) / second_ns == 3 &&
		 read_region(a)->state == TARE_COUNTED,
	     "… with its time");
	counters_read_raw(region_thread_known()->set, raw);
	was = *read_region(b);
	tare_region_begin(b);
	pages[0]->index = 1;
	set_values(0, raw[0].count, 7);
	pages[0]->time_enabled = pages[0]->time_running = raw[0].enabled_ns + 5 * second_ns;
	tare_region_end(b);
	need(read_region(b)->count - was.count == 7, "begun by read(2), ended by registers");
	need((read_region(b)->enabled_ns - was.enabled_ns) / second_ns == 4 &&
		 (read_region(b)->running_ns - was.running_ns) / second_ns == 4 &&
		 read_region(b)->state == TARE_COUNTED,
	     "… with its time");
	struct tare_reads before = thread_reads();
	pages[0]->time_running--;
	was = *read_region(c);
	tare_region_begin(c);
	tare_region_end(c);
	need(read_region(c)->count == was.count && thread_reads().by_call == before.by_call + 2,
	     "a group that has taken turns: read(2)");
}

static void regions_interrupted(void)
{
	warm_thread();
	struct tare_region *region = tare_region("r", NULL);
	tare_region_begin(region);
	tare_region_end(region);
	struct tare_reading was = *read_region(region), was1 = read_region(region)[1];
	uint64_t expected[2] = { 0 }, again = thread_reads().again, at_begins = 0, at_ends = 0;
	for (unsigned page = 0; page < 2; page++)
		for (move_at = 0; move_at < 2; move_at++) {
			set_values(0, 0, 4900);
			set_values(1, 0, 4900);
			interrupted = pages[page];
			interrupt_next(move_at_load, 2); /* → 5000 */
			tare_region_begin(region);
			protect(false);
			at_begins += thread_reads().again - again;
			again = thread_reads().again;
			replaced_registers[interrupted->index] += 3;
			replaced_registers[pages[!page]->index] += 4;
			interrupt_next(move_at_load, 2); /* 5000 again: nothing was counted */
			tare_region_end(region);
			protect(false);
			at_ends += thread_reads().again - again;
			again = thread_reads().again;
			expected[!page] += 4;
			/* the leader is read last: what comes then to another counter comes after its reading */
			expected[page] += page == 1 && move_at == 1 ? 5000 + 3 - 4900 : 0;
			need(interrupts >= 1 + move_at, "(it came)");
		}
	need(read_region(region)[0].count - was.count == expected[0] &&
		 read_region(region)[1].count - was1.count == expected[1],
	     "all readings are those of after their interrupts");
	need(!*thread_reads().why, "all were user reads");
	/* a begin's second reading is in the count of the regions around, an end's in its own */
	need(at_begins > 0 && at_begins == at_ends, "readings made again are counted, at begins as at ends");
	if (not_so)
		printf("# again: %d at begins, %d at ends\n", (int)at_begins, (int)at_ends);
}

static void regions_disagree(void)
{
	struct region_thread *thread = warm_thread();
	struct tare_region *before = tare_region("before", NULL), *after = tare_region("after", NULL);
	tare_region_begin(before);
	tare_region_end(before);
	follow(0);
	need(read_region(before)->state == TARE_COUNTED, "counted so far");
	replaced_registers[2]++;
	own_set(&thread->check_at[0], 0);
	tare_region_begin(after);
	tare_region_end(after);
	need(strstr(thread_reads().why, "disagreed") != NULL, "it is seen");
	need(read_region(before)->state == TARE_NOT_COUNTED && read_region(warm)->state == TARE_NOT_COUNTED,
	     "what was counted since nobody knows when is no count");
	need(read_region(after)->state == TARE_COUNTED, "what comes is");
	need(thread_reads().by_call == 2, "by read(2)");
}

static void regions_checks(void)
{
	struct region_thread *thread = warm_thread();
	struct tare_region *outer = tare_region("outer", NULL), *inner = tare_region("inner", NULL);
	struct tare_region *both[] = { outer, inner };
	for (int i = 0; i < 2; i++) {
		tare_region_begin(both[i]);
		tare_region_end(both[i]);
	}
	tare_region_begin(outer);
	own_set(&thread->check_at[0], 0);
	own_set(&thread->check_at[1], own_get(&thread->calls[0]) + 2);
	uint64_t checks = thread_reads().checks, other = own_get(&thread->calls[2]);
	for (int i = 0; i < 2; i++) {
		tare_region_begin(inner);
		tare_region_end(inner);
	}
	need(thread_reads().checks == checks, "no check inside of a region, if another time will do");
	follow(0);
	tare_region_begin(inner);
	tare_region_end(inner);
	need(thread_reads().checks == checks + 1 && own_get(&thread->calls[2]) == other + 1,
	     "late ones are, and are in what was done in the region");
	own_set(&thread->check_at[0], 0);
	own_set(&thread->check_at[1], UINT64_MAX);
	tare_region_end(outer);
	follow(0);
	tare_region_begin(outer);
	tare_region_end(outer);
	need(thread_reads().checks == checks + 2 && own_get(&thread->calls[2]) == other + 1,
	     "outside it is done at once");
}

static void in_child(void (*what)(void), const char *fact)
{
	int status = -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		struct tare_error error;
		n_pages = 0;
		if (!tare_regions_start(EVENTS, &error)) {
			printf("# %s\n", error.text);
			_exit(1);
		}
		n_pages = 0;
		what();
		fflush(stdout);
		_exit(not_so ? 1 : 0);
	}
	waitpid(child, &status, 0);
	if (!ok(status == 0, "%s", fact))
		printf("# status %d\n", status);
}

int main(void)
{
	kernel_begins();
	struct tare_counters *c = NULL;
	struct tare_error error;
	bool counted = tare_open(NULL, &c, &error) && tare_add(c, EVENTS, &error);
	tare_close(c);
	if (!counted) {
		skip(error.text, "regions by user reads");
		return done();
	}
	in_child(regions_by_registers, "regions count by registers alone");
	in_child(regions_mixed, "passes that begin one way and end the other");
	in_child(regions_interrupted, "interrupted passes");
	in_child(regions_disagree, "a disagreement takes what was counted back");
	in_child(regions_checks, "checks stay out of what is counted");
	return done();
}
