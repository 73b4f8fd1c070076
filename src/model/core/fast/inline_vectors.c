/*
 * What inline checks did not find (inline.c), with AVX-512 where no vector register may change: the program's are
 * in them. simple_loop.h, lru_fast.h and request_loop.h with saved_vectors.h; the few registers used are put back.
 *
 * Equals   the same functions without vectors: simple_run(), lru_fast_access(), requests_run() of request_queue.c
 * For      processors with AVX-512 (processor.h)
 * Test     tests/model/inline_test.c (with and without vectors; registers are compared),
 *          tests/model/requests_test.c
 */
#include "model/core/fast/timed_lines.h"
#include "model/core/fast/vectors.h"
#include "model/core/fast/saved_vectors.h"
#include "model/core/fast/lru_fast.h"
#include "model/core/fast/request_loop.h"

bool simple_record_saved(struct core *core, uint64_t record)
{
	struct saved saved;
	bool done;
	save(&saved);
	done = simple_run(core, record);
	restore(&saved);
	return done;
}

static inline __attribute__((always_inline)) void lru_fast_saved(struct core *core, bool data, uint64_t record,
								 uint32_t page, uint32_t ways)
{
	struct saved saved;
	save(&saved);
	lru_fast_access_64(core, data, record, page, ways);
	if (__builtin_expect(core->requests->n >= REQUESTS_MOST, 0))
		run_level(core, core->requests);
	restore(&saved);
}

static __attribute__((noinline)) void lru_fast_data_any(struct core *core, uint64_t record, uint32_t page)
{
	lru_fast_saved(core, true, record, page, core->first_data->main.ways);
}

static __attribute__((noinline)) void lru_fast_fetch_any(struct core *core, uint64_t record, uint32_t page)
{
	lru_fast_saved(core, false, record, page, core->first_instruction->main.ways);
}

static __attribute__((noinline)) void lru_fast_data_12(struct core *core, uint64_t record, uint32_t page)
{
	lru_fast_saved(core, true, record, page, 12);
}

void lru_fast_data_saved(struct core *core, uint64_t record, uint32_t page)
{
	if (core->first_data->main.ways == 12)
		lru_fast_data_12(core, record, page);
	else if (core->first_data->main.ways == 8)
		lru_fast_saved(core, true, record, page, 8);
	else
		lru_fast_data_any(core, record, page);
}

void lru_fast_fetch_saved(struct core *core, uint64_t record, uint32_t page)
{
	if (core->first_instruction->main.ways == 8)
		lru_fast_saved(core, false, record, page, 8);
	else
		lru_fast_fetch_any(core, record, page);
}

static __attribute__((noinline)) void record_data_any(struct core *core, uint64_t record, uint32_t page)
{
	lru_fast_access(core, core->first_data, true, record, page, core->first_data->main.ways);
}

static __attribute__((noinline)) void record_fetch_any(struct core *core, uint64_t record, uint32_t page)
{
	lru_fast_access(core, core->first_instruction, false, record, page, core->first_instruction->main.ways);
}

void lru_fast_record_saved(struct core *core, uint64_t record, uint32_t page)
{
	struct saved saved;
	save(&saved);
	if (!(HIT_TYPE_OF(record) & HIT_DATA))
		record_fetch_any(core, record, page);
	else if (core->first_data->main.ways == 8)
		lru_fast_access(core, core->first_data, true, record, page, 8);
	else
		record_data_any(core, record, page);
	restore(&saved);
}

void requests_run_saved(struct core *core, struct request_queue *level)
{
	struct saved saved;
	save(&saved);
	run_level(core, level);
	restore(&saved);
}

#ifdef SIMPLE_ASM
/* A number below a time, as lines_least() does: the least of all is the first that is least. */
uint32_t vectors_least(const uint64_t *times, uint32_t n)
{
	static const uint64_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7},
			      eights[] = {0,   8,   16,  24,  32,  40,  48,  56,  64,  72,  80,
					  88,  96,  104, 112, 120, 128, 136, 144, 152, 160, 168,
					  176, 184, 192, 200, 208, 216, 224, 232, 240, 248};
	struct saved saved;
	uint64_t least;
	save(&saved);
	__asm__ volatile("vpternlogd $0xff, %%zmm16, %%zmm16, %%zmm16\n\tvmovdqa64 %%zmm16, %%zmm17"
			 :
			 :
			 : "memory");
	for (uint32_t i = 0; i < n; i += 8) {
		__asm__ volatile("vpsllq $8, (%0), %%zmm18\n\tvporq (%1), %%zmm18, %%zmm18\n\tvporq (%2)%{1to8%}, "
				 "%%zmm18, %%zmm18"
				 :
				 : "r"(times + i), "r"(numbers), "r"(eights + i / 8)
				 : "memory");
		if (i & 8)
			__asm__ volatile("vpminuq %%zmm18, %%zmm17, %%zmm17" : : : "memory");
		else
			__asm__ volatile("vpminuq %%zmm18, %%zmm16, %%zmm16" : : : "memory");
	}
	__asm__ volatile("vpminuq %%zmm17, %%zmm16, %%zmm16\n\tvshufi64x2 $0x4e, %%zmm16, %%zmm16, "
			 "%%zmm17\n\tvpminuq %%zmm17, %%zmm16, %%zmm16\n\t"
			 "vshufi64x2 $0xb1, %%zmm16, %%zmm16, %%zmm17\n\tvpminuq %%zmm17, %%zmm16, %%zmm16\n\t"
			 "vpermq $0xb1, %%zmm16, %%zmm17\n\tvpminuq %%zmm17, %%zmm16, %%zmm16\n\tvmovq %%xmm16, %0"
			 : "=r"(least)
			 :
			 : "memory");
	restore(&saved);
	return least & 255;
}
#else
uint32_t vectors_least(const uint64_t *times, uint32_t n) { return lines_least(times, n); }
#endif
