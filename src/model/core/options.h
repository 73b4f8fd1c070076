/* What one run wants of the machines that it models. All 0: a machine as it was declared. */
#ifndef TARE_MODEL_CORE_OPTIONS_H
#define TARE_MODEL_CORE_OPTIONS_H

#include <stdint.h>

#include "model/core/machine.h"

struct model_options {
	uint8_t classify;    /* misses are classed compulsory, capacity, conflict (slow) */
	uint8_t no_branches; /* no branch is predicted: its counts stay 0 */
	uint8_t in_step;     /* threads are kept in step, for what they take from each other depends on it */
	uint8_t no_filters;  /* no filter, every access is looked up: the same counts (a test's) */
	uint8_t orders;      /* misses in order are counted (cache/order.h) */
	uint8_t unused[3];
};

/* What the host gives to the engine: an array of these, one for each machine. */
struct model_setup {
	struct machine machine;
	struct model_options options;
};

#endif
