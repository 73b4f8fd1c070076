/* The lines of a JIT map file: parsed, and found by address. The insides of this folder, and of its tests. */
#ifndef TARE_SYMBOL_JIT_LINES_H
#define TARE_SYMBOL_JIT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "symbol/ranges.h"

struct jit_line {
	const char *name;
	uint64_t begins, bytes;
};

/* Zero-initialise; jit_lines_free() at the end. */
struct jit_lines {
	struct arena arena;
	VEC(struct jit_line) all; /* in the order of the file */
	struct ranges pieces;     /* what is seen of each, item: of all */
	bool flat;                /* pieces are up to date */
	size_t line_number, first_wrong, n_wrong;
};

/* The next line, without its newline. What is wrong in it is counted. False when memory ran out. */
bool jit_lines_add(struct jit_lines *lines, const char *text, size_t length);

/* NULL: none has it (or memory ran out). */
const struct jit_line *jit_lines_find(struct jit_lines *lines, uint64_t address);
void jit_lines_free(struct jit_lines *lines);

#endif
