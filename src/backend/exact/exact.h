/* The engine as a backend: programs that tare starts, user mode, to the instruction, on x86-64 Linux with no PMU and no privilege. */
#ifndef TARE_BACKEND_EXACT_EXACT_H
#define TARE_BACKEND_EXACT_EXACT_H

#include "backend/backend.h"

extern const struct backend_operations exact_backend;

/* For the backend that models machines, which counts the engine's events too. */
struct trial;
/* Does the engine count the event here? Always fills *out. */
void exact_event_available(const struct event *event, struct trial *trial, struct availability *out);
/* Is it asked for at the one level that the engine knows? False with the reason in *out. */
bool exact_event_level(const struct event *event, struct availability *out);

#endif
