/* The caches of the reference: what one access does, level by level, in the order in which model/core/cache/hierarchy.c says it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "reference_internal.h"

/* What a cache is told of an access: nothing, as it is the first; that the first one's miss was in order, or not. */
enum told { FIRST, RANDOM, IN_ORDER };

static void ask(struct reference *r, unsigned core, unsigned from, uint64_t line, enum kind kind, uint32_t id,
		enum sharing sharing, enum told told, bool *dirty);
static void insert_behind(struct reference *r, unsigned core, unsigned cache, uint64_t line, bool dirty);

void cache_make(struct reference *r, struct cache_instance *c, unsigned cache)
{
	const struct machine_cache *m = &r->machine.caches[cache];
	sets_make(&c->sets, m->sets, m->ways, m->replacement, m->rrip_bits, r->machine.seed);
	c->buffer = calloc(m->victim_lines + 1u, sizeof(*c->buffer));
	c->strides = calloc(m->prefetch_entries + 1u, sizeof(*c->strides));
	if (!c->buffer || !c->strides)
		abort();
}

void cache_free(struct cache_instance *c)
{
	sets_free(&c->sets);
	free(c->buffer);
	free(c->strides);
	free(c->seen.items);
	free(c->shadow.items);
}

struct cache_instance *cache_at(struct reference *r, unsigned core, unsigned cache)
{
	return r->machine.caches[cache].shared ? &r->shared[cache] : &r->cores[core].caches[cache];
}

static void count(struct reference *r, unsigned core, unsigned cache, unsigned what)
{
	r->cores[core].counts.cache[cache][what]++;
}

static uint64_t last_line(const struct machine_cache *m)
{
	return ((UINT64_C(1) << 57) - 1) / m->line_bytes; /* addresses have 57 bits */
}

static struct buffered *in_buffer(struct cache_instance *c, uint64_t line)
{
	for (unsigned i = 0; i < c->buffered; i++)
		if (c->buffer[i].line == line)
			return &c->buffer[i];
	return NULL;
}

static struct buffered from_buffer(struct cache_instance *c, struct buffered *at)
{
	struct buffered taken = *at;
	memmove(at, at + 1, (size_t)(&c->buffer[c->buffered] - (at + 1)) * sizeof(*at));
	c->buffered--;
	return taken;
}

/* ---- lines that leave ---- */

static bool is_in_front(const struct machine *m, unsigned cache, unsigned behind)
{
	for (unsigned at = m->caches[cache].next; at != MACHINE_NONE; at = m->caches[at].next)
		if (at == behind)
			return true;
	return false;
}

/* An inclusive cache loses [first, last]: so do those in front. True: one of them had it dirty. */
static bool lose_in_front(struct reference *r, unsigned core, unsigned cache, uint64_t first, uint64_t last)
{
	const struct machine *m = &r->machine;
	bool dirty = false;
	for (unsigned f = 0; f < m->n_caches; f++) {
		if (!is_in_front(m, f, cache))
			continue;
		for (unsigned k = 0; k < r->n_cores; k++) {
			unsigned owner = m->caches[f].shared ? core : k;
			if (!r->cores[k].exists ||
			    (k != core && (m->caches[f].shared || !m->caches[cache].shared)))
				continue;
			struct cache_instance *c = cache_at(r, k, f);
			for (uint64_t line = first / m->caches[f].line_bytes;
			     line <= last / m->caches[f].line_bytes; line++) {
				struct way *way = sets_find(&c->sets, line);
				struct buffered *b = in_buffer(c, line);
				bool was_dirty = (way && way->dirty) || (b && b->dirty);
				if (!way && !b)
					continue;
				count(r, owner, f, CACHE_BACK_INVALIDATIONS);
				if (was_dirty)
					count(r, owner, f, CACHE_WRITE_BACKS);
				dirty |= was_dirty;
				if (way)
					way->valid = false;
				else
					from_buffer(c, b);
			}
		}
	}
	return dirty;
}

