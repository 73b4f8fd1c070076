/*
 * Threads and processes: their areas, clone, fork and exit, and stopping the others.
 *
 * What always holds: a slot's memory is never given back, so that a late reader of rt.threads finds it; a slot is
 * free when its state is 0. A vfork child runs in its parent's memory, with a slot and a process entry of its own.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/os/signal.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"

#define SLOTS_KEPT 64 /* so many threads have counters of their own before slots are used again */

void lock_word(uint32_t *word)
{
	uint32_t none = 0;
	if (__atomic_compare_exchange_n(word, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	for (int spin = 0; spin < 200; spin++) {
		none = 0;
		if (__atomic_compare_exchange_n(word, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
		__asm__ volatile("pause");
	}
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
		sys4(SYS_futex, word, 128, 2, 0); /* FUTEX_WAIT_PRIVATE */
}

void unlock_word(uint32_t *word)
{
	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
		sys3(SYS_futex, word, 129, 1);
}

void lock(void) { lock_word(&rt.lock); }
void unlock(void) { unlock_word(&rt.lock); }

static uint64_t counters_bytes(void) { return (uint64_t)rt.counters_most * 8; }

/* A fresh area of counters, with the thread's record behind them, at the thread's place. */
static bool fresh_record(struct thread *t, struct record_process *process)
{
	uint64_t bytes = counters_bytes(), offset = record_reserve(bytes + 8192);
	if (!record_map(offset, bytes + 8192, (uint8_t *)t + THREAD_BYTES))
		return false;
	t->counters = (uint64_t *)((uint8_t *)t + THREAD_BYTES);
	t->record = (struct record_thread *)((uint8_t *)t->counters + bytes);
	t->process = process;
	*t->record = (struct record_thread){.counters = offset, .counters_most = rt.counters_most};
	uint64_t newest = __atomic_load_n(&process->first_thread, __ATOMIC_ACQUIRE);
	do
		t->record->next = newest;
	while (!__atomic_compare_exchange_n(&process->first_thread, &newest, offset + bytes, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return true;
}

struct thread *thread_new(struct record_process *process)
{
	uint32_t slot = NONE, unused = NONE;
	for (uint32_t i = 0; i < rt.slots_max; i++) {
		if (rt.slot_state[i])
			continue;
		if (!rt.threads[i]) {
			unused = i;
			break;
		}
		/* what a thread's core is still counted in (stream/run.c) does not become another process's */
		if (slot == NONE && (process == rt.process || rt.threads[i]->process != rt.process))
			slot = i;
	}
	/* slots are given out in order: `unused` is how many there have been */
	if (unused != NONE && (slot == NONE || unused < SLOTS_KEPT) && process == rt.process)
		slot = unused;
	if (slot == NONE)
		slot = unused;
	if (slot == NONE)
		return NULL;
	struct thread *t = rt.threads[slot];
	if (!t) {
		uint64_t bytes = rt.inline_front + SIGNAL_STACK_BYTES + STACK_BYTES + THREAD_BYTES +
				 counters_bytes() + 8192;
		long p = sys6(SYS_mmap, memory_place(bytes), bytes, PROT_READ_ | PROT_WRITE_,
			      MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_, (uint64_t)-1, 0);
		if (failed(p))
			return NULL;
		own_add((uint64_t)p, bytes);
		t = (struct thread *)((uint64_t)p + rt.inline_front + SIGNAL_STACK_BYTES + STACK_BYTES);
		if (!fresh_record(t, process))
			return NULL;
		rt.threads[slot] = t;
	} else {
		struct record_thread *record = t->record;
		uint64_t *counters = t->counters;
		bool same = t->process == process;
		uint64_t *trace_base = t->trace_base, *trace_end = t->trace_end;
		struct model_counts *model_counts = t->model_counts;
		struct region_frame *frames = t->frames;
		uint64_t *counted = t->counted;
		struct calls_stack *calls = t->calls;
		memset(t, 0, sizeof *t);
		t->calls = calls;
		t->trace_base = trace_base;
		t->trace_end = trace_end;
		t->model_counts = model_counts;
		t->frames = frames;
		t->counted = counted;
		t->counters = counters;
		t->record = record;
		t->process = process;
		if (!same && !fresh_record(t, process))
			return NULL;
		if (same)
			t->record->tids_folded++;
	}
	rt.slot_state[slot] = 1;
	t->self = t;
	t->actions = rt.action;
	t->slot = slot;
	t->runtime_rsp = (uint64_t)t - 64;
	t->exit_entry = (uint64_t)&runtime_exit;
	t->miss_entry = (uint64_t)&runtime_miss;
	t->inline_entry = rt.inline_careful ? (uint64_t)&runtime_inline_careful : (uint64_t)&runtime_inline;
	t->flags = 0x202;
	t->second_table = (uint64_t)rt.second;
	t->second_mask = rt.second_mask;
	regions_thread(t);
	t->record->state = RECORD_THREAD_RUNNING;
	process->thread_count++;
	rt.live_threads++;
	if (!stream_thread(t)) {
		rt.slot_state[slot] = 0;
		rt.live_threads--;
		return NULL;
	}
	stream_calls_begin(t);
	return t;
}

bool world_stop(struct thread *t, bool forever)
{
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++)
		if (rt.threads[i] != t && rt.slot_state[i])
			__atomic_or_fetch(&rt.threads[i]->attention, ATTENTION_STOP, __ATOMIC_SEQ_CST);
	uint64_t rounds = 0;
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		struct thread *o = rt.threads[i];
		if (o == t)
			continue;
		while (rt.slot_state[i]) {
			uint32_t where = __atomic_load_n(&o->where, __ATOMIC_SEQ_CST);
			if (!where)
				break;
			if (where == 2) {
				if (o->raw_valid)
					recover_thread(o);
				break; /* it waits for the lock */
			}
			sys0(SYS_sched_yield);
			if (++rounds > 200000 && !forever)
				return false;
		}
	}
	return true;
}

/* The child's first C code, on its own runtime stack, all signals blocked; what comes next is runtime_again. */
void runtime_clone_start(struct thread *t);
void runtime_clone_start(struct thread *t)
{
	sys2(SYS_arch_prctl, ARCH_SET_GS_, t);
	t->tid = (uint32_t)sys0(SYS_gettid);
	if (!t->record->tid)
		t->record->tid = t->tid;
	if (t->process != rt.process) {
		t->process->pid = (uint32_t)sys0(SYS_getpid);
		__atomic_store_n(&t->process->state, RECORD_RUNNING, __ATOMIC_RELEASE);
	}
	written_end(t);
	stream_fs_changed(t);
	regions_inherited(t);
	signals_thread(t);
	if (t->clear_actions)
		signals_clear(t);
	signal_set_mask(t, t->mask);
}

/* Every thread goes on in another part; none of them is counting. Of those that have ended the core of a model may
 * still count. */
bool thread_fresh_records(struct record_process *old, struct record_process *process)
{
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		struct thread *t = rt.threads[i];
		if (!rt.slot_state[i] && (!rt.trace || t->process != old))
			continue;
		uint32_t tid = t->record->tid, state = t->record->state, call = t->record->call,
			 waits = t->record->waits;
		uint64_t models = t->record->models;
		if (rt.leaving && models && !(models = stream_counts_moved(t)))
			return false;
		t->record->call = 0;   /* it is in it in the new part */
		t->record->models = 0; /* they count on there */
		if (!fresh_record(t, process))
			return false;
		t->record->tid = tid;
		t->record->state = state;
		t->record->call = call;
		t->record->waits = waits;
		t->record->models = models;
		process->thread_count += rt.slot_state[i];
	}
	return true;
}

static void private_memory(void *at, uint64_t bytes)
{
	if (at && failed(sys6(SYS_mmap, (uint64_t)at, bytes, PROT_READ_ | PROT_WRITE_,
			      MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_FIXED_ | MAP_NORESERVE_, (uint64_t)-1, 0)))
		die("no memory for what a thread has left", bytes);
}

/* The record is left. moves: the thread will have a fresh one; else whoever has its slot next. */
void thread_leaves_record(struct thread *t, bool moves)
{
	private_memory(t->corrections, CORRECTIONS_OF_CHILD);
	if (moves)
		return;
	private_memory(t->counters, counters_bytes() + 8192);
	private_memory(t->model_counts, stream_counts() * 8);
	t->process = NULL;
}

static struct record_process *entry_of(uint32_t index)
{
	return (struct record_process *)((uint8_t *)rt.session + RECORD_PROCESSES_OFFSET) + index;
}

static struct record_process *new_entry(void)
{
	uint32_t index = __atomic_fetch_add(&rt.session->process_count, 1, __ATOMIC_RELAXED);
	if (index < RECORD_PROCESSES_MAX)
		return entry_of(index);
	inexact("more processes than the record holds");
	return NULL;
}

/* The entry for what goes on. Its state stays "reserved" until its areas are there. */
struct record_process *thread_part(struct record_process *old)
{
	struct record_process *process = new_entry();
	if (!process)
		return NULL;
	process->parent = (uint32_t)(old - entry_of(0));
	process->continues = process->parent + 1;
	process->session_at = (uint64_t)rt.session;
	memcpy(process->limits, rt.limits, sizeof rt.limits);
	process->regions = old->regions;
	__atomic_store_n(&process->state, RECORD_RESERVED, __ATOMIC_RELEASE);
	return process;
}

static struct record_process *reserve_process(const struct record_process *parent)
{
	struct record_process *process = new_entry();
	rt.alone = 0;
	if (!process)
		return NULL;
	process->parent = (uint32_t)(parent - entry_of(0));
	process->forked = 1;
	memcpy(process->limits, parent->limits, sizeof process->limits);
	__atomic_store_n(&process->state, RECORD_RESERVED, __ATOMIC_RELEASE);
	return process;
}

/* In the child, the lock held: the parent's memory, without its threads and its record. */
static void child_begin(struct thread *t, struct record_process *process)
{
	t->forked = 1;
	bool opened = process && record_reopen(process) && stream_reopen(process) &&
		      stream_calls_reopen(process, t) && regions_child(t, process);
	__atomic_store_n(&rt.action_lock, 0, __ATOMIC_RELEASE); /* whoever held it is not here */
	rt.closing = 0;
	t->held = rt.held = 0; /* no signal is pending for it; all are blocked here */
	rt.live_threads = 1;
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++)
		if (rt.threads[i] != t)
			rt.slot_state[i] = 0;
	t->tid = (uint32_t)sys0(SYS_gettid);
	if (rt.forks_differ)
		memory_forked();
	if (process && !opened) /* without it nothing more can be translated */
		die("a child process has no memory for its record and its models (ulimit -v?)", 0);
	/* the other slots' counters are the parent's: they get fresh ones when they are used again, as their
	 * process differs */
	if (!opened || !fresh_record(t, process) || !stream_thread(t)) {
		/* what it counts would be added to its parent: run it on memory of its own, that nobody reads */
		inexact("a child process could not be followed: no memory for its record");
		if (failed(sys6(SYS_mmap, (uint64_t)t->counters, counters_bytes() + 8192, 3,
				MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_FIXED_ | MAP_NORESERVE_, (uint64_t)-1, 0)))
			sys1(SYS_exit_group, 125);
		stream_orphan(t);
		return;
	}
	regions_recounted(t);
	t->record->tid = t->tid;
	t->record->state = RECORD_THREAD_RUNNING;
	process->thread_count = 1;
	process->pid = (uint32_t)sys0(SYS_getpid);
	stream_fs_changed(t);
	__atomic_store_n(&process->state, RECORD_RUNNING, __ATOMIC_RELEASE);
}

long thread_fork(struct thread *t, long nr, const uint64_t args[6])
{
	uint64_t all = ~0ull;
	lock();
	sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &all, 0, MASK_BYTES);
	struct record_process *process = reserve_process(t->process);
	rt.has_forked = 1;
	record_near();
	for (uint32_t i = 0; i < rt.block_count; i++) /* parent and child must agree on them */
		if (rt.blocks[i].conditional && rt.blocks[i].edge == EDGE_OPEN)
			record_edge(i, EDGE_TAKEN);
	stream_calls_fork(t);
	uint64_t chance = rt.served ? served_random() : 0;
	long result = runtime_program_call(nr, args);
	if (result == 0)
		rt.chance = chance; /* other numbers than its parent's */
	if (result == 0)
		child_begin(t, process);
	else if (!failed(result) && process && !process->pid) /* it may be ended before it says so itself */
		process->pid = (uint32_t)result;
	else if (failed(result) && process)
		__atomic_store_n(&process->state, RECORD_FREE, __ATOMIC_RELEASE);
	if (result == -ENOMEM_) /* overcommitting forbidden, for one */
		inexact("a fork was refused for lack of memory, of which the engine has taken some");
	unlock();
	signal_set_mask(t, t->mask);
	return result;
}

/* A process that runs in another one's memory ends: its blocks are that one's. */
void process_inherits(struct record_process *process)
{
	process->blocks.inherited = process->blocks.count = rt.block_count;
	process->sites.inherited = process->sites.count = rt.areas[AREA_SITES].count;
	process->modules.inherited = process->modules.count = rt.areas[AREA_MODULES].count;
	process->regions = rt.process->regions;
	stream_inherit(process);
}

enum {
	CLONE_VM = 0x100,
	CLONE_VFORK = 0x4000,
	CLONE_THREAD = 0x10000,
	CLONE_SIGHAND = 0x800,
	CLONE_PIDFD = 0x1000,
	CLONE_PARENT_SETTID = 0x100000,
	CLONE_CHILD_CLEARTID = 0x200000,
	CLONE_CHILD_SETTID = 0x1000000
};
#define CLONE_CLEAR_SIGHAND (1ull << 32)

/* What the kernel writes for a child; the two numbers may be written before either goes on. */
static void clone_writes(struct thread *t, uint64_t flags, uint64_t pidfd, uint64_t parent_tid, uint64_t child_tid)
{
	if (flags & CLONE_PIDFD)
		written_add(t, pidfd, 4);
	if (flags & CLONE_PARENT_SETTID)
		written_add(t, parent_tid, 4);
	if (flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))
		written_add(t, child_tid, 4);
	written_open(t);
}

