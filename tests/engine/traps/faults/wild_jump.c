/* fact: a jump to nowhere faults at the target, one to a non-canonical address at the jump */
#include "trap.h"

static long long at_rip, at_code, at_addr, at_signal, at_top;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	at_rip = r[REG_RIP], at_code = info->si_code, at_addr = (long)info->si_addr, at_signal = signal;
	at_top = *(long long *)r[REG_RSP];
	r[REG_RIP] = r[REG_R12];
	r[REG_RSP] = r[REG_R13];
}

#define TRY(instruction, value)                                                                                   \
	asm volatile(                                                                                             \
	    "sub $256, %%rsp; lea 2f(%%rip), %%r12; mov %%rsp, %%r13; lea 1f(%%rip), %0; lea 3f(%%rip), %1\n"     \
	    "1: " instruction "\n3: ud2; 2: add $256, %%rsp"                                                      \
	    : "=&r"(rip), "=&r"(next)                                                                             \
	    : "b"(value)                                                                                          \
	    : "r12", "r13", "memory", "cc")

int main(void)
{
	char *data = map_anywhere(4096, PROT_READ | PROT_WRITE);
	long rip, next;
	data[0] = (char)0xc3;
	on_signal(SIGSEGV, handler, 0);
	TRY("call *%%rbx", 0L);
	fact(at_rip == 0 && at_addr == 0 && at_code == SEGV_MAPERR,
	     "a call of NULL faults with rip 0, address 0, SEGV_MAPERR");
	fact(at_top == next, "the return address of the call of NULL is on the stack");
	TRY("jmp *%%rbx", 0x1234L);
	fact(at_rip == 0x1234 && at_addr == 0x1234, "a jump to an unmapped address faults there");
	TRY("jmp *%%rbx", (long)data);
	fact(at_rip == (long)data && at_addr == (long)data && at_code == SEGV_ACCERR,
	     "a jump to data that is not executable faults there, SEGV_ACCERR");
	TRY("jmp *%%rbx", 0x0123456789abcdefL);
	fact(at_rip == rip && at_code == SI_KERNEL && at_addr == 0,
	     "a jump to a non-canonical address faults at the jump");
	TRY("push %%rbx; ret", 0x0123456789abcdefL);
	fact(at_rip == rip + 1 && at_code == SI_KERNEL, "a ret to a non-canonical address faults at the ret");
	TRY("call *%%rbx", 0x0123456789abcdefL);
	fact(at_rip == rip && at_code == SI_KERNEL, "a call of a non-canonical address faults at the call");
	TRY("jmp *%%rbx", (long)0xffffffff81000000UL);
	fact(at_rip == (long)0xffffffff81000000UL && at_addr == (long)0xffffffff81000000UL,
	     "a jump into the kernel faults there");
	TRY("mov (%%rbx), %%rax", 0x0123456789abcdefL);
	fact(at_rip == rip && at_code == SI_KERNEL && at_addr == 0,
	     "a load from a non-canonical address is SI_KERNEL with address 0");
	return trap_done();
}
