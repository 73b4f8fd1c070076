/*
 * Where control goes from one instruction: all that finding a region's begins and ends needs to know of it.
 *
 * x86-64 by the engine's decoder (on x86-64 hosts), arm64 by its own table of branches (Arm ARM, C4.1.4 "Branches,
 * Exception Generating and System instructions"): what is not a branch there goes on to the next instruction.
 */
#ifndef TARE_SYMBOL_FLOW_H
#define TARE_SYMBOL_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/region.h"

enum flow_kind {
	FLOW_NEXT,          /* on to the next instruction */
	FLOW_CALL,          /* there and back; has_target: a direct one */
	FLOW_BRANCH,        /* to target, or on */
	FLOW_JUMP,          /* to target */
	FLOW_JUMP_REGISTER, /* to where reg points */
	FLOW_JUMP_SLOT,     /* to where the word at target points (x86: relative to rip): the loader fills it */
	FLOW_JUMP_TABLE,    /* to where the word at target + index × 8 points (x86) */
	FLOW_JUMP_MEMORY,   /* to where some other word points */
	FLOW_RETURN,
	FLOW_END, /* a trap: control does not go on */
};

struct flow {
	enum flow_kind kind;
	unsigned char length;
	bool has_target;
	bool filler; /* does nothing: between functions */
	enum edge_class class;
	short reg; /* DWARF's number */
	uint64_t target;
};

/* machine: EM_X86_64, EM_AARCH64. False: it is not an instruction, or of a machine that is not known here. */
bool flow_decode(unsigned machine, const uint8_t *code, size_t available, uint64_t address, struct flow *out);

/* DWARF's number of the stack pointer, and what is added to it at a function's first instruction (and at its
 * return) to give its frame. */
bool flow_frame(unsigned machine, short *reg, int64_t *offset);

#endif
