#include "base/hash.h"

#include <stdlib.h>

static void put(struct hash_slot *slots, size_t n, struct hash_slot slot)
{
	size_t at = hash_first(slot.hash, n);
	while (slots[at].number)
		at = (at + 1) & (n - 1);
	slots[at] = slot;
}

static bool grow(struct hash_index *index)
{
	size_t n = index->n_slots ? 2 * index->n_slots : 64;
	struct hash_slot *slots = calloc(n, sizeof *slots);
	if (!slots)
		return false;
	/* from behind a free slot, so that equal hashes stay in the order in which they were added */
	size_t begin = 0;
	while (index->n_slots && index->slots[begin].number)
		begin++;
	for (size_t i = 0; i < index->n_slots; i++) {
		const struct hash_slot *slot = &index->slots[(begin + i) & (index->n_slots - 1)];
		if (slot->number)
			put(slots, n, *slot);
	}
	free(index->slots);
	index->slots = slots, index->n_slots = n;
	return true;
}

bool hash_add(struct hash_index *index, uint64_t hash, uint32_t number)
{
	if (2 * index->used >= index->n_slots && !grow(index))
		return false;
	struct hash_search where = hash_find(index, hash);
	put(index->slots, index->n_slots, (struct hash_slot){where.hash, number + 1});
	index->used++;
	return true;
}

void hash_free(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){0};
}
