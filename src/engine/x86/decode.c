/*
 * Decoding in four steps: prefixes and opcode; ModRM, SIB, displacement; the walk to the form; the record.
 *
 * The first two are the encoding's rules and are written out here. What differs by instruction is data:
 * decode_form.h explains it, decode_tables.h holds it.
 *
 * What always holds: every read of the code is preceded by a comparison with end; nothing is called that is not in
 * this file or in promoted.c; fields of *out are written one by one, so that no compiler makes a memset of it.
 */
#include "engine/x86/decode.h"

#include "engine/x86/decode_form.h"
#include "engine/x86/decode_tables.h"
#include "engine/x86/promoted.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The legacy prefixes' bits in x86_insn.prefixes; 0 is "not one". */
static const uint8_t prefix_bits[256] = {
	[0xf0] = X86_PREFIX_LOCK,      [0xf2] = X86_PREFIX_REPNE,     [0xf3] = X86_PREFIX_REP,
	[0x66] = X86_PREFIX_OPSIZE,    [0x67] = X86_PREFIX_ADDRSIZE,  [0x64] = X86_PREFIX_FS,
	[0x65] = X86_PREFIX_GS,        [0x26] = X86_PREFIX_OTHER_SEG, [0x2e] = X86_PREFIX_OTHER_SEG,
	[0x36] = X86_PREFIX_OTHER_SEG, [0x3e] = X86_PREFIX_OTHER_SEG,
};

/* Of these the last one counts. */
enum { REPEATS = X86_PREFIX_REP | X86_PREFIX_REPNE, SEGMENTS = X86_PREFIX_FS | X86_PREFIX_GS };

struct cursor {
	const uint8_t *code;
	unsigned at, end;
	enum x86_decode_status beyond; /* the answer if a byte beyond end is needed */
};

/* What the encoding prefixes say, in the polarity of REX. */
struct fields {
	uint32_t key;
	unsigned roots;
	uint8_t w, r, x, b;     /* r 8, x 8, b 8 if set; w 1 */
	uint8_t r_high, v_high; /* EVEX, REX2: 16 */
	uint8_t x_high;         /* EVEX: 16 for a vector register as rm (its X3) */
	uint8_t b4, x4;         /* REX2, EVEX: 16 for a general register as rm or base, or as index */
	uint8_t vvvv, opmask, zeroing, evex_b;
	bool evex;
};

ALWAYS_INLINE uint32_t load32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

ALWAYS_INLINE uint64_t load64(const uint8_t *p) { return load32(p) | (uint64_t)load32(p + 4) << 32; }

ALWAYS_INLINE bool has_bytes(const struct cursor *c, unsigned count) { return c->at + count <= c->end; }

/* ---- step 1: prefixes and opcode ---------------------------------------------------------------- */

static enum x86_decode_status take_vector_prefix(struct cursor *c, uint8_t first, struct fields *f,
						 struct x86_insn *out)
{
	/* REX and the legacy prefixes that vector encodings absorb must not stand before them. */
	if (out->rex || out->prefixes & (X86_PREFIX_LOCK | REPEATS | X86_PREFIX_OPSIZE))
		return X86_DECODE_INVALID;
	unsigned size = first == 0xc5 ? 1 : first == 0x62 ? 3 : 2;
	if (!has_bytes(c, size + 1))
		return c->beyond;
	const uint8_t *p = c->code + c->at;
	c->at += size;
	if (first == 0xc5) {
		f->r = p[0] & 0x80 ? 0 : 8;
		f->vvvv = (uint8_t)(~(p[0] >> 3) & 15);
		f->key = (uint32_t)(p[0] & 3) << KEY_REP | (uint32_t)(p[0] >> 2 & 1) << KEY_L;
		f->roots = ROOTS_VEX_0F;
		out->encoding = X86_VEX2;
		out->map = X86_MAP_0F;
		return X86_DECODE_OK;
	}
	f->r = p[0] & 0x80 ? 0 : 8;
	f->x = p[0] & 0x40 ? 0 : 8;
	f->b = p[0] & 0x20 ? 0 : 8;
	f->w = p[1] >> 7;
	f->vvvv = (uint8_t)(~(p[1] >> 3) & 15);
	f->key = (uint32_t)(p[1] & 3) << KEY_REP | (uint32_t)f->w << KEY_W;
	if (first == 0x62) {
		unsigned map = p[0] & 7;
		if (map == 0)
			return X86_DECODE_INVALID;
		f->b4 = p[0] & 8 ? 16 : 0;
		f->x4 = p[1] & 4 ? 0 : 16;
		f->r_high = p[0] & 0x10 ? 0 : 16;
		f->x_high = p[0] & 0x40 ? 0 : 16;
		f->v_high = p[2] & 8 ? 0 : 16;
		f->opmask = p[2] & 7;
		f->zeroing = p[2] >> 7;
		f->evex_b = p[2] >> 4 & 1;
		if (f->zeroing && !f->opmask)
			return X86_DECODE_INVALID;
		f->key |= (uint32_t)(p[2] >> 5 & 3) << KEY_L | (uint32_t)f->evex_b << KEY_EVEX_B;
		f->roots = map < 4                ? ROOTS_EVEX_0F + map - 1
			   : map == 5 || map == 6 ? ROOTS_EVEX_5 + map - 5
						  : ROOTS_NONE;
		f->evex = true;
		out->encoding = X86_EVEX;
		out->map = (uint8_t)map;
		return X86_DECODE_OK;
	}
	unsigned map = p[0] & 0x1f;
	f->key |= (uint32_t)(p[1] >> 2 & 1) << KEY_L;
	out->map = (uint8_t)map;
	if (first == 0xc4) {
		if (map < 1 || map == 4 || map > 7)
			return X86_DECODE_INVALID;
		f->roots = map < 4 ? ROOTS_VEX_0F + map - 1 : ROOTS_NONE;
		out->encoding = X86_VEX3;
	} else {
		if (map > 10)
			return X86_DECODE_INVALID;
		f->roots = ROOTS_XOP_8 + map - 8;
		out->encoding = X86_XOP;
	}
	return X86_DECODE_OK;
}

