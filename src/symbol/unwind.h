/*
 * Stacks of a sample by call frame information (DWARF 5, 6.4, in .eh_frame or .debug_frame): from the registers
 * and a copy of the top of the stack to the callers. Code compiled with -fomit-frame-pointer needs it.
 *
 * What always holds:
 *  1. Only registers, the copy of the stack and the rules in the modules' files are read: no process, which may
 *     have ended.
 *  2. Each step goes up the stack (but out of a signal's handler, which may have a stack of its own), and there
 *     are at most `most`: whatever the files say, it ends.
 *  3. A caller is given only where the rules of its callee said so. Where they end, unwind_end says why: nothing
 *     is guessed.
 */
#ifndef TARE_SYMBOL_UNWIND_H
#define TARE_SYMBOL_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbol/symbol.h"

enum unwind_machine {
	UNWIND_X86_64, /* registers: rax rbx rcx rdx rsi rdi rbp rsp r8 … r15 rip (backend/sampling.h) */
	UNWIND_ARM64,  /* registers: x0 … x29, lr, sp, pc (arch/arm64/include/uapi/asm/perf_regs.h) */
};

enum { UNWIND_X86_64_REGISTERS = 17, UNWIND_ARM64_REGISTERS = 33 };

/* A mapping of the process at the time of the sample. */
struct unwind_mapping {
	uint64_t address, bytes;
	uint64_t offset;  /* in the file, of its first byte */
	const char *path; /* a module, as symbols_code() takes it; lives at least until unwind() returns */
};

struct unwind_sample {
	enum unwind_machine machine;
	const uint64_t *registers;
	const uint8_t *stack; /* the bytes from the stack pointer up */
	size_t stack_bytes;
	/* the executable mapping that has the address, in *out; false: none has */
	bool (*mapping)(void *context, uint64_t address, struct unwind_mapping *out);
	void *context;
};

struct unwind_frame {
	/* of the caller: where it goes on, the return address. interrupted: a signal's handler was called here,
	 * the instruction at the address itself was next */
	uint64_t address;
	bool interrupted;
};

/* The byte by which a frame is named: of the call instruction, whose function and line the caller was in. */
static inline uint64_t unwind_place(struct unwind_frame frame)
{
	return frame.interrupted ? frame.address : frame.address - 1;
}

enum unwind_end {
	UNWIND_WHOLE,     /* the outermost frame: the rules say that it has no caller */
	UNWIND_TRUNCATED, /* the next caller is not in the copy: above it, or on the stack that a signal left */
	UNWIND_DEPTH,     /* `most` frames, and there are more */
	UNWIND_UNMAPPED,  /* no executable mapping has the code's address */
	UNWIND_NO_RULES,  /* its module has no rules for the code: made while it ran, or built without */
	UNWIND_BROKEN,    /* the rules make no sense here */
};

const char *unwind_end_name(enum unwind_end end); /* "whole", "truncated", … */

struct unwinder; /* keeps the rules of each place that it met */

/* Modules are read through symbols, which outlives the unwinder. On success *out is the caller's, to be freed by
 * unwinder_free(). */
bool unwinder_new(struct symbols *symbols, struct unwinder **out, struct error *err);
void unwinder_free(struct unwinder *unwinder);

/* The callers, innermost first, without the sample's own place (its registers have that). At most `most` are
 * stored and their number returned. When memory runs out it ends there, as UNWIND_BROKEN. */
size_t unwind(struct unwinder *unwinder, const struct unwind_sample *sample, struct unwind_frame *frames,
	      size_t most, enum unwind_end *end);

/* The rule of a place as a few numbers, where it is one of the usual ones of x86-64: the CFA is a distance from
 * the stack or the frame pointer, the return address and the frame pointer are at a distance from the CFA. */
enum unwind_plain {
	PLAIN_UNKNOWN,   /* there is none, or it is of another form */
	PLAIN_OUTERMOST, /* it says that there is no caller */
	PLAIN_CALLER,
	PLAIN_SIGNAL, /* a signal's handler returns to it */
};
struct unwind_plain_rule {
	enum unwind_plain kind;
	bool by_frame;                /* the CFA is counted from the frame pointer */
	bool frame_saved, frame_lost; /* the caller's frame pointer is at `saved`; or cannot be had */
	int32_t cfa, returns, saved;  /* returns, saved: from the CFA */
};
/* offset: in the module's file, of the call's last byte or of the instruction that is next. */
struct unwind_plain_rule unwind_plain_rule(struct unwinder *unwinder, const char *module, uint64_t offset);

/* The innermost step alone. Code without a frame of its own is skipped by a walk along frame pointers, and its
 * caller with it: this finds that caller. */
struct unwind_first {
	struct unwind_frame caller;
	uint64_t cfa; /* the stack pointer of the caller, behind the call */
	/* the caller's frame pointer; false: the rules do not give it back */
	bool has_frame_pointer;
	uint64_t frame_pointer;
};
/* False: *end says why there is no caller. */
bool unwind_first(struct unwinder *unwinder, const struct unwind_sample *sample, struct unwind_first *out,
		  enum unwind_end *end);

#endif
