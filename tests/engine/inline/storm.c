/*
 * Signals at any time, each some microseconds after the one before: what is left and gone on with is counted once, and the program's registers,
 * flags (that of direction, too) and what it has below its stack pointer are its own. What the handler executes accesses nothing misaligned (check compares such events only).
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static char memory[1 << 20], copy[4096];
static volatile unsigned long handled;

static void again(void)
{
	struct itimerval once = {{0, 0}, {0, 40 + (long)(handled * 7 % 300)}};
	setitimer(ITIMER_REAL, &once, NULL);
}

static void handler(int signo)
{
	handled += signo == SIGALRM;
	again();
}

/* Misaligned reads and writes, far apart, a carry that lives over one of them; a long string instruction and a bit string, which have no inline checks. */
static __attribute__((noinline)) unsigned long walk(unsigned long n, unsigned long at)
{
	unsigned long sum = 0, carries = 0;
	__asm__ volatile("1:\n\t"
			 "mov %1, -64(%%rsp)\n\t"
			 "imul $0x5851f42d, %2, %2\n\t"
			 "add $0x14057b7, %2\n\t"
			 "mov %2, %%rax\n\t"
			 "and $0xfffc0, %%eax\n\t"
			 "add %2, %0\n\t"
			 "mov 3(%4,%%rax), %%rdx\n\t"
			 "adc $0, %3\n\t"
			 "add %%rdx, %0\n\t"
			 "mov %%rdx, 33(%4,%%rax)\n\t"
			 "sub $1, %1\n\t"
			 "mov -64(%%rsp), %%rdx\n\t"
			 "lea -1(%%rdx), %%rdx\n\t"
			 "cmp %%rdx, %1\n\t"
			 "jne 2f\n\t"
			 "test %1, %1\n\t"
			 "jnz 1b\n\t"
			 "2:" : "+&r"(sum), "+&r"(n), "+&r"(at), "+&r"(carries) : "r"(memory) : "rax", "rdx", "memory", "cc");
	return sum + carries * 3 + n;
}

static __attribute__((noinline)) unsigned long strings(unsigned long at)
{
	void *to = copy + 5, *from = memory + 64 * at + 3;
	unsigned long n = 40, bit = 8 * at % 4096, set = 0;
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	__asm__ volatile("btcq %1, %2\n\tadc $0, %0" : "+r"(set) : "r"(bit), "m"(*(long *)(copy + 9)) : "memory", "cc");
	return set + (unsigned long)copy[at % 300 + 5];
}

int main(void)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct itimerval never = {{0, 0}, {0, 0}};
	unsigned long sum = 0;
	for (unsigned i = 0; i < sizeof memory; i++)
		memory[i] = (char)(i * 7);
	sigaction(SIGALRM, &action, NULL);
	again();
	for (unsigned long round = 0; round < 3000; round++) {
		unsigned long direction = 0;
		if (round % 4 == 3)
			__asm__ volatile("std" : : : "cc");
		sum += walk(500, round);
		if (round % 4 == 3)
			__asm__ volatile("pushfq\n\tpop %0\n\tcld" : "=r"(direction) : : "cc", "memory");
		sum = sum * 3 + (direction & 0x400);
		for (unsigned long i = 0; i < 20; i++)
			sum += strings(round + i);
	}
	action.sa_handler = SIG_IGN;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%lx\n", sum);
	return 0;
}
