/* The backend over perf_event_open(2): hardware counters, the kernel's software events, and what else the kernel
 * offers as a PMU. */
#ifndef TARE_BACKEND_PERF_PERF_H
#define TARE_BACKEND_PERF_PERF_H

#include "backend/backend.h"

extern const struct backend_operations perf_backend;

#endif
