/*
 * The commonest of what generated code did not find (inline.c), in as few steps as it takes: a first cache with LRU whose lines are the granules of
 * the tables, in front of levels whose requests wait (deferred.h), and a page that is known. It is what plain_loop.h does. Behind plain_loop.h, for
 * inline.c, and with vectors that are given back for inline_vectors.c.
 *
 *     set ──line in it?──yes──► time
 *           │ no
 *           └─ the earliest one's entry is cleared, it is to be written back if it was written ──► line in its place, wanted behind
 *                                                                                    both ──► noted
 */
#ifndef TARE_MODEL_CORE_QUICK_H
#define TARE_MODEL_CORE_QUICK_H

#include "model/core/plain_loop.h"

#define QUICK_MOST 16u                 /* ways */

/* What core->quick is: bits. */
enum quick {
	QUICK = 1,
	QUICK_DATA_PAGES = 2, QUICK_FETCH_PAGES = 4, /* there are TLBs */
	QUICK_VECTORS = 8,                           /* and sets that they are worth it for */
};

/* Such a cache. */
static inline bool quick_cache(const struct core *core, const struct cache *cache)
{
	const struct cache *next;
	if (!cache || !cache->plain || cache->leaves || !cache->hits || !cache->main.set_power || cache->line_shift < core->hits.shift ||
	    cache->main.ways > QUICK_MOST)
		return false;
	next = cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
	return !next || (next->plain && next->main.ordered && next->line_shift >= cache->line_shift);
}

static inline uint8_t quick_kind(const struct core *core)
{
	const struct machine *machine = &core->model->machine;
	const struct cache *data = core->first_data, *instruction = core->first_instruction;
	if (!core->model->plain || data == instruction || !quick_cache(core, data) || !quick_cache(core, instruction))
		return 0;
	return QUICK | (machine->first_data_tlb != MACHINE_NONE ? QUICK_DATA_PAGES : 0) |
	       (machine->first_instruction_tlb != MACHINE_NONE ? QUICK_FETCH_PAGES : 0) |
	       (core->model->vectors && (data->main.ways >= 8 || instruction->main.ways >= 8) && data->line_shift == instruction->line_shift ? QUICK_VECTORS : 0);
}

/* ---- a set ---- */

static inline __attribute__((always_inline)) uint32_t quick_find(const uint64_t *entries, uint32_t ways, uint64_t line)
{
	if (ways != 2)
		return set_find(entries, ways, line);
	return entry_is(entries[0], line) ? 0 : entry_is(entries[1], line) ? 1 : 2;
}

static inline __attribute__((always_inline)) uint32_t quick_earliest(const uint64_t *touched, uint32_t ways)
{
	return ways != 2 ? set_earliest(touched, ways) : touched[1] < touched[0];
}

/* one: a line is one granule. */
static inline __attribute__((always_inline)) void quick_forget(const struct hits *hits, const struct cache *cache, bool data, uint64_t address, bool one)
{
	for (uint64_t at = address; at < address + (one ? 1 : cache->is.line_bytes); at += 1ull << hits->shift) {
		if (data)
			inline_clear_data(hits, at);
		else
			inline_clear_fetch(hits, at);
	}
}

/* ---- behind ---- */

/* Levels that are asked at once. */
static __attribute__((noinline)) void quick_demand(struct core *core, struct cache *cache, uint64_t address, enum trace_kind kind)
{
	struct cache *next = core->caches[cache->is.next];
	core->fill_flags = 0;
	core->missed = COHERENCE_NO;
	plain_demand(core, next, address >> next->line_shift, kind);
}

static __attribute__((noinline)) void quick_leave(struct core *core, struct cache *cache, uint64_t address)
{
	struct cache *next = core->caches[cache->is.next];
	if (!plain_write_back(next, address >> next->line_shift))
		cache_write_back(core, next, address, cache->is.line_bytes);
}

/* ---- */

static inline __attribute__((always_inline)) void quick_access(struct core *core, struct cache *cache, bool data, uint64_t record, uint32_t page,
							       uint32_t ways, bool vectors)
{
	const struct hits *hits = &core->hits;
	uint64_t line = (record & HIT_ADDRESS) >> cache->line_shift, *counts = core->counts->cache[cache->index];
	uint32_t first = (uint32_t)(line & cache->main.set_mask) * ways, way;
	uint64_t *entries = cache->main.entries + first, *touched = cache->main.touched + first;
	uint8_t *written = cache->main.written + first;
	bool writes = data && record >> 63, behind = cache->is.next != MACHINE_NONE;
	core->counts->filter[data ? FILTER_UNDECIDED_ACCESSES : FILTER_UNDECIDED_FETCHES]++;
	way = quick_find(entries, ways, line);
	if (way < ways) {
		counts[CACHE_PREFETCHES_USED] += !!(entries[way] & LINE_PREFETCHED);
		entries[way] &= ~(uint64_t)LINE_PREFETCHED;
		written[way] |= writes;
	} else {
		unsigned kind = !data ? (unsigned)CACHE_FETCH : record & HIT_WRITES_FIRST ? TRACE_WRITE : TRACE_READ;
		struct deferred *level = core->deferred;
		uint64_t replaced, address;
		bool dirty;
		if (!level && behind)
			quick_demand(core, cache, line << cache->line_shift, (enum trace_kind)kind);
		way = quick_earliest(touched, ways);
		replaced = entries[way];
		dirty = (replaced & LINE_DIRTY) | written[way];
		address = entry_line(replaced) << cache->line_shift;
		entries[way] = line << LINES_FLAGS | LINE_VALID;
		written[way] = writes;
		counts[CACHE_READ_MISSES + kind]++;
		counts[CACHE_FILLS]++;
		counts[CACHE_EVICTIONS] += !!replaced;
		counts[CACHE_WRITE_BACKS] += dirty;
		quick_forget(hits, cache, data, address, vectors);
		if (level) {
			uint64_t *asked = &level->entries[level->n];
			asked[0] = line << cache->line_shift | kind;
			asked[1] = address | DEFERRED_WRITE_BACK; /* if so */
			level->n += 1u + dirty;
		} else if (dirty && behind) {
			quick_leave(core, cache, address);
		}
	}
	touched[way] = hits->pages[page] = ++core->clock;
	inline_note(hits, (record & HIT_ADDRESS) | HIT_TYPE(data ? HIT_DATA : HIT_FETCH), cache->first_way + first + way, page);
}

/* A record of HIT_DATA or HIT_FETCH; there is room for two requests more. */
static inline __attribute__((always_inline)) void quick_record(struct core *core, uint64_t record, uint32_t page, bool vectors)
{
	struct cache *data = core->first_data, *instruction = core->first_instruction;
	if (!(HIT_TYPE_OF(record) & HIT_DATA)) {
		if (vectors ? instruction->main.ways == 8 : instruction->main.ways == 2)
			quick_access(core, instruction, false, record, page, vectors ? 8 : 2, vectors);
		else
			quick_access(core, instruction, false, record, page, instruction->main.ways, vectors);
	} else if (vectors && data->main.ways == 12) {
		quick_access(core, data, true, record, page, 12, vectors);
	} else if (vectors ? data->main.ways == 8 : data->main.ways == 2) {
		quick_access(core, data, true, record, page, vectors ? 8 : 2, vectors);
	} else {
		quick_access(core, data, true, record, page, data->main.ways, vectors);
	}
}

#endif