/*
 * APX's two-byte prefix: D5, then M0 R4 X4 B4 W R3 X3 B3, the opcode in map 0 or, with M0, in map 0F. Rows 4, 7, A
 * and E of map 0 and rows 3 and 8 of map 0F cannot have it, nor prefixes in the opcode's place; D5 00 A1 is
 * jmpabs.
 */
static enum x86_decode_status take_rex2(struct cursor *c, struct fields *f, struct x86_insn *out, unsigned *modrm)
{
	if (out->rex)
		return X86_DECODE_INVALID;
	if (!has_bytes(c, 2))
		return c->beyond;
	unsigned payload = c->code[c->at], opcode = c->code[c->at + 1], row = opcode >> 4, map = payload >> 7;
	c->at += 2;
	bool absolute = !map && opcode == 0xa1 && !(payload & 8) &&
			!(out->prefixes & (X86_PREFIX_LOCK | REPEATS | X86_PREFIX_OPSIZE | X86_PREFIX_ADDRSIZE));
	bool other = map ? row == 3 || row == 8 : row == 4 || row == 7 || row == 0xa || row == 0xe;
	bool prefix = !map && (prefix_bits[opcode] || opcode == 0x0f || opcode == 0x62 || opcode == 0xc4 ||
			       opcode == 0xc5 || opcode == 0xd5);
	if ((other && !absolute) || prefix)
		return X86_DECODE_INVALID;
	out->rex = (uint8_t)(0x40 | (payload & 15));
	out->rex2 = (uint8_t)payload;
	out->has_rex2 = 1;
	out->map = map ? X86_MAP_0F : X86_MAP_0;
	out->opcode = (uint8_t)opcode;
	f->w = payload >> 3 & 1;
	f->r = payload << 1 & 8;
	f->x = payload << 2 & 8;
	f->b = payload << 3 & 8;
	f->r_high = payload >> 2 & 16;
	f->x4 = payload >> 1 & 16;
	f->b4 = payload & 16;
	f->key = (uint32_t)f->w << KEY_W | (out->prefixes & X86_PREFIX_OPSIZE ? 1u << KEY_66 : 0) |
		 (f->b | f->b4 ? 1u << KEY_REX_B : 0);
	if (out->prefixes & REPEATS)
		f->key |= out->prefixes & X86_PREFIX_REP ? 1u << KEY_REP : 2u << KEY_REP;
	f->roots = absolute ? ROOTS_NONE : map ? ROOTS_0F : ROOTS_0;
	*modrm = absolute ? MODRM_NONE : modrm_kinds[map][opcode >> 2] >> (opcode & 3) * 2 & 3;
	return X86_DECODE_OK;
}

