/* A model's beginning, its memory and watches. What it does is in run.c and step.c; the laws of its counts in
 * conserve.c. */
#include "model/core/fast/request_queue.h"
#include "model/core/fast/plan.h"
#include "model/core/fast/processor.h"
#include "model/core/sample.h"

#define VECTORS_BEHIND 128 /* bytes: a set is read as sixteen words */

/* ---- memory: the same walk measures and lays out ---- */

static bool first(const struct machine *machine, unsigned cache)
{
	return cache == machine->first_data || cache == machine->first_instruction;
}

/* Whether there can be a filter (fast/filter.h). *shift: log2 of its granules. */
static bool filter_possible(const struct machine *machine, const struct model_options *options, unsigned *shift)
{
	uint64_t lines = 0;
	unsigned least = FILTER_SHIFT_MOST + 1;
	for (unsigned c = 0; c < machine->n_caches; c++) {
		const struct machine_cache *is = &machine->caches[c];
		unsigned line_shift = log2_of(is->line_bytes);
		if (!first(machine, c))
			continue;
		if (is->shared || is->inclusion == INCLUSION_EXCLUSIVE || is->ways > 256)
			return false;
		lines += (uint64_t)is->sets * is->ways;
		least = line_shift < least ? line_shift : least;
	}
	*shift = least > FILTER_SHIFT_MOST ? 6 : least;
	return !options->no_filters && !options->classify && lines < FILTER_LINES &&
	       *shift >= FILTER_SHIFT_LEAST && tlbs_first_entries(machine) < FILTER_PAGES;
}

static void lay_out_model(struct model_memory *arena, const struct machine *machine,
			  const struct model_options *options)
{
	struct model *model = arena_take(arena, sizeof *model);
	unsigned shift;
	if (filter_possible(machine, options, &shift)) {
		struct plans measured, *plans = arena_take(arena, sizeof *plans);
		struct batch *batch = arena_take(arena, sizeof *batch);
		plans_init(plans ? plans : &measured, arena);
		if (model) {
			model->plans = plans;
			model->batch = batch;
		}
	}
	for (unsigned c = 0; c < machine->n_caches; c++) {
		struct cache measured, *cache;
		if (!machine->caches[c].shared)
			continue;
		cache = arena_take(arena, sizeof *cache);
		cache_init(cache ? cache : &measured, arena, machine, options, c, false);
		if (model)
			model->shared[c] = cache;
	}
	if (coherence_point(machine) != MACHINE_NONE) {
		void *places = arena_take(arena, COHERENCE_PLACES * sizeof(struct coherence_place));
		if (model)
			model->coherence.places = places;
	}
}

/* The first-level caches' lines are those touched[0 …], side by side. */
static void time_cache(struct core *core, const struct machine *machine, struct cache *cache, uint32_t *next)
{
	cache->sides = (uint8_t)((machine->first_data == cache->index) |
				 (machine->first_instruction == cache->index) << 1);
	cache->filter = &core->filter;
	cache->first_way = *next;
	lines_time(&cache->main, &core->recency, core->filter.touched + *next,
		   core->filter.written + FILTER_LINES + *next);
	*next += cache->main.sets * cache->main.ways;
}

static void lay_out_levels(struct core *core, const struct machine *machine, const struct model_options *options,
			   struct request_queue *levels, const uint8_t *caches)
{
	unsigned n = requests_levels(machine, options, (uint8_t[REQUESTS_LEVELS]){0});
	for (unsigned i = 0; i < n; i++) {
		levels[i].cache = core->caches[caches[i]];
		levels[i].next = i + 1 < n ? &levels[i + 1] : NULL;
		levels[i].write_back_bytes = machine->first_data == MACHINE_NONE
						     ? 0
						     : machine->caches[machine->first_data].line_bytes;
	}
	core->levels = levels;
}

/* See fast/inline.h. */
static void fill_sampled(uint8_t *sampled, const struct model_options *options, unsigned granule_shift)
{
	uint32_t n = sample_entries(options);
	for (uint32_t size = 0; size < INLINE_SIZES; size++)
		for (uint32_t address = 0; address < n; address++)
			sampled[size * n + address] = sample_has(options, address) ||
						      (address ^ (address + (1u << size) - 1)) >> granule_shift !=
							      0;
}

