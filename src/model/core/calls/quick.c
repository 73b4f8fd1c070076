/*
 * The fast way through a thread's blocks. Equals calls.c for every machine, held equal by tests/cli/calls_test.py
 * (TARE_CALLS_PLAIN=1 has the same graph).
 *
 * What a block needs is in one small record (struct calls_step), and these take no other steps:
 *  - a block in the newest frame's function, after one that ended in no call, return or indirect jump
 *  - an indirect jump within the function, not to its begin, with a stack pointer below the newest slot (a switch)
 *  - one at that slot, within the function or to one that no frame of the slot is of (a tail call)
 *  - a call of a named function, with a slot below the newest one; its arc is what the call had last, if that fits
 *  - what an entry of a linkage table jumps to, come to by such a call or jump
 *  - running on, or a direct jump, into a named function that no frame of the newest slot is of
 *  - a return that ends the frames of the newest slot and leads into the function of the frame before them
 * Everything else, and every mark, is left to calls.c.
 *
 * With one event, blocks that stay in their function have no record, but count in generated code: a record's sum
 * says what they counted since the record before. If that is not 0, control came to the function by another block.
 */
#include "model/core/calls/inside.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A thread's stack while calls_run_quick() runs: what most blocks change is in its own variables, and comes
 * back into the stack at the end. With one event (`one`: calls->quiet) the compiler keeps it in registers. */
struct quick_state {
	struct calls *calls;
	struct calls_stack *stack;
	uint64_t slot;
	uint64_t total, went, quiet; /* of the one event; as in the stack */
	bool between;                /* quiet blocks were executed before the block */
	const struct calls_step
		*last; /* of the block before, once one was run here; until then the stack has it */
	uint32_t last_number, pending;
	bool one;
};

static ALWAYS_INLINE struct quick_state take(struct calls *calls, struct calls_stack *s, bool one)
{
	return (struct quick_state){.calls = calls,
				    .stack = s,
				    .slot = s->slot,
				    .total = s->totals[0],
				    .went = s->went,
				    .quiet = s->quiet,
				    .pending = s->pending,
				    .one = one};
}

static ALWAYS_INLINE void give_back(const struct quick_state *q)
{
	struct calls_stack *s = q->stack;
	if (q->one)
		s->totals[0] = q->total, s->quiet = q->quiet;
	if (!q->last)
		return;
	s->behind = q->last->pc + q->last->length;
	s->site = s->behind - 1;
	s->site_module = q->last->module;
	s->conditional = q->last->conditional;
	s->pending = q->pending;
	s->slot = q->slot;
	s->went = q->went;
	s->spans_block = 0;
	s->last = q->last_number;
}

/* Control came to the function by its block there; 0: by a direct branch or call, to no place that matters. */
static ALWAYS_INLINE uint64_t came_to(const struct quick_state *q, const struct calls_step *step)
{
	return q->between ? q->went : step->pc;
}

static ALWAYS_INLINE bool is_linkage(const struct quick_state *q, const struct calls_step *step)
{
	return step->linkage && !q->between;
}

static ALWAYS_INLINE bool came_to_begin(const struct quick_state *q, const struct calls_step *step)
{
	return q->between ? q->calls->functions.begins[step->function] == q->went : step->begins;
}

static ALWAYS_INLINE uint64_t behind(const struct quick_state *q)
{
	return q->last ? q->last->pc + q->last->length : q->stack->behind;
}

/* The frame [s->n], whose slot, site and site_module are set, begins with the block. *cached: the arc that it
 * may be. */
static ALWAYS_INLINE void push(struct quick_state *q, const struct calls_step *step, uint32_t *cached,
			       uint32_t call)
{
	struct calls *calls = q->calls;
	struct calls_stack *s = q->stack;
	struct record_call_arc *arcs = calls_arcs(calls);
	struct calls_frame *f = &s->frames[s->n];
	f->low = f->bytes = 0;
	f->function = step->function, f->module = step->module, f->call = call;
	f->kind = CALLS_FRAME, f->linkage = is_linkage(q, step), f->resolves = f->nameless = f->first = 0;
	struct record_call_arc *arc = &arcs[*cached];
	if (*cached < calls->record->n_arcs && arc->site == f->site &&
	    arc->callee == calls->functions.begins[f->function] && arc->site_module == f->site_module &&
	    arc->callee_module == f->module)
		f->arc = *cached;
	else
		f->arc = *cached = calls_arc_of(calls, f);
	f->outermost = s->active[f->function]++ == 0;
	if (q->one)
		f->entry[0] = q->total;
	for (uint32_t e = 0; !q->one && e < calls->record->n_events; e++)
		f->entry[e] = s->totals[e];
	arcs[f->arc].calls++;
	s->n++;
}

