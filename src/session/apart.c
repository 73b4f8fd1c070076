#include "session/apart.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/interrupt.h"

/* The one thing that a signal handler can reach. */
static volatile sig_atomic_t tare_pid;

static void pass_on(int number, siginfo_t *info, void *context)
{
	int reason = errno;
	(void)context;
	interrupt_pass_on((pid_t)tare_pid, number, info);
	errno = reason;
}

static void pass_on_unless_ignored(int number)
{
	const struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO};
	struct sigaction old;
	if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

/* Every signal is blocked. */
_Noreturn static void end_by(int number)
{
	const struct rlimit none = {0, 0}; /* tare has left the core */
	sigset_t others;
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	sigfillset(&others);
	sigdelset(&others, number);
	raise(number);
	sigprocmask(SIG_SETMASK, &others, NULL);
	_exit(128 + number);
}

/* mask: what was blocked before. */
_Noreturn static void stand_in(const sigset_t *mask)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	siginfo_t ended;
	sigset_t all;
	int status = 0;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		pass_on_unless_ignored(numbers[i]);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, mask, NULL);
	while (waitid(P_PID, (id_t)tare_pid, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR)
		;
	/* once it is waited for, its number may be another process's: no signal goes there */
	sigprocmask(SIG_SETMASK, &all, NULL);
	waitpid((pid_t)tare_pid, &status, 0);
	if (WIFSIGNALED(status))
		end_by(WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

static bool is_at_terminal(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (tcgetpgrp(fd) >= 0) /* the one that controls this session */
			return true;
	return false;
}

/* A group of its own, which it does not lead: a leader cannot leave its session. Where it cannot be made, tare
 * stays in the launcher's group until it leaves the session. SIGCHLD is not ignored. */
static void leave_group(void)
{
	pid_t leader = fork();
	if (leader == 0)
		_exit(0);
	if (leader < 0)
		return;
	setpgid(leader, leader); /* it may have ended: its number is its own until it is waited for */
	setpgid(0, leader);
	while (waitpid(leader, NULL, 0) < 0 && errno == EINTR)
		;
}

bool apart_begin(struct apart *out, struct error *err)
{
	const struct sigaction waited_for = {.sa_handler = SIG_DFL};
	const pid_t caller = getpid(), group = getpgrp();
	struct sigaction child_action;
	sigset_t all, mask;
	*out = (struct apart){0};
	if (is_at_terminal())
		return true;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask); /* none is lost between */
	/* if the launcher ignores it, the kernel keeps no status for the stand-in */
	sigaction(SIGCHLD, &waited_for, &child_action);
	pid_t pid = fork();
	int reason = errno;
	if (pid > 0) {
		tare_pid = pid;
		stand_in(&mask);
	}
	if (pid == 0)
		leave_group();
	sigaction(SIGCHLD, &child_action, NULL);
	if (pid == 0) {
		*out = (struct apart){.stand_in = caller, .group = group};
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (apart_is_alone(out))
			raise(SIGTERM);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return pid == 0 ||
	       error_set_errno(err, ERROR_LIMIT, reason, "cannot start a process for this rank (fork(2))");
}

bool apart_is_alone(const struct apart *apart) { return apart->stand_in && getppid() != apart->stand_in; }
