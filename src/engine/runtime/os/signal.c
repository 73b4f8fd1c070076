/*
 * Signals: the kernel knows one handler, the engine's; the program's are entered by building the frame that the
 * kernel would.
 *
 *     kernel ──► runtime_signal: note it, block the others ──► (cache: recover; runtime: at its end) ──► signal_deliver
 *        └ frame on the program's stack, handler runs translated ──► rt_sigreturn ──► signal_return
 *
 * What always holds:
 *  1. Every signal that would end the process by default is caught, so that the block it interrupts is counted
 *     right before the process ends by that very signal.
 *  2. The kernel's mask is the program's without the synchronous signals (the engine's own faults must arrive),
 *     or, while a signal is noted, everything. thread.mask is the program's.
 *  3. Frames have the kernel's layout (arch/x86/kernel/signal_64.c, struct rt_sigframe), with the full xsave area
 *     (fpstate.c).
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/os/signal.h"
#include "engine/runtime/os/state.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"

enum {
	SA_NOCLDSTOP = 1,
	SA_NOCLDWAIT = 2,
	SA_SIGINFO = 4,
	SA_ONSTACK = 0x08000000,
	SA_RESTART = 0x10000000,
	SA_NODEFER = 0x40000000,
	SA_RESTORER = 0x04000000
};
#define SA_RESETHAND 0x80000000u
#define SS_ONSTACK 1u
#define SS_DISABLE 2u
#define SS_AUTODISARM 0x80000000u
#define SIG_DFL_ 0u
#define SIG_IGN_ 1u
#define UNBLOCKABLE ((1ull << 8) | (1ull << 18)) /* KILL STOP */
#define UC_FP_XSTATE 1u
#define UC_SIGCONTEXT_SS 2u
#define UC_STRICT_RESTORE_SS 4u

#define SI_USER_ 0
#define SI_TKILL_ (-6)
#define CODE_SENT_ON (-7654321) /* stands for SI_USER */
#define SIGNALFD_RECORD 128

struct context { /* struct ucontext, the kernel's */
	uint64_t flags, link;
	uint64_t stack_sp;
	uint32_t stack_flags, pad;
	uint64_t stack_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trapno, oldmask, cr2, fpstate, reserved[8];
	uint64_t mask;
};
struct signal_frame {
	uint64_t restorer;
	struct context context;
	struct siginfo info;
};
_Static_assert(sizeof(struct context) == 304 && sizeof(struct signal_frame) == 440, "the kernel's layout");

static uint64_t bit(int signo) { return 1ull << (signo - 1); }
static bool synchronous(int signo) { return signo < 32 && (SYNCHRONOUS_MASK & bit(signo)); }

static bool fatal_by_default(int signo)
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

static void set_kernel_mask(uint64_t mask) { sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &mask, 0, MASK_BYTES); }

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
	else if (action->handler == SIG_DFL_ && !fatal_by_default(signo))
		kernel.handler = SIG_DFL_;
	kernel.flags |= action->flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT);
	const uint64_t args[6] = {(uint64_t)signo, (uint64_t)&kernel, (uint64_t)old, 8};
	return programs ? runtime_program_call(SYS_rt_sigaction, args)
			: sys4(SYS_rt_sigaction, signo, &kernel, old, 8);
}

static long tell_kernel(int signo, const struct signal_action *action, struct signal_action *old)
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
		if (action->handler == SIG_DFL_ && !fatal_by_default(signo))
			continue;
		if (!tell_kernel(signo, action, &old) && old.handler == SIG_IGN_ && action->handler == SIG_DFL_) {
			action->handler = SIG_IGN_;
			tell_kernel(signo, action, NULL);
		}
	}
}

void signal_ignore_in_kernel(int signo)
{
	struct signal_action ignore = {
		.handler = SIG_IGN_, .flags = SA_RESTORER, .restorer = (uint64_t)&runtime_restorer};
	sys4(SYS_rt_sigaction, signo, &ignore, 0, 8);
}

