/* Machine models as a backend: the engine runs the program and its access stream through declared machines
 * (src/model). Argument: the machines' names, separated by commas: "r12000", "r12000,host". What the engine counts
 * by itself is counted as `exact` does. */
#ifndef TARE_BACKEND_MODEL_MODEL_H
#define TARE_BACKEND_MODEL_MODEL_H

#include "backend/backend.h"

extern const struct backend_operations model_backend;

#endif
