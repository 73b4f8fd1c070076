/*
 * Records that the filter does not have, on machines with simple first-level caches. Included by batch.c (in C),
 * by vectors.c (SIMPLE_VECTORS) and, through lru_fast.h and saved_vectors.h (SIMPLE_ASM), by what serves inline
 * checks.
 *
 *   terms   record        an access, or the entering of a line, as a word (filter.h)
 *           simple cache  LRU, write-back, write-allocate; no victim buffer, prefetcher or classes of misses
 *                         (cache_init() says which)
 *           ordered       of a set: its entries stand newest first (set.h)
 *           behind        the next level towards memory
 *           request       a line that is wanted from the level behind, or a dirty line that is written back to it
 *           unshared      of a line: no other core holds it, nor remembers that it lost it
 *
 * What always holds:
 *  1. A function that returns false has changed nothing; the caller then goes step by step (step.c).
 *  2. What is behind is asked first, then the line is filled, then the victim leaves: as demand() of
 *     cache/hierarchy.c does. So a level behind sees the same requests in the same order.
 *  3. With several cores, a record is taken only if it concerns no other core: simple_unshared().
 *
 *     record ──simple_unshared()?──no──► false
 *       │ yes
 *     page ──► filter's page table ──found──► time
 *       │        │ no
 *       │        └──► step_page(): the TLBs
 *     line ──► set of the first-level cache (timed) ──found──► time, dirty if written
 *       │        │ no
 *       │        ├──► request behind: queued (request_queue.h), or at once (simple_demand()), or any cache (cache_request())
 *       │        └──► fill_timed() ──victim dirty──► written back: queued, or at once (simple_write_back()), or cache_leave()
 *       ▼
 *     filter_insert(): the next access to this granule is a hit there
 *
 * Equals   cache_access(), demand(), cache_leave() of cache/hierarchy.c
 * For      model->simple: first-level caches that are simple, and no prefetcher anywhere; no watches, no objects
 * Test     tests/model/run_test.c, tests/model/requests_test.c, tests/model/threads_test.c (several cores), with
 *          and without vectors
 */
#include "model/core/fast/request_queue.h"
#include "model/core/fast/set.h"
#include "model/core/fast/plan.h"

/* ---- levels ---- */

/* A dirty line arrives at a cache that no access goes to first. False: it is not there, nothing was done. */
static inline bool simple_write_back(struct cache *cache, uint64_t line)
{
	uint64_t *entries = cache->main.entries + (uint64_t)lines_set(&cache->main, line) * cache->main.ways;
	uint32_t way = set_find(entries, cache->main.ways, line);
	if (way < cache->main.ways)
		set_rotate(entries, cache->main.ways, way, entries[way] | LINE_DIRTY);
	return way < cache->main.ways;
}

/* Whether a level can be asked by simple_demand() and simple_write_back() for lines of the one in front of it. */
static inline bool simple_behind(const struct cache *cache, const struct cache *next)
{
	return next->simple && next->main.ordered && next->line_shift >= cache->line_shift;
}

/* Whether no cache in front of a private one has the line: with an inclusive one's line those would also go. */
static inline bool simple_nowhere_in_front(const struct core *core, const struct cache *cache, uint64_t line)
{
	const struct model *model = core->model;
	for (unsigned front = model->in_front[cache->index]; front; front &= front - 1) {
		const struct cache *c = core->caches[__builtin_ctz(front)];
		const uint64_t *entries = c->main.entries + (uint64_t)lines_set(&c->main, line) * c->main.ways;
		if (!c->simple || c->shared || c->line_shift != cache->line_shift ||
		    set_find(entries, c->main.ways, line) < c->main.ways)
			return false;
	}
	return !cache->shared;
}

