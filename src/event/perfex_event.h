/* The R10000's 2 × 16 events by the names of perfex's listing (Zagha, Appendix C) and of the paper's Appendix A;
 * and the R12000's 32, by perfex's names: some numbers mean other events there (Korn, Table 1; MIPS R10000
 * Microprocessor User's Manual, the R12000's counters). Which canonical event counts one is said by the row in
 * data/events/ that lists "r10000:<either name>", or "r12000:<name>" where the R12000 has another event. */
#ifndef TARE_EVENT_PERFEX_EVENT_H
#define TARE_EVENT_PERFEX_EVENT_H

#include <stddef.h>

struct perfex_event {
	const char *listed;   /* "Graduated loads" */
	const char *appendix; /* "Load/prefetch/sync/CacheOp graduated" */
};

enum perfex_machine { PERFEX_R10000, PERFEX_R12000, PERFEX_MACHINES };
enum { PERFEX_EVENTS = 32, PERFEX_PER_COUNTER = 16 };

/* Index 0 … 15 are counter 0's events, 16 … 31 counter 1's, as perfex's -e numbers them; NULL beyond. */
const struct perfex_event *perfex_event_at(size_t index);

/* The same of either machine; `appendix` is NULL where the R12000 has an event that the R10000 lacks. */
const struct perfex_event *perfex_event_of(enum perfex_machine machine, size_t index);

/* "r10000", "r12000": with a colon, what stands in front of an event's name. */
const char *perfex_machine_name(enum perfex_machine machine);

#endif
