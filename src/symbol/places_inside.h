/* Between the files that find places; see places.h. */
#ifndef TARE_SYMBOL_PLACES_INSIDE_H
#define TARE_SYMBOL_PLACES_INSIDE_H

#include "base/nearest.h"
#include "symbol/module.h"
#include "symbol/places.h"

struct address_span { /* of addresses as linked */
	uint64_t low, high;
};

struct spans {
	VEC(struct address_span) all;
};

/* symbol.c: NULL when memory ran out. */
struct module *symbols_module(struct symbols *symbols, const char *path);
struct naming *symbols_naming(struct symbols *symbols);

/* places.c: the one of the modules that spec->module names, or another file. */
bool places_choose_module(const struct place_spec *spec, const char *const *modules, size_t n_modules,
			  struct arena *arena, const char **one, struct error *err);

/* places_dwarf.c */
bool path_ends_with(const char *path, const char *tail); /* at a '/' */
/* The code of the lines; inlined functions that are called from there are of it as a whole. *known: the module has
 * a file of that name, with line numbers; below, above: the nearest lines with code (0: none) when no line has
 * any. False when memory ran out. */
struct lines_found {
	struct spans spans;
	bool known;
	unsigned below, above;
	struct nearest files; /* when it is not known */
};
bool places_lines(struct module *module, const char *file, unsigned first, unsigned last, struct lines_found *out);
/* The inlined copies of a function. */
struct copies {
	struct spans spans;
	size_t n; /* copies; each may have several spans */
};
bool places_inlined(struct module *module, struct naming *naming, const char *function, const char *file,
		    struct copies *out);
/* Is the function at that address defined in a file of that name? */
bool places_defined_in(struct module *module, uint64_t address, const char *file);
/* Does a function's name, as demangled or linked, mean what was asked for? */
bool places_name_fits(const char *name, const char *asked);
/* Sorted, and neighbours joined. */
void spans_tidy(struct spans *spans);

/* edges.c: fills out->edges and n_edges, or no_edges. False when memory ran out. */
bool place_edges(struct module *module, struct naming *naming, const struct spans *spans, struct arena *arena,
		 struct region_asked *out);

/* names of what is in other modules: that of the function behind a PLT entry at the address, or that the loader
 * puts into a word; NULL */
const char *linkage_of_call(struct module *module, uint64_t address);
const char *linkage_of_slot(struct module *module, uint64_t slot);

#endif
