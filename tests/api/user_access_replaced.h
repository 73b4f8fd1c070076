/* In the place of src/api/user_access.h's instructions, for a build of libtare that runs where there is no PMU:
 *
 * - `rdpmc` is a load from `replaced_registers`, `rdtsc` one from `replaced_clock`: one instruction in place of one (and
 *   at most one more that clears the upper half), with the same operands. So what the path executes can be counted
 *   (user_path.c), and a test can be the kernel that changes page and register in between: it takes the registers'
 *   memory away, and its handler of the fault is the interrupt (user_read_test.c).
 * - a counter's page is one of the test's, whatever the event.
 * - the times of these pages are not the kernel's; checks do not compare them. */
#ifndef TARE_TESTS_USER_ACCESS_REPLACED_H
#define TARE_TESTS_USER_ACCESS_REPLACED_H

#include <stdbool.h>
#include <stdint.h>

#define USER_ACCESS 1

extern uint64_t *replaced_registers; /* [index] of the page */
extern uint64_t replaced_clock;
extern bool replaced_closed;
void *replaced_map(int fd);
void replaced_unmap(void *page);

#define USER_EVENT(event) true
#define USER_MAP(fd, bytes) replaced_map(fd)
#define USER_UNMAP(page, bytes) replaced_unmap(page)
#define USER_TIME_SLACK_NS (UINT64_C(1) << 60)

/* As on arm64; on x86-64 there is nothing to ask, and the path that is counted (REPLACED_X86) does not. */
static inline bool user_allowed(void)
{
#ifdef REPLACED_X86
	return true;
#else
	return !replaced_closed;
#endif
}

static inline __attribute__((always_inline)) bool user_pmc(uint32_t index, uint64_t *value)
{
	uint64_t low, high = 0;
	uint32_t number;
	if (__builtin_sub_overflow(index, 1u, &number))
		return false;
#if defined(__x86_64__)
	__asm__ volatile("movq 8(%3,%2,8), %0" : "=a"(low), "+d"(high) : "c"((uint64_t)number), "r"(replaced_registers) : "memory");
#else
	low = *(volatile uint64_t *)(replaced_registers + index);
#endif
	*value = high << 32 | low;
	return true;
}

static inline uint64_t user_cycles(void)
{
	uint64_t low, high = 0;
#if defined(__x86_64__)
	__asm__ volatile("movq %2, %0" : "=a"(low), "+d"(high) : "m"(replaced_clock));
#else
	low = *(volatile uint64_t *)&replaced_clock;
#endif
	return high << 32 | low;
}

#endif
