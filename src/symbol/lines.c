/*
 * Source lines and inlined functions, from DWARF.
 *
 * The units' ranges are collected once (not from .debug_aranges, which clang does not write); of a unit, the table
 * of inlined functions when the first question is about it. libdw keeps each unit's line table.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/module.h"

bool module_scope_holds_code(int tag)
{
	switch (tag) {
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_entry_point: return true;
	default: return false;
	}
}

enum { DEPTH_MOST = 200 }; /* of DIEs in each other; code that people wrote has some ten */

struct inlined_frame {
	Dwarf_Die die;    /* of a function, or of one inlined */
	uint32_t parent;  /* index; NO_ITEM: the function itself */
	const char *name; /* NULL: not made yet */
};

struct dwarf_unit {
	Dwarf_Die die;
	bool scopes_read;
	VEC(struct inlined_frame) frames;
	struct ranges scopes; /* item: of frames */
};

struct dwarf_units {
	VEC(struct dwarf_unit) all;
	struct ranges ranges; /* item: of all */
};

static bool add_range(struct ranges *ranges, uint64_t low, uint64_t high, size_t item, uint32_t rank)
{
	struct range r = {.low = low, .high = high, .item = (uint32_t)item, .rank = rank};
	/* what the linker dropped is left at 0 (or all ones, or 1) */
	return low == 0 || low >= high || vec_push(&ranges->all, r);
}

/* Adds the ranges of a DIE; *some: it has any. */
static bool add_ranges_of(Dwarf_Die *die, struct ranges *ranges, size_t item, uint32_t rank, bool *some)
{
	Dwarf_Addr base, low, high;
	*some = false;
	for (ptrdiff_t offset = 0; (offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0;) {
		*some = true;
		if (!add_range(ranges, low, high, item, rank))
			return false;
	}
	return true;
}

/* A unit that does not say where its code is: from its line table's sequences. */
static bool add_sequences(Dwarf_Die *die, struct ranges *ranges, size_t item)
{
	Dwarf_Lines *lines;
	size_t n;
	Dwarf_Addr first = 0, address;
	bool open = false, end;
	if (dwarf_getsrclines(die, &lines, &n) != 0)
		return true;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		if (!line || dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &end) != 0)
			continue;
		if (!open)
			first = address, open = true;
		if (end) {
			open = false;
			if (!add_range(ranges, first, address, item, 0))
				return false;
		}
	}
	return true;
}

/* libdw inflates every section that it knows when it begins. Nothing is asked of these. */
static void leave_out_unused(Elf *elf)
{
	static const char *const unused[] = {".debug_loc",     ".debug_loclists", ".debug_macro",
					     ".debug_macinfo", ".debug_pubnames", ".zdebug_loc",
					     ".zdebug_macro"};
	GElf_Shdr header;
	for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
		Elf_Scn *section = module_section(elf, unused[i], &header);
		if (!section)
			continue;
		header.sh_type = SHT_NOBITS;
		gelf_update_shdr(section, &header);
	}
}

static bool read_units(struct module *m)
{
	Elf *elf = m->file.elf;
	GElf_Shdr header;
	if (m->dwarf_read)
		return true;
	if (!(m->units = calloc(1, sizeof *m->units)))
		return false;
	m->dwarf_read = true;
	if (m->lines_left_out)
		return true;
	if (!module_section(elf, ".debug_info", &header) && m->debug.elf)
		elf = m->debug.elf;
	if (elf)
		leave_out_unused(elf);
	if (!elf || !(m->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL)))
		return true;
	Dwarf_CU *cu = NULL, *next;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die, split;
	while (dwarf_get_units(m->dwarf, cu, &next, &version, &type, &die, &split) == 0) {
		cu = next;
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (dwarf_tag(&die) == DW_TAG_partial_unit)
			continue;
		bool some;
		size_t item = m->units->all.count;
		/* of a split unit, the functions are in the other part; where it is and its lines are said here */
		struct dwarf_unit unit = {.die = die};
		if (!vec_push(&m->units->all, unit) || !add_ranges_of(&die, &m->units->ranges, item, 0, &some) ||
		    (!some && !add_sequences(&die, &m->units->ranges, item)))
			return false;
	}
	return ranges_flatten(&m->units->ranges);
}

static struct dwarf_unit *unit_at(struct module *m, uint64_t address)
{
	const struct range *piece = read_units(m) ? ranges_find(&m->units->ranges, address) : NULL;
	return piece ? &m->units->all.items[piece->item] : NULL;
}

