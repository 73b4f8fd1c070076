/*
 * The instructions that the engine itself emits, one function a form. Each writes one instruction at *at and moves
 * *at behind it. What an instruction is for says the caller; what its bytes mean is said here only, and
 * tests/engine/encode_test.c holds each form against Zydis.
 *
 * Registers are numbers, 0 to 15 (enum x86_gpr), with 64 bits unless the name says 32, 16 or 8. `gs` is
 * gs:[offset], what a thread has for itself. A form is as short as its displacement allows, unless a comment says
 * otherwise. Pure and free of the C library: the runtime uses it, and so may a hosted program.
 */
#ifndef TARE_ENGINE_X86_ENCODE_H
#define TARE_ENGINE_X86_ENCODE_H

#include "engine/x86/decode.h"

/* ---- parts of instructions ---- */

static inline void encode_byte(uint8_t **at, unsigned byte) { *(*at)++ = (uint8_t)byte; }

static inline void encode_2(uint8_t **at, unsigned first, unsigned second)
{
	encode_byte(at, first);
	encode_byte(at, second);
}

static inline void encode_32(uint8_t **at, uint32_t value)
{
	__builtin_memcpy(*at, &value, 4);
	*at += 4;
}

static inline void encode_64(uint8_t **at, uint64_t value)
{
	__builtin_memcpy(*at, &value, 8);
	*at += 8;
}

/* Where no bit is set there is no prefix. */
static inline void encode_rex(uint8_t **at, bool wide, unsigned reg, unsigned index, unsigned base)
{
	unsigned bits = (wide ? 8u : 0) | (reg >= 8 ? 4u : 0) | (index >= 8 ? 2u : 0) | (base >= 8 ? 1u : 0);
	if (bits)
		encode_byte(at, 0x40 | bits);
}

static inline unsigned encode_modrm(unsigned mod, unsigned reg, unsigned rm)
{
	return mod << 6 | (reg & 7) << 3 | (rm & 7);
}

static inline void encode_registers(uint8_t **at, unsigned reg, unsigned rm)
{
	encode_byte(at, encode_modrm(3, reg, rm));
}

/* [offset], without base, index or rip: 32 bits, sign-extended */
static inline void encode_absolute(uint8_t **at, unsigned reg, uint32_t offset)
{
	encode_2(at, encode_modrm(0, reg, 4), 0x25);
	encode_32(at, offset);
}

/* [base + displacement]; base is not rsp, r12 */
static inline void encode_based(uint8_t **at, unsigned reg, unsigned base, int32_t displacement)
{
	bool near = displacement == (int8_t)displacement;
	encode_byte(at, encode_modrm(near ? 1 : 2, reg, base));
	if (near)
		encode_byte(at, (uint8_t)displacement);
	else
		encode_32(at, (uint32_t)displacement);
}

/* [base + index]; base is not rbp, r13, index not rsp */
static inline void encode_sum(uint8_t **at, unsigned reg, unsigned base, unsigned index)
{
	encode_2(at, encode_modrm(0, reg, 4), (index & 7) << 3 | (base & 7));
}

/* ---- prefixes of the instruction that follows ---- */

static inline void encode_prefix_fs(uint8_t **at) { encode_byte(at, 0x64); }
static inline void encode_prefix_address32(uint8_t **at) { encode_byte(at, 0x67); }

/* ---- gs:[offset] ---- */

static inline void encode_gs(uint8_t **at, bool wide, unsigned opcode, unsigned reg, uint32_t offset)
{
	encode_byte(at, 0x65);
	encode_rex(at, wide, reg, 0, 0);
	encode_byte(at, opcode);
	encode_absolute(at, reg, offset);
}

/* mov gs, reg; mov reg, gs: 9 bytes */
static inline void encode_store_gs(uint8_t **at, unsigned reg, uint32_t offset)
{
	encode_gs(at, true, 0x89, reg, offset);
}
static inline void encode_load_gs(uint8_t **at, unsigned reg, uint32_t offset)
{
	encode_gs(at, true, 0x8b, reg, offset);
}

/* … with 32 bits */
static inline void encode_store_gs32(uint8_t **at, unsigned reg, uint32_t offset)
{
	encode_gs(at, false, 0x89, reg, offset);
}
static inline void encode_load_gs32(uint8_t **at, unsigned reg, uint32_t offset)
{
	encode_gs(at, false, 0x8b, reg, offset);
}

