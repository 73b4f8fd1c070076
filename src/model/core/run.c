/*
 * Walks a thread's access stream (engine/wire/trace.h) and makes each fetch, access and branch happen, in this
 * order:
 *
 *  block:   the branch of the block before is resolved (this block is where it went); then lines are fetched, each before the accesses
 *           of the instructions that begin in it
 *  fetch:   control enters a unit (a line, a fetch block) when it reaches a byte of it and the byte executed before was outside, or
 *           when it did not get there sequentially. A block whose pc is behind the last byte executed is sequential, whatever ended
 *           the block before: so counts do not depend on how code was cut into blocks
 *  data:    TRACE_NON_TEMPORAL writes are ordinary ones, TRACE_LOCKED pairs a read and a write; a prefetch instruction brings its line in as a
 *           prefetcher of the first data cache would (no access, no translation); gathers go lane by lane
 *  partial: instructions before the interrupted one, and the iterations that a rep instruction made; the block's
 *  branch did not happen
 *
 * n accesses of a rep instruction are counted by arithmetic as far as they change nothing (model.h, 2).
 */
#include "model/core/fast/request_queue.h"
#include "model/core/fast/plan.h"

/* ---- data ---- */

static uint64_t item_address(const struct trace_item *item, const uint64_t *values, uint64_t fs_base)
{
	uint64_t address = (uint64_t)item->displacement;
	if (item->value != TRACE_NO_VALUE)
		address += values[item->value];
	if (item->flags & TRACE_FS)
		address += fs_base;
	if (item->flags & TRACE_BIT) /* arithmetic shift: towards minus infinity */
		address += (uint64_t)(item->bytes * ((int64_t)values[item->second] >> log2_of(8u * item->bytes)));
	return address;
}

/* ---- rep instructions ---- */

struct string_run {
	uint64_t address; /* of the first iteration */
	uint64_t n;
	int64_t step;
	uint32_t bytes, item;
	bool write;
};

static struct string_run string_run(const struct trace_item *item, uint32_t number, const uint64_t *values,
				    uint64_t fs_base)
{
	int64_t moved = (int64_t)(values[item->second] - values[item->value]);
	struct string_run run = {.address = item_address(item, values, fs_base),
				 .bytes = item->bytes,
				 .item = number,
				 .write = item->kind == TRACE_REP_WRITE};
	run.n = (moved < 0 ? 0 - (uint64_t)moved : (uint64_t)moved) / item->bytes;
	run.step = moved < 0 ? -(int64_t)item->bytes : (int64_t)item->bytes;
	return run;
}

/* Elements of `bytes` side by side from b: those that cross a multiple of `unit` (docs/closed-forms.md 1.11);
 * bytes divides unit. */
static uint64_t crossings(uint64_t b, uint64_t n, uint32_t bytes, uint32_t unit)
{
	return b % bytes ? (b + bytes * n - 1) / unit - b / unit : 0;
}

static void count_string(struct core *core, const struct string_run *run)
{
	uint64_t *stream = core->counts->stream;
	uint64_t lowest = run->step < 0 ? run->address - (run->n - 1) * run->bytes : run->address, crossing,
		 pentium;
	if (!run->n)
		return;
	stream[run->write ? STREAM_WRITES : STREAM_READS] += run->n;
	if (lowest % run->bytes) {
		stream[STREAM_MISALIGNED] += run->n;
		stream[run->write ? STREAM_MISALIGNED_WRITES : STREAM_MISALIGNED_READS] += run->n;
	}
	pentium = crossings(lowest, run->n, run->bytes, run->bytes < 8 ? 4 : 8);
	stream[STREAM_PENTIUM_MISALIGNED] += pentium;
	stream[STREAM_PENTIUM_MISALIGNED_READS] += run->write ? 0 : pentium;
	crossing = crossings(lowest, run->n, run->bytes, 64);
	stream[STREAM_LINE_CROSSING] += crossing;
	stream[run->write ? STREAM_LINE_CROSSING_WRITES : STREAM_LINE_CROSSING_READS] += crossing;
	stream[STREAM_PAGE_CROSSING] += crossings(lowest, run->n, run->bytes, 4096);
}

/* The same of each iteration for itself: they may be in several data objects. */
static void count_string_by_object(struct core *core, const struct string_run *run)
{
	struct string_run one = *run;
	one.n = 1;
	for (uint64_t i = 0; i < run->n; i++) {
		one.address = run->address + i * (uint64_t)run->step;
		count_string(core, &one);
		core->accessed = one.address;
		charge_item(core, run->item);
	}
}

