/*
 * Functions and variables of a module, from its symbol tables: .symtab of the file or of its debug file, and
 * .dynsym.
 *
 * Of several names for the same bytes one is shown: the rank below, then the first in the alphabet. It prefers
 * names without leading underscores ("malloc" to "__libc_malloc") and, among these, global ones.
 */
#include <stdlib.h>
#include <string.h>

#include "symbol/module.h"

/* Higher is better. */
static uint32_t rank_of(const char *name, unsigned char binding)
{
	size_t underscores = strspn(name, "_");
	bool mangled = underscores == 1 && (name[1] == 'Z' || name[1] == 'R');
	uint32_t rank = mangled || underscores == 0 ? 3 : underscores == 1 ? 2 : 1;
	if (strncmp(name, "__GI_", 5) == 0) /* glibc's names for calls within itself */
		rank = 0;
	return rank * 4 + (binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0);
}

struct candidate {
	struct elf_symbol symbol;
	uint32_t rank;
	bool sized;
};

struct candidates {
	VEC(struct candidate) all;
};

enum wanted { WANT_CODE, WANT_DATA, WANT_THREAD };

static bool in_segment(const struct module *m, uint64_t address, uint64_t bytes)
{
	for (size_t i = 0; i < m->segments.count; i++) {
		const struct segment *s = &m->segments.items[i];
		if (address >= s->address && address - s->address < s->bytes &&
		    bytes <= s->bytes - (address - s->address))
			return true;
	}
	return false;
}

static const struct section *section_at(const struct module *m, uint64_t address)
{
	for (size_t i = 0; i < m->sections.count; i++)
		if (address >= m->sections.items[i].address &&
		    address - m->sections.items[i].address < m->sections.items[i].bytes)
			return &m->sections.items[i];
	return NULL;
}

static bool is_wanted(const struct module *m, const GElf_Sym *symbol, enum wanted wanted, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || symbol->st_shndx == SHN_COMMON ||
	    !*name)
		return false;
	if (wanted == WANT_THREAD) /* its value is the place in the block (gABI, "Symbol Table", STT_TLS) */
		return type == STT_TLS && symbol->st_size > 0 && symbol->st_value < m->thread_bytes &&
		       symbol->st_size <= m->thread_bytes - symbol->st_value;
	if (!in_segment(m, symbol->st_value, symbol->st_size))
		return false;
	if (wanted == WANT_DATA)
		return type == STT_OBJECT && symbol->st_size > 0;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/* labels of assembly code */
	const struct section *section = type == STT_NOTYPE ? section_at(m, symbol->st_value) : NULL;
	return section && section->code;
}

static bool read_table(const struct module *m, Elf *elf, GElf_Word type, enum wanted wanted,
		       struct candidates *out)
{
	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		Elf_Data *data;
		if (!gelf_getshdr(section, &header) || header.sh_type != type ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		size_t one = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), n = one ? data->d_size / one : 0;
		for (size_t i = 1; i < n && i < INT32_MAX; i++) {
			GElf_Sym symbol;
			const char *name = gelf_getsym(data, (int)i, &symbol)
						   ? elf_strptr(elf, header.sh_link, symbol.st_name)
						   : NULL;
			if (!name || !is_wanted(m, &symbol, wanted, name))
				continue;
			struct candidate c = {
				.symbol = {.name = name,
					   .address = symbol.st_value,
					   .bytes = symbol.st_size,
					   .chosen_at_load = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC},
				.rank = rank_of(name, GELF_ST_BIND(symbol.st_info)),
				.sized = symbol.st_size > 0 && GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE};
			if (!vec_push(&out->all, c))
				return false;
		}
	}
	return true;
}

/* Best last among those of the same bytes. */
static int by_bytes(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->symbol.address != y->symbol.address)
		return x->symbol.address < y->symbol.address ? -1 : 1;
	if (x->sized != y->sized)
		return x->sized ? -1 : 1;
	if (x->symbol.bytes != y->symbol.bytes)
		return x->symbol.bytes > y->symbol.bytes ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(y->symbol.name, x->symbol.name);
}