/* A victim of such a level; its line is gone from there. */
static inline void simple_leave(struct core *core, struct cache *cache, uint64_t entry)
{
	struct cache *next = cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
	uint64_t line = entry_line(entry);
	if (!next || !simple_behind(cache, next) ||
	    (cache->is.inclusion == INCLUSION_INCLUSIVE && !simple_nowhere_in_front(core, cache, line))) {
		cache_leave(core, cache, entry);
		return;
	}
	if (!(entry & LINE_DIRTY))
		return;
	core->counts->cache[cache->index][CACHE_WRITE_BACKS]++;
	if (!simple_write_back(next, line << cache->line_shift >> next->line_shift))
		cache_write_back(core, next, line << cache->line_shift, cache->is.line_bytes);
}

static void simple_demand_behind(struct core *core, struct cache *cache, uint64_t line, enum access_kind kind);

/* A line request at a cache that no access goes to first. asks: the next level may be asked in the same way. */
static inline __attribute__((always_inline)) void simple_demand_of(struct core *core, struct cache *cache,
								   uint64_t line, enum access_kind kind,
								   const bool asks)
{
	uint64_t *counts = core->counts->cache[cache->index], *entries;
	uint32_t ways = cache->main.ways, way;
	struct evicted evicted;
	struct cache *next;
	unsigned dirty = 0;
	entries = cache->main.entries + (uint64_t)lines_set(&cache->main, line) * ways;
	way = set_find(entries, ways, line);
	counts[CACHE_READS + kind]++;
	cache_order_asked(core, cache, way == ways);
	if (way < ways) {
		set_rotate(entries, ways, way, entries[way]);
		return;
	}
	counts[CACHE_READ_MISSES + kind]++;
	next = cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
	if (asks && next && simple_behind(cache, next))
		simple_demand_behind(core, next, line << cache->line_shift >> next->line_shift, kind);
	else if (next)
		dirty = cache_request(core, next, line << cache->line_shift, cache->is.line_bytes, kind, false);
	evicted = fill_ordered(counts, entries, ways,
			       line << LINES_FLAGS | LINE_VALID | dirty | (cache->shared ? 0 : core->fill_flags));
	if (evicted.entry)
		simple_leave(core, cache, evicted.entry);
}

static __attribute__((noinline, unused)) void simple_demand_behind(struct core *core, struct cache *cache,
								   uint64_t line, enum access_kind kind)
{
	simple_demand_of(core, cache, line, kind, false);
}

static inline __attribute__((always_inline)) void simple_demand(struct core *core, struct cache *cache,
								uint64_t line, enum access_kind kind)
{
	simple_demand_of(core, cache, line, kind, true);
}

/*
 * With several cores: whether the access concerns no other core. *flags: what the line then has, or is to have
 * (enum coherence_line). A granule that the core holds is as the lines of it are; of one that it does not hold no
 * other core may know (coherence_unshared).
 */
static inline bool simple_unshared(struct core *core, const struct cache *cache, uint64_t address, bool writes,
				   unsigned *flags)
{
	const struct coherence *coherence = &core->model->coherence;
	address &= ADDRESS_MASK;
	for (const struct cache *c = cache; !c->shared; c = core->caches[c->is.next]) {
		uint64_t line = address >> c->line_shift;
		const uint64_t *entries = c->main.entries + (uint64_t)lines_set(&c->main, line) * c->main.ways;
		uint32_t way;
		if (c->main.hashed || c->is.victim_lines)
			return false;
		way = set_find(entries, c->main.ways, line);
		if (way < c->main.ways) {
			*flags = entries[way] & (LINE_SHARED | LINE_ALONE);
			return !writes || *flags & LINE_ALONE;
		}
		if (c->is.next == MACHINE_NONE)
			break;
	}
	*flags = LINE_ALONE;
	if (!coherence_unshared(coherence, core->number, address))
		return false;
	coherence_gain(coherence, core->number, address);
	return true;
}

