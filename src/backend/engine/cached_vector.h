/*
 * What one execution of a block adds, worked out once for all blocks of the same bytes: processes that run the
 * same programs have the same blocks over and over.
 *
 * What always holds: it depends on the bytes alone. What depends on the address (leaders) is asked for with it.
 */
#ifndef TARE_BACKEND_ENGINE_CACHED_VECTOR_H
#define TARE_BACKEND_ENGINE_CACHED_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/engine/decoded.h"
#include "backend/engine/shapes.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "engine/x86/vector.h"

#define KNOWN_REPS 64u /* rep instructions of one block; the runtime ends a block at each */

struct known_count {
	uint32_t of, times;
}; /* enum exact_count */
struct known_rep {
	uint32_t insn;
	struct exact_each each;
};

struct cached_vector {
	const uint8_t *code; /* in the record, or a copy */
	uint16_t length, insns;
	uint16_t n_counts, n_reps;
	uint64_t starts; /* bit i: an instruction begins at byte i; of blocks of at most 64 bytes */
	struct known_count *counts;
	struct known_rep *reps;
};

struct knowledge {
	VEC(struct cached_vector) all;
	struct hash_index index;   /* of all, by the code */
	struct cached_vector last; /* of a block that was not kept */
	struct arena memory, once; /* what they point to */
	struct shapes *shapes;     /* of the instructions met so far; NULL: none yet */
	bool keeps;    /* the caller's: it is used for further records, when those asked of before are gone */
	bool unshared; /* the caller's: there is one process, whose blocks are asked for once each */
	bool no_memory;
};

/* Valid until the next call. NULL when the block's bytes are not what it says, or no_memory is set. */
const struct cached_vector *known_find(struct knowledge *knowledge, const struct view_process *owner,
				       const struct record_block *block);
/* How many of the block's instructions are leaders. */
uint32_t known_leaders(const struct cached_vector *known, const struct view_process *owner,
		       const struct record_block *block, const struct leaders *leaders);
void knowledge_free(struct knowledge *knowledge);

#endif
