/*
 * Facts about the decoder, each stated as one sentence: what the rewriter, the placement of counters and the events
 * rely on. The breadth is decode_oracle.c's and decode_cpu.c's; here stands what it is for. Output is TAP.
 */
#include <stdio.h>
#include <string.h>

#include "engine/x86/decode.h"

static unsigned tests, failed;
static struct x86_insn in;

/* Decodes bytes written in hexadecimal; true if they are exactly one instruction, left in `in`. */
static enum x86_decode_status decode(const char *hex, size_t *length)
{
	uint8_t bytes[32];
	size_t n = 0;
	for (unsigned value; n < sizeof bytes && sscanf(hex, "%2x", &value) == 1; hex += hex[2] == ' ' ? 3 : 2)
		bytes[n++] = (uint8_t)value;
	*length = n;
	return x86_decode(bytes, n, &in);
}

static bool is(const char *hex)
{
	size_t length;
	return decode(hex, &length) == X86_DECODE_OK && in.length == length;
}

static bool is_invalid(const char *hex)
{
	size_t length;
	return decode(hex, &length) == X86_DECODE_INVALID;
}

static bool is_truncated(const char *hex)
{
	size_t length;
	return decode(hex, &length) == X86_DECODE_TRUNCATED;
}

static void fact(bool holds, const char *sentence)
{
	printf("%s %u - %s\n", holds ? "ok" : "not ok", ++tests, sentence);
	failed += !holds;
}

#define BIT(n) (1u << (n))
#define ARITH X86_FLAGS_ARITHMETIC

static bool has(uint32_t classes) { return (in.class & classes) == classes; }

static bool memory_is(unsigned i, unsigned flags, unsigned width, unsigned base, unsigned index, unsigned scale,
		      int64_t displacement)
{
	const struct x86_memory *m = &in.memory[i];
	return i < in.memory_count && m->flags == flags && m->width == width && m->base == base &&
	       m->index == index && m->scale == scale && m->displacement == displacement;
}

static bool fp_is(unsigned precision, unsigned bytes, unsigned operations)
{
	return in.fp_precision == precision && in.fp_bytes == bytes && in.fp_operations == operations;
}

static void layout(void)
{
	fact(is("48 8b 05 44 33 22 11") && in.rip_relative && in.displacement_offset == 3 &&
		     in.displacement_size == 4 &&
		     memory_is(0, X86_MEM_READ, 8, X86_RIP, X86_NO_REG, 0, 0x11223344),
	     "mov rax, [rip+d] has its displacement at byte 3");
	fact(is("c7 05 44 33 22 11 78 56 34 12") && in.rip_relative && in.displacement_offset == 2 &&
		     in.immediate_offset == 6 && in.immediate == 0x12345678,
	     "an immediate stands behind the displacement of a rip-relative store");
	fact(is("66 48 b8 88 77 66 55 44 33 22 11") && in.immediate_size == 8 &&
		     in.immediate == 0x1122334455667788 && in.prefix_bytes == 1 && in.rex == 0x48,
	     "mov rax, imm64 has 8 bytes of immediate, and 66 before REX.W counts for nothing");
	fact(is("a0 88 77 66 55 44 33 22 11") && in.displacement_size == 8 &&
		     memory_is(0, X86_MEM_READ, 1, X86_NO_REG, X86_NO_REG, 0, 0x1122334455667788),
	     "mov al, [moffs64] has an 8-byte address");
	fact(is("42 8b 04 a5 10 00 00 00") && memory_is(0, X86_MEM_READ, 4, X86_NO_REG, X86_R12, 4, 16),
	     "SIB with index r12 and without base is index × 4 + displacement");
	fact(is("8b 04 24") && memory_is(0, X86_MEM_READ, 4, X86_RSP, X86_NO_REG, 0, 0) &&
		     in.memory[0].segment == X86_SS,
	     "[rsp] needs a SIB byte and has no index");
	fact(is("64 48 8b 04 25 28 00 00 00") && in.memory[0].segment == X86_FS &&
		     memory_is(0, X86_MEM_READ, 8, X86_NO_REG, X86_NO_REG, 0, 0x28),
	     "mov rax, fs:[0x28] (the stack protector) is seen as fs");
	fact(is("c8 10 00 01") && in.immediate_size == 2 && in.immediate2_size == 1 && in.immediate == 0x010010,
	     "enter has two immediates");
	fact(is("62 f1 7c 48 58 40 01") && memory_is(0, X86_MEM_READ, 64, X86_RAX, X86_NO_REG, 0, 64),
	     "EVEX scales a byte displacement by the vector's width");
	fact(is("62 f1 7c 58 58 40 01") &&
		     memory_is(0, X86_MEM_READ | X86_MEM_BROADCAST, 4, X86_RAX, X86_NO_REG, 0, 4),
	     "a broadcast reads one element and scales by it");
	fact(is("f3 0f 1e fa") && has(X86_CLASS_NOP) && in.memory_count == 0, "endbr64 is a nop");
	fact(is_truncated("48 8b 05 44 33") && is_truncated("66") && is_truncated("") && is_truncated("62 f1 7c"),
	     "what is cut short is truncated");
	fact(is_invalid("06") && is_invalid("0f 04") && is_invalid("f0 90") && is_invalid("66 c5 f8 77"),
	     "what raises #UD is invalid");
	fact(is("66 66 66 66 66 66 66 66 66 66 66 66 66 66 90") &&
		     is_invalid("66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"),
	     "15 bytes are an instruction, 16 are not");
	fact(is("48 66 90") && in.rex == 0, "a REX prefix that is not the last prefix is ignored");
	fact(is("41 90") && in.gpr_written == (BIT(X86_RAX) | BIT(X86_R8)) && is("90") && in.gpr_written == 0,
	     "90 with REX.B is xchg, without it a nop");
}

