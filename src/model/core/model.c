/* A model's beginning, its memory and watches. What it does is in run.c and step.c; the laws of its counts in conserve.c. */
#include "model/core/plan.h"

/* ---- memory: the same walk measures and lays out ---- */

static void lay_out_model(struct arena *arena, const struct machine *machine)
{
	struct model *model = arena_take(arena, sizeof *model);
	if (!machine->no_filters && !machine->classify) {
		struct plans measured, *plans = arena_take(arena, sizeof *plans);
		plans_init(plans ? plans : &measured, arena);
		if (model)
			model->plans = plans;
	}
	for (unsigned c = 0; c < machine->n_caches; c++) {
		struct cache measured, *cache;
		if (!machine->caches[c].shared)
			continue;
		cache = arena_take(arena, sizeof *cache);
		cache_init(cache ? cache : &measured, arena, machine, c);
		if (model)
			model->shared[c] = cache;
	}
}

static void lay_out_pages(struct arena *arena, const struct machine *machine, struct core *core)
{
	const uint8_t firsts[2] = { machine->first_data_tlb, machine->first_instruction_tlb };
	for (unsigned side = 0; side < 2; side++) {
		const struct machine_tlb *tlb = &machine->tlbs[firsts[side] == MACHINE_NONE ? 0 : firsts[side]];
		struct page_filter filter = { .mask = tlb->sets - 1, .tlb = firsts[side] };
		bool power = !(tlb->sets & (tlb->sets - 1)) && !(tlb->pages_per_entry & (tlb->pages_per_entry - 1));
		if (firsts[side] == MACHINE_NONE)
			continue;
		if (!power)
			filter.mask = 0;
		filter.fills = power && !machine->no_filters && (!tlb->page_bytes || tlb->page_bytes == 4096);
		filter.small_only = tlb->page_bytes == 4096;
		filter.shift = (uint8_t)(12 + (tlb->pages_per_entry ? __builtin_ctz(tlb->pages_per_entry) : 0));
		if (side && firsts[0] == firsts[1])
			filter.pages = core ? core->pages[0].pages : NULL;
		else
			filter.pages = arena_take(arena, (filter.mask + 1) * sizeof *filter.pages);
		if (core)
			core->pages[side] = filter;
	}
	if (core)
		forget_pages(core);
}

static void lay_out_core(struct arena *arena, const struct machine *machine, struct model *model)
{
	struct core *core = arena_take(arena, sizeof *core);
	void *memory;
	for (unsigned c = 0; c < machine->n_caches; c++) {
		struct cache measured, *cache;
		if (machine->caches[c].shared) {
			if (core)
				core->caches[c] = model->shared[c];
			continue;
		}
		cache = arena_take(arena, sizeof *cache);
		cache_init(cache ? cache : &measured, arena, machine, c);
		if (core)
			core->caches[c] = cache;
	}
	if (machine->n_tlbs) {
		memory = arena_take(arena, tlbs_bytes(machine));
		if (core)
			core->tlbs = tlbs_init(memory, machine, &model->pages);
		lay_out_pages(arena, machine, core);
	}
	if (machine->has_branches) {
		memory = arena_take(arena, branches_bytes(machine));
		if (core)
			core->branches = branches_init(memory, machine);
	}
	if (machine->coherent) {
		memory = arena_take(arena, coherence_core_bytes(machine));
		if (core)
			core->lost = memory;
	}
}

uint64_t model_bytes(const struct machine *machine)
{
	struct arena arena = { 0 };
	lay_out_model(&arena, machine);
	return pages_of(arena.used);
}

uint64_t model_core_bytes(const struct machine *machine)
{
	struct arena arena = { 0 };
	lay_out_core(&arena, machine, NULL);
	return pages_of(arena.used);
}

struct model *model_init(void *memory, const struct machine *machine)
{
	struct arena arena = { memory, 0 };
	struct model *model = memory;
	lay_out_model(&arena, machine);
	model->machine = *machine;
	model->fetch_shift = machine->fetch_bytes ? log2_of(machine->fetch_bytes) : 4;
	for (unsigned c = 0; c < machine->n_caches; c++)
		for (unsigned n = machine->caches[c].next; n != MACHINE_NONE; n = machine->caches[n].next)
			model->in_front[n] |= (uint8_t)(1u << c);
	model->plain = true;
	for (unsigned c = 0; c < machine->n_caches; c++) {
		const struct machine_cache *is = &machine->caches[c];
		struct arena none = { 0 };
		struct cache cache;
		cache_init(&cache, &none, machine, c);
		model->plain &= is->prefetch == PREFETCH_NONE && ((c != machine->first_data && c != machine->first_instruction) ||
								  (cache.plain && cache.quick));
		model->includes |= is->inclusion == INCLUSION_INCLUSIVE;
	}
	return model;
}

void model_core_init(struct model *model, unsigned number, void *memory, struct model_counts *counts)
{
	const struct machine *machine = &model->machine;
	struct arena arena = { memory, 0 };
	struct core *core = memory;
	lay_out_core(&arena, machine, model);
	core->model = model;
	core->counts = counts;
	core->number = number;
	core->next_pc = NOWHERE;
	core->page_changes = ++model->cores_begun << 40;
	core->pending = NO_BLOCK;
	core->first_data = machine->first_data == MACHINE_NONE ? NULL : core->caches[machine->first_data];
	core->first_instruction = machine->first_instruction == MACHINE_NONE ? NULL : core->caches[machine->first_instruction];
	model->cores[number] = core;
	if (model->core_count <= number)
		model->core_count = number + 1;
	/* what the first core holds is not known to be its own alone any more */
	if (machine->coherent && model->core_count > 1 && coherence_point(machine) != MACHINE_NONE && !model->snoops) {
		model->snoops = true;
		for (unsigned k = 0; k < model->core_count; k++)
			for (unsigned c = 0; model->cores[k] && c < machine->n_caches; c++)
				cache_forget_all(model->cores[k]->caches[c]);
	}
}

void model_core_counts(struct model *model, unsigned number, struct model_counts *counts)
{
	struct core *core = model->cores[number];
	if (core->branches)
		branches_count(core->branches, core->counts);
	core->counts = counts;
}

/* What filters, or a batch's sums, count: with a watch on it every access goes the long way. */
static bool counted_in_bulk(const struct model_watch *watch)
{
	if (watch->part == MODEL_CACHE)
		return watch->count <= CACHE_FETCHES;
	if (watch->part == MODEL_TLB)
		return watch->count <= TLB_FETCHES;
	return watch->part == MODEL_STREAM && (watch->count <= STREAM_WRITES || watch->count == STREAM_FETCH_BLOCKS);
}

void model_objects(struct model *model, struct objects *objects)
{
	model->objects = objects;
}

void model_core_calls(struct model *model, unsigned number, struct object_calls *calls)
{
	model->cores[number]->calls = calls;
}

void model_watch(struct model *model, const struct model_watch *watches, unsigned n, uint64_t *site_items, uint64_t *site_blocks)
{
	model->n_watches = n;
	model->site_items = site_items;
	model->site_blocks = site_blocks;
	model->charges_all = model->charges_branches = false;
	for (unsigned w = 0; w < n; w++) {
		model->watches[w] = watches[w];
		model->charges_all |= counted_in_bulk(&watches[w]);
		model->charges_branches |= watches[w].part == MODEL_BRANCH;
	}
}
