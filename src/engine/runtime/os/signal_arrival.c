/*
 * A signal's arrival: the kernel calls the engine's handler wherever the thread is, in the code cache or in the
 * runtime. It is noted in the thread, and the thread is brought to where the runtime sees that.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/signal_internal.h"
#include "engine/runtime/os/state.h"
#include "engine/runtime/translate/code.h"

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
		c->eflags &= ~PROGRAMS_FLAGS;
		return;
	}
	/* uprobe(2) and uretprobe(2), made from elsewhere than the kernel's trampolines, raise it themselves */
	bool of_call = sync && info->code == SI_KERNEL_ && ip == (uint64_t)&runtime_syscall_end;
	if (sync && !in_cache && (t->forced || of_call)) {
		t->forced = 0;
		note(t, signo, info, c);
		c->mask = ~SYNCHRONOUS_MASK;
		return;
	}
	if (sync && !in_cache) {
		if (ip >= (uint64_t)&safe_copy && ip < (uint64_t)&safe_copy_end) {
			rt.copy_fault = signo, rt.copy_fault_code = info->code;
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
		signal_hold(t, signo, info);
		if ((t->mask & bit(signo)) && t->process == rt.process)
			signal_hand_on(t, signo);
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
		c->eflags &= ~PROGRAMS_FLAGS;
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
	c->eflags &= ~PROGRAMS_FLAGS;
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
