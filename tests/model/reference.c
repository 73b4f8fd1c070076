/*
 * The stream in the reference: byte by byte of what is fetched, iteration by iteration of a rep instruction
 * (model/core/run.c, engine/wire/trace.h).
 */
#include <stdlib.h>

#include "reference_internal.h"

struct reference *reference_new(const struct machine *machine, const struct model_options *options)
{
	struct reference *r = calloc(1, sizeof(*r));
	if (!r || !(r->cores = calloc(MODEL_CORES_MAX, sizeof(*r->cores))))
		abort();
	r->machine = *machine;
	r->classify = options->classify;
	r->orders = options->orders;
	for (unsigned c = 0; c < machine->n_caches; c++)
		if (machine->caches[c].shared)
			cache_make(r, &r->shared[c], c);
	return r;
}

void reference_core(struct reference *r, unsigned core)
{
	struct reference_core *k = &r->cores[core];
	k->exists = true;
	if (core >= r->n_cores)
		r->n_cores = core + 1;
	for (unsigned c = 0; c < r->machine.n_caches; c++)
		if (!r->machine.caches[c].shared)
			cache_make(r, &k->caches[c], c);
	for (unsigned t = 0; t < r->machine.n_tlbs; t++)
		tlb_make(r, &k->tlbs[t], t);
}

void reference_free(struct reference *r)
{
	for (unsigned c = 0; c < r->machine.n_caches; c++)
		if (r->machine.caches[c].shared)
			cache_free(&r->shared[c]);
	for (unsigned k = 0; k < r->n_cores; k++) {
		if (!r->cores[k].exists)
			continue;
		for (unsigned c = 0; c < r->machine.n_caches; c++)
			if (!r->machine.caches[c].shared)
				cache_free(&r->cores[k].caches[c]);
		for (unsigned t = 0; t < r->machine.n_tlbs; t++)
			sets_free(&r->cores[k].tlbs[t]);
		free(r->cores[k].shared.items);
		free(r->cores[k].lost);
	}
	free(r->regions);
	free(r->cores);
	free(r);
}

const struct model_counts *reference_counts(const struct reference *r, unsigned core)
{
	return &r->cores[core].counts;
}

void reference_watch(struct reference *r, const struct model_watch *watches, unsigned n, uint64_t *item_counts,
		     uint64_t *block_counts)
{
	r->watches = watches;
	r->n_watches = n;
	r->item_counts = item_counts;
	r->block_counts = block_counts;
}

static uint64_t watched(const struct reference *r, unsigned w)
{
	uint64_t sum = 0;
	for (unsigned k = 0; k < r->n_cores; k++) {
		const struct model_counts *counts = &r->cores[k].counts;
		const struct model_watch *watch = &r->watches[w];
		sum += watch->component == MODEL_CACHE    ? counts->cache[watch->index][watch->count]
		       : watch->component == MODEL_TLB    ? counts->tlb[watch->index][watch->count]
		       : watch->component == MODEL_STREAM ? counts->stream[watch->count]
							  : 0;
	}
	return sum;
}

struct before {
	uint64_t counts[MODEL_WATCHES];
};

static struct before before(const struct reference *r)
{
	struct before b = {0};
	for (unsigned w = 0; w < r->n_watches; w++)
		b.counts[w] = watched(r, w);
	return b;
}

/* What was counted since is the site's. */
static void charge(const struct reference *r, const struct before *b, uint64_t *sites, uint64_t number)
{
	for (unsigned w = 0; w < r->n_watches; w++)
		sites[number * r->n_watches + w] += watched(r, w) - b->counts[w];
}

/* ---- data ---- */

static void touch(struct reference *r, unsigned core, uint64_t address, uint32_t bytes, enum kind kind,
		  uint32_t item)
{
	uint8_t first = r->machine.first_data;
	if (first == MACHINE_NONE)
		return;
	uint64_t line_bytes = r->machine.caches[first].line_bytes;
	for (uint64_t at = address, left = bytes; left;) {
		uint64_t here = line_bytes - at % line_bytes;
		if (here > left)
			here = left;
		first_access(r, core, at, at + here - 1, kind, item);
		at += here;
		left -= here;
	}
}

