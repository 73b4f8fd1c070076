/* All functions of a module, for callers that must know where one ends and another begins before they ask for a
 * place. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbol/places_inside.h"

struct functions_found {
	VEC(struct symbol_function) all;
};

static const struct section *linkage_at(const struct module *m, uint64_t address)
{
	for (size_t i = 0; i < m->sections.count; i++) {
		const struct section *s = &m->sections.items[i];
		if (s->code && strncmp(s->name, ".plt", 4) == 0 && address - s->address < s->bytes)
			return s;
	}
	return NULL;
}

static bool add(struct functions_found *found, const struct module *m, uint64_t begins, uint64_t low,
		uint64_t high)
{
	struct symbol_function f = {.high = high - low};
	if (!module_offset(m, begins, &f.begins) || !module_offset(m, low, &f.low))
		return true; /* in no bytes of the file */
	f.high += f.low;
	return vec_push(&found->all, f);
}

/* Entries of linkage tables are functions of their own, as symbols_code() has them. */
static bool add_linkage(struct functions_found *found, const struct module *m)
{
	for (size_t i = 0; i < m->sections.count; i++) {
		const struct section *s = &m->sections.items[i];
		uint64_t bytes = s->entry_bytes ? s->entry_bytes : 16;
		if (!s->code || strncmp(s->name, ".plt", 4) != 0)
			continue;
		for (uint64_t at = s->address; at < s->address + s->bytes; at += bytes) {
			const struct range *piece = ranges_find(&m->code, at);
			uint64_t end = at + bytes < s->address + s->bytes ? at + bytes : s->address + s->bytes;
			if ((!piece || piece->item == NO_ITEM) && !add(found, m, at, at, end))
				return false;
		}
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct symbol_function *x = a, *y = b;
	return (x->low > y->low) - (x->low < y->low);
}

bool symbols_functions(struct symbols *symbols, const char *module, struct symbol_function **out, size_t *n,
		       struct error *err)
{
	struct module *m = symbols_module(symbols, module);
	struct functions_found found = {0};
	bool done = m != NULL;
	*out = NULL;
	*n = 0;
	if (done && m->file.elf && !m->anonymous) {
		done = table_functions(m);
		for (size_t i = 0; done && i < m->code.all.count; i++) {
			const struct range *piece = &m->code.all.items[i];
			bool named = piece->item != NO_ITEM;
			if (named || !linkage_at(m, piece->low))
				done = add(&found, m, named ? m->functions.items[piece->item].address : piece->low,
					   piece->low, piece->high);
		}
		done = done && add_linkage(&found, m);
	}
	if (!done) {
		vec_free(&found.all);
		return error_no_memory(err);
	}
	if (found.all.count)
		qsort(found.all.items, found.all.count, sizeof *found.all.items, by_place);
	for (size_t i = 0; i < found.all.count; i++) { /* files that contradict themselves */
		struct symbol_function *f = &found.all.items[i];
		if (*n && found.all.items[*n - 1].high > f->low)
			found.all.items[*n - 1].high = f->low;
		if (f->high > f->low)
			found.all.items[(*n)++] = *f;
	}
	*out = found.all.items;
	return true;
}
