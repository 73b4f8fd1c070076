/* Stacks by call frame information, compared with what a program knows of itself (unwind_program.c). UNWIND_PROGRAM, the built program,
 * and UNWIND_SOURCE are macros of the build. */
#include <stdlib.h>
#include <unistd.h>

#include "symbol/unwind.h"
#include "tap.h"
#include "unwind_dump.h"

enum { FRAMES = 2000, MAPPINGS = 200 };

static struct mapping_row {
	uint64_t from, to, offset;
	char path[512];
} mappings[MAPPINGS];
static size_t n_mappings;
static struct dump dump;
static uint8_t stack[DUMP_STACK], cut[DUMP_STACK];
static struct unwind_frame frames[FRAMES];

static bool find_mapping(void *context, uint64_t address, struct unwind_mapping *out)
{
	(void)context;
	for (size_t i = 0; i < n_mappings; i++) {
		const struct mapping_row *m = &mappings[i];
		if (address >= m->from && address < m->to) {
			*out = (struct unwind_mapping){.address = m->from,
						       .bytes = m->to - m->from,
						       .offset = m->offset,
						       .path = m->path};
			return true;
		}
	}
	return false;
}

static void read_mappings(FILE *in)
{
	uint64_t bytes;
	n_mappings = 0;
	if (fread(&bytes, sizeof bytes, 1, in) != 1 || bytes > 1 << 20)
		exit(2);
	char *text = calloc(1, bytes + 1), *rest = text;
	if (!text || fread(text, 1, bytes, in) != bytes)
		exit(2);
	for (char *line; (line = strsep(&rest, "\n")) && n_mappings < MAPPINGS;) {
		struct mapping_row *m = &mappings[n_mappings];
		char may[8];
		m->path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]", &m->from, &m->to,
			   may, &m->offset, m->path) >= 4 &&
		    strchr(may, 'x'))
			n_mappings++;
	}
	free(text);
}

static bool read_dump(FILE *in)
{
	return fread(&dump, sizeof dump, 1, in) == 1 && dump.stack_bytes <= sizeof stack &&
	       fread(stack, 1, dump.stack_bytes, in) == dump.stack_bytes;
}

static struct unwind_sample sample_of_dump(void)
{
	return (struct unwind_sample){.machine = dump.arm64 ? UNWIND_ARM64 : UNWIND_X86_64,
				      .registers = dump.registers,
				      .stack = stack,
				      .stack_bytes = dump.stack_bytes,
				      .mapping = find_mapping};
}

static size_t unwind_dump(struct unwinder *u, size_t most, enum unwind_end *end)
{
	struct unwind_sample sample = sample_of_dump();
	return unwind(u, &sample, frames, most, end);
}

/* The frames of the truth. A handler's caller, the trampoline, is what the program itself does not see: it is between the two. */
static bool is_true(size_t n)
{
	size_t t = 0;
	for (size_t i = 0; i < n && t < dump.n_truth; i++, t++) {
		if (frames[i].address != dump.truth[t] || frames[i].interrupted != (t == dump.interrupted)) {
			printf("# frame %zu is %#" PRIx64 "%s, expected %#" PRIx64 "\n", i, frames[i].address,
			       frames[i].interrupted ? " (interrupted)" : "", dump.truth[t]);
			return false;
		}
	}
	return true;
}

/* Above main there are the C library's frames and _start. */
static bool is_whole(size_t n, enum unwind_end end)
{
	return end == UNWIND_WHOLE && n > dump.n_truth && n <= dump.n_truth + 3u;
}

