/*
 * The models' side of inline checks: see inline.h. Here are the records of a block, and what a check did not find.
 *
 *     model_inline_miss() ──► ways of the common kind: page known, cache LRU ──► lru_fast.h
 *                         ├─► the block goes step by step, as pages changed (core->steps) ──► step_up_to()
 *                         ├─► misaligned inside a granule, or across the end of a line ──► the same ways, counted in addition
 *                         ├─► simple cache ──► simple_loop.h
 *                         └─► else ──► miss_slowly(): step.c
 *
 * What always holds:
 *  1. A header counts its block's accesses and fetches once, each as a hit (inlined.c), even if a record is done
 *     twice because a signal came between it and its instruction. What a miss counts itself it takes away from the
 *     header's counts at once.
 *  2. A joined record is of one instruction's read and write of the same bytes: a block is left between
 *     instructions only.
 *
 * Equals   step_access(), step_fetch_to() of step.c
 * For      model_inline_can() (inline.h)
 * Test     tests/model/inline_test.c, tests/engine/inline/check
 */
#include "model/core/fast/lru_fast.h"
#include "model/core/fast/vectors.h"
#include "model/core/sample.h"

/* ---- of records: what the core finds again in inline_record.record; the upper seven bits are those of filter.h
 * ---- */

#define MISALIGNED_OF(record) ((record)&63)
#define ITEM_OF(record) ((record) >> 8 & 255)
#define RECORD_BOTH (1ull << 16)  /* also the next item */
#define RECORD_SKIPS (1ull << 17) /* not to be done if the block is reached sequentially */
#define RECORD_FIRST (1ull << 18) /* of the block */
#define RECORD_UPPER (127ull << 57)

/* ---- plans ---- */

/* An access that may have an inline check. */
static bool is_simple(const struct core *core, const struct trace_item *item)
{
	const struct cache *data = core->first_data;
	/* crossings of 64 bytes are also counted */
	uint32_t most = data && data->is.line_bytes < 64 ? data->is.line_bytes : 64;
	return item->kind <= TRACE_WRITE && !(item->flags & TRACE_BIT) && item->bytes &&
	       !(item->bytes & (item->bytes - 1)) && item->bytes <= most;
}

struct making {
	const struct core *core;
	const struct trace_item *items;
	struct inline_record *records;
	unsigned n; /* more than INLINE_RECORDS: the rest is not there */
	bool known; /* false: none can be had */
};

static struct inline_record *put(struct making *m, struct inline_record record)
{
	struct inline_record *to = &m->records[m->n < INLINE_RECORDS ? m->n : 0];
	m->n++;
	if (m->n <= INLINE_RECORDS)
		*to = record;
	return to;
}

static struct inline_record *put_fetch(struct making *m, unsigned insn, uint64_t address, uint64_t type)
{
	const struct filter *filter = &m->core->filter;
	uint64_t tag = inline_tag(address, filter->shift);
	m->known &= tag <= UINT32_MAX && address <= HIT_ADDRESS;
	return put(m, (struct inline_record){.insn = (uint8_t)insn,
					     .fetch = true,
					     .index = inline_fetch_index(address, filter->shift),
					     .tag = (uint32_t)tag,
					     .displacement = (int64_t)address,
					     .record = HIT_TYPE(type)});
}

static bool joins(const struct trace_item *item)
{
	const struct trace_item *before = item - 1;
	return item->insn == before->insn && item->kind == TRACE_WRITE && before->kind == TRACE_READ &&
	       item->value == before->value && item->displacement == before->displacement &&
	       item->bytes == before->bytes && !((item->flags ^ before->flags) & TRACE_FS);
}

