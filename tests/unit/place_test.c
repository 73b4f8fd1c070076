/* Regions as they are said, and found in small programs that the test builds: the truth are labels in the programs, by nm. */
#include <elf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/flow.h"
#include "symbol/places.h"
#include "tap.h"

static char folder[] = "/tmp/tare-place-XXXXXX";
static struct arena arena;

__attribute__((format(printf, 1, 2))) static bool shell(const char *format, ...)
{
	char command[4096];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof command, format, args);
	va_end(args);
	return system(command) == 0;
}

static const char *in_folder(const char *name)
{
	static char path[8][256];
	static unsigned next;
	char *p = path[next++ % 8];
	snprintf(p, sizeof path[0], "%s/%s", folder, name);
	return p;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
}

/* ---- what is said ---- */

static struct place_spec spec;
static struct error err;

static bool parses(const char *text)
{
	err = (struct error){0};
	return place_parse(text, &arena, &spec, &err);
}

static void said(void)
{
	ok(parses("sort") && spec.kind == PLACE_FUNCTION && strcmp(spec.name, "sort") == 0 &&
		   strcmp(spec.function, "sort") == 0 && !spec.module && !spec.file,
	   "a function alone is its own name");
	ok(parses("hot=ns::sort(int, char)") && strcmp(spec.name, "hot") == 0 &&
		   strcmp(spec.function, "ns::sort(int, char)") == 0,
	   "a C++ function may have its parameters");
	ok(parses("sort.c:swap") && spec.kind == PLACE_FUNCTION && strcmp(spec.file, "sort.c") == 0 &&
		   strcmp(spec.function, "swap") == 0,
	   "a function may have its file");
	ok(parses("x=src/sort.c:10-20") && spec.kind == PLACE_LINES && strcmp(spec.file, "src/sort.c") == 0 &&
		   spec.first == 10 && spec.last == 20,
	   "lines are from first to last");
	ok(parses("x=sort.c:10") && spec.kind == PLACE_LINES && spec.first == 10 && spec.last == 10, "or one");
	ok(parses("x=0x1000-0x1040") && spec.kind == PLACE_ADDRESSES && spec.low == 0x1000 && spec.high == 0x1040,
	   "addresses are two");
	ok(parses("z=libz.so.1:inflate") && strcmp(spec.module, "libz.so.1") == 0 &&
		   strcmp(spec.function, "inflate") == 0,
	   "a library is known by its .so");
	ok(parses("z=libz!inflate") && strcmp(spec.module, "libz") == 0 && strcmp(spec.function, "inflate") == 0,
	   "or by the mark behind it");
	ok(parses("z=libz.so.1!inflate.c:10-12") && strcmp(spec.module, "libz.so.1") == 0 &&
		   spec.kind == PLACE_LINES && strcmp(spec.file, "inflate.c") == 0,
	   "which lines and addresses take, too");
	ok(parses("operator==(A, A)") && strcmp(spec.name, "operator==(A, A)") == 0,
	   "the '=' of an operator's name ends no name");
	ok(parses("eq=operator!=") && strcmp(spec.name, "eq") == 0 && !spec.module &&
		   strcmp(spec.function, "operator!=") == 0,
	   "nor does its '!' end a module");
	static const char *const wrong[] = {"",        "=f",    "x=",    "x=0x10",    "x=0x20-0x10", "x=a.c:9-3",
					    "x=a.c:0", "10-20", "x=:12", "x=lib.so!", "x=a.c:",      "a\nb=f"};
	bool all = true;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (parses(wrong[i]) || err.code != ERROR_USAGE || !err.text[0] || !err.hint[0])
			all = ok(false, "'%s' is no region: %s", wrong[i], err.text);
	ok(all, "what names no place is refused, with what would");
}

/* ---- what is found ---- */

