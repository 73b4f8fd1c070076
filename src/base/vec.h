/* Growing arrays of one type:   VEC(int) numbers = {0};
 *                               if (!vec_push(&numbers, 3)) return error_no_memory(err);
 *                               numbers.items[i], numbers.count; vec_free(&numbers);
 * vec_push evaluates its item once and is false when memory ran out (the vector is unchanged then). */
#ifndef TARE_BASE_VEC_H
#define TARE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define VEC(type)                                                                                                 \
	struct {                                                                                                  \
		type *items;                                                                                      \
		size_t count;                                                                                     \
		size_t capacity;                                                                                  \
	}

/* Makes room for one more item of item_bytes in *items; false when memory ran out. */
bool vec_grow(void **items, size_t *capacity, size_t count, size_t item_bytes);

#define vec_push(v, item)                                                                                         \
	(vec_grow((void **)&(v)->items, &(v)->capacity, (v)->count, sizeof *(v)->items)                           \
		 ? ((v)->items[(v)->count++] = (item), true)                                                      \
		 : false)

#define vec_free(v)                                                                                               \
	do {                                                                                                      \
		free((v)->items);                                                                                 \
		(v)->items = NULL;                                                                                \
		(v)->count = 0;                                                                                   \
		(v)->capacity = 0;                                                                                \
	} while (0)

#endif
