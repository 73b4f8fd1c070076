/* fact: code that grows behind a block already run, or loses its end, is seen
 * A block that ended at a ret becomes longer; a page's second half is rewritten; a block spans two pages, one of
 * which changes. */
#include "trap.h"

int main(void)
{
	unsigned char *code = map_anywhere(8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	/* xor eax,eax; n times inc eax; ret */
	long wrong = 0;
	code[0] = 0x31, code[1] = 0xc0, code[2] = 0xc3;
	for (int n = 0; n < 500; n++) {
		wrong += call_code(code) != n;
		code[2 + 2 * n] = 0xff, code[3 + 2 * n] = 0xc0, code[4 + 2 * n] = 0xc3;
	}
	fact_equal(wrong, 0, "a block that grows by one instruction, 500 times");
	unsigned char *spanning = code + 4096 - 3; /* mov $imm32, %eax over the page's end */
	wrong = 0;
	for (int i = 0; i < 200; i++) {
		write_return(spanning, 0x01010101 * (i % 100));
		wrong += call_code(spanning) != 0x01010101 * (i % 100);
		code[4096] = 7; /* the third byte of the immediate: the second page only */
		wrong += call_code(spanning) != ((0x01010101 * (i % 100) & ~0xff0000) | 0x70000);
	}
	fact_equal(wrong, 0, "an instruction over two pages of which the second changes");
	return trap_done();
}
