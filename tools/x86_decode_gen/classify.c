/*
 * Mnemonic → what one execution counts as.
 *
 * FP arithmetic is what Intel's FP_ARITH_INST_RETIRED counts: add sub mul div sqrt min max rcp rsqrt range
 * hadd hsub addsub dp fma; compares, rounding, classification, scaling and exponent or mantissa extraction
 * are FP_OTHER: arithmetic units work on them but no result is computed. Operations per lane: FMA and dp
 * count 2, as the hardware's events do; complex multiplies count 6 real operations per pair of lanes
 * (4 mul, 2 add) and complex FMA 8; bf16 dot products 4 per 32-bit lane (2 mul, 2 add).
 */
#include <string.h>

#include "gen.h"

/* Does the name begin with one of a space-separated list? */
static bool begins(const char *name, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, " ");
		if (!strncmp(name, list, n))
			return true;
		list += n;
		list += *list == ' ';
	}
	return false;
}

static bool is_one_of(const char *name, const char *list)
{
	size_t length = strlen(name);
	while (*list) {
		size_t n = strcspn(list, " ");
		if (n == length && !memcmp(name, list, n))
			return true;
		list += n;
		list += *list == ' ';
	}
	return false;
}

/* ---- control flow ------------------------------------------------------------------------------ */

