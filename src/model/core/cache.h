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

struct filter { uint64_t read, write; }; /* addresses of lines; NOWHERE: none */

struct stride { uint64_t last; int64_t stride; uint32_t id, used; };

struct cache {
	struct filter *filters;  /* [set]; NULL: none */
	uint64_t filter_mask;    /* sets - 1 */
	uint32_t line_shift, sets;
	uint8_t index, exclusive, shared;
	bool filter_power;       /* sets is a power of two */
	bool quick;              /* a hit needs nothing but LRU order and the dirty bit: cache_quick_hit() */
	bool plain;              /* nor does a miss need more than LRU order, with write-back and allocation: cache_plain_miss() */
	bool disturbed;          /* a filter was ended since somebody set this to false */
	uint64_t changes;        /* of filters, ever */
	struct machine_cache is;
	struct lines main, buffer; /* buffer: victim_lines > 0 */
	struct stride *strides;
	struct classes classes;  /* machine.classify */
};

/* What cache `index` of the machine needs; cache may be thrown away if arena->base is NULL. */
void cache_init(struct cache *cache, struct arena *arena, const struct machine *machine, unsigned index);

/* One access of the core to a first-level cache, in one line of it. id: the item's number, or for a fetch the block's with bit 31.
   Counts all but the access itself. */
void cache_access(struct core *core, struct cache *cache, uint64_t address, uint32_t bytes, enum trace_kind kind, uint32_t id);
#define CACHE_FETCH ((enum trace_kind)2) /* beside TRACE_READ 0 and TRACE_WRITE 1: as the counts are in order */
/* prefetch instructions */
void cache_prefetch(struct core *core, struct cache *cache, uint64_t line, uint32_t id);
void cache_forget_all(struct cache *cache);
/* Takes a line out; returns its entry, 0 if it is not there. */
uint64_t cache_take(struct cache *cache, uint64_t line);
/* Counts one at the owner's cache; who caused it is core, whose items are charged. */
void count_of(struct core *core, struct core *owner, unsigned cache, enum model_cache_count what);

/* Of the set that the address is in. */
static inline struct filter *cache_filter(const struct cache *cache, uint64_t address)
{
	uint64_t line = (address & ADDRESS_MASK) >> cache->line_shift;
	return &cache->filters[cache->filter_power ? line & cache->filter_mask : line % cache->sets];
}

/* Whether one more such access to bytes in the line of that address changes nothing but its count. */
static inline bool cache_filtered(const struct cache *cache, uint64_t address, bool write)
{
	const struct filter *filter;
	if (!cache->filters)
		return false;
	filter = cache_filter(cache, address);
	return (address ^ (write ? filter->write : filter->read)) < cache->is.line_bytes;
}

/* A hit that needs no more than what follows: most of those that the filter does not decide. False: nothing was done. */
static inline bool cache_quick_hit(const struct core *core, struct cache *cache, uint64_t address, bool write)
{
	uint64_t line = (address & ADDRESS_MASK) >> cache->line_shift, set = line & cache->filter_mask;
	uint64_t *first = cache->main.entries + set * cache->main.ways, *entry = first, *end = first + cache->main.ways, found;
	struct filter *filter;
	if (!cache->quick || core->model->snoops)
		return false;
	filter = &cache->filters[set];
	while (!entry_is(*entry, line))
		if (++entry == end)
			return false;
	found = *entry;
	if (found & LINE_PREFETCHED) {
		if (cache->is.prefetch != PREFETCH_NONE)
			return false;
		core->counts->cache[cache->index][CACHE_PREFETCHES_USED]++;
		found &= ~(uint64_t)LINE_PREFETCHED;
	}
	for (; entry > first; entry--)
		entry[0] = entry[-1];
	found |= write ? LINE_DIRTY : 0;
	*first = found;
	filter->read = address >> cache->line_shift << cache->line_shift;
	filter->write = found & LINE_DIRTY ? filter->read : NOWHERE;
	cache->disturbed = true;
	cache->changes++;
	return true;
}

/* Behind a cache_quick_hit() that was none, if the first cache is plain and no other core is there to ask. */
void cache_plain_miss(struct core *core, struct cache *cache, uint64_t address, enum trace_kind kind);

#endif
