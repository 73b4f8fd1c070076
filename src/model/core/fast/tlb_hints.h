/*
 * Guesses which entry translates a page: "this 4 KB of the address space: that entry of the first TLB that takes
 * it". A guess is checked against the entry, so a wrong one costs a look-up and changes nothing.
 *
 * Equals   tlb_page_access() of tlb/tlb.c where the page is in the first TLB that takes it
 * For      all machines, unless the run is without filters
 * Test     tests/unit/model_tlb_test.c (with filters and without), tests/model/reference_test.c
 */
#ifndef TARE_MODEL_CORE_FAST_TLB_HINTS_H
#define TARE_MODEL_CORE_FAST_TLB_HINTS_H

#include "model/core/tlb/level.h"

#define TLB_HINTS 1024

static inline uint32_t *hints_of(struct tlbs *t, unsigned side)
{
	return (uint32_t *)((char *)t + t->hints_at[side]);
}

static inline uint32_t hint_of(uint64_t address)
{
	uint64_t page = address >> TLB_PAGE_SHIFT;
	return (page ^ page >> 10) & (TLB_HINTS - 1);
}

/* The entry of the page that the address is in, if the guess of the side is right. */
static inline struct tlb_entry *guessed(struct tlbs *t, unsigned side, uint64_t address, struct tlb_level **level,
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

/* The page is at that entry of level `first`. */
static inline void hint_set(struct tlbs *t, unsigned side, uint64_t address, unsigned first, uint32_t entry)
{
	hints_of(t, side)[hint_of(address)] = first << 28 | entry;
}

#endif
