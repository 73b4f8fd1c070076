/*
 * The commonest of what inline checks did not find (inline.c), in as few steps as it takes: the page is known, the
 * first-level caches have LRU and their lines are granules of the tables, and the levels behind have queues
 * (request_queue.h) or are asked at once. Behind simple_loop.h, for inline.c, and with vectors that are put back
 * for inline_vectors.c.
 *
 *     set ──line in it?──yes──► time
 *           │ no
 *           └─ victim: the least time; out of the tables; written back if dirty ──► line in its place, wanted behind
 *                                                                                 both ──► inserted into the tables
 *
 * Equals   simple_access() of simple_loop.h, and so cache_access() of cache/hierarchy.c
 * For      lru_fast_kind(): two simple first-level caches of up to LRU_FAST_MOST ways; lru_fast_access_64(): with
 *          lines of 64 bytes, 8 ways or more, AVX-512, and a queue
 * Test     tests/model/inline_test.c, tests/engine/inline/check
 */
#ifndef TARE_MODEL_CORE_FAST_LRU_FAST_H
#define TARE_MODEL_CORE_FAST_LRU_FAST_H

#include "model/core/fast/simple_loop.h"

#define LRU_FAST_MOST 16u /* ways */

/* Bits of core->lru_fast. */
enum lru_fast {
	LRU_FAST = 1,
	LRU_FAST_DATA_PAGES = 2,
	LRU_FAST_FETCH_PAGES = 4, /* there are TLBs */
	/* lru_fast_access_64(), with vectors, while requests wait */
	LRU_FAST_VECTORS = 8,
	LRU_FAST_SAVED = 16, /* else, with vectors nevertheless: sets are large enough */
};

/* Such a cache, or one whose next level is asked at once. */
static inline bool lru_fast_cache(const struct core *core, const struct cache *cache)
{
	const struct cache *next;
	if (!cache || !cache->simple || cache->leaves || !cache->filter || !cache->main.set_power ||
	    cache->line_shift < core->filter.shift || cache->main.ways > LRU_FAST_MOST)
		return false;
	next = cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
	return !next || simple_behind(cache, next);
}

static inline uint8_t lru_fast_kind(const struct core *core)
{
	const struct machine *machine = &core->model->machine;
	const struct cache *data = core->first_data, *instruction = core->first_instruction;
	if (!core->model->simple || data == instruction || !lru_fast_cache(core, data) ||
	    !lru_fast_cache(core, instruction))
		return 0;
	return LRU_FAST | (machine->first_data_tlb != MACHINE_NONE ? LRU_FAST_DATA_PAGES : 0) |
	       (machine->first_instruction_tlb != MACHINE_NONE ? LRU_FAST_FETCH_PAGES : 0) |
	       (core->model->vectors && core->levels && data->main.ways >= 8 && instruction->main.ways >= 8 &&
				data->line_shift == 6 && instruction->line_shift == 6
			? LRU_FAST_VECTORS
			: 0) |
	       (core->model->vectors && data->main.ways >= 8 ? LRU_FAST_SAVED : 0);
}

/* ---- a set ---- */

static inline __attribute__((always_inline)) uint32_t lru_fast_find(const uint64_t *entries, uint32_t ways,
								    uint64_t line)
{
	if (ways != 2)
		return set_find(entries, ways, line);
	return entry_is(entries[0], line) ? 0 : entry_is(entries[1], line) ? 1 : 2;
}

static inline __attribute__((always_inline)) uint32_t lru_fast_earliest(const uint64_t *touched, uint32_t ways)
{
	return ways != 2 ? set_earliest(touched, ways) : touched[1] < touched[0];
}

static inline __attribute__((always_inline)) void lru_fast_forget(const struct filter *filter,
								  const struct cache *cache, bool data,
								  uint64_t address)
{
	for (uint64_t at = address; at < address + cache->is.line_bytes; at += 1ull << filter->shift) {
		if (data)
			inline_clear_data(filter, at);
		else
			inline_clear_fetch(filter, at);
	}
}

/* ---- behind ---- */

/* Levels that are asked at once. */
static __attribute__((noinline)) void lru_fast_demand(struct core *core, struct cache *cache, uint64_t address,
						      enum access_kind kind)
{
	struct cache *next = core->caches[cache->is.next];
	core->fill_flags = 0;
	core->missed = COHERENCE_NO;
	simple_demand(core, next, address >> next->line_shift, kind);
}

static __attribute__((noinline)) void lru_fast_leave(struct core *core, struct cache *cache, uint64_t address)
{
	struct cache *next = core->caches[cache->is.next];
	if (!simple_write_back(next, address >> next->line_shift))
		cache_write_back(core, next, address, cache->is.line_bytes);
}

/* ---- */

/* The line is there, or now is: its next hit is found. */
static inline __attribute__((always_inline)) void lru_fast_found(struct core *core, const struct cache *cache,
								 bool data, uint64_t record, uint32_t page,
								 uint32_t at)
{
	cache->main.touched[at] = core->filter.pages[page] = ++core->recency;
	inline_insert(&core->filter, (record & HIT_ADDRESS) | HIT_TYPE(data ? HIT_DATA : HIT_FETCH),
		      cache->first_way + at, page);
}

