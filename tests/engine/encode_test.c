/*
 * The instructions that the engine emits (engine/x86/encode.h), each form with all its registers and displacements:
 * Zydis decodes what was written to the mnemonic and operands that the form's comment names, and to its length.
 */
#include <Zydis/Zydis.h>
#include <string.h>

#include "engine/x86/encode.h"
#include "tap.h"

static const char *const r64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
				  "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
static const char *const r32[] = {"eax", "ecx", "edx",  "ebx",  "esp",  "ebp",  "esi",  "edi",
				  "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};
static const char *const r16[] = {"ax",  "cx",  "dx",   "bx",   "sp",   "bp",   "si",   "di",
				  "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"};
static const char *const r8[] = {"al",  "cl",  "dl",   "bl",   "spl",  "bpl",  "sil",  "dil",
				 "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"};

static const int32_t displacements[] = {0, 1, -1, 127, -128, 128, -129, 0x12345678, INT32_MAX, INT32_MIN};
static const uint32_t offsets[] = {0, 8, 0x28, 0x7f, 0x80, 0x158, 0x12340, 0x7ffffff8};
#define COUNT(a) (sizeof(a) / sizeof *(a))
#define EACH_REGISTER(r) for (unsigned r = 0; r < 16; r++)
#define EACH_DISPLACEMENT(d)                                                                                      \
	for (int32_t i_##d = 0, d; i_##d < (int32_t)COUNT(displacements) && (d = displacements[i_##d], 1); i_##d++)
#define EACH_OFFSET(o) for (uint32_t i_##o = 0, o; i_##o < COUNT(offsets) && (o = offsets[i_##o], 1); i_##o++)

static ZydisDecoder decoder;
static ZydisFormatter formatter;
static uint8_t code[32], *at = code;
static unsigned seen, wrong;

/* What was written is one instruction: this one, in Intel's notation. */
__attribute__((format(printf, 1, 2))) static void is(const char *format, ...)
{
	char expected[128], text[128] = "no instruction";
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(expected, sizeof expected, format, arguments);
	va_end(arguments);
	ZydisDecodedInstruction in;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	size_t n = (size_t)(at - code);
	bool decoded = ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, n, &in, operands));
	if (decoded)
		ZydisFormatterFormatInstruction(&formatter, &in, operands, in.operand_count_visible, text,
						sizeof text, 0, NULL);
	if (!decoded || in.length != n || strcmp(text, expected) != 0) {
		if (wrong++ < 4)
			printf("# %zu bytes are '%s', not '%s'\n", n, text, expected);
	}
	seen++;
	at = code;
	memset(code, 0xcc, sizeof code);
}

/* … of so many bytes */
static void has(unsigned bytes)
{
	if (at - code != bytes && wrong++ < 4)
		printf("# %d bytes, not %u\n", (int)(at - code), bytes);
}

static void form(const char *fact)
{
	ok(seen && !wrong, "%s: %u encodings", fact, seen);
	seen = wrong = 0;
}

/* [base + displacement] as it is written */
static const char *sum(const char *base, const char *index, unsigned scale, int64_t displacement)
{
	static char text[64];
	size_t n = 0;
	text[0] = 0;
	if (base)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s", base);
	if (index)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s*%u", n ? "+" : "", index, scale);
	if (!n)
		snprintf(text, sizeof text, "0x%llx", (unsigned long long)displacement);
	else if (displacement)
		snprintf(text + n, sizeof text - n, "%c0x%llx", displacement < 0 ? '-' : '+',
			 (unsigned long long)(displacement < 0 ? -displacement : displacement));
	return text;
}

static bool is_base(unsigned base) { return (base & 7) != X86_RSP; }

/* ---- gs ---- */

static void gs(void)
{
	EACH_OFFSET(o) EACH_REGISTER(r)
	{
		encode_store_gs(&at, r, o), has(9), is("mov qword ptr gs:[0x%x], %s", o, r64[r]);
	}
	form("a register is stored in gs");
	EACH_OFFSET(o) EACH_REGISTER(r)
	{
		encode_load_gs(&at, r, o), has(9), is("mov %s, qword ptr gs:[0x%x]", r64[r], o);
	}
	form("a register is loaded from gs");
	EACH_OFFSET(o) EACH_REGISTER(r)
	{
		encode_store_gs32(&at, r, o), is("mov dword ptr gs:[0x%x], %s", o, r32[r]);
		encode_load_gs32(&at, r, o), is("mov %s, dword ptr gs:[0x%x]", r32[r], o);
		encode_load_gs16(&at, r, o), is("movzx %s, word ptr gs:[0x%x]", r32[r], o);
		encode_compare_gs(&at, r, o), is("cmp %s, qword ptr gs:[0x%x]", r64[r], o);
	}
	form("a half and a quarter of a word in gs are moved, and a word is compared");
	EACH_OFFSET(o)
	{
		encode_store_gs_value32(&at, o, 0x87654321), has(12);
		is("mov dword ptr gs:[0x%x], 0x87654321", o);
		encode_compare_gs_value32(&at, o, 0x87654321), is("cmp dword ptr gs:[0x%x], 0x87654321", o);
	}
	form("a value is stored in gs and compared with it");
	EACH_OFFSET(o)
	{
		encode_add_gs(&at, o, 1), has(10), is("add qword ptr gs:[0x%x], 0x1", o);
		encode_increment_gs(&at, o), is("inc qword ptr gs:[0x%x]", o);
	}
	form("a counter in gs is incremented, with and without CF");
	EACH_OFFSET(o) encode_jump_gs(&at, o), has(8), is("jmp qword ptr gs:[0x%x]", o);
	form("jmp by way of gs");
}

