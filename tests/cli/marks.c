/* Three regions, each in a function of its own; `marks N` passes through the second N times (3), and then does no work in it. */
#include <stdlib.h>
#include <tare.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define BUSY(name)                                                \
	static __attribute__((noinline)) void name(void)          \
	{                                                         \
		for (volatile int i = 0; i < 200000; i = i + 1)   \
			;                                         \
	}                                                         \
	static __attribute__((noinline)) void name##_for(void)    \
	{                                                         \
		for (double begin = now(); now() - begin < 0.01;) \
			name();                                   \
	}
BUSY(loading)
BUSY(stepping)
BUSY(saving)

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	struct tare_region *load = tare_region("load", NULL), *step = tare_region("step", NULL), *save = tare_region("save", NULL);
	tare_region_begin(load);
	loading_for();
	tare_region_end(load);
	for (int i = 0; i < n; i++) {
		tare_region_begin(step);
		if (argc == 1)
			stepping_for();
		tare_region_end(step);
	}
	tare_region_begin(save);
	saving_for();
	tare_region_end(save);
	return 0;
}
