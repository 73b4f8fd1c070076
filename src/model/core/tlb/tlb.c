/*
 * TLBs: see tlb.h for what holds. Here: one level's state and its replacement, the walk along the levels, the map
 * of page sizes.
 *
 * A level finds a translation by its key (number of the page or pair, and the page's size): in a set of up to
 * SCANNED ways one by one, in a larger one (fully associative) by chains of a hash table. Recency is a time: a hit
 * stores one word, a replacement looks for the smallest. Both are exact at any associativity; only replacements
 * cost the number of ways.
 */
#include "model/core/cache/lines.h"
#include "model/core/fast/processor.h"
#include "model/core/tlb/tlb.h"

#define SCANNED 16
/* guesses "this 4 KB of the address space: that entry of the first TLB", checked against the entry */
#define HINTS 1024
#define NO_ENTRY UINT32_MAX

struct tlb_entry {
	uint64_t start, bytes; /* what it translates: a page, or the pages of a pair that are of one size */
	uint32_t chain;        /* next entry with the same hash + 1 */
	uint8_t shift;         /* log2 of the page size */
	uint8_t first_of;      /* bit s: for side s, this is the first TLB that takes pages of this size */
	uint8_t unused[10];
};

struct tlb_level {
	uint32_t sets, ways, buckets, first_page /* in hits->pages */;
	uint8_t set_mask_works, replacement, pair_shift, page_shift /* 0: any */;
	uint8_t next, index;
	uint8_t first_of; /* entry.first_of, of ordinary pages */
	bool lru_fast;    /* see page_lru_fast() */
	bool vectors;     /* for vectors_least() */
	uint8_t unused[3];
	uint64_t random;
	uint64_t *touched; /* recorded hits' times; PLRU: 0, worked in. NULL: hits are not recorded */
	uint64_t *stamps;  /* LRU, FIFO: the smallest goes. LRU's are those touched */
	uint64_t keys_at, stamps_at, entries_at, heads_at, valid_at, tree_at; /* bytes from the level's start */
};

static uint64_t *keys_of(struct tlb_level *l) { return (uint64_t *)((char *)l + l->keys_at); }
static struct tlb_entry *entries_of(struct tlb_level *l)
{
	return (struct tlb_entry *)((char *)l + l->entries_at);
}
static uint32_t *heads_of(struct tlb_level *l) { return (uint32_t *)((char *)l + l->heads_at); }
static uint32_t *valid_of(struct tlb_level *l) { return (uint32_t *)((char *)l + l->valid_at); }
static uint8_t *tree_of(struct tlb_level *l) { return (uint8_t *)l + l->tree_at; }
static struct tlb_level *level_of(struct tlbs *t, unsigned i)
{
	return (struct tlb_level *)((char *)t + t->level_at[i]);
}
static uint32_t *hints_of(struct tlbs *t, unsigned side) { return (uint32_t *)((char *)t + t->hints_at[side]); }

static uint64_t rounded(uint64_t bytes) { return (bytes + 63) & ~63ull; }

static uint32_t log2_up(uint64_t value)
{
	uint32_t bits = 0;
	while ((1ull << bits) < value)
		bits++;
	return bits;
}

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
	l->buckets = tlb->ways > SCANNED ? 1u << log2_up(2 * n) : 0;
	l->keys_at = at, at += rounded(n * 8);
	l->stamps_at = at, at += rounded(n * 8);
	l->entries_at = at, at += rounded(n * sizeof(struct tlb_entry));
	l->heads_at = at, at += rounded(l->buckets * 4ull);
	l->valid_at = at, at += rounded(l->sets * 4ull);
	l->tree_at = at, at += tlb->replacement == REPLACE_PLRU ? rounded(n) : 0;
	return at;
}

uint64_t tlbs_bytes(const struct machine *machine)
{
	uint64_t bytes = rounded(sizeof(struct tlbs)) + 2 * HINTS * 4;
	for (unsigned i = 0; i < machine->n_tlbs; i++) {
		struct tlb_level l;
		bytes += level_layout(&l, &machine->tlbs[i]);
	}
	return bytes;
}

static bool takes(const struct tlb_level *l, uint32_t shift) { return !l->page_shift || l->page_shift == shift; }

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

