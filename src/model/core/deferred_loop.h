/* The requests of a level, one after another: behind plain_loop.h (deferred.c, inline_vectors.c). */
#include "model/core/deferred.h"

static inline const uint64_t *set_at(const struct lines *lines, uint64_t line)
{
	return lines->entries + (uint64_t)lines_set(lines, line) * lines->ways;
}

static inline void prefetch_words(const uint64_t *entries, uint32_t ways)
{
	for (uint32_t way = 0; way < ways; way += 8)
		__builtin_prefetch(entries + way);
	__builtin_prefetch(entries + ways - 1);
}

static void run_level(struct core *core, struct deferred *level);

/* Asked of the cache behind the level's, or of memory. */
static inline void ask_behind(struct core *core, struct deferred *level, uint64_t address, unsigned what)
{
	struct deferred *next = level->next;
	next->entries[next->n++] = address | what;
	if (__builtin_expect(next->n == DEFERRED_MOST, 0))
		run_level(core, next);
}

static inline void run_demand(struct core *core, struct deferred *level, uint64_t *entries, uint32_t way, uint64_t line, enum trace_kind kind)
{
	struct cache *cache = level->cache, *next = cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
	uint64_t *counts = core->counts->cache[cache->index], address = line << cache->line_shift, last;
	uint32_t ways = cache->main.ways;
	unsigned dirty = 0;
	counts[CACHE_READS + kind]++;
	if (way < ways) {
		set_rotate(entries, ways, way, entries[way]);
		return;
	}
	counts[CACHE_READ_MISSES + kind]++;
	counts[CACHE_FILLS]++;
	if (level->next)
		ask_behind(core, level, address, kind);
	else if (next)
		dirty = cache_request(core, next, address, cache->is.line_bytes, kind, false);
	last = entries[ways - 1];
	set_rotate(entries, ways, ways - 1, line << LINES_FLAGS | LINE_VALID | dirty);
	if (!last)
		return;
	counts[CACHE_EVICTIONS]++;
	if (!level->next) {
		cache_leave(core, cache, last);
	} else if (last & LINE_DIRTY) {
		counts[CACHE_WRITE_BACKS]++;
		ask_behind(core, level, entry_line(last) << cache->line_shift, DEFERRED_WRITE_BACK);
	}
}

static inline void run_write_back(struct core *core, struct deferred *level, uint64_t *entries, uint32_t way, uint64_t address)
{
	struct cache *cache = level->cache;
	if (way < cache->main.ways) {
		set_rotate(entries, cache->main.ways, way, entries[way] | LINE_DIRTY);
		return;
	}
	core->counts->cache[cache->index][CACHE_WRITE_BACKS_PASSED]++;
	if (level->next)
		ask_behind(core, level, address, DEFERRED_WRITE_BACK);
	else if (cache->is.next != MACHINE_NONE)
		cache_write_back(core, core->caches[cache->is.next], address, level->write_back_bytes);
}

static void run_level(struct core *core, struct deferred *level)
{
	struct cache *cache = level->cache;
	const struct lines *lines = &cache->main;
	uint32_t n = level->n, ways = lines->ways;
	core->fill_flags = 0;
	core->missed = COHERENCE_NO;
	for (uint32_t i = 0; i < DEFERRED_AHEAD; i++)
		prefetch_words(set_at(lines, level->entries[i] >> cache->line_shift), ways);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t entry = level->entries[i], line = entry >> cache->line_shift;
		uint64_t *entries = lines->entries + (uint64_t)lines_set(lines, line) * ways;
		uint32_t way = set_find(entries, ways, line);
		prefetch_words(set_at(lines, level->entries[i + DEFERRED_AHEAD] >> cache->line_shift), ways);
		if ((entry & 3) == DEFERRED_WRITE_BACK)
			run_write_back(core, level, entries, way, entry & ~3ull);
		else
			run_demand(core, level, entries, way, line, (enum trace_kind)(entry & 3));
	}
	level->n = 0;
}
