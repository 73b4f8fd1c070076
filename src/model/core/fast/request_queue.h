/*
 * Queues of what the first-level caches ask of the levels behind them, so that a level does many requests at a
 * time. While one request's set is looked at, the sets of the next ones are on their way from the host's memory.
 *
 *   terms   request     a line that is wanted, or a dirty line that is written back: its address, and in the two lowest
 *                       bits what (enum access_kind, or REQUESTS_WRITE_BACK), and whether it is in order
 *           level       a cache behind the first-level caches, with the queue of what is asked of it
 *           settle      to carry out all requests that wait: core_settle()
 *
 * Why it may wait: if no level gives anything back to a first-level cache, what that cache holds depends only on
 * what it asks for, not on what the levels behind did. So there must be nothing inclusive (it takes lines away
 * from the front), no exclusive level to be told of, no prefetcher, no coherence at work, and nothing that watches
 * counts meanwhile.
 *
 *     first-level caches ──requests_push()──► levels[0].entries ──full, or settled──► levels[0].cache
 *                                                                                       │ its misses and write-backs
 *                                                                                       ▼
 *                                             levels[1].entries ──full, or settled──► levels[1].cache ──► next cache, memory: at once
 *
 *     states of a core   core->requests NULL: nothing waits, all is asked at once
 *                          │ requests_begin()            ▲ core_settle()
 *                          ▼                             │
 *                        core->requests == &levels[0]: requests may wait; model->waits is this core
 *
 * What always holds:
 *  1. All that asks a cache with a queue goes through its queue, so the cache sees its requests in program order.
 *     The cache behind the last queue is asked at once by that queue's level (cache_request(), cache_leave()).
 *  2. core->requests is NULL, or &levels[0]. Only core_settle() makes it NULL; nothing waits while it is NULL.
 *  3. Requests of one core at a time wait (model->waits), and only inside model_run() or while generated code
 *     resolves accesses: a core that ended may be unmapped.
 *  4. Whatever reads counts of the levels behind, looks at what they hold, or asks them for another core, settles
 *     first: the end of model_run() and of model_inline_end(), model_core_counts(), model_watch(),
 *     model_core_init(), another core's access (core_acts()).
 *
 * Equals   cache_request() and cache_write_back() of cache/hierarchy.c, called at once
 * For      requests_levels(): see above; up to REQUESTS_LEVELS simple, ordered caches in a row whose lines are
 *          at least as long as those in front
 * Test     tests/model/requests_test.c
 */
#ifndef TARE_MODEL_CORE_FAST_REQUEST_QUEUE_H
#define TARE_MODEL_CORE_FAST_REQUEST_QUEUE_H

#include "model/core/cache/cache.h"

#define REQUESTS_LEVELS 2u
#define REQUESTS_MOST 512u
/* how many entries ahead a set is asked for: one takes about as long as a line of the machine's second cache */
#define REQUESTS_AHEAD 8u
#define REQUESTS_WRITE_BACK 3u /* beside enum access_kind */
#define REQUESTS_WHAT 3u
#define REQUESTS_ORDERED 4u    /* wanted by a miss in order (cache/order.h) */
#define REQUESTS_LINE_LEAST 8u /* bytes, of all lines: an address has room for these bits */

struct request_queue {
	struct cache *cache;
	struct request_queue *next; /* or NULL: what is behind the cache is asked at once, or memory */
	uint32_t write_back_bytes;  /* of one that arrives */
	uint32_t n;
	/* address of the line wanted or written back, its three lowest bits: what is asked */
	uint64_t entries[REQUESTS_MOST + 2 + REQUESTS_AHEAD];
};

/* How many levels of the machine can wait; caches: which. */
unsigned requests_levels(const struct machine *machine, const struct model_options *options,
			 uint8_t caches[REQUESTS_LEVELS]);
/* From now on they do, if nobody watches. */
void requests_begin(struct core *core);
/* What waits is done. */
void requests_run(struct core *core, struct request_queue *level);
/* inline_vectors.c: with vectors, given back */
void requests_run_saved(struct core *core, struct request_queue *level);

/* What a line that is wanted by the access under way has beside its address. */
static inline unsigned requests_line(const struct core *core, unsigned kind)
{
	return kind | (core->ordered == ORDER_IN_ORDER ? REQUESTS_ORDERED : 0);
}

static inline void requests_push(struct core *core, struct request_queue *level, uint64_t address, unsigned what)
{
	level->entries[level->n++] = (address & -(uint64_t)REQUESTS_LINE_LEAST) | what;
	if (__builtin_expect(level->n >= REQUESTS_MOST, 0))
		core->model->vectors ? requests_run_saved(core, level) : requests_run(core, level);
}

#endif
