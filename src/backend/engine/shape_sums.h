/*
 * What blocks add to one row of counts, summed by the shapes of their instructions first: how often instructions
 * of a shape were executed, times what one of them adds. That is one addition an instruction, where a vector for
 * each block takes ten to make and ten to add.
 *
 * What always holds: what was added and is not in the sink yet is in shapes.at[].times; shape_sums_flush() empties
 * them, and a shape is emptied when another takes its place.
 */
#ifndef TARE_BACKEND_ENGINE_SHAPE_SUMS_H
#define TARE_BACKEND_ENGINE_SHAPE_SUMS_H

#include "backend/engine/shapes.h"
#include "engine/wire/record.h"

/* Zeros to begin with. */
struct shape_sums {
	struct shapes shapes;
};

struct shape_sink {
	/* count (enum exact_count): times × each more */
	void (*add)(void *arg, unsigned count, uint64_t times, uint64_t each);
	/* the block's instruction of that index has a counter of its own */
	void (*own)(void *arg, uint32_t index, const struct exact_each *each);
	void *arg;
};

/* False: the bytes at code are not what the block says. */
bool shape_sums_add(struct shape_sums *sums, const struct shape_sink *sink, const uint8_t *code,
		    const struct record_block *block, uint64_t times);
void shape_sums_flush(struct shape_sums *sums, const struct shape_sink *sink);

#endif
