/*
 * Declared machines by name: a file's path, a name of data/machines (carried inside the binary), or "host", this
 * machine.
 *
 *     name ──► text (file, embedded, or host.c's) ──► conf.c: extends, keys ──► struct machine ──► check.c
 *
 * What always holds: a machine that one of these hands out passed machine_is_sound().
 */
#ifndef TARE_MODEL_DECLARE_MACHINES_H
#define TARE_MODEL_DECLARE_MACHINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "model/declare/conf.h"
#include "model/core/machine.h"

/* name: of machine_names(), or a path, which has a '/' or ends with ".conf"; behind it what makes another machine
 * of it: "+prefetch", a stride prefetcher (by instruction, one line ahead) in each cache on the data's way;
 * "+backward-taken", that static branch prediction. Unknown: ERROR_NOT_FOUND with the nearest names. */
bool machine_find(const char *name, struct machine *out, struct error *err);

/* The same with every value's place and source, for showing. On success the caller frees it with
 * machine_description_free(). */
bool machine_describe(const char *name, struct machine_description *out, struct error *err);

/* All names, "host" first, then by name; ends with NULL; constant, borrowed for ever. */
const char *const *machine_names(void);

#endif