/* In a child with memory of its own. */
static void forked_child(struct thread *t, uint64_t flags, uint64_t stack, uint64_t child_tid)
{
	t->clear_tid = flags & CLONE_CHILD_CLEARTID ? child_tid : 0;
	t->robust_list = 0;
	t->dispatched = 0;
	if (flags & CLONE_CLEAR_SIGHAND)
		signals_clear(t);
	if (stack) {
		t->reg[X86_RSP] = stack;
		stacks_thread(t, stack);
	}
	if (own_record_flags(flags) && t->process == rt.process)
		own_record_child(t);
}

/* A child that shares memory: a thread, or a vfork's. */
static long clone_shared(struct thread *t, uint64_t nr, uint64_t args[6], uint64_t *clone3_args, uint64_t flags,
			 uint64_t stack, uint64_t next)
{
	uint64_t child_tid = clone3_args ? clone3_args[2] : args[3];
	uint64_t all = ~0ull;
	struct record_process *process = t->process;
	lock();
	sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &all, 0, MASK_BYTES);
	if (!(flags & CLONE_THREAD)) {
		process = reserve_process(t->process);
		if (!process)
			process = t->process;
	}
	if (!(flags & CLONE_VFORK))
		inline_off(t);
	if (flags & CLONE_THREAD)
		second_grow(SECOND_SLOTS);
	struct thread *child = thread_new(process);
	if (!child) {
		if (process != t->process)
			__atomic_store_n(&process->state, RECORD_FREE, __ATOMIC_RELEASE);
		inexact("a thread or child was refused to the program: the engine has no memory for it (ulimit "
			"-v?)");
		unlock();
		signal_set_mask(t, t->mask);
		return -11; /* EAGAIN: as natively when there is no memory for a stack */
	}
	for (int i = 0; i < 16; i++)
		child->reg[i] = t->reg[i];
	child->reg[X86_RAX] = 0;
	child->reg[X86_RCX] = next;
	child->reg[X86_R11] = t->flags;
	child->flags = t->flags;
	if (stack)
		child->reg[X86_RSP] = stack;
	if (stack)
		stacks_thread(child, stack);
	else
		stacks_same(child, t);
	child->pc = next;
	if (!(flags & CLONE_THREAD)) {
		regions_inherit(child, t);
		stream_flush(t);
		if (!stack)
			stream_calls_copy(child, t);
	}
	child->changed = process != t->process && (own_record_flags(flags) || t->changed);
	child->app_gs = t->app_gs;
	child->mask = t->mask;
	child->actions = t->actions;
	if (!(flags & CLONE_SIGHAND)) {
		memcpy(child->own_actions, t->actions, sizeof child->own_actions);
		child->actions = child->own_actions;
	}
	if (flags & CLONE_CHILD_CLEARTID)
		child->clear_tid = child_tid;
	if (flags & CLONE_CHILD_SETTID)
		written_add(child, child_tid, 4); /* until it runs */
	child->clear_actions = (flags & CLONE_CLEAR_SIGHAND) != 0;
	if (flags & CLONE_VFORK) {
		child->altstack_sp = t->altstack_sp;
		child->altstack_size = t->altstack_size;
		child->altstack_flags = t->altstack_flags;
	}
	if (clone3_args) {
		clone3_args[5] = child->runtime_rsp - 4096;
		clone3_args[6] = 4096;
	} else {
		args[1] = child->runtime_rsp;
	}
	if (flags & CLONE_THREAD)
		stream_flush(t); /* what it did is before what the other does */
	unlock();
	long result = runtime_clone((long)nr, args, child);
	/* a vfork's child has ended, or left for another program, by now */
	if (failed(result) || (flags & CLONE_VFORK)) {
		lock();
		if (rt.slot_state[child->slot]) {
			rt.slot_state[child->slot] = 0;
			rt.live_threads--;
		}
		child->record->state = RECORD_THREAD_EXITED;
		if (process != t->process) {
			if (failed(result)) {
				__atomic_store_n(&process->state, RECORD_FREE, __ATOMIC_RELEASE);
			} else {
				process_inherits(process);
			}
			stream_vfork_done(child);
		}
		unlock();
	}
	signal_set_mask(t, t->mask);
	return result;
}

