/* The replay backend: answers from a recording (docs/recording.md). */
#ifndef TARE_BACKEND_REPLAY_REPLAY_H
#define TARE_BACKEND_REPLAY_REPLAY_H

#include "backend/backend.h"

extern const struct backend_operations replay_backend;

#endif
