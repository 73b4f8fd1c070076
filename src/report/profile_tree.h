/*
 * One event's stacks as a tree of functions: what flame graphs and folded stacks show. Inlined functions are
 * levels of their own.
 *
 * What always holds: nodes[0] is the root; a node comes after its parent; a parent's children are named by
 * different functions, the largest total first; total is self and the children's totals.
 */
#ifndef TARE_REPORT_PROFILE_TREE_H
#define TARE_REPORT_PROFILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "result/named_profile.h"

#define TREE_NONE UINT32_MAX

struct tree_node {
	uint32_t function;          /* in named->functions; of the root TREE_NONE */
	uint32_t parent;            /* of the root 0 */
	uint32_t first_child, next; /* TREE_NONE: there is none */
	uint64_t self, total;
};

struct profile_tree {
	VEC(struct tree_node) nodes;
	struct hash_index index;
};

/* False when memory ran out; the caller frees it with profile_tree_free() in either case. */
bool profile_tree_new(const struct named_profile *named, size_t event, struct profile_tree *out);
void profile_tree_free(struct profile_tree *tree);

#endif
