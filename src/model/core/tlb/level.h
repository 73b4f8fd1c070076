/*
 * One TLB of a core: its translations in sets. For tlb.c and fast/tlb_filter.c only.
 *
 * A translation is found by its key (number of the page or pair, and the page's size): in a set of up to
 * TLB_SCANNED ways one by one, in a larger one (fully associative) by chains of a hash table. Recency is a time:
 * a hit stores one word, a replacement looks for the least. Both are exact at any associativity; only
 * replacements cost the number of ways.
 *
 * All memory is one piece, zeroed at first (tlbs_init()): the members NAME_at are offsets from the level's start.
 */
#ifndef TARE_MODEL_CORE_TLB_LEVEL_H
#define TARE_MODEL_CORE_TLB_LEVEL_H

#include "model/core/fast/timed_lines.h"
#include "model/core/cache/lines.h"
#include "model/core/tlb/tlb.h"

#define TLB_SCANNED 16
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
	bool lru_fast;    /* see fast/tlb_filter.c */
	bool vectors;     /* for vectors_least() */
	uint8_t unused[3];
	uint64_t random;
	uint64_t *touched; /* recorded hits' times; PLRU: 0, worked in. NULL: hits are not recorded */
	uint64_t *stamps;  /* LRU, FIFO: the smallest goes. LRU's are those touched */
	uint64_t keys_at, stamps_at, entries_at, heads_at, valid_at, tree_at; /* bytes from the level's start */
};

static inline uint64_t *keys_of(struct tlb_level *l) { return (uint64_t *)((char *)l + l->keys_at); }
static inline struct tlb_entry *entries_of(struct tlb_level *l)
{
	return (struct tlb_entry *)((char *)l + l->entries_at);
}
static inline uint32_t *heads_of(struct tlb_level *l) { return (uint32_t *)((char *)l + l->heads_at); }
static inline uint32_t *valid_of(struct tlb_level *l) { return (uint32_t *)((char *)l + l->valid_at); }
static inline uint64_t *tree_of(struct tlb_level *l, uint32_t set)
{
	return (uint64_t *)((char *)l + l->tree_at) + set;
}
static inline struct tlb_level *level_of(struct tlbs *t, unsigned i)
{
	return (struct tlb_level *)((char *)t + t->level_at[i]);
}

static inline uint32_t log2_up(uint64_t value)
{
	uint32_t bits = 0;
	while ((1ull << bits) < value)
		bits++;
	return bits;
}

/* Whether it holds pages of that size. */
static inline bool takes(const struct tlb_level *l, uint32_t shift)
{
	return !l->page_shift || l->page_shift == shift;
}

/* ---- finding ---- */

static inline uint32_t set_of(const struct tlb_level *l, uint64_t unit)
{
	return l->set_mask_works ? unit & (l->sets - 1) : unit % l->sets;
}

/* Not 0: the size is in it. */
static inline uint64_t key_of(uint64_t unit, uint32_t shift) { return unit << 6 | shift; }

static inline uint32_t bucket_of(const struct tlb_level *l, uint64_t key)
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

static inline void unchain(struct tlb_level *l, uint32_t e)
{
	struct tlb_entry *entries = entries_of(l);
	uint32_t *link = &heads_of(l)[bucket_of(l, keys_of(l)[e])];
	while (*link != e + 1)
		link = &entries[*link - 1].chain;
	*link = entries[e].chain;
}

/* ---- replacing ---- */

/* Which way of a set has the least of its times. */
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

/* A translation goes. */
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

/* tlb.c: one page, level by level. absent: it is known not to be in the first TLB that takes it. *entry: there, or
 * NO_ENTRY. Returns what tlbs_access() does. */
uint64_t tlb_page_access(struct tlbs *tlbs, unsigned side, uint64_t address, uint32_t shift,
			 enum model_tlb_count kind, struct model_counts *counts, uint32_t *entry, bool absent);

#endif