static bool line_in(struct dwarf_unit *unit, uint64_t address, const char **file, unsigned *line)
{
	bool end = false;
	int number = 0;
	Dwarf_Line *found = dwarf_getsrc_die(&unit->die, address);
	if (!found || (dwarf_lineendsequence(found, &end) == 0 && end) ||
	    !(*file = dwarf_linesrc(found, NULL, NULL)))
		return false;
	*line = dwarf_lineno(found, &number) == 0 && number > 0 ? (unsigned)number : 0;
	return true;
}

bool lines_find(struct module *m, struct naming *naming, uint64_t address, const char **file, unsigned *line)
{
	struct dwarf_unit *unit = unit_at(m, address);
	(void)naming;
	return unit && line_in(unit, address, file, line);
}

const char *lines_directory(struct module *m, uint64_t address)
{
	struct dwarf_unit *unit = unit_at(m, address);
	Dwarf_Attribute attribute;
	return unit ? dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute)) : NULL;
}

/* ---- inlined functions ---- */

static bool read_scopes(struct dwarf_unit *unit, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
	Dwarf_Die child;
	if (depth == DEPTH_MOST || dwarf_child(die, &child) != 0)
		return true;
	do {
		uint32_t inside = parent;
		bool some = false;
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			inside = NO_ITEM;
			/* fall through */
		case DW_TAG_inlined_subroutine: {
			size_t item = unit->frames.count;
			/* inner ones win where they are as large as the outer one */
			if (!add_ranges_of(&child, &unit->scopes, item, depth, &some))
				return false;
			if (some) {
				struct inlined_frame frame = {.die = child, .parent = inside};
				if (!vec_push(&unit->frames, frame))
					return false;
				inside = (uint32_t)item;
			}
			break;
		}
		default:
			if (!module_scope_holds_code(dwarf_tag(&child)))
				continue;
		}
		if (!read_scopes(unit, &child, inside, depth + 1))
			return false;
	} while (dwarf_siblingof(&child, &child) == 0);
	return true;
}

static const char *name_of(struct inlined_frame *frame, struct naming *naming)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;
	if (frame->name)
		return frame->name;
	if (!naming->raw_names &&
	    (dwarf_attr_integrate(&frame->die, DW_AT_linkage_name, &attribute) ||
	     dwarf_attr_integrate(&frame->die, DW_AT_MIPS_linkage_name, &attribute)) &&
	    (name = dwarf_formstring(&attribute))) {
		char *demangled = symbol_demangle(name);
		name = demangled ? arena_strdup(&naming->arena, demangled) : NULL;
		free(demangled);
	}
	if (!name)
		name = dwarf_diename(&frame->die);
	return frame->name = name ? name : "[unnamed]";
}

/* Where the inlined function was called. */
static void call_site(struct dwarf_unit *unit, Dwarf_Die *die, struct symbol_frame *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t n;
	out->file = NULL, out->line = 0;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number) == 0)
		out->line = (unsigned)number;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) == 0 &&
	    dwarf_getsrcfiles(&unit->die, &files, &n) == 0 && number < n)
		out->file = dwarf_filesrc(files, number, NULL, NULL);
}

size_t lines_inlined(struct module *m, struct naming *naming, uint64_t address, struct symbol_frame *frames,
		     size_t most)
{
	struct dwarf_unit *unit = unit_at(m, address);
	size_t n = 0;
	if (!unit)
		return 0;
	if (!unit->scopes_read) {
		Dwarf_Die split;
		uint8_t type;
		bool skeleton = dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
				type == DW_UT_skeleton && split.cu;
		unit->scopes_read = true;
		if (!read_scopes(unit, skeleton ? &split : &unit->die, NO_ITEM, 0) ||
		    !ranges_flatten(&unit->scopes))
			return 0;
	}
	const struct range *piece = ranges_find(&unit->scopes, address);
	struct symbol_frame place = {0};
	if (!line_in(unit, address, &place.file, &place.line))
		place.file = NULL;
	for (uint32_t i = piece ? piece->item : NO_ITEM; i != NO_ITEM; i = unit->frames.items[i].parent) {
		struct inlined_frame *frame = &unit->frames.items[i];
		place.function = name_of(frame, naming);
		if (n < most)
			frames[n] = place;
		n++;
		call_site(unit, &frame->die, &place);
	}
	return n;
}

Dwarf *lines_dwarf(struct module *m) { return m->file.elf && read_units(m) ? m->dwarf : NULL; }

void lines_free(struct module *m)
{
	if (m->units) {
		for (size_t i = 0; i < m->units->all.count; i++) {
			vec_free(&m->units->all.items[i].frames);
			ranges_free(&m->units->all.items[i].scopes);
		}
		vec_free(&m->units->all);
		ranges_free(&m->units->ranges);
		free(m->units);
	}
	if (m->dwarf)
		dwarf_end(m->dwarf);
	m->units = NULL, m->dwarf = NULL;
}
