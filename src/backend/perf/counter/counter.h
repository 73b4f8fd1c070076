/* One counter of the kernel: a file descriptor of perf_event_open(2), and the readings from it.
 *
 * Counters are opened one by one, not in groups. A group is on the PMU as a whole or not at all, so that one event
 * more than fits (or one counter taken by somebody else) would stop all of them; single counters lose only the one
 * that does not fit, and each says for how long it counted. What fits together is found by trial (trial/trial.h).
 * Reading with PERF_FORMAT_GROUP would save system calls, but with `inherit` the kernel sums the group's children
 * one by one in any case, and it refuses groups over PMUs of different kinds (msr beside cpu). */
#ifndef TARE_BACKEND_PERF_COUNTER_COUNTER_H
#define TARE_BACKEND_PERF_COUNTER_COUNTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"

enum counter_heirs {
	HEIRS_NONE,    /* the one thread */
	HEIRS_THREADS, /* and the threads that it starts (Linux 5.13) */
	HEIRS_ALL,     /* and the processes that it forks */
};

struct counter_request {
	const struct event_encoding *encoding;
	unsigned levels; /* LEVEL_USER | LEVEL_KERNEL */
	enum counter_heirs heirs;
	bool of_cgroup;     /* task is the descriptor of a control group's folder; with a CPU */
	bool begin_at_exec; /* enabled by the target's next exec; otherwise by counter_enable() */
	bool grouped;       /* read with its group (PERF_FORMAT_GROUP): for libtare, and without heirs only */
	int leader;         /* grouped: the leader's descriptor; -1: this one leads */
	/* arm64: the thread may read the register itself. Left out where the kernel refuses it */
	bool user_read;
};

struct counter_values {
	uint64_t count, enabled_ns, running_ns;
};

enum { COUNTER_SELF = 0, COUNTER_ANY_TASK = -1, COUNTER_ANY_CPU = -1 };

/* A disabled counter; the descriptor, or -1 with errno. */
int counter_open(const struct counter_request *request, pid_t task, int cpu);
bool counter_enable(int fd);
bool counter_disable(int fd);

/* Children that still run and those that have ended are in the sum. False with errno; 0 as errno means that the
 * kernel has put the counter into its error state (a pinned counter that lost its place). */
bool counter_read(int fd, struct counter_values *out);

/* Makes room for n more descriptors while counters are opened; limit_restore() gives the limit back before a
 * program could inherit it. */
struct descriptor_limit {
	bool raised;
	uint64_t soft, hard;
};
void limit_raise(struct descriptor_limit *limit, size_t n);
void limit_restore(const struct descriptor_limit *limit);

#endif