static const char PROGRAM[] =
	"#include <setjmp.h>\n"                                                                   /* 1 */
	"volatile int sink;\n"                                                                    /* 2 */
	"static inline __attribute__((always_inline)) void only(int n) { while (n--) sink++; }\n" /* 3 */
	"__attribute__((noinline)) static int both(int n) { return sink += n; }\n"                /* 4 */
	"__attribute__((noinline)) int called(int n)\n"                                           /* 5 */
	"{\n"                                                                                     /* 6 */
	"	only(n);\n"                                                                       /* 7 */
	"	return both(n);\n"                                                                /* 8 */
	"}\n"                                                                                     /* 9 */
	"/* nothing */\n"                                                                         /* 10 */
	"__attribute__((noinline)) int looped(int n)\n"                                           /* 11 */
	"{\n"                                                                                     /* 12 */
	"	int sum = 0;\n"                                                                   /* 13 */
	"	for (int i = 0; i < n; i++) {\n"                                                  /* 14 */
	"		sink = i;\n"                                                              /* 15 */
	"		sum += called(i);\n"                                                      /* 16 */
	"	}\n"                                                                              /* 17 */
	"	return sum;\n"                                                                    /* 18 */
	"}\n"                                                                                     /* 19 */
	"int main(void) { only(3); return looped(4) == 99; }\n";

static const char OTHER[] =
	"extern volatile int sink;\n__attribute__((noinline)) static int both(int n) { return sink -= n; }\n"
	"__attribute__((noinline)) int other(int n) { return both(n) + 1; }\n";

static const char CXX[] =
	"volatile int sink;\nnamespace ns { struct A { int x; __attribute__((noinline)) int f(int n) { sink = n; "
	"return x; }\n"
	"__attribute__((noinline)) int f(double n) { sink = (int)n; return x + 1; } }; }\n"
	"template <typename T> __attribute__((noinline)) T twice(T t) { sink = 1; return t + t; }\n"
	"int main() { ns::A a{1}; return a.f(1) + a.f(2.0) + twice(1) + (int)twice(1.0); }\n";

/* f, whose label `end` is behind its last instruction, jumps to g, and g out of sight */
static const char ASSEMBLY[] =
#if defined(__x86_64__)
	".text\n.globl _start, f, g, h, outof\n.type f, @function\nf: nop\ntest %edi, %edi\njne 1f\nf_ret: "
	"ret\n1: jmp g\n.size f, .-f\n"
	".type g, @function\ng: nop\ng_ret: ret\n.size g, .-g\n"
	".type h, @function\nh: jmp *%rax\n.size h, .-h\n"
	".type outof, @function\noutof: jmp *8(%rax)\n.size outof, .-outof\n"
	".type _start, @function\n_start: call f\nmov $60, %eax\nsyscall\n.size _start, .-_start\n";
#else
	".text\n.globl _start, f, g, h, outof\n.type f, %function\nf: nop\ncbnz w0, 1f\nf_ret: ret\n1: b g\n.size "
	"f, .-f\n"
	".type g, %function\ng: nop\ng_ret: ret\n.size g, .-g\n"
	".type h, %function\nh: br x16\n.size h, .-h\n"
	".type _start, %function\n_start: bl f\nmov x8, #93\nsvc #0\n.size _start, .-_start\n";
#endif

static struct symbols *symbols;
static struct region_asked found;

static bool finds(const char *program, const char *text)
{
	const char *path = in_folder(program), *one[] = {arena_strdup(&arena, path)};
	err = (struct error){0};
	return place_parse(text, &arena, &spec, &err) && place_find(symbols, &spec, one, 1, &arena, &found, &err);
}

/* The offset in the file of a label: the address by nm, made an offset by symbols_code()'s inverse. */
static uint64_t label(const char *program, const char *name)
{
	char command[512], path[256];
	unsigned long long address = 0;
	snprintf(path, sizeof path, "%s/%s", folder, program);
	snprintf(command, sizeof command, "nm %s | awk '$3 == \"%s\" { print $1; exit }'", path, name);
	FILE *pipe = popen(command, "r");
	if (!pipe || fscanf(pipe, "%llx", &address) != 1)
		address = 0;
	if (pipe)
		pclose(pipe);
	/* a text segment is in one piece: its first page tells the difference */
	for (uint64_t offset = 0; offset < 1 << 20; offset += 4096) {
		uint64_t there;
		if (symbols_mapping(symbols, path, offset, false, &there) && address >= there &&
		    address < there + 4096)
			return offset + (address - there);
	}
	return 0;
}

