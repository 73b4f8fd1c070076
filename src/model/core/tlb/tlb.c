/*
 * TLBs: see tlb.h for what holds, level.h for one of them. Here: their layout, which translation a miss
 * replaces, and the way along the levels. Page sizes are in pages.c; hits that are recorded as times alone in
 * fast/tlb_filter.c.
 */
#include "model/core/fast/processor.h"
#include "model/core/fast/tlb_hints.h"
#include "model/core/replacement.h"
#include "model/core/tlb/level.h"

static uint64_t rounded(uint64_t bytes) { return (bytes + 63) & ~63ull; }

/* ---- layout ---- */

/* Fills in where the parts of a level lie; returns its bytes. */
static uint64_t level_layout(struct tlb_level *l, const struct machine_tlb *tlb)
{
	uint64_t n = (uint64_t)tlb->sets * tlb->ways, at = rounded(sizeof(*l));
	l->sets = tlb->sets, l->ways = tlb->ways;
	l->set_mask_works = !(tlb->sets & (tlb->sets - 1));
	l->replacement = tlb->replacement;
	l->pair_shift = log2_up(tlb->pages_per_entry ? tlb->pages_per_entry : 1);
	l->page_shift = tlb->page_bytes ? log2_up(tlb->page_bytes) : 0;
	l->next = tlb->next;
	l->buckets = tlb->ways > TLB_SCANNED ? 1u << log2_up(2 * n) : 0;
	l->keys_at = at, at += rounded(n * 8);
	l->stamps_at = at, at += rounded(n * 8);
	l->entries_at = at, at += rounded(n * sizeof(struct tlb_entry));
	l->heads_at = at, at += rounded(l->buckets * 4ull);
	l->valid_at = at, at += rounded(l->sets * 4ull);
	l->tree_at = at, at += tlb->replacement == REPLACE_PLRU ? rounded(l->sets * 8ull) : 0;
	return at;
}

uint64_t tlbs_bytes(const struct machine *machine)
{
	uint64_t bytes = rounded(sizeof(struct tlbs)) + 2 * TLB_HINTS * 4;
	for (unsigned i = 0; i < machine->n_tlbs; i++) {
		struct tlb_level l;
		bytes += level_layout(&l, &machine->tlbs[i]);
	}
	return bytes;
}

static unsigned first_taking(struct tlbs *t, unsigned side, uint32_t shift)
{
	unsigned i = t->first[side];
	while (i < t->n && !takes(level_of(t, i), shift))
		i = level_of(t, i)->next;
	return i;
}

/* Whether all that take ordinary pages have the LRU fast path, the first of all among them. */
static bool begin_lru_fast(struct tlbs *t, unsigned side)
{
	unsigned i = first_taking(t, side, t->page_shift);
	if (i < t->n)
		level_of(t, i)->first_of |= 1u << side;
	if (i >= t->n || i != t->first[side])
		return false;
	for (; i < t->n; i = level_of(t, i)->next)
		if (takes(level_of(t, i), t->page_shift) && !level_of(t, i)->lru_fast)
			return false;
	return true;
}

struct tlbs *tlbs_init(void *memory, const struct machine *machine, const struct model_options *options,
		       const struct tlb_map *map)
{
	struct tlbs *t = memory;
	uint64_t at = rounded(sizeof(*t));
	t->map = map;
	t->page_shift = (uint8_t)tlb_ordinary(map);
	t->recency = &t->own_recency;
	t->n = machine->n_tlbs;
	t->no_filters = options->no_filters;
	t->first[TLB_DATA] = machine->first_data_tlb;
	t->first[TLB_FETCH] = machine->first_instruction_tlb;
	for (unsigned side = 0; side < 2; side++) {
		t->hints_at[side] = at, at += TLB_HINTS * 4;
	}
	for (unsigned i = 0; i < machine->n_tlbs; i++) {
		struct tlb_level *l = (struct tlb_level *)((char *)t + at);
		t->level_at[i] = at;
		at += level_layout(l, &machine->tlbs[i]);
		l->index = i;
		l->stamps = (uint64_t *)((char *)l + l->stamps_at);
		l->random = machine->seed + i * 0x9e3779b97f4a7c15ull; /* another sequence for each */
		if (!l->random)
			l->random = 1;
		l->lru_fast = (l->replacement == REPLACE_LRU || l->replacement == REPLACE_FIFO) &&
			      l->ways <= 256 && !t->no_filters;
		l->vectors = l->lru_fast && l->ways >= VECTORS_LEAST && !(l->ways & 7) &&
			     vectors_here() == VECTORS_AVX512;
	}
	for (unsigned side = 0; side < 2; side++)
		t->lru_fast[side] = begin_lru_fast(t, side);
	return t;
}