static ALWAYS_INLINE void pop(struct quick_state *q)
{
	struct calls_stack *s = q->stack;
	struct calls_frame *top = calls_top(s);
	if (!q->one)
		calls_settle_frame(q->calls, s, top);
	else if (top->outermost)
		calls_arcs(q->calls)[top->arc].inclusive[0] += q->total - top->entry[0];
	s->active[top->function]--;
	s->n--;
}

/* From where the block before ended. */
static ALWAYS_INLINE bool begin(struct quick_state *q, const struct calls_step *step, uint64_t slot)
{
	struct calls_stack *s = q->stack;
	struct calls_frame *f = &s->frames[s->n];
	uint32_t number = q->last ? q->last_number : s->last;
	if (s->n == s->most)
		return false;
	f->slot = slot;
	f->site = q->last ? behind(q) - 1 : s->site;
	f->site_module = q->last ? q->last->module : s->site_module;
	push(q, step, &q->calls->steps[number].arc, number + 1);
	return true;
}

static ALWAYS_INLINE bool call(struct quick_state *q, const struct calls_step *step)
{
	struct calls_stack *s = q->stack;
	if (came_to(q, step) == behind(q) || calls_top(s)->slot <= q->slot || !begin(q, step, q->slot))
		return false;
	if (q->slot > s->high)
		s->high = q->slot;
	return true;
}

/* Of the frames of the newest slot, but for the newest `but`, none is of the block's function, a handler's, or
 * waits for a function to be resolved. */
static ALWAYS_INLINE bool is_new_in_group(const struct quick_state *q, const struct calls_step *step, uint32_t but)
{
	const struct calls_stack *s = q->stack;
	uint64_t slot = calls_top(q->stack)->slot;
	for (uint32_t n = s->n - but; n && s->frames[n - 1].slot == slot; n--)
		if (s->frames[n - 1].kind != CALLS_FRAME || s->frames[n - 1].resolves ||
		    s->frames[n - 1].function == step->function)
			return false;
	return true;
}

/* Into another function without a call. */
static ALWAYS_INLINE bool flow(struct quick_state *q, const struct calls_step *step)
{
	return is_new_in_group(q, step, 0) && begin(q, step, calls_top(q->stack)->slot);
}

/* What a linkage table's entry was called, or jumped to, as goes on where that jumps. */
static ALWAYS_INLINE bool forward(struct quick_state *q, const struct calls_step *step)
{
	const struct calls_frame *top = calls_top(q->stack);
	if (q->stack->n < 2 || !top->call || is_linkage(q, step) || !is_new_in_group(q, step, 1))
		return false;
	uint32_t *cached = &q->calls->steps[top->call - 1].forwarded;
	pop(q); /* the new frame has the slot and the site of this one */
	push(q, step, cached, 0);
	return true;
}

/* An indirect jump with the stack pointer at the newest slot: to another function, or within one that has no
 * locals. */
static ALWAYS_INLINE bool jump_at_slot(struct quick_state *q, const struct calls_step *step)
{
	const struct calls_frame *top = calls_top(q->stack);
	bool stays = top->function == step->function;
	if (stays)
		return top->kind == CALLS_FRAME && !top->resolves && is_new_in_group(q, step, 1);
	return flow(q, step);
}

static ALWAYS_INLINE bool is_in(const struct calls_frame *f, const struct calls_step *step, bool nameless)
{
	return nameless ? f->nameless && f->module == step->module : f->function == step->function;
}

static ALWAYS_INLINE bool end(struct quick_state *q, const struct calls_step *step, bool nameless)
{
	struct calls_stack *s = q->stack;
	uint32_t n = s->n;
	while (n && s->frames[n - 1].slot == q->slot && s->frames[n - 1].kind == CALLS_FRAME)
		n--;
	if (n == s->n || !n || s->frames[n - 1].slot <= q->slot || !is_in(&s->frames[n - 1], step, nameless))
		return false;
	while (s->n > n)
		pop(q);
	return true;
}

/* Control comes to the block; false: by more steps than these, and nothing has changed. */
static ALWAYS_INLINE bool come(struct quick_state *q, const struct calls_step *step)
{
	const struct calls_stack *s = q->stack;
	const struct calls_frame *top = &s->frames[s->n - 1];
	switch (q->pending) {
	case CALLS_NOTHING: return top->function == step->function || flow(q, step);
	case CALLS_JUMP:
		if (top->linkage)
			return q->slot == top->slot && forward(q, step);
		if (q->slot == top->slot)
			return jump_at_slot(q, step);
		return top->function == step->function && !q->calls->n_kept && !came_to_begin(q, step) &&
		       q->slot < top->slot && (!s->high || q->slot <= s->high);
	case CALLS_CALL: return call(q, step);
	case CALLS_RETURN: return end(q, step, false);
	default: return false;
	}
}

