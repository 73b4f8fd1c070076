/* A set of counters of a program that runs under tare's engine (tare count --on exact, --on model:NAME): the
 * engine answers what the kernel would (src/engine/wire/question.h).
 *
 * 1. A value of the engine's only ever grows. A reading is what was added while the set was started, since the
 *    last reset.
 * 2. Every value is exact or modelled, all of one instant, or the call fails: there is no other state. */
#ifndef TARE_API_ENGINE_SET_H
#define TARE_API_ENGINE_SET_H

#include "api/counters.h"

/* region.c: does tare's engine run the program? */
bool engine_runs(void);

/* NULL: no memory. */
struct engine_set *engine_set_new(void);
void engine_set_free(struct engine_set *set);

/* As tare.h has them, of a set whose `engine` is not NULL. */
bool engine_add(struct tare_counters *c, const char *events, struct tare_error *error);
bool engine_start(struct tare_counters *c, struct tare_error *error);
bool engine_read(const struct tare_counters *c, struct tare_reading *readings, struct tare_error *error);
bool engine_stop(struct tare_counters *c, struct tare_reading *readings, struct tare_error *error);
bool engine_reset(struct tare_counters *c, struct tare_error *error);

/* Adds to the error of a machine that cannot count these events, where it can be said, that the engine would. */
void engine_suggest(struct tare_error *error, const char *events);
/* Does the engine count all of them, or a machine model, at user level? */
bool engine_counts(const char *events);
/* How long a hint is without what engine_suggest() added. */
size_t engine_suggestion_at(const char *hint);

#endif
