/* The parts of a branch predictor, for branch.c only: each has its state as a struct in struct branches and its tables behind it, at
   offsets from there. All memory begins as zeros; a table that would have to begin otherwise stores the difference. */
#ifndef TARE_MODEL_CORE_PREDICT_H
#define TARE_MODEL_CORE_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/branch.h"
#include "model/core/machine.h"

/* ---- direction.c: static, bimodal, local, gshare, tournament ---- */

struct counters { uint64_t at; uint32_t mask; uint8_t initial, max, half, unused; }; /* taken if ≥ half; stored: value - initial */

struct direction {
	uint8_t kind, address_shift, unused[6];
	struct counters main, local, choice;
	uint64_t histories_at;   /* local ones, 32 bits each */
	uint32_t histories_mask, local_history_mask;
	uint64_t history, history_mask;
};

/* ---- perceptron.c ---- */

struct perceptron {
	uint64_t rows_at;        /* a row: bias weight, 7 bytes unused, then a byte for each weight, two's complement */
	uint32_t rows_mask, row_bytes, words;
	int32_t threshold, taken_in_history;
	uint8_t address_shift, highest, lowest, unused; /* of a weight + 128 */
	uint64_t last_word;      /* bytes in use of the last word */
	uint64_t history[32];    /* a byte for each branch: 0xff taken; newest first */
};

/* ---- tage.c ---- */

#define TAGE_PAIRS (MACHINE_TABLES / 2)
#define TAGE_HISTORY 2048 /* more than the longest history; a ring as small as the machine's histories allow; outcomes are stored
	twice, so that no read wraps around */

struct tage_pair { /* two tables in the halves of 64-bit words */
	uint64_t fold, insert, top, carry, out, key, window, polynomial;
	uint32_t oldest[2], index_mask[2], first[2]; /* oldest: how old the last outcome in the history is; first: the table's first entry */
	uint64_t folded;         /* 0: both histories fit in a key, nothing has to be folded */
};

struct tage {
	uint32_t n_pairs, n, base_mask, position, use_alternate, countdown, useful_reset, entries, ring_mask, unused_ring;
	uint8_t address_shift, age_low, unused[6];
	uint64_t random, keys_at, states_at, recent; /* recent: the last 64 outcomes, newest in bit 0 */
	struct tage_pair pairs[TAGE_PAIRS];
	uint8_t next[4 * 256];
	uint32_t history[2 * TAGE_HISTORY]; /* 0 or ~0 */
};

/* ---- targets.c: BTB, return stack, indirect table ---- */

#define BTB_HINTS 4096 /* guesses, by low address bits, in which way of its set a branch is; checked */
#define BTB_ABSENT 1024 /* by low address bits: a branch that has no entry, exactly; with whole tags */

struct targets {
	uint32_t sets, ways, set_mask, return_entries, indirect_mask;
	uint8_t set_mask_works, replacement, allocation, holds_returns, address_shift, indirect_history, stamp_shift, filtered;
	uint8_t set_shift, whole /* tags */, fast /* branch.c may look for itself */, stores_direct, unused[4];
	uint8_t counters, counter_initial, counter_max, counter_half; /* PREDICT_BTB */
	uint32_t top, valid;     /* of the return stack */
	uint32_t newest;         /* of the target history */
	uint64_t tag_mask, clock, random;
	uint64_t hints_at, absent_at, keys_at, stamps_at, targets_at, counters_at, tree_at, filled_at, returns_at, indirect_at;
	uint64_t history[64];    /* of indirect jumps' and calls' targets */
};

struct branches {
	struct branch_queue queue; /* first: branch.h knows */
	struct direction direction;
	struct perceptron perceptron;
	struct targets targets;
	uint64_t happened[BRANCH_HAPPENINGS]; /* how often what branches_resolve() returns */
	uint8_t none;            /* nothing is predicted: PREDICT_NONE */
	uint8_t plain_tage;      /* tage_step's `plain` may be true */
	uint8_t simple;          /* direction.c's */
	uint8_t unused[5];
	struct tage tage;
};

#define PART(branches, type, at) ((type *)((char *)(branches) + (at)))

static inline uint64_t predict_rounded(uint64_t bytes) { return (bytes + 63) & ~63ull; }
static inline uint32_t predict_log2(uint64_t power)
{
	uint32_t bits = 0;
	while ((1ull << bits) < power)
		bits++;
	return bits;
}
static inline uint64_t predict_random(uint64_t *state) /* xorshift64* (Vigna 2016) */
{
	uint64_t x = *state;
	x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
	*state = x;
	return x * 2685821657736338717ull;
}

/* Layouts: fill in the part's state but what must be written into its tables; `at`: where they may begin; return where they end. */
uint64_t direction_layout(struct direction *direction, const struct machine *machine, uint64_t at);
uint64_t perceptron_layout(struct perceptron *perceptron, const struct machine *machine, uint64_t at);
uint64_t tage_layout(struct tage *tage, const struct machine *machine, uint64_t at);
void tage_begin(struct branches *branches, const struct machine *machine);
uint64_t targets_layout(struct targets *targets, const struct machine *machine, uint64_t at);

/* Predict and train: return the prediction. */
bool direction_resolve(struct branches *branches, uint64_t pc, bool taken, uint64_t target);
bool perceptron_resolve(struct branches *branches, uint64_t pc, bool taken);
bool tage_resolve(struct branches *branches, uint64_t pc, bool taken);
void tage_allocate(struct branches *branches, const uint64_t *keys_now, uint32_t provider, bool taken);
uint32_t tage_age(struct branches *branches); /* returns the next countdown */

/* A BTB access: hit? Trains and allocates. direction: NULL, or where the entry's own prediction goes (PREDICT_BTB; a miss: false).
   before: NULL, or where the target goes that the entry had (0: none). */
bool targets_look_up(struct branches *branches, uint64_t pc, bool direct, bool taken, uint64_t target, bool *direction, uint64_t *before);
/* An indirect jump or call: the target predicted by the indirect table, 0: unknown; trains. */
uint64_t targets_indirect(struct branches *branches, uint64_t pc, uint64_t target);
void targets_push(struct branches *branches, uint64_t address);
uint64_t targets_pop(struct branches *branches); /* 0: empty */

#endif
