/*
 * flatten_loop.h and simple_loop.h for AVX-512: see vectors.h.
 *
 * Equals   flatten_run(), simple_run() as batch.c has them
 * For      processors with AVX-512
 * Test     tests/model/run_test.c (with and without vectors)
 */
#include "model/core/fast/vectors.h"

#ifdef __x86_64__
#ifdef __clang__
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2"))),              \
			     apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2")
#include <immintrin.h>
#endif

/* From memory, one operand each: gcc 12 would make them anew for every block. */
static const uint64_t constants[] = {HIT_ADDRESS, HIT_SIMPLE, HIT_IRREGULAR, ~HIT_ADDRESS};

/* Of values that are among the seven behind the header: eight records, however many there are. */
static inline __attribute__((always_inline)) void eight_records(const uint16_t *hows, const int64_t *displacements,
								const uint64_t *entry, uint64_t *to)
{
	const uint64_t *c = constants;
	__asm__("" : "+r"(c));
	__m512i how = _mm512_cvtepu16_epi64(_mm_loadu_si128((const void *)hows));
	__m512i value = _mm512_permutexvar_epi64(_mm512_srli_epi64(how, 7), _mm512_loadu_si512(entry));
	__m512i address = _mm512_add_epi64(value, _mm512_loadu_si512(displacements));
	__m512i zeros = _mm512_or_epi64(_mm512_srli_epi64(how, 10), _mm512_set1_epi64((long long)c[3]));
	__mmask8 irregular = _mm512_test_epi64_mask(address, zeros);
	__m512i which = _mm512_mask_mov_epi64(_mm512_set1_epi64((long long)c[1]), irregular,
					      _mm512_set1_epi64((long long)c[2]));
	address = _mm512_and_epi64(address, _mm512_set1_epi64((long long)c[0]));
	/* | | */
	_mm512_storeu_si512(to, _mm512_ternarylogic_epi64(address, _mm512_slli_epi64(how, 57), which, 0xfe));
}

#define FLATTEN_EIGHT eight_records
#define SIMPLE_VECTORS
#include "model/core/fast/flatten_loop.h"
#include "model/core/fast/simple_loop.h"

size_t flatten_vectors(struct core *core, struct batch *batch, const struct trace_program *program,
		       const uint64_t *entries, size_t i, size_t n)
{
	return core->branches ? flatten_run(core, batch, program, entries, i, n, true)
			      : flatten_run(core, batch, program, entries, i, n, false);
}

bool simple_record_vectors(struct core *core, uint64_t record) { return simple_run(core, record); }

#ifdef __clang__
#pragma clang attribute pop
#endif

#else /* never called */
size_t flatten_vectors(struct core *core, struct batch *batch, const struct trace_program *program,
		       const uint64_t *entries, size_t i, size_t n)
{
	(void)core, (void)batch, (void)program, (void)entries, (void)n;
	return i;
}

bool simple_record_vectors(struct core *core, uint64_t record)
{
	(void)core, (void)record;
	return false;
}
#endif