void reference_access(struct reference *r, unsigned core, uint64_t address, uint32_t bytes, enum trace_kind kind,
		      uint32_t item)
{
	uint64_t *stream = r->cores[core].counts.stream;
	bool write = kind == TRACE_WRITE, power_of_two = bytes && !(bytes & (bytes - 1));
	if (!bytes)
		bytes = 1;
	if (kind == TRACE_PREFETCH) {
		if (r->machine.first_data != MACHINE_NONE) {
			uint32_t line_bytes = r->machine.caches[r->machine.first_data].line_bytes;
			for (uint64_t line = address / line_bytes; line <= (address + bytes - 1) / line_bytes;
			     line++)
				first_prefetch(r, core, line * line_bytes, item);
		}
		return;
	}
	stream[write ? STREAM_WRITES : STREAM_READS]++;
	if (power_of_two && address % bytes) {
		stream[STREAM_MISALIGNED]++;
		stream[write ? STREAM_MISALIGNED_WRITES : STREAM_MISALIGNED_READS]++;
	}
	for (uint64_t part = address; part < address + bytes && (power_of_two || bytes == 10);
	     part += 8) { /* Safford's Appendix A, 0x0B */
		uint64_t of_part = bytes - (part - address) < 8 ? bytes - (part - address) : 8,
			 unit = of_part == 8 ? 8 : 4;
		if (part / unit != (part + of_part - 1) / unit)
			stream[STREAM_PENTIUM_MISALIGNED]++, stream[STREAM_PENTIUM_MISALIGNED_READS] += !write;
		if (bytes > 10)
			break;
	}
	if (address / 64 != (address + bytes - 1) / 64) {
		stream[STREAM_LINE_CROSSING]++;
		stream[write ? STREAM_LINE_CROSSING_WRITES : STREAM_LINE_CROSSING_READS]++;
	}
	if (address / 4096 != (address + bytes - 1) / 4096)
		stream[STREAM_PAGE_CROSSING]++;
	tlb_access(r, core, address, bytes, write ? WRITE : READ);
	touch(r, core, address, bytes, write ? WRITE : READ, item);
}

/* ---- instructions ---- */

/* One byte of code is executed. A line is fetched whole: that matters for false sharing. */
static void execute_byte(struct reference *r, unsigned core, uint64_t address, uint32_t block)
{
	struct reference_core *k = &r->cores[core];
	bool sequential = k->fetched && address == k->last_byte + 1;
	uint64_t fetch_bytes = r->machine.fetch_bytes;
	if (!sequential || address / fetch_bytes != k->last_byte / fetch_bytes) {
		k->counts.stream[STREAM_FETCH_BLOCKS]++;
		tlb_access(r, core, address, 1, FETCH);
	}
	if (r->machine.first_instruction != MACHINE_NONE) {
		uint64_t line_bytes = r->machine.caches[r->machine.first_instruction].line_bytes;
		if (!sequential || address / line_bytes != k->last_byte / line_bytes)
			first_access(r, core, address & -line_bytes, address | (line_bytes - 1), FETCH,
				     block | UINT32_C(1) << 31);
	}
	k->fetched = true;
	k->last_byte = address;
}

void reference_fetch(struct reference *r, unsigned core, uint64_t address, uint32_t bytes, uint32_t block)
{
	for (uint32_t i = 0; i < bytes; i++)
		execute_byte(r, core, address + i, block);
}

/* ---- the trace ---- */

static uint64_t address_of(const struct trace_item *item, const uint64_t *values, uint64_t fs_base)
{
	uint64_t address = (uint64_t)item->displacement;
	if (item->value != TRACE_NO_VALUE)
		address += values[item->value];
	if (item->flags & TRACE_FS)
		address += fs_base;
	if (item->flags & TRACE_BIT) {
		int64_t bit = (int64_t)values[item->second], word_bits = 8 * item->bytes, word = bit / word_bits;
		if (bit < 0 && bit % word_bits)
			word--;
		address += (uint64_t)(word * item->bytes);
	}
	return address;
}

