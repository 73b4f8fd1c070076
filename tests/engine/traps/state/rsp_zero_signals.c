/* fact: signals with an alternate stack reach a program whose rsp is 0 or a sum, and leave it so */
#include "trap.h"
#include <sys/time.h>

static volatile long count, wrong;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long rsp = trap_registers(context)[REG_RSP];
	(void)signal, (void)info;
	count++;
	if (trap_registers(context)[REG_R15] == 0x1357 && (rsp < -300000000 || rsp > 0))
		wrong++;
}

int main(void)
{
	sigaltstack(&(stack_t){ .ss_sp = malloc(65536), .ss_size = 65536 }, NULL);
	on_signal(SIGALRM, handler, SA_ONSTACK);
	setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 300 }, { 0, 300 } }, NULL);
	long bad = 0;
	while (count < 500) {
		long end;
		asm volatile(
		    "mov %%rsp, %%r14; xor %%esp, %%esp; mov $0x1357, %%r15d; mov $1000000, %%ecx\n1: sub $3, "
		    "%%rsp; dec %%ecx; jnz 1b; xor %%r15d, %%r15d; mov %%rsp, %0; mov %%r14, %%rsp"
		    : "=r"(end)::"rcx", "r14", "r15", "memory", "cc");
		bad += end != -3000000;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, NULL);
	fact_equal(wrong, 0, "the frame has the program's rsp");
	fact_equal(bad, 0, "rsp is as it was after each signal");
	return trap_done();
}
