/*
 * Contexts of translation: which regions a thread is in (wire/region.h), where regions are in memory, and what
 * they are called.
 *
 *     record->regions (files, offsets) ──module is mapped──► places (addresses) ──► regions_event, regions_cut: translation
 *
 * What always holds (under rt.lock):
 *  1. A context is a set of regions, sorted; the same set is the same number. It never changes, so that a block's
 *     context is its own for ever. With RECORD_EXCLUSIVE it is a list, in the order in which they were entered, with
 *     the engine's own (REGION_HIDDEN) in front.
 *  2. In a context that has a region of code at its own level, every address outside of the region's ranges is an
 *     event, and every call leaves by EXIT_CALL: so code executed in such a context is in the ranges.
 *  3. When room runs out (record_regions.lost) nothing is an event any more: what was counted until then is not
 *     used by the host.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/passes.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

#define SETS (2 * RECORD_CONTEXTS_MOST)
#define POINTERS (2 * RECORD_REGIONS_MOST)
#define PASSES (2 * RECORD_PASSES_MOST)
#define MOVES 4096u

struct region_tables {
	uint32_t sets[SETS]; /* of members: context plus one; open addressing */
	struct {
		uint64_t at;
		uint32_t region, unused;
	} pointers[POINTERS];     /* of names: region plus one */
	uint32_t passes[PASSES];  /* of thread and region: number of the pass plus one */
	uint32_t named;           /* of pointers[], which is never full */
	uint32_t names[POINTERS]; /* of the program's regions by their names: region plus one */
	struct {
		uint64_t key;
		uint32_t to, unused;
	} moves[MOVES]; /* what context_with and its kin found last */
};

/* Other processes may write into the record: no offset or index is taken from it unchecked. */
static struct record_regions layout(void)
{
	struct record_regions r = {.n_contexts = 1};
	record_regions_lay_out(&r);
	return r;
}
static struct record_region *all_regions(void)
{
	return (struct record_region *)((uint8_t *)rt.record_regions + layout().regions);
}
static struct record_context *all_contexts(void)
{
	return (struct record_context *)((uint8_t *)rt.record_regions + layout().contexts);
}
static uint32_t *all_members(void) { return (uint32_t *)((uint8_t *)rt.record_regions + layout().members); }
static struct record_pass *all_passes(void)
{
	return (struct record_pass *)((uint8_t *)rt.record_regions + layout().passes);
}
static char *all_names(void) { return (char *)rt.record_regions + layout().names; }
static uint32_t at_most(uint32_t n, uint32_t most) { return n < most ? n : most; }

void regions_lost(uint32_t what) { __atomic_or_fetch(&rt.record_regions->lost, what, __ATOMIC_RELEASE); }

/* ---- the record ------------------------------------------------------------------------------- */

static bool exclusive(void) { return (rt.setup->flags & RECORD_EXCLUSIVE) != 0; }

static uint64_t whole_pages(uint64_t bytes) { return (bytes + RECORD_PAGE - 1) & ~(uint64_t)(RECORD_PAGE - 1); }

static struct record_regions *fresh_record(struct record_process *process)
{
	struct record_regions fresh = layout();
	uint64_t offset = record_reserve(fresh.bytes);
	struct record_regions *r = record_map(offset, fresh.bytes, NULL);
	if (!r) {
		inexact("no memory for the record of regions");
		return NULL;
	}
	*r = fresh;
	if (rt.trace) {
		uint64_t bytes = RECORD_REGIONS_MOST * stream_counts() * 8 * (exclusive() ? 2 : 1);
		if (rt.region_models)
			sys2(SYS_munmap, rt.region_models, whole_pages(bytes));
		r->models = record_reserve(bytes);
		rt.region_models = record_map(r->models, bytes, NULL);
		if (!rt.region_models)
			r->models = 0;
	}
	__atomic_store_n(&process->regions, offset, __ATOMIC_RELEASE);
	return r;
}

