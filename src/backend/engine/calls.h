/* The call graph of an execution: the arcs of all its processes, from the record. */
#ifndef TARE_BACKEND_ENGINE_CALLS_H
#define TARE_BACKEND_ENGINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/engine/counting.h"
#include "engine/inject/view.h"
#include "result/locations.h"

#define CALLS_WHY_BYTES 256

struct location_plan;
/* The events as the record has them (RECORD_CALL_EVENTS at most), in their order. Why calls cannot be followed for
 * them: a constant, or `text`; NULL: they can. */
const char *calls_plan(const struct execution_event *events, size_t n, const struct location_plan *plan,
		       struct record_call_event out[RECORD_CALL_EVENTS], char text[CALLS_WHY_BYTES]);

/* Fills out->arcs, or out->arcs_why. The events' inclusive counts are those of the record, in its order. False
 * when memory ran out. */
bool calls_fill(const struct view *view, bool children, struct locations *out);

#endif
