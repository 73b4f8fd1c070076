/* fact: xsave and its kin store where the program's last x87 instruction was, and an area that they stored comes back
 * needs: xsave */
#include "trap.h"
#include <cpuid.h>

static unsigned char area[4096] __attribute__((aligned(64)));

static bool is_here(const void *instruction)
{
	uint64_t stored;
	memcpy(&stored, area + 8, 8);
	return stored == (uint64_t)instruction || !stored; /* 0: processors that store it for exceptions only */
}

#define SAVED(insn, text)                                                                                                                \
	do {                                                                                                                            \
		void *at;                                                                                                               \
		double one = 0;                                                                                                         \
		memset(area, 0, sizeof area);                                                                                           \
		asm volatile("fninit; lea 1f(%%rip), %0; 1: fld1; " insn " (%2); fninit; xrstor64 (%2); fstpl %1; fninit"                  \
			     : "=&r"(at), "=m"(one) : "r"(area), "a"(3), "d"(0) : "memory");                                              \
		fact(is_here(at) && one == 1, text);                                                                                    \
	} while (0)

int main(void)
{
	unsigned a, b, c, d;
	SAVED("xsave64", "xsave");
	__cpuid_count(13, 1, a, b, c, d);
	if (a & 1)
		SAVED("xsaveopt64", "xsaveopt");
	if (a & 2)
		SAVED("xsavec64", "xsavec");
	return trap_done();
}
