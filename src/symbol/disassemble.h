/*
 * Machine code as text: the instructions of a function, by Zydis, in the assembler's syntax that objdump has
 * (AT&T).
 *
 * What always holds of the instructions of a function: they ascend, do not overlap, and are in it; bytes that are
 * not an instruction are one of one byte, "(bad)".
 */
#ifndef TARE_SYMBOL_DISASSEMBLE_H
#define TARE_SYMBOL_DISASSEMBLE_H

#include "symbol/symbol.h"

enum { DISASSEMBLED_MOST = 1 << 18 }; /* instructions of a function */

struct symbol_instruction {
	uint64_t offset;  /* in the module's file */
	uint64_t address; /* as linked: as objdump and nm show it */
	const char *text; /* "call 0x1149 <work>": with bytes of the program's names, to be escaped when printed */
};

/* The instructions of the function that the place is in: *out is the caller's, to be freed by free(); texts live
 * until symbols_free(). False with *err: ERROR_UNSUPPORTED (another machine's code, a build without Zydis),
 * ERROR_NOT_FOUND (no such code in the file). */
bool symbols_disassemble(struct symbols *symbols, const char *module, uint64_t offset,
			 struct symbol_instruction **out, size_t *n, struct error *err);

#endif
