/*
 * Sets (set.h) with AVX-512 where no vector register may change (inline_vectors.c): zmm16 … zmm18 and k1 are used,
 * and put back. The compiler does not know of them: no other code of a file that includes this, nor what that
 * calls, may use them.
 *
 * Equals   set_find(), set_earliest(), set_rotate() of set.h in C
 * For      processors with AVX-512; sets of ASM_LEAST … ASM_MOST ways
 * Test     tests/model/inline_test.c, tests/model/requests_test.c (with and without vectors)
 */
#ifndef TARE_MODEL_CORE_FAST_SAVED_VECTORS_H
#define TARE_MODEL_CORE_FAST_SAVED_VECTORS_H

#include <stdint.h>

#if defined(__x86_64__) && !defined(__AVX512F__)

typedef uint64_t words8[8];

#define SIMPLE_ASM

struct saved {
	uint64_t zmm[3][8], k1;
} __attribute__((aligned(64)));

static inline __attribute__((always_inline)) void save(struct saved *to)
{
	__asm__ volatile("vmovdqa64 %%zmm16, (%1)\n\tvmovdqa64 %%zmm17, 64(%1)\n\tvmovdqa64 %%zmm18, 128(%1)\n\t"
			 "kmovq %%k1, 192(%1)"
			 : "=m"(*to)
			 : "r"(to));
}

static inline __attribute__((always_inline)) void restore(const struct saved *from)
{
	__asm__ volatile("vmovdqa64 (%0), %%zmm16\n\tvmovdqa64 64(%0), %%zmm17\n\tvmovdqa64 128(%0), %%zmm18\n\t"
			 "kmovq 192(%0), %%k1"
			 :
			 : "r"(from), "m"(*from));
}

/* Words are looked at eight at a time, the last eight perhaps twice. */
#define ASM_LEAST 8u
#define ASM_MOST 32u

/* Which of eight words are `word` but for the lower seven bits: bits. asm_wanted() comes first. */
static inline __attribute__((always_inline)) void asm_wanted(uint64_t word)
{
	__asm__ volatile("vpbroadcastq %0, %%zmm16" : : "r"(word >> 7));
}

static inline __attribute__((always_inline)) uint64_t asm_match(const uint64_t *words)
{
	uint64_t found;
	__asm__ volatile("vpsrlq $7, (%1), %%zmm17\n\tvpcmpeqq %%zmm16, %%zmm17, %%k1\n\tkmovb %%k1, %k0"
			 : "=r"(found)
			 : "r"(words), "m"(*(const words8 *)words));
	return found;
}

/* The first of ASM_LEAST … ASM_MOST words that is `word` but for the lower seven bits; `ways`: none. */
static inline __attribute__((always_inline)) uint32_t asm_find(const uint64_t *words, uint32_t ways, uint64_t word)
{
	uint64_t found;
	asm_wanted(word);
	found = asm_match(words) | 1ull << ways;
	if (ways > 16)
		found |= asm_match(words + 8) << 8;
	if (ways > 24)
		found |= asm_match(words + 16) << 16;
	if (ways > 8)
		found |= asm_match(words + ways - 8) << (ways - 8);
	return (uint32_t)__builtin_ctzll(found);
}

/* The first that is the smallest of 8 … 16 words. */
static inline __attribute__((always_inline)) uint32_t asm_least(const uint64_t *words, uint32_t ways)
{
	uint64_t low, high;
	__asm__ volatile("vmovdqu64 (%2), %%zmm16\n\tvpminuq (%3), %%zmm16, %%zmm17\n\t"
			 "vshufi64x2 $0x4e, %%zmm17, %%zmm17, %%zmm18\n\tvpminuq %%zmm18, %%zmm17, %%zmm17\n\t"
			 "vshufi64x2 $0xb1, %%zmm17, %%zmm17, %%zmm18\n\tvpminuq %%zmm18, %%zmm17, %%zmm17\n\t"
			 "vpshufd $0x4e, %%zmm17, %%zmm18\n\tvpminuq %%zmm18, %%zmm17, %%zmm17\n\t"
			 "vpcmpeqq %%zmm16, %%zmm17, %%k1\n\tkmovb %%k1, %k0\n\tvpcmpeqq (%3), %%zmm17, "
			 "%%k1\n\tkmovb %%k1, %k1"
			 : "=&r"(low), "=&r"(high)
			 : "r"(words), "r"(words + ways - 8), "m"(*(const words8 *)words),
			   "m"(*(const words8 *)(words + ways - 8)));
	return (uint32_t)__builtin_ctzll(low | high << (ways - 8));
}

/* Of eight words those in the mask become what the one in front of them was. */
static inline __attribute__((always_inline)) void asm_move_up(uint64_t *words, uint64_t mask)
{
	__asm__ volatile(
		"kmovd %2, %%k1\n\tvmovdqu64 -8(%1), %%zmm17%{%%k1%}%{z%}\n\tvmovdqu64 %%zmm17, (%1)%{%%k1%}"
		: "+m"(*(words8 *)words)
		: "r"(words), "r"((uint32_t)mask & 255), "m"(words[-1]));
}

/* Words 0 … way, of ASM_LEAST … ASM_MOST, move up by one; the last of them is gone. */
static inline __attribute__((always_inline)) void asm_rotate(uint64_t *words, uint32_t ways, uint32_t way,
							     uint64_t front)
{
	uint64_t moved = (2ull << way) - 1;
	if (ways > 24 && way >= 24)
		asm_move_up(words + 24, moved >> 24);
	if (ways > 16 && way >= 16)
		asm_move_up(words + 16, moved >> 16);
	if (ways > 8)
		asm_move_up(words + 8, moved >> 8);
	__asm__ volatile("vpbroadcastq %2, %%zmm17\n\tvmovdqu64 (%1), %%zmm16\n\tvalignq $7, %%zmm17, %%zmm16, "
			 "%%zmm16\n\tkmovd %3, %%k1\n\t"
			 "vmovdqu64 %%zmm16, (%1)%{%%k1%}"
			 : "+m"(*(words8 *)words)
			 : "r"(words), "r"(front), "r"((uint32_t)moved & 255));
}

#else /* never called, or without: model->vectors says that they are there, not that they are worth it */

struct saved {
	char unused;
};
static void save(struct saved *to) { (void)to; }
static void restore(const struct saved *from) { (void)from; }

#endif

#endif
