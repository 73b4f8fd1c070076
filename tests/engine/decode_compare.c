/* The comparison proper. What Zydis says is brought into the decoder's terms here, by code of its own: nothing is
   shared with the generator but Zydis itself. */
#include "decode_compare.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

#include "decode_differences.h"
#include "decode_newer.h"
#include "engine/x86/decode.h"

// clang-format off: a table, a row a line
static const char *const fact_names[FACT_COUNT] = {
	"validity",
	"length",
	"layout",
	"registers",
	"flow",
	"target",
	"immediate",
	"sizes",
	"flags read",
	"flags written",
	"flags undefined",
	"gpr read",
	"gpr written",
	"memory count",
	"memory address",
	"memory width",
	"memory access",
	"memory conditional",
	"load/store",
	"locked",
	"string",
	"x87",
	"fp",
	"fp precision",
	"fp operations",
	"convert",
	"prefetch",
	"gather",
	"nop",
	"vector",
	"masked",
	"divides",
	"square roots",
	"integer multiplies",
	"integer divides",
	"x87 arithmetic",
	"vector integer",
	"fences",
	"crypto",
	"truncation",
};
// clang-format on

const char *decode_fact_name(unsigned fact) { return fact_names[fact]; }
unsigned decode_difference_rows(void) { return sizeof differences / sizeof differences[0]; }
const char *decode_difference_reason(unsigned row) { return differences[row].reason; }
const char *decode_difference_title(unsigned row) { return differences[row].title; }

uint64_t decode_tally_failures(const struct decode_tally *tally)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < FACT_COUNT; i++)
		sum += tally->disagreements[i];
	return sum;
}

struct comparison {
	const uint8_t *code;
	size_t available;
	struct decode_tally *tally;
	const char *mnemonic;
	const ZydisDecodedInstruction *z;
	const ZydisDecodedOperand *operands;
	const struct x86_insn *own;
};

