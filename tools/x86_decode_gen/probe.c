/*
 * One point of an opcode's key space → one form.
 *
 * A point is tried with harmless registers, [rbx + rsi×1 + 1] as memory and no opmask. If Zydis objects
 * to the registers, others are tried: gathers want distinct ones and an opmask, AMX products want three
 * distinct ones. Then each limit is found by breaking it: the encoding that Zydis refuses shows it.
 */
#include <string.h>

#include "gen.h"

struct point {
	const struct slot *slot;
	uint32_t key;
	/* what the key leaves open */
	unsigned reg_high;  /* R: 8, R': 16 */
	unsigned rm_high;   /* B: 8, X: 16; registers only */
	unsigned rm_turn;   /* added to ModRM.rm of a register operand, modulo 8 */
	unsigned vvvv;      /* 0..31 */
	unsigned opmask, zeroing, index;
	bool lock, no_sib, rip;
};

static ZydisDecoder decoder;

static unsigned bits(uint32_t key, unsigned shift, unsigned mask) { return key >> shift & mask; }

static bool is_legacy(const struct slot *s) { return s->roots <= ROOTS_3DNOW; }
static bool is_evex(const struct slot *s) { return s->roots >= ROOTS_EVEX_0F && s->roots <= ROOTS_EVEX_6; }