static bool watches_stream(const struct model *model)
{
	bool any = false;
	for (unsigned w = 0; w < model->n_watches; w++)
		any |= model->watches[w].component == MODEL_STREAM;
	return any;
}

/* How many iterations behind the one at address stay in its unit (a power of two); it may itself leave it:
 * none. */
static uint64_t iterations_left(const struct string_run *run, uint64_t address, uint32_t unit)
{
	uint64_t at = address & (unit - 1);
	if (at + run->bytes > unit)
		return 0;
	return run->step < 0 ? at / run->bytes : (unit - at) / run->bytes - 1;
}

/* One rep instruction: its one or two items, iterations alternating. */
static void access_string(struct core *core, const struct string_run *runs, unsigned n_runs)
{
	/* lines are no longer than pages: what stays in a line stays in a page */
	uint32_t unit = core->first_data ? core->first_data->is.line_bytes : 4096;
	uint64_t n = runs[0].n;
	bool by_object = core->model->objects && watches_stream(core->model);
	for (unsigned r = 0; r < n_runs; r++) {
		if (by_object)
			count_string_by_object(core, &runs[r]);
		else
			count_string(core, &runs[r]);
		core->accessed = runs[r].address;
		charge_item(core, runs[r].item);
		n = runs[r].n < n ? runs[r].n : n;
	}
	if (!core->first_data && !core->tlbs)
		return;
	for (uint64_t i = 0, same = 0; i < n; i++) {
		bool filter = same && !core->model->charges_all;
		same = n - i - 1;
		for (unsigned r = 0; r < n_runs; r++) {
			uint64_t address = runs[r].address + i * (uint64_t)runs[r].step,
				 left = iterations_left(&runs[r], address, unit);
			if (!filter || !step_hit(core, address, runs[r].bytes, runs[r].write)) {
				filter = false;
				step_memory(core, address, runs[r].bytes, runs[r].write, runs[r].item);
				charge_item(core, runs[r].item);
			}
			same = left < same ? left : same;
		}
		if (!filter)
			continue;
		/* a second round in the same lines hit: what follows there changes no more */
		for (unsigned r = 0; r < n_runs; r++)
			step_count_hits(core, runs[r].write, same, same);
		i += same;
		same = 0;
	}
}

/* ---- gather, scatter ---- */

static uint64_t element(const uint64_t *words, unsigned i, unsigned bytes)
{
	unsigned bit = 8 * i * bytes;
	return words[bit / 64] >> bit % 64; /* elements are powers of two: none straddles words */
}

static void access_lanes(struct core *core, const struct trace_item *item, uint32_t number, const uint64_t *values,
			 uint64_t fs_base)
{
	uint64_t base = item_address(item, values, fs_base);
	for (unsigned lane = 0; lane < item->lanes; lane++) {
		int64_t index = (int64_t)element(values + item->second, lane, item->index_bytes);
		if (item->mask == TRACE_MASK_BITS && !(values[item->mask_at] >> lane & 1))
			continue;
		if (item->mask == TRACE_MASK_ELEMENTS &&
		    !(element(values + item->mask_at, lane, item->bytes) >> (8 * item->bytes - 1) & 1))
			continue;
		if (item->index_bytes == 4)
			index = (int32_t)index;
		step_access(core, base + (uint64_t)(index * item->scale), item->bytes, item->kind == TRACE_SCATTER,
			    number);
		charge_item(core, number);
	}
}

/* Item i of a block, or, of a rep instruction, all of its. Returns how many items. */
uint32_t run_item(struct core *core, const struct trace_program *program, uint32_t i, uint32_t end,
		  const uint64_t *values, uint64_t fs_base)
{
	const struct trace_item *items = program->items;
	const struct trace_item *item = &items[i];
	switch ((enum trace_kind)item->kind) {
	case TRACE_READ:
	case TRACE_WRITE:
		step_access(core, item_address(item, values, fs_base), item->bytes, item->kind == TRACE_WRITE, i);
		return 1;
	case TRACE_PREFETCH: step_prefetch(core, item_address(item, values, fs_base), item->bytes, i); return 1;
	case TRACE_REP_READ:
	case TRACE_REP_WRITE: {
		struct string_run runs[2] = {string_run(item, i, values, fs_base)};
		unsigned n = 1;
		if (i + 1 < end && items[i + 1].insn == item->insn &&
		    (items[i + 1].kind == TRACE_REP_READ || items[i + 1].kind == TRACE_REP_WRITE))
			runs[n++] = string_run(&items[i + 1], i + 1, values, fs_base);
		access_string(core, runs, n);
		return n;
	}
	case TRACE_VALUE:
		if (core->calls)
			objects_value(core->model->objects, core->calls, item, item_address(item, values, 0));
		return 1;
	case TRACE_GATHER:
	case TRACE_SCATTER: access_lanes(core, item, i, values, fs_base); return 1;
	case TRACE_SPANS_READ:
	case TRACE_SPANS_WRITE: return 1; /* run_spans() */
	}
	return 1;
}

