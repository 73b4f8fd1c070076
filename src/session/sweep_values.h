/* What --sweep and --per say: a parameter, its values, and what time is divided by.
 *
 *     N=8..128        8, 16, 32, 64, 128: doubled, and the last one in any case
 *     N=8..128+40     8, 48, 88, 128: a step, as long as it is not above the last one
 *     LEVEL=O1,O2     these, of any text
 *     N^3             N × N × N
 */
#ifndef TARE_SESSION_SWEEP_VALUES_H
#define TARE_SESSION_SWEEP_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "result/explained_sweep.h"

enum { SWEEP_VALUES_MOST = SWEEP_POINTS_MOST };

struct sweep_values {
	const char *name;
	const char *values[SWEEP_VALUES_MOST]; /* no two are equal; at least one */
	size_t n;
};

/* Texts are the arena's. On failure err is ERROR_USAGE, or memory ran out. */
bool sweep_values_parse(const char *text, struct arena *arena, struct sweep_values *out, struct error *err);

/* The power of "N" (1) or "N^3" (3), 1 to 9. ERROR_USAGE: text is something else. */
bool sweep_power_parse(const char *text, const char *name, unsigned *power, struct error *err);

/* The argument with each {NAME} replaced; *replaced tells whether there was one. NULL: memory ran out. */
char *sweep_replace(const char *argument, const char *name, const char *value, struct arena *arena,
		    bool *replaced);

#endif
