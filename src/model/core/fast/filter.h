/*
 * The filter: one table of what a core's first-level caches and first TLBs hold. An access whose granule and type
 * are in the table hits both, and all that such a hit changes is three stores, without a look at the cache or the
 * TLB.
 *
 *   terms   granule  an aligned piece of 1 << shift bytes: the smaller one of the two first-level caches' lines
 *           record   a word that stands for an access: address, type, flags
 *           way      of a first-level cache, numbered through both caches; page: likewise an entry of the first TLBs
 *           time     of the last use, from one counter of the core (core->recency), which never goes back
 *
 *     record ──► table[index] ──same tag──► touched[way] = time, pages[page] = time; a write: written[way] = 1
 *                     │ no
 *                     ▼
 *              looked up in cache and TLB; then inserted (filter_insert()), if its next hit is three stores
 *
 * What always holds:
 *  1. An entry names a granule and a type only while the granule's line is in the first-level cache at that way,
 *     and its page in the first TLB at that entry, both of the side that the type says, and another such access
 *     needs nothing but what filter_find() stores. Whatever takes a line or a page out, or makes it one that needs
 *     more (coherence), clears its entries first. A granule may be held and not be in the table.
 *  2. touched[] and pages[] are times of core->recency; a time is given once in each. LRU compares these times
 *     (cache/lines.c, tlb/level.h); other policies bring them into their own state before they look at a set.
 *     written[]: the line is dirty, whatever its entry says yet.
 *  3. An empty entry is 0, an inserted one never: see HIT_SIMPLE.
 *  4. Where generated code resolves accesses (inline.h) two other tables stand for that one, which is empty then:
 *     data[] for accesses where a write's hit needs no more than a read's, and fetch[]. What holds of entries
 *     holds of theirs.
 *
 * Equals   a hit of cache_access() (cache/hierarchy.c) and of tlbs_access() (tlb/tlb.c)
 * For      filter_possible() in model.c: private first-level caches that are not exclusive, of up to 256 ways, no
 *          classes of misses, and a run with filters
 * Test     tests/model/reference_test.c, tests/model/run_test.c, tests/unit/model_cache_test.c: with filters and
 *          without
 */
#ifndef TARE_MODEL_CORE_FAST_FILTER_H
#define TARE_MODEL_CORE_FAST_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/fast/inline.h"

#define FILTER_BITS 15    /* entries: at least 14, see filter_tag() */
#define FILTER_INDICES 24 /* bits of an entry that are a way and a TLB's entry */
#define FILTER_WAYS 13
/* ways of both first-level caches; the last one is nobody's: there is no cache */
#define FILTER_LINES (1u << FILTER_WAYS)
#define FILTER_PAGES (1u << (FILTER_INDICES - FILTER_WAYS)) /* likewise */
#define FILTER_PAGE_BITS 9                                  /* pages of 4 KB of each side */
#define FILTER_SHIFT_LEAST 5 /* log2 of a granule: tag and index together have the whole address */
#define FILTER_SHIFT_MOST 12

/*
 * A record: 56 bits of address, HIT_SIMPLE, the type, flags. One without HIT_SIMPLE (HIT_IRREGULAR) is never
 * found: an address above, a crossing of a line's end, a misaligned one, or an item that is not a simple access.
 */
#define HIT_ADDRESS ((1ull << 56) - 1)
#define HIT_SIMPLE (1ull << 56)
#define HIT_IRREGULAR (1ull << 55)
enum hit_type {
	HIT_FETCH,
	HIT_DATA,
	HIT_PAGE, /* a fetch's page alone */
	/* of data, where a write's hit may need more than a read's; an entry of this type is also good for
	 * reads */
	HIT_WRITE,
};
#define HIT_TYPE(type) ((uint64_t)(type) << 57)
#define HIT_TYPE_OF(record) ((record) >> 57 & 3)
#define HIT_REPEATS (1ull << 59) /* more than one access of that kind */
#define HIT_STEPS (1ull << 60)   /* no simple access; always irregular */
#define HIT_WRITES_FIRST (1ull << 62)
#define HIT_WRITES (1ull << 63) /* any of its accesses */