static uint8_t flow_of(const struct zydis_insn *z, const char *name)
{
	static const struct { const char *names; uint8_t flow; } plain[] = {
		{ "loop loope loopne", X86_FLOW_LOOP }, { "jcxz jecxz jrcxz", X86_FLOW_JRCXZ }, { "xbegin", X86_FLOW_XBEGIN },
		{ "iret iretd iretq sysret sysexit rsm", X86_FLOW_IRET }, { "uiret", X86_FLOW_UIRET },
		{ "syscall", X86_FLOW_SYSCALL }, { "sysenter", X86_FLOW_SYSENTER }, { "int", X86_FLOW_INT }, { "int3", X86_FLOW_INT3 },
		{ "int1", X86_FLOW_INT1 }, { "xabort", X86_FLOW_XABORT }, { "xend", X86_FLOW_XEND }, { "ud0 ud1 ud2", X86_FLOW_UD },
		{ "hlt", X86_FLOW_HLT },
	};
	for (unsigned i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (is_one_of(name, plain[i].names))
			return plain[i].flow;
	bool far = z->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	bool memory = z->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY, immediate = z->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	if (!strcmp(name, "ret"))
		return far ? X86_FLOW_RET_FAR : X86_FLOW_RET;
	if (!strcmp(name, "jmp"))
		return far ? X86_FLOW_JMP_FAR : immediate ? X86_FLOW_JMP : memory ? X86_FLOW_JMP_MEM : X86_FLOW_JMP_REG;
	if (!strcmp(name, "call"))
		return far ? X86_FLOW_CALL_FAR : immediate ? X86_FLOW_CALL : memory ? X86_FLOW_CALL_MEM : X86_FLOW_CALL_REG;
	if (z->insn.meta.category == ZYDIS_CATEGORY_COND_BR)
		return X86_FLOW_JCC;
	return X86_FLOW_NONE;
}

static uint8_t special_of(const struct zydis_insn *z, const char *name)
{
	static const struct { const char *names; uint8_t special; } table[] = {
		{ "cpuid", X86_SPECIAL_CPUID }, { "rdtsc", X86_SPECIAL_RDTSC }, { "rdtscp", X86_SPECIAL_RDTSCP },
		{ "rdpmc rdpru", X86_SPECIAL_RDPMC }, { "rdpid", X86_SPECIAL_RDPID }, { "serialize", X86_SPECIAL_SERIALIZE },
		{ "rdfsbase", X86_SPECIAL_RDFSBASE }, { "rdgsbase", X86_SPECIAL_RDGSBASE },
		{ "wrfsbase", X86_SPECIAL_WRFSBASE }, { "wrgsbase", X86_SPECIAL_WRGSBASE },
		{ "lfs", X86_SPECIAL_LOAD_FS }, { "lgs", X86_SPECIAL_LOAD_GS }, { "lss", X86_SPECIAL_LOAD_SEGMENT },
		{ "xsave xsave64 xsavec xsavec64 xsaveopt xsaveopt64 xrstor xrstor64 fxsave fxsave64 fxrstor fxrstor64", X86_SPECIAL_XSAVE },
		{ "xgetbv", X86_SPECIAL_XGETBV }, { "rdpkru wrpkru", X86_SPECIAL_PKRU },
		{ "rdsspd rdsspq incsspd incsspq wrssd wrssq saveprevssp rstorssp", X86_SPECIAL_SHADOW_STACK },
		{ "xtest xsusldtrk xresldtrk", X86_SPECIAL_TSX }, { "popf popfd popfq", X86_SPECIAL_POPF },
		{ "pushf pushfd pushfq", X86_SPECIAL_PUSHF }, { "umonitor umwait tpause monitorx mwaitx", X86_SPECIAL_WAIT },
		{ "clui stui testui senduipi", X86_SPECIAL_UINTR }, { "enclu", X86_SPECIAL_ENCLAVE },
		{ "in out insb insw insd outsb outsw outsd", X86_SPECIAL_IO },
		{ "cli sti hlt invd wbinvd invlpg invlpga invlpgb tlbsync invpcid invept invvpid lgdt lidt lldt ltr lmsw clts swapgs rdmsr wrmsr "
		  "xsetbv xsaves xsaves64 xrstors xrstors64 monitor mwait clac stac vmcall vmlaunch vmresume vmxoff vmxon vmclear vmptrld vmptrst "
		  "vmread vmwrite vmfunc vmrun vmmcall vmload vmsave clgi stgi skinit getsec encls enclv pconfig sysret sysexit rsm iret iretd iretq "
		  "setssbsy clrssbsy wrussd wrussq hreset psmash pvalidate rmpadjust rmpupdate seamcall seamops seamret tdcall loadiwkey "
		  "enqcmds", X86_SPECIAL_PRIVILEGED },
	};
	for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
		if (is_one_of(name, table[i].names))
			return table[i].special;
	for (unsigned i = 0; i < z->insn.operand_count; i++) {
		const ZydisDecodedOperand *op = &z->operands[i];
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			continue;
		switch (ZydisRegisterGetClass(op->reg.value)) {
		case ZYDIS_REGCLASS_CONTROL: case ZYDIS_REGCLASS_DEBUG: case ZYDIS_REGCLASS_TEST:
			return X86_SPECIAL_PRIVILEGED;
		case ZYDIS_REGCLASS_SEGMENT:
			if (!(op->actions & ZYDIS_OPERAND_ACTION_WRITE))
				return X86_SPECIAL_STORE_SEGMENT;
			return op->reg.value == ZYDIS_REGISTER_FS ? X86_SPECIAL_LOAD_FS
				: op->reg.value == ZYDIS_REGISTER_GS ? X86_SPECIAL_LOAD_GS : X86_SPECIAL_LOAD_SEGMENT;
		default:
			break;
		}
	}
	return X86_SPECIAL_NONE;
}

/* ---- floating point ---------------------------------------------------------------------------- */

struct element { uint8_t precision, bytes, scalar; };

static bool element_of(const char *name, struct element *e)
{
	size_t n = strlen(name);
	if (n < 3)
		return false;
	char form = name[n - 2], type = name[n - 1];
	if (form != 'p' && form != 's')
		return false;
	e->scalar = form == 's';
	switch (type) {
	case 's': *e = (struct element){ X86_FP_SINGLE, 4, e->scalar }; return true;
	case 'd': *e = (struct element){ X86_FP_DOUBLE, 8, e->scalar }; return true;
	case 'h': *e = (struct element){ X86_FP_HALF, 2, e->scalar }; return true;
	default: return false;
	}
}

static unsigned log2_of(unsigned v) { unsigned n = 0; while (v >>= 1) n++; return n; }

static void set_fp(struct x86_form *f, unsigned precision, unsigned width, unsigned operations)
{
	f->fp = (uint8_t)(precision | log2_of(width) << FP_WIDTH_SHIFT);
	f->fp_operations = (uint8_t)operations;
}

static void classify_3dnow(const char *name, struct x86_form *f)
{
	if (is_one_of(name, "pf2id pf2iw pi2fd pi2fw")) {
		f->class |= X86_CLASS_FP_INT_CONVERT;
		set_fp(f, X86_FP_SINGLE, 8, 0);
	} else if (is_one_of(name, "pfacc pfnacc pfpnacc pfadd pfsub pfsubr pfmul pfmin pfmax pfrcp pfsqrt pfrcpit1 pfrcpit2 pfrsqit1")) {
		f->class |= X86_CLASS_FP;
		set_fp(f, X86_FP_SINGLE, 8, 2);
	} else if (is_one_of(name, "pfcmpeq pfcmpge pfcmpgt")) {
		f->class |= X86_CLASS_FP_OTHER;
		set_fp(f, X86_FP_SINGLE, 8, 0);
	} else if (is_one_of(name, "pavgusb pmulhrw")) {
		f->class |= X86_CLASS_VECTOR_INT;
	} else if (!strcmp(name, "pfcpit1")) { /* Zydis' spelling of pfrcpit1 */
		f->class |= X86_CLASS_FP;
		set_fp(f, X86_FP_SINGLE, 8, 2);
	}
}

/* From the letters between cvt and the end: two of these types in a row. */
static bool classify_conversion(const char *base, unsigned vector, struct x86_form *f)
{
	static const struct { const char *text; bool fp; uint8_t precision, bytes; } types[] = {
		{ "ps", true, X86_FP_SINGLE, 4 }, { "pd", true, X86_FP_DOUBLE, 8 }, { "phx", true, X86_FP_HALF, 2 },
		{ "ph", true, X86_FP_HALF, 2 }, { "ss", true, X86_FP_SINGLE, 4 }, { "sd", true, X86_FP_DOUBLE, 8 },
		{ "sh", true, X86_FP_HALF, 2 }, { "bf16", true, X86_FP_BF16, 2 },
	};
	if (!begins(base, "cvt"))
		return false;
	const char *to = strrchr(base, '2') + 1, *from = base + 3;
	const char *two = strstr(base, "ne2ps"); /* cvtne2ps2bf16: the last 2 is the one */
	if (two)
		from = two + 3;
	else if (!strncmp(from, "ne", 2))
		from += 2;
	else if (*from == 't')
		from++;
	int from_fp = 0, to_fp = 0;
	unsigned precision = X86_FP_NONE;
	for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++) {
		if (!strncmp(from, types[i].text, strlen(types[i].text)))
			from_fp = 1, precision = types[i].precision;
		if (!strncmp(to, types[i].text, strlen(types[i].text)))
			to_fp = 1;
	}
	if (!from_fp)
		for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
			if (!strncmp(to, types[i].text, strlen(types[i].text)))
				precision = types[i].precision;
	f->class |= from_fp && to_fp ? X86_CLASS_FP_CONVERT : X86_CLASS_FP_INT_CONVERT;
	bool scalar = strstr(base, "ss") || strstr(base, "sd") || strstr(base, "sh") || strstr(base, "si");
	set_fp(f, precision, scalar ? precision == X86_FP_DOUBLE ? 8 : precision == X86_FP_SINGLE ? 4 : 2 : vector, 0);
	return true;
}