bool regions_ready(void)
{
	if (rt.record_regions)
		return true;
	if (rt.started)
		inline_off(current());
	if (!rt.region_tables) {
		rt.region_tables = memory_private(sizeof *rt.region_tables);
		rt.second_regions = memory_private(SECOND_SLOTS * sizeof *rt.second_regions);
		rt.second_regions[0].entry = (uint64_t)&runtime_miss_tail;
	}
	rt.record_regions = fresh_record(rt.process);
	return rt.record_regions != NULL;
}

bool regions_start(void)
{
	const struct record_head *s = rt.setup;
	if (!s->region_ranges && !s->region_count)
		return true;
	if (!regions_ready())
		return false;
	for (uint32_t i = 0; i < s->region_count && i < RECORD_REGIONS_MOST; i++) {
		all_regions()[i] = (struct record_region){.asked = i + 1};
		rt.record_regions->n_regions = i + 1;
	}
	rt.places = memory_private(((uint64_t)s->region_ranges * 8 + 64) * sizeof *rt.places);
	return true;
}

/* Another record of the same regions and contexts, for the process. The old one stays mapped. */
static struct record_regions *copied(struct record_process *process)
{
	struct record_regions *old = rt.record_regions, *r = fresh_record(process);
	const struct record_regions at = layout();
	if (!r)
		return NULL;
	uint32_t n_regions = at_most(old->n_regions, RECORD_REGIONS_MOST),
		 n_contexts = at_most(old->n_contexts, RECORD_CONTEXTS_MOST);
	uint32_t n_members = at_most(old->n_members, RECORD_MEMBERS_MOST);
	uint64_t names_used = old->names_used < RECORD_NAMES_BYTES ? old->names_used : RECORD_NAMES_BYTES;
	r->n_regions = n_regions, r->n_contexts = n_contexts, r->n_members = n_members;
	r->names_used = names_used, r->lost = old->lost;
	memcpy((uint8_t *)r + at.regions, (uint8_t *)old + at.regions, n_regions * sizeof(struct record_region));
	memcpy((uint8_t *)r + at.contexts, (uint8_t *)old + at.contexts,
	       n_contexts * sizeof(struct record_context));
	memcpy((uint8_t *)r + at.members, (uint8_t *)old + at.members, n_members * sizeof(uint32_t));
	memcpy((uint8_t *)r + at.names, (uint8_t *)old + at.names, names_used);
	return r;
}

/* The process goes on in another record: its threads' passes go on as well. */
bool regions_moved(struct record_process *process)
{
	struct record_regions *old = rt.record_regions, *r = old ? copied(process) : NULL;
	if (!r)
		return !old;
	uint32_t n_passes = at_most(old->n_passes, RECORD_PASSES_MOST);
	memcpy((uint8_t *)r + layout().passes, (uint8_t *)old + layout().passes,
	       n_passes * sizeof(struct record_pass));
	r->n_passes = n_passes;
	old->n_passes = 0;
	rt.record_regions = r;
	sys2(SYS_munmap, old, layout().bytes);
	return true;
}

/* A forked child goes on by itself: its threads' passes are new. Those that are open count as entered there. */
bool regions_child(struct thread *t, struct record_process *process)
{
	struct record_regions *old = rt.record_regions;
	uint32_t regions[RECORD_REGIONS_OPEN], depths[RECORD_REGIONS_OPEN];
	const uint32_t *members;
	if (!old)
		return true;
	uint32_t n = 0;
	for (uint32_t i = 0, all = context_members(t->context, &members); i < all; i++) {
		uint32_t region = members[i] >> 1;
		if (region + 1 == t->own_region || region + 1 == rt.calls_region)
			continue; /* the parent's thread's */
		depths[n] = region_pass(t, region)->depth;
		regions[n++] = region;
	}
	struct record_regions *r = copied(process);
	if (!r)
		return false;
	rt.record_regions = r;
	sys2(SYS_munmap, old, layout().bytes);
	/* zeros */
	if (failed(sys3(SYS_madvise, rt.region_tables->passes, sizeof rt.region_tables->passes, MADV_DONTNEED_)))
		memset(rt.region_tables->passes, 0, sizeof rt.region_tables->passes);
	/* it begins within a page */
	memset(rt.region_tables->passes, 0, sizeof rt.region_tables->passes % 4096 + 4096);
	t->tid = (uint32_t)sys0(SYS_gettid);
	counters_child(t);
	for (uint32_t i = 0; i < n; i++) {
		struct record_pass *pass = region_pass(t, regions[i]);
		pass->entries = 1;
		pass->depth = pass->inherited = depths[i];
	}
	return true;
}

