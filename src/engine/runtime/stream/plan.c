/*
 * The plan of a block's accesses: which register values are enough to know every address that the block touches,
 * and at which points of its code those values are stored for the models.
 *
 * Terms
 *   item     one access of the block: load, store, prefetch. Its address is a value plus a constant.
 *   value    a number that exists only at run time, and is stored once per execution of the block.
 *   origin   what a register held at the block's start, or what an instruction that cannot be followed left in it.
 *            follow.c knows of each register, before each instruction, "origin + constant".
 *   group    values that are stored together, before one instruction, through one pointer register.
 *
 * Why few values are enough: most addresses of a block differ by constants.
 *
 *     mov  8(%rdi), %rax        item 0: rdi@start + 8  ─┐
 *     add  $16, %rdi                                    ├─ one value, rdi@start: stored once, before any of the
 *     mov  %rax, -8(%rdi)       item 1: rdi@start + 8  ─┘  three instructions, as rdi or as rdi - 16
 *     mov  (%rax), %rcx         item 2: rax, new there ─── a second value, that exists behind the first instruction
 *
 * The steps, in the order of stream_plan()
 *
 *     instructions ──insn_items()──► items, values ──find_groups()──► groups ──number_values()──► words of a record
 *                                       │
 *                          each value has a life, first … last: the instructions before which
 *                          some register still holds it
 *
 *     value a   ├────────────┤                     Groups are made from the front. Each is as late as the first
 *     value b        ├────┤                        value to die lets it be, and takes all values alive there
 *     value c             │      ├─────────┤       (stabbing intervals, greedily: the fewest groups).
 *                      group 0          group 1    Within that range it is where the fewest registers have to be
 *                                                  spilled.
 *
 * What always holds:
 *  1. The plan depends on nothing but the block's bytes and address, and on settings that no run changes.
 *     translate_marks() makes it again to learn what a half-executed block has stored.
 *  2. An instruction's items are as many as the decoder's data_reads and data_writes (of a gather: lanes, of rep:
 *     iterations, that are known later), and its reads come before its writes.
 *  3. A value whose group has not been reached is still in the register that the plan names. So the record of a
 *     block that a signal leaves can be completed (stream_left() in run.c).
 *  4. The values of the first group have the record's last words: its first store touches the record's end, and
 *     faults if the buffer is full, before anything of the record is published.
 */
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/translate/translation.h"

#define NO_VALUE 0xffffu

static unsigned new_value(struct translation *tr, unsigned kind, unsigned insn)
{
	if (tr->plan.n_values == STREAM_VALUES)
		die("a block has more addresses than the engine's plan holds", tr->decoded.pc);
	tr->plan.values[tr->plan.n_values] = (struct stream_value){.kind = (uint8_t)kind,
								   .words = 1,
								   .insn = (uint8_t)insn,
								   .first = (uint8_t)insn,
								   .last = (uint8_t)insn,
								   .group = 0xff};
	return tr->plan.n_values++;
}

static unsigned followed_value(struct translation *tr, unsigned kind, unsigned a, unsigned b, unsigned scale,
			       unsigned insn)
{
	for (unsigned i = 0; i < tr->plan.n_values; i++) {
		const struct stream_value *v = &tr->plan.values[i];
		if (v->kind == kind && v->a == a && v->b == b && v->scale == scale)
			return i;
	}
	unsigned i = new_value(tr, kind, insn);
	tr->plan.values[i].a = (uint16_t)a;
	tr->plan.values[i].b = (uint16_t)b;
	tr->plan.values[i].scale = (uint8_t)scale;
	return i;
}

static unsigned at_insn(struct translation *tr, unsigned kind, unsigned k, unsigned reg)
{
	for (unsigned i = 0; i < tr->plan.n_values; i++)
		if (tr->plan.values[i].kind == kind && tr->plan.values[i].insn == k &&
		    tr->plan.values[i].reg == reg)
			return i;
	unsigned i = new_value(tr, kind, k);
	tr->plan.values[i].reg = (uint8_t)reg;
	return i;
}

/* ---- items ------------------------------------------------------------------------------------ */