static unsigned encode(const struct point *p, uint8_t *out)
{
	static const uint8_t vector_map[] = {
		[ROOTS_VEX_0F] = 1, [ROOTS_VEX_0F38] = 2, [ROOTS_VEX_0F3A] = 3, [ROOTS_EVEX_0F] = 1, [ROOTS_EVEX_0F38] = 2,
		[ROOTS_EVEX_0F3A] = 3, [ROOTS_EVEX_5] = 5, [ROOTS_EVEX_6] = 6, [ROOTS_XOP_8] = 8, [ROOTS_XOP_9] = 9,
		[ROOTS_XOP_A] = 10,
	};
	const struct slot *s = p->slot;
	uint32_t key = p->key;
	unsigned n = 0;
	bool mod3 = bits(key, KEY_MOD3, 1);
	unsigned w = bits(key, KEY_W, 1), b = p->rm_high >> 3 & 1, x = p->rm_high >> 4 & 1, r = p->reg_high >> 3 & 1;
	unsigned index = p->index;
	if (!mod3)
		x = index >> 3 & 1;
	memset(out, 0, 32);
	if (is_legacy(s)) {
		static const uint8_t rep[] = { 0, 0xf3, 0xf2, 0xf2 };
		if (p->lock)
			out[n++] = 0xf0;
		if (bits(key, KEY_66, 1))
			out[n++] = 0x66;
		if (bits(key, KEY_REP, 3))
			out[n++] = rep[bits(key, KEY_REP, 3)];
		b |= bits(key, KEY_REX_B, 1);
		if (w | r | x | b)
			out[n++] = (uint8_t)(0x40 | w << 3 | r << 2 | x << 1 | b);
		if (s->roots != ROOTS_0)
			out[n++] = 0x0f;
		if (s->roots == ROOTS_0F38 || s->roots == ROOTS_0F3A)
			out[n++] = s->roots == ROOTS_0F38 ? 0x38 : 0x3a;
		out[n++] = s->roots == ROOTS_3DNOW ? 0x0f : s->opcode;
	} else {
		uint8_t p0 = (uint8_t)((r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | vector_map[s->roots]);
		uint8_t p1 = (uint8_t)(w << 7 | (~p->vvvv & 15) << 3 | bits(key, KEY_REP, 3));
		if (is_evex(s)) {
			unsigned high = mod3 ? p->vvvv : p->vvvv | (index & 16);
			out[n++] = 0x62;
			out[n++] = (uint8_t)(p0 | (p->reg_high & 16 ? 0 : 0x10));
			out[n++] = p1 | 4;
			out[n++] = (uint8_t)(p->zeroing << 7 | bits(key, KEY_L, 3) << 5 | bits(key, KEY_EVEX_B, 1) << 4
				| (high & 16 ? 0 : 8) | p->opmask);
		} else {
			out[n++] = s->roots >= ROOTS_XOP_8 ? 0x8f : 0xc4;
			out[n++] = p0;
			out[n++] = (uint8_t)(p1 | bits(key, KEY_L, 1) << 2);
		}
		out[n++] = s->opcode;
	}
	if (s->has_modrm) {
		unsigned reg = bits(key, KEY_REG, 7);
		if (mod3) {
			out[n++] = (uint8_t)(0xc0 | reg << 3 | ((bits(key, KEY_RM, 7) + p->rm_turn) & 7));
		} else if (p->rip) {
			out[n++] = (uint8_t)(reg << 3 | 5);
			n += 4;
		} else if (p->no_sib) {
			out[n++] = (uint8_t)(0x40 | reg << 3 | 3);
			out[n++] = 1;
		} else {
			out[n++] = (uint8_t)(0x40 | reg << 3 | 4);
			out[n++] = (uint8_t)((index & 7) << 3 | 3);
			out[n++] = 1;
		}
	}
	if (s->roots == ROOTS_3DNOW)
		out[n++] = s->opcode;
	return n;
}

static ZyanStatus decode(const struct point *p, struct zydis_insn *z)
{
	uint8_t code[32];
	if (!decoder.machine_mode)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	encode(p, code);
	ZyanStatus status = ZydisDecoderDecodeFull(&decoder, code, sizeof code, &z->insn, z->operands);
	/* These would be a prefix, or another map, not the opcode asked for; or Knights Corner's, which no Linux CPU has. */
	if (ZYAN_SUCCESS(status)
		&& (z->insn.opcode != p->slot->opcode
			|| z->insn.meta.isa_ext == ZYDIS_ISA_EXT_KNC || z->insn.meta.isa_ext == ZYDIS_ISA_EXT_KNCE || z->insn.meta.isa_ext == ZYDIS_ISA_EXT_KNCV
			|| (z->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) != (is_legacy(p->slot) && p->slot->roots != ROOTS_3DNOW)))
		return ZYDIS_STATUS_DECODING_ERROR;
	return status;
}

static bool valid(const struct point *p)
{
	struct zydis_insn z;
	return ZYAN_SUCCESS(decode(p, &z));
}

void probe_slot(struct slot *slot)
{
	slot->has_modrm = !is_legacy(slot) || slot->roots >= ROOTS_0F38;
	slot->register_form = false;
	if (slot->roots == ROOTS_VEX_0F && slot->opcode == 0x77)
		slot->has_modrm = false;
	if (slot->has_modrm)
		return;
	for (unsigned prefix = 0; prefix < 4 && !slot->has_modrm; prefix++) {
		for (unsigned reg = 0; reg < 8; reg++) {
			struct slot with = *slot;
			with.has_modrm = true;
			struct point p = { .slot = &with, .key = reg << KEY_REG | prefix << KEY_REP, .index = 6 };
			struct zydis_insn z;
			if (prefix == 3)
				p.key = reg << KEY_REG | 1u << KEY_66;
			ZyanStatus status = decode(&p, &z);
			if (!ZYAN_SUCCESS(status)) {
				p.key |= 1u << KEY_MOD3;
				status = decode(&p, &z);
			}
			if (ZYAN_SUCCESS(status) && z.insn.attributes & ZYDIS_ATTRIB_HAS_MODRM) {
				slot->has_modrm = true;
				/* mov cr: the byte 4x decodes as a register operand, and no SIB follows */
				slot->register_form = z.insn.raw.modrm.mod != 3 && z.insn.raw.sib.offset == 0
					&& z.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER
					&& z.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
				break;
			}
		}
	}
}

static bool refused_for_registers(ZyanStatus status)
{
	return status == ZYDIS_STATUS_BAD_REGISTER || status == ZYDIS_STATUS_INVALID_MASK;
}

static bool find_valid(struct point *p, struct zydis_insn *z)
{
	ZyanStatus status = decode(p, z);
	if (ZYAN_SUCCESS(status))
		return true;
	if (is_legacy(p->slot) || !refused_for_registers(status))
		return false;
	for (p->opmask = 0; p->opmask < (is_evex(p->slot) ? 2u : 1u); p->opmask++) {
		for (p->rm_turn = 0; p->rm_turn < 2; p->rm_turn++) {
			for (unsigned i = 0; i < 3; i++) {
				static const uint8_t index[] = { 6, 1, 3 };
				p->index = index[i];
				for (p->vvvv = 0; p->vvvv < 8; p->vvvv++)
					if (ZYAN_SUCCESS(decode(p, z)))
						return true;
			}
		}
	}
	return false;
}

static uint16_t find_limits(const struct point *base, const struct zydis_insn *z, bool vsib)
{
	struct point p;
	unsigned limits = 0;
	const struct slot *s = base->slot;
	bool mod3 = bits(base->key, KEY_MOD3, 1), evex = is_evex(s);
	unsigned reg = bits(base->key, KEY_REG, 7), rm = (bits(base->key, KEY_RM, 7) + base->rm_turn) & 7;
#define BROKEN(...) (p = *base, __VA_ARGS__, !valid(&p))
	if (is_legacy(s) && !BROKEN(p.lock = true))
		limits |= LIMIT_LOCKABLE;
	if (!s->has_modrm) {
		if (!is_legacy(s) && BROKEN(p.vvvv = 5))
			limits |= LIMIT_VVVV_UNUSED;
		return (uint16_t)limits;
	}
	if (BROKEN(p.reg_high = 8))
		limits |= LIMIT_REG_BELOW8;
	if (evex && BROKEN(p.reg_high = 16))
		limits |= LIMIT_REG_BELOW16;
	if (mod3 && BROKEN(p.rm_high = 8))
		limits |= LIMIT_RM_BELOW8;
	if (mod3 && evex && BROKEN(p.rm_high = 16))
		limits |= LIMIT_RM_BELOW16;
	if (!mod3 && !s->register_form) {
		if (BROKEN(p.rip = true))
			limits |= LIMIT_NO_RIP;
		if (BROKEN(p.no_sib = true)) {
			limits |= LIMIT_NEEDS_SIB;
			limits &= ~(unsigned)LIMIT_NO_RIP;
		}
	}
	if (is_legacy(s))
		return (uint16_t)limits;

	unsigned free_low = 0;
	while (free_low == reg || free_low == rm || free_low == base->index || free_low == base->vvvv)
		free_low++;
	if (BROKEN(p.vvvv = free_low)) {
		limits |= LIMIT_VVVV_UNUSED;
	} else {
		if (BROKEN(p.vvvv = free_low + 8))
			limits |= LIMIT_VVVV_BELOW8;
		if (evex && !vsib && BROKEN(p.vvvv = free_low + 16))
			limits |= LIMIT_VVVV_BELOW16;
	}
	if (evex) {
		if (BROKEN(p.opmask = 0))
			limits |= LIMIT_MASK_REQUIRED;
		if (BROKEN(p.opmask = 1))
			limits |= LIMIT_MASK_FORBIDDEN;
		if (BROKEN(p.opmask = 1, p.zeroing = 1))
			limits |= LIMIT_ZEROING_FORBIDDEN;
	}

	unsigned distinct = DISTINCT_NONE;
	if (vsib && BROKEN(p.index = reg))
		distinct = limits & LIMIT_VVVV_UNUSED ? DISTINCT_REG_INDEX : DISTINCT_REG_INDEX_VVVV;
	if (!vsib && !(limits & LIMIT_VVVV_UNUSED) && BROKEN(p.vvvv = reg))
		distinct = DISTINCT_REG_SOURCES;
	if (distinct == DISTINCT_REG_SOURCES && mod3 && BROKEN(p.vvvv = rm))
		distinct = DISTINCT_ALL_REGISTERS;
#undef BROKEN
	(void)z;
	return (uint16_t)(limits | distinct << LIMIT_DISTINCT_SHIFT);
}

/* ---- operands ---------------------------------------------------------------------------------- */

static bool gpr_number(ZydisRegister reg, unsigned *number, bool *high_byte)
{
	*high_byte = reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
	if (*high_byte) {
		*number = reg - ZYDIS_REGISTER_AH;
		return true;
	}
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8: case ZYDIS_REGCLASS_GPR16: case ZYDIS_REGCLASS_GPR32: case ZYDIS_REGCLASS_GPR64:
		*number = (unsigned)ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
		return true;
	default:
		return false;
	}
}

