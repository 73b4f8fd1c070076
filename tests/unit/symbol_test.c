/* Names of places. The test builds small programs; each says itself where its functions, lines and variables are (offsets in its file
 * from its own program headers), which is the truth that the names are compared with. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/ranges.h"
#include "symbol/symbol.h"
#include "tap.h"

static char folder[] = "/tmp/tare-symbol-XXXXXX";

__attribute__((format(printf, 1, 2))) static bool shell(const char *format, ...)
{
	char command[4096];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof command, format, args);
	va_end(args);
	return system(command) == 0;
}

/* A tool that is not here is a reason to skip; one that is here and fails is a defect of the test. */
static bool missing(const char *tool, const char *fact)
{
	if (shell("command -v %s >/dev/null", tool))
		return false;
	skip(tool, fact);
	return true;
}

static const char *in_folder(const char *name)
{
	static char path[8][256];
	static unsigned next;
	char *p = path[next++ % 8];
	snprintf(p, sizeof path[0], "%s/%s", folder, name);
	return p;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		exit(2);
}

/* Prints "name offset-in-file address-as-linked extra" a line. */
static const char truth_h[] = "#include <elf.h>\n#include <stdio.h>\n#include <stdint.h>\n#include <sys/auxv.h>\n"
			      "extern const Elf64_Ehdr __ehdr_start;\n"
			      "static void truth(const char *name, const volatile void *at, unsigned extra) {\n"
			      "	const Elf64_Phdr *p = (const Elf64_Phdr *)getauxval(AT_PHDR);\n"
			      "	uint64_t bias = __ehdr_start.e_type == ET_DYN ? (uint64_t)&__ehdr_start : 0, "
			      "address = (uint64_t)at - bias, offset = -1;\n"
			      "	for (unsigned i = 0; i < getauxval(AT_PHNUM); i++)\n"
			      "		if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr && address - "
			      "p[i].p_vaddr < p[i].p_filesz)\n"
			      "			offset = address - p[i].p_vaddr + p[i].p_offset;\n"
			      "	printf(\"%s %#llx %#llx %u\\n\", name, (unsigned long long)offset, (unsigned long "
			      "long)address, extra);\n"
			      "}\n";

static const char inner_h[] = "extern char here[];\n"
			      "static inline __attribute__((always_inline)) int innermost(int x) {\n"
			      "	__asm__ volatile(\".globl here\\nhere: nop\");\n" /* line 3 of inner.h */
			      "	return x + 1;\n"
			      "}\n";

static const char program_c[] =
	"#include \"truth.h\"\n"
	"#include \"inner.h\"\n"
	"int table[100], other = 7;\n"
	"static long counted[8];\n"
	"static inline __attribute__((always_inline)) int middle(int x) {\n"
	"	return innermost(x) * 2;\n" /* 6 */
	"}\n"
	"__attribute__((noinline, noclone)) int outer(int x) {\n"
	"	x = middle(x);\n" /* 9 */
	"	table[x & 63]++; counted[x & 7]++;\n"
	"	return x;\n"
	"}\n"
	"__attribute__((noinline, noclone)) int neighbour(int x) { static int calls[3]; truth(\"calls\", calls, "
	"0); return calls[x & 1]++; }\n"
	"int main(int argc, char **argv) {\n"
	"	truth(\"outer\", outer, 0); truth(\"neighbour\", neighbour, 0); truth(\"main\", main, 0); "
	"truth(\"here\", here, 3);\n"
	"	truth(\"table\", table, 0); truth(\"other\", &other, 0); truth(\"counted\", counted, 0);\n"
	"	return outer(argc) + neighbour(argc) == -1;\n"
	"}\n";

static struct truth {
	char name[32];
	uint64_t offset, address;
	unsigned extra;
} truths[32];
static size_t n_truths;

