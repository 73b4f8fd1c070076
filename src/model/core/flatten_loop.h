/*
 * Blocks into records: a plan's records with the addresses that this run of the block had, side by side for all blocks of a batch.
 * Included twice (flatten.c, flatten_vectors.c), with FLATTEN_EIGHT(plan, entry, from, to, lines) or without it.
 *
 * How many records a block has is as hard to foresee as the program: where vectors are there eight are written at once, however many of
 * them count, and nothing here jumps by what a block is, but by what is rare.
 */
#include "model/core/plan.h"

static inline uint64_t flatten_one(uint64_t value, int64_t displacement, uint32_t how, uint64_t lines)
{
	uint64_t low = value + (uint64_t)displacement, high = low + HOW_SPAN(how);
	uint64_t odd = (low & HOW_MISALIGNED(how)) | ((low ^ high) & lines) | (low & ~HIT_ADDRESS);
	uint64_t record = (low & HIT_ADDRESS) | HOW_RECORD(how);
	return odd ? (record & ~HIT_PLAIN) | HIT_ODD : record;
}

static void flatten_each(const struct plan *plan, const uint64_t *entry, unsigned from, uint64_t *to, uint64_t lines)
{
	const uint32_t *hows = plan_hows(plan);
	for (unsigned r = from; r < plan->records; r++)
		*to++ = flatten_one(entry[HOW_VALUE(hows[r])], plan->displacement[r], hows[r], lines);
}

/* A header that no plan was found for: it is made. NULL: none is to be had, or it is a mark. */
static __attribute__((noinline)) const struct plan *flatten_plan(struct core *core, const struct trace_program *program, uint64_t header)
{
	struct plans *plans = core->model->plans;
	const struct plan *plan;
	if (header & TRACE_MARK || plan_of(plans, (uint32_t)header)->header == (header | PLAN_STEPS))
		return NULL;
	plan = plans_make(plans, core, program, (uint32_t)header);
	return plan->header & PLAN_STEPS ? NULL : plan;
}

static inline void flatten_post(struct core *core, const struct trace_program *program, const struct plan *plan, uint64_t went_to)
{
	if (__builtin_expect(!core->model->charges_branches, 1)) {
		branches_post(core->branches, (struct branch_site *)&plan->site, went_to);
		return;
	}
	core->pending = plan->header;
	resolve(core, program, went_to);
}

static inline __attribute__((always_inline)) size_t flatten_run(struct core *core, struct batch *batch, const struct trace_program *program,
							 const uint64_t *entries, size_t i, size_t n, bool branches)
{
	const struct plans *const plans = core->model->plans;
	const uint8_t *const words = plans->words;
	const uint32_t *const at = plans->at;
	const uint64_t *const memory = plans->memory;
	const struct cache *data = core->first_data;
	const uint64_t lines = data && data->line_shift < 6 ? ~0ull << data->line_shift : ~63ull;
	struct batch_block *block = batch->blocks, *const blocks_end = block + BATCH_BLOCKS;
	uint64_t *to = batch->records, *const records_end = to + BATCH_RECORDS, counts = 0, fetches = 0, next_pc = core->next_pc;
	const struct plan *pending = NULL;

	while (i < n && to < records_end && block < blocks_end) {
		const uint64_t header = entries[i];
		const uint32_t slot = (uint32_t)header % PLAN_SLOTS;
		const struct plan *plan = (const struct plan *)(memory + at[slot]);
		unsigned sequential, skips;

		if (__builtin_expect(plan->header != header, 0)) {
			if (header & TRACE_MARK)
				break;
			/* the pending plan may have to make room */
			if (branches && pending)
				flatten_post(core, program, pending, program->blocks[(uint32_t)header].pc);
			pending = NULL;
			plan = flatten_plan(core, program, header);
			if (!plan)
				break;
		}
		if (branches && pending)
			flatten_post(core, program, pending, plan->pc);
		pending = branches && plan->flags & PLAN_BRANCHES ? plan : NULL;
		sequential = plan->pc == next_pc;
		skips = sequential & plan->skips;
		next_pc = plan->pc + plan->length;
		counts += plan->sums;
		fetches += plan->fetches[sequential];
		block->entry = (uint32_t)i | skips << BATCH_SKIPPED;
		block->record = (uint32_t)(to - batch->records);
		block++;
#ifdef FLATTEN_EIGHT
		if (__builtin_expect(plan->flags & PLAN_LARGE || n - i < 8, 0))
			flatten_each(plan, entries + i, skips, to, lines);
		else
			FLATTEN_EIGHT(plan, entries + i, skips, to, lines);
#else
		flatten_each(plan, entries + i, skips, to, lines);
#endif
		to += plan->records - skips;
		i += words[slot];
	}
	batch->entries = entries;
	batch->n_blocks = (uint32_t)(block - batch->blocks);
	batch->n_records = (uint32_t)(to - batch->records);
	batch->cursor = 0;
	batch->counts = counts;
	batch->fetches = fetches;
	core->next_pc = next_pc;
	if (block != batch->blocks)
		core->pending = pending ? pending->header : NO_BLOCK;
	return i;
}
