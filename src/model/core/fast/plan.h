/*
 * What of a block is the same every time it runs, worked out once for a machine: its counts, and its fetches and
 * accesses as records of filter.h, in program order, but for the register that each address is to be added to.
 *
 * A fetch's record is a line that is entered, or, where TLBs need it (tlbs_by_units), a fetch unit. An access's
 * record is a run of items with nothing fetched in between that touch only what the largest of them does: after
 * the first one the others are hits that move nothing. (Runs that touch more may lie in two lines, which costs
 * more than a record for each.) An item that is not a simple access has a record to itself, which is irregular
 * (HIT_IRREGULAR) wherever it goes.
 *
 * What always holds:
 *  1. A plan is the block's whose header it bears. Plans are kept until there is no room for another, or a
 *     property of the model that they are made from changes; then all are made anew.
 *  2. A block that is reached sequentially leaves out the first PLAN_SKIPS records: the unit that it begins in was
 *     entered before.
 *  3. Counts are summed three in a word: no block that counts more than PLAN_MOST of anything has a plan, and no
 *     more than BATCH_BLOCKS blocks are summed at once.
 *
 * Equals   what run_block() of run.c finds out each time
 * For      machines with a filter (filter.h); blocks that count at most PLAN_MOST of anything
 * Test     tests/model/run_test.c, tests/model/branches_test.c
 */
#ifndef TARE_MODEL_CORE_FAST_PLAN_H
#define TARE_MODEL_CORE_FAST_PLAN_H

#include "model/core/predict/branch.h"
#include "model/core/cache/cache.h"

#define PLAN_FIELD 21
#define PLAN_MOST 240u
#define PLAN_SLOTS (1u << 18) /* by block number, modulo */
#define PLAN_BYTES (16u << 20)
#define PLAN_STEPS (1ull << 62) /* in a header: not to be had, go step by step */

#define BATCH_BLOCKS 512u

_Static_assert(BATCH_BLOCKS *PLAN_MOST < 1u << PLAN_FIELD, "see 3");

/* How a record is made: upper bits of the record (from HIT_TYPE up) | value << 7 | misaligned << 10. */
#define HOW_RECORD(how) ((uint64_t)((how)&0x7f) << 57 | HIT_SIMPLE)
/* index from the header: 0 is the header itself, for an address without a register */
#define HOW_VALUE(how) ((how) >> 7 & 7)
#define HOW_MISALIGNED(how) ((how) >> 10) /* bits of the address that are to be 0: so it lies in one line */

struct plan_items {
	uint8_t first, n;
}; /* from the block's first item */

struct block_plan {
	uint64_t header;             /* the block's number, or with PLAN_STEPS */
	uint64_t sums;               /* instructions, simple reads, simple writes */
	uint64_t fetches[2];         /* lines and fetch blocks entered, blocks: [reached sequentially] */
	struct static_branch branch; /* of the block: where it is, and its ending */
	uint8_t records;
	uint8_t skips; /* 0 or 1 */
	uint8_t flags, unused[5];
	uint16_t how[8]; /* but of large ones */
	/* [records], then struct plan_items[records]; of large ones then uint16_t how[records], uint8_t
	 * value[records] */
	int64_t displacement[];
};

enum plan_flag {
	PLAN_LARGE = 1,   /* more than eight records, or seven values */
	PLAN_WIDE = 2,    /* more than seven values */
	PLAN_INLINED = 4, /* the block is (inline.h): no records, no values behind the header */
};

/*
 * What inlined_batch.c needs of an inlined block, half a line of the host's, by the same number: sixteen of them
 * become vectors, one of each member. Places are numbered (plan_id()), so that two are the same if their numbers
 * are.
 */
struct plan_head {
	uint32_t counted; /* a byte each: instructions, reads, writes; static_branch.ending */
	/* a byte each: lines and fetch blocks entered, then the same if reached sequentially */
	uint32_t fetched;
	uint32_t begins, behind; /* places */
	uint32_t low, high;      /* static_branch.address */
	uint32_t version;        /* as a static_branch's; or see branches_head() */
	/* a static_branch's entry, or, if absent, its set's first; from HEAD_TAG on, which block it is; 0: none */
	uint32_t where;
};
#define HEAD_TAG 20
#define HEAD_IDS (1u << 20)

