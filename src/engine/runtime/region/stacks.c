/*
 * Which stack a thread is on. A region of a function ends where its frame is given up (enter_leave.c), which is
 * known only as long as the thread stays on the frame's stack. A coroutine leaves it for another stack and may
 * come back to it, on this thread or on another one.
 *
 *     rsp is loaded (mov, pop, xchg, lea of another register)
 *       ├─ upwards, not above the stack's highest address: a longjmp or an exception; the frames below are given up
 *       ├─ downwards by less than ALLOCA: a variable array
 *       └─ else: another stack. The regions that the thread is in are not counted, and the report says why
 *
 * What always holds (under rt.lock):
 *  1. thread.stack_high is the highest address of the stack that the thread is on, or less: what is between it and
 *     rsp is that stack's.
 *  2. A stack that lies in a frame of another one looks like a longjmp when it is switched to. So frames that were
 *     given up are kept until the thread has gone over them again; a thread that is back in one before that had
 *     switched stacks.
 */
#include "engine/runtime/entry.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/translate.h"

#define ALLOCA 65536u
#define START 1024u   /* what a switch leaves above rsp on a fresh stack: registers, a return address */
#define RESUMED 4096u /* a stack is resumed so far above where it was left: setjmp's frame is above longjmp's */
#define KEPT 64u

static struct {
	uint64_t low, high;
} known[KEPT]; /* stacks that were left: low is the stack pointer then */
static struct {
	uint64_t low, top, back;
	uint32_t region, used;
} given_up[KEPT];
static uint32_t next_known, next_given_up;

/* leave is not among them: it ends half of all functions, and takes back what its function did. */
bool stack_loaded(const struct x86_insn *in)
{
	const struct x86_memory *m = &in->memory[0];
	if (in->flow != X86_FLOW_NONE || !(in->gpr_written >> X86_RSP & 1) || (in->class & X86_CLASS_UNKNOWN))
		return false;
	if (in->encoding != X86_LEGACY || in->map != X86_MAP_0)
		return !(in->class & X86_CLASS_STACK);
	switch (in->opcode) {
	case 0x5c: return true; /* pop rsp */
	case 0x8f: return in->rm == X86_RSP;
	case 0x29:
	case 0x2b:
	case 0x81:
	case 0x83: return false; /* sub; add, sub, and with a constant */
	case 0x8d: return m->base != X86_RSP || m->index != X86_NO_REG;
	default: return !(in->class & X86_CLASS_STACK);
	}
}

void stacks_thread(struct thread *t, uint64_t sp)
{
	t->stack_base = t->stack_high = t->stack_arrived = sp;
	t->stack_base_left = 0;
}

void stacks_same(struct thread *child, const struct thread *t)
{
	child->stack_base = t->stack_base, child->stack_high = t->stack_high;
	child->stack_arrived = t->stack_arrived, child->stack_base_left = t->stack_base_left;
}

void stacks_left(struct thread *t, uint64_t sp)
{
	if (t->stack_high == t->stack_base)
		t->stack_base_left = sp;
	else {
		uint32_t i = 0;
		while (i < KEPT && known[i].high != t->stack_high)
			i++;
		i = i < KEPT ? i : next_known++ % KEPT;
		known[i].low = sp, known[i].high = t->stack_high;
	}
}

static uint64_t highest_of(const struct thread *t, uint64_t sp)
{
	if (t->stack_base_left && sp >= t->stack_base_left && sp <= t->stack_base)
		return t->stack_base;
	for (uint32_t i = 0; i < KEPT; i++)
		if (sp >= known[i].low && sp <= known[i].high &&
		    (sp - known[i].low <= RESUMED || known[i].high - sp <= START))
			return known[i].high;
	return sp + START;
}

void stacks_give_up(uint64_t low, uint64_t top, uint64_t back, uint32_t region)
{
	uint32_t i = next_given_up++ % KEPT;
	given_up[i].low = low, given_up[i].top = top, given_up[i].back = back, given_up[i].region = region,
	given_up[i].used = 1;
}

/* The thread went down from `from` to `to` without a break. */
static void gone_over(uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < KEPT; i++)
		if (given_up[i].used && from >= given_up[i].top && to < given_up[i].top)
			given_up[i].used = 0;
}

static void came_back(struct thread *t, uint64_t sp)
{
	uint64_t back;
	for (uint32_t i = 0; i < KEPT; i++) {
		if (!given_up[i].used || sp < given_up[i].low || sp > given_up[i].top)
			continue;
		if (!safe_copy(&back, (const void *)given_up[i].top, sizeof back) || back != given_up[i].back)
			continue;
		given_up[i].used = 0;
		region_pass(t, given_up[i].region)->switched = 1;
	}
}

/* Whether what `from` was on is left. */
bool stacks_moved(struct thread *t, uint64_t from, uint64_t to)
{
	bool same = to > from ? to <= t->stack_high : from - to < ALLOCA;
	gone_over(t->stack_arrived, from);
	came_back(t, to);
	if (!same) {
		stacks_left(t, from);
		t->stack_high = highest_of(t, to);
	}
	if (!same || to > from)
		t->stack_arrived = to;
	return !same;
}
