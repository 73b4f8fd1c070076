#include "backend/perf/probe/costs.h"

#include <string.h>

static const struct event_encoding none;

/* A place that is not taken yet has no probes, as no group has. */
static bool is_group(const struct region_costs *kept, const struct region_event *events, size_t n, size_t n_probes)
{
	bool same = kept->n_events == n && kept->n_probes == n_probes;
	for (size_t i = 0; same && i < n; i++) {
		const struct event_encoding *a = &kept->encodings[i],
					    *b = events[i].encoding ? events[i].encoding : &none;
		same = a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
		       a->config2 == b->config2 && kept->levels[i] == events[i].levels;
	}
	return same;
}

bool costs_find(const struct kept_costs *kept, const struct region_event *events, size_t n, size_t n_probes,
		struct trap_cost *costs)
{
	for (size_t i = 0; i < GROUPS_KEPT; i++) {
		const struct region_costs *group = &kept->groups[i];
		if (!is_group(group, events, n, n_probes))
			continue;
		memcpy(costs, group->costs, n * sizeof *costs);
		costs[n] = group->ns;
		return true;
	}
	return false;
}

void costs_keep(struct kept_costs *kept, const struct region_event *events, size_t n, size_t n_probes,
		const struct trap_cost *costs)
{
	if (n > COSTS_KEPT)
		return;
	struct region_costs *group = &kept->groups[kept->next++ % GROUPS_KEPT];
	*group = (struct region_costs){.ns = costs[n], .n_events = n, .n_probes = n_probes};
	for (size_t i = 0; i < n; i++) {
		group->encodings[i] = events[i].encoding ? *events[i].encoding : none;
		group->levels[i] = events[i].levels;
		group->costs[i] = costs[i];
	}
}
