/* What the files of this folder share. */
#ifndef TARE_MODEL_CORE_CALLS_INSIDE_H
#define TARE_MODEL_CORE_CALLS_INSIDE_H

#include "model/core/calls/calls.h"

static inline struct calls_frame *calls_top(struct calls_stack *s) { return &s->frames[s->n - 1]; }

static inline struct record_call_arc *calls_arcs(const struct calls *calls)
{
	return (struct record_call_arc *)((uint8_t *)calls->record + calls->record->arcs);
}

/* The number of the frame's arc. Without room it is the first one, and the record says so. */
uint32_t calls_arc_of(struct calls *calls, const struct calls_frame *frame);

/* The conditional branch of the block before went there. */
void calls_resolve(const struct calls *calls, struct calls_stack *s, uint64_t went_to);

/* quick.c: from entry i on, up to n; returns where the others go on. */
size_t calls_run_quick(struct calls *calls, struct calls_stack *s, const uint64_t *entries, size_t i, size_t n);

/* Adds what took place in the frame so far to its arc. */
void calls_settle_frame(struct calls *calls, const struct calls_stack *s, struct calls_frame *f);

/*
 * Control goes to pc by a return or an indirect jump, with the stack pointer s->slot: onto another stack? If so,
 * the stack that is left is kept, and s is the other one: as it was left, or empty (s->n is 0).
 */
void calls_switch(struct calls *calls, struct calls_stack *s, uint64_t pc, const struct calls_block *block);

#endif
