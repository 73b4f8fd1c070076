#include "backend/engine/locations.h"

#include <stdlib.h>
#include <string.h>

#include "backend/engine/decoded.h"
#include "backend/engine/events.h"
#include "backend/engine/fold.h"
#include "backend/engine/objects.h"
#include "base/vec.h"
#include "engine/inject/injection.h"
#include "model/core/overflow/overflow.h"

/* ---- the plan ---- */

/* Counts of the blocks that the access stream also has: by the data that was touched. Their sum is compared with
 * that of the blocks. */
static const struct {
	enum exact_count count;
	enum model_stream_count stream;
} accesses[] = {{COUNT_READS, STREAM_READS}, {COUNT_WRITES, STREAM_WRITES}};

/* Is it a sum of these accesses alone? */
static bool counts_accesses(const struct exact_event *event)
{
	bool others = event->minus != 0;
	for (const uint8_t *p = event->plus; *p; p++)
		others |= *p - 1 != COUNT_READS && *p - 1 != COUNT_WRITES;
	return !others;
}

/* One part of an event, the n-th; 0: the event has no such part. */
static size_t add_part(const struct exact_event *event, enum exact_count count, enum model_stream_count stream,
		       struct model_watch *part, size_t n, uint8_t *minus)
{
	if (!exact_event_uses(event, count))
		return 0;
	*part = (struct model_watch){.component = MODEL_STREAM, .count = (uint8_t)stream};
	*minus |= (uint8_t)((event->minus == count + 1) << n);
	return 1;
}

/* The counts of the models that an event is the sum of: how many; 0: it is another formula. */
static size_t parts_of(const struct execution_event *event, const struct counting_models *models,
		       struct model_watch *parts, uint8_t *minus)
{
	size_t n = 0;
	*minus = 0;
	if (!event->exact)
		return models->watches
			       ? models->watches(models->context, event->modelled, parts, MODEL_WATCHES, minus)
			       : 0;
	for (size_t i = 0; i < TALLY_STREAMS; i++)
		n += add_part(event->exact, tally_streams[i].count, tally_streams[i].stream, &parts[n], n, minus);
	for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
		n += add_part(event->exact, accesses[i].count, accesses[i].stream, &parts[n], n, minus);
	return n;
}

/* The watch's bit, added if there is room; 0: there is none. */
static uint8_t watch(struct location_plan *plan, const struct model_watch *wanted)
{
	for (size_t w = 0; w < plan->n_watches; w++)
		if (memcmp(&plan->watches[w], wanted, sizeof *wanted) == 0)
			return (uint8_t)(1u << w);
	if (plan->n_watches == MODEL_WATCHES)
		return 0;
	plan->watches[plan->n_watches] = *wanted;
	return (uint8_t)(1u << plan->n_watches++);
}

static void plan_event(struct location_plan *plan, const struct execution_event *event,
		       const struct counting_models *models, struct planned_event *out)
{
	struct model_watch parts[MODEL_WATCHES];
	struct location_plan before = *plan;
	uint8_t minus;
	if (!event->exact && !event->modelled) {
		out->why = "it was not counted";
		return;
	}
	if (event->exact && (exact_event_uses(event->exact, COUNT_CODE_LINES) ||
			     exact_event_uses(event->exact, COUNT_CODE_PAGES))) {
		out->why = "it is known for the whole program only: distinct lines cannot be added up over places";
		return;
	}
	bool by_data = plan->of == LOCATIONS_OF_DATA && event->exact && counts_accesses(event->exact);
	if (event->exact && !exact_event_needs_trace(event->exact) && !by_data) {
		if (plan->of == LOCATIONS_OF_DATA)
			out->why = "the engine counts it by instruction, not by the data that it touches; "
				   "data-reads and data-writes are counted by data";
		return;
	}
	if (event->modelled && event->machine != 0) {
		out->why = "only the first machine's events are counted by place";
		return;
	}
	size_t n = parts_of(event, models, parts, &minus);
	if (n == 0)
		out->why = "it is not a sum of the model's counts, and only those are known by place";
	bool branches = n > 0;
	for (size_t i = 0; i < n; i++)
		branches &= parts[i].component == MODEL_BRANCH;
	if (branches && plan->of == LOCATIONS_OF_DATA) {
		out->why = "branches touch no data";
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint8_t bit = watch(plan, &parts[i]);
		if (!bit) { /* what of it was watched is not */
			plan->n_watches = before.n_watches;
			out->why = "it needs more than the eight model counts that one run can track by place; "
				   "count it with fewer others";
			out->parts = out->minus = 0;
			return;
		}
		out->parts |= bit;
		out->minus |= minus >> i & 1 ? bit : 0;
	}
}

