/* fact: a filter that denies any one call that the program does not make changes nothing for it
 * Each call that an engine may make of its own, denied in each way, one after the other; and the calls that an engine may make for the program
 * are the filter's: fork, threads, sigaction, exit. */
#include "trap.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define CALL(name) { SYS_##name, #name }
static const struct { int number; const char *name; } engines[] = {
	CALL(mmap), CALL(mremap), CALL(munmap), CALL(mprotect), CALL(madvise), CALL(mincore), CALL(futex), CALL(rt_sigprocmask), CALL(rt_sigaction),
	CALL(sigaltstack), CALL(rt_tgsigqueueinfo), CALL(tgkill), CALL(gettid), CALL(getpid), CALL(arch_prctl), CALL(prctl), CALL(open), CALL(openat),
	CALL(close), CALL(read), CALL(pread64), CALL(readlink), CALL(sched_yield), CALL(nanosleep), CALL(write), CALL(getrlimit), CALL(prlimit64),
	CALL(stat), CALL(fstat), CALL(fcntl), CALL(getdents64), CALL(brk), CALL(memfd_create),
};
static const struct { unsigned action; const char *name; } actions[] = {
	{ SECCOMP_RET_ERRNO | EPERM, "an error number" }, { SECCOMP_RET_KILL_PROCESS, "the process's end" }, { SECCOMP_RET_TRAP, "SIGSYS" },
	{ SECCOMP_RET_TRACE, "a tracer that is not there" }, { SECCOMP_RET_KILL_THREAD, "the thread's end" },
};

static void deny(int number, unsigned action)
{
	struct sock_filter filter[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1), BPF_STMT(BPF_RET | BPF_K, action), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 4, filter };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		_exit(80);
}

static unsigned char *code, *none;
static char *stack;
static volatile int faults, done;

static void fault(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info;
	faults++;
	trap_registers(context)[REG_RIP] += 3; /* movb $1, (%rax) */
}

/* New code, again and again at the same place, and code that is new to an engine. */
static int work(void)
{
	volatile double x = 1;
	int sum = 0;
	for (int i = 0; i < 40; i++) {
		write_return(code + i % 4 * 4096, i);
		sum += call_code(code + i % 4 * 4096);
		x = x * 1.01 + i;
	}
	faults = 0;
	for (int i = 0; i < 3; i++)
		asm volatile("movb $1, (%%rax)" : : "a"(none) : "memory");
	return sum == 780 && faults == 3 && x > 1;
}

static int thread(void *argument)
{
	done = work() ? 1 : 2;
	(void)argument;
	syscall(SYS_exit, 0);
	return 0;
}

static long raw(long number, long a, long b, long c, long d)
{
	register long r10 asm("r10") = d;
	long result;
	asm volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return result;
}

/* fork, wait4, clone, exit, exit_group and getppid are all that it calls */
static void everything(void)
{
	int status = 0;
	if (!work())
		raw(SYS_exit_group, 1, 0, 0, 0);
	long child = raw(SYS_fork, 0, 0, 0, 0);
	if (!child)
		raw(SYS_exit_group, work() ? 7 : 8, 0, 0, 0);
	if (raw(SYS_wait4, child, (long)&status, 0, 0) != child || status != 7 << 8)
		raw(SYS_exit_group, 2, 0, 0, 0);
	long (*start)(int (*)(void *), void *, int, void *) = (void *)clone;
	if (start(thread, stack + 65536, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, NULL) < 0)
		raw(SYS_exit_group, 3, 0, 0, 0);
	while (!done)
		raw(SYS_getppid, 0, 0, 0, 0);
	raw(SYS_exit_group, done == 1 ? 42 : 4, 0, 0, 0);
}

