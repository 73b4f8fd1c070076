/* Many small allocations that die together. Zero-initialise, allocate, free once. Memory is zeroed and
 * aligned for any type; NULL when memory ran out. */
#ifndef TARE_BASE_ARENA_H
#define TARE_BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *blocks; /* newest first */
};

void *arena_alloc(struct arena *a, size_t bytes);
char *arena_strdup(struct arena *a, const char *text);
char *arena_strndup(struct arena *a, const char *text, size_t length);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a);
/* All allocations are gone; memory for the next ones is kept. */
void arena_reset(struct arena *a);

#endif
