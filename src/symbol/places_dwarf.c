/* Lines and inlined copies, by DWARF (5: 6.2 line table, 3.3.8 inlined subroutines). */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/places_inside.h"

enum { DEPTH_MOST = 200 }; /* of DIEs in each other, as in lines.c */

bool path_ends_with(const char *path, const char *tail)
{
	size_t n = strlen(path), m = strlen(tail);
	while (strncmp(tail, "./", 2) == 0)
		tail += 2, m -= 2;
	return m && n >= m && strcmp(path + n - m, tail) == 0 && (n == m || path[n - m - 1] == '/');
}

static bool add_span(struct spans *spans, uint64_t low, uint64_t high)
{
	/* what the linker dropped is left at 0 */
	return low == 0 || low >= high || vec_push(&spans->all, ((struct address_span){low, high}));
}

static int by_low(const void *a, const void *b)
{
	const struct address_span *x = a, *y = b;
	return x->low < y->low ? -1 : x->low > y->low;
}

void spans_tidy(struct spans *spans)
{
	size_t n = 0;
	if (!spans->all.count)
		return;
	qsort(spans->all.items, spans->all.count, sizeof *spans->all.items, by_low);
	for (size_t i = 1; i < spans->all.count; i++) {
		struct address_span *last = &spans->all.items[n], *next = &spans->all.items[i];
		if (next->low > last->high)
			spans->all.items[++n] = *next;
		else if (next->high > last->high)
			last->high = next->high;
	}
	spans->all.count = n + 1;
}

static bool add_ranges_of(Dwarf_Die *die, struct spans *spans, bool *some)
{
	Dwarf_Addr base, low, high;
	*some = false;
	for (ptrdiff_t offset = 0; (offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0;) {
		*some |= low != 0 && low < high;
		if (!add_span(spans, low, high))
			return false;
	}
	return true;
}

/* ---- units ---- */

struct unit {
	Dwarf_Die die;   /* that has the line table */
	Dwarf_Die inner; /* that has the functions: of a split unit the other part's */
};

static bool next_unit(Dwarf *dwarf, Dwarf_CU **cu, struct unit *out)
{
	Dwarf_CU *next;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die split;
	while (dwarf_get_units(dwarf, *cu, &next, &version, &type, &out->die, &split) == 0) {
		*cu = next;
		out->inner = type == DW_UT_skeleton && split.cu ? split : out->die;
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    dwarf_tag(&out->die) != DW_TAG_partial_unit)
			return true;
	}
	return false;
}

/* ---- walking a unit's functions ---- */

struct die_walk {
	bool (*visit)(struct die_walk *walk, Dwarf_Die *die);
	struct unit *unit;
	struct naming *naming;
	const char *file, *function;
	unsigned first, last;
	struct spans *spans;
	size_t n;
	uint64_t address;
	bool found;
};

static bool walk_down(struct die_walk *walk, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;
	if (depth == DEPTH_MOST || dwarf_child(die, &child) != 0)
		return true;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
			if (!walk->visit(walk, &child))
				return false;
			break;
		default:
			if (!module_scope_holds_code(dwarf_tag(&child)))
				continue;
		}
		if (!walk_down(walk, &child, depth + 1))
			return false;
	} while (dwarf_siblingof(&child, &child) == 0);
	return true;
}

/* ---- inlined copies ---- */

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return dwarf_formstring(&attribute);
	return NULL;
}

bool places_name_fits(const char *name, const char *asked)
{
	size_t n = strlen(asked);
	if (strncmp(name, asked, n) != 0)
		return false;
	const char *rest = name + n;
	/* whole; with its parameters or the compiler's "[clone …]"; with its version */
	if (!*rest || *rest == '(' || *rest == '@' || strncmp(rest, " [clone", 7) == 0 ||
	    (rest[0] == '[' && strncmp(rest, "[abi:", 5) == 0))
		return true;
	if (*rest == '<' && !strchr(asked, '<')) /* all of a template */
		return true;
	/* clones that are the whole function, changed for some of its callers */
	static const char *const clones[] = {".constprop.", ".isra.", ".lto_priv.", ".llvm."};
	for (size_t i = 0; i < sizeof clones / sizeof *clones; i++)
		if (strncmp(rest, clones[i], strlen(clones[i])) == 0)
			return !strstr(rest, ".cold") && !strstr(rest, ".part.");
	return false;
}

static bool is_called(Dwarf_Die *die, const struct die_walk *walk)
{
	const char *linked = linkage_name(die), *plain = dwarf_diename(die);
	if (linked && places_name_fits(linked, walk->function))
		return true;
	char *demangled = linked ? symbol_demangle(linked) : NULL;
	const char *name = demangled ? demangled : plain;
	bool fits = name && places_name_fits(name, walk->function);
	free(demangled);
	return fits;
}

static bool declared_in(Dwarf_Die *die, const char *file)
{
	const char *path = dwarf_decl_file(die);
	return !file || (path && path_ends_with(path, file));
}

