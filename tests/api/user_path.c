/* user_path read|nothing N: N times the readings of two events at a begin and at an end, or as many turns of an
 * empty loop; for tests/api/user_path_test, which counts its instructions by tare's exact engine. This machine may
 * have no PMU: in rdpmc's place there is rdtsc (REPLACED_X86 in user_access_replaced.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/region_pass.h"

uint64_t *replaced_registers;
uint64_t replaced_clock;
bool replaced_closed;

void *replaced_map(int fd)
{
	(void)fd;
	return NULL;
}

void replaced_unmap(void *page)
{
	(void)page;
}

int main(int n, char **arguments)
{
	static struct perf_event_mmap_page pages[2];
	struct user_reads *reads = calloc(1, sizeof *reads);
	/* what a user of the path knows of its sets at run time, the compiler does not know here either */
	volatile size_t events = 2;
	if (n != 3 || !reads)
		return 2;
	for (int i = 0; i < 2; i++) {
		pages[i] = (struct perf_event_mmap_page){ .index = (uint32_t)i + 1,
							  .offset = 5,
							  .pmc_width = 48,
							  .cap_user_rdpmc = 1,
							  .cap_user_time = 1 };
		reads->pages[i] = &pages[i];
		reads->shifts[i] = 16;
	}
	struct user_mark begin = { 0 }, end = { 0 };
	uint64_t before[2] = { 0 }, after[2] = { 0 };
	size_t of = events;
	long times = strtol(arguments[2], NULL, 10);
	if (strcmp(arguments[1], "read") == 0)
		/* one reading in the code, as in tare_region_enter() and in …_leave() */
		for (long i = 0; i < 2 * times; i++) {
			uint64_t *to = i % 2 ? after : before;
			struct user_mark *mark = i % 2 ? &end : &begin;
			if (!user_mark(reads, of, mark, to))
				return 1;
			__asm__ volatile("" : : : "memory");
		}
	else
		for (long i = 0; i < 2 * times; i++) {
			uint64_t *to = i % 2 ? after : before;
			struct user_mark *mark = i % 2 ? &end : &begin;
			__asm__ volatile("" : : "r"(to), "r"(mark) : "memory");
		}
	/* read from the last event to the first */
	bool right =
	    strcmp(arguments[1], "read") != 0 || !times ||
	    (before[1] < before[0] && before[0] < after[1] && after[1] < after[0] && begin.cycles < end.cycles);
	return right ? 0 : 1;
}