size_t run_spans(struct core *core, const struct trace_program *program, uint32_t number, const uint64_t *words)
{
	uint64_t *stream = core->counts->stream;
	bool write = program->items[number].kind == TRACE_SPANS_WRITE, line = false, page = false;
	const uint64_t *span = words + 1, *end = span + 2 * words[0];
	for (; span < end; span += 2) {
		uint32_t bytes = span[1] & TRACE_SPAN_BYTES;
		line |= (span[0] & 63) + bytes > 64;
		page |= (span[0] & 4095) + bytes > 4096;
		step_memory(core, span[0], bytes, write, number);
		charge_item(core, number);
	}
	stream[write ? STREAM_WRITES : STREAM_READS] += words[0] != 0;
	stream[STREAM_LINE_CROSSING] += line;
	stream[write ? STREAM_LINE_CROSSING_WRITES : STREAM_LINE_CROSSING_READS] += line;
	stream[STREAM_PAGE_CROSSING] += page;
	charge_item(core, number);
	return (size_t)(end - words);
}

/* ---- blocks ---- */

void resolve(struct core *core, const struct trace_program *program, uint64_t went_to)
{
	const struct trace_block *block = &program->blocks[core->pending];
	core->overflow.insn = (uint16_t)(block->insns - 1);
	uint64_t behind = block->pc + block->length;
	step_branch(core, behind - block->ending_length, block->ending_length, (enum trace_ending)block->ending,
		    block->ending != TRACE_END_CONDITIONAL || went_to != behind,
		    block->target ? block->target : went_to, (uint32_t)core->pending);
	core->pending = NO_BLOCK;
}

static bool is_string(const struct trace_item *item)
{
	return item->kind == TRACE_REP_READ || item->kind == TRACE_REP_WRITE;
}

/* Of a block that was left behind `done` instructions: how many of its items were accessed, and how many bytes
 * fetched at least. */
uint32_t run_items_done(const struct trace_block *block, const struct trace_item *items, uint32_t done,
			uint32_t *fetched)
{
	uint32_t i = 0;
	*fetched = 1;
	for (; i < block->items && items[i].insn <= done; i++) {
		*fetched = items[i].offset + 1u;
		if (items[i].insn == done && !is_string(&items[i]))
			break;
	}
	return i;
}

/* Each step in its order. done: instructions that were executed; UINT32_MAX: all. */
void run_block(struct core *core, const struct trace_program *program, uint32_t number, const uint64_t *values,
	       uint32_t done, uint64_t fs_base)
{
	const struct trace_block *block = &program->blocks[number];
	uint64_t *stream = core->counts->stream;
	uint32_t first = block->first_item, items = block->items, fetched = block->length;
	bool whole = done >= block->insns;
	struct fetch fetch;

	if (core->pending != NO_BLOCK)
		resolve(core, program, block->pc);
	if (!whole)
		items = run_items_done(block, program->items + first, done, &fetched);
	stream[STREAM_BLOCKS]++;
	stream[STREAM_INSTRUCTIONS] += whole ? block->insns : done;
	core->counts->filter[FILTER_NOT_INLINED_ACCESSES] += items;
	fetch = step_fetch_begin(core, block->pc, number);
	if (core->model->overflow_period)
		overflow_begin(core, number);
	for (uint32_t i = first; i < first + items;) {
		core->overflow.insn = 0; /* of a fetch */
		step_fetch_to(core, &fetch, block->pc + program->items[i].offset);
		charge_block(core, number);
		core->overflow.insn = program->items[i].insn;
		i += run_item(core, program, i, first + items, values, fs_base);
		charge_item(core, i - 1);
	}
	core->overflow.insn = 0;
	step_fetch_to(core, &fetch, block->pc + fetched - 1);
	charge_block(core, number);
	if (core->model->overflow_period)
		overflow_end(core, whole ? block->insns : done);
	if (core->calls && whole && items &&
	    program->items[first + items - 1].kind ==
		    (block->ending == TRACE_END_RETURN ? TRACE_READ : TRACE_WRITE)) {
		/* the last access of a call or a return is to the slot of its return address */
		if (block->ending == TRACE_END_CALL || block->ending == TRACE_END_INDIRECT_CALL)
			objects_called(core->model->objects, core->calls, core->accessed,
				       block->pc + block->length);
		else if (block->ending == TRACE_END_RETURN)
			objects_returned(core->model->objects, core->calls, core->accessed);
	}
	core->next_pc = whole ? block->pc + block->length : NOWHERE;
	core->pending = whole && block->ending != TRACE_END_NONE && block->ending != TRACE_END_SYSTEM ? number
												      : NO_BLOCK;
}