static bool in_list(const char *name, const char *list)
{
	size_t length = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

static void disagree(const struct comparison *c, unsigned fact, long long own, long long zydis)
{
	for (unsigned row = 0; c->mnemonic && row < decode_difference_rows(); row++) {
		const struct decode_difference *d = &differences[row];
		if (d->facts >> fact & 1 && (!d->mnemonics || in_list(c->mnemonic, d->mnemonics)) &&
		    (!d->applies || d->applies(c->z))) {
			c->tally->listed[row]++;
			return;
		}
	}
	c->tally->disagreements[fact]++;
	if (c->tally->shown++ >= c->tally->show)
		return;
	fprintf(stderr, "# %s: %s: own %#llx, zydis %#llx:", fact_names[fact],
		c->mnemonic ? c->mnemonic : "(invalid)", (unsigned long long)own, (unsigned long long)zydis);
	for (size_t i = 0; i < c->available && i < 15; i++)
		fprintf(stderr, " %02x", c->code[i]);
	fprintf(stderr, "\n");
}

#define EXPECT(fact, own, zydis)                                                                                  \
	do {                                                                                                      \
		long long own_ = (long long)(own), zydis_ = (long long)(zydis);                                   \
		if (own_ != zydis_)                                                                               \
			disagree(c, FACT_##fact, own_, zydis_);                                                   \
	} while (0)

/* ---- flags -------------------------------------------------------------------------------------- */

static unsigned flags_of(ZydisAccessedFlagsMask mask)
{
	// clang-format off: a table, a row a line
	static const struct {
		ZydisAccessedFlagsMask theirs;
		unsigned own;
	} map[] = {
		{ZYDIS_CPUFLAG_CF, X86_FLAG_CF}, {ZYDIS_CPUFLAG_PF, X86_FLAG_PF}, {ZYDIS_CPUFLAG_AF, X86_FLAG_AF},
		{ZYDIS_CPUFLAG_ZF, X86_FLAG_ZF}, {ZYDIS_CPUFLAG_SF, X86_FLAG_SF}, {ZYDIS_CPUFLAG_OF, X86_FLAG_OF},
		{ZYDIS_CPUFLAG_DF, X86_FLAG_DF},
	};
	// clang-format on
	unsigned flags = 0;
	for (unsigned i = 0; i < sizeof map / sizeof map[0]; i++) {
		if (mask & map[i].theirs)
			flags |= map[i].own;
		mask &= ~map[i].theirs;
	}
	return flags | (mask ? X86_FLAG_SYSTEM : 0u);
}

static void compare_flags(const struct comparison *c)
{
	const struct x86_insn *own = c->own;
	unsigned read = 0, written = 0, undefined = 0, maybe = 0;
	if (c->z->attributes & ZYDIS_ATTRIB_CPUFLAG_ACCESS) {
		const ZydisAccessedFlags *f = c->z->cpu_flags;
		read = flags_of(f->tested);
		undefined = flags_of(f->undefined);
		written = flags_of(f->modified | f->set_0 | f->set_1) & ~undefined;
		maybe = written & X86_FLAG_SYSTEM;
		for (unsigned i = 0; i < c->z->operand_count; i++)
			if (c->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			    c->operands[i].reg.value == ZYDIS_REGISTER_RFLAGS &&
			    c->operands[i].actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
				maybe = written;
		written &= ~maybe;
	}
	EXPECT(FLAGS_READ, own->flags_read, read);
	EXPECT(FLAGS_WRITTEN, own->flags_written | own->flags_maybe << 8, written | maybe << 8);
	EXPECT(FLAGS_UNDEFINED, own->flags_undefined, undefined);
	if (own->flags_killed & ~(own->flags_written | own->flags_undefined) ||
	    own->flags_written & ~own->flags_killed)
		disagree(c, FACT_FLAGS_WRITTEN, own->flags_killed, own->flags_written);
	if ((own->flags_written & own->flags_maybe) | (own->flags_written & own->flags_undefined) |
	    (own->flags_maybe & own->flags_undefined))
		disagree(c, FACT_FLAGS_WRITTEN, -1, -1);
}

/* ---- registers ---------------------------------------------------------------------------------- */

static bool is_gpr(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);
	return class == ZYDIS_REGCLASS_GPR8 || class == ZYDIS_REGCLASS_GPR16 || class == ZYDIS_REGCLASS_GPR32 ||
	       class == ZYDIS_REGCLASS_GPR64;
}

static unsigned gpr_number(ZydisRegister reg)
{
	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		return X86_RIP;
	if (!is_gpr(reg))
		return X86_NO_REG;
	return (unsigned)ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
}

static void compare_registers(const struct comparison *c)
{
	unsigned read = 0, written = 0;
	for (unsigned i = 0; i < c->z->operand_count; i++) {
		const ZydisDecodedOperand *op = &c->operands[i];
		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			unsigned base = gpr_number(op->mem.base), index = gpr_number(op->mem.index);
			read |= (base < 16 ? 1u << base : 0) | (index < 16 ? 1u << index : 0);
		}
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		unsigned id = (unsigned)ZydisRegisterGetId(op->reg.value);
		bool high = op->reg.value >= ZYDIS_REGISTER_AH && op->reg.value <= ZYDIS_REGISTER_BH;
		unsigned number = is_gpr(op->reg.value) ? gpr_number(op->reg.value) : id;
		unsigned field = high ? number + 4 : number;
		switch (op->encoding) {
		case ZYDIS_OPERAND_ENCODING_MODRM_REG: EXPECT(REGISTERS, c->own->reg, field); break;
		case ZYDIS_OPERAND_ENCODING_MODRM_RM: EXPECT(REGISTERS, c->own->rm, field); break;
		case ZYDIS_OPERAND_ENCODING_NDSNDD: EXPECT(REGISTERS, c->own->vvvv, field); break;
		case ZYDIS_OPERAND_ENCODING_MASK: EXPECT(REGISTERS, c->own->opmask, field); break;
		case ZYDIS_OPERAND_ENCODING_OPCODE:
			if (is_gpr(op->reg.value))
				EXPECT(REGISTERS, c->own->reg, field);
			break;
		default: break;
		}
		if (!is_gpr(op->reg.value))
			continue;
		unsigned bit = 1u << number;
		if (op->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE)) {
			written |= bit;
			if (op->size < 32 || op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
				read |= bit;
		}
		if (op->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD))
			read |= bit;
	}
	EXPECT(GPR_READ, c->own->gpr_read, read);
	EXPECT(GPR_WRITTEN, c->own->gpr_written, written);
}

