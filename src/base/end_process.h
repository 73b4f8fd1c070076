/* Ending a process for certain: a wait for it then depends on nothing else. */
#ifndef TARE_BASE_END_PROCESS_H
#define TARE_BASE_END_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* By kill(2), or where a seccomp filter refuses that, by tgkill(2). False: the process lives. */
static inline bool end_process(pid_t pid)
{
	return kill(pid, SIGKILL) == 0 || syscall(SYS_tgkill, pid, pid, SIGKILL) == 0;
}

#endif
