/*
 * A function's instructions with what took place in each: what annotated disassembly prints. profile/code.h makes
 * it. Plain records.
 *
 * What always holds: instructions ascend; the sum of an event's counts over them, and `elsewhere`, is the self
 * count of the function's row.
 */
#ifndef TARE_RESULT_NAMED_CODE_H
#define TARE_RESULT_NAMED_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct named_instruction {
	uint64_t offset;  /* in the module's file */
	uint64_t address; /* as linked */
	const char *text; /* bytes as the program's names have them, to be escaped when printed */
	const char *file; /* of the line that it was made for; NULL: not known */
	unsigned line;
	uint64_t *counts; /* [n_events] */
};

struct named_code {
	struct arena arena;
	uint32_t row;    /* of by_function */
	const char *why; /* there are no instructions: a sentence; NULL */
	struct named_instruction *all;
	size_t n;
	uint64_t *elsewhere; /* [n_events] of the row, at no instruction that is listed */
};

static inline void named_code_free(struct named_code *code)
{
	arena_free(&code->arena);
	*code = (struct named_code){0};
}

#endif
