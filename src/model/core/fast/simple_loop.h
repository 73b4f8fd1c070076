/*
 * Records that the table of hits does not have, on a plain machine: first-level caches without options
 * (cache/cache.h), no prefetches, nobody watching; of several cores, those that concern no other core. Included
 * twice (batch.c, vectors.c), with SIMPLE_VECTORS or without it.
 *
 *     page ──► line in its first-level cache? ──yes──► time
 *                 │ no
 *                 └─ asked for behind (here too, if that level is as plain) ──► in the place of the earliest
 */
#include "model/core/fast/request_queue.h"
#include "model/core/fast/plan.h"

/* ---- a set ---- */

#ifdef SIMPLE_VECTORS
#define ALL(ways) ((1u << (ways)) - 1)
/* Which of up to 16 ways has the line: bits. */
static inline uint32_t set_match(const uint64_t *entries, uint32_t ways, uint64_t line)
{
	__m512i wanted = _mm512_set1_epi64((long long)(line << LINES_FLAGS | LINE_VALID)),
		flags = _mm512_set1_epi64(LINE_VALID);
	__m512i a = _mm512_xor_epi64(_mm512_maskz_loadu_epi64((__mmask8)ALL(ways), entries), wanted);
	__m512i b = _mm512_xor_epi64(_mm512_maskz_loadu_epi64((__mmask8)(ALL(ways) >> 8), entries + 8), wanted);
	return (_mm512_cmplt_epu64_mask(a, flags) | (uint32_t)_mm512_cmplt_epu64_mask(b, flags) << 8) & ALL(ways);
}

static inline uint32_t set_least(const uint64_t *words, uint32_t ways)
{
	const __m512i most = _mm512_set1_epi64(-1);
	__m512i a = _mm512_mask_loadu_epi64(most, (__mmask8)ALL(ways), words);
	__m512i b = _mm512_mask_loadu_epi64(most, (__mmask8)(ALL(ways) >> 8), words + 8);
	__m512i least = _mm512_min_epu64(a, b);
	least = _mm512_min_epu64(least, _mm512_shuffle_i64x2(least, least, 0x4e));
	least = _mm512_min_epu64(least, _mm512_shuffle_i64x2(least, least, 0xb1));
	least = _mm512_min_epu64(least, _mm512_permutex_epi64(least, 0xb1));
	return (uint32_t)__builtin_ctz(_mm512_cmpeq_epi64_mask(a, least) |
				       (uint32_t)_mm512_cmpeq_epi64_mask(b, least) << 8);
}
#endif

/* Its way, or `ways`. */
static inline uint32_t set_find(const uint64_t *entries, uint32_t ways, uint64_t line)
{
	uint32_t way = 0;
#ifdef SIMPLE_VECTORS
	if (ways <= 16)
		return (uint32_t)__builtin_ctz(set_match(entries, ways, line) | 1u << ways);
#endif
#ifdef SIMPLE_ASM
	if (ways >= ASM_LEAST && ways <= ASM_MOST)
		return asm_find(entries, ways, line << LINES_FLAGS | LINE_VALID);
#endif
	while (way < ways && !entry_is(entries[way], line))
		way++;
	return way;
}

/* Of the times of timed LRU lines the earliest one's way: of free ways the first one's, as theirs are 0. */
static inline uint32_t set_earliest(const uint64_t *touched, uint32_t ways)
{
#ifdef SIMPLE_VECTORS
	if (ways <= 16)
		return set_least(touched, ways);
#endif
#ifdef SIMPLE_ASM
	if (ways >= ASM_LEAST && ways <= 16)
		return asm_least(touched, ways);
#endif
	return lines_least(touched, ways);
}

/* The entries in front of `way` move up by one, and `front` is the first. */
static inline void set_rotate(uint64_t *entries, uint32_t ways, uint32_t way, uint64_t front)
{
#ifdef SIMPLE_VECTORS
	if (ways <= 16) {
		__mmask16 moved = (__mmask16)((2u << way) - 1);
		__m512i a = _mm512_maskz_loadu_epi64((__mmask8)ALL(ways), entries);
		__m512i b = _mm512_maskz_loadu_epi64((__mmask8)(ALL(ways) >> 8), entries + 8);
		_mm512_mask_storeu_epi64(entries, (__mmask8)moved,
					 _mm512_alignr_epi64(a, _mm512_set1_epi64((long long)front), 7));
		_mm512_mask_storeu_epi64(entries + 8, (__mmask8)(moved >> 8), _mm512_alignr_epi64(b, a, 7));
		return;
	}
#endif
#ifdef SIMPLE_ASM
	if (ways >= ASM_LEAST && ways <= ASM_MOST) {
		asm_rotate(entries, ways, way, front);
		return;
	}
#endif
	(void)ways;
	for (; way; way--)
		entries[way] = entries[way - 1];
	*entries = front;
}

