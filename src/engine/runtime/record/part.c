/*
 * A process that runs out of block numbers goes on in a new entry of the record: a part (wire/record.h, 4 and 5).
 *
 *     due ──► closing: every other thread parks (or waits in a system call) ──► close_part ──► open_part ──► they go on
 *       └ postponed while a vfork's child runs in this memory: its blocks are this part's
 *
 * What always holds:
 *  1. rt.closing is set and cleared under rt.lock. The part changes only while every other thread is `parked` or
 *     `in_call`: neither is in the cache, nor holds a block's or an exit's number but call_block, which is
 *     replaced here.
 *  2. A thread parks where it has settled what its last exit counts (cache/dispatch.c), with t->pc where it goes
 *     on.
 *  3. in_call ends (call_end) only while nothing is being closed.
 *  4. The access stream has been run up to there, and the models' counts move on to the next part; what they know
 *     by number of a block is forgotten (stream_part).
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

static void wait_closed(void) { sys4(SYS_futex, &rt.closing, FUTEX_WAIT_ | FUTEX_PRIVATE_, 1, 0); }

bool call_only_waits(const struct thread *t, uint64_t nr)
{
	switch (nr) {
	case SYS_poll:
	case SYS_select:
	case SYS_pause:
	case SYS_nanosleep:
	case SYS_wait4:
	case SYS_rt_sigtimedwait:
	case SYS_rt_sigsuspend:
	case SYS_clock_nanosleep:
	case SYS_epoll_wait:
	case SYS_waitid:
	case SYS_pselect6:
	case SYS_ppoll:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2: return true;
	case SYS_futex:
		return (t->reg[X86_RSI] & FUTEX_COMMANDS_) == FUTEX_WAIT_ ||
		       (t->reg[X86_RSI] & FUTEX_COMMANDS_) == FUTEX_WAIT_BITSET_;
	default: return false;
	}
}

void call_begin(struct thread *t, uint64_t nr)
{
	t->record->waits = call_only_waits(t, nr);
	__atomic_store_n(&t->record->call, (uint32_t)nr + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&t->in_call, 1, __ATOMIC_RELEASE);
}

void call_end(struct thread *t)
{
	for (;;) {
		__atomic_exchange_n(&t->in_call, 0, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&rt.closing, __ATOMIC_SEQ_CST))
			break;
		__atomic_store_n(&t->in_call, 1, __ATOMIC_SEQ_CST);
		wait_closed();
	}
	__atomic_store_n(&t->record->call, 0, __ATOMIC_RELEASE);
}

/* So near its end that what one exit may translate could not be recorded. */
static bool due(void)
{
	return rt.block_count > rt.blocks_max - rt.blocks_max / 8 || record_is_short(AREA_CODE, 1) ||
	       record_is_short(AREA_SITES, sizeof(struct record_site)) ||
	       rt.item_count > rt.items_max - rt.items_max / 8 || inline_is_full() ||
	       record_is_short(AREA_CORRECTIONS, sizeof(struct record_correction));
}

static bool shares_memory(void)
{
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++)
		if (rt.slot_state[i] && rt.threads[i]->process != rt.process)
			return true;
	return false;
}

/* A vfork's child goes on as it is: a thread that would close sees it and gives up. */
bool part_is_due(const struct thread *t)
{
	if (t->process != rt.process)
		return false;
	return rt.closing || (due() && (!shares_memory() || rt.block_count > rt.blocks_max - rt.blocks_max / 16));
}

/* The last room is for a vfork's child; it has left for another program soon, as a rule. */
static void wait_alone(void)
{
	struct {
		int64_t seconds, ns;
	} wait = {0, 200000};
	if (rt.waited_alone == rt.process)
		return; /* in vain: a child that stays */
	for (int tries = 0; tries < 25000 && shares_memory(); tries++) {
		unlock();
		sys2(SYS_nanosleep, &wait, 0);
		lock();
	}
	if (shares_memory())
		rt.waited_alone = rt.process;
}

static bool all_out(const struct thread *t)
{
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		const struct thread *o = rt.threads[i];
		if (o != t && rt.slot_state[i] && !__atomic_load_n(&o->parked, __ATOMIC_SEQ_CST) &&
		    !__atomic_load_n(&o->in_call, __ATOMIC_SEQ_CST))
			return false;
	}
	return true;
}

/* The part before this one is to be folded by now, so that never more than two are whole. Without an attendant
 * nobody reads them. */
static void wait_folded(void)
{
	struct record_process *before = rt.before;
	struct {
		int64_t seconds, ns;
	} wait = {0, 100000000};
	for (int tries = 0;
	     tries < 600 && before && __atomic_load_n(&before->ask, __ATOMIC_ACQUIRE) == RECORD_ASK_FOLD &&
	     attendant_lives();
	     tries++)
		sys4(SYS_futex, &before->ask, FUTEX_WAIT_, RECORD_ASK_FOLD, &wait);
}