static size_t count_edges(enum region_edge_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < found.n_edges; i++)
		n += found.edges[i].kind == kind;
	return n;
}

static const struct region_edge *edge_at(enum region_edge_kind kind, uint64_t offset)
{
	for (size_t i = 0; i < found.n_edges; i++)
		if (found.edges[i].kind == kind && found.edges[i].offset == offset)
			return &found.edges[i];
	return NULL;
}

static void functions(void)
{
	ok(finds("p", "called") && found.kind == REGION_FUNCTION && found.n_ranges == 1 &&
		   found.ranges[0].low == label("p", "called"),
	   "a function is found where nm has it");
	ok(edge_at(EDGE_ENTER, found.ranges[0].low) && count_edges(EDGE_ENTER) == 1 &&
		   count_edges(EDGE_LEAVE) >= 1 && !found.no_edges,
	   "it begins at its first instruction, and ends at returns");
	ok(finds("p", "only") && found.kind == REGION_CODE && found.note && strstr(found.note, "2 copies"),
	   "one that exists inlined only is its copies: %s", found.note ? found.note : err.text);
	ok(finds("p", "both") && found.n_ranges == 2 && found.note &&
		   strstr(found.note, "2 functions of this name"),
	   "static functions of the same name are all: %s", found.note ? found.note : err.text);
	ok(finds("p", "other.c:both") && found.n_ranges == 1 && !found.note, "unless the file is said");
	ok(!finds("p", "caled") && strstr(err.hint, "called"), "a name that is not there has its nearest: %s",
	   err.hint);
	ok(!finds("stripped", "called") && strstr(err.hint, "stripped"),
	   "of a stripped program it is said: %s; %s", err.text, err.hint);
	ok(!finds("script", "f") && strstr(err.text, "not a valid ELF"), "so of a script: %s; %s", err.text,
	   err.hint);
	ok(!finds("p", "libx.so!f") && strstr(err.text, "libx.so"), "and a library that is not the program's: %s",
	   err.text);
	const char *with_libraries[] = {arena_strdup(&arena, in_folder("p")),
					arena_strdup(&arena, in_folder("libq.so"))};
	ok(place_parse("q=libq.so:in_q", &arena, &spec, &err) &&
		   place_find(symbols, &spec, with_libraries, 2, &arena, &found, &err) &&
		   strcmp(found.ranges[0].module, with_libraries[1]) == 0,
	   "a function of a library is found in it: %s", err.text);
	ok(place_parse("in_q", &arena, &spec, &err) &&
		   place_find(symbols, &spec, with_libraries, 2, &arena, &found, &err) &&
		   strcmp(found.ranges[0].module, with_libraries[1]) == 0,
	   "without its name, too");
}

static void lines(void)
{
	ok(finds("p", "p.c:14-17") && found.kind == REGION_CODE && found.n_ranges >= 1,
	   "lines are ranges of code: %s", err.text);
	bool within = true;
	if (finds("p", "looped")) {
		struct region_range whole = found.ranges[0];
		finds("p", "p.c:15-16");
		for (size_t i = 0; i < found.n_ranges; i++)
			within &= found.ranges[i].low >= whole.low && found.ranges[i].high <= whole.high;
		ok(within && count_edges(EDGE_ENTER) >= 1 && count_edges(EDGE_LEAVE) >= 1 && !found.no_edges,
		   "those of a function are within it: %s", found.no_edges ? found.no_edges : "");
	}
	ok(!finds("p", "p.c:10") && strstr(err.hint, "9 and 12"), "a line without code has its nearest: %s",
	   err.hint);
	ok(!finds("p", "q.c:10") && strstr(err.text, "q.c"), "so has a file: %s; %s", err.text, err.hint);
	ok(!finds("plain", "p.c:14") && strstr(err.text, "no line numbers") && strstr(err.hint, "-g"),
	   "without them it is said how to have them: %s; %s", err.text, err.hint);
	/* the call of an inlined function has the code of that function in it */
	ok(finds("p", "p.c:7") && found.n_ranges >= 1, "a line that calls an inlined function has its code");
	uint64_t bytes = 0, without = 0;
	for (size_t i = 0; i < found.n_ranges; i++)
		bytes += found.ranges[i].high - found.ranges[i].low;
	finds("p", "only");
	for (size_t i = 0; i < found.n_ranges; i++)
		without += found.ranges[i].high - found.ranges[i].low;
	ok(bytes > 0 && bytes < 2 * without + 64, "and no more (%d bytes)", (int)bytes);
}

