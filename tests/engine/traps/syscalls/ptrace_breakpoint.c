/* fact: a debugger's breakpoint poked into its child's code stops it there, and single steps go by instruction */
#include "trap.h"
#include <sys/ptrace.h>
#include <sys/user.h>

static pid_t child;
static int status;
static long on(int request, void *address, void *data)
{
	return ptrace(request, child, address, data);
}
__attribute__((noinline)) static int function(int x)
{
	asm volatile("");
	return x + 1;
}
extern char steps_begin[], steps_end[];

int main(void)
{
	struct user_regs_struct r;
	if ((child = fork()) == 0) {
		int x = 0;
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		for (int i = 0; i < 5; i++)
			x = function(x);
		asm volatile("int3\nsteps_begin: mov $3, %%ecx\n1: dec %%ecx; jnz 1b\nsteps_end: nop" ::
				 : "rcx", "cc");
		_exit(x);
	}
	waitpid(child, &status, 0);
	long text = on(PTRACE_PEEKTEXT, function, 0);
	on(PTRACE_POKETEXT, function, (void *)((text & ~0xffL) | 0xcc));
	int hits = 0;
	for (int i = 0; i < 5; i++) {
		on(PTRACE_CONT, 0, 0);
		if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			break;
		on(PTRACE_GETREGS, 0, &r);
		hits += r.rip == (unsigned long)function + 1 && r.rdi == (unsigned long)i;
		r.rip--;
		on(PTRACE_SETREGS, 0, &r);
		on(PTRACE_POKETEXT, function, (void *)text);
		on(PTRACE_SINGLESTEP, 0, 0);
		waitpid(child, &status, 0);
		on(PTRACE_POKETEXT, function, (void *)((text & ~0xffL) | 0xcc));
	}
	fact_equal(hits, 5, "five stops at the breakpoint, with the argument in rdi");
	on(PTRACE_POKETEXT, function, (void *)text);
	on(PTRACE_CONT, 0, 0);
	waitpid(child, &status, 0);
	on(PTRACE_GETREGS, 0, &r);
	fact(r.rip == (unsigned long)steps_begin, "the int3 stops it");
	int steps = 0;
	while (r.rip != (unsigned long)steps_end && steps < 100) {
		on(PTRACE_SINGLESTEP, 0, 0);
		waitpid(child, &status, 0);
		on(PTRACE_GETREGS, 0, &r);
		steps++;
	}
	fact_equal(steps, 7, "seven single steps: mov and three times dec, jnz");
	on(PTRACE_CONT, 0, 0);
	fact_equal(end_of(child), 5, "it ends with its result");
	return trap_done();
}
