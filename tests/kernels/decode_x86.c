/* Decodes x86-64 by Zydis, so that the witness shares nothing with tare's own decoder. */
#include "kernels/witness.h"

#include <Zydis/Zydis.h>

bool instruction_decode(const uint8_t *code, unsigned available, struct instruction *out)
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
	}
	switch (instruction.meta.category) {
	case ZYDIS_CATEGORY_COND_BR: out->branch = out->conditional = true; break;
	case ZYDIS_CATEGORY_UNCOND_BR: out->branch = true; break;
	case ZYDIS_CATEGORY_CALL: out->branch = out->call = true; break;
	case ZYDIS_CATEGORY_RET: out->branch = out->is_return = true; break;
	case ZYDIS_CATEGORY_SYSCALL: out->syscall = instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL; break;
	default: break;
	}
	return true;
}