static void ask_to_fold(struct record_process *old)
{
	rt.before = old;
	if (!attendant_lives())
		return;
	__atomic_store_n(&old->ask, RECORD_ASK_FOLD, __ATOMIC_RELEASE);
	request(old);
}

/* A thread that waits in a system call has its `syscall` in the old part, where it did not come back: it moves to
 * the new one. */
static void move_calls(struct thread *t, bool away)
{
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		struct thread *o = rt.threads[i];
		if (o == t || !rt.slot_state[i] || !o->in_call || o->call_block == NONE)
			continue;
		if (away) {
			record_correct(o, o->call_block, o->call_done);
			continue;
		}
		uint8_t code[2], *end = code;
		encode_syscall(&end);
		uint32_t id = record_block_begin(o->pc);
		rt.blocks[id] = (struct block){.pc = o->pc,
					       .incoming = NONE,
					       .exit = {NONE, NONE},
					       .page_next = NONE,
					       .tail_from = NONE,
					       .length = sizeof code,
					       .insns = 1,
					       .follows = NONE,
					       .follower = NONE,
					       .context = o->context};
		rt.blocks[id].bytes = record_block_end(id, code, sizeof code, 1, false, NONE);
		if (rt.trace)
			rt.templates[id] = (struct trace_block){0}; /* its record was run in the old part */
		*counter_of(o, id * 2) = 1;
		o->call_block = id;
		o->call_done = 0;
	}
}

void part_ends(struct thread *t)
{
	wait_folded();
	stream_part_ends();
	move_calls(t, true);
}

/* read: the part that ended is. */
void part_begins(struct thread *t, struct record_process *old, struct record_process *fresh, bool read)
{
	cache_forget();
	memory_modules_unknown();
	if (!record_part(fresh, !read) || !stream_part(old, fresh, !read) || !thread_fresh_records(old, fresh))
		die("no memory for the record of more basic blocks", t->pc);
}

static void change_part(struct thread *t)
{
	struct record_process *old = rt.process;
	bool read = attendant_lives();
	part_ends(t);
	struct record_process *fresh = thread_part(old);
	if (!fresh)
		die("the program ran more distinct basic blocks than the engine's record holds", t->pc);
	part_begins(t, old, fresh, read);
	called_part(old, fresh);
	if (!read)
		inexact("tare ended before the program");
	move_calls(t, false);
	fresh->pid = old->pid;
	__atomic_store_n(&fresh->state, RECORD_RUNNING, __ATOMIC_RELEASE);
	/* not before its successor is there to be seen */
	__atomic_store_n(&old->state, RECORD_CONTINUED, __ATOMIC_RELEASE);
	ask_to_fold(old);
}

/* While another thread closes the part. */
static void park(struct thread *t)
{
	__atomic_store_n(&t->parked, 1, __ATOMIC_SEQ_CST);
	while (rt.closing) {
		unlock();
		wait_closed();
		lock();
	}
	t->parked = 0;
}

/* `change` with every other thread out of the cache. False: a child that shares this memory is not. */
static bool closed(struct thread *t, void (*change)(struct thread *t))
{
	__atomic_store_n(&rt.closing, 1, __ATOMIC_SEQ_CST);
	bool possible = true;
	if (rt.live_threads > 1) {
		cache_unlink_all();
		for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++)
			if (rt.threads[i] != t && rt.slot_state[i])
				__atomic_or_fetch(&rt.threads[i]->attention, ATTENTION_STOP, __ATOMIC_SEQ_CST);
		while ((possible = !shares_memory()) && !all_out(t)) {
			unlock();
			sys0(SYS_sched_yield);
			lock();
		}
	}
	if (possible)
		change(t);
	__atomic_store_n(&rt.closing, 0, __ATOMIC_SEQ_CST);
	sys3(SYS_futex, &rt.closing, FUTEX_WAKE_ | FUTEX_PRIVATE_, FUTEX_ALL_WAITERS);
	return possible;
}

void part_continue(struct thread *t)
{
	if (!rt.closing)
		wait_alone();
	if (rt.closing) {
		park(t);
		return;
	}
	if (!due() || shares_memory()) /* somebody else has done it, or it cannot be done yet */
		return;
	closed(t, change_part);
}

bool part_exclusively(struct thread *t, void (*change)(struct thread *t))
{
	do {
		if (rt.closing)
			park(t);
		wait_alone();
	} while (rt.closing);
	if (shares_memory())
		return false;
	/* its `syscall` moves to the new part as those of the others do */
	__atomic_store_n(&t->in_call, 1, __ATOMIC_SEQ_CST);
	bool done = closed(t, change);
	__atomic_store_n(&t->in_call, 0, __ATOMIC_SEQ_CST);
	return done;
}

void part_calls_move(bool away) { move_calls(NULL, away); }
