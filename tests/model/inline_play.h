/*
 * What generated code does with a block's accesses (model/core/fast/inline.h), played in C: as the contract's picture says.
 */
#ifndef TARE_TESTS_MODEL_INLINE_PLAY_H
#define TARE_TESTS_MODEL_INLINE_PLAY_H

#include <string.h>

#include "model/core/fast/inline.h"
#include "tap.h"
#include "walks.h"

enum { FS_BASE = 0x31000, NOT_SEQUENTIAL_BIT = 63 };
#define NOT_SEQUENTIAL (1ull << NOT_SEQUENTIAL_BIT)
#define NOT_FETCHED UINT64_MAX

/* What generated code is made of, and what it leaves: its own trace. Ordinary numbers + NUMBERS are the decided ones. */
struct played {
	struct simulated core;
	struct model_inline where;
	struct trace_block *blocks; /* [2 * NUMBERS] */
	struct trace_program templates;
	const struct program *program;
	struct inline_record records[BLOCKS][INLINE_RECORDS];
	int n_records[BLOCKS]; /* -1: no plan */
	bool planned[BLOCKS];
	bool again; /* a signal comes between a record and its instruction: it is done, and done again later */
	bool on;    /* false: given up, ordinary stream from here on */
	uint64_t behind, recency;
	unsigned fresh;   /* 1: no fetch has this time, 2: no access */
	uint64_t fetched; /* page of the last fetch, if nothing else than records was done since */
	uint64_t *trace;
	size_t filled;
	bool vectors, vectors_changed;
	bool merges; /* records in a row whose granules are one or two are touched as one or two */
	uint64_t done, found, merged,
		unplanned; /* records, of these not missed, not touched by themselves; blocks */
};

static void *at(struct played *p, uint32_t offset) { return (char *)p->core.core_memory[0] + offset; }

static void flush(struct played *p)
{
	model_run(p->core.model, 0, &p->templates, p->trace, p->filled, FS_BASE);
	p->filled = 0;
}

static void give_up(struct played *p)
{
	flush(p);
	model_inline_end(p->core.model, 0);
	p->on = false;
}

/* ---- a record, as the code does it ---- */

/* Sides that have nothing in common may share a time; a page that was fetched from last need not be touched again. */
static void found(struct played *p, bool fetch, uint32_t way, uint32_t page, bool writes, bool same_page)
{
	uint64_t *touched = at(p, p->where.touched), *pages = at(p, p->where.pages);
	unsigned side = p->where.skips ? 3 : fetch ? 1 : 2;
	if ((p->fresh & side) != side) {
		p->recency++;
		p->fresh = 3;
	}
	p->fresh &= ~side;
	touched[way] = p->recency;
	if (!same_page || p->where.skips)
		pages[page] = p->recency;
	if (writes)
		((uint8_t *)at(p, p->where.written))[way] = 1;
	p->found++;
}

/* The program's vector registers that no compiler uses here: they are to be as they were. */
struct vectors {
	uint64_t zmm[4][8], k1;
};

static void set_vectors(const struct vectors *v)
{
	__asm__ volatile("vmovdqu64 (%0), %%zmm16\n\tvmovdqu64 64(%0), %%zmm17\n\tvmovdqu64 128(%0), %%zmm18\n\t"
			 "vmovdqu64 192(%0), %%zmm19\n\tkmovq 256(%0), %%k1"
			 :
			 : "r"(v)
			 : "memory");
}

static void get_vectors(struct vectors *v)
{
	__asm__ volatile("vmovdqu64 %%zmm16, (%0)\n\tvmovdqu64 %%zmm17, 64(%0)\n\tvmovdqu64 %%zmm18, 128(%0)\n\t"
			 "vmovdqu64 %%zmm19, 192(%0)\n\tkmovq %%k1, 256(%0)"
			 :
			 : "r"(v)
			 : "memory");
}

