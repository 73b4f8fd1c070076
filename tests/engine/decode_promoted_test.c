/*
 * APX's promoted instructions, by value: bytes as assemblers write them (tests/engine/decode_promoted_assembler asks one, where it
 * knows APX), and beside them what Intel's specification says that they read, write and compute. Output is TAP.
 *
 *     decode_promoted_test [--list]     --list: the rows' assembly and bytes, for that test
 */
#include <stdio.h>
#include <string.h>

#include "engine/x86/decode.h"

#define R(n) (1u << (n))
// clang-format off: a table, a row a line
enum {
	A = R(X86_RAX),
	C = R(X86_RCX),
	D = R(X86_RDX),
	B = R(X86_RBX),
	SP = R(X86_RSP),
	S = R(X86_RSI),
	DI = R(X86_RDI),
	R9 = R(X86_R9)
};
enum {
	CF = X86_FLAG_CF,
	PF = X86_FLAG_PF,
	AF = X86_FLAG_AF,
	ZF = X86_FLAG_ZF,
	SF = X86_FLAG_SF,
	OF = X86_FLAG_OF,
	ALL = X86_FLAGS_ARITHMETIC
};
enum {
	LD = X86_CLASS_LOAD,
	ST = X86_CLASS_STORE,
	MUL = X86_CLASS_INT_MUL,
	DIV = X86_CLASS_INT_DIV,
	PUSH = X86_CLASS_STACK,
	LOCK = X86_CLASS_LOCKED,
	V = X86_CLASS_VECTOR,
	AMX = X86_CLASS_AMX
};
// clang-format on