struct filter {
	uint64_t *table;            /* [1 << FILTER_BITS] */
	uint64_t *touched;          /* [FILTER_LINES] */
	uint64_t *pages;            /* [FILTER_PAGES] */
	uint8_t *written;           /* [2 * FILTER_LINES]: the lower half is for what does not write */
	uint64_t *page_table;       /* [2 << FILTER_PAGE_BITS]: of accesses whose granule is not in the table */
	struct inline_entry *data;  /* [1 << INLINE_DATA_BITS], or NULL: generated code resolves nothing */
	struct inline_fetch *fetch; /* [1 << INLINE_FETCH_BITS] */
	/* [2 * page (+ 1)] bit b: granules in the b-th 64th of a TLB's entry, of 4 KB pages, may be in data (in
	 * fetch) */
	uint64_t *occupied;
	uint8_t shift;          /* log2 of a granule: the smaller one of the two first-level caches' lines */
	uint8_t occupied_shift; /* log2 of such a 64th: a TLB with pairs of pages has entries of twice a page */
};

_Static_assert(FILTER_SHIFT_LEAST + FILTER_BITS >= 19, "see filter_tag()");

static inline uint32_t filter_index(uint64_t record, unsigned shift)
{
	return record >> shift & ((1u << FILTER_BITS) - 1);
}

/* What an entry has above the indices: HIT_SIMPLE, the type, and the address from bit 19 up; the index has those
 * below. */
static inline uint64_t filter_tag(uint64_t record) { return record << 5; }

/* Whether the table has it. */
static inline bool filter_has(const struct filter *filter, uint64_t record, unsigned shift, bool distinct_writes)
{
	uint64_t entry = filter->table[filter_index(record, shift)], differs = entry ^ filter_tag(record);
	if (distinct_writes)
		differs &= ~(entry & entry << 1 & 1ull << 63);
	return !(differs >> FILTER_INDICES);
}

/* A hit, in all that it changes. False: not in the table. distinct_writes: there may be records and entries of
 * HIT_WRITE. */
static inline bool filter_find(const struct filter *filter, uint64_t record, unsigned shift, uint64_t time,
			       bool distinct_writes)
{
	uint64_t entry = filter->table[filter_index(record, shift)], way = entry & (FILTER_LINES - 1);
	uint64_t differs = entry ^ filter_tag(record);
	if (distinct_writes) /* the upper bit of a type of data, 62 and 63 here, is more than a read needs */
		differs &= ~(entry & entry << 1 & 1ull << 63);
	if (__builtin_expect(differs >> FILTER_INDICES, 0))
		return false;
	filter->touched[way] = time;
	filter->pages[entry >> FILTER_WAYS & (FILTER_PAGES - 1)] = time;
	filter->written[way | record >> 63 << FILTER_WAYS] = 1;
	return true;
}

/* ---- for generated code ---- */

#define INLINE_DATA_BITS 12
#define INLINE_FETCH_BITS 12
_Static_assert(INLINE_FETCH_BITS + FILTER_SHIFT_LEAST + 32 >= 47, "tags hold addresses of user space");

static inline uint32_t inline_index(uint64_t address, unsigned shift)
{
	return address >> shift & ((1u << INLINE_DATA_BITS) - 1);
}

static inline uint32_t inline_fetch_index(uint64_t address, unsigned shift)
{
	return address >> shift & ((1u << INLINE_FETCH_BITS) - 1);
}

/* More than 32 bits: such an address is in no table. */
static inline uint64_t inline_tag(uint64_t address, unsigned shift)
{
	return (address >> shift >> INLINE_FETCH_BITS) + 1;
}

