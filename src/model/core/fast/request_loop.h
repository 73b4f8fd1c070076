/*
 * The requests of a level's queue (request_queue.h), one after another. Included behind simple_loop.h by
 * request_queue.c (in C) and by inline_vectors.c (AVX-512).
 *
 * Equals   demand() and write_back_line() of cache/hierarchy.c
 * For      requests_levels(): simple caches with ordered sets
 * Test     tests/model/requests_test.c (with and without vectors)
 */
#include "model/core/fast/request_queue.h"

static void run_level(struct core *core, struct request_queue *level);

/* Asked of the cache behind the level's, or of memory. */
static inline void ask_behind(struct core *core, struct request_queue *level, uint64_t address, unsigned what)
{
	struct request_queue *next = level->next;
	next->entries[next->n++] = address | what;
	if (__builtin_expect(next->n == REQUESTS_MOST, 0))
		run_level(core, next);
}

/* A line that is not there is wanted. */
static inline void run_miss(struct core *core, struct request_queue *level, uint64_t *entries, uint32_t ways,
			    uint64_t address, enum access_kind kind, unsigned ordered)
{
	struct cache *cache = level->cache,
		     *next = cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
	uint64_t *counts = core->counts->cache[cache->index], line = address >> cache->line_shift;
	struct evicted evicted;
	unsigned dirty = 0;
	counts[CACHE_READ_MISSES + kind]++;
	counts[CACHE_ORDERED_MISSES] += ordered;
	core->ordered = ordered;
	if (level->next)
		ask_behind(core, level, address, requests_line(core, kind));
	else if (next)
		dirty = cache_request(core, next, line << cache->line_shift, cache->is.line_bytes, kind, false);
	evicted = fill_ordered(counts, entries, ways, line << LINES_FLAGS | LINE_VALID | dirty);
	if (!level->next) {
		if (evicted.entry)
			cache_leave(core, cache, evicted.entry);
	} else if (evicted.dirty) {
		counts[CACHE_WRITE_BACKS]++;
		ask_behind(core, level, entry_line(evicted.entry) << cache->line_shift, REQUESTS_WRITE_BACK);
	}
}

/* It was written back, and is not there. */
static inline void run_passed(struct core *core, struct request_queue *level, uint64_t address)
{
	struct cache *cache = level->cache;
	core->counts->cache[cache->index][CACHE_WRITE_BACKS_PASSED]++;
	if (level->next)
		ask_behind(core, level, address, REQUESTS_WRITE_BACK);
	else if (cache->is.next != MACHINE_NONE)
		cache_write_back(core, core->caches[cache->is.next], address, level->write_back_bytes);
}

/* The words of a request's set, on their way here. */
static inline __attribute__((always_inline)) uint64_t *coming(const struct lines *lines, uint64_t line,
							      uint32_t ways)
{
	uint64_t *entries = lines->entries + (uint64_t)lines_set(lines, line) * ways;
	for (uint32_t way = 0; way < ways; way += 8)
		__builtin_prefetch(entries + way);
	if (ways & 7)
		__builtin_prefetch(entries + ways - 1); /* sets that begin inside a line of the machine's */
	return entries;
}

static inline __attribute__((always_inline)) void run_requests(struct core *core, struct request_queue *level,
							       uint32_t ways)
{
	const struct lines *lines = &level->cache->main;
	uint64_t *sets[REQUESTS_AHEAD], asked[REQUESTS_WHAT + 1] = {0}, ordered = 0, *counts;
	const uint32_t n = level->n, shift = level->cache->line_shift;
	for (uint32_t i = 0; i < REQUESTS_AHEAD; i++)
		sets[i] = coming(lines, level->entries[i] >> shift, ways);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t entry = level->entries[i], *entries = sets[i % REQUESTS_AHEAD];
		uint32_t way = set_find(entries, ways, entry >> shift);
		sets[i % REQUESTS_AHEAD] = coming(lines, level->entries[i + REQUESTS_AHEAD] >> shift, ways);
		unsigned what = entry & REQUESTS_WHAT, in_order = entry / REQUESTS_ORDERED & 1;
		uint64_t address = entry & -(uint64_t)REQUESTS_LINE_LEAST;
		asked[what]++;
		ordered += in_order;
		if (way < ways)
			set_rotate(entries, ways, way,
				   entries[way] | (what == REQUESTS_WRITE_BACK ? LINE_DIRTY : 0));
		else if (what == REQUESTS_WRITE_BACK)
			run_passed(core, level, address);
		else
			run_miss(core, level, entries, ways, address, (enum access_kind)what, in_order);
	}
	counts = core->counts->cache[level->cache->index];
	for (unsigned kind = 0; kind < REQUESTS_WRITE_BACK; kind++)
		counts[CACHE_READS + kind] += asked[kind];
	counts[CACHE_ORDERED] += ordered;
	level->n = 0;
}

static void run_level(struct core *core, struct request_queue *level)
{
	unsigned ordered = core->ordered; /* of the access that filled the queue */
	core->fill_flags = 0;
	core->missed = COHERENCE_NO;
	if (level->cache->main.ways == 16)
		run_requests(core, level, 16);
	else
		run_requests(core, level, level->cache->main.ways);
	core->ordered = ordered;
}