static struct trace_item *new_item(struct translation *tr, unsigned kind, unsigned k, unsigned offset,
				   unsigned bytes, unsigned flags)
{
	if (tr->plan.n_items == STREAM_ITEMS)
		die("a block has more accesses than the engine's plan holds", tr->decoded.pc);
	unsigned i = tr->plan.n_items++;
	tr->plan.item_value[i] = tr->plan.item_second[i] = tr->plan.item_mask[i] = NO_VALUE;
	tr->plan.item_sum[i] = 0;
	tr->plan.operand[i] = 0xff;
	tr->plan.items[i] = (struct trace_item){.bytes = (uint16_t)bytes,
						.offset = (uint16_t)offset,
						.kind = (uint8_t)kind,
						.flags = (uint8_t)flags,
						.insn = (uint8_t)k};
	return &tr->plan.items[i];
}

/* Whether the address can be had only by way of the operand itself. */
static bool by_operand(const struct x86_insn *in, const struct x86_memory *m)
{
	if (m->segment == X86_GS || (m->flags & X86_MEM_INDEX_BYTE))
		return true;
	return in->address_bytes == 4 && !(m->flags & X86_MEM_STACK);
}

static void address_of(struct translation *tr, unsigned i, const struct x86_insn *in, const struct x86_memory *m,
		       unsigned k, uint64_t next)
{
	const struct stream_register *r = tr->plan.state[k];
	unsigned a = ORIGIN_CONSTANT, b = ORIGIN_CONSTANT, scale = 0;
	int64_t sum = m->displacement;
	if (m->base == X86_RIP && in->address_bytes == 4 && m->segment != X86_GS) {
		tr->plan.item_sum[i] = (int64_t)(uint32_t)(next + (uint64_t)m->displacement);
		return;
	}
	if (by_operand(in, m)) {
		tr->plan.item_value[i] = (uint16_t)at_insn(tr, CAPTURE_ADDRESS, k, (unsigned)(m - in->memory));
		return;
	}
	if (m->base == X86_RIP) {
		sum += (int64_t)next;
	} else if (m->base != X86_NO_REG) {
		a = r[m->base].origin;
		sum += r[m->base].constant;
	}
	if (m->index != X86_NO_REG && !(m->flags & X86_MEM_VECTOR_INDEX)) {
		b = r[m->index].origin;
		scale = m->scale;
		sum += r[m->index].constant * (int64_t)scale;
		if (b == ORIGIN_CONSTANT) {
			scale = 0;
		} else if (a == ORIGIN_CONSTANT && scale == 1) {
			a = b;
			b = ORIGIN_CONSTANT;
			scale = 0;
		}
	}
	tr->plan.item_sum[i] = sum;
	if (b != ORIGIN_CONSTANT)
		tr->plan.item_value[i] = (uint16_t)followed_value(tr, CAPTURE_SUM, a, b, scale, k);
	else if (a != ORIGIN_CONSTANT)
		tr->plan.item_value[i] = (uint16_t)followed_value(tr, CAPTURE_REG, a, 0, 0, k);
}

static unsigned flags_of(const struct x86_insn *in, const struct x86_memory *m)
{
	unsigned flags = 0;
	if (m->segment == X86_FS)
		flags |= TRACE_FS;
	if ((m->flags & X86_MEM_LOCKED) || ((in->class & X86_CLASS_LOCKED) && !(m->flags & X86_MEM_STACK)))
		flags |= TRACE_LOCKED;
	if ((m->flags & X86_MEM_STACK) && (m->flags & X86_MEM_IMPLICIT))
		flags |= TRACE_STACK;
	if (in->class & X86_CLASS_NON_TEMPORAL)
		flags |= TRACE_NON_TEMPORAL;
	return flags;
}

static void gather(struct translation *tr, unsigned i, const struct x86_insn *in, const struct x86_memory *m,
		   unsigned k, bool write)
{
	struct trace_item *item = &tr->plan.items[i];
	bool evex = in->encoding == X86_EVEX;
	unsigned lanes = write ? in->data_writes : in->data_reads;
	/* opcodes 90 to 93, A0 to A3: the lowest bit says that indices have 64 bits */
	item->index_bytes = in->opcode & 1 ? 8 : 4;
	item->lanes = (uint8_t)lanes;
	item->scale = m->scale;
	unsigned bytes = lanes * item->index_bytes;
	unsigned v = at_insn(tr, CAPTURE_VECTOR, k, m->index);
	tr->plan.values[v].vex = !evex;
	tr->plan.values[v].words = bytes > 32 ? 8 : bytes > 16 ? 4 : 2;
	tr->plan.item_second[i] = (uint16_t)v;
	if (evex) {
		item->mask = TRACE_MASK_BITS;
		tr->plan.item_mask[i] = (uint16_t)at_insn(tr, CAPTURE_OPMASK, k, in->opmask);
	} else {
		item->mask = TRACE_MASK_ELEMENTS;
		v = at_insn(tr, CAPTURE_VECTOR, k, in->vvvv);
		tr->plan.values[v].vex = 1;
		unsigned words = lanes * m->width > 16 ? 4 : 2;
		if (tr->plan.values[v].words < words)
			tr->plan.values[v].words = (uint8_t)words;
		tr->plan.item_mask[i] = (uint16_t)v;
	}
}

