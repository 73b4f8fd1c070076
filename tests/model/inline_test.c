/*
 * Accesses decided by generated code (model/core/fast/inline.h) against model_run() of the ordinary stream: random machines
 * and programs; this plays the generated code in C, as the contract's picture says. All counts are to be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/declare/check.h"
#include "model/core/fast/request_queue.h"
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

struct trial {
	struct machine machine;
	struct model_options options;
	struct program program;
	struct walk walk;
	size_t end;            /* given up there */
	unsigned without_plan; /* one block in so many */
	bool scalar;           /* without vectors */
	bool merges;           /* see struct played */
	bool again;            /* see struct played: of all counts only what was executed is the same then */
	struct model_watch watches[MODEL_WATCHES];
	unsigned n_watches;
};

struct outcome {
	bool can, equal, lawful;
	const char *law;
	uint64_t done, found, merged, unplanned, charged;
};

static bool branches_equal(const struct model_counts *is, const struct model_counts *expected, bool print)
{
	bool equal = true;
	for (unsigned what = 0; what < BRANCH_COUNTS; what++)
		if (is->branch[what] != expected->branch[what]) {
			equal = false;
			if (print)
				printf("# branch count %u: %llu, by the stream %llu\n", what,
				       (unsigned long long)is->branch[what],
				       (unsigned long long)expected->branch[what]);
		}
	return equal;
}

static bool executed_equal(const struct model_counts *is, const struct model_counts *expected)
{
	static const enum model_stream_count executed[] = {STREAM_INSTRUCTIONS, STREAM_BLOCKS, STREAM_READS,
							   STREAM_WRITES, STREAM_FETCH_BLOCKS};
	bool equal = true;
	for (unsigned i = 0; i < sizeof(executed) / sizeof(*executed); i++)
		equal &= is->stream[executed[i]] == expected->stream[executed[i]];
	return equal;
}

/* What each block's fetches, and each instruction's accesses, are charged with: of a read and a write of the same bytes by one instruction either
 * item may have it. Adds to *charged what was expected. */
static bool charges_equal(const struct trial *t, uint64_t *const is[2], uint64_t *const expected[2],
			  uint64_t *charged, bool print)
{
	for (unsigned b = 0; b < BLOCKS; b++)
		for (unsigned w = 0; w < t->n_watches; w++) {
			const struct trace_block *block = &t->program.blocks[b];
			uint64_t sums[2][2] = {{0}};
			for (unsigned decided = 0; decided < 2; decided++) {
				const size_t at = (size_t)(t->program.numbers[b] + decided * NUMBERS) *
							  t->n_watches +
						  w;
				sums[0][0] += is[1][at], sums[0][1] += expected[1][at];
			}
			*charged += sums[0][1];
			if (sums[0][0] != sums[0][1]) {
				if (print)
					printf("# block %u, watch %u (part %u index %u count %u): charged %llu, "
					       "the stream's %llu\n",
					       b, w, t->watches[w].component, t->watches[w].index,
					       t->watches[w].count, (unsigned long long)sums[0][0],
					       (unsigned long long)sums[0][1]);
				return false;
			}
			for (uint32_t i = block->first_item; i < block->first_item + block->items; i++) {
				if (i > block->first_item &&
				    t->program.items[i].insn != t->program.items[i - 1].insn)
					sums[1][0] = sums[1][1] = 0;
				sums[1][0] += is[0][(size_t)i * t->n_watches + w];
				sums[1][1] += expected[0][(size_t)i * t->n_watches + w];
				*charged += expected[0][(size_t)i * t->n_watches + w];
				if (i + 1 < block->first_item + block->items &&
				    t->program.items[i + 1].insn == t->program.items[i].insn)
					continue;
				if (sums[1][0] != sums[1][1]) {
					if (print)
						printf("# block %u item %u, watch %u (part %u index %u count %u): "
						       "charged %llu, the stream's %llu\n",
						       b, i, w, t->watches[w].component, t->watches[w].index,
						       t->watches[w].count, (unsigned long long)sums[1][0],
						       (unsigned long long)sums[1][1]);
					return false;
				}
			}
		}
	return true;
}

