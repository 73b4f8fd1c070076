/*
 * Step 4 of decoding: from the form and the operands to the record. Which registers and memory does the
 * instruction read and write, and what depends on its immediate?
 *
 * A part of decode.c, which alone includes it, behind the tables: the compiler inlines all of it there.
 */
#ifndef TARE_ENGINE_X86_DECODE_RECORD_H
#define TARE_ENGINE_X86_DECODE_RECORD_H

#include "engine/x86/decode_encoding.h"

ALWAYS_INLINE uint8_t override_of(unsigned prefixes, uint8_t segment)
{
	return prefixes & X86_PREFIX_FS ? X86_FS : prefixes & X86_PREFIX_GS ? X86_GS : segment;
}

ALWAYS_INLINE unsigned gpr_bit(unsigned number, bool byte_register, uint8_t rex)
{
	/* without REX 4..7 are ah ch dh bh */
	return number >= 16 ? 0 : 1u << (byte_register && !rex && number >= 4 ? number - 4 : number);
}

static void describe_registers(const struct x86_form *form, struct x86_insn *out)
{
	unsigned roles = form->roles, read = form->gpr_read, written = form->gpr_written;
	if (roles & (ROLE_REG_READ | ROLE_REG_WRITE)) {
		unsigned bit = gpr_bit(out->reg, roles & ROLE_REG_BYTE, out->rex);
		read |= roles & ROLE_REG_READ ? bit : 0;
		written |= roles & ROLE_REG_WRITE ? bit : 0;
	}
	if (roles & (ROLE_RM_READ | ROLE_RM_WRITE)) {
		unsigned bit = gpr_bit(out->rm, roles & ROLE_RM_BYTE, out->rex);
		read |= roles & ROLE_RM_READ ? bit : 0;
		written |= roles & ROLE_RM_WRITE ? bit : 0;
	}
	if (roles & (ROLE_VVVV_READ | ROLE_VVVV_WRITE)) {
		unsigned bit = gpr_bit(out->vvvv, false, 1);
		read |= roles & ROLE_VVVV_READ ? bit : 0;
		written |= roles & ROLE_VVVV_WRITE ? bit : 0;
	}
	out->gpr_read = (uint16_t)read;
	out->gpr_written = (uint16_t)written;
}

/* Counts the accesses of one operand. */
ALWAYS_INLINE void count_accesses(const struct x86_memory *m, unsigned lanes, struct x86_insn *out)
{
	if (m->flags & X86_MEM_READ) {
		out->data_reads = (uint8_t)(out->data_reads + lanes);
		out->data_read_bytes = (uint16_t)(out->data_read_bytes + lanes * m->width);
	}
	if (m->flags & X86_MEM_WRITE) {
		out->data_writes = (uint8_t)(out->data_writes + lanes);
		out->data_write_bytes = (uint16_t)(out->data_write_bytes + lanes * m->width);
	}
}

static void describe_explicit_memory(const struct x86_form *form, const struct fields *f, struct x86_insn *out)
{
	struct x86_memory *m = &out->memory[0];
	unsigned flags = form->memory_flags, detail = form->detail & DETAIL_MASK, lanes = 1;
	m->segment = m->base == X86_RSP || m->base == X86_RBP ? X86_SS : X86_DS;
	if (detail != DETAIL_NO_SEGMENT)
		m->segment = override_of(out->prefixes, m->segment);
	m->width = form->memory_width;
	if (m->base < 16)
		out->gpr_read |= (uint16_t)(1u << m->base);
	if (flags & X86_MEM_VECTOR_INDEX) {
		if (detail)
			lanes = detail;
	} else if (m->index < 16) {
		out->gpr_read |= (uint16_t)(1u << m->index);
	}
	if (f->evex) {
		if (f->evex_b)
			flags |= X86_MEM_BROADCAST;
		/* Without fault suppression a load reads all of it; a store still leaves masked elements alone. */
		if (f->opmask && (!(form->detail & DETAIL_NO_FAULT_SUPPRESSION) || flags & X86_MEM_WRITE))
			flags |= X86_MEM_MASKED | X86_MEM_CONDITIONAL;
	}
	if (out->prefixes & X86_PREFIX_LOCK)
		flags |= X86_MEM_LOCKED;
	if (detail == DETAIL_POP_MEMORY && m->base == X86_RSP)
		m->displacement += implicit_memory[form->implicit][0].width;
	m->flags = (uint16_t)flags;
	out->memory_count = 1;
	count_accesses(m, lanes, out);
}

