/*
 * Decoding in four steps: prefixes and opcode; ModRM, SIB, displacement; the walk to the form; the record.
 *
 * The first two are the encoding's rules (decode_encoding.h), the last writes what the form and the operands say
 * (decode_record.h). Here are the walk, encodings that no table has, and the order of it all. What differs by
 * instruction is data: decode_form.h explains it, decode_tables.h holds it.
 *
 * What always holds: every read of the code is preceded by a comparison with end; nothing is called that is not in
 * this file, its two parts or promoted.c; fields of *out are written one by one, so that no compiler makes a
 * memset of it.
 */
#include "engine/x86/decode.h"

#include "engine/x86/decode_form.h"
#include "engine/x86/decode_tables.h"
#include "engine/x86/promoted.h"

#include "engine/x86/decode_encoding.h"
#include "engine/x86/decode_record.h"

/* ---- step 3: the form ----------------------------------------------------------------------------- */

ALWAYS_INLINE const struct x86_form *find_form(unsigned root, uint32_t key)
{
	while (!(root & NODE_IS_FORM))
		root = nodes[root + 1 + (key >> NODE_SHIFT(nodes[root]) & NODE_MASK(nodes[root]))];
	return &forms[root & ~NODE_IS_FORM];
}

/* Encodings of a vector form that are refused, although the opcode is known. */
static bool breaks_limits(const struct x86_form *form, const struct fields *f, const struct x86_insn *out)
{
	unsigned limits = form->limits, distinct = limits >> LIMIT_DISTINCT_SHIFT;
	bool registers = out->has_modrm && out->rm != X86_NO_REG;
	bool vsib = form->memory_flags & X86_MEM_VECTOR_INDEX;
	if (limits & LIMIT_REG_BELOW8 && f->r)
		return true;
	if (limits & LIMIT_REG_BELOW16 && f->r_high && !(form->roles & (ROLE_REG_READ | ROLE_REG_WRITE)))
		return true;
	if (registers && limits & LIMIT_RM_BELOW8 && f->b)
		return true;
	if (registers && limits & LIMIT_RM_BELOW16 && f->x_high)
		return true;
	if (limits & LIMIT_NO_RIP && out->rip_relative)
		return true;
	if (limits & LIMIT_NEEDS_SIB && !out->has_sib)
		return true;
	if (out->encoding == X86_LEGACY)
		return false;
	if (limits & LIMIT_VVVV_UNUSED && (f->vvvv || (f->v_high && !vsib)))
		return true;
	if (limits & LIMIT_VVVV_BELOW8 && f->vvvv & 8)
		return true;
	if (limits & LIMIT_VVVV_BELOW16 && f->v_high && !(form->roles & (ROLE_VVVV_READ | ROLE_VVVV_WRITE)))
		return true;
	if (limits & LIMIT_MASK_REQUIRED && !f->opmask)
		return true;
	if (limits & LIMIT_MASK_FORBIDDEN && f->opmask)
		return true;
	if (limits & LIMIT_ZEROING_FORBIDDEN && f->zeroing)
		return true;
	unsigned index = vsib ? out->memory[0].index : X86_NO_REG;
	switch (distinct) {
	case DISTINCT_REG_INDEX: return out->reg == index;
	case DISTINCT_REG_INDEX_VVVV: return out->reg == index || out->reg == out->vvvv || index == out->vvvv;
	case DISTINCT_REG_SOURCES: return out->reg == out->vvvv || (registers && out->reg == out->rm);
	case DISTINCT_ALL_REGISTERS: return out->reg == out->vvvv || out->reg == out->rm || out->rm == out->vvvv;
	default: return false;
	}
}

