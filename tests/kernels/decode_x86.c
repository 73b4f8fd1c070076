/* Decodes x86-64 by Zydis, so that the witness shares nothing with tare's own decoder. */
#include "kernels/witness.h"

#include <Zydis/Zydis.h>

/* Its number in instructions' encodings, which is witness.c's order too; -1: none. */
static int number_of(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP ? -1 : ZydisRegisterGetId(reg);
}

bool instruction_decode(const uint8_t *code, unsigned available, uint64_t pc, struct instruction *out)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	*out = (struct instruction){ 0 };
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code, available, &instruction, operands)))
		return false;
	out->bytes = instruction.length;
	for (unsigned i = 0; i < instruction.operand_count; i++) {
		/* an address that is only computed (lea) or hinted at (nop) has no action on memory */
		if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY || operands[i].mem.type != ZYDIS_MEMOP_TYPE_MEM)
			continue;
		out->load |= (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
		out->store |= (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
		if (operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			continue; /* the stack of calls and returns */
		out->access_bytes = operands[i].size / 8u;
		out->base = number_of(operands[i].mem.base);
		out->index = number_of(operands[i].mem.index);
		out->scale = operands[i].mem.scale;
		out->displacement = operands[i].mem.disp.value;
		if (operands[i].mem.base == ZYDIS_REGISTER_RIP)
			out->displacement += (int64_t)(pc + instruction.length);
	}
	switch (instruction.meta.category) {
	case ZYDIS_CATEGORY_COND_BR: out->branch = out->conditional = true; break;
	case ZYDIS_CATEGORY_UNCOND_BR: out->branch = true; break;
	case ZYDIS_CATEGORY_CALL: out->branch = out->call = true; break;
	case ZYDIS_CATEGORY_RET: out->branch = out->is_return = true; break;
	case ZYDIS_CATEGORY_SYSCALL: out->system_call = instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL; break;
	default: break;
	}
	switch (instruction.mnemonic) {
	case ZYDIS_MNEMONIC_ADDSD:
	case ZYDIS_MNEMONIC_MULSD: out->fp_double = 1; break;
	case ZYDIS_MNEMONIC_ADDSS:
	case ZYDIS_MNEMONIC_MULSS: out->fp_single = 1; break;
	case ZYDIS_MNEMONIC_VFMADD231SD: out->fma_double = 1; break;
	default: break;
	}
	return true;
}
