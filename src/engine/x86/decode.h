/*
 * The x86-64 instruction decoder: bytes in, one plain record out.
 *
 * It serves the rewriter (lengths, branch targets, where the displacement bytes are), the placement of
 * counters (which flags and registers are alive) and the events that tare counts (what one execution of
 * the instruction adds to loads, stores, FP operations, ...). It runs inside the measured program, so it
 * calls nothing, writes nothing but the record, and needs no relocation.
 *
 * What always holds:
 *  1. No byte at or beyond code + available is read, and none beyond the 15th.
 *  2. The record is a function of the bytes alone: not of the address, nor of the CPU it runs on.
 *     An instruction that this CPU lacks decodes like any other; it faults when it is executed.
 *  3. On X86_DECODE_OK every field is set, memory[] up to memory_count and parts that are present. On anything
 *     else the record's content means nothing.
 *  4. An encoding that is in no table, but whose length is sure, is X86_DECODE_OK too, with X86_CLASS_UNKNOWN: it
 *     may read and write every register and flag, it is not a branch, and nothing else that it says of events is
 *     known. The processor decides whether it is an instruction; see describe_unknown() for which lengths are
 *     sure.
 *  5. 64-bit mode only. Near branches take 64-bit operands (as Intel's: 66 does not shorten them; which ones it
 *     does on AMD's, x86_is_short_branch() says).
 *  6. Where Zydis accepts an encoding, so does this decoder, but for Knights Corner's; what the manuals have since
 *     4.0 is in tools/x86_decode_gen/newer.c, and APX (its promoted instructions are in promoted.c). What it says
 *     of registers, flags and memory follows the manuals (Intel SDM, AMD APM) and the CPU where they differ: each
 *     such difference is a row, with its reason, in tests/engine/decode_differences.h.
 */
#ifndef TARE_ENGINE_X86_DECODE_H
#define TARE_ENGINE_X86_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_MAX_INSN_BYTES 15

enum x86_decode_status {
	X86_DECODE_OK,
	X86_DECODE_TRUNCATED, /* the bytes ended too early to tell */
	/* in no table, and its length is not sure: known CPUs raise #UD (or #GP, for more than 15 bytes) */
	X86_DECODE_INVALID,
};

/* ---- registers -------------------------------------------------------------------------------- */

/* General registers by their numbers in the encoding; bit n of a GPR mask is register n. APX's r16 to r31 are
   named (as a base, an index, reg, rm or vvvv) and are in no mask: the engine neither uses nor keeps them. */
enum x86_gpr {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
	X86_R12,
	X86_R13,
	X86_R14,
	X86_R15,
	X86_R16,
	X86_R31 = 31,
	X86_RIP = 32, /* as a base only */
	X86_NO_REG = 255,
};

enum x86_segment { X86_ES, X86_CS, X86_SS, X86_DS, X86_FS, X86_GS };

/* ---- flags ------------------------------------------------------------------------------------ */

/* X86_FLAG_SYSTEM stands for the rest of rflags (TF, IF, IOPL, NT, AC, ID): popf, iret, cli, stac, ... */
enum x86_flag {
	X86_FLAG_CF = 1 << 0,
	X86_FLAG_PF = 1 << 1,
	X86_FLAG_AF = 1 << 2,
	X86_FLAG_ZF = 1 << 3,
	X86_FLAG_SF = 1 << 4,
	X86_FLAG_OF = 1 << 5,
	X86_FLAG_DF = 1 << 6,
	X86_FLAG_SYSTEM = 1 << 7,
	X86_FLAGS_ARITHMETIC = 0x3f,
};

/* ---- encoding --------------------------------------------------------------------------------- */

/* A legacy instruction with APX's two-byte prefix is X86_LEGACY with rex2 set. */
enum x86_encoding { X86_LEGACY, X86_3DNOW, X86_VEX2, X86_VEX3, X86_EVEX, X86_XOP };

/* Values of x86_insn.map; XOP maps keep AMD's numbers, VEX and EVEX 4 to 7 Intel's. */
enum x86_map {
	X86_MAP_0,
	X86_MAP_0F,
	X86_MAP_0F38,
	X86_MAP_0F3A,
	X86_MAP_4,
	X86_MAP_5,
	X86_MAP_6,
	X86_MAP_7,
	X86_MAP_XOP8 = 8,
	X86_MAP_XOP9 = 9,
	X86_MAP_XOPA = 10,
	X86_MAP_3DNOW = 15
};