long thread_clone(struct thread *t, uint64_t nr, uint64_t next)
{
	uint64_t *r = t->reg, args[6] = {r[X86_RDI], r[X86_RSI], r[X86_RDX], r[X86_R10], r[X86_R8], r[X86_R9]};
	uint64_t flags, stack, clone3_args[32] = {0};
	if (nr == SYS_fork) {
		long result = thread_fork(t, SYS_fork, args);
		if (result == 0)
			forked_child(t, 0, 0, 0);
		return result;
	}
	if (nr == SYS_vfork) {
		flags = CLONE_VM | CLONE_VFORK | 17;
		uint64_t simple[6] = {flags};
		return clone_shared(t, SYS_clone, simple, NULL, flags, 0, next);
	}
	if (nr == SYS_clone) {
		flags = args[0];
		stack = args[1];
		clone_writes(t, flags, args[2], args[2], args[3]);
		if (flags & CLONE_VM) {
			stream_objects_stack(t, stack, 0);
			return clone_shared(t, nr, args, NULL, flags, stack, next);
		}
		args[1] = 0;
		long result = thread_fork(t, (long)nr, args);
		if (result == 0)
			forked_child(t, (uint32_t)flags, stack, args[3]);
		return result;
	}
	/* clone3(struct clone_args *, size) */
	if (args[1] < 64 || args[1] > sizeof clone3_args ||
	    !safe_copy(clone3_args, (const void *)args[0], args[1]))
		/* the kernel's own error, or what a newer one makes of it */
		return runtime_program_call((long)nr, args);
	flags = clone3_args[0];
	if ((flags & CLONE_CLEAR_SIGHAND) && (flags & CLONE_SIGHAND))
		return -EINVAL_;
	clone_writes(t, flags, clone3_args[1], clone3_args[3], clone3_args[2]);
	clone3_args[0] &= ~CLONE_CLEAR_SIGHAND; /* the kernel's handlers are the engine's */
	stack = clone3_args[5] ? clone3_args[5] + clone3_args[6] : 0;
	args[0] = (uint64_t)clone3_args;
	if ((flags & CLONE_VM) && stack)
		stream_objects_stack(t, stack, clone3_args[6]);
	if ((flags & CLONE_VM) && (clone3_args[5] != 0) == (clone3_args[6] != 0))
		return clone_shared(t, nr, args, clone3_args, flags, stack, next);
	if (flags & CLONE_VM)
		return -EINVAL_;
	clone3_args[5] = clone3_args[6] = 0;
	long result = thread_fork(t, (long)nr, args);
	if (result == 0)
		forked_child(t, flags, stack, clone3_args[2]);
	return result;
}

