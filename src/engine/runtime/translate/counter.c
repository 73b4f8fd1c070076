/*
 * Where a block's counter is incremented, and how: ~0.5 ns with dead flags, more the more must be saved.
 *
 * What always holds: no flag, and no register that is alive, differs from the program's at an instruction that may
 * fault or that a signal handler may be entered at with the value still to be used.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/kept/kept.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"
#include "engine/runtime/translate/translation.h"

void add_one(struct emit *e, uint32_t offset)
{
	encode_add_gs(&e->p, offset, 1);
	kept_note(e, e->p - 5, KEPT_COUNTER); /* one byte in front of its end is the 1 */
}

void increment_spilled(struct emit *e, uint32_t offset, unsigned reg)
{
	gs_store(e, reg, AT_SPILL_OPERAND);
	counter_load(e, reg, offset);
	lea_one(e, reg);
	counter_store(e, reg, offset);
	gs_load(e, reg, AT_SPILL_OPERAND);
}

static bool only_compares(const struct x86_insn *in)
{
	if (in->encoding != X86_LEGACY || in->map != X86_MAP_0 || in->memory_count != 1 ||
	    (in->prefixes & (X86_PREFIX_GS | X86_PREFIX_LOCK)))
		return false;
	unsigned extension = in->modrm >> 3 & 7;
	switch (in->opcode) {
	case 0x38:
	case 0x39:
	case 0x3a:
	case 0x3b:
	case 0x84:
	case 0x85: return true;
	case 0x80:
	case 0x81:
	case 0x83: return extension == 7;
	case 0xf6:
	case 0xf7: return extension == 0;
	default: return false;
	}
}

static bool spills_at_end(const struct x86_insn *in)
{
	return in->flow == X86_FLOW_RET || (in->flow >= X86_FLOW_JMP_REG && in->flow <= X86_FLOW_CALL_MEM);
}

/* Whether a signal handler may see the flags and registers before the instruction, which then count as read. */
bool may_fault(const struct x86_insn *in)
{
	if (in->class & (X86_CLASS_LOAD | X86_CLASS_STORE | X86_CLASS_INT_DIV | X86_CLASS_FP | X86_CLASS_X87 |
			 X86_CLASS_FP_DIV | X86_CLASS_FP_CONVERT | X86_CLASS_FP_INT_CONVERT | X86_CLASS_UNKNOWN))
		return true;
	if (in->memory_count && !(in->memory[0].flags & X86_MEM_ADDRESS_ONLY))
		return true;
	return in->special != X86_SPECIAL_NONE || in->flow > X86_FLOW_CALL;
}

struct counter_place place_counter(const struct translation *tr, const struct code_arena *arena,
				   uint8_t *entry_live, uint8_t *scratch)
{
	static const uint8_t choice[] = {X86_R11, X86_R10, X86_R9,  X86_R8, X86_RSI,
					 X86_RDI, X86_RDX, X86_RCX, X86_RBX};
	uint16_t used = 0;
	int twice = -1;
	uint64_t end = tr->decoded.pc + tr->decoded.length;
	uint8_t live = X86_FLAGS_ARITHMETIC;
	int add = -1, inc = -1, dead = -1;
	uint16_t dead_after = 0, dead_mask = 0; /* registers that are written, unread, from here on */
	for (int k = (int)tr->decoded.count - 1; k >= 0; k--) {
		const struct x86_insn *in = &tr->decoded.insn[k];
		uint8_t live_after = live;
		used |= in->gpr_read;
		uint64_t operand = end + (uint64_t)in->memory[0].displacement;
		end -= in->length;
		live = x86_flags_live_before(in, live);
		if (only_compares(in) && !(live & X86_FLAGS_ARITHMETIC) && live_after &&
		    (!in->rip_relative || operand - (uint64_t)arena->base + 0x78000000u < 0xf0000000u))
			twice = k;
		dead_after = (uint16_t)((dead_after | in->gpr_written) & ~in->gpr_read);
		if (may_fault(in))
			live = X86_FLAGS_ARITHMETIC, dead_after = 0;
		if (!(live & X86_FLAGS_ARITHMETIC))
			add = k;
		else if (!(live & X86_FLAGS_ARITHMETIC & ~X86_FLAG_CF))
			inc = k;
		if (dead_after & 0x0fcf)
			dead = k, dead_mask = dead_after & 0x0fcf;
	}
	*entry_live = live & X86_FLAGS_ARITHMETIC;
	*scratch = X86_RAX;
	for (unsigned i = 0; i < sizeof choice && *scratch == X86_RAX && (used & 1); i++)
		if (!(used >> choice[i] & 1))
			*scratch = choice[i];
	if (add >= 0)
		return (struct counter_place){(unsigned)add, PLACE_ADD, 0, add};
	if (inc >= 0)
		return (struct counter_place){(unsigned)inc, PLACE_INC, 0, add};
	if (twice >= 0)
		return (struct counter_place){(unsigned)twice, PLACE_TWICE, 0, add};
	if (tr->decoded.count && spills_at_end(&tr->decoded.insn[tr->decoded.count - 1]))
		return (struct counter_place){tr->decoded.count - 1, PLACE_END, 0, add};
	if (rt.trace && tr->decoded.count)
		return (struct counter_place){0, PLACE_STREAM, 0, add};
	if (dead >= 0)
		return (struct counter_place){(unsigned)dead, PLACE_DEAD, (unsigned)__builtin_ctz(dead_mask), add};
	return (struct counter_place){0, PLACE_SPILL, *scratch, add};
}

void count_block(struct emit *e, struct counter_place place)
{
	uint32_t offset = THREAD_BYTES + e->id * 16;
	switch (place.how) {
	case PLACE_ADD: add_one(e, offset); break;
	case PLACE_INC:
		encode_increment_gs(&e->p, offset);
		kept_note(e, e->p - 4, KEPT_COUNTER);
		break;
	case PLACE_NONE:
	case PLACE_TWICE:
	case PLACE_STREAM:
	case PLACE_END: return; /* emitted with their instructions */
	case PLACE_DEAD:
		counter_load(e, place.reg, offset);
		lea_one(e, place.reg);
		counter_store(e, place.reg, offset);
		break;
	case PLACE_SPILL:
		gs_store(e, place.reg, AT_SPILL_OPERAND);
		mark(e, MARK_INSN, place.insn, SPILLED_OPERAND, place.reg, 0);
		counter_load(e, place.reg, offset);
		lea_one(e, place.reg);
		counter_store(e, place.reg, offset);
		e->counted = true;
		mark(e, MARK_INSN, place.insn, SPILLED_OPERAND, place.reg, 0);
		gs_load(e, place.reg, AT_SPILL_OPERAND);
		break;
	}
	e->counted = true;
}
