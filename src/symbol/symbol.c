#include "symbol/symbol.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/places_inside.h"

struct symbols {
	struct naming naming;
	char *debug_directory;
	struct module *modules, *last; /* last: that was asked about, which the next question is about, too */
};

bool symbols_new(const struct symbols_options *options, struct symbols **out, struct error *err)
{
	struct symbols *s = *out = calloc(1, sizeof *s);
	if (!s)
		return error_no_memory(err);
	elf_version(EV_CURRENT);
	s->debug_directory = strdup(options && options->debug_directory ? options->debug_directory
									: "/usr/lib/debug");
	s->naming.debug_directory = s->debug_directory;
	s->naming.raw_names = options && options->raw_names;
	if (s->debug_directory)
		return true;
	free(s);
	*out = NULL;
	return error_no_memory(err);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (struct module *m = s->modules, *next; m; m = next) {
		next = m->next;
		module_free(m);
	}
	arena_free(&s->naming.arena);
	free(s->debug_directory);
	free(s);
}

/* NULL when memory ran out. */
static struct module *module_of(struct symbols *s, const char *path)
{
	if (s->last && strcmp(s->last->path, path) == 0)
		return s->last;
	struct module *m = s->modules;
	while (m && strcmp(m->path, path) != 0)
		m = m->next;
	if (!m) {
		if (!module_new(path, &s->naming, &m))
			return NULL;
		m->next = s->modules;
		s->modules = m;
	}
	return s->last = m;
}

struct module *symbols_module(struct symbols *s, const char *path) { return module_of(s, path); }

struct naming *symbols_naming(struct symbols *s) { return &s->naming; }

const char *symbols_trouble(struct symbols *s, const char *module)
{
	struct module *m = module_of(s, module);
	return !m ? "out of memory" : m->trouble[0] ? m->trouble : NULL;
}

/* ---- code ---- */

static uint64_t hash(uint64_t offset) { return offset * 0x9e3779b97f4a7c15u >> 20; }

/* The slot of that offset, or the free one where it belongs; NULL when memory ran out. */
static struct code_slot *slot_of(struct module *m, uint64_t offset)
{
	if (2 * m->slots_used >= m->slot_count) {
		size_t n = m->slot_count ? 2 * m->slot_count : 256;
		struct code_slot *slots = calloc(n, sizeof *slots);
		if (!slots)
			return NULL;
		for (size_t i = 0; i < m->slot_count; i++) {
			if (!m->slots[i].code)
				continue;
			size_t at = hash(m->slots[i].offset) & (n - 1);
			while (slots[at].code)
				at = (at + 1) & (n - 1);
			slots[at] = m->slots[i];
		}
		free(m->slots);
		m->slots = slots, m->slot_count = n;
	}
	size_t at = hash(offset) & (m->slot_count - 1);
	while (m->slots[at].code && m->slots[at].offset != offset)
		at = (at + 1) & (m->slot_count - 1);
	return &m->slots[at];
}

/* A place in the procedure linkage table: out is the entry that it is in, "malloc@plt". False when memory ran
 * out. */
static bool describe_linkage(struct symbols *s, struct module *m, uint64_t address, struct symbol_code *out)
{
	for (size_t i = 0; i < m->sections.count; i++) {
		const struct section *section = &m->sections.items[i];
		if (!section->code || strncmp(section->name, ".plt", 4) != 0 || address < section->address ||
		    address - section->address >= section->bytes)
			continue;
		uint64_t bytes = section->entry_bytes ? section->entry_bytes : 16,
			 entry = address - (address - section->address) % bytes;
		struct elf_symbol called = {.name = linkage_of_call(m, entry)};
		module_offset(m, entry, &out->begins);
		return !called.name || (table_name(&called, &s->naming) &&
					(out->function = arena_printf(&s->naming.arena, "%s@plt", called.shown)));
	}
	return true;
}