static void put_access(struct making *m, unsigned i)
{
	const struct core *core = m->core;
	const struct trace_item *item = &m->items[i];
	bool write = item->kind == TRACE_WRITE, distinct_writes = core->model->distinct_writes,
	     in_one = is_simple(core, item);
	uint32_t granule = 1u << core->filter.shift;
	if (item->kind > TRACE_PREFETCH || item->flags & TRACE_BIT) {
		m->known = false;
		return;
	}
	if (i && in_one && !distinct_writes && m->n && m->n <= INLINE_RECORDS && joins(item) &&
	    !m->records[m->n - 1].fetch && m->records[m->n - 1].item == i - 1) {
		m->records[m->n - 1].record |= HIT_WRITES | RECORD_BOTH;
		m->records[m->n - 1].writes = true;
		return;
	}
	put(m, (struct inline_record){.insn = item->insn,
				      .item = (uint8_t)i,
				      .writes = write,
				      .called = !in_one || item->bytes > granule || (write && distinct_writes),
				      .mask = in_one ? (int32_t)(-granule | (item->bytes - 1u)) : -1,
				      .record = HIT_TYPE(write && distinct_writes ? HIT_WRITE : HIT_DATA) |
						(write ? HIT_WRITES | HIT_WRITES_FIRST : 0) | (uint64_t)i << 8 |
						(in_one ? item->bytes - 1u : HIT_STEPS)});
}

/* A hit in a first instruction cache that comes right behind another fetch of that line updates no state. */
static bool fetch_repeats(const struct model *model)
{
	const struct machine *machine = &model->machine;
	const struct machine_cache *is;
	if (machine->first_instruction == MACHINE_NONE)
		return true;
	is = &machine->caches[machine->first_instruction];
	return machine->first_instruction != machine->first_data && is->prefetch == PREFETCH_NONE &&
	       is->replacement != REPLACE_SRRIP && is->replacement != REPLACE_BRRIP;
}

/* Fetches of lines that are not sampled change nothing. Returns how many records are left. */
static unsigned drop_unsampled(const struct making *m)
{
	unsigned left = 0;
	for (unsigned i = 0; i < m->n; i++)
		if (!m->records[i].fetch ||
		    sample_has(&m->core->model->options, (uint64_t)m->records[i].displacement))
			m->records[left++] = m->records[i];
	return left;
}

int model_inline_plan(struct model *model, unsigned number, const struct trace_program *program,
		      uint32_t block_number, struct inline_record *records)
{
	const struct core *core = model->cores[number];
	const struct trace_block *block = &program->blocks[block_number];
	struct making m = {
		.core = core, .items = program->items + block->first_item, .records = records, .known = true};
	unsigned line_shift = core->first_instruction ? core->first_instruction->line_shift : 6;
	unsigned shift = model->by_units && model->fetch_shift < line_shift ? model->fetch_shift : line_shift;
	uint64_t last = block->pc + block->length - 1, unit = block->pc >> shift;
	bool fetches = core->first_instruction || model->machine.first_instruction_tlb != MACHINE_NONE,
	     repeats = fetch_repeats(model);

	if (!block->length || !block->insns || block->insns > 255 || block->items > 255)
		return -1;
	if (fetches) {
		bool inside = block->pc & ((1ull << line_shift) - 1);
		struct inline_record *first = put_fetch(&m, 0, unit << shift, HIT_FETCH);
		first->record |= RECORD_FIRST;
		if (inside) {
			first->skip = model->by_units || !repeats ? INLINE_SKIP : INLINE_HARMLESS;
			first->record |= RECORD_SKIPS;
			first->asks_behind = true;
		}
		/* reached sequentially inside a line it enters no line, but perhaps a unit; else this is the same
		 * once more */
		if (shift < line_shift && inside && !(block->pc & ((1ull << shift) - 1))) {
			first = put_fetch(&m, 0, unit << shift, HIT_PAGE);
			first->record |= HIT_REPEATS;
			first->asks_behind = true;
			first->called = !repeats;
		}
	}
	for (unsigned i = 0; i <= block->items; i++) {
		uint64_t to = i < block->items ? block->pc + m.items[i].offset : last;
		for (; fetches && unit < to >> shift; unit++) {
			uint64_t next = (unit + 1) << shift;
			bool page = next & ((1ull << line_shift) - 1);
			put_fetch(&m, i < block->items ? m.items[i].insn : block->insns - 1u, next,
				  page ? HIT_PAGE : HIT_FETCH)
				->called = page && !repeats;
		}
		if (i < block->items)
			put_access(&m, i);
	}
	return m.known && m.n <= INLINE_RECORDS ? (int)drop_unsampled(&m) : -1;
}

