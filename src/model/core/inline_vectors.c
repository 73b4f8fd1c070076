/*
 * plain_loop.h for what was not found in generated code (inline.c), with AVX-512 where no vector register may change: the few that are used are
 * put back. The compiler does not know of them: what it makes of this file, and of all that it calls, has no business in zmm16 … zmm19, k1.
 */
#include "model/core/vectors.h"

#if defined(__x86_64__) && !defined(__AVX512F__)

struct saved {
	uint64_t zmm[4][8], k1;
} __attribute__((aligned(64)));

static inline __attribute__((always_inline)) void save(struct saved *to)
{
	__asm__ volatile("vmovdqa64 %%zmm16, (%0)\n\tvmovdqa64 %%zmm17, 64(%0)\n\tvmovdqa64 %%zmm18, 128(%0)\n\tvmovdqa64 %%zmm19, 192(%0)\n\t"
			 "kmovq %%k1, 256(%0)" : : "r"(to) : "memory");
}

static inline __attribute__((always_inline)) void restore(const struct saved *from)
{
	__asm__ volatile("vmovdqa64 (%0), %%zmm16\n\tvmovdqa64 64(%0), %%zmm17\n\tvmovdqa64 128(%0), %%zmm18\n\tvmovdqa64 192(%0), %%zmm19\n\t"
			 "kmovq 256(%0), %%k1" : : "r"(from) : "memory");
}

#define PLAIN_ASM

/* Which of up to 16 words are `word` but for the lower seven bits: the first one's number; `ways`: none. Sixteen may be read. */
static inline __attribute__((always_inline)) uint32_t asm_find(const uint64_t *words, uint32_t ways, uint64_t word)
{
	uint32_t low, high = 0;
	__asm__ volatile("vpbroadcastq %2, %%zmm16\n\tvpsrlq $7, (%1), %%zmm17\n\tvpcmpeqq %%zmm16, %%zmm17, %%k1\n\tkmovb %%k1, %0"
			 : "=r"(low) : "r"(words), "r"(word >> 7) : "memory");
	if (ways > 8)
		__asm__ volatile("vpsrlq $7, 64(%1), %%zmm17\n\tvpcmpeqq %%zmm16, %%zmm17, %%k1\n\tkmovb %%k1, %0" : "=r"(high) : "r"(words) : "memory");
	low = (low | high << 8) & ((1u << ways) - 1);
	return (uint32_t)__builtin_ctz(low | 1u << ways);
}

/* The number of the smallest of up to 16 words. */
static inline __attribute__((always_inline)) uint32_t asm_least(const uint64_t *words, uint32_t ways)
{
	uint32_t all = (1u << ways) - 1, low, high;
	__asm__ volatile("vpternlogd $0xff, %%zmm16, %%zmm16, %%zmm16\n\tvmovdqa64 %%zmm16, %%zmm17\n\t"
			 "kmovd %3, %%k1\n\tvmovdqu64 (%2), %%zmm16%{%%k1%}\n\tkmovd %4, %%k1\n\tvmovdqu64 64(%2), %%zmm17%{%%k1%}\n\t"
			 "vpminuq %%zmm16, %%zmm17, %%zmm18\n\tvshufi64x2 $0x4e, %%zmm18, %%zmm18, %%zmm19\n\tvpminuq %%zmm19, %%zmm18, %%zmm18\n\t"
			 "vshufi64x2 $0xb1, %%zmm18, %%zmm18, %%zmm19\n\tvpminuq %%zmm19, %%zmm18, %%zmm18\n\t"
			 "vpermq $0xb1, %%zmm18, %%zmm19\n\tvpminuq %%zmm19, %%zmm18, %%zmm18\n\t"
			 "vpcmpeqq %%zmm16, %%zmm18, %%k1\n\tkmovb %%k1, %0\n\tvpcmpeqq %%zmm17, %%zmm18, %%k1\n\tkmovb %%k1, %1"
			 : "=&r"(low), "=&r"(high) : "r"(words), "r"(all & 255), "r"(all >> 8) : "memory");
	return (uint32_t)__builtin_ctz(low | high << 8);
}

