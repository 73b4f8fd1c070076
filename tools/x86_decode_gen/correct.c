/*
 * Where the manuals (Intel SDM volume 2, AMD APM volume 3) say more than Zydis 4.0, or something else.
 *
 * Each correction that changes a fact the oracle reports has its row, with the reason, in
 * tests/engine/decode_differences.h; the checker fails on any other difference.
 */
#include <string.h>

#include "gen.h"

static bool is(const char *name, const char *list)
{
	size_t length = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

static void address_only(struct x86_form *f)
{
	if (f->memory_flags)
		f->memory_flags = X86_MEM_ADDRESS_ONLY | (f->memory_flags & X86_MEM_VECTOR_INDEX);
	f->memory_width = 0;
}

static void all_registers(struct x86_form *f)
{
	f->gpr_read = f->gpr_written = 0xffff;
	f->flags_maybe |= X86_FLAGS_ARITHMETIC;
}

/* The kernel's entry: it reads any register, returns in rax, and gives the flags back as they were. */
static void kernel_entry(struct x86_form *f, uint16_t written)
{
	f->gpr_read = 0xffff;
	f->gpr_written = written;
	f->flags_read = 0xff;
	f->flags_written = f->flags_maybe = f->flags_undefined = 0;
}

static void string_instruction(const char *name, bool rep, struct form_row *row)
{
	struct x86_form *f = &row->form;
	static const struct { char name[5]; bool source, destination, reads_rax, writes_rax; } kinds[] = {
		{ "movs", true, true, false, false }, { "cmps", true, true, false, false }, { "stos", false, true, true, false },
		{ "lods", true, false, false, true }, { "scas", false, true, true, false }, { "insX", false, true, false, false },
		{ "outs", true, false, false, false },
	};
	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (strncmp(name, kinds[i].name, kinds[i].name[3] == 'X' ? 3 : 4))
			continue;
		unsigned moved = (kinds[i].source ? 1u << X86_RSI : 0) | (kinds[i].destination ? 1u << X86_RDI : 0) | (rep ? 1u << X86_RCX : 0);
		unsigned dx = f->gpr_read & 1u << X86_RDX;
		f->gpr_written = (uint16_t)(moved | (kinds[i].writes_rax ? 1u << X86_RAX : 0));
		/* rep lods with rcx = 0, and lods of less than 4 bytes, leave (part of) rax. */
		bool rax = kinds[i].reads_rax || (kinds[i].writes_rax && (rep || row->implicit[0].width < 4));
		f->gpr_read = (uint16_t)(moved | dx | (rax ? 1u << X86_RAX : 0));
	}
	for (unsigned i = 0; i < 2; i++)
		if (row->implicit[i].flags)
			row->implicit[i].flags = (uint16_t)((row->implicit[i].flags & ~X86_MEM_CONDITIONAL) | X86_MEM_STRING);
	/* Reads before writes. */
	if (row->implicit[1].flags && row->implicit[0].flags & X86_MEM_WRITE) {
		struct x86_implicit swap = row->implicit[0];
		row->implicit[0] = row->implicit[1];
		row->implicit[1] = swap;
	}
	if (rep) {
		f->flags_read &= (uint8_t)~X86_FLAG_ZF; /* only the ZF of an iteration ends the loop */
		f->flags_maybe |= f->flags_written;
		f->flags_written = 0;
	}
}

/* flags: what a count of 2 or more does. A count of 0 does nothing, a count of 1 defines OF. */
static void shift_instruction(const struct zydis_insn *z, bool rotate, struct x86_form *f)
{
	uint8_t op = z->insn.opcode;
	uint8_t result = rotate ? X86_FLAG_CF : X86_FLAG_CF | X86_FLAG_PF | X86_FLAG_ZF | X86_FLAG_SF;
	f->flags_written = result;
	f->flags_maybe = 0;
	f->flags_undefined = (uint8_t)(X86_FLAG_OF | (rotate ? 0 : X86_FLAG_AF));
	bool by_cl = z->insn.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT ? op == 0xd2 || op == 0xd3 : op == 0xa5 || op == 0xad;
	bool by_one = z->insn.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (op == 0xd0 || op == 0xd1);
	if (by_one) {
		f->flags_written |= X86_FLAG_OF;
		f->flags_undefined &= (uint8_t)~X86_FLAG_OF;
	} else if (by_cl) {
		f->flags_maybe = f->flags_written | X86_FLAG_OF;
		f->flags_written = 0;
		f->flags_undefined &= (uint8_t)~X86_FLAG_OF;
	} else {
		f->detail = DETAIL_SHIFT_COUNT;
	}
}

