/* Do stacks by frame pointers lead anywhere? Code that was compiled without frame pointers uses the register for
 * something else: its stacks are cut, or go through addresses that are in no mapping. */
#include "report/profile_rows.h"

enum { NEAR_LEAF = 3 };

/* A stack that ends at once, or soon has an address without a mapping. One level of a kernel stack is enough: its
 * threads have no callers. Far from the leaf such an address may be that of what calls main, as a C library
 * without frame pointers leaves it. */
static bool is_broken(const struct profile *p, uint32_t leaf)
{
	const struct profile_node *at = &p->nodes[leaf];
	if (!at->parent)
		return p->modules[at->module].kind == MODULE_FILE;
	uint32_t node = leaf;
	for (int level = 0; node && level < NEAR_LEAF; level++, node = p->nodes[node].parent)
		if (p->modules[p->nodes[node].module].kind == MODULE_UNKNOWN)
			return true;
	return false;
}

const char *profile_stacks_remark(const struct named_profile *named)
{
	static const double TOLERATED = 0.1; /* the first instructions of functions have no frame either */
	const struct profile *p = named->profile;
	if (p->stacks != STACKS_FRAME_POINTER)
		return NULL;
	for (size_t e = 0; e < p->n_events; e++) {
		uint64_t broken = 0;
		for (size_t i = 0; i < p->n_cells; i++)
			if (p->cells[i].event == e && p->cells[i].node && is_broken(p, p->cells[i].node))
				broken += p->cells[i].count;
		if (named->sums[e] && profile_share(broken, named->sums[e]) > TOLERATED)
			return "many call stacks are cut or lead to [unknown] places: that code keeps no frame "
			       "pointers. "
			       "Record the stacks with --call-graph dwarf, or compile with "
			       "-fno-omit-frame-pointer";
	}
	return NULL;
}
