/* C++ and Rust names by libiberty's demangler, as binutils and gdb print them. */
#include "symbol/symbol.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

enum {
	/* Longer ones do exist, and are unreadable either way. */
	LINKED_MOST = 8192,
	/* Names refer to their own parts: of 235 bytes of one, the demangler makes 277 MB, and it never ends with
	 * one of 615. It is left when it has made this much. */
	NAME_MOST = 1 << 16,
};

struct demangled {
	jmp_buf leave;
	char *text;
	size_t bytes, capacity;
};

/* The demangler has its own memory on the stack (but for a little of Rust's names in Punycode), so that it may be
 * left from here. */
static void append(const char *text, size_t n, void *context)
{
	struct demangled *d = context;
	if (n >= NAME_MOST || d->bytes + n >= NAME_MOST)
		longjmp(d->leave, 1);
	if (d->bytes + n >= d->capacity) {
		size_t capacity = 2 * (d->bytes + n) + 64;
		char *grown = realloc(d->text, capacity);
		if (!grown)
			longjmp(d->leave, 1);
		d->text = grown, d->capacity = capacity;
	}
	memcpy(d->text + d->bytes, text, n);
	d->bytes += n;
	d->text[d->bytes] = '\0';
}

typedef int demangler(const char *name, int options, demangle_callbackref callback, void *context);

static char *demangle(demangler *with, const char *linked_name)
{
	struct demangled d = {.bytes = 0};
	if (setjmp(d.leave) == 0 && with(linked_name, DMGL_PARAMS | DMGL_ANSI, append, &d) && d.bytes)
		return d.text;
	free(d.text);
	return NULL;
}

char *symbol_demangle(const char *linked_name)
{
	if (linked_name[0] != '_' || strnlen(linked_name, LINKED_MOST) == LINKED_MOST)
		return NULL;
	char *name = demangle(rust_demangle_callback, linked_name);
	/* only what the Itanium ABI calls mangled: the demangler itself would take "_Z" in front as optional for
	 * some */
	if (!name && linked_name[1] == 'Z')
		name = demangle(cplus_demangle_v3_callback, linked_name);
	return name;
}
