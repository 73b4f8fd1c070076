/* The table of what is held: see hits.h. */
#include "model/core/fast/hits.h"

struct eight_entries { uint64_t entries[8]; }; /* that many stores of vectors a page take less long */

void hits_clear_all(const struct hits *hits)
{
	for (uint32_t i = 0; hits->table && i < 1u << HITS_BITS; i++)
		hits->table[i] = 0;
	for (uint32_t i = 0; hits->table && i < 2 << HITS_PAGE_BITS; i++)
		hits->page_table[i] = 0;
	if (hits->data) {
		for (uint32_t i = 0; i < 1u << INLINE_DATA_BITS; i++)
			hits->data[i].line = INLINE_NOTHING;
		for (uint32_t i = 0; i < 1u << INLINE_FETCH_BITS; i++)
			hits->fetch[i].tag = 0;
	}
}

void inline_clear(const struct hits *hits, uint64_t address, uint64_t bytes, unsigned sides)
{
	for (uint64_t line = address; line < address + bytes; line += 1ull << hits->shift) {
		if (sides & 1)
			inline_clear_data(hits, line);
		if (sides & 2)
			inline_clear_fetch(hits, line);
	}
}

/* Of the bytes that a TLB's entry translates: what noted[] names. */
static void inline_clear_page(const struct hits *hits, uint64_t address, uint64_t bytes, uint64_t *noted)
{
	uint64_t entry = address & ~((64ull << hits->noted_shift) - 1), step = 1ull << hits->shift, part = 1ull << hits->noted_shift;
	for (uint64_t of = noted[0]; of; of &= of - 1) {
		uint64_t line = entry + ((uint64_t)__builtin_ctzll(of) << hits->noted_shift), end = line + part;
		do
			inline_clear_data(hits, line);
		while ((line += step) < end);
	}
	for (uint64_t of = noted[1]; of; of &= of - 1) {
		uint64_t line = entry + ((uint64_t)__builtin_ctzll(of) << hits->noted_shift), end = line + part;
		do
			inline_clear_fetch(hits, line);
		while ((line += step) < end);
	}
	noted[0] = noted[1] = 0;
	for (uint64_t at = address; at < address + bytes; at += 4096)
		*hits_page(hits, 0, at) = *hits_page(hits, 1, at) = 0;
}

void hits_clear_pages(const struct hits *hits, uint64_t address, uint64_t bytes, uint32_t page)
{
	if (hits->data && bytes <= 64ull << hits->noted_shift) {
		inline_clear_page(hits, address, bytes, &hits->noted[2 * page]);
		return;
	}
	if (bytes >> hits->shift >= 1u << (hits->data ? INLINE_FETCH_BITS : HITS_BITS)) {
		hits_clear_all(hits);
		return;
	}
	if (hits->data) {
		inline_clear(hits, address, bytes, 3);
	} else if (bytes >> hits->shift < 8) {
		hits_clear(hits, address, bytes, 3);
	} else {
		struct eight_entries *piece = (struct eight_entries *)&hits->table[hits_index(address, hits->shift)], *end = piece + (bytes >> hits->shift) / 8;
		while (piece < end)
			*piece++ = (struct eight_entries){ 0 };
	}
	for (uint64_t at = address; at < address + bytes; at += 4096)
		*hits_page(hits, 0, at) = *hits_page(hits, 1, at) = 0;
}