bool location_plan_new(struct location_plan *plan, enum locations_of of, const struct execution_event *events,
		       size_t n, const struct counting_models *models)
{
	*plan = (struct location_plan){.of = of};
	if (of == LOCATIONS_NONE)
		return true;
	if (!(plan->events = calloc(n + 1, sizeof *plan->events)))
		return false;
	for (size_t i = 0; i < n; i++)
		plan_event(plan, &events[i], models, &plan->events[i]);
	return true;
}

void location_plan_sample(struct location_plan *plan, uint64_t period, uint32_t skid, size_t n_events)
{
	plan->period = period;
	plan->skid = skid;
	for (size_t i = 0; plan->events && i < n_events; i++) {
		struct planned_event *e = &plan->events[i];
		if (!e->why && n_events > 1)
			e->why = "a simulated counter overflows on one event at a time";
		else if (!e->why && (!e->parts || e->minus))
			e->why = "a simulated counter overflows on events that are sums of the model's counts; "
				 "without -c it is counted by place";
	}
}

uint64_t location_sum(const struct location_plan *plan, size_t event, const uint64_t *watched)
{
	uint64_t sum = 0;
	for (size_t w = 0; w < plan->n_watches; w++)
		if (plan->events[event].parts >> w & 1)
			sum += plan->events[event].minus >> w & 1 ? 0 - watched[w] : watched[w];
	return sum;
}

void location_plan_free(struct location_plan *plan)
{
	free(plan->events);
	*plan = (struct location_plan){0};
}

/* ---- the table of places ---- */

struct location_fill {
	const struct view *view;
	const struct execution_regions *inside; /* NULL: everywhere */
	const struct location_plan *plan;
	const struct execution_event *events;
	struct locations *out;
	size_t capacity;
	uint32_t *slots; /* of the table: number of the place + 1; 0: free; a power of two of them */
	size_t slot_count;
	VEC(const char *) modules; /* the names so far: a place's module is one of these pointers */
	const char *last_name, *last_module;
	/* of each process that owns some, by block and instruction; NULL: not sorted yet */
	const struct record_site ***sites;
	size_t *site_counts;
	bool no_memory;
};

static const char *module_named(struct location_fill *fill, const char *name)
{
	if (fill->last_name && strcmp(fill->last_name, name) == 0)
		return fill->last_module;
	const char *found = NULL;
	for (size_t i = 0; i < fill->modules.count && !found; i++)
		if (strcmp(fill->modules.items[i], name) == 0)
			found = fill->modules.items[i];
	if (!found && (found = arena_strdup(&fill->out->arena, name)) && !vec_push(&fill->modules, found))
		found = NULL;
	fill->last_name = fill->last_module = found;
	return found;
}

static const char *module_name(struct location_fill *fill, const struct record_module *module)
{
	char name[sizeof module->path + 1] = "";
	if (module)
		memcpy(name, module->path, sizeof module->path); /* the record's may lack its end */
	return module_named(fill, name);
}

/* Instructions are added block by block: those of 64 bytes of code are also neighbours in the table. */
static size_t hash(const char *module, uint64_t offset, uint32_t pid)
{
	uint64_t h = (offset >> 6 ^ (uint64_t)(uintptr_t)module << 17 ^ (uint64_t)pid << 40) * 0x9e3779b97f4a7c15u;
	return (size_t)((h ^ h >> 32) << 6 ^ (offset & 63));
}

