/*
 * execve: this program's counts are closed, and the attendant takes the next one over (wire/record.h).
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/os/signal.h"
#include "engine/runtime/os/syscall_internal.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/stream/stream.h"

/* The attendant is asked to follow this thread through the execve; see wire/record.h. */
static bool ask_to_follow(struct thread *t)
{
	struct record_head *s = rt.record;
	struct record_process *process = t->process;
	struct {
		int64_t seconds, ns;
	} wait = {0, 100000000};
	uint32_t attendant = __atomic_load_n(&s->attendant_pid, __ATOMIC_ACQUIRE);
	if (!attendant || !attendant_lives()) {
		if (attendant)
			inexact_process(process, "what followed the programs that it execs has ended");
		return false;
	}
	sys2(SYS_prctl, PR_SET_PTRACER_, attendant);
	process->ask_tid = (uint32_t)sys0(SYS_gettid);
	__atomic_store_n(&process->ask, RECORD_ASK_EXEC, __ATOMIC_RELEASE);
	request(process);
	for (;;) {
		uint32_t answer = __atomic_load_n(&process->ask, __ATOMIC_ACQUIRE);
		if (answer == RECORD_ASK_GRANTED || answer == RECORD_ASK_REFUSED)
			return true;
		if (!attendant_lives()) {
			inexact_process(process, "what followed the programs that it execs has ended");
			return false;
		}
		sys4(SYS_futex, &process->ask, FUTEX_WAIT_, answer, &wait);
	}
}

long exec_call(struct thread *t, uint64_t nr)
{
	uint64_t all = ~0ull;
	bool own = t->process == rt.process;
	if (t->attention & ATTENTION_SIGNAL)
		return ABORTED;
	sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &all, 0, MASK_BYTES);
	lock();
	if (own)
		others_end(t, "a thread could not be stopped before an execve");
	stream_end(t);
	regions_end(t);
	if (!own) { /* a vfork's child: its blocks are its parent's */
		process_inherits(t->process);
		unlock();
	}
	if (rt.served)
		served_exec(t->process);
	bool asked = !t->changed && ask_to_follow(t);
	if (t->changed)
		inexact_process(t->process, "what it executed runs natively, not counted: in its parent's memory "
					    "it changed its user, group, capabilities, root or namespaces");
	/* the mask and the ignored signals that the next program inherits are the program's */
	for (int s = 1; s < SIGNALS; s++)
		if ((SYNCHRONOUS_MASK >> (s - 1) & 1) && t->actions[s].handler == 1 && own)
			signal_ignore_in_kernel(s);
	sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &t->mask, 0, MASK_BYTES);
	signal_requeue_held(t);
	long result = call_make(t, nr);
	/* it failed, or a signal came first */
	signal_set_mask(t, t->mask);
	if (asked)
		__atomic_store_n(&t->process->ask, RECORD_ASK_NONE, __ATOMIC_RELEASE);
	if (own) {
		signals_start(t);
		unlock();
	}
	return result;
}
