/* fact: of a system call's number, and of its arguments that are ints, the kernel takes the lower halves: calls do the same whatever is above */
#include "trap.h"
#include <asm/prctl.h>

#define ABOVE (1L << 32)

static long raw(long number, long a, long b, long c, long d)
{
	register long r10 asm("r10") = d;
	long result;
	asm volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return result;
}

struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

static volatile int count;
static void handler(int signal)
{
	(void)signal;
	count++;
}

static char *code_of(int value, int protection)
{
	char *code = map_anywhere(4096, PROT_READ | PROT_WRITE);
	write_return(code, value);
	mprotect(code, 4096, protection);
	return code;
}

static char *given;
static void calls_given(void) { _exit(call_code(given)); }

static void numbers(void)
{
	char *code = code_of(1, PROT_READ | PROT_EXEC);
	fact_equal(call_code(code), 1, "code runs");
	fact_equal(raw(ABOVE | SYS_mprotect, (long)code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, 0), 0, "mprotect");
	write_return(code, 2);
	fact_equal(call_code(code), 2, "what is written into it then runs");
	fact_equal(raw(ABOVE | SYS_munmap, (long)code, 4096, 0, 0), 0, "munmap");
	given = code;
	fact_equal(end_in_child(calls_given), 1000 + SIGSEGV, "what was unmapped does not run");
	struct kernel_action action, old;
	signal(SIGUSR1, handler);
	fact_equal(raw(SYS_rt_sigaction, SIGUSR1, 0, (long)&old, 8), 0, "rt_sigaction");
	action = old;
	fact_equal(raw(ABOVE | SYS_rt_sigaction, SIGUSR2, (long)&action, 0, 8), 0, "rt_sigaction with more in rax");
	raise(SIGUSR2);
	fact_equal(count, 1, "its handler runs");
	sigset_t set = {0}, before = {0};
	sigaddset(&set, SIGUSR2);
	raw(ABOVE | SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, 8);
	raise(SIGUSR2);
	raw(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, (long)&before, 8);
	fact(count == 2 && sigismember(&before, SIGUSR2), "rt_sigprocmask");
	pid_t child = (pid_t)raw(ABOVE | SYS_fork, 0, 0, 0, 0);
	if (child == 0)
		raw(ABOVE | SYS_exit_group, 7, 0, 0, 0);
	fact_equal(end_of(child), 7, "fork and exit_group");
	fact_equal(raw(-1, 0, 0, 0, 0), -ENOSYS, "there is no call of number -1");
}

static void arguments(void)
{
	struct kernel_action action;
	fact_equal(raw(SYS_rt_sigaction, ABOVE | SIGUSR2, 0, (long)&action, 8), 0, "a signal's number");
	fact(action.handler == handler, "and its action");
	sigset_t before = {0};
	fact_equal(raw(SYS_rt_sigprocmask, ABOVE | SIG_BLOCK, (long)&before, 0, 8), 0, "how a mask changes");
	unsigned long base = 1;
	fact(raw(SYS_arch_prctl, ABOVE | ARCH_GET_GS, (long)&base, 0, 0) == 0 && base == 0, "what arch_prctl is asked for");
	given = code_of(3, PROT_READ | PROT_EXEC);
	fact_equal(call_code(given), 3, "code runs");
	fact_equal(raw(SYS_madvise, (long)given, 4096, ABOVE | MADV_DONTFORK, 0), 0, "advice");
	fact_equal(end_in_child(calls_given), 1000 + SIGSEGV, "a child has not what it is not to have");
}

int main(void)
{
	if (raw(ABOVE | SYS_getpid, 0, 0, 0, 0) != getpid())
		skip_trap("before Linux 5.14 there is no call of such a number");
	numbers();
	arguments();
	return trap_done();
}
