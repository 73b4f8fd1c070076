/* fact: SIGFPE comes with the right code and rip: integer division, overflow, SSE and x87 exceptions */
#include "trap.h"
#include <fenv.h>

static long at_code, at_rip, at_addr, count;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	ucontext_t *u = context;
	at_code = info->si_code, at_rip = r[REG_RIP], at_addr = (long)info->si_addr;
	count++;
	u->uc_mcontext.fpregs->mxcsr = 0x1f80;
	u->uc_mcontext.fpregs->cwd = 0x37f;
	u->uc_mcontext.fpregs->swd = 0;
	r[REG_RIP] = r[REG_R12];
}

#define TRY(before, instruction)                                                                                  \
	asm volatile("lea 2f(%%rip), %%r12; lea 1f(%%rip), %0;" before "\n1: " instruction "\n2:"                 \
		     : "=&r"(rip)::"r12", "rax", "rdx", "rcx", "memory", "cc", "xmm0", "xmm1");                   \
	right = at_rip == rip && at_addr == rip

int main(void)
{
	long rip;
	bool right;
	on_signal(SIGFPE, handler, 0);
	TRY("xor %%ecx, %%ecx; xor %%edx, %%edx; mov $5, %%eax", "div %%ecx");
	fact(right && at_code == FPE_INTDIV, "div by zero is FPE_INTDIV at the div");
	TRY("mov $-1, %%rcx; mov $1, %%eax; shl $63, %%rax; cqto", "idiv %%rcx");
	fact(right && at_code == FPE_INTDIV, "idiv overflow is FPE_INTDIV at the idiv");
	TRY("mov $0, %%ecx; mov $7, %%eax", "divb %%cl");
	fact(right && at_code == FPE_INTDIV, "a byte division by zero");
	unsigned mxcsr = 0x1f80 & ~0x200, overflow = 0x1f80 & ~0x400;
	asm volatile("ldmxcsr %0" ::"m"(mxcsr));
	TRY("xorps %%xmm1, %%xmm1; mov $1, %%eax; cvtsi2sd %%eax, %%xmm0", "divsd %%xmm1, %%xmm0");
	fact(right && at_code == FPE_FLTDIV, "an unmasked SSE division by zero is FPE_FLTDIV at the divsd");
	asm volatile("ldmxcsr %0" ::"m"(overflow));
	TRY("mov $0x7fe0000000000000, %%rax; movq %%rax, %%xmm0", "mulsd %%xmm0, %%xmm0");
	fact(right && at_code == FPE_FLTOVF, "an unmasked SSE overflow is FPE_FLTOVF at the mulsd");
	unsigned short control = 0x37f & ~4;
	asm volatile("fninit; fldcw %0; fld1; fldz; fdivrp" ::"m"(control)); /* pends */
	TRY("", "fwait");
	fact(at_rip == rip && at_code == FPE_FLTDIV,
	     "an unmasked x87 division by zero is raised at the next waiting instruction");
	asm volatile("fninit");
	for (int i = 0; i < 5000; i++) {
		TRY("xor %%ecx, %%ecx; mov $5, %%eax; cltd", "idivl %%ecx");
		if (!right || at_code != FPE_INTDIV)
			fact(false, "repeated");
	}
	fact_equal(count, 5006, "each came once");
	return trap_done();
}
