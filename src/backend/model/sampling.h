/*
 * Sampled sets of modelled caches (model/core/sample.h), host side: which machines can have them, which groups are
 * drawn, and what an event counted in each.
 *
 * What always holds: a machine whose sets of different groups could affect each other is refused; an event of what
 * is not sampled (TLBs, branches) has no estimate, and the reason.
 */
#ifndef TARE_BACKEND_MODEL_SAMPLING_H
#define TARE_BACKEND_MODEL_SAMPLING_H

#include "backend/backend.h"
#include "backend/model/events.h"
#include "model/core/model.h"

/* Draws one in `share` groups by the seed: the options' sample, sample_shift and sample_groups. False: not of this
 * machine, or not so few; *err says why. */
bool sampling_choose(const struct machine *machine, unsigned share, uint64_t seed, struct model_options *options,
		     struct error *err);

/* How many groups are drawn. */
unsigned sampling_drawn(const struct model_options *options);

/* What counts have behind each other: the machine's own, and, sample_counts further on, the drawn groups'. The
 * whole of what was modelled, for the laws (model_conserves()). */
void sampling_sum(const struct model_options *options, const struct model_counts *counts,
		  struct model_counts *sum);

/* The event's reading: SOURCE_SAMPLED; or SOURCE_MODEL, where nothing of it is estimated. False: *why, a constant,
 * says why there is none. */
bool sampling_read(const struct model_event *event, const struct machine *machine,
		   const struct model_options *options, const struct model_counts *counts, struct arena *arena,
		   struct reading *r, const char **why);

#endif