ALWAYS_INLINE enum x86_decode_status take_immediates(struct cursor *c, const struct x86_form *form,
						     struct x86_insn *out)
{
	static const uint8_t sizes[] = {
		[IMM_NONE] = 0, [IMM_1] = 1, [IMM_2] = 2, [IMM_4] = 4, [IMM_8] = 8, [IMM_MOFFS] = 0, 0, 0};
	unsigned code = form->immediate, size = sizes[code & IMM_SIZE_MASK];
	const uint8_t *p = c->code + c->at;
	out->immediate = 0;
	out->immediate2_size = 0;
	out->immediate_offset = (uint8_t)c->at;
	out->immediate_size = (uint8_t)size;
	if (!code)
		return X86_DECODE_OK;
	if (!has_bytes(c, size))
		return c->beyond;
	switch (code & (IMM_SIZE_MASK | IMM_SIGNED)) {
	case IMM_1: out->immediate = p[0]; break;
	case IMM_1 | IMM_SIGNED: out->immediate = (int8_t)p[0]; break;
	case IMM_2: out->immediate = p[0] | p[1] << 8; break;
	case IMM_2 | IMM_SIGNED: out->immediate = (int16_t)(p[0] | p[1] << 8); break;
	case IMM_4: out->immediate = load32(p); break;
	case IMM_4 | IMM_SIGNED: out->immediate = (int32_t)load32(p); break;
	case IMM_8:
	case IMM_8 | IMM_SIGNED: out->immediate = (int64_t)load64(p); break;
	default: {
		unsigned bytes = out->address_bytes;
		if (!has_bytes(c, bytes))
			return c->beyond;
		out->displacement_offset = (uint8_t)c->at;
		out->displacement_size = (uint8_t)bytes;
		struct x86_memory *m = &out->memory[0];
		m->displacement = bytes == 4 ? (int64_t)load32(p) : (int64_t)load64(p);
		m->base = m->index = X86_NO_REG;
		m->scale = 0;
		size = bytes;
	}
	}
	c->at += size;
	if (code & IMM_SECOND_BYTE) {
		if (!has_bytes(c, 1))
			return c->beyond;
		out->immediate |= (int64_t)c->code[c->at++] << 8 * size;
		out->immediate2_size = 1;
	}
	return X86_DECODE_OK;
}

/* ---- what no table knows --------------------------------------------------------------------------- */

enum { IMMEDIATE_UNSURE = 0xff };

/* Bytes of immediate of a vector encoding, which its map decides (SDM 2.3.11, 2.7.1; APM 3.1.4); of map 1, the
 * opcode. */
