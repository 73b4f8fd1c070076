/*
 * Misses in order: a line that is wanted next to the one that was wanted before it, in the direction in which the
 * two before it lay. A prefetcher sees those coming; those in no order it does not.
 *
 *   region   64 lines, aligned. What was wanted last of a region, and in which direction, is kept for ORDER_REGIONS
 *            of them: the entry is order_index() of the region's number, and another region's takes its place.
 *
 *     nothing known ──a miss──► a line ──the next, up to ORDER_STEP lines on──► a direction ──likewise──► in order
 *                                                                                 ▲   │ another way, or further
 *                                                                                 └───┘ (a direction, or none)
 *
 * A miss in a region's first or last ORDER_STEP lines that does not go on there goes on with what the region
 * before it ended with, if that ended within ORDER_STEP lines. Only first-level caches have a table; the levels
 * behind are told (core->ordered), as what they see are the misses in front.
 */
#ifndef TARE_MODEL_CORE_CACHE_ORDER_H
#define TARE_MODEL_CORE_CACHE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define ORDER_REGIONS 256u
#define ORDER_STEP 2

enum order_direction { ORDER_NONE, ORDER_UP, ORDER_DOWN };

/* core->ordered: of the access under way */
enum order { ORDER_RANDOM, ORDER_IN_ORDER, ORDER_TO_FIND /* no cache has missed yet */ };

/* Of a region: its number + 1, the line, the direction. A line's number has 62 bits at most, a region's 56. */
static inline uint64_t order_entry(uint64_t region, unsigned line, enum order_direction direction)
{
	return (region + 1) << 8 | line << 2 | direction;
}

static inline unsigned order_index(uint64_t region)
{
	return (unsigned)(region * 0x9e3779b97f4a7c15ull >> 56); /* Fibonacci hashing (Knuth, vol. 3, 6.4) */
}

static inline enum order_direction order_step(int from, int to)
{
	int step = to - from;
	return step > 0 && step <= ORDER_STEP    ? ORDER_UP
	       : step < 0 && step >= -ORDER_STEP ? ORDER_DOWN
						 : ORDER_NONE;
}

/* A miss on the line; is it in order? */
static inline bool order_miss(uint64_t *table, uint64_t number)
{
	uint64_t region = number / 64, *entry = &table[order_index(region)];
	int line = (int)(number % 64);
	enum order_direction before = ORDER_NONE, now = ORDER_NONE;
	if (*entry >> 8 == region + 1) {
		before = (enum order_direction)(*entry & 3);
		now = order_step((int)(*entry >> 2 & 63), line);
	}
	if (now == ORDER_NONE && (line < ORDER_STEP || line >= 64 - ORDER_STEP)) {
		bool up = line < ORDER_STEP;
		uint64_t next = up ? region - 1 : region + 1, was = table[order_index(next)];
		if (was >> 8 == next + 1) {
			before = (enum order_direction)(was & 3);
			now = order_step((int)(was >> 2 & 63), up ? line + 64 : line - 64);
		}
	}
	*entry = order_entry(region, (unsigned)line, now);
	return now != ORDER_NONE && now == before;
}

#endif
