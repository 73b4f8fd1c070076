/*
 * Any bytes as a program's file: the readers of ELF and DWARF (src/symbol over elfutils) answer every question, or say why not, and
 * what they answer is whole: a place of code has a name, variables ascend and do not overlap, a region found lies in order.
 *
 *     clang -g -O1 -D_GNU_SOURCE -Isrc -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_symbol.c …src/symbol, src/base -ldw -lelf
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/places.h"
#include "symbol/symbol.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void ask_code(struct symbols *symbols, const char *module, uint64_t offset)
{
	struct error err = {0};
	struct symbol_frame frames[4];
	const struct symbol_code *code = symbols_code(symbols, module, offset, &err);
	check(code && code->function && code->function[0], "a place of code without a name");
	check(code == symbols_code(symbols, module, offset, &err), "the same question has two answers");
	size_t n = symbols_inlined(symbols, module, offset, frames, 4);
	for (size_t i = 0; i < n && i < 4; i++)
		check(frames[i].function != NULL, "an inlined function without a name");
}

static void ask_data(struct symbols *symbols, const char *module)
{
	size_t n = 0;
	uint64_t address, bytes;
	const struct symbol_data *all = symbols_variables(symbols, module, &n);
	for (size_t i = 0; i < n; i++) {
		check(all[i].name != NULL, "a variable without a name");
		check(i == 0 || all[i - 1].address + all[i - 1].bytes <= all[i].address, "variables overlap");
	}
	if (n)
		check(symbols_data(symbols, module, all[0].address) != NULL, "a variable that is not where it is");
	symbols_data(symbols, module, 0x404000);
	symbols_thread_data(symbols, module, 0);
	symbols_mapping(symbols, module, 0x1000, false, &address);
	symbols_mapping(symbols, module, 0x2000, true, &address);
	symbols_function(symbols, module, "main", &address, &bytes);
}

static void ask_places(struct symbols *symbols, const char *module)
{
	static const char *const asked[] = {"main", "work", "small.c:1-12", "small.c:work", "0x1000-0x1010"};
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		struct arena arena = {0};
		struct error err = {0};
		struct place_spec spec;
		struct region_asked region = {0};
		if (place_parse(asked[i], &arena, &spec, &err) &&
		    !place_find(symbols, &spec, &module, 1, &arena, &region, &err))
			check(err.text[0] != 0, "a place that is not found, and no reason");
		arena_free(&arena);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct symbols_options options = {.size = sizeof options, .debug_directory = "/no/such/folder"};
	struct symbols *symbols;
	struct error err = {0};
	int fd = memfd_create("small", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!symbols_new(&options, &symbols, &err))
		abort();
	symbols_trouble(symbols, path);
	for (uint64_t offset = 0; offset < 0x1100; offset += 0xd0)
		ask_code(symbols, path, offset);
	ask_code(symbols, path, UINT64_MAX);
	ask_data(symbols, path);
	ask_places(symbols, path);
	symbols_free(symbols);
	close(fd);
	return 0;
}
