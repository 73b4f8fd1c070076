/*
 * The stores of a plan, in a block's code.
 *
 *     [mov gs:[spill], rB]  mov rB, gs:[trace]  mov [rB + last word], value  …  mov qword [rB], number
 *     lea rB, [rB + record]  mov gs:[trace], rB  [counter, where it has no better place]  [mov rB, gs:[spill]]
 *
 * Of a quiet block (stream_quiet()) there is no record: it adds what it counts to the thread's sum. If its branch
 * leads out of its function, a record takes the place of that.
 *
 * Values of a block that inline checks have no plan for go to a buffer of the thread instead (inline/inline.h);
 * its header alone goes here.
 *
 * What always holds: no flag is touched; nothing but the first store can fault (at the buffer's end: stream_full);
 * at every byte the mark says which registers are in spill slots, and which groups are complete.
 */
#include "engine/runtime/record/record.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translation.h"

/* reg = base + index * scale + displacement, with 32 bits if `narrow`; base, index or both may be X86_NO_REG */
void lea_sum(struct emit *e, unsigned reg, unsigned base, unsigned index, unsigned scale, int32_t displacement,
	     bool narrow)
{
	encode_lea_scaled(&e->p, reg, base, index, scale, displacement, narrow);
}

static unsigned holder_of(const struct translation *tr, unsigned at, unsigned origin, unsigned not )
{
	for (unsigned i = 0; i < 16; i++)
		if (tr->plan.state[at][i].origin == origin && i != not )
			return i;
	die("lost: an address in the access stream's plan", tr->decoded.pc);
}

/* The whole address of an operand; the pointer is lost with gs. */
static void operand_address(struct emit *e, const struct stream_group *g, const struct x86_insn *in,
			    const struct x86_memory *m, uint64_t next)
{
	unsigned index = m->index == X86_NO_REG || (m->flags & X86_MEM_VECTOR_INDEX) ? X86_NO_REG : m->index,
		 to = g->temporary;
	bool narrow = in->address_bytes == 4 && !(m->flags & X86_MEM_STACK);
	if (m->flags & X86_MEM_INDEX_BYTE) { /* xlat: movzx to, al; lea to, [to + rbx] */
		encode_zero_extend8(&e->p, to, X86_RAX);
		lea_sum(e, to, m->base, to, 1, (int32_t)m->displacement, narrow);
	} else if (m->base == X86_RIP) {
		uint64_t address = next + (uint64_t)m->displacement;
		move_immediate(e, to, narrow ? (uint32_t)address : address);
	} else if (m->displacement != (int32_t)m->displacement) { /* moffs */
		move_immediate(e, to, narrow ? (uint32_t)m->displacement : (uint64_t)m->displacement);
	} else {
		lea_sum(e, to, m->base, index, m->scale, (int32_t)m->displacement, narrow);
	}
	if (m->segment == X86_GS) {
		gs_load(e, g->pointer, AT_APP_GS);
		lea_sum(e, to, to, g->pointer, 1, 0, false);
		gs_load(e, g->pointer, e->tr->inlining.apart ? AT_APART : AT_TRACE);
	}
}

/* vmovdqu [base + displacement], register of 2, 4 or 8 words */
static void store_vector(struct emit *e, const struct stream_value *v, unsigned base, int32_t displacement)
{
	unsigned log = v->words == 8 ? 2 : v->words == 4;
	if (v->vex)
		encode_store_avx(&e->p, log, v->reg, base, displacement);
	else
		encode_store_avx512(&e->p, log, v->reg, base, displacement);
}

/* Which sum the quiet block adds to. With one for all, each add would wait for that of the block before. */
static uint32_t quiet_sum(uint32_t id) { return AT_QUIET + 8 * (id % QUIET_SUMS); }

static bool says_quiet(const struct stream_plan *plan, unsigned group)
{
	for (unsigned i = 0; i < plan->n_values; i++)
		if (plan->values[i].kind == CAPTURE_QUIET && plan->values[i].group == group)
			return true;
	return false;
}

/* What quiet blocks have counted; the pointer is lost. */
static void load_quiet(struct emit *e, unsigned to, unsigned pointer)
{
	gs_load(e, to, AT_QUIET);
	for (uint32_t i = 1; i < QUIET_SUMS; i++) {
		gs_load(e, pointer, quiet_sum(i));
		lea_sum(e, to, to, pointer, 1, 0, false);
	}
}

