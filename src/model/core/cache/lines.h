/*
 * Lines in sets, with a replacement policy: what a cache, its victim buffer, and the fully associative shadow of a
 * classed cache are made of. An entry is the line's number and its flags in one word; 0 is a free way.
 *
 *     ordered  LRU and FIFO of up to LINES_SCANNED ways: the set's words are kept newest first, free ways at the end
 *     fixed    the other policies: a line stays in its way; free ways are filled lowest first
 *     timed    a first-level cache's (fast/filter.h): fixed, and hits may be recorded as times alone. LRU and FIFO: the earliest time goes
 *     hashed   more ways than that: as fixed, found by a hash; LRU and FIFO by links
 *
 * Replacement: tree-PLRU as in Al-Zoubi et al. (2004); SRRIP, BRRIP: Jaleel et al. (2010), hit priority; random:
 * xorshift64* (Vigna 2016), drawn only when no way is free.
 *
 * What always holds:
 *  1. A line is in its set once. A pointer to an entry is good until the next touch, insert or remove.
 *  2. Of timed lines, what hits recorded (touched, written) is in the entries and the policy's state after
 *     lines_settle() of the set, which comes before any other look at its flags, touch, insert or remove.
 */
#ifndef TARE_MODEL_CORE_CACHE_LINES_H
#define TARE_MODEL_CORE_CACHE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/machine.h"

/* 57 bits are what x86-64 has at most (five-level paging); a line is at least 4 bytes: 55 bits of number, 8 of
 * flags */
#define ADDRESS_MASK ((1ull << 57) - 1)
#define LINES_FLAGS 8
#define LINES_SCANNED 32

enum line_flag {
	/* 1 and 2: enum coherence_line */
	LINE_PREFETCHED = 4, /* by a prefetcher, and not asked for since */
	LINE_DIRTY = 8,
	LINE_VALID = 128,
};

struct lines {
	uint64_t *entries; /* [set * ways + way] */
	uint64_t set_mask;
	uint32_t sets, ways;
	uint8_t policy, ordered, hashed, set_power, timed;
	uint8_t vectors;  /* for vectors_least() */
	uint8_t age_most; /* RRIP: the distant value */
	uint8_t hash_shift;
	uint32_t insertions; /* BRRIP */
	uint64_t random;
	uint8_t *ages;             /* RRIP [as entries] */
	uint64_t *trees;           /* PLRU [set]: bit n: node n (1: the root) points to its right half as victim */
	uint32_t *lowest;          /* not ordered [set]: no way below is free */
	uint32_t *heads, *chain;   /* hashed: entry + 1, by hash, then [as entries] */
	uint32_t *newer, *older;   /* hashed LRU and FIFO: entry + 1 [as entries] */
	uint32_t *newest, *oldest; /* [set] */
	uint64_t *recency;         /* timed: the core's */
	uint64_t *touched;         /* timed [as entries]: of the latest hit; settled: 0, but for LRU */
	uint64_t *filled;          /* timed FIFO [as entries] */
	uint8_t *written;          /* timed [as entries] */
};

/* Where areas are taken from: zeroed memory, or NULL to learn how much. */
struct model_memory {
	char *base;
	uint64_t used;
};

static inline void *arena_take(struct model_memory *arena, uint64_t bytes)
{
	uint64_t at = arena->used;
	arena->used += (bytes + 63) & ~63ull;
	return arena->base ? arena->base + at : NULL;
}

void lines_init(struct lines *lines, struct model_memory *arena, uint32_t sets, uint32_t ways,
		enum machine_replacement policy, unsigned rrip_bits, uint64_t seed, bool timed);

static inline uint32_t lines_set(const struct lines *lines, uint64_t line)
{
	return (uint32_t)(lines->set_power ? line & lines->set_mask : line % lines->sets);
}

static inline uint64_t entry_line(uint64_t entry) { return entry >> LINES_FLAGS; }

static inline bool entry_is(uint64_t entry, uint64_t line)
{
	return (entry ^ (line << LINES_FLAGS | LINE_VALID)) < LINE_VALID;
}

/* ---- what fast/timed_lines.c and fast/linked_lines.c do ---- */

/* Of timed lines, before anything else. */
void lines_time(struct lines *lines, uint64_t *recency, uint64_t *touched, uint8_t *written);
void lines_settle_timed(struct lines *lines, uint32_t set);
/* The way that a full set of timed LRU or FIFO lines gives up next. */
uint32_t lines_earliest(const struct lines *lines, uint32_t set);
uint64_t *lines_find_hashed(const struct lines *lines, uint64_t line);

/* ---- */

static inline void lines_settle(struct lines *lines, uint32_t set)
{
	if (lines->timed)
		lines_settle_timed(lines, set);
}

/* NULL: not there. */
static inline uint64_t *lines_find(const struct lines *lines, uint32_t set, uint64_t line)
{
	uint64_t *entry = lines->entries + (uint64_t)set * lines->ways;
	if (lines->hashed)
		return lines_find_hashed(lines, line);
	for (uint64_t *end = entry + lines->ways; entry < end; entry++)
		if (entry_is(*entry, line))
			return entry;
	return NULL;
}

uint64_t *lines_touch_fixed(struct lines *lines, uint32_t set, uint64_t *entry);

/* A use of it. Returns where it is now. */
static inline uint64_t *lines_touch(struct lines *lines, uint32_t set, uint64_t *entry)
{
	uint64_t *first = lines->entries + (uint64_t)set * lines->ways, moved = *entry;
	if (lines->policy == REPLACE_FIFO || lines->policy == REPLACE_RANDOM)
		return entry;
	if (!lines->ordered)
		return lines_touch_fixed(lines, set, entry);
	for (; entry > first; entry--)
		entry[0] = entry[-1];
	*first = moved;
	return first;
}

/* The line is not there yet. *replaced: the entry that made room, or 0. */
uint64_t *lines_insert(struct lines *lines, uint32_t set, uint64_t line, unsigned flags, uint64_t *replaced);
/* Returns what it was. */
uint64_t lines_remove(struct lines *lines, uint32_t set, uint64_t *entry);

#endif
