#include "profile/certainty.h"

#include <stdlib.h>

#include "profile/replicates.h"
#include "stats/stats.h"

struct ranked_count {
	struct named_count *count;
};

static int by_self(const void *a, const void *b)
{
	const struct ranked_count *x = a, *y = b;
	return x->count->self > y->count->self ? -1 : x->count->self < y->count->self;
}

static void add_intervals(struct named_table *table, size_t event, uint64_t sum, double turn_samples,
			  double confidence)
{
	struct interval interval;
	for (size_t i = 0; i < table->n; i++) {
		struct named_count *c = &table->rows[i].counts[event];
		c->has_interval = turn_samples > 1 ? stats_clustered_share(c->self, sum, turn_samples, confidence,
									   &interval)
						   : stats_share(c->self, sum, confidence, &interval);
		if (!c->has_interval)
			continue;
		c->low = interval.low;
		c->high = interval.high;
	}
}

static bool add_ranks(struct named_table *table, size_t event, double turn_samples, double confidence)
{
	struct ranked_count *ranked = calloc(table->n + 1, sizeof *ranked);
	uint64_t *counts = calloc(table->n + 1, sizeof *counts);
	struct rank_range *ranks = calloc(table->n + 1, sizeof *ranks);
	size_t n = 0;
	bool done = ranked && counts && ranks;
	for (size_t i = 0; done && i < table->n; i++)
		if (table->rows[i].counts[event].self)
			ranked[n++].count = &table->rows[i].counts[event];
	if (n)
		qsort(ranked, n, sizeof *ranked, by_self);
	for (size_t i = 0; i < n; i++)
		counts[i] = turn_samples > 1 ? (uint64_t)((double)ranked[i].count->self / turn_samples)
					     : ranked[i].count->self;
	if (n && stats_ranks(counts, n, 1 - confidence, ranks))
		for (size_t i = 0; i < n; i++) {
			ranked[i].count->first_rank = (uint32_t)ranks[i].first;
			ranked[i].count->last_rank = (uint32_t)ranks[i].last;
		}
	free(ranked);
	free(counts);
	free(ranks);
	return done;
}

bool certainty_add(struct named_profile *named, double confidence)
{
	named->confidence = confidence;
	for (size_t i = 0; i < named->profile->n_events; i++) {
		const struct profile_event *event = &named->profile->events[i];
		if (named->profile->n_runs >= 2) {
			if (!replicates_add(named, i, confidence))
				return false;
			continue;
		}
		if (event->gaps != GAPS_EXPONENTIAL || !event->redraw || event->redraw > PROFILE_REDRAW_MOST)
			continue;
		add_intervals(&named->by_function, i, named->sums[i], event->turn_samples, confidence);
		add_intervals(&named->by_line, i, named->sums[i], event->turn_samples, confidence);
		add_intervals(&named->by_thread, i, named->sums[i], event->turn_samples, confidence);
		add_intervals(&named->by_process, i, named->sums[i], event->turn_samples, confidence);
		if (!add_ranks(&named->by_function, i, event->turn_samples, confidence) ||
		    !add_ranks(&named->by_line, i, event->turn_samples, confidence) ||
		    !add_ranks(&named->by_thread, i, event->turn_samples, confidence) ||
		    !add_ranks(&named->by_process, i, event->turn_samples, confidence))
			return false;
	}
	return true;
}