static void operand_item(struct translation *tr, const struct x86_insn *in, const struct x86_memory *m, unsigned k,
			 unsigned offset, bool write)
{
	uint64_t next = tr->decoded.pc + offset + in->length;
	unsigned i = tr->plan.n_items, kind = write ? TRACE_WRITE : TRACE_READ, flags = flags_of(in, m);
	if (m->flags & X86_MEM_VECTOR_INDEX)
		kind = write ? TRACE_SCATTER : TRACE_GATHER;
	bool rep = (in->class & X86_CLASS_REP) && (m->flags & X86_MEM_STRING);
	if (rep)
		kind = write ? TRACE_REP_WRITE : TRACE_REP_READ;
	if (x86_state_kind(in)) {
		new_item(tr, write ? TRACE_SPANS_WRITE : TRACE_SPANS_READ, k, offset, 0, 0);
		return;
	}
	new_item(tr, kind, k, offset, x86_operand_bytes(in, m), flags);
	if (rep && in->address_bytes == 4) {
		tr->plan.item_value[i] = (uint16_t)at_insn(tr, CAPTURE_LOW, k, m->base);
		tr->plan.item_second[i] = (uint16_t)at_insn(tr, CAPTURE_AFTER_LOW, k, m->base);
		return;
	}
	if (rep) {
		/* not by origins: the second must be of the same base */
		tr->plan.item_value[i] = (uint16_t)at_insn(tr, CAPTURE_REG, k, m->base);
		tr->plan.item_second[i] = (uint16_t)at_insn(tr, CAPTURE_AFTER, k, m->base);
		return;
	}
	tr->plan.operand[i] = (uint8_t)(m - in->memory);
	address_of(tr, i, in, m, k, next);
	if (m->flags & X86_MEM_VECTOR_INDEX)
		gather(tr, i, in, m, k, write);
	if (m->flags & X86_MEM_BIT_OFFSET) {
		tr->plan.items[i].flags |= TRACE_BIT;
		tr->plan.item_second[i] = (uint16_t)at_insn(tr, CAPTURE_BIT, k, in->reg);
	}
}

static void stack_item(struct translation *tr, unsigned kind, unsigned k, unsigned offset, unsigned width,
		       const struct stream_register *r, int64_t displacement)
{
	unsigned i = tr->plan.n_items;
	new_item(tr, kind, k, offset, width, TRACE_STACK);
	if (r->origin)
		tr->plan.item_value[i] = (uint16_t)followed_value(tr, CAPTURE_REG, r->origin, 0, 0, k);
	tr->plan.item_sum[i] = r->constant + displacement;
}

/* enter: push rbp; for 1 … level - 1: push [rbp - 8 i]; then the frame's address itself (SDM, ENTER). */
static void enter_items(struct translation *tr, const struct x86_insn *in, unsigned k, unsigned offset)
{
	const struct stream_register *r = tr->plan.state[k];
	unsigned level = (unsigned)(in->immediate >> 16) & 31, width = in->memory[0].width;
	for (unsigned n = 0; n <= level; n++) {
		if (n && n < level)
			stack_item(tr, TRACE_READ, k, offset, width, &r[X86_RBP], -(int64_t)(n * width));
		stack_item(tr, TRACE_WRITE, k, offset, width, &r[X86_RSP], -(int64_t)((n + 1) * width));
	}
}

