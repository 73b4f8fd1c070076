/*
 * Signals that are held. The kernel does not block the signals of faults, even where the program does: one that
 * was sent comes to the engine, which holds it until the program blocks it no more, or asks what is pending.
 *
 * What always holds: of a signal that was held and is sent on, the program sees what the first sender said.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/signal_internal.h"

#define SI_TKILL_ (-6)
#define SIGNALFD_RECORD 128

/* The kernel lets only the first thread say SI_USER of a signal that it sends to its own process. */
static void send_on(uint32_t tid, int signo, const struct siginfo *info)
{
	struct siginfo sent = *info;
	if (sent.code == SI_USER_)
		sent.code = CODE_SENT_ON;
	sys4(SYS_rt_tgsigqueueinfo, sys0(SYS_getpid), tid, signo, &sent);
}

/* A signal that was sent on, as it was: in what a call has given the program. */
void signals_as_sent(const struct thread *t, uint64_t nr, long result)
{
	uint64_t at = t->reg[X86_RSI], records = nr == SYS_read ? (uint64_t)result / SIGNALFD_RECORD : 1;
	int32_t head[3], code = SI_USER_; /* signal, error, code: siginfo's and signalfd's begin alike */
	if (failed(result) || !at || (nr == SYS_read ? result % SIGNALFD_RECORD != 0 : nr != SYS_rt_sigtimedwait))
		return;
	for (uint64_t i = 0; i < records; i++, at += SIGNALFD_RECORD)
		if (safe_copy(head, (const void *)at, sizeof head) && head[2] == CODE_SENT_ON &&
		    synchronous(head[0]))
			safe_copy((void *)(at + 8), &code, sizeof code);
}

void signal_hold(struct thread *t, int signo, const struct siginfo *info)
{
	bool shared = info->code != SI_TKILL_ && t->process == rt.process;
	uint64_t *held = shared ? &rt.held : &t->held;
	struct siginfo *infos = shared ? rt.held_info : t->held_info;
	if (!(__atomic_load_n(held, __ATOMIC_ACQUIRE) & bit(signo)))
		infos[signo] = *info;
	__atomic_or_fetch(held, bit(signo), __ATOMIC_SEQ_CST);
}

/* A signal for the process came to a thread that blocks it, and is held: a thread that asks for such signals just
   now gets it. It is held first and threads are looked at then; the other says that it asks first and looks at
   what is held then: one of the two sees the other. */
void signal_hand_on(const struct thread *t, int signo)
{
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		const struct thread *o = rt.threads[i];
		struct siginfo info = rt.held_info[signo];
		if (o == t || !rt.slot_state[i] || o->process != t->process ||
		    !__atomic_load_n(&o->shown, __ATOMIC_SEQ_CST))
			continue;
		if (__atomic_fetch_and(&rt.held, ~bit(signo), __ATOMIC_SEQ_CST) & bit(signo))
			send_on(o->tid, signo, &info);
		return;
	}
}

uint64_t signals_held(const struct thread *t)
{
	return t->held | (t->process == rt.process ? __atomic_load_n(&rt.held, __ATOMIC_ACQUIRE) : 0);
}

static void send_held(struct thread *t, uint64_t which)
{
	for (int signo = 1; signo < 32; signo++)
		if (signals_held(t) & which & bit(signo)) {
			bool own = __atomic_fetch_and(&t->held, ~bit(signo), __ATOMIC_ACQ_REL) & bit(signo);
			struct siginfo info = own ? t->held_info[signo] : rt.held_info[signo];
			if (own || (__atomic_fetch_and(&rt.held, ~bit(signo), __ATOMIC_ACQ_REL) & bit(signo)))
				send_on((uint32_t)sys0(SYS_gettid), signo, &info);
		}
}

void signal_release_held(struct thread *t) { send_held(t, ~t->mask); }
void signal_requeue_held(struct thread *t) { send_held(t, t->mask); }

/* A call that asks which signals are pending, by itself or by a signalfd, or takes one of them. */
static bool looks_at_signals(uint64_t nr)
{
	switch (nr) {
	case SYS_rt_sigpending:
	case SYS_rt_sigtimedwait: return true;
	case SYS_read:
	case SYS_poll:
	case SYS_readv:
	case SYS_select:
	case SYS_epoll_wait:
	case SYS_pselect6:
	case SYS_ppoll:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2: return rt.signal_descriptors;
	default: return false;
	}
}

static bool kernel_blocks(uint64_t mask)
{
	uint64_t args[6] = {2, (uint64_t)&mask, 0, 8};
	return runtime_app_syscall(SYS_rt_sigprocmask, args) != ABORTED;
}

/*
 * The signals of faults are not blocked in the kernel, but for the time of such a call: then those that the
 * program blocks are, and those that were held back are pending there.
 */
enum signals_shown signals_show(struct thread *t, uint64_t nr)
{
	uint64_t blocked = t->mask & SYNCHRONOUS_MASK;
	if (!blocked || !(signals_held(t) || looks_at_signals(nr)))
		return SIGNALS_AS_EVER;
	if (!kernel_blocks(t->mask))
		return SIGNALS_CAME;
	__atomic_store_n(&t->shown, 1, __ATOMIC_SEQ_CST);
	signal_requeue_held(t);
	return SIGNALS_SHOWN;
}

/* What is still pending comes to runtime_signal at once, and is held back again. Where a signal is noted, its
 * frame has set the mask. */
void signals_hide(struct thread *t)
{
	__atomic_store_n(&t->shown, 0, __ATOMIC_RELEASE);
	kernel_blocks(t->mask & ~SYNCHRONOUS_MASK);
}
