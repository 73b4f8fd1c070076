/*
 * The first TLB of each side (data, fetches) under the filter (filter.h): a hit there is recorded as a time alone,
 * touched[entry], by the code that found the page in the filter. Here is what the filter asks of TLBs: which entry
 * has a page, and an access to a page that the filter does not have.
 *
 *     page ──► only ordinary pages, LRU or FIFO at all levels? ──yes──► find, else replace the least; the levels behind
 *                │ no                                                   (page_lru_fast())
 *                └─► in the first TLB? ──yes──► its time
 *                       │ no, or that TLB does not take pages of this size
 *                       └─► tlb_page_access()
 *
 * Equals   tlb_page_access() and fill() of tlb/tlb.c
 * For      tlbs_page() and tlbs_entry(): machines that can have a filter (filter_possible() in model.c).
 *          page_lru_fast(): those whose TLBs of ordinary pages all have LRU or FIFO, as long as the process has ordinary
 *          pages only
 * Test     tests/unit/model_tlb_test.c (one machine by tlbs_access(), the same by tlbs_page()),
 *          tests/model/reference_test.c
 */
#include "model/core/tlb/level.h"

/* ---- beginning ---- */

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

/* ---- ordinary pages, when there are no others: LRU and FIFO ---- */

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
			uint32_t set = set_of(l, unit), e = find(l, key_of(unit, t->page_shift), set);
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
	uint32_t set = set_of(l, unit), e = find(l, key_of(unit, t->page_shift), set);
	if (e != NO_ENTRY) {
		l->touched[e] = now;
		return l->first_page + e;
	}
	counts->tlb[t->first[side]][kind + (TLB_READ_MISSES - TLB_READS)]++;
	e = enter_lru_fast(t, l, unit, set, now);
	ask_lru_fast(t, l->next, address, kind, counts);
	return l->first_page + e;
}

/* ---- what the filter asks ---- */

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
	tlb_page_access(t, side, address, shift, kind, counts, &e, !passed);
	*counted = true;
	return passed ? TLB_PASSED : l->first_page + e;
}