static void insn_items(struct translation *tr, const struct x86_insn *in, unsigned k, unsigned offset)
{
	/* whatever it accesses: nothing of the stream is used (judge_strange) */
	if ((in->class & X86_CLASS_UNKNOWN) || in->extended)
		return;
	if (stream_is_enter(in) && (in->immediate >> 16 & 31)) {
		enter_items(tr, in, k, offset);
		return;
	}
	for (int write = 0; write < 2; write++)
		for (unsigned j = 0; j < in->memory_count; j++) {
			const struct x86_memory *m = &in->memory[j];
			if (!(m->flags & X86_MEM_ADDRESS_ONLY) &&
			    (m->flags & (write ? X86_MEM_WRITE : X86_MEM_READ)))
				operand_item(tr, in, m, k, offset, write);
		}
	if ((in->class & X86_CLASS_PREFETCH) && in->memory_count && (in->memory[0].flags & X86_MEM_ADDRESS_ONLY) &&
	    !(in->memory[0].flags & X86_MEM_VECTOR_INDEX)) {
		unsigned i = tr->plan.n_items;
		new_item(tr, TRACE_PREFETCH, k, offset, 1, flags_of(in, &in->memory[0]) & TRACE_FS);
		tr->plan.operand[i] = 0;
		address_of(tr, i, in, &in->memory[0], k, tr->decoded.pc + offset + in->length);
	}
}

/* ---- values that are not accesses: for data objects ---- */

static void value_item(struct translation *tr, unsigned which, unsigned function, unsigned k, unsigned offset,
		       unsigned reg)
{
	unsigned i = tr->plan.n_items;
	struct trace_item *item = new_item(tr, TRACE_VALUE, k, offset, 8, 0);
	const struct stream_register *r = &tr->plan.state[k][reg];
	item->lanes = (uint8_t)which;
	item->scale = (uint8_t)function;
	tr->plan.item_sum[i] = r->constant;
	if (r->origin != ORIGIN_CONSTANT)
		tr->plan.item_value[i] = (uint16_t)followed_value(tr, CAPTURE_REG, r->origin, 0, 0, k);
}

/* An allocation function's arguments. */
static void value_items(struct translation *tr)
{
	static const uint8_t registers[] = {[TRACE_VALUE_FIRST] = X86_RDI,
					    [TRACE_VALUE_SECOND] = X86_RSI,
					    [TRACE_VALUE_THIRD] = X86_RDX,
					    [TRACE_VALUE_STACK] = X86_RSP};
	int function = stream_objects_function(tr->decoded.pc);
	for (unsigned i = 0; function >= 0 && i < sizeof registers; i++)
		value_item(tr, i, (unsigned)function, 0, 0, registers[i]);
}

/* posix_memalign()'s result is what its code stores from a register of 64 bits (mov, opcode 89), where its caller
 * wanted it. */
static bool stores_result(const struct x86_insn *in, uint64_t pc)
{
	return stream_objects_wanted() && in->map == X86_MAP_0 && in->opcode == 0x89 && in->data_writes == 1 &&
	       in->memory[0].width == 8 && stream_objects_stores(pc);
}

/* Behind the store's own item, whose address it has. */
static void stored_at_item(struct translation *tr, unsigned k, unsigned offset)
{
	unsigned i = tr->plan.n_items;
	struct trace_item *item = new_item(tr, TRACE_VALUE, k, offset, 8, 0);
	item->flags = tr->plan.items[i - 1].flags & TRACE_FS;
	item->lanes = TRACE_VALUE_STORED_AT;
	tr->plan.item_value[i] = tr->plan.item_value[i - 1], tr->plan.item_sum[i] = tr->plan.item_sum[i - 1];
}

/* ---- groups ----------------------------------------------------------------------------------- */

static unsigned holder(const struct translation *tr, unsigned k, unsigned origin, unsigned not )
{
	for (unsigned i = 0; i < 16; i++)
		if (tr->plan.state[k][i].origin == origin && i != not )
			return i;
	return X86_NO_REG;
}

static bool available(const struct translation *tr, const struct stream_value *v, unsigned k)
{
	if (v->kind == CAPTURE_QUIET)
		return true;
	if (v->kind == CAPTURE_REG && v->a)
		return holder(tr, k, v->a, X86_NO_REG) != X86_NO_REG;
	if (v->kind == CAPTURE_SUM)
		return (!v->a || holder(tr, k, v->a, X86_NO_REG) != X86_NO_REG) &&
		       holder(tr, k, v->b, X86_RSP) != X86_NO_REG;
	return false;
}

