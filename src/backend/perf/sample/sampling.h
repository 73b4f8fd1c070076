/* The perf backend's sampling: the operations of backend/sampling.h. */
#ifndef TARE_BACKEND_PERF_SAMPLE_SAMPLING_H
#define TARE_BACKEND_PERF_SAMPLE_SAMPLING_H

#include "backend/sampling.h"

extern const struct sampling_operations perf_sampling;

#endif
