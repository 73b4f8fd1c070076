/* The direction flag, and the flag that forbids misaligned accesses (AC), set while accesses are not found; and read again. */
#include <stdio.h>

static char memory[1 << 20];

static __attribute__((noinline)) unsigned long walk(unsigned long n, unsigned long at)
{
	unsigned long sum = 0;
	for (unsigned long i = 0; i < n; i++) {
		at = at * 0x5851f42d4c957f2d + 0x14057b7;
		volatile unsigned long *word = (volatile unsigned long *)(memory + (at >> 20 & 0xffff8));
		sum += *word;
		*word = sum;
	}
	return sum;
}

static unsigned long set(unsigned long flags)
{
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "r"(flags) : "cc", "memory");
	return flags;
}

static unsigned long clear(unsigned long flags)
{
	unsigned long were;
	__asm__ volatile("pushfq\n\tpop %0\n\tpush %0\n\tandq %1, (%%rsp)\n\tpopfq" : "=&r"(were) : "r"(~flags) : "cc", "memory");
	return were & flags;
}

int main(void)
{
	unsigned long sum = walk(5000, 1), flags[] = {0x400, 0x40000, 0x40400};
	for (int i = 0; i < 30; i++) {
		unsigned long which = set(flags[i % 3]);
		sum += walk(300, (unsigned long)i);
		sum = sum * 31 + clear(which);
	}
	__asm__ volatile("std" : : : "cc");
	sum += walk(3000, 77);
	__asm__ volatile("cld" : : : "cc");
	printf("%lx\n", sum);
	return 0;
}