static struct outcome run_case(const struct trial *t, bool print)
{
	static struct played p;
	struct outcome outcome = {true, true, true, NULL, 0, 0, 0, 0, 0};
	uint64_t *charges[2][2]; /* generated code's, the stream's; of items, of blocks */
	struct simulated stream;
	struct trace_block *ordinary = NULL; /* the same numbers, not decided */
	struct random cut = {t->walk.cut};
	uint64_t *buffer = malloc(RECORDS_MOST * sizeof(struct record));
	size_t filled = 0;

	memset(&p, 0, sizeof(p));
	simulated_make_with(&p.core, &t->machine, &t->options);
	simulated_core(&p.core, 0);
	for (unsigned i = 0; i < 4; i++)
		charges[i / 2][i % 2] = sparse(2 * NUMBERS * MODEL_WATCHES * 8ull);
	if (t->n_watches)
		model_watch(p.core.model, t->watches, t->n_watches, charges[0][0], charges[0][1]);
	if (!model_inline_can(p.core.model)) {
		outcome.can = false;
		for (unsigned i = 0; i < 4; i++)
			munmap(charges[i / 2][i % 2], 2 * NUMBERS * MODEL_WATCHES * 8ull);
		simulated_free(&p.core);
		free(buffer);
		return outcome;
	}
	if (t->scalar)
		simulated_scalar(&p.core);
	p.blocks = sparse(2 * NUMBERS * sizeof(*p.blocks));
	ordinary = sparse(2 * NUMBERS * sizeof(*ordinary));
	p.templates = (struct trace_program){p.blocks, t->program.items};
	p.program = &t->program;
	p.again = t->again;
	p.merges = t->merges;
#ifndef SANITIZED /* whose functions use them */
	p.vectors = __builtin_cpu_supports("avx512bw");
#endif
	p.trace = malloc(RECORDS_MOST * sizeof(struct record));
	p.behind = NOT_SEQUENTIAL;
	p.fetched = NOT_FETCHED;
	for (unsigned b = 0; b < BLOCKS; b++) {
		uint32_t number = t->program.numbers[b];
		p.blocks[number] = p.blocks[number + NUMBERS] = ordinary[number] = ordinary[number + NUMBERS] =
			t->program.blocks[b];
	}
	model_inline_where(p.core.model, 0, &p.where);
	p.on = true;
	simulated_make_with(&stream, &t->machine, &t->options);
	simulated_core(&stream, 0);
	if (t->n_watches)
		model_watch(stream.model, t->watches, t->n_watches, charges[1][0], charges[1][1]);
	for (size_t i = 0; i < t->walk.n; i++) {
		const struct record *record = &t->walk.records[i];
		if (i == t->end && p.on)
			give_up(&p);
		memcpy(buffer + filled, record->entries, record->n * sizeof(uint64_t));
		if (p.on && !(*record->entries & TRACE_MARK))
			buffer[filled] += NUMBERS;
		else if (p.on && trace_mark_kind(*record->entries) == TRACE_PARTIAL)
			buffer[filled + 1] += NUMBERS;
		filled += record->n;
		play_record(&p, record, random_in(&cut, t->without_plan));
		if (random_in(&cut, t->walk.cuts))
			flush(&p);
	}
	flush(&p);
	model_run(stream.model, 0, &(struct trace_program){ordinary, t->program.items}, buffer, filled, FS_BASE);
	if (t->again)
		outcome.equal = executed_equal(p.core.counts[0], stream.counts[0]);
	else if (!counts_equal(&t->machine, p.core.counts[0], stream.counts[0], print))
		outcome.equal = false;
	if (!branches_equal(p.core.counts[0], stream.counts[0], print))
		outcome.equal = false;
	if (!t->again && !charges_equal(t, charges[0], charges[1], &outcome.charged, print))
		outcome.equal = false;
	outcome.lawful = t->again || model_conserves(&t->machine, &t->options, p.core.counts[0], &outcome.law);
	if (p.vectors_changed) {
		outcome.equal = false;
		if (print)
			printf("# a vector register of the program's was changed\n");
	}
	outcome.done = p.done;
	outcome.found = p.found;
	outcome.merged = p.merged;
	outcome.unplanned = p.unplanned;
	for (unsigned i = 0; i < 4; i++)
		munmap(charges[i / 2][i % 2], 2 * NUMBERS * MODEL_WATCHES * 8ull);
	munmap(p.blocks, 2 * NUMBERS * sizeof(*p.blocks));
	munmap(ordinary, 2 * NUMBERS * sizeof(*ordinary));
	free(p.trace);
	free(buffer);
	simulated_free(&p.core);
	simulated_free(&stream);
	return outcome;
}