/* ---- a block that goes step by step: all its records are called, as nothing is in the tables while it is run
 * ---- */

/* Units that the header counts. */
static void fetch_to(struct core *core, struct fetch *fetch, uint64_t pc)
{
	struct model_counts *counts = core->counts;
	unsigned tlb = core->model->machine.first_instruction_tlb;
	uint64_t units = counts->stream[STREAM_FETCH_BLOCKS], line = fetch->line;
	step_fetch_to(core, fetch, pc);
	units = counts->stream[STREAM_FETCH_BLOCKS] - units;
	counts->stream[STREAM_FETCH_BLOCKS] -= units;
	if (tlb != MACHINE_NONE)
		counts->tlb[tlb][TLB_FETCHES] -= units;
	if (core->first_instruction)
		counts->cache[core->first_instruction->index][CACHE_FETCHES] -= fetch->line - line;
}

/* The block that went step by step is over: the units behind its last record. */
void inline_stepped(struct core *core)
{
	if (!core->is_stepping)
		return;
	fetch_to(core, &core->stepping, core->stepping_last);
	charge_block(core, core->stepping.block);
	core->is_stepping = core->steps = false;
}

/* Fetches in front of a record, of the block that pages changed in front of. */
static __attribute__((noinline)) void step_up_to(struct core *core, const struct trace_program *program,
						 uint32_t number, uint64_t record, uint64_t address,
						 uint64_t behind)
{
	const struct trace_block *block = &program->blocks[number];
	uint64_t next_pc = core->next_pc, pc = address;
	if (!core->is_stepping) {
		core->next_pc = behind;
		core->stepping = step_fetch_begin(core, block->pc, number);
		core->next_pc = next_pc; /* of the trace, which may not have come so far */
		core->is_stepping = true;
	}
	/* it may be the next one, whose first record was left out: then they go on in a line */
	core->stepping.block = number;
	if (record & RECORD_FIRST)
		pc = block->pc;
	else if (HIT_TYPE_OF(record) == HIT_DATA || HIT_TYPE_OF(record) == HIT_WRITE)
		pc = block->pc + program->items[block->first_item + ITEM_OF(record)].offset;
	fetch_to(core, &core->stepping, pc);
	/* where it goes on in the line; other lines have records of their own */
	core->stepping_last = pc |
			      ((1ull << (core->first_instruction ? core->first_instruction->line_shift : 6)) - 1);
	if (core->stepping_last > block->pc + block->length - 1)
		core->stepping_last = block->pc + block->length - 1;
}

/* ---- beginning and end ---- */

bool model_inline_can(const struct model *model)
{
	unsigned line_shift =
		model->machine.first_instruction == MACHINE_NONE
			? 6
			: log2_of(model->machine.caches[model->machine.first_instruction].line_bytes);
	if (model->inlined && model->inline_by_units != model->by_units)
		return false; /* the records are of the pages as they were */
	if (model->inlined && model->pages_changed && !model->by_units &&
	    model->machine.first_instruction_tlb != MACHINE_NONE && !fetch_repeats(model))
		return false; /* a block may have no record to step from */
	return model->plans && !model->charges_all && !model->objects && !model->snoops &&
	       !(model->by_units && model->fetch_shift > line_shift);
}

static uint32_t offset_of(const struct core *core, const void *member)
{
	return (uint32_t)((const char *)member - (const char *)core);
}

void model_inline_forget(struct model *model, unsigned number, uint64_t address, uint64_t bytes)
{
	const struct filter *filter = &model->cores[number]->filter;
	uint64_t first = address & ~4095ull, end = (address + bytes + 4095) & ~4095ull;
	if (!filter->data)
		return;
	if ((end - first) >> filter->shift >= 1u << INLINE_DATA_BITS)
		filter_clear_all(filter);
	else
		inline_clear(filter, first, end - first, 1);
}

