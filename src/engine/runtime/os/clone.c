/*
 * clone, clone3, fork and vfork: threads and processes begin.
 *
 *     shares memory:  thread_new ──► runtime_clone ──► (child) runtime_clone_start
 *     does not:       process_reserve ──► thread_fork ──► (child) child_begin ──► forked_child
 *
 * What always holds: a vfork child runs in its parent's memory, with a slot and a process entry of its own.
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

/* In the child, the lock held: the parent's memory, without its threads and its record. */
static void child_begin(struct thread *t, struct record_process *process)
{
	t->forked = 1;
	bool opened = process && record_reopen(process) && stream_reopen(process) &&
		      stream_calls_reopen(process, t) && called_reopen(process) && regions_child(t, process);
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
	if (!opened || !thread_record(t, process) || !stream_thread(t)) {
		/* what it counts would be added to its parent: run it on memory of its own, that nobody reads */
		inexact("a child process could not be followed: no memory for its record");
		if (failed(sys6(SYS_mmap, (uint64_t)t->counters, thread_record_bytes(), PROT_READ_ | PROT_WRITE_,
				MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_FIXED_ | MAP_NORESERVE_, (uint64_t)-1, 0)))
			sys1(SYS_exit_group, 125);
		stream_orphan(t);
		called_orphan();
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
	struct record_process *process = process_reserve(t->process);
	rt.has_forked = 1;
	record_near();
	for (uint32_t i = 0; i < rt.block_count; i++) /* parent and child must agree on them */
		if (rt.blocks[i].conditional && rt.blocks[i].edge == EDGE_OPEN)
			record_edge(i, EDGE_TAKEN);
	stream_calls_fork(t);
	called_fork();
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
#define CLONE_ARGS_MOST 4096u /* a page: kernel/fork.c, copy_clone_args_from_user */

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
		process = process_reserve(t->process);
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
		return -EAGAIN_; /* as natively when there is no memory for a stack */
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
	} else {
		child->altstack_flags = SS_DISABLE;
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

/* Longer arguments than are known are taken by the kernel, too, if nothing is in what is longer. */
static bool all_zeros(uint64_t at, uint64_t bytes)
{
	uint8_t byte;
	for (uint64_t i = 0; i < bytes; i++)
		if (!safe_copy(&byte, (const void *)(at + i), 1) || byte)
			return false;
	return true;
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
		flags = (uint32_t)args[0];
		stack = args[1];
		clone_writes(t, flags, args[2], args[2], args[3]);
		if (flags & CLONE_VM) {
			stream_objects_stack(t, stack, 0);
			return clone_shared(t, nr, args, NULL, flags, stack, next);
		}
		args[1] = 0;
		long result = thread_fork(t, (long)nr, args);
		if (result == 0)
			forked_child(t, flags, stack, args[3]);
		return result;
	}
	/* clone3(struct clone_args *, size) */
	if (args[1] > sizeof clone3_args && args[1] <= CLONE_ARGS_MOST &&
	    all_zeros(args[0] + sizeof clone3_args, args[1] - sizeof clone3_args))
		args[1] = sizeof clone3_args;
	if (args[1] < 64 || args[1] > sizeof clone3_args ||
	    !safe_copy(clone3_args, (const void *)args[0], args[1]))
		/* the kernel's own error, or what a newer one makes of it */
		return runtime_program_call((long)nr, args);
	flags = clone3_args[0];
	if ((flags & CLONE_CLEAR_SIGHAND) && (flags & CLONE_SIGHAND))
		return -EINVAL_;
	if ((clone3_args[5] != 0) != (clone3_args[6] != 0)) /* a stack without a size, or the reverse */
		return -EINVAL_;
	clone_writes(t, flags, clone3_args[1], clone3_args[3], clone3_args[2]);
	clone3_args[0] &= ~CLONE_CLEAR_SIGHAND; /* the kernel's handlers are the engine's */
	stack = clone3_args[5] ? clone3_args[5] + clone3_args[6] : 0;
	args[0] = (uint64_t)clone3_args;
	if ((flags & CLONE_VM) && stack)
		stream_objects_stack(t, stack, clone3_args[6]);
	if (flags & CLONE_VM)
		return clone_shared(t, nr, args, clone3_args, flags, stack, next);
	clone3_args[5] = clone3_args[6] = 0;
	long result = thread_fork(t, (long)nr, args);
	if (result == 0)
		forked_child(t, flags, stack, clone3_args[2]);
	return result;
}
