/*
 * Names of code that a program made while it ran: perf's map file, /tmp/perf-PID.map, in which a JIT compiler
 * writes a line "START SIZE name" (hexadecimal) for each piece of code (linux:
 * tools/perf/Documentation/jit-interface.txt). node --perf-basic-prof, Java's jcmd PID Compiler.perfmap, and
 * Python 3.12's -X perf write it.
 *
 *     jit_new (while the process lives) ──► (jit_read | jit_find)* ──► jit_free
 *
 * What always holds:
 *  1. A later line wins over the part of an earlier one that it overlaps. So an address is named as the last
 *     jit_read() found it: ask while the program runs, or code whose place was used again has the later name.
 *  2. Only whole lines count: of a file that grows, the line that is being written is left for the next
 *     jit_read().
 *  3. A file is read only if it is a regular file, not a symbolic link, owned by the process's user, by this one
 *     or by root, and not last written before the process started (an earlier process of the same number).
 *  4. What is wrong in a file costs names, never the program; jit_trouble() says what.
 *  5. Names are bytes, to be escaped when printed. Each is at most JIT_NAME_MOST bytes long, the rest is cut.
 */
#ifndef TARE_SYMBOL_JIT_H
#define TARE_SYMBOL_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum { JIT_NAME_MOST = 65535 };

struct jit_names;

struct jit_code {
	const char *name;       /* lives until jit_free() */
	uint64_t begins, bytes; /* as its line says: more than the part that is still its own */
};

/* The names of one process, which has written none yet, maybe. Opens its /tmp (in its own mount namespace),
 * which is kept when the process ends; of one that has ended already, this process's /tmp. On success *out is
 * the caller's, to be freed by jit_free(); false when memory ran out. */
bool jit_new(pid_t pid, struct jit_names **out, struct error *err);

/* The same from a file of this name; owner and age are not looked at. */
bool jit_new_file(const char *path, struct jit_names **out, struct error *err);

void jit_free(struct jit_names *names);

/* Reads what the file has more than last time (all of it, if it was written anew: the new lines are later ones).
 * ended: nobody writes any more, so that a last line without its newline is whole. Cheap when nothing is new. True
 * also without a file; false when memory ran out. */
bool jit_read(struct jit_names *names, bool ended, struct error *err);

/* False: no line has the address. */
bool jit_find(struct jit_names *names, uint64_t address, struct jit_code *out);

/* How many lines were taken. */
size_t jit_count(const struct jit_names *names);

/* Why there are no names, or not all ("cannot open '/tmp/perf-12.map': no such file", "line 3 of … is not …");
 * NULL. */
const char *jit_trouble(const struct jit_names *names);

#endif
