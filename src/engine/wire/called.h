/*
 * Where timed system calls were made, in the record: by stack, with how often and how long. One such area a
 * process image, at process->called, when the record has RECORD_CALLED; its parts go on in the same one, a forked
 * child has its own.
 *
 *     struct record_called | modules | stacks
 *
 * What always holds:
 *  1. Entries [0, n) are complete before n includes them, and never change, but for calls and ticks, which only
 *     grow.
 *  2. A stack (number, frames) is there once. The sums over all, and what was lost, are those of the calls that
 *     were timed (record_thread.call_ticks).
 *  3. Callers are found by the rules of call frame information, which the host gives (RECORD_ASK_CALLER). Where
 *     they end the stack ends: nothing is guessed.
 */
#ifndef TARE_ENGINE_WIRE_CALLED_H
#define TARE_ENGINE_WIRE_CALLED_H

#include <stdint.h>

#include "engine/wire/record.h"

#define RECORD_STACK_FRAMES 16u
#define RECORD_STACKS 8192u
#define RECORD_STACKS_LIMITED 256u /* of a process under a limit on memory */
#define RECORD_CALLED_MODULES 1024u

struct record_stack {
	uint32_t number; /* of the system call */
	uint32_t frames;
	uint64_t calls, ticks;
	/* [0] the syscall instruction; then, of each caller, the last byte of its call, or the instruction before
	 * which a signal came */
	uint64_t at[RECORD_STACK_FRAMES];
	uint32_t module[RECORD_STACK_FRAMES]; /* of `modules`; RECORD_NONE: memory of no file */
};

struct record_called {
	uint32_t n_modules, n_stacks;
	uint32_t most_stacks, unused;
	uint64_t lost_calls, lost_ticks; /* of stacks that there was no room for */
	uint64_t modules, stacks;        /* offsets from here: struct record_module, struct record_stack */
	uint64_t bytes;
};

static inline void record_called_lay_out(struct record_called *c, uint32_t limited)
{
	c->most_stacks = limited ? RECORD_STACKS_LIMITED : RECORD_STACKS;
	c->modules = 4096;
	c->stacks = c->modules + RECORD_CALLED_MODULES * sizeof(struct record_module);
	/* at least a byte more: what is read of it is never empty */
	c->bytes = (c->stacks + c->most_stacks * sizeof(struct record_stack) + 4096) & ~4095ull;
}

/* The rule of a place in code: where its caller goes on, and with which stack and frame pointers. */
enum record_caller_kind {
	RECORD_CALLER_UNKNOWN,
	RECORD_CALLER_OUTERMOST, /* nothing has called it */
	RECORD_CALLER_FOUND,
	RECORD_CALLER_SIGNAL, /* a handler returns to it: the kernel's frame is at the stack pointer */
};
enum record_caller_frame { RECORD_FRAME_KEPT, RECORD_FRAME_SAVED, RECORD_FRAME_LOST };
struct record_caller { /* offsets are from the CFA, which becomes the stack pointer */
	uint8_t kind;
	uint8_t by_frame; /* the CFA is the frame pointer + cfa; else the stack pointer + cfa */
	uint8_t frame;    /* enum record_caller_frame; SAVED: it is at `saved` */
	uint8_t unused;
	int32_t cfa, returns, saved;
};

#endif
