/*
 * Misses classed after Hill (1987; Hill & Smith 1989): compulsory (the cache never saw the line), capacity (a
 * fully associative LRU cache of as many lines would have missed as well), conflict (it would not).
 *
 * Which lines were ever seen is exact: a bit each, in a hash table of regions of 64 lines. It holds
 * CLASSES_REGIONS regions (4 GiB touched, with 64-byte lines); a line of a region that found no room and that the
 * shadow does not hold is counted as unclassified: never as something it may not be.
 */
#ifndef TARE_MODEL_CORE_CACHE_CLASSIFY_H
#define TARE_MODEL_CORE_CACHE_CLASSIFY_H

#include "model/core/counts.h"
#include "model/core/cache/lines.h"

#define CLASSES_REGIONS (1u << 20)

struct seen_lines {
	uint64_t key, lines;
}; /* key: number + 1 */

struct classes {
	struct lines shadow;
	struct seen_lines *regions;
	uint32_t used;
};

void classes_init(struct classes *classes, struct model_memory *arena, uint32_t lines);
/* A demand access: what its miss is, were it one. fills: the shadow takes the line in. */
enum model_cache_count classes_access(struct classes *classes, uint64_t line, bool fills);

#endif
