/*
 * The common case of model_run(): up to 512 blocks are flattened into records (flatten_loop.h), and what the
 * filter says to hit is done by its three stores. The rest is looked up, record by record, in the program's order.
 *
 *     record ──in the filter──► times
 *       ├─ simple caches ──► its TLB, its cache (simple_loop.h), inserted into the filter
 *       └─ else ──► its items, step by step (step.c), inserted into the filter
 *
 * Where sets are sampled (sample.h), records of lines that are not modelled are left out: the batch's sums count
 * them as hits.
 *
 * Equals   run_block() of run.c
 * For      machines with a filter (filter.h), blocks with a plan (plan.h); no watch on what a batch sums
 *          (charges_all)
 * Test     tests/model/run_test.c, tests/model/sample_test.c, tests/unit/model_cache_test.c
 */
#include "model/core/fast/flatten_loop.h"
#include "model/core/fast/simple_loop.h"
#include "model/core/fast/vectors.h"
#include "model/core/sample.h"

#define FIELD(sum, i) ((sum) >> (i)*PLAN_FIELD & ((1ull << PLAN_FIELD) - 1))

void batch_add(struct core *core, const struct batch *batch)
{
	struct model_counts *counts = core->counts;
	const struct machine *machine = &core->model->machine;
	uint64_t reads = FIELD(batch->counts, 1), writes = FIELD(batch->counts, 2);
	uint64_t lines = FIELD(batch->fetches, 0), units = FIELD(batch->fetches, 1);
	counts->stream[STREAM_INSTRUCTIONS] += FIELD(batch->counts, 0);
	counts->stream[STREAM_READS] += reads;
	counts->stream[STREAM_WRITES] += writes;
	counts->stream[STREAM_FETCH_BLOCKS] += units;
	counts->stream[STREAM_BLOCKS] += FIELD(batch->fetches, 2);
	if (core->first_instruction)
		counts->cache[core->first_instruction->index][CACHE_FETCHES] += lines;
	if (machine->first_instruction_tlb != MACHINE_NONE)
		counts->tlb[machine->first_instruction_tlb][TLB_FETCHES] += units -
									    core->self_counted_pages[TLB_FETCHES];
	step_count_hits(core, false, reads - core->self_counted[TRACE_READ],
			reads - core->self_counted_pages[TLB_READS]);
	step_count_hits(core, true, writes - core->self_counted[TRACE_WRITE],
			writes - core->self_counted_pages[TLB_WRITES]);
	core->self_counted[0] = core->self_counted[1] = core->self_counted_pages[0] = core->self_counted_pages[1] =
		core->self_counted_pages[2] = 0;
}

/* The block that the record is of; records are asked for in their order. */
static uint32_t block_of(struct batch *batch, uint32_t record)
{
	while (batch->cursor + 1 < batch->n_blocks && batch_record(batch, batch->cursor + 1) <= record)
		batch->cursor++;
	return batch->cursor;
}

/* The items of the batch's record, one by one. */
static void run_items(struct core *core, const struct trace_program *program, struct batch *batch, uint32_t k,
		      uint64_t fs_base)
{
	const uint32_t block = block_of(batch, k);
	const uint64_t *entry = batch_entry(batch, block);
	uint32_t number = (uint32_t)*entry, r = k - batch_record(batch, block) + batch_skipped(batch, block), i,
		 end;
	const struct block_plan *plan = plan_of(core->model->plans, number);
	struct plan_items items;
	if (plan->header != number)
		plan = plans_make(core->model->plans, core, program, number);
	items = plan_items(plan)[r];
	i = program->blocks[number].first_item + items.first;
	end = i + items.n;
	if (HOW_RECORD(plan_hows(plan)[r]) & HIT_STEPS) {
		while (i < end) {
			i += run_item(core, program, i, end, entry + 1, fs_base);
			charge_item(core, i - 1);
		}
		return;
	}
	for (; i < end; i++) {
		const struct trace_item *item = &program->items[i];
		uint64_t base = item->value == TRACE_NO_VALUE ? 0 : entry[1 + item->value];
		core->self_counted[item->kind]++;
		core->self_counted_pages[item->kind]++;
		step_item(core, base + (uint64_t)item->displacement, item->bytes, item->kind == TRACE_WRITE, i);
		charge_item(core, i);
	}
}

static void run_fetch(struct core *core, struct batch *batch, uint32_t k, uint64_t record)
{
	uint64_t address = record & HIT_ADDRESS;
	uint32_t number = 0;
	if (record & HIT_REPEATS && !batch_skipped(batch, block_of(batch, k)))
		return; /* the record in front of it was the same unit's */
	core->counts->filter[FILTER_NOT_INLINED_FETCHES]++;
	if (core->model->n_watches || !core->model->simple)
		number = (uint32_t)*batch_entry(batch, block_of(batch, k));
	if (core->model->machine.first_instruction_tlb != MACHINE_NONE)
		step_page(core, address, TLB_FETCHES);
	if (core->first_instruction && HIT_TYPE_OF(record) == HIT_FETCH)
		step_line(core, core->first_instruction, address, core->first_instruction->is.line_bytes,
			  ACCESS_FETCH, number | 1u << 31);
	charge_block(core, number);
	step_filter_insert(core, record);
}

