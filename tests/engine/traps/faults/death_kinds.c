/* fact: children end by the signal that native ones end by, and show it to their parent
 * limits: stack=8M */
#include "trap.h"
#include <sys/resource.h>

static void nothing(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
}
static void segv(void)
{
	*(volatile int *)16 = 1;
}
static void ill(void)
{
	asm volatile("ud2");
}
static void trap(void)
{
	asm volatile("int3");
}
static void fpe(void)
{
	asm volatile("xor %%ecx, %%ecx; div %%ecx" ::: "rax", "rcx", "rdx");
}
static void aborting(void)
{
	abort();
}
static void terminated(void)
{
	raise(SIGTERM);
}
static void killed(void)
{
	kill(getpid(), SIGKILL);
}
static void null_call(void)
{
	((void (*)(void))(long)0x10)();
}
static void blocked_segv(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	on_signal(SIGSEGV, nothing, 0);
	sigprocmask(SIG_BLOCK, &set, NULL);
	segv();
}
static void ignored_segv(void)
{
	signal(SIGSEGV, SIG_IGN);
	segv();
}
static void fault_in_handler(int s, siginfo_t *info, void *context)
{
	(void)s, (void)info, (void)context;
	segv();
}
static void double_fault(void)
{
	on_signal(SIGSEGV, fault_in_handler, 0);
	segv();
}
static volatile int deep;
static int overflow(int n)
{
	volatile char big[4096];
	big[0] = (char)n;
	return overflow(n + 1) + big[0];
}
static void stack_overflow(void)
{
	deep = overflow(1);
}
static void unhandled_rt(void)
{
	raise(SIGRTMIN + 5);
}
static void ignored_by_default(void)
{
	raise(SIGCHLD), raise(SIGURG), raise(SIGWINCH);
	_exit(3);
}
static void cpu_limit(void)
{
	setrlimit(RLIMIT_CPU, &(struct rlimit){ 1, 2 });
	for (volatile long i = 0;; i++)
		;
}

int main(void)
{
	fact_equal(end_in_child(segv), 1000 + SIGSEGV, "a bad store ends by SIGSEGV");
	fact_equal(end_in_child(ill), 1000 + SIGILL, "ud2 ends by SIGILL");
	fact_equal(end_in_child(trap), 1000 + SIGTRAP, "int3 ends by SIGTRAP");
	fact_equal(end_in_child(fpe), 1000 + SIGFPE, "a division by zero ends by SIGFPE");
	fact_equal(end_in_child(aborting), 1000 + SIGABRT, "abort ends by SIGABRT");
	fact_equal(end_in_child(terminated), 1000 + SIGTERM, "raise of SIGTERM ends by it");
	fact_equal(end_in_child(killed), 1000 + SIGKILL, "SIGKILL ends");
	fact_equal(end_in_child(null_call), 1000 + SIGSEGV, "a call of a null function ends by SIGSEGV");
	fact_equal(end_in_child(blocked_segv), 1000 + SIGSEGV,
		   "a fault while SIGSEGV is blocked ends by it, handler or not");
	fact_equal(end_in_child(ignored_segv), 1000 + SIGSEGV, "a fault while SIGSEGV is ignored ends by it");
	fact_equal(end_in_child(double_fault), 1000 + SIGSEGV, "a fault in the fault's handler ends by SIGSEGV");
	fact_equal(end_in_child(stack_overflow), 1000 + SIGSEGV, "a stack overflow ends by SIGSEGV");
	fact_equal(end_in_child(unhandled_rt), 1000 + SIGRTMIN + 5,
		   "a real-time signal without a handler ends by it");
	fact_equal(end_in_child(ignored_by_default), 3, "signals ignored by default do nothing");
	fact_equal(end_in_child(cpu_limit), 1000 + SIGXCPU, "RLIMIT_CPU ends by SIGXCPU");
	return trap_done();
}
