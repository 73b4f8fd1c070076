/*
 * Folds a function of the key into a decision tree of least size, sharing equal subtrees.
 *
 * The key has few bits that matter for any one opcode (rarely more than four fields), so all orders of the
 * fields are tried: the least number of entries wins, of equals the shallower.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

#define MAX_NODES 30000

uint16_t tree_nodes[MAX_NODES];
unsigned tree_node_count;

/* The fields a node may look at, single ones and neighbours that often go together. */
static const struct field { uint8_t shift, mask; } fields[] = {
	{ KEY_MOD3, 1 }, { KEY_REG, 7 }, { KEY_RM, 7 }, { KEY_W, 1 }, { KEY_66, 1 }, { KEY_REP, 3 },
	{ KEY_L, 3 }, { KEY_EVEX_B, 1 }, { KEY_REX_B, 1 },
	{ KEY_W, 3 }, { KEY_66, 7 }, { KEY_MOD3, 15 }, { KEY_L, 7 },
};
enum { FIELDS = sizeof fields / sizeof fields[0], KEYS = 1 << KEY_BITS };

static bool matters(const uint16_t *value, uint32_t fixed_mask, uint32_t fixed, unsigned bit)
{
	uint32_t free_bits = (KEYS - 1u) & ~fixed_mask & ~(1u << bit);
	for (uint32_t sub = free_bits;; sub = (sub - 1) & free_bits) {
		uint32_t key = fixed | sub;
		if (value[key] != value[key | 1u << bit])
			return true;
		if (!sub)
			return false;
	}
}

struct shape { unsigned entries, depth_sum; };

/* Restricts to the bits that matter, so that the recursion's work is small. */
static uint32_t mattering(const uint16_t *value, uint32_t fixed_mask, uint32_t fixed, uint32_t candidates)
{
	uint32_t bits = 0;
	for (unsigned b = 0; b < KEY_BITS; b++)
		if (candidates & 1u << b && matters(value, fixed_mask | ((KEYS - 1u) & ~candidates & ~fixed_mask), fixed, b))
			bits |= 1u << b;
	return bits;
}

static struct shape best_shape(const uint16_t *value, uint32_t fixed, uint32_t candidates, int *choice)
{
	uint32_t bits = mattering(value, (KEYS - 1u) & ~candidates, fixed, candidates);
	struct shape best = { ~0u, ~0u };
	*choice = -1;
	if (!bits)
		return (struct shape){ 0, 0 };
	for (int f = 0; f < FIELDS; f++) {
		uint32_t field_bits = (uint32_t)fields[f].mask << fields[f].shift;
		if ((field_bits & bits) == 0)
			continue;
		/* A field of which only some bits matter is worth its place only as a single one. */
		if (f >= 9 && (field_bits & ~bits))
			continue;
		struct shape sum = { 2u + fields[f].mask, 0 };
		for (uint32_t v = 0; v <= fields[f].mask && sum.entries < best.entries; v++) {
			int ignore;
			struct shape child = best_shape(value, fixed | v << fields[f].shift, bits & ~field_bits, &ignore);
			sum.entries += child.entries;
			sum.depth_sum += child.depth_sum + 1;
		}
		if (sum.entries < best.entries || (sum.entries == best.entries && sum.depth_sum < best.depth_sum)) {
			best = sum;
			*choice = f;
		}
	}
	return best;
}

static uint16_t intern(const uint16_t *node, unsigned length)
{
	/* A node may start anywhere its words already stand in a row. */
	for (unsigned at = 0; at + length <= tree_node_count; at++)
		if (!memcmp(tree_nodes + at, node, length * sizeof *node))
			return (uint16_t)at;
	assert(tree_node_count + length <= MAX_NODES);
	memcpy(tree_nodes + tree_node_count, node, length * sizeof *node);
	tree_node_count += length;
	return (uint16_t)(tree_node_count - length);
}

static uint16_t build(const uint16_t *value, uint32_t fixed, uint32_t candidates)
{
	int f;
	best_shape(value, fixed, candidates, &f);
	if (f < 0)
		return (uint16_t)(NODE_IS_FORM | value[fixed]);
	uint16_t node[17];
	unsigned length = 1;
	node[0] = (uint16_t)NODE_HEADER(fields[f].shift, fields[f].mask);
	uint32_t field_bits = (uint32_t)fields[f].mask << fields[f].shift;
	for (uint32_t v = 0; v <= fields[f].mask; v++)
		node[length++] = build(value, fixed | v << fields[f].shift, candidates & ~field_bits);
	return intern(node, length);
}

uint16_t tree_build(const uint16_t *value)
{
	/* Bits that never matter are fixed at 0 once and for all. */
	uint32_t candidates = mattering(value, 0, 0, KEYS - 1u);
	return build(value, 0, candidates);
}