static void prepare(void)
{
	code = map_anywhere(4 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	none = map_anywhere(4096, PROT_NONE);
	stack = map_anywhere(65536, PROT_READ | PROT_WRITE);
	on_signal(SIGSEGV, fault, 0);
}

static int denied, how;
static void with_it_denied(void)
{
	prepare();
	deny(engines[denied].number, actions[how].action);
	everything();
}

static void programs_fork(void)
{
	deny(SYS_fork, SECCOMP_RET_ERRNO | 71);
	raw(SYS_exit_group, raw(SYS_fork, 0, 0, 0, 0) == -71, 0, 0, 0);
}
static void programs_thread(void)
{
	prepare();
	deny(SYS_clone, SECCOMP_RET_ERRNO | 72);
	raw(SYS_exit_group, raw(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, (long)(stack + 65536), 0, 0) == -72, 0, 0, 0);
}
static void programs_clone3(void)
{
	deny(SYS_clone3, SECCOMP_RET_ERRNO | 73);
	raw(SYS_exit_group, raw(SYS_clone3, 0, 0, 0, 0) == -73, 0, 0, 0);
}
static void programs_sigaction(void)
{
	struct { void *handler; long flags, restorer, mask; } action = { SIG_IGN, 0, 0, 0 };
	deny(SYS_rt_sigaction, SECCOMP_RET_ERRNO | 74);
	raw(SYS_exit_group, raw(SYS_rt_sigaction, SIGUSR1, (long)&action, 0, 8) == -74, 0, 0, 0);
}
static void programs_altstack(void)
{
	stack_t own = { .ss_sp = map_anywhere(65536, PROT_READ | PROT_WRITE), .ss_size = 32768 };
	deny(SYS_sigaltstack, SECCOMP_RET_ERRNO | 75);
	raw(SYS_exit_group, raw(SYS_sigaltstack, (long)&own, 0, 0, 0) == -75, 0, 0, 0);
}
static void programs_limit(void)
{
	struct rlimit limit = { 1ul << 40, 1ul << 40 };
	deny(SYS_prlimit64, SECCOMP_RET_ERRNO | 76);
	raw(SYS_exit_group, raw(SYS_prlimit64, 0, RLIMIT_AS, (long)&limit, 0) == -76, 0, 0, 0);
}
static void programs_exit(void)
{
	deny(SYS_exit_group, SECCOMP_RET_KILL_PROCESS);
	raw(SYS_exit_group, 1, 0, 0, 0);
}
static void programs_second(void) /* a filter in front of a filter, and after an exec of one's own */
{
	deny(SYS_mremap, SECCOMP_RET_KILL_PROCESS);
	deny(SYS_mprotect, SECCOMP_RET_KILL_PROCESS);
	deny(SYS_getppid, SECCOMP_RET_ERRNO | 77);
	raw(SYS_exit_group, raw(SYS_getppid, 0, 0, 0, 0) == -77, 0, 0, 0);
}
static void execs(void)
{
	char *arguments[] = { "seccomp_each", "again", NULL };
	deny(SYS_mremap, SECCOMP_RET_KILL_PROCESS);
	execv("/proc/self/exe", arguments);
}

int main(int argc, char **argv)
{
	char text[200];
	if (argc > 1 && !strcmp(argv[1], "again")) {
		prepare();
		everything();
	}
	for (how = 0; how < (int)(sizeof actions / sizeof *actions); how++)
		for (denied = 0; denied < (int)(sizeof engines / sizeof *engines); denied++) {
			snprintf(text, sizeof text, "%s gives %s", engines[denied].name, actions[how].name);
			fact_equal(end_in_child(with_it_denied), 42, text);
		}
	fact_equal(end_in_child(programs_fork), 1, "the program's fork is the filter's");
	fact_equal(end_in_child(programs_thread), 1, "… and its clone of a thread");
	fact_equal(end_in_child(programs_clone3), 1, "… and its clone3");
	fact_equal(end_in_child(programs_sigaction), 1, "… and its sigaction");
	fact_equal(end_in_child(programs_altstack), 1, "… and its sigaltstack");
	fact_equal(end_in_child(programs_limit), 1, "… and its limits");
	fact_equal(end_in_child(programs_exit), 1000 + SIGSYS, "… and its end");
	fact_equal(end_in_child(programs_second), 1, "filters behind one another");
	fact_equal(end_in_child(execs), 42, "a filter that an exec inherits");
	return trap_done();
}
