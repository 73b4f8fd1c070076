/* fact: an action has the flags that the kernel knows, and without a restorer its handler is not entered: SIGSEGV */
#include "trap.h"
#include <sys/utsname.h>

#define RESTORER 0x04000000UL
#define UNSUPPORTED 0x400UL

struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

static struct kernel_action with_restorer;
static volatile int count, faults;
static void handler(int signal)
{
	(void)signal;
	count++;
}

static sigjmp_buf back;
static void fault(int signal)
{
	(void)signal;
	faults++;
	siglongjmp(back, 1);
}

static void set(int signal, void *of, unsigned long flags)
{
	struct kernel_action action = with_restorer;
	action.handler = of, action.flags = flags;
	if (syscall(SYS_rt_sigaction, signal, &action, NULL, 8))
		_exit(98);
}

static void without(void)
{
	set(SIGUSR1, handler, 0);
	raise(SIGUSR1);
	_exit(count);
}

static void without_for_the_fault(void)
{
	set(SIGSEGV, handler, 0);
	raise(SIGSEGV);
	_exit(count);
}

int main(void)
{
	signal(SIGUSR1, handler);
	syscall(SYS_rt_sigaction, SIGUSR1, NULL, &with_restorer, 8);
	struct utsname system;
	int major = 0, minor = 0;
	uname(&system);
	sscanf(system.release, "%d.%d", &major, &minor);
	struct kernel_action seen;
	set(SIGUSR2, handler, ~0UL & ~UNSUPPORTED);
	syscall(SYS_rt_sigaction, SIGUSR2, NULL, &seen, 8);
	unsigned long known = seen.flags & 0xdc000007UL;
	fact_equal((long)known, 0xdc000007L, "the flags that there are");
	set(SIGUSR2, handler, RESTORER | UNSUPPORTED | 1UL << 20 | 1UL << 40);
	syscall(SYS_rt_sigaction, SIGUSR2, NULL, &seen, 8);
	fact(seen.flags == RESTORER || major < 5 || (major == 5 && minor < 11), "others are not kept: so a program sees that they are not known");
	raise(SIGUSR2);
	fact_equal(count, 1, "the handler runs");
	count = 0;
	fact_equal(end_in_child(without), 1000 + SIGSEGV, "without a restorer the process ends");
	fact_equal(end_in_child(without_for_the_fault), 1000 + SIGSEGV, "also if it is SIGSEGV's");
	signal(SIGSEGV, fault);
	set(SIGUSR1, handler, 0);
	if (!sigsetjmp(back, 1))
		raise(SIGUSR1);
	fact(faults == 1 && count == 0, "or a handler of SIGSEGV's takes it");
	void *unreadable = (void *)8;
	fact(syscall(SYS_rt_sigaction, SIGKILL, unreadable, NULL, 8) == -1 && errno == EFAULT, "an action that cannot be read is refused first");
	fact(syscall(SYS_rt_sigaction, 99, unreadable, NULL, 8) == -1 && errno == EFAULT, "whatever the signal");
	fact(syscall(SYS_rt_sigaction, 99, unreadable, NULL, 4) == -1 && errno == EINVAL, "but behind a size that is not the kernel's");
	fact(syscall(SYS_rt_sigaction, SIGKILL, NULL, &seen, 8) == 0 && seen.handler == SIG_DFL, "SIGKILL's can be read");
	return trap_done();
}
