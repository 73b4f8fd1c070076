/*
 * Registers, followed through a block as origin + constant: an origin is what a register held at the block's
 * start, or what an instruction left there that is not followed. What is followed is what moves pointers: moves,
 * leas, additions of constants, push and pop.
 *
 * What always holds: plan.state[k] is before instruction k; what is not certain of a register is a new origin,
 * never an old one.
 */
#include "engine/runtime/translate/translation.h"

static unsigned next_origin;

bool stream_is_enter(const struct x86_insn *in)
{
	return in->encoding == X86_LEGACY && in->map == X86_MAP_0 && in->opcode == 0xc8;
}

void stream_follow_begin(struct translation *tr)
{
	next_origin = ORIGIN_NEW;
	for (unsigned i = 0; i < 16; i++)
		tr->plan.state[0][i] = (struct stream_register){(uint16_t)(ORIGIN_START + i), 0};
}

static struct stream_register unknown(void) { return (struct stream_register){(uint16_t)next_origin++, 0}; }

static struct stream_register constant(int64_t value) { return (struct stream_register){ORIGIN_CONSTANT, value}; }

static struct stream_register plus(struct stream_register r, int64_t n)
{
	r.constant = (int64_t)((uint64_t)r.constant + (uint64_t)n);
	return r;
}

/* Whether the instruction sets one register to something that is followed; *out is what. */
static bool followed(const struct x86_insn *in, const struct stream_register *r, uint64_t next, unsigned *reg,
		     struct stream_register *out)
{
	bool wide = in->operand_bytes == 8,
	     simple = in->operand_bytes >= 4 && !(in->prefixes & (X86_PREFIX_LOCK | X86_PREFIX_OPSIZE));
	unsigned extension = in->modrm >> 3 & 7;
	if (in->encoding != X86_LEGACY || in->map != X86_MAP_0 || !simple || in->extended)
		return false;
	if (in->opcode >= 0xb8 && in->opcode <= 0xbf) { /* mov r, imm */
		*reg = in->reg;
		*out = constant(wide ? in->immediate : (int64_t)(uint32_t)in->immediate);
		return true;
	}
	if (in->opcode == 0x8d) { /* lea */
		const struct x86_memory *m = &in->memory[0];
		struct stream_register sum = constant(m->displacement);
		if (in->address_bytes == 4)
			return false;
		if (m->base == X86_RIP)
			sum = plus(sum, (int64_t)next);
		else if (m->base != X86_NO_REG)
			sum = plus(r[m->base], sum.constant);
		if (m->index != X86_NO_REG) {
			const struct stream_register *index = &r[m->index];
			if (index->origin == ORIGIN_CONSTANT)
				sum = plus(sum, index->constant * m->scale);
			else if (sum.origin == ORIGIN_CONSTANT && m->scale == 1)
				sum = plus(*index, sum.constant);
			else
				return false;
		}
		if (!wide && sum.origin != ORIGIN_CONSTANT)
			return false;
		*reg = in->reg;
		*out = wide ? sum : constant((int64_t)(uint32_t)sum.constant);
		return true;
	}
	if (in->rm == X86_NO_REG)
		return false;
	switch (in->opcode) {
	case 0x89:
	case 0x8b: {
		struct stream_register from = r[in->opcode == 0x89 ? in->reg : in->rm];
		*reg = in->opcode == 0x89 ? in->rm : in->reg;
		if (!wide && from.origin != ORIGIN_CONSTANT)
			return false;
		*out = wide ? from : constant((int64_t)(uint32_t)from.constant);
		return true;
	}
	case 0xc7:
		*reg = in->rm;
		*out = constant(wide ? in->immediate : (int64_t)(uint32_t)in->immediate);
		return extension == 0;
	case 0x29:
	case 0x2b:
	case 0x31:
	case 0x33: /* with itself: 0 */
		*reg = in->rm;
		*out = constant(0);
		return in->reg == in->rm;
	case 0x81:
	case 0x83:
		*reg = in->rm;
		*out = plus(r[in->rm], extension ? -in->immediate : in->immediate);
		return wide && (extension == 0 || extension == 5);
	case 0xff:
		*reg = in->rm;
		*out = plus(r[in->rm], extension ? -1 : 1);
		return wide && extension < 2;
	default: return false;
	}
}

/* What an implicit push or pop does to rsp; false: rsp is not followed through it. */
static bool stack_moves(const struct x86_insn *in, const struct stream_register *r, struct stream_register *rsp)
{
	if (!(in->class & X86_CLASS_STACK) || stream_is_enter(in) || in->memory_count == 0)
		return false;
	const struct x86_memory *m = &in->memory[in->memory_count - 1];
	if (!(m->flags & X86_MEM_STACK) || !(m->flags & X86_MEM_IMPLICIT) ||
	    (m->base != X86_RSP && m->base != X86_RBP))
		return false;
	if (m->flags & X86_MEM_WRITE)
		*rsp = plus(r[X86_RSP], m->displacement);
	else
		*rsp = plus(r[m->base], m->displacement + m->width);
	return true;
}

void stream_follow(struct translation *tr, const struct x86_insn *in, unsigned k, uint64_t next)
{
	struct stream_register *r = tr->plan.state[k + 1], out, rsp;
	unsigned reg = X86_NO_REG, written = in->gpr_written;
	__builtin_memcpy(r, tr->plan.state[k], sizeof tr->plan.state[k]);
	if (followed(in, tr->plan.state[k], next, &reg, &out)) {
		r[reg] = out;
		written &= ~(1u << reg);
	}
	/* push and pop of rsp itself: what is popped is unknown */
	bool pops_rsp = (in->opcode == 0x5c && in->rm == X86_NO_REG) || (in->rm == X86_RSP && in->opcode == 0x8f);
	if ((written >> X86_RSP & 1) && !pops_rsp && stack_moves(in, tr->plan.state[k], &rsp)) {
		r[X86_RSP] = rsp;
		written &= ~(1u << X86_RSP);
	}
	for (; written; written &= written - 1)
		r[__builtin_ctz(written)] = unknown();
}
