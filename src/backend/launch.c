/* Starting a program and holding it just before its exec.
 *
 *     launch_hold: find the program ──► clone ──► streams, signals ──► "held" ──► wait for a byte
 *     launch_go:   send the byte ──► execve ──► end-of-file on failed_fd (or the errno that it failed with)
 *     launch_now:  find the program ──► clone, as vfork(2) ──► streams, signals ──► execve; tare sleeps until then
 *
 * 1. The child's last act before execve(2) is to receive the byte: counters that are enabled by the exec count
 *    nothing of tare.
 * 2. The control descriptors are close-on-exec and never 0, 1 or 2: the program sees the descriptors that tare was
 *    started with, and no other.
 * 3. Every signal is blocked in the child until its exec, and its handlers are put away: a signal meant for the
 *    program ends it as it would without tare, and never runs tare's handler in the child.
 * 4. The child shares tare's memory until its exec, as vfork(2)'s does: to copy the tables of tare's memory and to
 *    give the copy up again takes as long as a short program (measured: 1.0 ms against 0.5). Unlike vfork's, tare
 *    goes on beside it while it is held. So the child has a stack of its own; until it has said "held", tare
 *    waits; from then on it makes system calls, and touches nothing else. launch_now()'s has some of tare's stack.
 * 5. A program for another process group is born in it: tare goes there first, and leaves by a session of its
 *    own. */
#include "backend/launch.h"

#include "backend/padding.h"
#include "base/clock.h"
#include "base/end_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* the child's; of one that runs while tare sleeps, in tare's own */
enum { STACK_BYTES = 64 * 1024, STACK_NOW_BYTES = 32 * 1024 };

/* What the child says when it is held, just before it executes, and once more when it could not. */
struct word {
	struct rusage usage;
	int os_errno; /* 0: all is well so far */
	int stream;   /* the stream that could not be moved; -1: the exec itself; NOT_REPRODUCIBLE */
};

/* ---- descriptors ---- */

/* A pair of connected descriptors above 2, close-on-exec. A socket, because writing to a child that has died must
 * be an error and no SIGPIPE. */
static bool open_channel(int fds[2])
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	bool done = true;
	for (int i = 0; i < 2; i++) {
		fds[i] = pair[i];
		if (pair[i] > STDERR_FILENO)
			continue;
		fds[i] = fcntl(pair[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		int reason = errno;
		close(pair[i]);
		errno = reason;
		done = done && fds[i] >= 0;
	}
	if (!done) {
		int reason = errno;
		for (int i = 0; i < 2; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		errno = reason;
	}
	return done;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- the child, in tare's memory ---- */

/* What the child reads until its exec: it stays as it is until then. */
struct held {
	char *path;
	char *const *environment;
	char **padded; /* NULL, or the environment, which is then its own */
	const struct command *command;
	int go[2], failed[2];
	sigset_t mask;
	char *stack;
	/* launch_now(): the child's last word, and CLOCK_MONOTONIC then */
	struct word last;
	struct timespec at_exec;
	bool handlers_away; /* the kernel has put them away */
};

/* No frame of the child's may be noted as one of tare's. */
#define IN_CHILD __attribute__((no_sanitize("address"), no_sanitize("undefined")))

IN_CHILD static void put_handlers_away(void)
{
	struct sigaction action;
	for (int number = 1; number < NSIG; number++) {
		if (sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN ||
		    action.sa_handler == SIG_DFL)
			continue;
		action = (struct sigaction){.sa_handler = SIG_DFL};
		sigaction(number, &action, NULL);
	}
}

/* Moves the command's streams to 0, 1 and 2. -1, or the stream that could not be moved (errno says why). */
IN_CHILD static int move_streams(const struct command *command)
{
	int from[3] = {command->stdin_fd, command->stdout_fd, command->stderr_fd};
	/* a source below 3 that is not in its place would be overwritten before its turn */
	for (int i = 0; i < 3; i++)
		if (from[i] >= 0 && from[i] < 3 && from[i] != i)
			if ((from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 3)) < 0)
				return i;
	for (int i = 0; i < 3; i++) {
		if (from[i] < 0)
			continue;
		if (from[i] == i ? fcntl(i, F_SETFD, 0) < 0 : dup2(from[i], i) < 0)
			return i;
	}
	return -1;
}

enum { NOT_REPRODUCIBLE = 3 };

/* What the kernel would choose anew each time, chosen. False, with errno, where that is not allowed. */
IN_CHILD static bool make_reproducible(sigset_t *mask)
{
	/* programs look at what is ignored, and leave it so; SIGHUP stays as it is: nohup's is meant */
	for (int s = 1; s < SIGRTMAX; s++)
		if (s != SIGHUP && s != SIGKILL && s != SIGSTOP)
			signal(s, SIG_DFL);
	sigemptyset(mask);
	cpu_set_t allowed, one;
	int persona = personality(0xffffffff);
	if (persona == -1 || personality((unsigned long)persona | ADDR_NO_RANDOMIZE) == -1)
		return false;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return false;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed)) {
			CPU_SET(cpu, &one);
			break;
		}
	return sched_setaffinity(0, sizeof one, &one) == 0;
}

