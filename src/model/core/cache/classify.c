/* Classes of misses: see classify.h. */
#include "model/core/cache/classify.h"

void classes_init(struct classes *classes, struct model_memory *arena, uint32_t lines)
{
	*classes = (struct classes){0};
	lines_init(&classes->shadow, arena, 1, lines, REPLACE_LRU, 1, 1, false);
	classes->regions = arena_take(arena, CLASSES_REGIONS * sizeof *classes->regions);
}

/* Regions that follow each other stay together in the table, so that little of it is ever touched. NULL: no
 * room. */
static struct seen_lines *find_region(struct classes *classes, uint64_t number)
{
	uint64_t at = ((number >> 8) * 0x9e3779b97f4a7c15ull >> 32 & ~255ull) + (number & 255);
	for (;; at++) {
		struct seen_lines *region = &classes->regions[at % CLASSES_REGIONS];
		if (region->key == number + 1)
			return region;
		if (region->key)
			continue;
		if (classes->used >= CLASSES_REGIONS / 8 * 7)
			return NULL;
		classes->used++;
		region->key = number + 1;
		return region;
	}
}

enum model_cache_count classes_access(struct classes *classes, uint64_t line, bool fills)
{
	struct seen_lines *region = find_region(classes, line / 64);
	uint64_t bit = 1ull << line % 64, replaced;
	uint64_t *entry = lines_find(&classes->shadow, 0, line);
	enum model_cache_count class = CACHE_CAPACITY;
	if (entry) {
		class = CACHE_CONFLICT;
		lines_touch(&classes->shadow, 0, entry);
	} else if (fills) {
		lines_insert(&classes->shadow, 0, line, 0, &replaced);
	}
	if (!region)
		return entry ? CACHE_CONFLICT : CACHE_UNCLASSIFIED;
	if (!(region->lines & bit))
		class = CACHE_COMPULSORY;
	region->lines |= bit;
	return class;
}