static void gs_indexed(void)
{
	EACH_OFFSET(o) EACH_REGISTER(r) EACH_REGISTER(index)
	{
		if (!is_base(index))
			continue;
		const char *place = sum(r64[index], NULL, 1, o);
		encode_load_gs_indexed32(&at, r, index, o), is("mov %s, dword ptr gs:[%s]", r32[r], place);
		encode_compare_gs_indexed(&at, r, index, o), is("cmp %s, qword ptr gs:[%s]", r64[r], place);
		encode_compare_gs_indexed_value8(&at, index, o, 0x5a), is("cmp byte ptr gs:[%s], 0x5a", place);
		encode_store_gs_indexed_value8(&at, index, o, 0x5a), is("mov byte ptr gs:[%s], 0x5a", place);
	}
	form("gs with an index is loaded, compared and stored");
	EACH_OFFSET(o) EACH_REGISTER(r) EACH_REGISTER(index)
	{
		if (index == X86_RSP)
			continue;
		encode_store_gs_word(&at, r, index, o);
		is("mov qword ptr gs:[%s], %s", sum(NULL, r64[index], 8, o), r64[r]);
	}
	form("a word of a table in gs is stored");
}

/* ---- registers ---- */

static void moves(void)
{
	EACH_REGISTER(to) EACH_REGISTER(from)
	{
		encode_move(&at, to, from), has(3), is("mov %s, %s", r64[to], r64[from]);
		encode_move_load_form(&at, to, from), is("mov %s, %s", r64[to], r64[from]);
		encode_move32(&at, to, from), is("mov %s, %s", r32[to], r32[from]);
	}
	form("registers are moved");
	EACH_REGISTER(to) EACH_REGISTER(from)
	{
		encode_zero_extend16(&at, to, from), is("movzx %s, %s", r32[to], r16[from]);
		encode_sign_extend16(&at, to, from), is("movsx %s, %s", r64[to], r16[from]);
		encode_sign_extend32(&at, to, from), is("movsxd %s, %s", r64[to], r32[from]);
		if (from < 4 || from >= 8)
			encode_zero_extend8(&at, to, from), is("movzx %s, %s", r32[to], r8[from]);
	}
	form("parts of registers are extended");
	EACH_REGISTER(r)
	{
		encode_move_value(&at, r, 0x123456789abcdef0), has(10), is("mov %s, 0x123456789abcdef0", r64[r]);
		encode_move_value32(&at, r, 0x87654321), is("mov %s, 0x87654321", r32[r]);
	}
	form("a value is moved to a register");
}

/* Zydis knows no APX; the engine's decoder does (decode_promoted_test.c). */
static void upper(void)
{
	bool all = true;
	EACH_REGISTER(to) EACH_REGISTER(from)
	{
		struct x86_insn in;
		encode_move_from_upper(&at, to, from + 16);
		all = all && x86_decode(code, (size_t)(at - code), &in) == X86_DECODE_OK &&
		      in.length == at - code && in.opcode == 0x89 && in.operand_bytes == 8 &&
		      in.reg == from + 16 && in.rm == to;
		at = code;
	}
	ok(all, "r16 to r31 are moved: 256 encodings, by the engine's own decoder");
}

static void arithmetic(void)
{
	EACH_REGISTER(r) EACH_DISPLACEMENT(d)
	{
		encode_and(&at, r, d), is("and %s, 0x%llx", r64[r], (unsigned long long)(int64_t)d);
		encode_and32(&at, r, (uint32_t)d), is("and %s, 0x%x", r32[r], (uint32_t)d);
	}
	form("and with a value");
	EACH_REGISTER(r)
	{
		encode_not(&at, r), is("not %s", r64[r]);
		encode_shift_right32(&at, r, 9), is("shr %s, 0x9", r32[r]);
		EACH_REGISTER(from)
		encode_rotate_right32(&at, r, from, 4), is("rorx %s, %s, 0x4", r32[r], r32[from]);
	}
	form("not, shr and rorx");
	encode_lahf(&at), is("lahf");
	encode_sahf(&at), is("sahf");
	encode_set_overflow_al(&at), is("seto al");
	encode_add_al(&at, 127), is("add al, 0x7f");
	form("the flags are kept in ax, and given back");
}