static void store_value(struct emit *e, const struct stream_group *g, const struct stream_value *v,
			int32_t displacement, const uint32_t *offsets)
{
	unsigned base = g->pointer, at = g->at, to = g->temporary;
	const struct x86_insn *in = &e->tr->decoded.insn[v->insn];
	switch (v->kind) {
	case CAPTURE_REG:
		encode_store(&e->p, v->a ? holder_of(e->tr, at, v->a, X86_NO_REG) : v->reg, base, displacement);
		return;
	case CAPTURE_SUM:
		lea_sum(e, to, v->a ? holder_of(e->tr, at, v->a, X86_NO_REG) : X86_NO_REG,
			holder_of(e->tr, at, v->b, X86_RSP), v->scale, 0, false);
		encode_store(&e->p, to, base, displacement);
		return;
	case CAPTURE_ADDRESS:
		operand_address(e, g, in, &in->memory[v->reg], e->tr->decoded.pc + offsets[v->insn] + in->length);
		encode_store(&e->p, to, base, displacement);
		return;
	case CAPTURE_BIT: /* movsxd, movsx or mov */
		if (in->operand_bytes == 2)
			encode_sign_extend16(&e->p, to, v->reg);
		else if (in->operand_bytes == 4)
			encode_sign_extend32(&e->p, to, v->reg);
		else
			encode_move_load_form(&e->p, to, v->reg);
		encode_store(&e->p, to, base, displacement);
		return;
	case CAPTURE_VECTOR: store_vector(e, v, base, displacement); return;
	case CAPTURE_OPMASK: /* kmovw [base + displacement], k; its word's rest is zeroed before */
		encode_store_value(&e->p, base, displacement, 0);
		encode_store_mask16(&e->p, v->reg, base, displacement);
		return;
	case CAPTURE_QUIET: /* emit_group() has loaded it, and it is a record's first value in a temporary */
		encode_store(&e->p, to, base, displacement);
		return;
	case CAPTURE_AFTER: encode_store(&e->p, v->reg, base, displacement); return;
	default: /* CAPTURE_LOW, CAPTURE_AFTER_LOW: the register's low half */
		encode_store_value(&e->p, base, displacement, 0);
		encode_store32(&e->p, v->reg, base, displacement);
		return;
	}
}

static void emit_group(struct emit *e, unsigned n, struct counter_place place)
{
	const struct stream_group *g = &e->tr->plan.groups[n];
	unsigned at = g->at, pointer = g->pointer;
	uint32_t offsets[INSNS_MAX + 1];
	bool apart = e->tr->inlining.apart;
	int32_t record = apart ? 8 : (int32_t)(8 * (1 + e->tr->plan.words)), shift = apart ? -8 : n ? -record : 0;
	for (unsigned k = 0, offset = 0; k < e->tr->decoded.count; k++) {
		offsets[k] = offset;
		offset += e->tr->decoded.insn[k].length;
	}
	e->stream_regs = (uint8_t)(pointer | (g->temporary & 15) << 4);
	if (g->spills & 1) {
		gs_store(e, pointer, AT_SPILL_TRACE);
		e->stream_spills |= 1;
		mark(e, MARK_INSN, at, 0, 0, 0);
	}
	if (g->spills & 2) {
		gs_store(e, g->temporary, AT_SPILL_TRACE2);
		e->stream_spills |= 2;
		mark(e, MARK_INSN, at, 0, 0, 0);
	}
	if (says_quiet(&e->tr->plan, n))
		load_quiet(e, g->temporary, pointer);
	gs_load(e, pointer, AT_TRACE);
	if (n == 0) {
		if (apart)
			; /* the values are not in the buffer */
		else if (g->probe == 0xfe)
			encode_store(&e->p, pointer, pointer, record - 8);
		else if (g->probe != 0xff)
			store_value(e, g, &e->tr->plan.values[g->probe], record - 8, offsets);
		encode_store_value(&e->p, pointer, 0, e->id);
	}
	if (apart)
		gs_load(e, pointer, AT_APART);
	for (unsigned i = 0; i < e->tr->plan.n_values; i++)
		if (e->tr->plan.values[i].group == n && (n || apart || i != g->probe))
			store_value(e, g, &e->tr->plan.values[i], shift + 8 * (1 + e->tr->plan.values[i].index),
				    offsets);
	if (n == 0) { /* last of all: a signal before takes nothing back */
		if (apart)
			gs_load(e, pointer, AT_TRACE);
		encode_lea(&e->p, pointer, pointer, record);
		gs_store(e, pointer, AT_TRACE);
	}
	e->stream_groups = (uint8_t)(n + 1);
	mark(e, MARK_INSN, at, 0, 0, 0);
	if (n == 0 && place.how == PLACE_STREAM) {
		uint32_t counter = THREAD_BYTES + e->id * 16;
		gs_load(e, pointer, counter);
		lea_one(e, pointer);
		gs_store(e, pointer, counter);
		e->counted = true;
		mark(e, MARK_INSN, at, 0, 0, 0);
	}
	if (g->spills & 2)
		gs_load(e, g->temporary, AT_SPILL_TRACE2);
	if (g->spills & 1)
		gs_load(e, pointer, AT_SPILL_TRACE);
	e->stream_spills = 0;
	mark(e, MARK_INSN, at, 0, 0, 0);
}