static void leaves(struct reference *r, unsigned core, unsigned cache, uint64_t line, bool dirty)
{
	const struct machine_cache *m = &r->machine.caches[cache];
	uint64_t first = line * m->line_bytes, last = first + m->line_bytes - 1;
	if (m->inclusion == INCLUSION_INCLUSIVE)
		dirty |= lose_in_front(r, core, cache, first, last);
	if (dirty)
		count(r, core, cache, CACHE_WRITE_BACKS);
	if (m->next == MACHINE_NONE)
		return;
	if (r->machine.caches[m->next].inclusion == INCLUSION_EXCLUSIVE)
		insert_behind(r, core, m->next, line, dirty);
	else if (dirty)
		write_back(r, core, m->next, first, last);
}

static struct way *insert(struct reference *r, unsigned core, unsigned cache, uint64_t line, bool dirty)
{
	const struct machine_cache *m = &r->machine.caches[cache];
	struct cache_instance *c = cache_at(r, core, cache);
	struct way out, *way = sets_place(&c->sets, line, &out);
	way->dirty = dirty;
	count(r, core, cache, CACHE_FILLS);
	if (!out.valid)
		return way;
	count(r, core, cache, CACHE_EVICTIONS);
	if (!m->victim_lines) {
		leaves(r, core, cache, out.tag, out.dirty);
		return way;
	}
	c->buffer[c->buffered++] = (struct buffered){out.tag, out.dirty};
	if (c->buffered > m->victim_lines) {
		struct buffered oldest = from_buffer(c, c->buffer);
		leaves(r, core, cache, oldest.line, oldest.dirty);
	}
	return way;
}

/* An exclusive level gets what the level in front of it evicted. */
static void insert_behind(struct reference *r, unsigned core, unsigned cache, uint64_t line, bool dirty)
{
	struct cache_instance *c = cache_at(r, core, cache);
	struct way *way = sets_find(&c->sets, line);
	struct buffered *b = in_buffer(c, line);
	if (way) {
		way->dirty |= dirty;
		sets_touch(&c->sets, way);
	} else if (b) {
		b->dirty |= dirty;
	} else {
		insert(r, core, cache, line, dirty);
	}
}

/* Dirty bytes [first, last] arrive. */
void write_back(struct reference *r, unsigned core, unsigned cache, uint64_t first, uint64_t last)
{
	const struct machine_cache *m = &r->machine.caches[cache];
	struct cache_instance *c = cache_at(r, core, cache);
	for (uint64_t line = first / m->line_bytes; line <= last / m->line_bytes; line++) {
		uint64_t start = line * m->line_bytes, end = start + m->line_bytes - 1;
		struct way *way = sets_find(&c->sets, line);
		struct buffered *b = in_buffer(c, line);
		bool here = way || b;
		if (m->inclusion == INCLUSION_EXCLUSIVE) {
			insert_behind(r, core, cache, line, true);
			continue;
		}
		if (way)
			sets_touch(&c->sets, way);
		if (here && m->write == WRITE_BACK) {
			if (way)
				way->dirty = true;
			else
				b->dirty = true;
			continue;
		}
		count(r, core, cache, here ? CACHE_WRITES_THROUGH : CACHE_WRITE_BACKS_PASSED);
		if (m->next != MACHINE_NONE)
			write_back(r, core, m->next, start > first ? start : first, end < last ? end : last);
	}
}

/* ---- prefetch ---- */

static void prefetch(struct reference *r, unsigned core, unsigned cache, uint64_t line, enum kind kind,
		     uint32_t id)
{
	const struct machine_cache *m = &r->machine.caches[cache];
	struct cache_instance *c = cache_at(r, core, cache);
	bool dirty = false;
	line &= last_line(m);
	if (sets_find(&c->sets, line) || in_buffer(c, line))
		return;
	count(r, core, cache, CACHE_PREFETCHES);
	if (coherent(r) && !m->shared) {
		uint64_t first = line * m->line_bytes, last = first + m->line_bytes - 1;
		before_read(r, core, first, last, false);
	}
	ask(r, core, cache, line, kind == FETCH ? FETCH : READ, id, NOT_LOST, RANDOM, &dirty);
	insert(r, core, cache, line, dirty)->marked = true;
}

