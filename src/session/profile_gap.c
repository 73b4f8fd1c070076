#include "session/profile_gap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/profile.h"

uint64_t profile_gap_within(const struct sampling_cost *cost, double share, uint64_t least)
{
	/* a cost that no machine has is a measurement that failed */
	static const double ns_most = 1e8, gap_most = 1e15;
	double gap = cost ? ceil(cost->sample_ns * cost->events_per_ns / share) : 0;
	if (!(gap > (double)least) || !(cost->sample_ns < ns_most))
		return least;
	return gap < gap_most ? (uint64_t)gap : (uint64_t)gap_most;
}

static uint64_t least_gap(const struct event *event)
{
	const char *unit = event->definition && event->definition->unit ? event->definition->unit : "";
	return strcmp(unit, "ns") == 0             ? 1000000
	       : strcmp(unit, "cycles") == 0       ? 2000003
	       : strcmp(unit, "instructions") == 0 ? 2000003
	       : event->definition && event->definition->counted_by & COUNTED_BY_PERF &&
			       strcmp(event->definition->scope, "thread") == 0
		       ? 101
		       : 10007;
}

static bool is_prime(uint64_t n)
{
	for (uint64_t d = 2; d <= n / d; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

uint64_t profile_gap_prime(uint64_t n)
{
	while (!is_prime(n))
		n++;
	return n;
}

static bool is_chosen_here(const struct event *event, const struct profiling *asked)
{
	return !event->period && !asked->gap && asked->gaps != GAPS_RATE;
}

struct sampled_event *profile_gaps_choose(const struct session *s, const struct profiling *asked, double *costs)
{
	size_t n = s->selection.events.count, chosen = 0;
	struct sampled_event *events = calloc(n + 1, sizeof *events);
	for (size_t i = 0; i < n; i++)
		chosen += is_chosen_here(&s->selection.events.items[i], asked);
	for (size_t i = 0; events && i < n; i++) {
		const struct event *event = &s->selection.events.items[i];
		events[i] = (struct sampled_event){.event = event, .gaps = asked->gaps};
		costs[i] = 0;
		while (events[i].set + 1 < asked->n_sets && i >= asked->set_ends[events[i].set])
			events[i].set++;
		if (asked->gaps == GAPS_RATE && !event->period) {
			events[i].rate = asked->rate;
			continue;
		}
		if (asked->gaps == GAPS_RATE)
			events[i].gaps = GAPS_FIXED;
		events[i].gap = event->period ? event->period : asked->gap;
		if (is_chosen_here(event, asked)) {
			const struct sampling_operations *sampling = s->operations->sampling;
			struct sampling_cost cost = {0};
			bool known = sampling->cost &&
				     sampling->cost(s->backend, event, asked->stacks, asked->stack_bytes, &cost);
			costs[i] = known ? cost.sample_ns : 0;
			events[i].gap = profile_gap_within(known ? &cost : NULL,
							   SAMPLING_SHARE_MOST / (double)chosen, least_gap(event));
		}
		if (asked->prime && events[i].gap > 1)
			events[i].gap = profile_gap_prime(events[i].gap);
		if (events[i].gap == 1) /* every event: there is nothing to draw */
			events[i].gaps = GAPS_FIXED;
	}
	return events;
}
