/*
 * Entering and leaving regions: what a thread's context is.
 *
 *     function   entered at its first instruction; frame: the stack pointer there. Left when an indirect branch (a return, a longjmp,
 *                an unwinder) lands with a higher one: at the return address found on the stack, or anywhere else: without an end
 *     code       entered and left at the ranges' borders (events of translation, region.c). A call from inside: a frame, and while it
 *                lasts the context's members are "not at their own level"
 *     libtare's  entered and left where the program says so (library.c); no frame
 *     signal     a handler is as a call, ended by its sigreturn
 *     counters   a call of libtare's counters (counters.c): a frame, and behind it the thread is in its own region again
 *
 * What always holds (under rt.lock):
 *  1. Frames are nested: an inner one is of code executed while the outer one lasts. A thread's region_low and
 *     region_span are the innermost frame's bounds, which every indirect branch in a context of regions looks at
 *     (entry.S).
 *  2. A context changes only in the runtime, with t->pc and t->reg at the boundary of two instructions.
 */
#include "engine/runtime/cache/cache.h"
#include "engine/runtime/entry.h"
#include "engine/runtime/record/record.h"
#include "engine/runtime/region/passes.h"
#include "engine/runtime/region/region.h"
#include "engine/runtime/runtime.h"
#include "engine/runtime/thread.h"
#include "engine/runtime/translate/translation.h"

#define FRAMES_MOST 512u

enum frame_kind { FRAME_FUNCTION, FRAME_CALL, FRAME_SIGNAL, FRAME_COUNTERS };

struct region_frame {
	uint64_t low, span;
	uint64_t back; /* where it goes on behind; of a signal 0 */
	uint32_t kind;
	uint32_t region;      /* FUNCTION */
	uint32_t context;     /* CALL, SIGNAL: what it was left from */
	uint64_t interrupted; /* SIGNAL: the stack pointer */
	/* SIGNAL: as the thread had them; the handler's own do not lead to a region's end */
	uint32_t generation, last_indirect, last_linkage;
};

void region_assume(struct thread *t, uint32_t context)
{
	t->context = context;
	t->region_key = context_key(context);
	t->region_salt = context_salt(context);
	t->region_table = (uint64_t)rt.second_regions;
}

/* What is in the buffer of the access stream was executed in the context that ends. */
static void set_context(struct thread *t, uint32_t context)
{
	if (rt.trace && context != t->context && t->record) {
		if (t->trace)
			stream_flush(t);
		regions_counted(t);
	}
	bool begins = context != t->context;
	region_assume(t, context);
	if (begins)
		regions_recounted(t);
}

static void set_bounds(struct thread *t)
{
	const struct region_frame *f = t->frame_count ? &t->frames[t->frame_count - 1] : NULL;
	t->region_low = f ? f->low : 0;
	t->region_span = f ? f->span : ~0ull;
}

void regions_thread(struct thread *t)
{
	t->region_miss = (uint64_t)&runtime_region_miss;
	t->region_tail = (uint64_t)&runtime_miss_tail;
	t->frame_count = 0;
	if (rt.record_regions && !t->frames) /* now: a program may forbid itself system calls */
		t->frames = memory_private(FRAMES_MOST * sizeof *t->frames);
	set_context(t, 0);
	set_bounds(t);
}

static bool on_alternate_stack(const struct thread *t, uint64_t sp)
{
	return t->altstack_size && sp > t->altstack_sp && sp - t->altstack_sp <= t->altstack_size;
}

/* Left when the stack pointer is above `top`, or on another stack. */
static void push(struct thread *t, enum frame_kind kind, uint64_t top, uint64_t back, uint32_t region)
{
	if (!t->frames)
		t->frames = memory_private(FRAMES_MOST * sizeof *t->frames);
	if (t->frame_count == FRAMES_MOST) {
		regions_lost(RECORD_LOST_CONTEXTS);
		return;
	}
	uint64_t low = on_alternate_stack(t, t->reg[X86_RSP]) ? t->altstack_sp : 0;
	t->frames[t->frame_count++] = (struct region_frame){.low = low,
							    .span = top - low,
							    .back = back,
							    .kind = kind,
							    .region = region,
							    .context = t->context};
}