/* ---- memory -------------------------------------------------------------------------------------- */

static unsigned segment_of(ZydisRegister reg)
{
	switch (reg) {
	case ZYDIS_REGISTER_ES: return X86_ES;
	case ZYDIS_REGISTER_CS: return X86_CS;
	case ZYDIS_REGISTER_SS: return X86_SS;
	case ZYDIS_REGISTER_FS: return X86_FS;
	case ZYDIS_REGISTER_GS: return X86_GS;
	default: return X86_DS;
	}
}

static void compare_one_memory(const struct comparison *c, const ZydisDecodedOperand *op,
			       const struct x86_memory *m)
{
	bool address_only = op->mem.type == ZYDIS_MEMOP_TYPE_AGEN || op->mem.type == ZYDIS_MEMOP_TYPE_MIB;
	bool vsib = op->mem.type == ZYDIS_MEMOP_TYPE_VSIB, implicit = op->encoding == ZYDIS_OPERAND_ENCODING_NONE;
	bool read = !address_only && op->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD);
	bool write = !address_only && op->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE);
	bool conditional = !address_only &&
			   !(op->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_WRITE));
	unsigned index = vsib ? (unsigned)ZydisRegisterGetId(op->mem.index) : gpr_number(op->mem.index);
	int64_t displacement = op->mem.disp.value;
	unsigned bytes = op->size / 8u;
	/* A push writes below the stack pointer; Zydis gives the base alone. */
	if (implicit && write && op->mem.base == ZYDIS_REGISTER_RSP)
		displacement -= bytes;
	/* An opmask narrows the access unless the exception class says "no fault suppression". */
	ZydisExceptionClass class = c->z->meta.exception_class;
	bool suppressing = class != ZYDIS_EXCEPTION_CLASS_E1NF && class != ZYDIS_EXCEPTION_CLASS_E2NF &&
			   class != ZYDIS_EXCEPTION_CLASS_E3NF && class != ZYDIS_EXCEPTION_CLASS_E4NF &&
			   class != ZYDIS_EXCEPTION_CLASS_E5NF && class != ZYDIS_EXCEPTION_CLASS_E6NF &&
			   class != ZYDIS_EXCEPTION_CLASS_E9NF && class != ZYDIS_EXCEPTION_CLASS_E10NF;
	bool masked = c->z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && c->z->raw.evex.aaa &&
		      (suppressing || write);
	EXPECT(MEMORY_ADDRESS, m->base, gpr_number(op->mem.base));
	EXPECT(MEMORY_ADDRESS, m->index, op->mem.index == ZYDIS_REGISTER_NONE ? X86_NO_REG : index);
	EXPECT(MEMORY_ADDRESS, m->scale, op->mem.index == ZYDIS_REGISTER_NONE ? 0 : op->mem.scale);
	EXPECT(MEMORY_ADDRESS, m->displacement, displacement);
	EXPECT(MEMORY_ADDRESS, m->segment, segment_of(op->mem.segment));
	if (!(m->flags & X86_MEM_ADDRESS_ONLY))
		EXPECT(MEMORY_WIDTH, m->width, bytes);
	EXPECT(MEMORY_ACCESS, m->flags & (X86_MEM_READ | X86_MEM_WRITE),
	       (read ? X86_MEM_READ : 0) | (write ? X86_MEM_WRITE : 0));
	EXPECT(MEMORY_ACCESS, !!(m->flags & X86_MEM_ADDRESS_ONLY), address_only);
	EXPECT(MEMORY_ACCESS, !!(m->flags & X86_MEM_IMPLICIT), implicit);
	EXPECT(MEMORY_ACCESS, !!(m->flags & X86_MEM_VECTOR_INDEX), vsib);
	EXPECT(MEMORY_CONDITIONAL, !!(m->flags & X86_MEM_CONDITIONAL), conditional | masked | vsib);
	if (c->z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && !implicit)
		EXPECT(MEMORY_ACCESS, !!(m->flags & X86_MEM_BROADCAST), c->z->raw.evex.b);
}

