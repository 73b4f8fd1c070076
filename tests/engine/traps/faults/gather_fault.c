/* fact: a gather that faults in a lane keeps the lanes done and the mask of those that remain
 * build: -mavx2
 * needs: avx2 */
#include "trap.h"
#include <immintrin.h>

static int *table;
static long faults;
static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	faults++;
	mprotect((char *)table + 4096, 4096, PROT_READ | PROT_WRITE);
}

int main(void)
{
	table = map_anywhere(8192, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 2048; i++)
		table[i] = i * 3;
	on_signal(SIGSEGV, handler, 0);
	mprotect((char *)table + 4096, 4096, PROT_NONE);
	__m256i index = _mm256_setr_epi32(1, 5, 9, 1024, 1500, 3, 2000, 7);
	__m256i mask = _mm256_setr_epi32(-1, -1, -1, 0, 0, -1, 0, -1);
	int out[8];
	_mm256_storeu_si256((__m256i *)out,
			    _mm256_mask_i32gather_epi32(_mm256_set1_epi32(-9), table, index, mask, 4));
	fact_equal(faults, 0, "masked lanes do not fault");
	fact(out[0] == 3 && out[3] == -9 && out[6] == -9 && out[7] == 21, "masked lanes keep their value");
	_mm256_storeu_si256((__m256i *)out, _mm256_i32gather_epi32(table, index, 4));
	bool right = true;
	for (int i = 0; i < 8; i++)
		right &= out[i] == ((int *)&index)[i] * 3;
	fact_equal(faults, 1, "the full gather faulted once");
	fact(right, "the repaired gather has all lanes");
	mprotect((char *)table + 4096, 4096, PROT_NONE);
	_mm256_maskstore_epi32(table + 1020, _mm256_setr_epi32(-1, -1, -1, -1, 0, 0, 0, 0), _mm256_set1_epi32(77));
	fact_equal(faults, 1, "a masked store beside an unmapped page does not fault");
	fact(table[1020] == 77 && table[1023] == 77, "its unmasked lanes are stored");
	_mm256_maskstore_epi32(table + 1020, _mm256_set1_epi32(-1), _mm256_set1_epi32(78));
	fact_equal(faults, 2, "with all lanes it faults");
	fact(table[1024] == 78, "and is restarted");
	return trap_done();
}