struct tlbs *tlbs_init(void *memory, const struct machine *machine, const struct tlb_map *map)
{
	struct tlbs *t = memory;
	uint64_t at = rounded(sizeof(*t));
	t->map = map;
	t->page_shift = (uint8_t)tlb_ordinary(map);
	t->recency = &t->own_recency;
	t->n = machine->n_tlbs;
	t->no_filters = machine->no_filters;
	t->first[TLB_DATA] = machine->first_data_tlb;
	t->first[TLB_FETCH] = machine->first_instruction_tlb;
	for (unsigned side = 0; side < 2; side++) {
		t->hints_at[side] = at, at += HINTS * 4;
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
		l->lru_fast = l->set_mask_works &&
			      (l->replacement == REPLACE_LRU || l->replacement == REPLACE_FIFO) &&
			      l->ways <= 256 && !t->no_filters;
		l->vectors = l->lru_fast && l->ways >= VECTORS_LEAST && !(l->ways & 7) &&
			     vectors_here() == VECTORS_AVX512;
	}
	for (unsigned side = 0; side < 2; side++)
		t->lru_fast[side] = begin_lru_fast(t, side);
	return t;
}

uint64_t tlbs_first_entries(const struct machine *machine)
{
	const uint8_t firsts[2] = {machine->first_data_tlb, machine->first_instruction_tlb};
	uint64_t n = 0;
	for (unsigned side = 0; side < 2; side++)
		if (firsts[side] != MACHINE_NONE && !(side && firsts[0] == firsts[1]))
			n += (uint64_t)machine->tlbs[firsts[side]].sets * machine->tlbs[firsts[side]].ways;
	return n;
}

unsigned tlbs_occupied_shift(const struct machine *machine, unsigned shift)
{
	const uint8_t firsts[2] = {machine->first_data_tlb, machine->first_instruction_tlb};
	unsigned page = machine->page_bytes ? log2_up(machine->page_bytes) : TLB_PAGE_SHIFT;
	for (unsigned side = 0; side < 2; side++) {
		unsigned of = firsts[side] == MACHINE_NONE
				      ? 0
				      : page - 6 + log2_up(machine->tlbs[firsts[side]].pages_per_entry);
		shift = of > shift ? of : shift;
	}
	return shift;
}

void tlbs_time(struct tlbs *t, const struct filter *filter, uint64_t *recency)
{
	uint32_t next = 0;
	t->filter = filter;
	t->recency = recency;
	for (unsigned side = 0; side < 2; side++) {
		struct tlb_level *l;
		if (t->first[side] == MACHINE_NONE)
			continue;
		l = level_of(t, t->first[side]);
		if (!l->touched) {
			l->first_page = next;
			l->touched = filter->pages + next;
			next += l->sets * l->ways;
			if (l->replacement == REPLACE_LRU)
				l->stamps = l->touched;
		}
	}
}

/* ---- one level ---- */

static uint32_t bucket_of(const struct tlb_level *l, uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull) >> 32 & (l->buckets - 1);
}

/* No jump depends on what is held. */
static inline __attribute__((always_inline)) uint32_t find_way(const uint64_t *keys, uint32_t ways, uint64_t key)
{
	uint32_t found = NO_ENTRY;
#pragma GCC unroll 16
	for (uint32_t way = 0; way < ways; way++)
		found = keys[way] == key ? way : found;
	return found;
}

static inline uint32_t find(struct tlb_level *l, uint64_t key, uint32_t set)
{
	const uint64_t *keys = keys_of(l);
	uint32_t way, first = set * l->ways;
	if (l->buckets) {
		const struct tlb_entry *entries = entries_of(l);
		for (uint32_t e = heads_of(l)[bucket_of(l, key)]; e; e = entries[e - 1].chain)
			if (keys[e - 1] == key)
				return e - 1;
		return NO_ENTRY;
	}
	keys += first;
	if (l->ways == 4)
		way = find_way(keys, 4, key);
	else if (l->ways == 12)
		way = find_way(keys, 12, key);
	else if (l->ways == 8)
		way = find_way(keys, 8, key);
	else
		way = find_way(keys, l->ways, key);
	return way == NO_ENTRY ? NO_ENTRY : first + way;
}

