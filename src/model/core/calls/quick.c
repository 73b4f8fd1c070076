/*
 * The fast way through a thread's blocks. Equals calls.c for every machine, held equal by tests/cli/calls_test.py
 * (TARE_CALLS_PLAIN=1 has the same graph).
 *
 * What a block needs is in one small record (struct calls_step), and these take no other steps:
 *  - a block in the newest frame's function, after one that ended in no call, return or indirect jump
 *  - an indirect jump within the function, not to its begin, with a stack pointer below the newest slot (a switch)
 *  - a call of a named function, with a slot below the newest one; its arc is what the call had last, if that fits
 *  - what an entry of a linkage table jumps to, called by such a call
 *  - running on, or a direct jump, into a named function that no frame of the newest slot is of
 *  - a return that ends the frames of the newest slot and leads into the function of the frame before them
 * Everything else, and every mark, is left to calls.c.
 */
#include "model/core/calls/inside.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A thread's stack while calls_run_quick() runs: what most blocks change is in its own variables, and comes
 * back into the stack at the end. With one event (`one`) and nothing said of branches, the compiler keeps it
 * in registers. */
struct quick_state {
	struct calls *calls;
	struct calls_stack *stack;
	uint64_t slot, total; /* total: of the first event, if `one` */
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
				    .pending = s->pending,
				    .one = one};
}

static ALWAYS_INLINE void give_back(const struct quick_state *q)
{
	struct calls_stack *s = q->stack;
	if (q->one)
		s->totals[0] = q->total;
	if (!q->last)
		return;
	s->behind = q->last->pc + q->last->length;
	s->site = s->behind - 1;
	s->site_module = q->last->module;
	s->conditional = q->last->conditional;
	s->pending = q->pending;
	s->slot = q->slot;
	s->spans_block = 0;
	s->last = q->last_number;
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
	f->kind = CALLS_FRAME, f->linkage = step->linkage, f->resolves = f->nameless = 0;
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
	if (step->pc == behind(q) || calls_top(s)->slot <= q->slot || !begin(q, step, q->slot))
		return false;
	if (q->slot > s->high)
		s->high = q->slot;
	return true;
}

/* Into another function without a call: one that the group of frames of this slot does not have. */
static ALWAYS_INLINE bool flow(struct quick_state *q, const struct calls_step *step)
{
	struct calls_stack *s = q->stack;
	uint64_t slot = calls_top(s)->slot;
	for (uint32_t n = s->n; n && s->frames[n - 1].slot == slot; n--)
		if (s->frames[n - 1].kind != CALLS_FRAME || s->frames[n - 1].function == step->function)
			return false;
	return !step->linkage && begin(q, step, slot);
}

/* What a linkage table's entry was called as goes on where that jumps. */
static ALWAYS_INLINE bool forward(struct quick_state *q, const struct calls_step *step)
{
	struct calls_stack *s = q->stack;
	const struct calls_frame *top = calls_top(s);
	if (s->n < 2 || !top->call || top[-1].slot == top->slot || step->linkage)
		return false;
	uint32_t *cached = &q->calls->steps[top->call - 1].forwarded;
	pop(q); /* the new frame has the slot and the site of this one */
	push(q, step, cached, 0);
	return true;
}

static ALWAYS_INLINE bool end(struct quick_state *q, const struct calls_step *step)
{
	struct calls_stack *s = q->stack;
	uint32_t n = s->n;
	while (n && s->frames[n - 1].slot == q->slot && s->frames[n - 1].kind == CALLS_FRAME)
		n--;
	if (n == s->n || !n || s->frames[n - 1].slot <= q->slot || s->frames[n - 1].function != step->function)
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
		return top->function == step->function && !q->calls->n_kept && !step->begins &&
		       q->slot < top->slot && (!s->high || q->slot <= s->high);
	case CALLS_CALL: return call(q, step);
	case CALLS_RETURN: return end(q, step);
	default: return false;
	}
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
}

/* Blocks that stay in the newest frame's function and are their header alone only count: most do. */
static ALWAYS_INLINE size_t run_headers(struct quick_state *q, const uint64_t *entries, size_t i, size_t n)
{
	const uint64_t *quick = q->calls->quick;
	uint64_t function = calls_top(q->stack)->function, total = 0;
	size_t from = i;
	while (i < n && !(entries[i] & TRACE_MARK)) {
		uint64_t block = quick[(uint32_t)entries[i]];
		if (block >> CALLS_QUICK_FUNCTION != function)
			break;
		total += (uint32_t)block;
		i++;
	}
	q->total += total;
	if (i > from)
		go(q, &q->calls->steps[(uint32_t)entries[i - 1]], (uint32_t)entries[i - 1], NULL);
	return i;
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
		if (one && q.pending == CALLS_NOTHING)
			i = run_headers(&q, entries, i, n);
		if (i == n || (entries[i] & TRACE_MARK))
			break;
		uint32_t number = (uint32_t)entries[i];
		const struct calls_step *step = &calls->steps[number];
		if (!step->function)
			break;
		if (!one) { /* where the branch went is said before control comes to the block */
			give_back(&q);
			q.last = NULL;
			calls_resolve(calls, s, step->pc);
		}
		if (!come(&q, step))
			break;
		if (one)
			q.total += step->count;
		else
			count_events(calls, s, number);
		go(&q, step, number, entries + i + 1);
		i += 1u + step->values;
	}
	give_back(&q);
	return i;
}

size_t calls_run_quick(struct calls *calls, struct calls_stack *s, const uint64_t *entries, size_t i, size_t n)
{
	return calls->quick ? run(calls, s, entries, i, n, true) : run(calls, s, entries, i, n, false);
}
