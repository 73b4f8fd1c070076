/*
 * Order by times: a use is one store of a time, and the least time is the entry that leaves. Here is the least
 * of many times; fast/timed_lines.c has what lines of a first-level cache need beside.
 *
 * Equals   the order that lines_touch() and lines_insert() of cache/lines.c keep by moving entries
 * For      LRU and FIFO of up to 256 ways
 * Test     tests/unit/model_tlb_test.c, tests/model/reference_test.c
 */
#ifndef TARE_MODEL_CORE_FAST_TIMED_LINES_H
#define TARE_MODEL_CORE_FAST_TIMED_LINES_H

#include <stdint.h>

/* Of up to 256 times, which are below 2^56 (two years of one a nanosecond), the first that is smallest. Four short
 * chains, and no jump that depends on times. */
static inline uint32_t lines_least(const uint64_t *times, uint32_t ways)
{
	uint64_t a = UINT64_MAX, b = a, c = a, d = a;
	uint32_t way = 0;
	for (; way + 4 <= ways; way += 4) {
		uint64_t ta = times[way] << 8 | way, tb = times[way + 1] << 8 | (way + 1),
			 tc = times[way + 2] << 8 | (way + 2), td = times[way + 3] << 8 | (way + 3);
		a = ta < a ? ta : a;
		b = tb < b ? tb : b;
		c = tc < c ? tc : c;
		d = td < d ? td : d;
	}
	for (; way < ways; way++) {
		uint64_t ta = times[way] << 8 | way;
		a = ta < a ? ta : a;
	}
	a = b < a ? b : a;
	c = d < c ? d : c;
	return (c < a ? c : a) & 255;
}

/* fast/inline_vectors.c: the same of 8, 16 … 256, where vectors_here() is VECTORS_AVX512; all vector registers are
 * as they were. Of 32 and more it is faster. */
uint32_t vectors_least(const uint64_t *times, uint32_t n);
#define VECTORS_LEAST 32

#endif