/* A quiet block, in whose registers and at whose place its record would be stored. */
static void emit_quiet(struct emit *e, unsigned count, struct counter_place place)
{
	const struct stream_group *g = &e->tr->plan.groups[0];
	unsigned at = g->at, reg = g->pointer;
	e->stream_regs = (uint8_t)reg;
	if (g->spills & 1) {
		gs_store(e, reg, AT_SPILL_TRACE);
		e->stream_spills = 1;
		mark(e, MARK_INSN, at, 0, 0, 0);
	}
	gs_load(e, reg, quiet_sum(e->id));
	encode_lea(&e->p, reg, reg, (int32_t)count);
	gs_store(e, reg, quiet_sum(e->id));
	e->stream_groups = 1;
	mark(e, MARK_INSN, at, 0, 0, 0);
	if (place.how == PLACE_STREAM) {
		uint32_t counter = THREAD_BYTES + e->id * 16;
		gs_load(e, reg, counter);
		lea_one(e, reg);
		gs_store(e, reg, counter);
		e->counted = true;
		mark(e, MARK_INSN, at, 0, 0, 0);
	}
	if (g->spills & 1)
		gs_load(e, reg, AT_SPILL_TRACE);
	e->stream_spills = 0;
	mark(e, MARK_INSN, at, 0, 0, 0);
}

void stream_count_quietly(struct emit *e, unsigned k)
{
	encode_add_gs(&e->p, quiet_sum(e->id), (int8_t)stream_quiet(e->id));
	e->stream_groups = 1;
	mark(e, MARK_INSN, k, 0, 0, 0);
}

/* What the block counts is taken out of the sum again: who runs the record adds it. Up to the store that publishes
 * the record the branch has not been executed. */
void stream_away(struct emit *e, unsigned k)
{
	unsigned sum = X86_RAX, pointer = X86_RCX;
	e->counted = true;
	e->stream_regs = (uint8_t)(sum | pointer << 4);
	e->stream_groups = 1;
	mark(e, MARK_INSN, k, 0, 0, 0);
	gs_store(e, sum, AT_SPILL_TRACE);
	e->stream_spills = 1;
	mark(e, MARK_INSN, k, 0, 0, 0);
	gs_store(e, pointer, AT_SPILL_TRACE2);
	e->stream_spills = 3;
	mark(e, MARK_INSN, k, 0, 0, 0);
	gs_load(e, sum, quiet_sum(e->id));
	encode_lea(&e->p, sum, sum, -(int32_t)stream_quiet(e->id));
	gs_store(e, sum, quiet_sum(e->id));
	e->stream_groups = 0;
	mark(e, MARK_INSN, k, 0, 0, 0);
	for (uint32_t i = 1; i < QUIET_SUMS; i++) {
		gs_load(e, pointer, quiet_sum(e->id + i));
		lea_sum(e, sum, sum, pointer, 1, 0, false);
	}
	gs_load(e, pointer, AT_TRACE);
	encode_store(&e->p, sum, pointer, 8);
	encode_store_value(&e->p, pointer, 0, e->id);
	encode_lea(&e->p, pointer, pointer, 16);
	gs_store(e, pointer, AT_TRACE);
	mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
	gs_load(e, pointer, AT_SPILL_TRACE2);
	gs_load(e, sum, AT_SPILL_TRACE);
	e->stream_spills = 0;
	mark(e, MARK_EXIT0, k + 1, 0, 0, 0);
}

void stream_target(struct emit *e)
{
	gs_load(e, X86_RAX, AT_TRACE);
	encode_store(&e->p, X86_RCX, X86_RAX, -(int32_t)(8 * e->tr->plan.words));
}

void stream_store(struct emit *e, unsigned at, struct counter_place place)
{
	unsigned quiet = stream_quiet(e->id);
	if (quiet && place.add < 0 && e->tr->plan.groups[0].at == at)
		emit_quiet(e, quiet, place);
	for (unsigned n = 0; n < e->tr->plan.n_groups && !quiet; n++)
		if (e->tr->plan.groups[n].at == at)
			emit_group(e, n, place);
}