static void flow(void)
{
	fact(is("74 fe") && in.flow == X86_FLOW_JCC && in.condition == 4 && in.target_rel == -2 &&
		     in.flags_read == X86_FLAG_ZF,
	     "jz reads ZF");
	fact(is("66 0f 84 00 01 00 00") && in.target_rel == 0x100 && in.length == 7,
	     "66 does not shorten a near branch");
	fact(is("66 0f 84 00 01 00 00") && x86_is_short_branch(&in) && is("66 eb 00") &&
		     x86_is_short_branch(&in) && is("66 e8 00 00 00 00") && x86_is_short_branch(&in) &&
		     is("66 c3") && x86_is_short_branch(&in) && is("66 c2 00 00") && x86_is_short_branch(&in) &&
		     is("66 e3 00") && x86_is_short_branch(&in) && is("66 41 ff e0") && x86_is_short_branch(&in) &&
		     is("2e 66 ff 10") && x86_is_short_branch(&in),
	     "but does on AMD's processors");
	fact(is("eb 00") && !x86_is_short_branch(&in) && is("66 48 e8 00 00 00 00") && !x86_is_short_branch(&in) &&
		     is("66 90") && !x86_is_short_branch(&in) && is("f2 c3") && !x86_is_short_branch(&in) &&
		     is("66 cb") && !x86_is_short_branch(&in) && is("66 c7 f8 00 00") && !x86_is_short_branch(&in),
	     "not behind REX.W, and no other instruction");
	fact(is("e8 00 00 00 00") && in.flow == X86_FLOW_CALL &&
		     memory_is(0, X86_MEM_WRITE | X86_MEM_STACK | X86_MEM_IMPLICIT, 8, X86_RSP, X86_NO_REG, 0,
			       -8) &&
		     has(X86_CLASS_STORE | X86_CLASS_STACK) && in.gpr_written == BIT(X86_RSP),
	     "call stores the return address at rsp - 8");
	fact(is("c3") && in.flow == X86_FLOW_RET && has(X86_CLASS_LOAD) && in.data_reads == 1 &&
		     in.data_read_bytes == 8,
	     "ret loads 8 bytes");
	fact(is("c2 10 00") && in.flow == X86_FLOW_RET && in.immediate == 16,
	     "ret 16 says how much it pops besides");
	fact(is("ff d0") && in.flow == X86_FLOW_CALL_REG && in.rm == X86_RAX && is("ff 10") &&
		     in.flow == X86_FLOW_CALL_MEM && in.data_reads == 1 && in.data_writes == 1,
	     "a call through memory reads the target and writes the return address");
	fact(is("3e ff e0") && in.flow == X86_FLOW_JMP_REG, "notrack jmp rax is a jump");
	fact(is("e3 00") && in.flow == X86_FLOW_JRCXZ && in.gpr_read == BIT(X86_RCX) && is("e2 00") &&
		     in.flow == X86_FLOW_LOOP && in.gpr_written == BIT(X86_RCX) && in.flags_written == 0,
	     "loop changes rcx and no flag");
	fact(is("0f 05") && in.flow == X86_FLOW_SYSCALL && in.flags_read == 0xff &&
		     in.gpr_written == (BIT(X86_RAX) | BIT(X86_RCX) | BIT(X86_R11)),
	     "syscall reads the flags (into r11) and writes rax, rcx and r11");
	fact(is("cd 80") && in.flow == X86_FLOW_INT && in.immediate == 0x80, "int 0x80 tells its vector");
	fact(is("c7 f8 10 00 00 00") && in.flow == X86_FLOW_XBEGIN && in.target_rel == 16,
	     "xbegin has an abort target");
	fact(is("0f 0b") && in.flow == X86_FLOW_UD, "ud2 decodes, as an instruction that faults");
}

