#include "base/clock.h"

#include <time.h>

static uint64_t monotonic_ns(void *context)
{
	(void)context;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct clock clock_monotonic(void) { return (struct clock){.now_ns = monotonic_ns}; }
