/* What traps cost in groups of events, kept for later executions: finding it out takes the kernel a tenth of a
 * second. Where groups take turns (--several-runs), each of them comes again and again. */
#ifndef TARE_BACKEND_PERF_PROBE_COSTS_H
#define TARE_BACKEND_PERF_PROBE_COSTS_H

#include "backend/perf/probe/regions.h"

/* costs: [n + 1], the last one in ns of the thread. False: that group was not tried yet, or forgotten. */
bool costs_find(const struct kept_costs *kept, const struct region_event *events, size_t n, size_t n_probes,
		struct trap_cost *costs);
/* In the place of the oldest one, where there is no other. */
void costs_keep(struct kept_costs *kept, const struct region_event *events, size_t n, size_t n_probes,
		const struct trap_cost *costs);

#endif
