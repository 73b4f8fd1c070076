/*
 * Inlined code of C++ templates: the caller's own line is found behind the library's headers, and each chain is as binutils' addr2line
 * has it, which reads the same DWARF by its own code. And names that are long, or grow.
 */
#include <stdlib.h>
#include <unistd.h>

#include "symbol/symbol.h"
#include "tap.h"

enum { FRAMES = 64, TEXT = 1 << 16 };

static char folder[] = "/tmp/tare-inlined-XXXXXX";

static const char program_cc[] =
	"#include <algorithm>\n#include <map>\n#include <memory>\n#include <numeric>\n#include <string>\n#include "
	"<vector>\n" /* 1 … 6 */
	"struct row { int key; double value; };\n"
	"__attribute__((noinline)) double work(const std::vector<row> &rows, int limit) {\n" /* 8 */
	"	double sum = std::accumulate(rows.begin(), rows.end(), 0.0,\n"               /* 9 */
	"		[limit](double so_far, const row &r) { return r.key < limit ? so_far + r.value : so_far; "
	"});\n"                                                                           /* 10 */
	"	auto largest = std::max_element(rows.begin(), rows.end(),\n"              /* 11 */
	"		[](const row &a, const row &b) { return a.value < b.value; });\n" /* 12 */
	"	return sum + largest->value;\n"                                           /* 13 */
	"}\n"
	"__attribute__((noinline)) std::size_t fill(std::vector<row> &rows, int n) {\n" /* 15 */
	"	std::map<int, std::string> names;\n"
	"	for (int i = 0; i < n; i++) {\n"
	"		rows.push_back({i, i * 0.5});\n" /* 18 */
	"		names[i % 3] += 'x';\n"          /* 19 */
	"	}\n"
	"	return std::make_unique<row>(rows.back())->key + names.size();\n" /* 21 */
	"}\n"
	"int main(int argc, char **) { std::vector<row> rows; std::size_t n = fill(rows, argc + 5); return "
	"work(rows, 3) + n == 1; }\n";

__attribute__((format(printf, 1, 2))) static FILE *open_command(const char *format, ...)
{
	char command[2048];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof command, format, args);
	va_end(args);
	return popen(command, "r");
}

__attribute__((format(printf, 1, 2))) static bool shell(const char *format, ...)
{
	char command[2048];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof command, format, args);
	va_end(args);
	return system(command) == 0;
}

static const char *in_folder(const char *name)
{
	static char path[4][256];
	static unsigned next;
	char *p = path[next++ % 4];
	snprintf(p, sizeof path[0], "%s/%s", folder, name);
	return p;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		exit(2);
}

static bool ends_with(const char *text, const char *end)
{
	return text && strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* "file:line" a frame, as addr2line prints them: without a folder, ? where it is not known. */
static void append_place(char *text, const char *file, unsigned line)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	size_t at = strlen(text);
	if (at + 300 < TEXT)
		snprintf(text + at, TEXT - at, " %.200s:%u", slash ? slash + 1 : file ? file : "??", line);
}

/* The next address of addr2line -a -i: its frames' places. */
static bool next_chain(FILE *in, char *text)
{
	static char line[4096];
	static bool begun;
	text[0] = '\0';
	if (!begun && !fgets(line, sizeof line, in)) /* "0x…" */
		return false;
	begun = false;
	while (fgets(line, sizeof line, in)) {
		if (strncmp(line, "0x", 2) == 0)
			return begun = true;
		char *colon = strrchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		append_place(text, line, (unsigned)atoi(colon + 1));
	}
	return text[0] != '\0';
}

/* Each instruction's byte of the function. */
static void as_addr2line(struct symbols *s, const char *program, uint64_t begin, uint64_t bytes, const char *how)
{
	static char mine[TEXT], theirs[TEXT];
	size_t same = 0, other = 0;
	char addresses[256];
	snprintf(addresses, sizeof addresses, "%s", in_folder("addresses"));
	FILE *file = fopen(addresses, "w");
	for (uint64_t at = begin; file && at < begin + bytes; at++)
		fprintf(file, "0x%" PRIx64 "\n", at);
	if (!file || fclose(file) != 0)
		exit(2);
	FILE *in = open_command("addr2line -a -i -e %s <%s", program, addresses);
	for (uint64_t at = begin; in && at < begin + bytes; at++) {
		struct symbol_frame f[FRAMES];
		size_t n = symbols_inlined(s, program, at, f, FRAMES);
		mine[0] = '\0';
		for (size_t i = 0; i < n && i < FRAMES; i++)
			append_place(mine, f[i].file, f[i].line);
		if (!next_chain(in, theirs))
			break;
		if (strcmp(mine, theirs) == 0)
			same++;
		else if (other++ < 3)
			printf("# %#" PRIx64 " is      %s\n# expected      %s\n", at, mine, theirs);
	}
	pclose(in);
	ok(same == bytes && other == 0, "%s: the chain at each byte is addr2line's (%zu of %" PRIu64 ")", how,
	   same, bytes);
}

