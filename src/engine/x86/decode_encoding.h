/*
 * Steps 1 and 2 of decoding: the encoding's own rules, from the first prefix to behind the displacement. They need
 * no form, only where an opcode has a ModRM byte (modrm_kinds).
 *
 *     legacy prefixes, REX ──► opcode | REX2 | VEX, EVEX, XOP ──► ModRM, SIB, displacement
 *
 * A part of decode.c, which alone includes it, behind the tables: the compiler inlines all of it there.
 */
#ifndef TARE_ENGINE_X86_DECODE_ENCODING_H
#define TARE_ENGINE_X86_DECODE_ENCODING_H

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

#endif