static bool fails(const struct trial *t)
{
	struct outcome o = run_case(t, false);
	return !o.equal || !o.lawful;
}

static void shrink(struct trial *t)
{
	static struct walk was;
	unsigned tries = 0;
	size_t holds = 0;
	while (t->walk.n - holds > 1) {
		size_t all = t->walk.n;
		t->walk.n = (holds + all) / 2;
		if (!fails(t)) {
			holds = t->walk.n;
			t->walk.n = all;
		}
	}
	for (size_t piece = t->walk.n / 2 ? t->walk.n / 2 : 1; piece; piece /= 2)
		for (size_t from = 0; from + piece <= t->walk.n && tries < 1500; tries++) {
			was = t->walk;
			t->walk.n -= piece;
			memmove(&t->walk.records[from], &was.records[from + piece],
				(was.n - from - piece) * sizeof(struct record));
			if (!fails(t)) {
				t->walk = was;
				from += piece;
			}
		}
}

static void print_trial(const struct trial *t)
{
	struct outcome o = run_case(t, true);
	if (!o.lawful)
		printf("# model_conserves: %s\n", o.law);
	machine_print(&t->machine, &t->options);
	for (size_t i = 0; i < t->walk.n && i < 40; i++) {
		const struct record *record = &t->walk.records[i];
		printf("#  ");
		for (unsigned e = 0; e < record->n; e++)
			printf(" %#llx", (unsigned long long)record->entries[e]);
		printf("\n");
		for (unsigned b = 0; b < BLOCKS; b++) {
			const struct trace_block *block = &t->program.blocks[b];
			bool is = t->program.numbers[b] == record->entries[0] ||
				  (trace_mark_kind(record->entries[0]) == TRACE_PARTIAL &&
				   t->program.numbers[b] == record->entries[1]);
			if (!is)
				continue;
			printf("#     block at %#llx, %u bytes, %u instructions\n", (unsigned long long)block->pc,
			       block->length, block->insns);
			for (uint32_t n = block->first_item; n < block->first_item + block->items; n++) {
				const struct trace_item *item = &t->program.items[n];
				printf("#     item %u insn %u offset %u kind %u %u bytes flags %u value %u at "
				       "%lld\n",
				       n, item->insn, item->offset, item->kind, item->bytes, item->flags,
				       item->value, (long long)item->displacement);
			}
		}
	}
}

static void some_branches(struct random *r, struct machine *m)
{
	m->direction = (struct machine_direction){.kind = random_in(r, 2) ? PREDICT_GSHARE : PREDICT_BIMODAL,
						  .counter_bits = 2,
						  .history_bits = 6,
						  .entries = 64};
	m->targets = (struct machine_targets){.btb_sets = 8, .btb_ways = 2, .return_entries = 4};
}

/* As many as two vectors hold; a first data cache of other lines than the first instruction cache's. */
static void more_ways(struct random *r, struct machine *m)
{
	struct machine was = *m;
	struct machine_fault fault;
	for (unsigned c = 0; c < m->n_caches; c++)
		if (m->caches[c].replacement == REPLACE_LRU && m->caches[c].sets < 256)
			m->caches[c].ways = 6 + (uint32_t)random_below(r, 12);
	if (m->first_instruction != MACHINE_NONE && m->first_instruction != m->first_data && random_in(r, 2))
		m->caches[m->first_instruction].line_bytes = 32;
	if (!machine_is_sound(m, &fault))
		*m = was;
}

