#include "profile/space.h"

#include <string.h>

static struct space *find(const struct spaces *spaces, uint32_t pid)
{
	struct hash_search search = hash_find(&spaces->index, hash_number(HASH_BEGIN, pid));
	for (uint32_t i; hash_next(&search, &i);)
		if (spaces->all.items[i].pid == pid)
			return &spaces->all.items[i];
	return NULL;
}

static struct space *find_or_add(struct spaces *spaces, uint32_t pid)
{
	struct space *space = find(spaces, pid);
	if (space)
		return space;
	if (!vec_push(&spaces->all, ((struct space){.pid = pid})))
		return NULL;
	if (!hash_add(&spaces->index, hash_number(HASH_BEGIN, pid), (uint32_t)spaces->all.count - 1)) {
		spaces->all.count--;
		return NULL;
	}
	return &spaces->all.items[spaces->all.count - 1];
}

/* The first mapping that ends above the address. */
static size_t first_above(const struct space *space, uint64_t address)
{
	size_t low = 0, high = space->mappings.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (space->mappings.items[middle].high > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Puts one in at that place; the room is there. */
static void insert(struct space *space, size_t at, const struct space_mapping *mapping)
{
	struct space_mapping *items = space->mappings.items;
	memmove(items + at + 1, items + at, (space->mappings.count - at) * sizeof *items);
	items[at] = *mapping;
	space->mappings.count++;
}

bool spaces_map(struct spaces *spaces, uint32_t pid, const struct space_mapping *mapping)
{
	struct space *space = find_or_add(spaces, pid);
	if (!space)
		return false;
	if (mapping->low >= mapping->high)
		return true;
	/* room for it, and for the upper part of one that it splits */
	for (size_t extra = 0; extra < 2; extra++)
		if (!vec_grow((void **)&space->mappings.items, &space->mappings.capacity,
			      space->mappings.count + extra, sizeof *space->mappings.items))
			return false;
	size_t at = first_above(space, mapping->low), end = at;
	struct space_mapping *items = space->mappings.items;
	if (at < space->mappings.count && items[at].low < mapping->low) {
		struct space_mapping upper = items[at];
		items[at].high = mapping->low;
		at++, end++;
		if (upper.high > mapping->high) { /* in the middle of one: its rest goes on behind */
			upper.offset += mapping->high - upper.low;
			upper.low = mapping->high;
			insert(space, at, &upper);
		}
	}
	while (end < space->mappings.count && items[end].high <= mapping->high)
		end++;
	if (end < space->mappings.count && items[end].low < mapping->high) {
		items[end].offset += mapping->high - items[end].low;
		items[end].low = mapping->high;
	}
	memmove(items + at, items + end, (space->mappings.count - end) * sizeof *items);
	space->mappings.count -= end - at;
	insert(space, at, mapping);
	return true;
}

bool spaces_fork(struct spaces *spaces, uint32_t parent, uint32_t child)
{
	if (parent == child)
		return true;
	spaces_clear(spaces, child);
	if (!find_or_add(spaces, child))
		return false;
	const struct space *from = find(spaces, parent);
	struct space *to = find(spaces, child);
	for (size_t i = 0; from && i < from->mappings.count; i++)
		if (!vec_push(&to->mappings, from->mappings.items[i]))
			return false;
	return true;
}

void spaces_clear(struct spaces *spaces, uint32_t pid)
{
	struct space *space = find(spaces, pid);
	if (space)
		vec_free(&space->mappings);
}

const struct space_mapping *spaces_find(const struct spaces *spaces, uint32_t pid, uint64_t address)
{
	const struct space *space = find(spaces, pid);
	size_t at = space ? first_above(space, address) : 0;
	if (!space || at >= space->mappings.count || space->mappings.items[at].low > address)
		return NULL;
	return &space->mappings.items[at];
}

void spaces_free(struct spaces *spaces)
{
	for (size_t i = 0; i < spaces->all.count; i++)
		vec_free(&spaces->all.items[i].mappings);
	vec_free(&spaces->all);
	hash_free(&spaces->index);
}