static void flags(void)
{
	fact(is("01 d8") && in.flags_written == ARITH && in.flags_read == 0 &&
		     x86_flags_live_before(&in, ARITH) == 0,
	     "add kills all arithmetic flags");
	fact(is("11 d8") && in.flags_read == X86_FLAG_CF && in.flags_written == ARITH, "adc reads CF");
	fact(is("ff c0") && in.flags_written == (ARITH & ~X86_FLAG_CF), "inc keeps CF");
	fact(is("d3 e0") && in.flags_written == 0 && x86_flags_live_before(&in, ARITH) == ARITH,
	     "a shift by cl may keep every flag");
	fact(is("c1 e0 04") && in.flags_written == (X86_FLAG_CF | X86_FLAG_PF | X86_FLAG_ZF | X86_FLAG_SF),
	     "a shift by 4 defines CF PF ZF SF");
	fact(is("c1 e0 00") && in.flags_written == 0 && in.flags_undefined == 0, "a shift by 0 touches no flag");
	fact(is("c1 e0 20") && in.flags_written == 0 && is("48 c1 e0 20") && in.flags_written != 0,
	     "32 is a count of 0 unless the operand has 64 bits");
	fact(is("d1 e0") && in.flags_written & X86_FLAG_OF && is("c1 e0 01") && in.flags_written & X86_FLAG_OF,
	     "a shift by 1 defines OF");
	fact(is("d1 d0") && in.flags_read == X86_FLAG_CF, "rcl reads CF");
	fact(is("f3 a6") && in.flags_written == 0 && in.flags_maybe == ARITH && is("a6") &&
		     in.flags_written == ARITH,
	     "repe cmpsb may run no iteration and keep the flags");
	fact(is("21 d8") && in.flags_undefined == X86_FLAG_AF && x86_flags_live_before(&in, ARITH) == 0,
	     "and leaves AF undefined on paper, but no CPU keeps it");
	fact(is("0f a3 c1") && in.flags_written == X86_FLAG_CF &&
		     x86_flags_live_before(&in, ARITH) == (ARITH & ~X86_FLAG_CF),
	     "bt keeps what it leaves undefined");
	fact(is("9c") && in.flags_read == 0xff && is("9d") && (in.flags_written | X86_FLAG_SYSTEM) == 0xff,
	     "pushf reads and popf writes them");
	fact(is("48 8d 04 08") && !in.flags_read && !in.flags_written && !in.flags_maybe && !in.flags_undefined,
	     "lea leaves the flags alone");
	fact(is("c4 e2 79 17 c1") && in.flags_written == ARITH, "vptest writes all six flags");
	fact(is("fc") && in.flags_written == X86_FLAG_DF && is("a4") && in.flags_read == X86_FLAG_DF,
	     "movsb reads the direction flag");
}

