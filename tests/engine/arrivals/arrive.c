/*
 * arrive COMMAND…: COMMAND executes turns.S, whose standard input and output are this one's. Behind the first turns, SIGUSR1 comes in each turn one
 * instruction of the engine's code cache later than in the turn before, by single steps: until it has come at each. Prints how often, and how many
 * turns there were. Exit status 77: nobody may trace here.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNTOUCHED = 5 /* turns, in which the engine links what it translates */, GETPPID = 110, CACHES_MOST = 64 };
enum { TRAP_FLAG = 0x100, PUSHF = 0x9c, INT3 = 0xcc, SYSCALL = 0x050f, SYSCALL_STOP = SIGTRAP | 0x80 };

static struct {
	unsigned long from, to;
} caches[CACHES_MOST];
static unsigned n_caches;
static pid_t pid;
static struct user_regs_struct regs;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Code that is in no file; the engine's own is in one. */
static void find_caches(void)
{
	char name[64], line[512], rights[8], file[4];
	snprintf(name, sizeof name, "/proc/%d/maps", pid);
	FILE *maps = fopen(name, "r");
	if (!maps)
		fail(name);
	while (n_caches < CACHES_MOST && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %3s", &caches[n_caches].from, &caches[n_caches].to, rights, file) == 3 && rights[2] == 'x')
			n_caches++;
	fclose(maps);
}

static bool in_cache(void)
{
	for (unsigned i = 0; i < n_caches; i++)
		if (regs.rip >= caches[i].from && regs.rip < caches[i].to)
			return true;
	return false;
}

static long code_at(unsigned long at, long mask) { return ptrace(PTRACE_PEEKTEXT, pid, at, 0) & mask; }

/* Returns how it stopped, or ended. */
static int go_on(int how, int signal)
{
	int status;
	if (ptrace(how, pid, 0, signal) || waitpid(pid, &status, __WALL) != pid)
		fail("the program cannot be traced");
	return status;
}

/* What it stopped for, and shall have. */
static int signal_of(int status) { return (WSTOPSIG(status) & 0x7f) == SIGTRAP || status >> 16 ? 0 : WSTOPSIG(status); }

/* One instruction, from where it stopped. The engine's pushf shall not have the trap flag; and behind its popf Linux takes that for the
 * program's own. */
static int step(int status)
{
	bool pushes = !in_cache() && code_at(regs.rip, 0xff) == PUSHF;
	status = go_on(PTRACE_SINGLESTEP, signal_of(status));
	if (!WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return status;
	if (pushes)
		ptrace(PTRACE_POKEDATA, pid, regs.rsp, ptrace(PTRACE_PEEKDATA, pid, regs.rsp, 0) & ~(long)TRAP_FLAG);
	if (regs.eflags & TRAP_FLAG) {
		regs.eflags &= ~(unsigned long long)TRAP_FLAG;
		ptrace(PTRACE_SETREGS, pid, 0, &regs);
	}
	return status;
}

/* On to where turns enter the cache: found by steps the first time, then by a breakpoint. */
static int enter(int status)
{
	static unsigned long place;
	if (!place) {
		while (WIFSTOPPED(status) && !in_cache())
			status = step(status);
		place = regs.rip;
		return status;
	}
	long there = code_at(place, -1);
	ptrace(PTRACE_POKETEXT, pid, place, (there & ~0xffl) | INT3);
	status = go_on(PTRACE_CONT, 0);
	if (!WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, 0, &regs) || regs.rip != place + 1)
		fail("a turn enters the cache elsewhere");
	ptrace(PTRACE_POKETEXT, pid, place, there);
	regs.rip = place;
	ptrace(PTRACE_SETREGS, pid, 0, &regs);
	return status;
}

/* The command's program, which waits for a byte. */
static void take_hold(int from)
{
	int status;
	if (read(from, &pid, sizeof pid) != sizeof pid)
		fail("the program did not say its number");
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD)) {
		printf("%s\n", strerror(errno));
		exit(77);
	}
	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) || waitpid(pid, &status, __WALL) != pid)
		fail("the program cannot be traced");
	find_caches();
}

int main(int argc, char **argv)
{
	int to[2], from[2], status, signals = 0, turns = 0, send = 0;
	bool begins = false, everywhere = false;
	if (argc < 2 || pipe(to) || pipe(from))
		return 2;
	pid_t child = fork();
	if (child == 0) {
		dup2(to[0], 0), dup2(from[1], 1);
		close(to[0]), close(to[1]), close(from[0]), close(from[1]);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	close(from[1]);
	take_hold(from[0]);
	if (write(to[1], "", 1) != 1)
		fail("write");
	for (;;) {
		status = go_on(PTRACE_SYSCALL, send);
		if (!WIFSTOPPED(status))
			break;
		send = signal_of(status);
		if (WSTOPSIG(status) != SYSCALL_STOP || ptrace(PTRACE_GETREGS, pid, 0, &regs) || regs.orig_rax != GETPPID)
			continue;
		begins = !begins; /* the call, or its end */
		turns += begins;
		if (begins || turns <= UNTOUCHED || everywhere)
			continue;
		status = enter(status);
		for (int left = signals; left > 0 && !everywhere && WIFSTOPPED(status); left -= in_cache()) {
			status = step(status);
			everywhere = regs.rax == GETPPID && !in_cache() && code_at(regs.rip, 0xffff) == SYSCALL;
		}
		if (!WIFSTOPPED(status))
			break;
		if (!everywhere)
			signals++, send = SIGUSR1;
	}
	waitpid(child, &status, 0);
	printf("%d %d\n", signals, turns);
	return !everywhere || !WIFEXITED(status) || WEXITSTATUS(status);
}