/* ---- the access stream ------------------------------------------------------------------------ */

void regions_recounted(struct thread *t)
{
	if (!rt.trace || !t->context)
		return;
	if (!t->counted)
		t->counted = memory_private(stream_counts() * 8);
	memcpy(t->counted, t->model_counts, stream_counts() * 8);
}

void regions_counted(struct thread *t)
{
	const uint64_t *now = (const uint64_t *)t->model_counts;
	const uint32_t *members;
	uint64_t words = stream_counts();
	if (!rt.trace || !t->context || !rt.region_models || !t->counted)
		return;
	uint32_t n = context_members(t->context, &members);
	uint64_t *alone = n && exclusive() ? rt.region_models + (RECORD_REGIONS_MOST +
								 (members[n - 1] >> 1) % RECORD_REGIONS_MOST) *
									words
					   : NULL;
	for (uint64_t w = 0; w < words; w++) {
		uint64_t more = now[w] - t->counted[w];
		for (uint32_t i = 0; more && i < n; i++)
			rt.region_models[((members[i] >> 1) % RECORD_REGIONS_MOST) * words + w] += more;
		if (alone && more)
			alone[w] += more;
		t->counted[w] = now[w];
	}
}

/* ---- contexts --------------------------------------------------------------------------------- */

uint32_t context_members(uint32_t context, const uint32_t **members)
{
	*members = NULL;
	if (!context)
		return 0;
	if (context >= RECORD_CONTEXTS_MOST)
		return 0;
	struct record_context c = *(volatile struct record_context *)&all_contexts()[context];
	*members = all_members() + at_most(c.first, RECORD_MEMBERS_MOST - RECORD_REGIONS_OPEN);
	return at_most(c.n, RECORD_REGIONS_OPEN);
}

static uint32_t interned(const uint32_t *members, uint32_t n)
{
	struct record_regions *r = rt.record_regions;
	uint32_t hash = 0x811c9dc5u;
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		hash = (hash ^ members[i]) * 0x9e3779b1u, hash ^= hash >> 15;
	uint32_t *sets = rt.region_tables->sets, at = hash % SETS;
	for (; sets[at]; at = (at + 1) % SETS) {
		const struct record_context *c = &all_contexts()[sets[at] - 1];
		if (c->n == n &&
		    !memcmp(all_members() + at_most(c->first, RECORD_MEMBERS_MOST - RECORD_REGIONS_OPEN), members,
			    n * sizeof *members))
			return sets[at] - 1;
	}
	uint32_t id = __atomic_load_n(&r->n_contexts, __ATOMIC_RELAXED),
		 first = __atomic_load_n(&r->n_members, __ATOMIC_RELAXED);
	if (n > RECORD_REGIONS_OPEN || id >= RECORD_CONTEXTS_MOST || first > RECORD_MEMBERS_MOST - n) {
		regions_lost(RECORD_LOST_CONTEXTS);
		return NONE;
	}
	memcpy(all_members() + first, members, n * sizeof *members);
	all_contexts()[id] = (struct record_context){first, n};
	__atomic_store_n(&r->n_members, first + n, __ATOMIC_RELEASE);
	__atomic_store_n(&r->n_contexts, id + 1, __ATOMIC_RELEASE);
	sets[at] = id + 1;
	return id;
}

