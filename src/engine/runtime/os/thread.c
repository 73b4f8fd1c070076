/*
 * Threads and processes: their areas, stopping the others, exit. They begin in clone.c.
 *
 * What always holds: a slot's memory is never given back, so that a late reader of rt.threads finds it; a slot is
 * free when its state is 0.
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

/* For a thread to leave the cache: first by giving up the processor, then by pauses of 1 ms. It may wait for a
 * page that another thread is to provide. */
#define YIELDS 200000u
#define PAUSES_MOST 3000u
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
		sys4(SYS_futex, word, FUTEX_WAIT_ | FUTEX_PRIVATE_, 2, 0);
}

void unlock_word(uint32_t *word)
{
	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
		sys3(SYS_futex, word, FUTEX_WAKE_ | FUTEX_PRIVATE_, 1);
}

void lock(void) { lock_word(&rt.lock); }
void unlock(void) { unlock_word(&rt.lock); }

static uint64_t counters_bytes(void) { return (uint64_t)rt.counters_most * 8; }
uint64_t thread_record_bytes(void) { return counters_bytes() + RECORD_THREAD_BYTES; }

bool thread_record(struct thread *t, struct record_process *process)
{
	uint64_t bytes = counters_bytes(), offset = record_reserve(thread_record_bytes());
	if (!record_map(offset, thread_record_bytes(), (uint8_t *)t + THREAD_BYTES))
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
				 thread_record_bytes();
		long p = sys6(SYS_mmap, memory_place(bytes), bytes, PROT_READ_ | PROT_WRITE_,
			      MAP_PRIVATE_ | MAP_ANONYMOUS_ | MAP_NORESERVE_, (uint64_t)-1, 0);
		if (failed(p))
			return NULL;
		own_add((uint64_t)p, bytes);
		t = (struct thread *)((uint64_t)p + rt.inline_front + SIGNAL_STACK_BYTES + STACK_BYTES);
		if (!thread_record(t, process))
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
		if (!same && !thread_record(t, process))
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
	t->flags = FLAG_IF | FLAG_ALWAYS;
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
	const uint64_t pause[2] = {0, 1000000};
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
			if (++rounds <= YIELDS)
				sys0(SYS_sched_yield);
			else
				sys2(SYS_nanosleep, pause, 0);
			if (rounds > YIELDS + PAUSES_MOST && !forever)
				return false;
		}
	}
	return true;
}

void others_end(struct thread *t, const char *why)
{
	if (rt.live_threads < 2)
		return;
	cache_unlink_all();
	bool stopped = world_stop(t, false);
	if (!stopped)
		inexact(why);
	for (uint32_t i = 0; i < rt.slots_max && rt.threads[i]; i++) {
		struct thread *o = rt.threads[i];
		if (o == t || !rt.slot_state[i] || o->process != rt.process)
			continue;
		/* on its way into the cache where is 1 for a moment, until it sees the attention */
		if (stopped || __atomic_load_n(&o->where, __ATOMIC_SEQ_CST) != 1)
			dispatch_settle(o);
	}
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
		uint64_t models = t->record->models, call_began = t->record->call_began,
			 place = t->record->call_place;
		if (rt.leaving && models && !(models = stream_counts_moved(t)))
			return false;
		t->record->call = 0;   /* it is in it in the new part */
		t->record->models = 0; /* they count on there */
		if (!thread_record(t, process))
			return false;
		t->record->tid = tid;
		t->record->state = state;
		t->record->call = call;
		t->record->waits = waits;
		t->record->call_began = call_began;
		t->record->call_place = place;
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

/* The record is left. moves: the thread will have a fresh one; else the one that has its slot next. */
void thread_leaves_record(struct thread *t, bool moves)
{
	private_memory(t->corrections, CORRECTIONS_OF_CHILD);
	if (moves)
		return;
	private_memory(t->counters, thread_record_bytes());
	private_memory(t->model_counts, stream_counts() * 8);
	t->process = NULL;
}

static struct record_process *entry_of(uint32_t index)
{
	return (struct record_process *)((uint8_t *)rt.record + RECORD_PROCESSES_OFFSET) + index;
}

static struct record_process *new_entry(void)
{
	uint32_t index = __atomic_fetch_add(&rt.record->process_count, 1, __ATOMIC_RELAXED);
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
	process->record_at = (uint64_t)rt.record;
	memcpy(process->limits, rt.limits, sizeof rt.limits);
	process->regions = old->regions;
	__atomic_store_n(&process->state, RECORD_RESERVED, __ATOMIC_RELEASE);
	return process;
}

struct record_process *process_reserve(const struct record_process *parent)
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

/* A process that runs in another one's memory ends: its blocks are that one's. */
void process_inherits(struct record_process *process)
{
	process->blocks.inherited = process->blocks.count = rt.block_count;
	process->sites.inherited = process->sites.count = rt.areas[AREA_SITES].count;
	process->modules.inherited = process->modules.count = rt.areas[AREA_MODULES].count;
	process->regions = rt.process->regions;
	stream_inherit(process);
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
		others_end(t, "a thread could not be stopped at the end");
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
