#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 * 1024 };

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t capacity;
	alignas(max_align_t) char bytes[];
};

void *arena_alloc(struct arena *a, size_t bytes)
{
	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
	struct arena_block *block = a->blocks;
	if (!block || block->capacity - block->used < bytes) {
		size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
		block = calloc(1, sizeof *block + capacity);
		if (!block)
			return NULL;
		block->capacity = capacity;
		block->next = a->blocks;
		a->blocks = block;
	}
	void *result = block->bytes + block->used;
	block->used += bytes;
	return result;
}

char *arena_strndup(struct arena *a, const char *text, size_t length)
{
	char *copy = arena_alloc(a, length + 1);
	if (copy)
		memcpy(copy, text, length);
	return copy;
}

char *arena_strdup(struct arena *a, const char *text) { return arena_strndup(a, text, strlen(text)); }

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *text = length < 0 ? NULL : arena_alloc(a, (size_t)length + 1);
	if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	return text;
}

void arena_reset(struct arena *a)
{
	struct arena_block *kept = a->blocks;
	if (!kept)
		return;
	a->blocks = kept->next;
	arena_free(a);
	memset(kept->bytes, 0, kept->used);
	kept->used = 0;
	kept->next = NULL;
	a->blocks = kept;
}

void arena_free(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;
		free(a->blocks);
		a->blocks = next;
	}
}
