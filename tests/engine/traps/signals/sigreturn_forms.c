/* fact: frames can be left by setcontext or sigreturn of a copy, with a restorer of the program's own */
#include "trap.h"

struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

extern char own_restorer[];
asm(".text\nown_restorer: incq restored(%rip); mov $15, %eax; syscall; hlt");
long restored;
static volatile int count;
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context, count++;
}

static ucontext_t saved;
static void leaving(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	count++;
	setcontext(&saved);
}

/* Copies its frame to another place and returns from there. */
static char copy[65536] __attribute__((aligned(64)));
static void *copy_base;
static void moving(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	ucontext_t *u = context;
	char *frame = (char *)context - 8; /* the return address is before ucontext */
	unsigned extended;
	memcpy(&extended, (char *)u->uc_mcontext.fpregs + 464 + 4, 4);
	char *fp = (char *)u->uc_mcontext.fpregs;
	size_t frame_bytes = sizeof(ucontext_t) + 8;
	memcpy(copy + 56, frame, frame_bytes < 968 ? frame_bytes : 968);
	memcpy(copy + 4096, fp, extended);
	ucontext_t *moved = (ucontext_t *)(copy + 64);
	moved->uc_mcontext.fpregs = (fpregset_t)(copy + 4096);
	memset(fp, 0xcc, 512);
	count++;
	asm volatile("mov %0, %%rsp; mov $15, %%eax; syscall; hlt" ::"r"(moved));
}

int main(void)
{
	struct kernel_action action = { handler, SA_SIGINFO | 0x04000000, own_restorer, 0 }, old;
	syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8);
	for (int i = 0; i < 10; i++)
		raise(SIGUSR1);
	fact(count == 10 && restored == 10, "the program's own restorer runs");
	syscall(SYS_rt_sigaction, SIGUSR1, NULL, &old, 8);
	fact(old.handler == handler && old.restorer == own_restorer && old.flags == (SA_SIGINFO | 0x04000000),
	     "the kernel's action is read back as it was set");
	count = 0;
	on_signal(SIGUSR1, leaving, 0);
	volatile int rounds = 0;
	getcontext(&saved);
	if (rounds++ < 100)
		raise(SIGUSR1);
	fact(count == 100, "a handler is left by setcontext a hundred times");
	copy_base = copy;
	on_signal(SIGUSR2, moving, 0);
	double before = 1.25, after;
	count = 0;
	for (int i = 0; i < 50; i++) {
		asm volatile("movsd %1, %%xmm15; syscall; movsd %%xmm15, %0"
			     : "=m"(after)
			     : "m"(before), "a"(SYS_tgkill), "D"(getpid()), "S"(syscall(SYS_gettid)), "d"(SIGUSR2)
			     : "rcx", "r11", "xmm15", "memory");
		if (after != before)
			fact(false, "xmm15 survives");
	}
	fact_equal(count, 50, "sigreturn from a frame that was copied elsewhere");
	return trap_done();
}