/* ---- memory ---- */

static void memory(void)
{
	EACH_REGISTER(r) EACH_REGISTER(base) EACH_DISPLACEMENT(d)
	{
		if (!is_base(base))
			continue;
		const char *place = sum(r64[base], NULL, 1, d);
		encode_store(&at, r, base, d), is("mov qword ptr [%s], %s", place, r64[r]);
		encode_store32(&at, r, base, d), is("mov dword ptr [%s], %s", place, r32[r]);
		encode_store_value(&at, base, d, 0x12345678), is("mov qword ptr [%s], 0x12345678", place);
		encode_lea(&at, r, base, d), is("lea %s, [%s]", r64[r], place);
	}
	form("a base and a displacement: mov and lea");
	EACH_REGISTER(r) EACH_REGISTER(base)
	{
		if (is_base(base) && (base & 7) != X86_RBP)
			encode_load(&at, r, base), has(3), is("mov %s, qword ptr [%s]", r64[r], r64[base]);
		EACH_REGISTER(index)
		{
			if ((base & 7) == X86_RBP || index == X86_RSP)
				continue;
			const char *place = sum(r64[base], r64[index], 1, 0);
			encode_load_sum(&at, r, base, index), has(4), is("mov %s, qword ptr [%s]", r64[r], place);
			encode_lea_sum(&at, r, base, index), has(4), is("lea %s, [%s]", r64[r], place);
		}
	}
	form("a base and an index: mov and lea");
	EACH_DISPLACEMENT(d) encode_lea_rsp(&at, (uint32_t)d), has(8), is("lea rsp, [%s]", sum("rsp", NULL, 1, d));
	form("lea rsp, [rsp + displacement] has 8 bytes");
	EACH_REGISTER(r)
	{
		encode_load_rip(&at, r, 0x1234), has(7);
		is("mov %s, qword ptr [0x%x]", r64[r], 0x1234 + 7);
	}
	form("a load relative to rip");
}

static void scaled(void)
{
	for (unsigned narrow = 0; narrow < 2; narrow++)
		for (unsigned base = 0; base <= 16; base++)
			for (unsigned index = 0; index <= 16; index++)
				for (unsigned scale = 1; scale <= 8; scale *= 2)
					EACH_DISPLACEMENT(d)
					{
						const char *const *name = narrow ? r32 : r64;
						unsigned reg = (base + index) & 15;
						if (index == X86_RSP || (index == 16 && scale > 1))
							continue;
						encode_lea_scaled(&at, reg, base < 16 ? base : X86_NO_REG,
								  index < 16 ? index : X86_NO_REG, scale, d,
								  narrow);
						bool none = base == 16 && index == 16;
						is("lea %s, [%s]", r64[reg],
						   sum(base < 16 ? name[base] : NULL,
						       index < 16 ? name[index] : NULL, scale,
						       none && narrow ? (int64_t)(uint32_t)d : d));
					}
	form("lea of all that an address may be");
}

static void operands(void)
{
	for (unsigned base = 0; base <= 16; base++)
		for (unsigned index = 0; index <= 16; index++)
			EACH_DISPLACEMENT(d)
			{
				struct x86_insn in;
				uint8_t theirs[16], *p = theirs;
				unsigned reg = (base + index) & 15;
				if (index == X86_RSP)
					continue;
				encode_lea_scaled(&p, 1, base < 16 ? base : X86_NO_REG,
						  index < 16 ? index : X86_NO_REG, 1, d, index & 1);
				if (x86_decode(theirs, (size_t)(p - theirs), &in) != X86_DECODE_OK)
					wrong++;
				const char *const *name = index & 1 ? r32 : r64;
				bool none = base == 16 && index == 16;
				const char *place = sum(base < 16 ? name[base] : NULL,
							index < 16 ? name[index] : NULL, 1,
							none && index & 1 ? (int64_t)(uint32_t)d : d);
				encode_lea_operand(&at, reg, &in, theirs), is("lea %s, [%s]", r64[reg], place);
				encode_load_operand(&at, reg, &in, theirs),
					is("mov %s, qword ptr [%s]", r64[reg], place);
			}
	form("lea and mov with the memory operand of another instruction");
}

