/* Starting a program and holding it just before its exec. */
#ifndef TARE_BACKEND_LAUNCH_H
#define TARE_BACKEND_LAUNCH_H

#include <stdint.h>
#include <sys/resource.h>

#include "backend/backend.h"

struct held;

struct launch {
	pid_t pid;            /* of the held process; leads no process group of its own */
	int go_fd;            /* writing a byte lets it go */
	int failed_fd;        /* gives the exec's errno, or end-of-file when the exec succeeded */
	struct held *held;    /* what the process reads until its exec */
	int refused;          /* the errno of a byte that could not be sent */
	struct rusage before; /* after launch_go(): the process's own up to its exec, which is tare's doing */
	uint64_t before_ns;   /* after launch_now(): from the call to the exec, likewise */
};

/* The path of a command's program, as the PATH that it will have finds it; the caller frees it. NULL on failure:
 * not there, not executable, a directory. */
char *launch_find(const struct command *command, struct error *err);

/* Why a program cannot be executed; returns false. */
bool launch_cannot_execute(struct error *err, const char *name, int os_errno);

/* Looks the program up in PATH first, so that a missing program is an error before any process exists.
 * The held child has done everything but execve(2): streams moved, signals reset to tare's inherited
 * dispositions and mask. On failure no process is left. */
bool launch_hold(const struct command *command, struct launch *out, struct error *err);

/* Sends the byte, and waits for nothing: for a caller that traces the process. One that cannot be let go is ended;
 * launch_go() then says why. */
void launch_release(struct launch *launch);

/* Lets it go and waits until the exec has succeeded or failed. A failure reaps the process. */
bool launch_go(struct launch *launch, const struct command *command, struct error *err);

/* Both at once: for a caller to which a held process is of no use. It takes fewer system calls, and wakes tare
 * once instead of three times: 0.2 ms of CPU time less, of a program of 1 ms. */
bool launch_now(const struct command *command, struct launch *out, struct error *err);

/* Ends and reaps a process that was never let go; closes the descriptors in any state. */
void launch_abandon(struct launch *launch);

#endif
