/*
 * An indirect branch to a non-canonical address. The processor faults at the branch; here the branch has been
 * executed by the time that its target is looked at, and what is known is the state behind it. So the branch is
 * inferred.
 *
 * What always holds: it is among the blocks of this part, and its operand still says where it led. All that could
 * have led there are found; only if they are one instruction is it taken for certain. Of returns and of jumps by
 * register or table, which leave nothing that tells them apart, the one that was executed last is noted
 * (translate/exits.c); calls leave their return address, and jumps by way of a rip-relative word have one of their
 * own.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/stream/stream.h"
#include "engine/runtime/thread.h"

bool wild(uint64_t pc) { return pc + 0x800000000000ull >= 0x1000000000000ull; }

static bool read_word(uint64_t at, uint64_t *value) { return safe_copy(value, (const void *)at, 8); }

uint64_t last_instruction(const struct block *b, struct x86_insn *in)
{
	unsigned at = 0, begin = 0;
	for (; at < b->length; at += in->length) {
		begin = at;
		if (x86_decode(b->bytes + at, b->length - at, in) != X86_DECODE_OK)
			return 0;
	}
	return b->pc + begin;
}

uint64_t address_of_operand(const struct thread *t, const struct x86_insn *in, uint64_t pc, uint64_t rsp)
{
	const struct x86_memory *m = &in->memory[0];
	uint64_t at = (uint64_t)m->displacement;
	if (in->extended) /* r16 to r31 are not kept */
		return 0;
	if (m->base == X86_RIP)
		at += pc + in->length;
	else if (m->base != X86_NO_REG)
		at += m->base == X86_RSP ? rsp : t->reg[m->base];
	if (m->index != X86_NO_REG)
		at += t->reg[m->index] * m->scale;
	if (in->prefixes & X86_PREFIX_ADDRSIZE)
		at = (uint32_t)at;
	if (m->flags & X86_MEM_ADDRESS_ONLY) /* lea knows no segment */
		return at;
	if (m->segment == X86_GS)
		at += t->app_gs;
	uint64_t fs = 0;
	if (m->segment == X86_FS && !failed(sys2(SYS_arch_prctl, ARCH_GET_FS_, &fs)))
		at += fs;
	return at;
}

bool branch_operand(const struct thread *t, const struct x86_insn *in, uint64_t pc, uint64_t rsp, uint64_t *value)
{
	if (in->extended)
		return false;
	if (in->rm == X86_NO_REG)
		return read_word(address_of_operand(t, in, pc, rsp), value);
	*value = in->rm == X86_RSP ? rsp : t->reg[in->rm];
	return true;
}

/* Was the block ever entered? Kept ones may not have been (kept/install.c): those that count, and with them those
 * that only follow them, are told by their counters. */
static bool entered(const struct thread *t, uint32_t id)
{
	while (rt.blocks[id].follows != NONE)
		id = rt.blocks[id].follows;
	return *counter_of(t, id * 2) != 0;
}

/* Could it have led to t->pc? *rsp: what the stack pointer was before it. */
static bool could(const struct thread *t, uint32_t id, const struct x86_insn *in, uint64_t pc, uint64_t *rsp)
{
	uint64_t now = t->reg[X86_RSP], value;
	*rsp = now;
	switch (in->flow) {
	case X86_FLOW_RET:
		*rsp = now - 8 - (in->immediate_size ? (uint64_t)in->immediate & 0xffff : 0);
		return id == t->last_indirect && read_word(*rsp, &value) && value == t->pc;
	case X86_FLOW_JMP_REG:
	case X86_FLOW_JMP_MEM:
		return (in->rip_relative || id == t->last_indirect) && branch_operand(t, in, pc, now, &value) &&
		       value == t->pc;
	case X86_FLOW_CALL_REG:
	case X86_FLOW_CALL_MEM:
		*rsp = now + 8;
		return read_word(now, &value) && value == pc + in->length &&
		       branch_operand(t, in, pc, *rsp, &value) && value == t->pc;
	default: return false;
	}
}

bool wild_undo(struct thread *t)
{
	uint32_t found = NONE, newest = rt.trace ? stream_newest(t) : NONE;
	uint64_t found_pc = 0, found_rsp = 0;
	for (uint32_t id = 0; id < rt.block_count; id++) {
		const struct block *b = &rt.blocks[id];
		struct x86_insn in;
		uint64_t rsp, pc;
		if ((rt.setup->kept && !entered(t, id)) || !b->branch || b->conditional || !b->insns ||
		    b->context != t->context || !(pc = last_instruction(b, &in)) || !could(t, id, &in, pc, &rsp))
			continue;
		if (found != NONE && pc != found_pc)
			return false;
		if (newest == NONE || found != newest)
			found = id;
		found_pc = pc, found_rsp = rsp;
	}
	if (found == NONE)
		return false;
	if (rt.trace && found == newest)
		stream_undo(t, found, rt.blocks[found].insns - 1u);
	else if (rt.trace) /* its record was run already */
		inexact("a jump to a non-canonical address, whose accesses were seen before it was");
	t->pc = found_pc;
	t->reg[X86_RSP] = found_rsp;
	record_correct(t, found, rt.blocks[found].insns - 1u);
	return true;
}
