/* fact: code written, run and written again in writable and executable memory runs as last written */
#include "trap.h"

int main(void)
{
	char *code = map_anywhere(1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC);
	long wrong = 0;
	for (int i = 0; i < 20000; i++) {
		write_return(code + i % 64 * 16, i);
		wrong += call_code(code + i % 64 * 16) != i;
	}
	fact_equal(wrong, 0, "20000 functions written over each other");
	wrong = 0;
	for (int i = 0; i < 2000; i++) { /* only the immediate's byte, after it ran */
		code[1] = (char)(i & 127), code[0] = (char)0xb8, code[2] = code[3] = code[4] = 0,
		code[5] = (char)0xc3;
		wrong += call_code(code) != (i & 127);
	}
	fact_equal(wrong, 0, "one byte changed between calls, 2000 times");
	memmove(code + 100000, code, 16);
	code[100001] = 42;
	fact_equal(call_code(code + 100000), 42, "code that was copied and edited");
	/* data in the same page as running code */
	volatile long *data = (long *)(code + 512);
	write_return(code + 1024, 5);
	long sum = 0;
	for (int i = 0; i < 200000; i++) {
		data[i % 16] = i;
		if (i % 100 == 0)
			sum += call_code(code + 1024);
	}
	fact_equal(sum, 10000, "data beside code in one page is written 200000 times");
	return trap_done();
}
