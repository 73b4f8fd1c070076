/*
 * What was not found in generated code (inline.c), with AVX-512 where no vector register may change: plain_loop.h and deferred_loop.h with
 * saved_vectors.h, and all is put back behind them.
 */
#include "model/core/vectors.h"

#if defined(__x86_64__) && !defined(__AVX512F__)
#include "model/core/saved_vectors.h"
#else /* never called, or without: model->vectors says that they are there, not that they are worth it */
struct saved { char unused; };
static void save(struct saved *to) { (void)to; }
static void restore(const struct saved *from) { (void)from; }
#endif

#include "model/core/quick.h"
#include "model/core/deferred_loop.h"

bool plain_record_saved(struct core *core, uint64_t record)
{
	struct saved saved;
	bool done;
	save(&saved);
	done = plain_run(core, record);
	restore(&saved);
	return done;
}

static inline __attribute__((always_inline)) void quick_saved(struct core *core, bool data, uint64_t record, uint32_t page, uint32_t ways)
{
	struct saved saved;
	save(&saved);
	quick_access_64(core, data, record, page, ways);
	if (__builtin_expect(core->deferred->n >= DEFERRED_MOST, 0))
		run_level(core, core->deferred);
	restore(&saved);
}

static __attribute__((noinline)) void quick_data_any(struct core *core, uint64_t record, uint32_t page)
{
	quick_saved(core, true, record, page, core->first_data->main.ways);
}

static __attribute__((noinline)) void quick_fetch_any(struct core *core, uint64_t record, uint32_t page)
{
	quick_saved(core, false, record, page, core->first_instruction->main.ways);
}

static __attribute__((noinline)) void quick_data_12(struct core *core, uint64_t record, uint32_t page)
{
	quick_saved(core, true, record, page, 12);
}

void quick_data_saved(struct core *core, uint64_t record, uint32_t page)
{
	if (core->first_data->main.ways == 12)
		quick_data_12(core, record, page);
	else if (core->first_data->main.ways == 8)
		quick_saved(core, true, record, page, 8);
	else
		quick_data_any(core, record, page);
}

void quick_fetch_saved(struct core *core, uint64_t record, uint32_t page)
{
	if (core->first_instruction->main.ways == 8)
		quick_saved(core, false, record, page, 8);
	else
		quick_fetch_any(core, record, page);
}

void deferred_run_saved(struct core *core, struct deferred *level)
{
	struct saved saved;
	save(&saved);
	run_level(core, level);
	restore(&saved);
}
