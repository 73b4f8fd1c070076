/*
 * A cache of a machine, and the steps between caches (hierarchy.c).
 *
 * What always holds:
 *  1. A filter names a line only while another access of its kind (read or fetch; write) to it would change nothing but the number of
 *     accesses: the line is there and settled for its policy (lines_settled), not marked as prefetched, and for a write dirty, in a
 *     write-back cache, and on a coherent machine held alone. Whatever touches the set ends it (cache_forget).
 *  2. Caches that no access goes to first, and caches that class their misses, have no filters.
 */
#ifndef TARE_MODEL_CORE_CACHE_H
#define TARE_MODEL_CORE_CACHE_H

#include "model/core/classify.h"
#include "model/core/coherence.h"
#include "model/core/internal.h"
#include "model/core/lines.h"

struct filter { uint64_t read, write; }; /* line numbers; NOWHERE: none */

struct stride { uint64_t last; int64_t stride; uint32_t id, used; };

struct cache {
	struct filter *filters;  /* [set]; NULL: none */
	uint64_t filter_mask;    /* sets - 1 if that is a power of two */
	uint32_t line_shift, sets;
	uint8_t index, exclusive, shared, filtered;
	struct machine_cache is;
	struct lines main, buffer; /* buffer: victim_lines > 0 */
	struct stride *strides;
	struct classes classes;  /* machine.classify */
};

/* What cache `index` of the machine needs; cache may be thrown away if arena->base is NULL. */
void cache_init(struct cache *cache, struct arena *arena, const struct machine *machine, unsigned index);

/* One access of the core to a line of a first-level cache; address and bytes: the part of it in that line. id: the item's number,
   or for a fetch the block's with bit 31. */
void cache_access(struct core *core, struct cache *cache, uint64_t line, uint64_t address, uint32_t bytes, enum trace_kind kind, uint32_t id);
#define CACHE_FETCH ((enum trace_kind)2) /* beside TRACE_READ 0 and TRACE_WRITE 1: as the counts are in order */
/* prefetch instructions */
void cache_prefetch(struct core *core, struct cache *cache, uint64_t line, uint32_t id);
void cache_forget_all(struct cache *cache);
/* Takes a line out; returns its entry, 0 if it is not there. */
uint64_t cache_take(struct cache *cache, uint64_t line);
/* Counts one at the owner's cache; who caused it is core, whose items are charged. */
void count_of(struct core *core, struct core *owner, unsigned cache, enum model_cache_count what);

static inline uint64_t filter_set(const struct cache *cache, uint64_t line)
{
	return cache->filter_mask ? line & cache->filter_mask : (line & (ADDRESS_MASK >> cache->line_shift)) % cache->sets;
}

/* Whether one more such access to the line changes nothing but its count. */
static inline bool cache_filtered(const struct cache *cache, uint64_t line, bool write)
{
	const struct filter *filter;
	if (!cache->filters)
		return false;
	filter = &cache->filters[filter_set(cache, line)];
	return line == (write ? filter->write : filter->read);
}

#endif
