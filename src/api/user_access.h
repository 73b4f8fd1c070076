/* The instructions of a reading without a system call: a counter of the PMU, the clock of its times, and whether
 * this CPU lets a program read at all. One header, so that a test can put another one in their place
 * (TARE_USER_ACCESS names it): rdpmc faults on machines without a PMU, and the protocol around it can be tested on
 * any.
 *
 * x86-64: rdpmc, whose operand is the page's index − 1 (linux/perf_event.h), and rdtsc (Intel SDM 2B; AMD APM 3).
 * arm64: PMEVCNTR<n>_EL0 (n = index − 1) and, as index 32, PMCCNTR_EL0 (Linux, Documentation/arm64/perf.rst);
 * CNTVCT_EL0, which is the kernel's sched_clock; PMUSERENR_EL0, which a program may always read and the others
 * only while it says so (Arm ARM, D13 "PMUSERENR_EL0"). When an administrator sets kernel.perf_user_access to 0,
 * Linux (6.1) clears PMUSERENR_EL0 on all CPUs at once, but the page of a thread that runs keeps its index until
 * that thread is scheduled the next time: its next reading would be an illegal instruction. So the register is
 * asked two instructions before each counter; what closes between these (an interrupt there, and the administrator
 * in it) still is one. x86-64 has nothing to ask: see tare.h on what writing 0 to a PMU's file `rdpmc` does. */
#ifndef TARE_API_USER_ACCESS_H
#define TARE_API_USER_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef TARE_USER_ACCESS
#include TARE_USER_ACCESS

#elif defined(__x86_64__)

#define USER_ACCESS 1

/* What is loaded of a page to know the register: its index. */
typedef uint32_t user_place;

/* The register of the page's index. False: it has none (0). The instructions clear the upper halves of rax and
 * rdx. */
static inline __attribute__((always_inline)) bool user_pmc(user_place index, uint64_t *value)
{
	uint64_t low, high;
	uint32_t number;
	if (__builtin_sub_overflow(index, 1u, &number))
		return false;
	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
	*value = high << 32 | low;
	return true;
}

static inline uint64_t user_cycles(void)
{
	uint64_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
}

#elif defined(__aarch64__)

#define USER_ACCESS 1

/* … the sequence number with the index above it. */
typedef uint64_t user_place;

/* A counter's number is part of the instruction: a table of them by the low six bits of the index, 8 bytes each
 * (16 where an indirect branch must meet a landing pad). PMUSERENR_EL0.ER is bit 3; Linux sets CR, for the cycle
 * counter, together with it. False: closed, index 0, or one that this library does not know. */
#ifdef __ARM_FEATURE_BTI_DEFAULT
#define USER_PMC_STEP "4"
#define USER_PMC_PAD "hint #36\n\t"
#define USER_PMC_FILL "nop\n\t"
#else
#define USER_PMC_STEP "3"
#define USER_PMC_PAD ""
#define USER_PMC_FILL ""
#endif
static inline __attribute__((always_inline)) bool user_pmc(user_place place, uint64_t *value)
{
	register uint64_t got __asm__("x16");
	__asm__ goto("ubfx %0, %1, #32, #6\n\t"
		     "adr x17, 1f\n\t"
		     "add x17, x17, %0, lsl #" USER_PMC_STEP "\n\t"
		     "mrs %0, pmuserenr_el0\n\t"
		     "tbz %w0, #3, %l[none]\n\t"
		     "br x17\n\t"
		     "1:\n\t" USER_PMC_PAD "b %l[none]\n\tnop\n\t" USER_PMC_FILL ".set user_pmc_n, 0\n\t"
		     ".rept 31\n\t" USER_PMC_PAD
		     ".inst 0xd53be810 + ((user_pmc_n / 8) << 8) + ((user_pmc_n %% 8) << 5)\n\t" /* mrs x16, … */
		     "b 2f\n\t" USER_PMC_FILL ".set user_pmc_n, user_pmc_n + 1\n\t"
		     ".endr\n\t" USER_PMC_PAD "mrs %0, pmccntr_el0\n\tb 2f\n\t" USER_PMC_FILL
		     ".rept 31\n\t" USER_PMC_PAD "b %l[none]\n\tnop\n\t" USER_PMC_FILL ".endr\n\t"
		     "2:"
		     : "=&r"(got)
		     : "r"(place)
		     : "x17", "memory"
		     : none);
	*value = got;
	return true;
none:
	return false;
}

static inline uint64_t user_cycles(void)
{
	uint64_t cycles;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles) : : "memory");
	return cycles;
}

#else

#define USER_ACCESS 0

static inline __attribute__((always_inline)) bool user_pmc(uint32_t index, uint64_t *value)
{
	(void)index;
	(void)value;
	return false;
}

static inline uint64_t user_cycles(void) { return 0; }

#endif

#endif