/* By step.c. */
static void run_slowly(struct core *core, const struct trace_program *program, struct batch *batch, uint32_t k,
		       uint64_t fs_base)
{
	uint64_t record = batch->records[k];
	if (HIT_TYPE_OF(record) == HIT_DATA || HIT_TYPE_OF(record) == HIT_WRITE) {
		core->counts->filter[FILTER_NOT_INLINED_ACCESSES]++;
		run_items(core, program, batch, k, fs_base);
	} else {
		run_fetch(core, batch, k, record);
	}
}

/* A record that the table does not have. */
static __attribute__((noinline)) void run_record(struct core *core, const struct trace_program *program,
						 struct batch *batch, uint32_t k, uint64_t fs_base)
{
	if (!core->simple || !simple_run(core, batch->records[k]))
		run_slowly(core, program, batch, k, fs_base);
}

static inline __attribute__((always_inline)) void run_records(struct core *core,
							      const struct trace_program *program,
							      struct batch *batch, uint64_t fs_base,
							      unsigned shift, bool vectors, bool distinct_writes)
{
	const struct filter filter = core->filter;
	uint64_t time = core->recency;
	for (uint32_t k = 0; k < batch->n_records; k++)
		if (!__builtin_expect(filter_find(&filter, batch->records[k], shift, ++time, distinct_writes),
				      1)) {
			core->recency = time;
			if (!vectors || !core->simple || !simple_record_vectors(core, batch->records[k]))
				run_record(core, program, batch, k, fs_base);
			time = core->recency;
		}
	core->recency = time;
}

/* What is not found goes by step.c, which counts it for its line's group. */
static void run_sampled(struct core *core, const struct trace_program *program, struct batch *batch,
			uint64_t fs_base)
{
	const struct filter filter = core->filter;
	const struct model_options options = core->model->options;
	bool distinct_writes = core->model->distinct_writes;
	uint64_t time = core->recency;
	for (uint32_t k = 0; k < batch->n_records; k++) {
		uint64_t record = batch->records[k];
		/* of one granule, and so of one line */
		if (record & HIT_SIMPLE && !sample_has(&options, record))
			continue;
		if (!filter_find(&filter, record, filter.shift, ++time, distinct_writes)) {
			core->recency = time;
			run_slowly(core, program, batch, k, fs_base);
			time = core->recency;
		}
	}
	core->recency = time;
}

/* What has neither caches nor TLBs: only what is irregular. */
static void run_irregular(struct core *core, const struct trace_program *program, struct batch *batch,
			  uint64_t fs_base)
{
	for (uint32_t k = 0; k < batch->n_records; k++)
		if (!(batch->records[k] & HIT_SIMPLE))
			run_record(core, program, batch, k, fs_base);
}

static size_t fill_batch(struct core *core, struct batch *batch, const struct trace_program *program,
			 const uint64_t *entries, size_t i, size_t n)
{
	if (core->pending != NO_BLOCK && !(entries[i] & TRACE_MARK))
		resolve(core, program, program->blocks[(uint32_t)entries[i]].pc);
	if (core->model->vectors)
		return flatten_vectors(core, batch, program, entries, i, n);
	return core->branches ? flatten_run(core, batch, program, entries, i, n, true)
			      : flatten_run(core, batch, program, entries, i, n, false);
}

size_t run_fast(struct core *core, const struct trace_program *program, const uint64_t *entries, size_t i,
		size_t n, uint64_t fs_base)
{
	struct batch *batch = core->model->batch;
	core->simple = core->model->simple && !core->model->n_watches && !core->calls;
	do {
		i = fill_batch(core, batch, program, entries, i, n);
		if (!batch->n_blocks)
			break;
		if (!core->first_data && !core->first_instruction && !core->tlbs)
			run_irregular(core, program, batch, fs_base);
		else if (core->model->options.sample)
			run_sampled(core, program, batch, fs_base);
		else if (core->model->distinct_writes && core->filter.shift == 6 && core->model->vectors)
			run_records(core, program, batch, fs_base, 6, true, true);
		else if (core->model->distinct_writes)
			run_records(core, program, batch, fs_base, core->filter.shift, core->model->vectors, true);
		else if (core->filter.shift == 6 && core->model->vectors)
			run_records(core, program, batch, fs_base, 6, true, false);
		else
			run_records(core, program, batch, fs_base, core->filter.shift, core->model->vectors,
				    false);
		batch_add(core, batch);
	} while (i < n);
	return i;
}
