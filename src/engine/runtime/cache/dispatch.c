/*
 * From an exit of the code cache to the code that goes on.
 *
 *     cache ──exit──► runtime_dispatch ──► (system call) ──► find or translate, link ──► resume
 *     cache ──signal─► runtime_recovered ► runtime_again ──► deliver, wait ──► find ──► resume
 *
 * What always holds: t->pc is where the program goes on whenever resume is about to be entered, and t->reg is
 * complete; thread.where becomes 0 only after all that the exit says has been read.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/cache/memory.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/inline/inline.h"
#include "engine/runtime/kept/kept.h"
#include "engine/runtime/os/calls.h"
#include "engine/runtime/os/served.h"
#include "engine/runtime/os/signal.h"
#include "engine/runtime/os/state.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/code.h"

#define MISSES_BETWEEN 16
#define COPIES 4 /* of a one-block loop: measured, 5 cycles a turn with one counter, 1.5 with four */
#define COPY_INSNS_MAX 16
/* A taken branch's target is doubled more often than a fall-through: 4 to 9 % faster in interpreters, 6 % slower
   in cc1, which runs 200 000 blocks a few times each. */
#define TAKEN_FOLLOW_MAX 65536u
#define FETCH_FAULT_ERROR 0x14 /* page-fault error code: instruction fetch, user */

static bool checked_still_same(const struct block *b)
{
	uint8_t now[1024];
	return safe_copy(now, (const void *)b->pc, b->length) && !memcmp(now, b->bytes, b->length);
}

/* 1: a page of three functions that the kernel emulates: the processor retires no instruction there. */
static bool vsyscall(struct thread *t)
{
	static const uint16_t number[] = {96, 201, 309}; /* gettimeofday, time, getcpu */
	uint64_t offset = t->pc - 0xffffffffff600000ull, back;
	if (offset > 0x800 || (offset & 0x3ff))
		return false;
	if (!safe_copy(&back, (const void *)t->reg[X86_RSP], 8))
		return false;
	stream_break(t, t->pc);
	written_begin(t, number[offset >> 10]);
	t->reg[X86_RAX] = (uint64_t)sys3(number[offset >> 10], t->reg[X86_RDI], t->reg[X86_RSI], t->reg[X86_RDX]);
	if (rt.served)
		t->reg[X86_RAX] = (uint64_t)served_vsyscall(t, number[offset >> 10], (long)t->reg[X86_RAX]);
	written_end(t);
	t->reg[X86_RSP] += 8;
	t->pc = back;
	return true;
}

enum { TRAP_STACK = 12, TRAP_PROTECTION = 13, TRAP_PAGE = 14, PAGE_WRITE_ERROR = 2, PAGE_READ_ERROR = 4 };

/* branched: by an indirect branch, just now. */
static void fetch_fault(struct thread *t, bool branched)
{
	uint8_t byte;
	const struct watched_mapping *region = memory_executable(t->pc);
	if (wild(t->pc)) { /* not canonical: the branch itself faults, natively */
		if (!branched || !wild_undo(t))
			inexact("a jump to a non-canonical address: the jump itself faults natively, and is not "
				"counted then");
		signal_force(t, SIGSEGV_, SI_KERNEL_, 0);
		if (t->pending_count)
			t->pending_trapno[t->pending_count - 1] = TRAP_PROTECTION;
		return;
	}
	uint64_t address = t->pc;
	/* its first bytes are there: the rest is on the next page */
	if (region && safe_copy(&byte, (const void *)address, 1))
		address = (t->pc + X86_MAX_INSN_BYTES) & ~4095ull;
	rt.copy_fault = 0;
	bool mapped = safe_copy(&byte, (const void *)address, 1) || rt.copy_fault_code == SEGV_ACCERR_;
	if (region && rt.copy_fault == SIGBUS_) { /* behind the end of the file */
		signal_force(t, SIGBUS_, BUS_ADRERR_, address);
		return;
	}
	signal_force(t, SIGSEGV_, mapped ? SEGV_ACCERR_ : SEGV_MAPERR_, address);
	if (t->pending_count)
		t->pending_error[t->pending_count - 1] = FETCH_FAULT_ERROR | mapped;
}

