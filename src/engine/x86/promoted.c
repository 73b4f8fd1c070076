#include "engine/x86/promoted.h"

/* ---- the encodings -------------------------------------------------------------------------------- */

enum { NP = 1, P66 = 2, PF3 = 4, PF2 = 8 }; /* 1 << pp */
enum { MEM = 1, REG = 2, BOTH = 3 };
#define ANY 0xff
#define EXCEPT(mask) (ANY & ~(mask))
#define DIGIT(n) (1u << (n)) /* /n in ModRM.reg */

enum {
	ND = 1 << 0, /* may have a new destination */
	NF = 1 << 1, /* may leave the flags alone */
	ZU = 1 << 2, /* ND asks for a zeroed upper part */
	SCC = 1 << 3,
	BYTES = 1 << 4, /* an even opcode is of bytes, and takes no 66 */
	MOVE = 1 << 5,  /* cmov and cfcmov: ND and NF together choose */
	PAIR = 1 << 6,  /* push2, pop2: ND is always set */
	VEX = 1 << 7,   /* was VEX: the same map, opcode and pp */
};

static const struct row {
	uint8_t map, first, last, pp, digits, operand, rule;
	uint8_t roots, older, prefix; /* prefix: of the older one, if another than pp; 66 besides where pp is 66 */
} rows[] = {
	{4, 0x00, 0x03, NP | P66, ANY, BOTH, ND | NF | BYTES, ROOTS_0, 0x00, 0}, /* add */
	{4, 0x08, 0x0b, NP | P66, ANY, BOTH, ND | NF | BYTES, ROOTS_0, 0x08, 0}, /* or */
	{4, 0x10, 0x13, NP | P66, ANY, BOTH, ND | BYTES, ROOTS_0, 0x10, 0},      /* adc */
	{4, 0x18, 0x1b, NP | P66, ANY, BOTH, ND | BYTES, ROOTS_0, 0x18, 0},      /* sbb */
	{4, 0x20, 0x23, NP | P66, ANY, BOTH, ND | NF | BYTES, ROOTS_0, 0x20, 0}, /* and */
	/* shld, imm8 */
	{4, 0x24, 0x24, NP | P66, ANY, BOTH, ND | NF, ROOTS_0F, 0xa4, 0},
	{4, 0x28, 0x2b, NP | P66, ANY, BOTH, ND | NF | BYTES, ROOTS_0, 0x28, 0}, /* sub */
	/* shrd, imm8 */
	{4, 0x2c, 0x2c, NP | P66, ANY, BOTH, ND | NF, ROOTS_0F, 0xac, 0},
	{4, 0x30, 0x33, NP | P66, ANY, BOTH, ND | NF | BYTES, ROOTS_0, 0x30, 0}, /* xor */
	{4, 0x38, 0x3b, NP | P66, ANY, BOTH, SCC | BYTES, ROOTS_0, 0x38, 0},     /* ccmp */
	/* cmov, cfcmov */
	{4, 0x40, 0x4f, NP | P66, ANY, BOTH, MOVE, ROOTS_0F, 0x40, 0},
	{4, 0x40, 0x4f, PF2, ANY, BOTH, ZU, ROOTS_0F, 0x90, NP}, /* set */
	/* movbe: a mov but for the bytes' order */
	{4, 0x60, 0x60, NP | P66, ANY, BOTH, 0, ROOTS_0, 0x8b, 0},
	{4, 0x61, 0x61, NP | P66, ANY, BOTH, 0, ROOTS_0, 0x89, 0},
	{4, 0x65, 0x65, P66, ANY, MEM, 0, ROOTS_0F38, 0xf5, 0}, /* wruss */
	{4, 0x66, 0x66, NP, ANY, MEM, 0, ROOTS_0F38, 0xf6, 0},  /* wrss */
	/* adcx, adox */
	{4, 0x66, 0x66, P66 | PF3, ANY, BOTH, ND, ROOTS_0F38, 0xf6, 0},
	/* imul, immediate */
	{4, 0x69, 0x69, NP | P66, ANY, BOTH, ZU | NF, ROOTS_0, 0x69, 0},
	{4, 0x6b, 0x6b, NP | P66, ANY, BOTH, ZU | NF, ROOTS_0, 0x6b, 0},
	{4, 0x80, 0x81, NP | P66, EXCEPT(DIGIT(2) | DIGIT(3) | DIGIT(7)), BOTH, ND | NF | BYTES, ROOTS_0, 0x80, 0},
	/* adc, sbb */
	{4, 0x80, 0x81, NP | P66, DIGIT(2) | DIGIT(3), BOTH, ND | BYTES, ROOTS_0, 0x80, 0},
	{4, 0x80, 0x81, NP | P66, DIGIT(7), BOTH, SCC | BYTES, ROOTS_0, 0x80, 0}, /* ccmp */
	{4, 0x83, 0x83, NP | P66, EXCEPT(DIGIT(2) | DIGIT(3) | DIGIT(7)), BOTH, ND | NF, ROOTS_0, 0x83, 0},
	{4, 0x83, 0x83, NP | P66, DIGIT(2) | DIGIT(3), BOTH, ND, ROOTS_0, 0x83, 0},
	{4, 0x83, 0x83, NP | P66, DIGIT(7), BOTH, SCC, ROOTS_0, 0x83, 0},
	{4, 0x84, 0x85, NP | P66, ANY, BOTH, SCC | BYTES, ROOTS_0, 0x84, 0}, /* ctest */
	{4, 0x88, 0x88, NP | P66, ANY, BOTH, NF, ROOTS_0F, 0xb8, PF3},       /* popcnt */
	{4, 0x8f, 0x8f, NP, DIGIT(0), REG, PAIR, ROOTS_0, 0x8f, 0},          /* pop2 */
	/* shld, shrd by cl */
	{4, 0xa5, 0xa5, NP | P66, ANY, BOTH, ND | NF, ROOTS_0F, 0xa5, 0},
	{4, 0xad, 0xad, NP | P66, ANY, BOTH, ND | NF, ROOTS_0F, 0xad, 0},
	{4, 0xaf, 0xaf, NP | P66, ANY, BOTH, ND | NF, ROOTS_0F, 0xaf, 0}, /* imul */
	{4, 0xc0, 0xc1, NP | P66, EXCEPT(DIGIT(2) | DIGIT(3)), BOTH, ND | NF | BYTES, ROOTS_0, 0xc0, 0},
	/* rcl, rcr */
	{4, 0xc0, 0xc1, NP | P66, DIGIT(2) | DIGIT(3), BOTH, ND | BYTES, ROOTS_0, 0xc0, 0},
	{4, 0xd0, 0xd3, NP | P66, EXCEPT(DIGIT(2) | DIGIT(3)), BOTH, ND | NF | BYTES, ROOTS_0, 0xd0, 0},
	{4, 0xd0, 0xd3, NP | P66, DIGIT(2) | DIGIT(3), BOTH, ND | BYTES, ROOTS_0, 0xd0, 0},
	{4, 0xf0, 0xf1, NP | P66, ANY, BOTH, BYTES, ROOTS_0F38, 0xf0, PF2}, /* crc32 */
	/* invept, invvpid, invpcid */
	{4, 0xf0, 0xf2, PF3, ANY, MEM, 0, ROOTS_0F38, 0x80, P66},
	/* tzcnt, lzcnt */
	{4, 0xf4, 0xf5, NP | P66, ANY, BOTH, NF, ROOTS_0F, 0xbc, PF3},
	{4, 0xf6, 0xf7, NP | P66, DIGIT(0) | DIGIT(1), BOTH, SCC | BYTES, ROOTS_0, 0xf6, 0}, /* ctest */
	{4, 0xf6, 0xf7, NP | P66, DIGIT(2), BOTH, ND | BYTES, ROOTS_0, 0xf6, 0},             /* not */
	{4, 0xf6, 0xf7, NP | P66, DIGIT(3), BOTH, ND | NF | BYTES, ROOTS_0, 0xf6, 0},        /* neg */
	/* mul imul div idiv */
	{4, 0xf6, 0xf7, NP | P66, 0xf0, BOTH, NF | BYTES, ROOTS_0, 0xf6, 0},
	/* movdir64b, enqcmds, enqcmd */
	{4, 0xf8, 0xf8, P66 | PF3 | PF2, ANY, MEM, 0, ROOTS_0F38, 0xf8, 0},
	/* movdiri */
	{4, 0xf9, 0xf9, NP, ANY, MEM, 0, ROOTS_0F38, 0xf9, 0},
	/* aadd aand aor axor */
	{4, 0xfc, 0xfc, ANY, ANY, MEM, 0, ROOTS_0F38, 0xfc, 0},
	/* inc, dec */
	{4, 0xfe, 0xff, NP | P66, DIGIT(0) | DIGIT(1), BOTH, ND | NF | BYTES, ROOTS_0, 0xfe, 0},
	{4, 0xff, 0xff, NP, DIGIT(6), REG, PAIR, ROOTS_0, 0xff, 0},             /* push2 */
	{1, 0x90, 0x93, NP | P66 | PF2, ANY, BOTH, VEX, ROOTS_VEX_0F, 0x90, 0}, /* kmov */
	/* ldtilecfg, sttilecfg */
	{2, 0x49, 0x49, NP | P66, DIGIT(0), MEM, VEX, ROOTS_VEX_0F38, 0x49, 0},
	/* tileload, tilestore */
	{2, 0x4b, 0x4b, P66 | PF3 | PF2, ANY, MEM, VEX, ROOTS_VEX_0F38, 0x4b, 0},
	/* cmpccxadd */
	{2, 0xe0, 0xef, P66, ANY, MEM, VEX, ROOTS_VEX_0F38, 0xe0, 0},
	{2, 0xf2, 0xf2, NP, ANY, BOTH, VEX | NF, ROOTS_VEX_0F38, 0xf2, 0}, /* andn */
	/* blsr blsmsk blsi */
	{2, 0xf3, 0xf3, NP, DIGIT(1) | DIGIT(2) | DIGIT(3), BOTH, VEX | NF, ROOTS_VEX_0F38, 0xf3, 0},
	{2, 0xf5, 0xf5, NP, ANY, BOTH, VEX | NF, ROOTS_VEX_0F38, 0xf5, 0}, /* bzhi */
	/* pext, pdep */
	{2, 0xf5, 0xf5, PF3 | PF2, ANY, BOTH, VEX, ROOTS_VEX_0F38, 0xf5, 0},
	{2, 0xf6, 0xf6, PF2, ANY, BOTH, VEX, ROOTS_VEX_0F38, 0xf6, 0},     /* mulx */
	{2, 0xf7, 0xf7, NP, ANY, BOTH, VEX | NF, ROOTS_VEX_0F38, 0xf7, 0}, /* bextr */
	/* shlx sarx shrx */
	{2, 0xf7, 0xf7, P66 | PF3 | PF2, ANY, BOTH, VEX, ROOTS_VEX_0F38, 0xf7, 0},
	{3, 0xf0, 0xf0, PF2, ANY, BOTH, VEX, ROOTS_VEX_0F3A, 0xf0, 0}, /* rorx */
};

