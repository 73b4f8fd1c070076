/* The table of what is held: see hits.h. */
#include "model/core/hits.h"

void hits_clear_all(const struct hits *hits)
{
	for (uint32_t i = 0; hits->table && i < HIT_TYPES << HITS_BITS; i++)
		hits->table[i] = 0;
}

void hits_clear(const struct hits *hits, unsigned types, uint64_t address, uint64_t bytes)
{
	uint64_t granules = bytes >> hits->shift ? bytes >> hits->shift : 1;
	if (granules >= 1u << HITS_BITS) {
		hits_clear_all(hits);
		return;
	}
	for (unsigned type = 0; type < HIT_TYPES; type++) {
		uint64_t record = (address & HIT_ADDRESS) | HIT_PLAIN | HIT_TYPE(type);
		for (uint64_t g = 0; types >> type & 1 && g < granules; g++)
			hits->table[hits_index(record + (g << hits->shift), hits->shift)] = 0;
	}
}