/* What `where` has from HEAD_TAG on. Too large for it: there is no head. */
static inline uint64_t plan_head_tag(uint64_t header) { return header / PLAN_SLOTS + 1; }

struct plans {
	uint8_t *words; /* [PLAN_SLOTS] of the block's record in the stream; 0: no plan */
	uint32_t *at;   /* [PLAN_SLOTS] where, in units of 8 bytes; 0: a plan that is not a block's */
	uint64_t *memory;
	uint32_t used;           /* units of 8 bytes */
	uint32_t ids;            /* places that have a number */
	struct plan_head *heads; /* [PLAN_SLOTS] */
	uint64_t *places;        /* [HEAD_IDS] by number; 0: nobody's */
};

/* A run of blocks, flattened: the lower halves of two addresses, see batch_entry() and batch_record(). */
struct batch_block {
	uint32_t entry;  /* of its header; plus 1: PLAN_SKIPS were left out */
	uint32_t record; /* of its first record */
};

struct batch {
	uint32_t n_blocks, n_records;
	uint32_t cursor; /* a block at or in front of the last one that was asked for */
	uint32_t unused;
	const uint64_t *entries;
	uint64_t counts, fetches; /* sums */
	uint64_t records[BATCH_BLOCKS * PLAN_MOST + 8];
	struct batch_block blocks[BATCH_BLOCKS];
	struct static_branch *branches[BATCH_BLOCKS]; /* of the blocks, if there are branches to be predicted */
	uint32_t slots[BRANCH_BATCH + 32] __attribute__((aligned(64))); /* inlined_batch.c */
};

void plans_init(struct plans *plans, struct model_memory *arena);
const struct block_plan *plans_make(struct plans *plans, const struct core *core,
				    const struct trace_program *program, uint32_t number);

/* batch.c: adds what a batch summed, but for accesses that counted themselves in caches and TLBs */
void batch_add(struct core *core, const struct batch *batch);

/* branch_charges.c: what the last batch's mispredicted branches are charged with; branches_run(), and that. The
   blocks' static branches are those of their plans. */
struct branch_order;
void charge_mispredicted(const struct core *core, const struct branch_order *order);
void branches_run_charged(struct core *core, struct static_branch *const *blocks, uint32_t n);

/* inlined_batch.c: of n headers the first ones, as many as it returns: their blocks' branches are predicted, and
   the batch has what batch_add() is to add. 0: nothing was done. */
size_t run_heads(struct core *core, const uint64_t *entries, size_t n);
bool heads_possible(const struct core *core);

static inline const struct block_plan *plan_of(const struct plans *plans, uint32_t number)
{
	return (const struct block_plan *)(plans->memory + plans->at[number % PLAN_SLOTS]);
}

static inline const struct plan_items *plan_items(const struct block_plan *plan)
{
	return (const struct plan_items *)(plan->displacement + plan->records);
}

static inline const uint16_t *plan_hows(const struct block_plan *plan)
{
	return plan->flags & PLAN_LARGE ? (const uint16_t *)(plan_items(plan) + plan->records) : plan->how;
}

static inline unsigned plan_value(const struct block_plan *plan, unsigned record)
{
	return plan->flags & PLAN_LARGE ? ((const uint8_t *)(plan_hows(plan) + plan->records))[record]
					: HOW_VALUE(plan->how[record]);
}

static inline const uint64_t *batch_entry(const struct batch *batch, uint32_t block)
{
	return batch->entries + (batch->blocks[block].entry - (uint32_t)(uintptr_t)batch->entries) / 8;
}

static inline bool batch_skipped(const struct batch *batch, uint32_t block)
{
	return batch->blocks[block].entry & 1;
}

static inline uint32_t batch_record(const struct batch *batch, uint32_t block)
{
	return (batch->blocks[block].record - (uint32_t)(uintptr_t)batch->records) / 8;
}

#endif
