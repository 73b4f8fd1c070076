/* fact: a child made with CLONE_CLEAR_SIGHAND has no handlers, as rt_sigaction says, and faults of its own work */
#include "trap.h"
#include <sched.h>

#define CLEAR_HANDLERS 0x100000000ull

struct arguments { uint64_t flags, pidfd, child, parent, signal, stack, size, tls; };
struct kernel_action { uint64_t handler, flags, restorer, mask; };

static void nothing(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
}

static uint64_t handler_of(int signal)
{
	struct kernel_action action = { 99, 99, 99, 99 };
	syscall(SYS_rt_sigaction, signal, NULL, &action, 8);
	return action.handler + action.flags; /* flags go with the handler */
}

/* What is wrong in the child; 0: nothing. */
static int wrong(void)
{
	char *code = map_anywhere(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	int n = 0;
	n += handler_of(SIGUSR1) != 0;
	n += (handler_of(SIGSEGV) != 0) * 2;
	n += (handler_of(SIGUSR2) != 1) * 4;
	for (int i = 0; i < 20; i++) { /* the engine's own faults are taken care of */
		write_return(code, i);
		n |= (call_code(code) != i) * 8;
	}
	return n;
}

/* The call in its caller's own frame: a child that shares memory returns through nothing that its parent still needs. */
static inline __attribute__((always_inline)) long made(uint64_t flags)
{
	struct arguments arguments = { .flags = flags, .signal = SIGCHLD };
	long result;
	asm volatile("syscall" : "=a"(result) : "0"(435), "D"(&arguments), "S"(sizeof arguments) : "rcx", "r11", "memory");
	return result;
}

int main(void)
{
	on_signal(SIGUSR1, nothing, SA_NODEFER);
	on_signal(SIGSEGV, nothing, SA_RESTART);
	signal(SIGUSR2, SIG_IGN);
	long child = made(CLEAR_HANDLERS);
	if (child == -EINVAL || child == -ENOSYS)
		skip_trap("the kernel has no CLONE_CLEAR_SIGHAND");
	if (child == 0)
		_exit(wrong());
	fact_equal(end_of((pid_t)child), 0, "a child with memory of its own has no handlers");
	child = made(CLEAR_HANDLERS);
	if (child == 0) {
		raise(SIGUSR1);
		_exit(0);
	}
	fact_equal(end_of((pid_t)child), 1000 + SIGUSR1, "and is ended by a signal");
	child = made(CLEAR_HANDLERS | CLONE_VM | CLONE_VFORK);
	if (child == 0)
		_exit(wrong());
	fact_equal(end_of((pid_t)child), 0, "one that shares memory has none either");
	fact(handler_of(SIGUSR1) == (uint64_t)nothing + (SA_SIGINFO | SA_NODEFER | 0x04000000), "its parent keeps them");
	child = made(0);
	if (child == 0)
		_exit(handler_of(SIGUSR1) == 0);
	fact_equal(end_of((pid_t)child), 0, "without the flag they are inherited");
	fact(made(CLEAR_HANDLERS | CLONE_SIGHAND | CLONE_VM) == -EINVAL, "not with CLONE_SIGHAND");
	return trap_done();
}
