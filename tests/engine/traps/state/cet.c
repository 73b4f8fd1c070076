/* fact: endbr64, notrack jumps and shadow-stack instructions do what they do without CET, which is refused */
#include "trap.h"
#include <asm/prctl.h>

int main(void)
{
	long result = 5;
	asm volatile("endbr64; lea 1f(%%rip), %%rax; .byte 0x3e; jmp *%%rax; ud2; 1: endbr64; nop" ::: "rax");
	fact(true, "endbr64 and a notrack jump");
	asm volatile("lea 1f(%%rip), %%rax; sub $128, %%rsp; .byte 0x3e; call *%%rax; jmp 2f; 1: endbr64; ret; 2: "
		     "add $128, %%rsp" ::
			 : "rax", "memory");
	fact(true, "a notrack call");
	asm volatile("mov $5, %%eax; .byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8; mov %%rax, %0" : "=r"(result)::"rax");
	fact_equal(result, 5, "rdsspq leaves its register: there is no shadow stack");
	fact(syscall(SYS_arch_prctl, 0x5001, 1UL) == -1, "ARCH_SHSTK_ENABLE fails");
	fact(syscall(SYS_arch_prctl, 0x3001, &(long[3]){ 0 }) == -1 && errno == EINVAL,
	     "ARCH_CET_STATUS is EINVAL");
	return trap_done();
}
