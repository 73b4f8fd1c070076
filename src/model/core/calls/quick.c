/*
 * The fast way through a thread's blocks. Equals calls.c for every machine, held equal by tests/cli/calls_test.py
 * (TARE_CALLS_PLAIN=1 has the same graph).
 *
 * What a block needs is in one small record (struct calls_step), and these take no other steps:
 *  - a block in the newest frame's function, after one that ended in no call, return or indirect jump
 *  - an indirect jump within the function, not to its begin, with a stack pointer below the newest slot (a switch)
 *  - a call of a named function, with a slot below the newest one; its arc is what the call had last, if that fits
 *  - a return that ends the newest frame alone and leads into the function of the frame before it
 * Everything else, and every mark, is left to calls.c.
 */
#include "model/core/calls/inside.h"

static bool begin(struct calls *calls, struct calls_stack *s, const struct calls_step *step)
{
	struct record_call_arc *arcs = calls_arcs(calls);
	struct calls_step *call = &calls->steps[s->last];
	struct calls_frame *f = &s->frames[s->n];
	if (s->n == s->most)
		return false;
	if (s->slot > s->high)
		s->high = s->slot;
	f->slot = s->slot, f->site = s->site, f->low = f->bytes = 0;
	f->function = step->function, f->site_module = s->site_module, f->module = step->module;
	f->kind = CALLS_FRAME, f->linkage = f->resolves = f->nameless = 0;
	struct record_call_arc *arc = &arcs[call->arc];
	if (call->arc < calls->record->n_arcs && arc->site == f->site &&
	    arc->callee == calls->functions.begins[f->function] && arc->site_module == f->site_module &&
	    arc->callee_module == f->module)
		f->arc = call->arc;
	else
		f->arc = call->arc = calls_arc_of(calls, f);
	f->outermost = s->active[f->function]++ == 0;
	for (uint32_t e = 0; e < calls->record->n_events; e++)
		f->entry[e] = s->totals[e];
	arcs[f->arc].calls++;
	s->n++;
	return true;
}

static bool end(struct calls *calls, struct calls_stack *s, const struct calls_step *step)
{
	const struct calls_frame *top = calls_top(s), *before = top - 1;
	if (s->n < 2 || s->slot != top->slot || top->kind != CALLS_FRAME || before->slot <= s->slot ||
	    before->function != step->function)
		return false;
	calls_settle_frame(calls, s, calls_top(s));
	s->active[top->function]--;
	s->n--;
	return true;
}

/* Control comes to the block; false: by more steps than these, and nothing has changed. */
static bool come(struct calls *calls, struct calls_stack *s, const struct calls_step *step)
{
	const struct calls_frame *top = calls_top(s);
	switch (s->pending) {
	case CALLS_NOTHING: return top->function == step->function;
	case CALLS_JUMP:
		return top->function == step->function && !top->linkage && !calls->n_kept && !step->begins &&
		       s->slot < top->slot && (!s->high || s->slot <= s->high);
	case CALLS_CALL: return step->pc != s->behind && top->slot > s->slot && begin(calls, s, step);
	case CALLS_RETURN: return end(calls, s, step);
	default: return false;
	}
}

static void go(struct calls_stack *s, const struct calls_step *step, uint32_t number, const uint64_t *values)
{
	s->behind = step->pc + step->length;
	s->site = s->behind - 1;
	s->site_module = step->module;
	s->conditional = step->conditional;
	s->pending = step->pending;
	s->spans_block = 0;
	s->last = number;
	if (step->pending != CALLS_NOTHING)
		s->slot = (uint64_t)(int64_t)step->displacement +
			  (step->value == TRACE_NO_VALUE ? 0 : values[step->value]);
}

/* Blocks that stay in the newest frame's function and are their header alone only count: most do. */
static size_t run_headers(const struct calls *calls, struct calls_stack *s, const uint64_t *entries, size_t i,
			  size_t n)
{
	uint64_t function = calls_top(s)->function, total = 0;
	size_t from = i;
	while (i < n && !(entries[i] & TRACE_MARK)) {
		uint64_t quick = calls->quick[(uint32_t)entries[i]];
		if (quick >> CALLS_QUICK_FUNCTION != function)
			break;
		total += (uint32_t)quick;
		i++;
	}
	s->totals[0] += total;
	if (i > from)
		go(s, &calls->steps[(uint32_t)entries[i - 1]], (uint32_t)entries[i - 1], NULL);
	return i;
}

size_t calls_run_quick(struct calls *calls, struct calls_stack *s, const uint64_t *entries, size_t i, size_t n)
{
	uint32_t n_events = calls->record->n_events;
	while (i < n && s->n) {
		if (calls->quick && s->pending == CALLS_NOTHING)
			i = run_headers(calls, s, entries, i, n);
		if (i == n || (entries[i] & TRACE_MARK))
			break;
		uint32_t number = (uint32_t)entries[i];
		const struct calls_step *step = &calls->steps[number];
		if (!step->function)
			break;
		calls_resolve(calls, s, step->pc);
		if (!come(calls, s, step))
			break;
		const uint32_t *counts = calls->blocks[number].counts;
		if (n_events == 1)
			s->totals[0] += step->count;
		else
			for (uint32_t e = 0; e < n_events; e++)
				s->totals[e] += counts[e];
		go(s, step, number, entries + i + 1);
		i += 1u + step->values;
	}
	return i;
}