/* Registers that are overwritten before they are read or an instruction could show them to a handler: as
 * place_counter has it. */
static void find_dead(struct translation *tr)
{
	uint16_t dead = 0;
	tr->plan.dead[tr->decoded.count] = 0;
	for (int k = (int)tr->decoded.count - 1; k >= 0; k--) {
		const struct x86_insn *in = &tr->decoded.insn[k];
		dead = (uint16_t)((dead | in->gpr_written) & ~in->gpr_read);
		if (may_fault(in))
			dead = 0;
		tr->plan.dead[k] = dead;
	}
}

static uint16_t registers_of(const struct translation *tr, const struct stream_value *v, unsigned at)
{
	const struct x86_insn *in = &tr->decoded.insn[v->insn];
	unsigned mask = 0;
	switch (v->kind) {
	case CAPTURE_REG: return (uint16_t)(1u << (v->a ? holder(tr, at, v->a, X86_NO_REG) : v->reg));
	case CAPTURE_SUM:
		mask = 1u << holder(tr, at, v->b, X86_RSP);
		return (uint16_t)(mask | (v->a ? 1u << holder(tr, at, v->a, X86_NO_REG) : 0));
	case CAPTURE_ADDRESS: {
		const struct x86_memory *m = &in->memory[v->reg];
		mask |= m->base < 16 ? 1u << m->base : 0;
		return (uint16_t)(mask |
				  (m->index < 16 && !(m->flags & X86_MEM_VECTOR_INDEX) ? 1u << m->index : 0));
	}
	case CAPTURE_BIT:
	case CAPTURE_LOW:
	case CAPTURE_AFTER:
	case CAPTURE_AFTER_LOW: return (uint16_t)(1u << v->reg);
	default: return 0;
	}
}

static bool needs_temporary(const struct stream_value *v)
{
	return v->kind == CAPTURE_SUM || v->kind == CAPTURE_ADDRESS || v->kind == CAPTURE_BIT ||
	       v->kind == CAPTURE_QUIET;
}

static bool is_behind(const struct stream_value *v)
{
	return v->kind == CAPTURE_AFTER || v->kind == CAPTURE_AFTER_LOW;
}

/* Registers that a later store, or the completion of a block that is left early, reads for values that are stored
 * in groups behind g. */
static uint16_t wanted_later(const struct translation *tr, unsigned g, unsigned at)
{
	uint16_t mask = 0;
	for (unsigned i = 0; i < tr->plan.n_values; i++) {
		const struct stream_value *v = &tr->plan.values[i];
		if (v->group != 0xff && v->group <= g)
			continue;
		for (unsigned r = 0; r < 16; r++)
			if (tr->plan.state[at][r].origin &&
			    (tr->plan.state[at][r].origin == v->a || tr->plan.state[at][r].origin == v->b))
				mask |= (uint16_t)(1u << r);
		if (!v->a && (v->kind != CAPTURE_SUM))
			mask |= registers_of(tr, v, v->insn);
	}
	return mask;
}

#define POINTERS 0xefefu /* any but rsp and r12, whose encodings as a base are others */

static unsigned count_bits(uint16_t mask)
{
	unsigned n = 0;
	for (; mask; mask &= (uint16_t)(mask - 1))
		n++;
	return n;
}

static unsigned pick(uint16_t mask)
{
	static const uint8_t choice[] = {X86_R11, X86_R10, X86_R9,  X86_R8,  X86_RDI, X86_RSI, X86_RDX,
					 X86_RCX, X86_RAX, X86_RBX, X86_R15, X86_R14, X86_R13, X86_RBP};
	for (unsigned i = 0; i < sizeof choice; i++)
		if (mask >> choice[i] & 1)
			return choice[i];
	return X86_NO_REG;
}

/* The registers of group g, stored before instruction `at`. Returns how many must be spilled; 9: it cannot be
 * there. */
