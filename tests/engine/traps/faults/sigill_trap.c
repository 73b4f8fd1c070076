/* fact: illegal, privileged and trapping instructions come with the signal, code and rip of the CPU */
#include "trap.h"

static long at_signal, at_code, at_rip, at_addr;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	at_signal = signal, at_code = info->si_code, at_rip = r[REG_RIP], at_addr = (long)info->si_addr;
	r[REG_RIP] = r[REG_R12];
}

#define TRY(instruction)                                                                                          \
	asm volatile("lea 2f(%%rip), %%r12; lea 1f(%%rip), %0; lea 3f(%%rip), %1\n1: " instruction                \
		     "\n3: nop; nop; nop; nop; nop\n2:"                                                           \
		     : "=&r"(rip), "=&r"(next)::"r12", "rax", "rdx", "rcx", "memory", "cc")

int main(void)
{
	long rip, next;
	for (int i = 0; i < 5; i++)
		on_signal((int[]){ SIGILL, SIGSEGV, SIGTRAP, SIGBUS, SIGFPE }[i], handler, 0);
	TRY("ud2");
	fact(at_signal == SIGILL && at_code == ILL_ILLOPN && at_rip == rip && at_addr == rip,
	     "ud2 is SIGILL at it");
	TRY(".byte 0x0f, 0xb9, 0xc0");
	fact(at_signal == SIGILL && at_rip == rip, "ud1 is SIGILL");
	TRY(".byte 0x0f, 0xff, 0xc0");
	fact(at_signal == SIGILL && at_rip == rip, "ud0 is SIGILL");
	TRY(".byte 0x06");
	fact(at_signal == SIGILL && at_rip == rip, "push %es is no 64-bit instruction: SIGILL");
	TRY(".byte 0x0f, 0x0a");
	fact(at_signal == SIGILL && at_rip == rip, "an opcode that does not exist is SIGILL");
	TRY(".byte 0xf0, 0x90");
	fact(at_signal == SIGILL && at_rip == rip, "lock nop is SIGILL");
	TRY(".byte 0xf0, 0x01, 0xc0");
	fact(at_signal == SIGILL && at_rip == rip, "lock add of registers is SIGILL");
	TRY(".byte 0x8d, 0xc0");
	fact(at_signal == SIGILL && at_rip == rip, "lea of a register is SIGILL");
	TRY("hlt");
	fact(at_signal == SIGSEGV && at_code == SI_KERNEL && at_rip == rip, "hlt is SIGSEGV of the kernel at it");
	TRY("in $0x80, %%al");
	fact(at_signal == SIGSEGV && at_rip == rip, "in is SIGSEGV");
	TRY("mov %%cr0, %%rax");
	fact(at_signal == SIGSEGV && at_rip == rip, "mov from cr0 is SIGSEGV");
	TRY("rdmsr");
	fact(at_signal == SIGSEGV && at_rip == rip, "rdmsr is SIGSEGV");
	TRY("int $0x81");
	fact(at_signal == SIGSEGV && at_rip == rip, "int $0x81 is SIGSEGV at it");
	TRY("int3");
	fact(at_signal == SIGTRAP && at_code == SI_KERNEL && at_rip == rip + 1, "int3 is SIGTRAP after it");
	TRY(".byte 0xcd, 0x03");
	fact(at_signal == SIGTRAP && at_rip == rip + 2, "int $3 is SIGTRAP after its two bytes");
	TRY(".byte 0xf1");
	fact(at_signal == SIGTRAP && (at_rip == rip + 1 || at_rip == rip), "int1 is SIGTRAP after it, or at it on a virtual AMD machine");
	TRY("int $0x04");
	fact(at_signal == SIGSEGV && at_rip == rip + 2, "int $4 (overflow) is SIGSEGV after it, as Linux has it");
	return trap_done();
}
