/*
 * The shared libraries that few runs need are loaded when the first of their functions is called: to map and
 * relocate them (libdw with its compressors, SQLite, Zydis, jansson, GSL) took 1.1 of the 1.9 ms of CPU time
 * that a start of tare takes. tools/lazy-libraries makes the functions' stubs.
 *
 *     dwfl_begin: jmp *slot ──► lazy_call ──► lazy_find(): dlopen, dlsym ──► slot = libdw's dwfl_begin
 *
 * What always holds: each function comes here once (threads that meet here find the same). If its library is not
 * there, tare ends, as it would not have started with the library linked.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/say.h"

/* Of the generated assembly. */
struct lazy_function {
	const char *name, *library;
};
extern const struct lazy_function lazy_functions[];
extern void *lazy_slots[];

void *lazy_find(size_t i);

void *lazy_find(size_t i)
{
	const struct lazy_function *f = &lazy_functions[i];
	/* once for each of its functions: from the second time on it only counts */
	void *library = dlopen(f->library, RTLD_LAZY | RTLD_LOCAL);
	void *found = library ? dlsym(library, f->name) : NULL;
	if (!found) {
		fprintf(stderr, "tare: cannot load %s: %s\n", f->library, dlerror());
		exit(TARE_CANNOT_MEASURE);
	}
	lazy_slots[i] = found;
	return found;
}
