#include "backend/perf/counter/cores.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "backend/perf/counter/pmu.h"

/* The upper half of a generic event's config names the PMU that is meant (PERF_PMU_TYPE_SHIFT; Linux 5.13 on x86,
 * 6.6 on Arm). */
static const unsigned PMU_SHIFT = 32;

struct variants variants_of(const struct event_encoding *encoding, const struct core_kinds *kinds,
			    const char *sysfs_root)
{
	struct variants v = {.n = 1};
	struct pmu pmu;
	bool generic = encoding->type == PERF_TYPE_HARDWARE || encoding->type == PERF_TYPE_HW_CACHE;
	bool own = encoding->type >= PERF_TYPE_MAX && pmu_find(sysfs_root, encoding->type, &pmu);
	v.items[0].encoding = *encoding;
	if (own) {
		snprintf(v.pmu, sizeof v.pmu, "%s", pmu.name);
		v.whole_cpus = pmu.cpumask[0] != '\0';
		snprintf(v.items[0].cpus, sizeof v.items[0].cpus, "%s", v.whole_cpus ? pmu.cpumask : pmu.cpus);
	}
	if (kinds->n < 2)
		return v;
	v.some_cores = encoding->type == PERF_TYPE_RAW || (own && pmu.cpus[0]);
	for (size_t i = 0; generic && i < kinds->n; i++) {
		v.items[i].encoding = *encoding;
		v.items[i].encoding.config |= (uint64_t)kinds->pmus[i].type << PMU_SHIFT;
		snprintf(v.items[i].cpus, sizeof v.items[i].cpus, "%s", kinds->pmus[i].cpus);
		v.n = i + 1;
	}
	return v;
}