static void trigger(struct reference *r, unsigned core, unsigned cache, uint64_t line, enum kind kind, uint32_t id)
{
	const struct machine_cache *m = &r->machine.caches[cache];
	struct cache_instance *c = cache_at(r, core, cache);
	if (m->prefetch == PREFETCH_NEXT_LINE)
		for (unsigned i = 1; i <= m->prefetch_degree; i++)
			prefetch(r, core, cache, line + i, kind, id);
	if (m->prefetch == PREFETCH_STRIDE) {
		struct stride *s = &c->strides[id % m->prefetch_entries];
		if (!s->valid || s->id != id) {
			*s = (struct stride){id, line, 0, true};
			return;
		}
		int64_t stride = (int64_t)(line - s->last);
		bool again = stride == s->stride && stride;
		s->last = line;
		s->stride = stride;
		for (unsigned i = 1; again && i <= m->prefetch_degree; i++)
			prefetch(r, core, cache, line + i * (uint64_t)stride, kind, id);
	}
}

/* ---- misses in order ---- */

/* The way from one line to the next: 1 up, -1 down, 0 neither. */
static int way_of(int64_t by) { return by == 1 || by == 2 ? 1 : by == -1 || by == -2 ? -1 : 0; }

/* As model/core/cache/order.h says it. */
static bool in_order(struct reference *r, unsigned core, unsigned cache, uint64_t line)
{
	struct cache_instance *c = cache_at(r, core, cache);
	uint64_t region = line / 64;
	struct last_miss *here = &c->last[(region * UINT64_C(0x9e3779b97f4a7c15)) >> 56], known = {0};
	if (here->known && here->line / 64 == region)
		known = *here;
	if (!(known.known && way_of((int64_t)line - (int64_t)known.line)) && (line % 64 < 2 || line % 64 > 61)) {
		uint64_t next = line % 64 < 2 ? region - 1 : region + 1;
		struct last_miss *there = &c->last[(next * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
		if (there->known && there->line / 64 == next)
			known = *there;
	}
	int way = known.known ? way_of((int64_t)line - (int64_t)known.line) : 0;
	*here = (struct last_miss){true, line, way};
	return way && way == known.way;
}

/* ---- an access ---- */

static void classify(struct reference *r, unsigned core, unsigned cache, uint64_t line, bool missed, bool fills,
		     enum sharing sharing)
{
	const struct machine_cache *m = &r->machine.caches[cache];
	struct cache_instance *c = cache_at(r, core, cache);
	bool seen, shadowed;
	if (missed && sharing != NOT_LOST) {
		count(r, core, cache, CACHE_COHERENCE_MISSES);
		if (sharing == LOST_FALSE)
			count(r, core, cache, CACHE_FALSE_SHARING_MISSES);
	}
	if (!r->classify)
		return;
	seen = list_has(&c->seen, line);
	shadowed = list_take(&c->shadow, line);
	if (!seen)
		list_push(&c->seen, line);
	if (shadowed || fills)
		list_push(&c->shadow, line);
	if (c->shadow.n > (size_t)m->sets * m->ways)
		list_drop_first(&c->shadow);
	if (missed && sharing == NOT_LOST)
		count(r, core, cache, !seen ? CACHE_COMPULSORY : shadowed ? CACHE_CONFLICT : CACHE_CAPACITY);
}

/*
 * One line. stores: the bytes [first, last] are written here (else: the level in front wants to have the line, and
 * [first, last] are all of what it wants). True: an exclusive level gave a dirty line away.
 */
static bool access_line(struct reference *r, unsigned core, unsigned cache, uint64_t line, uint64_t first,
			uint64_t last, enum kind kind, uint32_t id, bool stores, enum sharing sharing,
			enum told told)
{
	static const uint8_t accesses[] = {CACHE_READS, CACHE_WRITES, CACHE_FETCHES};
	static const uint8_t misses[] = {CACHE_READ_MISSES, CACHE_WRITE_MISSES, CACHE_FETCH_MISSES};
	const struct machine_cache *m = &r->machine.caches[cache];
	struct cache_instance *c = cache_at(r, core, cache);
	bool exclusive = m->inclusion == INCLUSION_EXCLUSIVE, gives = exclusive && !stores;
	bool dirty = false, triggers = false;
	struct way *way = sets_find(&c->sets, line);
	struct buffered *b = way ? NULL : in_buffer(c, line);

	if (m->shared)
		sharing = NOT_LOST;
	count(r, core, cache, accesses[kind]);
	if (!way)
		count(r, core, cache, misses[kind]);
	bool asks = told == FIRST;
	if (asks)
		told = !way && in_order(r, core, cache, line) ? IN_ORDER : RANDOM;
	else if (told == IN_ORDER)
		count(r, core, cache, CACHE_ORDERED);
	if (!way && told == IN_ORDER && !(asks && kind == FETCH))
		count(r, core, cache, CACHE_ORDERED_MISSES);
	classify(r, core, cache, line, !way, !stores || m->write_allocate, sharing);
	if (way) {
		if (way->marked) {
			count(r, core, cache, CACHE_PREFETCHES_USED);
			way->marked = false;
			triggers = true;
		}
		if (gives) {
			dirty = way->dirty;
			way->valid = false;
			way = NULL;
		} else {
			sets_touch(&c->sets, way);
		}
	} else if (b) {
		struct buffered taken = from_buffer(c, b);
		count(r, core, cache, CACHE_VICTIM_HITS);
		if (gives) {
			dirty = taken.dirty;
		} else {
			insert(r, core, cache, line, taken.dirty);
			triggers = true;
		}
	} else if (exclusive || (stores && !m->write_allocate)) {
		count(r, core, cache, CACHE_BYPASSES);
		if (!stores)
			ask(r, core, cache, line, kind, id, sharing, told, &dirty);
	} else {
		bool was_dirty = false;
		ask(r, core, cache, line, kind, id, sharing, told, &was_dirty);
		insert(r, core, cache, line, was_dirty);
		triggers = true;
	}
	if (stores) {
		way = sets_find(&c->sets, line);
		if (m->write == WRITE_THROUGH)
			count(r, core, cache, CACHE_WRITES_THROUGH);
		if (way && m->write == WRITE_BACK) {
			way->dirty = true;
		} else if (m->next != MACHINE_NONE) {
			uint32_t behind = r->machine.caches[m->next].line_bytes;
			for (uint64_t l = first / behind; l <= last / behind; l++) {
				uint64_t start = l * behind, end = start + behind - 1;
				access_line(r, core, m->next, l, start > first ? start : first,
					    end < last ? end : last, WRITE, id, true, sharing, RANDOM);
			}
		}
	}
	if (triggers)
		trigger(r, core, cache, line, kind, id);
	return dirty;
}

/* The cache wants the line of the level behind it. */
static void ask(struct reference *r, unsigned core, unsigned from, uint64_t line, enum kind kind, uint32_t id,
		enum sharing sharing, enum told told, bool *dirty)
{
	const struct machine_cache *m = &r->machine.caches[from];
	uint64_t first = line * m->line_bytes, last = first + m->line_bytes - 1;
	uint32_t behind;
	if (m->next == MACHINE_NONE)
		return;
	behind = r->machine.caches[m->next].line_bytes;
	for (uint64_t l = first / behind; l <= last / behind; l++)
		*dirty |= access_line(r, core, m->next, l, first, last, kind, id, false, sharing, told);
}

void first_access(struct reference *r, unsigned core, uint64_t first, uint64_t last, enum kind kind, uint32_t id)
{
	unsigned cache = kind == FETCH ? r->machine.first_instruction : r->machine.first_data;
	const struct machine_cache *m = &r->machine.caches[cache];
	struct cache_instance *c = cache_at(r, core, cache);
	uint64_t line = first / m->line_bytes;
	enum sharing sharing = NOT_LOST;
	assert(line == last / m->line_bytes);
	if (coherent(r) && !m->shared) {
		if (kind == WRITE)
			sharing = before_write(r, core, first, last);
		else if (!sets_find(&c->sets, line) && !in_buffer(c, line))
			sharing = before_read(r, core, first, last, true);
	}
	access_line(r, core, cache, line, first, last, kind, id, kind == WRITE, sharing,
		    r->orders ? FIRST : RANDOM);
}

void first_prefetch(struct reference *r, unsigned core, uint64_t address, uint32_t id)
{
	unsigned cache = r->machine.first_data;
	prefetch(r, core, cache, address / r->machine.caches[cache].line_bytes, READ, id);
}