enum x86_prefix {
	X86_PREFIX_LOCK = 1 << 0,
	X86_PREFIX_REPNE = 1 << 1,    /* F2 is present and the last of F2/F3 (may be mandatory or ignored) */
	X86_PREFIX_REP = 1 << 2,      /* F3 likewise */
	X86_PREFIX_OPSIZE = 1 << 3,   /* 66 is present */
	X86_PREFIX_ADDRSIZE = 1 << 4, /* 67 is present: 32-bit addresses, ecx as counter */
	X86_PREFIX_FS = 1 << 5,       /* the effective segment override, at most one of FS, GS */
	X86_PREFIX_GS = 1 << 6,
	X86_PREFIX_OTHER_SEG = 1 << 7, /* 26 2E 36 3E: no effect on addresses; branch hints, notrack */
};

/* ---- control flow ----------------------------------------------------------------------------- */

enum x86_flow {
	X86_FLOW_NONE,
	/* these have a target: target_rel holds it, counted from the end of the instruction */
	X86_FLOW_JCC,     /* 70-7F, 0F 80-8F */
	X86_FLOW_LOOP,    /* loop, loope, loopne: rcx (ecx with 67) is decremented, flags are kept */
	X86_FLOW_JRCXZ,   /* jrcxz, jecxz with 67 */
	X86_FLOW_JMP,     /* jmp rel8, rel32 */
	X86_FLOW_CALL,    /* call rel32 */
	X86_FLOW_XBEGIN,  /* falls through; target is the abort handler */
	X86_FLOW_JMP_ABS, /* APX's jmpabs: the immediate is the target's address */
	/* indirect: operand is a register, or memory[0] */
	X86_FLOW_JMP_REG,
	X86_FLOW_JMP_MEM,
	X86_FLOW_CALL_REG,
	X86_FLOW_CALL_MEM,
	X86_FLOW_RET, /* near; immediate is the number of bytes popped besides, else 0 */
	/* far, to another code segment or privilege */
	X86_FLOW_JMP_FAR,
	X86_FLOW_CALL_FAR,
	X86_FLOW_RET_FAR,
	X86_FLOW_IRET, /* also sysret, sysexit, eretu... none of which a user program survives */
	X86_FLOW_UIRET,
	/* into the kernel; execution goes on behind the instruction */
	X86_FLOW_SYSCALL,
	X86_FLOW_SYSENTER,
	X86_FLOW_INT, /* CD ib: the immediate is the vector */
	X86_FLOW_INT3,
	X86_FLOW_INT1,
	X86_FLOW_XABORT,
	X86_FLOW_XEND,
	/* always faults in user mode */
	X86_FLOW_UD, /* ud0 ud1 ud2 */
	X86_FLOW_HLT,
};

static inline bool x86_flow_has_target(uint8_t flow) { return flow >= X86_FLOW_JCC && flow <= X86_FLOW_XBEGIN; }

/* ---- what the runtime must know or emulate ---------------------------------------------------- */

enum x86_special {
	X86_SPECIAL_NONE,
	X86_SPECIAL_CPUID,
	X86_SPECIAL_RDTSC,
	X86_SPECIAL_RDTSCP,
	X86_SPECIAL_RDPMC,
	X86_SPECIAL_RDPID,
	X86_SPECIAL_SERIALIZE,
	X86_SPECIAL_RDFSBASE,
	X86_SPECIAL_RDGSBASE,
	X86_SPECIAL_WRFSBASE,
	X86_SPECIAL_WRGSBASE,
	X86_SPECIAL_LOAD_FS,
	X86_SPECIAL_LOAD_GS,       /* mov, pop, lfs, lgs */
	X86_SPECIAL_LOAD_SEGMENT,  /* the other segment registers */
	X86_SPECIAL_STORE_SEGMENT, /* mov r/m, sreg; push fs; push gs */
	X86_SPECIAL_XSAVE,         /* xsave, xrstor, fxsave, fxrstor and their kin */
	X86_SPECIAL_XGETBV,
	X86_SPECIAL_PKRU,         /* rdpkru, wrpkru */
	X86_SPECIAL_SHADOW_STACK, /* rdssp, incssp, wrss, saveprevssp, rstorssp, setssbsy, clrssbsy */
	X86_SPECIAL_TSX,          /* xtest, xsusldtrk, xresldtrk; xbegin, xend, xabort are flow */
	X86_SPECIAL_POPF,         /* may set TF, AC, ID */
	X86_SPECIAL_PUSHF,
	X86_SPECIAL_WAIT,       /* umonitor, umwait, tpause, monitorx, mwaitx */
	X86_SPECIAL_UINTR,      /* clui, stui, testui, senduipi */
	X86_SPECIAL_ENCLAVE,    /* enclu */
	X86_SPECIAL_IO,         /* in, out, ins, outs */
	X86_SPECIAL_PRIVILEGED, /* faults in user mode under any Linux */
};