static unsigned choose(const struct translation *tr, struct stream_group *group, unsigned g, unsigned at)
{
	uint16_t used = 0, read_later = 0;
	bool temporary = false;
	for (unsigned i = 0; i < tr->plan.n_values; i++)
		if (tr->plan.values[i].group == g) {
			used |= registers_of(tr, &tr->plan.values[i], at);
			temporary |= needs_temporary(&tr->plan.values[i]);
		}
	for (unsigned k = at; k < tr->decoded.count; k++)
		read_later |= tr->decoded.insn[k].gpr_read;
	uint16_t free = (uint16_t)(POINTERS & ~used),
		 dead = (uint16_t)(free & tr->plan.dead[at] & ~wanted_later(tr, g, at));
	unsigned spills = 0;
	for (unsigned which = 0; which < (temporary ? 2u : 1u); which++) {
		unsigned reg = pick(dead);
		if (reg == X86_NO_REG) {
			spills |= 1u << which;
			reg = pick((uint16_t)(free & ~read_later));
			if (reg == X86_NO_REG)
				reg = pick(free);
			if (reg == X86_NO_REG)
				return 9;
		}
		*(which ? &group->temporary : &group->pointer) = (uint8_t)reg;
		free &= (uint16_t) ~(1u << reg);
		dead &= (uint16_t) ~(1u << reg);
	}
	if (!temporary)
		group->temporary = X86_NO_REG;
	group->at = (uint8_t)at;
	group->spills = (uint8_t)spills;
	return (spills & 1) + (spills >> 1);
}

static void place_group(struct translation *tr, unsigned g, unsigned lo, unsigned hi)
{
	struct stream_group *group = &tr->plan.groups[g], best = {0};
	unsigned least = 10;
	for (unsigned at = lo; at <= hi && least; at++) {
		unsigned spills = choose(tr, group, g, at);
		/* between a compare and its branch it would keep the two from being fused */
		if (spills < 9 && at && at == tr->decoded.count - 1 && tr->decoded.insn[at].flow == X86_FLOW_JCC)
			spills += lo < hi;
		if (spills < least) {
			least = spills;
			best = *group;
		}
	}
	if (least >= 9)
		die("no register is left for the access stream", tr->decoded.pc);
	*group = best;
	for (unsigned i = 0; i < tr->plan.n_values; i++) {
		struct stream_value *v = &tr->plan.values[i];
		if (v->group != g)
			continue;
		if (v->kind == CAPTURE_REG && v->a)
			v->constant = tr->plan.state[group->at][holder(tr, group->at, v->a, X86_NO_REG)].constant;
		if (v->kind == CAPTURE_SUM)
			v->constant =
				(v->a ? tr->plan.state[group->at][holder(tr, group->at, v->a, X86_NO_REG)].constant
				      : 0) +
				tr->plan.state[group->at][holder(tr, group->at, v->b, X86_RSP)].constant *
					v->scale;
	}
}

static void find_groups(struct translation *tr)
{
	unsigned last_insn = tr->decoded.count - 1;
	for (unsigned i = 0; i < tr->plan.n_values; i++) {
		struct stream_value *v = &tr->plan.values[i];
		while (v->first && available(tr, v, v->first - 1u))
			v->first--;
		while (v->last < last_insn && available(tr, v, v->last + 1u))
			v->last++;
	}
	for (;;) {
		unsigned hi = last_insn, members = 0, g = tr->plan.n_groups,
			 lo = g ? tr->plan.groups[g - 1].at : 0;
		uint16_t used = 0;
		if (g == STREAM_GROUPS - 1)
			die("a block has more addresses than the engine's plan holds", tr->decoded.pc);
		for (unsigned i = 0; i < tr->plan.n_values; i++)
			if (tr->plan.values[i].group == 0xff && tr->plan.values[i].kind < CAPTURE_AFTER &&
			    tr->plan.values[i].last < hi)
				hi = tr->plan.values[i].last;
		for (unsigned i = 0; i < tr->plan.n_values; i++) {
			struct stream_value *v = &tr->plan.values[i];
			if (v->group != 0xff || v->kind >= CAPTURE_AFTER || v->first > hi)
				continue;
			unsigned from = v->first > lo ? v->first : lo;
			uint16_t with = used;
			for (unsigned at = from; at <= hi; at++)
				with |= registers_of(tr, v, at);
			if (count_bits(with) > 11) /* the rest in a group behind it */
				continue;
			v->group = (uint8_t)g;
			used = with;
			lo = from;
			members++;
		}
		if (!members && g)
			break;
		tr->plan.n_groups++;
		place_group(tr, g, lo, hi);
	}
	if (tr->plan.rep) {
		unsigned g = tr->plan.n_groups++;
		for (unsigned i = 0; i < tr->plan.n_values; i++)
			if (is_behind(&tr->plan.values[i]))
				tr->plan.values[i].group = (uint8_t)g;
		choose(tr, &tr->plan.groups[g], g, last_insn);
		tr->plan.groups[g].at = (uint8_t)tr->decoded.count;
	}
}

