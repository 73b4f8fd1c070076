/*
 * Caches in a tree: what an access does to them, in this order.
 *
 *     access ──► lookup ──hit──► touch, store ─────────────────────────────────────────► prefetch, if the line was marked
 *                  │ miss
 *                  ├─ in the victim buffer: swapped in, as a hit ──────────────────────► prefetch
 *                  ├─ allocates: line asked for behind ──► victim leaves ──► fill, store ──► prefetch
 *                  └─ else (a store without allocation; an exclusive level): handed on
 *
 * Rules, where machine.h leaves a choice:
 *  - a level behind with smaller lines is asked for each of them; a store that is handed on goes to those it
 *    touches. The kind of access stays the program's: a line wanted by a store is a write access behind, but does
 *    not make that line dirty there;
 *  - write-through: every store is handed on, after the fill if it allocates;
 *  - a write-back to a level that holds the line (or its victim buffer does) touches it; to one that does not it
 *    is handed on;
 *  - exclusive level: a hit gives the line away, with its dirtiness, but for a store handed on, which hits in
 *    place. Demand misses and such stores never fill it; what leaves the levels in front does;
 *  - inclusive level: what leaves it (and its victim buffer) the levels in front lose first, in order of caches,
 *    cores, lines;
 *  - victim buffer: a hit there is a miss and a fill. Marks of prefetched lines are lost there;
 *  - prefetchers (Smith 1982; Baer & Chen 1991) act when their cache is done with the access, on demand misses
 *    that were not handed on and first hits on prefetched lines. A line asked for is an access behind. Stride: in
 *    lines between the triggers of one instruction, after two that are equal and not 0. No page stops them: the
 *    models have virtual addresses only.
 *
 * Depth of calls: at most MACHINE_CACHES levels, each with its prefetches.
 */
#include "model/core/fast/request_queue.h"
#include "model/core/sample.h"

/* ---- one cache ---- */

void cache_init(struct cache *cache, struct model_memory *arena, const struct machine *machine,
		const struct model_options *options, unsigned index, bool timed)
{
	const struct machine_cache *is = &machine->caches[index];
	*cache = (struct cache){.is = *is,
				.index = (uint8_t)index,
				.line_shift = log2_of(is->line_bytes),
				.exclusive = is->inclusion == INCLUSION_EXCLUSIVE,
				.shared = is->shared};
	lines_init(&cache->main, arena, is->sets, is->ways, is->replacement, is->rrip_bits, machine->seed, timed);
	if (is->victim_lines)
		lines_init(&cache->buffer, arena, 1, is->victim_lines, REPLACE_LRU, 1, 1, false);
	if (is->prefetch == PREFETCH_STRIDE)
		cache->strides = arena_take(arena, is->prefetch_entries * sizeof *cache->strides);
	if (options->orders && (machine->first_data == index || machine->first_instruction == index))
		cache->order = arena_take(arena, ORDER_REGIONS * sizeof *cache->order);
	if (options->classify)
		classes_init(&cache->classes, arena, is->sets * is->ways);
	cache->leaves = is->inclusion == INCLUSION_INCLUSIVE ||
			(is->next != MACHINE_NONE && machine->caches[is->next].inclusion == INCLUSION_EXCLUSIVE);
	cache->simple = is->replacement == REPLACE_LRU && !cache->main.hashed && is->write == WRITE_BACK &&
			is->write_allocate && !cache->exclusive && !is->victim_lines &&
			is->prefetch == PREFETCH_NONE && !options->classify && !options->no_filters;
}

/* Before anything of the set is looked at or changes. */
static void settle(struct cache *cache, uint32_t set) { lines_settle(&cache->main, set); }

static uint64_t *counts_of(struct core *core, const struct cache *cache)
{
	return core->counts->cache[cache->index];
}

static uint64_t *find_in_buffer(struct cache *cache, uint64_t line)
{
	return cache->is.victim_lines ? lines_find(&cache->buffer, 0, line) : NULL;
}

