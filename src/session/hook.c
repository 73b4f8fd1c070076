#include "session/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void child(const char *command, const char *directory, bool shown)
{
	static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
		struct sigaction old;
		if (sigaction(ours[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			signal(ours[i], SIG_DFL);
	}
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(shown ? STDERR_FILENO : nothing, STDOUT_FILENO) < 0 ||
	    (!shown && dup2(nothing, STDERR_FILENO) < 0) || (directory && chdir(directory) != 0))
		_exit(126);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

bool hook_run(const char *what, const char *command, const char *directory, bool shown, struct error *err)
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		child(command, directory, shown);
	if (pid < 0)
		return error_set_errno(err, ERROR_SYSTEM, errno, "cannot start the command of %s", what);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set_errno(err, ERROR_SYSTEM, errno, "cannot wait for the command of %s",
					       what);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	if (WIFSIGNALED(status))
		error_set(err, ERROR_SYSTEM, "the command of %s was killed by signal %d: %.300s", what,
			  WTERMSIG(status), command);
	else
		error_set(err, ERROR_SYSTEM, "the command of %s ended with status %d: %.300s", what,
			  WEXITSTATUS(status), command);
	return shown ? false : error_hint(err, "--program-output all shows what it says");
}
