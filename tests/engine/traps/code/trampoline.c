/* fact: code on an executable stack (gcc's trampolines of nested functions) runs, at every depth anew
 * build: -Wl,-z,execstack -Wno-trampolines */
#include "trap.h"

static long apply(long (*function)(long), long x)
{
	return function(x);
}
static long level(int n)
{
	volatile char fill[100 + n % 7 * 32];
	long add(long x)
	{
		return x + n + fill[0];
	}
	fill[0] = 0;
	return n == 0 ? apply(add, 1) : apply(add, 0) + level(n - 1);
}

int main(void)
{
	long wrong = 0;
	for (int n = 0; n < 300; n++)
		wrong += level(n) != (long)n * (n + 1) / 2 + 1;
	fact_equal(wrong, 0, "each trampoline knows its own frame");
	return trap_done();
}
