/*
 * Names for places: of code its function and source line, of data its variable. From ELF files (libelf) and DWARF
 * (libdw).
 *
 *     symbols_new ──► (symbols_code, symbols_inlined, symbols_data …)* ──► symbols_free
 *
 * A module is named by its path, as the engine's record and /proc/PID/maps name it: "/usr/lib/libc.so.6", "[vdso]"
 * (this kernel's, that of tare itself), "" (memory of no file). A place of code is an offset in the module's file;
 * a place of data is an address as linked, that is, before the loader moved the module (symbols_mapping()): data
 * that is zero at the start is in no file.
 *
 * What always holds:
 *  1. Every question has an answer: what has no name is named by its place ("libc.so.6+0x2714a", the offset in the
 *     file), never by its neighbour. A symbol covers the bytes of its size and no more; one without a size, those
 *     up to the next symbol or the section's end.
 *  2. The same question has the same answer, and answers live until symbols_free(). Each module is read once, each
 *     unit's lines once.
 *  3. A file that is missing, changed while it is read, or broken costs its names, never the program:
 *     symbols_trouble() says why.
 *  4. No file but regular ones is opened. A network is asked only where both the caller (options.debuginfod) and
 *     the user (DEBUGINFOD_URLS) want it: for the debug file of a module that has names or lines missing, by its
 *     build ID, once. A server that gives nothing for a while is not asked again.
 *  5. Names are bytes: no encoding is promised; they are to be escaped when printed.
 *
 * Without symbols in the file, its debug file is looked for: by build ID below /usr/lib/debug/.build-id, then by
 * .gnu_debuglink beside it, in .debug, and below /usr/lib/debug (GDB manual, "Separate Debug Files"; the checksum
 * must fit). A stripped file's functions are told apart by its unwind table (.eh_frame_hdr), unnamed as they are.
 */
#ifndef TARE_SYMBOL_SYMBOL_H
#define TARE_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct symbols;

struct symbols_options {
	size_t size;                 /* sizeof (struct symbols_options) */
	const char *debug_directory; /* NULL: /usr/lib/debug */
	bool raw_names;              /* C++ and Rust names as they are linked, not demangled */
	/* Debug files are fetched, too, from the servers in DEBUGINFOD_URLS (debuginfod(8)), if it is set, by
	 * libdebuginfod, if it is installed. They are kept where that library keeps them. DEBUGINFOD_TIMEOUT:
	 * seconds without a byte after which it gives up; 20 if it is not set. */
	bool debuginfod;
	/* NULL, or called a few times a second during a fetch; false ends it */
	bool (*progress)(void *context, const char *module, uint64_t bytes_done, uint64_t bytes_total);
	void *progress_context;
};

/* options may be NULL. On success *out is the caller's, to be freed by symbols_free(). Not for two threads at
 * once. */
bool symbols_new(const struct symbols_options *options, struct symbols **out, struct error *err);
void symbols_free(struct symbols *symbols);

/* Why this module gives no names, or fewer than it has ("cannot open '…': no such file", "it was deleted", "it is
 * stripped"); NULL. */
const char *symbols_trouble(struct symbols *symbols, const char *module);

/* The build ID of the module's file as it is now: how many bytes it has (at most *most* are stored); 0: it has
 * none. */
size_t symbols_build_id(struct symbols *symbols, const char *module, uint8_t *bytes, size_t most);

struct symbol_code {
	/* never NULL: demangled, or "libc.so.6+0x2714a" where its code begins, "malloc@plt" of an entry of the
	 * linkage table; "[anonymous]" for memory of no file */
	const char *function;
	const char *linked_name; /* as in the symbol table; NULL: it has no symbol */
	/* offset of the function's first byte in the file; that of the place when not even that is known */
	uint64_t begins;
	const char *file; /* source file, NULL: not known */
	unsigned line;    /* 0: the compiler's own, or not known */
};

/* Never NULL but when memory ran out (err is set then). */
const struct symbol_code *symbols_code(struct symbols *symbols, const char *module, uint64_t offset,
				       struct error *err);

/* One level of inlining at a place: `function` is the source's function, file and line where in it the place
 * is. */
struct symbol_frame {
	const char *function;
	const char *file;
	unsigned line;
};

/* Lines and inlined functions of the module are not looked for: its functions are known by name alone. To be said
 * before the first question about a place of it. */
void symbols_leave_out_lines(struct symbols *symbols, const char *module);

/* The functions that the place is in, by the source: the innermost first, the last one not inlined. At most `most`
 * are stored; how many there are is returned: 0 without DWARF. */
size_t symbols_inlined(struct symbols *symbols, const char *module, uint64_t offset, struct symbol_frame *frames,
		       size_t most);

/* The directory in which the compiler was called for the place: relative names of its files begin there, unless
 * they begin with it. NULL: not known. */
const char *symbols_directory(struct symbols *symbols, const char *module, uint64_t offset);

/* Code of one function, as offsets in the file: [low, high), which begins at `begins`. */
struct symbol_function {
	uint64_t begins, low, high;
};

/* All of a module, in ascending order, none overlapping: symbols_code() says the same of each place. *out is freed
 * with free(). A module without a file has none. False when memory ran out. */
bool symbols_functions(struct symbols *symbols, const char *module, struct symbol_function **out, size_t *n,
		       struct error *err);

/* ---- code of no file ---- */

struct jit_names;

/* What a JIT compiler wrote of the code that the process made (jit.h), all of it; read once. They live until
 * symbols_free(). NULL when memory ran out. */
struct jit_names *symbols_jit(struct symbols *symbols, uint32_t pid, struct error *err);

/* ---- data ---- */

struct symbol_data {
	/* a variable (demangled), or "[prog .bss]": the section, where no symbol covers it */
	const char *name;
	const char *linked_name; /* NULL: no symbol */
	uint64_t address, bytes; /* of the variable, or of the section; as linked */
};

/* NULL: the address is in no section of the module that has memory. */
const struct symbol_data *symbols_data(struct symbols *symbols, const char *module, uint64_t address);

/* A thread-local variable by its place in the module's block (its template, PT_TLS). Where no symbol covers it the
 * section: "[prog .tbss]"; NULL: the block has no such byte. */
const struct symbol_data *symbols_thread_data(struct symbols *symbols, const char *module, uint64_t place);

/* The module's variables, ascending by address, none overlapping (of several names for one, the one that
 * symbols_data() gives; a variable inside another is the outer one's). *count may be 0. They live until
 * symbols_free(). */
const struct symbol_data *symbols_variables(struct symbols *symbols, const char *module, size_t *count);

/* The linker's address of a byte of the file. Its address in memory less this one is what the loader added.
 * A page of the file can be in two segments: this takes the one that is as writable as the mapping. False: no
 * loaded segment has the byte. */
bool symbols_mapping(struct symbols *symbols, const char *module, uint64_t offset, bool writable,
		     uint64_t *address);

/* The address as linked of a function by its linked name, and its size (0: not said); false: it is not there. With
 * versions (memcpy@GLIBC_2.14), any. */
bool symbols_function(struct symbols *symbols, const char *module, const char *linked_name, uint64_t *address,
		      uint64_t *bytes);

/* ---- names alone ---- */

/* A C++ (Itanium ABI) or Rust name as its source has it; NULL when it is none. The caller frees it with free(). */
char *symbol_demangle(const char *linked_name);

#endif