static inline __attribute__((always_inline)) void lru_fast_access(struct core *core, struct cache *cache,
								  bool data, uint64_t record, uint32_t page,
								  uint32_t ways)
{
	uint64_t line = (record & HIT_ADDRESS) >> cache->line_shift, *counts = core->counts->cache[cache->index];
	uint32_t first = (uint32_t)(line & cache->main.set_mask) * ways, way;
	uint64_t *entries = cache->main.entries + first;
	uint8_t *written = cache->main.written + first;
	bool writes = data && record >> 63, behind = cache->is.next != MACHINE_NONE;
	core->counts->filter[data ? FILTER_NOT_INLINED_ACCESSES : FILTER_NOT_INLINED_FETCHES]++;
	way = lru_fast_find(entries, ways, line);
	if (way < ways) {
		counts[CACHE_PREFETCHES_USED] += !!(entries[way] & LINE_PREFETCHED);
		entries[way] &= ~(uint64_t)LINE_PREFETCHED;
		written[way] |= writes;
	} else {
		enum access_kind kind = !data                       ? ACCESS_FETCH
					: record & HIT_WRITES_FIRST ? ACCESS_WRITE
								    : ACCESS_READ;
		struct evicted evicted;
		uint64_t address;
		cache_order_miss(core, cache, line, kind);
		if (core->requests)
			requests_push(core, core->requests, line << cache->line_shift, requests_line(core, kind));
		else if (behind)
			lru_fast_demand(core, cache, line << cache->line_shift, kind);
		way = lru_fast_earliest(cache->main.touched + first, ways);
		evicted = fill_timed(counts, entries, written, way, line << LINES_FLAGS | LINE_VALID, writes);
		address = entry_line(evicted.entry) << cache->line_shift;
		counts[CACHE_READ_MISSES + kind]++;
		counts[CACHE_WRITE_BACKS] += evicted.dirty;
		lru_fast_forget(&core->filter, cache, data, address);
		if (evicted.dirty && core->requests)
			requests_push(core, core->requests, address, REQUESTS_WRITE_BACK);
		else if (evicted.dirty && behind)
			lru_fast_leave(core, cache, address);
	}
	lru_fast_found(core, cache, data, record, page, first + way);
}

/* A record of HIT_DATA or HIT_FETCH. */
static inline void lru_fast_record(struct core *core, uint64_t record, uint32_t page)
{
	struct cache *data = core->first_data, *instruction = core->first_instruction;
	if (!(HIT_TYPE_OF(record) & HIT_DATA))
		lru_fast_access(core, instruction, false, record, page, instruction->main.ways);
	else if (data->main.ways == 2)
		lru_fast_access(core, data, true, record, page, 2);
	else
		lru_fast_access(core, data, true, record, page, data->main.ways);
}

/*
 * The same where lines and granules have 64 bytes and requests wait; there is room for two more. What is known
 * when this is compiled makes it half as long.
 */
static inline __attribute__((always_inline)) void lru_fast_access_64(struct core *core, bool data, uint64_t record,
								     uint32_t page, uint32_t ways)
{
	const struct cache *cache = data ? core->first_data : core->first_instruction;
	struct inline_entry *granules = core->filter.data;
	struct inline_fetch *fetches = core->filter.fetch;
	uint64_t address = record & HIT_ADDRESS, line = address >> 6, *filter = core->counts->filter,
		 time = ++core->recency;
	uint32_t first = (uint32_t)(line & cache->main.set_mask) * ways, way;
	uint64_t *entries = cache->main.entries + first, *touched = cache->main.touched + first;
	uint8_t *written = cache->main.written + first, writes = data ? (uint8_t)(record >> 63) : 0;
	filter[data ? FILTER_NOT_INLINED_ACCESSES : FILTER_NOT_INLINED_FETCHES]++;
	way = set_find(entries, ways, line);
	if (__builtin_expect(way == ways, 1)) {
		uint64_t *counts = core->counts->cache[cache->index],
			 kind = data ? record / HIT_WRITES_FIRST & 1 : ACCESS_FETCH;
		struct request_queue *level = core->requests;
		uint64_t *asked = &level->entries[level->n], was;
		struct evicted evicted;
		way = set_earliest(touched, ways);
		evicted = fill_timed(counts, entries, written, way, line << LINES_FLAGS | LINE_VALID, writes);
		was = entry_line(evicted.entry);
		counts[CACHE_READ_MISSES + kind]++;
		counts[CACHE_WRITE_BACKS] += evicted.dirty;
		cache_order_miss(core, cache, line, (enum access_kind)kind);
		asked[0] = line << 6 | requests_line(core, (unsigned)kind);
		asked[1] = was << 6 | REQUESTS_WRITE_BACK; /* if it is dirty */
		level->n += 1u + (uint32_t)evicted.dirty;
		if (data) {
			struct inline_entry *entry = &granules[inline_index(was << 6, 6)];
			entry->line = entry->line == was << 6 ? INLINE_NOTHING : entry->line;
		} else {
			struct inline_fetch *entry = &fetches[inline_fetch_index(was << 6, 6)];
			entry->tag = entry->tag == inline_tag(was << 6, 6) ? 0 : entry->tag;
		}
	} else {
		if (__builtin_expect(entries[way] & LINE_PREFETCHED, 0)) {
			core->counts->cache[cache->index][CACHE_PREFETCHES_USED]++;
			entries[way] &= ~(uint64_t)LINE_PREFETCHED;
		}
		written[way] |= writes;
	}
	touched[way] = core->filter.pages[page] = time;
	core->filter.occupied[2 * page + !data] |= 1ull << (address >> core->filter.occupied_shift & 63);
	way += cache->first_way + first;
	if (data)
		granules[inline_index(line << 6, 6)] = (struct inline_entry){
			.line = line << 6, .way = way, .page = page};
	else
		fetches[inline_fetch_index(line << 6, 6)] = (struct inline_fetch){
			.tag = (uint32_t)inline_tag(line << 6, 6), .way = (uint16_t)way, .page = (uint16_t)page};
}

#endif
