/*
 * The TLBs of one core: machine.tlbs[], walked from machine.first_data_tlb or first_instruction_tlb along `next`.
 *
 *     access ──► a guess which entry, checked? ──► lookup, level by level, filling what missed
 *                (one time moves)
 *
 * What always holds:
 *  1. An access counts once in a TLB for each page that it touches (pages, not entries: a pair of pages in one
 *     entry is two).
 *  2. A TLB that does not hold pages of the size at hand (machine_tlb.page_bytes) is passed through: neither
 *     access nor miss is counted there, the next one is asked. So a split first level (4 KB, 2 MB) is two TLBs in
 *     a row in front of the second level.
 *  3. The page sizes in force divide the address space: no two pages, hence no two entries of a TLB, overlap.
 *  4. Of a side's first TLB, hits may be recorded from outside, as times alone (fast/filter.h).
 *
 * Rules: a miss fills every level that missed (no inclusion, no exclusion: what one level evicts, others keep);
 * empty ways are filled first, lowest number first; index = number of the page (or pair) modulo sets; random:
 * xorshift64* (Vigna 2016), each TLB its own.
 */
#ifndef TARE_MODEL_CORE_TLB_TLB_H
#define TARE_MODEL_CORE_TLB_TLB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/counts.h"
#include "model/core/fast/filter.h"
#include "model/core/machine.h"
#include "model/core/options.h"

/* ---- which memory is in pages of which size: of a process, shared by its cores ---- */

#define TLB_RANGES 256
#define TLB_PAGE_SHIFT 12 /* of memory that no range names, where the machine does not say otherwise */

struct tlb_range {
	uint64_t start, end;
	uint32_t shift, unused;
}; /* both multiples of 1 << shift */

struct tlb_map { /* zeroed: 4 KB pages everywhere */
	uint32_t count;
	uint32_t dropped;       /* calls that tlb_map_set() had no room for: their memory kept the size it had */
	uint32_t shift, unused; /* log2 of an ordinary page: machine.page_bytes; 0: 4 KB */
	struct tlb_range ranges[TLB_RANGES]; /* ascending, disjoint, none of ordinary pages */
};

/* log2 of a page of memory that no range names. */
static inline uint32_t tlb_ordinary(const struct tlb_map *map)
{
	return map && map->shift ? map->shift : TLB_PAGE_SHIFT;
}

/*
 * From now on [start, start + length) is in pages of page_bytes (a power of two ≥ 4096, else the call is dropped);
 * larger pages only where a whole aligned one fits, the rest of the range becomes ordinary, as all of it does
 * where page_bytes is no more than that. Afterwards tlbs_forget() the range in every core. False: the table was
 * full, nothing changed, and `dropped` counts it.
 */
bool tlb_map_set(struct tlb_map *map, uint64_t start, uint64_t length, uint64_t page_bytes);

/* log2 of the size of the page that holds the address. */
uint32_t tlb_map_shift(const struct tlb_map *map, uint64_t address);

/* ---- the TLBs of a core ---- */

enum tlb_side { TLB_DATA, TLB_FETCH };

struct tlbs { /* tlb.c's */
	const struct tlb_map *map;
	const struct filter *filter; /* or NULL */
	uint64_t *recency, own_recency;
	uint8_t first[2], n, no_filters;
	bool lru_fast[2];   /* of a side: see page_lru_fast() */
	uint8_t page_shift; /* of ordinary pages */
	uint8_t unused;
	uint64_t level_at[MACHINE_TLBS]; /* of each TLB's state, in bytes from here */
	uint64_t hints_at[2];
};

/* Bytes of memory for one core's; a multiple of 64. */
uint64_t tlbs_bytes(const struct machine *machine);
/* memory: zeroed, 64-aligned. map outlives the TLBs, its ordinary pages the machine's; NULL: 4 KB pages
 * everywhere. */
struct tlbs *tlbs_init(void *memory, const struct machine *machine, const struct model_options *options,
		       const struct tlb_map *map);
/* All translations that overlap the range are dropped, uncounted, as the kernel does when it maps pages anew. */
void tlbs_forget(struct tlbs *tlbs, uint64_t start, uint64_t length);

/* What an access did, for watches: pages asked for and missed in TLB t. 5 bits each: an access touches at most 17
 * pages. */
#define TLB_ACCESSED(done, t) ((done) >> (32 + 5 * (t)) & 31)
#define TLB_MISSED(done, t) ((done) >> (5 * (t)) & 31)

/* kind: TLB_READS, TLB_WRITES or TLB_FETCHES; bytes: 1 … 65536. */
uint64_t tlbs_access(struct tlbs *tlbs, uint64_t address, uint32_t bytes, enum model_tlb_count kind,
		     struct model_counts *counts);

/* ---- hits that are recorded from outside ---- */

/* Entries of both sides' first TLBs. */
uint64_t tlbs_first_entries(const struct machine *machine);
/* log2 of a 64th of the first TLBs' larger entry, of ordinary pages; at least a granule (1 << shift). */
unsigned tlbs_occupied_shift(const struct machine *machine, unsigned shift);
/* Before the first access: those are filter->pages[0 …]; recency: the counter of which these times are. */
void tlbs_time(struct tlbs *tlbs, const struct filter *filter, uint64_t *recency);
/* Which of the side's has the page; nothing moves. FILTER_PAGES: none; TLB_PASSED: the first TLB does not hold
 * pages of that size. */
#define TLB_PASSED (FILTER_PAGES + 1)
uint32_t tlbs_entry(struct tlbs *tlbs, enum tlb_side side, uint64_t address);
/* An access to the page. Returns its entry then; *counted: it missed or passed the first TLB, and is counted.
 * TLB_PASSED of data: nothing was done. */
uint32_t tlbs_page(struct tlbs *tlbs, uint64_t address, enum model_tlb_count kind, struct model_counts *counts,
		   bool *counted);
/* Whether fetch units in a line are to be asked for one by one: there are pages, ordinary or of the map's sizes,
   that both sides ask the same TLB for first, or that pass the first TLB of fetches. */
bool tlbs_by_units(const struct machine *machine, const struct tlb_map *map);

#endif
