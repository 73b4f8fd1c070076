/* What places of code count each time that they are executed, as their instructions alone tell: what
 * `tare predict` reports. Plain records; strings and arrays are in the arena. */
#ifndef TARE_RESULT_PREDICTION_H
#define TARE_RESULT_PREDICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* How control goes on behind a block. */
enum predicted_end {
	PREDICTED_ON,       /* to the next block: something jumps there, or the place ends */
	PREDICTED_BRANCH,   /* to the target, or on */
	PREDICTED_JUMP,     /* to the target */
	PREDICTED_INDIRECT, /* to where data says */
	PREDICTED_RETURN,
	PREDICTED_STOP, /* an instruction that always faults */
};

/* Instructions that are executed one after the other, from the first to the last; calls come back. */
struct predicted_block {
	uint64_t low, high;             /* offsets in the module's file */
	const char *module;             /* path */
	const char *function, *file;    /* of its first instruction; file: NULL where it is not known */
	unsigned first_line, last_line; /* least and most in the block, of the file; 0: not known */
	uint64_t *counts;               /* [n_events]: of one execution */
	uint64_t instructions;
	uint64_t calls;    /* what they count comes on top */
	bool data_decides; /* an instruction whose accesses depend on data (rep, masks, gathers) is in it */
	enum predicted_end end;
	bool target_inside; /* of BRANCH and JUMP: target is of a block of this prediction */
	uint64_t target;    /* offset in the file */
	bool loop;          /* … from which control can come to this block again */
};

struct prediction {
	struct arena arena;
	const char *place; /* as it was asked for */
	const char *note;  /* "2 inlined copies included"; NULL */
	const char *const *events, *const *units;
	size_t n_events;
	struct predicted_block *blocks; /* in the order of the file */
	size_t n_blocks;
	uint64_t *once; /* [n_events]: of all blocks, each once */
	bool straight;  /* nothing in it decides: one pass executes each instruction once */
};

void prediction_free(struct prediction *prediction); /* its contents */

#endif
