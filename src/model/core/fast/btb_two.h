/*
 * A set of two ways of a branch target buffer, replaced by LRU: the branch that was used last stands first, so
 * that a hit on it, which in a loop is nearly each one, moves nothing.
 *
 * Equals   targets_look_up() of predict/targets.c, without its short way
 * For      BTBs of two ways with LRU, whole tags, and no counters of their own
 * Test     tests/unit/model_branch_test.c, tests/model/branches_test.c
 */
#ifndef TARE_MODEL_CORE_FAST_BTB_TWO_H
#define TARE_MODEL_CORE_FAST_BTB_TWO_H

#include <stdbool.h>
#include <stdint.h>

/*
 * words[0] is of the way that was used last: its branch's key from TWO_KEY on, TWO_VALID:
 * targets[] has its target; bit 0: which way words[i] is of, xor i. So a branch that stores no target moves two
 * words, always the same ones: the next look-up of the set waits for no address.
 */
struct btb_two {
	uint64_t words[2], targets[2];
};
enum { TWO_KEY = 2, TWO_VALID = 2 };
struct found_two {
	bool hit, enters;
	uint64_t before; /* words[0] is the branch's now; what it had */
};
/* Without jumps: sets of two ways are of small BTBs, which miss often. misses_enter: a branch that misses gets an
 * entry. */
static inline __attribute__((always_inline)) struct found_two targets_two(struct btb_two *set, uint64_t key,
									  bool misses_enter)
{
	const uint64_t a = set->words[0], b = set->words[1], word = key << TWO_KEY;
	if ((a ^ word) >> TWO_KEY == 0) /* nothing moves; and in a loop that is so nearly always */
		return (struct found_two){true, true, a};
	const uint64_t second = (b ^ word) >> TWO_KEY == 0, enters = second | misses_enter;
	const uint64_t now = b ^ ((b ^ (word | (b & 1))) & (second - 1)) ^ 1; /* by masks: gcc jumps by a `?` */
	set->words[0] = a ^ ((a ^ now) & (0 - enters));
	set->words[1] = b ^ ((b ^ a ^ 1) & (0 - enters));
	return (struct found_two){second, enters, now};
}
static inline uint64_t targets_two_had(const struct btb_two *set, const struct found_two *found)
{
	return found->hit && found->before & TWO_VALID ? set->targets[found->before & 1] : 0;
}
static inline void targets_two_store(struct btb_two *set, const struct found_two *found, uint64_t target)
{
	if (!found->enters)
		return;
	set->words[0] |= TWO_VALID;
	set->targets[found->before & 1] = target;
}

#endif