static void add_register(struct form_row *row, const struct slot *slot, const ZydisDecodedOperand *op)
{
	struct x86_form *f = &row->form;
	unsigned number;
	bool high;
	if (!gpr_number(op->reg.value, &number, &high))
		return;
	const unsigned any_write = ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE;
	bool write = op->actions & any_write;
	bool read = op->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE);
	if (write && op->size < 32)
		read = true; /* the rest of the register survives */
	bool byte = op->size == 8 && slot->roots <= ROOTS_0F3A;
	switch (op->encoding) {
	case ZYDIS_OPERAND_ENCODING_MODRM_REG:
	case ZYDIS_OPERAND_ENCODING_OPCODE:
		f->roles |= (uint16_t)((read ? ROLE_REG_READ : 0) | (write ? ROLE_REG_WRITE : 0) | (byte ? ROLE_REG_BYTE : 0));
		break;
	case ZYDIS_OPERAND_ENCODING_MODRM_RM:
		f->roles |= (uint16_t)((read ? ROLE_RM_READ : 0) | (write ? ROLE_RM_WRITE : 0) | (byte ? ROLE_RM_BYTE : 0));
		break;
	case ZYDIS_OPERAND_ENCODING_NDSNDD:
		f->roles |= (uint16_t)((read ? ROLE_VVVV_READ : 0) | (write ? ROLE_VVVV_WRITE : 0));
		break;
	default:
		f->gpr_read |= (uint16_t)(read ? 1u << number : 0);
		f->gpr_written |= (uint16_t)(write ? 1u << number : 0);
		break;
	}
}

