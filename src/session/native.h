/* One execution of a program without an engine: its times as the system accounts for them, and what its threads
 * wait for, by looking at them.
 *
 * Every look reads /proc/PID/task/TID/syscall of all threads of the program and of its children: "running", or the
 * system call that the thread is in. That needs no privilege for a program of one's own. Looks are 1 ms apart,
 * later more (native.c). What is looked at is the program's time; nothing stops it. */
#ifndef TARE_SESSION_NATIVE_H
#define TARE_SESSION_NATIVE_H

#include <signal.h>

#include "backend/backend.h"
#include "explain/causes.h"

/* Executes the command to its end. *status: as wait4(2) gives it. ERROR_SYSTEM with "interrupted": the user
 * wants to stop. */
bool native_run(const struct command *command, const volatile sig_atomic_t *interrupt, struct native_times *out,
		int *status, struct error *err);

/* The system call that a thread is in: -1 in none; NATIVE_JOINING: in futex(2) until another thread ends. False:
 * it runs, has ended, or may not be looked at. */
enum { NATIVE_JOINING = 1 << 20 };
bool native_look(pid_t pid, pid_t tid, long *call);

/* What a thread in this system call waits for; number -1: in none (a page fault). */
enum cause native_cause_of(long number);

#endif
