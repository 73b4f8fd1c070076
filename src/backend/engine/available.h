/* Does the engine count an event of its own here? For the backends that count with it (exact, model). */
#ifndef TARE_BACKEND_ENGINE_AVAILABLE_H
#define TARE_BACKEND_ENGINE_AVAILABLE_H

#include "backend/backend.h"
#include "backend/engine/trial.h"

/* Always fills *out. */
void exact_event_available(const struct event *event, struct engine_trial *trial, struct availability *out);
/* Is it asked for at the one level that the engine knows? False with the reason in *out. */
bool exact_event_level(const struct event *event, struct availability *out);

#endif