/* ---- one level ---- */

/* Recorded hits become the tree's. */
static void settle_tree(struct tlb_level *l, uint32_t set)
{
	if (l->touched)
		*tree_of(l, set) = tree_settled(*tree_of(l, set), l->ways, l->touched + set * l->ways);
}

/* A hit, or a fill: recency moves. `filled`: FIFO's order is that of fills. */
static void touch(struct tlbs *t, struct tlb_level *l, uint32_t e, uint32_t set, bool filled)
{
	if (l->replacement == REPLACE_LRU || (filled && l->replacement == REPLACE_FIFO)) {
		l->stamps[e] = ++*t->recency;
	} else if (l->replacement == REPLACE_PLRU) {
		settle_tree(l, set);
		*tree_of(l, set) = tree_used(*tree_of(l, set), l->ways, e - set * l->ways);
	}
}

static uint32_t victim(struct tlb_level *l, uint32_t set)
{
	uint32_t base = set * l->ways;
	if (valid_of(l)[set] < l->ways) {
		const uint64_t *keys = keys_of(l) + base;
		uint32_t way = 0;
		while (keys[way])
			way++;
		return base + way;
	}
	switch (l->replacement) {
	case REPLACE_PLRU: settle_tree(l, set); return base + tree_victim(*tree_of(l, set), l->ways);
	case REPLACE_RANDOM: return base + (uint32_t)((random_next(&l->random) >> 32) * l->ways >> 32);
	default: /* LRU and FIFO: machine_is_sound() lets no other through */
		return base + oldest(l, l->stamps + base);
	}
}

static uint32_t fill(struct tlbs *t, struct tlb_level *l, uint64_t key, uint32_t set, uint64_t address,
		     uint32_t shift, uint8_t first_of)
{
	uint32_t e = victim(l, set);
	uint64_t bytes = 1ull << (shift + l->pair_shift);
	if (keys_of(l)[e])
		leave(t, l, e);
	else
		valid_of(l)[set]++;
	/* beside a huge page may lie memory in small ones: the pair then translates the one page only */
	if (l->pair_shift && t->map && tlb_map_shift(t->map, address ^ 1ull << shift) != shift)
		bytes = 1ull << shift;
	enter(l, e, key, address & ~(bytes - 1), bytes, shift, first_of);
	touch(t, l, e, set, true);
	return e;
}

/* ---- along the levels ---- */

uint64_t tlb_page_access(struct tlbs *t, unsigned side, uint64_t address, uint32_t shift,
			 enum model_tlb_count kind, struct model_counts *counts, uint32_t *entry, bool absent)
{
	unsigned first = first_taking(t, side, shift), i = first;
	uint64_t done = 0;
	uint32_t first_entry = NO_ENTRY;
	while (i < t->n) {
		struct tlb_level *l = level_of(t, i);
		unsigned next = l->next;
		if (takes(l, shift)) {
			uint64_t unit = address >> (shift + l->pair_shift), key = key_of(unit, shift);
			uint32_t set = set_of(l, unit), e = absent && i == first ? NO_ENTRY : find(l, key, set);
			counts->tlb[i][kind]++;
			done += 1ull << (32 + 5 * i);
			if (e != NO_ENTRY) {
				touch(t, l, e, set, false);
				next = MACHINE_NONE;
			} else {
				/* levels are independent: filled here or after the next one answered is the
				 * same */
				uint8_t first_of = (first_taking(t, TLB_DATA, shift) == i) << TLB_DATA |
						   (first_taking(t, TLB_FETCH, shift) == i) << TLB_FETCH;
				e = fill(t, l, key, set, address, shift, first_of);
				counts->tlb[i][kind + (TLB_READ_MISSES - TLB_READS)]++;
				done += 1ull << (5 * i);
			}
			if (i == first)
				first_entry = e;
		}
		i = next;
	}
	if (first_entry != NO_ENTRY && !t->no_filters)
		hint_set(t, side, address, first, first_entry);
	*entry = first_entry;
	return done;
}

