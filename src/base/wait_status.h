/* What a shell's $? is for a status that waitpid() gave: the exit status, or 128 and the signal that killed it. */
#ifndef TARE_BASE_WAIT_STATUS_H
#define TARE_BASE_WAIT_STATUS_H

#include <sys/wait.h>

static inline int wait_status_shell(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
