/* fact: rip-relative data of code at very low and very high addresses is found (more than 2 GB from anything) */
#include "trap.h"

int main(void)
{
	static const unsigned long place[] = { 0x10000,        0x7fff0000,     0x100000000,
					       0x100000000000, 0x555500000000, 0x7e0000000000 };
	/* mov 0x100(%rip),%eax ; add $5, 0x100(%rip)... ; cmpl $7, x(%rip); lea x(%rip),%rcx; call *x(%rip) */
	static const unsigned char text[] = { 0x8b, 0x05, 0xfa, 0,    0, 0,    /* mov 0x100(base), %eax */
					      0x83, 0x05, 0xf3, 0,    0, 0, 5, /* addl $5, 0x100(base) */
					      0x48, 0x8d, 0x0d, 0xec, 0, 0, 0, /* lea 0x100(base), %rcx */
					      0x03, 0x01,                      /* add (%rcx), %eax */
					      0xff, 0x25, 0xec, 0,    0, 0 };  /* jmp *0x108(base) */
	long wrong = 0;
	for (unsigned p = 0; p < 6; p++) {
		unsigned char *code = mmap((void *)place[p], 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (code == MAP_FAILED) {
			wrong += 100;
			continue;
		}
		memcpy(code, text, sizeof text);
		*(int *)(code + 0x100) = 1000;
		*(void **)(code + 0x108) = code + 0x200;
		code[0x200] = 0xc3;
		for (int i = 0; i < 50; i++)
			wrong += call_code(code) != 2 * (1000 + 5 * i) + 5;
	}
	fact_equal(wrong, 0, "six places, fifty calls each");
	return trap_done();
}