/* In the function that begins at that line and ends before the other one, whatever header the code is of. */
static void callers_line(struct symbols *s, const char *program, uint64_t begin, uint64_t bytes,
			 const char *function, unsigned from, unsigned to, const char *how)
{
	size_t wrong = 0, of_library = 0, deep = 0;
	for (uint64_t at = begin; at < begin + bytes; at++) {
		struct symbol_frame f[FRAMES];
		size_t n = symbols_inlined(s, program, at, f, FRAMES);
		if (n == 0 || n > FRAMES) {
			wrong++;
			continue;
		}
		const struct symbol_frame *own = &f[n - 1];
		bool in_library = f[0].file && strstr(f[0].file, "/include/c++/");
		of_library += in_library;
		deep += in_library && n >= 4 && strstr(f[1].file, "/include/c++/") &&
			strstr(f[2].file, "/include/c++/");
		wrong += strncmp(own->function, function, strlen(function)) != 0 ||
			 !ends_with(own->file, "program.cc") ||
			 (own->line && (own->line < from || own->line > to));
	}
	equal_u64(wrong, 0, how);
	ok(of_library > 10, "%s: %zu bytes are of the library's headers", function, of_library);
	ok(strncmp(function, "fill", 4) != 0 || deep > 10, "%s: %zu of them three deep in it", function, deep);
}

static void templates(const char *compiler, const char *options)
{
	char program[256], how[160];
	uint64_t begin, bytes;
	struct symbols *s;
	snprintf(how, sizeof how, "%s %s", compiler, options);
	snprintf(program, sizeof program, "%s", in_folder("program"));
	if (!ok(shell("cd %s && %s %s program.cc -o program", folder, compiler, options),
		"%s: a program of templates is built", how) ||
	    !symbols_new(NULL, &s, NULL))
		return;
	if (ok(symbols_function(s, program, "_Z4workRKSt6vectorI3rowSaIS0_EEi", &begin, &bytes) && bytes > 20,
	       "%s: one function is there", how)) {
		callers_line(s, program, begin, bytes, "work(", 8, 14, "its own line is the last of each chain");
		as_addr2line(s, program, begin, bytes, how);
	}
	if (ok(symbols_function(s, program, "_Z4fillRSt6vectorI3rowSaIS0_EEi", &begin, &bytes) && bytes > 20,
	       "%s: so is the other", how)) {
		callers_line(s, program, begin, bytes, "fill(", 15, 22, "its own line is the last of each chain");
		as_addr2line(s, program, begin, bytes, how);
	}
	symbols_free(s);
}

/* f(pair<int, int>, pair<S, S>, …): each argument's type is twice the one before (Itanium C++ ABI, 5.1.10, substitutions). */
static void growing_name(unsigned arguments, char *out)
{
	strcpy(out, "_Z1fSt4pairIiiES_IS0_S0_E");
	for (unsigned i = 1; i < arguments; i++) {
		char digit = i < 10 ? (char)('0' + i) : (char)('A' + i - 10);
		sprintf(out + strlen(out), "S_IS%c_S%c_E", digit, digit);
	}
}

static void names(void)
{
	static char name[20000];
	growing_name(3, name);
	char *shown = symbol_demangle(name);
	ok(shown && strlen(shown) > 200 && strstr(shown, "std::pair<std::pair<std::pair<std::pair<int, int>"),
	   "types that refer to earlier ones are spelt out");
	free(shown);
	growing_name(35, name);
	shown = symbol_demangle(name);
	ok(!shown, "a name of %zu bytes that stands for 2^35 is left as it is", strlen(name));
	free(shown);
	static char source[60000];
	memset(name, 'n', 10000), name[10000] = '\0';
	snprintf(source, sizeof source,
		 ".text\n.globl _start\n.type %s, @function\n_start:\n%s: nop\n.size %s, 1\n", name, name, name);
	write_text("long.s", source);
	struct symbols *s = NULL;
	ok(shell("cd %s && gcc -nostdlib -static -Wl,--build-id=none long.s -o long", folder) &&
		   symbols_new(NULL, &s, NULL),
	   "a symbol of 10000 bytes is linked");
	const struct symbol_code *c = symbols_code(s, in_folder("long"), 0x1000, NULL);
	equal_text(c ? c->function : NULL, name, "its name is whole");
	unlink(in_folder("long"));
	c = symbols_code(s, in_folder("long"), 0x1001, NULL);
	ok(c && !strcmp(c->function, "long+0x1001") && !symbols_trouble(s, in_folder("long")),
	   "a module is read once: it may vanish");
	symbols_free(s);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 2;
	write_text("program.cc", program_cc);
	templates("g++", "-g -O2");
	templates("g++", "-gdwarf-4 -O3");
	templates("g++", "-g -O2 -ffunction-sections -Wl,--gc-sections");
	names();
	shell("rm -rf %s", folder);
	return done();
}
