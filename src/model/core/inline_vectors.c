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

void quick_record_saved(struct core *core, uint64_t record, uint32_t page)
{
	struct saved saved;
	save(&saved);
	quick_record(core, record, page, true);
	if (__builtin_expect(core->deferred && core->deferred->n >= DEFERRED_MOST, 0))
		run_level(core, core->deferred);
	restore(&saved);
}

void deferred_run_saved(struct core *core, struct deferred *level)
{
	struct saved saved;
	save(&saved);
	run_level(core, level);
	restore(&saved);
}