static void compare_memory(const struct comparison *c)
{
	/* Own order: the explicit operand, then implicit ones, reads before writes. */
	const ZydisDecodedOperand *list[ZYDIS_MAX_OPERAND_COUNT];
	unsigned count = 0;
	for (unsigned pass = 0; pass < 3; pass++)
		for (unsigned i = 0; i < c->z->operand_count; i++) {
			const ZydisDecodedOperand *op = &c->operands[i];
			if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
				continue;
			bool write = op->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE);
			unsigned when = op->encoding != ZYDIS_OPERAND_ENCODING_NONE ? 0 : write ? 2 : 1;
			if (when == pass)
				list[count++] = op;
		}
	EXPECT(MEMORY_COUNT, c->own->memory_count, count);
	unsigned reads = 0, writes = 0;
	for (unsigned i = 0; i < count && i < c->own->memory_count; i++)
		compare_one_memory(c, list[i], &c->own->memory[i]);
	for (unsigned i = 0; i < count; i++) {
		if (list[i]->mem.type == ZYDIS_MEMOP_TYPE_AGEN || list[i]->mem.type == ZYDIS_MEMOP_TYPE_MIB)
			continue;
		reads += !!(list[i]->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD));
		writes += !!(list[i]->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE));
	}
	EXPECT(LOAD_STORE, c->own->class & (X86_CLASS_LOAD | X86_CLASS_STORE),
	       (reads ? X86_CLASS_LOAD : 0) | (writes ? X86_CLASS_STORE : 0));
	if (!(c->own->class & (X86_CLASS_GATHER | X86_CLASS_SCATTER)))
		EXPECT(LOAD_STORE, c->own->data_reads | c->own->data_writes << 8, reads | writes << 8);
	EXPECT(LOCKED, !!(c->own->class & X86_CLASS_LOCKED),
	       !!(c->z->attributes & ZYDIS_ATTRIB_HAS_LOCK) || (c->z->mnemonic == ZYDIS_MNEMONIC_XCHG && writes));
}

/* ---- layout, sizes, immediates -------------------------------------------------------------------- */

static void compare_layout(const struct comparison *c)
{
	const struct x86_insn *own = c->own;
	const ZydisDecodedInstruction *z = c->z;
	bool modrm = z->attributes & ZYDIS_ATTRIB_HAS_MODRM, sib = z->attributes & ZYDIS_ATTRIB_HAS_SIB;
	EXPECT(LAYOUT, own->has_modrm, modrm);
	EXPECT(LAYOUT, own->has_sib, sib);
	if (modrm)
		EXPECT(LAYOUT, own->modrm_offset, z->raw.modrm.offset);
	if (modrm)
		EXPECT(LAYOUT, own->modrm, z->raw.modrm.mod << 6 | z->raw.modrm.reg << 3 | z->raw.modrm.rm);
	if (sib)
		EXPECT(LAYOUT, own->sib_offset, z->raw.sib.offset);
	EXPECT(LAYOUT, own->displacement_size, z->raw.disp.size / 8);
	if (z->raw.disp.size)
		EXPECT(LAYOUT, own->displacement_offset, z->raw.disp.offset);
	EXPECT(LAYOUT, own->immediate_size, z->raw.imm[0].size / 8);
	EXPECT(LAYOUT, own->immediate2_size, z->raw.imm[1].size / 8);
	if (z->raw.imm[0].size) {
		EXPECT(LAYOUT, own->immediate_offset, z->raw.imm[0].offset);
		if (!z->raw.imm[1].size)
			EXPECT(IMMEDIATE, own->immediate, z->raw.imm[0].value.s);
		else
			EXPECT(IMMEDIATE, own->immediate,
			       z->raw.imm[0].value.u | z->raw.imm[1].value.u << z->raw.imm[0].size);
	}
	EXPECT(LAYOUT, own->opcode, z->opcode);
	EXPECT(LAYOUT, !!(own->prefixes & X86_PREFIX_LOCK), !!(z->attributes & ZYDIS_ATTRIB_HAS_LOCK));
	bool rip = modrm && z->raw.modrm.mod == 0 && z->raw.modrm.rm == 5 && own->rm == X86_NO_REG;
	EXPECT(LAYOUT, own->rip_relative, rip);
	EXPECT(SIZES, own->address_bytes, z->address_width / 8);
	if (z->operand_width)
		EXPECT(SIZES, own->operand_bytes, z->operand_width / 8);
	EXPECT(SIZES, own->vector_bytes, z->avx.vector_length / 8);
}

