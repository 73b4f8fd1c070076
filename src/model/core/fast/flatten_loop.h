/*
 * Blocks into records: a plan's records with the addresses that this run of the block had, side by side for all
 * blocks of a batch. Included twice (batch.c, vectors.c), with FLATTEN_EIGHT(hows, displacements, entry, to) or
 * without it.
 *
 * How many records a block has is as hard to foresee as the program: where vectors are there eight are written at
 * once, however many of them count. Nothing here jumps by what a block is, but by what is rare.
 *
 * Equals   item_address() and the order of run_block() in run.c
 * For      as batch.c; FLATTEN_EIGHT: processors with AVX-512
 * Test     tests/model/run_test.c (with and without vectors)
 */
#include "model/core/fast/plan.h"

static __attribute__((noinline)) void flatten_each(const struct block_plan *plan, const uint64_t *entry,
						   unsigned from, uint64_t *to)
{
	const uint16_t *hows = plan_hows(plan);
	for (unsigned r = from; r < plan->records; r++) {
		uint64_t address = entry[plan_value(plan, r)] + (uint64_t)plan->displacement[r];
		uint64_t record = (address & HIT_ADDRESS) | HOW_RECORD(hows[r]);
		*to++ = address & (HOW_MISALIGNED(hows[r]) | ~HIT_ADDRESS) ? (record & ~HIT_SIMPLE) | HIT_IRREGULAR
									   : record;
	}
}

#ifdef FLATTEN_EIGHT
static __attribute__((noinline)) void flatten_large(const struct block_plan *plan, const uint64_t *entry,
						    unsigned from, uint64_t *to, bool eight)
{
	if (!eight || plan->flags & PLAN_WIDE)
		flatten_each(plan, entry, from, to);
	else
		for (unsigned r = from; r < plan->records; r += 8)
			FLATTEN_EIGHT(plan_hows(plan) + r, plan->displacement + r, entry, to + (r - from));
}
#endif

/* A header that no plan was found for: it is made. NULL: none is to be had, or it is a mark. */
static __attribute__((noinline)) const struct block_plan *flatten_plan(struct core *core,
								       const struct trace_program *program,
								       uint64_t header)
{
	struct plans *plans = core->model->plans;
	const struct block_plan *plan;
	if (header & TRACE_MARK || plan_of(plans, (uint32_t)header)->header == (header | PLAN_STEPS))
		return NULL;
	plan = plans_make(plans, core, program, (uint32_t)header);
	return plan->header & PLAN_STEPS ? NULL : plan;
}

/* Each block's branch is to be charged to it. */
static __attribute__((noinline)) void flatten_charged(struct core *core, const struct trace_program *program,
						      const struct batch *batch)
{
	for (uint32_t k = 0; k + 1 < batch->n_blocks; k++)
		if (batch->branches[k]->ending) {
			core->pending = *batch_entry(batch, k);
			resolve(core, program, batch->branches[k + 1]->begins);
		}
}

struct flattening { /* where it is */
	const uint64_t *entry;
	uint64_t *to;
	uint32_t n_blocks;
	uint64_t counts, fetches, next_pc;
};

/* Blocks from f->entry on that begin in front of `end`. False: one has no plan, or there is a mark. */
static inline __attribute__((always_inline)) bool flatten_blocks(struct core *core, struct batch *batch,
								 const struct trace_program *program,
								 struct flattening *f, const uint64_t *end,
								 bool branches, bool eight)
{
	const struct plans *const plans = core->model->plans;
	const uint8_t *const words = plans->words;
	const uint32_t *const at = plans->at;
	const uint64_t *const memory = plans->memory;
	struct flattening now = *f;
	bool whole = true;

	while (now.entry < end && now.n_blocks < BATCH_BLOCKS) {
		const uint64_t header = *now.entry;
		const uint32_t slot = (uint32_t)header % PLAN_SLOTS;
		const struct block_plan *plan = (const struct block_plan *)(memory + at[slot]);
		unsigned sequential, skips;

		if (__builtin_expect(plan->header != header, 0)) {
			/* those in front may have to make room */
			plan = now.n_blocks ? NULL : flatten_plan(core, program, header);
			if (!plan) {
				whole = false;
				break;
			}
		}
		if (branches)
			batch->branches[now.n_blocks] = (struct static_branch *)&plan->branch;
		sequential = plan->branch.begins == now.next_pc;
		now.next_pc = plan->branch.behind;
		skips = sequential & plan->skips;
		now.counts += plan->sums;
		now.fetches += plan->fetches[sequential];
		batch->blocks[now.n_blocks].entry = (uint32_t)(uintptr_t)now.entry | skips;
		batch->blocks[now.n_blocks].record = (uint32_t)(uintptr_t)now.to;
		now.n_blocks++;
#ifdef FLATTEN_EIGHT
		if (__builtin_expect(!eight || plan->flags & PLAN_LARGE, 0))
			flatten_large(plan, now.entry, skips, now.to, eight);
		else
			FLATTEN_EIGHT(plan->how + skips, plan->displacement + skips, now.entry, now.to);
#else
		(void)eight;
		flatten_each(plan, now.entry, skips, now.to);
#endif
		now.to += plan->records - skips;
		now.entry += words[slot];
	}
	*f = now;
	return whole;
}

static inline __attribute__((always_inline)) size_t flatten_run(struct core *core, struct batch *batch,
								const struct trace_program *program,
								const uint64_t *entries, size_t i, size_t n,
								bool branches)
{
	struct flattening f = {.entry = entries + i, .to = batch->records, .next_pc = core->next_pc};
	/* of the last few entries it may not read eight words */
	if (n - i < 8 || flatten_blocks(core, batch, program, &f, entries + n - 7, branches, true))
		flatten_blocks(core, batch, program, &f, entries + n, branches, false);
	batch->entries = entries;
	batch->n_blocks = f.n_blocks;
	batch->n_records = (uint32_t)(f.to - batch->records);
	batch->cursor = 0;
	batch->counts = f.counts;
	batch->fetches = f.fetches;
	core->next_pc = f.next_pc;
	if (branches && f.n_blocks) { /* where the last one went is not known yet */
		if (__builtin_expect(core->charges_branches == CHARGES_EACH, 0))
			flatten_charged(core, program, batch);
		else if (__builtin_expect(core->charges_branches, 0))
			branches_run_charged(core, batch->branches, f.n_blocks - 1);
		else
			branches_run(core->branches, batch->branches, f.n_blocks - 1);
		core->pending = batch->branches[f.n_blocks - 1]->ending ? *batch_entry(batch, f.n_blocks - 1)
									: NO_BLOCK;
	}
	return (size_t)(f.entry - entries);
}
