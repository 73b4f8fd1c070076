/*
 * TLBs in the reference, by model/core/tlb/tlb.h's rules. A tag is an address divided by the bytes that an entry covers; page
 * sizes are kept apart by way.
 */
#include <stdlib.h>

#include "reference_internal.h"

void tlb_make(struct reference *r, struct sets *s, unsigned tlb)
{
	const struct machine_tlb *m = &r->machine.tlbs[tlb];
	sets_make(s, m->sets, m->ways, m->replacement, 2, r->machine.seed + tlb * UINT64_C(0x9e3779b97f4a7c15));
	s->scales = true;
}

/*
 * Only the machine's own pages and 2 MB. A large page is one whose whole aligned range was named so, and nothing of it otherwise
 * since.
 */
static uint64_t page_bytes_at(const struct reference *r, uint64_t address)
{
	uint64_t large = 2097152, first = address / large * large,
		 ordinary = r->machine.page_bytes ? r->machine.page_bytes : 4096;
	uint64_t page_bytes = ordinary;
	for (size_t i = 0; i < r->n_regions; i++) {
		const struct region *region = &r->regions[i];
		if (region->start >= first + large || region->end <= first)
			continue;
		page_bytes = region->page_bytes == large && region->start <= first && region->end >= first + large
				     ? large
				     : ordinary;
	}
	return page_bytes;
}

static void access_page(struct reference *r, unsigned core, uint64_t address, enum kind kind)
{
	static const uint8_t accesses[] = {TLB_READS, TLB_WRITES, TLB_FETCHES};
	static const uint8_t misses[] = {TLB_READ_MISSES, TLB_WRITE_MISSES, TLB_FETCH_MISSES};
	struct reference_core *k = &r->cores[core];
	uint64_t page_bytes = page_bytes_at(r, address);
	unsigned at = kind == FETCH ? r->machine.first_instruction_tlb : r->machine.first_data_tlb;
	for (; at != MACHINE_NONE; at = r->machine.tlbs[at].next) {
		const struct machine_tlb *m = &r->machine.tlbs[at];
		struct sets *s = &k->tlbs[at];
		uint64_t covers = page_bytes * m->pages_per_entry, number = address / covers;
		struct way *way = NULL, out;
		if (m->page_bytes && m->page_bytes != page_bytes)
			continue;
		k->counts.tlb[at][accesses[kind]]++;
		for (unsigned w = 0; w < m->ways; w++) {
			struct way *candidate = &s->ways[number % m->sets * m->ways + w];
			if (candidate->valid && candidate->tag == number && candidate->page_bytes == page_bytes)
				way = candidate;
		}
		if (way) {
			sets_touch(s, way);
			return;
		}
		k->counts.tlb[at][misses[kind]]++;
		sets_place(s, number, &out)->page_bytes = page_bytes;
	}
}

void tlb_access(struct reference *r, unsigned core, uint64_t address, uint32_t bytes, enum kind kind)
{
	uint64_t at = address, left = bytes;
	while (left) {
		uint64_t in_page = page_bytes_at(r, at) - at % page_bytes_at(r, at);
		access_page(r, core, at, kind);
		if (in_page > left)
			in_page = left;
		at += in_page;
		left -= in_page;
	}
}

void tlb_pages(struct reference *r, uint64_t start, uint64_t length, uint64_t page_bytes)
{
	r->regions = realloc(r->regions, (r->n_regions + 1) * sizeof(*r->regions));
	if (!r->regions)
		abort();
	r->regions[r->n_regions++] = (struct region){start, start + length, page_bytes};
	for (unsigned k = 0; k < r->n_cores; k++)
		for (unsigned t = 0; t < r->machine.n_tlbs && r->cores[k].exists; t++) {
			const struct machine_tlb *m = &r->machine.tlbs[t];
			struct sets *s = &r->cores[k].tlbs[t];
			for (size_t i = 0; i < (size_t)m->sets * m->ways; i++) {
				uint64_t covers = s->ways[i].page_bytes * m->pages_per_entry,
					 first = s->ways[i].tag * covers;
				if (s->ways[i].valid && first < start + length && first + covers > start)
					s->ways[i].valid = false;
			}
		}
}