/* An exit's instruction has not happened after all: it faults. */
static void undo_last(struct thread *t, const struct block *b, uint64_t pc)
{
	t->pc = pc;
	lock();
	record_correct(t, (uint32_t)(b - rt.blocks), b->insns - 1u);
	stream_undo(t, (uint32_t)(b - rt.blocks), b->insns - 1u);
	unlock();
}

enum { CODE_32 = 0x23, DATA_64 = 0x2b, CODE_64 = 0x33, SELECTOR_LOCAL = 4 };

static void fault_as(struct thread *t, int trap, uint64_t error)
{
	signal_force(t, trap == TRAP_STACK ? SIGBUS_ : SIGSEGV_, SI_KERNEL_, 0);
	if (t->pending_count) {
		t->pending_trapno[t->pending_count - 1] = (uint64_t)trap;
		t->pending_error[t->pending_count - 1] = error;
		t->pending_cr2[t->pending_count - 1] = 0;
	}
}

static void fault_of(struct thread *t, uint64_t address, bool write)
{
	uint8_t byte;
	bool mapped = safe_copy(&byte, (const void *)address, 1) || rt.copy_fault_code == SEGV_ACCERR_;
	signal_force(t, SIGSEGV_, mapped ? SEGV_ACCERR_ : SEGV_MAPERR_, address);
	if (t->pending_count)
		t->pending_error[t->pending_count - 1] = PAGE_READ_ERROR | mapped |
							 (write ? PAGE_WRITE_ERROR : 0u);
}

/* The general protection fault of a selector that a far return (ss 0: it has none) finds: its error code, or -1:
 * none. */
static long refused_selector(const struct thread *t, uint64_t cs, uint64_t ss, uint64_t to, bool iret)
{
	if (iret && (t->flags & FLAG_NT))
		return 0;
	if (cs != CODE_64 && cs != CODE_32 && !(rt.local_segments && (cs & SELECTOR_LOCAL)))
		return (long)(cs & 0xfffc);
	if (cs != CODE_64)
		return -1;
	if (iret && ss != DATA_64 && !(rt.local_segments && (ss & SELECTOR_LOCAL)))
		return (long)(ss & 0xfffc);
	return wild(to) ? 0 : -1;
}

/* An instruction that the engine does itself (os/served.c). */
static void serve(struct thread *t, const struct exit *exit)
{
	const struct block *b = &rt.blocks[exit->block];
	struct x86_insn in = {0};
	lock();
	uint64_t pc = last_instruction(b, &in), fault = 0;
	unlock();
	enum served_end end = served_instruction(t, exit->block, &in, pc, &fault);
	if (end == SERVED_DONE)
		return;
	undo_last(t, b, pc);
	if (end == SERVED_PROTECTION)
		fault_as(t, TRAP_PROTECTION, 0);
	else
		fault_of(t, fault, end == SERVED_WRITE_FAULT);
}

/* A far return or iretq, which stays in the 64-bit code segment. */
static void far_return(struct thread *t, uint64_t next, const struct block *b)
{
	struct x86_insn in = {0};
	for (unsigned at = 0; at < b->length; at += in.length)
		if (x86_decode(b->bytes + at, b->length - at, &in) != X86_DECODE_OK)
			die("lost: a far return's bytes", next);
	bool iret = in.flow == X86_FLOW_IRET;
	uint64_t frame[5] = {0}, pc = next - in.length, rsp = t->reg[X86_RSP];
	unsigned wide = in.operand_bytes, items = iret ? 5 : 2;
	for (unsigned i = 0; i < items; i++)
		if (!safe_copy(&frame[i], (const void *)(rsp + i * wide), wide)) {
			undo_last(t, b, pc);
			if (wild(rsp + i * wide))
				fault_as(t, TRAP_STACK, 0);
			else
				fault_of(t, rsp + i * wide, false);
			return;
		}
	uint64_t cs = frame[1] & 0xffff, ss = frame[4] & 0xffff;
	long error = refused_selector(t, cs, ss, frame[0], iret);
	if (error >= 0) {
		undo_last(t, b, pc);
		fault_as(t, TRAP_PROTECTION, (uint64_t)error);
		return;
	}
	if (cs != CODE_64)
		die("a far return to another code segment, which the engine does not support", pc);
	t->pc = frame[0];
	if (iret) {
		t->flags = (t->flags & ~IRET_FLAGS) | (frame[2] & IRET_FLAGS);
		if (t->flags & UNSAFE_FLAGS)
			inline_careful();
		t->reg[X86_RSP] = frame[3];
	} else {
		t->reg[X86_RSP] = rsp + 2 * wide + (in.immediate_size ? (uint64_t)in.immediate & 0xffff : 0);
	}
}

