/* In the place of src/api/user_access.h's instructions, for a build of libtare that runs where there is no PMU:
 *
 * - a register is a place in `replaced_registers`, the clock is `replaced_clock`. So a test can be the kernel that
 * changes page and register in between: it takes the registers' memory away, and its handler of the fault is the
 * interrupt (user_read_test.c).
 * - a counter's page is one of the test's, whatever the event.
 * - the times of these pages are not the kernel's; checks do not compare them. */
#ifndef TARE_TESTS_USER_ACCESS_REPLACED_H
#define TARE_TESTS_USER_ACCESS_REPLACED_H

#include <stdbool.h>
#include <stdint.h>

#define USER_ACCESS 1
typedef uint32_t user_place;

extern uint64_t *replaced_registers; /* [index] of the page */
extern uint64_t replaced_clock;
extern bool replaced_closed;
void *replaced_map(int fd);
void replaced_unmap(void *page);

#define USER_EVENT(event) true
#define USER_MAP(fd, bytes) replaced_map(fd)
#define USER_UNMAP(page, bytes) replaced_unmap(page)
#define USER_TIME_SLACK_NS (UINT64_C(1) << 60)

#ifdef REPLACED_X86

/* For counting: the x86-64 path as it is, with rdtsc in the place of rdpmc. Both are one instruction that fills
 * rax and rdx, so that the compiler makes the same of all else. */
static inline __attribute__((always_inline)) bool user_pmc(user_place index, uint64_t *value)
{
	uint64_t low, high;
	uint32_t number;
	if (__builtin_sub_overflow(index, 1u, &number))
		return false;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : "c"(number));
	*value = high << 32 | low;
	return true;
}

static inline uint64_t user_cycles(void)
{
	uint64_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
}

#else

static inline __attribute__((always_inline)) bool user_pmc(user_place index, uint64_t *value)
{
	if (!index || replaced_closed) /* as on arm64; x86-64 has nothing to ask */
		return false;
	*value = *(volatile uint64_t *)(replaced_registers + index);
	return true;
}

static inline uint64_t user_cycles(void)
{
	return *(volatile uint64_t *)&replaced_clock;
}

#endif

#endif
