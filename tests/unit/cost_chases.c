/* The chases by which tare measures costs, as functions of their own, so that what they miss can be counted on a declared
 * machine: cost_chases L1 L2 L3 LINE PAGE FIRST_TLB SECOND_TLB (bytes; entries; 0: there is none). Prints how many steps
 * each makes. */
#include <stdio.h>
#include <stdlib.h>

#include "explain/measure.h"

enum { STEPS = 10000 }; /* a multiple of the parts that a chase is timed by */

static const struct cost_timer timer = {.ns_per_tick = 1};

#define WALK(name)                                                                                                \
	__attribute__((noipa)) static void name(struct cost_chase *c)                                             \
	{                                                                                                         \
		cost_chase_run(c, &timer, STEPS, false);                                                          \
		__asm__ volatile("");                                                                             \
	}
WALK(l1)
WALK(l2)
WALK(l3)
WALK(memory)
WALK(near_packed)
WALK(near_spread)
WALK(far_packed)
WALK(far_spread)

int main(int argc, char **argv)
{
	static void (*const walks[COST_SETS])(struct cost_chase *) = {
		[COST_SET_L1] = l1,
		[COST_SET_L2] = l2,
		[COST_SET_L3] = l3,
		[COST_SET_MEMORY] = memory,
		[COST_SET_NEAR_PACKED] = near_packed,
		[COST_SET_NEAR_SPREAD] = near_spread,
		[COST_SET_FAR_PACKED] = far_packed,
		[COST_SET_FAR_SPREAD] = far_spread,
	};
	struct cost_geometry g = {0};
	uint64_t *const numbers[] = {&g.l1_bytes,   &g.l2_bytes,  &g.l3_bytes,  &g.line_bytes,
				     &g.page_bytes, &g.first_tlb, &g.second_tlb};
	struct cost_set sets[COST_SETS];
	struct cost_chase *chases[COST_SETS] = {NULL};
	if (argc != 8)
		return 2;
	for (int i = 0; i < 7; i++)
		*numbers[i] = strtoull(argv[i + 1], NULL, 10);
	cost_sets_of(&g, UINT64_MAX, sets);
	for (unsigned i = 0; i < COST_SETS; i++)
		if (sets[i].lines && !(chases[i] = cost_chase_new(sets[i].lines, sets[i].stride, g.line_bytes,
								  sets[i].small_pages)))
			return 1;
	/* As the experiments each set is warmed before. Of memory's, half of the circle: what linking the lines left in the
	 * last cache is gone then. */
	for (unsigned i = 0; i < COST_SETS; i++) {
		if (!chases[i] || !walks[i])
			continue;
		if (i == COST_SET_MEMORY)
			cost_chase_run(chases[i], &timer, sets[i].lines / 2, false);
		else
			cost_chase_run(chases[i], &timer, STEPS, true);
		walks[i](chases[i]);
	}
	for (unsigned i = 0; i < COST_SETS; i++)
		cost_chase_free(chases[i]);
	printf("%d\n", STEPS);
	return 0;
}