void model_inline_where(struct model *model, unsigned number, struct model_inline *where)
{
	struct core *core = model->cores[number];
	struct filter *filter = &core->filter;
	filter->data = core->inline_data;
	filter->fetch = core->inline_fetch;
	filter_clear_all(filter);
	core->simple = model->simple;
	requests_begin(core);
	core->lru_fast = lru_fast_kind(core);
	charge_begin(core);
	*where = (struct model_inline){.data = offset_of(core, filter->data),
				       .fetch = offset_of(core, filter->fetch),
				       .touched = offset_of(core, filter->touched),
				       .pages = offset_of(core, filter->pages),
				       .written = offset_of(core, filter->written + FILTER_LINES),
				       .steps = offset_of(core, &core->steps),
				       .recency = offset_of(core, &core->recency),
				       .sampled = core->sampled ? offset_of(core, core->sampled) : 0,
				       .sampled_entries = core->sampled ? sample_entries(&model->options) : 0,
				       .data_entries = 1u << INLINE_DATA_BITS,
				       .fetch_entries = 1u << INLINE_FETCH_BITS,
				       .shift = filter->shift,
				       .skips = model->by_units || !fetch_repeats(model)};
	model->inlined = true;
	model->pages_changed = false;
	model->inline_by_units = model->by_units;
}

void model_inline_end(struct model *model, unsigned number)
{
	struct core *core = model->cores[number];
	inline_stepped(core);
	core_settle(core);
	core->filter.data = NULL;
	core->filter.fetch = NULL;
	model->inlined = false;
}

/* ---- what was not found ---- */

/* What counted itself in a first TLB, though the header does. */
static void subtract_self_counted(struct core *core)
{
	const struct machine *machine = &core->model->machine;
	if (!(core->self_counted_pages[0] | core->self_counted_pages[1] | core->self_counted_pages[2]))
		return;
	if (machine->first_instruction_tlb != MACHINE_NONE)
		core->counts->tlb[machine->first_instruction_tlb][TLB_FETCHES] -=
			core->self_counted_pages[TLB_FETCHES];
	step_count_hits(core, false, 0, 0 - core->self_counted_pages[TLB_READS]);
	step_count_hits(core, true, 0, 0 - core->self_counted_pages[TLB_WRITES]);
	core->self_counted_pages[0] = core->self_counted_pages[1] = core->self_counted_pages[2] = 0;
}

static void miss_item(struct core *core, const struct trace_item *item, uint32_t number, uint64_t address)
{
	bool write = item->kind == TRACE_WRITE;
	if (item->kind == TRACE_PREFETCH) {
		step_prefetch(core, address, item->bytes, number);
		return;
	}
	step_count_hits(core, write, ~0ull, ~0ull); /* the header's: one less */
	step_item(core, address, item->bytes, write, number);
}

static void miss_fetch(struct core *core, uint32_t block, uint64_t record, uint64_t address)
{
	core->counts->filter[FILTER_NOT_INLINED_FETCHES]++;
	if (core->model->machine.first_instruction_tlb != MACHINE_NONE)
		step_page(core, address, TLB_FETCHES);
	if (core->first_instruction && HIT_TYPE_OF(record) == HIT_FETCH)
		step_line(core, core->first_instruction, address, core->first_instruction->is.line_bytes,
			  ACCESS_FETCH, block | 1u << 31);
	step_filter_insert(core, address | HIT_SIMPLE | HIT_TYPE(HIT_FETCH));
}

static __attribute__((noinline)) void miss_slowly(struct core *core, const struct trace_program *program,
						  uint32_t block, uint64_t record, uint64_t address)
{
	uint32_t i = program->blocks[block].first_item + ITEM_OF(record);
	if (HIT_TYPE_OF(record) == HIT_FETCH || HIT_TYPE_OF(record) == HIT_PAGE) {
		miss_fetch(core, block, record, address);
		return;
	}
	core->counts->filter[FILTER_NOT_INLINED_ACCESSES]++;
	for (unsigned n = 0; n <= !!(record & RECORD_BOTH); n++)
		miss_item(core, &program->items[i + n], i + n, address);
}

/* A misaligned access that crosses the end of no line, of 64 bytes neither: what it counts beside. */
static bool in_granule(const struct core *core, uint64_t record, uint64_t address)
{
	return !((address ^ (address + MISALIGNED_OF(record))) >>
		 (core->filter.shift < 6 ? core->filter.shift : 6));
}

