/* One instruction of the program's, as it stands in the cache: unchanged where it can be, its operand reached in
   another way where it is relative to rip and out of reach, or on gs. What always holds: until the instruction
   itself runs, its registers' values are in a spill slot that a mark names. */
#include "engine/runtime/kept/kept.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translate.h"

static unsigned unused_register(const struct x86_insn *in, unsigned not )
{
	static const uint8_t choice[] = {X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSI, X86_RDI};
	unsigned used = in->gpr_read | in->gpr_written;
	for (unsigned i = 0; i < sizeof choice; i++)
		if (!(used >> choice[i] & 1) && choice[i] != not )
			return choice[i];
	return X86_NO_REG;
}

static void gs_operand(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned k, uint64_t pc)
{
	unsigned base = unused_register(in, X86_NO_REG), second = unused_register(in, base);
	if (!in->has_modrm || in->rm != X86_NO_REG || base == X86_NO_REG || second == X86_NO_REG ||
	    in->memory_count == 0 || (in->memory[0].flags & (X86_MEM_VECTOR_INDEX | X86_MEM_IMPLICIT)))
		die("an instruction that uses gs in a way that the engine does not know", pc);
	gs_store(e, base, AT_SPILL_OPERAND);
	gs_store(e, second, AT_SPILL_SECOND);
	mark(e, MARK_INSN, k, SPILLED_OPERAND | SPILLED_SECOND, base | second << 4, 0);
	if (in->rip_relative) {
		kept_cannot(e);
		move_immediate(e, base, pc + in->length + (uint64_t)in->memory[0].displacement);
	} else
		encode_lea_operand(&e->p, base, in, code);
	gs_load(e, second, AT_APP_GS);
	encode_lea_sum(&e->p, base, base, second);
	gs_load(e, second, AT_SPILL_SECOND);
	mark(e, MARK_INSN, k, SPILLED_OPERAND, base, 0);
	encode_through(&e->p, in, code, base, true);
	mark(e, MARK_INSN, k + 1, SPILLED_OPERAND, base, 0);
	gs_load(e, base, AT_SPILL_OPERAND);
}

void copy(struct emit *e, const struct x86_insn *in, const uint8_t *code, unsigned k, uint64_t pc)
{
	switch (in->special) {
	case X86_SPECIAL_RDGSBASE:
	case X86_SPECIAL_WRGSBASE: {
		unsigned reg = in->rm;
		if (in->extended)
			die("the program keeps gs in one of r16 to r31, which the engine does not support", pc);
		bool wide = in->operand_bytes == 8, write = in->special == X86_SPECIAL_WRGSBASE;
		if (!write && !wide) {
			encode_load_gs32(&e->p, reg, AT_APP_GS);
		} else if (!write) {
			gs_load(e, reg, AT_APP_GS);
		} else if (wide) {
			gs_store(e, reg, AT_APP_GS);
		} else { /* the high half is zeroed first: no signal can see it, for the mark stays */
			encode_store_gs_value32(&e->p, AT_APP_GS + 4, 0);
			encode_store_gs32(&e->p, reg, AT_APP_GS);
		}
		return;
	}
	case X86_SPECIAL_LOAD_GS: die("the program loads the gs selector, which the engine does not support", pc);
	}
	if ((in->prefixes & X86_PREFIX_GS) && in->memory_count && in->memory[0].segment == X86_GS &&
	    !(in->memory[0].flags & X86_MEM_ADDRESS_ONLY)) {
		gs_operand(e, in, code, k, pc);
		return;
	}
	if (!in->rip_relative) {
		put_bytes(e, code, in->length);
		return;
	}
	uint64_t target = pc + in->length + (uint64_t)in->memory[0].displacement;
	int64_t distance = (int64_t)(target - (emit_address(e) + in->length));
	if (distance == (int32_t)distance && !(in->prefixes & X86_PREFIX_ADDRSIZE)) {
		uint32_t displacement = (uint32_t)distance;
		uint8_t *at = e->p;
		put_bytes(e, code, in->length);
		__builtin_memcpy(at + in->displacement_offset, &displacement, 4);
		kept_note(e, at + in->displacement_offset, KEPT_OPERAND);
		return;
	}
	kept_cannot(e);
	if (in->prefixes & X86_PREFIX_ADDRSIZE)
		target = (uint32_t)target;
	if (in->encoding == X86_LEGACY && in->map == X86_MAP_0 && in->opcode == 0x8d && in->operand_bytes == 8) {
		move_immediate(e, in->reg, target);
		return;
	}
	/* a register that the instruction overwrites anyway need not be given back */
	unsigned own = in->gpr_written & (uint16_t)~in->gpr_read & 0xcf,
		 base = own ? (unsigned)__builtin_ctz(own) : unused_register(in, X86_NO_REG);
	if (own && (own & (own - 1)))
		own = 0, base = unused_register(in, X86_NO_REG);
	if (base == X86_NO_REG)
		die("no register is left for an operand", pc);
	gs_store(e, base, AT_SPILL_OPERAND);
	mark(e, MARK_INSN, k, SPILLED_OPERAND, base, 0);
	move_immediate(e, base, target);
	encode_through(&e->p, in, code, base, false);
	if (!own) {
		mark(e, MARK_INSN, k + 1, SPILLED_OPERAND, base, 0);
		gs_load(e, base, AT_SPILL_OPERAND);
	}
}
