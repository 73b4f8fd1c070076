/*
 * What the kernel is told of handlers, masks and alternate stacks, and the program's system calls about them.
 * signal_internal.h shows the whole way of a signal.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/os/signal_internal.h"

bool signal_ends_by_default(int signo)
{
	switch (signo) {
	case SIGKILL_:
	case SIGCHLD_:
	case SIGCONT_:
	case SIGSTOP_:
	case SIGTSTP_:
	case SIGTTIN_:
	case SIGTTOU_:
	case SIGURG_:
	case SIGWINCH_: return false;
	default: return true;
	}
}

void signal_set_mask(struct thread *t, uint64_t mask)
{
	t->mask = mask & ~UNBLOCKABLE;
	set_kernel_mask(t->mask & ~SYNCHRONOUS_MASK);
}

/* What the kernel is told, for what the program wants; by a call of the program's or of the engine's own. */
static long tell(int signo, const struct signal_action *action, struct signal_action *old, bool programs)
{
	struct signal_action kernel = {.handler = (uint64_t)&runtime_signal_entry,
				       .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
				       .restorer = (uint64_t)&runtime_restorer,
				       .mask = ~SYNCHRONOUS_MASK};
	if (action->handler == SIG_IGN_ && !synchronous(signo))
		kernel.handler = SIG_IGN_;
	else if (action->handler == SIG_DFL_ && !signal_ends_by_default(signo))
		kernel.handler = SIG_DFL_;
	kernel.flags |= action->flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT);
	const uint64_t args[6] = {(uint64_t)signo, (uint64_t)&kernel, (uint64_t)old, MASK_BYTES};
	return programs ? runtime_program_call(SYS_rt_sigaction, args)
			: sys4(SYS_rt_sigaction, signo, &kernel, old, MASK_BYTES);
}

long signal_tell_kernel(int signo, const struct signal_action *action, struct signal_action *old)
{
	return tell(signo, action, old, false);
}

void signals_start(struct thread *t)
{
	for (int signo = 1; signo < SIGNALS; signo++) {
		struct signal_action *action = &t->actions[signo];
		struct signal_action old;
		if (signo == SIGKILL_ || signo == SIGSTOP_)
			continue;
		if (action->handler == SIG_DFL_ && !signal_ends_by_default(signo))
			continue;
		if (!signal_tell_kernel(signo, action, &old) && old.handler == SIG_IGN_ &&
		    action->handler == SIG_DFL_) {
			action->handler = SIG_IGN_;
			signal_tell_kernel(signo, action, NULL);
		}
	}
}

void signal_ignore_in_kernel(int signo)
{
	struct signal_action ignore = {
		.handler = SIG_IGN_, .flags = SA_RESTORER, .restorer = (uint64_t)&runtime_restorer};
	sys4(SYS_rt_sigaction, signo, &ignore, 0, MASK_BYTES);
}

/* As the kernel does: what is ignored stays so. */
void signals_clear(struct thread *t)
{
	for (int signo = 1; signo < SIGNALS; signo++) {
		struct signal_action *action = &t->actions[signo], before = *action;
		*action = (struct signal_action){.handler = before.handler == SIG_IGN_};
		if (signo != SIGKILL_ && signo != SIGSTOP_ && (before.handler > SIG_IGN_ || before.flags))
			signal_tell_kernel(signo, action, NULL);
	}
}

void signals_thread(struct thread *t)
{
	struct {
		uint64_t sp;
		uint32_t flags, pad;
		uint64_t size;
	} stack = {(uint64_t)t - STACK_BYTES - SIGNAL_STACK_BYTES, 0, 0, SIGNAL_STACK_BYTES};
	sys2(SYS_sigaltstack, &stack, 0);
}

/* ---- system calls ----------------------------------------------------------------------------- */

