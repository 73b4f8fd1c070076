/* Random programs and walks: see walks.h. */
#include "walks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- programs ---- */

static bool is_string(unsigned kind) { return kind == TRACE_REP_READ || kind == TRACE_REP_WRITE; }

static void random_item(struct random *r, struct trace_item *item, uint16_t *values)
{
	static const uint8_t kinds[] = {TRACE_READ,   TRACE_READ,     TRACE_READ,       TRACE_WRITE,
					TRACE_WRITE,  TRACE_PREFETCH, TRACE_REP_READ,   TRACE_REP_WRITE,
					TRACE_GATHER, TRACE_SCATTER,  TRACE_SPANS_READ, TRACE_SPANS_WRITE};
	item->kind = kinds[random_below(r, sizeof(kinds))];
	item->bytes = (uint16_t)(1u << random_below(r, random_in(r, 4) ? 7 : 4));
	item->displacement = random_in(r, 2) ? (int64_t)random_below(r, 256) - 128 : 0;
	item->value = item->second = TRACE_NO_VALUE;
	if (item->kind == TRACE_SPANS_READ || item->kind == TRACE_SPANS_WRITE) {
		item->bytes = 0;
		item->displacement = 0;
		return;
	}
	if (is_string(item->kind)) {
		item->bytes = (uint16_t)(1u << random_below(r, 4));
		item->displacement = 0;
		item->value = (uint8_t)(*values)++;
		item->second = (uint8_t)(*values)++;
		return;
	}
	if (random_in(r, 8)) {
		item->displacement = 0x20000 + (int64_t)random_below(r, 512);
	} else if (random_in(r, 6) && *values && item[-1].value != TRACE_NO_VALUE) {
		item->value = item[-1].value; /* the same register */
	} else {
		item->value = (uint8_t)(*values)++;
	}
	if (random_in(r, 10))
		item->flags |= TRACE_FS;
	if (item->kind == TRACE_GATHER || item->kind == TRACE_SCATTER) {
		item->bytes = random_in(r, 2) ? 4 : 8;
		item->index_bytes = random_in(r, 2) ? 4 : 8;
		item->lanes = (uint8_t)(2u << random_below(r, 2));
		item->scale = (uint8_t)(1u << random_below(r, 4));
		item->second = (uint8_t)*values;
		*values = (uint16_t)(*values + (item->lanes * item->index_bytes + 7) / 8);
		item->mask = (uint8_t)random_below(r, 3);
		item->mask_at = (uint8_t)*values;
		*values = (uint16_t)(*values + (item->mask == TRACE_MASK_BITS ? 1
						: item->mask == TRACE_MASK_ELEMENTS
							? (item->lanes * item->bytes + 7) / 8
							: 0));
	} else if (random_in(r, 12)) {
		item->bytes = (uint16_t)(2u << random_below(r, 3));
		item->flags |= TRACE_BIT;
		item->second = (uint8_t)(*values)++;
	} else if (random_in(r, 12) && item->kind != TRACE_PREFETCH) {
		item->bytes = (uint16_t)(1 + random_below(r, 512)); /* fxsave and its kin; 10-byte floats */
	}
}

/* As compilers write them: accesses of 1 to 16 bytes at small distances from a few registers. */
static void usual_item(struct random *r, struct trace_item *item, uint16_t *values)
{
	if (*values && item[-1].kind == TRACE_READ && random_in(r, item[-1].insn == item->insn ? 2 : 8)) {
		/* reads and writes its operand, or the next instruction does */
		uint8_t insn = item->insn;
		uint16_t offset = item->offset;
		*item = item[-1];
		item->kind = TRACE_WRITE;
		item->insn = insn;
		item->offset = offset;
		return;
	}
	item->kind = random_in(r, 3) ? TRACE_WRITE : TRACE_READ;
	item->bytes = (uint16_t)(1u << random_below(r, random_in(r, 8) ? 6 : 4));
	item->displacement = (int64_t)(random_below(r, 12) * item->bytes);
	item->second = TRACE_NO_VALUE;
	if (*values && item[-1].value != TRACE_NO_VALUE && item[-1].second == TRACE_NO_VALUE && random_in(r, 2))
		item->value = item[-1].value;
	else
		item->value = (uint8_t)(*values)++;
}