static void enter(struct thread *t, const struct region_place *p)
{
	uint64_t back = 0, sp = t->reg[X86_RSP];
	uint32_t context = context_with(t->context, p->region, p->kind == RECORD_REGION_CODE);
	if (context == t->context)
		return; /* no room */
	region_pass(t, p->region)->entries++;
	if (p->kind == RECORD_REGION_FUNCTION) {
		safe_copy(&back, (const void *)sp, 8);
		push(t, FRAME_FUNCTION, sp, back, p->region);
	}
	set_context(t, context);
}

/* ended: where a pass is to end */
static void leave(struct thread *t, uint32_t region, bool ended)
{
	if (!context_has(t->context, region))
		return;
	if (ended)
		region_pass(t, region)->exits++;
	set_context(t, context_without(t->context, region));
}

/* resumed: as it was interrupted */
static void pop(struct thread *t, bool resumed)
{
	struct region_frame f = t->frames[--t->frame_count];
	const uint32_t *members;
	if (f.kind == FRAME_FUNCTION) {
		leave(t, f.region, t->pc == f.back);
		return;
	}
	if (f.kind == FRAME_COUNTERS) {
		set_context(t, counters_outside(t, t->context));
		return;
	}
	if (resumed)
		set_context(t, counters_as_in(t, t->context, f.context));
	for (uint32_t i = 0, n = context_members(f.context, &members); i < n; i++) {
		uint32_t region = members[i] >> 1;
		if ((members[i] & 1) || !context_has(t->context, region))
			continue;
		if (resumed || regions_contain(region, t->pc))
			set_context(t, context_with(t->context, region, true));
		else
			leave(t, region, t->pc == f.back);
	}
}

/* The regions asked for that the thread is in: what it does on another stack may belong to them or not. */
static void note_switch(struct thread *t)
{
	const uint32_t *members;
	for (uint32_t i = 0, n = context_members(t->context, &members); i < n; i++)
		if (region_is_asked(members[i] >> 1))
			region_pass(t, members[i] >> 1)->switched = 1;
}

/* Frames below `to` are left for good, if it is not a stack that lies above them: stacks.c keeps them until that
 * is known. */
static void note_given_up(const struct thread *t, uint64_t from, uint64_t to)
{
	const uint32_t *members;
	for (uint32_t i = t->frame_count; i--;) {
		const struct region_frame *f = &t->frames[i];
		uint64_t top = f->low + f->span;
		if (to - f->low <= f->span)
			break;
		if (f->kind == FRAME_FUNCTION)
			stacks_give_up(from, top, f->back, f->region);
		for (uint32_t k = 0, n = f->kind == FRAME_CALL ? context_members(f->context, &members) : 0; k < n;
		     k++)
			if (!(members[k] & 1))
				stacks_give_up(from, top, f->back, members[k] >> 1);
	}
}

void regions_stack(struct thread *t)
{
	uint64_t from = t->stack_left, to = t->reg[X86_RSP];
	bool handlers = on_alternate_stack(t, from) && !on_alternate_stack(t, to) && to <= t->stack_high;
	if (from == to || !rt.record_regions)
		return;
	if (handlers) { /* a handler left its stack for the one that the signal came on */
		t->stack_arrived = to;
		return;
	}
	if (stacks_moved(t, from, to))
		note_switch(t);
	else if (to > from)
		note_given_up(t, from, to);
}

void regions_branched(struct thread *t)
{
	while (t->frame_count) {
		const struct region_frame *f = &t->frames[t->frame_count - 1];
		if (t->reg[X86_RSP] - f->low <= f->span)
			break;
		stream_break(t, t->pc);
		pop(t, false);
	}
	set_bounds(t);
}

void regions_call(struct thread *t, uint64_t back)
{
	stream_break(t, t->pc);
	push(t, FRAME_CALL, t->reg[X86_RSP], back, 0);
	set_context(t, context_called(t->context));
	set_bounds(t);
}

void regions_signal(struct thread *t, uint64_t interrupted)
{
	if (!t->context)
		return;
	lock();
	uint32_t n = t->frame_count;
	push(t, FRAME_SIGNAL, t->reg[X86_RSP] + 8, 0, 0); /* + 8: at its sigreturn */
	if (t->frame_count > n) {
		struct region_frame *f = &t->frames[n];
		f->interrupted = interrupted;
		f->generation = rt.generation, f->last_indirect = t->last_indirect,
		f->last_linkage = t->last_linkage;
	}
	/* a handler that interrupts libtare is of the program */
	set_context(t, counters_outside(t, context_called(t->context)));
	set_bounds(t);
	unlock();
}

