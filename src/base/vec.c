#include "base/vec.h"

#include <stdint.h>

bool vec_grow(void **items, size_t *capacity, size_t count, size_t item_bytes)
{
	if (count < *capacity)
		return true;
	size_t wanted = *capacity ? *capacity * 2 : 8;
	if (wanted > SIZE_MAX / item_bytes)
		return false;
	void *grown = realloc(*items, wanted * item_bytes);
	if (!grown)
		return false;
	*items = grown;
	*capacity = wanted;
	return true;
}