/* The operand of an instruction of each encoding is replaced by a register: all else stays. */
static void through(void)
{
	static const struct {
		const char *code, *assembly; /* %s: a register that holds the address */
		unsigned length;
	} rows[] = {
		{"\x48\x03\x05\x10\x20\x30\x40", "add rax, qword ptr [%s]", 7},
		{"\x65\x4c\x8b\x1c\x25\x10\0\0\0", "mov r11, qword ptr [%s]", 9},
		{"\x67\x65\x44\x8b\x5c\xd8\x7f", "mov r11d, dword ptr [%s]", 7},
		{"\x43\xc7\x84\xf5\x10\x20\x30\x40\x78\x56\x34\x12", "mov dword ptr [%s], 0x12345678", 12},
		{"\xc5\x7b\x10\x05\x10\x20\x30\x40", "vmovsd xmm8, qword ptr [%s]", 8},
		{"\xc4\x02\x7d\x18\x44\xe5\x10", "vbroadcastss ymm8, dword ptr [%s]", 7},
		{"\x62\x11\x7d\x48\x6f\x44\xf5\x01", "vmovdqa32 zmm8, zmmword ptr [%s]", 8},
	};
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		for (unsigned base = X86_RAX; base <= X86_RDI; base++) {
			struct x86_insn in;
			char expected[80];
			const uint8_t *theirs = (const uint8_t *)rows[i].code;
			if (base == X86_RSP || base == X86_RBP)
				continue;
			if (x86_decode(theirs, rows[i].length, &in) != X86_DECODE_OK ||
			    in.length != rows[i].length)
				wrong++;
			snprintf(expected, sizeof expected, rows[i].assembly, r64[base]);
			encode_through(&at, &in, theirs, base, true);
			is("%s", expected);
		}
	form("an instruction with another memory operand");
}

static void vectors(void)
{
	static const char *const kind[] = {"xmmword ptr", "ymmword ptr", "zmmword ptr"};
	for (unsigned vector = 0; vector < 32; vector++)
		EACH_REGISTER(base) EACH_DISPLACEMENT(d)
		{
			if (!is_base(base))
				continue;
			const char *place = sum(r64[base], NULL, 1, d);
			for (unsigned log = 0; log < 3; log++) {
				encode_store_avx512(&at, log, vector, base, d);
				is("vmovdqu64 %s [%s], %cmm%u", kind[log], place, "xyz"[log], vector);
			}
			if (vector < 16) {
				encode_store_avx(&at, false, vector, base, d);
				is("vmovdqu xmmword ptr [%s], xmm%u", place, vector);
				encode_store_avx(&at, true, vector, base, d);
				is("vmovdqu ymmword ptr [%s], ymm%u", place, vector);
			}
			if (vector < 8)
				encode_store_mask16(&at, vector, base, d),
					is("kmovw word ptr [%s], k%u", place, vector);
		}
	form("vector and mask registers are stored");
}

/* ---- stack and control ---- */

static void control(void)
{
	static const char *const condition[] = {"jo", "jno", "jb", "jnb", "jz", "jnz", "jbe", "jnbe",
						"js", "jns", "jp", "jnp", "jl", "jnl", "jle", "jnle"};
	encode_push_value(&at, 0x12345678), has(5), is("push 0x12345678");
	encode_push_value(&at, 0x80000000), is("push 0xffffffff80000000");
	encode_push_rip(&at, 0x1234), has(6), is("push qword ptr [0x%x]", 0x1234 + 6);
	EACH_REGISTER(r) encode_pop(&at, r), is("pop %s", r64[r]);
	form("push and pop");
	encode_call(&at, 0x1234), has(5), is("call 0x%x", 0x1234 + 5);
	encode_jump(&at, 0x1234), has(5), is("jmp 0x%x", 0x1234 + 5);
	encode_jump_short(&at, 0x70), has(2), is("jmp 0x72");
	encode_jump_rcx_zero(&at, 5), has(2), is("jrcxz 0x7");
	for (unsigned c = 0; c < 16; c++)
		encode_jump_if(&at, c, 0x1234), has(6), is("%s 0x%x", condition[c], 0x1234 + 6);
	form("calls and jumps go as far behind their end as they say");
	encode_jump(&at, 0), encode_distance(at - 4, code + 9), is("jmp 0x9");
	form("a jump's distance is set later");
	EACH_REGISTER(r)
	{
		if (r == X86_RSP)
			continue;
		encode_jump_table(&at, r, 0x12345678), is("jmp qword ptr [%s*8+0x12345678]", r64[r]);
	}
	form("jmp by way of a table");
	encode_ud2(&at), is("ud2");
	encode_hlt(&at), is("hlt");
	for (unsigned n = 1; n < 4; n++)
		encode_nop(&at, n), has(n), is(n < 3 ? "nop" : "nop dword ptr [rax], eax");
	form("faults and nops");
}

int main(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS, ZYDIS_SIGNEDNESS_UNSIGNED);
	gs();
	gs_indexed();
	moves();
	upper();
	arithmetic();
	memory();
	scaled();
	operands();
	through();
	vectors();
	control();
	return done();
}