static bool read_all(const struct module *m, enum wanted wanted, struct candidates *out)
{
	bool read = read_table(m, m->file.elf, SHT_SYMTAB, wanted, out) &&
		    read_table(m, m->debug.elf, SHT_SYMTAB, wanted, out) &&
		    read_table(m, m->file.elf, SHT_DYNSYM, wanted, out);
	if (read && out->all.count)
		qsort(out->all.items, out->all.count, sizeof *out->all.items, by_bytes);
	return read;
}

/* ---- functions ---- */

/* The address where nothing of what is known continues: the section's end, the next piece or the next label. */
static uint64_t gap_end(const struct module *m, const struct ranges *known, uint64_t address)
{
	const struct section *section = section_at(m, address);
	const struct range *above = ranges_above(known, address);
	uint64_t end = section ? section->address + section->bytes : address;
	return above && above->low < end ? above->low : end;
}

/* Starts that are in no piece become pieces, each up to the next start or piece; starts ascend. */
struct symbol_start {
	uint64_t address;
	uint32_t item;
};

static bool fill_gaps(const struct module *m, struct ranges *known, const struct symbol_start *starts, size_t n)
{
	struct ranges more = {0};
	bool done = false;
	for (size_t i = 0; i < n; i++) {
		if (ranges_find(known, starts[i].address) ||
		    (i + 1 < n && starts[i + 1].address == starts[i].address))
			continue; /* of equal starts the last one is the best */
		struct range r = {.low = starts[i].address,
				  .high = gap_end(m, known, starts[i].address),
				  .item = starts[i].item};
		if (i + 1 < n && starts[i + 1].address < r.high)
			r.high = starts[i + 1].address;
		if (!vec_push(&more.all, r))
			goto out;
	}
	for (size_t i = 0; i < more.all.count; i++)
		if (!vec_push(&known->all, more.all.items[i]))
			goto out;
	done = ranges_flatten(known);
out:
	ranges_free(&more);
	return done;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol_start *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

struct starts {
	VEC(struct symbol_start) all;
};

/*
 * Where functions begin according to the unwind table. Layout: LSB Core 5.0, 10.6.2: version 1, three encodings,
 * the address of .eh_frame, the number of entries, then pairs of 32-bit offsets from the section's begin (encoding
 * 0x3b, DW_EH_PE_datarel | sdata4, what linkers write; another one is left alone).
 */
static bool read_unwind_starts(struct module *m, struct starts *out)
{
	GElf_Shdr header;
	Elf_Scn *section = module_section(m->file.elf, ".eh_frame_hdr", &header);
	Elf_Data *data = section && header.sh_type != SHT_NOBITS ? elf_rawdata(section, NULL) : NULL;
	const uint8_t *bytes = data ? data->d_buf : NULL;
	if (!bytes || data->d_size < 12 || bytes[0] != 1 || bytes[1] != 0x1b || bytes[2] != 0x03 ||
	    bytes[3] != 0x3b)
		return true;
	uint32_t n;
	memcpy(&n, bytes + 8, 4);
	for (uint32_t i = 0; i < n && i < (data->d_size - 12) / 8; i++) {
		int32_t offset;
		memcpy(&offset, bytes + 12 + 8 * (size_t)i, 4);
		struct symbol_start s = {.address = header.sh_addr + (uint64_t)(int64_t)offset, .item = NO_ITEM};
		const struct section *at = section_at(m, s.address);
		if (at && at->code && !vec_push(&out->all, s))
			return false;
	}
	if (out->all.count)
		qsort(out->all.items, out->all.count, sizeof *out->all.items, by_address);
	return true;
}

bool table_functions(struct module *m)
{
	struct candidates candidates = {0};
	struct starts labels = {0}, unwind = {0};
	bool done = false;
	if (m->code_read)
		return true;
	if (!read_all(m, WANT_CODE, &candidates))
		goto out;
	for (size_t i = 0; i < candidates.all.count; i++) {
		const struct candidate *c = &candidates.all.items[i];
		struct symbol_start label = {.address = c->symbol.address, .item = (uint32_t)i};
		/* their order is the rank among the same bytes */
		struct range r = {.low = c->symbol.address,
				  .high = c->symbol.address + c->symbol.bytes,
				  .item = (uint32_t)i,
				  .rank = (uint32_t)i};
		if (!vec_push(&m->functions, c->symbol) ||
		    !(c->sized ? vec_push(&m->code.all, r) : vec_push(&labels.all, label)))
			goto out;
	}
	done = ranges_flatten(&m->code) && fill_gaps(m, &m->code, labels.all.items, labels.all.count) &&
	       read_unwind_starts(m, &unwind) && fill_gaps(m, &m->code, unwind.all.items, unwind.all.count);
	m->code_read = done;
out:
	vec_free(&candidates.all);
	vec_free(&labels.all);
	vec_free(&unwind.all);
	return done;
}

/* ---- variables ---- */

static bool read_variables(struct module *m, enum wanted wanted, struct naming *naming, struct data_table *out)
{
	struct candidates candidates = {0};
	bool done = false;
	if (!read_all(m, wanted, &candidates) || !(out->all = calloc(candidates.all.count + 1, sizeof *out->all)))
		goto out;
	uint64_t end = 0;
	for (size_t i = 0; i < candidates.all.count; i++) {
		struct elf_symbol *s = &candidates.all.items[i].symbol;
		const struct elf_symbol *next = i + 1 < candidates.all.count ? &candidates.all.items[i + 1].symbol
									     : NULL;
		/* of the same bytes the last one is the best; of those that begin together the first one is the
		 * largest */
		if (s->address < end || (next && next->address == s->address && next->bytes == s->bytes))
			continue;
		const char *name = table_name(s, naming);
		if (!name)
			goto out;
		out->all[out->count] = (struct symbol_data){
			.name = name, .linked_name = s->name, .address = s->address, .bytes = s->bytes};
		struct range r = {
			.low = s->address, .high = s->address + s->bytes, .item = (uint32_t)out->count++};
		if (!vec_push(&out->ranges.all, r))
			goto out;
		end = s->address + s->bytes;
	}
	done = true;
out:
	vec_free(&candidates.all);
	return done;
}

static struct symbol_data *name_sections(const struct module *m, const struct section *sections, size_t n,
					 struct naming *naming)
{
	struct symbol_data *data = calloc(n + 1, sizeof *data);
	for (size_t i = 0; data && i < n; i++) {
		const char *name = arena_printf(&naming->arena, "[%s %s]", m->base, sections[i].name);
		if (!name) {
			free(data);
			return NULL;
		}
		data[i] = (struct symbol_data){
			.name = name, .address = sections[i].address, .bytes = sections[i].bytes};
	}
	return data;
}

bool table_variables(struct module *m, struct naming *naming)
{
	if (m->data_read)
		return true;
	m->data_read = read_variables(m, WANT_DATA, naming, &m->data) &&
		       read_variables(m, WANT_THREAD, naming, &m->thread_data) &&
		       (m->section_data = name_sections(m, m->sections.items, m->sections.count, naming)) &&
		       (m->thread_section_data = name_sections(m, m->thread_sections.items,
							       m->thread_sections.count, naming));
	return m->data_read;
}

const char *table_name(struct elf_symbol *symbol, struct naming *naming)
{
	if (symbol->shown)
		return symbol->shown;
	/* "memcpy@@GLIBC_2.14": the version says nothing about where */
	const char *at = strchr(symbol->name + 1, '@');
	char *plain = arena_strndup(&naming->arena, symbol->name,
				    at ? (size_t)(at - symbol->name) : strlen(symbol->name));
	if (plain && !naming->raw_names) {
		char *name = symbol_demangle(plain);
		if (name)
			plain = arena_strdup(&naming->arena, name);
		free(name);
	}
	return symbol->shown = plain;
}
