/* Trying a counter on known work. */
#ifndef TARE_BACKEND_PERF_TRIAL_TRIAL_H
#define TARE_BACKEND_PERF_TRIAL_TRIAL_H

#include "backend/perf/counter/cores.h"
#include "backend/perf/counter/counter.h"
#include "backend/perf/trial/stimulus.h"

enum trial_outcome {
	TRIAL_WORKS,
	TRIAL_REFUSED,   /* the kernel does not open it: os_errno */
	TRIAL_NEVER_RAN, /* it opens, but never counts: all counters are taken */
	TRIAL_SILENT,    /* it runs, but has counted less than it must */
	TRIAL_UNMOVED,   /* it runs, and counted nothing; but nobody knows that it must have */
};

struct trial {
	enum trial_outcome outcome;
	int os_errno;
	uint64_t count, least; /* of the stimulus, where there was one */
};

/* On tare's own thread, or on the first CPU of each where these count whole CPUs. stimulus may be NULL: then
 * all of them are tried (stimulus_all()), and any count is enough. */
struct trial trial_run(const struct variants *variants, unsigned levels, const struct stimulus *stimulus);

/* The same for one encoding, on tare's own thread or, with cpu >= 0, on that CPU. */
struct trial trial_run_one(const struct event_encoding *encoding, unsigned levels, int cpu,
			   const struct stimulus *stimulus);

/* Do these count at the same time, each all the time? A counter that has to wait for its turn gets none within a
 * trial that is shorter than a turn (perf_event_mux_interval_ms, 4 ms and more). */
bool trial_fits(const struct counter_request *requests, const int *cpus, size_t n);

#endif
