/* One step of a core: a data access, a fetch, a branch; and which item or block what it counted is charged to. */
#include "model/core/cache/cache.h"
#include "model/core/fast/charge.h"
#include "model/core/sample.h"

/* ---- per-instruction counts: by difference, so that every count of a watched event belongs to somebody ---- */

static uint64_t watched(const struct core *core, const struct model_watch *watch)
{
	switch ((enum model_component)watch->component) {
	case MODEL_CACHE:
		return core->counts->cache[watch->index][watch->count] +
		       core->elsewhere[watch->index][watch->count];
	case MODEL_TLB: return core->counts->tlb[watch->index][watch->count];
	case MODEL_BRANCH: break; /* branches are charged as they are resolved: step_branch */
	case MODEL_STREAM: return core->counts->stream[watch->count];
	case MODEL_FILTER: break; /* nobody's */
	}
	return 0;
}

void model_watched(const struct model *model, unsigned number, uint64_t out[MODEL_WATCHES])
{
	const struct core *core = model->cores[number];
	for (unsigned w = 0; w < model->n_watches; w++)
		out[w] = model->watches[w].component == MODEL_BRANCH
				 ? core->counts->branch[model->watches[w].count]
				 : watched(core, &model->watches[w]);
}

void charge_begin(struct core *core)
{
	for (unsigned w = 0; w < core->model->n_watches; w++)
		core->charged[w] = watched(core, &core->model->watches[w]);
	charge_fast_begin(core);
	core->charges_branches = core->branches ? core->model->charges_branches : CHARGES_NO_BRANCH;
	if (core->branches && core->charges_branches &&
	    (!branches_tell(core->branches, core->charges_branches == CHARGES_MISPREDICTED) ||
	     core->model->overflow_period))
		core->charges_branches = CHARGES_EACH;
}

static void overflow_charge(struct core *core)
{
	uint64_t events = 0;
	for (unsigned w = 0; w < core->model->n_watches; w++) {
		uint64_t now = watched(core, &core->model->watches[w]);
		events += now - core->charged[w];
		core->charged[w] = now;
	}
	if (events)
		overflow_count(core, events);
}

static void charge_slowly(struct core *core, uint64_t *totals, uint64_t number, bool data)
{
	const struct model *model = core->model;
	if (model->overflow_period) {
		overflow_charge(core);
		return;
	}
	for (unsigned w = 0; w < model->n_watches; w++) {
		uint64_t now = watched(core, &model->watches[w]);
		if (totals && now != core->charged[w])
			totals[number * model->n_watches + w] += now - core->charged[w];
		if (model->objects && now != core->charged[w]) {
			if (data)
				objects_charge(model->objects, core->calls, core->accessed, w,
					       now - core->charged[w]);
			else
				objects_counts_of(model->objects, OBJECT_CODE)[w] += now - core->charged[w];
		}
		core->charged[w] = now;
	}
}

void charge(struct core *core, uint64_t *totals, uint64_t number, bool data)
{
	if (charges_fast(core))
		charge_fast(core, totals, number);
	else
		charge_slowly(core, totals, number, data);
}

/* ---- the filter ---- */

/* Both lines of an access that crosses from one into the next, of the same 4 KiB and so of the same page. */
static bool hit_twice(struct core *core, uint64_t record, uint64_t address, uint64_t last, bool write)
{
	uint64_t behind = (record & ~HIT_ADDRESS) | (last >> core->filter.shift << core->filter.shift);
	bool distinct_writes = core->model->distinct_writes;
	if (!core->first_data || core->filter.shift != core->first_data->line_shift || (address ^ last) >> 12 ||
	    (last >> core->filter.shift) - (address >> core->filter.shift) != 1)
		return false;
	/* none of them changes anything that the other one is looked up by */
	if (!filter_has(&core->filter, record, core->filter.shift, distinct_writes) ||
	    !filter_has(&core->filter, behind, core->filter.shift, distinct_writes))
		return false;
	filter_find(&core->filter, record, core->filter.shift, ++core->recency, distinct_writes);
	filter_find(&core->filter, behind, core->filter.shift, ++core->recency, distinct_writes);
	step_count_hits(core, write, 2, 1);
	return true;
}

