/*
 * What a processor of a level of the x86-64 psABI answers to CPUID and XGETBV, whatever processor the program
 * really runs on. Pure functions of the level, and of what the real one says where an answer has to be true of it.
 *
 * What always holds:
 *  1. Only features of the level are shown (x86-64 psABI 1.0, table 3.1), so that any processor of the level can
 *     serve it. Identity and caches are those of a processor that was one of the first to have it (Nehalem, Haswell,
 *     Skylake-X with Haswell's caches), with one core: libraries choose their code by them.
 *  2. Components of the saved state that are shown lie where the real processor puts them. Up to AVX that is the
 *     same everywhere. AVX-512's differ between vendors in the standard form: leaf 0xD of V4 says what the real one
 *     says. In a compacted area, which libraries use, they are equal.
 */
#ifndef TARE_ENGINE_X86_SERVED_H
#define TARE_ENGINE_X86_SERVED_H

#include "engine/x86/xstate.h"

/* What a program is shown (record_head.served). */
enum served_cpu {
	SERVED_NONE, /* the machine as it is */
	SERVED_HOST, /* the machine's own processor, in an execution that is reproducible else */
	SERVED_V2,
	SERVED_V3,
	SERVED_V4
};

/* eax ebx ecx edx. cpu: V2 to V4 */
void x86_served_cpuid(enum served_cpu cpu, uint32_t leaf, uint32_t sub, x86_cpuid *real, uint32_t out[4]);
uint64_t x86_served_xcr0(enum served_cpu cpu);

/* Has the real processor all that is shown of this one? False: *lacks names a feature. xcr0: 0 without xsave. */
bool x86_served_fits(enum served_cpu cpu, uint64_t xcr0, x86_cpuid *real, const char **lacks);

/* The instruction's answer is the machine's own, or a matter of chance: the engine serves another. masks_state:
 * the real processor saves more components than are shown. */
bool x86_is_served(const struct x86_insn *in, enum served_cpu cpu, bool masks_state);
enum x86_random { X86_NOT_RANDOM, X86_RDRAND, X86_RDSEED };
enum x86_random x86_random_of(const struct x86_insn *in);

/* By its encoding it uses registers that the shown processor does not have. */
bool x86_served_lacks(const struct x86_insn *in, enum served_cpu cpu);

#endif
