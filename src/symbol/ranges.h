/*
 * Ranges that may nest and overlap, made into pieces that do not, for a binary search.
 *
 * What always holds: pieces ascend and never overlap; a piece is of the range that began last among those that
 * cover it; of ranges that begin together, of the one that ends first; of equal ones, of the one whose rank is
 * higher.
 */
#ifndef TARE_SYMBOL_RANGES_H
#define TARE_SYMBOL_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct range {
	uint64_t low, high; /* [low, high) */
	uint32_t item, rank;
};

struct ranges {
	VEC(struct range) all;
};

/* Sorts *from and replaces it by its pieces. Empty ranges vanish. False when memory ran out (nothing is changed
 * then). */
bool ranges_flatten(struct ranges *ranges);

/* The piece that covers the address, or NULL; the ranges are flat. */
const struct range *ranges_find(const struct ranges *ranges, uint64_t address);

/* The first piece that begins above the address, or NULL. */
const struct range *ranges_above(const struct ranges *ranges, uint64_t address);

void ranges_free(struct ranges *ranges);

#endif
