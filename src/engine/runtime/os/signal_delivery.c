/*
 * A signal's delivery: what the program's action is for what was noted. Its handler is entered by a frame such as
 * the kernel's on its stack, and left by rt_sigreturn(2), which reads that frame.
 */
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/os/signal_internal.h"
#include "engine/runtime/os/state.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"

#define UC_FP_XSTATE 1u
#define UC_SIGCONTEXT_SS 2u
#define UC_STRICT_RESTORE_SS 4u

struct signal_frame {
	uint64_t restorer;
	struct context context;
	struct siginfo info;
};
_Static_assert(sizeof(struct signal_frame) == 440, "the kernel's layout");

static __attribute__((noreturn)) void end_by_signal(struct thread *t, int signo, struct siginfo *info)
{
	struct signal_action action = {.restorer = (uint64_t)&runtime_restorer, .flags = SA_RESTORER};
	process_over(t);
	sys4(SYS_rt_sigaction, signo, &action, 0, MASK_BYTES);
	long pid = sys0(SYS_getpid), tid = sys0(SYS_gettid);
	info->signo = signo;
	if (failed(sys4(SYS_rt_tgsigqueueinfo, pid, tid, signo, info)))
		sys3(SYS_tgkill, pid, tid, signo);
	set_kernel_mask(~bit(signo));
	for (;;)
		sys1(SYS_exit_group, 128 + signo);
}

void signal_end(struct thread *t, int signo)
{
	struct siginfo info = {.signo = signo, .code = 0x80};
	end_by_signal(t, signo, &info);
}

/* Enters the handler. False: its stack cannot be written. */
static bool enter_handler(struct thread *t, int signo, const struct signal_action *action, unsigned which)
{
	uint64_t *r = t->reg, sp = r[X86_RSP] - 128;
	struct signal_frame f = {.restorer = action->restorer};
	struct context *c = &f.context;
	bool entering = (action->flags & SA_ONSTACK) && t->altstack_size && !signal_on_altstack(t, r[X86_RSP]);
	bool nested_on_it = signal_on_altstack(t, r[X86_RSP]);
	if (!(action->flags & SA_RESTORER)) /* as the kernel: nothing would lead out of the handler */
		return false;
	if (entering)
		sp = t->altstack_sp + t->altstack_size;
	uint64_t fp = (sp - fp_frame_room(t)) & ~63ull, at = ((fp - sizeof f) & ~15ull) - 8;
	if (nested_on_it &&
	    !signal_on_altstack(t, at)) /* the kernel ends it by SIGSEGV rather than run off the stack */
		return false;
	if (entering && at < t->altstack_sp)
		return false;
	c->flags = (rt.fp_features ? UC_FP_XSTATE : 0) | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	c->stack_sp = t->altstack_sp;
	c->stack_flags = t->altstack_flags;
	c->stack_size = t->altstack_size;
	c->rax = r[0], c->rcx = r[1], c->rdx = r[2], c->rbx = r[3], c->rsp = r[4], c->rbp = r[5], c->rsi = r[6],
	c->rdi = r[7];
	c->r8 = r[8], c->r9 = r[9], c->r10 = r[10], c->r11 = r[11], c->r12 = r[12], c->r13 = r[13], c->r14 = r[14],
	c->r15 = r[15];
	c->rip = t->pc;
	c->eflags = t->flags;
	c->cs = 0x33;
	c->ss = 0x2b;
	c->error = t->pending_error[which];
	c->trapno = t->pending_trapno[which];
	c->cr2 = t->pending_cr2[which];
	c->fpstate = fp;
	c->mask = t->mask;
	c->oldmask = t->mask;
	f.info = t->pending[which];
	if (!fp_frame_write(t, fp) || !safe_copy((void *)at, &f, sizeof f))
		return false;
	fp_initial();
	uint64_t altstack = t->altstack_sp, altstack_bytes = t->altstack_size;
	if (t->altstack_flags & SS_AUTODISARM) {
		t->altstack_sp = t->altstack_size = 0;
		t->altstack_flags = SS_DISABLE;
	}
	stream_break(t, t->pc);
	r[X86_RDI] = (uint64_t)signo;
	r[X86_RSI] = at + __builtin_offsetof(struct signal_frame, info);
	r[X86_RDX] = at + __builtin_offsetof(struct signal_frame, context);
	r[X86_RAX] = 0;
	r[X86_RSP] = at;
	t->flags &= ~(FLAG_DF | FLAG_TF | FLAG_RF);
	stream_handler(t, t->pc, altstack, altstack_bytes);
	regions_signal(t, c->rsp);
	t->pc = action->handler;
	t->leader = 1;
	uint64_t base = t->has_temporary ? t->temporary_mask : t->mask;
	t->mask = (base | action->mask | (action->flags & SA_NODEFER ? 0 : bit(signo))) & ~UNBLOCKABLE;
	t->has_temporary = 0;
	return true;
}

