/* Assembly in, the same with calls of libtare's stubs around ranges of lines out.
 *
 * A region is where control is between its first line and its last: every way in gets a begin, every way out an
 * end.
 * - From the line before into the first line, and out of the last one: the calls stand there.
 * - A jump from inside to outside, or from outside into it, goes to a piece of code of its own behind the function
 *   (a pad), which calls and jumps on. So the way that is not taken costs nothing.
 * - Before a return, and a jump through a register that leaves the function, the call stands before it.
 * - What cannot be told is an error that names the line: a jump through a register that may stay or leave.
 * Calls stay inside: what they call belongs to the region, also when it never comes back (exit, longjmp, throw).
 */
#ifndef TARE_ASSEMBLY_ANNOTATE_H
#define TARE_ASSEMBLY_ANNOTATE_H

#include "base/str.h"
#include "assembly/assembly.h"

struct annotate_region {
	const char *name;     /* borrowed */
	unsigned first, last; /* lines, from 1 */
};

struct annotate_request {
	const struct annotate_region *regions; /* several of one name are one region with several ranges */
	size_t n;
	unsigned number; /* of the first name's stubs; the others follow */
	void (*warn)(void *context, const char *text);
	void *context;
};

/* Appends the annotated text to out. On failure out has a part of it.
 *
 * Errors: USAGE (lines that are not there, are not code, are of two functions; a jump that cannot be followed),
 * LIMIT (more than 100 names), NO_MEMORY. */
bool annotate(const struct assembly *a, const struct annotate_request *request, struct str *out,
	      struct error *err);

/* emit.c: the machine's instructions. `at`: a statement whose state of unwinding and syntax holds there.
 */
void annotate_put_call(struct str *out, const struct assembly *a, const struct statement *at, bool begin,
		       unsigned number, const char *name);
void annotate_put_jump(struct str *out, const struct assembly *a, const char *label);
/* The names, told to libtare when the program is loaded. names[n], of numbers from `number` on. */
void annotate_put_names(struct str *out, const struct assembly *a, const char *const *names, size_t n,
			unsigned number);

#endif