/* movzx reg32, word gs */
static inline void encode_load_gs16(uint8_t **at, unsigned reg, uint32_t offset)
{
	encode_byte(at, 0x65);
	encode_rex(at, false, reg, 0, 0);
	encode_2(at, 0x0f, 0xb7);
	encode_absolute(at, reg, offset);
}

/* mov dword gs, value: 12 bytes */
static inline void encode_store_gs_value32(uint8_t **at, uint32_t offset, uint32_t value)
{
	encode_gs(at, false, 0xc7, 0, offset);
	encode_32(at, value);
}

/* add qword gs, value: 10 bytes */
static inline void encode_add_gs(uint8_t **at, uint32_t offset, int8_t value)
{
	encode_gs(at, true, 0x83, 0, offset);
	encode_byte(at, (uint8_t)value);
}

/* inc qword gs */
static inline void encode_increment_gs(uint8_t **at, uint32_t offset) { encode_gs(at, true, 0xff, 0, offset); }

/* cmp reg, gs */
static inline void encode_compare_gs(uint8_t **at, unsigned reg, uint32_t offset)
{
	encode_gs(at, true, 0x3b, reg, offset);
}

/* cmp dword gs, value */
static inline void encode_compare_gs_value32(uint8_t **at, uint32_t offset, uint32_t value)
{
	encode_gs(at, false, 0x81, 7, offset);
	encode_32(at, value);
}

/* jmp gs: 8 bytes */
static inline void encode_jump_gs(uint8_t **at, uint32_t offset) { encode_gs(at, false, 0xff, 4, offset); }

/* ---- gs:[index + offset], always with 32 bits of offset; index is not rsp, r12 ---- */

static inline void encode_gs_indexed(uint8_t **at, bool wide, unsigned opcode, unsigned reg, unsigned index,
				     uint32_t offset)
{
	encode_byte(at, 0x65);
	encode_rex(at, wide, reg, 0, index);
	encode_2(at, opcode, encode_modrm(2, reg, index));
	encode_32(at, offset);
}

/* mov reg32, gs:[index + offset] */
static inline void encode_load_gs_indexed32(uint8_t **at, unsigned reg, unsigned index, uint32_t offset)
{
	encode_gs_indexed(at, false, 0x8b, reg, index, offset);
}

/* cmp reg, gs:[index + offset] */
static inline void encode_compare_gs_indexed(uint8_t **at, unsigned reg, unsigned index, uint32_t offset)
{
	encode_gs_indexed(at, true, 0x3b, reg, index, offset);
}

/* mov byte gs:[index + offset], value */
static inline void encode_store_gs_indexed_value8(uint8_t **at, unsigned index, uint32_t offset, uint8_t value)
{
	encode_gs_indexed(at, false, 0xc6, 0, index, offset);
	encode_byte(at, value);
}

/* cmp byte gs:[index + offset], value */
static inline void encode_compare_gs_indexed_value8(uint8_t **at, unsigned index, uint32_t offset, uint8_t value)
{
	encode_gs_indexed(at, false, 0x80, 7, index, offset);
	encode_byte(at, value);
}

/* mov gs:[index * 8 + offset], reg; index is not rsp */
static inline void encode_store_gs_word(uint8_t **at, unsigned reg, unsigned index, uint32_t offset)
{
	encode_byte(at, 0x65);
	encode_rex(at, true, reg, index, 0);
	encode_byte(at, 0x89);
	encode_2(at, encode_modrm(0, reg, 4), 0xc5 | (index & 7) << 3);
	encode_32(at, offset);
}

/* ---- registers ---- */

/* mov to, from */
static inline void encode_move(uint8_t **at, unsigned to, unsigned from)
{
	encode_rex(at, true, from, 0, to);
	encode_byte(at, 0x89);
	encode_registers(at, from, to);
}
static inline void encode_move32(uint8_t **at, unsigned to, unsigned from)
{
	encode_rex(at, false, from, 0, to);
	encode_byte(at, 0x89);
	encode_registers(at, from, to);
}

/* … by the opcode that loads */
static inline void encode_move_load_form(uint8_t **at, unsigned to, unsigned from)
{
	encode_rex(at, true, to, 0, from);
	encode_byte(at, 0x8b);
	encode_registers(at, to, from);
}

