/*
 * The runtime's reader of ELF files (names of allocation functions, thread-local storage), given any bytes as a module: no access
 * outside of them, no endless loop, and what it noted of functions lies in its table.
 *
 *     clang -g -O1 -D_GNU_SOURCE -Isrc -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_runtime_elf.c src/engine/runtime/stream/tls.c \
 *           src/model/core/*.c
 *
 * The runtime's other parts are stubs here: nothing that is parsed leads to them.
 */
#include <stdlib.h>

#include "engine/runtime/stream/objects.c"

struct runtime rt;

void *memory_private(uint64_t bytes)
{
	(void)bytes;
	abort();
}
uint64_t record_reserve(uint64_t bytes)
{
	(void)bytes;
	abort();
}
void *record_map(uint64_t offset, uint64_t bytes, void *at)
{
	(void)offset, (void)bytes, (void)at;
	abort();
}
bool maps_read(void (*each)(const struct mapping *m, void *context), void *context)
{
	(void)each, (void)context;
	abort();
}
bool safe_copy(void *to, const void *from, size_t n)
{
	(void)to, (void)from, (void)n;
	abort();
}
void stream_flush(struct thread *t)
{
	(void)t;
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct record_objects layout;
	struct section_choice {
		uint64_t start, offset;
	} at = {0x7f0000000000, 0};
	if (size < sizeof(struct header))
		return 0;
	/* the file's executable segment may be at any of its pages */
	at.offset = (uint64_t)(data[9] & 3) << 12;
	uint8_t *copy = malloc(size); /* a redzone is behind it */
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	record = &layout;
	function_count = 0;
	read_module(copy, size, at.start, at.offset, "/no/such/module");
	if (function_count > FUNCTIONS_MOST || layout.functions != function_count)
		abort();
	for (uint32_t i = 0; i < function_count; i++)
		if (stream_objects_function(functions[i].pc) < 0)
			abort();
	layout.functions = 0;
	free(copy);
	return 0;
}
