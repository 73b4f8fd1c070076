/* The table of what is held: see hits.h. */
#include "model/core/hits.h"

struct eight { uint64_t entries[8]; }; /* that many stores of vectors a page take less long */

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

/* Others' entries stay; nothing is jumped by, as which are is hard to foresee. bytes: no more than either table covers. */
void inline_clear(const struct hits *hits, uint64_t address, uint64_t bytes)
{
	uint64_t granules = bytes >> hits->shift, line = address;
	struct inline_entry *data = &hits->data[inline_index(address, hits->shift)];
	struct inline_fetch *fetch = &hits->fetch[inline_fetch_index(address, hits->shift)];
	uint64_t tag = inline_tag(address, hits->shift);
	for (uint64_t i = 0; i < granules; i++, line += 1ull << hits->shift) {
		data[i].line = data[i].line == line ? INLINE_NOTHING : data[i].line;
		fetch[i].tag = fetch[i].tag == tag ? 0 : fetch[i].tag;
	}
}

void hits_clear_pages(const struct hits *hits, uint64_t address, uint64_t bytes, uint32_t page)
{
	if (hits->data && bytes == 4096) {
		uint64_t noted = hits->noted[page], granule = 1ull << hits->shift;
		hits->noted[page] = 0;
		for (; noted; noted &= noted - 1)
			inline_clear(hits, address + 64 * (uint64_t)__builtin_ctzll(noted), granule < 64 ? 64 : granule);
		*hits_page(hits, 0, address) = *hits_page(hits, 1, address) = 0;
		return;
	}
	if (bytes >> hits->shift >= 1u << (hits->data ? INLINE_FETCH_BITS : HITS_BITS)) {
		hits_clear_all(hits);
		return;
	}
	if (hits->data) {
		inline_clear(hits, address, bytes);
	} else if (bytes >> hits->shift < 8) {
		hits_clear(hits, address, bytes);
	} else {
		struct eight *piece = (struct eight *)&hits->table[hits_index(address, hits->shift)], *end = piece + (bytes >> hits->shift) / 8;
		while (piece < end)
			*piece++ = (struct eight){ 0 };
	}
	for (uint64_t at = address; at < address + bytes; at += 4096)
		*hits_page(hits, 0, at) = *hits_page(hits, 1, at) = 0;
}