static void unchain(struct tlb_level *l, uint32_t e)
{
	struct tlb_entry *entries = entries_of(l);
	uint32_t *link = &heads_of(l)[bucket_of(l, keys_of(l)[e])];
	while (*link != e + 1)
		link = &entries[*link - 1].chain;
	*link = entries[e].chain;
}

/* Tree-PLRU: node n's children are 2n and 2n + 1; a node says which half to replace next: 0 the lower ways. */
static void tree_touch(uint8_t *tree, uint32_t ways, uint32_t way)
{
	for (uint32_t node = 1, half = ways / 2; half; half /= 2) {
		unsigned upper = (way & half) != 0;
		tree[node] = !upper;
		node = 2 * node + upper;
	}
}

static uint32_t tree_victim(const uint8_t *tree, uint32_t ways)
{
	uint32_t node = 1;
	while (node < ways)
		node = 2 * node + tree[node];
	return node - ways;
}

static uint64_t xorshift64s(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
	*state = x;
	return x * 2685821657736338717ull;
}

/* Recorded hits, in their order. */
static void settle_tree(struct tlb_level *l, uint32_t set)
{
	uint64_t *touched = l->touched ? l->touched + set * l->ways : NULL;
	for (;;) {
		uint32_t next = 0;
		for (uint32_t way = 1; touched && way < l->ways; way++) /* 0, no hit, is the latest of all */
			if (touched[way] - 1 < touched[next] - 1)
				next = way;
		if (!touched || !touched[next])
			return;
		touched[next] = 0;
		tree_touch(tree_of(l) + (uint64_t)set * l->ways, l->ways, next);
	}
}

/* A hit, or a fill: recency moves. `filled`: FIFO's order is that of fills. */
static void touch(struct tlbs *t, struct tlb_level *l, uint32_t e, uint32_t set, bool filled)
{
	if (l->replacement == REPLACE_LRU || (filled && l->replacement == REPLACE_FIFO)) {
		l->stamps[e] = ++*t->recency;
	} else if (l->replacement == REPLACE_PLRU) {
		settle_tree(l, set);
		tree_touch(tree_of(l) + (uint64_t)set * l->ways, l->ways, e - set * l->ways);
	}
}

static inline uint32_t oldest(const struct tlb_level *l, const uint64_t *stamps)
{
	uint32_t least = 0;
	if (l->ways == 4)
		return lines_least(stamps, 4);
	if (l->ways == 12)
		return lines_least(stamps, 12);
	if (l->vectors)
		return vectors_least(stamps, l->ways);
	if (l->ways <= 256)
		return lines_least(stamps, l->ways);
	for (uint32_t way = 1; way < l->ways; way++)
		least = stamps[way] < stamps[least] ? way : least;
	return least;
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
	case REPLACE_PLRU: settle_tree(l, set); return base + tree_victim(tree_of(l) + base, l->ways);
	case REPLACE_RANDOM: return base + (uint32_t)((xorshift64s(&l->random) >> 32) * l->ways >> 32);
	default: /* LRU and FIFO: machine_check() lets no other through */
		return base + oldest(l, l->stamps + base);
	}
}

static uint32_t set_of(const struct tlb_level *l, uint64_t unit)
{
	return l->set_mask_works ? unit & (l->sets - 1) : unit % l->sets;
}

/* Not 0: the size is in it. */
static uint64_t key_of(uint64_t unit, uint32_t shift) { return unit << 6 | shift; }

static inline void leave(struct tlbs *t, struct tlb_level *l, uint32_t e)
{
	const struct tlb_entry *entry = &entries_of(l)[e];
	if (l->buckets)
		unchain(l, e);
	if (l->touched)
		filter_clear_pages(t->filter, entry->start, entry->bytes, l->first_page + e);
}

