/* What one run wants of the machines that it models. All 0: a machine as it was declared. */
#ifndef TARE_MODEL_CORE_OPTIONS_H
#define TARE_MODEL_CORE_OPTIONS_H

#include <stdint.h>

#include "model/core/machine.h"

struct model_options {
	/* Sampled sets (sample.h). Bit n: lines of residue n are modelled; 0: all lines, and nothing is sampled */
	uint64_t sample;
	uint16_t sample_counts; /* the first sampled group's counts are so many struct model_counts further on */
	uint8_t sample_shift;   /* log2 of the largest line */
	uint8_t sample_groups;  /* residues that differ: a power of two, 64 at most */
	uint8_t counts_only;    /* no machine: its counts are those of a sampled group */
	uint8_t classify;       /* misses are classed compulsory, capacity, conflict (slow) */
	uint8_t no_branches;    /* no branch is predicted: its counts stay 0 */
	uint8_t in_step;        /* threads are kept in step, for what they take from each other depends on it */
	uint8_t no_filters;     /* no filter, every access is looked up: the same counts (a test's) */
	uint8_t orders;         /* misses in order are counted (cache/order.h) */
	uint8_t unused[6];
};

/* What the host gives to the engine: an array of these, one for each machine. */
struct model_setup {
	struct machine machine;
	struct model_options options;
};

#endif
