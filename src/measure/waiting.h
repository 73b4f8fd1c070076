/* Waiting for a program, attached processes, a delay or the user, without losing a signal and without polling
 * where nothing has to be polled.
 *
 * The signals that matter are blocked while the conditions are looked at, and let through only inside ppoll(2):
 * a signal between the look and the sleep cannot be missed. SIGCHLD gets a handler that does nothing for as long
 * as the waiter lives, because an ignored one neither wakes ppoll nor keeps the exit status. */
#ifndef TARE_MEASURE_WAITING_H
#define TARE_MEASURE_WAITING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "backend/backend.h"
#include "base/clock.h"

struct waiter {
	struct sigaction old_child_action;
	bool deaf; /* the end of a child wakes nobody (a seccomp filter): it is looked for */
	const volatile sig_atomic_t *interrupt; /* may be NULL; see struct measure_options */
	const struct clock *clock;
};

void waiter_open(struct waiter *w, const volatile sig_atomic_t *interrupt, const struct clock *clock);
void waiter_close(struct waiter *w);
bool waiter_interrupted(const struct waiter *w);

struct wait_for {
	pid_t process;               /* a child to wait for; 0: none */
	const struct target *target; /* PROCESSES and THREADS end when all of them are gone */
	uint64_t delay_ns;           /* without a child: the longest wait; 0: no bound */
	uint64_t timeout_ns;         /* a child that runs so long is told to end; 0: never */
	uint64_t tick_ns;            /* call tick() this often; 0: never */
	const int *wakes;            /* call it also when this descriptor is readable; NULL: there is none */
	void (*tick)(void *context, uint64_t now_ns, uint64_t *tick_ns);
	void *context;
};

struct waited {
	bool ended;       /* the child was reaped: status and usage hold */
	bool interrupted; /* the user asked to stop before the end */
	bool timed_out;   /* the child was told to end, after timeout_ns */
	bool lost;        /* the child's status went to somebody else */
	int status;
	struct rusage usage;
};

/* After an interrupt a child has this long to end; then the wait is over and it lives on. After a time-out
 * (SIGTERM, and SIGCONT for a child that is stopped) likewise, then it is killed. */
static const uint64_t WAIT_GRACE_NS = 2000000000u;

void wait_until(struct waiter *w, const struct wait_for *what, struct waited *out);

#endif
