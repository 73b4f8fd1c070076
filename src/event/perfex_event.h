/* The R10000's 2 × 16 events by the names of perfex's listing (Zagha, Appendix C) and of the paper's Appendix A.
 * Which canonical event counts one is said by the row in data/events/ that lists "r10000:<either name>". */
#ifndef TARE_EVENT_PERFEX_EVENT_H
#define TARE_EVENT_PERFEX_EVENT_H

#include <stddef.h>

struct perfex_event {
	const char *listed;   /* "Graduated loads" */
	const char *appendix; /* "Load/prefetch/sync/CacheOp graduated" */
};

enum { PERFEX_EVENTS = 32, PERFEX_PER_COUNTER = 16 };

/* Index 0 … 15 are counter 0's events, 16 … 31 counter 1's, as perfex's -e numbers them; NULL beyond. */
const struct perfex_event *perfex_event_at(size_t index);

#endif