static struct cache *behind(const struct core *core, const struct cache *cache)
{
	return cache->is.next == MACHINE_NONE ? NULL : core->caches[cache->is.next];
}

static bool coherent(const struct core *core, const struct cache *cache)
{
	return core->model->snoops && !cache->shared;
}

static uint64_t address_of(const struct cache *cache, uint64_t line) { return line << cache->line_shift; }

/* ---- out of a cache ---- */

static void write_back(struct core *core, struct cache *cache, uint64_t address, uint64_t bytes);

static void evict(struct core *core, struct cache *cache, uint64_t entry)
{
	uint64_t displaced = entry;
	counts_of(core, cache)[CACHE_EVICTIONS]++;
	if (cache->is.victim_lines)
		lines_insert(&cache->buffer, 0, entry_line(entry), entry & (LINE_DIRTY | LINE_SHARED | LINE_ALONE),
			     &displaced);
	if (displaced)
		cache_leave(core, cache, displaced);
}

static void fill(struct core *core, struct cache *cache, uint64_t line, unsigned flags)
{
	uint32_t set = lines_set(&cache->main, line);
	uint64_t replaced;
	settle(cache, set);
	counts_of(core, cache)[CACHE_FILLS]++;
	lines_insert(&cache->main, set, line, flags, &replaced);
	if (replaced) {
		cache_forget(cache, entry_line(replaced));
		evict(core, cache, replaced);
	}
}

/* From a level in front that it leaves, clean or dirty. */
static void take_victim(struct core *core, struct cache *cache, uint64_t line, unsigned flags)
{
	uint32_t set = lines_set(&cache->main, line);
	uint64_t *entry = lines_find(&cache->main, set, line);
	settle(cache, set);
	if (entry) {
		*entry |= flags & LINE_DIRTY;
		lines_touch(&cache->main, set, entry);
	} else if ((entry = find_in_buffer(cache, line))) {
		*entry |= flags & LINE_DIRTY;
	} else {
		fill(core, cache, line, cache->shared ? flags & LINE_DIRTY : flags);
	}
}

static void write_back_line(struct core *core, struct cache *cache, uint64_t line, uint64_t address,
			    uint64_t bytes)
{
	uint32_t set = lines_set(&cache->main, line);
	uint64_t *entry = lines_find(&cache->main, set, line), from = address_of(cache, line),
		 last = from + cache->is.line_bytes - 1;
	if (cache->exclusive) {
		take_victim(core, cache, line, LINE_DIRTY);
		return;
	}
	if (entry) {
		settle(cache, set);
		entry = lines_touch(&cache->main, set, entry);
	} else {
		entry = find_in_buffer(cache, line);
	}
	if (entry && cache->is.write == WRITE_BACK) {
		*entry |= LINE_DIRTY;
		return;
	}
	counts_of(core, cache)[entry ? CACHE_WRITES_THROUGH : CACHE_WRITE_BACKS_PASSED]++;
	/* what arrived, not all of this line: lines may be smaller behind */
	from = address > from ? address : from;
	last = address + bytes - 1 < last ? address + bytes - 1 : last;
	write_back(core, behind(core, cache), from, last - from + 1);
}

/* Arrives at a cache; NULL: memory. */
static void write_back(struct core *core, struct cache *cache, uint64_t address, uint64_t bytes)
{
	if (cache && core->requests && cache == core->requests->cache)
		requests_push(core, core->requests, address, REQUESTS_WRITE_BACK);
	else if (cache)
		for (uint64_t line = address >> cache->line_shift;
		     line <= (address + bytes - 1) >> cache->line_shift; line++)
			write_back_line(core, cache, line, address, bytes);
}

/* The caches in front of an inclusive one lose what it loses. Returns LINE_DIRTY if one of them had written to
 * it. */