/* … to a block of code in no function. What begins there has no number yet: calls take all steps. */
static ALWAYS_INLINE bool come_nameless(struct quick_state *q, const struct calls_step *step)
{
	if (!step->nameless || q->between)
		return false;
	if (q->pending == CALLS_RETURN)
		return end(q, step, true);
	return q->pending == CALLS_NOTHING && is_in(calls_top(q->stack), step, true);
}

static ALWAYS_INLINE void go(struct quick_state *q, const struct calls_step *step, uint32_t number,
			     const uint64_t *values)
{
	q->pending = step->pending;
	q->last = step;
	q->last_number = number;
	if (step->pending != CALLS_NOTHING)
		q->slot = (uint64_t)(int64_t)step->displacement +
			  (step->value == TRACE_NO_VALUE ? 0 : values[step->value]);
	if (q->one && step->pending != CALLS_NOTHING)
		q->went = step->branches ? values[0] : 0;
}

static void count_events(struct calls *calls, struct calls_stack *s, uint32_t number)
{
	const uint32_t *counts = calls->blocks[number].counts;
	for (uint32_t e = 0; e < calls->record->n_events; e++)
		s->totals[e] += counts[e];
}

static ALWAYS_INLINE size_t run(struct calls *calls, struct calls_stack *s, const uint64_t *entries, size_t i,
				size_t n, bool one)
{
	struct quick_state q = take(calls, s, one);
	while (i < n && s->n) {
		if (entries[i] & TRACE_MARK)
			break;
		uint32_t number = (uint32_t)entries[i];
		const struct calls_step *step = &calls->steps[number];
		if (!step->function && !step->nameless)
			break;
		if (!one) { /* where the branch went is said before control comes to the block */
			give_back(&q);
			q.last = NULL;
			calls_resolve(calls, s, step->pc);
		}
		uint64_t quiet = one ? entries[i + step->quiet] : 0;
		q.between = one && quiet != q.quiet;
		if (step->function ? !come(&q, step) : !come_nameless(&q, step))
			break;
		if (one)
			q.total += quiet - q.quiet + step->count, q.quiet = quiet;
		else
			count_events(calls, s, number);
		go(&q, step, number, entries + i + 1);
		i += 1u + step->values;
	}
	give_back(&q);
	return i;
}

void calls_describe_step(const struct calls *calls, const struct trace_program *program, uint32_t number,
			 struct calls_step *out)
{
	static const uint8_t endings[] = {[TRACE_END_CALL] = CALLS_CALL,
					  [TRACE_END_INDIRECT_CALL] = CALLS_CALL,
					  [TRACE_END_RETURN] = CALLS_RETURN,
					  [TRACE_END_INDIRECT_JUMP] = CALLS_JUMP,
					  [TRACE_END_SYSTEM] = CALLS_NOTHING};
	const struct trace_block *block = &program->blocks[number];
	const struct calls_block *known = &calls->blocks[number];
	bool next = block->target == block->pc + block->length;
	uint8_t pending = block->items && !next ? endings[block->ending] : CALLS_NOTHING;
	const struct trace_item *slot = pending == CALLS_NOTHING
						? NULL
						: &program->items[block->first_item + block->items - 1u];
	*out = (struct calls_step){.pc = block->pc,
				   .module = known->module,
				   .count = known->counts[0],
				   .displacement = slot ? (int32_t)slot->displacement : 0,
				   .length = block->length,
				   .values = (uint8_t)block->values,
				   .value = slot ? slot->value : TRACE_NO_VALUE,
				   .pending = pending,
				   .branches = block->quiet && pending != CALLS_NOTHING &&
					       block->ending != TRACE_END_CALL,
				   .quiet = block->quiet,
				   .begins = calls->functions.begins[known->function] == block->pc,
				   .conditional = block->ending == TRACE_END_CONDITIONAL,
				   .linkage = (known->flags & CALLS_LINKAGE) != 0};
	if (known->unit == CALLS_NO_UNIT && !(known->flags & ~(uint32_t)CALLS_LINKAGE) &&
	    out->values == block->values && (!slot || out->displacement == slot->displacement))
		out->function = known->function, out->nameless = !known->function;
}

size_t calls_run_quick(struct calls *calls, struct calls_stack *s, const uint64_t *entries, size_t i, size_t n)
{
	return calls->quiet ? run(calls, s, entries, i, n, true) : run(calls, s, entries, i, n, false);
}
