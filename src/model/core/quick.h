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

#define QUICK_LEAST 8u
#define QUICK_MOST 16u

/* Such a cache. */
static inline bool quick_cache(const struct core *core, const struct cache *cache)
{
	return cache && cache->plain && cache->hits && cache->main.set_power && cache->line_shift == core->hits.shift && cache->main.ways >= QUICK_LEAST &&
	       cache->main.ways <= QUICK_MOST;
}

/* What core->quick is: bits. */
enum quick { QUICK = 1, QUICK_DATA_PAGES = 2, QUICK_FETCH_PAGES = 4 }; /* there are TLBs */

static inline uint8_t quick_ways(const struct core *core)
{
	const struct machine *machine = &core->model->machine;
	if (!core->levels || core->first_data == core->first_instruction || !quick_cache(core, core->first_data) ||
	    !quick_cache(core, core->first_instruction))
		return 0;
	return QUICK | (machine->first_data_tlb != MACHINE_NONE ? QUICK_DATA_PAGES : 0) |
	       (machine->first_instruction_tlb != MACHINE_NONE ? QUICK_FETCH_PAGES : 0);
}

static inline __attribute__((always_inline)) void quick_access(struct core *core, struct cache *cache, bool data, uint64_t record, uint32_t page,
							       uint32_t ways)
{
	const struct hits *hits = &core->hits;
	uint64_t line = (record & HIT_ADDRESS) >> cache->line_shift, *counts = core->counts->cache[cache->index];
	uint32_t first = (uint32_t)(line & cache->main.set_mask) * ways, way;
	uint64_t *entries = cache->main.entries + first, *touched = cache->main.touched + first;
	uint8_t *written = cache->main.written + first;
	bool writes = data && record >> 63;
	core->counts->filter[data ? FILTER_UNDECIDED_ACCESSES : FILTER_UNDECIDED_FETCHES]++;
	way = set_find(entries, ways, line);
	if (way < ways) {
		counts[CACHE_PREFETCHES_USED] += !!(entries[way] & LINE_PREFETCHED);
		entries[way] &= ~(uint64_t)LINE_PREFETCHED;
		written[way] |= writes;
	} else {
		unsigned kind = !data ? (unsigned)CACHE_FETCH : record & HIT_WRITES_FIRST ? TRACE_WRITE : TRACE_READ;
		struct deferred *level = core->deferred;
		uint64_t *asked = &level->entries[level->n], replaced, address;
		bool dirty;
		way = set_earliest(touched, ways);
		replaced = entries[way];
		dirty = (replaced & LINE_DIRTY) | written[way];
		address = entry_line(replaced) << cache->line_shift;
		entries[way] = line << LINES_FLAGS | LINE_VALID;
		written[way] = writes;
		counts[CACHE_READ_MISSES + kind]++;
		counts[CACHE_FILLS]++;
		counts[CACHE_EVICTIONS] += !!replaced;
		counts[CACHE_WRITE_BACKS] += dirty;
		asked[0] = line << cache->line_shift | kind;
		asked[1] = address | DEFERRED_WRITE_BACK; /* if so */
		level->n += 1u + dirty;
		if (data)
			inline_clear_data(hits, address);
		else
			inline_clear_fetch(hits, address);
	}
	touched[way] = hits->pages[page] = ++core->clock;
	inline_note(hits, (record & HIT_ADDRESS) | HIT_TYPE(data ? HIT_DATA : HIT_FETCH), cache->first_way + first + way, page);
}

/* A record of HIT_DATA or HIT_FETCH; there is room for two requests more. */
static inline __attribute__((always_inline)) void quick_record(struct core *core, uint64_t record, uint32_t page)
{
	struct cache *data = core->first_data, *instruction = core->first_instruction;
	if (!(HIT_TYPE_OF(record) & HIT_DATA)) {
		if (instruction->main.ways == 8)
			quick_access(core, instruction, false, record, page, 8);
		else
			quick_access(core, instruction, false, record, page, instruction->main.ways);
	} else if (data->main.ways == 12) {
		quick_access(core, data, true, record, page, 12);
	} else if (data->main.ways == 8) {
		quick_access(core, data, true, record, page, 8);
	} else {
		quick_access(core, data, true, record, page, data->main.ways);
	}
}

#endif