static void lay_out_core(struct model_memory *arena, const struct machine *machine,
			 const struct model_options *options, struct model *model)
{
	struct core *core = arena_take(arena, sizeof *core);
	uint32_t lines = 0;
	unsigned shift;
	bool timed = filter_possible(machine, options, &shift);
	uint8_t behind[REQUESTS_LEVELS];
	void *memory;
	if (core)
		core->model = model;
	if (timed) {
		struct filter filter = {.shift = (uint8_t)shift,
					.occupied_shift = (uint8_t)tlbs_occupied_shift(machine, shift)};
		filter.table = arena_take(arena, (1ull << FILTER_BITS) * sizeof *filter.table);
		filter.touched = arena_take(arena, FILTER_LINES * sizeof *filter.touched);
		filter.pages = arena_take(arena, FILTER_PAGES * sizeof *filter.pages);
		filter.written = arena_take(arena, 2 * FILTER_LINES * sizeof *filter.written);
		struct inline_entry *data = arena_take(arena, (1ull << INLINE_DATA_BITS) * sizeof *data);
		struct inline_fetch *fetch = arena_take(arena, (1ull << INLINE_FETCH_BITS) * sizeof *fetch);
		uint8_t *sampled = options->sample ? arena_take(arena, INLINE_SIZES * sample_entries(options))
						   : NULL;
		filter.occupied = arena_take(arena, 2 * FILTER_PAGES * sizeof *filter.occupied);
		filter.page_table = arena_take(arena, (2ull << FILTER_PAGE_BITS) * sizeof *filter.page_table);
		if (core)
			core->filter = filter, core->inline_data = data, core->inline_fetch = fetch,
			core->sampled = sampled;
		if (core && sampled)
			fill_sampled(sampled, options, shift);
	}
	for (unsigned c = 0; c < machine->n_caches; c++) {
		struct cache measured, *cache;
		if (machine->caches[c].shared) {
			if (core)
				core->caches[c] = model->shared[c];
			continue;
		}
		cache = arena_take(arena, sizeof *cache);
		cache_init(cache ? cache : &measured, arena, machine, options, c, timed && first(machine, c));
		if (core)
			core->caches[c] = cache;
		if (core && timed && first(machine, c))
			time_cache(core, machine, cache, &lines);
	}
	if (timed && requests_levels(machine, options, behind)) {
		struct request_queue *levels = arena_take(arena, requests_levels(machine, options, behind) *
									 sizeof *levels);
		if (core)
			lay_out_levels(core, machine, options, levels, behind);
	}
	if (machine->n_tlbs) {
		memory = arena_take(arena, tlbs_bytes(machine));
		if (core)
			core->tlbs = tlbs_init(memory, machine, options, &model->pages);
		if (core && timed)
			tlbs_time(core->tlbs, &core->filter, &core->recency);
	}
	if (!options->no_branches) {
		memory = arena_take(arena, branches_bytes(machine));
		if (core)
			core->branches = branches_init(memory, machine, options),
			branches_share(core->branches, &model->btb_changes);
	}
	if (machine->coherent) {
		memory = arena_take(arena, coherence_core_bytes(machine));
		if (core)
			core->lost = memory;
	}
}

uint64_t model_bytes(const struct machine *machine, const struct model_options *options)
{
	struct model_memory arena = {0};
	lay_out_model(&arena, machine, options);
	return pages_of(arena.used + VECTORS_BEHIND);
}

uint64_t model_core_bytes(const struct machine *machine, const struct model_options *options)
{
	struct model_memory arena = {0};
	lay_out_core(&arena, machine, options, NULL);
	return pages_of(arena.used + VECTORS_BEHIND);
}

struct model *model_init(void *memory, const struct machine *machine, const struct model_options *options)
{
	struct model_memory arena = {memory, 0};
	struct model *model = memory;
	lay_out_model(&arena, machine, options);
	model->machine = *machine;
	model->options = *options;
	model->fetch_shift = machine->fetch_bytes ? log2_of(machine->fetch_bytes) : 4;
	for (unsigned c = 0; c < machine->n_caches; c++)
		for (unsigned n = machine->caches[c].next; n != MACHINE_NONE; n = machine->caches[n].next)
			model->in_front[n] |= (uint8_t)(1u << c);
	model->simple = true;
	for (unsigned c = 0; c < machine->n_caches; c++) {
		const struct machine_cache *is = &machine->caches[c];
		struct model_memory none = {0};
		struct cache cache;
		cache_init(&cache, &none, machine, options, c, false);
		model->simple &= is->prefetch == PREFETCH_NONE && (!first(machine, c) || cache.simple);
	}
	model->distinct_writes = machine->first_data != MACHINE_NONE &&
				 machine->caches[machine->first_data].write != WRITE_BACK;
	model->pages.shift = machine->page_bytes ? log2_of(machine->page_bytes) : TLB_PAGE_SHIFT;
	model->by_units = tlbs_by_units(machine, &model->pages);
	model->vectors = vectors_here() == VECTORS_AVX512;
	for (unsigned c = 0; c < machine->n_caches; c++)
		model->sets_vectors |= model->vectors && machine->caches[c].ways >= 8;
	return model;
}

void model_pages(struct model *model, const struct model *other, bool whole)
{
	if (whole)
		model->pages = other->pages;
	else
		model->pages.dropped = 1;
	model->by_units = tlbs_by_units(&model->machine, &model->pages);
}