/* mov to, from: from is one of r16 to r31, by its low four bits; a REX2 prefix (APX) */
static inline void encode_move_from_upper(uint8_t **at, unsigned to, unsigned from)
{
	encode_2(at, 0xd5, 0x48 | (from & 8 ? 4 : 0) | (to >= 8 ? 1 : 0));
	encode_byte(at, 0x89);
	encode_registers(at, from, to);
}

/* mov reg, value: 10 bytes */
static inline void encode_move_value(uint8_t **at, unsigned reg, uint64_t value)
{
	encode_rex(at, true, 0, 0, reg);
	encode_byte(at, 0xb8 | (reg & 7));
	encode_64(at, value);
}

/* mov reg32, value */
static inline void encode_move_value32(uint8_t **at, unsigned reg, uint32_t value)
{
	encode_rex(at, false, 0, 0, reg);
	encode_byte(at, 0xb8 | (reg & 7));
	encode_32(at, value);
}

/* movzx to32, from16 */
static inline void encode_zero_extend16(uint8_t **at, unsigned to, unsigned from)
{
	encode_rex(at, false, to, 0, from);
	encode_2(at, 0x0f, 0xb7);
	encode_registers(at, to, from);
}

/* movzx to32, from8; from is rax, rcx, rdx, rbx or r8 to r15 */
static inline void encode_zero_extend8(uint8_t **at, unsigned to, unsigned from)
{
	encode_rex(at, false, to, 0, from);
	encode_2(at, 0x0f, 0xb6);
	encode_registers(at, to, from);
}

/* movsx to, from16 */
static inline void encode_sign_extend16(uint8_t **at, unsigned to, unsigned from)
{
	encode_rex(at, true, to, 0, from);
	encode_2(at, 0x0f, 0xbf);
	encode_registers(at, to, from);
}

/* movsxd to, from32 */
static inline void encode_sign_extend32(uint8_t **at, unsigned to, unsigned from)
{
	encode_rex(at, true, to, 0, from);
	encode_byte(at, 0x63);
	encode_registers(at, to, from);
}

/* not reg: no flag */
static inline void encode_not(uint8_t **at, unsigned reg)
{
	encode_rex(at, true, 0, 0, reg);
	encode_byte(at, 0xf7);
	encode_registers(at, 2, reg);
}

/* and reg, value, sign-extended */
static inline void encode_and(uint8_t **at, unsigned reg, int32_t value)
{
	bool near = value == (int8_t)value;
	encode_rex(at, true, 0, 0, reg);
	encode_byte(at, near ? 0x83 : 0x81);
	encode_registers(at, 4, reg);
	if (near)
		encode_byte(at, (uint8_t)value);
	else
		encode_32(at, (uint32_t)value);
}

/* and reg32, value; always with 32 bits of value */
static inline void encode_and32(uint8_t **at, unsigned reg, uint32_t value)
{
	encode_rex(at, false, 0, 0, reg);
	encode_byte(at, 0x81);
	encode_registers(at, 4, reg);
	encode_32(at, value);
}

/* shr reg32, by */
static inline void encode_shift_right32(uint8_t **at, unsigned reg, uint8_t by)
{
	encode_rex(at, false, 0, 0, reg);
	encode_byte(at, 0xc1);
	encode_registers(at, 5, reg);
	encode_byte(at, by);
}

/* rorx to32, from32, by (BMI2): no flag */
static inline void encode_rotate_right32(uint8_t **at, unsigned to, unsigned from, uint8_t by)
{
	encode_2(at, 0xc4, 0x43 | (to >= 8 ? 0 : 0x80) | (from >= 8 ? 0 : 0x20));
	encode_2(at, 0x7b, 0xf0);
	encode_registers(at, to, from);
	encode_byte(at, by);
}

/* ---- the flags ---- */

/* ah = the flags but OF, and back */
static inline void encode_lahf(uint8_t **at) { encode_byte(at, 0x9f); }
static inline void encode_sahf(uint8_t **at) { encode_byte(at, 0x9e); }

/* seto al */
static inline void encode_set_overflow_al(uint8_t **at)
{
	encode_2(at, 0x0f, 0x90);
	encode_registers(at, 0, 0);
}

/* add al, value */
static inline void encode_add_al(uint8_t **at, int8_t value) { encode_2(at, 0x04, (uint8_t)value); }

