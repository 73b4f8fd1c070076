/* Where system calls were made, of all processes of a record (engine/wire/called.h). */
#ifndef TARE_BACKEND_ENGINE_CALLED_H
#define TARE_BACKEND_ENGINE_CALLED_H

#include <stdbool.h>

#include "backend/engine/syscalls.h"
#include "base/str.h"
#include "engine/inject/view.h"

/* Appends what system_calls() of backend/backend.h has below its empty line; nothing where no stacks were kept.
 * The longest first. What has no place is one line without frames. False when memory ran out. */
bool called_write(const struct view *view, bool children, const struct syscall_clock *clock, struct str *out);

#endif
