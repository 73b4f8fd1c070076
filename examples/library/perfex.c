/* libperfex's calls in C: cycles (0) and graduated instructions (17), or what T5_EVENT0 and T5_EVENT1 say:
 *     T5_EVENT0=page-faults:u T5_EVENT1=task-clock ./perfex */
#include <stdio.h>
#include <stdlib.h>
#include <tare_perfex.h>

enum { PAGE = 4096, PAGES = 100, CYCLES = 0, INSTRUCTIONS = 17 };

static volatile char fresh[PAGES * PAGE];

int main(void)
{
	long long c0, c1;
	size_t at;
	int started = start_counters(CYCLES, INSTRUCTIONS);
	if (started < 0) {
		fprintf(stderr, "start_counters: %s\n", tare_perfex_error());
		return EXIT_FAILURE;
	}
	for (at = 0; at < sizeof fresh; at += PAGE)
		fresh[at] = 1;
	if (read_counters(CYCLES, &c0, INSTRUCTIONS, &c1) != started) {
		fprintf(stderr, "read_counters: %s\n", tare_perfex_error());
		return EXIT_FAILURE;
	}
	print_counters(CYCLES, c0, INSTRUCTIONS, c1);
	return EXIT_SUCCESS;
}
