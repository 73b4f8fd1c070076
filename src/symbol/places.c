#include "symbol/places.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "symbol/places_inside.h"

/* Everything that one search needs. */
struct search {
	struct symbols *symbols;
	const struct place_spec *spec;
	const char *const *modules;
	size_t n_modules;
	struct arena *arena;
	struct region_asked *out;
	struct nearest near;
};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Stores spans as ranges of offsets in the file, with the edges. */
static bool finish(struct search *s, struct module *m, const char *path, struct spans *spans,
		   enum region_kind kind, struct error *err)
{
	struct region_asked *out = s->out;
	struct region_range *ranges = arena_alloc(s->arena, (spans->all.count + 1) * sizeof *ranges);
	const char *module = arena_strdup(s->arena, path);
	if (!ranges || !module)
		return error_no_memory(err);
	for (size_t i = 0; i < spans->all.count; i++) {
		uint64_t low, last;
		struct address_span span = spans->all.items[i];
		if (!module_offset(m, span.low, &low) || !module_offset(m, span.high - 1, &last) ||
		    last - low != span.high - 1 - span.low)
			return error_set(err, ERROR_USAGE,
					 "region '%s': 0x%llx to 0x%llx are not contiguous in '%s'", s->spec->name,
					 (unsigned long long)span.low, (unsigned long long)span.high, path);
		ranges[i] = (struct region_range){.module = module, .low = low, .high = last + 1};
	}
	out->name = s->spec->name;
	out->text = s->spec->text;
	out->kind = kind;
	out->ranges = ranges;
	out->n_ranges = spans->all.count;
	return place_edges(m, symbols_naming(s->symbols), spans, s->arena, out) || error_no_memory(err);
}

static bool add_note(struct search *s, const char *note)
{
	s->out->note = s->out->note ? arena_printf(s->arena, "%s; %s", s->out->note, note) : note;
	return note && s->out->note;
}

/* ---- functions ---- */

static bool symbol_fits(struct search *s, struct elf_symbol *f)
{
	const char *asked = s->spec->function;
	if (strstr(f->name, ".cold") && !strstr(asked, ".cold"))
		return false;
	if (places_name_fits(f->name, asked))
		return true;
	const char *shown = table_name(f, symbols_naming(s->symbols));
	return shown && shown != f->name && places_name_fits(shown, asked);
}

static bool chosen_at_load(struct search *s, struct module *m, const struct elf_symbol *f, struct error *err)
{
	char list[300] = "";
	size_t n = 0;
	error_set(err, ERROR_USAGE, "region '%s': the code of '%s' is chosen when '%s' is loaded (an IFUNC)",
		  s->spec->name, s->spec->function, m->base);
	for (size_t i = 0; i < m->functions.count && n < 5; i++) {
		const char *name = m->functions.items[i].name;
		if (m->functions.items[i].address == f->address || !strstr(name, s->spec->function) ||
		    strlen(list) + strlen(name) + 4 > sizeof list)
			continue;
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n++ ? ", " : "", name);
	}
	return error_hint(err,
			  n ? "name the one that this machine takes: %s"
			    : "name the function that this machine takes%s (see nm)",
			  list);
}

static bool function_in(struct search *s, struct module *m, const char *path, bool *found, struct error *err)
{
	struct spans spans = {0};
	struct copies copies = {0};
	struct str names = {0};
	bool done = false;
	size_t n = 0;
	*found = false;
	if (!table_functions(m)) {
		error_no_memory(err);
		goto out;
	}
	for (size_t i = 0; i < m->functions.count; i++) {
		struct elf_symbol *f = &m->functions.items[i];
		const struct range *piece = ranges_find(&m->code, f->address);
		uint64_t bytes = f->bytes ? f->bytes : piece ? piece->high - f->address : 0;
		bool known = false;
		if (!symbol_fits(s, f) || (s->spec->file && !places_defined_in(m, f->address, s->spec->file)))
			continue;
		if (f->chosen_at_load) {
			*found = true;
			chosen_at_load(s, m, f, err);
			goto out;
		}
		for (size_t j = 0; j < spans.all.count; j++)
			known |= spans.all.items[j].low == f->address;
		if (known || !bytes)
			continue;
		if (!vec_push(&spans.all, ((struct address_span){f->address, f->address + bytes}))) {
			error_no_memory(err);
			goto out;
		}
		const char *shown = table_name(f, symbols_naming(s->symbols));
		str_appendf(&names, "%s%s", n++ ? ", " : "", shown ? shown : f->name);
	}
	if (!places_inlined(m, symbols_naming(s->symbols), s->spec->function, s->spec->file, &copies)) {
		error_no_memory(err);
		goto out;
	}
	*found = n || copies.n;
	if (!*found) {
		done = true;
		goto out;
	}
	s->out->note = NULL;
	if (n > 1 &&
	    !add_note(s, arena_printf(s->arena, "%zu functions of this name together: %.200s%s", n,
				      names.text ? names.text : "", names.length > 200 ? "\u2026" : ""))) {
		error_no_memory(err);
		goto out;
	}
	if (copies.n && !add_note(s, n ? arena_printf(s->arena, "%zu inlined cop%s not included", copies.n,
						      copies.n == 1 ? "y is" : "ies are")
				       : arena_printf(s->arena, "it exists inlined only: %zu cop%s together",
						      copies.n, copies.n == 1 ? "y" : "ies"))) {
		error_no_memory(err);
		goto out;
	}
	done = finish(s, m, path, n ? &spans : &copies.spans, n ? REGION_FUNCTION : REGION_CODE, err);
out:
	vec_free(&spans.all);
	vec_free(&copies.spans.all);
	str_free(&names);
	return done;
}

