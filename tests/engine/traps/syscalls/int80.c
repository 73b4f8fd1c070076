/* fact: int $0x80 in 64-bit code makes 32-bit system calls, with 32-bit truncation */
#include "trap.h"

static long call80(long number, long b, long c, long d)
{
	long result;
	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(number), "b"(b), "c"(c), "d"(d)
		     : "memory", "r8", "r9", "r10", "r11");
	return result;
}

int main(void)
{
	/* a kernel without IA32 emulation has no such gate */
	pid_t child = fork();
	if (child == 0)
		_exit(call80(20, 0, 0, 0) == getpid() ? 0 : 1);
	int end = end_of(child);
	if (end != 0)
		skip_trap("the kernel has no 32-bit system calls");
	long wrong = 0;
	for (int i = 0; i < 1000; i++)
		wrong += call80(20, 0, 0, 0) != getpid();
	fact_equal(wrong, 0, "getpid a thousand times");
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	strcpy(low, "yes written by int $0x80\n");
	fact_equal(call80(4, 1, (long)low, (long)strlen(low)), 25, "write from below 4 GB");
	fact_equal(call80(4, 1, (long)0x7fff00000010, 1), -EFAULT, "a pointer is cut to 32 bits");
	fact_equal(call80(9999, 0, 0, 0), -ENOSYS, "an unknown number is ENOSYS");
	child = fork();
	if (child == 0)
		call80(1, 51, 0, 0);
	fact_equal(end_of(child), 51, "exit by it");
	child = (pid_t)call80(2, 0, 0, 0);
	if (child == 0)
		_exit(52);
	fact_equal(end_of(child), 52, "fork by it");
	return trap_done();
}
