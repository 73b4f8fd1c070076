/*
 * Sets of many ways: a line is found by a hash, and LRU and FIFO are kept by links, so that neither a look-up
 * nor a use walks over the set.
 *
 *     heads[hash] ──► entry ──► chain[entry] ──► … ──► 0
 *     newest[set] ──► entry ──► older[entry] ──► … ──► oldest[set]
 *
 * Equals   lines_find() and the order of lines_touch() and lines_insert() of cache/lines.c, .h
 * For      caches, victim buffers and shadows of more than LINES_SCANNED ways
 * Test     tests/model/reference_test.c, tests/unit/model_cache_test.c
 */
#include "model/core/fast/linked_lines.h"

static uint64_t hash(const struct lines *lines, uint64_t line)
{
	return line * 0x9e3779b97f4a7c15ull >> lines->hash_shift; /* Knuth 6.4: golden ratio */
}

uint64_t *lines_find_hashed(const struct lines *lines, uint64_t line)
{
	for (uint32_t at = lines->heads[hash(lines, line)]; at; at = lines->chain[at - 1])
		if (entry_is(lines->entries[at - 1], line))
			return &lines->entries[at - 1];
	return NULL;
}

void lines_hash_add(struct lines *lines, uint32_t at)
{
	uint32_t *head = &lines->heads[hash(lines, entry_line(lines->entries[at]))];
	lines->chain[at] = *head;
	*head = at + 1;
}

void lines_hash_remove(struct lines *lines, uint32_t at)
{
	uint32_t *link = &lines->heads[hash(lines, entry_line(lines->entries[at]))];
	while (*link != at + 1)
		link = &lines->chain[*link - 1];
	*link = lines->chain[at];
}

/* ---- LRU and FIFO by links ---- */

void lines_unlink(struct lines *lines, uint32_t set, uint32_t at)
{
	uint32_t newer = lines->newer[at], older = lines->older[at];
	*(newer ? &lines->older[newer - 1] : &lines->newest[set]) = older;
	*(older ? &lines->newer[older - 1] : &lines->oldest[set]) = newer;
}

void lines_link_newest(struct lines *lines, uint32_t set, uint32_t at)
{
	uint32_t older = lines->newest[set];
	lines->newer[at] = 0;
	lines->older[at] = older;
	*(older ? &lines->newer[older - 1] : &lines->oldest[set]) = at + 1;
	lines->newest[set] = at + 1;
}