/* An indirect branch came here: the tables get the block. */
static void enter_tables(struct thread *t, uint32_t block)
{
	struct block *b = &rt.blocks[block];
	bool looks_returned = false;
	uint8_t back[X86_CALL_BYTES];
	t->misses_left = MISSES_BETWEEN;
	if ((t->pc & 4095) >= sizeof back) {
		memcpy(back, (const void *)(t->pc - sizeof back), sizeof back);
		looks_returned = x86_may_end_in_call(back);
	}
	if (b->context) {
		cache_table(block, TABLE_CALL);
		return;
	}
	b->misses += b->misses < 8;
	if (looks_returned || b->misses > 3)
		cache_table(block, TABLE_RETURN);
	if (!looks_returned || b->misses > 3) {
		cache_table(block, TABLE_CALL);
		cache_table(block, TABLE_JUMP);
	}
}

/* An exit that is gone through. */
struct passage {
	uint32_t id;
	const struct exit *exit;
	bool counted; /* by the counted way out of a conditional branch */
	bool same;    /* the exit is still there, not linked, and its block is live */
};

static bool one_block_loop(const struct thread *t, const struct passage *p)
{
	const struct block *owner = &rt.blocks[p->exit->block];
	return p->exit->kind == EXIT_TAKEN && owner->pc == t->pc && owner->copy < COPIES - 1 &&
	       owner->insns <= COPY_INSNS_MAX && rt.block_count < rt.blocks_max / 2;
}

/*
 * By the uncounted way: into the block that follows, if there is one or it can be made (see
 * translate/translate.c). NONE: there is none; if there should have been, the counts are corrected.
 */
static uint32_t enter_follower(struct thread *t, const struct passage *p)
{
	struct block *from = &rt.blocks[p->exit->block];
	uint32_t parent = p->exit->block, follower = from->follower;
	if (follower != NONE && (rt.blocks[follower].flags & BLOCK_LIVE)) {
		if (p->same)
			cache_link(p->id, follower, rt.blocks[follower].code);
		return follower;
	}
	bool loop = one_block_loop(t, p), make = p->same && !(from->flags & BLOCK_CHECKED);
	if (follower == NONE)
		make = make && !from->no_follower && from->conditional && from->depth < DEPTH_MAX &&
		       (loop || ((p->exit->kind == EXIT_NEXT || rt.block_count < TAKEN_FOLLOW_MAX) &&
				 cache_find(t->context, t->pc) == NONE));
	if (make) {
		struct code_arena *a = arena_of(from->code);
		uint32_t generation = rt.generation;
		/* the last jump of the newest block is overwritten by what it would lead to, if no other thread
		 * can be in it */
		bool last = p->exit->kind == EXIT_NEXT && rt.live_threads == 1 && p->exit->patch + 4 == a->hot &&
			    cache_room(a) && cache_arena(t->pc) == a;
		uint32_t block = translate(t, t->pc, false, loop ? TRANSLATE_COPY : TRANSLATE_BLOCK, NONE,
					   last ? parent : NONE, parent);
		if (block != NONE && rt.blocks[block].follows == parent) {
			if (loop)
				rt.blocks[block].copy = from->copy + 1;
			if (from->conditional)
				record_leader(block);
			if (generation == rt.generation) {
				if (last && rt.blocks[block].code == p->exit->patch - 1) {
					from->flags |= BLOCK_TAIL;
					from->code_bytes -= 5;
					from->exit[from->conditional] = NONE;
					rt.exits[p->id].patch = NULL;
				} else {
					cache_link(p->id, block, rt.blocks[block].code);
				}
			}
			return block;
		}
	}
	if (follower != NONE)
		record_correct(t, follower, 0);
	else
		from->no_follower = 1;
	return NONE;
}

