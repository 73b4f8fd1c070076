/* Blocks into records, eight at once: see flatten_loop.h. Called if flatten_has_vectors(). */
#ifdef __x86_64__
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2")
#include <immintrin.h>

#include "model/core/plan.h"

/* The plan's records from `from` on, of values that are among the seven behind the header: eight, whatever lies behind the last one. */
static inline __attribute__((always_inline)) void eight(const struct plan *plan, const uint64_t *entry, unsigned from, uint64_t *to,
							uint64_t lines)
{
	const __m512i low_byte = _mm512_set1_epi64(0xff), address = _mm512_set1_epi64(HIT_ADDRESS);
	__m512i how = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)(plan_hows(plan) + from)));
	__m512i low = _mm512_add_epi64(_mm512_permutexvar_epi64(how, _mm512_loadu_si512(entry)), _mm512_loadu_si512(plan->displacement + from));
	__m512i high = _mm512_add_epi64(low, _mm512_and_epi64(_mm512_srli_epi64(how, 8), low_byte));
	/* (low ^ high) & lines */
	__m512i crosses = _mm512_ternarylogic_epi64(low, high, _mm512_set1_epi64((long long)lines), 0x28);
	/* misaligned, or above the address: low & (how's byte | ~address) */
	__m512i byte = _mm512_and_epi64(_mm512_srli_epi64(how, 16), low_byte);
	__m512i outside = _mm512_ternarylogic_epi64(low, byte, address, 0xd0);
	/* address ? low : how's upper byte */
	__m512i record = _mm512_ternarylogic_epi64(address, low, _mm512_slli_epi64(how, 32), 0xca);
	__m512i odd = _mm512_or_epi64(crosses, outside);
	__m512i if_odd = _mm512_ternarylogic_epi64(record, _mm512_set1_epi64((long long)HIT_PLAIN), _mm512_set1_epi64((long long)HIT_ODD), 0xba);
	_mm512_storeu_si512(to, _mm512_mask_mov_epi64(record, _mm512_test_epi64_mask(odd, odd), if_odd));
}

#define FLATTEN_EIGHT eight
#include "model/core/flatten_loop.h"

size_t flatten_vectors(struct core *core, struct batch *batch, const struct trace_program *program, const uint64_t *entries, size_t i, size_t n)
{
	return core->branches ? flatten_run(core, batch, program, entries, i, n, true) : flatten_run(core, batch, program, entries, i, n, false);
}
#endif
