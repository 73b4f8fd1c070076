/* fact: sysenter in 64-bit code does to a child what it does natively
 * Linux takes it for a 32-bit call and returns into 32-bit mode: natively the child dies by SIGSEGV. */
#include "trap.h"

static void enters(void)
{
	asm volatile("mov $20, %%eax; mov %%rsp, %%rbp; sysenter; nop; nop" ::
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "memory");
	_exit(9);
}

int main(void)
{
	fact_equal(end_in_child(enters), 1000 + SIGSEGV, "sysenter ends by SIGSEGV");
	return trap_done();
}