static void set_pages(struct model *model, uint64_t start, uint64_t length, uint64_t page_bytes)
{
	bool by_units;
	for (unsigned k = 0; k < model->core_count; k++)
		if (model->cores[k])
			inline_stepped(model->cores[k]); /* with the pages as they were */
	if (!tlb_map_set(&model->pages, start, length, page_bytes))
		return;
	for (unsigned k = 0; k < model->core_count; k++)
		if (model->cores[k] && model->cores[k]->tlbs) {
			tlbs_forget(model->cores[k]->tlbs, start, length);
			/* it may enter a unit in the line that it is in already, and miss; generated code has
			 * records of units then, if by_units */
			model->cores[k]->steps = !model->cores[k]->filter.data ||
						 (model->machine.first_instruction_tlb != MACHINE_NONE &&
						  !model->by_units);
		}
	model->pages_changed = true;
	by_units = tlbs_by_units(&model->machine, &model->pages);
	if (model->plans && model->by_units != by_units) {
		model->by_units = by_units;
		plans_forget(model);
	}
}

void model_run(struct model *model, unsigned number, const struct trace_program *program, const uint64_t *entries,
	       size_t n, uint64_t fs_base)
{
	struct core *core = model->cores[number];
	bool fast = model->plans && core->filter.table && !model->charges_all;
	core_acts(core);
	charge_begin(core);
	requests_begin(core);
	for (size_t i = 0; i < n;) {
		uint64_t header;
		uint32_t done = UINT32_MAX;
		if (fast && core->filter.data) {
			size_t next = run_headers(core, program, entries, i, n);
			if (next > i) {
				i = next;
				continue;
			}
		}
		if (fast && !core->steps && (i = run_fast(core, program, entries, i, n, fs_base)) == n)
			break;
		header = entries[i++];
		if (header & TRACE_MARK) {
			switch (trace_mark_kind(header)) {
			case TRACE_PARTIAL:
				done = trace_mark_argument(header);
				header = entries[i++];
				break;
			case TRACE_BREAK:
				if (core->pending != NO_BLOCK)
					resolve(core, program, entries[i]);
				if (!trace_mark_argument(header))
					core->next_pc = NOWHERE;
				i++;
				continue;
			case TRACE_PAGES:
				set_pages(model, entries[i], entries[i + 1], entries[i + 2]);
				i += 3;
				continue;
			case TRACE_RETURNED:
				if (core->pending != NO_BLOCK)
					resolve(core, program, entries[i]);
				if (core->branches)
					branches_returned(core->branches);
				if (core->calls)
					objects_returned(core->model->objects, core->calls, entries[i + 1]);
				core->next_pc = NOWHERE;
				i += 2;
				continue;
			case TRACE_SPANS:
				i += run_spans(core, program, trace_mark_argument(header), entries + i);
				continue;
			case TRACE_HANDLER: i += 4; continue;
			case TRACE_ALLOCATED: i += 3; continue;
			case TRACE_FREED: i++; continue;
			default: continue;
			}
		}
		if (program->blocks[(uint32_t)header].flags & TRACE_INLINED) {
			run_inlined(core, program, (uint32_t)header, done);
			continue;
		}
		core->steps = false;
		core->counts->filter[FILTER_NOT_INLINED_FETCHES]++;
		run_block(core, program, (uint32_t)header, entries + i, done, fs_base);
		i += program->blocks[header].values;
	}
	core->counts->filter[FILTER_PAGES_UNKNOWN] += model->pages.dropped != 0;
	if (core->is_stepping && n && entries[n - 1] == core->stepping.block)
		inline_stepped(core);
	if (core->branches)
		branches_count(core->branches, core->counts);
	core_settle(core);
	if (core->filter.data)
		requests_begin(core); /* until the next run */
}
