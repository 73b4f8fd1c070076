/* Time as something passed in, so that a test can control it. */
#ifndef TARE_BASE_CLOCK_H
#define TARE_BASE_CLOCK_H

#include <stdint.h>

struct clock {
	uint64_t (*now_ns)(void *context); /* monotonic */
	void *context;
};

/* CLOCK_MONOTONIC. */
struct clock clock_monotonic(void);

static inline uint64_t clock_now_ns(const struct clock *clock) { return clock->now_ns(clock->context); }

#endif