/* False when memory ran out. */
static bool describe(struct symbols *s, struct module *m, uint64_t offset, struct symbol_code *out)
{
	uint64_t address;
	*out = (struct symbol_code){.begins = offset};
	if (m->anonymous) {
		out->function = "[anonymous]";
		out->begins = 0;
		return true;
	}
	if (m->file.elf && module_address(m, offset, &address)) {
		if (!table_functions(m))
			return false;
		const struct range *piece = ranges_find(&m->code, address);
		if (piece && piece->item != NO_ITEM) {
			struct elf_symbol *symbol = &m->functions.items[piece->item];
			out->linked_name = symbol->name;
			module_offset(m, symbol->address, &out->begins);
			if (!(out->function = table_name(symbol, &s->naming)))
				return false;
		} else {
			if (piece)
				module_offset(m, piece->low, &out->begins);
			if (!describe_linkage(s, m, address, out))
				return false;
		}
		if (!lines_find(m, &s->naming, address, &out->file, &out->line))
			out->file = NULL, out->line = 0;
	}
	if (!out->function)
		out->function = arena_printf(&s->naming.arena, "%s+0x%llx", m->base,
					     (unsigned long long)out->begins);
	return out->function != NULL;
}

const struct symbol_code *symbols_code(struct symbols *s, const char *module, uint64_t offset, struct error *err)
{
	struct module *m = module_of(s, module);
	struct code_slot *slot = m ? slot_of(m, offset) : NULL;
	if (slot && slot->code)
		return slot->code;
	struct symbol_code *code = slot ? arena_alloc(&s->naming.arena, sizeof *code) : NULL;
	if (!code || !describe(s, m, offset, code)) {
		error_no_memory(err);
		return NULL;
	}
	*slot = (struct code_slot){.offset = offset, .code = code};
	m->slots_used++;
	return code;
}

size_t symbols_inlined(struct symbols *s, const char *module, uint64_t offset, struct symbol_frame *frames,
		       size_t most)
{
	struct module *m = module_of(s, module);
	uint64_t address;
	return m && m->file.elf && module_address(m, offset, &address)
		       ? lines_inlined(m, &s->naming, address, frames, most)
		       : 0;
}

/* ---- data ---- */

static const struct symbol_data *data_at(const struct data_table *table, const struct section *sections, size_t n,
					 const struct symbol_data *section_data, uint64_t address)
{
	const struct range *piece = ranges_find(&table->ranges, address);
	if (piece)
		return &table->all[piece->item];
	for (size_t i = 0; i < n; i++)
		if (address >= sections[i].address && address - sections[i].address < sections[i].bytes)
			return &section_data[i];
	return NULL;
}

const struct symbol_data *symbols_data(struct symbols *s, const char *module, uint64_t address)
{
	struct module *m = module_of(s, module);
	return m && table_variables(m, &s->naming)
		       ? data_at(&m->data, m->sections.items, m->sections.count, m->section_data, address)
		       : NULL;
}

const struct symbol_data *symbols_thread_data(struct symbols *s, const char *module, uint64_t place)
{
	struct module *m = module_of(s, module);
	if (!m || !table_variables(m, &s->naming))
		return NULL;
	return data_at(&m->thread_data, m->thread_sections.items, m->thread_sections.count, m->thread_section_data,
		       place);
}

const struct symbol_data *symbols_variables(struct symbols *s, const char *module, size_t *count)
{
	struct module *m = module_of(s, module);
	bool read = m && table_variables(m, &s->naming);
	*count = read ? m->data.count : 0;
	return read ? m->data.all : NULL;
}

bool symbols_address(struct symbols *s, const char *module, uint64_t offset, uint64_t *address)
{
	struct module *m = module_of(s, module);
	return m && module_address(m, offset, address);
}

bool symbols_mapping(struct symbols *s, const char *module, uint64_t offset, bool writable, uint64_t *address)
{
	struct module *m = module_of(s, module);
	return m && module_mapping(m, offset, writable, address);
}

bool symbols_function(struct symbols *s, const char *module, const char *linked_name, uint64_t *address,
		      uint64_t *bytes)
{
	struct module *m = module_of(s, module);
	size_t length = strlen(linked_name);
	if (!m || !m->file.elf || !table_functions(m))
		return false;
	for (size_t i = 0; i < m->functions.count; i++) {
		const struct elf_symbol *f = &m->functions.items[i];
		if (strncmp(f->name, linked_name, length) == 0 &&
		    (f->name[length] == '\0' || f->name[length] == '@')) {
			*address = f->address;
			*bytes = f->bytes;
			return true;
		}
	}
	return false;
}
