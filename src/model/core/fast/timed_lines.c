/*
 * Lines of a first-level cache, whose hits are one store by generated code (inline.h): the time of the use, and
 * whether it wrote. What was stored so is put into the entries and into the policy's state before anybody else
 * looks at the set.
 *
 * Equals   what lines_touch() and the marking of a dirty entry would have done at each hit (cache/lines.c)
 * For      caches under the filter (filter.h), of any policy
 * Test     tests/model/reference_test.c, tests/model/run_test.c, tests/model/inline_test.c
 */
#include "model/core/cache/lines.h"
#include "model/core/fast/timed_lines.h"
#include "model/core/replacement.h"

void lines_time(struct lines *lines, uint64_t *recency, uint64_t *touched, uint8_t *written)
{
	lines->recency = recency;
	lines->touched = touched;
	lines->written = written;
}

static uint64_t eight_bytes(const uint8_t *at)
{
	struct unaligned {
		uint64_t word;
	} __attribute__((packed, may_alias));
	return ((const struct unaligned *)at)->word;
}

/* Recorded hits, in their order. */
void lines_settle_timed(struct lines *lines, uint32_t set)
{
	uint32_t first = set * lines->ways, end = first + lines->ways;
	for (uint32_t at = first; at < end; at++) {
		while (end - at >= 8 && !eight_bytes(lines->written + at))
			at += 8; /* of many ways few were written since */
		if (at < end && lines->written[at]) {
			lines->entries[at] |= LINE_DIRTY;
			lines->written[at] = 0;
		}
	}
	if (lines->ages) {
		for (uint32_t at = first; at < end; at++)
			if (lines->touched[at])
				lines->touched[at] = lines->ages[at] = 0;
	} else if (lines->trees) {
		lines->trees[set] = tree_settled(lines->trees[set], lines->ways, lines->touched + first);
	}
}

uint32_t lines_earliest(const struct lines *lines, uint32_t set)
{
	const uint64_t *times = (lines->filled ? lines->filled : lines->touched) + (uint64_t)set * lines->ways;
	return lines->vectors ? vectors_least(times, lines->ways) : lines_least(times, lines->ways);
}
