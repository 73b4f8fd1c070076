/* Which functions a pattern names: 'parse_*'. Each becomes a place of its own, by the name that place_find() takes
 * for all its copies: without parameters, version and what the compiler appends to clones. */
#include <fnmatch.h>
#include <string.h>

#include "base/vec.h"
#include "symbol/places_inside.h"

struct names {
	VEC(const char *) all;
};

static bool is_pattern(const struct place_spec *spec)
{
	return spec->kind == PLACE_FUNCTION && strpbrk(spec->function, "*?");
}

/* A part of a function that was split off is not a function. */
static bool is_part(const char *name) { return strstr(name, ".cold") || strstr(name, ".part."); }

/* The name's bytes before parameters, version and clone: "parse(char*) [clone .isra.0]" → "parse". */
static size_t stem_length(const char *name)
{
	static const char *const ends[] = {"(",           "@",      "[abi:",      " [clone",
					   ".constprop.", ".isra.", ".lto_priv.", ".llvm."};
	size_t length = strlen(name);
	/* "operator()(int)", "(anonymous namespace)::f(int)": the first parenthesis is of the name */
	if (strstr(name, "operator()") || name[0] == '(')
		return length;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const char *end = strstr(name, ends[i]);
		if (end && end > name && (size_t)(end - name) < length)
			length = (size_t)(end - name);
	}
	return length;
}

static bool is_known(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->all.count; i++)
		if (strcmp(names->all.items[i], name) == 0)
			return true;
	return false;
}

/* *literal: a function is called as the pattern is written. */
static bool names_in(struct module *m, struct naming *naming, const struct place_spec *spec, struct arena *arena,
		     struct names *names, bool *literal)
{
	if (!table_functions(m))
		return false;
	for (size_t i = 0; i < m->functions.count; i++) {
		struct elf_symbol *f = &m->functions.items[i];
		const char *shown = table_name(f, naming);
		if (!shown)
			shown = f->name;
		*literal |= places_name_fits(shown, spec->function) || places_name_fits(f->name, spec->function);
		if (f->chosen_at_load || is_part(shown))
			continue;
		const char *stem = arena_strndup(arena, shown, stem_length(shown));
		if (!stem)
			return false;
		if (fnmatch(spec->function, stem, 0) != 0 || is_known(names, stem) ||
		    (spec->file && !places_defined_in(m, f->address, spec->file)))
			continue;
		if (!vec_push(&names->all, stem))
			return false;
	}
	return true;
}

static bool make_specs(const struct place_spec *spec, const struct names *names, struct arena *arena,
		       struct place_list *out)
{
	const char *prefix = "";
	out->specs = arena_alloc(arena, names->all.count * sizeof *out->specs);
	if (spec->module)
		prefix = arena_printf(arena, "%s!", spec->module);
	if (spec->file && prefix)
		prefix = arena_printf(arena, "%s%s:", prefix, spec->file);
	if (!out->specs || !prefix)
		return false;
	for (size_t i = 0; i < names->all.count; i++) {
		struct place_spec *one = &out->specs[out->n++];
		*one = *spec;
		one->function = names->all.items[i];
		one->text = one->name = arena_printf(arena, "%s%s", prefix, one->function);
		if (!one->name)
			return false;
	}
	return true;
}

bool place_expand(struct symbols *symbols, const struct place_spec *spec, const char *const *modules,
		  size_t n_modules, struct arena *arena, struct place_list *out, struct error *err)
{
	struct names names = {0};
	const char *one;
	bool literal = false, done = false;
	*out = (struct place_list){0};
	if (!is_pattern(spec))
		return true;
	if (spec->module) {
		if (!places_choose_module(spec, modules, n_modules, arena, &one, err))
			return false;
		modules = &one;
		n_modules = 1;
	}
	for (size_t i = 0; i < n_modules && !names.all.count && !literal; i++) {
		struct module *m = symbols_module(symbols, modules[i]);
		if (!m || !names_in(m, symbols_naming(symbols), spec, arena, &names, &literal)) {
			error_no_memory(err);
			goto out;
		}
	}
	if (!literal && !names.all.count) {
		error_set(err, ERROR_USAGE, "region '%s': no function's name fits the pattern '%s'", spec->name,
			  spec->function);
		error_hint(err, "'nm -C' lists a program's functions; * stands for any characters, ? for one");
	} else if (!literal && strcmp(spec->name, spec->text) != 0) {
		error_set(err, ERROR_USAGE,
			  "region '%s': a pattern is a region for each function, which has its name", spec->name);
		error_hint(err, "leave '%s=' out", spec->name);
	} else {
		done = literal || make_specs(spec, &names, arena, out) || error_no_memory(err);
	}
out:
	vec_free(&names.all);
	return done;
}