const struct x86_implicit promoted_implicit[2][2] = {
	{{X86_MEM_WRITE | X86_MEM_STACK | X86_MEM_IMPLICIT, 16, -16, X86_RSP, X86_NO_REG, X86_SS},
	 {.base = X86_NO_REG}},
	{{X86_MEM_READ | X86_MEM_STACK | X86_MEM_IMPLICIT, 16, 0, X86_RSP, X86_NO_REG, X86_SS},
	 {.base = X86_NO_REG}},
};

static bool fits(const struct row *row, const struct promoted *p)
{
	unsigned pp = 1u << p->pp, operand = p->memory ? MEM : REG;
	if (p->map != row->map || p->opcode < row->first || p->opcode > row->last)
		return false;
	return row->pp & pp && row->digits >> (p->modrm >> 3 & 7) & 1 && row->operand & operand &&
	       !(row->rule & BYTES && pp == P66 && !(p->opcode & 1));
}

/* Whether the prefix's own bits are among those that the instruction may have. */
static bool bits_allowed(unsigned rule, const struct promoted *p)
{
	bool nf = p->low & 4;
	if (p->length_and_zero)
		return false;
	if (rule & SCC)
		return !p->nd;
	if (p->low & 3)
		return false;
	if (rule & MOVE) /* all four are an instruction; with memory only cmov reads it always */
		return !p->memory || (p->nd && !nf);
	if (rule & PAIR) {
		bool same = p->vvvv == p->rm && p->opcode == 0x8f;
		return p->nd && !nf && p->vvvv != X86_RSP && p->rm != X86_RSP && !same;
	}
	return (!p->nd || rule & (ND | ZU)) && (!nf || rule & NF);
}

