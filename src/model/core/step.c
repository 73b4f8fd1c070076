/* One step of a core: a data access, a fetch, a branch; and which item or block what it counted is charged to. */
#include "model/core/cache.h"

/* ---- per-instruction counts: by difference, so that every count of a watched event belongs to somebody ---- */

static uint64_t watched(const struct core *core, const struct model_watch *watch)
{
	switch ((enum model_part)watch->part) {
	case MODEL_CACHE: return core->counts->cache[watch->index][watch->count] + core->elsewhere[watch->index][watch->count];
	case MODEL_TLB: return core->counts->tlb[watch->index][watch->count];
	case MODEL_BRANCH: break; /* branches are charged as they are resolved: step_branch */
	case MODEL_STREAM: return core->counts->stream[watch->count];
	}
	return 0;
}

void charge_begin(struct core *core)
{
	for (unsigned w = 0; w < core->model->n_watches; w++)
		core->charged[w] = watched(core, &core->model->watches[w]);
}

void charge_slowly(struct core *core, uint64_t *sites, uint64_t number)
{
	const struct model *model = core->model;
	for (unsigned w = 0; w < model->n_watches; w++) {
		uint64_t now = watched(core, &model->watches[w]);
		if (sites && now != core->charged[w])
			sites[number * model->n_watches + w] += now - core->charged[w];
		core->charged[w] = now;
	}
}

/* ---- data ---- */

static void count_access(struct core *core, uint64_t address, uint32_t bytes, bool write)
{
	uint64_t *stream = core->counts->stream;
	stream[write ? STREAM_WRITES : STREAM_READS]++;
	if (!(bytes & (bytes - 1)) && address & (bytes - 1)) {
		stream[STREAM_MISALIGNED]++;
		stream[write ? STREAM_MISALIGNED_WRITES : STREAM_MISALIGNED_READS]++;
	}
	if ((address & 63) + bytes > 64) {
		stream[STREAM_LINE_CROSSING]++;
		stream[write ? STREAM_LINE_CROSSING_WRITES : STREAM_LINE_CROSSING_READS]++;
		stream[STREAM_PAGE_CROSSING] += (address & 4095) + bytes > 4096;
	}
}

void step_memory(struct core *core, uint64_t address, uint32_t bytes, bool write, uint32_t item)
{
	struct cache *cache = core->first_data;
	if (!bytes)
		bytes = 1;
	if (core->tlbs)
		tlbs_access(core->tlbs, address, bytes, write ? TLB_WRITES : TLB_READS, core->counts);
	if (!cache)
		return;
	for (uint64_t first = address >> cache->line_shift, line = first, last = (address + bytes - 1) >> cache->line_shift; ; line++) {
		uint64_t from = line == first ? address : line << cache->line_shift;
		uint64_t to = line == last ? address + bytes - 1 : (line << cache->line_shift) + cache->is.line_bytes - 1;
		if (cache_filtered(cache, line, write))
			core->counts->cache[cache->index][write ? CACHE_WRITES : CACHE_READS]++;
		else
			cache_access(core, cache, line, from, (uint32_t)(to - from + 1), write ? TRACE_WRITE : TRACE_READ, item);
		if (line == last)
			return;
	}
}

void step_access(struct core *core, uint64_t address, uint32_t bytes, bool write, uint32_t item)
{
	count_access(core, address, bytes, write);
	step_memory(core, address, bytes, write, item);
}

void step_prefetch(struct core *core, uint64_t address, uint32_t bytes, uint32_t item)
{
	struct cache *cache = core->first_data;
	if (cache)
		for (uint64_t line = address >> cache->line_shift; line <= (address + (bytes ? bytes - 1 : 0)) >> cache->line_shift; line++)
			cache_prefetch(core, cache, line, item);
}

static bool page_filtered(const struct tlbs *tlbs, uint64_t address, enum tlb_side side)
{
	return (address ^ tlbs->shortcut[side].start) < tlbs->shortcut[side].bytes;
}

bool step_filtered(const struct core *core, uint64_t address, bool write)
{
	if (core->model->machine.no_filters || core->model->charges_all)
		return false;
	if (core->tlbs && core->model->machine.first_data_tlb != MACHINE_NONE && !page_filtered(core->tlbs, address, TLB_DATA))
		return false;
	return !core->first_data || cache_filtered(core->first_data, address >> core->first_data->line_shift, write);
}

void step_count_filtered(struct core *core, bool write, uint64_t n)
{
	if (core->tlbs && core->model->machine.first_data_tlb != MACHINE_NONE)
		core->counts->tlb[core->tlbs->shortcut_tlb[TLB_DATA]][write ? TLB_WRITES : TLB_READS] += n;
	if (core->first_data)
		core->counts->cache[core->first_data->index][write ? CACHE_WRITES : CACHE_READS] += n;
}

/* ---- fetch ---- */

struct fetch step_fetch_begin(struct core *core, uint64_t pc, uint32_t block)
{
	/* a unit that the byte before was in is not entered again */
	bool sequential = pc == core->next_pc;
	unsigned line_shift = core->first_instruction ? core->first_instruction->line_shift : 6;
	struct fetch fetch = { .block = block };
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
		if (cache_filtered(cache, fetch->line, false))
			core->counts->cache[cache->index][CACHE_FETCHES]++;
		else
			cache_access(core, cache, fetch->line, fetch->line << cache->line_shift, cache->is.line_bytes, CACHE_FETCH,
				     fetch->block | 1u << 31);
	}
}

/* ---- branches ---- */

void step_branch(struct core *core, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken, uint64_t target, uint32_t block)
{
	const struct model *model = core->model;
	unsigned happened;
	if (!core->branches)
		return;
	/* a conditional branch to the instruction behind it goes nowhere: not taken */
	happened = branches_resolve(core->branches, pc, length, ending, taken && target != pc + length, target);
	for (unsigned w = 0; w < model->n_watches; w++)
		if (model->watches[w].part == MODEL_BRANCH && model->site_blocks)
			model->site_blocks[(uint64_t)block * model->n_watches + w] += branches_events(happened) >> model->watches[w].count & 1;
}

/* ---- the same, for streams that are no trace ---- */

void model_access(struct model *model, unsigned number, uint64_t address, uint32_t bytes, enum trace_kind kind, uint32_t item)
{
	struct core *core = model->cores[number];
	model->acting = core;
	charge_begin(core);
	if (kind == TRACE_PREFETCH)
		step_prefetch(core, address, bytes, item);
	else
		step_access(core, address, bytes, kind == TRACE_WRITE || kind == TRACE_REP_WRITE || kind == TRACE_SCATTER, item);
	charge_item(core, item);
}

void model_fetch(struct model *model, unsigned number, uint64_t address, uint32_t bytes, uint32_t block)
{
	struct core *core = model->cores[number];
	struct fetch fetch = step_fetch_begin(core, address, block);
	model->acting = core;
	charge_begin(core);
	step_fetch_to(core, &fetch, address + bytes - 1);
	core->next_pc = address + bytes;
	charge_block(core, block);
}

void model_branch(struct model *model, unsigned number, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken, uint64_t target,
		  uint32_t block)
{
	struct core *core = model->cores[number];
	model->acting = core;
	step_branch(core, pc, length, ending, taken, target, block);
	if (core->branches)
		branches_count(core->branches, core->counts);
}