static void deliver(struct thread *t, unsigned which)
{
	struct siginfo *info = &t->pending[which];
	int signo = info->signo;
	struct signal_action *place = &t->actions[signo], action;
	bool sync = synchronous(signo) && info->code > 0;
	while (__atomic_exchange_n(&rt.action_lock, 1, __ATOMIC_ACQUIRE))
		__asm__ volatile("pause");
	action = *place;
	if (action.handler > SIG_IGN_ && (action.flags & SA_RESETHAND)) {
		place->handler = SIG_DFL_;
		signal_tell_kernel(signo, place, NULL);
	}
	__atomic_store_n(&rt.action_lock, 0, __ATOMIC_RELEASE);
	if (sync && ((t->mask & bit(signo)) || action.handler == SIG_IGN_))
		action.handler = SIG_DFL_;
	if (sync && info->code != SI_KERNEL_ && (signo == SIGILL_ || signo == SIGFPE_ || signo == SIGTRAP_))
		info->field[0] = t->pc;
	if (signo == SIGSYS_ && info->code == 1) /* a seccomp filter's: the call's address is the program's */
		info->field[0] = t->pc;
	if (action.handler == SIG_IGN_ || (action.handler == SIG_DFL_ && !signal_ends_by_default(signo)))
		return;
	if (action.handler == SIG_DFL_)
		end_by_signal(t, signo, info);
	if (rt.served && !sync)
		served_saw(RECORD_SAW_SIGNAL, (uint64_t)signo);
	if (enter_handler(t, signo, &action, which))
		return;
	lock();
	bool released = memory_release(t->reg[X86_RSP] - 65536, 65536) |
			memory_release(t->altstack_sp, t->altstack_size);
	unlock();
	if (released && enter_handler(t, signo, &action, which))
		return;
	/* no room for the frame: SIGSEGV, which ends the process if that is what was being delivered */
	if (signo == SIGSEGV_)
		place->handler = SIG_DFL_;
	t->pending[which] = (struct siginfo){.signo = SIGSEGV_, .code = 0x80};
	t->pending_trapno[which] = t->pending_error[which] = 0;
	if (t->actions[SIGSEGV_].handler <= SIG_IGN_ || (t->mask & bit(SIGSEGV_)))
		end_by_signal(t, SIGSEGV_, &t->pending[which]);
	deliver(t, which);
}

void signal_deliver(struct thread *t)
{
	/* a fault first, then what came from elsewhere on top of it */
	unsigned n = t->pending_count,
		 first = n == 2 && synchronous(t->pending[1].signo) && t->pending[1].code > 0;
	if (n)
		deliver(t, first);
	if (n == 2) {
		unsigned second = !first;
		if (t->mask & bit(t->pending[second].signo))
			sys4(SYS_rt_tgsigqueueinfo, sys0(SYS_getpid), sys0(SYS_gettid), t->pending[second].signo,
			     &t->pending[second]);
		else
			deliver(t, second);
	}
	t->pending_count = 0;
	__atomic_and_fetch(&t->attention, ~(uint32_t)ATTENTION_SIGNAL, __ATOMIC_ACQ_REL);
	signal_set_mask(t, t->mask);
}

void signal_return(struct thread *t)
{
	struct context c;
	uint64_t *r = t->reg, frame = r[X86_RSP];
	if (!safe_copy(&c, (const void *)frame, sizeof c) || !fp_frame_read(t, c.fpstate)) {
		signal_force(t, SIGSEGV_, SI_KERNEL_, 0);
		return;
	}
	r[0] = c.rax, r[1] = c.rcx, r[2] = c.rdx, r[3] = c.rbx, r[4] = c.rsp, r[5] = c.rbp, r[6] = c.rsi,
	r[7] = c.rdi;
	r[8] = c.r8, r[9] = c.r9, r[10] = c.r10, r[11] = c.r11, r[12] = c.r12, r[13] = c.r13, r[14] = c.r14,
	r[15] = c.r15;
	t->pc = c.rip;
	regions_return(t, frame);
	t->flags = (t->flags & ~SIGNAL_FLAGS) | (c.eflags & SIGNAL_FLAGS);
	if (t->flags & UNSAFE_FLAGS)
		inline_careful();
	t->trace_skip = (t->flags & FLAG_TF) != 0;
	if (!signal_on_altstack(t, r[X86_RSP])) {
		uint32_t mode = c.stack_flags & ~SS_AUTODISARM;
		if (mode == SS_DISABLE) {
			t->altstack_sp = t->altstack_size = 0;
			t->altstack_flags = c.stack_flags;
		} else if (mode <= SS_ONSTACK && c.stack_size >= 2048) {
			t->altstack_sp = c.stack_sp;
			t->altstack_size = c.stack_size;
			t->altstack_flags = c.stack_flags;
		}
	}
	if (t->attention & ATTENTION_SIGNAL)
		t->mask = c.mask & ~UNBLOCKABLE; /* one is noted: the kernel's mask follows when it is delivered */
	else
		signal_set_mask(t, c.mask);
	if (signals_held(t) & ~t->mask)
		__atomic_or_fetch(&t->attention, ATTENTION_STOP, __ATOMIC_ACQ_REL);
}