static bool is_hidden(uint32_t region)
{
	const struct record_region *r = &all_regions()[region % RECORD_REGIONS_MOST];
	uint64_t name = __atomic_load_n(&r->name, __ATOMIC_RELAXED);
	return !r->asked && r->name_bytes && name < RECORD_NAMES_BYTES && all_names()[name] == REGION_HIDDEN;
}

/* Is a region that is entered to stand in front of this member? */
static bool stands_before(uint32_t region, uint32_t member)
{
	return exclusive() ? is_hidden(region) && !is_hidden(member >> 1) : member >> 1 >= region;
}

enum move { MOVE_IN, MOVE_IN_AT_OWN_LEVEL, MOVE_OUT, MOVE_CALL };

static uint32_t moved(uint32_t context, uint32_t region, enum move move)
{
	uint64_t key = ((uint64_t)region << 2 | (uint64_t)move) << 32 | context | 1ull << 63;
	uint32_t slot = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 52) % MOVES, to[RECORD_REGIONS_OPEN + 1], n = 0;
	if (rt.region_tables->moves[slot].key == key)
		return rt.region_tables->moves[slot].to;
	const uint32_t *members = NULL;
	uint32_t count = context_members(context, &members), own = region << 1 | (move != MOVE_IN_AT_OWN_LEVEL);
	bool placed = move >= MOVE_OUT;
	for (uint32_t i = 0; i < count; i++) {
		bool same = members[i] >> 1 == region;
		if (move == MOVE_CALL) {
			to[n++] = members[i] | 1;
			continue;
		}
		if (!placed && (same || stands_before(region, members[i]))) {
			to[n++] = own;
			placed = true;
		}
		if (!same)
			to[n++] = members[i];
	}
	if (!placed)
		to[n++] = own;
	uint32_t result = interned(to, n);
	if (result == NONE)
		return context;
	rt.region_tables->moves[slot].key = key;
	rt.region_tables->moves[slot].to = result;
	return result;
}

uint32_t context_with(uint32_t context, uint32_t region, bool own_level)
{
	return moved(context, region, own_level ? MOVE_IN_AT_OWN_LEVEL : MOVE_IN);
}
uint32_t context_without(uint32_t context, uint32_t region) { return moved(context, region, MOVE_OUT); }
uint32_t context_called(uint32_t context) { return moved(context, 0, MOVE_CALL); }

bool context_has(uint32_t context, uint32_t region)
{
	const uint32_t *members;
	for (uint32_t i = 0, n = context_members(context, &members); i < n; i++)
		if (members[i] >> 1 == region)
			return true;
	return false;
}

bool context_calls(uint32_t context)
{
	const uint32_t *members;
	for (uint32_t i = 0, n = context_members(context, &members); i < n; i++)
		if (!(members[i] & 1))
			return true;
	return false;
}

bool region_is_asked(uint32_t region) { return all_regions()[region % RECORD_REGIONS_MOST].asked != 0; }

bool context_named(uint32_t context)
{
	const uint32_t *members;
	for (uint32_t i = 0, n = context_members(context, &members); i < n; i++)
		if (!all_regions()[(members[i] >> 1) % RECORD_REGIONS_MOST].asked)
			return true;
	return false;
}

/* ---- places ----------------------------------------------------------------------------------- */

static void place(uint64_t low, uint64_t high, const struct record_region_range *range)
{
	if (rt.place_count == rt.setup->region_ranges * 8 + 64) {
		regions_lost(RECORD_LOST_CONTEXTS);
		return;
	}
	rt.places[rt.place_count++] = (struct region_place){low, high, range->asked, range->kind};
	if (low < rt.places_low)
		rt.places_low = low;
	if (high > rt.places_high)
		rt.places_high = high;
}