/* A system call that leaves errno alone, which is tare's: its value, or the negative error. */
IN_CHILD static inline long call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	long value;
	register long r10 __asm__("r10") = d;
	__asm__ volatile("syscall"
			 : "=a"(value)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return value;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
			 x3 __asm__("x3") = d;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
#error "a system call without errno is to be written for this machine"
#endif
}

IN_CHILD static bool say(int fd, const struct word *word)
{
	long written;
	while ((written = call(SYS_write, fd, (long)word, sizeof *word, 0)) == -EINTR)
		;
	return written == (long)sizeof *word;
}

/* Whatever a seccomp filter refuses. */
IN_CHILD _Noreturn static void leave(int status)
{
	call(SYS_exit_group, status, 0, 0, 0);
	call(SYS_exit, status, 0, 0, 0);
	__builtin_trap();
}

/* Waits for the byte, and executes. Here tare goes on meanwhile: nothing of the C library is called. */
IN_CHILD _Noreturn static void execute(const struct held *held, int go_fd, int failed_fd)
{
	struct word word = {.stream = -1};
	char byte;
	long got;
	while ((got = call(SYS_read, go_fd, (long)&byte, 1, 0)) == -EINTR)
		;
	if (got == 1) { /* else tare is gone, or wants it no more */
		call(SYS_getrusage, RUSAGE_SELF, (long)&word.usage, 0, 0);
		say(failed_fd, &word);
		call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&held->mask, 0, NSIG / 8);
		word.os_errno = (int)-call(SYS_execve, (long)held->path, (long)held->command->argv,
					   (long)held->environment, 0);
		say(failed_fd, &word);
	}
	leave(got == 1 ? 127 : 126);
}

/* Tare waits meanwhile: errno is the child's. False: word says why. */
IN_CHILD static bool become(struct held *held, struct word *word)
{
	if (!held->handlers_away)
		put_handlers_away();
	word->stream = move_streams(held->command);
	word->os_errno = word->stream < 0 ? 0 : errno;
	if (word->stream < 0 && held->command->reproducible && !make_reproducible(&held->mask)) {
		word->stream = NOT_REPRODUCIBLE;
		word->os_errno = errno;
	}
	return word->os_errno == 0;
}

IN_CHILD static int child(void *context)
{
	struct held *held = context;
	const int go_fd = held->go[0], failed_fd = held->failed[1]; /* tare closes its own */
	struct word word = {0};
	close(held->go[1]);
	close(held->failed[0]);
	become(held, &word);
	if (!say(failed_fd, &word) || word.os_errno)
		leave(127);
	execute(held, go_fd, failed_fd);
}

IN_CHILD static int child_now(void *context)
{
	struct held *held = context;
	if (become(held, &held->last)) {
		call(SYS_getrusage, RUSAGE_SELF, (long)&held->last.usage, 0, 0);
		call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&held->at_exec, 0, 0);
		call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&held->mask, 0, NSIG / 8);
		held->last.os_errno = (int)-call(SYS_execve, (long)held->path, (long)held->command->argv,
						 (long)held->environment, 0);
	}
	leave(127);
}

/* clone3(2) of this thread into function(context), which does not return, on a stack whose ends are aligned. The C
 * library has no call for it. The child's id, or the negative error. */
static long clone_into(struct clone_args *how, int (*function)(void *), void *context)
{
#if defined(__x86_64__)
	long value;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "mov %[context], %%rdi\n\t"
			 "call *%[function]\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(value)
			 : "a"(SYS_clone3), "D"(how),
			   "S"(sizeof *how), [function] "r"(function), [context] "r"(context)
			 : "rcx", "r11", "memory");
	return value;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_clone3, x0 __asm__("x0") = (long)how, x1 __asm__("x1") = sizeof *how;
	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x0, %[context]\n\t"
			 "blr %[function]\n\t"
			 "brk 0\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), [function] "r"(function), [context] "r"(context)
			 : "x30", "memory");
	return x0;
