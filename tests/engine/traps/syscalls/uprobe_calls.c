/* fact: what the kernel answers a system call with SIGILL for, as uprobe(2) and uretprobe(2) of a program's own, comes to the program */
#include "trap.h"

#define SYS_uretprobe_ 335
#define SYS_uprobe_ 336

static volatile long signals, code, at, result;
static volatile void *address;
extern char behind_call[];
static void handler(int signal, siginfo_t *info, void *context)
{
	long long *r = trap_registers(context);
	(void)signal;
	signals++, code = info->si_code, address = info->si_addr, at = r[REG_RIP], result = r[REG_RAX];
}

static long __attribute__((noinline)) call(long number)
{
	asm volatile("syscall\n.globl behind_call\nbehind_call:" : "+a"(number) : : "rcx", "r11", "memory");
	return number;
}

static void one(long number, const char *name)
{
	signals = 0;
	long returned = call(number);
	dprintf(1, "%s: %ld signals, %ld\n", name, signals, returned); /* ENOSYS where the kernel has none */
	if (!signals)
		code = 0x80, address = NULL, at = (long)behind_call, result = returned;
	fact(code == 0x80 && address == NULL, "it says that the kernel has sent it");
	fact(at == (long)behind_call && result == returned, "behind the call, which has its result");
}

static void unhandled(void)
{
	signal(SIGILL, SIG_DFL);
	call(SYS_uretprobe_);
	_exit(9);
}

static void blocked(void)
{
	sigset_t set;
	sigemptyset(&set), sigaddset(&set, SIGILL), sigprocmask(SIG_BLOCK, &set, NULL);
	call(SYS_uretprobe_);
	_exit(9);
}

int main(void)
{
	on_signal(SIGILL, handler, 0);
	one(SYS_uretprobe_, "uretprobe");
	one(SYS_uprobe_, "uprobe");
	bool raises = call(SYS_uretprobe_) == -EPERM && signals;
	int end = end_in_child(unhandled);
	fact(end == (raises ? 1000 + SIGILL : 9), "without a handler the process ends by it");
	end = end_in_child(blocked);
	fact(end == (raises ? 1000 + SIGILL : 9), "also where it is blocked");
	return trap_done();
}