#define SIGNAL_FRAME_MOST 32768u /* with all of the processor's state */

/* A handler may have changed what its sigreturn goes back to. interrupted: 0 if that is not known. */
static void returned_to(struct thread *t, uint64_t frame, uint64_t interrupted)
{
	uint64_t sp = t->reg[X86_RSP];
	bool near = interrupted ? sp - interrupted + SIGNAL_FRAME_MOST / 2 < SIGNAL_FRAME_MOST
				: sp - frame < SIGNAL_FRAME_MOST;
	if (near || (!interrupted && on_alternate_stack(t, frame)))
		return;
	if (stacks_moved(t, interrupted ? interrupted : frame, sp))
		note_switch(t);
}

void regions_return(struct thread *t, uint64_t frame)
{
	uint64_t interrupted = 0;
	if (!rt.places && !t->frame_count)
		return;
	lock();
	uint32_t i = t->frame_count;
	while (i &&
	       !(t->frames[i - 1].kind == FRAME_SIGNAL && t->frames[i - 1].low + t->frames[i - 1].span == frame))
		i--;
	while (i && t->frame_count > i)
		pop(t, false);
	if (i) {
		const struct region_frame *f = &t->frames[i - 1];
		if (f->generation == rt.generation)
			t->last_indirect = f->last_indirect, t->last_linkage = f->last_linkage;
		interrupted = f->interrupted;
		pop(t, true);
	}
	if (rt.places)
		returned_to(t, frame, interrupted);
	regions_branched(t);
	unlock();
}

void region_push_counters(struct thread *t, uint64_t back) { push(t, FRAME_COUNTERS, t->reg[X86_RSP], back, 0); }

void region_change(struct thread *t, uint32_t context) { set_context(t, context); }

void region_leave(struct thread *t, uint32_t region) { leave(t, region, true); }

void regions_at(struct thread *t, uint32_t block)
{
	uint32_t context = t->context, magic;
	const uint32_t *members;
	uint8_t code[REGION_CALL_BYTES];
	if (rt.blocks[block].flags & BLOCK_LEADER) /* a branch may have led here: it is of the context that ends */
		stream_break(t, t->pc);
	bool usable = rt.record_regions && !(rt.record_regions->lost & RECORD_LOST_CONTEXTS);
	for (uint32_t i = 0, n = usable ? context_members(context, &members) : 0; i < n; i++)
		if (!(members[i] & 1) && !regions_contain(members[i] >> 1, t->pc))
			leave(t, members[i] >> 1, true);
	for (uint32_t i = 0; usable && i < rt.place_count; i++)
		if (rt.places[i].low <= t->pc && t->pc < rt.places[i].high &&
		    !context_has(t->context, rt.places[i].region))
			enter(t, &rt.places[i]);
	bool done = t->context != context;
	if (!done && safe_copy(code, (const void *)t->pc, sizeof code) && (magic = region_magic(code)) &&
	    magic != (REGION_CALL_MAGIC | REGION_CALL_PRESENT))
		done = library_called(t, magic);
	if (!done)
		done = library_marked(t);
	if (!done)
		cache_drop(block); /* it is not what it was */
	set_bounds(t);
}

/* A vfork's child is in what its parent is in; its passes are entered where it begins to run. */
void regions_inherit(struct thread *child, const struct thread *t)
{
	if (!t->context)
		return;
	if (!child->frames)
		child->frames = memory_private(FRAMES_MOST * sizeof *child->frames);
	memcpy(child->frames, t->frames, t->frame_count * sizeof *t->frames);
	child->frame_count = t->frame_count;
	set_context(child, counters_none(t, t->context));
	set_bounds(child);
}

void regions_inherited(struct thread *t)
{
	const uint32_t *members;
	if (!t->context)
		return;
	lock();
	regions_recounted(t);
	for (uint32_t i = 0, n = context_members(t->context, &members); i < n; i++) {
		struct record_pass *pass = region_pass(t, members[i] >> 1);
		pass->entries++;
		pass->depth = pass->inherited = 1;
	}
	unlock();
}

void regions_end(struct thread *t)
{
	regions_counted(t);
	for (uint32_t i = 0; rt.trace && t->process == rt.process && i < rt.slots_max && rt.threads[i]; i++)
		if (rt.slot_state[i] && rt.threads[i]->process == rt.process && rt.threads[i]->trace)
			regions_counted(rt.threads[i]);
}