static void registers(void)
{
	fact(is("88 e0") && in.gpr_read == BIT(X86_RAX) && in.gpr_written == BIT(X86_RAX),
	     "mov al, ah concerns rax alone");
	fact(is("40 88 e0") && in.gpr_read == (BIT(X86_RSP) | BIT(X86_RAX)), "with REX, 4 is spl");
	fact(is("b0 01") && in.gpr_read == BIT(X86_RAX), "a byte write needs the rest of the register");
	fact(is("b8 01 00 00 00") && in.gpr_read == 0 && in.gpr_written == BIT(X86_RAX),
	     "a 32-bit write replaces the register");
	fact(is("0f 44 c1") && in.gpr_read == (BIT(X86_RAX) | BIT(X86_RCX)), "cmov may keep its destination");
	fact(is("48 f7 f9") && in.gpr_read == (BIT(X86_RAX) | BIT(X86_RCX) | BIT(X86_RDX)) &&
		     in.gpr_written == (BIT(X86_RAX) | BIT(X86_RDX)) && has(X86_CLASS_INT_DIV),
	     "idiv uses rdx:rax");
	fact(is("c4 e2 fb f6 c1") && in.gpr_written == BIT(X86_RAX) &&
		     in.gpr_read == (BIT(X86_RCX) | BIT(X86_RDX)) && has(X86_CLASS_INT_MUL),
	     "mulx with one destination twice writes one register and reads rdx");
	fact(is("f3 48 a5") && in.gpr_written == (BIT(X86_RCX) | BIT(X86_RSI) | BIT(X86_RDI)),
	     "rep movsq changes rcx, rsi and rdi");
	fact(is("0f a2") && in.special == X86_SPECIAL_CPUID && has(X86_CLASS_SERIALISING) && in.gpr_written == 0xf,
	     "cpuid serialises and writes four registers");
	fact(is("f3 48 0f ae d8") && in.special == X86_SPECIAL_WRGSBASE && is("8e e8") &&
		     in.special == X86_SPECIAL_LOAD_GS,
	     "what changes gs is special");
	fact(is("0f 31") && in.special == X86_SPECIAL_RDTSC && has(X86_CLASS_TSC), "rdtsc is seen");
}

static void memory(void)
{
	fact(is("f0 01 07") && has(X86_CLASS_LOAD | X86_CLASS_STORE | X86_CLASS_LOCKED) &&
		     memory_is(0, X86_MEM_READ | X86_MEM_WRITE | X86_MEM_LOCKED, 4, X86_RDI, X86_NO_REG, 0, 0),
	     "add r/m with lock reads and writes memory");
	fact(is("87 07") && has(X86_CLASS_LOCKED) && in.memory[0].flags & X86_MEM_LOCKED && is("87 c3") &&
		     !has(X86_CLASS_LOCKED),
	     "xchg with memory is locked without a prefix");
	fact(is("89 07") && in.data_writes == 1 && in.data_write_bytes == 4 && in.data_reads == 0 &&
		     !has(X86_CLASS_LOAD),
	     "a store does not load");
	fact(is("ff 37") && in.memory_count == 2 && in.data_reads == 1 && in.data_writes == 1 &&
		     in.memory[1].displacement == -8,
	     "push [rdi] reads once and writes once");
	fact(is("8f 44 24 08") && in.memory[0].displacement == 16,
	     "pop [rsp+8] addresses from the rsp that it has incremented");
	fact(is("a5") &&
		     memory_is(0, X86_MEM_READ | X86_MEM_STRING | X86_MEM_IMPLICIT, 4, X86_RSI, X86_NO_REG, 0,
			       0) &&
		     memory_is(1, X86_MEM_WRITE | X86_MEM_STRING | X86_MEM_IMPLICIT, 4, X86_RDI, X86_NO_REG, 0, 0),
	     "movsd names its source before its destination");
	fact(is("f3 aa") && has(X86_CLASS_REP | X86_CLASS_STRING | X86_CLASS_STORE) && in.data_write_bytes == 1,
	     "rep stosb's counts are per iteration");
	fact(is("65 a4") && in.memory[0].segment == X86_GS && in.memory[1].segment == X86_ES,
	     "an override moves a string's source only");
	fact(is("48 8d 05 00 00 00 00") && in.rip_relative && in.memory[0].flags == X86_MEM_ADDRESS_ONLY &&
		     !has(X86_CLASS_LOAD),
	     "lea has an address and no access");
	fact(is("0f 18 08") && has(X86_CLASS_PREFETCH) && in.data_reads == 0, "prefetch is not a load");
	fact(is("0f 1f 44 00 00") && has(X86_CLASS_NOP) && in.data_reads == 0 && in.gpr_read == BIT(X86_RAX),
	     "a long nop accesses nothing");
	fact(is("0f a3 07") && in.memory[0].flags & X86_MEM_BIT_OFFSET && is("0f ba 27 03") &&
		     !(in.memory[0].flags & X86_MEM_BIT_OFFSET),
	     "bt with a register moves its address, with an immediate not");
	fact(is("d7") && in.memory[0].flags & X86_MEM_INDEX_BYTE && in.memory[0].index == X86_RAX, "xlat adds al");
	fact(is("c8 10 00 03") && in.data_writes == 4 && in.data_reads == 2,
	     "enter of level 3 reads 2 and writes 4 words");
	fact(is("c4 e2 6d 90 04 31") && has(X86_CLASS_GATHER | X86_CLASS_LOAD) && in.data_reads == 8 &&
		     in.memory[0].width == 4 && in.memory[0].index == 6 &&
		     in.memory[0].flags & X86_MEM_CONDITIONAL,
	     "vpgatherdd of 8 lanes reads at most 8 times");
	fact(is("62 f2 fd 49 a1 04 31") && has(X86_CLASS_SCATTER | X86_CLASS_STORE | X86_CLASS_MASKED) &&
		     in.data_writes == 8,
	     "vpscatterqq writes at most 8 times");
	fact(is("62 f1 7c 49 10 07") && in.memory[0].flags & X86_MEM_MASKED && is("62 f1 7c 48 10 07") &&
		     !(in.memory[0].flags & X86_MEM_MASKED),
	     "an opmask makes a load conditional, k0 does not");
	fact(is("66 0f 38 f8 07") && in.memory_count == 2 && in.data_read_bytes == 64 &&
		     in.data_write_bytes == 64 && in.memory[1].base == X86_RAX,
	     "movdir64b reads one line and writes another");
	fact(is("48 0f ae 20") && in.special == X86_SPECIAL_XSAVE && in.memory[0].width == 0 &&
		     has(X86_CLASS_STORE),
	     "xsave's width is not fixed");
	fact(is("67 8b 00") && in.address_bytes == 4, "67 makes addresses 32 bits wide");
}

