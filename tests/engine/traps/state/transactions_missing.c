/* fact: the instructions of transactions are what they are on this processor: they abort, or none has them */
#include "trap.h"

static volatile long at_signal, at_trap, at_rip;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)info;
	at_signal = signal, at_trap = r[REG_TRAPNO], at_rip = r[REG_RIP] - r[REG_R13];
	r[REG_RIP] = r[REG_R12];
}

#define TRY(name, bytes)                                                                                          \
	do {                                                                                                      \
		at_signal = at_trap = at_rip = 0;                                                                 \
		asm volatile("lea 2f(%%rip), %%r12; lea 1f(%%rip), %%r13; xor %%eax, %%eax\n1: " bytes           \
			     "\n2:" ::                                                                            \
				 : "r12", "r13", "rax", "memory", "cc");                                          \
		dprintf(1, "%s: signal %ld, trap %ld, at %ld\n", name, at_signal, at_trap, at_rip);              \
	} while (0)

int main(void)
{
	on_signal(SIGILL, handler, 0);
	on_signal(SIGSEGV, handler, 0);
	/* begins one, whose first system call or end aborts it or ends it: both go on behind */
	TRY("xbegin", ".byte 0xc7, 0xf8, 0, 0, 0, 0");
	TRY("xtest", ".byte 0x0f, 0x01, 0xd6");
	TRY("xabort", ".byte 0xc6, 0xf8, 5");
	TRY("xend", ".byte 0x0f, 0x01, 0xd5");
	for (int i = 0; i < 100; i++)
		asm volatile("lea 2f(%%rip), %%r12; lea 1f(%%rip), %%r13\n1: .byte 0xc7, 0xf8, 2, 0, 0, 0; jmp 2f\n2:" ::: "r12", "r13", "rax", "memory", "cc");
	fact(at_rip == 0, "and at the instruction");
	return trap_done();
}
