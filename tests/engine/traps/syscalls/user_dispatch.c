/* fact: syscall user dispatch: the calls that are to be blocked are SIGSYS, with the registers and siginfo of the kernel */
#include "trap.h"
#include <linux/prctl.h>
#include <sys/prctl.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define USER_DISPATCH 2 /* si_code */

static volatile char selector;
static volatile long calls, number, code, at, rip, error, arch;

/* It returns to what its last instructions are, which must not be blocked: the selector allows them. */
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	selector = 0;
	calls++;
	number = r[REG_RAX], code = info->si_code, at = (long)info->si_call_addr, rip = r[REG_RIP], error = info->si_errno, arch = (long)info->si_arch;
	number = number == info->si_syscall ? number : -2;
	r[REG_RAX] = 4242;
}

extern char behind[], within[], within_end[];
static __attribute__((noinline)) long called(long nr)
{
	long result;
	asm volatile("syscall\n.globl behind\nbehind:" : "=a"(result) : "0"(nr) : "rcx", "r11", "memory");
	return result;
}

static __attribute__((noinline)) long allowed(long nr)
{
	long result;
	asm volatile(".globl within, within_end\nwithin: syscall\nnop\nwithin_end:" : "=a"(result) : "0"(nr) : "rcx", "r11", "memory");
	return result;
}

static void bad_selector(void)
{
	selector = 7;
	called(SYS_getpid);
}

static void no_selector(void)
{
	char *page = map_anywhere(4096, PROT_READ | PROT_WRITE);
	prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, page);
	asm volatile("syscall" :: "a"(SYS_munmap), "D"(page), "S"(4096) : "rcx", "r11", "memory");
	called(SYS_getpid);
}

static void *of_thread(void *argument)
{
	selector = 1;
	*(long *)argument = called(SYS_getppid); /* a thread begins without */
	selector = 0;
	return NULL;
}

int main(void)
{
	on_signal(SIGSYS, handler, 0);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, (long)within, (long)(within_end - within), &selector)) {
		if (errno == EINVAL)
			skip_trap("the kernel has no syscall user dispatch");
		return 2;
	}
	long parent = getppid(), own = getpid();
	fact(parent > 0 && calls == 0, "calls are made while the selector allows them");
	selector = 1;
	long result = called(SYS_getppid);
	selector = 0;
	fact(calls == 1 && result == 4242, "a blocked call is a signal, whose handler gives its result");
	fact(number == SYS_getppid, "rax and si_syscall are the number");
	fact(code == USER_DISPATCH && error == 0 && arch == (long)0xc000003e, "si_code, si_errno and si_arch");
	fact(at == (long)behind && rip == (long)behind, "si_call_addr and rip are behind the instruction");
	selector = 1;
	result = allowed(SYS_getppid);
	selector = 0;
	fact(calls == 1 && result == parent, "calls from the range are made");
	long from_thread = 0;
	pthread_t thread;
	pthread_create(&thread, NULL, of_thread, &from_thread);
	pthread_join(thread, NULL);
	fact(calls == 1 && from_thread == parent, "another thread's are made");
	pid_t child = fork();
	if (child == 0) {
		selector = 1;
		result = called(SYS_getppid);
		selector = 0;
		_exit(calls == 1 && result == own ? 0 : 1);
	}
	fact_equal(end_of(child), 0, "a child's too");
	fact(prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 1, 0, 0) == -1 && errno == EINVAL, "off takes no range");
	fact(prctl(PR_SET_SYSCALL_USER_DISPATCH, 5, 0, 0, 0) == -1 && errno == EINVAL, "there are two modes");
	fact(prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 8, 0, 0) == -1 && errno == EINVAL, "a range has a length");
	fact(prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0) == 0, "it is switched off");
	selector = 1;
	result = called(SYS_getppid);
	selector = 0;
	fact(calls == 1 && result == parent, "then calls are made");

	/* since Linux 6.17 */
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 2, (long)within, (long)(within_end - within), &selector) == 0) {
		selector = 1;
		result = called(SYS_getppid);
		long inside = allowed(SYS_getppid);
		selector = 0;
		fact(calls == 2 && result == parent && inside == 4242, "only calls from the range are blocked");
		fact(prctl(PR_SET_SYSCALL_USER_DISPATCH, 2, (long)within, 0, &selector) == -1 && errno == EINVAL, "which has a length");
		fact(prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0) == 0, "that is switched off too");
	} else {
		fact_equal(errno, EINVAL, "only the range's calls cannot be blocked");
	}

	if ((child = fork()) == 0) {
		prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector);
		bad_selector();
		_exit(0);
	}
	fact_equal(end_of(child), 1000 + SIGSYS, "a selector that is neither ends the process, whatever its handlers");
	fact_equal(end_in_child(no_selector), 1000 + SIGSEGV, "one that cannot be read too");
	return trap_done();
}