void thread_exit(struct thread *t, uint64_t status)
{
	uint64_t all = ~0ull;
	written_last(t);
	if (rt.live_threads > 1) /* alone, a slot is not used again: strict seccomp allows no such call */
		sys4(SYS_rt_sigprocmask, SIG_SETMASK_, &all, 0, MASK_BYTES);
	stream_flush(t);
	lock();
	regions_counted(t);
	if (t->process == rt.process) /* a vfork child's slot is its parent's to free */
		rt.live_threads--;
	else
		process_inherits(t->process);
	t->record->state = RECORD_THREAD_EXITED;
	if (t->process != rt.process || !rt.live_threads)
		__atomic_store_n(&t->process->state, RECORD_EXITED, __ATOMIC_RELEASE);
	unlock();
	uint32_t dummy;
	runtime_final_exit(t->process == rt.process ? &rt.slot_state[t->slot] : &dummy, (long)status);
}

/* The others' last blocks are counted whole only if they are out of the cache. The lock stays held: nobody goes
 * on. */
void process_over(struct thread *t)
{
	if (t->process == rt.process) {
		lock();
		if (rt.live_threads > 1) {
			cache_unlink_all();
			if (!world_stop(t, false))
				inexact("a thread could not be stopped at the end");
		}
	} else {
		lock();
		process_inherits(t->process);
		unlock();
	}
	stream_end(t);
	regions_end(t);
	__atomic_store_n(&t->process->state, RECORD_EXITED, __ATOMIC_RELEASE);
}

void process_exit(struct thread *t, uint64_t status)
{
	if (t->process != rt.process) /* those that share the memory go on */
		written_last(t);
	process_over(t);
	const uint64_t args[6] = {status};
	runtime_program_call(SYS_exit_group, args);
	sys1(SYS_exit_group, status); /* a filter gave it an error number */
	sys1(SYS_exit, status);       /* what libc does then */
	__builtin_trap();
}
