/*
 * The fast way through a thread's blocks. Equals calls.c for every machine, held equal by
 * tests/unit/call_walk_test.c and tests/cli/calls_test.py (TARE_CALLS_PLAIN=1 has the same graph).
 *
 * What a block needs is in one small record (struct calls_step), and these take no other steps:
 *  - a block in the newest frame's function, after one that ended in no call, return or indirect jump
 *  - an indirect jump within the function, not to its begin, with a stack pointer below the newest slot (a switch)
 *  - one at that slot, within the function or to one that no frame of the slot is of (a tail call)
 *  - a call of a named function, with a slot below the newest one
 *  - what an entry of a linkage table jumps to, come to by such a call or jump
 *  - running on, or a direct jump, into a named function that no frame of the newest slot is of
 *  - a return that ends the frames of the newest slot and leads into the function of the frame before them
 * Everything else, and every mark, is left to calls.c.
 *
 * With one event, blocks that stay in their function have no record, but count in generated code: a record's sum
 * says what they counted since the record before. If that is not 0, control came to the function by another block.
 *
 * What makes it fast: an arc is not looked up while a call leads where it led last; and where the next record
 * begins follows from the way that a branch is expected to go, not from what memory says (ahead()).
 */
#include "model/core/calls/inside.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A thread's stack while calls_run_quick() runs: what most blocks change is in its own variables, and comes
 * back into the stack at the end. With one event (`one`: calls->quiet) the compiler keeps it in registers. */
struct quick_state {
	struct calls *calls;
	struct calls_stack *stack;
	/* theirs, which do not move while this runs: else each use would read them anew, behind every store */
	struct calls_step *steps;
	struct record_call_arc *arcs;
	struct calls_frame *bottom, *end; /* of frames */
	uint32_t *active;
	struct calls_frame *top;
	struct calls_step *last;     /* of the block before; NULL: it is not known */
	uint64_t slot;               /* as in the stack */
	uint64_t total, went, quiet; /* of the one event; as in the stack */
	uint32_t pending;
	bool between; /* quiet blocks were executed before the block */
	bool conditional, one;
};

static ALWAYS_INLINE uint64_t behind(const struct calls_step *step) { return step->pc + step->length; }

/* The block ends where the call or jump is. (A number from before a part of the record ended is of another block.)
 */
static ALWAYS_INLINE bool ends_at(const struct calls_step *step, uint64_t site, uint32_t site_module)
{
	return behind(step) - 1 == site && step->module == site_module;
}

static ALWAYS_INLINE struct quick_state take(struct calls *calls, struct calls_stack *s, bool one)
{
	struct calls_step *last = &calls->steps[s->last];
	return (struct quick_state){.calls = calls,
				    .stack = s,
				    .steps = calls->steps,
				    .arcs = calls_arcs(calls),
				    .bottom = s->frames,
				    .end = s->frames + s->most,
				    .active = s->active,
				    .top = calls_top(s),
				    .last = ends_at(last, s->site, s->site_module) ? last : NULL,
				    .slot = s->slot,
				    .total = s->totals[0],
				    .went = s->went,
				    .quiet = s->quiet,
				    .pending = s->pending,
				    .conditional = s->conditional,
				    .one = one};
}