bool promoted_find(struct promoted *p)
{
	const struct row *row = rows, *end = rows + sizeof rows / sizeof *rows;
	while (row < end && !fits(row, p))
		row++;
	if (row == end || !bits_allowed(row->rule, p))
		return false;
	p->rule = row->rule;
	p->roots = row->roots;
	p->older = (uint8_t)(row->older + p->opcode - row->first);
	p->key = (uint32_t)(p->modrm >> 3 & 7) << KEY_REG | (uint32_t)(p->modrm & 7) << KEY_RM |
		 (p->memory ? 0 : 1u << KEY_MOD3) | (uint32_t)p->w << KEY_W;
	if (row->rule & VEX) {
		p->key |= (uint32_t)p->pp << KEY_REP;
		return true;
	}
	unsigned prefix = row->prefix ? row->prefix | (1u << p->pp & P66) : 1u << p->pp;
	p->key |= (prefix & P66 ? 1u << KEY_66 : 0) | (prefix & PF3 ? 1u << KEY_REP : 0) |
		  (prefix & PF2 ? 2u << KEY_REP : 0);
	if (row->rule & PAIR) /* W is a hint */
		p->key &= ~(1u << KEY_W);
	return true;
}

/* ---- what the prefix changes ---------------------------------------------------------------------- */

