/* fact: seccomp filters do to the program's system calls what they say, and only to these
 * Kill by deny list, by allow list, errno, trap, strict mode; code that is new when the filter is in force. */
#include "trap.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

static void install(struct sock_filter *filter, size_t count)
{
	struct sock_fprog program = { (unsigned short)count, filter };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		_exit(80);
}
#define LOAD BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ON(number, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, action)
#define ELSE(action) BPF_STMT(BPF_RET | BPF_K, action)

/* Work that makes an engine translate: new code, loops, calls. */
static int new_code(void)
{
	volatile double x = 1;
	char text[100];
	for (int i = 0; i < 50; i++)
		x = x * 1.01 + i;
	snprintf(text, sizeof text, "%.3f", x);
	return text[0] != 0;
}

static void deny_kill(void)
{
	install((struct sock_filter[]){ LOAD, ON(SYS_getppid, SECCOMP_RET_KILL_PROCESS), ELSE(SECCOMP_RET_ALLOW) },
		4);
	new_code();
	syscall(SYS_getppid);
	_exit(1);
}
static void deny_errno(void)
{
	install((struct sock_filter[]){ LOAD, ON(SYS_getppid, SECCOMP_RET_ERRNO | 77), ELSE(SECCOMP_RET_ALLOW) },
		4);
	_exit(syscall(SYS_getppid) == -1 && errno == 77 && new_code() ? 10 : 1);
}
/* Everything that is not write and exit_group kills: an engine's own mmap, mprotect, futex, gettid... would die
 * here. */
static void allow_list(void)
{
	install((struct sock_filter[]){ LOAD, ON(SYS_write, SECCOMP_RET_ALLOW),
					ON(SYS_exit_group, SECCOMP_RET_ALLOW), ELSE(SECCOMP_RET_KILL_PROCESS) },
		6);
	if (!new_code())
		syscall(SYS_exit_group, 1);
	syscall(SYS_exit_group, 11);
}
static void allow_list_kills(void)
{
	install((struct sock_filter[]){ LOAD, ON(SYS_write, SECCOMP_RET_ALLOW),
					ON(SYS_exit_group, SECCOMP_RET_ALLOW), ELSE(SECCOMP_RET_KILL_PROCESS) },
		6);
	new_code();
	syscall(SYS_mmap, 0, 4096, 3, 0x22, -1, 0);
	syscall(SYS_exit_group, 1);
}
static void strict(void)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(81);
	new_code();
	syscall(SYS_exit, 12);
}
static void strict_kills(void)
{
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	syscall(SYS_getpid);
}
extern char trapped_syscall[];
static volatile long trapped;
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	trapped = signal == SIGSYS && info->si_code == 1 && info->si_syscall == SYS_getppid &&
		  info->si_arch == AUDIT_ARCH_X86_64 && info->si_call_addr == trapped_syscall + 2 &&
		  r[REG_RIP] == (long)trapped_syscall + 2 && info->si_errno == 5;
	r[REG_RAX] = 4321;
}
static void traps(void)
{
	long result = SYS_getppid;
	on_signal(SIGSYS, handler, 0);
	install((struct sock_filter[]){ LOAD, ON(SYS_getppid, SECCOMP_RET_TRAP | 5), ELSE(SECCOMP_RET_ALLOW) }, 4);
	asm volatile("trapped_syscall: syscall" : "+a"(result)::"rcx", "r11", "memory");
	_exit(trapped && result == 4321 ? 13 : 1);
}
int main(void)
{
	fact_equal(end_in_child(deny_kill), 1000 + SIGSYS, "a deny list kills by SIGSYS");
	fact_equal(end_in_child(deny_errno), 10, "a filter gives an error number");
	fact_equal(end_in_child(allow_list), 11, "an allow list of write and exit_group lets new code run");
	fact_equal(end_in_child(allow_list_kills), 1000 + SIGSYS, "and kills another call");
	fact_equal(end_in_child(strict), 12, "strict mode lets new code run");
	fact_equal(end_in_child(strict_kills), 1000 + SIGKILL, "and kills by SIGKILL");
	fact_equal(end_in_child(traps), 13,
		   "a trapping filter: number, address, rip and errno; the handler gives the result");
	return trap_done();
}