static void count_misaligned(struct core *core, uint64_t record, uint64_t address)
{
	uint64_t *stream = core->counts->stream;
	uint64_t writes = record & HIT_WRITES ? 1 : 0, reads = record & HIT_WRITES_FIRST ? 0 : 1;
	stream[STREAM_MISALIGNED] += reads + writes;
	stream[STREAM_MISALIGNED_READS] += reads;
	stream[STREAM_MISALIGNED_WRITES] += writes;
	uint32_t pentium = pentium_misaligned(address, (uint32_t)MISALIGNED_OF(record) + 1);
	stream[STREAM_PENTIUM_MISALIGNED] += (reads + writes) * pentium;
	stream[STREAM_PENTIUM_MISALIGNED_READS] += reads * pentium;
}

static __attribute__((noinline)) bool page_of_data(struct core *core, uint64_t address, enum model_tlb_count kind,
						   uint32_t *page)
{
	*page = step_page(core, address, kind);
	subtract_self_counted(core);
	return *page < FILTER_PAGES;
}

/* A record of HIT_DATA or HIT_FETCH. False: nothing was done. */
static inline bool try_lru_fast(struct core *core, uint64_t record)
{
	bool data = HIT_TYPE_OF(record) & HIT_DATA;
	uint32_t page = FILTER_PAGES - 1;
	if (!core->lru_fast)
		return false;
	if (core->lru_fast & (data ? LRU_FAST_DATA_PAGES : LRU_FAST_FETCH_PAGES)) {
		page = filter_find_page(&core->filter, !data, record & HIT_ADDRESS);
		if (page >= FILTER_PAGES &&
		    (!data || !page_of_data(core, record & HIT_ADDRESS,
					    record & HIT_WRITES_FIRST ? TLB_WRITES : TLB_READS, &page)))
			return false;
	}
	if (!(core->lru_fast & LRU_FAST_VECTORS) || !core->requests)
		core->lru_fast &LRU_FAST_SAVED ? lru_fast_record_saved(core, record, page)
					       : lru_fast_record(core, record, page);
	else if (data)
		lru_fast_data_saved(core, record, page);
	else
		lru_fast_fetch_saved(core, record, page);
	return true;
}

static bool try_simple(struct core *core, uint64_t record)
{
	return core->simple &&
	       (core->model->sets_vectors ? simple_record_saved(core, record) : simple_run(core, record));
}

static bool find_or_try(struct core *core, uint64_t record)
{
	if (inline_find(&core->filter, record, core->recency + 1)) {
		core->recency++;
		return true;
	}
	return (HIT_TYPE_OF(record) == HIT_DATA && try_lru_fast(core, record)) || try_simple(core, record);
}

/*
 * An access that crosses the end of a line of at most 64 bytes, inside a page. False: nothing was done. The page
 * is asked for twice; the second time updates no state.
 */
static bool cross(struct core *core, uint64_t record, uint64_t simple, uint64_t address)
{
	uint64_t last = address + MISALIGNED_OF(record), *stream = core->counts->stream;
	unsigned write = record >> 63;
	if (!core->simple || !core->first_data || core->first_data->line_shift != core->filter.shift ||
	    core->filter.shift > 6 || record & RECORD_BOTH || (address ^ last) >> 12 || !find_or_try(core, simple))
		return false;
	find_or_try(core, (simple & ~HIT_ADDRESS) | last);
	core->counts->cache[core->first_data->index][CACHE_READS + write]++; /* the other is among the header's */
	stream[STREAM_MISALIGNED]++;
	stream[STREAM_MISALIGNED_READS + write]++;
	uint32_t pentium = pentium_misaligned(address, (uint32_t)MISALIGNED_OF(record) + 1);
	stream[STREAM_PENTIUM_MISALIGNED] += pentium;
	stream[STREAM_PENTIUM_MISALIGNED_READS] += write ? 0 : pentium;
	stream[STREAM_LINE_CROSSING] += (address ^ last) >> 6 != 0;
	stream[STREAM_LINE_CROSSING_READS + write] += (address ^ last) >> 6 != 0;
	return true;
}