/* Counts what the exit counts, without going on by it: t->pc is where. */
static void settle(struct thread *t, const struct exit *exit)
{
	struct block *owner = &rt.blocks[exit->block];
	if (exit->kind > EXIT_TAKEN)
		return;
	if (owner->conditional && owner->edge == EDGE_OPEN)
		record_edge(exit->block, exit->kind == EXIT_TAKEN ? EDGE_FALL : EDGE_TAKEN);
	if (owner->conditional && (owner->edge == EDGE_TAKEN) == (exit->kind == EXIT_TAKEN))
		++*counter_of(t, exit->block * 2 + 1);
	else if (owner->follower != NONE)
		record_correct(t, owner->follower, 0);
	else
		owner->no_follower = 1;
}

/* Finds or makes the code for t->pc, and links the exit to it. False: there is no instruction to be fetched. */
static bool enter(struct thread *t, uint32_t id, const struct exit *exit, uint32_t generation, bool indirect)
{
	struct passage p = {.id = id, .exit = exit};
	if (exit && exit->kind <= EXIT_TAKEN) {
		struct block *owner = &rt.blocks[exit->block];
		if (owner->conditional) {
			if (owner->edge == EDGE_OPEN)
				record_edge(exit->block, exit->kind == EXIT_TAKEN ? EDGE_FALL : EDGE_TAKEN);
			p.counted = (owner->edge == EDGE_TAKEN) == (exit->kind == EXIT_TAKEN);
			if (p.counted)
				++*counter_of(t, exit->block * 2 + 1);
		}
		/* the exit may have been linked, or its block dropped, since it was read */
		p.same = generation == rt.generation && rt.exits[id].linked == NONE && rt.exits[id].patch &&
			 (owner->flags & BLOCK_LIVE) &&
			 owner->exit[exit->kind == EXIT_NEXT && owner->conditional] == id;
		if (!p.counted) {
			uint32_t follower = enter_follower(t, &p);
			if (follower != NONE) {
				t->entering = follower + 1;
				t->entered = follower;
				t->resume = (uint64_t)rt.blocks[follower].code;
				return true;
			}
			/* a way that has a follower leads nowhere else without the dispatcher */
			p.same = p.same && generation == rt.generation && owner->follower == NONE;
		}
	}
	if (t->step_once) {
		t->step_once = 0;
		uint32_t single = translate(t, t->pc, false, TRANSLATE_SINGLE, NONE, NONE, NONE);
		if (single == NONE)
			return false;
		t->resume = (uint64_t)rt.blocks[single].code;
		t->entered = NONE;
		return true;
	}
	uint32_t block = cache_find(t->context, t->pc);
	t->entered = NONE;
	if (block != NONE && (rt.blocks[block].flags & BLOCK_CHECKED) &&
	    (!checked_still_same(&rt.blocks[block]) ||
	     memory_settle(rt.blocks[block].pc, rt.blocks[block].length))) {
		cache_drop(block);
		block = NONE;
	}
	if (block == NONE && rt.setup->kept && kept_install(t->pc))
		block = cache_find(t->context, t->pc);
	if (block == NONE) {
		bool thunk = p.same && p.counted && arena_of(rt.blocks[exit->block].code) == cache_arena(t->pc);
		block = translate(t, t->pc, indirect, TRANSLATE_BLOCK, thunk ? id : NONE, NONE, NONE);
		if (block == NONE)
			return false;
		p.same = p.same && generation == rt.generation;
	}
	struct block *b = &rt.blocks[block];
	if (!(b->flags & BLOCK_CHECKED)) {
		struct code_arena *a = arena_of(b->code);
		if (p.same && p.counted) {
			const uint8_t *thunk = rt.exits[id].thunk;
			bool leads = thunk && thunk_leads_to(thunk, b->code);
			if (!leads && cache_room(a) && arena_of(rt.blocks[exit->block].code) == a) {
				rt.exits[id].thunk = emit_thunk(a, id, b, NULL);
				leads = true;
			}
			if (leads)
				cache_link(id, block, rt.exits[id].thunk);
		} else if (p.same) {
			cache_link(id, block, b->code);
		} else if (indirect) {
			enter_tables(t, block);
		}
	}
	t->resume = (uint64_t)b->code;
	t->entered = block;
	return true;
}