static unsigned back_invalidate(struct core *core, const struct cache *cache, uint64_t line)
{
	struct model *model = core->model;
	uint64_t address = address_of(cache, line), last = address + cache->is.line_bytes - 1;
	unsigned dirty = 0;
	for (unsigned c = 0; c < cache->index; c++) {
		if (!(model->in_front[cache->index] >> c & 1))
			continue;
		for (unsigned k = 0; k < model->core_count; k++) {
			struct core *owner = cache->shared && !model->machine.caches[c].shared ? model->cores[k]
											       : core;
			struct cache *front = owner ? owner->caches[c] : NULL;
			if (!front)
				continue;
			for (uint64_t l = address >> front->line_shift; l <= last >> front->line_shift; l++) {
				uint64_t was = cache_take(front, l);
				if (!was)
					continue;
				count_of(core, owner, c, CACHE_BACK_INVALIDATIONS);
				if (was & LINE_DIRTY)
					count_of(core, owner, c, CACHE_WRITE_BACKS);
				dirty |= was & LINE_DIRTY;
			}
			if (owner == core && !(cache->shared && !model->machine.caches[c].shared))
				break; /* the one there is for this core */
		}
	}
	return dirty;
}

void cache_write_back(struct core *core, struct cache *cache, uint64_t address, uint64_t bytes)
{
	write_back(core, cache, address, bytes);
}

void cache_leave(struct core *core, struct cache *cache, uint64_t entry)
{
	struct cache *next = behind(core, cache);
	uint64_t line = entry_line(entry);
	if (cache->is.inclusion == INCLUSION_INCLUSIVE)
		entry |= back_invalidate(core, cache, line);
	if (entry & LINE_DIRTY)
		counts_of(core, cache)[CACHE_WRITE_BACKS]++;
	if (next && next->exclusive)
		take_victim(core, next, line, entry & (LINE_DIRTY | LINE_SHARED | LINE_ALONE));
	else if (entry & LINE_DIRTY)
		write_back(core, next, address_of(cache, line), cache->is.line_bytes);
}

/* ---- into a cache ---- */

static unsigned demand(struct core *core, struct cache *cache, uint64_t line, enum access_kind kind, bool stores);

/* Lines wanted from a cache, or NULL: memory. Returns LINE_DIRTY if they come dirty, from an exclusive level. */
unsigned cache_request(struct core *core, struct cache *cache, uint64_t address, uint64_t bytes,
		       enum access_kind kind, bool stores)
{
	unsigned dirty = 0;
	if (cache && core->requests && cache == core->requests->cache)
		requests_push(core, core->requests, address, requests_line(core, kind));
	else if (cache)
		for (uint64_t line = address >> cache->line_shift;
		     line <= (address + bytes - 1) >> cache->line_shift; line++)
			counts_of(core, cache)[CACHE_READS + kind]++,
				dirty |= demand(core, cache, line, kind, stores);
	return dirty;
}

static void prefetch(struct core *core, struct cache *cache, uint64_t line, enum access_kind kind)
{
	unsigned flags = LINE_PREFETCHED, set;
	unsigned fill_flags = core->fill_flags, missed = core->missed, ordered = core->ordered;
	line &= ADDRESS_MASK >> cache->line_shift;
	set = lines_set(&cache->main, line);
	if (lines_find(&cache->main, set, line) || find_in_buffer(cache, line))
		return;
	counts_of(core, cache)[CACHE_PREFETCHES]++;
	core->missed = COHERENCE_NO;
	core->ordered = ORDER_RANDOM;
	if (coherent(core, cache)) {
		enum coherence_miss ignored;
		core->fill_flags = coherence_read(core->model, core->number, address_of(cache, line),
						  cache->is.line_bytes, false, &ignored);
	}
	flags |= cache_request(core, behind(core, cache), address_of(cache, line), cache->is.line_bytes,
			       kind == ACCESS_FETCH ? ACCESS_FETCH : ACCESS_READ, false);
	fill(core, cache, line, flags | (cache->shared ? 0 : core->fill_flags));
	core->fill_flags = fill_flags;
	core->missed = missed;
	core->ordered = ordered;
}