static void chains(FILE *in, struct unwinder *u, const char *machine)
{
	enum unwind_end end;
	size_t n;
	for (int i = 0; i < 2; i++) {
		ok(read_dump(in) && !strcmp(dump.name, "chain") && dump.n_truth >= 4,
		   "%s: a chain of calls stopped", machine);
		n = unwind_dump(u, FRAMES, &end);
		ok(is_true(n) && is_whole(n, end),
		   "%s: its callers are those that the functions say, up to the first (%zu, %s)", machine, n,
		   unwind_end_name(end));
	}
	ok(read_dump(in) && !strcmp(dump.name, "shallow"), "%s: a recursion of 11 stopped", machine);
	n = unwind_dump(u, FRAMES, &end);
	ok(n > 12 && is_true(n) && is_whole(n, end), "%s: each of its calls is a frame (%zu, %s)", machine, n,
	   unwind_end_name(end));
	n = unwind_dump(u, 5, &end);
	ok(n == 5 && is_true(n) && end == UNWIND_DEPTH, "%s: of as many as are wanted, the innermost", machine);
	n = unwind_dump(u, 0, &end);
	ok(n == 0 && end == UNWIND_DEPTH, "%s: none, too", machine);
	for (size_t bytes = 0; bytes < 600; bytes++) {
		struct unwind_sample sample = sample_of_dump();
		memset(cut, 0xa5, sizeof cut); /* behind the copy there is something else */
		memcpy(cut, stack, bytes);
		sample.stack = cut;
		sample.stack_bytes = bytes;
		n = unwind(u, &sample, frames, FRAMES, &end);
		if (!is_true(n) || end != UNWIND_TRUNCATED) {
			ok(false, "%s: %zu bytes of the stack give %zu callers, %s", machine, bytes, n,
			   unwind_end_name(end));
			break;
		}
	}
	ok(end == UNWIND_TRUNCATED && n > 3,
	   "%s: with less of the stack there are fewer, and it says that it was cut", machine);
	ok(read_dump(in) && !strcmp(dump.name, "deep") && dump.stack_bytes == DUMP_STACK,
	   "%s: a recursion of 1001 stopped", machine);
	n = unwind_dump(u, FRAMES, &end);
	ok(n > 50 && n < 1000 && is_true(n) && end == UNWIND_TRUNCATED,
	   "%s: 8 KiB of its stack have its innermost callers (%zu, %s)", machine, n, unwind_end_name(end));
}

static void through_signal(FILE *in, struct unwinder *u)
{
	enum unwind_end end;
	ok(read_dump(in) && !strcmp(dump.name, "signal") && dump.interrupted < dump.n_truth,
	   "a function that a signal's handler called stopped");
	size_t n = unwind_dump(u, FRAMES, &end);
	ok(is_true(n) && is_whole(n, end),
	   "its callers go through the handler to what was interrupted, and on (%zu, %s)", n,
	   unwind_end_name(end));
	ok(n > dump.interrupted && unwind_place(frames[dump.interrupted]) == frames[dump.interrupted].address &&
		   unwind_place(frames[0]) == frames[0].address - 1,
	   "a caller is named by its call, what was interrupted by itself");
	ok(read_dump(in) && !strcmp(dump.name, "elsewhere"),
	   "so did one of a handler that has a stack of its own");
	n = unwind_dump(u, FRAMES, &end);
	ok(n == dump.interrupted + 1 && is_true(n) && end == UNWIND_TRUNCATED,
	   "its callers go to what was interrupted, whose stack is not in the copy (%zu, %s)", n,
	   unwind_end_name(end));
	ok(read_dump(in) && !strcmp(dump.name, "below"),
	   "so did one whose handler's stack is above what was interrupted");
	n = unwind_dump(u, FRAMES, &end);
	ok(n == dump.interrupted + 1 && is_true(n) && end == UNWIND_TRUNCATED,
	   "that stack is not in the copy, either (%zu, %s)", n, unwind_end_name(end));
}

static void for_good(FILE *in, struct unwinder *u)
{
	enum unwind_end end;
	ok(read_dump(in) && !strcmp(dump.name, "for good"), "a function stopped that does not return");
	size_t n = unwind_dump(u, FRAMES, &end);
	ok(is_true(n) && is_whole(n, end),
	   "its caller is the function that ends with the call, not the one behind it (%zu, %s)", n,
	   unwind_end_name(end));
}

