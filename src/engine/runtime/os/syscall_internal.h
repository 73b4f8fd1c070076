/* What the files about system calls share: syscall.c, syscall_32.c, exec.c, rseq.c, user_dispatch.c. */
#ifndef TARE_ENGINE_RUNTIME_OS_SYSCALL_INTERNAL_H
#define TARE_ENGINE_RUNTIME_OS_SYSCALL_INTERNAL_H

#include "engine/runtime/thread.h"

#pragma GCC visibility push(hidden)

/* os/exec.c: execve and execveat. */
long exec_call(struct thread *t, uint64_t nr);

/* os/rseq.c */
long rseq_call(struct thread *t, uint64_t nr);
/* At each system call: has a critical section begun that the engine cannot restart? */
void rseq_watch(struct thread *t);

/* os/user_dispatch.c */
enum { PR_SYSCALL_USER_DISPATCH = 59 };
long dispatch_set(struct thread *t);
/* The call before `next` is not to be made: a signal is on its way, or ends the process. */
bool dispatch_takes(struct thread *t, uint64_t next);

#pragma GCC visibility pop
#endif