static void trigger(struct core *core, struct cache *cache, uint64_t line, enum access_kind kind)
{
	int64_t by = 1;
	if (cache->is.prefetch == PREFETCH_NONE)
		return;
	if (cache->is.prefetch == PREFETCH_STRIDE) {
		struct stride *stride = &cache->strides[core->id % cache->is.prefetch_entries];
		int64_t moved = (int64_t)(line - stride->last);
		bool known = stride->used && stride->id == core->id,
		     again = known && moved && moved == stride->stride;
		*stride = (struct stride){.id = core->id, .used = 1, .last = line, .stride = known ? moved : 0};
		if (!again)
			return;
		by = moved;
	}
	for (unsigned i = 1; i <= cache->is.prefetch_degree; i++)
		prefetch(core, cache, line + (uint64_t)by * i, kind);
}

static void hand_on(struct core *core, struct cache *cache, uint64_t line)
{
	/* the bytes that the program stores, as far as they are in this line */
	uint64_t first = address_of(cache, line), last = first + cache->is.line_bytes - 1;
	uint64_t from = core->address > first ? core->address : first;
	uint64_t to = core->address + core->bytes - 1 < last ? core->address + core->bytes - 1 : last;
	unsigned ordered = core->ordered;
	core->ordered = ORDER_RANDOM; /* a store is not a line that is waited for */
	cache_request(core, behind(core, cache), from, to - from + 1, ACCESS_WRITE, true);
	core->ordered = ordered;
}

static void store(struct core *core, struct cache *cache, uint64_t line, uint64_t *entry)
{
	if (cache->is.write == WRITE_BACK) {
		*entry |= LINE_DIRTY;
		return;
	}
	counts_of(core, cache)[CACHE_WRITES_THROUGH]++;
	hand_on(core, cache, line);
}

static void count_miss(struct core *core, struct cache *cache, enum access_kind kind, enum model_cache_count class)
{
	uint64_t *counts = counts_of(core, cache);
	counts[CACHE_READ_MISSES + kind]++;
	if (core->missed && !cache->shared) {
		counts[CACHE_COHERENCE_MISSES]++;
		counts[CACHE_FALSE_SHARING_MISSES] += core->missed == COHERENCE_FALSE_SHARING;
	} else if (core->model->options.classify) {
		counts[class]++;
	}
}

/* The access is counted by the caller. Returns LINE_DIRTY if an exclusive level gives a dirty line away. */
static unsigned demand(struct core *core, struct cache *cache, uint64_t line, enum access_kind kind, bool stores)
{
	uint64_t *counts = counts_of(core, cache), *entry;
	uint32_t set = lines_set(&cache->main, line);
	bool allocates = !cache->exclusive && (!stores || cache->is.write_allocate), marked;
	enum model_cache_count class = CACHE_UNCLASSIFIED;
	unsigned dirty;

	if (core->model->options.classify)
		class = classes_access(&cache->classes, line, !stores || cache->is.write_allocate);
	entry = lines_find(&cache->main, set, line);
	settle(cache, set);
	if (core->ordered != ORDER_TO_FIND)
		cache_order_asked(core, cache, !entry);
	else if (!entry)
		cache_order_miss(core, cache, line, kind);
	if (entry) {
		marked = *entry & LINE_PREFETCHED;
		*entry &= ~(uint64_t)LINE_PREFETCHED;
		counts[CACHE_PREFETCHES_USED] += marked;
		if (cache->exclusive && !stores) {
			cache_forget(cache, line);
			dirty = lines_remove(&cache->main, set, entry) & LINE_DIRTY;
		} else {
			entry = lines_touch(&cache->main, set, entry);
			dirty = 0;
			if (stores)
				store(core, cache, line, entry);
		}
		if (marked)
			trigger(core, cache, line, kind);
		return dirty;
	}
	count_miss(core, cache, kind, class);
	if ((entry = find_in_buffer(cache, line))) {
		uint64_t was = lines_remove(&cache->buffer, 0, entry);
		counts[CACHE_VICTIM_HITS]++;
		dirty = was & LINE_DIRTY;
		if (!cache->exclusive || stores) {
			fill(core, cache, line, was & (LINE_DIRTY | LINE_SHARED | LINE_ALONE));
			if (stores)
				store(core, cache, line, lines_find(&cache->main, set, line));
			dirty = 0;
		}
		trigger(core, cache, line, kind);
		return dirty;
	}
	if (!allocates) {
		counts[CACHE_BYPASSES]++;
		if (!stores)
			return cache_request(core, behind(core, cache), address_of(cache, line),
					     cache->is.line_bytes, kind, false);
		counts[CACHE_WRITES_THROUGH] += cache->is.write == WRITE_THROUGH;
		hand_on(core, cache, line);
		return 0;
	}
	dirty = cache_request(core, behind(core, cache), address_of(cache, line), cache->is.line_bytes, kind,
			      false);
	fill(core, cache, line, dirty | (cache->shared ? 0 : core->fill_flags));
	if (stores)
		store(core, cache, line, lines_find(&cache->main, set, line));
	trigger(core, cache, line, kind);
	return 0;
}

