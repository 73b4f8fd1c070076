/* A program started as the engine wants it, for programs of the tests without another layer: held before it executes, so that the engine
 * can take it. Who signals the test's program means the program. */
#ifndef TARE_TESTS_ENGINE_HELD_H
#define TARE_TESTS_ENGINE_HELD_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/inject/injection.h"

/* Executes argv when *release is closed. fixed: at the same addresses each time; out: becomes its standard output. */
static inline pid_t held(char **argv, bool fixed, int out, int *release)
{
	int hold[2];
	if (pipe(hold))
		exit(3);
	pid_t pid = fork();
	if (pid == 0) {
		char byte;
		close(hold[1]);
		if (fixed)
			personality(ADDR_NO_RANDOMIZE);
		dup2(out, 1);
		if (read(hold[0], &byte, 1) < 0)
			_exit(126);
		close(hold[0]);
		execvp(argv[0], argv);
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(hold[0]);
	*release = hold[1];
	return pid;
}

static inline void held_release(void *release) { close(*(int *)release); }

/* An injection of these options that has taken the program; NULL: why not is printed. */
static inline struct injection *held_taken(const char *name, const struct injection_options *options, char **argv,
					   bool fixed, int out, pid_t *pid)
{
	struct injection *injection;
	struct error err = {0};
	int release;
	if (!injection_new(options, &injection, &err)) {
		fprintf(stderr, "%s: %s\n", name, err.text);
		return NULL;
	}
	*pid = held(argv, fixed, out, &release);
	enum injection_taken taken = injection_take(injection, *pid, held_release, &release, &err);
	if (taken == INJECTION_TAKEN)
		return injection;
	fprintf(stderr, "%s: %s\n", name, taken == INJECTION_FAILED ? err.text : "cannot execute the program");
	injection_free(injection);
	return NULL;
}

static volatile pid_t held_forward_to;
static inline void held_forward(int signo) { kill(held_forward_to, signo); }

/* Its end. */
static inline int held_wait(pid_t pid)
{
	static const int forwarded[] = {SIGHUP, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};
	int status;
	held_forward_to = pid;
	for (unsigned k = 0; k < sizeof forwarded / sizeof *forwarded; k++)
		signal(forwarded[k], held_forward);
	/* a terminal signals both */
	signal(SIGINT, isatty(0) ? SIG_IGN : held_forward), signal(SIGQUIT, isatty(0) ? SIG_IGN : held_forward);
	while (waitpid(pid, &status, 0) < 0)
		continue;
	return status;
}

/* Ends as the program ended: by its signal, or with the exit status that this gives. */
static inline int held_ended(int status)
{
	if (WIFSIGNALED(status)) {
		struct rlimit none = {0, 0};
		setrlimit(RLIMIT_CORE, &none);
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