/* ran: a block at least */
static ALWAYS_INLINE void give_back(const struct quick_state *q, bool ran)
{
	struct calls_stack *s = q->stack;
	if (!q->one)
		s->conditional = q->conditional;
	if (!ran)
		return;
	if (q->one)
		s->totals[0] = q->total, s->quiet = q->quiet, s->conditional = q->last->conditional;
	s->n = (uint32_t)(q->top - s->frames) + 1;
	s->behind = behind(q->last);
	s->site = s->behind - 1;
	s->site_module = q->last->module;
	s->pending = q->pending;
	s->slot = q->slot;
	s->went = q->went;
	s->spans_block = 0;
	s->last = (uint32_t)(q->last - q->calls->steps);
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

static ALWAYS_INLINE uint64_t callee_of(const struct calls_step *step)
{
	return (uint64_t)step->module << 32 | step->function; /* never 0 */
}

/* The function is the newest frame's. */
static ALWAYS_INLINE void enter(struct quick_state *q, const struct calls_step *step)
{
	struct calls_stack *s = q->stack;
	struct calls_frame *f = q->top;
	f->function = step->function, f->module = step->module;
	f->outermost = q->active[step->function]++ == 0;
	if (q->one)
		f->entry[0] = q->total;
	for (uint32_t e = 0; !q->one && e < q->calls->record->n_events; e++)
		f->entry[e] = s->totals[e];
}

static ALWAYS_INLINE void leave(struct quick_state *q, struct calls_frame *f)
{
	struct calls_stack *s = q->stack;
	if (!q->one)
		calls_settle_frame(q->calls, s, f);
	else if (f->outermost)
		q->arcs[f->arc].inclusive[0] += q->total - f->entry[0];
	q->active[f->function]--;
}

/* A frame begins with the block, from where the block before ended. */
static ALWAYS_INLINE bool push(struct quick_state *q, const struct calls_step *step, uint64_t slot)
{
	struct calls_step *from = q->last;
	struct calls_frame *f = q->top + 1;
	if (!from || f == q->end)
		return false;
	f->slot = slot;
	f->site = behind(from) - 1, f->site_module = from->module;
	f->call = (uint32_t)(from - q->steps) + 1;
	f->kind = CALLS_FRAME, f->resolves = f->nameless = f->first = 0;
	f->linkage = is_linkage(q, step);
	q->top = f;
	enter(q, step);
	if (from->callee != callee_of(step))
		from->arc = calls_arc_of(q->calls, f), from->callee = callee_of(step);
	f->arc = from->arc;
	q->arcs[f->arc].calls++;
	return true;
}

static ALWAYS_INLINE bool call(struct quick_state *q, const struct calls_step *step)
{
	if (!q->last || q->top->slot <= q->slot || came_to(q, step) == behind(q->last) || !push(q, step, q->slot))
		return false;
	if (q->slot > q->stack->high)
		q->stack->high = q->slot;
	return true;
}

/* Of the frames of the newest slot, from f down, none is of the block's function, a handler's, or waits for a
 * function to be resolved. */
static ALWAYS_INLINE bool is_new_in_group(const struct quick_state *q, const struct calls_step *step,
					  const struct calls_frame *f)
{
	for (uint64_t slot = q->top->slot; f >= q->bottom && f->slot == slot; f--)
		if (f->kind != CALLS_FRAME || f->resolves || f->function == step->function)
			return false;
	return true;
}

/* Into another function without a call. */
static ALWAYS_INLINE bool flow(struct quick_state *q, const struct calls_step *step)
{
	return is_new_in_group(q, step, q->top) && push(q, step, q->top->slot);
}

/* What a linkage table's entry was called, or jumped to, as goes on where that jumps. */
static ALWAYS_INLINE bool forward(struct quick_state *q, const struct calls_step *step)
{
	struct calls_frame *f = q->top;
	if (f == q->bottom || !f->call || is_linkage(q, step) || !is_new_in_group(q, step, f - 1))
		return false;
	struct calls_step *from = &q->steps[f->call - 1];
	if (!ends_at(from, f->site, f->site_module))
		return false;
	leave(q, f);
	enter(q, step); /* the new frame has the slot and the site of this one */
	if (from->forwarded_callee != callee_of(step))
		from->forwarded = calls_arc_of(q->calls, f), from->forwarded_callee = callee_of(step);
	f->arc = from->forwarded;
	f->call = 0, f->linkage = 0;
	q->arcs[f->arc].calls++;
	return true;
}

/* An indirect jump with the stack pointer at the newest slot: to another function, or within one that has no
 * locals. */
static ALWAYS_INLINE bool jump_at_slot(struct quick_state *q, const struct calls_step *step)
{
	const struct calls_frame *top = q->top;
	if (top->function == step->function)
		return top->kind == CALLS_FRAME && !top->resolves && is_new_in_group(q, step, top - 1);
	return flow(q, step);
}

static ALWAYS_INLINE bool is_in(const struct calls_frame *f, const struct calls_step *step, bool nameless)
{
	return nameless ? f->nameless && f->module == step->module : f->function == step->function;
}

static ALWAYS_INLINE bool end(struct quick_state *q, const struct calls_step *step, bool nameless)
{
	struct calls_frame *to = q->top;
	while (to > q->bottom && to->slot == q->slot && to->kind == CALLS_FRAME)
		to--;
	if (to == q->top || to->slot <= q->slot || !is_in(to, step, nameless))
		return false;
	for (; q->top > to; q->top--)
		leave(q, q->top);
	return true;
}

/* Control comes to the block; false: by more steps than these, and nothing has changed. */
static ALWAYS_INLINE bool come(struct quick_state *q, const struct calls_step *step)
{
	const struct calls_frame *top = q->top;
	uint64_t high = q->stack->high;
	switch (q->pending) {
	case CALLS_NOTHING: return top->function == step->function || flow(q, step);
	case CALLS_JUMP:
		if (top->linkage)
			return q->slot == top->slot && forward(q, step);
		if (q->slot == top->slot)
			return jump_at_slot(q, step);
		return top->function == step->function && !q->calls->n_kept && !came_to_begin(q, step) &&
		       q->slot < top->slot && (!high || q->slot <= high);
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
	return q->pending == CALLS_NOTHING && is_in(q->top, step, true);
}

static ALWAYS_INLINE void go(struct quick_state *q, struct calls_step *step, const uint64_t *values)
{
	q->pending = step->pending;
	q->last = step;
	if (!q->one)
		q->conditional = step->conditional;
	if (step->pending == CALLS_NOTHING)
		return;
	q->slot = (uint64_t)(int64_t)step->displacement + values[step->value];
	if (q->one)
		q->went = step->branches ? values[0] : 0;
}

static void count_events(struct calls *calls, struct calls_stack *s, uint32_t number)
{
	const uint32_t *counts = calls->blocks[number].counts;
	for (uint32_t e = 0; e < calls->record->n_events; e++)
		s->totals[e] += counts[e];
}

/* Where the branch went is said before control comes to the block. */
static ALWAYS_INLINE void resolve(struct quick_state *q, const struct calls_step *step)
{
	if (q->conditional && (q->last ? behind(q->last) : q->stack->behind) != step->pc)
		for (uint32_t e = 0; e < q->calls->record->n_events; e++)
			q->stack->totals[e] += (uint64_t)(int64_t)q->calls->taken[e];
	q->conditional = false;
}

/* Where the record behind one with so many values is. Each way adds a constant: with a sum, every record would
 * wait until the step of the one before has come from memory. */
static ALWAYS_INLINE const uint64_t *ahead(const uint64_t *at, unsigned values)
{
#define STAYS_A_BRANCH(at) __asm__("" : "+r"(at))
	if (values == 3) {
		at += 4;
		STAYS_A_BRANCH(at);
	} else if (values == 2) {
		at += 3;
		STAYS_A_BRANCH(at);
	} else if (values == 1) {
		at += 2;
		STAYS_A_BRANCH(at);
	} else {
		at += 1 + values;
	}
	return at;
}

/* The called function has one record, of its return into the caller: no frame is made. at: that record */
static ALWAYS_INLINE bool leaf(struct quick_state *q, const struct calls_step *step, const uint64_t *at,
			       const uint64_t *to, uint64_t quiet)
{
	const struct calls_step *from = q->last;
	struct calls_stack *s = q->stack;
	const uint64_t *next = ahead(at, step->values);
	if (!from || from->callee != callee_of(step) || next >= to || *next & TRACE_MARK)
		return false;
	uint64_t slot = (uint64_t)(int64_t)step->displacement + at[1 + step->value];
	if (slot != q->slot || q->top->slot <= slot || q->top + 1 == q->end ||
	    q->steps[(uint32_t)*next].function != q->top->function || came_to(q, step) == behind(from))
		return false;
	struct record_call_arc *arc = &q->arcs[from->arc];
	uint64_t count = quiet - q->quiet + step->count;
	arc->calls++;
	if (!q->active[step->function])
		arc->inclusive[0] += count;
	if (slot > s->high)
		s->high = slot;
	return true;
}

static ALWAYS_INLINE size_t run(struct calls *calls, struct calls_stack *s, const uint64_t *entries, size_t i,
				size_t n, bool one)
{
	struct quick_state q = take(calls, s, one);
	const uint64_t *at = entries + i, *to = entries + n;
	while (at < to && !(*at & TRACE_MARK)) {
		uint32_t number = (uint32_t)*at;
		struct calls_step *step = &q.steps[number];
		if (!one)
			resolve(&q, step);
		uint64_t quiet = one ? at[step->quiet] : 0;
		q.between = one && quiet != q.quiet;
		if (one && q.pending == CALLS_CALL && step->pending == CALLS_RETURN &&
		    leaf(&q, step, at, to, quiet)) {
			q.total += quiet - q.quiet + step->count, q.quiet = quiet;
			go(&q, step, at + 1);
			q.pending = CALLS_NOTHING;
			at = ahead(at, step->values);
			continue;
		}
		if (__builtin_expect(step->function != 0, 1) ? !come(&q, step) : !come_nameless(&q, step))
			break;
		if (one)
			q.total += quiet - q.quiet + step->count, q.quiet = quiet;
		else
			count_events(calls, s, number);
		go(&q, step, at + 1);
		at = ahead(at, step->values);
	}
	give_back(&q, at != entries + i);
	return (size_t)(at - entries);
}

void calls_forget_arcs(struct calls *calls, uint32_t n)
{
	for (uint32_t i = 0; calls->steps && i < n; i++)
		calls->steps[i].callee = calls->steps[i].forwarded_callee = 0;
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
	    out->values == block->values &&
	    (!slot || (slot->value != TRACE_NO_VALUE && out->displacement == slot->displacement)))
		out->function = known->function, out->nameless = !known->function;
}

size_t calls_run_quick(struct calls *calls, struct calls_stack *s, const uint64_t *entries, size_t i, size_t n)
{
	if (!s->n)
		return i;
	return calls->quiet ? run(calls, s, entries, i, n, true) : run(calls, s, entries, i, n, false);
}