#endif
}

/* ---- the parent ---- */

/* Tare sleeps until the child's exec. clone3(2) puts the handlers away at once, where 71 system calls of the child
 * do so one by one; the kernels before 5.5 refuse it, and some seccomp filters, each with an error of its own. */
static pid_t clone_now(struct held *held)
{
	_Alignas(16) char stack[STACK_NOW_BYTES];
	struct clone_args how = {.flags = CLONE_VM | CLONE_VFORK | CLONE_CLEAR_SIGHAND,
				 .exit_signal = SIGCHLD,
				 .stack = (uint64_t)(uintptr_t)stack,
				 .stack_size = sizeof stack};
	held->handlers_away = true;
	long pid = clone_into(&how, child_now, held);
	if (pid > 0)
		return (pid_t)pid;
	held->handlers_away = false;
	return clone(child_now, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, held);
}

static void held_free(struct held *held)
{
	if (!held)
		return;
	for (int i = 0; i < 2; i++) {
		close_fd(&held->go[i]);
		close_fd(&held->failed[i]);
	}
	if (held->stack)
		munmap(held->stack, STACK_BYTES);
	free(held->padded);
	free(held->path);
	free(held);
}

/* now: for launch_now(), which needs no channels and no stack. */
static struct held *held_new(const struct command *command, bool now, struct error *err)
{
	struct held *held = calloc(1, sizeof *held);
	if (!held) {
		error_no_memory(err);
		return NULL;
	}
	held->go[0] = held->go[1] = held->failed[0] = held->failed[1] = -1;
	held->command = command;
	held->environment = command->environment ? command->environment : environ;
	if (!(held->path = launch_find(command, err)))
		goto fail;
	if (command->reproducible) {
		if (!(held->padded = padded_environment(held->environment, held->path))) {
			error_no_memory(err);
			goto fail;
		}
		held->environment = held->padded;
	}
	if (now)
		return held;
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1,
			   0);
	if (stack == MAP_FAILED) {
		error_no_memory(err);
		goto fail;
	}
	held->stack = stack;
	if (open_channel(held->go) && open_channel(held->failed))
		return held;
	error_set_errno(err, errno == EMFILE || errno == ENFILE ? ERROR_LIMIT : ERROR_SYSTEM, errno,
			"cannot start '%s' (socketpair(2))", command->argv[0]);
fail:
	held_free(held);
	return NULL;
}

/* A child is born in its parent's group and session. */
static void join_group(const struct command *command)
{
	if (command->group) /* where it is gone, its processes are, and tare's interrupt comes */
		setpgid(0, command->group);
}

