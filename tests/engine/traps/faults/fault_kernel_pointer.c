/* fact: a bad pointer in a system call is EFAULT, not a death */
#include "trap.h"
#include <sys/stat.h>
#include <sys/uio.h>

int main(void)
{
	void *volatile bad = (void *)16;
	char *ro = map_anywhere(4096, PROT_READ);
	int ends[2];
	fact(pipe(bad) == -1 && errno == EFAULT, "pipe(bad)");
	fact(pipe(ends) == 0 && write(ends[1], "abc", 3) == 3, "a pipe");
	fact(read(ends[0], ro, 3) == -1 && errno == EFAULT, "read into read-only memory");
	fact(write(ends[1], bad, 3) == -1 && errno == EFAULT, "write from unmapped memory");
	fact(open(bad, O_RDONLY) == -1 && errno == EFAULT, "open(bad)");
	fact(syscall(SYS_rt_sigaction, SIGUSR1, bad, NULL, 8) == -1 && errno == EFAULT,
	     "sigaction of a bad pointer");
	fact(syscall(SYS_rt_sigaction, SIGUSR1, NULL, bad, 8) == -1 && errno == EFAULT,
	     "sigaction to a bad pointer");
	fact(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 4) == -1 && errno == EINVAL,
	     "sigaction with a wrong set size");
	fact(syscall(SYS_rt_sigaction, SIGKILL, &(long[4]){ 0 }, NULL, 8) == -1 && errno == EINVAL,
	     "sigaction of SIGKILL");
	fact(syscall(SYS_rt_sigaction, 65, NULL, &(long[4]){ 0 }, 8) == -1 && errno == EINVAL,
	     "sigaction of signal 65");
	fact(syscall(SYS_rt_sigprocmask, SIG_BLOCK, bad, NULL, 8) == -1 && errno == EFAULT,
	     "sigprocmask of a bad pointer");
	fact(syscall(SYS_rt_sigprocmask, 9, &(long){ 0 }, NULL, 8) == -1 && errno == EINVAL,
	     "sigprocmask with a bad how");
	fact(syscall(SYS_sigaltstack, bad, NULL) == -1 && errno == EFAULT, "sigaltstack of a bad pointer");
	fact(syscall(SYS_execve, bad, NULL, NULL) == -1 && errno == EFAULT, "execve of a bad path");
	fact(syscall(SYS_execve, "/bin/true", bad, NULL) == -1 && errno == EFAULT, "execve of bad arguments");
	fact(syscall(SYS_clone3, bad, 88) == -1 && errno == EFAULT, "clone3 of a bad pointer");
	fact(syscall(SYS_clone3, &(long[11]){ 0 }, 8) == -1 && errno == EINVAL, "clone3 of too small a size");
	fact(munmap((void *)1, 4096) == -1 && errno == EINVAL, "munmap of a misaligned address");
	fact(syscall(SYS_wait4, -1, NULL, 0, NULL) == -1 && errno == ECHILD, "wait4 without a child");
	return trap_done();
}
