/* Regions of C: recursion through several functions, callbacks from the C library, code in a loop that calls back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone, used))

KEEP unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
KEEP unsigned odd(unsigned n);
KEEP unsigned even(unsigned n) { return n ? odd(n - 1) + 1 : 0; }
KEEP unsigned odd(unsigned n) { __asm__ volatile(""); return n ? even(n - 1) + 2 : 0; }

KEEP int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int depth;
KEEP void again(int n);
KEEP void with_range(int n)
{
	volatile int sum = 0;
	__asm__ volatile("nop\n.globl range_begin\nrange_begin:" ::: "memory");
	for (int i = 0; i < 3; i++) {
		sum += i;
		again(n);
	}
	__asm__ volatile(".globl range_end\nrange_end: nop" ::: "memory");
	depth += sum;
}
KEEP void again(int n)
{
	if (n > 0)
		with_range(n - 1); /* comes back into the range, inside the call that it made */
}

int main(void)
{
	static int numbers[200];
	char text[400];
	for (int i = 0; i < 200; i++)
		numbers[i] = (i * 7919) % 211;
	qsort(numbers, 200, sizeof *numbers, compare);
	with_range(3);
	memset(text, 'a', sizeof text);
	text[399] = 0;
	return (int)(fib(11) + even(9) + (unsigned)strlen(text) + (unsigned)depth) & 0;
}
