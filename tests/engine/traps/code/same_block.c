/* fact: an instruction that changes a later one of the same block is obeyed at once
 * build: -no-pie */
#include "trap.h"

int main(void)
{
	unsigned char *code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	/* mov %edi, 1+target(%rip); target: mov $0, %eax; ret — all in one block */
	static const unsigned char text[] = { 0x89, 0x3d, 0x01, 0, 0, 0, 0xb8, 0, 0, 0, 0, 0xc3 };
	memcpy(code, text, sizeof text);
	long wrong = 0;
	for (int i = 0; i < 3000; i++)
		wrong += ((int (*)(int))code)(i * 7 + 1) != i * 7 + 1;
	fact_equal(wrong, 0, "the patched immediate is what runs, 3000 times");
	/* a loop that counts in its own immediate: incl 1+target(%rip); target: mov $0,%eax; dec %edi; jnz */
	static const unsigned char loop[] = { 0xff, 0x05, 0x01, 0,    0,    0,    0xb8, 0,
					      0,    0,    0,    0xff, 0xcf, 0x75, 0xf1, 0xc3 };
	memcpy(code + 1024, loop, sizeof loop);
	fact_equal(((int (*)(int))(code + 1024))(2000), 2000,
		   "a loop that increments its own immediate 2000 times");
	/* the store turns the next instruction, a nop of two bytes, into a jump over the wrong answer */
	static const unsigned char skip[] = { 0x66, 0xc7, 0x05, 0, 0, 0, 0, 0xeb,
					      0x05, /* movw $0x05eb, next(%rip) */
					      0x66, 0x90, 0xb8, 1, 0, 0, 0, 0xc3 };
	memset(code + 2048, 0x90, 64);
	memcpy(code + 2048, skip, sizeof skip);
	memcpy(code + 2048 + 16, (unsigned char[]){ 0xb8, 2, 0, 0, 0, 0xc3 }, 6);
	fact_equal(call_code(code + 2048), 2, "a nop overwritten by a jump just before it runs is a jump");
	return trap_done();
}
