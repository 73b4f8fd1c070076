/*
 * Replacement policies, each written once: caches (cache/lines.c), TLBs (tlb/tlb.c) and the BTB
 * (predict/targets.c) keep the state and ask here which way goes next.
 *
 *   tree PLRU   Al-Zoubi, Milenković & Milenković, Performance evaluation of cache replacement policies for the SPEC
 *               CPU2000 benchmark suite, ACMSE 2004. A set's tree is one word, for a power of two of up to 64 ways: node 1 is
 *               the root, nodes 2n and 2n + 1 are below node n. Bit n says in which half below node n the victim is: 0 the lower
 *               ways. A use lets all nodes on the way's path point away from it.
 *   random      xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators, scrambled, ACM TOMS
 *               42(4), 2016
 *   LRU, FIFO   the least time of use, or of filling: lines_least() of cache/lines.h; or the order of the entries
 */
#ifndef TARE_MODEL_CORE_REPLACEMENT_H
#define TARE_MODEL_CORE_REPLACEMENT_H

#include <stdint.h>

/* The next of the sequence; *state is not 0. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* The tree after a use of the way. */
static inline uint64_t tree_used(uint64_t tree, uint32_t ways, uint32_t way)
{
	uint32_t node = 1;
	for (uint32_t half = ways / 2; half; half /= 2) {
		uint32_t upper = !!(way & half);
		tree = (tree & ~(1ull << node)) | (uint64_t)!upper << node;
		node = 2 * node + upper;
	}
	return tree;
}

static inline uint32_t tree_victim(uint64_t tree, uint32_t ways)
{
	uint32_t node = 1;
	while (node < ways)
		node = 2 * node + (tree >> node & 1);
	return node - ways;
}

/* The tree after uses that were recorded as times alone (fast/filter.h), in their order; 0: the way was not used.
 * The times are 0 then. */
static inline uint64_t tree_settled(uint64_t tree, uint32_t ways, uint64_t *touched)
{
	for (;;) {
		uint32_t next = 0;
		for (uint32_t way = 1; way < ways; way++) /* 0 - 1 is the latest of all */
			if (touched[way] - 1 < touched[next] - 1)
				next = way;
		if (!touched[next])
			return tree;
		touched[next] = 0;
		tree = tree_used(tree, ways, next);
	}
}

#endif