static uint16_t access_flags(const ZydisDecodedOperand *op)
{
	unsigned a = op->actions, flags = 0;
	if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN || op->mem.type == ZYDIS_MEMOP_TYPE_MIB)
		return X86_MEM_ADDRESS_ONLY;
	if (a & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD))
		flags |= X86_MEM_READ;
	if (a & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE))
		flags |= X86_MEM_WRITE;
	if (!(a & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_WRITE)))
		flags |= X86_MEM_CONDITIONAL;
	return (uint16_t)flags;
}

static void add_memory(struct form_row *row, const struct zydis_insn *z, const ZydisDecodedOperand *op)
{
	struct x86_form *f = &row->form;
	uint16_t flags = access_flags(op);
	unsigned bytes = op->size / 8u;
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM || op->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64) {
		if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
			unsigned index_bytes = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, op->mem.index) / 8u;
			flags |= X86_MEM_VECTOR_INDEX | X86_MEM_MASKED | X86_MEM_CONDITIONAL;
			/* gather d or q: the letter before the data's type is the index's */
			const char *name = ZydisMnemonicGetString(z->insn.mnemonic);
			size_t length = strlen(name);
			char letter = strchr("sd", name[length - 1]) && name[length - 2] == 'p' ? name[length - 3] : name[length - 2];
			unsigned by_index = index_bytes / (letter == 'q' ? 8 : 4), by_data = z->insn.avx.vector_length / 8u / bytes;
			f->detail |= (uint8_t)(by_index < by_data ? by_index : by_data);
		}
		f->memory_flags = flags;
		f->memory_width = (uint16_t)bytes;
		return;
	}
	unsigned number = 0;
	bool high;
	struct x86_implicit *im = row->implicit[0].flags ? &row->implicit[1] : &row->implicit[0];
	if (im->flags)
		return; /* VIA PadLock names more than two; the checker lists them */
	gpr_number(op->mem.base, &number, &high);
	*im = (struct x86_implicit){
		.flags = flags | X86_MEM_IMPLICIT, .width = (uint8_t)bytes, .base = (uint8_t)number, .index = X86_NO_REG,
		.segment = op->mem.segment == ZYDIS_REGISTER_ES ? X86_ES : op->mem.segment == ZYDIS_REGISTER_SS ? X86_SS : X86_DS,
	};
	f->gpr_read |= (uint16_t)(1u << number);
	if (number == X86_RSP) {
		im->flags |= X86_MEM_STACK;
		if (flags & X86_MEM_WRITE)
			im->displacement = (int8_t)-(int)bytes;
	}
}

