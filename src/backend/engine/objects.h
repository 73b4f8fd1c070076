/* Counts by data object, from the record (engine/wire/objects.h). For locations.c. */
#ifndef TARE_BACKEND_ENGINE_OBJECTS_H
#define TARE_BACKEND_ENGINE_OBJECTS_H

#include <stdbool.h>

#include "backend/engine/locations.h"

/* Adds the data locations of the processes to out->all (an array of its own, grown with vec_grow; *capacity is
 * its). Equal sites of several processes are one location. out->notes: what could not be told apart, and why.
 * False when memory ran out. */
bool objects_add(const struct location_plan *plan, const struct view *view, bool children, struct locations *out,
		 size_t *capacity);

#endif
