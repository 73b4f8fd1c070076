/*
 * What the headers of inlined blocks count (inline.h): instructions, and accesses and fetches as hits; rep
 * instructions and gathers count themselves. Headers update no cache and no TLB; their branches are predicted.
 *
 * Equals   what run_block() of run.c counts, less what misses counted themselves
 * For      blocks that are TRACE_INLINED
 * Test     tests/model/inline_test.c, tests/model/branches_test.c
 */
#include "model/core/fast/plan.h"

void inlined_sums(const struct trace_item *items, unsigned n, uint64_t *reads, uint64_t *writes)
{
	for (unsigned i = 0; i < n; i++)
		if (inlined_counts(&items[i]))
			++*(items[i].kind == TRACE_READ ? reads : writes);
}

/* ---- a header by itself ---- */

static uint64_t units(uint64_t first, uint64_t last, unsigned shift)
{
	return (last >> shift) - (first >> shift) + 1;
}

/* What an inlined block's header counts. done: instructions executed; UINT32_MAX: all. */
void run_inlined(struct core *core, const struct trace_program *program, uint32_t number, uint32_t done)
{
	const struct trace_block *block = &program->blocks[number];
	const struct machine *machine = &core->model->machine;
	unsigned line_shift = core->first_instruction ? core->first_instruction->line_shift : 6,
		 unit_shift = core->model->fetch_shift;
	bool whole = done >= block->insns, sequential = block->pc == core->next_pc;
	uint64_t *stream = core->counts->stream, reads = 0, writes = 0, last, entered;
	uint32_t items = block->items, fetched = block->length;

	if (core->pending != NO_BLOCK)
		resolve(core, program, block->pc);
	if (!whole)
		items = run_items_done(block, program->items + block->first_item, done, &fetched);
	last = block->pc + fetched - 1;
	stream[STREAM_BLOCKS]++;
	core->counts->filter[FILTER_INLINED_BLOCKS]++;
	stream[STREAM_INSTRUCTIONS] += whole ? block->insns : done;
	inlined_sums(program->items + block->first_item, items, &reads, &writes);
	stream[STREAM_READS] += reads;
	stream[STREAM_WRITES] += writes;
	step_count_hits(core, false, reads, reads);
	step_count_hits(core, true, writes, writes);
	/* a unit that the byte before is in is not entered again */
	entered = units(block->pc, last, unit_shift) - (sequential && block->pc & ((1ull << unit_shift) - 1));
	stream[STREAM_FETCH_BLOCKS] += entered;
	if (machine->first_instruction_tlb != MACHINE_NONE)
		core->counts->tlb[machine->first_instruction_tlb][TLB_FETCHES] += entered;
	if (core->first_instruction)
		core->counts->cache[core->first_instruction->index][CACHE_FETCHES] +=
			units(block->pc, last, line_shift) -
			(sequential && block->pc & ((1ull << line_shift) - 1));
	core->next_pc = whole ? block->pc + block->length : NOWHERE;
	core->pending = whole && block->ending != TRACE_END_NONE && block->ending != TRACE_END_SYSTEM ? number
												      : NO_BLOCK;
}

/* ---- many ---- */

static size_t run_headers_of(struct core *core, const struct trace_program *program, const uint64_t *entries,
			     size_t i, size_t n, bool branches)
{
	struct plans *plans = core->model->plans;
	struct batch *batch = core->model->batch;
	const uint32_t *const at = plans->at;
	const uint64_t *const memory = plans->memory;
	uint64_t counts = 0, fetches = 0, next_pc = core->next_pc;
	size_t first = i, end = n - i > BATCH_BLOCKS ? i + BATCH_BLOCKS : n;

	for (; i < end; i++) {
		const uint64_t header = entries[i];
		const struct block_plan *plan = (const struct block_plan *)(memory +
									    at[(uint32_t)header % PLAN_SLOTS]);
		if (__builtin_expect(plan->header != header, 0)) {
			/* those in front may have to make room */
			if (i > first || header & TRACE_MARK || plan->header == (header | PLAN_STEPS) ||
			    !(program->blocks[(uint32_t)header].flags & TRACE_INLINED))
				break;
			plan = plans_make(plans, core, program, (uint32_t)header);
			if (plan->header & PLAN_STEPS)
				break;
		}
		if (__builtin_expect(!(plan->flags & PLAN_INLINED), 0))
			break;
		if (branches)
			batch->branches[i - first] = (struct static_branch *)&plan->branch;
		counts += plan->sums;
		fetches += plan->fetches[plan->branch.begins == next_pc];
		next_pc = plan->branch.behind;
	}
	core->next_pc = next_pc;
	batch->counts = counts;
	batch->fetches = fetches;
	return i;
}

/* What each block's branch does is to be charged to it; but the last one's: where it went is not known yet. */
static __attribute__((noinline)) void resolve_charged(struct core *core, const struct trace_program *program,
						      const uint64_t *entries, size_t n)
{
	const struct batch *batch = core->model->batch;
	for (size_t k = 0; k + 1 < n; k++)
		if (batch->branches[k]->ending) {
			core->pending = entries[k];
			resolve(core, program, batch->branches[k + 1]->begins);
		}
}

/* Headers from i on, as far as they are of inlined blocks that have a plan, and only so many. Returns where it
 * stopped. */
size_t run_headers(struct core *core, const struct trace_program *program, const uint64_t *entries, size_t i,
		   size_t n)
{
	struct batch *batch = core->model->batch;
	size_t first, blocks;
	if (core->pending != NO_BLOCK && !(entries[i] & TRACE_MARK))
		resolve(core, program, program->blocks[(uint32_t)entries[i]].pc);
	for (; core->charges_branches != CHARGES_EACH && (blocks = run_heads(core, entries + i, n - i));
	     i += blocks) {
		core->counts->filter[FILTER_INLINED_BLOCKS] += blocks;
		batch_add(core, batch);
	}
	first = i;
	i = core->branches ? run_headers_of(core, program, entries, i, n, true)
			   : run_headers_of(core, program, entries, i, n, false);
	blocks = i - first;
	if (!blocks)
		return i;
	core->counts->filter[FILTER_INLINED_BLOCKS] += blocks;
	if (core->branches) { /* where the last one went is not known yet */
		if (__builtin_expect(core->charges_branches == CHARGES_EACH, 0))
			resolve_charged(core, program, entries + first, blocks);
		else if (__builtin_expect(core->charges_branches, 0))
			branches_run_charged(core, batch->branches, (uint32_t)blocks - 1);
		else
			branches_run(core->branches, batch->branches, (uint32_t)blocks - 1);
		core->pending = batch->branches[blocks - 1]->ending ? entries[i - 1] : NO_BLOCK;
	}
	batch_add(core, batch);
	return i;
}
