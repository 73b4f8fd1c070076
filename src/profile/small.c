#include "profile/small.h"

#include <stdlib.h>
#include <string.h>

static void add_saturated(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static bool is_sampled(const struct profile *p)
{
	bool sampled = false;
	for (size_t e = 0; e < p->n_events; e++)
		sampled |= p->events[e].gaps != GAPS_NONE;
	return sampled;
}

/* counts[module * n_events + event], and behind them the sums */
static void add_cells(const struct profile *p, uint64_t *counts)
{
	uint64_t *sums = counts + p->n_modules * p->n_events;
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct profile_cell *c = &p->cells[i];
		if (!c->node)
			continue; /* the root has no place */
		add_saturated(&counts[p->nodes[c->node].module * p->n_events + c->event], c->count);
		add_saturated(&sums[c->event], c->count);
	}
}

static bool is_small(const struct profile *p, size_t module, const uint64_t *counts, double share)
{
	const uint64_t *sums = counts + p->n_modules * p->n_events;
	bool small = p->modules[module].kind == MODULE_FILE;
	for (size_t e = 0; e < p->n_events; e++)
		small &= !sums[e] || (double)counts[module * p->n_events + e] < share * (double)sums[e];
	return small;
}

bool small_modules(const struct profile *p, double share, bool **out)
{
	*out = NULL;
	if (is_sampled(p))
		return true;
	bool *small = *out = calloc(p->n_modules + 1, sizeof *small);
	uint64_t *counts = calloc((p->n_modules + 1) * (p->n_events + 1), sizeof *counts);
	bool done = small && counts;
	if (done) {
		add_cells(p, counts);
		for (size_t i = 0; i < p->n_modules; i++)
			small[i] = is_small(p, i, counts, share);
		/* symbols know a module by its path */
		for (size_t i = 0; i < p->n_modules; i++)
			for (size_t j = 0; j < p->n_modules; j++)
				small[i] &= small[j] || strcmp(p->modules[i].path, p->modules[j].path) != 0;
	}
	free(counts);
	return done;
}
