/* The rows of data/events/ on a machine: a row's `model` formula, its names bound to the machine's counters. */
#ifndef TARE_BACKEND_MODEL_EVENTS_H
#define TARE_BACKEND_MODEL_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/model/components.h"
#include "event/event.h"
#include "model/core/model.h"

enum { MODEL_INPUTS_MOST = 32 }; /* FORMULA_INPUTS_MOST */

struct model_event {
	const struct event_definition *definition;
	const struct formula *formula;                    /* the row's, on machines of this family */
	struct component_place places[MODEL_INPUTS_MOST]; /* of the formula's inputs */
};

/* False when no model counts it, or not on this machine: why[size] says the reason. */
bool model_event_bind(const struct event_definition *definition, const struct machine *machine,
		      struct model_event *out, char *why, size_t size);

/* The machine's own family; NULL: nobody's. */
const char *model_family(const struct machine *machine);

/* Does it use anything of that component? */
bool model_event_uses(const struct model_event *event, enum model_component component);
/* Does it need misses to be classed? */
bool model_event_classifies(const struct model_event *event);
/* Does it need misses in order to be told from others? */
bool model_event_orders(const struct model_event *event);
/* Of what threads take from each other: it depends on which runs when. */
bool model_event_shares(const struct model_event *event);

/* False: *why (a constant) says why there is no value; that is a defect, of the row or of the counts. */
bool model_event_value(const struct model_event *event, const struct model_counts *counts, uint64_t *out,
		       const char **why);

/* What is to be watched so that the sum over the watches, by instruction, is the event: the formula's inputs, when
 * it is their sum, those that are subtracted with a bit in *minus. Returns how many; 0 when it is not such a sum,
 * or one of more than `most`. */
size_t model_event_watches(const struct model_event *event, struct model_watch *out, size_t most, uint8_t *minus);

#endif