/* ---- memory, addresses ---- */

/* mov [base + displacement], reg; base is not rsp, r12 */
static inline void encode_store(uint8_t **at, unsigned reg, unsigned base, int32_t displacement)
{
	encode_rex(at, true, reg, 0, base);
	encode_byte(at, 0x89);
	encode_based(at, reg, base, displacement);
}
static inline void encode_store32(uint8_t **at, unsigned reg, unsigned base, int32_t displacement)
{
	encode_rex(at, false, reg, 0, base);
	encode_byte(at, 0x89);
	encode_based(at, reg, base, displacement);
}

/* mov qword [base + displacement], value, sign-extended; base is not rsp, r12 */
static inline void encode_store_value(uint8_t **at, unsigned base, int32_t displacement, uint32_t value)
{
	encode_rex(at, true, 0, 0, base);
	encode_byte(at, 0xc7);
	encode_based(at, 0, base, displacement);
	encode_32(at, value);
}

/* mov reg, [base]; base is not rsp, rbp, r12, r13 */
static inline void encode_load(uint8_t **at, unsigned reg, unsigned base)
{
	encode_rex(at, true, reg, 0, base);
	encode_2(at, 0x8b, encode_modrm(0, reg, base));
}

/* mov reg, [base + index]; base is not rbp, r13, index not rsp */
static inline void encode_load_sum(uint8_t **at, unsigned reg, unsigned base, unsigned index)
{
	encode_rex(at, true, reg, index, base);
	encode_byte(at, 0x8b);
	encode_sum(at, reg, base, index);
}

/* mov reg, [rip + displacement]: 7 bytes, and the displacement counts from behind them */
static inline void encode_load_rip(uint8_t **at, unsigned reg, uint32_t displacement)
{
	encode_rex(at, true, reg, 0, 0);
	encode_2(at, 0x8b, encode_modrm(0, reg, 5));
	encode_32(at, displacement);
}

/* lea reg, [base + displacement]; base is not rsp, r12 */
static inline void encode_lea(uint8_t **at, unsigned reg, unsigned base, int32_t displacement)
{
	encode_rex(at, true, reg, 0, base);
	encode_byte(at, 0x8d);
	encode_based(at, reg, base, displacement);
}

/* lea reg, [base + index]; base is not rbp, r13, index not rsp */
static inline void encode_lea_sum(uint8_t **at, unsigned reg, unsigned base, unsigned index)
{
	encode_rex(at, true, reg, index, base);
	encode_byte(at, 0x8d);
	encode_sum(at, reg, base, index);
}

/* lea rsp, [rsp + by]; always with 32 bits of displacement */
static inline void encode_lea_rsp(uint8_t **at, uint32_t by)
{
	encode_rex(at, true, X86_RSP, 0, X86_RSP);
	encode_2(at, 0x8d, encode_modrm(2, X86_RSP, 4));
	encode_byte(at, 0x24);
	encode_32(at, by);
}

/*
 * lea reg, [base + index * scale + displacement], with an address of 32 bits if `narrow`. Base, index or both may
 * be X86_NO_REG; index is not rsp. With an index there is always a displacement, which rbp and r13 need.
 */
static inline void encode_lea_scaled(uint8_t **at, unsigned reg, unsigned base, unsigned index, unsigned scale,
				     int32_t displacement, bool narrow)
{
	unsigned log = scale == 8 ? 3 : scale == 4 ? 2 : scale == 2;
	bool no_base = base == X86_NO_REG, no_index = index == X86_NO_REG;
	if (narrow)
		encode_byte(at, 0x67);
	encode_rex(at, true, reg, no_index ? 0 : index, no_base ? 0 : base);
	encode_byte(at, 0x8d);
	if (no_index && !no_base && (base & 7) != X86_RSP) {
		encode_based(at, reg, base, displacement);
		return;
	}
	bool near = !no_base && displacement == (int8_t)displacement;
	encode_2(at,
		 encode_modrm(no_base ? 0
			      : near  ? 1
				      : 2,
			      reg, 4),
		 log << 6 | (no_index ? 4 : index & 7) << 3 | (no_base ? 5 : base & 7));
	if (near)
		encode_byte(at, (uint8_t)displacement);
	else
		encode_32(at, (uint32_t)displacement);
}