void random_program(struct random *r, struct program *p, bool usual)
{
	uint64_t pc = 0x400000;
	p->n_items = 0;
	for (unsigned b = 0; b < BLOCKS; b++) {
		struct trace_block *block = &p->blocks[b];
		uint16_t offset = 0, values = 0;
		*block = (struct trace_block){.pc = pc,
					      .first_item = p->n_items,
					      .insns = (uint16_t)(1 + random_below(r, random_in(r, 6) ? 40 : 8))};
		p->numbers[b] = b + (random_in(r, 4) ? (uint32_t)random_below(r, 3) * NUMBERS_APART : 0);
		for (unsigned insn = 0; insn < block->insns; insn++) {
			unsigned length = 1 + (unsigned)random_below(r, 15),
				 accesses = (unsigned)random_below(r, 3);
			for (unsigned a = 0;
			     a < accesses && block->items < ITEMS_MOST && values < VALUES_MOST - 10; a++) {
				struct trace_item *item = &p->items[p->n_items];
				*item = (struct trace_item){.offset = offset, .insn = (uint8_t)insn};
				if (usual && !random_in(r, 30))
					usual_item(r, item, &values);
				else
					random_item(r, item, &values);
				if (is_string(item->kind) && a)
					item->kind = TRACE_READ, item->bytes = 1, item->second = TRACE_NO_VALUE;
				p->n_items++;
				block->items++;
				if (!is_string(item->kind))
					continue;
				if (random_in(r, 2) && block->items < ITEMS_MOST) { /* movs, cmps */
					p->items[p->n_items] = *item;
					p->items[p->n_items].kind = random_in(r, 2) ? TRACE_REP_READ
										    : TRACE_REP_WRITE;
					p->items[p->n_items].value = (uint8_t)values++;
					p->items[p->n_items].second = (uint8_t)values++;
					p->n_items++;
					block->items++;
				}
				break;
			}
			offset = (uint16_t)(offset + length);
		}
		block->length = offset;
		block->values = values;
		block->ending = (uint8_t)random_below(r, TRACE_END_SYSTEM + 1);
		block->ending_length = 1;
		pc += offset;
		if (random_in(r, 3))
			pc += random_below(r, 200);
		if (random_in(r, 20)) /* another page, another library */
			pc += 1ull << (12 + random_below(r, 30));
	}
}

static void random_values(struct random *r, const struct program *p, unsigned block, uint64_t *values)
{
	const struct trace_block *b = &p->blocks[block];
	for (unsigned v = 0; v < b->values; v++)
		values[v] = (random_in(r, 5) ? 0x7ff000 : 0x20000) + random_below(r, random_in(r, 3) ? 8192 : 600);
	for (uint32_t i = b->first_item; i < b->first_item + b->items; i++) {
		const struct trace_item *item = &p->items[i];
		if (is_string(item->kind)) {
			uint64_t n = random_below(r, random_in(r, 4) ? 100 : 12) * item->bytes;
			bool down = random_in(r, 4),
			     pair = i > b->first_item && is_string(item[-1].kind) && item[-1].insn == item->insn;
			if (pair) { /* as many, the same way */
				int64_t moved = (int64_t)(values[item[-1].second] - values[item[-1].value]);
				values[item->second] = values[item->value] + (uint64_t)moved;
			} else {
				values[item->second] = down ? values[item->value] - n : values[item->value] + n;
			}
		} else if (item->flags & TRACE_BIT) {
			values[item->second] = random_below(r, 4000) - 2000;
		} else if (item->kind == TRACE_GATHER || item->kind == TRACE_SCATTER) {
			for (unsigned lane = 0; lane < item->lanes; lane++) {
				int64_t index = (int64_t)random_below(r, 200) - 60;
				memcpy((char *)&values[item->second] + lane * item->index_bytes, &index,
				       item->index_bytes);
			}
			if (item->mask != TRACE_MASK_NONE) /* the words from mask_at on */
				for (unsigned w = 0;
				     w <
				     (item->mask == TRACE_MASK_BITS ? 1u : (item->lanes * item->bytes + 7u) / 8);
				     w++)
					values[item->mask_at + w] = random_next(r);
		}
	}
}

/* What an item touched that says nothing of it itself; none if the program has no such item. */
static uint64_t *random_spans(struct random *r, const struct program *p, uint64_t *at)
{
	uint32_t item = (uint32_t)random_below(r, p->n_items + 1);
	for (uint32_t i = 0; i <= p->n_items; i++, item = (item + 1) % (p->n_items + 1)) {
		if (item == p->n_items ||
		    (p->items[item].kind != TRACE_SPANS_READ && p->items[item].kind != TRACE_SPANS_WRITE))
			continue;
		*at++ = trace_mark(TRACE_SPANS, item);
		unsigned n = (unsigned)random_below(r, 4);
		*at++ = n;
		for (unsigned k = 0; k < n; k++) {
			*at++ = (random_in(r, 5) ? 0x7ff000 : 0x20000) + random_below(r, 8192);
			*at++ = TRACE_SPAN | (1 + random_below(r, random_in(r, 2) ? 64 : 1500));
		}
		break;
	}
	return at;
}

/* Registers move by strides, now and then elsewhere; those of blocks' other items are random. */
struct registers {
	uint64_t value[BLOCKS][VALUES_MOST];
	int64_t stride[BLOCKS][VALUES_MOST];
};

