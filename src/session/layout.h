/* A program's speed depends on where its stack begins, and that on the size of its environment (Mytkowicz,
 * Diwan, Hauswirth, Sweeney: Producing wrong data without doing anything obviously wrong!, ASPLOS 2009). Drawn
 * anew for each execution, the layout's influence becomes part of the spread, and the interval covers it. */
#ifndef TARE_SESSION_LAYOUT_H
#define TARE_SESSION_LAYOUT_H

#include "base/random.h"

/* environment with one more variable, TARE_LAYOUT, of 0 to 4095 bytes: stack offsets within a page. NULL when
 * memory ran out; freed with free(). Its other strings are those of `environment`. */
char **layout_environment(char *const *environment, struct random *random);

#endif