/* ---- memory ----------------------------------------------------------------------------------- */

enum x86_memory_flag {
	X86_MEM_READ = 1 << 0,
	X86_MEM_WRITE = 1 << 1,
	/* lea, nop, prefetch, clflush, invlpg, bnd*: no data access, READ and WRITE clear */
	X86_MEM_ADDRESS_ONLY = 1 << 2,
	X86_MEM_CONDITIONAL = 1 << 3,  /* data decides whether, or which part of, the operand is accessed */
	X86_MEM_MASKED = 1 << 4,       /* an opmask or vector mask selects lanes: width is the full width */
	X86_MEM_STRING = 1 << 5,       /* per iteration, if rep_string; steps by width, DF is the direction */
	X86_MEM_VECTOR_INDEX = 1 << 6, /* gather, scatter: index is a vector register; width is one lane's */
	X86_MEM_STACK = 1 << 7,        /* an implicit push or pop */
	X86_MEM_IMPLICIT = 1 << 8,     /* not the ModRM operand */
	X86_MEM_BROADCAST = 1 << 9,    /* EVEX.b: one element is read, width is the element's */
	X86_MEM_LOCKED = 1 << 10,      /* read and write are one atomic access */
	/* bt bts btr btc with a register: reg / (8 × width), signed, × width is added */
	X86_MEM_BIT_OFFSET = 1 << 11,
	X86_MEM_INDEX_BYTE = 1 << 12, /* xlat: the index is al, not rax */
};

/*
 * The effective address is base + index × scale + displacement in the given segment, with the registers'
 * values *before* the instruction (push writes at rsp - 8; pop [rsp] writes at rsp + 8), truncated to
 * address_bytes (stack accesses are never truncated); rip as a base is the address of the next instruction.
 * enter's operand is the push of rbp; what its nesting level adds is in data_reads and data_writes.
 */
struct x86_memory {
	int64_t displacement;
	uint16_t flags;
	uint16_t width;  /* bytes; 0: not fixed by the encoding (xsave and its kin, AMX tiles), or ADDRESS_ONLY */
	uint8_t base;    /* enum x86_gpr, X86_RIP or X86_NO_REG */
	uint8_t index;   /* general register, or vector register 0..31 (X86_MEM_VECTOR_INDEX), or X86_NO_REG */
	uint8_t scale;   /* 1 2 4 8; 0 without index */
	uint8_t segment; /* enum x86_segment: the effective one. Only fs and gs have a base in 64-bit mode */
};

/* ---- what one execution counts as ------------------------------------------------------------- */