void regions_mapped(void)
{
	const struct record_head *s = rt.setup;
	const struct record_region_range *ranges = NULL;
	if (!rt.places)
		return;
	uint64_t bytes = s->region_ranges * sizeof *ranges;
	if (bytes)
		ranges = (const struct record_region_range *)(rt.image + s->regions);
	rt.place_count = 0;
	rt.places_low = ~0ull;
	rt.places_high = 0;
	for (uint32_t i = 0; i < rt.mapping_count; i++) {
		const struct watched_mapping *m = &rt.mappings[i];
		if (!(m->protection & PROT_EXEC_) || m->module >= rt.areas[AREA_MODULES].count ||
		    m->module < rt.modules_inherited)
			continue;
		const struct record_module *module = &rt.record_modules[m->module - rt.modules_inherited];
		uint64_t first = module->file_offset, last = first + module->length;
		for (uint32_t k = 0; k < s->region_ranges; k++) {
			const struct record_region_range *range = &ranges[k];
			uint64_t high = range->kind == RECORD_REGION_FUNCTION ? range->low + 1 : range->high,
				 low = range->low;
			if (low >= last || high <= first ||
			    memcmp(range->path, module->path, text_length(range->path) + 1))
				continue;
			low = low < first ? first : low;
			high = high > last ? last : high;
			place(low - first + module->address, high - first + module->address, range);
		}
	}
}

/* Other code may come there, before the mappings are read again. */
void regions_unmapped(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < rt.place_count;)
		if (rt.places[i].low < end && rt.places[i].high > start)
			rt.places[i] = rt.places[--rt.place_count];
		else
			i++;
}

bool regions_contain(uint32_t region, uint64_t pc)
{
	for (uint32_t i = 0; i < rt.place_count; i++)
		if (rt.places[i].region == region && rt.places[i].low <= pc && pc < rt.places[i].high)
			return true;
	return false;
}

bool regions_event(uint32_t context, uint64_t pc)
{
	const uint32_t *members;
	if (rt.record_regions->lost & RECORD_LOST_CONTEXTS)
		return false;
	for (uint32_t i = 0, n = context_members(context, &members); i < n; i++)
		if (!(members[i] & 1) && !regions_contain(members[i] >> 1, pc))
			return true;
	if (pc < rt.places_low || pc >= rt.places_high)
		return false;
	for (uint32_t i = 0; i < rt.place_count; i++)
		if (rt.places[i].low <= pc && pc < rt.places[i].high && !context_has(context, rt.places[i].region))
			return true;
	return false;
}

uint64_t regions_cut(uint64_t pc)
{
	uint64_t cut = ~0ull;
	for (uint32_t i = 0; i < rt.place_count; i++) {
		if (rt.places[i].low > pc && rt.places[i].low < cut)
			cut = rt.places[i].low;
		if (rt.places[i].kind == RECORD_REGION_CODE && rt.places[i].high > pc && rt.places[i].high < cut)
			cut = rt.places[i].high;
	}
	return cut;
}

/* ---- names ------------------------------------------------------------------------------------ */

static uint64_t names_used(const struct record_regions *r)
{
	uint64_t used = __atomic_load_n(&r->names_used, __ATOMIC_RELAXED);
	return used < RECORD_NAMES_BYTES ? used : RECORD_NAMES_BYTES;
}

/* Copies the name behind those used, up to a 0 byte or `most` bytes; false: there is no room for it, or it cannot
 * be read. */
static bool copy_name(uint64_t from, uint64_t most, uint32_t *bytes)
{
	struct record_regions *r = rt.record_regions;
	uint64_t used = names_used(r), room = RECORD_NAMES_BYTES - used;
	char *to = all_names() + used;
	for (uint64_t n = 0; n < most;) {
		uint64_t part = 4096 - ((from + n) & 4095);
		if (part > 256)
			part = 256;
		if (part > most - n)
			part = most - n;
		if (part > room - n)
			part = room - n;
		if (!part || !safe_copy(to + n, (const void *)(from + n), part))
			return false;
		for (uint64_t end = n + part; n < end; n++)
			if (!to[n]) {
				*bytes = (uint32_t)n;
				return true;
			}
	}
	*bytes = (uint32_t)most;
	return true;
}

