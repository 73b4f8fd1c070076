#include "backend/perf/sample/gaps.h"

#include <stdbool.h>

double random_exponential(struct random *random)
{
	/* A first number that begins a falling run of odd length is distributed as exp(-x) on [0, 1); each
	 * failure adds 1, and happens with the chance 1/e. */
	for (double whole = 0;; whole++) {
		double first = random_unit(random), last = first;
		bool odd = true;
		for (double next; (next = random_unit(random)) < last; last = next)
			odd = !odd;
		if (odd)
			return whole + first;
	}
}

uint64_t gap_mean(enum profile_gaps gaps, uint64_t gap) { return gaps == GAPS_JITTER ? gap + gap / 16 : gap; }

uint64_t gap_draw(struct random *random, enum profile_gaps gaps, uint64_t gap)
{
	switch (gaps) {
	case GAPS_EXPONENTIAL: {
		/* beyond 2^62 the kernel takes none; a gap is never that long */
		double drawn = (1 + random_exponential(random)) * (double)gap / 2 + 0.5;
		return drawn < 1 ? 1 : drawn > 0x1p62 ? 1ull << 62 : (uint64_t)drawn;
	}
	case GAPS_JITTER: return gap + random_below(random, gap / 8 + 1);
	case GAPS_NONE:
	case GAPS_FIXED:
	case GAPS_RATE: break;
	}
	return gap;
}
