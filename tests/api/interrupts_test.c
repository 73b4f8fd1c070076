/* What interrupts and page faults add to regions' counts: measured with an event whose answer is known, and in the ±
 * of planted counts as an AMD CPU gives them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/calibration.h"
#include "api/interrupts.h"
#include "faults.h"
#include "tap.h"
#include "tare.h"

static void test_numbers(void)
{
	ok(interrupts_most(0) == 0 && interrupts_most(49999) == 0, "a short time has no interrupt");
	ok(interrupts_most(100000) == 1.2 && interrupts_most(40000000) == 81,
	   "a longer one has twice the ticks of a kernel with 1,000 a second, and one");
	uint64_t before = faults_of_thread(), all_before = faults_of_process();
	touch(100);
	ok(faults_of_thread() - before >= 100 && faults_of_process() - all_before >= 100,
	   "page faults of the thread and the process are counted");
}

static void test_measuring(void)
{
	double each[2] = {-1, -1};
	struct tare_error error = {0};
	if (!tare_regions_start("page-faults:u,major-faults:u", &error)) {
		printf("Bail out! %s\n", error.text);
		exit(1);
	}
	ok(interrupts_measure(2, each) && each[0] == 1, "a page fault adds one page fault");
	ok(each[1] == 0, "and nothing to an event that it is not");
	if (each[0] != 1 || each[1] != 0)
		printf("# %g %g\n", each[0], each[1]);
}

enum { NET = 1000000, PASS = 77 };

/* Is NET within the ± of a region that counted NET, a pass, and `more`? */
static bool holds(double each, uint64_t faults, uint64_t running_ns, uint64_t more, double *half_width)
{
	static struct region_tare tare;
	struct net_count net;
	struct region_sums sums = {.passes = {.entries = 1, .exits = 1, .threads = 1}, .faults = faults};
	tare = (struct region_tare){0};
	tare.events[0] = (struct event_tare){
		.subtracts = true, .calls = {.region = {.value = PASS, .n = 10}, .t = 2}, .interrupt = each};
	sums.readings[0] = (struct tare_reading){
		.count = NET + PASS + more, .enabled_ns = running_ns, .running_ns = running_ns};
	region_net(&tare, tare_region("planted", NULL), 0, &sums, 0, &net);
	*half_width = net.s.half_width;
	return net.state == NET_SUBTRACTED && net.s.net - *half_width <= NET && NET <= net.s.net + *half_width;
}

static void test_regions(void)
{
	double half_width;
	ok(holds(1, 0, 10000, 0, &half_width) && half_width == 0, "a short region without page faults is exact");
	ok(holds(1, 20000, 40000000, 20009, &half_width) && holds(1, 20000, 40000000, 20042, &half_width),
	   "20,000 page faults in 40 ms: 20,009 and 20,042 instructions more are within the ±");
	ok(half_width == 20081, "which is what all of them and the interrupts can add");
	ok(!holds(0, 20000, 40000000, 20009, &half_width) && half_width == 0,
	   "where they add nothing, the ± is as narrow as it was");
	ok(holds(2, 0, 1000000, 6, &half_width) && half_width == 6, "an interrupt may add more than one");
}

static void *with_faults(void *region)
{
	tare_region_begin(region);
	touch(300);
	tare_region_end(region);
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread;
	struct tare_region *region = tare_region("of a thread", NULL);
	with_faults(region);
	const struct region_thread *own = region_thread_known();
	ok(region_thread_faults(own) >= 300, "a thread's page faults since its first region");
	if (pthread_create(&thread, NULL, with_faults, region) != 0 || pthread_join(thread, NULL) != 0) {
		printf("Bail out! no thread\n");
		exit(1);
	}
	const struct region_thread *ended = atomic_load(&regions_of_process()->threads);
	ok(ended != own && region_thread_faults(ended) >= 300, "also when it has ended");
}

int main(void)
{
	test_numbers();
	test_measuring();
	test_regions();
	test_threads();
	return done();
}
