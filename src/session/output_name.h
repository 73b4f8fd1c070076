/* Names of files with places for what tells processes apart: %r the rank, %h the host, %p tare's process, %% a
 * percent sign. */
#ifndef TARE_SESSION_OUTPUT_NAME_H
#define TARE_SESSION_OUTPUT_NAME_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "result/job.h"

/* The name with its places filled in, the arena's; NULL and an error: a '%' that means nothing, or %r without
 * ranks (place->launcher NULL). */
const char *output_name(const char *pattern, const struct rank_place *place, struct arena *arena,
			struct error *err);

/* Has it %r or %p, so that each rank has a file of its own? */
bool output_name_is_own(const char *pattern);

#endif