static void events(void)
{
	fact(is("f2 0f 58 c1") && has(X86_CLASS_FP) && fp_is(X86_FP_DOUBLE, 8, 1), "addsd is 1 double operation");
	fact(is("0f 59 c1") && fp_is(X86_FP_SINGLE, 16, 4), "mulps is 4 single operations of 128 bits");
	fact(is("c5 fd 5e c1") && has(X86_CLASS_FP_DIV) && fp_is(X86_FP_DOUBLE, 32, 4), "vdivpd ymm is 4 divides");
	fact(is("62 f2 fd 48 b8 c1") && has(X86_CLASS_FP | X86_CLASS_FP_FMA) && fp_is(X86_FP_DOUBLE, 64, 16),
	     "a 512-bit FMA is 16 double operations");
	fact(is("62 f1 7d 78 5b c0") && in.vector_bytes == 64,
	     "embedded rounding is 512 bits wide whatever L says");
	fact(is("f2 0f 51 c1") && has(X86_CLASS_FP_SQRT), "sqrtsd is a square root");
	fact(is("0f 52 c1") && has(X86_CLASS_FP) && !has(X86_CLASS_FP_SQRT),
	     "rsqrtps is arithmetic and no square root");
	fact(is("f2 0f 7c c1") && fp_is(X86_FP_SINGLE, 16, 4), "haddps is 4 additions");
	fact(is("66 0f 3a 40 c1 ff") && fp_is(X86_FP_SINGLE, 16, 8),
	     "dpps counts 2 per lane, as the hardware's event does");
	fact(is("62 f2 56 48 52 c1") && fp_is(X86_FP_BF16, 64, 64),
	     "vdpbf16ps zmm is 16 lanes of 2 multiplies and 2 additions");
	fact(is("62 f6 56 48 56 c1") && fp_is(X86_FP_HALF, 64, 128) && is("62 f6 56 08 d7 c1") &&
		     fp_is(X86_FP_HALF, 4, 6),
	     "a complex FMA is 8 operations per pair of halves, a complex multiply 6");
	fact(is("66 0f 2e c1") && has(X86_CLASS_FP_OTHER) && !has(X86_CLASS_FP) && in.fp_operations == 0,
	     "a compare is no arithmetic");
	fact(is("f2 0f 5a c1") && has(X86_CLASS_FP_CONVERT) && !has(X86_CLASS_FP_INT_CONVERT),
	     "cvtsd2ss converts between precisions");
	fact(is("f2 0f 2a 07") && has(X86_CLASS_FP_INT_CONVERT | X86_CLASS_LOAD) && is("f2 0f 2c 07") &&
		     has(X86_CLASS_FP_INT_CONVERT),
	     "cvtsi2sd and cvttsd2si convert between integer and FP, from memory too");
	fact(is("66 0f fe c1") && has(X86_CLASS_VECTOR_INT) && is("66 0f 6f c1") && !has(X86_CLASS_VECTOR_INT),
	     "paddd is vector integer work, movdqa is not");
	fact(is("0f 57 c0") && !has(X86_CLASS_FP) && !has(X86_CLASS_VECTOR_INT) && has(X86_CLASS_VECTOR),
	     "xorps is neither FP arithmetic nor integer work");
	fact(is("d8 c1") && has(X86_CLASS_X87 | X86_CLASS_X87_ARITH) && fp_is(X86_FP_EXTENDED, 16, 1),
	     "fadd is x87 arithmetic");
	fact(is("d9 07") && has(X86_CLASS_X87 | X86_CLASS_LOAD) && !has(X86_CLASS_X87_ARITH), "fld is not");
	fact(is("dd 1f") && has(X86_CLASS_FP_CONVERT | X86_CLASS_STORE) && is("db 3f") &&
		     !has(X86_CLASS_FP_CONVERT),
	     "fstp to a double rounds, to 10 bytes not");
	fact(is("0f af c1") && has(X86_CLASS_INT_MUL) && is("66 0f 38 40 c1") && !has(X86_CLASS_INT_MUL),
	     "imul is an integer multiply, pmulld vector work");
	fact(is("66 0f e7 07") && has(X86_CLASS_NON_TEMPORAL | X86_CLASS_STORE),
	     "movntdq is a non-temporal store");
	fact(is("0f ae e8") && has(X86_CLASS_FENCE) && !has(X86_CLASS_SERIALISING), "lfence is a fence");
	fact(is("66 0f 38 dc c1") && has(X86_CLASS_CRYPTO), "aesenc is cryptography");
	fact(is("f3 90") && has(X86_CLASS_NOP), "pause is a nop");
}

