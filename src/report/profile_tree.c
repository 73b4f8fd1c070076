#include "report/profile_tree.h"

#include <stdlib.h>
#include <string.h>

static uint32_t child_of(struct profile_tree *tree, uint32_t parent, uint32_t function)
{
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, parent), function);
	struct hash_search search = hash_find(&tree->index, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (tree->nodes.items[i].parent == parent && tree->nodes.items[i].function == function)
			return i;
	struct tree_node node = {
		.function = function, .parent = parent, .first_child = TREE_NONE, .next = TREE_NONE};
	if (tree->nodes.count >= TREE_NONE - 1 || !vec_push(&tree->nodes, node) ||
	    !hash_add(&tree->index, hash, (uint32_t)tree->nodes.count - 1))
		return TREE_NONE;
	return (uint32_t)tree->nodes.count - 1;
}

/* The tree's node of each of the profile's: a parent comes before its children. */
static bool place_nodes(const struct named_profile *named, const uint64_t *counts, struct profile_tree *tree,
			uint32_t *at)
{
	const struct profile *p = named->profile;
	at[0] = 0;
	for (size_t i = 1; i < p->n_nodes; i++) {
		const struct named_place *place = &named->places[named->place_of_node[i]];
		uint32_t node = at[p->nodes[i].parent];
		at[i] = 0;
		if (!counts[i]) /* nothing of the event took place here or below */
			continue;
		for (uint32_t level = place->n_frames; level-- > 0 && node != TREE_NONE;)
			node = child_of(tree, node, named->frames[place->first_frame + level].function);
		if (node == TREE_NONE)
			return false;
		at[i] = node;
	}
	return true;
}

struct tree_order { /* qsort has no context */
	uint64_t total;
	const char *name;
	uint32_t node;
};

static int by_total(const void *a, const void *b)
{
	const struct tree_order *x = a, *y = b;
	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	int names = strcmp(y->name, x->name);
	return names ? names : x->node < y->node ? 1 : -1;
}

/* The smallest first is put in front first, so that the largest one is the first child. */
static bool link_children(const struct named_profile *named, struct profile_tree *tree)
{
	size_t n = tree->nodes.count;
	struct tree_order *order = calloc(n + 1, sizeof *order);
	if (!order)
		return false;
	for (size_t i = 1; i < n; i++)
		order[i - 1] = (struct tree_order){tree->nodes.items[i].total,
						   named->functions[tree->nodes.items[i].function].name,
						   (uint32_t)i};
	qsort(order, n - 1, sizeof *order, by_total);
	for (size_t i = 0; i + 1 < n; i++) {
		struct tree_node *node = &tree->nodes.items[order[i].node];
		struct tree_node *parent = &tree->nodes.items[node->parent];
		node->next = parent->first_child;
		parent->first_child = order[i].node;
	}
	free(order);
	return true;
}

bool profile_tree_new(const struct named_profile *named, size_t event, struct profile_tree *out)
{
	const struct profile *p = named->profile;
	uint64_t *below = calloc(p->n_nodes + 1, sizeof *below);
	uint32_t *at = calloc(p->n_nodes + 1, sizeof *at);
	bool done = false;
	*out = (struct profile_tree){0};
	if (!below || !at ||
	    !vec_push(&out->nodes,
		      ((struct tree_node){.function = TREE_NONE, .first_child = TREE_NONE, .next = TREE_NONE})))
		goto out;
	for (size_t i = 0; i < p->n_cells; i++)
		if (p->cells[i].event == event)
			below[p->cells[i].node] = 1;
	for (size_t i = p->n_nodes; i-- > 1;)
		below[p->nodes[i].parent] |= below[i];
	if (!place_nodes(named, below, out, at))
		goto out;
	for (size_t i = 0; i < p->n_cells; i++)
		if (p->cells[i].event == event)
			out->nodes.items[at[p->cells[i].node]].self += p->cells[i].count;
	for (size_t i = out->nodes.count; i-- > 0;) {
		struct tree_node *node = &out->nodes.items[i];
		node->total += node->self;
		if (i)
			out->nodes.items[node->parent].total += node->total;
	}
	done = link_children(named, out);
out:
	free(below);
	free(at);
	return done;
}

void profile_tree_free(struct profile_tree *tree)
{
	vec_free(&tree->nodes);
	hash_free(&tree->index);
}