static uint8_t to_flags(ZydisAccessedFlagsMask mask)
{
	unsigned flags = 0;
	if (mask & ZYDIS_CPUFLAG_CF) flags |= X86_FLAG_CF;
	if (mask & ZYDIS_CPUFLAG_PF) flags |= X86_FLAG_PF;
	if (mask & ZYDIS_CPUFLAG_AF) flags |= X86_FLAG_AF;
	if (mask & ZYDIS_CPUFLAG_ZF) flags |= X86_FLAG_ZF;
	if (mask & ZYDIS_CPUFLAG_SF) flags |= X86_FLAG_SF;
	if (mask & ZYDIS_CPUFLAG_OF) flags |= X86_FLAG_OF;
	if (mask & ZYDIS_CPUFLAG_DF) flags |= X86_FLAG_DF;
	if (mask & ~(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF
		| ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_DF))
		flags |= X86_FLAG_SYSTEM;
	return (uint8_t)flags;
}

static void add_flags(struct x86_form *f, const struct zydis_insn *z)
{
	if (!(z->insn.attributes & ZYDIS_ATTRIB_CPUFLAG_ACCESS))
		return;
	const ZydisAccessedFlags *flags = z->insn.cpu_flags;
	bool conditional = false;
	for (unsigned i = 0; i < z->insn.operand_count; i++)
		if (z->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && z->operands[i].reg.value == ZYDIS_REGISTER_RFLAGS)
			conditional = z->operands[i].actions & ZYDIS_OPERAND_ACTION_CONDWRITE;
	f->flags_read = to_flags(flags->tested);
	f->flags_undefined = to_flags(flags->undefined);
	uint8_t written = to_flags(flags->modified | flags->set_0 | flags->set_1) & (uint8_t)~f->flags_undefined;
	/* Of the flags that SYSTEM stands for, an instruction never replaces all. */
	f->flags_maybe = conditional ? written : written & X86_FLAG_SYSTEM;
	f->flags_written = written & (uint8_t)~f->flags_maybe;
}

static unsigned log2_of(unsigned value)
{
	unsigned n = 0;
	while (value >>= 1)
		n++;
	return n;
}

static void add_immediates(struct x86_form *f, const struct zydis_insn *z)
{
	static const uint8_t code[] = { [0] = IMM_NONE, [8] = IMM_1, [16] = IMM_2, [32] = IMM_4, [64] = IMM_8 };
	if (z->insn.raw.disp.size && !(z->insn.attributes & ZYDIS_ATTRIB_HAS_MODRM)) {
		f->immediate = IMM_MOFFS;
		return;
	}
	f->immediate = code[z->insn.raw.imm[0].size];
	if (z->insn.raw.imm[0].is_signed)
		f->immediate |= IMM_SIGNED;
	if (z->insn.raw.imm[1].size)
		f->immediate |= IMM_SECOND_BYTE;
}

