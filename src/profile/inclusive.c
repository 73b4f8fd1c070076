#include "profile/inclusive.h"

static void add_saturated(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

void named_add_arcs(struct named_profile *out, const struct profile *p)
{
	struct named_table *functions = &out->by_function;
	out->has_inclusive |= p->n_arcs != 0;
	for (size_t i = 0; p->n_arcs && i < functions->n; i++)
		for (size_t e = 0; e < p->n_events; e++)
			functions->rows[i].counts[e].inclusive = 0;
	for (size_t i = 0; i < out->n_arcs; i++) {
		const struct named_arc *arc = &out->arcs[i];
		for (size_t e = 0; arc->caller != arc->callee && e < p->n_events; e++)
			add_saturated(&functions->rows[arc->callee].counts[e].inclusive, arc->inclusive[e]);
	}
	/* a place in no function is a row of its own, to which no call leads */
	for (size_t i = 0; p->n_arcs && i < functions->n; i++)
		for (size_t e = 0; e < p->n_events; e++)
			if (!functions->rows[i].counts[e].inclusive)
				functions->rows[i].counts[e].inclusive = functions->rows[i].counts[e].self;
}
