/* fact: after syscall rcx is the next address, r11 the flags, and all else is as before */
#include "trap.h"

extern char next_address[];
int main(void)
{
	long wrong_rcx = 0, wrong_r11 = 0, wrong_flags = 0, wrong_rest = 0;
	for (int i = 0; i < 256; i++) {
		static const int bit[] = { 1, 4, 0x10, 0x40, 0x80, 0x400, 0x800, 0 };
		static long set_static, rcx, r11, after, rest, result; /* not on the stack: rsp moves below */
		long set = 0;
		for (int b = 0; b < 7; b++)
			set |= i >> b & 1 ? bit[b] : 0;
		set_static = set;
		asm volatile("sub $256, %%rsp; mov $0x1111, %%ebx; mov $0x2222, %%r8d; mov $0x3333, %%r9d; mov "
			     "$0x4444, %%r10d; mov $0x5555, %%r12d;"
			     "mov $0x6666, %%r15d; mov $0x7777, %%edi; mov $0x8888, %%esi; mov $0x9999, %%edx\n"
			     "pushfq; andq $~0xcd5, (%%rsp); push %%rax; mov %5, %%rax; or %%rax, 8(%%rsp); pop "
			     "%%rax; popfq; mov $102, %%eax; syscall\nnext_address: pushfq; pop %%r14; cld\n"
			     "mov %%rcx, %0; mov %%r11, %1; mov %%r14, %2; mov %%rax, %4\n"
			     "lea (%%rbx,%%r8), %%rax; add %%r9, %%rax; add %%r10, %%rax; add %%r12, %%rax; add "
			     "%%r15, %%rax; add %%rdi, %%rax; add %%rsi, %%rax;"
			     "add %%rdx, %%rax; mov %%rax, %3; add $256, %%rsp"
			     : "=m"(rcx), "=m"(r11), "=m"(after), "=m"(rest), "=m"(result)
			     : "m"(set_static)
			     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r14",
			       "r15", "memory", "cc");
		wrong_rcx += rcx != (long)next_address;
		wrong_r11 += (r11 & 0xcd5) != set;
		wrong_flags += (after & 0xcd5) != set;
		wrong_rest +=
		    rest != 0x1111 + 0x2222 + 0x3333 + 0x4444 + 0x5555 + 0x6666 + 0x7777 + 0x8888 + 0x9999;
	}
	fact_equal(wrong_rcx, 0, "rcx is the address after the syscall");
	fact_equal(wrong_r11, 0, "r11 is the flags");
	fact_equal(wrong_flags, 0, "the flags are kept");
	fact_equal(wrong_rest, 0, "the other registers are kept");
	fact(syscall(100000) == -1 && errno == ENOSYS, "an unknown number is ENOSYS");
	fact(syscall(-1) == -1 && errno == ENOSYS, "number -1 is ENOSYS");
	fact(syscall(0x40000000 + SYS_getpid) == -1 && errno == ENOSYS, "an x32 number is ENOSYS here");
	fact(syscall(0x100000000L + SYS_getpid) == getpid() || errno == ENOSYS, "the upper half of rax");
	return trap_done();
}