/*
 * lea reg, [operand] and mov reg, [operand] with the memory operand of an instruction of the program's; `code` is
 * its bytes. The operand is not relative to rip; its segment is left out. r16 to r31 take a REX2 prefix (APX).
 */
static inline void encode_with_operand(uint8_t **at, unsigned opcode, unsigned reg, const struct x86_insn *in,
				       const uint8_t *code)
{
	unsigned upper = ((in->memory[0].base & ~15u) == 16 ? 0x10 : 0) |
			 ((in->memory[0].index & ~15u) == 16 ? 0x20 : 0);
	if (in->prefixes & X86_PREFIX_ADDRSIZE)
		encode_prefix_address32(at);
	if (upper)
		encode_2(at, 0xd5, upper | 8 | (in->rex & 3) | (reg >= 8 ? 4 : 0));
	else
		encode_byte(at, 0x48 | (in->rex & 3) | (reg >= 8 ? 4 : 0));
	encode_2(at, opcode, (in->modrm & 0xc7) | (reg & 7) << 3);
	for (unsigned i = 0; i < (unsigned)in->has_sib + in->displacement_size; i++)
		encode_byte(at, code[in->modrm_offset + 1 + i]);
}
static inline void encode_lea_operand(uint8_t **at, unsigned reg, const struct x86_insn *in, const uint8_t *code)
{
	encode_with_operand(at, 0x8d, reg, in, code);
}
static inline void encode_load_operand(uint8_t **at, unsigned reg, const struct x86_insn *in, const uint8_t *code)
{
	encode_with_operand(at, 0x8b, reg, in, code);
}

/*
 * An instruction of the program's, `code`, with its memory operand replaced by [base], one of the first 8
 * registers but rsp, rbp. drop_segment: without its segment and 32-bit address size, which [base] has in it.
 */
static inline void encode_through(uint8_t **at, const struct x86_insn *in, const uint8_t *code, unsigned base,
				  bool drop_segment)
{
	enum { PREFIX_FS = 0x64, PREFIX_GS = 0x65, PREFIX_ADDRESS32 = 0x67 };
	enum { REX_X_B = 3, REX2_X_B = 0x33, VEX_X_B = 0x60, EVEX_B4 = 8, EVEX_X4 = 4 };
	uint8_t *rex = *at, *modrm;
	for (unsigned i = 0; i < in->modrm_offset; i++) {
		if (drop_segment && i < in->prefix_bytes &&
		    (code[i] == PREFIX_GS || code[i] == PREFIX_FS || code[i] == PREFIX_ADDRESS32))
			continue;
		if (i == in->prefix_bytes)
			rex = *at;
		encode_byte(at, code[i]);
	}
	modrm = *at;
	encode_byte(at, encode_modrm(0, in->modrm >> 3, base));
	if (in->prefix_bytes == in->modrm_offset)
		rex = modrm;
	if ((in->encoding == X86_LEGACY || in->encoding == X86_3DNOW) && (in->rex || in->has_rex2))
		rex[in->has_rex2] &= (uint8_t) ~(in->has_rex2 ? REX2_X_B : REX_X_B);
	else if (in->encoding == X86_VEX3 || in->encoding == X86_EVEX || in->encoding == X86_XOP)
		rex[1] |= VEX_X_B; /* stored inverted */
	if (in->encoding == X86_EVEX) {
		rex[1] &= (uint8_t)~EVEX_B4; /* and of r16 to r31 base's bit as it is, index's inverted */
		rex[2] |= EVEX_X4;
	}
	for (unsigned i = in->modrm_offset + 1u + in->has_sib + in->displacement_size; i < in->length; i++)
		encode_byte(at, code[i]);
}

/* ---- vector and mask registers; [base + displacement], base is not rsp, r12 ---- */

/* vmovdqu [base + displacement], xmm or, long, ymm (AVX); always with 32 bits of displacement */
static inline void encode_store_avx(uint8_t **at, bool is_long, unsigned vector, unsigned base,
				    int32_t displacement)
{
	encode_2(at, 0xc4, 0x41 | (vector >= 8 ? 0 : 0x80) | (base >= 8 ? 0 : 0x20));
	encode_2(at, 0x7a | (is_long ? 4 : 0), 0x7f);
	encode_byte(at, encode_modrm(2, vector, base));
	encode_32(at, (uint32_t)displacement);
}

