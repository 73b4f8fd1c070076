/* fact: far returns and iret to the same segment go where they say */
#include "trap.h"

asm(".text\nfar_function: lea 5(%rdi), %eax; lretq\n");

int main(void)
{
	long x = 0, wrong = 0;
	for (int round = 0; round < 200; round++) {
		asm volatile("sub $256, %%rsp; mov $40, %%edi; mov %%cs, %%eax; push %%rax; lea "
			     "far_function(%%rip), %%rcx; call *%%rcx; add $256, %%rsp"
			     : "=&a"(x)::"rdi", "rcx", "memory", "cc");
		wrong += x != 45;
	}
	fact_equal(wrong, 0, "a far return to the same segment");
	asm volatile(
	    "sub $256, %%rsp; mov %%rsp, %%rdx; mov %%ss, %%eax; push %%rax; push %%rdx; pushfq; mov %%cs, %%eax; "
	    "push %%rax; lea 1f(%%rip), %%rax; push %%rax; iretq; ud2; 1: mov $77, %%eax; add $256, %%rsp"
	    : "=&a"(x)::"rdx", "memory", "cc");
	fact_equal(x, 77, "iretq to the same segment");
	return trap_done();
}