/* What the manuals have since Zydis 4.0. */
static void newer(void)
{
	fact(is("c4 e2 72 50 c2") && has(X86_CLASS_VECTOR_INT | X86_CLASS_VECTOR) && in.vector_bytes == 16 &&
		     is("c4 e2 6e 51 07") && in.data_read_bytes == 32,
	     "vpdpbsud and vpdpbsuds (AVX-VNNI-INT8) are vector integer work");
	fact(is("c4 e2 75 d2 c2") && has(X86_CLASS_VECTOR_INT) && is("c4 e2 f5 b4 c2") &&
		     has(X86_CLASS_VECTOR_INT) && is("62 f2 74 48 50 c2") && in.vector_bytes == 64,
	     "so are vpdpwusd (INT16), vpmadd52luq (AVX-IFMA) and AVX10.2's vpdpbuud");
	fact(is("c4 e2 7f b0 07") && has(X86_CLASS_FP_CONVERT | X86_CLASS_LOAD) && in.data_read_bytes == 32 &&
		     is("c4 e2 79 b1 07") && in.data_read_bytes == 2,
	     "vcvtneobf162ps reads a vector, vbcstnesh2ps two bytes (AVX-NE-CONVERT), and both convert");
	fact(is("c4 e2 72 da c2") && has(X86_CLASS_CRYPTO) && is("c4 e3 71 de c2 03") && has(X86_CLASS_CRYPTO) &&
		     is("c4 e2 7f cc c1") && has(X86_CLASS_CRYPTO),
	     "vsm4key4, vsm3rnds2 and vsha512msg1 are cryptography");
	fact(is("c4 e2 71 e4 07") && has(X86_CLASS_LOAD | X86_CLASS_STORE | X86_CLASS_LOCKED) &&
		     in.memory[0].width == 4 && in.gpr_read == (BIT(X86_RAX) | BIT(X86_RCX) | BIT(X86_RDI)) &&
		     in.gpr_written == BIT(X86_RAX) && in.flags_written == ARITH,
	     "cmpzxadd reads and writes memory at once, compares, and leaves what was there in its first "
	     "register");
	fact(is("48 0f 38 fc 07") && has(X86_CLASS_LOCKED) && in.data_write_bytes == 8 && in.flags_written == 0 &&
		     in.gpr_written == 0,
	     "aadd (RAO-INT) writes memory and nothing else");
	fact(is("0f 18 3d 00 00 00 00") && in.data_reads == 0 && has(X86_CLASS_NOP) && in.rip_relative,
	     "prefetchit0 is a hint about code: no data access");
	fact(is("62 f5 75 48 58 c2") && has(X86_CLASS_FP) && fp_is(X86_FP_BF16, 64, 32),
	     "vaddbf16 zmm (AVX10.2) is 32 additions");
	fact(is("62 f6 7c 48 4c c1") && fp_is(X86_FP_BF16, 64, 32) && is("62 f3 77 08 52 c2 01") &&
		     has(X86_CLASS_FP) && fp_is(X86_FP_BF16, 16, 8) && is("62 f3 7f 48 08 c1 01") &&
		     has(X86_CLASS_FP_OTHER) && !has(X86_CLASS_FP),
	     "vrcpbf16 and vminmaxbf16 compute, vrndscalebf16 only rounds");
	fact(is("62 f3 f5 48 52 07 01") && fp_is(X86_FP_DOUBLE, 64, 8) && in.data_read_bytes == 64 &&
		     is("62 f3 f5 58 52 07 01") && in.data_read_bytes == 8 && is("62 f3 75 08 53 c2 01") &&
		     fp_is(X86_FP_SINGLE, 4, 1) && is("62 f3 74 48 52 c2 01") && fp_is(X86_FP_HALF, 64, 32),
	     "vminmaxpd is 8 operations, with one double broadcast as well; vminmaxss one, vminmaxph 32");
	fact(is("62 f1 7e 08 2f 07") && in.data_read_bytes == 4 && in.flags_killed == ARITH &&
		     is("62 f1 ff 08 2e c1") && has(X86_CLASS_FP_OTHER) && is("62 f5 7e 08 2f 07") &&
		     in.data_read_bytes == 2,
	     "vcomxss, vucomxsd and vcomxsh set all flags");
	fact(is("62 f5 7c 48 6d 07") && has(X86_CLASS_FP_INT_CONVERT) && in.data_read_bytes == 64 &&
		     is("62 f5 7d 48 6c 07") && in.data_read_bytes == 32 && is("62 f5 fe 08 6d c1") &&
		     in.gpr_written == BIT(X86_RAX) && in.operand_bytes == 8 && is("62 f5 7d 48 69 c1") &&
		     has(X86_CLASS_FP_INT_CONVERT),
	     "vcvttps2dqs, vcvttps2uqqs, vcvttss2sis and vcvtps2ibs convert to integers");
	fact(is("62 f1 7e 08 7e 07") && in.data_read_bytes == 4 && is("62 f1 7d 08 d6 07") &&
		     in.data_write_bytes == 4 && is("62 f5 7e 08 7e 07") && in.data_write_bytes == 2 &&
		     is("62 f1 7e 08 7e c1") && in.data_reads == 0 && in.gpr_read == 0 && has(X86_CLASS_VECTOR),
	     "vmovd and vmovw between vector registers and memory move 4 and 2 bytes");
	fact(is("62 f2 74 48 52 c2") && has(X86_CLASS_FP | X86_CLASS_FP_FMA) && is("62 f3 76 48 42 c2 01") &&
		     has(X86_CLASS_VECTOR_INT),
	     "vdpphps multiplies and adds, vmpsadbw zmm is integer work");
	fact(is("f3 41 90") && in.gpr_written == (BIT(X86_RAX) | BIT(X86_R8)) && is("f3 90") &&
		     in.gpr_written == 0,
	     "F3 makes no pause of xchg r8, rax");
}

