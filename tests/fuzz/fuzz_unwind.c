/*
 * Unwinding of anything: 'R', then any registers and stack bytes over this program's own rules; or 'E', then any bytes as a module's file,
 * whose rules are asked at each third byte. It ends, within its bounds, and says the same again.
 *
 * In registers and stack a word whose upper byte is 1 is a place of code, one with 2 a place of the stack.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/unwind.h"

enum { FRAMES = 40, STACK = 512 };

static const uint64_t code_begins = 0x400000, code_bytes = 0x1000000, stack_begins = 0x7fff0000;

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static bool mapping(void *context, uint64_t address, struct unwind_mapping *out)
{
	*out = (struct unwind_mapping){.address = code_begins, .bytes = code_bytes, .path = context};
	return address >= code_begins && address - code_begins < code_bytes;
}

static uint64_t word(const uint8_t *data, size_t size, size_t at)
{
	uint64_t w = 0;
	for (size_t i = 0; i < 8 && at + i < size; i++)
		w |= (uint64_t)data[at + i] << 8 * i;
	return w >> 56 == 1 ? code_begins + (w & (code_bytes - 1)) : w >> 56 == 2 ? stack_begins + (w & 0xfff) : w;
}

static void ask(struct unwinder *u, const struct unwind_sample *sample)
{
	struct unwind_frame frames[FRAMES], again[FRAMES];
	enum unwind_end end, end_again;
	size_t n = unwind(u, sample, frames, FRAMES, &end);
	check(n <= FRAMES && unwind_end_name(end)[0], "more frames than were asked for");
	check(end != UNWIND_DEPTH || n == FRAMES, "too deep, with too few frames");
	check(unwind(u, sample, again, FRAMES, &end_again) == n && end == end_again,
	      "the same stack has two answers");
	for (size_t i = 0; i < n; i++)
		check(frames[i].address == again[i].address && frames[i].interrupted == again[i].interrupted,
		      "the same stack has two callers");
	check(unwind(u, sample, again, n / 2, &end_again) == n / 2,
	      "fewer frames than were asked for and are there");
}

static void any_stack(const uint8_t *data, size_t size)
{
	static struct symbols *symbols;
	static struct unwinder *unwinder;
	uint64_t registers[17], stack[STACK / 8];
	if (!symbols && (!symbols_new(NULL, &symbols, NULL) || !unwinder_new(symbols, &unwinder, NULL)))
		abort();
	for (size_t i = 0; i < 17; i++)
		registers[i] = word(data, size, 8 * i);
	registers[7] = stack_begins;
	for (size_t i = 0; i < STACK / 8; i++)
		stack[i] = word(data, size, 17 * 8 + 8 * i);
	// clang-format off: a table, a row a line
	struct unwind_sample sample = {.machine = UNWIND_X86_64,
				       .registers = registers,
				       .stack = (const uint8_t *)stack,
				       .stack_bytes = STACK,
				       .mapping = mapping,
				       .context = "/proc/self/exe"};
	// clang-format on
	ask(unwinder, &sample);
}

static void any_file(const uint8_t *data, size_t size)
{
	char path[64];
	struct symbols_options options = {.size = sizeof options, .debug_directory = "/no/such/folder"};
	struct symbols *symbols;
	struct unwinder *u;
	uint64_t registers[33], stack[STACK / 8];
	int fd = memfd_create("module", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!symbols_new(&options, &symbols, NULL) || !unwinder_new(symbols, &u, NULL))
		abort();
	for (size_t i = 0; i < STACK / 8; i++)
		stack[i] = i % 3 ? code_begins + 0x100 + i * 4 : stack_begins + i * 8 + 16;
	for (uint64_t at = 0; at < 1024 && at < size; at += 3) {
		for (size_t i = 0; i < 33; i++)
			registers[i] = stack_begins + 8 * i;
		registers[7] = registers[31] = stack_begins;
		registers[16] = registers[32] = code_begins + at;
		// clang-format off: a table, a row a line
		struct unwind_sample sample = {.machine = data[18] == 0xb7 ? UNWIND_ARM64 : UNWIND_X86_64,
					       .registers = registers,
					       .stack = (const uint8_t *)stack,
					       .stack_bytes = STACK,
					       .mapping = mapping,
					       .context = path};
		// clang-format on
		ask(u, &sample);
	}
	unwinder_free(u);
	symbols_free(symbols);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 100 && data[0] == 'E')
		any_file(data + 1, size - 1);
	else if (size > 1 && data[0] == 'R')
		any_stack(data + 1, size - 1);
	return 0;
}
