/* On hardware an interrupt adds an instruction to a count, and a hypervisor's PMU may lose some: a difference of two
 * counts may be off to both sides. What disturbs is rare in a short loop, and differs from time to time: of many counts
 * of the same work the most common one is undisturbed. */
#ifndef TARE_TESTS_VM_MOST_COMMON_H
#define TARE_TESTS_VM_MOST_COMMON_H

#include <stddef.h>
#include <stdint.h>

/* Of those that are equally common the first. n > 0 */
static inline uint64_t most_common(const uint64_t *counts, size_t n)
{
	size_t best = 0, most = 0;
	for (size_t i = 0; i < n; i++) {
		size_t same = 0;
		for (size_t j = i; j < n; j++)
			same += counts[j] == counts[i];
		if (same > most) {
			most = same;
			best = i;
		}
	}
	return counts[best];
}

#endif
