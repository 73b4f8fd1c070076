/*
 * Branch prediction of one core: the direction of conditional branches (machine.direction), where taken ones go
 * (machine.targets). Driven by a trace: prediction and training are one step, the outcome is known; wrong paths do
 * not exist.
 *
 * What always holds:
 *  1. BRANCH_MISPREDICTED = CONDITIONAL_ + INDIRECT_ + RETURN_MISPREDICTED.
 *       conditional: the direction was wrong. Its target is known at decode: a BTB miss of it is a BTB miss, no misprediction
 *         (but with PREDICT_BTB, where a miss predicts not taken);
 *       indirect jump or call: the target predicted was another, or none was;
 *       return: the return stack's top was another address, or the stack was empty; without a stack as an indirect jump;
 *       direct jump or call: never. System calls are not branches here.
 *  2. BTB_HITS + BTB_MISSES = BTB_LOOKUPS: one for every branch executed, taken or not; returns only if
 *     btb_holds_returns.
 *  3. PREDICTED_TAKEN counts conditional branches only. BRANCH_INDIRECT: indirect jumps and calls, returns are
 *     BRANCH_RETURNS; BRANCH_CALLS: direct and indirect.
 *  4. Global histories hold outcomes of conditional branches only.
 */
#ifndef TARE_MODEL_CORE_PREDICT_BRANCH_H
#define TARE_MODEL_CORE_PREDICT_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/wire/trace.h"
#include "model/core/counts.h"
#include "model/core/machine.h"
#include "model/core/options.h"

struct branches;

/* Bytes of memory; a multiple of 64. */
uint64_t branches_bytes(const struct machine *machine);
/* memory: zeroed, 64-aligned. */
struct branches *branches_init(void *memory, const struct machine *machine, const struct model_options *options);
/* changes: 0 at first, of all predictors that ever share static branches; versions come from there: what a struct
 * static_branch knows of the BTB of one of them must not pass for another's, nor for one's that was in its place
 * before. */
void branches_share(struct branches *branches, uint32_t *changes);

/*
 * One control transfer at pc, `length` bytes long, to target if taken; ending: which kind. TRACE_END_NONE and
 * TRACE_END_SYSTEM do nothing. taken means something for TRACE_END_CONDITIONAL only. Returns what happened, for
 * branches_events(); counted inside until branches_count() collects it.
 */
unsigned branches_resolve(struct branches *branches, uint64_t pc, uint32_t length, enum trace_ending ending,
			  bool taken, uint64_t target);

/* The function that was called last returned by no instruction: the return stack has one entry less, and nothing
 * is counted. */
void branches_returned(struct branches *branches);

/*
 * The same for blocks of instructions that were executed one after the other, with what is known of each in its
 * struct static_branch (fast/branch_run.c).
 */
struct static_branch {           /* of one machine */
	uint64_t begins, behind; /* the block's first byte; where it goes on if the branch is not taken */
	/* of a conditional branch, as the predictor of directions counts it (predict_address()) */
	uint64_t address;
	uint64_t key; /* the branch's in the BTB; 0: no branch's */
	uint32_t set; /* where it would be */
	/* known as long as the set has this version: which entry is the branch's, or, if absent, one of no
	 * branch */
	uint32_t version, entry;
	uint32_t absent;      /* 1: it is */
	uint32_t conditional; /* 1: it is */
	uint8_t length;       /* of the branch instruction */
	uint8_t ending;       /* enum trace_ending, and enum static_branch_flag; 0: no branch */
	uint8_t unused[2];
};

#define BRANCH_BACKWARD (1ull << 63)

/* A block from `begins` on, with a branch at pc behind it, or TRACE_END_NONE or _SYSTEM. target: of a direct
 * branch. */
void branches_static(const struct branches *branches, struct static_branch *branch, uint64_t begins, uint64_t pc,
		     uint32_t length, enum trace_ending ending, uint64_t target);

#define BRANCH_BATCH 128 /* that many at once; no more than 255 × 16; a multiple of 64 */

/* What fast/inlined_batch.c keeps of a static branch, beside its address: its ending in the upper byte of
 * *counted, its version, and in the lower bits of *where its entry, or, as long as it is not known to have one,
 * the first of its set. Of a BTB of two ways: its key in *version and *high, its set in *where. */
void branches_head(const struct branches *branches, const struct static_branch *branch, uint32_t *counted,
		   uint32_t *high, uint32_t *version, uint32_t *where);

/* The branches of n blocks: each went to where the next one begins, the last one to where blocks[n] does. */
void branches_run(struct branches *branches, struct static_branch *const *blocks, uint32_t n);

/* Whether branches_run(), of up to BRANCH_BATCH blocks, is to keep which of them were mispredicted, for charges.
 * False: it is not, or this predictor cannot. */
bool branches_tell(struct branches *branches, bool wanted);

/* Adds to counts->branch what was resolved since the last call. To be called before the counts are read and before
 * they change place. */
void branches_count(struct branches *branches, struct model_counts *counts);

/* What happened, as one bit for each event of enum model_branch_count that it counts in: for watches. */
uint32_t branches_events(unsigned happened);

/* ---- `happened`: the kind in the low bits, then flags ---- */
#define BRANCH_KIND 7u /* enum trace_ending */
#define BRANCH_WAS_TAKEN 8u
#define BRANCH_WAS_PREDICTED_TAKEN 16u
#define BRANCH_WAS_MISPREDICTED 32u
#define BRANCH_WAS_LOOKED_UP 64u /* in the BTB */
#define BRANCH_WAS_HIT 128u
#define BRANCH_HAPPENINGS 256

#endif