static void addresses(void)
{
	char text[64];
	ok(finds("p", "called"), "a function");
	struct region_range range = found.ranges[0];
	uint64_t low, high;
	symbols_mapping(symbols, range.module, range.low, false, &low);
	symbols_mapping(symbols, range.module, range.high - 1, false, &high);
	snprintf(text, sizeof text, "x=0x%llx-0x%llx", (unsigned long long)low, (unsigned long long)high + 1);
	ok(finds("p", text) && found.kind == REGION_CODE && found.ranges[0].low == range.low &&
		   found.ranges[0].high == range.high,
	   "addresses are those of nm, the last one the first that is not of it: %s", err.text);
	ok(!finds("p", "x=0x1-0x2") && strstr(err.text, "not code"), "what is no code is refused: %s", err.text);
	snprintf(text, sizeof text, "x=0x%llx-0x%llx", (unsigned long long)low + 1, (unsigned long long)high);
#if defined(__x86_64__)
	finds("p", text);
	ok(found.no_edges || found.n_edges, "the middle of an instruction is no place for a probe, or is one: %s",
	   found.no_edges ? found.no_edges : "");
#endif
}

static void cxx(void)
{
	if (!shell("command -v g++ >/dev/null") ||
	    !shell("g++ -g -O1 -o %s %s", in_folder("c++"), in_folder("a.cc"))) {
		skip("no g++ here", "C++ names are found");
		return;
	}
	ok(finds("c++", "ns::A::f") && found.n_ranges == 2 && strstr(found.note, "ns::A::f(int)") &&
		   strstr(found.note, "ns::A::f(double)"),
	   "overloads are all of a name: %s", found.note ? found.note : err.text);
	ok(finds("c++", "ns::A::f(int)") && found.n_ranges == 1 && !found.note, "with its parameters it is one");
	ok(finds("c++", "_ZN2ns1A1fEd") && found.n_ranges == 1, "a linked name is one");
	ok(finds("c++", "int twice<int>(int)") && found.n_ranges == 1, "templates are named as nm -C does");
}

static void jumps(void)
{
	ok(finds("asm", "f") && edge_at(EDGE_LEAVE, label("asm", "f_ret")) &&
		   edge_at(EDGE_LEAVE, label("asm", "g_ret")),
	   "a function that leaves by a jump ends at the return there, too: %s",
	   found.no_edges ? found.no_edges : err.text);
	const struct region_edge *own = edge_at(EDGE_LEAVE, label("asm", "f_ret")),
				 *others = edge_at(EDGE_LEAVE, label("asm", "g_ret"));
	ok(own && own->own && others && !others->own && own->counts, "and the two are told apart");
	ok(finds("asm", "h") && count_edges(EDGE_JUMP) == 1,
	   "a jump by a register is looked at when it is executed");
#if defined(__x86_64__)
	ok(finds("asm", "outof") && found.no_edges && strstr(found.no_edges, "pointer"),
	   "one to where a pointer says is why it cannot be probed: %s", found.no_edges ? found.no_edges : "");
#endif
}

static struct flow flow;
static bool is_arm(uint32_t word, enum flow_kind kind, uint64_t target)
{
	return flow_decode(EM_AARCH64, (const uint8_t *)&word, 4, 0x10000, &flow) && flow.kind == kind &&
	       flow.length == 4 && (!flow.has_target || flow.target == target);
}

