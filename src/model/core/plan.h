/*
 * What of a block is the same every time it runs, worked out once for a machine: its counts, the lines it is fetched from, and its
 * accesses in groups that one comparison each can decide.
 *
 * A group is a run of items of one base register whose span fits in a line. If its first and last byte are in one line, that line and
 * its page are filtered (cache.h, 1; core->data_pages), and the first byte is aligned for all of them, then none of its accesses
 * changes more than counts, and those are in the plan's sums.
 *
 * What always holds:
 *  1. A plan is the block's whose number it bears. Plans are kept until there is no room for another; then all are made anew.
 *  2. `fetched` is code_changes() of the core at the last time that all of the block's lines and pages were filtered: while it still is, so
 *     are they. It is never the same for two cores.
 *  3. Counts are summed three in a word: no block that counts more than PLAN_MOST of anything has a plan, and no more than PLAN_BATCH
 *     blocks are summed at once.
 */
#ifndef TARE_MODEL_CORE_PLAN_H
#define TARE_MODEL_CORE_PLAN_H

#include "model/core/branch.h"
#include "model/core/cache.h"

#define PLAN_FIELD 21
#define PLAN_MOST 255u
#define PLAN_BATCH ((1u << PLAN_FIELD) / (PLAN_MOST + 1)) /* 8192 */
#define PLAN_SLOTS (1u << 18)        /* by block number, modulo */
#define PLAN_BYTES (16u << 20)

struct plan_group { /* 16 bytes */
	int64_t displacement;    /* to the lowest byte */
	uint8_t value;           /* index from the header: 0 is the block's own number, for an address without a register */
	uint8_t filter;          /* offset in struct filter: of `write` if any access writes, else of `read` */
	uint8_t span;            /* bytes - 1 */
	uint8_t misaligned;      /* bits of the lowest address that are to be 0 */
	uint8_t flags;
	uint8_t first, items;    /* from the block's first item */
	uint8_t unused;
};

enum plan_group_flag {
	GROUP_WRITES = 1,
	GROUP_READS = 8,
	GROUP_WRITES_FIRST = 4,  /* its first access is a write */
	GROUP_STEPWISE = 2,      /* no simple access: rep, gather, bit, prefetch, fs; or none of the sizes that can be grouped. Its
	                            displacement and alignment are such that it is never decided */
};

struct plan {
	uint64_t pc, last;       /* first and last byte */
	uint64_t fetched;        /* see 2 */
	uint64_t target;
	uint64_t sums;           /* instructions, simple reads, simple writes */
	uint64_t fetches[2];     /* lines and fetch blocks entered, blocks: [reached sequentially] */
	uint32_t number;
	uint8_t groups;
	uint8_t flags;
	uint8_t ending, ending_length;
	uint16_t values, unused;
	uint32_t code_at[2];     /* its first and last line's filters, in bytes from the first */
	uint32_t page_at;        /* its first page's filter, likewise */
	struct branch_site site; /* of its ending */
	struct plan_group group[];
};

enum plan_flag {
	PLAN_ONE_LINE = 1,       /* it is fetched before its first access (with one TLB for both sides: one fetch block) */
	PLAN_MANY = 2,           /* more than two lines, or two pages: looked at one by one */
	PLAN_NONE = 4,           /* not to be had: go step by step */
	PLAN_BRANCHES = 8,       /* its ending is a branch */
};

struct plans {
	uint64_t *at;            /* [PLAN_SLOTS] where, in units of 8 bytes, and above 32 bits how many entries the block's records have:
	                            the next one is found without waiting for the plan. 0: a plan that is no block's */
	uint64_t *memory;
	uint32_t used;           /* units of 8 bytes */
};

void plans_init(struct plans *plans, struct arena *arena);
const struct plan *plans_make(struct plans *plans, const struct core *core, const struct trace_program *program, uint32_t number);

static inline uint64_t code_changes(const struct core *core)
{
	return core->page_changes + (core->first_instruction ? core->first_instruction->changes : 0);
}

#endif