static inline void inline_insert(const struct filter *filter, uint64_t record, uint32_t way, uint32_t page)
{
	uint64_t address = record & HIT_ADDRESS, tag = inline_tag(address, filter->shift);
	filter->occupied[2 * page + (HIT_TYPE_OF(record) == HIT_FETCH)] |= 1ull
									   << (address >> filter->occupied_shift &
									       63);
	if (HIT_TYPE_OF(record) == HIT_DATA)
		filter->data[inline_index(address, filter->shift)] = (struct inline_entry){
			.line = address >> filter->shift << filter->shift, .way = way, .page = page};
	else if (HIT_TYPE_OF(record) == HIT_FETCH && tag <= UINT32_MAX)
		filter->fetch[inline_fetch_index(address, filter->shift)] = (struct inline_fetch){
			.tag = (uint32_t)tag, .way = (uint16_t)way, .page = (uint16_t)page};
}

/* filter_find() as generated code does it, of data. */
static inline bool inline_find(const struct filter *filter, uint64_t record, uint64_t time)
{
	uint64_t address = record & HIT_ADDRESS;
	const struct inline_entry *entry = &filter->data[inline_index(address, filter->shift)];
	if (entry->line != address >> filter->shift << filter->shift || HIT_TYPE_OF(record) != HIT_DATA)
		return false;
	filter->touched[entry->way] = filter->pages[entry->page] = time;
	filter->written[entry->way | record >> 63 << FILTER_WAYS] = 1;
	return true;
}

/* Others' entries stay; nothing is jumped by, as which are is hard to foresee. */
static inline void inline_clear_data(const struct filter *filter, uint64_t line)
{
	struct inline_entry *entry = &filter->data[inline_index(line, filter->shift)];
	entry->line = entry->line == line ? INLINE_NOTHING : entry->line;
}

static inline void inline_clear_fetch(const struct filter *filter, uint64_t line)
{
	struct inline_fetch *entry = &filter->fetch[inline_fetch_index(line, filter->shift)];
	entry->tag = entry->tag == inline_tag(line, filter->shift) ? 0 : entry->tag;
}

/* sides: 1 of accesses to data, 2 of fetches */
void inline_clear(const struct filter *filter, uint64_t address, uint64_t bytes, unsigned sides);

/* ---- */

static inline void filter_insert(const struct filter *filter, uint64_t record, uint32_t way, uint32_t page)
{
	if (filter->data)
		inline_insert(filter, record, way, page);
	else
		filter->table[filter_index(record, filter->shift)] = (filter_tag(record) >>
								      FILTER_INDICES << FILTER_INDICES) |
								     (uint64_t)page << FILTER_WAYS | way;
}

/* Likewise the page of an address, for one side's accesses (0: data): an entry of pages[]; FILTER_PAGES: not
 * known. */
static inline uint64_t *filter_page(const struct filter *filter, unsigned side, uint64_t address)
{
	return &filter->page_table[((address >> 12 ^ address >> 21) & ((1u << FILTER_PAGE_BITS) - 1)) |
				   side << FILTER_PAGE_BITS];
}

static inline uint32_t filter_find_page(const struct filter *filter, unsigned side, uint64_t address)
{
	uint64_t found = *filter_page(filter, side, address) ^ (address & ~4095ull) ^ FILTER_PAGES;
	return found < FILTER_PAGES ? (uint32_t)found : FILTER_PAGES;
}

static inline void filter_insert_page(const struct filter *filter, unsigned side, uint64_t address, uint32_t page)
{
	*filter_page(filter, side, address) = (address & ~4095ull) | FILTER_PAGES | page;
}

/* No granule of these bytes (a power of two, from a multiple of it) is in the table: of a line, or of pages that
 * leave a TLB. sides: see inline_clear() */
static inline void filter_clear(const struct filter *filter, uint64_t address, uint64_t bytes, unsigned sides)
{
	uint64_t *first = &filter->table[filter_index(address, filter->shift)],
		 *end = first + (bytes >> filter->shift);
	if (filter->data) {
		inline_clear(filter, address, bytes, sides);
		return;
	}
	do
		*first++ = 0;
	while (first < end);
}
/* page: of pages[], that they were */
void filter_clear_pages(const struct filter *filter, uint64_t address, uint64_t bytes, uint32_t page);
void filter_clear_all(const struct filter *filter);

#endif