static bool classify_fp(const struct zydis_insn *z, const char *base, struct x86_form *f)
{
	unsigned vector = z->insn.avx.vector_length ? z->insn.avx.vector_length / 8u : 16;
	struct element e;
	if (classify_conversion(base, vector, f))
		return true;
	if (is_one_of(base, "dpbf16ps")) {
		f->class |= X86_CLASS_FP | X86_CLASS_FP_FMA;
		set_fp(f, X86_FP_BF16, vector, vector / 4 * 4);
		return true;
	}
	if (!element_of(base, &e))
		return false;
	unsigned width = e.scalar ? e.bytes : vector, lanes = e.scalar ? 1 : vector / e.bytes, operations;
	if (begins(base, "fmadd fmsub fnmadd fnmsub fmaddsub fmsubadd") && !begins(base, "fmaddc")) {
		f->class |= X86_CLASS_FP | X86_CLASS_FP_FMA;
		operations = 2 * lanes;
	} else if (begins(base, "4fmadd 4fnmadd")) {
		f->class |= X86_CLASS_FP | X86_CLASS_FP_FMA;
		operations = 8 * lanes;
	} else if (begins(base, "fmaddc fcmaddc fmulc fcmulc")) {
		/* a complex number is two halves: csh has one of them */
		unsigned pairs = e.scalar ? 1 : lanes / 2;
		bool fma = begins(base, "fmaddc fcmaddc");
		f->class |= X86_CLASS_FP | (fma ? X86_CLASS_FP_FMA : 0);
		width = e.scalar ? 4 : width;
		operations = pairs * (fma ? 8 : 6);
	} else if (begins(base, "dp")) {
		f->class |= X86_CLASS_FP;
		operations = 2 * lanes;
	} else if (begins(base, "div")) {
		f->class |= X86_CLASS_FP | X86_CLASS_FP_DIV;
		operations = lanes;
	} else if (begins(base, "sqrt")) {
		f->class |= X86_CLASS_FP | X86_CLASS_FP_SQRT;
		operations = lanes;
	} else if (begins(base, "add sub mul min max hadd hsub rcp rsqrt range exp2")) {
		f->class |= X86_CLASS_FP;
		operations = lanes;
	} else if (begins(base, "cmp comi ucomi round rndscale reduce getexp getmant scalef fixupimm fpclass frcz")) {
		f->class |= X86_CLASS_FP_OTHER;
		operations = 0;
	} else {
		return false;
	}
	set_fp(f, e.precision, width, operations);
	return true;
}