static void compare_flow(const struct comparison *c)
{
	bool far = c->z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	bool memory = c->z->operand_count && c->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
	bool relative = c->z->operand_count && c->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
			c->operands[0].imm.is_relative;
	unsigned flow = X86_FLOW_NONE;
	switch (c->z->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		flow = in_list(c->mnemonic, "loop loope loopne")  ? X86_FLOW_LOOP
		       : in_list(c->mnemonic, "jrcxz jecxz jcxz") ? X86_FLOW_JRCXZ
		       : c->z->mnemonic == ZYDIS_MNEMONIC_XBEGIN  ? X86_FLOW_XBEGIN
								  : X86_FLOW_JCC;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		flow = far        ? X86_FLOW_JMP_FAR
		       : relative ? X86_FLOW_JMP
		       : memory   ? X86_FLOW_JMP_MEM
				  : X86_FLOW_JMP_REG;
		if (c->z->mnemonic == ZYDIS_MNEMONIC_XABORT)
			flow = X86_FLOW_XABORT;
		break;
	case ZYDIS_CATEGORY_CALL:
		flow = far        ? X86_FLOW_CALL_FAR
		       : relative ? X86_FLOW_CALL
		       : memory   ? X86_FLOW_CALL_MEM
				  : X86_FLOW_CALL_REG;
		break;
	case ZYDIS_CATEGORY_RET:
		flow = in_list(c->mnemonic, "iret iretd iretq") ? X86_FLOW_IRET
		       : far                                    ? X86_FLOW_RET_FAR
								: X86_FLOW_RET;
		break;
	case ZYDIS_CATEGORY_SYSCALL:
		flow = c->z->mnemonic == ZYDIS_MNEMONIC_SYSENTER ? X86_FLOW_SYSENTER : X86_FLOW_SYSCALL;
		break;
	case ZYDIS_CATEGORY_SYSRET: flow = X86_FLOW_IRET; break;
	case ZYDIS_CATEGORY_INTERRUPT:
		flow = c->z->mnemonic == ZYDIS_MNEMONIC_INT3   ? X86_FLOW_INT3
		       : c->z->mnemonic == ZYDIS_MNEMONIC_INT1 ? X86_FLOW_INT1
							       : X86_FLOW_INT;
		break;
	default:
		if (in_list(c->mnemonic, "ud0 ud1 ud2"))
			flow = X86_FLOW_UD;
		else if (c->z->mnemonic == ZYDIS_MNEMONIC_HLT)
			flow = X86_FLOW_HLT;
		else if (c->z->mnemonic == ZYDIS_MNEMONIC_UIRET)
			flow = X86_FLOW_UIRET;
		else if (c->z->mnemonic == ZYDIS_MNEMONIC_XEND)
			flow = X86_FLOW_XEND;
		break;
	}
	EXPECT(FLOW, c->own->flow, flow);
	EXPECT(FLOW, x86_flow_has_target(c->own->flow), relative);
	if (relative)
		EXPECT(TARGET, c->own->target_rel, c->operands[0].imm.value.s);
	if (flow == X86_FLOW_JCC)
		EXPECT(FLOW, c->own->condition, c->z->opcode & 15);
}

/* ---- event classes --------------------------------------------------------------------------------- */

/* SIMD instructions that can raise FP exceptions are those of the manual's exception types 2 and 3 (and 11, half precision). */
static bool raises_fp(ZydisExceptionClass class)
{
	switch (class) {
	case ZYDIS_EXCEPTION_CLASS_SSE2:
	case ZYDIS_EXCEPTION_CLASS_SSE3:
	case ZYDIS_EXCEPTION_CLASS_AVX2:
	case ZYDIS_EXCEPTION_CLASS_AVX3:
	case ZYDIS_EXCEPTION_CLASS_E2:
	case ZYDIS_EXCEPTION_CLASS_E2NF:
	case ZYDIS_EXCEPTION_CLASS_E3:
	case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_AVX11:
	case ZYDIS_EXCEPTION_CLASS_E11:
	case ZYDIS_EXCEPTION_CLASS_E11NF: return true;
	default: return false;
	}
}