static bool is_rep(const struct trace_item *item)
{
	return item->kind == TRACE_REP_READ || item->kind == TRACE_REP_WRITE;
}

static void run_access(struct reference *r, unsigned core, uint64_t address, uint32_t bytes, enum trace_kind kind,
		       uint32_t item)
{
	struct before b = before(r);
	reference_access(r, core, address, bytes, kind, item);
	charge(r, &b, r->item_counts, item);
}

static void run_rep(struct reference *r, unsigned core, const struct trace_item *items, uint32_t i, unsigned n,
		    const uint64_t *values, uint64_t fs_base)
{
	uint64_t at[2];
	const struct trace_item *item = &items[i];
	int64_t distance = (int64_t)(values[item->second] - values[item->value]);
	uint64_t iterations = (uint64_t)llabs(distance) / item->bytes;
	for (unsigned a = 0; a < n; a++)
		at[a] = address_of(&items[i + a], values, fs_base);
	for (uint64_t k = 0; k < iterations; k++)
		for (unsigned a = 0; a < n; a++) {
			int64_t moved = (int64_t)(values[items[i + a].second] - values[items[i + a].value]);
			run_access(r, core, at[a], items[i + a].bytes,
				   items[i + a].kind == TRACE_REP_WRITE ? TRACE_WRITE : TRACE_READ, i + a);
			at[a] += moved < 0 ? -(uint64_t)items[i + a].bytes : items[i + a].bytes;
		}
}

static uint64_t integer_at(const uint64_t *words, unsigned i, unsigned bytes)
{
	const uint8_t *from = (const uint8_t *)words + i * bytes;
	uint64_t value = 0;
	for (unsigned b = bytes; b-- > 0;)
		value = value << 8 | from[b];
	return value;
}

static void run_lanes(struct reference *r, unsigned core, const struct trace_item *item, uint32_t number,
		      const uint64_t *values, uint64_t fs_base)
{
	uint64_t base = fs_base * (item->flags & TRACE_FS ? 1 : 0) + (uint64_t)item->displacement +
			(item->value == TRACE_NO_VALUE ? 0 : values[item->value]);
	for (unsigned lane = 0; lane < item->lanes; lane++) {
		uint64_t index = integer_at(values + item->second, lane, item->index_bytes);
		if (item->index_bytes == 4)
			index = (uint64_t)(int64_t)(int32_t)index;
		if (item->mask == TRACE_MASK_BITS && !(values[item->mask_at] >> lane & 1))
			continue;
		if (item->mask == TRACE_MASK_ELEMENTS &&
		    integer_at(values + item->mask_at, lane, item->bytes) >> (8 * item->bytes - 1) == 0)
			continue;
		run_access(r, core, base + index * item->scale, item->bytes,
			   item->kind == TRACE_SCATTER ? TRACE_WRITE : TRACE_READ, number);
	}
}

