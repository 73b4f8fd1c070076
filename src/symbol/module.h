/* One module: its file, its debug file, where its segments are. The insides of this folder only. */
#ifndef TARE_SYMBOL_MODULE_H
#define TARE_SYMBOL_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"
#include "symbol/ranges.h"
#include "symbol/symbol.h"

struct elf_file {
	int fd;       /* -1: none, or in memory */
	Elf *elf;     /* NULL: not there */
	void *memory; /* its bytes, or NULL */
};

struct segment {
	uint64_t offset, file_bytes; /* in the file */
	uint64_t address, bytes;     /* as linked */
	bool writable;
};

struct elf_symbol {
	const char *name; /* in the file's string table: with its version, "memcpy@@GLIBC_2.14" */
	uint64_t address, bytes;
	const char *shown;   /* demangled, or without its version; NULL: not made yet */
	bool chosen_at_load; /* STT_GNU_IFUNC: its code finds out which function is to be called by its name */
};

struct section {
	const char *name;
	uint64_t address, bytes;
	uint64_t entry_bytes; /* of a table; 0: it is none */
	bool code;
};

struct data_table { /* variables, in the order of addresses, none overlapping */
	struct symbol_data *all;
	size_t count;
	struct ranges ranges; /* item: of `all` */
};

struct code_answer { /* one that was given */
	uint64_t offset;
	const struct symbol_code *code;
};

struct code_extent { /* all places in [low, low + bytes) have this answer */
	uint64_t low, bytes;
	const struct symbol_code *code;
};

struct dwarf_unit;
struct dwarf_units; /* lines.c */

struct module {
	uint32_t number;   /* in struct symbols */
	char *path, *base; /* base: the last part of the path */
	bool anonymous;    /* memory of no file */
	char trouble[640]; /* "": none */
	struct elf_file file, debug;
	VEC(struct segment) segments;
	/* thread_sections: by their place in the module's block of thread-local storage */
	VEC(struct section) sections, thread_sections;
	uint64_t thread_address, thread_bytes; /* that block's template; 0 bytes: it has none */
	/* code */
	VEC(struct elf_symbol) functions;
	/* item: of functions; or NO_ITEM: only known to be a function of its own, that begins at low */
	struct ranges code;
	bool code_read;
	VEC(struct code_answer) answers;
	struct hash_index answered; /* of answers, by offset */
	struct code_extent extent;  /* of the answer that was given last */
	/* data */
	struct data_table data, thread_data; /* thread_data: address is the place in the block */
	struct symbol_data *section_data, *thread_section_data; /* as sections are */
	bool data_read;
	/* DWARF, when it is first asked for */
	Dwarf *dwarf;
	struct dwarf_units *units;
	bool dwarf_read, lines_left_out; /* symbols_leave_out_lines() */
	/* call frame information of .eh_frame, when it is first asked for; NULL: none */
	Dwarf_CFI *cfi;
	bool cfi_read;
};

#define NO_ITEM 0xffffffffu

struct debug_servers;

/* What names are made in, and how. */
struct naming {
	struct arena arena;
	const char *debug_directory;
	bool raw_names;
	struct debug_servers *servers; /* debuginfod.h; NULL: none */
};

/* module.c. module_new() is false when memory ran out; what else went wrong is the module's trouble. */
bool module_new(const char *path, const struct naming *naming, struct module **out);
void module_free(struct module *module);
bool module_address(const struct module *module, uint64_t offset, uint64_t *address);
bool module_mapping(const struct module *module, uint64_t offset, bool writable, uint64_t *address);
bool module_offset(const struct module *module, uint64_t address, uint64_t *offset);
/* The file's bytes from that address on, as many as its segment has in *available; NULL: none. */
const uint8_t *module_bytes(const struct module *module, uint64_t address, size_t *available);
/* The section of that name, its header in *header; NULL. */
Elf_Scn *module_section(Elf *elf, const char *name, GElf_Shdr *header);

/* debugfile.c: opens a file of names; false with the reason. */
bool elf_file_open(const char *path, struct elf_file *out, struct error *err);
/* … for its headers and notes: the rest is not read. */
bool elf_file_glance(const char *path, struct elf_file *out);
void elf_file_close(struct elf_file *file);
/* NULL, and 0 bytes: it has none. */
const void *elf_file_build_id(const struct elf_file *file, size_t *bytes);
/* The debug file of module->file, when there is one. False when memory ran out. */
bool elf_file_find_debug(const struct module *module, const char *debug_directory, struct elf_file *out);

/* table.c: each reads its table once. False when memory ran out. */
bool table_functions(struct module *module);
bool table_variables(struct module *module, struct naming *naming);
/* What a symbol is called to a reader; NULL when memory ran out. */
const char *table_name(struct elf_symbol *symbol, struct naming *naming);

/* lines.c: file and line of an address as linked; false: not known. */
bool lines_find(struct module *module, struct naming *naming, uint64_t address, const char **file, unsigned *line);
/* Where the compiler was called; NULL: not known. */
const char *lines_directory(struct module *module, uint64_t address);
size_t lines_inlined(struct module *module, struct naming *naming, uint64_t address, struct symbol_frame *frames,
		     size_t most);
void lines_free(struct module *module);
/* NULL: it has none. */
Dwarf *lines_dwarf(struct module *module);

/* Can a debugging entry of this tag, other than functions and inlined calls themselves, have some of these among
 * its children? */
bool module_scope_holds_code(int tag);

#endif