static void miss(struct played *p, uint32_t number, const struct inline_record *record, uint64_t address)
{
	uint64_t *recency = at(p, p->where.recency);
	struct vectors before, after;
	for (unsigned i = 0; i < sizeof(before) / 8; i++)
		((uint64_t *)&before)[i] = address * 0x9e3779b97f4a7c15ull + i;
	*recency = p->recency;
	if (p->vectors)
		set_vectors(&before);
	model_inline_miss(p->core.model, 0, &p->templates, number, record->record, address, p->behind, FS_BASE);
	if (p->vectors) {
		get_vectors(&after);
		p->vectors_changed |= memcmp(&before, &after, sizeof(before)) != 0;
	}
	p->recency = *recency + 1;
	p->fresh = 0;
}

static uint64_t address_of(const struct played *p, const struct trace_block *block,
			   const struct inline_record *record, const uint64_t *values)
{
	const struct trace_item *item = &p->program->items[block->first_item + record->item];
	uint64_t address = (uint64_t)record->displacement + (uint64_t)item->displacement;
	address += item->value == TRACE_NO_VALUE ? 0 : values[item->value];
	return address + (item->flags & TRACE_FS ? FS_BASE : 0);
}

static const struct inline_entry *entry_of(struct played *p, const struct inline_record *record, uint64_t address)
{
	const struct inline_entry *entry = (struct inline_entry *)at(p, p->where.data) +
					   (address >> p->where.shift & (p->where.data_entries - 1));
	return !record->called && (address & (uint64_t)(int64_t)record->mask) == entry->line ? entry : NULL;
}

static void do_record(struct played *p, uint32_t number, const struct inline_record *record,
		      const uint64_t *values)
{
	const struct trace_block *block = &p->blocks[number];
	uint64_t address = (uint64_t)record->displacement;
	p->done++;
	if (record->fetch) {
		const struct inline_fetch *fetch = (struct inline_fetch *)at(p, p->where.fetch) + record->index;
		if (record->skip == INLINE_SKIP && p->behind == block->pc)
			return;
		if (!record->called && fetch->tag == record->tag)
			found(p, true, fetch->way, fetch->page, false, p->fetched == address >> 12);
		else
			miss(p, number, record, address);
		p->fetched = address >> 12;
		return;
	}
	address = address_of(p, block, record, values);
	const struct inline_entry *entry = entry_of(p, record, address);
	if (entry)
		found(p, false, entry->way, entry->page, record->writes, false);
	else
		miss(p, number, record, address);
}

/* Data records in a row, from the first of n on, that are in the table, of two granules at most: each granule is touched once, the last record's
   last. Returns how many were done so. */
static unsigned do_merged(struct played *p, uint32_t number, const struct inline_record *records, unsigned n,
			  const uint64_t *values)
{
	const struct inline_entry *granule[2] = {NULL, NULL};
	bool writes[2] = {false, false};
	unsigned of = 0, last = 0, granules;
	for (; of < n && !records[of].fetch; of++) {
		const struct inline_entry *entry = entry_of(
			p, &records[of], address_of(p, &p->blocks[number], &records[of], values));
		unsigned which = entry && granule[0] && entry != granule[0];
		if (!entry || (granule[which] && entry != granule[which]))
			break;
		granule[which] = entry;
		writes[which] |= records[of].writes;
		last = which;
	}
	if (of && of < n && !records[of].fetch) { /* asked for by itself, it is done again */
		found(p, false, granule[0]->way, granule[0]->page, records[0].writes, false);
		p->found--;
	}
	if (of < 2)
		return 0;
	granules = 1 + (granule[1] != NULL);
	if (granules == 2)
		found(p, false, granule[!last]->way, granule[!last]->page, writes[!last], false);
	found(p, false, granule[last]->way, granule[last]->page, writes[last], false);
	p->done += of;
	p->found += of - granules;
	p->merged += of - granules;
	return of;
}

/* ---- a block ---- */

static bool is_string(unsigned kind) { return kind == TRACE_REP_READ || kind == TRACE_REP_WRITE; }

