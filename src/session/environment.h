/* Environments of programs. */
#ifndef TARE_SESSION_ENVIRONMENT_H
#define TARE_SESSION_ENVIRONMENT_H

#include "base/arena.h"

/* The environment (NULL: tare's own) with the variable set; the arena's. Its other variables are borrowed. NULL:
 * memory ran out. */
char **environment_with(char *const *environment, const char *name, const char *value, struct arena *arena);

#endif
