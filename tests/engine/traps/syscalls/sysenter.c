/* fact: sysenter in 64-bit code does to a child what it does natively
 * Linux takes it for a 32-bit call and returns into 32-bit mode: the child dies by SIGSEGV. AMD's 64-bit mode has no such instruction: SIGILL. */
#include "trap.h"

static void enters(void)
{
	asm volatile("mov $20, %%eax; mov %%rsp, %%rbp; sysenter; nop; nop" ::
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "memory");
	_exit(9);
}

int main(void)
{
	int end = end_in_child(enters);
	fact(end == 1000 + SIGSEGV || end == 1000 + SIGILL, end == 1000 + SIGILL ? "sysenter ends by SIGILL" : "sysenter ends by SIGSEGV");
	return trap_done();
}