static void classify_x87(const char *name, struct x86_form *f)
{
	f->class |= X86_CLASS_X87;
	if (is_one_of(name, "fadd faddp fiadd fsub fsubp fsubr fsubrp fisub fisubr fmul fmulp fimul fdiv fdivp fdivr fdivrp fidiv fidivr "
		"fsqrt fprem fprem1 fscale f2xm1 fyl2x fyl2xp1 fsin fcos fsincos fptan fpatan")) {
		f->class |= X86_CLASS_X87_ARITH;
		if (begins(name, "fdiv fidiv"))
			f->class |= X86_CLASS_FP_DIV;
		if (!strcmp(name, "fsqrt"))
			f->class |= X86_CLASS_FP_SQRT;
		set_fp(f, X86_FP_EXTENDED, 16, !strcmp(name, "fsincos") ? 2 : 1);
	}
	if (is_one_of(name, "fild fist fistp fisttp fbld fbstp"))
		f->class |= X86_CLASS_FP_INT_CONVERT;
	/* A store to 4 or 8 bytes rounds to single or double. */
	if (is_one_of(name, "fst fstp") && f->memory_flags & X86_MEM_WRITE && f->memory_width <= 8)
		f->class |= X86_CLASS_FP_CONVERT;
}

/* ---- integers ---------------------------------------------------------------------------------- */

static bool is_vector_int(const char *base)
{
	if (begins(base, "pshuf pcompress"))
		return false;
	return begins(base, "padd psub pmul pmadd pand por pxor pcmpeq pcmpgt pcmplt pmin pmax pavg psadbw psign pabs psll psrl psra prol pror "
			"pshld pshrd pternlog pdpbusd pdpwssd p4dpwssd pconflict plzcnt pmacs pmadcs phadd phsub phminpos pcom pshab pshad pshaq pshaw pshlb "
			"pshlq pshlw prot mpsadbw dbpsadbw ptestm ptestnm p2intersect")
		|| is_one_of(base, "ptest pcmpb pcmpd pcmpq pcmpw pcmpub pcmpud pcmpuq pcmpuw popcntb popcntw popcntd popcntq pshld pcmov "
			"pcmpestri pcmpestrm pcmpistri pcmpistrm tdpbssd tdpbsud tdpbusd tdpbuud");
}

