/* Faults in the middle of blocks, repaired by a handler, and jumped out of: the accesses of a block that was left, and of what goes on in it. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static char *pages;
static sigjmp_buf back;
static int jumps, faults;

static void handler(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)context;
	faults++;
	if (jumps)
		siglongjmp(back, 1);
	mprotect((void *)((unsigned long)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}

static __attribute__((noinline)) long several(volatile long *a, volatile long *b, volatile long *c, volatile long *d)
{
	long sum = a[0];
	a[3] = sum + 1;
	sum += b[0];
	b[7] += sum;
	sum ^= c[1];
	c[2] = sum;
	d[5] = sum;
	return sum + a[1] + b[2];
}

static long *page(int i) { return (long *)(pages + i % 16 * 4096); }

int main(void)
{
	long sum = 0;
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	pages = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	for (int round = 0; round < 60; round++) {
		int out_of_write = round % 12 == 11;
		jumps = round % 6 == 5; /* the page may not be read, either: see engine/runtime/inline/inline.h, 6 */
		mprotect(pages + round % 16 * 4096, 4096, round & 1 ? PROT_NONE : PROT_READ);
		if (!sigsetjmp(back, 1))
			sum += several(page(round * 5), page(round + 1), page(out_of_write ? round + 2 : round) + 8, page(round) + (out_of_write ? 32 : 16)) +
			       *(volatile long *)(page(round + 3) + 32); /* only read */
		mprotect(pages, 16 * 4096, PROT_READ | PROT_WRITE);
	}
	printf("%ld %d\n", sum, faults);
	return 0;
}