/* Whether the block's value says where a rep instruction begins. */
static bool of_string(const struct program *p, const struct trace_block *block, unsigned value)
{
	for (uint32_t i = block->first_item; i < block->first_item + block->items; i++)
		if (is_string(p->items[i].kind) && (p->items[i].value == value || p->items[i].second == value))
			return true;
	return false;
}

/* Where cores access memory: the same, each mostly its own, or far apart, at the same places of the table of holders. */
enum areas { AREAS_SAME, AREAS_OWN, AREAS_FAR };

static void usual_values(struct random *r, const struct machine *machine, const struct program *p, unsigned block,
			 struct registers *registers, uint64_t span, unsigned core, enum areas areas,
			 uint64_t *values)
{
	const struct trace_block *b = &p->blocks[block];
	random_values(r, p, block, values);
	for (uint32_t i = b->first_item; i < b->first_item + b->items; i++) {
		const struct trace_item *item = &p->items[i];
		uint64_t *value;
		if (item->value == TRACE_NO_VALUE || item->second != TRACE_NO_VALUE || item->kind > TRACE_WRITE ||
		    of_string(p, b, item->value))
			continue;
		value = &registers->value[block][item->value];
		if (!*value || random_in(r, 200)) {
			*value = 0x100000 + random_below(r, span / 8 + 1) * 8;
			registers->stride[block][item->value] = random_in(r, 2)
									? 0
									: (int64_t)random_below(r, 17) * 8 - 64;
		}
		if (random_in(r, 3))
			*value += (uint64_t)registers->stride[block][item->value];
		values[item->value] = *value;
		if (areas == AREAS_OWN && item->value % 4)
			values[item->value] += core * 0x1000000;
		else if (areas == AREAS_FAR)
			values[item->value] = same_place(machine, *value, (item->value + core) % 3);
	}
}

void random_walk(struct random *r, const struct machine *machine, const struct program *p, struct walk *w,
		 size_t n, unsigned cores, bool usual)
{
	static struct registers registers;
	uint64_t span = 1024u << random_below(r, 10);
	unsigned block = 0, core = 0, loop_first = 0, loop_blocks = 1,
		 marks = usual ? random_in(r, 2) ? 100000 : 2000 : 25, partials = usual ? 500 : 15;
	enum areas areas;
	memset(&registers, 0, sizeof(registers));
	w->cut = random_next(r);
	w->late = random_in(r, 2);
	w->many = random_in(r, 4);
	areas = (enum areas)random_below(r, 3);
	w->cuts = usual ? 12000 : 9;
	w->n = 0;
	while (w->n < n) {
		struct record *record = &w->records[w->n++];
		uint64_t *at = record->entries;
		record->core = (uint8_t)core;
		if (usual && random_in(r, 100)) {
			loop_first = (unsigned)random_below(r, BLOCKS);
			loop_blocks = 1 + (unsigned)random_below(r, 5);
		}
		if (usual)
			block = (loop_first + (block + 1 - loop_first + BLOCKS) % BLOCKS % loop_blocks) % BLOCKS;
		else
			block = random_in(r, 3)   ? (unsigned)random_below(r, BLOCKS)
				: random_in(r, 2) ? block
						  : (block + 1) % BLOCKS;
		if (random_in(r, marks) && (at = random_spans(r, p, at)) > record->entries) {
			/* such a mark */
		} else if (random_in(r, marks)) {
			unsigned what = (unsigned)random_below(r, 5);
			uint64_t base = 0x20000 + random_below(r, 4) * 0x200000 - random_below(r, 2) * 0x20000;
			*at++ = trace_mark(what == 0   ? TRACE_PAGES
					   : what == 1 ? TRACE_ALLOCATED
					   : what == 2 ? TRACE_FREED
					   : what == 3 ? TRACE_BREAK
						       : TRACE_RETURNED,
					   0);
			if (what < 2) {
				*at++ = base;
				*at++ = (1 + random_below(r, 1500)) * 4096;
				*at++ = random_in(r, 2) ? 4096 : 2097152;
			} else {
				*at++ = what >= 3 ? p->blocks[block].pc : base;
				if (what == 4)
					*at++ = base;
			}
		} else {
			if (random_in(r, partials))
				*at++ = trace_mark(TRACE_PARTIAL,
						   (uint32_t)random_below(r, p->blocks[block].insns));
			*at++ = p->numbers[block];
			if (usual)
				usual_values(r, machine, p, block, &registers, span, core, areas, at);
			else
				random_values(r, p, block, at);
			at += p->blocks[block].values;
		}
		record->n = (uint8_t)(at - record->entries);
		if (cores > 1 && random_in(r, usual ? 60 : 6))
			core = (unsigned)random_below(r, cores);
	}
}

void *sparse(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);
	if (memory == MAP_FAILED)
		abort();
	return memory;
}
