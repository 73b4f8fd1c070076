/*
 * step_oracle PROGRAM ARGS: counts user instructions by single-stepping, address randomisation off; the count goes to
 * stderr. The kernel reports a rep string instruction once per iteration with rip unchanged: such stops count once.
 */
#include <stdio.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_rep_string(pid_t pid, unsigned long rip)
{
	unsigned long word = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, (void *)rip, NULL);
	int rep = 0;
	for (int i = 0; i < 8; i++, word >>= 8) {
		unsigned b = word & 0xff;
		if (b == 0xf2 || b == 0xf3)
			rep = 1;
		else if (b != 0x66 && b != 0x67 && (b & 0xf0) != 0x40)
			return rep && ((b >= 0xa4 && b <= 0xa7) || (b >= 0xaa && b <= 0xaf));
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long count = 0;
	struct user_regs_struct r;
	int status;
	if (argc < 2)
		return 2;
	pid_t pid = fork();
	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_GETREGS, pid, NULL, &r);
	for (;;) {
		unsigned long rip = r.rip;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
			break;
		waitpid(pid, &status, 0);
		if (!WIFSTOPPED(status)) {
			count++; /* the exit system call */
			break;
		}
		ptrace(PTRACE_GETREGS, pid, NULL, &r);
		if (r.rip != rip || !is_rep_string(pid, rip))
			count++;
	}
	fprintf(stderr, "instructions %lu\n", count);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
