/* A program instrumented for libhpm:  TARE_EVENTS=page-faults:u,task-clock ./hpm */
#include <stddef.h>
#include <tare_hpm.h>

enum { PAGE = 4096, PAGES = 100, WHOLE = 1, PART = 2 };

static volatile char fresh[3][PAGES * PAGE];

int main(void)
{
	int i;
	hpmInit(0, "hpm");
	hpmStart(WHOLE, "whole");
	for (i = 0; i < 3; i++) {
		size_t at;
		hpmStart(PART, "part");
		for (at = 0; at < sizeof fresh[i]; at += PAGE)
			fresh[i][at] = 1;
		hpmStop(PART);
	}
	hpmStop(WHOLE);
	hpmTerminate(0);
	return 0;
}
