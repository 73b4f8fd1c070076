/* The engine as a backend: programs that tare starts, user mode, to the instruction, on x86-64 Linux with no PMU
 * and no privilege. */
#ifndef TARE_BACKEND_EXACT_EXACT_H
#define TARE_BACKEND_EXACT_EXACT_H

#include "backend/backend.h"

extern const struct backend_operations exact_backend;

#endif