/* APX (Intel's architecture specification, chapter 3): REX2 and the EVEX prefix's bits for r16 to r31. */
static void extended(void)
{
	fact(is("d5 19 89 c0") && in.has_rex2 && in.rm == 24 && in.extended && in.gpr_read == BIT(X86_RAX) &&
		     in.gpr_written == 0,
	     "mov r24, rax: r16 to r31 are in no mask");
	fact(is("d5 38 8b 04 48") && memory_is(0, X86_MEM_READ, 8, X86_R16, 17, 2, 0) && in.extended,
	     "[r16 + r17 × 2] has both registers");
	fact(is("d5 80 10 07") && has(X86_CLASS_LOAD) && !in.extended && in.map == X86_MAP_0F,
	     "REX2.M0 chooses map 0F");
	fact(is("d5 00 a1 88 77 66 55 44 33 22 11") && in.flow == X86_FLOW_JMP_ABS &&
		     in.immediate == 0x1122334455667788,
	     "jmpabs has its target's address");
	fact(is("d5 08 b8 88 77 66 55 44 33 22 11") && in.immediate_size == 8 && is("d5 10 50") && in.reg == 16 &&
		     has(X86_CLASS_STORE),
	     "mov r, imm64 and push r16 take REX2");
	fact(is_invalid("d5 00 40 00 00 00") && is_invalid("d5 00 e8 00 00 00 00") &&
		     is_invalid("d5 80 80 00 00 00 00") && is_invalid("48 d5 00 90 00 00"),
	     "rows 4, 7, A and E of map 0, 3 and 8 of map 0F, and REX before it are refused");
	fact(is("62 f9 7c 48 58 00") && in.memory[0].base == X86_R16 && in.extended &&
		     is("62 f1 78 48 58 04 08") && in.memory[0].index == 17,
	     "EVEX has r16 as a base by B4, r17 as an index by X4");
	fact(is("62 f2 7d 41 90 0c 10") && in.memory[0].index == 18,
	     "a gather's vector index keeps V' for its fifth bit");
}