/* What will be looked at if the first cache does not have it: that takes longer to come than all until then. */
static void prefetch_set(const struct core *core, uint64_t record, uint64_t address)
{
	const struct cache *first = HIT_TYPE_OF(record) == HIT_DATA ? core->first_data : core->first_instruction,
			   *next;
	if (first && first->is.next != MACHINE_NONE && core->caches[first->is.next]->main.set_power) {
		next = core->caches[first->is.next];
		const uint64_t *set = next->main.entries +
				      (uint64_t)lines_set(&next->main, address >> next->line_shift) *
					      next->main.ways;
		__builtin_prefetch(set);
		__builtin_prefetch(set + 8);
	}
}

static __attribute__((noinline)) void miss(struct model *model, unsigned number,
					   const struct trace_program *program, uint32_t block, uint64_t record,
					   uint64_t address, uint64_t behind, uint64_t fs_base)
{
	struct core *core = model->cores[number];
	bool sequential;
	(void)fs_base;
	core_acts(core);
	if (core->simple && !core->requests)
		prefetch_set(core, record, address & HIT_ADDRESS);
	if (__builtin_expect(core->steps, 0)) {
		if (core->is_stepping && record & RECORD_FIRST)
			inline_stepped(core);
		if (core->steps) {
			step_up_to(core, program, block, record, address, behind);
			charge_block(core, block);
			if (HIT_TYPE_OF(record) == HIT_DATA || HIT_TYPE_OF(record) == HIT_WRITE)
				miss_slowly(core, program, block, record, address);
			subtract_self_counted(core);
			filter_clear_all(&core->filter);
			return;
		}
	}
	if (record & (RECORD_SKIPS | HIT_REPEATS)) {
		sequential = !(behind >> 63) && behind == program->blocks[block].pc;
		if (sequential && record & RECORD_SKIPS) { /* it was entered before: nothing moves */
			step_filter_insert(core, address | HIT_SIMPLE | HIT_TYPE(HIT_FETCH));
			return;
		}
		if (!sequential && record & HIT_REPEATS)
			return; /* the record in front of it was the same unit's */
	}
	if (!(record & HIT_STEPS) && !(address & ~HIT_ADDRESS)) {
		uint64_t simple = (record & RECORD_UPPER) | address | HIT_SIMPLE,
			 misaligned = address & MISALIGNED_OF(record);
		bool in_one = !misaligned || in_granule(core, record, address);
		if (misaligned && in_one && inline_find(&core->filter, simple, core->recency + 1)) {
			core->recency++;
			count_misaligned(core, record, address);
			return;
		}
		if (!in_one && cross(core, record, simple, address)) {
			subtract_self_counted(core);
			return;
		}
		if (in_one &&
		    ((!(HIT_TYPE_OF(simple) & 2) && try_lru_fast(core, simple)) || try_simple(core, simple))) {
			if (misaligned)
				count_misaligned(core, record, address);
			subtract_self_counted(core);
			return;
		}
	}
	miss_slowly(core, program, block, record, address);
	subtract_self_counted(core);
}

/* What a hit counts is not watched (charges_all), so all that is charged took place here: of data by the record's
 * item, of a joined one's two items by the first, which is the same instruction's. */
static __attribute__((noinline)) void charge_record(struct core *core, const struct trace_program *program,
						    uint32_t block, uint64_t record)
{
	if (HIT_TYPE_OF(record) == HIT_DATA || HIT_TYPE_OF(record) == HIT_WRITE)
		charge_item(core, program->blocks[block].first_item + (uint32_t)ITEM_OF(record));
	else
		charge_block(core, block);
}

/* Where sets are sampled: what lies in one line of a sampled group goes the common ways, and counts for its group;
 * of what is in another line nothing is done. */
static __attribute__((noinline)) void miss_sampled(struct core *core, const struct trace_program *program,
						   uint32_t block, uint64_t record, uint64_t address,
						   uint64_t behind, uint64_t fs_base)
{
	struct model *model = core->model;
	bool data = HIT_TYPE_OF(record) == HIT_DATA || HIT_TYPE_OF(record) == HIT_WRITE;
	if (data && (record & HIT_STEPS || (address ^ (address + MISALIGNED_OF(record))) >> core->filter.shift)) {
		core_acts(core);
		miss_slowly(core, program, block, record, address);
		subtract_self_counted(core);
		return;
	}
	if (!sample_has(&model->options, address))
		return;
	sample_begin(core, address);
	miss(model, core->number, program, block, record, address, behind, fs_base);
	sample_end(core);
}

