/* See interrupts.h. */
#include "api/interrupts.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/order.h"
#include "tare.h"

static const double TICK_NS = 1e6;

enum { PAGES = 32, ROUNDS = 7 };

static uint64_t faults_of(int who)
{
	struct rusage usage;
	return getrusage(who, &usage) == 0 ? (uint64_t)(usage.ru_minflt + usage.ru_majflt) : 0;
}

uint64_t faults_of_thread(void) { return faults_of(RUSAGE_THREAD); }
uint64_t faults_of_process(void) { return faults_of(RUSAGE_SELF); }

double interrupts_most(uint64_t running_ns)
{
	double ticks = (double)running_ns / TICK_NS;
	return ticks < 0.05 ? 0 : 2 * ticks + 1;
}

/* What a pass over the pages counts. False: an event was not counted, or the counters could not be read. */
static bool count_pass(struct tare_region *region, volatile char *memory, size_t page, size_t n, double *counts,
		       double *faults)
{
	struct tare_reading before[TARE_EVENTS_MOST], after[TARE_EVENTS_MOST];
	uint64_t faults_before = faults_of_thread();
	if (!tare_region_read(region, TARE_THREAD, NULL, before, NULL))
		return false;
	tare_region_enter(region);
	for (size_t i = 0; i < PAGES; i++)
		memory[i * page] = 1;
	tare_region_leave(region);
	if (!tare_region_read(region, TARE_THREAD, NULL, after, NULL))
		return false;
	*faults = (double)(faults_of_thread() - faults_before);
	for (size_t e = 0; e < n; e++) {
		if (after[e].state != TARE_COUNTED)
			return false;
		counts[e] = (double)(after[e].count - before[e].count);
	}
	return true;
}

bool interrupts_measure(size_t n, double *each)
{
	struct tare_region *region = tare_region("tare: calibration, faults", NULL);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	double *added = calloc(n * ROUNDS, sizeof *added), fresh[TARE_EVENTS_MOST], again[TARE_EVENTS_MOST];
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t rounds = 0;
	bool done = region && added && memory != MAP_FAILED;
	if (done)
		madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	for (unsigned i = 0; done && i < ROUNDS; i++) {
		double faults, others;
		if (madvise(memory, PAGES * page, MADV_DONTNEED) == 0 &&
		    count_pass(region, memory, page, n, fresh, &faults) &&
		    count_pass(region, memory, page, n, again, &others) && faults >= others + PAGES / 2) {
			for (size_t e = 0; e < n; e++)
				added[e * ROUNDS + rounds] = (fresh[e] - again[e]) / (faults - others);
			rounds++;
		}
	}
	for (size_t e = 0; done && e < n; e++) {
		qsort(added + e * ROUNDS, rounds, sizeof *added, order_doubles);
		double middle = rounds ? added[e * ROUNDS + rounds / 2] : 0;
		each[e] = middle > 0 ? middle : 0;
	}
	if (memory != MAP_FAILED)
		munmap(memory, PAGES * page);
	free(added);
	return done;
}
