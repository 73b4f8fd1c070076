/* Trials that take more than an encoding: a tracepoint's number is a file of tracefs, a uprobe's place an offset
 * in an executable. */
#ifndef TARE_BACKEND_PERF_TRIAL_SPECIAL_H
#define TARE_BACKEND_PERF_TRIAL_SPECIAL_H

#include "backend/perf/trial/trial.h"

enum probe_outcome {
	PROBE_WORKS,
	PROBE_ABSENT, /* this kernel does not have it */
	PROBE_NOT_MOUNTED,
	PROBE_HIDDEN, /* it is there, but this user cannot see it */
	PROBE_FAILED, /* see trial */
};

struct probe {
	enum probe_outcome outcome;
	uint64_t count;
	struct trial trial;
};

enum { PROBE_CALLS = 10 };

struct probe probe_tracepoint(void);
struct probe probe_uprobe(const char *sysfs_root);
struct probe probe_tsc(const char *sysfs_root);

#endif
