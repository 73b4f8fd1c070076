/*
 * Every deliberate difference between this decoder and Zydis 4.0.0, with its reason. A row names the facts that
 * may differ, the mnemonics (Zydis' spelling; NULL: any) and, where that is not narrow enough, a condition. The
 * checker fails on every other difference and counts how often each row was used.
 *
 * SDM: Intel's Software Developer's Manual, volume 2. APM: AMD's Architecture Programmer's Manual, volume 3.
 * "Measured" facts are tests/engine/decode_cpu.c's: it runs the instructions on the CPU.
 */
#ifndef TARE_TESTS_ENGINE_DECODE_DIFFERENCES_H
#define TARE_TESTS_ENGINE_DECODE_DIFFERENCES_H

#include <Zydis/Zydis.h>

#include "decode_compare.h"

static bool is_knights_corner(const ZydisDecodedInstruction *z)
{
	return z->meta.isa_ext == ZYDIS_ISA_EXT_KNC || z->meta.isa_ext == ZYDIS_ISA_EXT_KNCE ||
	       z->meta.isa_ext == ZYDIS_ISA_EXT_KNCV || z->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

static bool is_sib_without_base(const ZydisDecodedInstruction *z)
{
	return z->address_width == 32 && z->attributes & ZYDIS_ATTRIB_HAS_SIB && z->raw.modrm.mod == 0 &&
	       z->raw.sib.base == 5;
}

static bool is_absolute_32(const ZydisDecodedInstruction *z)
{
	return z->address_width == 32 && z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (z->opcode & 0xfc) == 0xa0;
}

static bool pops_to_stack_address(const ZydisDecodedInstruction *z)
{
	return z->attributes & ZYDIS_ATTRIB_HAS_SIB && z->raw.sib.base == 4;
}

static bool is_fma4(const ZydisDecodedInstruction *z) { return z->meta.isa_set == ZYDIS_ISA_SET_FMA4; }

static bool is_extended_90(const ZydisDecodedInstruction *z) { return z->opcode == 0x90 && z->raw.rex.B; }

#define F(fact) (1ull << FACT_##fact)
#define ALL_MEMORY                                                                                                \
	(F(MEMORY_COUNT) | F(MEMORY_ADDRESS) | F(MEMORY_WIDTH) | F(MEMORY_ACCESS) | F(MEMORY_CONDITIONAL) |       \
	 F(LOAD_STORE))
#define ALL_FLAGS (F(FLAGS_READ) | F(FLAGS_WRITTEN) | F(FLAGS_UNDEFINED))
#define ALL_GPR (F(GPR_READ) | F(GPR_WRITTEN))

static const struct decode_difference {
	const char *title;
	uint64_t facts;
	const char *mnemonics;
	bool (*applies)(const ZydisDecodedInstruction *z);
	const char *reason;
} differences[] = {
	/* ---- validity ---- */
	{"Knights Corner", F(VALIDITY) | F(LENGTH), NULL, is_knights_corner,
	 "Zydis decodes the 2012 coprocessor's VEX and MVEX instructions; they #UD on every CPU that runs Linux"},

	/* ---- flags ---- */
	{"sbb", F(FLAGS_WRITTEN) | F(FLAGS_UNDEFINED), "sbb", NULL,
	 "SDM: AF is set according to the result; Zydis: undefined. Measured"},
	{"shifts and rotates", F(FLAGS_WRITTEN) | F(FLAGS_UNDEFINED) | F(FLAGS_READ),
	 "rol ror rcl rcr shl shr sar shld shrd", NULL,
	 "SDM: a count of 0 (masked) keeps all flags, 1 defines OF, one that reaches the size leaves CF "
	 "undefined; Zydis has one answer "
	 "for all counts. By cl every flag may keep its value. Measured"},
	{"kernel entries' flags", ALL_FLAGS, "syscall sysenter int int3 int1", NULL,
	 "seen from user mode the flags come back as they were, and whoever looks at r11, a signal frame or a "
	 "tracer reads them"},
	{"testui", F(FLAGS_WRITTEN), "testui", NULL,
	 "SDM: clears ZF AF OF PF SF besides setting CF; Zydis: CF only"},
	{"vector tests", F(FLAGS_WRITTEN), "vptest vtestps vtestpd", NULL,
	 "SDM: OF SF AF PF are cleared, as by ptest; Zydis: untouched. Measured"},
	{"bextr", ALL_FLAGS, "bextr", NULL, "APM: the XOP form too clears CF and OF; Zydis: undefined"},
	{"rep cmps, rep scas", F(FLAGS_READ), "cmpsb cmpsw cmpsd cmpsq scasb scasw scasd scasq", NULL,
	 "SDM: the ZF that ends the loop is an iteration's own; with rcx 0 the flags are kept, which flags_maybe "
	 "says"},
	{"other code's flags", ALL_FLAGS,
	 "enclu encls enclv getsec vmcall vmmcall vmfunc vmlaunch vmresume vmrun tdcall seamcall seamops seamret "
	 "rsm",
	 NULL, "see the row of their registers"},
	{"uiret", ALL_FLAGS | ALL_GPR | ALL_MEMORY, "uiret", NULL,
	 "SDM: pops rip, rflags (DF too) and rsp; Zydis: no operands"},

	/* ---- registers ---- */
	{"string instructions' registers", ALL_GPR,
	 "movsb movsw movsd movsq cmpsb cmpsw cmpsd cmpsq stosb stosw stosd stosq lodsb lodsw lodsd "
	 "lodsq scasb scasw scasd scasq insb insw insd outsb outsw outsd",
	 NULL,
	 "SDM: rsi and rdi move; Zydis leaves them out for cmps, scas, ins, outs. rep lods with rcx 0 keeps rax"},
	{"kernel entries' registers", ALL_GPR, "syscall sysenter int int3 int1", NULL,
	 "the kernel may read any register (system calls, signal frames) and returns in rax; sysenter's rsp is "
	 "the kernel's"},
	{"bsf bsr", F(GPR_READ), "bsf bsr", NULL,
	 "source 0: AMD documents, and Intel's do so too, that the destination keeps its value. Measured"},
	{"sldt str smsw", F(GPR_READ), "sldt str smsw", NULL,
	 "under UMIP Linux emulates them and leaves the register's upper part. Measured"},
	{"rdssp", F(GPR_READ), "rdsspd rdsspq", NULL,
	 "SDM: a nop that keeps the register where shadow stacks are off"},
	{"xlat", F(GPR_READ) | F(MEMORY_ADDRESS), "xlat", NULL,
	 "SDM: the address is rbx + al; Zydis leaves al out"},
	{"nop ud", F(GPR_READ) | F(MEMORY_ACCESS) | F(LOAD_STORE) | F(MEMORY_WIDTH), "nop ud0 ud1", NULL,
	 "the operands name registers and an address that are not read"},
	{"enclaves, virtual machines", ALL_GPR,
	 "enclu encls enclv getsec vmcall vmmcall vmfunc vmlaunch vmresume vmrun tdcall seamcall seamops "
	 "seamret rsm",
	 NULL, "other code runs, which may read or write any register"},
	{"pause with REX.B", ALL_GPR | F(NOP), "pause", is_extended_90,
	 "with REX.B 90 is xchg r8, rax, whatever F3 says. Measured"},
	/* ---- memory ---- */
	{"address only", F(MEMORY_ACCESS) | F(LOAD_STORE),
	 "prefetch prefetchw prefetchwt1 prefetchnta prefetcht0 prefetcht1 prefetcht2 clflush "
	 "clflushopt clwb cldemote invlpg vgatherpf0dps vgatherpf0dpd vgatherpf0qps vgatherpf0qpd vgatherpf1dps "
	 "vgatherpf1dpd vgatherpf1qps "
	 "vgatherpf1qpd vscatterpf0dps vscatterpf0dpd vscatterpf0qps vscatterpf0qpd vscatterpf1dps vscatterpf1dpd "
	 "vscatterpf1qps vscatterpf1qpd",
	 NULL, "hints and cache control transfer no data to or from the program; Zydis calls the operand read"},
	{"MPX", F(MEMORY_ACCESS) | F(LOAD_STORE) | F(MEMORY_WIDTH) | F(MEMORY_ADDRESS) | F(NOP) | F(SIZES),
	 "bndmk bndcl bndcu bndcn bndmov bndldx bndstx", NULL,
	 "Linux (since 5.6) never enables MPX, so these are nops everywhere; Zydis decodes them as if enabled (no "
	 "32-bit addresses)"},
	{"string instructions' accesses", F(MEMORY_CONDITIONAL),
	 "movsb movsw movsd movsq cmpsb cmpsw cmpsd cmpsq stosb stosw stosd stosq "
	 "lodsb lodsw lodsd lodsq scasb scasw scasd scasq insb insw insd outsb outsw outsd",
	 NULL,
	 "Zydis calls them conditional with a rep prefix; here REP and STRING say that accesses are per "
	 "iteration"},
	{"masked moves", F(MEMORY_CONDITIONAL),
	 "maskmovq maskmovdqu vmaskmovps vmaskmovpd vpmaskmovd vpmaskmovq vmaskmovdqu", NULL,
	 "SDM: a vector register selects the bytes or elements that are accessed; Zydis: unconditional"},
	{"processor state", F(MEMORY_WIDTH),
	 "xsave xsave64 xsavec xsavec64 xsaveopt xsaveopt64 xsaves xsaves64 xrstor xrstor64 xrstors "
	 "xrstors64",
	 NULL, "the size depends on xcr0, the mask in edx:eax and the format; Zydis gives 576 bytes"},
	{"movsxd r16", F(MEMORY_WIDTH), "movsxd", NULL,
	 "SDM: with 66 the source is r/m16; Zydis: 4 bytes. Measured"},
	{"pop to a stack address", F(MEMORY_ADDRESS), "pop", pops_to_stack_address,
	 "SDM: the address is computed after rsp has been incremented; here displacements count from rsp before. "
	 "Measured"},
	{"enter", F(LOAD_STORE), "enter", NULL,
	 "SDM: the nesting level adds reads and writes; Zydis names the first push only"},
	{"enqcmd", ALL_MEMORY, "enqcmd enqcmds", NULL,
	 "SDM: writes 64 bytes to the device register at es:[reg]; Zydis leaves it out"},
	{"movdir64b", F(MEMORY_ADDRESS), "movdir64b", NULL,
	 "SDM: the destination's segment is es, not overridable; Zydis: ds or ss"},
	{"clzero", ALL_MEMORY, "clzero", NULL, "APM: writes the 64-byte line at rax; Zydis names no operand"},
	{"VIA PadLock", ALL_MEMORY | ALL_GPR,
	 "xcrypt_ecb xcrypt_cbc xcrypt_ctr xcrypt_cfb xcrypt_ofb xsha1 xsha256 montmul xstore", NULL,
	 "these have up to five implicit operands; the record holds two"},
	{"SIB without base, 32-bit", F(MEMORY_ADDRESS) | F(GPR_READ), NULL, is_sib_without_base,
	 "SDM: mod 00, base 101 is displacement only, whatever REX.B; Zydis names r13d with 67. Measured"},
	{"32-bit absolute address", F(MEMORY_ADDRESS) | F(IMMEDIATE), "mov", is_absolute_32,
	 "SDM: addresses are zero-extended from the address size; Zydis sign-extends. Measured"},
	{"SGX, 32-bit addresses", F(SIZES), "enclu encls enclv", NULL,
	 "no explicit address; Zydis reports 64 bits under 67"},

	/* ---- classes ---- */
	{"no-operations", F(NOP), "endbr64 endbr32 pause fnop fdisi8087_nop feni8087_nop fsetpm287_nop", NULL,
	 "no effect on registers, flags or memory; Zydis files them elsewhere"},
	{"implicit vector registers", F(VECTOR), "vzeroupper vzeroall emms femms", NULL, "Zydis names no operand"},
	{"xend", F(FLOW), "xend", NULL, "Zydis: conditional branch; it never branches"},
	{"FP without FP exceptions", F(FP),
	 "rcpps rcpss rsqrtps rsqrtss vrcpps vrcpss vrsqrtps vrsqrtss vrcp14ps vrcp14pd vrcp14ss vrcp14sd "
	 "vrsqrt14ps vrsqrt14pd vrsqrt14ss vrsqrt14sd vrcpph vrcpsh vrsqrtph vrsqrtsh vfpclassps vfpclasspd "
	 "vfpclassss vfpclasssd vfpclassph "
	 "vfpclasssh vdpbf16ps vcvtne2ps2bf16 vcvtneps2bf16 tdpbf16ps cvtpi2ps cvtpi2pd cvtps2pi cvttps2pi "
	 "cvtpd2pi cvttpd2pi "
	 "cvtsi2sd vcvtsi2sd vcvtusi2sd cvtdq2pd vcvtdq2pd vcvtudq2pd vfrczps vfrczpd vfrczss vfrczsd",
	 NULL,
	 "approximations, exact conversions, bf16, MMX and XOP forms compute or convert FP values though their "
	 "exception type is another"},
	{"FP instructions typed otherwise", F(FP),
	 "vfmaddcph vfmaddcsh vfcmaddcph vfcmaddcsh vfmulcph vfmulcsh vfcmulcph vfcmulcsh "
	 "v4fmaddps v4fmaddss v4fnmaddps v4fnmaddss",
	 NULL, "Zydis has exception types of another table for these"},
	{"FMA4", F(FP), NULL, is_fma4, "Zydis gives AMD's FMA4 no exception type that says FP"},
	{"3DNow!", F(FP) | F(FP_PRECISION) | F(FP_OPERATIONS) | F(CONVERT),
	 "pfacc pfadd pfcmpeq pfcmpge pfcmpgt pfmax pfmin pfmul pfnacc "
	 "pfpnacc pfrcp pfcpit1 pfrcpit1 pfrcpit2 pfrsqit1 pfsqrt pfsub pfsubr pf2id pf2iw pi2fd pi2fw",
	 NULL, "two singles in an mmx register; Zydis has no element types for them"},
	{"rounding's type", F(FP_PRECISION), "roundss roundsd", NULL, "Zydis has no element type for these"},
	{"dot products and complex numbers", F(FP_OPERATIONS) | F(FP_PRECISION),
	 "vdpbf16ps tdpbf16ps vfmaddcph vfmaddcsh vfcmaddcph "
	 "vfcmaddcsh vfmulcph vfmulcsh vfcmulcph vfcmulcsh v4fmaddps v4fmaddss v4fnmaddps v4fnmaddss",
	 NULL,
	 "several operations per lane (tools/x86_decode_gen/classify.c); the checker's estimate is one or two. "
	 "decode_test.c states them"},
	/* ---- what a newer Zydis knows ---- */
	{"pcommit", F(VALIDITY), "pcommit", NULL, "no processor ever had it"},
	{"privileged", F(VALIDITY), "wrmsrns rdmsrlist wrmsrlist pbndkb eretu erets lkgs", NULL,
	 "in no table: executed as they are, they fault in user mode"},
	{"remote atomic operations with 66", F(SIZES), "aor axor", NULL,
	 "F2 and F3 choose the operation, and 66 is ignored then; Zydis makes it 2 bytes wide"},
	{"prefetchit0, prefetchit1", F(MEMORY_ACCESS) | F(LOAD_STORE) | F(PREFETCH) | F(NOP) | ALL_GPR,
	 "prefetchit0 prefetchit1", NULL,
	 "hints about code: no data access, and no prefetch of data; for others than rip-relative addresses they "
	 "are nops"},
	{"remote atomic operations", F(LOCKED), "aadd aand aor axor", NULL,
	 "the manual: atomic; they have no lock prefix, which is Zydis' word for it"},
	{"AVX-NE-CONVERT", F(FP) | F(CONVERT),
	 "vcvtneeph2ps vcvtneoph2ps vcvtneebf162ps vcvtneobf162ps vbcstnesh2ps vbcstnebf162ps vcvtneps2bf16", NULL,
	 "they raise no FP exception, and Zydis files the broadcasts elsewhere; they convert"},
	{"sign extensions", F(CONVERT), "cbw cwde cdqe cwd cdq cqo", NULL,
	 "Zydis files them under conversions; they are integer only"},
};

#undef F
#endif
