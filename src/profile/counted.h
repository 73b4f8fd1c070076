/* The engine's counts by place → a profile: what `tare profile --on exact|model` reports, and `tare count --by`
 * has the same counts. */
#ifndef TARE_PROFILE_COUNTED_H
#define TARE_PROFILE_COUNTED_H

#include <stdbool.h>

#include "base/error.h"
#include "result/locations.h"
#include "result/profile.h"

/* Of locations of code. Arcs that do not add up to the counts are left out, and a note says so. An event whose
 * places do not add up to its count has no cells, and its `why` says so. *out is the caller's, to be freed by
 * profile_free() and free(); nothing of the locations is borrowed. */
bool profile_counted(const struct locations *locations, struct profile **out, struct error *err);

#endif