long signal_action(struct thread *t, uint64_t signo, uint64_t new, uint64_t old, uint64_t size)
{
	struct signal_action action, before;
	long result = 0;
	if (size != 8)
		return -EINVAL_;
	if (new && !safe_copy(&action, (const void *)new, sizeof action))
		return -EFAULT_;
	if (signo < 1 || signo >= SIGNALS || (new && (signo == SIGKILL_ || signo == SIGSTOP_)))
		return -EINVAL_;
	while (__atomic_exchange_n(&rt.action_lock, 1, __ATOMIC_ACQUIRE))
		__asm__ volatile("pause");
	before = t->actions[signo];
	if (new) {
		action.mask &= ~UNBLOCKABLE;
		action.flags &= SA_KNOWN;
		t->actions[signo] = action;
		if (action.handler == SIG_IGN_ && t->process == rt.process)
			__atomic_and_fetch(&rt.held, ~bit((int)signo), __ATOMIC_ACQ_REL);
		/* one that is pending is gone */
		for (uint32_t i = 0; action.handler == SIG_IGN_ && i < rt.slots_max && rt.threads[i]; i++)
			if (rt.slot_state[i] && rt.threads[i]->actions == t->actions)
				__atomic_and_fetch(&rt.threads[i]->held, ~bit((int)signo), __ATOMIC_ACQ_REL);
		result = tell((int)signo, &action, NULL, true);
		if (failed(result))
			t->actions[signo] = before;
	}
	__atomic_store_n(&rt.action_lock, 0, __ATOMIC_RELEASE);
	if (old && !failed(result) && !safe_copy((void *)old, &before, sizeof before))
		return -EFAULT_;
	return result;
}

long signal_mask(struct thread *t, uint64_t how, uint64_t set, uint64_t old, uint64_t size)
{
	uint64_t mask = 0, before = t->mask;
	if (size != 8)
		return -EINVAL_;
	if (set) {
		if (!safe_copy(&mask, (const void *)set, 8))
			return -EFAULT_;
		if (how > 2)
			return -EINVAL_;
		mask = (how == 0 ? before | mask : how == 1 ? before & ~mask : mask) & ~UNBLOCKABLE;
		uint64_t kernel = mask & ~SYNCHRONOUS_MASK, args[6] = {2, (uint64_t)&kernel, 0, 8};
		if (runtime_app_syscall(SYS_rt_sigprocmask, args) == ABORTED)
			return ABORTED;
		t->mask = mask;
		if (signals_held(t) & ~mask)
			__atomic_or_fetch(&t->attention, ATTENTION_STOP, __ATOMIC_ACQ_REL);
	}
	if (old && !safe_copy((void *)old, &before, 8))
		return -EFAULT_;
	return 0;
}

bool signal_on_altstack(const struct thread *t, uint64_t sp)
{
	if (t->altstack_flags & SS_AUTODISARM)
		return false;
	return t->altstack_size && sp > t->altstack_sp && sp - t->altstack_sp <= t->altstack_size;
}

static uint32_t altstack_state(const struct thread *t, uint64_t sp)
{
	if (!t->altstack_size)
		return SS_DISABLE;
	return signal_on_altstack(t, sp) ? SS_ONSTACK : 0;
}

struct altstack {
	uint64_t sp;
	uint32_t flags, pad;
	uint64_t size;
};

/* How small a stack may be depends on the frame: on the processor's state, AMX's permission, how the kernel was
   started. It is asked; no signal comes meanwhile, and the engine's own stack is given back. */
static long accepted(struct thread *t, const struct altstack *stack)
{
	uint64_t all = ~0ull, before = 0;
	if (stack->size >= SIGNAL_STACK_BYTES)
		return 0;
	sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &all, &before, MASK_BYTES);
	const uint64_t args[6] = {(uint64_t)stack};
	long result = runtime_program_call(SYS_sigaltstack, args);
	signals_thread(t);
	sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &before, 0, MASK_BYTES);
	return result;
}

long signal_altstack(struct thread *t, uint64_t new, uint64_t old)
{
	struct altstack stack, before = {t->altstack_sp, 0, 0, t->altstack_size};
	uint64_t sp = t->reg[X86_RSP];
	if (new && !safe_copy(&stack, (const void *)new, sizeof stack))
		return -EFAULT_;
	before.flags = altstack_state(t, sp) | (t->altstack_flags & SS_AUTODISARM);
	if (new) {
		uint32_t mode = stack.flags & ~SS_AUTODISARM;
		if (signal_on_altstack(t, sp))
			return -EPERM_;
		if (mode != 0 && mode != SS_DISABLE && mode != SS_ONSTACK)
			return -EINVAL_;
		if (mode == SS_DISABLE) {
			t->altstack_sp = t->altstack_size = 0;
			t->altstack_flags = stack.flags;
		} else {
			long result = accepted(t, &stack);
			if (failed(result))
				return result;
			t->altstack_sp = stack.sp;
			t->altstack_size = stack.size;
			t->altstack_flags = stack.flags;
		}
	}
	if (old && !safe_copy((void *)old, &before, sizeof before))
		return -EFAULT_;
	return 0;
}
