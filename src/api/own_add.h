/* Counting in a thread and its signal handlers, without a lock: what is added belongs to one thread; other threads
 * only read it. */
#ifndef TARE_API_OWN_ADD_H
#define TARE_API_OWN_ADD_H

#include <stdatomic.h>
#include <stdint.h>

#if defined(__aarch64__)
/* The CPU adds to memory in one instruction (FEAT_LSE). Without it, what an exception comes between is done again:
 * OWN_ADD_AGAIN instructions more, which widen a region's ± (calibration.c). Set before main() by own_add.c. */
extern uint32_t own_add_whole __attribute__((visibility("hidden")));
#else
enum { own_add_whole = 1 };
#endif
#define OWN_ADD_AGAIN 4

/* Adds, so that a handler that interrupts may do the same; gives what was there before. On x86 one instruction
 * without its lock prefix is enough for that, and takes a fraction of the time. */
static inline uint64_t own_add(_Atomic uint64_t *to, uint64_t n)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__ volatile("xaddq %0, %1" : "+r"(n), "+m"(*to) : : "cc");
	return n;
#elif defined(__aarch64__) && !defined(__SANITIZE_THREAD__)
	uint64_t before, after;
	uint32_t failed;
	if (__builtin_expect(own_add_whole != 0, 1)) {
		__asm__ volatile(".arch_extension lse\n\tldadd %2, %0, %1" : "=r"(before), "+Q"(*to) : "r"(n));
		return before;
	}
	__asm__ volatile("1: ldxr %0, %3\n\t"
			 "add %1, %0, %4\n\t"
			 "stxr %w2, %1, %3\n\t"
			 "cbnz %w2, 1b"
			 : "=&r"(before), "=&r"(after), "=&r"(failed), "+Q"(*to)
			 : "Ir"(n));
	return before;
#else
	return atomic_fetch_add_explicit(to, n, memory_order_relaxed);
#endif
}

/* By the owner. (Other threads also read with this: an aligned load is one on every CPU that this is built for;
 * what compilers make of the atomic one is an address more on arm64.) */
static inline uint64_t own_get(const _Atomic uint64_t *of)
{
#ifdef __SANITIZE_THREAD__
	return atomic_load_explicit((_Atomic uint64_t *)of, memory_order_relaxed);
#else
	return *(const volatile uint64_t *)of;
#endif
}

/* Where no handler writes. */
static inline void own_set(_Atomic uint64_t *to, uint64_t value)
{
#ifdef __SANITIZE_THREAD__
	atomic_store_explicit(to, value, memory_order_relaxed);
#else
	*(volatile uint64_t *)to = value;
#endif
}

#endif