/* Encodings of no table: the length is sure, or they are invalid. */
static void unknown(void)
{
	// clang-format off: a table, a row a line
	static const char *const sure[] = {"c4 e2 7f 04 c0",
					   "c4 e3 7f 03 c0 55",
					   "c4 e1 7b 0b 00",
					   "c4 e1 78 70 04 24 01",
					   "62 f2 7e 08 03 44 24 01",
					   "62 f3 7e 08 07 c0 05",
					   "62 f5 7c 08 00 80 01 02 03 04",
					   "c4 e7 7b f8 c0 01 02 03 04",
					   "62 f7 7e 08 f8 c0 01 02 03 04",
					   "8f e8 78 00 c0 01",
					   "8f e9 78 f0 c0",
					   "8f ea 78 ff c0 01 02 03 04",
					   "0f 38 ff c0",
					   "66 0f 38 fe 44 24 08",
					   "0f 3a ff c0 01",
					   "0f 0f c1 00",
					   "0f 01 c7",
					   "0f ae d0",
					   "0f c7 c0"};
	// clang-format on
	bool right = true;
	for (unsigned i = 0; i < sizeof sure / sizeof *sure; i++) {
		bool holds = is(sure[i]) && in.class == X86_CLASS_UNKNOWN && in.gpr_read == 0xffff &&
			     in.gpr_written == 0xffff && in.flow == X86_FLOW_NONE && in.flags_killed == 0 &&
			     in.data_reads == 0 && in.data_writes == 0;
		if (!holds)
			printf("# %s\n", sure[i]);
		right &= holds;
	}
	fact(right, "an unknown encoding whose length the map decides is unknown, may use every register, and is "
		    "no branch");
	fact(is("c4 e2 7f 04 05 01 02 03 04") && in.rip_relative && in.displacement_offset == 5 &&
		     in.memory_count == 1,
	     "its rip-relative operand can be seen");
	fact(is_invalid("06") && is_invalid("0f 39 c0") && is_invalid("ea 00 00 00 00 00 00") &&
		     is_invalid("f0 e8 00 00 00 00") && is_invalid("62 f0 7c 08 58 c0"),
	     "one whose length nothing tells is invalid, and so is a branch with a prefix that it cannot have");
	fact(is_truncated("c4 e3 7f 03 c0") && is_truncated("62 f7 7e 08 f8 c0 01 02"),
	     "and one cut short is truncated");
}

int main(void)
{
	layout();
	flow();
	flags();
	registers();
	memory();
	events();
	newer();
	extended();
	unknown();
	printf("1..%u\n", tests);
	return failed != 0;
}
