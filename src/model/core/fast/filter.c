/*
 * Clearing the filter's tables: see filter.h, 1.
 *
 * Equals   no plain file has a filter
 * For      as filter.h
 * Test     tests/model/reference_test.c, tests/model/inline_test.c, tests/unit/model_tlb_test.c
 */
#include "model/core/fast/filter.h"

struct eight_entries {
	uint64_t entries[8];
}; /* that many stores of vectors a page take less long */

void filter_clear_all(const struct filter *filter)
{
	for (uint32_t i = 0; filter->table && i < 1u << FILTER_BITS; i++)
		filter->table[i] = 0;
	for (uint32_t i = 0; filter->table && i < 2 << FILTER_PAGE_BITS; i++)
		filter->page_table[i] = 0;
	if (filter->data) {
		for (uint32_t i = 0; i < 1u << INLINE_DATA_BITS; i++)
			filter->data[i].line = INLINE_NOTHING;
		for (uint32_t i = 0; i < 1u << INLINE_FETCH_BITS; i++)
			filter->fetch[i].tag = 0;
	}
}

void inline_clear(const struct filter *filter, uint64_t address, uint64_t bytes, unsigned sides)
{
	for (uint64_t line = address; line < address + bytes; line += 1ull << filter->shift) {
		if (sides & 1)
			inline_clear_data(filter, line);
		if (sides & 2)
			inline_clear_fetch(filter, line);
	}
}

/* Of the bytes that a TLB's entry translates: what occupied[] names. */
static void inline_clear_page(const struct filter *filter, uint64_t address, uint64_t bytes, uint64_t *occupied)
{
	uint64_t entry = address & ~((64ull << filter->occupied_shift) - 1), step = 1ull << filter->shift,
		 piece = 1ull << filter->occupied_shift;
	for (uint64_t of = occupied[0]; of; of &= of - 1) {
		uint64_t line = entry + ((uint64_t)__builtin_ctzll(of) << filter->occupied_shift),
			 end = line + piece;
		do
			inline_clear_data(filter, line);
		while ((line += step) < end);
	}
	for (uint64_t of = occupied[1]; of; of &= of - 1) {
		uint64_t line = entry + ((uint64_t)__builtin_ctzll(of) << filter->occupied_shift),
			 end = line + piece;
		do
			inline_clear_fetch(filter, line);
		while ((line += step) < end);
	}
	occupied[0] = occupied[1] = 0;
	for (uint64_t at = address; at < address + bytes; at += 4096)
		*filter_page(filter, 0, at) = *filter_page(filter, 1, at) = 0;
}

void filter_clear_pages(const struct filter *filter, uint64_t address, uint64_t bytes, uint32_t page)
{
	if (filter->data && bytes <= 64ull << filter->occupied_shift) {
		inline_clear_page(filter, address, bytes, &filter->occupied[2 * page]);
		return;
	}
	if (bytes >> filter->shift >= 1u << (filter->data ? INLINE_FETCH_BITS : FILTER_BITS)) {
		filter_clear_all(filter);
		return;
	}
	if (filter->data) {
		inline_clear(filter, address, bytes, 3);
	} else if (bytes >> filter->shift < 8) {
		filter_clear(filter, address, bytes, 3);
	} else {
		struct eight_entries *piece = (struct eight_entries *)&filter
						      ->table[filter_index(address, filter->shift)],
				     *end = piece + (bytes >> filter->shift) / 8;
		while (piece < end)
			*piece++ = (struct eight_entries){0};
	}
	for (uint64_t at = address; at < address + bytes; at += 4096)
		*filter_page(filter, 0, at) = *filter_page(filter, 1, at) = 0;
}
