#include "symbol/flow.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#include "engine/x86/decode.h"

static const short dwarf_number[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

static void jump_through_memory(const struct x86_insn *insn, uint64_t next, struct flow *out)
{
	const struct x86_memory *m = &insn->memory[0];
	out->kind = FLOW_JUMP_MEMORY;
	if (m->base == X86_RIP && m->index == X86_NO_REG) {
		out->kind = FLOW_JUMP_SLOT;
		out->target = next + (uint64_t)m->displacement;
		out->has_target = true;
	} else if (m->base == X86_NO_REG && m->index != X86_NO_REG && m->scale == 8) {
		out->kind = FLOW_JUMP_TABLE;
		out->target = (uint64_t)m->displacement;
		out->has_target = true;
	}
}

static bool decode_x86(const uint8_t *code, size_t available, uint64_t address, struct flow *out)
{
	struct x86_insn insn;
	if (x86_decode(code, available, &insn) != X86_DECODE_OK)
		return false;
	uint64_t next = address + insn.length;
	out->length = insn.length;
	out->filler = insn.class & X86_CLASS_NOP;
	if (x86_flow_has_target(insn.flow)) {
		out->has_target = true;
		out->target = next + (uint64_t)(int64_t)insn.target_rel;
	}
	if (insn.flow == X86_FLOW_JMP_ABS) {
		out->has_target = true;
		out->target = (uint64_t)insn.immediate;
	}
	switch (insn.flow) {
	case X86_FLOW_JCC:
	case X86_FLOW_LOOP:
	case X86_FLOW_JRCXZ:
	case X86_FLOW_XBEGIN: out->kind = FLOW_BRANCH; break;
	case X86_FLOW_JMP:
	case X86_FLOW_JMP_ABS: out->kind = FLOW_JUMP; break;
	case X86_FLOW_CALL:
	case X86_FLOW_CALL_REG:
	case X86_FLOW_CALL_MEM:
	case X86_FLOW_CALL_FAR: out->kind = FLOW_CALL; break;
	case X86_FLOW_JMP_REG:
		/* r16 to r31 are not followed */
		out->kind = insn.extended ? FLOW_JUMP_MEMORY : FLOW_JUMP_REGISTER;
		out->reg = dwarf_number[insn.rm & 15];
		break;
	case X86_FLOW_JMP_MEM: jump_through_memory(&insn, next, out); break;
	case X86_FLOW_JMP_FAR: out->kind = FLOW_JUMP_MEMORY; break;
	case X86_FLOW_RET:
	case X86_FLOW_RET_FAR:
	case X86_FLOW_IRET:
	case X86_FLOW_UIRET: out->kind = FLOW_RETURN; break;
	case X86_FLOW_UD:
	case X86_FLOW_HLT:
	case X86_FLOW_INT3:
		out->kind = FLOW_END;
		out->filler = insn.flow == X86_FLOW_INT3;
		break;
	default: out->kind = FLOW_NEXT;
	}
	bool push = insn.encoding == X86_LEGACY && insn.map == X86_MAP_0 && insn.opcode >= 0x50 &&
		    insn.opcode <= 0x57;
	out->class = insn.class & X86_CLASS_NOP   ? EDGE_NOTHING
		     : push                       ? EDGE_PUSH
		     : insn.flow == X86_FLOW_NONE ? EDGE_STEPPED
						  : EDGE_BRANCH;
	if (out->kind == FLOW_RETURN) /* executed */
		out->class = EDGE_STEPPED;
	return true;
}
#else
static bool decode_x86(const uint8_t *code, size_t available, uint64_t address, struct flow *out)
{
	(void)code, (void)available, (void)address, (void)out;
	return false;
}
#endif

/* A field of bits, as a signed number of instructions. */
static uint64_t offset_of(uint32_t word, unsigned low, unsigned bits)
{
	uint64_t field = word >> low & ((1ull << bits) - 1);
	uint64_t sign = 1ull << (bits - 1);
	return ((field ^ sign) - sign) * 4;
}

static bool decode_arm64(const uint8_t *code, size_t available, uint64_t address, struct flow *out)
{
	uint32_t word;
	if (available < 4 || address % 4)
		return false;
	memcpy(&word, code, 4);
	out->length = 4;
	if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
		out->kind = word >> 31 ? FLOW_CALL : FLOW_JUMP;
		out->target = address + offset_of(word, 0, 26);
		out->has_target = true;
	} else if ((word & 0xff000000) == 0x54000000) { /* b.cond, bc.cond: 14 and 15 are always */
		out->kind = (word & 0xe) == 0xe ? FLOW_JUMP : FLOW_BRANCH;
		out->target = address + offset_of(word, 5, 19);
		out->has_target = true;
	} else if ((word & 0x7e000000) == 0x34000000) { /* cbz, cbnz */
		out->kind = FLOW_BRANCH;
		out->target = address + offset_of(word, 5, 19);
		out->has_target = true;
	} else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		out->kind = FLOW_BRANCH;
		out->target = address + offset_of(word, 5, 14);
		out->has_target = true;
	} else if ((word & 0xfe000000) ==
		   0xd6000000) { /* to a register: opc 0 br, 1 blr, 2 ret, 4 eret; 8, 9: with authentication */
		unsigned opc = word >> 21 & 0xf;
		out->reg = (short)(word >> 5 & 31);
		out->kind = opc == 0 || opc == 8   ? FLOW_JUMP_REGISTER
			    : opc == 1 || opc == 9 ? FLOW_CALL
						   : FLOW_RETURN;
	} else if ((word & 0xffe0001f) == 0xd4200000 || word >> 16 == 0) { /* brk, udf */
		out->kind = FLOW_END;
		out->filler = word >> 16 == 0;
	} else {
		out->kind = FLOW_NEXT;
		out->filler = word == 0xd503201f;
	}
	if (out->kind != FLOW_NEXT || (word & 0x1f000000) == 0x10000000 || (word & 0x3b000000) == 0x18000000)
		/* with them what depends on its own address: adr, adrp, ldr of a literal */
		out->class = EDGE_BRANCH;
	else if ((word & 0xfffff01f) == 0xd503201f)
		out->class = EDGE_NOTHING; /* all hints */
	else if ((word & 0xffc07fff) == 0xa9807bfd)
		out->class = EDGE_PUSH; /* stp x29, x30, [sp, #n]! */
	return true;
}

bool flow_decode(unsigned machine, const uint8_t *code, size_t available, uint64_t address, struct flow *out)
{
	*out = (struct flow){0};
	if (machine == EM_X86_64)
		return decode_x86(code, available, address, out);
	return machine == EM_AARCH64 && decode_arm64(code, available, address, out);
}

bool flow_frame(unsigned machine, short *reg, int64_t *offset)
{
	*reg = machine == EM_X86_64 ? 7 : 31;
	*offset = machine == EM_X86_64 ? 8 : 0;
	return machine == EM_X86_64 || machine == EM_AARCH64;
}