bool dispatch_enter(struct thread *t, uint32_t id, const struct exit *exit)
{
	return enter(t, id, exit, rt.generation, false);
}

/* What the exit does that the thread has left by; then on to the code at t->pc. */
static void leave_by(struct thread *t)
{
	const struct exit *exit = &t->left_by;
	uint32_t id = t->left_id, generation = t->left_generation, region = NONE; /* an exit of that kind */
	bool transfer = true;
	if (id != EXIT_LOOKUP) {
		if (exit->kind == EXIT_NEXT) { /* behind a branch, or only the next part of a straight run? */
			const struct block *b = &rt.blocks[exit->block];
			transfer = b->conditional || b->pc + b->length != exit->target || b->branch;
		}
		if (exit->kind == EXIT_X87) {
			lock();
			recover_x87_address(t, &rt.blocks[exit->block]);
			unlock();
			exit = NULL;
			transfer = false;
		} else if (exit->kind == EXIT_STATE) {
			state_moved(t, exit->block);
			exit = NULL;
			transfer = false;
		} else if (exit->kind == EXIT_SERVED) {
			serve(t, exit);
			exit = NULL;
			transfer = false;
		} else if (exit->kind == EXIT_STACK) {
			lock();
			regions_stack(t);
			unlock();
			exit = NULL;
			transfer = false;
		} else if (exit->kind == EXIT_FS) {
			stream_fs_changed(t);
			exit = NULL;
			transfer = false;
		} else if (exit->kind == EXIT_FAR) {
			far_return(t, exit->target, &rt.blocks[exit->block]);
			exit = NULL;
		} else if (exit->kind == EXIT_REGION) {
			region = exit->kind;
			transfer = (rt.blocks[exit->block].flags & BLOCK_LEADER) != 0;
		} else if (exit->kind == EXIT_CALL) {
			region = exit->kind;
			if (!t->pc)
				t->pc = t->target;
		} else if (exit->kind == EXIT_PRESENT) {
			t->reg[X86_RAX] = 1;
			rt.stub_regions = t->reg[X86_RDI];
			exit = NULL;
			transfer = false;
		} else if (exit->kind == EXIT_SYSCALL || exit->kind == EXIT_INT80) {
			if (exit->kind == EXIT_SYSCALL)
				system_call(t, exit->block, exit->target);
			else
				system_call_32(t, exit->block, exit->target);
			/* the way back from the kernel: the instruction that follows is executed first */
			t->trace_skip = (t->flags & FLAG_TF) != 0;
			exit = NULL;
			transfer = false;
		}
	}
	while (!vsyscall(t)) {
		if (rt.user_faults)
			fetch_wait(t->pc);
		lock();
		if (id == EXIT_LOOKUP || (region == NONE && !t->unsettled))
			exit = NULL;
		t->unsettled = 0;
		if (region == EXIT_REGION)
			regions_at(t, exit->block);
		else if (region == EXIT_CALL)
			regions_call(t, rt.blocks[exit->block].pc + rt.blocks[exit->block].length);
		else if (t->frame_count && !exit && transfer && !wild(t->pc))
			regions_branched(t);
		if (region != NONE)
			exit = NULL;
		if (part_is_due(t) && !(id == EXIT_LOOKUP && wild(t->pc))) {
			if (exit)
				settle(t, exit);
			exit = NULL;
			part_continue(t);
		}
		bool entered = enter(t, id, exit, generation, id == EXIT_LOOKUP);
		if (entered && transfer) {
			if (t->entered != NONE && !(rt.blocks[t->entered].flags & BLOCK_LEADER))
				record_leader(t->entered);
		}
		if (!entered)
			fetch_fault(t, id == EXIT_LOOKUP);
		unlock();
		return;
	}
	t->attention |= ATTENTION_STOP; /* look again */
}

void dispatch_leaves(struct thread *t, uint32_t id)
{
	t->left_id = id;
	t->left_generation = rt.generation;
	if (id != EXIT_LOOKUP)
		t->left_by = rt.exits[id];
	t->pc = id == EXIT_LOOKUP ? t->target : t->left_by.target;
	t->unsettled = 1;
}