bool step_hit(struct core *core, uint64_t address, uint32_t bytes, bool write)
{
	uint64_t type = write && core->model->distinct_writes ? HIT_WRITE : HIT_DATA, last = address + bytes - 1;
	uint64_t record = address | HIT_SIMPLE | HIT_TYPE(type) | (write ? HIT_WRITES : 0);
	if (!core->filter.table || (address | last) & ~HIT_ADDRESS)
		return false;
	if (!sample_has(&core->model->options, address) && !((address ^ last) >> core->filter.shift)) {
		step_count_hits(core, write, 1, 1);
		return true;
	}
	if ((address ^ last) >> core->filter.shift)
		return !core->filter.data && hit_twice(core, record, address, last, write);
	if (!(core->filter.data ? inline_find(&core->filter, record, core->recency + 1)
				: filter_find(&core->filter, record, core->filter.shift, core->recency + 1,
					      core->model->distinct_writes)))
		return false;
	core->recency++;
	step_count_hits(core, write, 1, 1);
	return true;
}

uint32_t step_page(struct core *core, uint64_t address, enum model_tlb_count kind)
{
	bool counted;
	uint32_t page = tlbs_page(core->tlbs, address, kind, core->counts, &counted);
	core->self_counted_pages[kind] += counted;
	if (page < FILTER_PAGES)
		filter_insert_page(&core->filter, kind == TLB_FETCHES, address, page);
	return page;
}

void step_count_hits(struct core *core, bool write, uint64_t in_cache, uint64_t in_tlb)
{
	const struct machine *machine = &core->model->machine;
	if (machine->first_data_tlb != MACHINE_NONE)
		core->counts->tlb[machine->first_data_tlb][write ? TLB_WRITES : TLB_READS] += in_tlb;
	if (core->first_data)
		core->counts->cache[core->first_data->index][write ? CACHE_WRITES : CACHE_READS] += in_cache;
}

void step_filter_insert(struct core *core, uint64_t record)
{
	uint64_t address = record & HIT_ADDRESS;
	unsigned type = HIT_TYPE_OF(record);
	enum tlb_side side = type == HIT_FETCH || type == HIT_PAGE ? TLB_FETCH : TLB_DATA;
	const struct machine *machine = &core->model->machine;
	const struct cache *cache = side == TLB_DATA    ? core->first_data
				    : type == HIT_FETCH ? core->first_instruction
							: NULL;
	uint32_t page = FILTER_PAGES - 1, way = FILTER_LINES - 1;
	if ((side == TLB_DATA ? machine->first_data_tlb : machine->first_instruction_tlb) != MACHINE_NONE)
		page = tlbs_entry(core->tlbs, side, address);
	if (cache)
		way = cache_lru_fast_way(core, cache, address, type == HIT_WRITE);
	if (type == HIT_DATA && cache && core->model->snoops &&
	    cache_lru_fast_way(core, cache, address, true) == way)
		record |= HIT_TYPE(HIT_WRITE);
	if (page < FILTER_PAGES && way < FILTER_LINES)
		filter_insert(&core->filter, record, way, page);
}

/* ---- data ---- */

static void count_placement(struct core *core, uint64_t address, uint32_t bytes, bool write)
{
	uint64_t *stream = core->counts->stream;
	if (!(bytes & (bytes - 1)) && address & (bytes - 1)) {
		stream[STREAM_MISALIGNED]++;
		stream[write ? STREAM_MISALIGNED_WRITES : STREAM_MISALIGNED_READS]++;
	}
	uint32_t pentium = pentium_misaligned(address, bytes);
	stream[STREAM_PENTIUM_MISALIGNED] += pentium;
	stream[STREAM_PENTIUM_MISALIGNED_READS] += write ? 0 : pentium;
	if ((address & 63) + bytes > 64) {
		stream[STREAM_LINE_CROSSING]++;
		stream[write ? STREAM_LINE_CROSSING_WRITES : STREAM_LINE_CROSSING_READS]++;
		stream[STREAM_PAGE_CROSSING] += (address & 4095) + bytes > 4096;
	}
}

void step_line(struct core *core, struct cache *cache, uint64_t address, uint32_t bytes, enum access_kind kind,
	       uint32_t id)
{
	if (!sample_has(&core->model->options, address))
		return;
	sample_begin(core, address);
	cache_access(core, cache, address, bytes, kind, id);
	sample_end(core);
}

void step_memory(struct core *core, uint64_t address, uint32_t bytes, bool write, uint32_t item)
{
	struct cache *cache = core->first_data;
	uint64_t last;
	if (!bytes)
		bytes = 1;
	core->accessed = address;
	if (step_hit(core, address, bytes, write))
		return;
	if (core->tlbs)
		tlbs_access(core->tlbs, address, bytes, write ? TLB_WRITES : TLB_READS, core->counts);
	if (!cache)
		return;
	last = address + bytes - 1;
	for (;;) {
		uint64_t end = address | ((1ull << cache->line_shift) - 1);
		uint32_t here = (uint32_t)((end - address < last - address ? end : last) - address + 1);
		core->counts->cache[cache->index][write ? CACHE_WRITES : CACHE_READS]++;
		step_line(core, cache, address, here, write ? ACCESS_WRITE : ACCESS_READ, item);
		if (core->filter.table && !((address | last) & ~HIT_ADDRESS) &&
		    sample_has(&core->model->options, address))
			step_filter_insert(
				core,
				address | HIT_SIMPLE |
					HIT_TYPE(write && core->model->distinct_writes ? HIT_WRITE : HIT_DATA));
		if (last - address < here)
			return;
		address += here;
	}
}