/* Leaves the cursor behind the opcode, and in *modrm the kind of ModRM byte that follows it. */
ALWAYS_INLINE enum x86_decode_status take_opcode(struct cursor *c, struct fields *f, struct x86_insn *out,
						 unsigned *modrm)
{
	unsigned prefixes = 0;
	uint8_t rex = 0, byte;
	for (;;) {
		if (c->at >= c->end)
			return c->beyond;
		byte = c->code[c->at];
		unsigned bit = prefix_bits[byte];
		if (bit) {
			if (bit & REPEATS)
				prefixes &= ~(unsigned)REPEATS;
			if (bit & SEGMENTS)
				prefixes &= ~(unsigned)SEGMENTS;
			prefixes |= bit;
			rex = 0; /* REX counts only right before the opcode */
		} else if ((byte & 0xf0) == 0x40) {
			rex = byte;
		} else {
			break;
		}
		c->at++;
	}
	out->prefixes = (uint8_t)prefixes;
	out->prefix_bytes = (uint8_t)(c->at - (rex != 0));
	out->rex = rex;
	out->rex2 = out->has_rex2 = 0;
	out->encoding = X86_LEGACY;
	c->at++;
	*modrm = MODRM_PRESENT;
	if (byte == 0xd5)
		return take_rex2(c, f, out, modrm);
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 || byte == 0x8f) {
		if (byte == 0x8f && !has_bytes(c, 1))
			return c->beyond;
		if (byte != 0x8f || (c->code[c->at] & 0x1f) >= 8) {
			enum x86_decode_status status = take_vector_prefix(c, byte, f, out);
			if (status != X86_DECODE_OK)
				return status;
			out->opcode = c->code[c->at++];
			if (out->opcode == 0x77 && f->roots == ROOTS_VEX_0F)
				*modrm = MODRM_NONE; /* vzeroupper */
			out->rex = (uint8_t)(0x40 | f->w << 3 | f->r >> 1 | f->x >> 2 | f->b >> 3);
			return X86_DECODE_OK;
		}
	}
	f->w = rex >> 3 & 1;
	f->r = (uint8_t)(rex << 1 & 8);
	f->x = (uint8_t)(rex << 2 & 8);
	f->b = (uint8_t)(rex << 3 & 8);
	f->key = (uint32_t)f->w << KEY_W | (prefixes & X86_PREFIX_OPSIZE ? 1u << KEY_66 : 0) |
		 (uint32_t)f->b << (KEY_REX_B - 3);
	if (prefixes & REPEATS)
		f->key |= prefixes & X86_PREFIX_REP ? 1u << KEY_REP : 2u << KEY_REP;
	if (byte != 0x0f) {
		out->map = X86_MAP_0;
		out->opcode = byte;
		f->roots = ROOTS_0;
		*modrm = modrm_kinds[0][byte >> 2] >> (byte & 3) * 2 & 3;
		return X86_DECODE_OK;
	}
	if (!has_bytes(c, 1))
		return c->beyond;
	byte = c->code[c->at++];
	if (byte == 0x38 || byte == 0x3a) {
		out->map = byte == 0x38 ? X86_MAP_0F38 : X86_MAP_0F3A;
		f->roots = byte == 0x38 ? ROOTS_0F38 : ROOTS_0F3A;
		if (!has_bytes(c, 1))
			return c->beyond;
		out->opcode = c->code[c->at++];
	} else if (byte == 0x0f) {
		/* 3DNow!: the opcode follows the operands */
		if (prefixes & X86_PREFIX_LOCK)
			return X86_DECODE_INVALID;
		out->encoding = X86_3DNOW;
		out->map = X86_MAP_3DNOW;
		f->roots = ROOTS_3DNOW;
	} else {
		out->map = X86_MAP_0F;
		out->opcode = byte;
		f->roots = ROOTS_0F;
		*modrm = modrm_kinds[1][byte >> 2] >> (byte & 3) * 2 & 3;
	}
	return X86_DECODE_OK;
}

/* ---- step 2: ModRM, SIB, displacement ------------------------------------------------------------ */

/* Fills memory[0]'s address as far as the form does not matter: a vector index and the scaling of disp8 come
 * later. */
ALWAYS_INLINE enum x86_decode_status take_address(struct cursor *c, const struct fields *f, struct x86_insn *out)
{
	struct x86_memory *m = &out->memory[0];
	unsigned modrm = out->modrm, base = modrm & 7, mod = modrm >> 6;
	unsigned size = mod == 0 ? 0 : mod == 1 ? 1 : 4;
	m->index = X86_NO_REG;
	m->scale = 0;
	m->base = (uint8_t)(base | f->b | f->b4);
	if (base == 4) {
		if (!has_bytes(c, 1))
			return c->beyond;
		unsigned sib = c->code[c->at];
		out->has_sib = 1;
		out->sib = (uint8_t)sib;
		out->sib_offset = (uint8_t)c->at++;
		m->base = (uint8_t)((sib & 7) | f->b | f->b4);
		unsigned index = (sib >> 3 & 7) | f->x | f->x4;
		if (index != X86_RSP) {
			m->index = (uint8_t)index;
			m->scale = (uint8_t)(1u << (sib >> 6));
		}
		if ((sib & 7) == 5 && mod == 0) {
			size = 4;
			m->base = X86_NO_REG;
		}
	} else if (base == 5 && mod == 0) {
		size = 4;
		m->base = X86_RIP;
		out->rip_relative = 1;
	}
	m->displacement = 0;
	out->displacement_offset = (uint8_t)c->at;
	out->displacement_size = (uint8_t)size;
	if (size) {
		if (!has_bytes(c, size))
			return c->beyond;
		m->displacement = size == 1 ? (int8_t)c->code[c->at] : (int32_t)load32(c->code + c->at);
		c->at += size;
	}
	return X86_DECODE_OK;
}

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

/* ---- step 4: the record --------------------------------------------------------------------------- */

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

/* A shift by 0 writes no flag, one by 1 defines OF too. Counts that reach the operand's size leave CF
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
