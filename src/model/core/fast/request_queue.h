/*
 * What the first caches ask of the level behind them, done later and many at a time. On machines where no level
 * gives anything back to a first cache (nothing inclusive or exclusive that it would be told of, no prefetchers,
 * no coherence at work, nobody watching) what a first cache holds does not depend on what the levels behind it
 * did, only on being asked: so requests wait, in their order, and a level's sets come into the machine's own cache
 * while others are looked at.
 *
 *     first caches ──push──► entries of levels[0] ──core_settle()──► its cache ──misses, write-backs──► entries of levels[1] ──► … ──► memory
 *
 * What always holds:
 *  1. A cache whose requests wait is asked by nobody else: of the requests that go to one cache, the order is that
 *     of the program. A level behind the last of levels[] is asked at once by that one (cache_request(),
 *     cache_leave()).
 *  2. core->deferred is NULL, or &levels[0] while requests may wait. It becomes NULL only by core_settle();
 *     nothing waits while it is NULL.
 *  3. Of one core at a time something waits (model->waits), and only inside model_run(), or while generated code
 *     decides: what ended may be unmapped.
 *  4. Whatever looks at counts of outer levels, at what they hold, or asks them for another core, settles first:
 *     the end of model_run() and of model_inline_end(), other counts, other watches, another core (model.c,
 *     run.c).
 */
#ifndef TARE_MODEL_CORE_FAST_REQUEST_QUEUE_H
#define TARE_MODEL_CORE_FAST_REQUEST_QUEUE_H

#include "model/core/cache/cache.h"

#define REQUESTS_LEVELS 2u
#define REQUESTS_MOST 512u
/* entries in front of which a set is asked for: one takes about as long as a line of the machine's second cache */
#define REQUESTS_AHEAD 8u
#define REQUESTS_WRITE_BACK 3u /* beside enum access_kind */

struct request_queue {
	struct cache *cache;
	struct request_queue *next; /* or NULL: what is behind the cache is asked at once, or memory */
	uint32_t write_back_bytes;  /* of one that arrives */
	uint32_t n;
	/* address of the line wanted or written back, its two lowest bits: what is asked; lines have four bytes at
	 * least */
	uint64_t entries[REQUESTS_MOST + 2 + REQUESTS_AHEAD];
};

/* How many levels of the machine can wait; caches: which. */
unsigned requests_levels(const struct machine *machine, uint8_t caches[REQUESTS_LEVELS]);
/* From now on they do, if nobody watches. */
void requests_begin(struct core *core);
/* What waits is done. */
void requests_run(struct core *core, struct request_queue *level);
/* inline_vectors.c: with vectors, given back */
void requests_run_saved(struct core *core, struct request_queue *level);

static inline void requests_push(struct core *core, struct request_queue *level, uint64_t address, unsigned what)
{
	level->entries[level->n++] = (address & ~3ull) | what;
	if (__builtin_expect(level->n >= REQUESTS_MOST, 0))
		core->model->vectors ? requests_run_saved(core, level) : requests_run(core, level);
}

#endif
