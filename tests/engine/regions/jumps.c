/* Ways out of regions that are no return, and signal handlers in them. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>

#define KEEP __attribute__((noinline, noclone, used))

static jmp_buf out;
static sigjmp_buf out_of_handler;
static volatile int n;

KEEP void deepest(int how)
{
	n++;
	if (how)
		longjmp(out, 1);
}
KEEP void deeper(int how) { deepest(how); n++; }
KEEP void deep(int how) { deeper(how); n++; }

KEEP void range_out(void)
{
	__asm__ volatile(".globl jump_begin\njump_begin: nop" ::: "memory");
	if (!setjmp(out))
		deeper(1);
	n++;
	deeper(0);
	__asm__ volatile("nop\n.globl jump_end\njump_end:" ::: "memory");
}
KEEP void range_left(void)
{
	__asm__ volatile(".globl left_begin\nleft_begin: nop" ::: "memory");
	deeper(1);
	__asm__ volatile("nop\n.globl left_end\nleft_end:" ::: "memory");
}

KEEP void handler(int signo)
{
	(void)signo;
	n++;
	deeper(0);
}
KEEP void jumping(int signo)
{
	n++;
	siglongjmp(out_of_handler, signo);
}
KEEP void raised(int signo)
{
	__asm__ volatile(".globl sig_begin\nsig_begin: nop" ::: "memory");
	n++;
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signo);
	n++;
	__asm__ volatile("nop\n.globl sig_end\nsig_end:" ::: "memory");
}
static char stack[65536];

int main(void)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	for (int i = 0; i < 5; i++)
		if (!setjmp(out))
			deep(i & 1);
	range_out();
	if (!setjmp(out))
		range_left();
	struct sigaction action = {.sa_handler = handler};
	sigaction(SIGUSR1, &action, NULL);
	raised(SIGUSR1);
	action.sa_handler = jumping;
	sigaction(SIGUSR1, &action, NULL);
	if (!sigsetjmp(out_of_handler, 1))
		raised(SIGUSR1);
	sigaltstack(&alternate, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	if (!sigsetjmp(out_of_handler, 1))
		raised(SIGUSR1);
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, NULL);
	raised(SIGUSR1);
	return 0;
}
