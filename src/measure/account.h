/* Events that nobody has to count because the operating system keeps them anyway: the clock, and wait4(2)'s
 * account of the program and of those of its children that it waited for. */
#ifndef TARE_MEASURE_ACCOUNT_H
#define TARE_MEASURE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/backend.h"
#include "result/result.h"

/* What is kept of each execution; a struct run without its readings. */
struct account {
	bool complete;     /* it ran to its own end */
	bool known;        /* the operating system's account is there (a program was waited for) */
	bool shown;        /* the program's output was shown */
	bool under_engine; /* not the program's own: never reported as its */
	int wait_status;
	uint64_t elapsed_ns, user_ns, system_ns, peak_memory_bytes;
	uint64_t probes_ns, probes_elapsed_ns; /* of the times, so much is what probes of regions took */
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches, steal_ns;
};

/* Does the process account have this event? NULL when it has, otherwise why not (a static text). */
const char *account_lacks(const struct event *event, const struct target *target);

/* The event's value, times in ns, memory in bytes; false when this execution has no such account. */
bool account_value(const struct account *account, const struct event *event, double *value);

/* What probes of regions took of it, in ns; 0 of what is not a time, and without probes. */
double account_probes(const struct account *account, const struct event *event);

#endif