/* Of what found accesses do not count: else there are no inline checks (charges_all). */
static void some_watches(struct random *r, struct trial *t)
{
	t->n_watches = 1 + (unsigned)random_below(r, MODEL_WATCHES);
	for (unsigned w = 0; w < t->n_watches; w++) {
		const unsigned part = (unsigned)random_below(r, 4);
		struct model_watch watch = {.component = MODEL_STREAM,
					    .count = random_in(r, 2) ? STREAM_MISALIGNED : STREAM_LINE_CROSSING};
		if (part == 0 && t->machine.n_caches)
			watch = (struct model_watch){
				MODEL_CACHE, (uint8_t)random_below(r, t->machine.n_caches),
				(uint8_t)(CACHE_FETCHES + 1 + random_below(r, CACHE_COUNTS - CACHE_FETCHES - 1)),
				0};
		else if (part == 1 && t->machine.n_tlbs)
			watch = (struct model_watch){
				MODEL_TLB, (uint8_t)random_below(r, t->machine.n_tlbs),
				(uint8_t)(TLB_FETCHES + 1 + random_below(r, TLB_COUNTS - TLB_FETCHES - 1)), 0};
		else if (part == 2 && !t->options.no_branches)
			watch = (struct model_watch){MODEL_BRANCH, 0, BRANCH_MISPREDICTED, 0};
		t->watches[w] = watch;
	}
}

static void large_accesses(struct program *p)
{
	for (uint32_t i = 0; i < p->n_items; i++)
		if (p->items[i].kind <= TRACE_WRITE && !p->items[i].flags &&
		    p->items[i].second == TRACE_NO_VALUE) {
			p->items[i].bytes = 64;
			p->items[i].displacement &= -32;
		}
}

/* Its values may be anything. */
static bool simple(const struct program *p, const struct trace_block *block)
{
	for (uint32_t i = block->first_item; i < block->first_item + block->items; i++)
		if (p->items[i].kind > TRACE_PREFETCH || p->items[i].second != TRACE_NO_VALUE)
			return false;
	return true;
}

/* Pages under the code change, and it goes on behind where it was. */
static void pages_anew(struct random *r, const struct program *p, struct walk *w)
{
	for (size_t i = 1; i + 2 < w->n; i++) {
		struct record *before = &w->records[i - 1], *mark = &w->records[i], *next = &w->records[i + 1];
		unsigned b = 0;
		while (b < BLOCKS && p->numbers[b] != before->entries[0])
			b++;
		if (b + 1 >= BLOCKS || !random_in(r, 6) || !simple(p, &p->blocks[b + 1]))
			continue;
		*mark = (struct record){
			.entries = {trace_mark(TRACE_PAGES, 0), 0x400000 & ~4095ull, 0x40000000, 4096}, .n = 4};
		next->entries[0] = p->numbers[b + 1];
		for (unsigned v = 0; v < p->blocks[b + 1].values; v++)
			next->entries[1 + v] = 0x20000 + random_below(r, 4096);
		next->n = (uint8_t)(1 + p->blocks[b + 1].values);
	}
}

/* Its levels behind the first ones wait (model/core/fast/request_queue.h), and what is not found goes the shortest way there is (model/core/fast/lru_fast.h). */
static void waiting_machine(struct random *r, struct machine *m)
{
	usual_machine(r, m, false);
	for (unsigned c = 0; c < m->n_caches; c++) {
		struct machine_cache *is = &m->caches[c];
		is->line_bytes = 64;
		is->replacement = REPLACE_LRU;
		is->inclusion = INCLUSION_NONE;
		is->prefetch = PREFETCH_NONE;
		if (c == m->first_data || c == m->first_instruction) {
			is->sets = 1u << random_below(r, 3);
			is->ways = random_in(r, 3) ? 12 : 8 + (uint32_t)random_below(r, 9);
		}
	}
}

enum machines { ANY, USUAL /* with usual code, which has records to merge */, WAITING };