static bool visit_copy(struct die_walk *walk, Dwarf_Die *die)
{
	bool some;
	if (dwarf_tag(die) != DW_TAG_inlined_subroutine || !is_called(die, walk) || !declared_in(die, walk->file))
		return true;
	if (!add_ranges_of(die, walk->spans, &some))
		return false;
	walk->n += some;
	return true;
}

bool places_inlined(struct module *m, struct naming *naming, const char *function, const char *file,
		    struct copies *out)
{
	Dwarf *dwarf = lines_dwarf(m);
	Dwarf_CU *cu = NULL;
	struct unit unit;
	*out = (struct copies){0};
	while (dwarf && next_unit(dwarf, &cu, &unit)) {
		struct die_walk walk = {.visit = visit_copy,
					.unit = &unit,
					.naming = naming,
					.file = file,
					.function = function,
					.spans = &out->spans};
		if (!walk_down(&walk, &unit.inner, 0))
			return false;
		out->n += walk.n;
	}
	spans_tidy(&out->spans);
	return true;
}

static bool visit_definition(struct die_walk *walk, Dwarf_Die *die)
{
	Dwarf_Addr low;
	if (dwarf_tag(die) == DW_TAG_subprogram && dwarf_entrypc(die, &low) == 0 && low == walk->address)
		walk->found |= declared_in(die, walk->file);
	return true;
}

bool places_defined_in(struct module *m, uint64_t address, const char *file)
{
	Dwarf *dwarf = lines_dwarf(m);
	Dwarf_CU *cu = NULL;
	struct unit unit;
	while (dwarf && next_unit(dwarf, &cu, &unit)) {
		struct die_walk walk = {
			.visit = visit_definition, .unit = &unit, .file = file, .address = address};
		if (dwarf_haspc(&unit.die, address) == 0)
			continue;
		walk_down(&walk, &unit.inner, 0);
		if (walk.found)
			return true;
	}
	return false;
}

/* ---- lines ---- */

/* Inlined functions that are called from the lines. */
static bool visit_call_site(struct die_walk *walk, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line, number;
	Dwarf_Files *files;
	size_t n;
	bool some;
	if (dwarf_tag(die) != DW_TAG_inlined_subroutine ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) != 0 || line < walk->first ||
	    line > walk->last || dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) != 0 ||
	    dwarf_getsrcfiles(&walk->unit->die, &files, &n) != 0 || number >= n)
		return true;
	const char *file = dwarf_filesrc(files, number, NULL, NULL);
	if (!file || !path_ends_with(file, walk->file))
		return true;
	walk->n++;
	return add_ranges_of(die, walk->spans, &some);
}

static void note_line(struct lines_found *out, unsigned line, unsigned first, unsigned last)
{
	if (line < first && line > out->below)
		out->below = line;
	if (line > last && (!out->above || line < out->above))
		out->above = line;
}

/* The rows of one unit's table. */
static bool add_rows(struct unit *unit, const char *wanted, unsigned first, unsigned last, struct lines_found *out)
{
	Dwarf_Lines *lines;
	size_t n;
	bool inside = false;
	Dwarf_Addr from = 0;
	if (dwarf_getsrclines(&unit->die, &lines, &n) != 0)
		return true;
	const char *checked = NULL;
	bool fits = false;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		Dwarf_Addr address;
		bool end = false;
		int line = 0;
		if (!row || dwarf_lineaddr(row, &address) != 0)
			continue;
		dwarf_lineendsequence(row, &end);
		dwarf_lineno(row, &line);
		const char *file = dwarf_linesrc(row, NULL, NULL);
		if (file && file != checked) {
			fits = path_ends_with(file, wanted);
			checked = file;
			if (!fits) {
				const char *slash = strrchr(file, '/');
				nearest_consider(&out->files, wanted, slash ? slash + 1 : file);
			}
		}
		bool here = !end && file && fits && line >= (int)first && line <= (int)last;
		/* code of no line, between lines of the region, is of it */
		if (!end && line == 0 && inside)
			here = true;
		if (file && fits && !end && line > 0) {
			out->known = true;
			note_line(out, (unsigned)line, first, last);
		}
		if (inside && !here && !add_span(&out->spans, from, address))
			return false;
		if (here && !inside)
			from = address;
		inside = here;
	}
	return true;
}

bool places_lines(struct module *m, const char *file, unsigned first, unsigned last, struct lines_found *out)
{
	Dwarf *dwarf = lines_dwarf(m);
	Dwarf_CU *cu = NULL;
	struct unit unit;
	*out = (struct lines_found){0};
	while (dwarf && next_unit(dwarf, &cu, &unit)) {
		size_t before = out->spans.all.count;
		bool known = out->known;
		out->known = false;
		if (!add_rows(&unit, file, first, last, out))
			return false;
		struct die_walk walk = {.visit = visit_call_site,
					.unit = &unit,
					.file = file,
					.first = first,
					.last = last,
					.spans = &out->spans};
		if (out->known && !walk_down(&walk, &unit.inner, 0))
			return false;
		(void)before;
		out->known |= known;
	}
	spans_tidy(&out->spans);
	return true;
}
