/* fact: all status flags and the direction flag in the frame are the program's at the fault */
#include "trap.h"

static long wrong, count;
static long expected;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal, (void)info;
	count++;
	if ((r[REG_EFL] & 0xcd5) != expected) {
		wrong++;
		dprintf(2, "# flags %llx, expected %lx\n", r[REG_EFL] & 0xcd5, expected);
	}
	r[REG_EFL] = (r[REG_EFL] & ~0xcd5LL) | (~expected & 0xcd5 & ~0x400);
	r[REG_RIP] += 3; /* over the 3 byte load */
}

int main(void)
{
	static const int bit[] = { 0x001, 0x004, 0x010, 0x040, 0x080, 0x400, 0x800 };
	long wrong_after = 0;
	on_signal(SIGSEGV, handler, 0);
	for (int set = 0; set < 128; set++) {
		expected = 0;
		for (int b = 0; b < 7; b++)
			if (set >> b & 1)
				expected |= bit[b];
		long after;
		asm volatile(
		    "sub $256, %%rsp; pushfq; pop %%rax; and $~0xcd5, %%rax; or %1, %%rax; push %%rax; popfq\n"
		    ".byte 0x48, 0x8b, 0x0a\n" /* mov (%rdx), %rcx */
		    "pushfq; pop %0; cld; add $256, %%rsp"
		    : "=&r"(after)
		    : "r"(expected), "d"(16L)
		    : "rax", "rcx", "cc", "memory");
		wrong_after += (after & 0xcd5) != (~expected & 0xcd5 & ~0x400);
	}
	fact_equal(count, 128, "128 combinations faulted");
	fact_equal(wrong, 0, "the frame has the flags of the program");
	fact_equal(wrong_after, 0, "the flags that the handler put into the frame are there after it");
	return trap_done();
}
