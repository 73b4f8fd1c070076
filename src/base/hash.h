/*
 * Finding items of an array by what is in them: a table of item numbers, by open addressing. The items stay where
 * their owner has them; what makes two of them equal is the owner's business.
 *
 *     uint64_t hash = hash_bytes(HASH_BEGIN, &key, sizeof key);
 *     struct hash_search search = hash_find(&index, hash);
 *     for (uint32_t i; hash_next(&search, &i);)
 *             if (same(&items[i], &key))
 *                     return &items[i];
 *     if (!vec_push(&items, key) || !hash_add(&index, hash, (uint32_t)items.count - 1))
 *             return NULL;
 *
 * What always holds:
 *  1. hash_next() gives every number that was added under that hash, and maybe others: a caller compares.
 *  2. Equal hashes give equal orders: what depends on an order does not depend on the run. Hash no pointers.
 */
#ifndef TARE_BASE_HASH_H
#define TARE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN 0xcbf29ce484222325u

/* FNV-1a (Fowler, Noll, Vo), 64 bits, going on from hash. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	for (const uint8_t *at = bytes, *end = at + n; at < end; at++)
		hash = (hash ^ *at) * 0x100000001b3u;
	return hash;
}

/* The text and its end, so that "a","bc" and "ab","c" differ; NULL is as "". */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
	return hash * 0x100000001b3u;
}

static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

struct hash_slot {
	uint32_t hash, number; /* the hash's upper half; the item's number + 1, 0: free */
};

/* Zero-initialise; hash_free() at the end. */
struct hash_index {
	struct hash_slot *slots;
	size_t n_slots, used; /* n_slots: 0 or a power of two, more than used */
};

/* False when memory ran out; the index is unchanged then. number: below UINT32_MAX. */
bool hash_add(struct hash_index *index, uint64_t hash, uint32_t number);
void hash_free(struct hash_index *index);

struct hash_search {
	const struct hash_index *index;
	size_t at;
	uint32_t hash;
};

static inline size_t hash_first(uint32_t hash, size_t n_slots) { return hash * 0x9e3779b1u & (n_slots - 1); }

static inline struct hash_search hash_find(const struct hash_index *index, uint64_t hash)
{
	uint32_t upper = (uint32_t)((hash * 0x9e3779b97f4a7c15u) >> 32);
	return (struct hash_search){index, index->n_slots ? hash_first(upper, index->n_slots) : 0, upper};
}

/* The next candidate; false: there are no more. Nothing may be added while a search goes on. */
static inline bool hash_next(struct hash_search *search, uint32_t *number)
{
	const struct hash_index *index = search->index;
	while (index->n_slots && index->slots[search->at].number) {
		const struct hash_slot *slot = &index->slots[search->at];
		search->at = (search->at + 1) & (index->n_slots - 1);
		if (slot->hash == search->hash) {
			*number = slot->number - 1;
			return true;
		}
	}
	return false;
}

#endif
