/* Named regions in C, nested and in a loop:  TARE_EVENTS=page-faults:u,task-clock ./regions */
#include <stdio.h>
#include <stdlib.h>
#include <tare.h>

enum { PAGE = 4096, PAGES = 100 };

/* Static memory has its page faults when it is first written. */
static volatile char fresh[3][PAGES * PAGE];

static void fill(int part)
{
	size_t at;
	for (at = 0; at < sizeof fresh[part]; at += PAGE)
		fresh[part][at] = 1;
}

int main(void)
{
	struct tare_error error;
	struct tare_region *part = tare_region("part", &error);
	int i;
	if (!part) {
		fprintf(stderr, "%s\n", error.text);
		return EXIT_FAILURE;
	}
	TARE_REGION_BEGIN("whole"); /* by its name at the place */
	for (i = 0; i < 3; i++) {
		tare_region_begin(part); /* by a handle */
		fill(i);
		tare_region_end(part);
	}
	TARE_REGION_END("whole");
	return EXIT_SUCCESS;
}
