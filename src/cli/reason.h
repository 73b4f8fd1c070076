/* Why events are not counted, told once for all that share the reason. */
#ifndef TARE_CLI_REASON_H
#define TARE_CLI_REASON_H

#include "base/arena.h"

/* The reason without the event's own name ("cannot open counter 'cycles': …" as "cannot open counter: …"), so that
 * events which differ in their names only share it. NULL when memory ran out. */
const char *reason_without_name(struct arena *arena, const char *why, const char *name);

#endif