/* vmovdqu64 [base + displacement], xmm, ymm or zmm, by log 0, 1, 2 (AVX-512); vector is 0 to 31. The displacement
   has 32 bits, as one of 8 would be in units of the vector. */
static inline void encode_store_avx512(uint8_t **at, unsigned log, unsigned vector, unsigned base,
				       int32_t displacement)
{
	encode_2(at, 0x62, 0x41 | (vector & 8 ? 0 : 0x80) | (base >= 8 ? 0 : 0x20) | (vector & 16 ? 0 : 0x10));
	encode_2(at, 0xfe, log << 5 | 0x08); /* W, no second source, prefix F3; no mask */
	encode_2(at, 0x7f, encode_modrm(2, vector, base));
	encode_32(at, (uint32_t)displacement);
}

/* kmovw [base + displacement], k */
static inline void encode_store_mask16(uint8_t **at, unsigned mask, unsigned base, int32_t displacement)
{
	encode_2(at, 0xc4, 0xc1 | (base >= 8 ? 0 : 0x20));
	encode_2(at, 0x78, 0x91);
	encode_based(at, mask, base, displacement);
}

/* ---- the stack ---- */

/* push value, sign-extended */
static inline void encode_push_value(uint8_t **at, uint32_t value)
{
	encode_byte(at, 0x68);
	encode_32(at, value);
}

/* push [rip + displacement]: 6 bytes, and the displacement counts from behind them */
static inline void encode_push_rip(uint8_t **at, uint32_t displacement)
{
	encode_2(at, 0xff, encode_modrm(0, 6, 5));
	encode_32(at, displacement);
}

static inline void encode_pop(uint8_t **at, unsigned reg)
{
	encode_rex(at, false, 0, 0, reg);
	encode_byte(at, 0x58 | (reg & 7));
}

/* ---- control: a distance counts from behind the instruction ---- */

#define ENCODE_CALL 0xe8u /* the first bytes of encode_call, encode_jump */
#define ENCODE_JUMP 0xe9u

/* call, jmp: 5 bytes */
static inline void encode_call(uint8_t **at, uint32_t distance)
{
	encode_byte(at, ENCODE_CALL);
	encode_32(at, distance);
}
static inline void encode_jump(uint8_t **at, uint32_t distance)
{
	encode_byte(at, ENCODE_JUMP);
	encode_32(at, distance);
}

/* Sets the distance at `field`, the last 4 bytes of a jump or call that stands where it is executed. */
static inline void encode_distance(uint8_t *field, const uint8_t *to)
{
	uint32_t distance = (uint32_t)(to - (field + 4));
	__builtin_memcpy(field, &distance, 4);
}

/* jmp: 2 bytes */
static inline void encode_jump_short(uint8_t **at, int8_t distance) { encode_2(at, 0xeb, (uint8_t)distance); }

/* jcc: 6 bytes; the condition as the processor numbers it */
static inline void encode_jump_if(uint8_t **at, unsigned condition, uint32_t distance)
{
	encode_2(at, 0x0f, 0x80 | condition);
	encode_32(at, distance);
}

/* jrcxz: 2 bytes */
static inline void encode_jump_rcx_zero(uint8_t **at, int8_t distance) { encode_2(at, 0xe3, (uint8_t)distance); }

/* jmp [index * 8 + table]; index is not rsp */
static inline void encode_jump_table(uint8_t **at, unsigned index, uint32_t table)
{
	encode_rex(at, false, 0, index, 0);
	encode_2(at, 0xff, encode_modrm(0, 4, 4));
	encode_byte(at, 0xc5 | (index & 7) << 3);
	encode_32(at, table);
}

/* ---- what does nothing, and what faults ---- */

/* One nop of 1, 2 or 3 bytes. */
static inline void encode_nop(uint8_t **at, unsigned bytes)
{
	if (bytes == 3) {
		encode_2(at, 0x0f, 0x1f);
		encode_byte(at, 0);
	} else {
		if (bytes == 2)
			encode_byte(at, 0x66);
		encode_byte(at, 0x90);
	}
}

static inline void encode_syscall(uint8_t **at) { encode_2(at, 0x0f, 0x05); }
static inline void encode_ud2(uint8_t **at) { encode_2(at, 0x0f, 0x0b); }
static inline void encode_hlt(uint8_t **at) { encode_byte(at, 0xf4); }

#endif