static const struct {
	const char *assembly, *bytes;
	uint16_t read, written;            /* of rax to r15 */
	uint8_t flags_read, flags_touched; /* touched: written, undefined or written on some executions */
	uint16_t read_bytes, write_bytes;  /* each one access */
	uint32_t class;
	uint8_t extended;
} rows[] = {
	{"addq %rbx, %rcx, %rdx", "62 f4 ec 18 01 d9", B | C, D, 0, ALL, 0, 0, 0, 0},
	{"addl %ebx, 16(%rcx,%rsi,2), %r9d", "62 f4 34 18 01 5c 71 10", B | C | S, R9, 0, ALL, 4, 0, LD, 0},
	{"{nf} addq %rbx, (%rcx)", "62 f4 fc 0c 01 19", B | C, 0, 0, 0, 8, 8, LD | ST, 0},
	{"{evex} addq %rbx, (%rcx)", "62 f4 fc 08 01 19", B | C, 0, 0, ALL, 8, 8, LD | ST, 0},
	{"{nf} addl $0x12345678, %eax, %ecx", "62 f4 74 1c 81 c0 78 56 34 12", A, C, 0, 0, 0, 0, 0, 0},
	{"addw $0x1234, (%rdi), %dx", "62 f4 6d 18 81 07 34 12", DI, D, 0, ALL, 2, 0, LD, 0},
	{"subb $5, %cl, %dl", "62 f4 6c 18 80 e9 05", C, D, 0, ALL, 0, 0, 0, 0},
	{"xorl 0x11223344(%rip), %ebx, %ecx", "62 f4 74 18 33 1d 44 33 22 11", B, C, 0, ALL, 4, 0, LD, 0},
	{"adcq %rax, %r16, %rdx", "62 fc ec 18 11 c0", A, D, CF, ALL, 0, 0, 0, 1},
	{"sbbl $1, %ecx, %edx", "62 f4 6c 18 83 d9 01", C, D, CF, ALL, 0, 0, 0, 0},
	{"notq (%rax), %rcx", "62 f4 f4 18 f7 10", A, C, 0, 0, 8, 0, LD, 0},
	{"{nf} negq %rax, %rcx", "62 f4 f4 1c f7 d8", A, C, 0, 0, 0, 0, 0, 0},
	{"incl %eax, %r31d", "62 f4 04 10 ff c0", A, 0, 0, ALL & ~CF, 0, 0, 0, 1},
	{"{nf} decl (%rax)", "62 f4 7c 0c ff 08", A, 0, 0, 0, 4, 4, LD | ST, 0},
	{"shlq $3, %rax, %rcx", "62 f4 f4 18 c1 e0 03", A, C, 0, ALL, 0, 0, 0, 0},
	{"{nf} shlq $3, %rax, %rcx", "62 f4 f4 1c c1 e0 03", A, C, 0, 0, 0, 0, 0, 0},
	{"{nf} shlq %cl, %rax, %rdx", "62 f4 ec 1c d3 e0", A | C, D, 0, 0, 0, 0, 0, 0},
	{"shlq %cl, %rax, %rdx", "62 f4 ec 18 d3 e0", A | C, D, 0, ALL, 0, 0, 0, 0},
	{"rclq $2, %rax, %rcx", "62 f4 f4 18 c1 d0 02", A, C, CF, CF | OF, 0, 0, 0, 0},
	{"shldq $4, %rax, (%rbx), %rcx", "62 f4 f4 18 24 03 04", A | B, C, 0, ALL, 8, 0, LD, 0},
	{"{nf} shrdw $1, %ax, %bx", "62 f4 7d 0c 2c c3 01", A | B, B, 0, 0, 0, 0, 0, 0},
	{"shldl %cl, %eax, %ebx, %edx", "62 f4 6c 18 a5 c3", A | B | C, D, 0, ALL, 0, 0, 0, 0},
	{"imulq (%rax), %rbx, %rcx", "62 f4 f4 18 af 18", A | B, C, 0, ALL, 8, 0, LD | MUL, 0},
	{"{nf} imull $100, %ebx, %ecx", "62 f4 7c 0c 6b cb 64", B, C, 0, 0, 0, 0, MUL, 0},
	{"imulzuw $100, %bx, %cx", "62 f4 7d 18 6b cb 64", B, C, 0, ALL, 0, 0, MUL, 0},
	{"{evex} imulw $100, %bx, %cx", "62 f4 7d 08 6b cb 64", B | C, C, 0, ALL, 0, 0, MUL, 0},
	{"{nf} mulq %rbx", "62 f4 fc 0c f7 e3", A | B, A | D, 0, 0, 0, 0, MUL, 0},
	{"{nf} divl (%rdi)", "62 f4 7c 0c f7 37", A | D | DI, A | D, 0, 0, 4, 0, LD | DIV, 0},
	{"{nf} popcntq %rax, %rbx", "62 f4 fc 0c 88 d8", A, B, 0, 0, 0, 0, 0, 0},
	{"{evex} tzcntl (%rax), %ebx", "62 f4 7c 08 f4 18", A, B, 0, ALL, 4, 0, LD, 0},
	{"{nf} lzcntw %ax, %bx", "62 f4 7d 0c f5 d8", A | B, B, 0, 0, 0, 0, 0, 0},
	{"cmovbq (%rax), %rbx, %rcx", "62 f4 f4 18 42 18", A | B, C, CF, 0, 8, 0, LD, 0},
	{"cmovlel %eax, %ebx, %ecx", "62 f4 74 18 4e d8", A | B, C, ZF | SF | OF, 0, 0, 0, 0, 0},
	{"cfcmovzq %rax, %rbx, %rcx", "62 f4 f4 1c 44 d8", A | B, C, ZF, 0, 0, 0, 0, 0},
	{"setzub %al", "62 f4 7f 18 42 c0", 0, A, CF, 0, 0, 0, 0, 0},
	{"{evex} setl %al", "62 f4 7f 08 4c c0", A, A, SF | OF, 0, 0, 0, 0, 0},
	{"{evex} sets (%rax)", "62 f4 7f 08 48 00", A, 0, SF, 0, 0, 1, ST, 0},
	{"ccmpeq {dfv=of,cf} %rax, %rbx", "62 f4 cc 04 39 c3", A | B, 0, ZF, ALL, 0, 0, 0, 0},
	{"ccmptl {dfv=} $0x12345678, 8(%rdi)", "62 f4 04 0a 81 7f 08 78 56 34 12", DI, 0, 0, ALL, 4, 0, LD, 0},
	{"ccmpfb {dfv=sf} $1, %cl", "62 f4 24 0b 80 f9 01", C, 0, 0, ALL, 0, 0, 0, 0},
	{"ctestlew {dfv=zf} $0x1234, %ax", "62 f4 15 0e f7 c0 34 12", A, 0, ZF | SF | OF, ALL, 0, 0, 0, 0},
	{"ctestbq {dfv=} %rax, (%rbx)", "62 f4 84 02 85 03", A | B, 0, CF, ALL, 8, 0, LD, 0},
	{"push2 %rax, %rbx", "62 f4 64 18 ff f0", A | B | SP, SP, 0, 0, 0, 16, ST | PUSH, 0},
	{"push2p %r9, %r31", "62 d4 84 10 ff f1", R9 | SP, SP, 0, 0, 0, 16, ST | PUSH, 1},
	{"pop2 %rax, %rbx", "62 f4 64 18 8f c0", SP, A | B | SP, 0, 0, 16, 0, LD | PUSH, 0},
	{"pop2p %r16, %rcx", "62 fc f4 18 8f c0", SP, C | SP, 0, 0, 16, 0, LD | PUSH, 1},
	{"{evex} movbeq (%rax), %rbx", "62 f4 fc 08 60 18", A, B, 0, 0, 8, 0, LD, 0},
	{"{evex} movbel %eax, (%rbx)", "62 f4 7c 08 61 03", A | B, 0, 0, 0, 0, 4, ST, 0},
	{"{evex} adcxq %rax, %rbx", "62 f4 fd 08 66 d8", A | B, B, CF, CF, 0, 0, 0, 0},
	{"adoxl (%rax), %ebx, %ecx", "62 f4 76 18 66 18", A | B, C, OF, OF, 4, 0, LD, 0},
	{"{evex} crc32b (%rax), %ecx", "62 f4 7c 08 f0 08", A | C, C, 0, 0, 1, 0, LD, 0},
	{"crc32q %r16, %rcx", "62 fc fc 08 f1 c8", C, C, 0, 0, 0, 0, 0, 1},
	{"{evex} movdir64b (%rax), %rcx", "62 f4 7d 08 f8 08", A | C, 0, 0, 0, 64, 64, LD | ST, 0},
	{"{evex} movdiri %rax, (%rcx)", "62 f4 fc 08 f9 01", A | C, 0, 0, 0, 0, 8, ST, 0},
	{"{evex} wrssq %rax, (%rbx)", "62 f4 fc 08 66 03", A | B, 0, 0, 0, 0, 8, ST, 0},
	{"kmovq %k1, (%r16)", "62 f9 fc 08 91 08", 0, 0, 0, 0, 0, 8, ST | V, 1},
	{"{evex} kmovd %eax, %k1", "62 f1 7f 08 92 c8", A, 0, 0, 0, 0, 0, V, 0},
	{"{nf} andnq (%rax), %rbx, %rcx", "62 f2 e4 0c f2 08", A | B, C, 0, 0, 8, 0, LD, 0},
	{"{evex} bextrl %eax, (%rbx), %ecx", "62 f2 7c 08 f7 0b", A | B, C, 0, ALL, 4, 0, LD, 0},
	{"{nf} blsrq %rax, %rbx", "62 f2 e4 0c f3 c8", A, B, 0, 0, 0, 0, 0, 0},
	{"{nf} bzhil %eax, %ebx, %ecx", "62 f2 7c 0c f5 cb", A | B, C, 0, 0, 0, 0, 0, 0},
	{"{evex} mulxq (%rax), %rbx, %rcx", "62 f2 e7 08 f6 08", A | D, B | C, 0, 0, 8, 0, LD | MUL, 0},
	{"{evex} rorxq $5, (%rax), %rbx", "62 f3 ff 08 f0 18 05", A, B, 0, 0, 8, 0, LD, 0},
	{"sarxl %eax, %ebx, %r16d", "62 e2 7e 08 f7 c3", A | B, 0, 0, 0, 0, 0, 0, 1},
	{"{evex} cmpbexadd %ecx, %ebx, (%rax)", "62 f2 75 08 e6 18", A | B | C, B, 0, ALL, 4, 4, LD | ST | LOCK,
	 0},
	{"tileloadd (%r16,%rax,1), %tmm1", "62 fa 7f 08 4b 0c 00", A, 0, 0, 0, 0, 0, LD | V | AMX, 1},
};
enum { ROWS = sizeof rows / sizeof *rows };

