/*
 * One set of a cache with LRU: looking a line up, choosing the victim, filling. Each is written once here, for
 * both shapes that a set of such a cache has, and each is compiled three times: in C; with AVX-512 by the compiler
 * (vectors.c: SIMPLE_VECTORS); with AVX-512 in assembly, where no vector register may change (inline_vectors.c:
 * SIMPLE_ASM, saved_vectors.h).
 *
 *   terms   entry    a line's number and flags in one word (cache/lines.h); 0: the way is free
 *           ordered  the set's entries stand newest first, free ways last: a use moves an entry to the front, the last one
 *                    is the victim. So the outer levels' sets are.
 *           timed    entries stay in their ways; touched[way] is the time of the last use, 0 of a free way: the least is
 *                    the victim. written[way]: the line is dirty, whatever its entry says. So the first-level caches'
 *                    sets are, as a hit there is often one store by generated code (inline.h).
 *
 *     ordered   A B C 0   use of C ──► C A B 0   fill of D ──► D C A B   fill of E ──► E D C A, evicted: B
 *     timed     way   0 1 2 3
 *               line  C A B 0   times 7 9 4 0   fill of D ──► way 3   fill of E ──► way 2 (time 4), evicted: B
 *
 * Equals   fill() and evict() of cache/hierarchy.c, lines_touch() and lines_insert() of cache/lines.c
 * For      caches whose replacement is LRU, without a victim buffer
 * Test     tests/model/reference_test.c, tests/model/requests_test.c, tests/model/run_test.c,
 * tests/model/inline_test.c
 */
#include "model/core/fast/timed_lines.h"
#include "model/core/cache/cache.h"

/* ---- looking up, ordering ---- */

#ifdef SIMPLE_VECTORS
#define ALL(ways) ((1u << (ways)) - 1)
/* Which of up to 16 ways has the line: bits. */
static inline uint32_t set_match(const uint64_t *entries, uint32_t ways, uint64_t line)
{
	__m512i wanted = _mm512_set1_epi64((long long)(line << LINES_FLAGS | LINE_VALID)),
		flags = _mm512_set1_epi64(LINE_VALID);
	__m512i a = _mm512_xor_epi64(_mm512_maskz_loadu_epi64((__mmask8)ALL(ways), entries), wanted);
	__m512i b = _mm512_xor_epi64(_mm512_maskz_loadu_epi64((__mmask8)(ALL(ways) >> 8), entries + 8), wanted);
	return (_mm512_cmplt_epu64_mask(a, flags) | (uint32_t)_mm512_cmplt_epu64_mask(b, flags) << 8) & ALL(ways);
}

static inline uint32_t set_least(const uint64_t *words, uint32_t ways)
{
	const __m512i most = _mm512_set1_epi64(-1);
	__m512i a = _mm512_mask_loadu_epi64(most, (__mmask8)ALL(ways), words);
	__m512i b = _mm512_mask_loadu_epi64(most, (__mmask8)(ALL(ways) >> 8), words + 8);
	__m512i least = _mm512_min_epu64(a, b);
	least = _mm512_min_epu64(least, _mm512_shuffle_i64x2(least, least, 0x4e));
	least = _mm512_min_epu64(least, _mm512_shuffle_i64x2(least, least, 0xb1));
	least = _mm512_min_epu64(least, _mm512_permutex_epi64(least, 0xb1));
	return (uint32_t)__builtin_ctz(_mm512_cmpeq_epi64_mask(a, least) |
				       (uint32_t)_mm512_cmpeq_epi64_mask(b, least) << 8);
}
#endif

/* Its way, or `ways`. */
static inline uint32_t set_find(const uint64_t *entries, uint32_t ways, uint64_t line)
{
	uint32_t way = 0;
#ifdef SIMPLE_VECTORS
	if (ways <= 16)
		return (uint32_t)__builtin_ctz(set_match(entries, ways, line) | 1u << ways);
#endif
#ifdef SIMPLE_ASM
	if (ways >= ASM_LEAST && ways <= ASM_MOST)
		return asm_find(entries, ways, line << LINES_FLAGS | LINE_VALID);
#endif
	while (way < ways && !entry_is(entries[way], line))
		way++;
	return way;
}

/* Of the times of timed LRU lines the earliest one's way: of free ways the first one's, as theirs are 0. */
static inline uint32_t set_earliest(const uint64_t *touched, uint32_t ways)
{
#ifdef SIMPLE_VECTORS
	if (ways <= 16)
		return set_least(touched, ways);
#endif
#ifdef SIMPLE_ASM
	if (ways >= ASM_LEAST && ways <= 16)
		return asm_least(touched, ways);
#endif
	return lines_least(touched, ways);
}

/* The entries in front of `way` move up by one, and `front` is the first. */
static inline void set_rotate(uint64_t *entries, uint32_t ways, uint32_t way, uint64_t front)
{
#ifdef SIMPLE_VECTORS
	if (ways <= 16) {
		__mmask16 moved = (__mmask16)((2u << way) - 1);
		__m512i a = _mm512_maskz_loadu_epi64((__mmask8)ALL(ways), entries);
		__m512i b = _mm512_maskz_loadu_epi64((__mmask8)(ALL(ways) >> 8), entries + 8);
		_mm512_mask_storeu_epi64(entries, (__mmask8)moved,
					 _mm512_alignr_epi64(a, _mm512_set1_epi64((long long)front), 7));
		_mm512_mask_storeu_epi64(entries + 8, (__mmask8)(moved >> 8), _mm512_alignr_epi64(b, a, 7));
		return;
	}
#endif
#ifdef SIMPLE_ASM
	if (ways >= ASM_LEAST && ways <= ASM_MOST) {
		asm_rotate(entries, ways, way, front);
		return;
	}
#endif
	(void)ways;
	for (; way; way--)
		entries[way] = entries[way - 1];
	*entries = front;
}

/* ---- filling ---- */

/* What made room for a line. */
struct evicted {
	uint64_t entry; /* 0: a way was free */
	uint64_t dirty; /* 1: it is to be written back */
};

static inline __attribute__((always_inline)) void fill_count(uint64_t *counts, uint64_t replaced)
{
	counts[CACHE_FILLS]++;
	counts[CACHE_EVICTIONS] += !!replaced;
}

/* The new entry stands first in an ordered set. */
static inline __attribute__((always_inline)) struct evicted fill_ordered(uint64_t *counts, uint64_t *entries,
									 uint32_t ways, uint64_t entry)
{
	uint64_t replaced = entries[ways - 1];
	fill_count(counts, replaced);
	set_rotate(entries, ways, ways - 1, entry);
	return (struct evicted){replaced, replaced / LINE_DIRTY & 1};
}

/* The new entry takes the way of a timed set that was chosen (set_earliest()); the caller sets its time. */
static inline __attribute__((always_inline)) struct evicted fill_timed(uint64_t *counts, uint64_t *entries,
								       uint8_t *written, uint32_t way,
								       uint64_t entry, uint8_t writes)
{
	uint64_t replaced = entries[way], dirty = (replaced / LINE_DIRTY & 1) | written[way];
	fill_count(counts, replaced);
	entries[way] = entry;
	written[way] = writes;
	return (struct evicted){replaced, dirty};
}