static void redirect(struct x86_form *form, bool memory)
{
	if (form->roles & ROLE_RM_WRITE || form->memory_flags & X86_MEM_WRITE) {
		form->roles &= (uint16_t)~ROLE_RM_WRITE;
		form->roles |= memory ? 0 : ROLE_RM_READ;
		form->memory_flags &= (uint16_t)~X86_MEM_WRITE;
		form->class &= ~(uint32_t)X86_CLASS_STORE;
	} else {
		form->roles = (uint16_t)((form->roles & ~ROLE_REG_WRITE) | ROLE_REG_READ);
	}
	form->roles |= ROLE_VVVV_WRITE;
}

/* Of registers alone. What is written where the condition does not hold is zero, or the third operand; whether of
   16 bits the upper part survives no manual tells: so the destination counts as read. */
static void move(const struct promoted *p, struct x86_form *form)
{
	if (p->nd)
		redirect(form, p->memory);
	else if (p->low & 4) /* NF: from reg to rm */
		form->roles = (uint16_t)((form->roles & ~ROLE_REG_WRITE) | ROLE_RM_WRITE);
}

static void pair(struct x86_form *form, bool push)
{
	form->roles |= push ? ROLE_RM_READ | ROLE_VVVV_READ : ROLE_RM_WRITE | ROLE_VVVV_WRITE;
	form->implicit = push ? IMPLICIT_PUSH2 : IMPLICIT_POP2;
}

static void keep_flags(struct x86_form *form)
{
	form->flags_read = form->flags_written = form->flags_maybe = form->flags_undefined =
		form->flags_overwritten = 0;
	if (form->detail == DETAIL_SHIFT_COUNT)
		form->detail = 0;
}

/* The condition codes of jcc, but for 10, always, and 11, never. */
static unsigned condition_reads(unsigned scc)
{
	static const uint8_t reads[] = {X86_FLAG_OF,
					X86_FLAG_CF,
					X86_FLAG_ZF,
					X86_FLAG_CF | X86_FLAG_ZF,
					X86_FLAG_SF,
					0,
					X86_FLAG_SF | X86_FLAG_OF,
					X86_FLAG_ZF | X86_FLAG_SF | X86_FLAG_OF};
	return reads[scc >> 1];
}

bool promoted_is_conditional(const struct promoted *p) { return p->rule & SCC; }

void promoted_adapt(const struct promoted *p, struct x86_form *form)
{
	bool nf = !(p->rule & (SCC | MOVE)) && p->low & 4;
	if (form->limits & LIMIT_REG_BELOW8)
		form->limits |= LIMIT_REG_BELOW16;
	form->limits &= (uint16_t)~LIMIT_LOCKABLE;
	if (!(p->rule & (SCC | VEX | PAIR)) && !(p->nd && p->rule & (ND | MOVE)))
		form->limits |= LIMIT_VVVV_UNUSED;
	if (p->rule & MOVE)
		move(p, form);
	else if (p->nd && p->rule & ND)
		redirect(form, p->memory);
	else if (p->nd && p->rule & ZU) /* nothing of the old value survives */
		form->roles &= (uint16_t) ~(p->opcode < 0x50 ? ROLE_RM_READ : ROLE_REG_READ);
	if (p->rule & PAIR)
		pair(form, p->opcode == 0xff);
	if (nf)
		keep_flags(form);
	if (p->rule & SCC)
		form->flags_read |= (uint8_t)condition_reads(p->low);
	if (!p->memory && form->roles & (ROLE_RM_READ | ROLE_RM_WRITE))
		form->roles |= ROLE_RM_LOW4; /* r16 to r31 by B4 */
}
