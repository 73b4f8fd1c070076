#include "symbol/symbol.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbol/debuginfod.h"
#include "symbol/jit.h"
#include "symbol/places_inside.h"

struct jit_process {
	uint32_t pid;
	struct jit_names *names;
};

struct symbols {
	struct naming naming;
	char *debug_directory;
	VEC(struct module *) modules;
	struct hash_index by_path; /* of modules */
	struct module *last;       /* that was asked about, which the next question is also about */
	VEC(struct jit_process) jits;
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
	if (s->debug_directory && debug_servers_new(options, &s->naming.servers))
		return true;
	free(s->debug_directory);
	free(s);
	*out = NULL;
	return error_no_memory(err);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->modules.count; i++)
		module_free(s->modules.items[i]);
	vec_free(&s->modules);
	for (size_t i = 0; i < s->jits.count; i++)
		jit_free(s->jits.items[i].names);
	vec_free(&s->jits);
	hash_free(&s->by_path);
	debug_servers_free(s->naming.servers);
	arena_free(&s->naming.arena);
	free(s->debug_directory);
	free(s);
}

/* NULL: nobody asked about it yet. */
static struct module *known_module(struct symbols *s, const char *path)
{
	if (s->last && strcmp(s->last->path, path) == 0)
		return s->last;
	struct hash_search search = hash_find(&s->by_path, hash_text(HASH_BEGIN, path));
	for (uint32_t i; hash_next(&search, &i);)
		if (strcmp(s->modules.items[i]->path, path) == 0)
			return s->last = s->modules.items[i];
	return NULL;
}

/* NULL when memory ran out. */
static struct module *module_of(struct symbols *s, const char *path)
{
	struct module *m = known_module(s, path);
	uint64_t hash = hash_text(HASH_BEGIN, path);
	if (m)
		return m;
	if (!module_new(path, &s->naming, &m))
		return NULL;
	m->number = (uint32_t)s->modules.count;
	if (!vec_push(&s->modules, m) || !hash_add(&s->by_path, hash, m->number)) {
		s->modules.count = m->number;
		module_free(m);
		return NULL;
	}
	return s->last = m;
}

struct jit_names *symbols_jit(struct symbols *s, uint32_t pid, struct error *err)
{
	struct jit_process process = {.pid = pid};
	for (size_t i = 0; i < s->jits.count; i++)
		if (s->jits.items[i].pid == pid)
			return s->jits.items[i].names;
	if (!jit_new((pid_t)pid, &process.names, err))
		return NULL;
	if (jit_read(process.names, true, err) && vec_push(&s->jits, process))
		return process.names;
	jit_free(process.names);
	error_no_memory(err);
	return NULL;
}

struct module *symbols_module(struct symbols *s, const char *path) { return module_of(s, path); }

struct naming *symbols_naming(struct symbols *s) { return &s->naming; }

size_t symbols_build_id(struct symbols *s, const char *module, uint8_t *bytes, size_t most)
{
	struct elf_file glanced;
	bool glance = !known_module(s, module) && module[0] == '/' && elf_file_glance(module, &glanced);
	struct module *m = glance ? NULL : module_of(s, module);
	const struct elf_file *file = glance ? &glanced : m ? &m->file : NULL;
	size_t n = 0;
	const void *id = file && file->elf ? elf_file_build_id(file, &n) : NULL;
	if (id && n)
		memcpy(bytes, id, n < most ? n : most);
	if (glance)
		elf_file_close(&glanced);
	return n;
}

const char *symbols_trouble(struct symbols *s, const char *module)
{
	struct module *m = module_of(s, module);
	return !m ? "out of memory" : m->trouble[0] ? m->trouble : NULL;
}

/* ---- code ---- */

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

static bool in_linkage(const struct module *m, uint64_t address)
{
	bool in = false;
	for (size_t i = 0; i < m->sections.count; i++) {
		const struct section *s = &m->sections.items[i];
		in |= s->code && strncmp(s->name, ".plt", 4) == 0 && address - s->address < s->bytes;
	}
	return in;
}

/* Which places have the same answer as this one: in a file without lines, those of its function. */
static struct code_extent extent_of(struct module *m, uint64_t offset)
{
	const struct code_extent alone = {.low = offset, .bytes = 1};
	uint64_t address, low, last;
	if (m->anonymous || !m->file.elf || !module_address(m, offset, &address) || !table_functions(m) ||
	    lines_dwarf(m) || in_linkage(m, address))
		return alone;
	const struct range *piece = ranges_find(&m->code, address);
	if (!piece || !module_offset(m, piece->low, &low) || !module_offset(m, piece->high - 1, &last) ||
	    offset - low != address - piece->low || last - low != piece->high - 1 - piece->low)
		return alone;
	return (struct code_extent){.low = low, .bytes = last - low + 1};
}

/* NULL when memory ran out. */
static const struct symbol_code *answer_to(struct symbols *s, struct module *m, uint64_t offset)
{
	uint64_t hash = hash_number(HASH_BEGIN, offset);
	struct hash_search search = hash_find(&m->answered, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (m->answers.items[i].offset == offset)
			return m->answers.items[i].code;
	struct symbol_code *code = arena_alloc(&s->naming.arena, sizeof *code);
	struct code_answer answer = {.offset = offset, .code = code};
	return code && describe(s, m, offset, code) && vec_push(&m->answers, answer) &&
			       hash_add(&m->answered, hash, (uint32_t)m->answers.count - 1)
		       ? code
		       : NULL;
}

const struct symbol_code *symbols_code(struct symbols *s, const char *module, uint64_t offset, struct error *err)
{
	struct module *m = module_of(s, module);
	if (m && m->extent.code && offset - m->extent.low < m->extent.bytes)
		return m->extent.code;
	struct code_extent extent = {0};
	if (m) {
		extent = extent_of(m, offset);
		extent.code = answer_to(s, m, extent.low);
		m->extent = extent;
	}
	if (!extent.code)
		error_no_memory(err);
	return extent.code;
}

void symbols_leave_out_lines(struct symbols *s, const char *module)
{
	struct module *m = module_of(s, module);
	if (m)
		m->lines_left_out = true;
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

const char *symbols_directory(struct symbols *s, const char *module, uint64_t offset)
{
	struct module *m = module_of(s, module);
	uint64_t address;
	return m && m->file.elf && module_address(m, offset, &address) ? lines_directory(m, address) : NULL;
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
