#include "predict/nest.h"

#include <string.h>

static bool no_nest(const struct prediction *p, const char *why, struct error *err)
{
	return error_set(err, ERROR_UNSUPPORTED, "'%s' is not a nest of loops: %s", p->place, why);
}

/* n_blocks: outside. */
static size_t block_at(const struct prediction *p, uint64_t offset)
{
	size_t i = 0;
	while (i < p->n_blocks && p->blocks[i].low != offset)
		i++;
	return i;
}

/* Whether block `from` ends a loop that begins at or before it. */
static bool ends_loop(const struct predicted_block *from)
{
	return from->target_inside && from->target <= from->low;
}

/* How many loops are around the block; two of them that overlap are none: -1. */
static int depth_of(const struct prediction *p, size_t block)
{
	const struct predicted_block *b = p->blocks;
	int depth = 0;
	for (size_t i = 0; i < p->n_blocks; i++) {
		if (!ends_loop(&b[i]))
			continue;
		for (size_t k = 0; k < p->n_blocks; k++)
			if (k != i && ends_loop(&b[k]) && b[k].target < b[i].target && b[i].target <= b[k].low &&
			    b[k].low < b[i].low)
				return -1;
		depth += b[i].target <= b[block].low && b[block].low <= b[i].low;
	}
	return depth;
}

/* Whether a jump from this block enters a loop behind its first block. The skipped blocks are then executed one
 * turn less than the rest of the loop. */
static bool jumps_into_loop(const struct prediction *p, const struct predicted_block *from)
{
	const struct predicted_block *b = p->blocks;
	for (size_t i = 0; i < p->n_blocks; i++)
		if (ends_loop(&b[i]) && from->low < b[i].target && b[i].target < from->target &&
		    from->target <= b[i].low)
			return true;
	return false;
}

/* The block behind this one on the path; n_blocks: the path ends. */
static bool next_of(const struct prediction *p, size_t *block, struct error *err)
{
	const struct predicted_block *b = &p->blocks[*block];
	switch (b->end) {
	case PREDICTED_ON:
	case PREDICTED_BRANCH: ++*block; return true;
	case PREDICTED_JUMP:
		if (!b->target_inside)
			*block = p->n_blocks;
		else if (b->target <= b->low)
			return no_nest(p, "it has a jump backward", err);
		else if (jumps_into_loop(p, b))
			return no_nest(p, "it has a jump into a loop", err);
		else
			*block = block_at(p, b->target);
		return true;
	case PREDICTED_RETURN: *block = p->n_blocks; return true;
	default: return no_nest(p, "data says where its code goes on", err);
	}
}

bool predict_nest(const struct prediction *p, size_t event, uint64_t at[NEST_DEPTHS], struct error *err)
{
	memset(at, 0, NEST_DEPTHS * sizeof *at);
	for (size_t i = 0; i < p->n_blocks;) {
		int depth = depth_of(p, i);
		if (depth < 0)
			return no_nest(p, "its loops overlap", err);
		if (depth >= NEST_DEPTHS)
			return no_nest(p, "its loops are too deep", err);
		at[depth] += p->blocks[i].counts[event];
		if (!next_of(p, &i, err))
			return false;
	}
	return true;
}
