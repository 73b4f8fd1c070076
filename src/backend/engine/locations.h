/*
 * Where the events of an execution took place: by instruction, from the record. The engine's own events from how
 * often each block was entered; those of the access stream, and of a model, from the record's counts by item and
 * by block (RECORD_SITES).
 *
 *     location_plan (before the start: what is to be watched) ──► execution ──► locations_fill
 *
 * What always holds:
 *  1. An event has places, which add up to its count, or a reason why it has none.
 *  2. Data accesses are at their instruction; a branch is at its own; a fetch at the first instruction of its
 *     block, since a block is fetched as a whole.
 */
#ifndef TARE_BACKEND_ENGINE_LOCATIONS_H
#define TARE_BACKEND_ENGINE_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/engine/counting.h"
#include "backend/engine/regions.h"
#include "engine/inject/view.h"
#include "model/core/model.h"
#include "result/locations.h"

struct location_plan {
	struct model_watch watches[MODEL_WATCHES];
	size_t n_watches;
	enum locations_of of;
	uint64_t period; /* places have samples, one for so many events; 0: counts */
	uint32_t skid;
	struct planned_event {
		const char *why; /* it has no places: a constant; NULL */
		uint8_t parts;   /* bit w: watch w is a part of it; 0: from the blocks */
		uint8_t minus;   /* … that is subtracted; no place has more of it than of the others */
	} * events;
};

/* events[n] as in counting_start(). False when memory ran out. */
bool location_plan_new(struct location_plan *plan, enum locations_of of, const struct execution_event *events,
		       size_t n, const struct counting_models *models);
/* Of a plan: samples instead. Of one event, which is a sum of the model's counts; of others `why` says so. */
void location_plan_sample(struct location_plan *plan, uint64_t period, uint32_t skid, size_t n_events);
/* Of an event with parts: what its watches have counted at a place is of it. */
uint64_t location_sum(const struct location_plan *plan, size_t event, const uint64_t *watched);
void location_plan_free(struct location_plan *plan);

/* inside: only of what was executed in any of the regions that were asked for; NULL: of everything. *out is the
 * caller's, to be freed by locations_free(); on failure it is empty. */
bool locations_fill(const struct location_plan *plan, const struct view *view, bool children,
		    const struct execution_regions *inside, const struct execution_event *events, size_t n,
		    struct locations *out, struct error *err);

#endif