static void consider_names(struct search *s, struct module *m)
{
	for (size_t i = 0; i < m->functions.count; i++) {
		const char *name = table_name(&m->functions.items[i], symbols_naming(s->symbols));
		if (name)
			nearest_consider(&s->near, s->spec->function, name);
	}
}

static void hint_near(struct error *err, const struct nearest *near, const char *otherwise)
{
	if (!near->names[0])
		error_hint(err, "%s", otherwise);
	else
		error_hint(err, "did you mean '%.100s'%s%.100s%s%s%.100s%s?", near->names[0],
			   near->names[1] ? ", '" : "", near->names[1] ? near->names[1] : "",
			   near->names[1] ? "'" : "", near->names[2] ? ", '" : "",
			   near->names[2] ? near->names[2] : "", near->names[2] ? "'" : "");
}

static bool find_function(struct search *s, struct error *err)
{
	const char *trouble = NULL;
	for (size_t i = 0; i < s->n_modules; i++) {
		struct module *m = symbols_module(s->symbols, s->modules[i]);
		bool found;
		if (!m)
			return error_no_memory(err);
		if (!function_in(s, m, s->modules[i], &found, err))
			return false;
		if (found)
			return true;
		if (!trouble && m->trouble[0])
			trouble = arena_printf(s->arena, "'%s': %s", m->base, m->trouble);
		if (i == 0 || s->n_modules == 1)
			consider_names(s, m);
	}
	error_set(err, ERROR_USAGE, "region '%s': no function '%s'%s%s in '%s'%s", s->spec->name,
		  s->spec->function, s->spec->file ? " of file " : "", s->spec->file ? s->spec->file : "",
		  base_of(s->modules[0]), s->n_modules > 1 ? ", nor in its libraries" : "");
	if (trouble && !s->near.names[0])
		return error_hint(err, "%.300s; install its debug symbols, or compile with -g and do not strip it",
				  trouble);
	hint_near(err, &s->near, "'nm -C' lists a program's functions");
	return false;
}

/* ---- lines ---- */

static bool find_lines(struct search *s, struct error *err)
{
	const struct place_spec *spec = s->spec;
	bool any = false, known = false;
	struct lines_found found = {0}, nearest = {0};
	for (size_t i = 0; i < s->n_modules; i++) {
		struct module *m = symbols_module(s->symbols, s->modules[i]);
		if (!m || !places_lines(m, spec->file, spec->first, spec->last, &found))
			return error_no_memory(err);
		any |= lines_dwarf(m) != NULL;
		if (found.spans.all.count) {
			bool done = finish(s, m, s->modules[i], &found.spans, REGION_CODE, err);
			vec_free(&found.spans.all);
			return done;
		}
		if (found.known && !known)
			nearest = found, known = true;
		for (size_t j = 0; j < NEAREST_MOST && !known; j++)
			if (found.files.names[j])
				nearest_consider(&nearest.files, spec->file, found.files.names[j]);
	}
	if (known) {
		error_set(err, ERROR_USAGE, "region '%s': no code comes from '%s'", spec->name, spec->text);
		if (nearest.below && nearest.above)
			return error_hint(err, "the nearest lines with code are %u and %u", nearest.below,
					  nearest.above);
		return error_hint(err, "the nearest line with code is %u",
				  nearest.below ? nearest.below : nearest.above);
	}
	if (!any) {
		error_set(err, ERROR_USAGE, "region '%s': '%s' has no line numbers", spec->name,
			  base_of(s->modules[0]));
		return error_hint(err, "compile it with -g, or install its debug symbols");
	}
	error_set(err, ERROR_USAGE, "region '%s': no code comes from a file '%s'", spec->name, spec->file);
	hint_near(err, &nearest.files, "the name may be the end of a path, as in src/sort.c");
	return false;
}