/* Which extension bits a field ignores shows in the register that Zydis names. */
static ZydisRegister register_of(const struct point *p, ZydisOperandEncoding encoding)
{
	struct zydis_insn z;
	if (!ZYAN_SUCCESS(decode(p, &z)))
		return ZYDIS_REGISTER_NONE;
	for (unsigned i = 0; i < z.insn.operand_count; i++)
		if (z.operands[i].encoding == encoding && z.operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			return z.operands[i].reg.value;
	return ZYDIS_REGISTER_NONE;
}

static uint16_t find_ignored_bits(const struct point *base)
{
	struct point p = *base;
	unsigned roles = 0;
	ZydisRegister reg = register_of(base, ZYDIS_OPERAND_ENCODING_MODRM_REG);
	ZydisRegister rm = register_of(base, ZYDIS_OPERAND_ENCODING_MODRM_RM);
	p.reg_high = 8;
	if (reg != ZYDIS_REGISTER_NONE && register_of(&p, ZYDIS_OPERAND_ENCODING_MODRM_REG) == reg)
		roles |= ROLE_REG_LOW3;
	p = *base;
	p.rm_high = 8;
	if (rm != ZYDIS_REGISTER_NONE && register_of(&p, ZYDIS_OPERAND_ENCODING_MODRM_RM) == rm)
		roles |= ROLE_RM_LOW3;
	p = *base;
	p.rm_high = 16;
	if (is_evex(base->slot) && rm != ZYDIS_REGISTER_NONE && register_of(&p, ZYDIS_OPERAND_ENCODING_MODRM_RM) == rm)
		roles |= ROLE_RM_LOW4;
	return (uint16_t)roles;
}

bool probe_form(const struct slot *slot, uint32_t key, struct form_row *row, ZydisMnemonic *mnemonic)
{
	struct point p = { .slot = slot, .key = key, .index = 6 };
	struct zydis_insn z;
	struct x86_form *f = &row->form;
	memset(row, 0, sizeof *row);
	if (!find_valid(&p, &z))
		return false;
	*mnemonic = z.insn.mnemonic;
	bool vsib = false;
	for (unsigned i = 0; i < z.insn.operand_count; i++) {
		const ZydisDecodedOperand *op = &z.operands[i];
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(row, slot, op);
		else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(row, &z, op);
		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM) {
			vsib = op->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
			if (op->mem.disp.value > 1)
				f->sizes |= (uint8_t)(log2_of((unsigned)op->mem.disp.value) << SIZE_DISP8);
		}
	}
	/* movdir64b, enqcmd: the destination's address is in ModRM.reg */
	if (row->implicit[0].flags & X86_MEM_WRITE && f->memory_flags && slot->roots == ROOTS_0F38
		&& row->implicit[0].base == bits(key, KEY_REG, 7)) {
		f->gpr_read &= (uint16_t)~(1u << row->implicit[0].base);
		f->roles |= ROLE_REG_IS_ADDRESS | ROLE_REG_READ;
		row->implicit[0].base = 0;
	}
	f->roles |= find_ignored_bits(&p);
	f->limits = find_limits(&p, &z, vsib);
	f->sizes |= (uint8_t)(log2_of(z.insn.operand_width ? z.insn.operand_width / 8u : 4) << SIZE_OPERAND);
	if (!is_legacy(slot)) {
		unsigned vector = z.insn.avx.vector_length;
		f->sizes |= (uint8_t)((vector == 512 ? 3 : vector == 256 ? 2 : vector == 128 ? 1 : 0) << SIZE_VECTOR);
	}
	if (is_evex(slot)) {
		static const char no_suppression[] = {
			ZYDIS_EXCEPTION_CLASS_E1NF, ZYDIS_EXCEPTION_CLASS_E2NF, ZYDIS_EXCEPTION_CLASS_E3NF, ZYDIS_EXCEPTION_CLASS_E4NF,
			ZYDIS_EXCEPTION_CLASS_E5NF, ZYDIS_EXCEPTION_CLASS_E6NF, ZYDIS_EXCEPTION_CLASS_E9NF, ZYDIS_EXCEPTION_CLASS_E10NF, 0,
		};
		if (strchr(no_suppression, (char)z.insn.meta.exception_class))
			f->detail |= DETAIL_NO_FAULT_SUPPRESSION;
	}
	add_flags(f, &z);
	add_immediates(f, &z);
	classify(&z, key, is_legacy(slot), row);
	correct(&z, key, row);
	return true;
}
