/* Signals: arrival, frames, return, masks, alternate stacks. */
#ifndef TARE_ENGINE_RUNTIME_OS_SIGNAL_H
#define TARE_ENGINE_RUNTIME_OS_SIGNAL_H

#include "engine/runtime/os/sys.h"

#define SS_DISABLE 2u

struct siginfo;
struct thread;

#pragma GCC visibility push(hidden)

/* os/signal.c */
void signals_start(struct thread *t);
void signals_thread(struct thread *t);
void signal_ignore_in_kernel(int signo);
void signals_clear(struct thread *t); /* as CLONE_CLEAR_SIGHAND */
void signal_set_mask(struct thread *t, uint64_t mask);
long signal_action(struct thread *t, uint64_t signo, uint64_t new, uint64_t old, uint64_t size);
long signal_mask(struct thread *t, uint64_t how, uint64_t set, uint64_t old, uint64_t size);
long signal_altstack(struct thread *t, uint64_t new, uint64_t old);

/* os/signal_arrival.c */
void runtime_signal(int signo, struct siginfo *info, void *context);
void signal_force(struct thread *t, int signo, int code, uint64_t address);

/* os/signal_delivery.c */
void signal_deliver(struct thread *t);
/* by its default action, whatever the program's is */
void signal_end(struct thread *t, int signo) __attribute__((noreturn));
void signal_return(struct thread *t);

/* os/signal_held.c */
uint64_t signals_held(const struct thread *t); /* sent to it or to its process, and blocked when they came */
void signal_release_held(struct thread *t);
void signal_requeue_held(struct thread *t); /* the kernel blocks them now */
enum signals_shown {
	SIGNALS_AS_EVER,
	SIGNALS_SHOWN /* signals_hide() */,
	SIGNALS_CAME /* the call is not made */
};
enum signals_shown signals_show(struct thread *t, uint64_t nr);
void signals_hide(struct thread *t);
void signals_as_sent(const struct thread *t, uint64_t nr, long result);

#pragma GCC visibility pop
#endif
