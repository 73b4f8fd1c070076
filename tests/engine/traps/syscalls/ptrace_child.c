/* fact: a program that traces its own child sees that child's registers, memory and system calls (gdb, strace) */
#include "trap.h"
#include <sys/ptrace.h>
#include <sys/user.h>

static volatile long variable = 0x1122334455667788;
static volatile long poked = 1;
extern char child_stop[];
static pid_t child;
static int status;
static long on(int request, void *address, void *data)
{
	return ptrace(request, child, address, data);
}
static bool stopped(int signal)
{
	return waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

static void traced(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	asm volatile("mov $0x5151, %%r12d; mov $0x6161, %%ebx\nchild_stop: int3; nop\n" ::: "rbx", "r12");
	syscall(SYS_getppid);
	syscall(SYS_getuid);
	_exit(poked == 99 ? 44 : 1);
}

int main(void)
{
	struct user_regs_struct r;
	if ((child = fork()) == 0)
		traced();
	fact(stopped(SIGSTOP), "the child stops");
	on(PTRACE_SETOPTIONS, 0, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	fact_equal(on(PTRACE_PEEKDATA, (void *)&variable, 0), 0x1122334455667788, "peek of its memory");
	on(PTRACE_POKEDATA, (void *)&poked, (void *)99);
	on(PTRACE_CONT, 0, 0);
	fact(stopped(SIGTRAP), "it stops at its int3");
	on(PTRACE_GETREGS, 0, &r);
	fact(r.rip == (unsigned long)child_stop + 1, "rip is after the int3");
	fact(r.r12 == 0x5151 && r.rbx == 0x6161, "its registers are seen");
	long order[16];
	int used = 0;
	for (int i = 0; i < 12; i++) {
		on(PTRACE_SYSCALL, 0, 0);
		if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			break;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			on(PTRACE_GETREGS, 0, &r);
			if (used < 16 && (r.orig_rax == SYS_getppid || r.orig_rax == SYS_getuid ||
					  r.orig_rax == SYS_exit_group))
				order[used++] = (long)r.orig_rax;
		}
	}
	fact(used == 5 && order[0] == SYS_getppid && order[2] == SYS_getuid && order[4] == SYS_exit_group,
	     "its system calls are seen, entry and exit");
	fact(WIFEXITED(status) && WEXITSTATUS(status) == 44,
	     "the poked value was seen by the child, and its status by the parent");
	return trap_done();
}