/* ---- a core's accesses ---- */

uint32_t cache_lru_fast_way(const struct core *core, const struct cache *cache, uint64_t address, bool write)
{
	uint64_t line = (address & ADDRESS_MASK) >> cache->line_shift;
	uint64_t *entry = lines_find(&cache->main, lines_set(&cache->main, line), line);
	if (!entry || *entry & LINE_PREFETCHED)
		return FILTER_LINES;
	if (write && (cache->is.write != WRITE_BACK || (coherent(core, cache) && !(*entry & LINE_ALONE))))
		return FILTER_LINES;
	return cache->first_way + (uint32_t)(entry - cache->main.entries);
}

void cache_access(struct core *core, struct cache *cache, uint64_t address, uint32_t bytes, enum access_kind kind,
		  uint32_t id)
{
	uint64_t line = (address & ADDRESS_MASK) >> cache->line_shift;
	core->id = id;
	core->address = address & ADDRESS_MASK;
	core->bytes = bytes;
	core->fill_flags = 0;
	core->missed = COHERENCE_NO;
	core->ordered = core->model->options.orders ? ORDER_TO_FIND : ORDER_RANDOM;
	if (coherent(core, cache)) {
		uint64_t *entry = lines_find(&cache->main, lines_set(&cache->main, line), line);
		enum coherence_miss missed = COHERENCE_NO;
		if (kind == ACCESS_WRITE && !(entry && *entry & LINE_ALONE))
			core->fill_flags = coherence_write(core->model, core->number, core->address, bytes,
							   &missed);
		else if (kind != ACCESS_WRITE && !entry && !find_in_buffer(cache, line))
			core->fill_flags = coherence_read(core->model, core->number, core->address, bytes, true,
							  &missed);
		core->missed = missed;
	}
	demand(core, cache, line, kind, kind == ACCESS_WRITE);
}

void cache_prefetch(struct core *core, struct cache *cache, uint64_t line, uint32_t id)
{
	core->id = id;
	core->fill_flags = 0;
	core->missed = COHERENCE_NO;
	core->ordered = ORDER_RANDOM;
	prefetch(core, cache, line, ACCESS_READ);
}

/* ---- what coherence asks and does ---- */

uint64_t cache_take(struct cache *cache, uint64_t line)
{
	uint32_t set = lines_set(&cache->main, line);
	uint64_t *entry = lines_find(&cache->main, set, line);
	if (entry) {
		settle(cache, set);
		cache_forget(cache, line);
		return lines_remove(&cache->main, set, entry);
	}
	entry = find_in_buffer(cache, line);
	return entry ? lines_remove(&cache->buffer, 0, entry) : 0;
}

