/* The kernel's PMUs, as /sys/bus/event_source/devices lists them. */
#ifndef TARE_BACKEND_PERF_COUNTER_PMU_H
#define TARE_BACKEND_PERF_COUNTER_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmu {
	char name[64];
	uint32_t type;     /* perf_event_attr.type */
	char cpumask[256]; /* the CPUs that count for their package, as "0,16"; "" for a PMU of each CPU */
	char cpus[256];    /* the CPUs that have it, where not all do (big and little cores); else "" */
};

/* The PMU with this perf_event_attr.type; false for the types without a folder. */
bool pmu_find(const char *sysfs_root, uint32_t type, struct pmu *out);

/* The core PMUs: those named cpu or with a list of their CPUs. More than one where cores are of several kinds (big
 * and little); in ascending order of their numbers. Their count, at most `most`. */
size_t pmu_cores(const char *sysfs_root, struct pmu *out, size_t most);

/* Does a list such as "0-3,8" hold this CPU? */
bool pmu_list_has(const char *list, int cpu);
/* The first CPU of a list; 0 for an empty one. */
int pmu_list_first(const char *list);

#endif