static void compare(const char *fact, uint64_t family, unsigned cases, enum machines machines,
		    unsigned found_least, bool again)
{
	static struct trial t;
	unsigned failed = 0, could = 0;
	uint64_t all = 0, in_table = 0, merged = 0, unplanned = 0, waited = 0, charged = 0;
	uint8_t levels[REQUESTS_LEVELS];
	bool usual;
	for (unsigned i = 0; i < cases && !failed; i++) {
		struct random r = {family << 32 | i};
		struct machine_fault fault;
		struct outcome o;
		memset(&t, 0, sizeof(t));
		usual = machines == USUAL || (machines == WAITING && random_in(&r, 2));
		if (machines == WAITING)
			waiting_machine(&r, &t.machine);
		else if (usual)
			usual_machine(&r, &t.machine, false);
		else
			random_machine(&r, &t.machine, false);
		if (machines != WAITING && random_in(&r, 3))
			more_ways(&r, &t.machine);
		t.options.orders = i % 2;
		t.options.no_branches = !random_in(&r, 2);
		if (!t.options.no_branches)
			some_branches(&r, &t.machine);
		if (!machine_is_sound(&t.machine, &fault)) {
			printf("# case %u is refused: [%s] %s: %s\n", i, fault.stanza, fault.key, fault.why);
			failed++;
			break;
		}
		random_program(&r, &t.program, usual);
		random_walk(&r, &t.machine, &t.program, &t.walk,
			    usual ? random_in(&r, 8) ? RECORDS_MOST : 1500 : 5 + random_below(&r, 300), 1, usual);
		if (random_in(&r, 8))
			large_accesses(&t.program);
		if (random_in(&r, 4))
			pages_anew(&r, &t.program, &t.walk);
		t.without_plan = random_in(&r, 2) ? 1u << 30 : 10;
		t.scalar = random_in(&r, 3);
		t.merges = random_in(&r, 2);
		t.again = again;
		t.end = random_in(&r, 4) ? random_below(&r, t.walk.n) : SIZE_MAX;
		if (!again && random_in(&r, 2))
			some_watches(&r, &t);
		o = run_case(&t, false);
		charged += o.charged;
		could += o.can;
		waited += o.can && requests_levels(&t.machine, &t.options, levels);
		all += o.done;
		in_table += o.found;
		merged += o.merged;
		unplanned += o.unplanned;
		if (o.equal && o.lawful)
			continue;
		printf("# family %llu case %u:\n", (unsigned long long)family, i);
		failed++;
		shrink(&t);
		print_trial(&t);
	}
	ok(!failed, "%s (%u machines and programs)", fact, cases);
	/* else this would say nothing */
	ok(could * 3 > cases && 100 * in_table > found_least * all && unplanned &&
		   (machines != USUAL || merged > all / 50) && (machines == ANY || waited >= cases / 5),
	   "%u of the machines can, %llu %% of the records are found, %llu touched with others, %llu blocks had "
	   "no plan, on %llu machines requests waited",
	   could, (unsigned long long)(100 * in_table / (all ? all : 1)), (unsigned long long)merged,
	   (unsigned long long)unplanned, (unsigned long long)waited);
	if (!again)
		ok(charged > cases, "%llu counts were charged to the same instructions and blocks",
		   (unsigned long long)charged);
}

int main(int argc, char **argv) /* [TIMES [FAMILY]]: longer runs, by hand; 0.2: a fifth */
{
	unsigned only = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	double times = argc > 1 ? atof(argv[1]) : 1;
	if (!only || only == 201)
		compare("what generated code decides counts as the stream: any machine, any program", 201,
			1500 * times, ANY, 20, false);
	if (!only || only == 202)
		compare("usual machines, long loops of usual code", 202, 200 * times, USUAL, 50, false);
	if (!only || only == 203)
		compare("what was executed is counted once if a record is done twice", 203, 500 * times, ANY, 10,
			true);
	if (!only || only == 204)
		compare("machines on which requests wait count as the stream", 204, 400 * times, WAITING, 20,
			false);
	return done();
}