static unsigned tests, failed;
static struct x86_insn in;

static size_t bytes_of(const char *hex, uint8_t bytes[32])
{
	size_t n = 0;
	for (unsigned value; n < 32 && sscanf(hex, "%2x", &value) == 1; hex += hex[2] == ' ' ? 3 : 2)
		bytes[n++] = (uint8_t)value;
	return n;
}

static enum x86_decode_status decode(const char *hex, size_t *length)
{
	uint8_t bytes[32];
	*length = bytes_of(hex, bytes);
	return x86_decode(bytes, *length, &in);
}

static bool is(const char *hex)
{
	size_t length;
	return decode(hex, &length) == X86_DECODE_OK && in.length == length && !(in.class & X86_CLASS_UNKNOWN);
}

/* Of no table: refused, or executed as it is with nothing known of it. */
static bool is_not_known(const char *hex)
{
	size_t length;
	return decode(hex, &length) == X86_DECODE_INVALID || in.class == X86_CLASS_UNKNOWN;
}

static void fact(bool holds, const char *sentence)
{
	printf("%s %u - %s\n", holds ? "ok" : "not ok", ++tests, sentence);
	failed += !holds;
}

static void row(unsigned i)
{
	const unsigned touched = (unsigned)rows[i].flags_touched,
		       classes = LD | ST | MUL | DIV | PUSH | LOCK | V | AMX;
	bool decoded = is(rows[i].bytes);
	bool registers = in.gpr_read == rows[i].read && in.gpr_written == rows[i].written &&
			 in.extended == rows[i].extended;
	bool flags = in.flags_read == rows[i].flags_read &&
		     (in.flags_written | in.flags_maybe | in.flags_undefined) == (int)touched &&
		     !(in.flags_killed & ~touched);
	bool memory = in.data_read_bytes == rows[i].read_bytes && in.data_write_bytes == rows[i].write_bytes &&
		      in.data_reads == (rows[i].read_bytes || (rows[i].class & AMX)) &&
		      in.data_writes == (rows[i].write_bytes != 0);
	bool class = (in.class & classes) == rows[i].class;
	if (!(decoded && registers && flags && memory && class))
		printf("# decoded %d, registers %d (%x, %x), flags %d (%x, %x %x %x), memory %d (%u, %u), class "
		       "%d (%x)\n",
		       decoded, registers, in.gpr_read, in.gpr_written, flags, in.flags_read, in.flags_written,
		       in.flags_maybe, in.flags_undefined, memory, in.data_read_bytes, in.data_write_bytes, class,
		       in.class);
	fact(decoded && registers && flags && memory && class, rows[i].assembly);
}

