/*
 * Programs that have several stacks in one thread: coroutines (swapcontext, Boost.Context, a language's own).
 *
 *     a stack ──(left by a return or an indirect jump to another)──► kept: its frames count nothing
 *        ▲                                                             │
 *        └──────(a return whose slot is that of its newest frame)──────┘
 *
 * Each stack has a call graph of its own, which begins with what the coroutine begins with: nobody called it. What
 * runs on one stack is in no frame of another.
 *
 * How a switch is told from a longjmp and from a jump: by the stack pointer, in this order
 *  1. It is the slot of a kept stack's newest frame, or just above (the jump has taken the address off): resumed.
 *  2. It lies above all that the stack had, or control comes to the begin of a function far from the newest frame,
 *     where no longjmp and no exception leads: another stack, one that is known if it lies within.
 *  3. All else is on the same stack.
 */
#include "model/core/calls/inside.h"

#define NEAR 4096u   /* above the highest slot: registers, arguments of the program */
#define PUSHED 2048u /* below the newest slot: an address that is pushed, and returned to */

static uint64_t newest_slot(const struct calls_stack *s)
{
	uint64_t slot = s->frames[s->n - 1].slot;
	return slot == ~0ull ? s->high : slot; /* what the stack began with has none */
}

static struct calls_kept *kept_at(struct calls *calls, uint64_t slot)
{
	for (uint32_t i = 0; i < calls->n_kept; i++)
		if (calls->kept[i].n && slot - calls->kept[i].low <= 8)
			return &calls->kept[i];
	return NULL;
}

/* One that the slot lies in. */
static struct calls_kept *kept_around(struct calls *calls, uint64_t slot)
{
	struct calls_kept *best = NULL;
	for (uint32_t i = 0; i < calls->n_kept; i++) {
		struct calls_kept *k = &calls->kept[i];
		if (k->n && slot >= k->low && slot <= k->high + NEAR && (!best || k->high < best->high))
			best = k;
	}
	return best;
}

static struct calls_kept *place_to_keep(struct calls *calls)
{
	for (uint32_t i = 0; i < calls->n_kept; i++)
		if (!calls->kept[i].n)
			return &calls->kept[i];
	return calls->n_kept < calls->kept_most ? &calls->kept[calls->n_kept++] : NULL;
}

static void leave(struct calls *calls, struct calls_stack *s)
{
	struct calls_kept *k = place_to_keep(calls);
	if (!k || s->n > CALLS_KEPT_FRAMES)
		calls->record->lost |= RECORD_LOST_STACKS;
	else
		k->low = newest_slot(s), k->high = s->high, k->n = s->n;
	for (uint32_t i = 0; i < s->n; i++) {
		struct calls_frame *f = &s->frames[i];
		calls_settle_frame(calls, s, f);
		s->active[f->function]--;
		if (k && s->n <= CALLS_KEPT_FRAMES)
			k->frames[i] = *f;
	}
	s->n = 0;
}

static void resume(struct calls *calls, struct calls_stack *s, struct calls_kept *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		struct calls_frame *f = &s->frames[i];
		*f = k->frames[i];
		f->outermost = s->active[f->function]++ == 0;
		for (uint32_t e = 0; e < calls->record->n_events; e++)
			f->entry[e] = s->totals[e];
	}
	s->n = k->n, s->high = k->high;
	k->n = 0;
}

void calls_switch(struct calls *calls, struct calls_stack *s, uint64_t pc, const struct calls_block *block)
{
	uint64_t slot = s->slot, newest = newest_slot(s);
	bool begins = block->function && calls->functions.begins[block->function] == pc;
	struct calls_kept *to = kept_at(calls, slot), copy;
	static struct calls_frame frames[CALLS_KEPT_FRAMES]; /* calls_run() is not called twice at once */
	if (!s->high || slot == newest)
		return;
	bool far = begins && (slot > newest + NEAR || slot + PUSHED < newest);
	if (!to && !far && slot <= s->high + NEAR)
		return;
	if (!to)
		to = kept_around(calls, slot);
	if (to && !begins) {
		copy = *to;
		for (uint32_t i = 0; i < to->n; i++)
			frames[i] = to->frames[i];
		copy.frames = frames;
		to->n = 0;
		leave(calls, s);
		resume(calls, s, &copy);
		return;
	}
	if (to)
		to->n = 0; /* another begins where it was */
	leave(calls, s);
	s->high = slot;
}
