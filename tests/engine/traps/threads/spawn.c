/* fact: posix_spawn, system and popen run programs with file actions, attributes and search */
#include "trap.h"
#include <spawn.h>
#include <sys/stat.h>

extern char **environ;
int main(void)
{
	int ends[2], status;
	char text[256] = { 0 };
	pid_t child;
	if (pipe(ends))
		return 2;
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	sigset_t set;
	sigemptyset(&set), sigaddset(&set, SIGUSR1);
	posix_spawnattr_setsigmask(&attributes, &set);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	char *arguments[] = { "grep", "-E", "^SigBlk", "/proc/self/status", NULL };
	fact_equal(posix_spawnp(&child, "grep", &actions, &attributes, arguments, environ), 0,
		   "posix_spawnp finds grep");
	fact_equal(end_of(child), 0, "it ends well");
	close(ends[1]);
	for (long at = 0, got; at < 255 && (got = read(ends[0], text + at, 255 - (size_t)at)) > 0; at += got)
		;
	fact(strstr(text, "0000000000000200"), "file actions, mask and arguments arrived");
	fact_equal(posix_spawn(&child, "/nonexistent", NULL, NULL, arguments, environ), ENOENT,
		   "a missing program is ENOENT");
	status = system("exit 3");
	fact_equal(WEXITSTATUS(status), 3, "system gives the status");
	status = system("kill -TERM $$");
	fact(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "system gives the signal");
	FILE *pipe_in = popen("seq 3 | tac | tr '\\n' ,", "r");
	fact(fgets(text, 100, pipe_in) && strcmp(text, "3,2,1,") == 0, "popen of a pipe");
	fact_equal(pclose(pipe_in), 0, "pclose");
	return trap_done();
}