static bool stack_is(unsigned flag, int displacement)
{
	const struct x86_memory *m = &in.memory[0];
	return in.memory_count == 1 && m->flags == (flag | X86_MEM_STACK | X86_MEM_IMPLICIT) && m->width == 16 &&
	       m->base == X86_RSP && m->index == X86_NO_REG && m->displacement == displacement &&
	       m->segment == X86_SS;
}

static void layout(void)
{
	fact(is("62 f4 74 18 33 1d 44 33 22 11") && in.rip_relative && in.displacement_offset == 6 &&
		     in.displacement_size == 4 && in.map == X86_MAP_4 && in.vvvv == X86_RCX,
	     "a promoted instruction's operand can be relative to rip");
	fact(is("62 f4 34 18 01 5c 71 10") && in.memory[0].displacement == 16,
	     "its displacement of one byte is not scaled");
	fact(is("65 67 62 f4 fc 08 01 19") && in.memory[0].segment == X86_GS && in.address_bytes == 4,
	     "it may have gs and 67 before it");
	fact(is("62 fc f8 08 01 04 08") && in.memory[0].base == X86_R16 && in.memory[0].index == 17 &&
		     in.extended && in.memory[0].width == 8,
	     "its base and index may be r16 and r17");
	fact(is("62 f4 64 18 ff f0") && stack_is(X86_MEM_WRITE, -16) && is("62 f4 64 18 8f c0") &&
		     stack_is(X86_MEM_READ, 0),
	     "push2 and pop2 are one access of 16 bytes");
	fact(is("62 f4 fc 08 c1 e0 00") && !in.flags_written && !in.flags_undefined &&
		     is("62 f4 fc 08 c1 e0 01") && in.flags_undefined == AF && is("62 f4 fc 08 24 c3 01") &&
		     in.flags_undefined == AF && is("62 f4 fc 08 c1 e0 05") && in.flags_undefined == (AF | OF),
	     "a shift by 0 writes no flag, one by 1 defines OF, as without the prefix");
	fact(is("62 f4 fc 08 42 d8") && in.gpr_written == B && in.gpr_read & A && is("62 f4 fc 0c 42 c3") &&
		     in.gpr_written == B && in.gpr_read & A && in.flags_read == CF && !in.flags_written,
	     "cfcmov between two registers has two encodings");
	fact(is("62 f4 84 02 85 03") && in.flags_killed == ALL && !in.opmask && !in.vvvv &&
		     !(in.class & X86_CLASS_MASKED),
	     "ctest's condition and flags are neither an opmask nor a register");
}