static void add_implicit(struct form_row *row, uint16_t flags, uint8_t width, uint8_t base, uint8_t segment)
{
	struct x86_implicit *im = row->implicit[0].flags ? &row->implicit[1] : &row->implicit[0];
	*im = (struct x86_implicit){ .flags = flags | X86_MEM_IMPLICIT, .width = width, .base = base, .index = X86_NO_REG, .segment = segment };
	row->form.gpr_read |= (uint16_t)(1u << base);
}

static bool legacy_integer(const struct zydis_insn *z)
{
	return z->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

static void correct_flags(const struct zydis_insn *z, const char *name, struct x86_form *f)
{
	if (is(name, "and or xor test")) /* every CPU clears AF */
		f->flags_overwritten = X86_FLAG_AF;
	if (is(name, "sbb")) { /* AF is the borrow of the low nibble, like sub's */
		f->flags_written |= X86_FLAG_AF;
		f->flags_undefined = 0;
	} else if (is(name, "testui")) { /* UIF to CF; ZF AF OF PF SF are cleared */
		f->flags_written = X86_FLAGS_ARITHMETIC;
	} else if (is(name, "uiret")) { /* pops rflags */
		f->flags_written = X86_FLAGS_ARITHMETIC | X86_FLAG_DF;
		f->flags_maybe = X86_FLAG_SYSTEM;
	} else if (is(name, "vptest vtestps vtestpd")) { /* like ptest: OF SF AF PF are cleared */
		f->flags_written = X86_FLAGS_ARITHMETIC;
	} else if (is(name, "bextr")) { /* XOP's form too clears CF and OF */
		f->flags_written = X86_FLAG_CF | X86_FLAG_ZF | X86_FLAG_OF;
		f->flags_undefined = X86_FLAG_AF | X86_FLAG_PF | X86_FLAG_SF;
	} else if (legacy_integer(z) && is(name, "rol ror rcl rcr")) {
		shift_instruction(z, true, f);
	} else if (legacy_integer(z) && is(name, "shl shr sar shld shrd")) {
		shift_instruction(z, false, f);
	}
}

static void correct_registers(const char *name, struct x86_form *f)
{
	if (is(name, "bsf bsr lar lsl")) /* the destination keeps its value if the source is 0 (the selector bad) */
		f->roles |= f->roles & ROLE_REG_WRITE ? ROLE_REG_READ : 0;
	else if (is(name, "rdsspd rdsspq")) /* a nop where shadow stacks are off */
		f->roles |= ROLE_RM_READ;
	else if (is(name, "sldt str smsw")) /* where UMIP is on, Linux emulates them and writes 2 bytes only */
		f->roles |= f->roles & ROLE_RM_WRITE ? ROLE_RM_READ : 0;
	else if (is(name, "xlat"))
		f->gpr_read |= 1 << X86_RAX;
	else if (is(name, "xbegin"))
		f->gpr_read |= f->gpr_written |= 1 << X86_RAX; /* the abort's reason */
	else if (is(name, "syscall"))
		kernel_entry(f, 1 << X86_RAX | 1 << X86_RCX | 1 << X86_R11);
	else if (is(name, "int sysenter"))
		kernel_entry(f, 1 << X86_RAX);
	else if (is(name, "int3 int1"))
		kernel_entry(f, 0);
	else if (is(name, "enclu getsec encls enclv vmcall vmmcall vmfunc vmlaunch vmresume vmrun tdcall seamcall seamops seamret rsm"))
		all_registers(f);
	else if (is(name, "nop ud0 ud1 ud2"))
		f->roles &= (uint16_t)~(ROLE_REG_READ | ROLE_RM_READ | ROLE_REG_WRITE | ROLE_RM_WRITE);
	else if (is(name, "uiret"))
		f->gpr_written |= 1 << X86_RSP;
}

static void correct_memory(const struct zydis_insn *z, const char *name, struct form_row *row)
{
	struct x86_form *f = &row->form;
	bool register_source = z->insn.operand_count > 1 && z->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	/* An address that nothing is said about is still an address: the rewriter may have to patch it. */
	if (z->insn.attributes & ZYDIS_ATTRIB_HAS_MODRM && z->insn.raw.sib.offset && !f->memory_flags)
		f->memory_flags = X86_MEM_ADDRESS_ONLY;
	if (f->class & X86_CLASS_PREFETCH || is(name, "nop ud0 ud1 clflush clflushopt clwb cldemote invlpg"))
		address_only(f);
	if (is(name, "lea")) { /* an offset: no segment's base is added */
		address_only(f);
		f->detail = DETAIL_NO_SEGMENT;
	}
	if (z->insn.meta.category == ZYDIS_CATEGORY_MPX) {
		/* Linux 5.6 dropped MPX: with BNDCFGU.EN clear these do nothing. */
		address_only(f);
		f->class |= X86_CLASS_NOP;
	}
	if (is(name, "bt bts btr btc") && f->memory_flags && register_source)
		f->memory_flags |= X86_MEM_BIT_OFFSET;
	if (is(name, "xchg") && f->memory_flags) {
		f->class |= X86_CLASS_LOCKED;
		f->memory_flags |= X86_MEM_LOCKED;
	}
	if (is(name, "xsave xsave64 xsavec xsavec64 xsaveopt xsaveopt64 xsaves xsaves64 xrstor xrstor64 xrstors xrstors64 tileloadd "
		"tileloaddt1 tilestored"))
		f->memory_width = 0;
	if (is(name, "movsxd") && f->memory_flags && z->insn.operand_width == 16)
		f->memory_width = 2;
	if (is(name, "maskmovdqu maskmovq vmaskmovdqu"))
		row->implicit[0].flags |= X86_MEM_MASKED | X86_MEM_CONDITIONAL;
	if (is(name, "vmaskmovps vmaskmovpd vpmaskmovd vpmaskmovq"))
		f->memory_flags |= X86_MEM_MASKED | X86_MEM_CONDITIONAL;
	if (is(name, "xlat")) {
		row->implicit[0].index = X86_RAX;
		row->implicit[0].flags |= X86_MEM_INDEX_BYTE;
	} else if (is(name, "enter")) {
		f->detail = DETAIL_FRAME;
	} else if (is(name, "leave")) {
		row->implicit[0].flags |= X86_MEM_STACK;
	} else if (is(name, "pop") && f->memory_flags) {
		f->detail = DETAIL_POP_MEMORY;
	} else if (is(name, "movdir64b")) {
		row->implicit[0].segment = X86_ES; /* cannot be overridden */
	} else if (is(name, "enqcmd enqcmds")) {
		add_implicit(row, X86_MEM_WRITE, 64, 0, X86_ES);
		f->gpr_read &= (uint16_t)~1u;
		f->roles |= ROLE_REG_IS_ADDRESS | ROLE_REG_READ;
	} else if (is(name, "clzero")) {
		add_implicit(row, X86_MEM_WRITE, 64, X86_RAX, X86_DS);
	} else if (is(name, "uiret")) { /* rip, rflags, rsp */
		add_implicit(row, X86_MEM_READ | X86_MEM_STACK, 24, X86_RSP, X86_SS);
	}
}

void correct(const struct zydis_insn *z, uint32_t key, struct form_row *row)
{
	struct x86_form *f = &row->form;
	const char *name = ZydisMnemonicGetString(z->insn.mnemonic);
	if (f->class & X86_CLASS_STRING)
		string_instruction(name, key >> KEY_REP & 3, row);
	correct_flags(z, name, f);
	correct_registers(name, f);
	correct_memory(z, name, row);
	for (unsigned i = 0; i < 3; i++) {
		unsigned flags = i < 2 ? row->implicit[i].flags : f->memory_flags;
		f->class |= (flags & X86_MEM_READ ? X86_CLASS_LOAD : 0) | (flags & X86_MEM_WRITE ? X86_CLASS_STORE : 0);
	}
	/* The masks are disjoint: "maybe" and "undefined" give way to nobody, "written" to both. */
	f->flags_maybe &= (uint8_t)~f->flags_undefined;
	f->flags_written &= (uint8_t)~(f->flags_undefined | f->flags_maybe);
}