/* Bytes that are fetched at least until the block is left behind `done` instructions (engine/wire/trace.h, TRACE_PARTIAL). */
static uint32_t fetched_until(const struct program *program, const struct trace_block *block, uint32_t done)
{
	uint32_t fetched = 1;
	for (uint32_t i = block->first_item; i < block->first_item + block->items; i++) {
		const struct trace_item *item = &program->items[i];
		if (item->insn > done)
			break;
		fetched = item->offset + 1u;
		if (item->insn == done && !is_string(item->kind))
			break;
	}
	return fetched;
}

static void play_block(struct played *p, unsigned b, uint32_t done, const uint64_t *values, bool without_plan)
{
	uint32_t number = p->program->numbers[b] + NUMBERS, fetched;
	const struct trace_block *block = &p->blocks[number];
	bool whole = done >= block->insns;
	if (!p->planned[b]) {
		p->blocks[number].flags = 0; /* the template is complete, but for that */
		p->n_records[b] = model_inline_plan(p->core.model, 0, &p->templates, number, p->records[b]);
		p->blocks[number].flags = TRACE_INLINED;
		p->planned[b] = true;
	}
	if (without_plan || p->n_records[b] < 0) {
		uint64_t *recency = at(p, p->where.recency);
		*recency = p->recency;
		model_inline_block(p->core.model, 0, &p->templates, number, values, done, p->behind, FS_BASE);
		p->recency = *recency;
		p->fresh = 0;
		p->fetched = NOT_FETCHED;
		p->unplanned++;
	} else {
		fetched = whole ? block->length : fetched_until(p->program, block, done);
		for (int i = 0; i < p->n_records[b]; i++) {
			const struct inline_record *record = &p->records[b][i];
			if (record->fetch ? i && (uint64_t)record->displacement > block->pc + fetched - 1
					  : !whole && record->insn >= done + p->again)
				break;
			unsigned of = p->merges && whole ? do_merged(p, number, record,
								     (unsigned)(p->n_records[b] - i), values)
							 : 0;
			if (of)
				i += (int)of - 1;
			else
				do_record(p, number, record, values);
		}
		*(uint64_t *)at(p, p->where.recency) = p->recency;
	}
	if (!whole)
		p->trace[p->filled++] = trace_mark(TRACE_PARTIAL, done);
	p->trace[p->filled++] = number;
	p->behind = whole ? block->pc + block->length : NOT_SEQUENTIAL;
	p->fetched = whole ? p->fetched : NOT_FETCHED;
}

/* ---- a walk ---- */

static void put_record(struct played *p, const struct record *record)
{
	memcpy(p->trace + p->filled, record->entries, record->n * sizeof(uint64_t));
	p->filled += record->n;
}

static void play_record(struct played *p, const struct record *record, bool without_plan)
{
	const uint64_t *entry = record->entries;
	uint32_t done = UINT32_MAX;
	if (!p->on) {
		put_record(p, record);
		return;
	}
	if (*entry & TRACE_MARK && trace_mark_kind(*entry) != TRACE_PARTIAL) {
		p->fetched = NOT_FETCHED;
		enum trace_mark_kind kind = trace_mark_kind(*entry);
		if (kind == TRACE_SPANS) { /* at once, as the code's own records */
			uint64_t *recency = at(p, p->where.recency);
			*recency = p->recency;
			model_inline_spans(p->core.model, 0, &p->templates, trace_mark_argument(*entry),
					   entry + 1);
			p->recency = *recency;
			p->fresh = 0;
			return;
		}
		put_record(p, record);
		if (kind == TRACE_RETURNED || (kind == TRACE_BREAK && !trace_mark_argument(*entry)))
			p->behind = NOT_SEQUENTIAL;
		if (kind == TRACE_PAGES) {
			flush(p);
			if (!model_inline_can(p->core.model))
				give_up(p);
		}
		return;
	}
	if (*entry & TRACE_MARK)
		done = trace_mark_argument(*entry++);
	for (unsigned b = 0; b < BLOCKS; b++)
		if (p->program->numbers[b] == (uint32_t)*entry)
			play_block(p, b, done, entry + 1, without_plan);
}

#endif
