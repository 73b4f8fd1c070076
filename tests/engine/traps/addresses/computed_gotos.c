/* fact: indirect jumps and calls with many random targets all go where they should
 * build: -O2 */
#include "trap.h"

#define FUNCTION(n)                                                                                               \
	static int f##n(int x)                                                                                    \
	{                                                                                                         \
		return x * 3 + n;                                                                                 \
	}
#define TEN(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define HUNDRED(F) TEN(F, 1) TEN(F, 2) TEN(F, 3) TEN(F, 4) TEN(F, 5) TEN(F, 6) TEN(F, 7) TEN(F, 8) TEN(F, 9)
HUNDRED(FUNCTION)
#define NAME(n) f##n,
static int (*const function[])(int) = { HUNDRED(NAME) };

#define LABEL(n) &&l##n,
#define CASE(n)                                                                                                   \
	l##n : sum = sum * 5 + n;                                                                                 \
	if (--count == 0)                                                                                         \
		return sum;                                                                                       \
	x = x * 1664525 + 1013904223;                                                                             \
	goto *label[(x >> 20) % 90];
static unsigned interpreter(unsigned x, int count)
{
	static void *const label[] = { HUNDRED(LABEL) };
	unsigned sum = 0;
	goto *label[0];
	HUNDRED(CASE)
}

int main(void)
{
	unsigned expected = 0, x = 99;
	int index = 0, count = 200000;
	for (;;) {
		expected = expected * 5 + (unsigned)index + 10;
		if (--count == 0)
			break;
		x = x * 1664525 + 1013904223;
		index = (int)((x >> 20) % 90);
	}
	fact(interpreter(99, 200000) == expected, "200000 computed gotos among 90 targets");
	long wrong = 0;
	for (int i = 0; i < 200000; i++) {
		x = x * 1664525 + 1013904223;
		index = (int)((x >> 20) % 90);
		wrong += function[index](i) != i * 3 + index + 10;
	}
	fact_equal(wrong, 0, "200000 indirect calls of 90 functions");
	return trap_done();
}