/* Of a block, the first `done` instructions, and of the next one what a rep made. */
static void run_block(struct reference *r, unsigned core, const struct trace_program *program, uint64_t number,
		      const uint64_t *values, uint32_t done, uint64_t fs_base)
{
	const struct trace_block *block = &program->blocks[number];
	uint64_t *stream = r->cores[core].counts.stream;
	bool whole = done >= block->insns;
	uint32_t fetched = whole ? block->length : 1, next = 0;
	struct before b;
	for (uint32_t i = 0; i < block->items && !whole; i++)
		if (program->items[block->first_item + i].insn <= done)
			fetched = program->items[block->first_item + i].offset + 1u;
	b = before(r);
	stream[STREAM_BLOCKS]++;
	stream[STREAM_INSTRUCTIONS] += whole ? block->insns : done;
	for (uint32_t byte = 0; byte < fetched; byte++) {
		execute_byte(r, core, block->pc + byte, (uint32_t)number);
		if (next == block->items || program->items[block->first_item + next].offset != byte)
			continue;
		charge(r, &b, r->block_counts, number); /* so far; what follows is items' */
		while (next < block->items && program->items[block->first_item + next].offset == byte) {
			uint32_t i = block->first_item + next;
			const struct trace_item *item = &program->items[i];
			unsigned n = 1;
			if (!whole && (item->insn > done || (item->insn == done && !is_rep(item))))
				break;
			if (is_rep(item)) {
				if (next + 1u < block->items && is_rep(item + 1) && item[1].insn == item->insn)
					n = 2;
				run_rep(r, core, program->items, i, n, values, fs_base);
			} else if (item->kind == TRACE_SPANS_READ || item->kind == TRACE_SPANS_WRITE) {
				; /* a mark says what it touched */
			} else if (item->kind == TRACE_GATHER || item->kind == TRACE_SCATTER) {
				run_lanes(r, core, item, i, values, fs_base);
			} else {
				run_access(r, core, address_of(item, values, fs_base), item->bytes, item->kind, i);
			}
			next += n;
		}
		b = before(r);
	}
	charge(r, &b, r->block_counts, number);
	if (!whole)
		r->cores[core].fetched = false;
}

/* What one access touched, apart from each other. Returns how many words. */
static size_t run_spans(struct reference *r, unsigned core, const struct trace_program *program, uint32_t item,
			const uint64_t *words)
{
	uint64_t *stream = r->cores[core].counts.stream, n = words[0], crosses_line = 0, crosses_page = 0;
	bool write = program->items[item].kind == TRACE_SPANS_WRITE;
	struct before b = before(r);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t address = words[1 + 2 * i], last = address + (words[2 + 2 * i] & TRACE_SPAN_BYTES) - 1;
		crosses_line |= address / 64 != last / 64;
		crosses_page |= address / 4096 != last / 4096;
		tlb_access(r, core, address, (uint32_t)(last - address + 1), write ? WRITE : READ);
		touch(r, core, address, (uint32_t)(last - address + 1), write ? WRITE : READ, item);
	}
	stream[write ? STREAM_WRITES : STREAM_READS] += n > 0;
	stream[STREAM_LINE_CROSSING] += crosses_line;
	stream[write ? STREAM_LINE_CROSSING_WRITES : STREAM_LINE_CROSSING_READS] += crosses_line;
	stream[STREAM_PAGE_CROSSING] += crosses_page;
	charge(r, &b, r->item_counts, item);
	return 1 + 2 * n;
}

void reference_run(struct reference *r, unsigned core, const struct trace_program *program,
		   const uint64_t *entries, size_t n, uint64_t fs_base)
{
	for (size_t i = 0; i < n;) {
		uint64_t header = entries[i++];
		uint32_t done = UINT32_MAX;
		if (header & TRACE_MARK && trace_mark_kind(header) != TRACE_PARTIAL) {
			if (trace_mark_kind(header) == TRACE_BREAK || trace_mark_kind(header) == TRACE_RETURNED)
				r->cores[core].fetched = false;
			if (trace_mark_kind(header) == TRACE_SPANS) {
				i += run_spans(r, core, program, trace_mark_argument(header), &entries[i]);
				continue;
			}
			if (trace_mark_kind(header) == TRACE_PAGES)
				tlb_pages(r, entries[i], entries[i + 1], entries[i + 2]);
			i += trace_mark_kind(header) == TRACE_BREAK || trace_mark_kind(header) == TRACE_FREED ? 1
			     : trace_mark_kind(header) == TRACE_RETURNED                                      ? 2
													      : 3;
			continue;
		}
		if (header & TRACE_MARK) {
			done = trace_mark_argument(header);
			header = entries[i++];
		}
		run_block(r, core, program, header, &entries[i], done, fs_base);
		i += program->blocks[header].values;
	}
}