static void describe_implicit_memory(const struct x86_form *form, struct x86_insn *out)
{
	const struct x86_implicit *from = form->implicit >= IMPLICIT_PUSH2
						  ? promoted_implicit[form->implicit - IMPLICIT_PUSH2]
						  : implicit_memory[form->implicit];
	for (unsigned i = 0; i < 2 && from[i].base != X86_NO_REG && out->memory_count < 2; i++) {
		struct x86_memory *m = &out->memory[out->memory_count++];
		m->displacement = from[i].displacement;
		m->flags = from[i].flags;
		m->width = from[i].width;
		m->base = form->roles & ROLE_REG_IS_ADDRESS ? out->reg : from[i].base;
		m->index = from[i].index;
		m->scale = from[i].index != X86_NO_REG;
		m->segment = from[i].segment == X86_DS ? override_of(out->prefixes, X86_DS) : from[i].segment;
		count_accesses(m, 1, out);
	}
}

/* A shift by 0 writes no flag, one by 1 also defines OF. Counts that reach the operand's size leave CF
 * undefined. */
static void describe_shift_count(struct x86_insn *out)
{
	unsigned count = (unsigned)out->immediate & (out->operand_bytes == 8 ? 63 : 31),
		 bits = out->operand_bytes * 8u;
	bool doubled = (out->opcode & ~1u) != 0xc0, rotate = !doubled && !(out->modrm & 0x20),
	     arithmetic = !doubled && (out->modrm & 0x38) == 0x38;
	if (count == 0) {
		out->flags_read = out->flags_written = out->flags_undefined = 0;
	} else if (count == 1) {
		out->flags_undefined &= (uint8_t)~X86_FLAG_OF;
		out->flags_written |= X86_FLAG_OF;
	} else if (doubled && count > bits) {
		out->flags_undefined = X86_FLAGS_ARITHMETIC;
		out->flags_written = 0;
	} else if (!doubled && !rotate && !arithmetic && count >= bits) {
		out->flags_undefined |= X86_FLAG_CF;
		out->flags_written &= (uint8_t)~X86_FLAG_CF;
	}
}

/* enter pushes rbp, copies level - 1 frame pointers and, from level 1, pushes the new one. */
static void describe_frame(struct x86_insn *out)
{
	unsigned level = (unsigned)(out->immediate >> 16) & 31, width = out->memory[0].width;
	if (!level)
		return;
	out->data_reads = (uint8_t)(level - 1);
	out->data_writes = (uint8_t)(level + 1);
	out->data_read_bytes = (uint16_t)((level - 1) * width);
	out->data_write_bytes = (uint16_t)((level + 1) * width);
	if (level > 1)
		out->class |= X86_CLASS_LOAD;
}

/* Is one of the general registers that the fields name r16 or above? */
static uint8_t names_extended(unsigned roles, const struct x86_insn *out)
{
	bool reg = roles & (ROLE_REG_READ | ROLE_REG_WRITE) && out->reg >= 16;
	bool rm = roles & (ROLE_RM_READ | ROLE_RM_WRITE) && out->rm != X86_NO_REG && out->rm >= 16;
	bool vvvv = roles & (ROLE_VVVV_READ | ROLE_VVVV_WRITE) && out->vvvv >= 16;
	const struct x86_memory *m = &out->memory[0];
	bool address = out->memory_count &&
		       ((m->base & ~15) == 16 || ((m->index & ~15) == 16 && !(m->flags & X86_MEM_VECTOR_INDEX)));
	return reg || rm || vvvv || address;
}

static void describe_detail(const struct x86_form *form, struct x86_insn *out)
{
	unsigned detail = form->detail & DETAIL_MASK;
	if (detail == DETAIL_SHIFT_COUNT)
		describe_shift_count(out);
	else if (detail == DETAIL_FRAME)
		describe_frame(out);
}

#endif
