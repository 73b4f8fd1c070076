/* The assembly of gcc, clang and of hand, in GNU syntax (AT&T or Intel for x86-64; arm64): what each line is,
 * where control goes. Read for inserting lines, so that nothing is changed here and everything is an offset into
 * the text.
 *
 * 1. Statements are in order and do not overlap. A line may have several (`;`), a label is one by itself.
 * 2. What is not understood is an instruction that goes on to the next; refusing is the assembler's task.
 * 3. Bodies of .macro, .rept, .irp and .irpc are `inside`: what they become is not known.
 *
 * Sources: Using as (binutils 2.40), 3 "Syntax", 7 "Assembler Directives", 9.1, 9.16; for the flow of control
 * Intel SDM 2 and Arm ARM, C3.1. */
#ifndef TARE_ASSEMBLY_ASSEMBLY_H
#define TARE_ASSEMBLY_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

enum assembly_machine { MACHINE_UNKNOWN, MACHINE_X86_64, MACHINE_ARM64 };

enum statement_kind {
	STATEMENT_LABEL,
	STATEMENT_DIRECTIVE, /* also `name = value` */
	STATEMENT_INSTRUCTION,
	STATEMENT_PREFIX /* x86-64: of the next instruction, on a line of its own; bytes in a section of code */
};

enum assembly_flow {
	FLOW_NEXT,
	FLOW_JUMP,         /* to target */
	FLOW_BRANCH,       /* to target or on */
	FLOW_SHORT_BRANCH, /* the same, and only ±127 bytes: jrcxz, loop */
	FLOW_INDIRECT,     /* somewhere */
	FLOW_RETURN,
	FLOW_STOP /* a trap */
};

struct text_slice {
	size_t at, end; /* bytes of the text */
};

enum { NONE = -1 };

struct statement {
	enum statement_kind kind;
	enum assembly_flow flow;
	struct text_slice whole;    /* without white space around it; a label's with the colon */
	struct text_slice word;     /* the label, directive or mnemonic */
	struct text_slice operands; /* may be empty */
	/* of FLOW_JUMP, …_BRANCH: the name alone, without @PLT; empty when it is none */
	struct text_slice target;
	unsigned line;       /* 0, 1, … */
	int section;         /* index of the directive that began the section, or NONE: .text as the file begins */
	int function;        /* index of the STATEMENT_LABEL that it begins with, or NONE */
	int frame;           /* index of .cfi_startproc that it is in, or NONE */
	bool code;           /* in a section of code */
	bool inside;         /* of a macro's body */
	int intel;           /* index of the .intel_syntax that holds here, or NONE: AT&T's */
	bool return_kept;    /* arm64: the frame has x30 in it, by the directives */
	bool frame_of_stack; /* the frame's address is known by the stack pointer here */
};

/* A label, or the end of what is named. */
struct assembly_symbol {
	struct text_slice name;
	int statement;
	bool function; /* .type says so, or it is global in a section of code */
};

struct assembly {
	const char *text; /* borrowed */
	size_t bytes;
	enum assembly_machine machine;
	VEC(size_t) lines;               /* where each begins */
	VEC(struct text_slice) comments; /* those that go on over a line's end */
	VEC(struct statement) statements;
	VEC(struct assembly_symbol) symbols; /* labels that are not numbers, by name */
	VEC(int) numbered;                   /* statements of the others, in order */
};

/* machine MACHINE_UNKNOWN: it is told from the text. On success the caller ends it with assembly_free(); on
 * failure nothing is to be freed.
 *
 * Errors: SYNTAX (a string or a comment without an end), UNSUPPORTED (the machine cannot be told, 16- or 32-bit
 * code), LIMIT, NO_MEMORY. */
bool assembly_read(struct assembly *a, const char *text, size_t bytes, enum assembly_machine machine,
		   struct error *err);
void assembly_free(struct assembly *a);

/* The statement of the label that a jump's target or any name means, seen from statement `from` ("1b", "2f");
 * NONE: not in this file. */
int assembly_label(const struct assembly *a, struct text_slice name, int from);

bool slice_is(const struct assembly *a, struct text_slice slice, const char *text);
static inline bool slice_empty(struct text_slice slice) { return slice.at == slice.end; }

/* Calls visit() for each name in the operands. */
void assembly_names(const struct assembly *a, struct text_slice operands,
		    void (*visit)(void *context, struct text_slice name), void *context);

/* flow.c: fills flow and target of an instruction. */
void assembly_flow(const struct assembly *a, struct statement *s);
/* Is the word a prefix of an instruction that may be on a line of its own? */
bool assembly_is_prefix(const struct assembly *a, struct text_slice word);

#endif
