/* fact: siglongjmp out of a SEGV handler works any number of times */
#include "trap.h"

static sigjmp_buf back;
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	siglongjmp(back, signal);
}

int main(void)
{
	volatile long faults = 0, sum = 0;
	on_signal(SIGSEGV, handler, 0);
	for (volatile long i = 0; i < 20000; i++) {
		if (sigsetjmp(back, 1) == 0)
			sum += *(volatile int *)(8 + i % 64);
		else
			faults++;
	}
	fact_equal(faults, 20000, "20000 faults are caught");
	fact_equal(sum, 0, "no load that faulted has a value");
	sigset_t now;
	sigprocmask(SIG_SETMASK, NULL, &now);
	fact(!sigismember(&now, SIGSEGV), "the mask is restored");
	return trap_done();
}