static unsigned immediate_of_map(const struct x86_insn *out)
{
	unsigned op = out->opcode;
	switch (out->map) {
	case X86_MAP_0F: return (op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
	case X86_MAP_0F3A:
	case X86_MAP_XOP8: return 1;
	case X86_MAP_4: return op >= 0x40 && op <= 0x4f ? 0 : IMMEDIATE_UNSURE; /* cfcmov */
	case X86_MAP_7:
	case X86_MAP_XOPA: return 4;
	default: return 0;
	}
}

/* Of a legacy opcode some of whose encodings are known: what all of them have. A branch is not guessed. */
static unsigned immediate_of_kin(const struct fields *f, const struct x86_insn *out)
{
	static const uint8_t sizes[] = {[IMM_NONE] = 0,   [IMM_1] = 1,     [IMM_2] = 2,
					[IMM_4] = 4,      [IMM_8] = 8,     [IMM_MOFFS] = IMMEDIATE_UNSURE,
					IMMEDIATE_UNSURE, IMMEDIATE_UNSURE};
	unsigned found = IMMEDIATE_UNSURE, kept = f->key & (1u << KEY_W | 1u << KEY_66 | 1u << KEY_REX_B);
	for (unsigned point = 0; point < 3 * 128; point++) { /* rep, rm, reg, mod 3 */
		const struct x86_form *form = find_form(
			roots[f->roots][out->opcode], kept | (point & 127) << KEY_MOD3 | (point >> 7) << KEY_REP);
		if (form == forms)
			continue;
		unsigned size = form->immediate & IMM_SECOND_BYTE ? IMMEDIATE_UNSURE
								  : sizes[form->immediate & IMM_SIZE_MASK];
		/* uiret, xend: others of 0F 01 */
		bool branch = form->flow != X86_FLOW_NONE && !(out->map == X86_MAP_0F && out->opcode == 0x01);
		if (branch || (found != IMMEDIATE_UNSURE && size != found))
			return IMMEDIATE_UNSURE;
		found = size;
	}
	return found;
}

/* The parts of the record that an instruction without a form has. */
static void describe_plain(struct x86_insn *out)
{
	out->operand_bytes = out->vector_bytes = 0;
	out->vvvv = out->opmask = out->evex_b = 0;
	out->flow = X86_FLOW_NONE;
	out->condition = 0;
	out->special = X86_SPECIAL_NONE;
	out->flags_read = out->flags_maybe = out->flags_written = out->flags_undefined = out->flags_killed = 0;
	out->gpr_read = out->gpr_written = 0;
	out->class = 0;
	out->fp_precision = X86_FP_NONE;
	out->fp_bytes = out->fp_operations = 0;
	out->data_reads = out->data_writes = 0;
	out->data_read_bytes = out->data_write_bytes = 0;
	out->memory_count = 0;
	out->target_rel = 0;
}

/* jmpabs: the target is 8 bytes behind the opcode. */
static enum x86_decode_status describe_absolute_jump(struct cursor *c, struct x86_insn *out)
{
	if (!has_bytes(c, 8))
		return c->beyond;
	describe_plain(out);
	out->extended = 0;
	out->operand_bytes = 8;
	out->immediate = (int64_t)load64(c->code + c->at);
	out->immediate_offset = (uint8_t)c->at;
	out->immediate_size = 8;
	out->immediate2_size = 0;
	out->length = (uint8_t)(c->at + 8);
	out->flow = X86_FLOW_JMP_ABS;
	return X86_DECODE_OK;
}

/* An encoding of no table. What is sure: where its parts are; what is not: everything else, so it may do anything
 * but branch. */
static enum x86_decode_status describe_unknown(struct cursor *c, const struct fields *f, struct x86_insn *out)
{
	unsigned size = out->encoding == X86_3DNOW    ? 0
			: out->encoding != X86_LEGACY ? immediate_of_map(out)
			: out->map == X86_MAP_0F38    ? 0
			: out->map == X86_MAP_0F3A    ? 1
						      : immediate_of_kin(f, out);
	if (size == IMMEDIATE_UNSURE)
		return X86_DECODE_INVALID;
	out->immediate_offset = (uint8_t)c->at;
	out->immediate_size = (uint8_t)size;
	out->immediate2_size = 0;
	if (!has_bytes(c, size))
		return c->beyond;
	out->immediate = 0;
	for (unsigned i = 0; i < size; i++)
		out->immediate |= (int64_t)c->code[c->at + i] << 8 * i;
	c->at += size;
	out->length = (uint8_t)c->at;
	describe_plain(out);
	out->vvvv = (uint8_t)(f->vvvv | f->v_high);
	out->opmask = f->opmask;
	out->evex_b = f->evex_b;
	out->flags_read = out->flags_maybe = X86_FLAGS_ARITHMETIC | X86_FLAG_DF | X86_FLAG_SYSTEM;
	out->gpr_read = out->gpr_written = 0xffff;
	out->class = X86_CLASS_UNKNOWN;
	out->extended = f->b4 || f->x4;
	out->memory_count = out->has_modrm && out->rm == X86_NO_REG;
	if (out->memory_count) {
		struct x86_memory *m = &out->memory[0];
		m->flags = X86_MEM_READ | X86_MEM_WRITE | X86_MEM_CONDITIONAL;
		m->width = 0;
		m->segment = override_of(out->prefixes,
					 m->base == X86_RSP || m->base == X86_RBP ? X86_SS : X86_DS);
	}
	return X86_DECODE_OK;
}

/* ---- APX's promoted instructions ------------------------------------------------------------------- */

/* Of the older instruction's form and of what the prefix changes of it; from here on its bits are not those of a
 * vector instruction. */
static bool find_promoted(struct fields *f, struct x86_insn *out, struct x86_form *form)
{
	bool memory = out->rm == X86_NO_REG;
	unsigned ll = f->key >> KEY_L & 3;
	struct promoted p = {.map = out->map,
			     .opcode = out->opcode,
			     .pp = f->key >> KEY_REP & 3,
			     .w = f->w,
			     .modrm = out->modrm,
			     .rm = (uint8_t)((out->modrm & 7) | f->b | f->b4),
			     .vvvv = (uint8_t)(f->vvvv | f->v_high),
			     .memory = memory,
			     .nd = f->evex_b,
			     .length_and_zero = (uint8_t)(ll | f->zeroing),
			     .low = (uint8_t)(f->opmask | (f->v_high ? 0 : 8))};
	if (!promoted_find(&p))
		return false;
	const struct x86_form *older = find_form(roots[p.roots][p.older], p.key);
	if (older == forms)
		return false;
	*form = *older;
	promoted_adapt(&p, form);
	f->opmask = f->zeroing = f->evex_b = 0;
	if (promoted_is_conditional(&p))
		f->vvvv = f->v_high = 0;
	if (!memory)
		out->rm &= 15;
	return true;
}

/* For tests/engine/unknown: a decoder that is older than the processor. paddq of every encoding has no row, lahf
 * no known length. */
#ifdef X86_DECODE_FORGETS
enum { FORGETS = 1 };
#else
enum { FORGETS = 0 };
#endif

enum x86_decode_status x86_decode(const uint8_t *code, size_t available, struct x86_insn *out)
{
	struct cursor c = {.code = code, .at = 0};
	c.end = available < X86_MAX_INSN_BYTES ? (unsigned)available : X86_MAX_INSN_BYTES;
	c.beyond = available < X86_MAX_INSN_BYTES ? X86_DECODE_TRUNCATED : X86_DECODE_INVALID;
	struct fields f = {0};
	unsigned modrm_kind;
	enum x86_decode_status status = take_opcode(&c, &f, out, &modrm_kind);
	if (status != X86_DECODE_OK)
		return status;

	out->opcode_offset = (uint8_t)(c.at - 1);
	out->address_bytes = out->prefixes & X86_PREFIX_ADDRSIZE ? 4 : 8;
	out->has_modrm = 0;
	out->has_sib = 0;
	out->displacement_size = 0;
	out->rip_relative = 0;
	out->rm = X86_NO_REG;
	bool memory = false;
	if (modrm_kind != MODRM_NONE) {
		if (!has_bytes(&c, 1))
			return c.beyond;
		unsigned modrm = c.code[c.at];
		out->has_modrm = 1;
		out->modrm = (uint8_t)modrm;
		out->modrm_offset = (uint8_t)c.at++;
		out->reg = (uint8_t)((modrm >> 3 & 7) | f.r | f.r_high);
		f.key |= (modrm >> 3 & 7) << KEY_REG | (modrm & 7) << KEY_RM;
		if (modrm >= 0xc0 || modrm_kind == MODRM_REGISTER) {
			f.key |= 1u << KEY_MOD3;
			out->rm = (uint8_t)((modrm & 7) | f.b | (f.evex ? f.x_high : f.b4));
		} else {
			memory = true;
			status = take_address(&c, &f, out);
			if (status != X86_DECODE_OK)
				return status;
		}
		if (out->encoding == X86_3DNOW) {
			if (!has_bytes(&c, 1))
				return c.beyond;
			out->opcode_offset = (uint8_t)c.at;
			out->opcode = c.code[c.at++];
		}
	} else {
		out->modrm = 0;
		out->reg = (uint8_t)((out->opcode & 7) | f.b | f.b4);
	}

	if (out->has_rex2 && f.roots == ROOTS_NONE)
		return describe_absolute_jump(&c, out);
	const struct x86_form *form = f.roots == ROOTS_NONE ? forms
							    : find_form(roots[f.roots][out->opcode], f.key);
	struct x86_form promoted;
	if (form == forms && f.evex && out->map <= X86_MAP_4 && find_promoted(&f, out, &promoted))
		form = &promoted;
	if (FORGETS && out->map == X86_MAP_0 && out->opcode == 0x9f)
		return X86_DECODE_INVALID;
	if (form == forms || (FORGETS && out->map == X86_MAP_0F && out->opcode == 0xd4))
		return describe_unknown(&c, &f, out);
	unsigned roles = form->roles;
	out->vvvv = f.vvvv;
	if (f.roots > ROOTS_3DNOW) {
		if (!(form->memory_flags & X86_MEM_VECTOR_INDEX)) {
			out->vvvv |= f.v_high;
		} else {
			/* A vector index has no "none", and V' for its fifth bit. */
			unsigned index = (out->sib >> 3 & 7u) | f.x | f.v_high;
			out->memory[0].index = (uint8_t)index;
			out->memory[0].scale = (uint8_t)(1u << (out->sib >> 6));
		}
		if (out->displacement_size == 1)
			out->memory[0].displacement *= 1 << (form->sizes >> SIZE_DISP8);
		if (roles & ROLE_RM_LOW4 && out->rm != X86_NO_REG)
			out->rm = (uint8_t)((out->rm & 15) | f.b4);
		/* B4 and X4 extend general registers: a vector register has no use for them */
		if (f.x4 && (!memory || form->memory_flags & X86_MEM_VECTOR_INDEX))
			return describe_unknown(&c, &f, out);
		if (f.b4 && !memory && (roles & (ROLE_RM_LOW4 | ROLE_RM_LOW3)) != ROLE_RM_LOW4)
			return describe_unknown(&c, &f, out);
	}
	if (out->has_rex2) {
		/* r16 and above are general registers; what the prefix's fourth bits say of others, or of xsave,
		 * no manual tells */
		bool general_rm = roles & (ROLE_RM_READ | ROLE_RM_WRITE),
		     general_reg = roles & (ROLE_REG_READ | ROLE_REG_WRITE);
		if ((f.b4 && !memory && out->has_modrm && !general_rm) ||
		    (f.r_high && out->has_modrm && !general_reg) || form->special == X86_SPECIAL_XSAVE)
			return describe_unknown(&c, &f, out);
	}
	if (roles & (ROLE_REG_LOW3 | ROLE_RM_LOW3)) {
		if (roles & ROLE_REG_LOW3)
			out->reg &= 7;
		if (roles & ROLE_RM_LOW3 && !memory)
			out->rm &= 7;
	}
	if (form->limits & ~(unsigned)LIMIT_LOCKABLE && breaks_limits(form, &f, out))
		return describe_unknown(&c, &f, out);
	if (out->prefixes & X86_PREFIX_LOCK && !(form->limits & LIMIT_LOCKABLE))
		return X86_DECODE_INVALID;
	status = take_immediates(&c, form, out);
	if (status != X86_DECODE_OK)
		return status;

	static const uint8_t vector_bytes[] = {0, 16, 32, 64};
	out->length = (uint8_t)c.at;
	out->operand_bytes = (uint8_t)(1u << (form->sizes >> SIZE_OPERAND & 3));
	out->vector_bytes = vector_bytes[form->sizes >> SIZE_VECTOR & 3];
	out->opmask = f.opmask;
	out->evex_b = f.evex_b;
	out->flow = form->flow;
	out->condition = out->opcode & 15;
	out->special = form->special;
	out->flags_read = form->flags_read;
	out->flags_written = form->flags_written;
	out->flags_maybe = form->flags_maybe;
	out->flags_undefined = form->flags_undefined;
	out->class = form->class;
	out->fp_precision = form->fp & ((1 << FP_WIDTH_SHIFT) - 1);
	out->fp_bytes = (uint8_t)(form->fp ? 1u << (form->fp >> FP_WIDTH_SHIFT) : 0);
	out->fp_operations = form->fp_operations;
	out->data_reads = out->data_writes = 0;
	out->data_read_bytes = out->data_write_bytes = 0;
	out->memory_count = 0;
	out->target_rel = x86_flow_has_target(form->flow) ? (int32_t)out->immediate : 0;
	describe_registers(form, out);
	if (form->memory_flags)
		describe_explicit_memory(form, &f, out);
	if (form->implicit)
		describe_implicit_memory(form, out);
	if (f.opmask)
		out->class |= X86_CLASS_MASKED;
	if (out->prefixes & X86_PREFIX_LOCK)
		out->class |= X86_CLASS_LOCKED;
	if (form->detail)
		describe_detail(form, out);
	out->flags_killed = out->flags_written | form->flags_overwritten;
	out->extended = names_extended(roles, out);
	return X86_DECODE_OK;
}
