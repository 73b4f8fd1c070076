#include "model/core/objects/objects.h"

/*
 * A radix tree over 47 bits of address: each entry is 0, or VALUE | what covers all of it, or the number of a node
 * (in pool units).
 *
 *     bits 46 … 35 root     34 … 23     22 … 12     11 … 3 (granules of 8 bytes)
 */
#define VALUE 0x80000000u
#define SEGMENT 0x40000000u /* of a value: the rest is a segment's number, else a site's */
#define BEGINS 0x20000000u  /* of a value: a heap block begins in this granule; the rest of the block is without */
/* of a value: of thread-local storage, the rest is the cell of the granule's first byte */
#define THREADS (SEGMENT | BEGINS)
#define THREAD_BYTES (1ull << 20) /* below the thread pointer: the most that have cells */
#define UNIT 1024u

struct map_level {
	uint8_t shift, bits;
};
static const struct map_level levels[4] = {{35, 12}, {23, 12}, {12, 11}, {3, 9}};

#define CALLS 4096u
#define PENDING 8u

struct pending_call {
	uint64_t slot, returns_to;
};

struct object_calls {
	uint64_t depth;
	struct pending_call call[CALLS]; /* [depth % CALLS]: the newest ones */
	uint32_t n_pending;
	struct pending { /* allocation functions that were entered */
		uint64_t slot;
		uint64_t argument[3];
		/* of calloc, realloc: what may become the block, and what accesses to it have counted */
		uint64_t block, counts[8];
		uint64_t stored; /* of posix_memalign: the address that it gave to its caller; 0: none yet */
		uint64_t bytes;
		uint32_t kind, site;
	} pending[PENDING];
	uint64_t result, stored, argument[4];
};

struct objects {
	struct record_objects *record;
	uint64_t thread_cell; /* of the byte THREAD_BYTES below a thread pointer; 0: none yet */
	struct record_object_site *sites;
	struct record_object_segment *segments;
	uint64_t *site_counts, *cell_counts;
	uint32_t *pool;
	uint64_t used, units; /* of the pool; unit 0 is none */
	uint32_t free[4];     /* nodes of each level that are free, the first word leads on */
	uint32_t root[1u << 12];
	uint32_t slots[2 * RECORD_OBJECT_SITES]; /* sites by hash: number, 0 free */
};

static uint64_t up(uint64_t bytes) { return (bytes + 4095) & ~4095ull; }

uint64_t objects_bytes(uint64_t pool_bytes) { return up(sizeof(struct objects)) + up(pool_bytes); }
uint64_t object_calls_bytes(void) { return up(sizeof(struct object_calls)); }

static void point(struct objects *o, struct record_objects *record)
{
	uint8_t *base = (uint8_t *)record;
	o->record = record;
	o->sites = (struct record_object_site *)(base + record->sites);
	o->segments = (struct record_object_segment *)(base + record->segments);
	o->site_counts = (uint64_t *)(base + record->site_counts);
	o->cell_counts = (uint64_t *)(base + record->cell_counts);
}

struct objects *objects_init(void *memory, uint64_t bytes, struct record_objects *record)
{
	struct objects *o = memory;
	point(o, record);
	o->pool = (uint32_t *)((uint8_t *)memory + up(sizeof *o));
	o->units = (bytes - up(sizeof *o)) / UNIT;
	if (o->units > VALUE)
		o->units = VALUE;
	o->used = 1;
	for (uint32_t i = 0; i < OBJECT_FIRST_SITE; i++)
		o->sites[i].kind = i;
	record->n_sites = OBJECT_FIRST_SITE;
	return o;
}

void objects_move(struct objects *o, struct record_objects *record)
{
	const struct record_objects *old = o->record;
	const struct record_object_site *sites = o->sites;
	const struct record_object_segment *segments = o->segments;
	point(o, record);
	record->n_sites = old->n_sites, record->n_segments = old->n_segments, record->n_cells = old->n_cells,
	record->incomplete = old->incomplete, record->functions = old->functions;
	for (uint32_t i = 0; i < old->n_sites; i++) {
		o->sites[i] = sites[i];
		if (i >= OBJECT_FIRST_SITE)
			o->sites[i].blocks = o->sites[i].bytes = 0; /* those were its parent's */
	}
	for (uint32_t i = 0; i < old->n_segments; i++)
		o->segments[i] = segments[i];
}