/* ---- addresses ---- */

static bool find_addresses(struct search *s, struct error *err)
{
	const struct place_spec *spec = s->spec;
	struct module *m = symbols_module(s->symbols, s->modules[0]);
	struct spans spans = {0};
	uint64_t offset;
	bool code = false;
	if (!m || !table_functions(m))
		return error_no_memory(err);
	for (size_t i = 0; i < m->sections.count; i++)
		code |= m->sections.items[i].code && spec->low >= m->sections.items[i].address &&
			spec->high - m->sections.items[i].address <= m->sections.items[i].bytes;
	if (!code || !module_offset(m, spec->low, &offset)) {
		error_set(err, ERROR_USAGE, "region '%s': 0x%llx to 0x%llx is not code of '%s'", spec->name,
			  (unsigned long long)spec->low, (unsigned long long)spec->high, m->base);
		return error_hint(err, "addresses are those that 'nm' and 'objdump -d' show, as in 0x1000-0x1040");
	}
	if (!vec_push(&spans.all, ((struct address_span){spec->low, spec->high})))
		return error_no_memory(err);
	bool done = finish(s, m, s->modules[0], &spans, REGION_CODE, err);
	vec_free(&spans.all);
	return done;
}

/* ---- all of them ---- */

/* Leaves only the module that was named. */
static bool choose_module(struct search *s, const char **one, struct error *err)
{
	const char *wanted = s->spec->module;
	struct nearest near = {0};
	for (size_t i = 0; i < s->n_modules; i++) {
		const char *path = s->modules[i], *base = base_of(path);
		size_t n = strlen(wanted);
		bool fits = strcmp(path, wanted) == 0 || strcmp(base, wanted) == 0 ||
			    path_ends_with(path, wanted) ||
			    (strncmp(base, wanted, n) == 0 &&
			     (strncmp(base + n, ".so", 3) == 0 || (base[n] == '.' && strstr(wanted, ".so"))));
		if (fits) {
			*one = path;
			return true;
		}
		nearest_consider(&near, wanted, base);
	}
	if (strchr(wanted, '/')) {
		char path[PATH_MAX];
		if (realpath(wanted, path) && (*one = arena_strdup(s->arena, path)))
			return true;
	}
	error_set(err, ERROR_USAGE, "region '%s': '%s' is neither the program nor one of its libraries",
		  s->spec->name, wanted);
	hint_near(err, &near, "name a library that is loaded later by its path");
	return false;
}

bool places_choose_module(const struct place_spec *spec, const char *const *modules, size_t n_modules,
			  struct arena *arena, const char **one, struct error *err)
{
	struct search s = {.spec = spec, .modules = modules, .n_modules = n_modules, .arena = arena};
	return choose_module(&s, one, err);
}

bool place_find(struct symbols *symbols, const struct place_spec *spec, const char *const *modules,
		size_t n_modules, struct arena *arena, struct region_asked *out, struct error *err)
{
	struct search s = {.symbols = symbols,
			   .spec = spec,
			   .modules = modules,
			   .n_modules = n_modules,
			   .arena = arena,
			   .out = out};
	const char *one;
	*out = (struct region_asked){0};
	if (spec->module) {
		if (!choose_module(&s, &one, err))
			return false;
		s.modules = &one;
		s.n_modules = 1;
	}
	struct module *program = symbols_module(symbols, s.modules[0]);
	if (!program)
		return error_no_memory(err);
	if (!program->file.elf) {
		error_set(err, ERROR_USAGE, "region '%s': '%s' has no code to look into: %s", spec->name,
			  s.modules[0], program->trouble);
		return error_hint(err,
				  "for a script, name its interpreter's code: INTERPRETER!FUNCTION, and start "
				  "it as: INTERPRETER SCRIPT");
	}
	switch (spec->kind) {
	case PLACE_FUNCTION: return find_function(&s, err);
	case PLACE_LINES: return find_lines(&s, err);
	default: return find_addresses(&s, err);
	}
}
