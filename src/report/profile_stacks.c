/* Do stacks by frame pointers lead anywhere? Code that was compiled without frame pointers uses the register for
 * something else: its stacks are cut, or go through addresses that are in no mapping. */
#include "report/profile_rows.h"

#include <string.h>

enum { NEAR_LEAF = 4 };

static bool is_main(const struct named_profile *named, uint32_t node)
{
	const struct named_place *place = &named->places[named->place_of_node[node]];
	const struct named_frame *outermost = &named->frames[place->first_frame + place->n_frames - 1];
	return strcmp(named->functions[outermost->function].name, "main") == 0;
}

/* A stack that ends at once, or soon has an address without a mapping. One level of a kernel stack is enough: its
 * threads have no callers. What calls main may have no mapping: the C library is compiled without frame
 * pointers. */
static bool is_broken(const struct named_profile *named, uint32_t leaf)
{
	const struct profile *p = named->profile;
	const struct profile_node *at = &p->nodes[leaf];
	if (!at->parent)
		return p->modules[at->module].kind == MODULE_FILE;
	uint32_t node = leaf;
	for (int level = 0; node && level < NEAR_LEAF; level++, node = p->nodes[node].parent) {
		if (p->modules[p->nodes[node].module].kind == MODULE_UNKNOWN)
			return true;
		if (is_main(named, node))
			return false;
	}
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
			if (p->cells[i].event == e && p->cells[i].node && is_broken(named, p->cells[i].node))
				broken += p->cells[i].count;
		if (named->sums[e] && profile_share(broken, named->sums[e]) > TOLERATED)
			return "many call stacks are cut or lead to [unknown] places: that code keeps no frame "
			       "pointers. "
			       "Record the stacks with --call-graph dwarf, or compile with "
			       "-fno-omit-frame-pointer";
	}
	return NULL;
}