/* Words: of later groups first, so that the first group's last store is to the record's last word. */
static void number_values(struct translation *tr)
{
	unsigned word = 0, probe = X86_NO_REG;
	for (int first = 0; first < 2; first++)
		for (int simple = 0; simple < 2; simple++) /* the last one is stored by a mov, if there is one */
			for (unsigned i = 0; i < tr->plan.n_values; i++) {
				struct stream_value *v = &tr->plan.values[i];
				if ((v->group == 0) != first || (v->kind == CAPTURE_REG) != simple)
					continue;
				v->index = (uint8_t)word;
				word += v->words;
				probe = v->kind == CAPTURE_REG ? i : X86_NO_REG;
			}
	if (word >= STREAM_RECORD_WORDS - 2)
		die("a block's record is larger than the engine's plan holds", tr->decoded.pc);
	tr->plan.words = word;
	tr->plan.groups[0].probe = word == 0                                                  ? 0xff
				   : probe != X86_NO_REG && tr->plan.values[probe].group == 0 ? (uint8_t)probe
											      : 0xfe;
}

static unsigned ending_of(const struct x86_insn *in)
{
	switch (in->flow) {
	case X86_FLOW_JCC:
	case X86_FLOW_LOOP:
	case X86_FLOW_JRCXZ: return TRACE_END_CONDITIONAL;
	case X86_FLOW_JMP:
	case X86_FLOW_JMP_ABS: return TRACE_END_JUMP;
	case X86_FLOW_CALL: return TRACE_END_CALL;
	case X86_FLOW_JMP_REG:
	case X86_FLOW_JMP_MEM: return TRACE_END_INDIRECT_JUMP;
	case X86_FLOW_CALL_REG:
	case X86_FLOW_CALL_MEM: return TRACE_END_INDIRECT_CALL;
	case X86_FLOW_RET:
	case X86_FLOW_RET_FAR: return TRACE_END_RETURN;
	case X86_FLOW_NONE:
	case X86_FLOW_XBEGIN: return TRACE_END_NONE;
	default: return TRACE_END_SYSTEM;
	}
}

/* Gathers need many words, enter's nesting many items. And a change of fs's base ends a block by an exit. */
bool stream_ends_block(const struct x86_insn *in, unsigned gathers)
{
	if (in->special == X86_SPECIAL_WRFSBASE || in->special == X86_SPECIAL_LOAD_FS)
		return true;
	return gathers == STREAM_GATHERS || stream_is_enter(in);
}

/* Of a block that ends in an indirect jump, or, where nothing but the call graph is wanted, of every block: the
 * one item that tells which frame it is about. */
static bool calls_item(struct translation *tr, const struct x86_insn *in, unsigned k, unsigned offset)
{
	bool jump = in->flow == X86_FLOW_JMP_REG || in->flow == X86_FLOW_JMP_MEM;
	if (!(rt.setup->flags & RECORD_CALLS))
		return true;
	if (jump && !rt.trace_calls_only)
		insn_items(tr, in, k, offset);
	if (jump)
		value_item(tr, TRACE_VALUE_JUMP, 0, k, offset, X86_RSP);
	bool slot = in->flow == X86_FLOW_CALL || in->flow == X86_FLOW_CALL_REG || in->flow == X86_FLOW_CALL_MEM ||
		    in->flow == X86_FLOW_RET;
	return !jump && (!rt.trace_calls_only || slot || stream_calls_needs_items(in));
}

/* Where quiet blocks have no record, those of the others say what they counted. The target is the first value. */
static void quiet_values(struct translation *tr)
{
	unsigned k = tr->decoded.count - 1, flow = tr->decoded.insn[k].flow;
	if (rt.trace_quiet && (flow == X86_FLOW_RET || (flow >= X86_FLOW_JMP_REG && flow <= X86_FLOW_CALL_MEM)))
		new_value(tr, CAPTURE_TARGET, k);
	if (rt.trace_quiet)
		new_value(tr, CAPTURE_QUIET, k);
}

