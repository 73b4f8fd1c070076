/* An event over cores of several kinds.
 *
 * Where a machine has big and little cores, each kind has a PMU of its own, and a counter of one PMU counts on its
 * cores only: for the rest of the time it is enabled, but does not run, which looks like multiplexing and is none.
 * Scaling it up would invent counts. So a generic event becomes one counter for each kind, whose counts and
 * running times add up to the whole; an event of one kind's PMU is not scaled (counting.c). */
#ifndef TARE_BACKEND_PERF_COUNTER_CORES_H
#define TARE_BACKEND_PERF_COUNTER_CORES_H

#include "backend/perf/counter/pmu.h"
#include "event/event.h"

enum { CORE_KINDS_MOST = 4 };

/* What is opened for one event. */
struct variant {
	struct event_encoding encoding;
	char cpus[256]; /* the CPUs that can count it; "" is all */
};

struct variants {
	struct variant items[CORE_KINDS_MOST];
	size_t n;
	bool whole_cpus; /* each counts a CPU or its package, not tasks; `cpus` stand for the packages */
	bool some_cores; /* there are cores on which a task is not counted */
	char pmu[64];    /* the PMU of a type beyond PERF_TYPE_MAX; else "" */
};

/* The core PMUs, one a kind of core. */
struct core_kinds {
	struct pmu pmus[CORE_KINDS_MOST];
	size_t n;
};

struct variants variants_of(const struct event_encoding *encoding, const struct core_kinds *kinds,
			    const char *sysfs_root);

#endif
