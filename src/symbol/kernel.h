/*
 * Names of the kernel's code: /proc/kallsyms and /proc/modules, of the running kernel, where this user may read
 * addresses there (linux: Documentation/admin-guide/sysctl/kernel.rst, kptr_restrict).
 *
 * What always holds:
 *  1. A function ends where the next symbol begins, of whatever kind, and at its module's end, where
 *     /proc/modules has that (of [bpf] it does not). An address outside of all has no name.
 *  2. All addresses 0: not permitted. Then nothing has a name, and kernel_trouble() says the one step that would
 *     allow it. It is never 0 that is looked up.
 */
#ifndef TARE_SYMBOL_KERNEL_H
#define TARE_SYMBOL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct kernel_names;

struct kernel_code {
	const char *function;   /* lives until kernel_free() */
	const char *module;     /* "[kernel]", "[ext4]", "[bpf]" …; lives as long */
	uint64_t begins;        /* address of the function's first byte */
	uint64_t module_begins; /* address of the module; 0 of the kernel itself and of what /proc/modules lacks */
};

/* directory: NULL is /proc (tests have others). Reads once, here. On success *out is the caller's, to be freed by
 * kernel_free(), also when nothing could be read (see kernel_trouble()); false when memory ran out. */
bool kernel_new(const char *directory, struct kernel_names **out, struct error *err);
void kernel_free(struct kernel_names *names);

/* False: no function has the address. */
bool kernel_find(const struct kernel_names *names, uint64_t address, struct kernel_code *out);

/* Why there are no names: text as of an error; *hint: what to do, or "". NULL: there are names. */
const char *kernel_trouble(const struct kernel_names *names, const char **hint);

#endif