/* Words 0 … way, of up to 16, move up by one; the last of them is gone. */
static inline __attribute__((always_inline)) void asm_rotate(uint64_t *words, uint32_t way, uint64_t front)
{
	uint32_t moved = (2u << way) - 1;
	__asm__ volatile("vpbroadcastq %1, %%zmm18\n\tkmovd %2, %%k1\n\tvmovdqu64 (%0), %%zmm16%{%%k1%}%{z%}\n\tvalignq $7, %%zmm18, %%zmm16, %%zmm19"
			 : : "r"(words), "r"(front), "r"(moved & 255) : "memory");
	if (way > 7)
		__asm__ volatile("kmovd %1, %%k1\n\tvmovdqu64 64(%0), %%zmm17%{%%k1%}%{z%}\n\tvalignq $7, %%zmm16, %%zmm17, %%zmm17\n\t"
				 "vmovdqu64 %%zmm17, 64(%0)%{%%k1%}\n\tkmovd %2, %%k1" : : "r"(words), "r"(moved >> 8), "r"(255u) : "memory");
	__asm__ volatile("vmovdqu64 %%zmm19, (%0)%{%%k1%}" : : "r"(words) : "memory");
}

#include "model/core/plain_loop.h"
#include "model/core/deferred_loop.h"

bool plain_record_saved(struct core *core, uint64_t record)
{
	struct saved saved;
	bool done;
	save(&saved);
	done = plain_run(core, record);
	restore(&saved);
	return done;
}

void deferred_run_saved(struct core *core, struct deferred *level)
{
	struct saved saved;
	save(&saved);
	run_level(core, level);
	restore(&saved);
}

/* A number below a time, as lines_least() does: the least of all is the first that is least. */
uint32_t vectors_least(const uint64_t *times, uint32_t n)
{
	static const uint64_t numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct saved saved;
	uint64_t least;
	save(&saved);
	__asm__ volatile("vmovdqu64 (%0), %%zmm19\n\tvpternlogd $0xff, %%zmm16, %%zmm16, %%zmm16\n\tvmovdqa64 %%zmm16, %%zmm17" : : "r"(numbers) : "memory");
	for (uint32_t i = 0; i < n; i += 8) {
		__asm__ volatile("vpsllq $8, (%0), %%zmm18\n\tvporq %%zmm19, %%zmm18, %%zmm18\n\tvpaddq 64(%1)%{1to8%}, %%zmm19, %%zmm19"
				 : : "r"(times + i), "r"(numbers) : "memory");
		if (i & 8)
			__asm__ volatile("vpminuq %%zmm18, %%zmm17, %%zmm17" : : : "memory");
		else
			__asm__ volatile("vpminuq %%zmm18, %%zmm16, %%zmm16" : : : "memory");
	}
	__asm__ volatile("vpminuq %%zmm17, %%zmm16, %%zmm16\n\tvshufi64x2 $0x4e, %%zmm16, %%zmm16, %%zmm17\n\tvpminuq %%zmm17, %%zmm16, %%zmm16\n\t"
			 "vshufi64x2 $0xb1, %%zmm16, %%zmm16, %%zmm17\n\tvpminuq %%zmm17, %%zmm16, %%zmm16\n\t"
			 "vpermq $0xb1, %%zmm16, %%zmm17\n\tvpminuq %%zmm17, %%zmm16, %%zmm16\n\tvmovq %%xmm16, %0" : "=r"(least) : : "memory");
	restore(&saved);
	return least & 255;
}

#else /* never called, or without: model->vectors says that they are there, not that they are worth it */
#include "model/core/plain_loop.h"
bool plain_record_saved(struct core *core, uint64_t record)
{
	return plain_run(core, record);
}

void deferred_run_saved(struct core *core, struct deferred *level)
{
	deferred_run(core, level);
}

uint32_t vectors_least(const uint64_t *times, uint32_t n)
{
	return lines_least(times, n);
}
#endif
