/* TLBs, slow and plain: every way is looked at, every use has a time, page sizes are found by going through all that was ever said about
   them. Shares nothing with src/model/core but the declaration of a machine. */
#ifndef TARE_TESTS_MODEL_TLB_REFERENCE_H
#define TARE_TESTS_MODEL_TLB_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/counts.h"
#include "model/core/machine.h"

struct ref_way {
	bool valid;
	uint64_t unit, page_bytes, used, filled;
};

struct ref_tlb {
	const struct machine_tlb *is;
	struct ref_way *ways; /* [set * ways + way] */
	bool *right_next; /* PLRU: [set * ways + node], node 1 the root: the half to replace next is the upper one */
	uint64_t random;
};

struct ref_said {
	uint64_t start, end, page_bytes;
};

struct ref_tlbs {
	const struct machine *machine;
	struct ref_tlb tlb[MACHINE_TLBS];
	struct model_counts counts;
	uint64_t now;
	struct ref_said said[512];
	unsigned n_said;
};

static void ref_tlbs_begin(struct ref_tlbs *r, const struct machine *machine)
{
	memset(r, 0, sizeof(*r));
	r->machine = machine;
	for (unsigned i = 0; i < machine->n_tlbs; i++) {
		struct ref_tlb *t = &r->tlb[i];
		size_t n = (size_t)machine->tlbs[i].sets * machine->tlbs[i].ways;
		t->is = &machine->tlbs[i];
		t->ways = calloc(n, sizeof(*t->ways));
		t->right_next = calloc(n + 1, 1);
		t->random = machine->seed + i * 0x9e3779b97f4a7c15ull;
	}
}

static void ref_tlbs_end(struct ref_tlbs *r)
{
	for (unsigned i = 0; i < r->machine->n_tlbs; i++)
		free(r->tlb[i].ways), free(r->tlb[i].right_next);
}

static uint64_t ref_ordinary(const struct ref_tlbs *r)
{
	return r->machine->page_bytes ? r->machine->page_bytes : 4096;
}

/* The last to speak of an address decides, if a whole page of that size fits what it said and nobody spoke of a part of it since. */
static uint64_t ref_page_bytes(const struct ref_tlbs *r, uint64_t address)
{
	for (unsigned i = r->n_said; i-- > 0;) {
		const struct ref_said *s = &r->said[i];
		if (address < s->start || address >= s->end)
			continue;
		if (s->page_bytes <= ref_ordinary(r))
			return ref_ordinary(r);
		uint64_t from = address / s->page_bytes * s->page_bytes, to = from + s->page_bytes;
		if (from < s->start || to > s->end)
			return ref_ordinary(r);
		for (unsigned later = i + 1; later < r->n_said; later++)
			if (r->said[later].start < to && r->said[later].end > from)
				return ref_ordinary(r);
		return s->page_bytes;
	}
	return ref_ordinary(r);
}

static void ref_pages(struct ref_tlbs *r, uint64_t start, uint64_t length, uint64_t page_bytes)
{
	r->said[r->n_said++] = (struct ref_said){start, start + length, page_bytes};
	for (unsigned i = 0; i < r->machine->n_tlbs; i++) {
		const struct machine_tlb *is = r->tlb[i].is;
		for (unsigned w = 0; w < is->sets * is->ways; w++) {
			struct ref_way *way = &r->tlb[i].ways[w];
			uint64_t bytes = way->page_bytes * is->pages_per_entry, from = way->unit * bytes;
			if (way->valid && from < start + length && from + bytes > start)
				memset(way, 0, sizeof(*way));
		}
	}
}

static void ref_point_away(bool *nodes, unsigned node, unsigned low, unsigned high, unsigned way)
{
	unsigned middle = (low + high) / 2;
	if (high - low < 2)
		return;
	nodes[node] = way < middle;
	if (way < middle)
		ref_point_away(nodes, 2 * node, low, middle, way);
	else
		ref_point_away(nodes, 2 * node + 1, middle, high, way);
}

static unsigned ref_follow(const bool *nodes, unsigned node, unsigned low, unsigned high)
{
	if (high - low < 2)
		return low;
	return nodes[node] ? ref_follow(nodes, 2 * node + 1, (low + high) / 2, high)
			   : ref_follow(nodes, 2 * node, low, (low + high) / 2);
}

/* One page in one TLB: hit? */
static bool ref_tlb_access(struct ref_tlbs *r, struct ref_tlb *t, uint64_t address, uint64_t page_bytes)
{
	unsigned n = t->is->ways, chosen = n;
	uint64_t unit = address / page_bytes / t->is->pages_per_entry;
	struct ref_way *set = t->ways + unit % t->is->sets * n;
	bool *nodes = t->right_next + unit % t->is->sets * n;
	r->now++;
	for (unsigned w = 0; w < n; w++) {
		if (!set[w].valid || set[w].unit != unit || set[w].page_bytes != page_bytes)
			continue;
		set[w].used = r->now;
		if (t->is->replacement == REPLACE_PLRU)
			ref_point_away(nodes, 1, 0, n, w);
		return true;
	}
	for (unsigned w = n; w-- > 0;)
		if (!set[w].valid)
			chosen = w;
	if (chosen == n && t->is->replacement == REPLACE_RANDOM) {
		t->random ^= t->random >> 12;
		t->random ^= t->random << 25;
		t->random ^= t->random >> 27;
		chosen = (unsigned)(((t->random * 2685821657736338717ull) >> 32) * n >> 32);
	} else if (chosen == n && t->is->replacement == REPLACE_PLRU) {
		chosen = ref_follow(nodes, 1, 0, n);
	} else if (chosen == n) {
		chosen = 0;
		for (unsigned w = 1; w < n; w++)
			if (t->is->replacement == REPLACE_LRU ? set[w].used < set[chosen].used
							      : set[w].filled < set[chosen].filled)
				chosen = w;
	}
	set[chosen] = (struct ref_way){true, unit, page_bytes, r->now, r->now};
	if (t->is->replacement == REPLACE_PLRU)
		ref_point_away(nodes, 1, 0, n, chosen);
	return false;
}

static void ref_tlbs_access(struct ref_tlbs *r, uint64_t address, uint64_t bytes, enum model_tlb_count kind)
{
	uint64_t at = address, end = address + bytes;
	while (at < end) {
		uint64_t page_bytes = ref_page_bytes(r, at);
		unsigned i = kind == TLB_FETCHES ? r->machine->first_instruction_tlb : r->machine->first_data_tlb;
		for (; i != MACHINE_NONE; i = r->tlb[i].is->next) {
			if (r->tlb[i].is->page_bytes && r->tlb[i].is->page_bytes != page_bytes)
				continue;
			r->counts.tlb[i][kind]++;
			if (ref_tlb_access(r, &r->tlb[i], at, page_bytes))
				break;
			r->counts.tlb[i][kind - TLB_READS + TLB_READ_MISSES]++;
		}
		at = (at / page_bytes + 1) * page_bytes;
	}
}

#endif
