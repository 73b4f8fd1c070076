/* Blocks into records, one by one: see flatten_loop.h. */
#include "model/core/flatten_loop.h"

bool flatten_has_vectors(void)
{
#ifdef __x86_64__
	uint32_t a = 1, b, c = 0, d, low, high;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (!(c >> 27 & 1)) /* OSXSAVE */
		return false;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	if ((low & 0xe6) != 0xe6) /* XMM, YMM, masks and ZMM are kept */
		return false;
	a = 7, c = 0;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return (b & 0xc0030100) == 0xc0030100; /* AVX512F, DQ, BW, VL; BMI2 */
#else
	return false;
#endif
}

size_t flatten(struct core *core, struct batch *batch, const struct trace_program *program, const uint64_t *entries, size_t i, size_t n)
{
	if (core->pending != NO_BLOCK && !(entries[i] & TRACE_MARK))
		resolve(core, program, program->blocks[(uint32_t)entries[i]].pc);
#ifdef __x86_64__
	if (core->model->vectors)
		return flatten_vectors(core, batch, program, entries, i, n);
#endif
	return core->branches ? flatten_run(core, batch, program, entries, i, n, true) : flatten_run(core, batch, program, entries, i, n, false);
}