enum x86_class {
	X86_CLASS_LOAD = 1 << 0,     /* reads memory, the stack's implicit reads included */
	X86_CLASS_STORE = 1 << 1,    /* writes memory, likewise */
	X86_CLASS_LOCKED = 1 << 2,   /* atomic: lock prefix, or xchg with memory */
	X86_CLASS_PREFETCH = 1 << 3, /* prefetch*, gather/scatter prefetch; not clflush, not nop */
	X86_CLASS_STRING = 1 << 4,   /* movs cmps stos lods scas ins outs */
	X86_CLASS_REP = 1 << 5,      /* a string instruction with a rep prefix: 0..2^64 iterations */
	X86_CLASS_FP = 1 << 6,       /* SSE/AVX FP arithmetic: add sub mul div sqrt min max rcp rsqrt fma dp */
	X86_CLASS_FP_FMA = 1 << 7,
	X86_CLASS_FP_DIV = 1 << 8,  /* also of x87 */
	X86_CLASS_FP_SQRT = 1 << 9, /* also of x87; not the rsqrt approximations */
	/* between FP precisions: the rounding of a double to a single and back */
	X86_CLASS_FP_CONVERT = 1 << 10,
	X86_CLASS_FP_INT_CONVERT = 1 << 11, /* between integers and FP */
	X86_CLASS_INT_MUL = 1 << 12,        /* mul imul mulx; vector multiplies are VECTOR_INT */
	X86_CLASS_INT_DIV = 1 << 13,
	/* integer arithmetic or logic on mmx, xmm, ymm, zmm; not moves, not shuffles of FP */
	X86_CLASS_VECTOR_INT = 1 << 14,
	X86_CLASS_X87 = 1 << 15,         /* any x87 instruction */
	X86_CLASS_X87_ARITH = 1 << 16,   /* x87 arithmetic: fp_operations is set */
	X86_CLASS_SERIALISING = 1 << 17, /* cpuid serialize iret and the privileged ones; not lfence */
	X86_CLASS_TSC = 1 << 18,         /* rdtsc rdtscp */
	X86_CLASS_FENCE = 1 << 19,       /* lfence sfence mfence */
	/* an opmask other than k0 selects lanes: fp_operations is the most it can be */
	X86_CLASS_MASKED = 1 << 20,
	X86_CLASS_GATHER = 1 << 21, /* data_reads, data_writes are the most they can be */
	X86_CLASS_SCATTER = 1 << 22,
	X86_CLASS_NOP = 1 << 23,          /* nop, endbr, hint-nops, pause */
	X86_CLASS_STACK = 1 << 24,        /* pushes or pops implicitly */
	X86_CLASS_VECTOR = 1 << 25,       /* names mmx, xmm, ymm, zmm, tmm or opmask registers, or clears them */
	X86_CLASS_CRYPTO = 1 << 26,       /* aes, sha, clmul, gf2p8, key locker */
	X86_CLASS_NON_TEMPORAL = 1 << 27, /* movnt* */
	X86_CLASS_AMX = 1 << 28,
	/* works on FP values but computes none: compare round classify scale extract */
	X86_CLASS_FP_OTHER = 1 << 29,
	/* in no table: of all classes and counts only that it is an instruction is known */
	X86_CLASS_UNKNOWN = 1 << 30,
};

enum x86_precision { X86_FP_NONE, X86_FP_HALF, X86_FP_BF16, X86_FP_SINGLE, X86_FP_DOUBLE, X86_FP_EXTENDED };

/* ---- the record ------------------------------------------------------------------------------- */

struct x86_insn {
	/* layout: offsets count bytes from the start; a part of size 0 is absent and its offset meaningless */
	uint8_t length;
	uint8_t encoding; /* enum x86_encoding */
	uint8_t map;      /* enum x86_map */
	uint8_t opcode;   /* the last opcode byte; for 3DNow! the suffix byte */
	uint8_t prefixes; /* enum x86_prefix bits */
	/* legacy prefixes: a REX, REX2, VEX, EVEX or XOP prefix, if any, starts at this offset */
	uint8_t prefix_bytes;
	/* the REX byte, 0 without; for REX2, VEX, EVEX, XOP: W R X B as a REX would have them */
	uint8_t rex;
	uint8_t has_rex2;      /* 0 or 1: APX's two-byte prefix D5, … */
	uint8_t rex2;          /* … and the byte behind it; 0 without */
	uint8_t extended;      /* 1: it names one of r16 to r31 */
	uint8_t opcode_offset; /* of the last opcode byte (the suffix of 3DNow!) */
	uint8_t has_modrm;     /* 0 or 1 */
	uint8_t modrm_offset;
	uint8_t modrm; /* the bytes themselves */
	uint8_t has_sib;
	uint8_t sib_offset;
	uint8_t sib;
	uint8_t displacement_offset; /* of the ModRM displacement, or of a moffs address */
	uint8_t displacement_size;   /* 0 1 4, moffs: 4 8 */
	uint8_t immediate_offset;    /* also of a branch's relative displacement */
	uint8_t immediate_size;      /* 0 1 2 4 8 */
	uint8_t immediate2_size;     /* enter, extrq, insertq: a second one of 1 byte behind the first */
	uint8_t rip_relative;        /* memory[0] is relative to the next instruction's address */

	/* sizes */
	/* effective operand size of legacy instructions: 1 2 4 8 where it has one, else 4 */
	uint8_t operand_bytes;
	uint8_t address_bytes; /* 4 or 8 */
	uint8_t vector_bytes;  /* VEX, EVEX, XOP: 16 32 64 by L; 0 for legacy */

