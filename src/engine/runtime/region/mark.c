/*
 * Marks: what a program asks of the engine in its own text (wire/region.h; include/tare.h writes them).
 *
 *     lea name(%rip), %rdi  or  mov handle, %rdi        an instruction that sets rdi and changes nothing else
 *     nopw MAGIC(%rdi)                                  8 bytes: the mark's nop
 *
 * What always holds: a mark is recognised at its first instruction, where a block ends and an event begins
 * (translate/fetch.c). The runtime does what that instruction does, so that the program finds rdi as natively.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/thread.h"

static bool sets_rdi_alone(const struct x86_insn *in)
{
	if (in->encoding != X86_LEGACY || in->map != X86_MAP_0 || in->operand_bytes != 8 ||
	    in->gpr_written != 1u << X86_RDI)
		return false;
	/* lea; mov from r/m; mov to r/m */
	return in->opcode == 0x8d || in->opcode == 0x8b || (in->opcode == 0x89 && in->rm == X86_RDI);
}

uint32_t mark_behind(const struct x86_insn *in, const uint8_t *code, unsigned available, bool *truncated)
{
	static const uint8_t nop[4] = {0x66, 0x0f, 0x1f, 0x87}; /* nopw disp32(%rdi) */
	uint32_t magic = 0;
	*truncated = false;
	if (!sets_rdi_alone(in))
		return 0;
	if (available < in->length + REGION_MARK_BYTES) {
		*truncated = true;
		return 0;
	}
	if (memcmp(code + in->length, nop, sizeof nop))
		return 0;
	memcpy(&magic, code + in->length + sizeof nop, 4);
	return magic > (REGION_CALL_MAGIC | REGION_CALL_PRESENT) &&
			       magic <= (REGION_CALL_MAGIC | REGION_CALL_LEAVE_NAME)
		       ? magic
		       : 0;
}

/* The mark at t->pc, or 0. *rdi: what its first instruction makes of rdi; *behind: where the program goes on. */
uint32_t mark_at(const struct thread *t, uint64_t *rdi, uint64_t *behind)
{
	uint8_t code[15 + REGION_MARK_BYTES] = {0};
	unsigned have = sizeof code, page = 4096 - (unsigned)(t->pc & 4095);
	struct x86_insn in;
	bool truncated;
	if (!safe_copy(code, (const void *)t->pc, have)) {
		have = page;
		if (have >= sizeof code || !safe_copy(code, (const void *)t->pc, have))
			return 0;
	}
	if (x86_decode(code, have, &in) != X86_DECODE_OK || in.extended)
		return 0;
	uint32_t magic = mark_behind(&in, code, have, &truncated);
	if (!magic)
		return 0;
	*behind = t->pc + in.length + REGION_MARK_BYTES;
	if (in.opcode == 0x89)
		*rdi = t->reg[in.reg];
	else if (in.opcode == 0x8b)
		return branch_operand(t, &in, t->pc, t->reg[X86_RSP], rdi) ? magic : 0;
	else
		*rdi = address_of_operand(t, &in, t->pc, t->reg[X86_RSP]);
	return magic;
}
