/*
 * Charging an item or a block with what was counted since the last charge: at a miss all watches together cost
 * less than finding out which of them moved. Nothing jumps by what was counted.
 *
 * Equals   charge_slowly() of step.c
 * For      charges_fast(): both kinds of totals are wanted, no data objects, no overflow, one core (so that
 *          nothing is counted elsewhere)
 * Test     tests/model/run_test.c (random watches beside the reference), tests/model/inline_test.c,
 *          tests/unit/model_cache_test.c (several cores), tests/engine/inline/places
 */
#ifndef TARE_MODEL_CORE_FAST_CHARGE_H
#define TARE_MODEL_CORE_FAST_CHARGE_H

#include "model/core/internal.h"

/* Where the watched counts are: the core's may have moved. */
static inline void charge_fast_begin(struct core *core)
{
	const struct model *model = core->model;
	unsigned n = 0;
	for (unsigned w = 0; w < model->n_watches; w++) {
		const struct model_watch *watch = &model->watches[w];
		const uint64_t *at = watch->component == MODEL_CACHE
					     ? &core->counts->cache[watch->index][watch->count]
				     : watch->component == MODEL_TLB
					     ? &core->counts->tlb[watch->index][watch->count]
				     : watch->component == MODEL_STREAM ? &core->counts->stream[watch->count]
									: NULL;
		if (!at) /* branches are charged as they are resolved */
			continue;
		core->charges[n] = at;
		core->charges_watch[n++] = (uint8_t)w;
	}
	core->n_charges = (uint8_t)n;
}

/* Another core may begin at any time: what was charged is kept as charge_slowly() keeps it. */
static inline bool charges_fast(const struct core *core)
{
	const struct model *model = core->model;
	return model->core_count <= 1 && model->item_counts && model->block_counts && !model->objects &&
	       !model->overflow_period;
}

static inline void charge_fast(struct core *core, uint64_t *totals, uint64_t number)
{
	uint64_t *of = totals + number * core->model->n_watches;
	for (unsigned k = 0; k < core->n_charges; k++) {
		const unsigned w = core->charges_watch[k];
		const uint64_t now = *core->charges[k];
		of[w] += now - core->charged[w];
		core->charged[w] = now;
	}
}

#endif