static bool run_program(const char *name)
{
	char line[256];
	n_truths = 0;
	FILE *out = popen(in_folder(name), "r");
	while (out && n_truths < 32 && fgets(line, sizeof line, out)) {
		struct truth *t = &truths[n_truths];
		if (sscanf(line, "%31s %" SCNx64 " %" SCNx64 " %u", t->name, &t->offset, &t->address, &t->extra) ==
		    4)
			n_truths++;
	}
	return out && pclose(out) == 0 && n_truths > 0;
}

static const struct truth *truth(const char *name)
{
	for (size_t i = 0; i < n_truths; i++)
		if (strcmp(truths[i].name, name) == 0)
			return &truths[i];
	printf("Bail out! the program said nothing about '%s'\n", name);
	exit(2);
}

static struct symbols *fresh(void)
{
	struct symbols *symbols;
	if (!symbols_new(NULL, &symbols, NULL))
		exit(2);
	return symbols;
}

static const struct symbol_code *code(struct symbols *s, const char *program, uint64_t offset)
{
	static const struct symbol_code nothing = {.function = "(out of memory)"};
	const struct symbol_code *c = symbols_code(s, program, offset, NULL);
	return c ? c : &nothing;
}

static bool ends_with(const char *text, const char *end)
{
	return text && strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* What every unstripped build of the program has. */
static void named_program(const char *program, const char *how)
{
	struct symbols *s = fresh();
	const char *path = in_folder(program);
	const struct truth *outer = truth("outer"), *here = truth("here");
	const struct symbol_code *c = code(s, path, outer->offset);
	ok(strcmp(c->function, "outer") == 0 && c->begins == outer->offset,
	   "%s: a function is named at its first byte", how);
	c = code(s, path, truth("neighbour")->offset + 1);
	ok(strcmp(c->function, "neighbour") == 0 && c->begins == truth("neighbour")->offset,
	   "%s: and behind it, with where it begins", how);
	ok(code(s, path, outer->offset) == code(s, path, outer->offset),
	   "%s: the same question has the same answer", how);
	c = code(s, path, here->offset);
	ok(strcmp(c->function, "outer") == 0 && ends_with(c->file, "inner.h") && c->line == here->extra,
	   "%s: inlined code is of the function that it is in, at the line that it was written on (%s %s:%u)", how,
	   c->function, c->file ? c->file : "?", c->line);

	struct symbol_frame f[8] = {0};
	size_t n = symbols_inlined(s, path, here->offset, f, 8);
	ok(n == 3 && !strcmp(f[0].function, "innermost") && !strcmp(f[1].function, "middle") &&
		   !strcmp(f[2].function, "outer"),
	   "%s: inlined functions are listed from the innermost to the function itself", how);
	ok(n == 3 && f[0].line == 3 && ends_with(f[0].file, "inner.h") && f[1].line == 6 && f[2].line == 9 &&
		   ends_with(f[2].file, "program.c"),
	   "%s: each at its own line", how);
	ok(symbols_inlined(s, path, here->offset, f, 0) == 3, "%s: with no room they are counted", how);
	struct symbols *without = fresh();
	symbols_leave_out_lines(without, path);
	c = code(without, path, here->offset);
	ok(strcmp(c->function, "outer") == 0 && c->begins == outer->offset &&
		   strcmp(c->linked_name, "outer") == 0 && !c->file && !c->line &&
		   symbols_inlined(without, path, here->offset, f, 8) == 0,
	   "%s: where lines are left out, functions have their names and no more", how);
	symbols_free(without);

	const struct symbol_data *d = symbols_data(s, path, truth("table")->address + 399);
	ok(d && !strcmp(d->name, "table") && d->address == truth("table")->address && d->bytes == 400,
	   "%s: an array is named up to its last byte", how);
	d = symbols_data(s, path, truth("table")->address + 400);
	ok(!d || strcmp(d->name, "table") != 0, "%s: and not behind it", how);
	d = symbols_data(s, path, truth("counted")->address + 8);
	ok(d && !strcmp(d->name, "counted") && d->bytes == 64, "%s: a static array in zeroed memory is named",
	   how);
	d = symbols_data(s, path, truth("calls")->address);
	ok(d && strstr(d->name, "calls") && strcmp(d->name, "calls") != 0,
	   "%s: a function's static variable is named as it is linked", how);
	d = symbols_data(s, path, truth("other")->address);
	ok(d && !strcmp(d->name, "other") && d->bytes == 4, "%s: a variable in the file is named", how);

	uint64_t address, bytes;
	ok(symbols_mapping(s, path, outer->offset, false, &address) && address == outer->address,
	   "%s: an offset has its address as linked", how);
	ok(symbols_function(s, path, "outer", &address, &bytes) && address == outer->address && bytes > 0,
	   "%s: a function is found by name", how);
	ok(!symbols_function(s, path, "oute", &address, &bytes), "%s: by its whole name", how);
	size_t count;
	const struct symbol_data *all = symbols_variables(s, path, &count);
	bool ascending = count > 3;
	for (size_t i = 1; i < count; i++)
		ascending &= all[i - 1].address + all[i - 1].bytes <= all[i].address;
	ok(ascending, "%s: variables are listed in order and do not overlap", how);
	ok(!symbols_trouble(s, path), "%s: nothing is wrong with it", how);
	symbols_free(s);
}

static void stripped_program(void)
{
	struct symbols *s = fresh();
	const char *path = in_folder("stripped");
	char expected[64];
	const struct truth *outer = truth("outer"), *neighbour = truth("neighbour");
	snprintf(expected, sizeof expected, "stripped+0x%llx", (unsigned long long)outer->offset);
	equal_text(code(s, path, outer->offset)->function, expected,
		   "stripped: a function is the module and where it begins in the file");
	equal_text(code(s, path, truth("here")->offset)->function, expected,
		   "stripped: all of it is one function, by the unwind table");
	ok(strcmp(code(s, path, neighbour->offset + 1)->function, expected) != 0 &&
		   code(s, path, neighbour->offset + 1)->begins == neighbour->offset,
	   "stripped: the next one is another");
	const struct symbol_code *first = code(s, path, outer->offset);
	ok(code(s, path, neighbour->offset) != first && code(s, path, truth("here")->offset) == first,
	   "stripped: places of one function have one answer, whatever was asked between");
	ok(!code(s, path, outer->offset)->file && !code(s, path, outer->offset)->linked_name,
	   "stripped: it has no line and no symbol");
	const struct symbol_data *d = symbols_data(s, path, truth("table")->address);
	ok(d && !strcmp(d->name, "[stripped .bss]") && !d->linked_name, "stripped: data is its section's");
	ok(!symbols_data(s, path, 0x7fffffffffff), "data outside of every section is nothing");
	ok(symbols_trouble(s, path) && strstr(symbols_trouble(s, path), "stripped"), "stripped: it says so");
	symbols_free(s);
}

static void debug_files(void)
{
	struct symbols *s;
	const char *path = in_folder("linked");
	if (missing("objcopy", "a debug file beside the program is found"))
		return;
	ok(shell("cd %s && objcopy --only-keep-debug pie linked.debug && objcopy --strip-all "
		 "--add-gnu-debuglink=linked.debug pie linked",
		 folder),
	   "a program with a debug file is made");
	s = fresh();
	ok(!strcmp(code(s, path, truth("outer")->offset)->function, "outer") &&
		   code(s, path, truth("here")->offset)->line == 3 && !symbols_trouble(s, path),
	   "names and lines come from the debug file beside the program");
	const struct symbol_data *d = symbols_data(s, path, truth("counted")->address);
	ok(d && !strcmp(d->name, "counted"), "so do variables");
	symbols_free(s);
	shell("cd %s && printf x >>linked.debug", folder);
	s = fresh();
	ok(!code(s, path, truth("outer")->offset)->linked_name, "a debug file with another checksum is not taken");
	symbols_free(s);

	/* by build ID, in a folder of our own */
	ok(shell("cd %s && gcc -O2 -g -Wl,--build-id=0xabcdef0123456789 program.c -o identified && mkdir -p "
		 "debug/.build-id/ab && "
		 "objcopy --only-keep-debug identified debug/.build-id/ab/cdef0123456789.debug && strip "
		 "identified",
		 folder) &&
		   run_program("identified"),
	   "a program with a build ID is made");
	struct symbols_options options = {.size = sizeof options, .debug_directory = in_folder("debug")};
	path = in_folder("identified");
	ok(symbols_new(&options, &s, NULL) && !strcmp(code(s, path, truth("outer")->offset)->function, "outer"),
	   "a debug file is found by build ID");
	uint8_t id[20] = {0};
	ok(symbols_build_id(s, path, id, 4) == 8 && id[0] == 0xab && id[3] == 0x01 && id[4] == 0,
	   "the build ID is said, as much of it as there is room for");
	symbols_free(s);
	shell("cd %s && objcopy --only-keep-debug pie debug/.build-id/ab/cdef0123456789.debug", folder);
	ok(symbols_new(&options, &s, NULL) && !code(s, path, truth("outer")->offset)->linked_name,
	   "one of another build ID in its place is not taken");
	symbols_free(s);
}

static void strange_names(void)
{
	static const char source[] =
		".text\n.globl _start, plain, __libc_plain\n.type plain, @function\n.type __libc_plain, "
		"@function\n"
		"_start: nop\nplain:\n__libc_plain: nop\nnop\n.size plain, 2\n.size __libc_plain, 2\n"
		"nop\n" /* of no symbol */
		".type \"we\377ird\", @function\n\"we\377ird\": nop\n.size \"we\377ird\", 1\n"
		"label: nop\nnop\n";
	write_text("strange.s", source);
	if (missing("gcc", "names are bytes"))
		return;
	ok(shell("cd %s && gcc -nostdlib -static -Wl,--build-id=none strange.s -o strange", folder),
	   "a program of strange names is made");
	struct symbols *s = fresh();
	const char *path = in_folder("strange");
	uint64_t address, bytes, start;
	ok(symbols_function(s, path, "_start", &start, &bytes), "a label of assembly code is found");
	uint8_t id[20];
	ok(symbols_build_id(s, path, id, 20) == 0 && symbols_build_id(s, "/no/such/file", id, 20) == 0,
	   "a file without a build ID, or no file, has none");
	ok(symbols_mapping(s, path, 0x1000, false, &address) && address == start,
	   "the code begins at 0x1000 of the file");
	equal_text(code(s, path, 0x1000)->function, "_start", "a label names what follows it");
	equal_text(code(s, path, 0x1001)->function, "plain", "of several names the plain one is shown");
	equal_text(code(s, path, 0x1003)->function, "strange+0x1003",
		   "a byte behind a function's end is not the function's");
	equal_text(code(s, path, 0x1004)->function, "we\377ird", "names are bytes");
	equal_text(code(s, path, 0x1006)->function, "label",
		   "a label without a size goes on to the section's end");
	equal_text(code(s, path, 0x1007)->function, "strange+0x1007", "and no further");
	ok(symbols_inlined(s, path, 0x1000, NULL, 0) == 0, "without DWARF nothing is inlined");
	symbols_free(s);
}

static void cplusplus(void)
{
	static const char *const names[][2] = {
		{"_ZN5space3Foo3barEi", "space::Foo::bar(int)"},
		{"_Znwm", "operator new(unsigned long)"},
		{"_Z1fv.part.0", "f() [clone .part.0]"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *name = symbol_demangle(names[i][0]);
		equal_text(name, names[i][1], names[i][0]);
		free(name);
	}
	static const char *const none[] = {"main", "", "_", "_Z", "_Zgarbage!", "__libc_malloc", "_start", "i"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		char *name = symbol_demangle(none[i]);
		ok(!name, "'%s' is no mangled name", none[i]);
		free(name);
	}
	write_text("class.cc", "#include \"truth.h\"\nnamespace space { struct Foo { __attribute__((noinline)) "
			       "int bar(int x); }; static int\n"
			       "hidden[4]; int Foo::bar(int x) { hidden[x & 3]++; return x; } }\n"
			       "int main(int argc, char **) { int (space::Foo::*p)(int) = &space::Foo::bar;\n"
			       "truth(\"bar\", *(void **)&p, 0); truth(\"hidden\", space::hidden, 0); return "
			       "space::Foo().bar(argc) == -1; }\n");
	if (missing("g++", "C++ functions are shown demangled"))
		return;
	ok(shell("cd %s && g++ -g -O1 class.cc -o class", folder) && run_program("class"),
	   "a program in C++ is made");
	struct symbols *s = fresh();
	const struct symbol_code *c = code(s, in_folder("class"), truth("bar")->offset);
	equal_text(c->function, "space::Foo::bar(int)", "C++ functions are shown demangled");
	equal_text(c->linked_name, "_ZN5space3Foo3barEi", "with the linked name beside it");
	const struct symbol_data *d = symbols_data(s, in_folder("class"), truth("hidden")->address + 4);
	equal_text(d ? d->name : NULL, "space::hidden", "so are variables");
	symbols_free(s);
	struct symbols_options raw = {.size = sizeof raw, .raw_names = true};
	ok(symbols_new(&raw, &s, NULL) &&
		   !strcmp(code(s, in_folder("class"), truth("bar")->offset)->function, "_ZN5space3Foo3barEi"),
	   "or as linked, if asked for");
	symbols_free(s);
}

/* objdump names the entries of the linkage table by the same relocations, on its own. */
static void linkage_table(void)
{
	// clang-format off: a table, a row a line
	static const struct {
		const char *name, *options, *how;
	} builds[] = {
		{"lazy", "-fPIE -pie -Wl,-z,lazy", "bound when called"},
		{"now", "-fPIE -pie -Wl,-z,now", "bound at the start"},
		{"marked", "-fPIE -pie -fcf-protection -Wl,-z,ibtplt -Wl,-z,now",
		 "with a second table for marked branches"},
		{"early", "-fno-pie -no-pie", "at a fixed address"},
	};
	// clang-format on
	write_text("linkage.cc", "#include <cstdio>\n#include <cstdlib>\n#include <new>\n"
				 "int main(int argc, char **) { int (*p)(const char *) = puts; volatile char *c = "
				 "new char[argc]; c[0] = 1;\n"
				 "srand(argc); return printf(\"%d\\n\", rand()) + p(\"\") == 0; }\n");
	if (missing("g++", "entries of the linkage table are named") ||
	    missing("objdump", "entries of the linkage table are named"))
		return;
	for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
		char name[128], expected[160], line[256];
		unsigned long long address;
		uint64_t begins = 0;
		unsigned entries = 0, wrong = 0;
		bool demangled = false;
		struct symbols *s = fresh();
		shell("cd %s && g++ -O1 %s linkage.cc -o %s && objdump -dC --no-show-raw-insn %s >%s.objdump",
		      folder, builds[i].options, builds[i].name, builds[i].name, builds[i].name);
		char listing[64];
		snprintf(listing, sizeof listing, "%s.objdump", builds[i].name);
		FILE *file = fopen(in_folder(listing), "r");
		const char *path = in_folder(builds[i].name);
		while (file && fgets(line, sizeof line, file)) {
			/* .plt of a marked table only binds: the calls are of .plt.sec */
			if (sscanf(line, "%llx <%127[^>]>:", &address, name) != 2 || strlen(name) < 4 ||
			    strcmp(name + strlen(name) - 4, "@plt") != 0)
				continue;
			uint64_t offset = address - (i == 3 ? 0x400000 : 0); /* code is where it is in the file */
			snprintf(expected, sizeof expected, "%s", name);
			begins = code(s, path, offset)->begins;
			entries++;
			demangled |= strstr(code(s, path, offset)->function,
					    "operator new[](unsigned long)@plt") != NULL;
			bool same = strcmp(code(s, path, offset + 6)->function, expected) == 0 && begins == offset;
			wrong += !same;
			if (!same)
				printf("# %s at %llx: %s\n", expected, address,
				       code(s, path, offset + 6)->function);
		}
		if (file)
			fclose(file);
		ok(entries >= 4 && !wrong,
		   "%s: every entry of the linkage table is named as objdump names it (%u)", builds[i].how,
		   entries);
		ok(demangled, "%s: demangled", builds[i].how);
		symbols_free(s);
	}
}

static void thread_local_variables(void)
{
	write_text("thread.c",
		   "#include \"truth.h\"\n"
		   "static __thread volatile char odd[9] = {1}; __thread volatile long initial = 5;\n"
		   "static __thread volatile int zeros[100] __attribute__((aligned(64)));\n"
		   "static char *block(void) { const Elf64_Phdr *p = (const Elf64_Phdr *)getauxval(AT_PHDR); char "
		   "*fs; __asm__(\"mov %%fs:0, %0\" : \"=r\"(fs));\n"
		   "	while (p->p_type != PT_TLS) p++;\n"
		   "	return fs - (p->p_memsz + p->p_align - 1) / p->p_align * p->p_align; }\n"
		   "#define PLACE(v) printf(#v \" 0 %lx 0\\n\", (unsigned long)((char *)&v - block()))\n"
		   "int main(void) { PLACE(odd); PLACE(initial); PLACE(zeros); return 0; }\n");
#ifndef __x86_64__
	skip("the thread pointer is read as on x86-64",
	     "thread-local variables are named by their place in the block");
	return;
#endif
	if (missing("gcc", "thread-local variables are named by their place in the block"))
		return;
	ok(shell("cd %s && gcc -g -O1 thread.c -o thread", folder) && run_program("thread"),
	   "a program with thread-local variables is made");
	// clang-format off: a table, a row a line
	static const struct {
		const char *name;
		uint64_t bytes;
	} variables[] = {{"odd", 9}, {"initial", 8}, {"zeros", 400}};
	// clang-format on
	struct symbols *s = fresh();
	const char *path = in_folder("thread");
	for (size_t i = 0; i < 3; i++) {
		uint64_t place = truth(variables[i].name)->address;
		const struct symbol_data *first = symbols_thread_data(s, path, place),
					 *last = symbols_thread_data(s, path, place + variables[i].bytes - 1);
		ok(first && first == last && !strcmp(first->name, variables[i].name) && first->address == place &&
			   first->bytes == variables[i].bytes,
		   "'%s' is named by its place in the block", variables[i].name);
	}
	const struct symbol_data *behind = symbols_thread_data(s, path, truth("odd")->address + 9);
	ok(!behind || !behind->linked_name, "a byte behind a thread-local variable is not the variable's");
	ok(!symbols_thread_data(s, path, 1 << 20), "a place outside of the block is nothing");
	ok(!symbols_data(s, path, truth("zeros")->address) ||
		   !symbols_data(s, path, truth("zeros")->address)->linked_name,
	   "places in the block are no addresses of variables");
	shell("cd %s && cp thread whole && strip thread", folder);
	struct symbols *stripped = fresh();
	const struct symbol_data *d = symbols_thread_data(stripped, path, truth("initial")->address);
	equal_text(d ? d->name : NULL, "[thread .tdata]", "stripped: a thread-local variable is its section's");
	d = symbols_thread_data(stripped, path, truth("zeros")->address);
	equal_text(d ? d->name : NULL, "[thread .tbss]", "stripped: zeroed ones, too");
	symbols_free(stripped);
	symbols_free(s);
}

static void no_files(void)
{
	struct symbols *s = fresh();
	struct symbol_frame f;
	uint64_t address, bytes;
	size_t n;
	equal_text(code(s, "", 0x7f0000001234)->function, "[anonymous]", "memory of no file is anonymous");
	ok(code(s, "", 1)->begins == 0 && !symbols_trouble(s, ""), "all of it is one place, with nothing wrong");
	equal_text(code(s, "[heap]", 0x10)->function, "[heap]+0x10", "a mapping that is no file keeps its name");
	equal_text(code(s, "/nonexistent/prog", 0x10)->function, "prog+0x10",
		   "of a missing file the place remains");
	ok(symbols_trouble(s, "/nonexistent/prog") &&
		   strstr(symbols_trouble(s, "/nonexistent/prog"), "o such file"),
	   "with the reason");
	ok(strstr(symbols_trouble(s, "/tmp/gone (deleted)"), "deleted"), "a deleted file is said to be deleted");
	ok(strstr(symbols_trouble(s, folder), "not a regular file"), "a folder is refused");
	mkfifo(in_folder("fifo"), 0600);
	ok(strstr(symbols_trouble(s, in_folder("fifo")), "not a regular file"),
	   "a FIFO is refused, and does not block");
	write_text("empty", "");
	write_text("script", "#!/bin/sh\n");
	ok(strstr(symbols_trouble(s, in_folder("empty")), "not a valid ELF file"), "an empty file is refused");
	ok(strstr(symbols_trouble(s, in_folder("script")), "not a valid ELF file"), "a script is refused");
	ok(!symbols_data(s, in_folder("script"), 0) && symbols_inlined(s, in_folder("script"), 0, &f, 1) == 0 &&
		   !symbols_mapping(s, in_folder("script"), 0, false, &address) &&
		   !symbols_function(s, in_folder("script"), "main", &address, &bytes) &&
		   symbols_variables(s, in_folder("script"), &n) != NULL && n == 0,
	   "and answers every question with nothing");
	if (symbols_function(s, "[vdso]", "__vdso_clock_gettime", &address, &bytes)) {
		const struct symbol_code *c = code(s, "[vdso]", address);
		ok(strcmp(c->function, "clock_gettime") == 0 && c->begins == address,
		   "the vdso's functions have their names");
	} else {
		skip("this kernel's vdso names no such function", "the vdso's functions have their names");
	}
	symbols_free(s);
}

static uint64_t state = 1;

static uint64_t draw(void)
{
	state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
	return state * 0x2545f4914f6cdd1du;
}

/* Every question, of a file that may say anything. What is answered does not matter; that it is does. */
static bool survives(const char *path)
{
	struct symbols *s = fresh();
	struct symbol_frame f[4];
	uint64_t address, bytes;
	size_t n;
	bool answered = true;
	for (uint64_t offset = 0; offset < 0x5000; offset += 0x35) {
		const struct symbol_code *c = symbols_code(s, path, offset, NULL);
		answered &= c && c->function;
		symbols_inlined(s, path, offset, f, 4);
		symbols_data(s, path, offset);
		symbols_thread_data(s, path, offset - 0x100);
	}
	symbols_variables(s, path, &n);
	symbols_function(s, path, "outer", &address, &bytes);
	symbols_free(s);
	return answered;
}

static void broken_files(const char *program)
{
	static unsigned char whole[1 << 20], broken[1 << 20];
	FILE *file = fopen(in_folder(program), "r");
	size_t bytes = file ? fread(whole, 1, sizeof whole, file) : 0;
	bool answered = bytes > 0;
	if (file)
		fclose(file);
	for (int i = 0; i < 150 && bytes; i++) {
		size_t length = i % 3 == 0 ? draw() % bytes : bytes;
		memcpy(broken, whole, bytes);
		for (int flips = i % 3 == 1 ? 200 : i % 3 == 2 ? 20 : 0; flips; flips--)
			broken[i % 2 ? draw() % bytes : draw() % 256] = (unsigned char)draw();
		file = fopen(in_folder("broken"), "w");
		if (!file || fwrite(broken, 1, length, file) != length || fclose(file) != 0)
			exit(2);
		answered &= survives(in_folder("broken"));
	}
	ok(answered, "%s: files cut anywhere and files of damaged bytes answer every question, and crash nothing",
	   program);
}

/* The flat pieces against the definition, byte by byte. */
static void pieces(void)
{
	bool right = true;
	for (int round = 0; round < 300 && right; round++) {
		struct ranges r = {0};
		struct range all[24];
		size_t n = draw() % 24;
		for (size_t i = 0; i < n; i++) {
			uint64_t low = draw() % 50;
			all[i] = (struct range){.low = low,
						.high = low + draw() % 20,
						.item = (uint32_t)i,
						.rank = (uint32_t)(draw() % 3)};
			if (!vec_push(&r.all, all[i]))
				exit(2);
		}
		right = ranges_flatten(&r);
		for (uint64_t at = 0; at < 75; at++) {
			const struct range *best = NULL, *found = ranges_find(&r, at);
			for (size_t i = 0; i < n; i++) {
				const struct range *c = &all[i];
				if (at < c->low || at >= c->high)
					continue;
				if (!best || c->low > best->low ||
				    (c->low == best->low && (c->high < best->high ||
							     (c->high == best->high &&
							      (c->rank > best->rank ||
							       (c->rank == best->rank && c->item > best->item))))))
					best = c;
			}
			right &= (best == NULL) == (found == NULL) && (!best || best->item == found->item);
		}
		ranges_free(&r);
	}
	ok(right, "of ranges in any arrangement each byte is the one's that began last");
}

int main(void)
{
	// clang-format off: a table, a row a line
	static const struct {
		const char *name, *tool, *options, *how;
	} builds[] = {
		{"pie", "gcc", "-g -O2 -fPIE -pie", "position-independent"},
		{"fixed", "gcc", "-g -O2 -fno-pie -no-pie", "at a fixed address"},
		{"static", "gcc", "-g -O2 -static", "static"},
		{"slow", "gcc", "-g -O0", "unoptimised"},
		{"dwarf4", "gcc", "-gdwarf-4 -O2", "DWARF 4"},
		{"compressed", "gcc", "-g -gz -O2", "compressed DWARF"},
		{"split", "gcc", "-g -gsplit-dwarf -O2", "split DWARF"},
		{"clang", "clang", "-w -g -O2", "clang"},
	};
	// clang-format on
	if (!mkdtemp(folder))
		return 2;
	write_text("truth.h", truth_h);
	write_text("inner.h", inner_h);
	write_text("program.c", program_c);
	for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
		if (missing(builds[i].tool, builds[i].how))
			continue;
		if (ok(shell("cd %s && %s %s program.c -o %s", folder, builds[i].tool, builds[i].options,
			     builds[i].name) &&
			       run_program(builds[i].name),
		       "%s: the program is made", builds[i].how))
			named_program(builds[i].name, builds[i].how);
	}
	if (!missing("gcc", "stripped programs") && !missing("strip", "stripped programs")) {
		ok(shell("cd %s && strip -o stripped pie", folder) && run_program("pie"),
		   "a stripped program is made");
		stripped_program();
		debug_files();
		broken_files("pie");
	}
	strange_names();
	cplusplus();
	linkage_table();
	thread_local_variables();
	if (access(in_folder("whole"), R_OK) == 0)
		broken_files("whole");
	no_files();
	pieces();
	shell("rm -rf %s", folder);
	return done();
}
