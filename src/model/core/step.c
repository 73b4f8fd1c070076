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
	case MODEL_FILTER: break; /* nobody's */
	}
	return 0;
}

void charge_begin(struct core *core)
{
	for (unsigned w = 0; w < core->model->n_watches; w++)
		core->charged[w] = watched(core, &core->model->watches[w]);
}

void charge_slowly(struct core *core, uint64_t *sites, uint64_t number, bool data)
{
	const struct model *model = core->model;
	uint64_t *object = NULL;
	for (unsigned w = 0; w < model->n_watches; w++) {
		uint64_t now = watched(core, &model->watches[w]);
		if (sites && now != core->charged[w])
			sites[number * model->n_watches + w] += now - core->charged[w];
		if (model->objects && now != core->charged[w]) {
			if (!object)
				object = data ? objects_counts(model->objects, core->accessed) : objects_counts_of(model->objects, OBJECT_CODE);
			object[w] += now - core->charged[w];
		}
		core->charged[w] = now;
	}
}

/* ---- pages ---- */

void forget_pages(struct core *core)
{
	core->page_changes++;
	for (unsigned side = 0; side < 2; side++)
		for (uint64_t set = 0; core->pages[side].pages && set <= core->pages[side].mask; set++)
			core->pages[side].pages[set] = NOWHERE;
}

static uint64_t *page_filter(const struct page_filter *filter, uint64_t address)
{
	return &filter->pages[address >> filter->shift & filter->mask];
}

static bool page_filtered(const struct page_filter *filter, uint64_t address)
{
	return (address ^ *page_filter(filter, address)) < 4096;
}

/* The page was just used, last of its set. A filter tells 4 KB pages; larger ones end what it knew of their set. */
static void remember_page(struct core *core, const struct page_filter *filter, uint64_t address)
{
	const struct tlb_map *map = &core->model->pages;
	unsigned larger;
	if (!filter->fills)
		return;
	core->page_changes += filter->pages == core->pages[TLB_FETCH].pages;
	larger = map->count ? tlb_map_shift(map, address) - TLB_PAGE_SHIFT : 0;
	if (!larger)
		*page_filter(filter, address) = address & ~4095ull;
	else if (!filter->small_only)
		*page_filter(filter, address >> larger) = NOWHERE;
}

void step_page(struct core *core, enum tlb_side side, uint64_t address, enum model_tlb_count kind)
{
	tlbs_access_slow(core->tlbs, address, 1, kind, core->counts);
	remember_page(core, &core->pages[side], address);
}

static void step_translate(struct core *core, enum tlb_side side, uint64_t address, uint32_t bytes, enum model_tlb_count kind)
{
	const struct page_filter *filter = &core->pages[side];
	if (!filter->pages)
		return;
	if (((address ^ (address + bytes - 1)) & ~4095ull) == 0 && page_filtered(filter, address)) {
		core->counts->tlb[filter->tlb][kind]++;
		return;
	}
	tlbs_access(core->tlbs, address, bytes, kind, core->counts);
	remember_page(core, filter, address);
	remember_page(core, filter, address + bytes - 1);
}

/* ---- data ---- */

static void count_placement(struct core *core, uint64_t address, uint32_t bytes, bool write)
{
	uint64_t *stream = core->counts->stream;
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
	uint64_t last;
	if (!bytes)
		bytes = 1;
	core->accessed = address;
	step_translate(core, TLB_DATA, address, bytes, write ? TLB_WRITES : TLB_READS);
	if (!cache)
		return;
	last = address + bytes - 1;
	for (;;) {
		uint64_t end = address | ((1ull << cache->line_shift) - 1);
		uint32_t here = (uint32_t)((end - address < last - address ? end : last) - address + 1);
		core->counts->cache[cache->index][write ? CACHE_WRITES : CACHE_READS]++;
		if (!cache_filtered(cache, address, write))
			cache_access(core, cache, address, here, write ? TRACE_WRITE : TRACE_READ, item);
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
		for (uint64_t line = address >> cache->line_shift; line <= (address + (bytes ? bytes - 1 : 0)) >> cache->line_shift; line++)
			cache_prefetch(core, cache, line, item);
}

bool step_filtered(const struct core *core, uint64_t address, bool write)
{
	if (core->model->machine.no_filters || core->model->charges_all)
		return false;
	if (core->pages[TLB_DATA].pages && !page_filtered(&core->pages[TLB_DATA], address))
		return false;
	return !core->first_data || cache_filtered(core->first_data, address, write);
}

void step_count_filtered(struct core *core, bool write, uint64_t in_cache, uint64_t in_tlb)
{
	if (core->pages[TLB_DATA].pages)
		core->counts->tlb[core->pages[TLB_DATA].tlb][write ? TLB_WRITES : TLB_READS] += in_tlb;
	if (core->first_data)
		core->counts->cache[core->first_data->index][write ? CACHE_WRITES : CACHE_READS] += in_cache;
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
		step_translate(core, TLB_FETCH, fetch->unit << shift, 1, TLB_FETCHES);
	}
	if (!cache)
		return;
	for (; fetch->line <= pc >> cache->line_shift; fetch->line++) {
		uint64_t address = fetch->line << cache->line_shift;
		core->counts->cache[cache->index][CACHE_FETCHES]++;
		if (!cache_filtered(cache, address, false))
			cache_access(core, cache, address, cache->is.line_bytes, CACHE_FETCH, fetch->block | 1u << 31);
	}
}

/* ---- branches ---- */

void step_branch(struct core *core, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken, uint64_t target, uint32_t block)
{
	const struct model *model = core->model;
	unsigned happened;
	if (!core->branches)
		return;
	happened = branches_resolve(core->branches, pc, length, ending, taken, target);
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
	/* as in a trace, where a conditional branch to the instruction behind it cannot be told from one not taken */
	if (ending == TRACE_END_CONDITIONAL && target == pc + length)
		taken = false;
	model->acting = core;
	step_branch(core, pc, length, ending, taken, target, block);
	if (core->branches)
		branches_count(core->branches, core->counts);
}
