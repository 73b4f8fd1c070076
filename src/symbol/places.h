/*
 * Places of a program's code as a user says them, found in its files: what `tare count --region` asks for.
 *
 *     [NAME=]PLACE    PLACE: FUNCTION          sort, ns::sort, "ns::sort(int)", _ZN2ns4sortEi
 *                            FILE:FUNCTION     sort.c:swap (of several static ones that one)
 *                            PATTERN           parse_*, ns::*, FILE:PATTERN: each function that fits, * any characters, ? one
 *                            FILE:LINE[-LINE]  sort.c:10-20
 *                            0xLOW-0xHIGH      as nm and objdump print them, HIGH is the first address that is not of it any more
 *                     each with MODULE! before it (libz.so.1!inflate), or, before a function, MODULE: when it has a '/' or ".so" in it
 *
 * What always holds:
 *  1. A function of several copies (static ones of the same name, overloads, templates, the compiler's clones) is
 *     all of them.
 *  2. What is not compiled as it was written is said in the note: inlined copies, clones.
 *  3. An answer says how the place can be probed (edges), or why not; a backend that sees every instruction needs
 *     no edges.
 */
#ifndef TARE_SYMBOL_PLACES_H
#define TARE_SYMBOL_PLACES_H

#include "base/arena.h"
#include "base/error.h"
#include "result/region.h"
#include "symbol/symbol.h"

enum place_kind { PLACE_FUNCTION, PLACE_LINES, PLACE_ADDRESSES };

struct place_spec {
	const char *name; /* of the region */
	const char *text; /* the place, as it was said */
	enum place_kind kind;
	const char *module; /* NULL: the program, or the first library that has it */
	const char *file;   /* LINES, FUNCTION: NULL where it was not said */
	const char *function;
	unsigned first, last;
	uint64_t low, high;
};

/* Strings are made in arena. */
bool place_parse(const char *text, struct arena *arena, struct place_spec *out, struct error *err);

/* modules: the program's path, then its libraries' in the order of loading. Strings and arrays are made in
 * arena. */
bool place_find(struct symbols *symbols, const struct place_spec *spec, const char *const *modules,
		size_t n_modules, struct arena *arena, struct region_asked *out, struct error *err);

/* The places that a pattern stands for: of each function of the program that fits, or else of the first library
 * that has such functions, one, by its name without parameters. Arrays and strings are made in arena. n is 0 when
 * spec is not a pattern, or when a function is called just so (operator*, f<char *>). ERROR_USAGE: no function
 * fits. */
struct place_list {
	struct place_spec *specs;
	size_t n;
};
bool place_expand(struct symbols *symbols, const struct place_spec *spec, const char *const *modules,
		  size_t n_modules, struct arena *arena, struct place_list *out, struct error *err);

/* The libraries that the loader would load for a program (ld.so(8): DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH,
 * /etc/ld.so.cache, the usual folders), breadth first, as /proc/PID/maps will name them. Those that are not found
 * are left out. */
struct library_list {
	const char **paths;
	size_t count;
};
bool libraries_of(const char *program, const char *library_path, struct arena *arena, struct library_list *out);

#endif