uint64_t model_meetings(const struct model *model) { return model->coherence.meetings; }

static void count_at(struct core *core, struct model_counts *counts)
{
	const struct model_options *options = &core->model->options;
	core->counts = core->own = counts;
	core->groups = options->sample ? counts + options->sample_counts : NULL;
}

void model_core_init(struct model *model, unsigned number, void *memory, struct model_counts *counts)
{
	const struct machine *machine = &model->machine;
	struct model_memory arena = {memory, 0};
	struct core *core = memory;
	if (model->waits)
		core_settle(model->waits); /* with this one, coherence may begin */
	lay_out_core(&arena, machine, &model->options, model);
	count_at(core, counts);
	core->number = number;
	core->next_pc = NOWHERE;
	core->pending = NO_BLOCK;
	core->first_data = machine->first_data == MACHINE_NONE ? NULL : core->caches[machine->first_data];
	core->first_instruction = machine->first_instruction == MACHINE_NONE
					  ? NULL
					  : core->caches[machine->first_instruction];
	model->cores[number] = core;
	if (model->core_count <= number)
		model->core_count = number + 1;
	model->coherence.all_shared = model->core_count > COHERENCE_CORES;
	/* what the first core holds is not known to be its own alone any more */
	if (model->core_count > 1 && coherence_point(machine) != MACHINE_NONE && !model->snoops) {
		coherence_begin(model);
		model->snoops = model->distinct_writes = true;
		plans_forget(model);
		for (unsigned k = 0; k < model->core_count; k++)
			if (model->cores[k])
				filter_clear_all(&model->cores[k]->filter);
	}
}

void model_core_counts(struct model *model, unsigned number, struct model_counts *counts)
{
	struct core *core = model->cores[number];
	if (core->branches)
		branches_count(core->branches, core->counts);
	core_settle(core);
	count_at(core, counts);
	charge_begin(core);
}

/* What a batch's sums count: with a watch on it every access goes step by step. */
static bool counted_in_bulk(const struct model_watch *watch)
{
	if (watch->component == MODEL_CACHE)
		return watch->count <= CACHE_FETCHES;
	if (watch->component == MODEL_TLB)
		return watch->count <= TLB_FETCHES;
	return watch->component == MODEL_STREAM &&
	       (watch->count <= STREAM_WRITES || watch->count == STREAM_FETCH_BLOCKS);
}

static bool mispredicted(const struct model_watch *watch)
{
	return watch->count == BRANCH_MISPREDICTED || watch->count == BRANCH_CONDITIONAL_MISPREDICTED ||
	       watch->count == BRANCH_INDIRECT_MISPREDICTED || watch->count == BRANCH_RETURN_MISPREDICTED;
}

void model_objects(struct model *model, struct objects *objects) { model->objects = objects; }

void model_core_calls(struct model *model, unsigned number, struct object_calls *calls)
{
	model->cores[number]->calls = calls;
}

void model_watch(struct model *model, const struct model_watch *watches, unsigned n, uint64_t *item_counts,
		 uint64_t *block_counts)
{
	if (model->waits)
		core_settle(model->waits);
	model->n_watches = n;
	model->item_counts = item_counts;
	model->block_counts = block_counts;
	model->charges_all = false;
	model->charges_branches = CHARGES_NO_BRANCH;
	for (unsigned w = 0; w < n; w++) {
		model->watches[w] = watches[w];
		model->charges_all |= counted_in_bulk(&watches[w]);
		if (watches[w].component == MODEL_BRANCH && model->charges_branches != CHARGES_EACH)
			model->charges_branches = mispredicted(&watches[w]) ? CHARGES_MISPREDICTED : CHARGES_EACH;
	}
}

static void forget_strides(struct cache *const *caches, const struct machine *machine)
{
	for (unsigned c = 0; c < machine->n_caches; c++)
		for (unsigned i = 0; caches[c] && caches[c]->strides && i < caches[c]->is.prefetch_entries; i++)
			caches[c]->strides[i] = (struct stride){0};
}

void model_overflow(struct model *model, uint64_t period, uint32_t skid, uint64_t words)
{
	model->overflow_period = period;
	model->overflow_skid = skid;
	model->overflow_words = words;
	model->charges_all = true; /* each step in its order */
}

bool model_renumber(struct model *model, uint64_t *item_counts, uint64_t *block_counts)
{
	bool resolved = true;
	plans_forget(model);
	forget_strides(model->shared, &model->machine);
	for (unsigned k = 0; k < model->core_count; k++) {
		struct core *core = model->cores[k];
		if (!core)
			continue;
		forget_strides(core->caches, &model->machine);
		resolved &= core->pending == NO_BLOCK;
		core->pending = NO_BLOCK;
	}
	model->item_counts = item_counts;
	model->block_counts = block_counts;
	return resolved;
}
