/*
 * One event of a profile as a tree of functions: what a flame graph draws. Equal paths of functions are one
 * node, whatever places they came from; inlined functions are levels of their own.
 *
 * What always holds:
 *  1. nodes[0] is the root, which is all. A node comes after its parent.
 *  2. total = self + the children's totals; of the root, the event's sum.
 *  3. Which node is which does not depend on the run: nodes are in the order of the profile's.
 */
#ifndef TARE_REPORT_EXPORT_TREE_H
#define TARE_REPORT_EXPORT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "result/named_profile.h"

enum { EXPORT_COLUMNS = 2 }; /* after, before */

struct export_node {
	uint32_t parent, frame, depth; /* frame: what the owner says that a function is */
	uint64_t self[EXPORT_COLUMNS], total[EXPORT_COLUMNS];
};

struct export_tree { /* zero-initialise; export_tree_free() */
	struct export_node *nodes;
	size_t n, capacity, depth; /* depth: of the deepest node */
	struct hash_index index;
};

/* Adds an event of a profile to a column. frame_of[named->n_functions]; NULL: a function's own number. False
 * when memory ran out. Totals are set by export_tree_total(), when all has been added. */
bool export_tree_add(struct export_tree *tree, const struct named_profile *named, size_t event, int column,
		     const uint32_t *frame_of);
/* One task's. */
bool export_tree_add_task(struct export_tree *tree, const struct named_profile *named, size_t event,
			  uint32_t task);
void export_tree_total(struct export_tree *tree);
void export_tree_free(struct export_tree *tree);

#endif
