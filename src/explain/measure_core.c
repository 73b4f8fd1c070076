/* Experiments on the core: dependent and independent operations, branches, system calls. See measure.h. */
#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "explain/measure.h"

/* The value is in a register here, and may be any from here on: the compiler merges no two steps. */
#define STEP(x) __asm__ volatile("" : "+r"(x))
#if defined(__x86_64__)
#define STEP_DOUBLE(x) __asm__ volatile("" : "+x"(x))
#elif defined(__aarch64__)
#define STEP_DOUBLE(x) __asm__ volatile("" : "+w"(x))
#else
#define STEP_DOUBLE(x) __asm__ volatile("" : "+m"(x))
#endif

/* Steps of one round: about a millisecond, so that most rounds are not interrupted. */
enum { ADDITIONS = 2000000, DIVISIONS = 200000, BRANCHES = 200000, CALLS = 4000, SIDE_BY_SIDE = 8 };

uint64_t cost_ticks(void)
{
#if defined(__x86_64__)
	uint32_t low, high;
	/* what came before is done, what comes after has not begun (Intel SDM vol. 2, RDTSC) */
	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#else
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

static double ns_of(const struct cost_timer *timer, uint64_t begin, uint64_t end, double steps)
{
	return (double)(end - begin) * timer->ns_per_tick / steps;
}

static double additions(const struct cost_timer *timer, unsigned chains)
{
	uint64_t x[SIDE_BY_SIDE] = {1, 2, 3, 4, 5, 6, 7, 8}, y = 3;
	uint64_t a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7];
	STEP(y);
	uint64_t begin = cost_ticks();
#define ADD(v) v += y, ({ STEP(v); })
	if (chains == 1)
		for (unsigned i = 0; i < ADDITIONS / 32; i++) {
#define FOUR(v) ADD(v), ADD(v), ADD(v), ADD(v)
			FOUR(a), FOUR(a), FOUR(a), FOUR(a), FOUR(a), FOUR(a), FOUR(a), FOUR(a);
		}
	else if (chains == 2)
		for (unsigned i = 0; i < ADDITIONS / 32; i++) {
#define PAIR ADD(a), ADD(b)
#define EIGHT PAIR, PAIR, PAIR, PAIR
			EIGHT, EIGHT, EIGHT, EIGHT;
		}
	else
		for (unsigned i = 0; i < ADDITIONS / 32; i++) {
#define ALL ADD(a), ADD(b), ADD(c), ADD(d), ADD(e), ADD(f), ADD(g), ADD(h)
			ALL, ALL, ALL, ALL;
		}
	return ns_of(timer, begin, cost_ticks(), ADDITIONS);
}

/* Two chains of additions would wait for themselves; eight leave room for the loads. */
static double mixed(const struct cost_timer *timer)
{
	uint64_t x[SIDE_BY_SIDE] = {1, 2, 3, 4, 5, 6, 7, 8}, y = 3;
	uint64_t a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7];
	const volatile uint64_t *cells = x;
	STEP(y);
	uint64_t begin = cost_ticks();
#define LOAD(i) (void)cells[i]
	for (unsigned i = 0; i < ADDITIONS / 24; i++) {
		ADD(a), ADD(b), LOAD(0), ADD(c), ADD(d), LOAD(1), ADD(e), ADD(f), LOAD(2), ADD(g), ADD(h), LOAD(3);
		ADD(a), ADD(b), LOAD(4), ADD(c), ADD(d), LOAD(5), ADD(e), ADD(f), LOAD(6), ADD(g), ADD(h), LOAD(7);
	}
	return ns_of(timer, begin, cost_ticks(), ADDITIONS / 24 * 24);
}

static double divisions(const struct cost_timer *timer, bool apart)
{
	double a = 1.7, b = 1.9, c = 2.3, d = 2.9, y = 1.0000001;
	STEP_DOUBLE(y);
	uint64_t begin = cost_ticks();
#define DIVIDE(v) v /= y, ({ STEP_DOUBLE(v); })
	if (apart)
		for (unsigned i = 0; i < DIVISIONS / 4; i++)
			DIVIDE(a), DIVIDE(b), DIVIDE(c), DIVIDE(d);
	else
		for (unsigned i = 0; i < DIVISIONS / 4; i++)
			DIVIDE(a), DIVIDE(a), DIVIDE(a), DIVIDE(a);
	return ns_of(timer, begin, cost_ticks(), DIVISIONS);
}

static double roots(const struct cost_timer *timer, bool apart)
{
	double a = 1.7, b = 1.9, c = 2.3, d = 2.9;
	uint64_t begin = cost_ticks();
#define ROOT(v) v = __builtin_sqrt(v), ({ STEP_DOUBLE(v); })
	if (apart)
		for (unsigned i = 0; i < DIVISIONS / 4; i++)
			ROOT(a), ROOT(b), ROOT(c), ROOT(d);
	else
		for (unsigned i = 0; i < DIVISIONS / 4; i++)
			ROOT(a), ROOT(a), ROOT(a), ROOT(a);
	return ns_of(timer, begin, cost_ticks(), DIVISIONS);
}

/* The same instructions with and without a random bit: the bit that is tested is that of `mask` alone. Of two
 * paths with something to do each, the compiler makes a branch. */
static double branches(const struct cost_timer *timer, uint64_t mask)
{
	uint64_t x = cost_ticks() | 1, sum = 0, other = 0;
	STEP(mask);
	uint64_t begin = cost_ticks();
	for (unsigned i = 0; i < BRANCHES; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* xorshift64 (Marsaglia 2003) */
		if (x & mask) {
			sum++;
			STEP(sum);
		} else {
			other++;
			STEP(other);
		}
	}
	return ns_of(timer, begin, cost_ticks(), BRANCHES);
}

static double calls(const struct cost_timer *timer)
{
	uint64_t begin = cost_ticks();
	for (unsigned i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return ns_of(timer, begin, cost_ticks(), CALLS);
}

double cost_core(const struct cost_timer *timer, enum cost_experiment experiment)
{
	switch (experiment) {
	case EXPERIMENT_DEPENDENT: return additions(timer, 1);
	case EXPERIMENT_TWO_CHAINS: return additions(timer, 2);
	case EXPERIMENT_INDEPENDENT: return additions(timer, SIDE_BY_SIDE);
	case EXPERIMENT_MIXED: return mixed(timer);
	case EXPERIMENT_DIVIDES: return divisions(timer, false);
	case EXPERIMENT_DIVIDES_APART: return divisions(timer, true);
	case EXPERIMENT_ROOTS: return roots(timer, false);
	case EXPERIMENT_ROOTS_APART: return roots(timer, true);
	case EXPERIMENT_BRANCH_PREDICTABLE: return branches(timer, 0);
	case EXPERIMENT_BRANCH_RANDOM: return branches(timer, 1u << 20);
	case EXPERIMENT_SYSTEM_CALL: return calls(timer);
	default: return NAN;
	}
}
