/* The call graph of an execution: the arcs of all its processes, from the record. */
#ifndef TARE_BACKEND_ENGINE_CALLS_H
#define TARE_BACKEND_ENGINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/inject/view.h"
#include "result/locations.h"

/* Fills out->arcs, or out->arcs_why. The events' inclusive counts are those of the record, in its order. False
 * when memory ran out. */
bool calls_fill(const struct view *view, bool children, struct locations *out);

#endif
