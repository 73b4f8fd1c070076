/*
 * What was not found in generated code (inline.c), with AVX-512 where no vector register may change: plain_loop.h and deferred_loop.h with
 * saved_vectors.h, and all is put back behind them.
 */
#include "model/core/vectors.h"

#if defined(__x86_64__) && !defined(__AVX512F__)
#include "model/core/saved_vectors.h"
#else /* never called, or without: model->vectors says that they are there, not that they are worth it */
struct saved { char unused; };
static void save(struct saved *to) { (void)to; }
static void restore(const struct saved *from) { (void)from; }
#endif

#include "model/core/quick.h"
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

void quick_record_saved(struct core *core, uint64_t record, uint32_t page)
{
	struct saved saved;
	save(&saved);
	quick_record(core, record, page, true);
	if (__builtin_expect(core->deferred && core->deferred->n >= DEFERRED_MOST, 0))
		run_level(core, core->deferred);
	restore(&saved);
}

void deferred_run_saved(struct core *core, struct deferred *level)
{
	struct saved saved;
	save(&saved);
	run_level(core, level);
	restore(&saved);
}

#if defined(__x86_64__) && !defined(__AVX512F__)
/* A number below a time, as lines_least() does: the least of all is the first that is least. */
uint32_t vectors_least(const uint64_t *times, uint32_t n)
{
	static const uint64_t numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct saved saved;
	uint64_t fourth[8] __attribute__((aligned(64))), least;
	save(&saved);
	__asm__ volatile("vmovdqa64 %%zmm19, (%0)" : : "r"(fourth) : "memory");
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
	__asm__ volatile("vmovdqa64 (%0), %%zmm19" : : "r"(fourth) : "memory");
	restore(&saved);
	return least & 255;
}
#else
uint32_t vectors_least(const uint64_t *times, uint32_t n)
{
	return lines_least(times, n);
}
#endif