/* As the kernel does: what is ignored stays so. */
void signals_clear(struct thread *t)
{
	for (int signo = 1; signo < SIGNALS; signo++) {
		struct signal_action *action = &t->actions[signo], before = *action;
		*action = (struct signal_action){.handler = before.handler == SIG_IGN_};
		if (signo != SIGKILL_ && signo != SIGSTOP_ && (before.handler > SIG_IGN_ || before.flags))
			tell_kernel(signo, action, NULL);
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

/* ---- arrival ---------------------------------------------------------------------------------- */

static void save_raw(struct thread *t, const struct context *c)
{
	uint64_t *r = t->raw;
	r[0] = c->rax, r[1] = c->rcx, r[2] = c->rdx, r[3] = c->rbx, r[4] = c->rsp, r[5] = c->rbp, r[6] = c->rsi,
	r[7] = c->rdi;
	r[8] = c->r8, r[9] = c->r9, r[10] = c->r10, r[11] = c->r11, r[12] = c->r12, r[13] = c->r13, r[14] = c->r14,
	r[15] = c->r15;
	r[16] = c->rip, r[17] = c->eflags;
}

static void note(struct thread *t, int signo, const struct siginfo *info, const struct context *c)
{
	uint32_t n = t->pending_count;
	if (n == 2)
		return;
	t->pending[n] = *info;
	t->pending[n].signo = signo;
	t->pending_trapno[n] = c->trapno;
	t->pending_error[n] = c->error;
	t->pending_cr2[n] = c->cr2;
	t->pending_count = n + 1;
	__atomic_or_fetch(&t->attention, ATTENTION_SIGNAL, __ATOMIC_ACQ_REL);
}

/* The end of the access stream's buffer was reached: the store that met it is made again, in a buffer that was
 * emptied. */
static bool buffer_full(struct thread *t, struct context *c)
{
	uint64_t *reg[16] = {&c->rax, &c->rcx, &c->rdx, &c->rbx, &c->rsp, &c->rbp, &c->rsi, &c->rdi,
			     &c->r8,  &c->r9,  &c->r10, &c->r11, &c->r12, &c->r13, &c->r14, &c->r15};
	return stream_full(t, c->cr2, (const uint8_t *)c->rip, reg);
}

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

/* Until the program blocks it no more, or asks for it. The first one stays. */
static void hold(struct thread *t, int signo, const struct siginfo *info)
{
	bool shared = info->code != SI_TKILL_ && t->process == rt.process;
	uint64_t *held = shared ? &rt.held : &t->held;
	struct siginfo *infos = shared ? rt.held_info : t->held_info;
	if (!(__atomic_load_n(held, __ATOMIC_ACQUIRE) & bit(signo)))
		infos[signo] = *info;
	__atomic_or_fetch(held, bit(signo), __ATOMIC_SEQ_CST);
}

/* A signal for the process came to a thread that blocks it, and is held: a thread that asks for such signals just
   now gets it. Held first and looked for then, as who asks says so first and looks then: one of the two sees the
   other. */
static void hand_on(const struct thread *t, int signo)
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

void runtime_signal(int signo, struct siginfo *info, void *context)
{
	struct thread *t = current();
	struct context *c = context;
	uint64_t ip = c->rip;
	if (info->code == CODE_SENT_ON)
		info->code = SI_USER_;
	const struct code_arena *arena = arena_of((const uint8_t *)ip);
	bool in_cache = arena && ip - (uint64_t)arena->base - ARENA_INLINE >= 8,
	     sync = synchronous(signo) && info->code > 0;

	if (sync && signo == SIGTRAP_ && info->code == TRAP_TRACE_ && in_cache && ip == t->resume &&
	    (t->stepping || t->trace_skip)) {
		t->stepping = t->trace_skip = 0; /* the step that was the jump into the cache */
		return;
	}

	if (rt.trace && signo == SIGSEGV_ && sync && in_cache && buffer_full(t, c))
		return;
	fp_learn(t, c->fpstate);
	/* what the processor says of bytes that it was asked about */
	if (sync && processor_trial()->thread == t) {
		struct processor_trial *trial = processor_trial();
		trial->rip = ip, trial->cr2 = c->cr2, trial->trapno = c->trapno;
		c->rip = (uint64_t)&processor_tried;
		c->eflags &= ~0x54500ull;
		return;
	}
	if (sync && !in_cache && t->forced) {
		t->forced = 0;
		note(t, signo, info, c);
		c->mask = ~SYNCHRONOUS_MASK;
		return;
	}
	if (sync && !in_cache) {
		if (ip >= (uint64_t)&safe_copy && ip < (uint64_t)&safe_copy_end) {
			rt.copy_fault = signo;
			c->rip = (uint64_t)&safe_copy_fault;
			return;
		}
		if (ip >= (uint64_t)&fp_save && ip < (uint64_t)&fp_restore_end) {
			c->rip = (uint64_t)&fp_restore_fault;
			return;
		}
		/* the program's trap flag: steps inside the engine are not its own */
		if (signo == SIGTRAP_ && info->code == TRAP_TRACE_)
			return;
		die(ip == (uint64_t)&runtime_final_end ? "exit(2) is refused"
		    : signo == SIGBUS_ ? "a bus error in the engine (memory for the record exhausted?)"
				       : "a fault in the engine",
		    ip);
	}
	if (synchronous(signo) && !sync && (t->pending_count || (t->mask & bit(signo)))) {
		hold(t, signo, info);
		if ((t->mask & bit(signo)) && t->process == rt.process)
			hand_on(t, signo);
		if (!(t->mask & bit(signo)))
			__atomic_or_fetch(&t->attention, ATTENTION_STOP, __ATOMIC_ACQ_REL);
		return;
	}
	note(t, signo, info, c);
	c->mask = ~SYNCHRONOUS_MASK;
	if (sync && signo == SIGSEGV_ && (c->error & 2)) /* a write, perhaps to a page that the engine protects */
		t->code_fault = c->cr2;
	if (in_cache && !sync && rt.inline_on && t->inline_once) { /* a moment later */
		inline_put_off();
		return;
	}
	if (in_cache) {
		save_raw(t, c);
		t->raw_valid = 1;
	} else if (ip >= (uint64_t)&runtime_resume_checked && ip < (uint64_t)&runtime_resume_end) {
		/* all is still in t->reg, and t->pc */
	} else if (ip >= (uint64_t)&runtime_inline_checked && ip < (uint64_t)&runtime_inline_end) {
		/* all is still in t->reg, and below the runtime's stack where it goes back to, and the flags */
		c->rip = (uint64_t)&runtime_inline_leave;
		c->rsp = t->runtime_rsp - 16;
		c->eflags &= ~0x54500ull;
		return;
	} else {
		if (ip >= (uint64_t)&runtime_syscall_begin && ip <= (uint64_t)&runtime_syscall_insn) {
			/* rewound by the kernel, to be restarted, if the processor has been behind it */
			t->syscall_retired = ip == (uint64_t)&runtime_syscall_insn &&
					     c->rcx == (uint64_t)&runtime_syscall_end;
			c->rip = (uint64_t)&runtime_syscall_abort;
		}
		/* on its way into the cache */
		if (ip >= (uint64_t)&runtime_miss_found && ip <= (uint64_t)&runtime_miss_jump)
			c->rip += (uint64_t)&runtime_miss_slow - (uint64_t)&runtime_miss_found;
		if (ip >= (uint64_t)&runtime_region_found && ip <= (uint64_t)&runtime_region_jump)
			c->rip += (uint64_t)&runtime_region_slow - (uint64_t)&runtime_region_found;
		return; /* the runtime looks at t->attention before it enters the cache again */
	}
	c->rip = (uint64_t)&runtime_recovered;
	c->rsp = t->runtime_rsp;
	c->eflags &= ~0x54500ull; /* TF DF NT RF AC */
}

/* ---- delivery --------------------------------------------------------------------------------- */

static __attribute__((noreturn)) void end_by_signal(struct thread *t, int signo, struct siginfo *info)
{
	struct signal_action action = {.restorer = (uint64_t)&runtime_restorer, .flags = SA_RESTORER};
	process_over(t);
	sys4(SYS_rt_sigaction, signo, &action, 0, 8);
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

static bool on_altstack(const struct thread *t, uint64_t sp)
{
	if (t->altstack_flags & SS_AUTODISARM)
		return false;
	return t->altstack_size && sp > t->altstack_sp && sp - t->altstack_sp <= t->altstack_size;
}

static uint32_t altstack_state(const struct thread *t, uint64_t sp)
{
	if (!t->altstack_size)
		return SS_DISABLE;
	return on_altstack(t, sp) ? SS_ONSTACK : 0;
}

/* Enters the handler. False: its stack cannot be written. */
static bool enter_handler(struct thread *t, int signo, const struct signal_action *action, unsigned which)
{
	uint64_t *r = t->reg, sp = r[X86_RSP] - 128;
	struct signal_frame f = {.restorer = action->restorer};
	struct context *c = &f.context;
	bool entering = (action->flags & SA_ONSTACK) && t->altstack_size && !on_altstack(t, r[X86_RSP]);
	bool nested_on_it = on_altstack(t, r[X86_RSP]);
	if (entering)
		sp = t->altstack_sp + t->altstack_size;
	uint64_t fp = (sp - fp_frame_room(t)) & ~63ull, at = ((fp - sizeof f) & ~15ull) - 8;
	if (nested_on_it && !on_altstack(t, at)) /* the kernel ends it by SIGSEGV rather than run off the stack */
		return false;
	if (entering && at < t->altstack_sp)
		return false;
	c->flags = (rt.fp_features ? UC_FP_XSTATE : 0) | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	c->stack_sp = t->altstack_sp;
	c->stack_flags = t->altstack_size ? t->altstack_flags | (on_altstack(t, r[X86_RSP]) ? SS_ONSTACK : 0)
					  : SS_DISABLE;
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
	t->flags &= ~0x10500ull; /* DF TF RF */
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
		tell_kernel(signo, place, NULL);
	}
	__atomic_store_n(&rt.action_lock, 0, __ATOMIC_RELEASE);
	if (sync && ((t->mask & bit(signo)) || action.handler == SIG_IGN_))
		action.handler = SIG_DFL_;
	if (sync && (signo == SIGILL_ || signo == SIGFPE_ || (signo == SIGTRAP_ && info->code != SI_KERNEL_)))
		info->field[0] = t->pc;
	if (signo == SIGSYS_ && info->code == 1) /* a seccomp filter's: the call's address is the program's */
		info->field[0] = t->pc;
	if (action.handler == SIG_IGN_ || (action.handler == SIG_DFL_ && !fatal_by_default(signo)))
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

/* A fault that the kernel does not see, because the program's instruction is not what runs. */
void signal_force(struct thread *t, int signo, int code, uint64_t address)
{
	uint64_t mask = ~SYNCHRONOUS_MASK;
	if (rt.traced && !t->pending_count) {
		struct siginfo info = {.signo = signo, .code = code};
		info.field[0] = address;
		t->forced = 1;
		sys4(SYS_rt_tgsigqueueinfo, sys0(SYS_getpid), sys0(SYS_gettid), signo, &info);
		t->forced = 0;
		if (t->pending_count) {
			t->pending_trapno[0] = 14;
			t->pending_cr2[0] = address;
		}
		return; /* or its tracer took it away */
	}
	set_kernel_mask(mask);
	unsigned n = t->pending_count;
	if (n == 2)
		n = 1;
	t->pending[n] = (struct siginfo){.signo = signo, .code = code};
	t->pending[n].field[0] = address;
	t->pending_trapno[n] = 14;
	t->pending_error[n] = 0;
	t->pending_cr2[n] = address;
	t->pending_count = n + 1;
	__atomic_or_fetch(&t->attention, ATTENTION_SIGNAL, __ATOMIC_ACQ_REL);
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

/* ---- system calls ----------------------------------------------------------------------------- */

long signal_action(struct thread *t, uint64_t signo, uint64_t new, uint64_t old, uint64_t size)
{
	struct signal_action action, before;
	long result = 0;
	if (size != 8 || signo < 1 || signo >= SIGNALS || (new && (signo == SIGKILL_ || signo == SIGSTOP_)))
		return -EINVAL_;
	if (new && !safe_copy(&action, (const void *)new, sizeof action))
		return -EFAULT_;
	while (__atomic_exchange_n(&rt.action_lock, 1, __ATOMIC_ACQUIRE))
		__asm__ volatile("pause");
	before = t->actions[signo];
	if (new) {
		action.mask &= ~UNBLOCKABLE;
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
		if (on_altstack(t, sp))
			return -1; /* EPERM */
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
			t->altstack_flags = stack.flags & SS_AUTODISARM;
		}
	}
	if (old && !safe_copy((void *)old, &before, sizeof before))
		return -EFAULT_;
	return 0;
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
	t->flags = (t->flags & ~0x50dd5ull) | (c.eflags & 0x50dd5);
	if (t->flags & UNSAFE_FLAGS)
		inline_careful();
	t->trace_skip = (t->flags & 0x100) != 0;
	if (!on_altstack(t, r[X86_RSP]) || !(c.stack_flags & SS_ONSTACK)) {
		uint32_t mode = c.stack_flags & ~SS_AUTODISARM;
		if (mode == SS_DISABLE) {
			t->altstack_sp = t->altstack_size = 0;
			t->altstack_flags = SS_DISABLE;
		} else if (c.stack_size >= 2048) {
			t->altstack_sp = c.stack_sp;
			t->altstack_size = c.stack_size;
			t->altstack_flags = c.stack_flags & SS_AUTODISARM;
		}
	}
	if (t->attention & ATTENTION_SIGNAL)
		t->mask = c.mask & ~UNBLOCKABLE; /* one is noted: the kernel's mask follows when it is delivered */
	else
		signal_set_mask(t, c.mask);
	if (signals_held(t) & ~t->mask)
		__atomic_or_fetch(&t->attention, ATTENTION_STOP, __ATOMIC_ACQ_REL);
}