/* Divides and square roots of any kind: the manual's names. */
static void compare_arithmetic(const struct comparison *c)
{
	const struct x86_insn *own = c->own;
	EXPECT(DIVIDES, !!(own->class & X86_CLASS_FP_DIV),
	       in_list(c->mnemonic, "divps divpd divss divsd vdivps vdivpd vdivss vdivsd vdivph vdivsh "
				    "fdiv fdivp fdivr fdivrp fidiv fidivr"));
	EXPECT(SQUARE_ROOTS, !!(own->class & X86_CLASS_FP_SQRT),
	       in_list(c->mnemonic, "sqrtps sqrtpd sqrtss sqrtsd vsqrtps vsqrtpd vsqrtss vsqrtsd "
				    "vsqrtph vsqrtsh fsqrt"));
	EXPECT(INT_MUL, !!(own->class & X86_CLASS_INT_MUL), in_list(c->mnemonic, "mul imul mulx"));
	EXPECT(INT_DIV, !!(own->class & X86_CLASS_INT_DIV), in_list(c->mnemonic, "div idiv"));
	EXPECT(FENCE, !!(own->class & X86_CLASS_FENCE), in_list(c->mnemonic, "lfence mfence sfence"));
	/* SDM 5.2.2 and 5.2.4: the four basic operations, root, remainders, scaling; the transcendental ones. fabs, fchs, frndint and fxtract
	   change or take apart one value. */
	EXPECT(X87_ARITH, !!(own->class & X86_CLASS_X87_ARITH),
	       in_list(c->mnemonic, "fadd faddp fiadd fsub fsubp fisub fsubr fsubrp fisubr fmul fmulp "
				    "fimul fdiv fdivp fidiv fdivr fdivrp fidivr fprem fprem1 fscale fsqrt fsin "
				    "fcos fsincos fptan fpatan f2xm1 fyl2x fyl2xp1"));
	switch (c->z->meta.category) {
	case ZYDIS_CATEGORY_AES:
	case ZYDIS_CATEGORY_VAES:
	case ZYDIS_CATEGORY_SHA:
	case ZYDIS_CATEGORY_PCLMULQDQ:
	case ZYDIS_CATEGORY_VPCLMULQDQ:
	case ZYDIS_CATEGORY_GFNI:
	case ZYDIS_CATEGORY_KEYLOCKER:
	case ZYDIS_CATEGORY_KEYLOCKER_WIDE:
	case ZYDIS_CATEGORY_PADLOCK: EXPECT(CRYPTO, !!(own->class & X86_CLASS_CRYPTO), true); break;
	default: /* Zydis files the 128-bit vpclmulqdq under AVX */
		EXPECT(CRYPTO, !!(own->class & X86_CLASS_CRYPTO),
		       c->z->mnemonic == ZYDIS_MNEMONIC_VPCLMULQDQ || is_new_crypto(c->z));
	}
}

static bool in_ranges(unsigned opcode, const uint8_t (*ranges)[2], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (opcode >= ranges[i][0] && opcode <= ranges[i][1])
			return true;
	return false;
}

/* Integer arithmetic and logic on vectors by the manual's opcode maps (SDM volume 2, appendix A, tables ), not by names: what the
   maps have in common for mmx, SSE, VEX and EVEX. EVEX's own and XOP's are not in them and are left to the facts of decode_test.c. */