/* The region of the name that lies behind those used, which is so many bytes: known, or new; NONE: no room. */
static uint32_t intern_name(uint32_t bytes)
{
	struct record_regions *r = rt.record_regions;
	uint64_t used = names_used(r);
	if (bytes > RECORD_NAMES_BYTES - used)
		return NONE;
	const char *name = all_names() + used;
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	for (uint32_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3u;
	uint32_t *names = rt.region_tables->names, at = (uint32_t)(hash ^ hash >> 32) % POINTERS;
	for (; names[at]; at = (at + 1) % POINTERS) {
		const struct record_region *known = &all_regions()[names[at] - 1];
		uint64_t at_name = __atomic_load_n(&known->name, __ATOMIC_RELAXED);
		if (known->name_bytes == bytes && at_name <= RECORD_NAMES_BYTES - bytes &&
		    !memcmp(all_names() + at_name, name, bytes))
			return names[at] - 1;
	}
	uint32_t id = __atomic_load_n(&r->n_regions, __ATOMIC_RELAXED);
	if (id >= RECORD_REGIONS_MOST) {
		regions_lost(RECORD_LOST_REGIONS);
		return NONE;
	}
	all_regions()[id] = (struct record_region){.name_bytes = bytes, .name = used};
	r->names_used = used + bytes;
	__atomic_store_n(&r->n_regions, id + 1, __ATOMIC_RELEASE);
	names[at] = id + 1;
	return id;
}

uint32_t region_of_text(uint64_t text, uint64_t most)
{
	uint32_t bytes;
	if (!text || !regions_ready())
		return NONE;
	if (!copy_name(text, most, &bytes)) {
		regions_lost(RECORD_LOST_REGIONS);
		return NONE;
	}
	const char *name = all_names() + names_used(rt.record_regions);
	while (most != ~0ull && bytes && name[bytes - 1] == ' ')
		bytes--;
	return bytes ? intern_name(bytes) : NONE; /* libtare knows no region without a name */
}

uint32_t region_named(uint64_t pointer, const char *fixed)
{
	if (!regions_ready())
		return NONE;
	struct region_tables *t = rt.region_tables;
	uint32_t at = (uint32_t)(pointer * 0x9e3779b97f4a7c15u >> 40) % POINTERS, bytes;
	for (; t->pointers[at].region; at = (at + 1) % POINTERS)
		if (t->pointers[at].at == pointer)
			return t->pointers[at].region - 1;
	uint64_t name = (uint64_t)fixed;
	if (!fixed && !safe_copy(&name, (const void *)pointer, 8))
		return NONE; /* no region: libtare takes NULL */
	if (!copy_name(name, ~0ull, &bytes)) {
		regions_lost(RECORD_LOST_REGIONS);
		return NONE;
	}
	uint32_t id = intern_name(bytes);
	if (id == NONE || rt.region_tables->named == RECORD_REGIONS_MOST)
		return id;
	t->named++;
	t->pointers[at].at = pointer;
	t->pointers[at].region = id + 1;
	return id;
}

/* ---- passes ----------------------------------------------------------------------------------- */

struct record_pass *region_pass(struct thread *t, uint32_t region)
{
	static struct record_pass nowhere;
	struct record_regions *r = rt.record_regions;
	uint32_t *passes = rt.region_tables->passes, at = (t->tid * 0x9e3779b1u ^ region * 0x85ebca6bu) % PASSES;
	for (; passes[at]; at = (at + 1) % PASSES) {
		struct record_pass *pass = &all_passes()[passes[at] - 1];
		if (pass->tid == t->tid && pass->region == region)
			return pass;
	}
	uint32_t id = __atomic_load_n(&r->n_passes, __ATOMIC_RELAXED);
	if (id >= RECORD_PASSES_MOST) {
		regions_lost(RECORD_LOST_PASSES);
		return &nowhere;
	}
	struct record_pass *pass = &all_passes()[id];
	*pass = (struct record_pass){.region = region, .tid = t->tid};
	passes[at] = id + 1;
	__atomic_store_n(&r->n_passes, id + 1, __ATOMIC_RELEASE);
	return pass;
}
