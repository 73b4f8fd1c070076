/*
 * See processor.h. Intel SDM, volume 1, 14.3 and 15.2: the system keeps the registers (XGETBV), and the processor
 * has the instructions.
 *
 * Equals   as processor.h
 * For      as processor.h
 * Test     as processor.h
 */
#include "model/core/fast/processor.h"

#ifdef __x86_64__
#include <cpuid.h>

enum vectors vectors_here(void)
{
	const unsigned wide = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL | bit_BMI | bit_BMI2;
	unsigned a, b, c, d, low, high;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return VECTORS_NONE;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	if ((low & 0x06) != 0x06 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) /* XMM and YMM */
		return VECTORS_NONE;
	if ((low & 0xe6) == 0xe6 && (b & wide) == wide) /* and the masks and ZMM */
		return VECTORS_AVX512;
	return b & bit_AVX2 ? VECTORS_AVX2 : VECTORS_NONE;
}
#else
enum vectors vectors_here(void) { return VECTORS_NONE; }
#endif