/* Another translation is in its place. */
static inline void enter(struct tlb_level *l, uint32_t e, uint64_t key, uint64_t start, uint64_t bytes,
			 uint32_t shift, uint8_t first_of)
{
	struct tlb_entry *entry = &entries_of(l)[e];
	uint32_t chain = 0;
	keys_of(l)[e] = key;
	if (l->buckets) {
		uint32_t *head = &heads_of(l)[bucket_of(l, key)];
		chain = *head;
		*head = e + 1;
	}
	*entry = (struct tlb_entry){
		.start = start, .bytes = bytes, .chain = chain, .shift = (uint8_t)shift, .first_of = first_of};
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

/* ---- ordinary pages, when there are no others: LRU and FIFO, where the set of a page is some of its bits ---- */

/* The page in a level that does not have it: in the place of the one of the least stamp; empty ones have 0. */
static inline uint32_t enter_lru_fast(struct tlbs *t, struct tlb_level *l, uint64_t unit, uint32_t set,
				      uint64_t now)
{
	uint32_t e = set * l->ways + oldest(l, l->stamps + set * l->ways), shift = t->page_shift + l->pair_shift;
	if (keys_of(l)[e])
		leave(t, l, e);
	else
		valid_of(l)[set]++;
	enter(l, e, key_of(unit, t->page_shift), unit << shift, 1ull << shift, t->page_shift, l->first_of);
	l->stamps[e] = now;
	return e;
}

/* The levels from i on, of a page that those before it do not have. */
static inline void ask_lru_fast(struct tlbs *t, unsigned i, uint64_t address, enum model_tlb_count kind,
				struct model_counts *counts)
{
	while (i < t->n) {
		struct tlb_level *l = level_of(t, i);
		if (takes(l, t->page_shift)) {
			uint64_t unit = address >> (t->page_shift + l->pair_shift), now = ++*t->recency;
			uint32_t set = unit & (l->sets - 1), e = find(l, key_of(unit, t->page_shift), set);
			counts->tlb[i][kind]++;
			if (e != NO_ENTRY) {
				if (l->replacement == REPLACE_LRU)
					l->stamps[e] = now;
				return;
			}
			counts->tlb[i][kind + (TLB_READ_MISSES - TLB_READS)]++;
			enter_lru_fast(t, l, unit, set, now);
		}
		i = l->next;
	}
}

/* Of tlbs_page(), the access itself not counted. */
static inline uint32_t page_lru_fast(struct tlbs *t, enum tlb_side side, uint64_t address,
				     enum model_tlb_count kind, struct model_counts *counts)
{
	struct tlb_level *l = level_of(t, t->first[side]);
	uint64_t unit = address >> (t->page_shift + l->pair_shift), now = ++*t->recency;
	uint32_t set = unit & (l->sets - 1), e = find(l, key_of(unit, t->page_shift), set);
	if (e != NO_ENTRY) {
		l->touched[e] = now;
		return l->first_page + e;
	}
	counts->tlb[t->first[side]][kind + (TLB_READ_MISSES - TLB_READS)]++;
	e = enter_lru_fast(t, l, unit, set, now);
	ask_lru_fast(t, l->next, address, kind, counts);
	return l->first_page + e;
}

/* ---- along the levels ---- */

static uint32_t hint_of(uint64_t address)
{
	uint64_t page = address >> TLB_PAGE_SHIFT;
	return (page ^ page >> 10) & (HINTS - 1);
}

/* One page, the long way. absent: it is known not to be in the first TLB that takes it. */
static uint64_t page_access(struct tlbs *t, unsigned side, uint64_t address, uint32_t shift,
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
		hints_of(t, side)[hint_of(address)] = first << 28 | first_entry;
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
		done += page_access(t, kind == TLB_FETCHES ? TLB_FETCH : TLB_DATA, address, shift, kind, counts,
				    &entry, false);
		here = here < left ? here : left;
		address += here;
		left -= here;
	}
	return done;
}