static void refused(void)
{
	// clang-format off: a table, a row a line
	static const struct {
		const char *bytes, *why;
	} not [] = {
		{"62 f4 fc 0c 11 19", "adc with NF"},
		{"62 f4 f4 1c f7 10", "not with NF"},
		{"62 f4 fc 0c d1 d0", "rcl with NF"},
		{"62 f4 f4 18 f7 e3", "mul with ND"},
		{"62 f4 f4 18 88 d8", "popcnt with ND"},
		{"62 f4 c4 14 39 c3", "ccmp with ND"},
		{"62 f4 ec 08 01 d9", "vvvv without ND"},
		{"62 f4 fc 00 01 d9", "V4 without ND"},
		{"62 f4 7d 18 00 d9", "66 with bytes"},
		{"62 f4 fe 08 01 d9", "F3 before add"},
		{"62 f4 fc 28 01 d9", "a vector length"},
		{"62 f4 fc 88 01 d9", "zeroing"},
		{"62 f4 fc 09 01 d9", "an opmask"},
		{"62 f4 f8 08 01 d9", "X4 without memory"},
		{"66 62 f4 fc 08 01 d9", "66 before the prefix"},
		{"f0 62 f4 fc 08 01 19", "lock"},
		{"62 f4 7c 18 ff f4", "push2 with rsp"},
		{"62 f4 5c 18 ff f0", "push2 with rsp in vvvv"},
		{"62 f4 7c 18 8f c0", "pop2 into one register twice"},
		{"62 f4 64 08 ff f0", "push2 without ND"},
		{"62 f4 64 18 ff 30", "push2 of memory"},
		{"62 f4 7c 08 05 00 00 00 00", "opcodes that were not promoted"},
		{"62 f4 7c 08 ff d0", "call"},
		{"62 f4 7c 08 e8 00 00 00 00", "call"},
		{"62 71 fc 08 90 d1", "kmov of a ninth opmask"},
		{"62 e1 fc 08 90 d1", "kmov of a seventeenth"},
		{"62 f2 e4 1c f2 08", "andn with ND"},
		{"62 f2 e7 0c f6 08", "mulx with NF"},
		{"62 f2 c4 28 f2 c8", "andn with a vector length"},
	};
	// clang-format on
	bool right = true;
	for (unsigned i = 0; i < sizeof not / sizeof *not ; i++) {
		bool holds = is_not_known(not [i].bytes);
		if (!holds)
			printf("# %s: %s\n", not [i].why, not [i].bytes);
		right &= holds;
	}
	fact(right, "what the specification does not list is not known: nothing is counted of it but that it is "
		    "an instruction");
	size_t n;
	fact(decode("62 f4 fc 08 42 18", &n) == X86_DECODE_OK && in.class == X86_CLASS_UNKNOWN && in.length == n &&
		     in.memory_count == 1 && decode("62 f4 fc 0c 42 44 24 08", &n) == X86_DECODE_OK &&
		     in.class == X86_CLASS_UNKNOWN && in.length == n && is_not_known("62 f4 f4 1c 42 18"),
	     "nor cfcmov with memory: flags decide whether it accesses it; its length is sure");
	fact(decode("62 f4 fc 08 01", &n) == X86_DECODE_TRUNCATED &&
		     decode("62 f4 74 1c 81 c0 78 56 34", &n) == X86_DECODE_TRUNCATED,
	     "one cut short is truncated");
}

int main(int n, char **arguments)
{
	if (n == 2 && strcmp(arguments[1], "--list") == 0) {
		for (unsigned i = 0; i < ROWS; i++)
			printf("%s | %s\n", rows[i].assembly, rows[i].bytes);
		return 0;
	}
	for (unsigned i = 0; i < ROWS; i++)
		row(i);
	layout();
	refused();
	printf("1..%u\n", tests);
	return failed != 0;
}