static void leave_session(const struct command *command)
{
	if (command->group)
		setsid();
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* False at the end. */
static bool hear(int fd, struct word *word)
{
	size_t have = 0;
	while (have < sizeof *word) {
		ssize_t got = read(fd, (char *)word + have, sizeof *word - have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		have += (size_t)got;
	}
	return true;
}

/* Why the child did not come to its exec. */
static bool not_executed(const struct word *word, const struct command *command, struct error *err)
{
	static const char *const streams[] = {"input", "output", "error"};
	if (word->stream == NOT_REPRODUCIBLE) {
		error_set_errno(err, ERROR_PERMISSION, word->os_errno,
				"cannot make the execution of '%s' reproducible", command->argv[0]);
		return error_hint(err, "containers often forbid personality(2), which switches address "
				       "randomisation off; allow it, or run without --reproducible");
	}
	if (word->stream >= 0)
		return error_set_errno(err, ERROR_SYSTEM, word->os_errno, "cannot give '%s' its standard %s",
				       command->argv[0], streams[word->stream]);
	if (word->os_errno == ENOENT) {
		/* the file itself was found */
		error_set(err, ERROR_NOT_FOUND, "cannot execute '%s': its interpreter does not exist",
			  command->argv[0]);
		return error_hint(err, "see its first line ('#!'), or for a binary the loader that 'file' names");
	}
	return launch_cannot_execute(err, command->argv[0], word->os_errno);
}

static bool not_cloned(const struct command *command, int reason, struct error *err)
{
	error_set_errno(err, reason == ENOMEM ? ERROR_NO_MEMORY : ERROR_LIMIT, reason,
			"cannot start '%s' (clone(2))", command->argv[0]);
	return reason == EAGAIN && error_hint(err, "the limit on processes is reached (ulimit -u, or the pids "
						   "limit of a container)");
}

bool launch_hold(const struct command *command, struct launch *out, struct error *err)
{
	struct word word = {0};
	sigset_t all;
	*out = (struct launch){.go_fd = -1, .failed_fd = -1};
	struct held *held = held_new(command, false, err);
	if (!held)
		return false;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &held->mask);
	const sigset_t mask = held->mask; /* the child may choose another one */
	join_group(command);
	pid_t pid = clone(child, held->stack + STACK_BYTES, CLONE_VM | SIGCHLD, held);
	int reason = errno;
	close(held->go[0]); /* the child still reads their numbers */
	close(held->failed[1]);
	if (pid > 0)
		hear(held->failed[0], &word); /* nothing when it was killed: waiting for it shows that */
	leave_session(command);
	held->go[0] = held->failed[1] = -1;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0 && word.os_errno == 0) {
		*out = (struct launch){
			.pid = pid, .go_fd = held->go[1], .failed_fd = held->failed[0], .held = held};
		held->go[1] = held->failed[0] = -1;
		return true;
	}
	if (pid > 0) {
		reap(pid);
		not_executed(&word, command, err);
	} else {
		not_cloned(command, reason, err);
	}
	held_free(held);
	return false;
}

static uint64_t now_ns(void)
{
	const struct clock clock = clock_monotonic();
	return clock_now_ns(&clock);
}

bool launch_now(const struct command *command, struct launch *out, struct error *err)
{
	const uint64_t begin_ns = now_ns();
	sigset_t all;
	*out = (struct launch){.go_fd = -1, .failed_fd = -1};
	struct held *held = held_new(command, true, err);
	if (!held)
		return false;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &held->mask);
	const sigset_t mask = held->mask; /* the child may choose another one */
	join_group(command);
	pid_t pid = clone_now(held);
	int reason = errno;
	leave_session(command);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	bool done = pid > 0 && held->last.os_errno == 0;
	if (done) {
		uint64_t at_exec_ns = (uint64_t)held->at_exec.tv_sec * 1000000000u +
				      (uint64_t)held->at_exec.tv_nsec;
		/* a signal may have ended it before that */
		*out = (struct launch){.pid = pid,
				       .go_fd = -1,
				       .failed_fd = -1,
				       .before = held->last.usage,
				       .before_ns = at_exec_ns > begin_ns ? at_exec_ns - begin_ns : 0};
	} else if (pid > 0) {
		reap(pid);
		not_executed(&held->last, command, err);
	} else {
		not_cloned(command, reason, err);
	}
	held_free(held);
	return done;
}

void launch_release(struct launch *launch)
{
	/* a child that a signal has ended takes no byte; then there is no failure to read, and the caller that
	 * waits for it sees the signal */
	ssize_t sent;
	while ((sent = send(launch->go_fd, "g", 1, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	if (sent >= 0 || errno == EPIPE || errno == ECONNRESET)
		return;
	launch->refused = errno;
	end_process(launch->pid);
}

bool launch_go(struct launch *launch, const struct command *command, struct error *err)
{
	struct word word;
	if (!launch->refused)
		launch_release(launch);
	close_fd(&launch->go_fd);
	bool failed = false;
	while (!failed && hear(launch->failed_fd, &word)) {
		failed = word.os_errno != 0;
		if (!failed)
			launch->before = word.usage;
	}
	close_fd(&launch->failed_fd);
	if (failed || launch->refused) {
		reap(launch->pid);
		launch->pid = 0;
	}
	held_free(launch->held);
	launch->held = NULL;
	if (launch->refused)
		return error_set_errno(err, ERROR_SYSTEM, launch->refused, "cannot start '%s' (sendto(2))",
				       command->argv[0]);
	return !failed || not_executed(&word, command, err);
}

void launch_abandon(struct launch *launch)
{
	if (launch->go_fd >= 0 && launch->pid > 0) {
		if (end_process(launch->pid))
			reap(launch->pid);
		launch->pid = 0;
	}
	close_fd(&launch->go_fd);
	close_fd(&launch->failed_fd);
	held_free(launch->held);
	launch->held = NULL;
}
