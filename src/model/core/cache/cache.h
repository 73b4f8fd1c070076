/*
 * A cache of a machine, and the steps between caches (hierarchy.c).
 *
 * What always holds:
 *  1. A cache with hits is a private one that accesses go to first: its lines are timed (lines.h), and a line that
 *     leaves it, or whose flags change but for the dirty one, is not in the table (fast/filter.h) any more.
 */
#ifndef TARE_MODEL_CORE_CACHE_CACHE_H
#define TARE_MODEL_CORE_CACHE_CACHE_H

#include "model/core/cache/classify.h"
#include "model/core/coherence/coherence.h"
#include "model/core/internal.h"
#include "model/core/cache/lines.h"
#include "model/core/cache/order.h"

struct stride {
	uint64_t last;
	int64_t stride;
	uint32_t id, used;
};

struct cache {
	const struct filter *filter; /* or NULL */
	uint32_t line_shift;
	uint32_t first_way; /* what the table calls its first one */
	uint8_t index, exclusive, shared;
	uint8_t sides; /* 1: data accesses go to it first, 2: fetches do */
	bool leaves;   /* a clean line that is evicted also matters to other caches */
	/* neither a hit nor a miss needs more than LRU order, with write-back and allocation:
	 * fast/simple_loop.h */
	bool simple;
	struct machine_cache is;
	struct lines main, buffer; /* buffer: victim_lines > 0 */
	struct stride *strides;
	struct classes classes; /* options.classify */
	uint64_t *order;        /* options.orders, and accesses go to it first; or NULL */
};

/* What cache `index` of the machine needs; cache may be thrown away if arena->base is NULL. */
void cache_init(struct cache *cache, struct model_memory *arena, const struct machine *machine,
		const struct model_options *options, unsigned index, bool timed);

/* In the order of the counts: CACHE_READS + kind, CACHE_READ_MISSES + kind, TLB_READS + kind. A request queue has
 * REQUESTS_WRITE_BACK as a fourth. */
enum access_kind { ACCESS_READ, ACCESS_WRITE, ACCESS_FETCH };

/* One access of the core to a first-level cache, in one line of it. id: the item's number, or for a fetch the
   block's with bit 31. Counts all but the access itself. */
void cache_access(struct core *core, struct cache *cache, uint64_t address, uint32_t bytes, enum access_kind kind,
		  uint32_t id);
/* The same, of a line that may not be among the sampled ones (sample.h). */
void step_line(struct core *core, struct cache *cache, uint64_t address, uint32_t bytes, enum access_kind kind,
	       uint32_t id);
/* prefetch instructions */
void cache_prefetch(struct core *core, struct cache *cache, uint64_t line, uint32_t id);
/* Takes a line out; returns its entry, 0 if it is not there. */
uint64_t cache_take(struct cache *cache, uint64_t line);
/* Counts one at the owner's cache; core caused it, and its items are charged. */
void count_of(struct core *core, struct core *owner, unsigned cache, enum model_cache_count what);

/* The way of the line of that address, as the table calls it, if another access to it needs no more than what
 * filter_find() does; else FILTER_LINES. */
uint32_t cache_lru_fast_way(const struct core *core, const struct cache *cache, uint64_t address, bool write);

/* The line leaves the cache, or its next hit needs more than those before. */
static inline void cache_forget(const struct cache *cache, uint64_t line)
{
	if (cache->filter)
		filter_clear(cache->filter, line << cache->line_shift, cache->is.line_bytes, cache->sides);
}

/* A first-level cache missed: what the levels behind are told, and what is counted. */
static inline void cache_order_miss(struct core *core, const struct cache *cache, uint64_t line,
				    enum access_kind kind)
{
	if (__builtin_expect(cache->order != NULL, 0)) {
		core->ordered = order_miss(cache->order, line);
		core->counts->cache[cache->index][CACHE_ORDERED_MISSES] += core->ordered && kind != ACCESS_FETCH;
	}
}

/* A level behind is asked, and misses or does not. */
static inline void cache_order_asked(struct core *core, const struct cache *cache, bool missed)
{
	uint64_t *counts = core->counts->cache[cache->index];
	if (__builtin_expect(core->ordered == ORDER_IN_ORDER, 0)) {
		counts[CACHE_ORDERED]++;
		counts[CACHE_ORDERED_MISSES] += missed;
	}
}

/* ---- for fast/simple_loop.h, fast/request_loop.h ---- */

/* Lines wanted from a cache, or NULL: memory. Returns LINE_DIRTY if they come dirty, from an exclusive level. */
unsigned cache_request(struct core *core, struct cache *cache, uint64_t address, uint64_t bytes,
		       enum access_kind kind, bool stores);
/* What was evicted goes where it belongs. */
void cache_leave(struct core *core, struct cache *cache, uint64_t entry);
/* Arrives at a cache. */
void cache_write_back(struct core *core, struct cache *cache, uint64_t address, uint64_t bytes);

#endif