static void compare_vector_integer(const struct comparison *c)
{
	/* map 0F: compares, shifts, sums, products, logic; without unpacks, packs, moves, inserts, pmovmskb, lddqu, maskmov */
	static const uint8_t map_0f[][2] = {{0x64, 0x66}, {0x71, 0x76}, {0xd1, 0xd5}, {0xd8, 0xe5},
					    {0xe8, 0xef}, {0xf1, 0xf6}, {0xf8, 0xfe}};
	/* map 0F38: horizontal sums, pmaddubsw, psign, pmulhrsw; ptest; pabs; pmuldq, pcmpeqq; pcmpgtq to phminposuw; shifts by vectors; dot products, tiles' too */
	static const uint8_t map_0f38[][2] = {{0x01, 0x0b}, {0x17, 0x17}, {0x1c, 0x1e}, {0x28, 0x29},
					      {0x37, 0x41}, {0x45, 0x47}, {0x50, 0x53}, {0x5e, 0x5e},
					      {0xb4, 0xb5}, {0xd2, 0xd3}};
	const ZydisDecodedInstruction *z = c->z;
	bool legacy = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY,
	     vex = z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
	unsigned pp = vex ? z->raw.vex.pp : 0;
	bool other = vex ? pp > 1
			 : z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	for (unsigned i = 0; legacy && i < z->raw.prefix_count; i++)
		other |= z->raw.prefixes[i].value == 0xf2 || z->raw.prefixes[i].value == 0xf3;
	if ((!legacy && !vex) || !(c->own->class & X86_CLASS_VECTOR))
		return;
	bool expected = false;
	if (z->opcode_map == ZYDIS_OPCODE_MAP_0F)
		expected = in_ranges(z->opcode, map_0f, sizeof map_0f / sizeof *map_0f) && !other &&
			   !in_list(c->mnemonic, "movq2dq movdq2q");
	else if (z->opcode_map == ZYDIS_OPCODE_MAP_0F38)
		expected = in_ranges(z->opcode, map_0f38, sizeof map_0f38 / sizeof *map_0f38);
	else
		return;
	EXPECT(VECTOR_INT, !!(c->own->class & X86_CLASS_VECTOR_INT), expected);
}

