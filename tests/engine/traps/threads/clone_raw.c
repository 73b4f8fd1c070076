/* fact: clone and clone3 called raw make threads and processes with the stack, tid words and TLS asked for */
#include "trap.h"
#include <asm/prctl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>

static char stack[65536] __attribute__((aligned(16)));
static volatile int shared, tid_parent, tid_child, tls_ok;
static char tls_block[256] __attribute__((aligned(64)));
static void *child_stack_seen;

/* A thread without libc: nothing here may use TLS. */
__attribute__((used, noinline)) static void thread_body(void)
{
	unsigned long fs;
	child_stack_seen = __builtin_frame_address(0);
	asm volatile("mov %%fs:0, %0" : "=r"(fs));
	tls_ok = fs == 0x1122334455667788;
	shared = 42;
}

/* third: 0 by clone, 1 by clone3, 2 by clone3 with more behind its arguments than any kernel knows, all of it 0 */
static long raw_clone(unsigned long flags, void *top, volatile int *parent, volatile int *child, void *tls,
		      int third)
{
	struct {
		struct clone_args args;
		char more[512];
	} all = { .args = { .flags = flags & ~0xffUL,
				   .stack = (unsigned long)stack,
				   .stack_size = sizeof stack,
				   .parent_tid = (unsigned long)parent,
				   .child_tid = (unsigned long)child,
				   .tls = (unsigned long)tls,
				   .exit_signal = flags & 0xff } };
	register volatile int *r10 asm("r10") = child;
	register void *r8 asm("r8") = tls;
	long result;
	asm volatile("syscall; test %%rax, %%rax; jnz 1f; xor %%ebp, %%ebp; call thread_body; mov $60, %%eax; mov "
		     "$5, %%edi; syscall; 1:"
		     : "=a"(result)
		     : "a"(third ? SYS_clone3 : SYS_clone), "D"(third ? (long)&all : (long)flags),
		       "S"(third == 2 ? (long)sizeof all : third ? (long)sizeof all.args : (long)top), "d"(parent), "r"(r10), "r"(r8)
		     : "rcx", "r11", "memory", "cc");
	return result;
}

int main(void)
{
	*(unsigned long *)tls_block = 0x1122334455667788;
	for (int third = 0; third < 3; third++)
		for (int round = 0; round < 100; round++) {
			shared = 0, tls_ok = 0, tid_child = -1;
			long tid = raw_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
						 CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
						 CLONE_CHILD_CLEARTID,
					     stack + sizeof stack, &tid_parent, &tid_child, tls_block, third);
			for (int now; (now = tid_child) != 0;)
				syscall(SYS_futex, &tid_child, FUTEX_WAIT, now, NULL, NULL, 0);
			bool right = tid > 0 && tid_parent == tid && shared == 42 && tls_ok &&
				     (char *)child_stack_seen > stack &&
				     (char *)child_stack_seen < stack + sizeof stack;
			if (!right || round == 99)
				fact(right, third ? "clone3 makes a thread: stack, tid words, TLS, clear and wake"
						  : "clone makes a thread: stack, tid words, TLS, clear and wake");
		}
	/* a process that shares memory, but is no thread */
	for (int third = 0; third < 3; third++) {
		shared = 0;
		long pid = raw_clone(CLONE_VM | CLONE_SETTLS | SIGCHLD, stack + sizeof stack, NULL, NULL,
				     tls_block, third);
		fact(end_of((pid_t)pid) == 5 && shared == 42 && pid != getpid(),
		     "a process with CLONE_VM writes the parent's memory and is waited for");
	}
	/* fork by clone without a stack */
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(6);
	fact_equal(end_of((pid_t)pid), 6, "clone without CLONE_VM and stack is a fork");
	pid = syscall(SYS_clone3, &(struct clone_args){ .exit_signal = SIGCHLD }, sizeof(struct clone_args));
	if (pid == 0)
		_exit(7);
	fact_equal(end_of((pid_t)pid), 7, "clone3 as fork");
	struct {
		struct clone_args args;
		char more[8192];
	} larger = { .args = { .exit_signal = SIGCHLD } };
	larger.more[100] = 1;
	fact(syscall(SYS_clone3, &larger, sizeof larger.args + 200) == -1 && errno == E2BIG, "what is not known is refused");
	larger.more[100] = 0;
	fact(syscall(SYS_clone3, &larger, 4097L) == -1 && errno == E2BIG, "and more than a page");
	larger.args.stack = (unsigned long)stack;
	fact(syscall(SYS_clone3, &larger, sizeof larger.args) == -1 && errno == EINVAL, "and a stack without a size");
	int pidfd = -1;
	pid = syscall(
	    SYS_clone3,
	    &(struct clone_args){ .flags = CLONE_PIDFD, .pidfd = (unsigned long)&pidfd, .exit_signal = SIGCHLD },
	    sizeof(struct clone_args));
	if (pid == 0)
		_exit(8);
	siginfo_t info;
	fact(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) == 0 && info.si_status == 8 && info.si_pid == pid,
	     "clone3 gives a pidfd that can be waited for");
	fact(syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0) == -1 && errno == EINVAL,
	     "CLONE_SIGHAND without CLONE_VM is EINVAL");
	return trap_done();
}