/* Returns the way, as the table calls it. */
static inline __attribute__((always_inline)) uint32_t simple_access(struct core *core, struct cache *cache,
								    uint64_t address, enum access_kind kind,
								    bool writes, unsigned flags)
{
	uint64_t line = (address & ADDRESS_MASK) >> cache->line_shift, *counts = core->counts->cache[cache->index];
	struct lines *lines = &cache->main;
	struct evicted evicted;
	uint32_t first = lines_set(lines, line) * lines->ways,
		 way = set_find(lines->entries + first, lines->ways, line), at = first + way;
	struct cache *next = cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
	bool simple = next && simple_behind(cache, next);
	unsigned dirty = 0;
	if (way < lines->ways) {
		if (__builtin_expect(lines->entries[at] & LINE_PREFETCHED, 0)) { /* by an instruction */
			lines->entries[at] &= ~(uint64_t)LINE_PREFETCHED;
			counts[CACHE_PREFETCHES_USED]++;
		}
		lines->touched[at] = ++core->recency;
		lines->written[at] |= writes;
		return cache->first_way + at;
	}
	counts[CACHE_READ_MISSES + kind]++;
	core->fill_flags = flags;
	core->missed = COHERENCE_NO;
	cache_order_miss(core, cache, line, kind);
	if (core->requests)
		requests_push(core, core->requests, address, requests_line(core, kind));
	else if (simple)
		simple_demand(core, next, (address & ADDRESS_MASK) >> next->line_shift, kind);
	else if (next)
		dirty = cache_request(core, next, line << cache->line_shift, cache->is.line_bytes, kind, false);
	at = first + set_earliest(lines->touched + first, lines->ways);
	evicted = fill_timed(counts, lines->entries, lines->written, at,
			     line << LINES_FLAGS | LINE_VALID | dirty | flags, writes);
	lines->touched[at] = ++core->recency;
	address = entry_line(evicted.entry) << cache->line_shift;
	if (evicted.entry)
		cache_forget(cache, entry_line(evicted.entry));
	if (core->requests) {
		if (evicted.dirty) {
			counts[CACHE_WRITE_BACKS]++;
			requests_push(core, core->requests, address, REQUESTS_WRITE_BACK);
		}
	} else if (simple && !cache->leaves && evicted.dirty &&
		   simple_write_back(next, address >> next->line_shift)) {
		counts[CACHE_WRITE_BACKS]++;
	} else if (evicted.dirty || (evicted.entry && cache->leaves)) {
		cache_leave(core, cache, evicted.entry | (evicted.dirty ? LINE_DIRTY : 0));
	}
	return cache->first_way + at;
}

static inline __attribute__((always_inline)) bool simple_run(struct core *core, uint64_t record)
{
	const struct machine *machine = &core->model->machine;
	uint64_t address = record & HIT_ADDRESS;
	unsigned data = HIT_TYPE_OF(record) & HIT_DATA, flags = 0;
	struct cache *cache = data ? core->first_data : core->first_instruction;
	enum access_kind kind = !data ? ACCESS_FETCH : record & HIT_WRITES_FIRST ? ACCESS_WRITE : ACCESS_READ;
	uint32_t page = FILTER_PAGES - 1, way = FILTER_LINES - 1;

	if (!(record & HIT_SIMPLE) || HIT_TYPE_OF(record) == HIT_PAGE)
		return false;
	if (core->model->snoops && cache && !simple_unshared(core, cache, address, data && record >> 63, &flags))
		return false;
	if ((data ? machine->first_data_tlb : machine->first_instruction_tlb) != MACHINE_NONE) {
		page = filter_find_page(&core->filter, !data, address);
		if (page < FILTER_PAGES)
			core->filter.pages[page] = ++core->recency;
		else if ((page = step_page(core, address, (enum model_tlb_count)kind)) == TLB_PASSED && data)
			return false;
	}
	core->counts->filter[data ? FILTER_NOT_INLINED_ACCESSES : FILTER_NOT_INLINED_FETCHES]++;
	if (cache)
		way = simple_access(core, cache, address, kind, record >> 63, flags);
	if (page < FILTER_PAGES && way < FILTER_LINES)
		filter_insert(&core->filter, data && flags & LINE_ALONE ? record | HIT_TYPE(HIT_WRITE) : record,
			      way, page);
	return true;
}