/* ---- the tree ---- */

static uint32_t *node(const struct objects *o, uint32_t number) { return o->pool + (uint64_t)number * (UNIT / 4); }

static uint32_t node_units(unsigned level) { return (4u << levels[level].bits) / UNIT; }

/* A node whose entries are all `value`; 0: no room. */
static uint32_t node_new(struct objects *o, unsigned level, uint32_t value)
{
	uint32_t number = o->free[level], entries = 1u << levels[level].bits;
	if (number) {
		o->free[level] = node(o, number)[0];
	} else {
		if (o->used + node_units(level) > o->units)
			return 0;
		number = (uint32_t)o->used;
		o->used += node_units(level);
	}
	for (uint32_t i = 0; i < entries; i++)
		node(o, number)[i] = value;
	return number;
}

static void node_drop(struct objects *o, unsigned level, uint32_t entry)
{
	if (!entry || entry & VALUE)
		return;
	uint32_t *entries = node(o, entry);
	for (uint32_t i = 0; level < 3 && i < 1u << levels[level].bits; i++)
		node_drop(o, level + 1, entries[i]);
	entries[0] = o->free[level];
	o->free[level] = entry;
}

/* Sets [from, to) of the node's span, which begins at base. False: no room. */
static bool set_in(struct objects *o, uint32_t *entries, unsigned level, uint64_t base, uint64_t from, uint64_t to,
		   uint32_t value)
{
	uint64_t span = 1ull << levels[level].shift;
	for (uint64_t i = (from - base) >> levels[level].shift; base + i * span < to; i++) {
		uint64_t low = base + i * span, high = low + span;
		uint32_t *entry = &entries[i];
		if ((from <= low && to >= high) || level == 3) {
			node_drop(o, level + 1, *entry);
			*entry = value;
			continue;
		}
		if (!*entry || *entry & VALUE) {
			uint32_t number;
			if (*entry == value)
				continue;
			if (!(number = node_new(o, level + 1, *entry)))
				return false;
			*entry = number;
		}
		if (!set_in(o, node(o, *entry), level + 1, low, from > low ? from : low, to < high ? to : high,
			    value))
			return false;
	}
	return true;
}

static void set(struct objects *o, uint64_t start, uint64_t length, uint32_t value)
{
	uint64_t end = start + length;
	if (!length || end < start || end > 1ull << 47 || o->record->incomplete)
		return;
	/* granules that it begins or ends in are its own */
	if (!set_in(o, o->root, 0, 0, start & ~7ull, (end + 7) & ~7ull, value))
		o->record->incomplete = 1;
}

/* The value at an address; *end, if not NULL: up to where the tree's entry holds it. */
static uint32_t find(const struct objects *o, uint64_t address, uint64_t *end)
{
	const uint32_t *entries = o->root;
	if (end)
		*end = ~0ull;
	if (address >> 47)
		return 0;
	for (unsigned level = 0;; level++) {
		uint32_t entry = entries[address >> levels[level].shift & ((1u << levels[level].bits) - 1)];
		if (!entry || entry & VALUE) {
			if (end)
				*end = ((address >> levels[level].shift) + 1) << levels[level].shift;
			return entry;
		}
		entries = node(o, entry);
	}
}

uint64_t *objects_counts_of(struct objects *o, enum record_object object)
{
	return o->site_counts + (uint64_t)object * o->record->n_watches;
}

uint64_t *objects_counts(struct objects *o, uint64_t address)
{
	uint32_t value = o->record->incomplete ? 0 : find(o, address, NULL) & ~VALUE;
	if ((value & THREADS) == THREADS)
		return o->cell_counts + ((value & ~THREADS) + (address & 7)) * o->record->n_watches;
	value &= ~BEGINS;
	if (value & SEGMENT) {
		const struct record_object_segment *r = &o->segments[value & ~SEGMENT];
		return o->cell_counts + (r->first_cell + (r->shift > 63 ? 0 : (address - r->start) >> r->shift)) *
						o->record->n_watches;
	}
	return o->site_counts + (uint64_t)value * o->record->n_watches;
}

