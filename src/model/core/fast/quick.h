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
#ifndef TARE_MODEL_CORE_FAST_QUICK_H
#define TARE_MODEL_CORE_FAST_QUICK_H

#include "model/core/fast/plain_loop.h"

#define QUICK_MOST 16u                 /* ways */

/* What core->quick is: bits. */
enum quick {
	QUICK = 1,
	QUICK_DATA_PAGES = 2, QUICK_FETCH_PAGES = 4, /* there are TLBs */
	QUICK_VECTORS = 8,                           /* quick_access_64(), with vectors, while requests wait */
};

/* Such a cache, or one whose next level is asked at once. */
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
	       (core->model->vectors && core->levels && data->main.ways >= 8 && instruction->main.ways >= 8 && data->line_shift == 6 &&
				instruction->line_shift == 6 ? QUICK_VECTORS : 0);
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

static inline __attribute__((always_inline)) void quick_forget(const struct hits *hits, const struct cache *cache, bool data, uint64_t address)
{
	for (uint64_t at = address; at < address + cache->is.line_bytes; at += 1ull << hits->shift) {
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

/* The line is there, or now is: its next hit is found. */
static inline __attribute__((always_inline)) void quick_found(struct core *core, const struct cache *cache, bool data, uint64_t record, uint32_t page, uint32_t at)
{
	cache->main.touched[at] = core->hits.pages[page] = ++core->clock;
	inline_note(&core->hits, (record & HIT_ADDRESS) | HIT_TYPE(data ? HIT_DATA : HIT_FETCH), cache->first_way + at, page);
}

static inline void quick_access(struct core *core, struct cache *cache, bool data, uint64_t record, uint32_t page, uint32_t ways)
{
	uint64_t line = (record & HIT_ADDRESS) >> cache->line_shift, *counts = core->counts->cache[cache->index];
	uint32_t first = (uint32_t)(line & cache->main.set_mask) * ways, way;
	uint64_t *entries = cache->main.entries + first;
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
		uint64_t replaced, address;
		bool dirty;
		if (core->deferred)
			deferred_push(core, core->deferred, line << cache->line_shift, kind);
		else if (behind)
			quick_demand(core, cache, line << cache->line_shift, (enum trace_kind)kind);
		way = quick_earliest(cache->main.touched + first, ways);
		replaced = entries[way];
		dirty = (replaced & LINE_DIRTY) | written[way];
		address = entry_line(replaced) << cache->line_shift;
		entries[way] = line << LINES_FLAGS | LINE_VALID;
		written[way] = writes;
		counts[CACHE_READ_MISSES + kind]++;
		counts[CACHE_FILLS]++;
		counts[CACHE_EVICTIONS] += !!replaced;
		counts[CACHE_WRITE_BACKS] += dirty;
		quick_forget(&core->hits, cache, data, address);
		if (dirty && core->deferred)
			deferred_push(core, core->deferred, address, DEFERRED_WRITE_BACK);
		else if (dirty && behind)
			quick_leave(core, cache, address);
	}
	quick_found(core, cache, data, record, page, first + way);
}

/* A record of HIT_DATA or HIT_FETCH. */
static inline void quick_record(struct core *core, uint64_t record, uint32_t page)
{
	struct cache *data = core->first_data, *instruction = core->first_instruction;
	if (!(HIT_TYPE_OF(record) & HIT_DATA))
		quick_access(core, instruction, false, record, page, instruction->main.ways);
	else if (data->main.ways == 2)
		quick_access(core, data, true, record, page, 2);
	else
		quick_access(core, data, true, record, page, data->main.ways);
}

/*
 * The same where lines and granules have 64 bytes and requests wait; there is room for two more. What is known when this is compiled makes it half as long.
 */
static inline __attribute__((always_inline)) void quick_access_64(struct core *core, bool data, uint64_t record, uint32_t page, uint32_t ways)
{
	const struct cache *cache = data ? core->first_data : core->first_instruction;
	struct inline_entry *granules = core->hits.data;
	struct inline_fetch *fetches = core->hits.fetch;
	uint64_t address = record & HIT_ADDRESS, line = address >> 6, *filter = core->counts->filter, time = ++core->clock;
	uint32_t first = (uint32_t)(line & cache->main.set_mask) * ways, way;
	uint64_t *entries = cache->main.entries + first, *touched = cache->main.touched + first;
	uint8_t *written = cache->main.written + first, writes = data ? (uint8_t)(record >> 63) : 0;
	filter[data ? FILTER_UNDECIDED_ACCESSES : FILTER_UNDECIDED_FETCHES]++;
	way = set_find(entries, ways, line);
	if (__builtin_expect(way == ways, 1)) {
		uint64_t *counts = core->counts->cache[cache->index], kind = data ? record / HIT_WRITES_FIRST & 1 : CACHE_FETCH;
		struct deferred *level = core->deferred;
		uint64_t *asked = &level->entries[level->n], replaced, was, dirty;
		way = set_earliest(touched, ways);
		replaced = entries[way];
		was = replaced >> LINES_FLAGS;
		dirty = (replaced / LINE_DIRTY & 1) | written[way];
		entries[way] = line << LINES_FLAGS | LINE_VALID;
		written[way] = writes;
		counts[CACHE_READ_MISSES + kind]++;
		counts[CACHE_FILLS]++;
		counts[CACHE_EVICTIONS] += !!replaced;
		counts[CACHE_WRITE_BACKS] += dirty;
		asked[0] = line << 6 | kind;
		asked[1] = was << 6 | DEFERRED_WRITE_BACK; /* if it is dirty */
		level->n += 1u + (uint32_t)dirty;
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
	touched[way] = core->hits.pages[page] = time;
	core->hits.noted[2 * page + !data] |= 1ull << (address >> core->hits.noted_shift & 63);
	way += cache->first_way + first;
	if (data)
		granules[inline_index(line << 6, 6)] = (struct inline_entry){ .line = line << 6, .way = way, .page = page };
	else
		fetches[inline_fetch_index(line << 6, 6)] =
			(struct inline_fetch){ .tag = (uint32_t)inline_tag(line << 6, 6), .way = (uint16_t)way, .page = (uint16_t)page };
}

#endif