void dispatch_settle(struct thread *t)
{
	if (t->unsettled && t->left_id != EXIT_LOOKUP)
		settle(t, &t->left_by);
	if (t->entering)
		record_correct(t, t->entering - 1, 0);
	t->unsettled = t->entering = 0;
}

void runtime_dispatch(struct thread *t)
{
	dispatch_leaves(t, t->exit_id);
	t->entering = 0;
	t->stepping = 0;
	__atomic_store_n(&t->where, 0, __ATOMIC_RELEASE);
	rt.process->stats[RECORD_STAT_DISPATCHES]++;
	rt.process->stats[RECORD_STAT_LOOKUP_MISSES] += t->left_id == EXIT_LOOKUP;
	leave_by(t);
}

/* It does not go to the follower that it was about to enter after all. */
static void not_entered(struct thread *t)
{
	if (!t->entering)
		return;
	lock();
	dispatch_settle(t);
	unlock();
}

void runtime_again(struct thread *t)
{
	if (t->stepping && !t->raw_valid)
		t->raw_valid = 1;
	t->stepping = 0;
	if (!t->raw_valid) /* before any lock: stopping the world waits for it */
		__atomic_store_n(&t->where, 0, __ATOMIC_RELEASE);
	if (!t->raw_valid)
		not_entered(t);
	t->entering = 0;
	if (t->raw_valid) {
		__atomic_store_n(&t->where, 2, __ATOMIC_RELEASE);
		lock();
		if (t->raw_valid && t->pending_count == 1 && t->pending[0].signo == SIGTRAP_ &&
		    t->pending[0].code == TRAP_TRACE_) {
			bool at_step = recover_at_step(t);
			if (!at_step) { /* inside what stands for one instruction of the program's */
				for (int i = 0; i < 16; i++)
					t->reg[i] = t->raw[i];
				t->flags = t->raw[17];
				t->resume = t->raw[16];
				t->raw_valid = 0;
				t->pending_count = 0;
				__atomic_and_fetch(&t->attention, ~(uint32_t)ATTENTION_SIGNAL, __ATOMIC_ACQ_REL);
				t->stepping = t->resume;
			}
		}
		if (t->raw_valid)
			recover_thread(t);
		unlock();
		if (t->stepping) {
			__atomic_store_n(&t->where, 0, __ATOMIC_RELEASE);
			signal_set_mask(t, t->mask);
			return; /* if a signal comes first, t->raw is what it is about */
		}
	}
	__atomic_store_n(&t->where, 0, __ATOMIC_RELEASE);
	if (t->recovered == 2) {
		t->recovered = 0;
		leave_by(t);
		not_entered(t);
	}
	t->recovered = 0;
	for (;;) {
		__atomic_and_fetch(&t->attention, ~(uint32_t)ATTENTION_STOP, __ATOMIC_ACQ_REL);
		if (t->code_fault) {
			uint64_t address = t->code_fault;
			t->code_fault = 0;
			lock();
			bool ours = memory_write_fault(t, address);
			unlock();
			if (ours) { /* the fault was the engine's own doing */
				t->pending_count--;
				if (!t->pending_count) {
					__atomic_and_fetch(&t->attention, ~(uint32_t)ATTENTION_SIGNAL,
							   __ATOMIC_ACQ_REL);
					signal_set_mask(t, t->mask);
				}
			}
		}
		if (t->attention & ATTENTION_SIGNAL)
			signal_deliver(t);
		if (signals_held(t) & ~t->mask)
			signal_release_held(t);
		if (vsyscall(t))
			continue;
		if (rt.user_faults)
			fetch_wait(t->pc);
		lock();
		if (part_is_due(t))
			part_continue(t);
		bool entered = enter(t, 0, NULL, 0, false);
		if (!entered)
			fetch_fault(t, false);
		if (entered && t->leader) {
			uint32_t block = cache_find(t->context, t->pc);
			if (block != NONE)
				record_leader(block);
			t->leader = 0;
		}
		unlock();
		if (entered)
			return;
	}
}