/* encodings by binutils' as */
static void arm(void)
{
	ok(is_arm(0x14000004, FLOW_JUMP, 0x10010) && is_arm(0x17ffffff, FLOW_JUMP, 0xfffc),
	   "arm64: b, forwards and back");
	ok(is_arm(0x94000004, FLOW_CALL, 0x10010), "bl calls");
	ok(is_arm(0x54000041, FLOW_BRANCH, 0x10008) && is_arm(0x5400004e, FLOW_JUMP, 0x10008),
	   "b.ne may, b.al does");
	ok(is_arm(0xb4000040, FLOW_BRANCH, 0x10008) && is_arm(0x35ffffe1, FLOW_BRANCH, 0xfffc), "cbz, cbnz");
	ok(is_arm(0x36080040, FLOW_BRANCH, 0x10008) && is_arm(0x3707ffe0, FLOW_BRANCH, 0xfffc), "tbz, tbnz");
	ok(is_arm(0xd61f0200, FLOW_JUMP_REGISTER, 0) && flow.reg == 16, "br x16");
	ok(is_arm(0xd63f0200, FLOW_CALL, 0) && is_arm(0xd65f03c0, FLOW_RETURN, 0) &&
		   is_arm(0xd65f0bff, FLOW_RETURN, 0),
	   "blr, ret, retaa");
	ok(is_arm(0xd4200000, FLOW_END, 0) && is_arm(0xd4000001, FLOW_NEXT, 0), "brk ends, svc goes on");
	ok(is_arm(0xd503201f, FLOW_NEXT, 0) && flow.filler && flow.class == EDGE_NOTHING, "nop is filler");
	ok(is_arm(0xa9bf7bfd, FLOW_NEXT, 0) && flow.class == EDGE_PUSH, "stp x29, x30, [sp, #-16]! is a push");
	ok(is_arm(0x91000421, FLOW_NEXT, 0) && flow.class == EDGE_STEPPED && !flow.filler, "add is none of these");
	ok(is_arm(0x10000000, FLOW_NEXT, 0) && flow.class == EDGE_BRANCH,
	   "adr is done by the kernel, as branches are");
}

static void libraries(void)
{
	struct library_list list;
	bool there = libraries_of(in_folder("p"), NULL, &arena, &list);
	bool libc = false;
	for (size_t i = 0; there && i < list.count; i++)
		libc |= strstr(list.paths[i], "libc.so") || strstr(list.paths[i], "libc-");
	ok(there && libc, "a program's libraries are those of the loader (%d)", there ? (int)list.count : -1);
	there = libraries_of(in_folder("uses"), NULL, &arena, &list);
	ok(there && list.count && strstr(list.paths[0], "/libq.so"), "$ORIGIN is the program's folder");
}

int main(void)
{
	said();
	arm();
	if (!mkdtemp(folder) || !shell("command -v gcc >/dev/null") || !shell("command -v nm >/dev/null")) {
		skip("no gcc here", "places are found");
		return done();
	}
	write_file("p.c", PROGRAM);
	write_file("other.c", OTHER);
	write_file("a.cc", CXX);
	write_file("a.s", ASSEMBLY);
	write_file("q.c", "int in_q(int n) { return n + 1; }\n");
	write_file("uses.c", "int in_q(int); int main(void) { return in_q(1); }\n");
	write_file("script", "#!/bin/sh\n");
	if (!symbols_new(NULL, &symbols, NULL) ||
	    !shell("cd %s && gcc -g -O1 -fno-ipa-cp -fno-optimize-sibling-calls -o p p.c other.c && gcc -O1 -o "
		   "plain p.c && strip -o stripped p && "
		   "gcc -nostdlib -static -o asm a.s && gcc -g -shared -fPIC -o libq.so q.c && gcc -o uses uses.c "
		   "-L. -lq '-Wl,-rpath,$ORIGIN'",
		   folder)) {
		ok(false, "the test's programs can be built");
		return done();
	}
	functions();
	lines();
	addresses();
	cxx();
	jumps();
	libraries();
	symbols_free(symbols);
	arena_free(&arena);
	if (!shell("rm -rf %s", folder))
		return 1;
	return done();
}
