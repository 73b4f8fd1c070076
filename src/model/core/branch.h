/*
 * Branch prediction of one core: the direction of conditional branches (machine.direction), where taken ones go (machine.targets).
 * Driven by a trace: prediction and training are one step, the outcome is known; wrong paths do not exist.
 *
 * What always holds:
 *  1. BRANCH_MISPREDICTED = CONDITIONAL_ + INDIRECT_ + RETURN_MISPREDICTED.
 *       conditional: the direction was wrong. Its target is known at decode: a BTB miss of it is a BTB miss, no misprediction
 *         (but with PREDICT_BTB, where a miss predicts not taken);
 *       indirect jump or call: the target predicted was another, or none was;
 *       return: the return stack's top was another address, or the stack was empty; without a stack as an indirect jump;
 *       direct jump or call: never. System calls are no branches here.
 *  2. BTB_HITS + BTB_MISSES = BTB_LOOKUPS: one for every branch executed, taken or not; returns only if btb_holds_returns.
 *  3. PREDICTED_TAKEN counts conditional branches only. BRANCH_INDIRECT: indirect jumps and calls, returns are BRANCH_RETURNS;
 *     BRANCH_CALLS: direct and indirect.
 *  4. Global histories hold outcomes of conditional branches only.
 */
#ifndef TARE_MODEL_CORE_BRANCH_H
#define TARE_MODEL_CORE_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/wire/trace.h"
#include "model/core/counts.h"
#include "model/core/machine.h"

struct branches;

/* Bytes of memory; a multiple of 64. */
uint64_t branches_bytes(const struct machine *machine);
/* memory: zeroed, 64-aligned. */
struct branches *branches_init(void *memory, const struct machine *machine);

/*
 * One control transfer at pc, `length` bytes long, to target if taken; ending: which kind. TRACE_END_NONE and TRACE_END_SYSTEM do
 * nothing. taken means something for TRACE_END_CONDITIONAL only.
 * Returns what happened, for branches_events(); counted inside until branches_count() collects it.
 */
unsigned branches_resolve(struct branches *branches, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken, uint64_t target);

/*
 * The same, put off, for branches that come again and again: what is known of one is in its site, and branches are resolved by the
 * hundred (branch_queue.c). branches_resolve() and branches_count() do first what was put off, so the order is the program's.
 */
#define BRANCH_QUEUE 128 /* no more than 255; a multiple of 16 */

struct branch_site { /* of one machine; stays where it is until branches_drain() */
	uint64_t behind, target; /* where it goes if it is not taken; if it is taken, but for indirect ones and returns */
	uint64_t key;            /* in the BTB; 0: it is not looked up */
	uint64_t address;        /* as the predictor of directions counts it, and BRANCH_BACKWARD */
	uint64_t unit;           /* 1 in its kind's byte */
	uint32_t btb_entry;      /* where its key was last */
	uint16_t length;
	uint8_t ending, flags;   /* enum branch_site_flag */
};

#define BRANCH_BACKWARD (1ull << 63)

struct branch_queue { /* what struct branches begins with */
	uint64_t n;
	struct branch_posted { struct branch_site *site; uint64_t went_to; } posted[BRANCH_QUEUE];
};

/* target: of a direct branch. */
void branches_site(const struct branches *branches, struct branch_site *site, uint64_t pc, uint32_t length, enum trace_ending ending,
		   uint64_t target);
void branches_drain(struct branches *branches);

/* went_to: what was executed next; a conditional branch was taken if that is not the instruction behind it. */
static inline void branches_post(struct branches *branches, struct branch_site *site, uint64_t went_to)
{
	struct branch_queue *queue = (struct branch_queue *)branches;
	uint64_t n = queue->n;
	queue->posted[n].site = site;
	queue->posted[n].went_to = went_to;
	queue->n = n + 1;
	if (__builtin_expect(n == BRANCH_QUEUE - 1, 0))
		branches_drain(branches);
}

/* Adds to counts->branch what was resolved since the last call. To be called before the counts are read and before they change place. */
void branches_count(struct branches *branches, struct model_counts *counts);

/* What happened, as one bit for each event of enum model_branch_count that it counts in: for watches. */
uint32_t branches_events(unsigned happened);

/* ---- `happened`: the kind in the low bits, then flags ---- */
#define BRANCH_KIND 7u               /* enum trace_ending */
#define BRANCH_WAS_TAKEN 8u
#define BRANCH_WAS_PREDICTED_TAKEN 16u
#define BRANCH_WAS_MISPREDICTED 32u
#define BRANCH_WAS_LOOKED_UP 64u     /* in the BTB */
#define BRANCH_WAS_HIT 128u
#define BRANCH_HAPPENINGS 256

#endif