	/* register numbers of the fields, all extension bits included; their kind is the instruction's */
	uint8_t reg;    /* ModRM.reg, else that of the opcode's low three bits (push, bswap, mov imm) */
	uint8_t rm;     /* ModRM.rm as a register, when mod is 3, else X86_NO_REG */
	uint8_t vvvv;   /* VEX, EVEX, XOP: 0..31, else 0 */
	uint8_t opmask; /* EVEX aaa, 0 if none */
	uint8_t evex_b; /* broadcast, rounding or sae */

	/* control flow */
	uint8_t flow;      /* enum x86_flow */
	uint8_t condition; /* JCC: opcode's low four bits (0 o, 1 no, 2 b, ...) */
	uint8_t special;   /* enum x86_special */

	/* flags: four masks without a common bit, except that read may overlap any of the others */
	uint8_t flags_read;      /* the result, or the flow, depends on them */
	uint8_t flags_written;   /* every execution replaces them with a defined value: dead before, unless read */
	uint8_t flags_maybe;     /* some executions write them and some keep the old value (shifts by a count that
	                            may be 0, rep cmps with rcx = 0): alive before if they are alive after */
	uint8_t flags_undefined; /* the manual leaves their new value open; real CPUs may keep the old one */
	/* whose old value survives on no CPU: written, and AF of and, or, xor, test, which is undefined on paper
	 * and cleared by every CPU (measured by tests/engine/decode_cpu.c) */
	uint8_t flags_killed;

	/* general registers */
	uint16_t gpr_read;    /* needed before: operands, address parts, and every register of which a part
	                            survives (8- and 16-bit or conditional writes) */
	uint16_t gpr_written; /* changed, in whole or part, on some execution */

	/* events of one execution */
	uint32_t class;       /* enum x86_class bits */
	uint8_t fp_precision; /* enum x86_precision of FP and X87_ARITH */
	uint8_t fp_bytes;     /* width of the FP operation: 16 32 64, or the element's size for a scalar one */
	/* lanes × operations per lane; FMA and dp count 2; the most it can be if MASKED */
	uint8_t fp_operations;
	uint8_t data_reads; /* data accesses of one execution, or of one iteration of a rep string */
	uint8_t data_writes;
	uint16_t data_read_bytes;
	uint16_t data_write_bytes;

	/* operands in memory: the explicit (ModRM or moffs) one first, then implicit ones, reads before writes */
	uint8_t memory_count;
	struct x86_memory memory[2];

	/* sign- or zero-extended as the instruction does; a second one follows the first's bits */
	int64_t immediate;
	int32_t target_rel; /* x86_flow_has_target(): target = address + length + target_rel */
};

/*
 * Decodes the instruction at code, where available bytes may be read. X86_DECODE_TRUNCATED says that the bytes
 * ended before the instruction did: the caller may retry with more (the answer may then be "invalid").
 */
enum x86_decode_status x86_decode(const uint8_t *code, size_t available, struct x86_insn *out);

/* The flags whose value before the instruction matters, given those that matter after it. Other flags that the
   manual leaves undefined are taken to survive: bt, div and rotates do keep some. */
static inline uint8_t x86_flags_live_before(const struct x86_insn *insn, uint8_t live_after)
{
	return (uint8_t)(insn->flags_read | (live_after & ~insn->flags_killed));
}

/* A near branch whose operands and displacement have 16 bits on AMD's processors; Intel's ignore its prefix, and
   so does the record. */
static inline bool x86_is_short_branch(const struct x86_insn *insn)
{
	enum { REX_W = 8 };
	return (insn->prefixes & X86_PREFIX_OPSIZE) && !(insn->rex & REX_W) && insn->encoding == X86_LEGACY &&
	       insn->flow >= X86_FLOW_JCC && insn->flow <= X86_FLOW_RET && insn->flow != X86_FLOW_XBEGIN;
}

static inline bool x86_is_endbr64(const uint8_t code[4])
{
	return code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa;
}

/* Whether a call may end where these bytes end: a guess, from the first byte of each of its usual forms. */
#define X86_CALL_BYTES 7
static inline bool x86_may_end_in_call(const uint8_t bytes[X86_CALL_BYTES])
{
	enum { CALL = 0xe8, CALL_INDIRECT = 0xff };
	const uint8_t *end = bytes + X86_CALL_BYTES;
	return end[-5] == CALL || end[-2] == CALL_INDIRECT || end[-3] == CALL_INDIRECT ||
	       end[-6] == CALL_INDIRECT || end[-7] == CALL_INDIRECT;
}

#endif