void count_of(struct core *core, struct core *owner, unsigned cache, enum model_cache_count what)
{
	sample_counts_of(core, owner)->cache[cache][what]++;
	if (owner != core)
		core->elsewhere[cache][what]++;
}

static uint64_t *held(struct model *model, unsigned core, unsigned index, uint64_t line)
{
	struct cache *cache = model->cores[core]->caches[index];
	uint32_t set = lines_set(&cache->main, line);
	uint64_t *entry = lines_find(&cache->main, set, line);
	settle(cache, set);
	if (entry)
		cache_forget(cache, line);
	return entry ? entry : find_in_buffer(cache, line);
}

unsigned cache_line_state(struct model *model, unsigned core, unsigned index, uint64_t line)
{
	struct cache *cache = model->cores[core]->caches[index];
	uint64_t *entry = lines_find(&cache->main, lines_set(&cache->main, line), line);
	settle(cache, lines_set(&cache->main, line));
	if (!entry && !(entry = find_in_buffer(cache, line)))
		return 0;
	return CACHE_LINE_HELD | (*entry & LINE_DIRTY ? CACHE_LINE_DIRTY : 0) |
	       (*entry & (LINE_SHARED | LINE_ALONE));
}

void cache_line_flags(struct model *model, unsigned core, unsigned index, uint64_t line, unsigned flags)
{
	uint64_t *entry = held(model, core, index, line);
	*entry = (*entry & ~(uint64_t)(LINE_SHARED | LINE_ALONE)) | flags;
}

void cache_line_clean(struct model *model, unsigned core, unsigned index, uint64_t line)
{
	*held(model, core, index, line) &= ~(uint64_t)LINE_DIRTY;
}

void cache_line_remove(struct model *model, unsigned core, unsigned index, uint64_t line)
{
	cache_take(model->cores[core]->caches[index], line);
}

void cache_write_back_from(struct model *model, unsigned core, unsigned index, uint64_t address, uint32_t bytes)
{
	struct core *owner = model->cores[core], *acting = model->acting;
	struct model_counts before;
	if (index == MACHINE_NONE)
		return;
	if (!model->n_watches || owner == acting) {
		struct model_counts *counts = owner->counts;
		owner->counts = owner == acting ? counts : sample_counts_of(acting, owner);
		write_back(owner, owner->caches[index], address, bytes);
		owner->counts = counts;
		return;
	}
	before = *owner->counts;
	write_back(owner, owner->caches[index], address, bytes);
	for (unsigned c = index; c < model->machine.n_caches; c++)
		for (unsigned what = 0; what < CACHE_COUNTS; what++)
			acting->elsewhere[c][what] += owner->counts->cache[c][what] - before.cache[c][what];
}

void cache_count(struct model *model, unsigned core, unsigned index, enum model_cache_count what)
{
	count_of(model->acting, model->cores[core], index, what);
}

void cache_lines_gained(struct model *model, unsigned number)
{
	const struct core *core = model->cores[number];
	for (unsigned c = 0; c < model->machine.n_caches; c++) {
		const struct cache *cache = core->caches[c];
		uint64_t n = (uint64_t)cache->main.sets * cache->main.ways;
		if (cache->shared)
			continue;
		for (uint64_t at = 0; at < n + cache->is.victim_lines; at++) {
			uint64_t entry = at < n ? cache->main.entries[at] : cache->buffer.entries[at - n];
			if (entry)
				coherence_gain(&model->coherence, number, address_of(cache, entry_line(entry)));
		}
	}
}

struct coherence *coherence_of(struct model *model) { return &model->coherence; }

const struct machine *coherence_machine(const struct model *model) { return &model->machine; }

unsigned coherence_cores(const struct model *model) { return model->core_count; }

struct coherence_lost *coherence_memory(const struct model *model, unsigned core)
{
	return model->cores[core] ? model->cores[core]->lost : NULL;
}