void step_item(struct core *core, uint64_t address, uint32_t bytes, bool write, uint32_t item)
{
	count_placement(core, address, bytes, write);
	step_memory(core, address, bytes, write, item);
}

void step_access(struct core *core, uint64_t address, uint32_t bytes, bool write, uint32_t item)
{
	core->counts->stream[write ? STREAM_WRITES : STREAM_READS]++;
	step_item(core, address, bytes, write, item);
}

void step_prefetch(struct core *core, uint64_t address, uint32_t bytes, uint32_t item)
{
	struct cache *cache = core->first_data;
	core->accessed = address;
	if (cache)
		for (uint64_t line = address >> cache->line_shift;
		     line <= (address + (bytes ? bytes - 1 : 0)) >> cache->line_shift; line++)
			if (sample_has(&core->model->options, line << cache->line_shift)) {
				sample_begin(core, line << cache->line_shift);
				cache_prefetch(core, cache, line, item);
				sample_end(core);
			}
}

/* ---- fetch ---- */

struct fetch step_fetch_begin(struct core *core, uint64_t pc, uint32_t block)
{
	/* a unit that the byte before was in is not entered again */
	bool sequential = pc == core->next_pc;
	unsigned line_shift = core->first_instruction ? core->first_instruction->line_shift : 6;
	struct fetch fetch = {.block = block};
	fetch.line = sequential ? ((pc - 1) >> line_shift) + 1 : pc >> line_shift;
	fetch.unit = sequential ? ((pc - 1) >> core->model->fetch_shift) + 1 : pc >> core->model->fetch_shift;
	return fetch;
}

void step_fetch_to(struct core *core, struct fetch *fetch, uint64_t pc)
{
	struct cache *cache = core->first_instruction;
	unsigned shift = core->model->fetch_shift;
	for (; fetch->unit <= pc >> shift; fetch->unit++) {
		core->counts->stream[STREAM_FETCH_BLOCKS]++;
		if (core->tlbs)
			tlbs_access(core->tlbs, fetch->unit << shift, 1, TLB_FETCHES, core->counts);
	}
	if (!cache)
		return;
	for (; fetch->line <= pc >> cache->line_shift; fetch->line++) {
		uint64_t address = fetch->line << cache->line_shift;
		core->counts->cache[cache->index][CACHE_FETCHES]++;
		step_line(core, cache, address, cache->is.line_bytes, ACCESS_FETCH, fetch->block | 1u << 31);
	}
}

/* ---- branches ---- */

void step_branch(struct core *core, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken,
		 uint64_t target, uint32_t block)
{
	const struct model *model = core->model;
	unsigned happened;
	if (!core->branches)
		return;
	happened = branches_resolve(core->branches, pc, length, ending, taken, target);
	for (unsigned w = 0; model->overflow_period && w < model->n_watches; w++)
		if (model->watches[w].component == MODEL_BRANCH)
			overflow_count(core, branches_events(happened) >> model->watches[w].count & 1);
	if (model->overflow_period)
		return;
	for (unsigned w = 0; w < model->n_watches; w++)
		if (model->watches[w].component == MODEL_BRANCH && model->block_counts)
			model->block_counts[(uint64_t)block * model->n_watches + w] +=
				branches_events(happened) >> model->watches[w].count & 1;
}

/* ---- the same, for streams that are not a trace ---- */

void model_access(struct model *model, unsigned number, uint64_t address, uint32_t bytes, enum trace_kind kind,
		  uint32_t item)
{
	struct core *core = model->cores[number];
	core_acts(core);
	charge_begin(core);
	if (kind == TRACE_PREFETCH)
		step_prefetch(core, address, bytes, item);
	else
		step_access(core, address, bytes,
			    kind == TRACE_WRITE || kind == TRACE_REP_WRITE || kind == TRACE_SCATTER, item);
	charge_item(core, item);
}

void model_fetch(struct model *model, unsigned number, uint64_t address, uint32_t bytes, uint32_t block)
{
	struct core *core = model->cores[number];
	struct fetch fetch = step_fetch_begin(core, address, block);
	core_acts(core);
	charge_begin(core);
	step_fetch_to(core, &fetch, address + bytes - 1);
	core->next_pc = address + bytes;
	charge_block(core, block);
}