/* At each instruction of the workload. */
static void steps(FILE *in, struct unwinder *u)
{
	size_t total = 0, wrong = 0, in_vdso = 0, in_libc = 0;
	while (read_dump(in)) {
		enum unwind_end end;
		struct unwind_mapping where = {0};
		size_t n = unwind_dump(u, FRAMES, &end);
		total++;
		if (find_mapping(NULL, dump.registers[16], &where)) {
			in_vdso += !strcmp(where.path, "[vdso]");
			in_libc += strstr(where.path, "/libc") != NULL;
		}
		if (is_true(n) && is_whole(n, end))
			continue;
		if (wrong++ < 10)
			printf("# at %#" PRIx64 " (%s+%#" PRIx64 "): %zu callers, %s\n", dump.registers[16],
			       where.path, dump.registers[16] - where.address + where.offset, n,
			       unwind_end_name(end));
	}
	ok(total > 1000 && in_libc > 500, "a workload was followed by each instruction (%zu, %zu in libc)", total,
	   in_libc);
	ok(in_vdso > 0, "some of them in the vdso (%zu)", in_vdso);
	equal_u64(wrong, 0, "at each of them the callers are those that calls and returns left");
}

static void hostile(struct unwinder *u)
{
	enum unwind_end end;
	struct unwind_sample sample = sample_of_dump();
	uint64_t registers[DUMP_REGISTERS];
	memcpy(registers, dump.registers, sizeof registers);
	sample.registers = registers;
	registers[16] = 0;
	ok(unwind(u, &sample, frames, FRAMES, &end) == 0 && end == UNWIND_UNMAPPED,
	   "code at 0 has no callers: it is not mapped");
	registers[16] = dump.registers[16];
	registers[7] = UINT64_MAX - 100;
	size_t n = unwind(u, &sample, frames, FRAMES, &end);
	ok(n <= FRAMES, "a stack at the end of the memory ends (%zu, %s)", n, unwind_end_name(end));
	registers[7] = 0;
	n = unwind(u, &sample, frames, FRAMES, &end);
	ok(n <= FRAMES, "and one at its begin (%zu, %s)", n, unwind_end_name(end));
	registers[7] = dump.registers[7];
	struct mapping_row kept = mappings[0];
	for (size_t i = 0; i < n_mappings; i++)
		mappings[i].path[0] = '\0';
	ok(unwind(u, &sample, frames, FRAMES, &end) == 0 && end == UNWIND_NO_RULES,
	   "memory of no file has no rules");
	mappings[0] = kept;
}

static FILE *start(struct symbols **symbols, struct unwinder **u, const char *command)
{
	FILE *in = popen(command, "r");
	if (!in || !symbols_new(NULL, symbols, NULL) || !unwinder_new(*symbols, u, NULL))
		exit(2);
	read_mappings(in);
	return in;
}

static void arm64(void)
{
	static const char fact[] = "arm64: its callers are those that the functions say";
	char folder[] = "/tmp/tare-unwind-XXXXXX", command[1024];
	struct symbols *symbols;
	struct unwinder *u;
	if (system("command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null") != 0) {
		skip("no compiler and emulator of arm64", fact);
		return;
	}
	if (!mkdtemp(folder))
		exit(2);
	snprintf(command, sizeof command,
		 "aarch64-linux-gnu-gcc -D_GNU_SOURCE -O2 -fomit-frame-pointer -static " UNWIND_SOURCE
		 " -o %s/arm64",
		 folder);
	ok(system(command) == 0, "arm64: the program is built");
	snprintf(command, sizeof command, "qemu-aarch64 %s/arm64", folder);
	FILE *in = start(&symbols, &u, command);
	chains(in, u, "arm64");
	pclose(in);
	unwinder_free(u);
	symbols_free(symbols);
	snprintf(command, sizeof command, "rm -r %s", folder);
	ok(system(command) == 0, "arm64: it is removed");
}

int main(void)
{
	struct symbols *symbols;
	struct unwinder *u;
	FILE *in = start(&symbols, &u, UNWIND_PROGRAM);
	chains(in, u, "x86-64");
	through_signal(in, u);
	for_good(in, u);
	steps(in, u);
	hostile(u);
	ok(pclose(in) == 0, "the program ended well");
	unwinder_free(u);
	symbols_free(symbols);
	arm64();
	return done();
}
