/* A known number of instructions for programs in other languages. */
#include <stdint.h>

void tare_test_loop(uint64_t turns);

/* Exactly 2 × turns instructions at user level, and the same number beside them at each call. turns > 0 */
__attribute__((noinline)) void tare_test_loop(uint64_t turns)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#elif defined(__x86_64__)
	__asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(turns) : : "cc");
#else
#error "a loop of two instructions for this CPU"
#endif
}