/* The entry of the page that the address is in, if the guess of the side is right. */
static struct tlb_entry *guessed(struct tlbs *t, unsigned side, uint64_t address, struct tlb_level **level,
				 uint32_t *number)
{
	/* 0 is a guess like any other: an empty entry translates no byte */
	uint32_t guess = hints_of(t, side)[hint_of(address)];
	struct tlb_entry *entry;
	*number = guess & 0xfffffff;
	*level = level_of(t, guess >> 28);
	entry = &entries_of(*level)[*number];
	return (address ^ entry->start) < entry->bytes && entry->first_of >> side & 1 ? entry : NULL;
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

/* Of the first TLB, which takes pages of that size. */
static uint32_t find_first(struct tlb_level *l, uint64_t address, uint32_t shift)
{
	uint64_t unit = address >> (shift + l->pair_shift);
	return find(l, key_of(unit, shift), set_of(l, unit));
}

uint32_t tlbs_entry(struct tlbs *t, enum tlb_side side, uint64_t address)
{
	struct tlb_level *l = level_of(t, t->first[side]);
	uint32_t shift = t->map ? tlb_map_shift(t->map, address) : t->page_shift, e;
	if (!takes(l, shift))
		return TLB_PASSED;
	e = find_first(l, address, shift);
	return e == NO_ENTRY ? FILTER_PAGES : l->first_page + e;
}

uint32_t tlbs_page(struct tlbs *t, uint64_t address, enum model_tlb_count kind, struct model_counts *counts,
		   bool *counted)
{
	enum tlb_side side = kind == TLB_FETCHES ? TLB_FETCH : TLB_DATA;
	struct tlb_level *l = level_of(t, t->first[side]);
	uint32_t shift, e;
	bool passed;
	*counted = false;
	if (t->lru_fast[side] && !(t->map && t->map->count))
		return page_lru_fast(t, side, address, kind, counts);
	shift = t->map ? tlb_map_shift(t->map, address) : t->page_shift;
	passed = !takes(l, shift);
	if (passed && side == TLB_DATA)
		return TLB_PASSED;
	if (!passed && (e = find_first(l, address, shift)) != NO_ENTRY) {
		l->touched[e] = ++*t->recency;
		return l->first_page + e;
	}
	page_access(t, side, address, shift, kind, counts, &e, !passed);
	*counted = true;
	return passed ? TLB_PASSED : l->first_page + e;
}

bool tlbs_by_units(const struct machine *machine, const struct tlb_map *map)
{
	for (uint32_t size = 0; size <= map->count; size++) {
		uint32_t shift = size ? map->regions[size - 1].shift : tlb_ordinary(map);
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

/* ---- page sizes ---- */

uint32_t tlb_map_shift(const struct tlb_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (address >= map->regions[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->count && address >= map->regions[low].start ? map->regions[low].shift
								      : tlb_ordinary(map);
}

static uint32_t append(struct tlb_region *to, uint32_t n, uint64_t start, uint64_t end, uint32_t shift,
		       uint32_t ordinary)
{
	uint64_t page = 1ull << shift;
	start = (start + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (start >= end || shift <= ordinary)
		return n;
	if (n && to[n - 1].end == start && to[n - 1].shift == shift)
		to[n - 1].end = end;
	else
		to[n++] = (struct tlb_region){start, end, shift, 0};
	return n;
}

bool tlb_map_set(struct tlb_map *map, uint64_t start, uint64_t length, uint64_t page_bytes)
{
	/* what is left of the old ones in front, the new one, what is left behind: at most two more than before */
	struct tlb_region now[TLB_REGIONS + 2];
	uint64_t end = start + length;
	uint32_t n = 0, shift = page_bytes ? log2_up(page_bytes) : 0, ordinary = tlb_ordinary(map);
	if (end < start || shift < TLB_PAGE_SHIFT || shift > 40 || page_bytes & (page_bytes - 1)) {
		map->dropped++;
		return false;
	}
	uint32_t i = 0;
	for (; i < map->count && map->regions[i].start < start; i++) {
		const struct tlb_region *r = &map->regions[i];
		n = append(now, n, r->start, r->end < start ? r->end : start, r->shift, ordinary);
	}
	n = append(now, n, start, end, shift, ordinary);
	for (i = i ? i - 1 : 0; i < map->count; i++) {
		const struct tlb_region *r = &map->regions[i];
		if (r->end > end)
			n = append(now, n, r->start > end ? r->start : end, r->end, r->shift, ordinary);
	}
	if (n > TLB_REGIONS) {
		map->dropped++;
		return false;
	}
	for (i = 0; i < n; i++)
		map->regions[i] = now[i];
	map->count = n;
	return true;
}
