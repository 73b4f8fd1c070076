/* fact: rarer instructions do what the CPU does: enter, xlat, loops, high bytes, prefixes */
#include "trap.h"

static unsigned char table[256];
asm(".text\nimm_return: lea 6(%rdi), %eax; ret $16\n");

int main(void)
{
	for (int i = 0; i < 256; i++)
		table[i] = (unsigned char)(i ^ 0x5a);
	long x = 0, y;
	asm volatile("sub $256, %%rsp; mov $40, %%edi; push %%rdi; push %%rdi; call imm_return; add $256, %%rsp"
		     : "=&a"(x)::"rdi", "memory", "cc");
	fact_equal(x, 46, "ret with an immediate");
	asm volatile(
	    "sub $256, %%rsp; enter $64, $0; movl $9, -4(%%rbp); mov -4(%%rbp), %%eax; leave; add $256, %%rsp"
	    : "=&a"(x)::"memory");
	fact_equal((int)x, 9, "enter and leave");
	asm volatile("mov $0x33, %%eax; xlat" : "=&a"(x) : "b"(table));
	fact_equal(x, 0x33 ^ 0x5a, "xlat");
	asm volatile("mov $10, %%ecx; xor %%eax, %%eax; 1: inc %%eax; cmp $5, %%eax; loopne 1b"
		     : "=&a"(x), "=&c"(y)::"cc");
	fact(x == 5 && y == 5, "loopne");
	asm volatile("mov $10, %%ecx; xor %%eax, %%eax; 1: inc %%eax; cmp %%eax, %%eax; loope 1b"
		     : "=&a"(x), "=&c"(y)::"cc");
	fact(x == 10 && y == 0, "loope");
	asm volatile("mov $0x100000003, %%rcx; xor %%eax, %%eax; 1: inc %%eax; addr32 loop 1b"
		     : "=&a"(x), "=&c"(y)::"cc");
	fact(x == 3 && y == 0, "loop with a 32-bit count clears the upper half");
	asm volatile("mov $0x100000000, %%rcx; mov $1, %%eax; jecxz 1f; mov $2, %%eax; 1:" : "=&a"(x)::"rcx");
	fact_equal(x, 1, "jecxz looks at 32 bits");
	asm volatile("mov $0x1234, %%eax; mov $0x5678, %%ebx; xchg %%ah, %%bl; add %%bh, %%al; movzbl %%ah, %%ecx"
		     : "=&a"(x), "=&c"(y)::"rbx", "cc");
	fact(x == 0x788a && y == 0x78, "high bytes");
	unsigned long pair[2] __attribute__((aligned(16))) = { 1, 2 };
	unsigned char equal;
	asm volatile("lock cmpxchg16b %0; sete %1"
		     : "+m"(pair), "=r"(equal)
		     : "a"(1L), "d"(2L), "b"(3L), "c"(4L)
		     : "cc", "memory");
	fact(equal && pair[0] == 3 && pair[1] == 4, "cmpxchg16b");
	long flags;
	asm volatile("sub $256, %%rsp; pushfq; orl $0x244000, (%%rsp); andl $~0x40000, (%%rsp); popfq; pushfq; "
		     "pop %0; pushfq; andl $~0x204000, (%%rsp); popfq; add $256, %%rsp"
		     : "=&r"(flags)::"cc", "memory");
	fact((flags & 0x204000) == 0x204000, "popf sets ID and NT");
	asm volatile("sub $256, %%rsp; pushw $0x1234; pushw $0x5678; popq %%rax; sub $4, %%rsp; add $256, %%rsp"
		     : "=&a"(x)::"memory", "cc");
	fact((x & 0xffffffff) == 0x12345678, "16-bit pushes");
	asm volatile("sub $256, %%rsp; mov %%rsp, %%rcx; push %%rsp; pop %%rax; sub %%rcx, %%rax; add $256, %%rsp"
		     : "=&a"(x)::"rcx", "memory", "cc");
	fact_equal(x, 0, "push rsp pushes the old value");
	asm volatile("sub $256, %%rsp; mov %%rsp, %%rcx; movq $5, -8(%%rsp); lea -8(%%rsp), %%rsp; pop 8(%%rsp); "
		     "mov 8(%%rsp), %%rax; mov %%rcx, %%rsp; add $256, %%rsp"
		     : "=&a"(x)::"rcx", "memory", "cc");
	fact_equal(x, 5, "pop to memory at rsp uses the new value");
	asm volatile("mov $-1, %%rax; .byte 0x66, 0x66, 0x2e, 0x90; movl $3, %%eax; .byte 0xf3, 0x90; .byte 0x0f, "
		     "0x1f, 0x84, 0, 0, 2, 0, 0"
		     : "=&a"(x));
	fact_equal(x, 3, "prefixed nops");
	asm volatile("mov $1, %%eax; .byte 0xf2, 0xeb, 0x02; mov $2, %%al; .byte 0xf2; call 1f; jmp 2f; 1: .byte "
		     "0xf2; ret; 2:"
		     : "=&a"(x)::"memory");
	fact_equal(x, 1, "bnd prefixes on branches");
	asm volatile("xor %%eax, %%eax; cmp %%eax, %%eax; .byte 0x3e; je 1f; mov $1, %%eax; 1: .byte 0x2e; jne "
		     "2f; add $4, %%eax; 2:"
		     : "=&a"(x)::"cc");
	fact_equal(x, 4, "branch hints");
	return trap_done();
}