static bool uses_vector(const struct zydis_insn *z)
{
	for (unsigned i = 0; i < z->insn.operand_count; i++) {
		const ZydisDecodedOperand *op = &z->operands[i];
		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
			return true;
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(op->reg.value)) {
		case ZYDIS_REGCLASS_MMX: case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_YMM: case ZYDIS_REGCLASS_ZMM:
		case ZYDIS_REGCLASS_TMM: case ZYDIS_REGCLASS_MASK:
			return true;
		default:
			break;
		}
	}
	return false;
}

void classify(const struct zydis_insn *z, uint32_t key, bool legacy, struct form_row *row)
{
	struct x86_form *f = &row->form;
	const char *name = ZydisMnemonicGetString(z->insn.mnemonic), *base = name;
	ZydisInstructionCategory category = z->insn.meta.category;
	/* verr, verw and the virtual machine's instructions keep their v */
	if (!legacy && *base == 'v')
		base++;
	f->flow = flow_of(z, name);
	f->special = special_of(z, name);

	if (uses_vector(z) || is_one_of(name, "vzeroupper vzeroall emms femms"))
		f->class |= X86_CLASS_VECTOR;
	if (z->insn.meta.isa_ext == ZYDIS_ISA_EXT_X87 && strcmp(name, "emms")) {
		classify_x87(name, f);
	} else if (z->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW) {
		classify_3dnow(name, f);
	} else if (!strcmp(name, "tdpbf16ps")) {
		f->class |= X86_CLASS_FP | X86_CLASS_FP_FMA;
		set_fp(f, X86_FP_BF16, 64, 0); /* by the tiles' configuration */
	} else if (f->class & X86_CLASS_VECTOR || category == ZYDIS_CATEGORY_CONVERT) {
		if (!classify_fp(z, base, f) && is_vector_int(base))
			f->class |= X86_CLASS_VECTOR_INT;
	}

	if (category == ZYDIS_CATEGORY_STRINGOP || category == ZYDIS_CATEGORY_IOSTRINGOP) {
		f->class |= X86_CLASS_STRING;
		if (key >> KEY_REP & 3)
			f->class |= X86_CLASS_REP;
	}
	if (begins(name, "prefetch") || strstr(name, "gatherpf") || strstr(name, "scatterpf"))
		f->class |= X86_CLASS_PREFETCH;
	if (is_one_of(name, "mul imul mulx"))
		f->class |= X86_CLASS_INT_MUL;
	if (is_one_of(name, "div idiv"))
		f->class |= X86_CLASS_INT_DIV;
	if (is_one_of(name, "cpuid serialize iret iretd iretq rsm invd wbinvd invlpg invpcid invept invvpid lgdt lidt lldt ltr wrmsr")
		|| (!strcmp(name, "mov") && f->special == X86_SPECIAL_PRIVILEGED
			&& z->operands[0].encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG))
		f->class |= X86_CLASS_SERIALISING;
	if (is_one_of(name, "rdtsc rdtscp"))
		f->class |= X86_CLASS_TSC;
	if (is_one_of(name, "lfence sfence mfence"))
		f->class |= X86_CLASS_FENCE;
	if (is_one_of(name, "nop endbr32 endbr64 pause fnop fdisi8087_nop feni8087_nop fsetpm287_nop"))
		f->class |= X86_CLASS_NOP;
	if (begins(base, "aes sha1 sha256 pclmulqdq gf2p8") || is_one_of(name, "encodekey128 encodekey256 loadiwkey")
		|| z->insn.meta.category == ZYDIS_CATEGORY_PADLOCK)
		f->class |= X86_CLASS_CRYPTO;
	if (begins(base, "movnt maskmovdqu maskmovq"))
		f->class |= X86_CLASS_NON_TEMPORAL;
	if (begins(name, "tdp tile") || is_one_of(name, "ldtilecfg sttilecfg"))
		f->class |= X86_CLASS_AMX;
	if (row->implicit[0].flags & X86_MEM_STACK || row->implicit[1].flags & X86_MEM_STACK || is_one_of(name, "leave"))
		f->class |= X86_CLASS_STACK;
	if (f->memory_flags & X86_MEM_VECTOR_INDEX)
		f->class |= strstr(name, "scatter") ? X86_CLASS_SCATTER : X86_CLASS_GATHER;
}
