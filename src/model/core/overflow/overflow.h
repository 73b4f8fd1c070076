/*
 * A simulated performance counter that overflows: of the watched events (model_watch) of a core each period-th is
 * found, and the instruction that runs `skid` instructions later is logged, as a counter's interrupt would find
 * it.
 *
 *     event at instruction i of a block ──► counts down ──► at 0: target = i + skid ──► its block runs ──► log
 *
 * What always holds:
 *  1. With period 1 and skid 0 the log has each event at the instruction that counts by instruction have it at:
 *     data at their own, a branch at its own, a fetch at the first of its block.
 *  2. Each overflow is in the log, or in `lost`, or still under way (its thread ended within the skid).
 *  3. The same stream gives the same log.
 */
#ifndef TARE_MODEL_CORE_OVERFLOW_H
#define TARE_MODEL_CORE_OVERFLOW_H

#include <stdint.h>

/* The log's words: counts, then an entry for each sample. */
enum overflow_log { OVERFLOW_ENTRIES, OVERFLOW_LOST, OVERFLOW_ALL, OVERFLOW_FIRST };

/* Of an entry: the block's number and the instruction's number in it. */
static inline uint64_t overflow_entry(uint32_t block, uint16_t insn) { return (uint64_t)block << 16 | insn; }
static inline uint32_t overflow_block(uint64_t entry) { return (uint32_t)(entry >> 16); }
static inline uint16_t overflow_insn(uint64_t entry) { return (uint16_t)entry; }

#define OVERFLOW_PENDING 64 /* of a core: further ones are lost */

struct overflow_state {   /* of a core; zeroed */
	uint64_t left;    /* events until the next overflow; 0: not begun */
	uint64_t base;    /* instructions before the last block's first one */
	uint64_t retired; /* before the next one to run */
	uint32_t block;   /* the last one that began */
	uint16_t insn;    /* in it: that is at work */
	uint32_t first, waiting;
	uint64_t pending[OVERFLOW_PENDING]; /* targets, as `retired` counts; ascending */
};

struct core;
struct trace_block;

/* So many watched events took place at the state's instruction. */
void overflow_count(struct core *core, uint64_t events);
/* A block begins; so many of its instructions were executed. */
void overflow_begin(struct core *core, uint32_t block);
void overflow_end(struct core *core, uint32_t executed);

#endif
