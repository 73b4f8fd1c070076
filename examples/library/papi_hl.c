/* A program instrumented for PAPI's high-level interface:  TARE_EVENTS=page-faults:u,task-clock ./papi_hl */
#include <stddef.h>
#include <stdlib.h>
#include <tare_papi_hl.h>

enum { PAGE = 4096, PAGES = 100 };

static volatile char fresh[3][PAGES * PAGE];

static void check(int done)
{
	if (done != PAPI_OK)
		exit(EXIT_FAILURE);
}

int main(void)
{
	int i;
	check(PAPI_hl_region_begin("whole"));
	for (i = 0; i < 3; i++) {
		size_t at;
		check(PAPI_hl_region_begin("part"));
		for (at = 0; at < sizeof fresh[i]; at += PAGE)
			fresh[i][at] = 1;
		check(PAPI_hl_region_end("part"));
	}
	check(PAPI_hl_region_end("whole"));
	return EXIT_SUCCESS;
}
