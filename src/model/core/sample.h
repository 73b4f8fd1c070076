/*
 * Sampled sets (Kessler, Hill & Wood, "A comparison of trace-sampling techniques for multi-megabyte caches", IEEE
 * Transactions on Computers 43(6), 1994): only some sets of each cache are modelled.
 *
 *   residue    six bits of an address, above the offset in the largest line of the machine. They are part of the set's
 *              index in every cache (constant bits), so that a line is sampled in all of them or in none
 *   group      the lines of residues that are equal modulo options.sample_groups: what caches have groups of sets for
 *   sampled    a group whose bits in options.sample are set
 *
 * What always holds:
 *  1. Sets of different groups do not affect each other: what a sampled group counts is what it counts in the full
 *     model (backend/model/sampling.c says of which machines).
 *  2. Every access of the program counts as an access of the first cache, in the core's own counts. All else is
 *     counted by sampled group: in the counts that core->groups points to, in the order of residues. The sum of
 *     both is the core's count.
 *  3. With every group sampled, that sum is the full model's.
 */
#ifndef TARE_MODEL_CORE_SAMPLE_H
#define TARE_MODEL_CORE_SAMPLE_H

#include "model/core/internal.h"

#define SAMPLE_RESIDUES 64u

/* Whether the line of that address is modelled. */
static inline bool sample_has(const struct model_options *options, uint64_t address)
{
	return !options->sample ||
	       options->sample >> (address >> options->sample_shift & (SAMPLE_RESIDUES - 1)) & 1;
}

static inline unsigned sample_group(const struct model_options *options, uint64_t address)
{
	uint64_t below = options->sample &
			 ((1ull << (address >> options->sample_shift & (options->sample_groups - 1u))) - 1);
	/* how many bits: by twos, fours and eights */
	below -= below >> 1 & 0x5555555555555555ull;
	below = (below & 0x3333333333333333ull) + (below >> 2 & 0x3333333333333333ull);
	below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (unsigned)(below * 0x0101010101010101ull >> 56);
}

/* Addresses that are told apart, from 0 on. */
static inline uint32_t sample_entries(const struct model_options *options)
{
	return SAMPLE_RESIDUES << options->sample_shift;
}

/* From here on the core counts for the group of that address, until sample_end(). */
static inline void sample_begin(struct core *core, uint64_t address)
{
	if (core->model->options.sample)
		core->counts = core->groups + sample_group(&core->model->options, address);
}

static inline void sample_end(struct core *core)
{
	if (core->model->options.sample)
		core->counts = core->own;
}

/* Where another core counts what this one does to it. */
static inline struct model_counts *sample_counts_of(const struct core *acting, struct core *owner)
{
	return !acting->groups || acting->counts == acting->own
		       ? owner->counts
		       : owner->groups + (acting->counts - acting->groups);
}

#endif