/* calloc() clears, and realloc() fills, memory that something in it has just returned: should that be its own
 * result in the end, what was counted on the heap there was counted on the block (complete()). */
void objects_charge(struct objects *o, struct object_calls *c, uint64_t address, unsigned watch, uint64_t more)
{
	uint64_t *counts = objects_counts(o, address);
	counts[watch] += more;
	struct pending *p = c && c->n_pending ? &c->pending[c->n_pending - 1] : NULL;
	if (!p || (p->kind != TRACE_CALLOC && p->kind != TRACE_REALLOC) ||
	    counts != objects_counts_of(o, OBJECT_ALLOCATOR) ||
	    o->record->n_watches > sizeof p->counts / sizeof *p->counts)
		return;
	if (c->result != p->block && address - c->result < p->bytes) {
		p->block = c->result;
		for (unsigned w = 0; w < sizeof p->counts / sizeof *p->counts; w++)
			p->counts[w] = 0;
	}
	if (address - p->block < p->bytes)
		p->counts[watch] += more;
}

/* ---- sites ---- */

static uint32_t site_of(struct objects *o, const struct object_calls *calls, enum record_object kind)
{
	struct record_object_site site = {.kind = kind};
	uint64_t oldest = calls && calls->depth > CALLS ? calls->depth - CALLS : 0, hash = kind;
	for (uint64_t d = calls ? calls->depth : 0; d > oldest && site.n_frames < RECORD_OBJECT_FRAMES; d--)
		site.frames[site.n_frames++] = calls->call[(d - 1) % CALLS].returns_to;
	for (uint32_t i = 0; i < site.n_frames; i++)
		hash = (hash ^ site.frames[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
	for (uint64_t at = hash % (2 * RECORD_OBJECT_SITES);; at = (at + 1) % (2 * RECORD_OBJECT_SITES)) {
		uint32_t number = o->slots[at];
		if (!number) {
			if (o->record->n_sites == RECORD_OBJECT_SITES)
				return OBJECT_OTHERS;
			number = o->record->n_sites;
			o->sites[number] = site;
			o->slots[at] = number;
			__atomic_store_n(&o->record->n_sites, number + 1, __ATOMIC_RELEASE);
			return number;
		}
		const struct record_object_site *there = &o->sites[number];
		bool same = there->kind == kind && there->n_frames == site.n_frames;
		for (uint32_t i = 0; same && i < site.n_frames; i++)
			same = there->frames[i] == site.frames[i];
		if (same)
			return number;
	}
}

static void begin_to_live(struct objects *o, uint32_t site, uint64_t start, uint64_t length)
{
	if (!start)
		return;
	/* malloc(0) also has an address */
	set(o, start, length ? length : 1, VALUE | site);
	set(o, start, 1, VALUE | BEGINS | site);
	o->sites[site].blocks++;
	o->sites[site].bytes += length;
}

static void cease_to_live(struct objects *o, uint64_t start)
{
	uint32_t value = start ? find(o, start, NULL) : 0;
	uint64_t end = (start & ~7ull) + 8, next;
	if (!(value & BEGINS) || value & SEGMENT)
		return; /* allocated unseen, or never */
	while (find(o, end, &next) == (value & ~BEGINS))
		end = next;
	set(o, start, end - start, VALUE | OBJECT_ALLOCATOR);
}

/* ---- calls ---- */

/* What lies below a stack slot that is in use again was left without a return (longjmp, an exception). */
static void forget_below(struct object_calls *c, uint64_t slot, bool slot_too)
{
	while (c->depth) {
		const struct pending_call *top = &c->call[(c->depth - 1) % CALLS];
		if (top->slot > slot || (top->slot == slot && !slot_too))
			break;
		c->depth--;
	}
}

/* Also an allocation function that was left without a return: its own calls are below its slot. */
static void forget_pending(struct object_calls *c, uint64_t slot)
{
	while (c->n_pending && c->pending[c->n_pending - 1].slot <= slot)
		c->n_pending--;
}

void objects_called(struct objects *o, struct object_calls *c, uint64_t slot, uint64_t returns_to)
{
	(void)o;
	forget_below(c, slot, true);
	forget_pending(c, slot);
	c->call[c->depth++ % CALLS] = (struct pending_call){slot, returns_to};
}

/* What the function asks for. False: more than there can be. */
static bool wanted(enum trace_allocation kind, const uint64_t *argument, uint64_t *bytes)
{
	switch (kind) {
	case TRACE_CALLOC: return !__builtin_mul_overflow(argument[0], argument[1], bytes);
	case TRACE_REALLOC:
	case TRACE_ALIGNED: *bytes = argument[1]; break;
	case TRACE_POSIX_MEMALIGN: *bytes = argument[2]; break;
	case TRACE_MALLOC:
	case TRACE_FREE: *bytes = argument[0]; break;
	}
	return true;
}

static void complete(struct objects *o, struct object_calls *c, const struct pending *p)
{
	uint64_t *of_heap = objects_counts_of(o, OBJECT_ALLOCATOR),
		 *of_site = o->site_counts + (uint64_t)p->site * o->record->n_watches;
	uint64_t block = c->result;
	if (p->kind == TRACE_POSIX_MEMALIGN) {
		block = (uint32_t)c->result ? 0 : p->stored;
		if (!(uint32_t)c->result && !p->stored)
			o->record->unseen++;
	}
	if (p->kind == TRACE_REALLOC && (block || !p->bytes))
		cease_to_live(o, p->argument[0]);
	begin_to_live(o, p->site, block, p->bytes);
	for (uint32_t w = 0; block && block == p->block && !o->record->incomplete && w < o->record->n_watches; w++)
		if (of_heap[w] >= p->counts[w]) { /* a fork's child has not the parent's */
			of_heap[w] -= p->counts[w];
			of_site[w] += p->counts[w];
		}
}

void objects_returned(struct objects *o, struct object_calls *c, uint64_t slot)
{
	forget_below(c, slot, true);
	while (c->n_pending && c->pending[c->n_pending - 1].slot <= slot) {
		const struct pending *p = &c->pending[--c->n_pending];
		if (p->slot == slot)
			complete(o, c, p);
	}
}

static void entered(struct objects *o, struct object_calls *c, enum trace_allocation kind)
{
	uint64_t slot = c->argument[TRACE_VALUE_STACK];
	forget_pending(c, slot);
	/* what an allocation function calls is its own affair */
	if (c->n_pending)
		return;
	if (kind == TRACE_FREE) {
		cease_to_live(o, c->argument[0]);
		return;
	}
	uint64_t bytes = 0;
	if (!wanted(kind, c->argument, &bytes))
		return;
	struct pending *p = &c->pending[c->n_pending++];
	*p = (struct pending){.slot = slot,
			      .kind = kind,
			      .argument = {c->argument[0], c->argument[1], c->argument[2]},
			      .bytes = bytes};
	forget_below(c, slot, false);
	p->site = site_of(o, c, OBJECT_HEAP);
}

void objects_value(struct objects *o, struct object_calls *c, const struct trace_item *item, uint64_t value)
{
	struct pending *last = c->n_pending ? &c->pending[c->n_pending - 1] : NULL;
	switch (item->lanes) {
	case TRACE_VALUE_RESULT: c->result = value; return;
	case TRACE_VALUE_STORED: c->stored = value; return;
	case TRACE_VALUE_STORED_AT:
		if (last && last->kind == TRACE_POSIX_MEMALIGN && value == last->argument[0])
			last->stored = c->stored;
		return;
	default: break;
	}
	c->argument[item->lanes & 3] = value;
	if (item->lanes == TRACE_VALUE_STACK) /* the last one */
		entered(o, c, (enum trace_allocation)item->scale);
}

/* ---- from outside ---- */

void objects_set(struct objects *o, uint64_t start, uint64_t length, enum record_object object)
{
	set(o, start, length, object == OBJECT_UNKNOWN ? 0 : VALUE | object);
}

void objects_mapped(struct objects *o, struct object_calls *c, uint64_t start, uint64_t length)
{
	/* what an allocation function maps is the heap */
	if (c && c->n_pending) {
		objects_set(o, start, length, OBJECT_ALLOCATOR);
		return;
	}
	uint32_t site = site_of(o, c, OBJECT_MAPPING);
	set(o, start, length, VALUE | site);
	o->sites[site].blocks++;
	o->sites[site].bytes += length;
}

void objects_stack(struct objects *o, uint64_t top, uint64_t bytes)
{
	uint32_t value = find(o, top - 8, NULL);
	uint64_t low = top & ~4095ull;
	if (!bytes) {
		while (top - low < 64ull << 20 && low >= 4096 && find(o, low - 8, NULL) == value)
			low -= 4096;
		bytes = top - low;
	}
	set(o, top - bytes, bytes, VALUE | OBJECT_STACK);
}

static struct record_object_segment *segment_new(struct objects *o, struct record_object_segment segment,
						 const char *path)
{
	if (o->record->n_segments == RECORD_OBJECT_SEGMENTS)
		return NULL;
	struct record_object_segment *r = &o->segments[o->record->n_segments];
	*r = segment;
	for (unsigned i = 0; path[i] && i < sizeof r->path - 1; i++)
		r->path[i] = path[i];
	__atomic_store_n(&o->record->n_segments, o->record->n_segments + 1, __ATOMIC_RELEASE);
	return r;
}

void objects_file(struct objects *o, uint64_t start, uint64_t length, uint64_t file_offset,
		  enum record_object_file file, const char *path)
{
	struct record_objects *record = o->record;
	uint64_t cells;
	uint32_t shift = file == OBJECT_FILE_OTHER ? 64 : length <= 1u << 20 ? 0 : length <= 1u << 28 ? 3 : 6;
	if (record->n_segments == RECORD_OBJECT_SEGMENTS) {
		objects_set(o, start, length, OBJECT_OTHERS);
		return;
	}
	cells = shift > 63 ? 1 : (length + (1ull << shift) - 1) >> shift;
	if (record->n_cells + cells > RECORD_OBJECT_CELLS)
		shift = 64, cells = 1;
	if (record->n_cells + cells > RECORD_OBJECT_CELLS) {
		objects_set(o, start, length, OBJECT_OTHERS);
		return;
	}
	uint32_t number = record->n_segments;
	struct record_object_segment segment = {.start = start,
						.length = length,
						.file_offset = file_offset,
						.first_cell = record->n_cells,
						.shift = shift,
						.elf = file};
	record->n_cells += cells;
	segment_new(o, segment, path);
	set(o, start, length, VALUE | SEGMENT | number);
}

const struct record_object_segment *objects_segment_before(const struct objects *o, uint64_t address)
{
	uint32_t value = address ? find(o, address - 1, NULL) : 0;
	return (value & THREADS) == SEGMENT ? &o->segments[value & ~(VALUE | SEGMENT)] : NULL;
}

/* ---- thread-local storage ---- */

void objects_thread_module(struct objects *o, uint64_t below, uint64_t bytes, const char *path)
{
	struct record_object_segment segment = {
		.length = THREAD_BYTES, .file_offset = RECORD_OBJECT_NO_FILE, .elf = OBJECT_FILE_THREADS};
	if (!o->thread_cell) {
		/* cells from 8 on: 0 says that there are none */
		segment.first_cell = (o->record->n_cells + 15) & ~7ull;
		if (segment.first_cell + THREAD_BYTES > RECORD_OBJECT_CELLS || !segment_new(o, segment, ""))
			return;
		o->record->n_cells = segment.first_cell + THREAD_BYTES;
		o->thread_cell = segment.first_cell;
	}
	if (below > THREAD_BYTES || bytes > below)
		return;
	segment = (struct record_object_segment){.start = below,
						 .length = bytes,
						 .file_offset = RECORD_OBJECT_NO_FILE,
						 .first_cell = o->thread_cell + (THREAD_BYTES - below),
						 .elf = OBJECT_FILE_THREAD};
	segment_new(o, segment, path);
}

void objects_thread_local(struct objects *o, uint64_t pointer, uint64_t below, uint64_t bytes)
{
	if (!o->thread_cell || below > THREAD_BYTES || bytes > below || below > pointer)
		return;
	uint64_t cell = o->thread_cell + (THREAD_BYTES - below);
	/* a granule's bytes have successive cells: the first one's is that of its address */
	for (uint64_t at = (pointer - below) & ~7ull; at < pointer - below + bytes; at += 8)
		set(o, at, 8, VALUE | THREADS | (uint32_t)(cell - (pointer - below - at)));
}