void stream_plan(struct translation *tr)
{
	unsigned offset = 0;
	tr->plan.n_values = tr->plan.n_items = tr->plan.n_groups = tr->plan.words = 0;
	tr->plan.ending = TRACE_END_NONE;
	tr->plan.ending_length = 0;
	tr->plan.rep = false;
	if (!tr->decoded.count)
		return;
	stream_follow_begin(tr);
	quiet_values(tr);
	value_items(tr);
	for (unsigned k = 0; k < tr->decoded.count; k++) {
		const struct x86_insn *in = &tr->decoded.insn[k];
		if (stream_objects_wanted() && (in->flow == X86_FLOW_RET || in->flow == X86_FLOW_RET_FAR))
			value_item(tr, TRACE_VALUE_RESULT, 0, k, offset, X86_RAX);
		bool stores = stores_result(in, tr->decoded.pc + offset);
		if (stores)
			value_item(tr, TRACE_VALUE_STORED, 0, k, offset, in->reg);
		if (calls_item(tr, in, k, offset))
			insn_items(tr, in, k, offset);
		if (stores)
			stored_at_item(tr, k, offset);
		offset += in->length;
		stream_follow(tr, in, k, tr->decoded.pc + offset);
	}
	const struct x86_insn *last = &tr->decoded.insn[tr->decoded.count - 1];
	tr->plan.ending = (uint8_t)ending_of(last);
	tr->plan.ending_length = last->length;
	for (unsigned i = 0; i < tr->plan.n_values; i++)
		tr->plan.rep |= is_behind(&tr->plan.values[i]);
	find_dead(tr);
	find_groups(tr);
	number_values(tr);
	for (unsigned i = 0; i < tr->plan.n_items; i++) {
		struct trace_item *item = &tr->plan.items[i];
		const struct stream_value *v = tr->plan.item_value[i] == NO_VALUE
						       ? NULL
						       : &tr->plan.values[tr->plan.item_value[i]];
		item->value = v ? v->index : TRACE_NO_VALUE;
		item->second = tr->plan.item_second[i] == NO_VALUE
				       ? TRACE_NO_VALUE
				       : tr->plan.values[tr->plan.item_second[i]].index;
		item->mask_at = tr->plan.item_mask[i] == NO_VALUE ? 0
								  : tr->plan.values[tr->plan.item_mask[i]].index;
		item->displacement = tr->plan.item_sum[i] - (v ? v->constant : 0);
	}
}

/* ---- templates -------------------------------------------------------------------------------- */

void stream_template(const struct translation *tr, uint32_t id, uint32_t module)
{
	const struct x86_insn *last = tr->decoded.count ? &tr->decoded.insn[tr->decoded.count - 1] : NULL;
	struct record_process *process = rt.process;
	uint32_t first = rt.item_count;
	if (first + tr->plan.n_items > rt.items_max)
		die("the program has more distinct data accesses than the engine's record holds", tr->decoded.pc);
	struct trace_block block = {.pc = tr->decoded.pc,
				    .first_item = first,
				    .items = (uint16_t)tr->plan.n_items,
				    .values = (uint16_t)tr->plan.words,
				    .length = (uint16_t)tr->decoded.length,
				    .insns = (uint16_t)tr->decoded.count,
				    .ending = tr->plan.ending,
				    .ending_length = tr->plan.ending_length,
				    .flags = rt.inline_on ? TRACE_INLINED : 0,
				    .module = module};
	if (tr->plan.ending >= TRACE_END_CONDITIONAL && tr->plan.ending <= TRACE_END_CALL)
		block.target = tr->decoded.pc + tr->decoded.length + (uint64_t)(int64_t)last->target_rel;
	memcpy(rt.items + first, tr->plan.items, tr->plan.n_items * sizeof *tr->plan.items);
	memcpy(rt.record_items + (first - rt.items_inherited), tr->plan.items,
	       tr->plan.n_items * sizeof *tr->plan.items);
	for (unsigned i = 0; i < tr->plan.n_values; i++)
		if (tr->plan.values[i].kind == CAPTURE_QUIET)
			block.quiet = (uint8_t)(tr->plan.values[i].index + 1);
	rt.templates[id] = block;
	rt.record_templates[id - rt.templates_inherited] = block;
	rt.item_count = first + tr->plan.n_items;
	__atomic_store_n(&process->items.count, rt.item_count, __ATOMIC_RELEASE);
	__atomic_store_n(&process->templates.count, id + 1, __ATOMIC_RELEASE);
}