static bool grow(struct location_fill *fill)
{
	size_t n = fill->slot_count ? 2 * fill->slot_count : 4096;
	uint32_t *slots = calloc(n, sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < fill->out->n; i++) {
		const struct location *l = &fill->out->all[i];
		size_t at = hash(l->module, l->offset, l->pid) & (n - 1);
		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(fill->slots);
	fill->slots = slots, fill->slot_count = n;
	return true;
}

/* The counts of a place; NULL (and fill->no_memory) when memory ran out. */
static uint64_t *counts_at(struct location_fill *fill, const char *module, uint64_t offset, uint32_t pid)
{
	struct locations *out = fill->out;
	fill->no_memory |= 2 * out->n >= fill->slot_count && !grow(fill);
	if (fill->no_memory || !module)
		return NULL;
	size_t at = hash(module, offset, pid) & (fill->slot_count - 1);
	for (; fill->slots[at]; at = (at + 1) & (fill->slot_count - 1)) {
		const struct location *l = &out->all[fill->slots[at] - 1];
		if (l->offset == offset && l->module == module && l->pid == pid)
			break;
	}
	if (!fill->slots[at]) {
		uint64_t *counts = arena_alloc(&out->arena, (out->n_events + 1) * sizeof *counts);
		if (!counts || !vec_grow((void **)&out->all, &fill->capacity, out->n, sizeof *out->all)) {
			fill->no_memory = true;
			return NULL;
		}
		out->all[out->n++] = (struct location){
			.kind = LOCATION_CODE, .module = module, .offset = offset, .pid = pid, .counts = counts};
		fill->slots[at] = (uint32_t)out->n;
	}
	return out->all[fill->slots[at] - 1].counts;
}

/* A block's owner, where it is, and what its places are. */
struct located {
	const struct view_process *owner;
	const struct record_block *block;
	const char *module;
	uint64_t shift; /* offset = address + shift */
	uint32_t pid;   /* as in struct location */
};

/* Of places in regions: is the block of other code? One that is executed in a region is a block of its own
 * (engine/wire/region.h). */
static bool is_elsewhere(const struct location_fill *fill, const struct located *at)
{
	uint32_t n, context = __atomic_load_n(&at->block->flags, __ATOMIC_RELAXED) >> RECORD_BLOCK_CONTEXT_SHIFT;
	bool damaged = false; /* the tally says that */
	if (!fill->inside)
		return false;
	const uint32_t *in = context ? regions_of(fill->inside, at->owner, context, &n, &damaged) : NULL;
	for (uint32_t i = 0; in && i < n; i++)
		if (in[i] < fill->inside->n_asked)
			return false;
	return true;
}

/* False: there is no such block, or it is elsewhere (out->block then is not NULL). */
static bool locate(struct location_fill *fill, const struct view_process *p, uint32_t number, struct located *out)
{
	*out = (struct located){.owner = view_block_owner(p, number)};
	if (!out->owner || !(out->block = view_block(out->owner, number)) || is_elsewhere(fill, out))
		return false;
	const struct record_module *module = view_module(out->owner, out->block);
	out->module = module_name(fill, module);
	out->shift = module && module->path[0] ? module->file_offset - module->address : 0;
	out->pid = module && module->path[0] ? 0 : p->record->pid;
	fill->no_memory |= !out->module;
	return !fill->no_memory;
}

/* ---- from the blocks: what the engine counts itself ---- */

struct location_adding {
	struct location_fill *fill;
	const struct view_process *p;
	struct located at;
	uint32_t number;
	uint64_t times, edge; /* edge: the branch's counted way out */
	bool subtract;
	struct leaders *leaders;
};

static int by_block(const void *a, const void *b)
{
	const struct record_site *x = *(const struct record_site *const *)a,
				 *y = *(const struct record_site *const *)b;
	return x->block != y->block ? (x->block > y->block) - (x->block < y->block)
				    : (x->insn > y->insn) - (x->insn < y->insn);
}

static bool sort_sites(struct location_fill *fill, const struct view_process *owner)
{
	const struct record_site **sorted;
	size_t n = 0;
	if (fill->sites[owner->index])
		return true;
	if (!(sorted = calloc(owner->sites.own + 1, sizeof *sorted)))
		return false;
	for (uint32_t i = 0; i < owner->sites.own; i++) {
		const struct record_site *site = (const struct record_site *)owner->sites.entries + i;
		if (site->kind == RECORD_SITE_ITERATIONS || site->kind == RECORD_SITE_AMOUNT)
			sorted[n++] = site;
	}
	if (n)
		qsort(sorted, n, sizeof *sorted, by_block);
	fill->sites[owner->index] = sorted, fill->site_counts[owner->index] = n;
	return true;
}

/* What an instruction's own counter has, in all threads of the process. */
static uint64_t site_count(const struct location_adding *a, uint32_t insn)
{
	const struct record_site wanted = {.block = a->number, .insn = (uint16_t)insn}, *key = &wanted, **found;
	uint64_t sum = 0;
	if (!sort_sites(a->fill, a->at.owner)) {
		a->fill->no_memory = true;
		return 0;
	}
	found = bsearch(&key, a->fill->sites[a->at.owner->index], a->fill->site_counts[a->at.owner->index],
			sizeof *found, by_block);
	for (size_t t = 0; found && t < a->p->n_threads; t++)
		sum += view_counter(&a->p->threads[t], (*found)->counter);
	return sum;
}

/* One instruction's share of every count, as tally.c has it of a block's. */
static void counts_of(const struct location_adding *a, uint32_t index, uint64_t address,
		      const struct x86_insn *insn, uint64_t count[COUNTS])
{
	const struct record_block *block = a->at.block;
	struct exact_vector vector = {0};
	struct exact_each each;
	exact_vector_add(&vector, insn, &each);
	memset(count, 0, COUNTS * sizeof *count);
	for (unsigned e = 0; e < COUNT_STATIC; e++)
		count[e] = a->times * vector.of[e];
	count[COUNT_BASIC_BLOCKS] = leaders_has(a->leaders, address) ? a->times : 0;
	if (each.unit && !a->subtract) {
		uint64_t n = site_count(a, index);
		for (unsigned i = 0; i < each.n; i++)
			count[each.adds[i].of] += n * each.adds[i].times;
	}
	if (index + 1u == block->insns && block->taken != RECORD_NONE) {
		bool falls = __atomic_load_n(&block->flags, __ATOMIC_RELAXED) & RECORD_BLOCK_COUNTS_FALL;
		count[COUNT_TAKEN] = a->subtract ? (falls ? a->times : 0) : falls ? a->times - a->edge : a->edge;
	}
}

static void add_insn(void *arg, uint32_t index, uint64_t address, const struct x86_insn *insn)
{
	struct location_adding *a = arg;
	struct location_fill *fill = a->fill;
	uint64_t count[COUNTS];
	uint64_t *counts = counts_at(fill, a->at.module, address + a->at.shift, a->at.pid);
	if (!counts)
		return;
	counts_of(a, index, address, insn, count);
	for (size_t i = 0; i < fill->out->n_events; i++) {
		const struct exact_event *event = fill->events[i].exact;
		uint64_t value = 0;
		if (!event || fill->plan->events[i].why || fill->plan->events[i].parts)
			continue;
		for (const uint8_t *p = event->plus; *p; p++)
			value += count[*p - 1];
		if (event->minus)
			value -= count[event->minus - 1];
		/* modulo 2^64 on the way (a subtraction may come first); breakdown_new() sees a sum that went
		 * wrong */
		counts[i] += a->subtract ? 0 - value : value;
	}
}

static bool add_blocks(struct location_fill *fill, const struct view_process *p, struct leaders *leaders)
{
	struct location_adding a = {.fill = fill, .p = p, .leaders = leaders};
	for (uint32_t number = 0; number < p->blocks.count && !fill->no_memory; number++) {
		a.times = a.edge = 0, a.number = number;
		for (size_t t = 0; t < p->n_threads; t++)
			a.times += view_entered(&p->threads[t], number);
		if (!a.times || !locate(fill, p, number, &a.at))
			continue;
		for (size_t t = 0; a.at.block->taken != RECORD_NONE && t < p->n_threads; t++)
			a.edge += view_counter(&p->threads[t], a.at.block->taken);
		decoded_each(a.at.owner, a.at.block, 0, add_insn, &a);
	}
	a.subtract = true;
	for (uint32_t i = 0; i < p->corrections.own && !fill->no_memory; i++) {
		const struct record_correction *c = (const struct record_correction *)p->corrections.entries + i;
		a.times = c->times, a.number = c->block;
		if (a.times && locate(fill, p, c->block, &a.at))
			decoded_each(a.at.owner, a.at.block, c->done, add_insn, &a);
	}
	return !fill->no_memory;
}

/* ---- from the sites: what was watched ---- */

/* The counts of [count][watches] from offset on; NULL: there are none (*failed: memory ran out). */
static uint64_t *copy_sites(struct location_fill *fill, const struct view_process *p, uint64_t offset,
			    uint64_t count, uint64_t *words)
{
	uint64_t *copy;
	*words = 0;
	if (!offset || !count)
		return NULL;
	if (!(copy = injection_copy_words(p->injection, offset, count * fill->plan->n_watches, words)))
		fill->no_memory = true;
	return copy;
}

static void add_watched(struct location_fill *fill, const struct located *at, uint64_t address,
			const uint64_t *watched)
{
	bool any = false;
	for (size_t w = 0; w < fill->plan->n_watches; w++)
		any |= watched[w] != 0;
	uint64_t *counts = any ? counts_at(fill, at->module, address + at->shift, at->pid) : NULL;
	for (size_t i = 0; counts && i < fill->out->n_events; i++)
		counts[i] += location_sum(fill->plan, i, watched);
}

/* One of `at` most words: what lies behind the last one written is 0. */
static const uint64_t *row_of(const uint64_t *words, uint64_t n, uint64_t row, size_t width, uint64_t *buffer)
{
	if (!words || row * width >= n)
		return NULL;
	if ((row + 1) * width <= n)
		return words + row * width;
	memset(buffer, 0, width * sizeof *buffer);
	memcpy(buffer, words + row * width, (n - row * width) * sizeof *buffer);
	return buffer;
}

struct templates { /* those that a process owns */
	uint64_t *block_words, *item_words;
	uint64_t n_blocks, n_items; /* words */
};

static bool read_templates(const struct view_process *owner, struct templates *t)
{
	const struct record_area *blocks = &owner->record->templates, *items = &owner->record->items;
	_Static_assert(sizeof(struct trace_block) % 8 == 0 && sizeof(struct trace_item) % 8 == 0,
		       "templates are words");
	if (blocks->offset && blocks->count > blocks->inherited)
		t->block_words = injection_copy_words(owner->injection, blocks->offset,
						      (uint64_t)(blocks->count - blocks->inherited) *
							      (sizeof(struct trace_block) / 8),
						      &t->n_blocks);
	if (items->offset && items->count > items->inherited)
		t->item_words = injection_copy_words(owner->injection, items->offset,
						     (uint64_t)(items->count - items->inherited) *
							     (sizeof(struct trace_item) / 8),
						     &t->n_items);
	return true;
}

struct sampled_insn {
	uint32_t wanted;
	uint64_t address;
	bool found;
};

static void add_process_sites(struct location_fill *fill, const struct view_process *p, struct templates *all)
{
	size_t width = fill->plan->n_watches;
	uint64_t n_items, n_blocks, buffer[MODEL_WATCHES];
	uint64_t *items = copy_sites(fill, p, p->record->site_items, p->record->items.count, &n_items);
	uint64_t *blocks = copy_sites(fill, p, p->record->site_blocks, p->record->templates.count, &n_blocks);
	for (uint32_t number = 0;
	     number < p->record->templates.count && number < p->blocks.count && !fill->no_memory; number++) {
		struct located at;
		const struct trace_block *block;
		if ((!items && !blocks) || !locate(fill, p, number, &at))
			continue;
		const struct templates *t = &all[at.owner->index];
		uint64_t own = (uint64_t)(number - at.owner->record->templates.inherited) * (sizeof *block / 8);
		if (!t->block_words || own + sizeof *block / 8 > t->n_blocks)
			continue;
		block = (const struct trace_block *)(t->block_words + own);
		const uint64_t *row = row_of(blocks, n_blocks, number, width, buffer);
		if (row) {
			uint64_t branch[MODEL_WATCHES] = {0}, rest[MODEL_WATCHES] = {0};
			for (size_t w = 0; w < width; w++)
				*(fill->plan->watches[w].component == MODEL_BRANCH ? &branch[w]
										   : &rest[w]) = row[w];
			add_watched(fill, &at, block->pc + block->length - block->ending_length, branch);
			add_watched(fill, &at, block->pc, rest);
		}
		for (uint32_t i = 0; i < block->items && items; i++) {
			uint64_t item = (uint64_t)block->first_item + i,
				 word = (item - at.owner->record->items.inherited) *
					(sizeof(struct trace_item) / 8);
			if (!(row = row_of(items, n_items, item, width, buffer)))
				break;
			if (t->item_words && word + sizeof(struct trace_item) / 8 <= t->n_items)
				add_watched(fill, &at,
					    block->pc +
						    ((const struct trace_item *)(t->item_words + word))->offset,
					    row);
		}
	}
	free(items);
	free(blocks);
}

static void add_sample(void *arg, uint32_t index, uint64_t address, const struct x86_insn *insn)
{
	struct sampled_insn *s = arg;
	(void)insn;
	if (index == s->wanted)
		s->address = address, s->found = true;
}

/* The log: each sample at its instruction; those of blocks that are not known are lost. */
static void add_process_log(struct location_fill *fill, const struct view_process *p)
{
	uint64_t words, *head = p->record->site_items ? injection_copy_words(p->injection, p->record->site_items,
									     OVERFLOW_FIRST, &words)
						      : NULL;
	if (!head || words <= OVERFLOW_LOST) {
		free(head);
		return; /* none was written */
	}
	uint64_t n = OVERFLOW_FIRST + head[OVERFLOW_ENTRIES], got;
	uint64_t *log = injection_copy_words(p->injection, p->record->site_items, n, &got);
	fill->no_memory |= !log;
	fill->out->events[0].lost += head[OVERFLOW_LOST];
	for (uint64_t i = OVERFLOW_FIRST; log && i < n && !fill->no_memory; i++) {
		struct located at = {0};
		struct sampled_insn s = {.wanted = i < got ? overflow_insn(log[i]) : 0};
		uint64_t *counts = NULL;
		uint32_t block = i < got ? overflow_block(log[i]) : 0;
		if (block < p->blocks.count && locate(fill, p, block, &at)) {
			decoded_each(at.owner, at.block, 0, add_sample, &s);
			counts = s.found ? counts_at(fill, at.module, s.address + at.shift, at.pid) : NULL;
		} else if (at.block && is_elsewhere(fill, &at)) {
			continue;
		}
		if (counts)
			counts[0]++;
		else
			fill->out->events[0].lost++;
	}
	free(head);
	free(log);
}

static bool add_sites(struct location_fill *fill, bool children)
{
	const struct view *view = fill->view;
	struct templates *all = calloc(view->n_processes + 1, sizeof *all);
	if (!all)
		return false;
	bool any = false;
	for (size_t i = 0; i < view->n_processes; i++)
		any |= view->processes[i].record->site_items || view->processes[i].record->site_blocks;
	for (size_t i = 0; i < fill->out->n_events && !any; i++)
		if (fill->plan->events[i].parts && !fill->out->events[i].why)
			fill->out->events[i].why = "the engine kept no counts by instruction in this run";
	for (size_t i = 0; i < view->n_processes; i++)
		if (view->processes[i].blocks.count)
			read_templates(&view->processes[i], &all[i]);
	for (size_t i = 0; i < view->n_processes && !fill->no_memory; i++)
		if (view->processes[i].loaded && !view->processes[i].folded &&
		    (children || !view->processes[i].descendant))
			fill->plan->period ? add_process_log(fill, &view->processes[i])
					   : add_process_sites(fill, &view->processes[i], all);
	for (size_t i = 0; i < view->n_processes; i++) {
		free(all[i].block_words);
		free(all[i].item_words);
	}
	free(all);
	return !fill->no_memory;
}

/* ---- from parts that were folded ---- */

static void add_folded(struct location_fill *fill, const struct view_process *p)
{
	bool damaged; /* the tally says that */
	const struct fold_totals *totals = fold_totals_of(p, &damaged);
	size_t n = fill->out->n_events;
	if (!totals || totals->n_events != n)
		return; /* the sum will tell */
	const struct fold_place *places = fold_places_of(totals);
	const uint64_t *counts = fold_place_counts_of(totals);
	for (uint64_t i = 0; i < totals->n_places && !fill->no_memory; i++) {
		const char *name = fold_place_module(totals, &places[i]),
			   *module = name ? module_named(fill, name) : NULL;
		uint64_t *to = name ? counts_at(fill, module, places[i].offset, (uint32_t)places[i].pid) : NULL;
		fill->no_memory |= name && !to;
		for (size_t e = 0; to && e < n; e++)
			to[e] += counts[i * n + e];
	}
}

/* ---- all ---- */

static bool add_exact(struct location_fill *fill, bool children)
{
	struct leaders leaders = {0};
	const struct view_process *root = NULL;
	bool done = true;
	for (size_t i = 0; i < fill->view->n_processes && done; i++) {
		const struct view_process *p = &fill->view->processes[i];
		if (p->record->state == RECORD_FREE || (!children && p->descendant))
			continue;
		if (decoded_root(p) != root) {
			root = decoded_root(p);
			free(leaders.at);
			done = leaders_collect(root, &leaders);
		}
		done = done && add_blocks(fill, p, &leaders);
	}
	free(leaders.at);
	return done;
}

bool locations_fill(const struct location_plan *plan, const struct view *view, bool children,
		    const struct execution_regions *inside, const struct execution_event *events, size_t n,
		    struct locations *out, struct error *err)
{
	struct location_fill fill = {.view = view, .inside = inside, .plan = plan, .events = events, .out = out};
	bool blocks = false, sites = false, done = false;
	struct location *all;
	*out = (struct locations){.of = plan->of,
				  .n_events = n,
				  .period = plan->period,
				  .skid = plan->skid,
				  .inside = inside != NULL};
	if (!(out->events = arena_alloc(&out->arena, (n + 1) * sizeof *out->events)) ||
	    !(fill.sites = calloc(view->n_processes + 1, sizeof *fill.sites)) ||
	    !(fill.site_counts = calloc(view->n_processes + 1, sizeof *fill.site_counts)))
		goto out;
	for (size_t i = 0; i < n; i++) {
		out->events[i] = (struct located_event){.event = i, .why = plan->events[i].why};
		sites |= plan->events[i].parts != 0;
		blocks |= !plan->events[i].why && !plan->events[i].parts;
	}
	if (plan->of == LOCATIONS_OF_DATA
		    ? !objects_add(plan, view, children, out, &fill.capacity)
		    : (blocks && !add_exact(&fill, children)) || (sites && !add_sites(&fill, children)))
		goto out;
	for (size_t i = 0; plan->of == LOCATIONS_OF_CODE && i < view->n_processes && !fill.no_memory; i++)
		if (view->processes[i].totals && (children || !view->processes[i].descendant))
			add_folded(&fill, &view->processes[i]);
	if (fill.no_memory)
		goto out;
	/* the places' own array goes to where the rest is */
	if (!(all = arena_alloc(&out->arena, (out->n + 1) * sizeof *all)))
		goto out;
	if (out->n)
		memcpy(all, out->all, out->n * sizeof *all);
	free(out->all);
	out->all = all;
	done = true;
out:
	for (size_t i = 0; fill.sites && i < view->n_processes; i++)
		free(fill.sites[i]);
	free(fill.sites);
	free(fill.site_counts);
	free(fill.slots);
	vec_free(&fill.modules);
	if (!done) {
		free(out->all);
		out->all = NULL;
		locations_free(out);
		error_no_memory(err);
	}
	return done;
}
