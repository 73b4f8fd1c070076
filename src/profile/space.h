/*
 * What is mapped where in each process, as it is at the moment: an address → a module and an offset in it.
 *
 * What always holds:
 *  1. Mappings of a process ascend and do not overlap: a new one takes the place of what was there.
 *  2. A new process has its parent's mappings, an exec leaves none.
 */
#ifndef TARE_PROFILE_SPACE_H
#define TARE_PROFILE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct space_mapping {
	uint64_t low, high; /* [low, high) */
	uint64_t offset;    /* of low, in the module */
	uint32_t module;
};

struct space {
	uint32_t pid;
	VEC(struct space_mapping) mappings;
};

/* Zero-initialise; spaces_free() at the end. */
struct spaces {
	VEC(struct space) all;
	struct hash_index index;
};

/* False when memory ran out. An empty mapping does nothing. */
bool spaces_map(struct spaces *spaces, uint32_t pid, const struct space_mapping *mapping);
bool spaces_fork(struct spaces *spaces, uint32_t parent, uint32_t child);
/* An exec, or the end. */
void spaces_clear(struct spaces *spaces, uint32_t pid);
/* NULL: nothing is there. Valid until the next change. */
const struct space_mapping *spaces_find(const struct spaces *spaces, uint32_t pid, uint64_t address);
void spaces_free(struct spaces *spaces);

#endif