static void compare_classes(const struct comparison *c)
{
	const struct x86_insn *own = c->own;
	const ZydisDecodedInstruction *z = c->z;
	ZydisInstructionCategory category = z->meta.category;
	bool vector = false;
	for (unsigned i = 0; i < z->operand_count; i++) {
		if (c->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    c->operands[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
			vector = true;
		if (c->operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		ZydisRegisterClass class = ZydisRegisterGetClass(c->operands[i].reg.value);
		vector |= class == ZYDIS_REGCLASS_MMX || class == ZYDIS_REGCLASS_XMM ||
			  class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM ||
			  class == ZYDIS_REGCLASS_TMM || class == ZYDIS_REGCLASS_MASK;
	}
	const uint32_t fp_classes = X86_CLASS_FP | X86_CLASS_FP_OTHER | X86_CLASS_FP_CONVERT |
				    X86_CLASS_FP_INT_CONVERT;
	bool x87 = z->meta.isa_ext == ZYDIS_ISA_EXT_X87;
	EXPECT(VECTOR, !!(own->class & X86_CLASS_VECTOR), vector);
	EXPECT(X87, !!(own->class & X86_CLASS_X87), x87);
	if (!x87) {
		EXPECT(FP, !!(own->class & fp_classes), raises_fp(z->meta.exception_class));
		EXPECT(CONVERT, !!(own->class & (X86_CLASS_FP_CONVERT | X86_CLASS_FP_INT_CONVERT)),
		       category == ZYDIS_CATEGORY_CONVERT);
	}
	EXPECT(PREFETCH, !!(own->class & X86_CLASS_PREFETCH),
	       category == ZYDIS_CATEGORY_PREFETCH || category == ZYDIS_CATEGORY_PREFETCHWT1 ||
		       strstr(c->mnemonic, "gatherpf") || strstr(c->mnemonic, "scatterpf"));
	EXPECT(NOP, !!(own->class & X86_CLASS_NOP),
	       category == ZYDIS_CATEGORY_NOP || category == ZYDIS_CATEGORY_WIDENOP);
	EXPECT(MASKED, !!(own->class & X86_CLASS_MASKED),
	       z->avx.mask.reg != ZYDIS_REGISTER_NONE && z->avx.mask.reg != ZYDIS_REGISTER_K0);
	EXPECT(GATHER, !!(own->class & (X86_CLASS_GATHER | X86_CLASS_SCATTER)),
	       category == ZYDIS_CATEGORY_AVX2GATHER || category == ZYDIS_CATEGORY_GATHER ||
		       category == ZYDIS_CATEGORY_SCATTER);
	bool string = category == ZYDIS_CATEGORY_STRINGOP || category == ZYDIS_CATEGORY_IOSTRINGOP;
	bool rep = z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	EXPECT(STRING, own->class & (X86_CLASS_STRING | X86_CLASS_REP),
	       (string ? X86_CLASS_STRING : 0) | (string && rep ? X86_CLASS_REP : 0));

	/* What the operands' element types say of arithmetic; conversions have two types. */
	if (own->class & (X86_CLASS_FP | X86_CLASS_FP_OTHER) && z->operand_count) {
		const ZydisDecodedOperand *op = &c->operands[z->operand_count - 1];
		for (unsigned i = z->operand_count; i-- > 0 && op->element_type != ZYDIS_ELEMENT_TYPE_FLOAT16 &&
						    op->element_type != ZYDIS_ELEMENT_TYPE_FLOAT32 &&
						    op->element_type != ZYDIS_ELEMENT_TYPE_FLOAT64;)
			op = &c->operands[i];
		unsigned precision = op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT16   ? X86_FP_HALF
				     : op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ? X86_FP_SINGLE
				     : op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64 ? X86_FP_DOUBLE
										      : 0;
		EXPECT(FP_PRECISION, own->fp_precision, precision);
		bool scalar = c->mnemonic[strlen(c->mnemonic) - 2] == 's';
		unsigned element = op->element_size / 8u,
			 vector_bytes = z->avx.vector_length ? z->avx.vector_length / 8u : 16;
		unsigned lanes = scalar ? 1 : vector_bytes / (element ? element : 1);
		bool twice = strstr(c->mnemonic, "fmadd") || strstr(c->mnemonic, "fmsub") ||
			     strstr(c->mnemonic, "fnmadd") || strstr(c->mnemonic, "fnmsub") ||
			     in_list(c->mnemonic, "dpps dppd vdpps vdppd");
		if (own->class & X86_CLASS_FP) {
			EXPECT(FP_OPERATIONS, own->fp_operations, lanes * (twice ? 2 : 1));
			EXPECT(FP_OPERATIONS, own->fp_bytes, scalar ? element : vector_bytes);
			EXPECT(FP_OPERATIONS, !!(own->class & X86_CLASS_FP_FMA),
			       twice && !strstr(c->mnemonic, "dpp"));
		}
	}
}

/* ---- entry ------------------------------------------------------------------------------------------ */

static ZydisDecoder decoder;

unsigned decode_compare(const uint8_t *code, size_t available, struct decode_tally *tally)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct x86_insn own;
	if (!decoder.machine_mode)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZyanStatus status = ZydisDecoderDecodeFull(&decoder, code, available, &z, operands);
	enum x86_decode_status own_status = x86_decode(code, available, &own);
	bool valid = ZYAN_SUCCESS(status);
	if (own_status == X86_DECODE_OK &&
	    own.class & X86_CLASS_UNKNOWN) /* executed as it is, and nothing is claimed of it */
		own_status = X86_DECODE_INVALID;
	// clang-format off: a table, a row a line
	struct comparison comparison =
				  {
					  .code = code,
					  .available = available,
					  .tally = tally,
					  .mnemonic = valid ? ZydisMnemonicGetString(z.mnemonic) : NULL,
					  .z = &z,
					  .operands = operands,
					  .own = &own,
				  },
			  *c = &comparison;
	// clang-format on
	tally->compared++;
	if (status == ZYDIS_STATUS_NO_MORE_DATA) {
		/* Zydis may see that more is needed, or that no continuation helps, earlier or later. */
		if (own_status == X86_DECODE_OK)
			disagree(c, FACT_VALIDITY, own.length, 0);
		return 1;
	}
	/* with the bit clear that is APX's X4, the prefix was Knights Corner's */
	if (valid && own_status == X86_DECODE_OK && is_knights_corner(&z) && decode_is_apx(code, &own)) {
		tally->newer++;
		return own.length;
	}
	if (!valid || own_status != X86_DECODE_OK) {
		if (!valid && own_status == X86_DECODE_OK && decode_is_newer(code, &own)) {
			tally->newer++;
			return own.length;
		}
		if (valid || own_status == X86_DECODE_OK)
			disagree(c, FACT_VALIDITY, own_status == X86_DECODE_OK, valid ? z.mnemonic : 0);
		return valid ? z.length : 1;
	}
	tally->valid++;
	EXPECT(LENGTH, own.length, z.length);
	if (own.length != z.length)
		return z.length;
	compare_layout(c);
	compare_flow(c);
	compare_flags(c);
	compare_registers(c);
	compare_memory(c);
	compare_classes(c);
	compare_arithmetic(c);
	compare_vector_integer(c);
	return z.length;
}