static __attribute__((noinline)) uint64_t access_pages(struct tlbs *t, uint64_t address, uint64_t left,
						       enum model_tlb_count kind, struct model_counts *counts)
{
	uint64_t done = 0;
	while (left) {
		uint32_t shift = t->map ? tlb_map_shift(t->map, address) : t->page_shift;
		uint64_t here = (1ull << shift) - (address & ((1ull << shift) - 1));
		uint32_t entry;
		done += tlb_page_access(t, kind == TLB_FETCHES ? TLB_FETCH : TLB_DATA, address, shift, kind,
					counts, &entry, false);
		here = here < left ? here : left;
		address += here;
		left -= here;
	}
	return done;
}

uint64_t tlbs_access(struct tlbs *t, uint64_t address, uint32_t bytes, enum model_tlb_count kind,
		     struct model_counts *counts)
{
	unsigned side = kind == TLB_FETCHES ? TLB_FETCH : TLB_DATA;
	struct tlb_level *l;
	uint32_t e;
	if (t->first[side] == MACHINE_NONE)
		return 0;
	if (t->no_filters || (address ^ (address + bytes - 1)) >> TLB_PAGE_SHIFT ||
	    !guessed(t, side, address, &l, &e))
		return access_pages(t, address, bytes, kind, counts);
	touch(t, l, e, e / l->ways, false);
	counts->tlb[l->index][kind]++;
	return 1ull << (32 + 5 * l->index);
}

bool tlbs_by_units(const struct machine *machine, const struct tlb_map *map)
{
	for (uint32_t size = 0; size <= map->count; size++) {
		uint32_t shift = size ? map->ranges[size - 1].shift : tlb_ordinary(map);
		unsigned at[2] = {machine->first_data_tlb, machine->first_instruction_tlb};
		for (unsigned side = 0; side < 2; side++)
			while (at[side] != MACHINE_NONE && machine->tlbs[at[side]].page_bytes &&
			       machine->tlbs[at[side]].page_bytes >> shift != 1)
				at[side] = machine->tlbs[at[side]].next;
		if (at[1] != machine->first_instruction_tlb || (at[0] == at[1] && at[0] != MACHINE_NONE))
			return true;
	}
	return false;
}

void tlbs_forget(struct tlbs *tlbs, uint64_t start, uint64_t length)
{
	if (!length)
		return;
	uint64_t last = start + length - 1;
	if (tlbs->filter)
		filter_clear_all(tlbs->filter);
	for (unsigned i = 0; i < tlbs->n; i++) {
		struct tlb_level *l = level_of(tlbs, i);
		uint64_t *keys = keys_of(l);
		struct tlb_entry *entries = entries_of(l);
		for (uint64_t e = 0; e < (uint64_t)l->sets * l->ways; e++) {
			/* of a pair both pages, also that which the entry does not translate (see fill) */
			uint32_t shift = entries[e].shift + l->pair_shift;
			uint64_t from = keys[e] >> 6 << shift;
			if (!keys[e] || from > last || from + (1ull << shift) - 1 < start)
				continue;
			if (l->buckets)
				unchain(l, e);
			if (l->replacement == REPLACE_PLRU)
				settle_tree(l, (uint32_t)(e / l->ways));
			keys[e] = l->stamps[e] = entries[e].bytes = 0;
			valid_of(l)[e / l->ways]--;
		}
	}
}
