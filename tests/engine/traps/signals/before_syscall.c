/* fact: a signal that comes just before a system call is not lost: the handler moves rip away from it
 * musl's cancellation: the handler compares rip with the range from the check of a flag to the system call. */
#include "trap.h"
#include <sched.h>

extern char check_begin[], check_end[], cancelled[];
static volatile int flag;
static atomic_int round_now, finish;
static pthread_t worker;
static volatile long moved, other;

static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal, (void)info;
	flag = 1;
	if (r[REG_RIP] >= (long)check_begin && r[REG_RIP] < (long)check_end) {
		r[REG_RIP] = (long)cancelled;
		moved++;
	} else
		other++;
}

static void *killer(void *unused)
{
	unsigned x = 1;
	for (int seen = 0; !finish;) {
		if (round_now == seen)
			continue;
		seen = round_now;
		x = x * 1103515245 + 12345;
		for (volatile unsigned i = 0; i < (x >> 16) % 3000; i++)
			;
		if (x >> 20 & 1)
			sched_yield();
		pthread_kill(worker, SIGUSR1);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	worker = pthread_self();
	on_signal(SIGUSR1, handler, 0);
	pthread_create(&thread, NULL, killer, NULL);
	long ended = 0;
	for (int i = 1; i <= 20000; i++) {
		flag = 0;
		long result = SYS_pause;
		round_now = i;
		/* without the move a signal after the test and before the syscall would leave pause waiting for
		 * ever */
		asm volatile("check_begin: cmpl $0, %1; jne cancelled; mov $34, %%eax; nop; nop; nop; syscall\n"
			     "check_end: nop\ncancelled:"
			     : "+a"(result)
			     : "m"(flag)
			     : "rcx", "r11", "memory", "cc");
		ended += flag;
	}
	finish = 1;
	pthread_join(thread, NULL);
	fact_equal(ended, 20000, "20000 waits ended");
	fact_equal(moved + other, 20000, "by 20000 signals");
	return trap_done();
}