void model_inline_miss(struct model *model, unsigned number, const struct trace_program *program, uint32_t block,
		       uint64_t record, uint64_t address, uint64_t behind, uint64_t fs_base)
{
	struct core *core = model->cores[number];
	const uint64_t irregular = (record & (RECORD_SKIPS | HIT_REPEATS | HIT_STEPS | HIT_TYPE(2))) |
				   (address & (~HIT_ADDRESS | MISALIGNED_OF(record))) | core->steps;
	if (__builtin_expect(model->options.sample != 0, 0)) {
		miss_sampled(core, program, block, record, address, behind, fs_base);
		return;
	}
	/* what is asked most, without a register kept for the rest */
	if (!irregular && core->lru_fast & (LRU_FAST_VECTORS | LRU_FAST_SAVED)) {
		bool data = HIT_TYPE_OF(record) & HIT_DATA;
		uint32_t page = FILTER_PAGES - 1;
		if (core->lru_fast & (data ? LRU_FAST_DATA_PAGES : LRU_FAST_FETCH_PAGES))
			page = filter_find_page(&core->filter, !data, address);
		if (page < FILTER_PAGES && core->requests && core->lru_fast & LRU_FAST_VECTORS) {
			if (data)
				lru_fast_data_saved(core, (record & RECORD_UPPER) | address, page);
			else
				lru_fast_fetch_saved(core, address, page);
			return;
		}
		if (page < FILTER_PAGES && !core->requests) {
			core_acts(core);
			prefetch_set(core, record, address);
			lru_fast_record_saved(core, (record & RECORD_UPPER) | address, page);
			if (model->n_watches)
				charge_record(core, program, block, record);
			return;
		}
	}
	miss(model, number, program, block, record, address, behind, fs_base);
	if (__builtin_expect(model->n_watches, 0))
		charge_record(core, program, block, record);
}

/* ---- blocks ---- */

void model_inline_block(struct model *model, unsigned number, const struct trace_program *program,
			uint32_t block_number, const uint64_t *values, uint32_t done, uint64_t behind,
			uint64_t fs_base)
{
	struct core *core = model->cores[number];
	const struct trace_block *block = &program->blocks[block_number];
	uint64_t next_pc = core->next_pc;
	uint32_t first = block->first_item, items = block->items, fetched = block->length;
	struct fetch fetch;
	core_acts(core);
	inline_stepped(core);
	core->steps = false;
	if (done < block->insns)
		items = run_items_done(block, program->items + first, done, &fetched);
	core->counts->filter[FILTER_NOT_INLINED_ACCESSES] += items;
	core->counts->filter[FILTER_NOT_INLINED_FETCHES]++;
	core->next_pc = behind;
	fetch = step_fetch_begin(core, block->pc, block_number);
	core->next_pc = next_pc; /* of the trace, which may not have come so far */
	for (uint32_t i = first; i < first + items;) {
		const struct trace_item *item = &program->items[i];
		fetch_to(core, &fetch, block->pc + item->offset);
		charge_block(core, block_number);
		if (inlined_counts(item)) { /* the header's: one less */
			core->counts->stream[item->kind == TRACE_WRITE ? STREAM_WRITES : STREAM_READS]--;
			step_count_hits(core, item->kind == TRACE_WRITE, ~0ull, ~0ull);
		}
		i += run_item(core, program, i, first + items, values, fs_base);
		charge_item(core, i - 1);
	}
	fetch_to(core, &fetch, block->pc + fetched - 1);
	charge_block(core, block_number);
}

void model_inline_spans(struct model *model, unsigned number, const struct trace_program *program, uint32_t item,
			const uint64_t *words)
{
	struct core *core = model->cores[number];
	core_acts(core);
	inline_stepped(core);
	run_spans(core, program, item, words);
	if (core->steps)
		filter_clear_all(&core->filter);
}