/* ---- levels ---- */

/* A line request at a cache that no access goes to first. */
static inline __attribute__((always_inline)) void simple_demand(struct core *core, struct cache *cache,
								uint64_t line, enum access_kind kind)
{
	uint64_t *counts = core->counts->cache[cache->index], *entries, last;
	uint32_t ways = cache->main.ways, way;
	struct cache *next;
	unsigned dirty = 0;
	entries = cache->main.entries + (uint64_t)lines_set(&cache->main, line) * ways;
	way = set_find(entries, ways, line);
	counts[CACHE_READS + kind]++;
	if (way < ways) {
		set_rotate(entries, ways, way, entries[way]);
		return;
	}
	counts[CACHE_READ_MISSES + kind]++;
	next = cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
	if (next)
		dirty = cache_request(core, next, line << cache->line_shift, cache->is.line_bytes, kind, false);
	counts[CACHE_FILLS]++;
	last = entries[ways - 1];
	set_rotate(entries, ways, ways - 1,
		   line << LINES_FLAGS | LINE_VALID | dirty | (cache->shared ? 0 : core->fill_flags));
	if (last) {
		counts[CACHE_EVICTIONS]++;
		cache_leave(core, cache, last);
	}
}

/* A dirty line arrives at a cache that no access goes to first. False: it is not there, nothing was done. */
static inline bool simple_write_back(struct cache *cache, uint64_t line)
{
	uint64_t *entries = cache->main.entries + (uint64_t)lines_set(&cache->main, line) * cache->main.ways;
	uint32_t way = set_find(entries, cache->main.ways, line);
	if (way < cache->main.ways)
		set_rotate(entries, cache->main.ways, way, entries[way] | LINE_DIRTY);
	return way < cache->main.ways;
}

/*
 * With several cores: whether the access is nobody else's business. *flags: what the line then has, or is to have
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
	uint64_t line = (address & ADDRESS_MASK) >> cache->line_shift, *counts = core->counts->cache[cache->index],
		 replaced;
	struct lines *lines = &cache->main;
	uint32_t first = lines_set(lines, line) * lines->ways,
		 way = set_find(lines->entries + first, lines->ways, line), at = first + way;
	struct cache *next = cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
	bool simple = next && next->simple && next->main.ordered && next->line_shift >= cache->line_shift;
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
	counts[CACHE_FILLS]++;
	core->fill_flags = flags;
	core->missed = COHERENCE_NO;
	if (core->requests)
		requests_push(core, core->requests, address, kind);
	else if (simple)
		simple_demand(core, next, (address & ADDRESS_MASK) >> next->line_shift, kind);
	else if (next)
		dirty = cache_request(core, next, line << cache->line_shift, cache->is.line_bytes, kind, false);
	at = first + set_earliest(lines->touched + first, lines->ways);
	replaced = lines->entries[at];
	lines->entries[at] = line << LINES_FLAGS | LINE_VALID | dirty | flags;
	lines->touched[at] = ++core->recency;
	if (replaced) {
		replaced |= lines->written[at] ? LINE_DIRTY : 0;
		cache_forget(cache, entry_line(replaced));
		counts[CACHE_EVICTIONS]++;
	}
	lines->written[at] = writes;
	if (core->requests) {
		if (replaced & LINE_DIRTY) {
			counts[CACHE_WRITE_BACKS]++;
			requests_push(core, core->requests, entry_line(replaced) << cache->line_shift,
				      REQUESTS_WRITE_BACK);
		}
	} else if (simple && !cache->leaves && replaced & LINE_DIRTY &&
		   simple_write_back(next, entry_line(replaced) << cache->line_shift >> next->line_shift))
		counts[CACHE_WRITE_BACKS]++;
	else if (replaced & LINE_DIRTY || (replaced && cache->leaves))
		cache_leave(core, cache, replaced);
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
