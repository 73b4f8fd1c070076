/*
 * Accesses that generated code resolves: the contract between this folder and the runtime's translator
 * (src/engine/runtime/inline/). With one thread, nearly every access of a program hits the first-level cache and
 * the first-level TLB. Such an access changes little: two recency times, and a dirty bit if it writes. So the
 * translator puts an inline check in front of it, in the block's own code, and only what the check does not find
 * comes to the models.
 *
 *   terms   granule    an aligned piece of 1 << shift bytes: the smaller one of the first-level caches' lines
 *           record     something that the block does each time it runs: it enters a line or a fetch unit (fetch record), or
 *                      it accesses data (data record)
 *           table      says where a granule is held: data[] for data, fetch[] for fetches. An entry is there only while
 *                      the granule's line is in the first-level cache and its page in the first TLB (filter.h, 1)
 *           time       of the last use, from one counter of the core (recency). LRU compares these times
 *           check      the instructions that look a record's granule up in the table
 *           called     the model is called for the record at once, without a check
 *           inlined    of a block: every record of it is checked or called, so that its trace is its header alone
 *           out of band   of a block that cannot be planned (rep instructions, gathers, bit offsets, more records than
 *                      fit): its values are stored beside the trace, and model_inline_block() is called once for it
 *
 *     template of a block ──model_inline_plan()──► records in program order ──translator──► checks in the block's code
 *
 *     check of data:   i = address >> shift & (data_entries - 1)
 *                      (address & mask) == data[i].line ?
 *                        │ yes                                                          │ no, or called
 *                        ▼                                                              ▼
 *                      touched[data[i].way] = pages[data[i].page] = time              model_inline_miss(…, record, address)
 *                      a write: written[data[i].way] = 1                                │ counts the miss, fills, evicts;
 *                                                                                       ▼ enters the granule into data[]
 *                      the program's instruction                                      the program's instruction
 *     check of a fetch: the same with fetch[index].tag == tag; index and tag are constants in the code
 *
 *     header of the block in the trace ──model_run()──► instructions, accesses and fetches counted, each as a hit; its
 *                                                       branch predicted
 *
 * What always holds:
 *  1. Order. Records are done in program order, each one before the instruction `insn` is executed, whatever hit
 *     or missed: at each miss the model's past is complete. The code may leave out what updates no state: (a) in a
 *     run of data records without a fetch between them, all found and in at most two granules, it may touch each
 *     granule once, the last record's granule last; (b) a fetch from the page that was fetched from last need not
 *     touch that page; (c) one fetch and one access may have the same time. (b) and (c) only where `skips` is
 *     false.
 *  2. Counting. The header counts the block's accesses and fetches as hits. A miss counts itself, and takes away
 *     what the header counts too much (core->self_counted_pages, step_count_hits()); such a sum may be below 0
 *     until the header comes. Headers update no cache and no TLB.
 *  3. An out-of-band block: model_inline_block() is called behind its last instruction but the ending, before any
 *     other block's records. Its header goes into the trace as others' do, and is TRACE_INLINED as theirs.
 *  4. A fault after `done` instructions: the records of later instructions were not done. The record of
 *     instruction `done` may have been; done again it hits, and updates nothing but times. TRACE_PARTIAL stands
 *     before the header.
 *  5. The counts are those of model_run() of the same program's stream without inline checks, for every policy.
 *     Where that cannot be had, model_inline_plan() returns -1 or model_inline_can() is false.
 *  6. What happens at a miss is charged to the record's item or block at once (model_watch). A hit is charged to
 *     nobody: while a count that hits change is watched, there are no inline checks (charges_all).
 *  7. Counts are complete after model_run() of the whole trace, and after model_inline_end(). TRACE_PAGES is run
 *     before the program goes on.
 *
 * Equals   run_block() and run_item() of run.c, with step.c
 * For      model_inline_can(): no coherence at work, no watch on what hits change, no objects, and a filter
 *          (filter_possible() in model.c)
 * Test     tests/model/inline_test.c (it plays the generated code in C); tests/engine/inline/check (real code) and
 *          places (by place)
 */
#ifndef TARE_MODEL_CORE_FAST_INLINE_H
#define TARE_MODEL_CORE_FAST_INLINE_H

#include "model/core/model.h"

/* Where a core keeps what the code loads and stores: offsets in bytes from the core's memory (model_core_init),
 * the same for each core of a machine. */
struct model_inline {
	uint32_t data;           /* struct inline_entry [data_entries] */
	uint32_t fetch;          /* struct inline_fetch [fetch_entries] */
	uint32_t touched, pages; /* uint64_t [] */
	uint32_t written;        /* uint8_t [] */
	uint32_t steps;          /* uint8_t; not 0: every record's model_inline_miss() needs `behind` */
	/* uint64_t: the latest time; each record takes the next one, but see 1 */
	uint32_t recency;
	/* uint8_t [7][sampled_entries]: 0 where an access of 1, 2, 4 … 64 bytes to that address, modulo
	 * sampled_entries, lies in one granule that is not sampled (sample.h): the code skips its check.
	 * sampled_entries: a power of two; 0: all sets are modelled */
	uint32_t sampled, sampled_entries;
	uint32_t data_entries, fetch_entries; /* powers of two */
	uint32_t shift;                       /* log2 of a granule */
	bool skips;                           /* there may be records that are INLINE_SKIP */
};

struct inline_entry {       /* 16 bytes */
	uint64_t line;      /* address of the granule's first byte; INLINE_NOTHING: empty */
	uint32_t way, page; /* indices of touched[] and written[], of pages[] */
};
#define INLINE_NOTHING 1ull /* no granule begins there */

struct inline_fetch { /* 8 bytes */
	uint32_t tag; /* what the index leaves of the granule's address, plus 1; 0: empty */
	uint16_t way, page;
};

/* Sequential: the byte executed before the block is the one in front of it. Such a block does not enter the unit
 * that it begins in: the record of that fetch is to be left out. */
enum inline_skip {
	INLINE_ALWAYS, /* another record: always done */
	/* may be checked nevertheless: found, it updates nothing that counts; not found, model_inline_miss() sees
	 * from `behind` whether it was to be done */
	INLINE_HARMLESS,
	/* must not be checked then: a hit would update recency that counts (a TLB for both sides, …) */
	INLINE_SKIP,
};

struct inline_record {
	uint8_t insn; /* before this one */
	/* data: of the block's items the one whose operand gives the address; it is `insn`'s */
	uint8_t item;
	bool fetch, writes;
	bool called;      /* no check: model_inline_miss() at once */
	uint8_t skip;     /* enum inline_skip */
	bool asks_behind; /* model_inline_miss() needs `behind` */
	uint8_t unused;
	/* data: sign-extended; line = address & mask, which is a granule's first byte only if the access is
	 * aligned in it */
	int32_t mask;
	uint32_t index, tag; /* fetch: of fetch[], what is to be there */
	/* data: what is added to the item's own address; fetch: the granule's address itself */
	int64_t displacement;
	uint64_t record; /* the core's; bits 25 … 56 are 0 */
};

#define INLINE_RECORDS 64u
#define INLINE_SIZES 7u

/* A property of the machine and the run (watches, objects, cores, page sizes): false: model_run() does it all.
   May become false with TRACE_PAGES or another core. */
bool model_inline_can(const struct model *model);
/* From now on generated code resolves the core's accesses; the tables are empty. */
void model_inline_where(struct model *model, unsigned core, struct model_inline *where);
/* No longer: model_run() of the trace so far comes first. */
void model_inline_end(struct model *model, unsigned core);
/* No check finds data in that memory until the next miss there. Updates no cache and no TLB, counts nothing. */
void model_inline_forget(struct model *model, unsigned core, uint64_t address, uint64_t bytes);
/* Fills records[INLINE_RECORDS], returns how many; -1: see 3. A function of the template, which is complete (with
 * its values as ever). */
int model_inline_plan(struct model *model, unsigned core, const struct trace_program *program, uint32_t block,
		      struct inline_record *records);
/*
 * A record that the check did not find, or that is called. record: inline_record.record. address: of data the
 * item's with the displacement; of a fetch the displacement. behind: the pc behind the last byte that was
 * executed before the block, with bit 63 set if that is not the block's pc; any value where neither asks_behind
 * nor *steps asks. It uses general registers only, as all of this folder that is built into the runtime.
 */
void model_inline_miss(struct model *model, unsigned core, const struct trace_program *program, uint32_t block,
		       uint64_t record, uint64_t address, uint64_t behind, uint64_t fs_base);
/* An out-of-band block: its fetches and accesses, step by step, but not what model_run() counts from its header.
 * done: instructions executed; UINT32_MAX: all. */
void model_inline_block(struct model *model, unsigned core, const struct trace_program *program, uint32_t block,
			const uint64_t *values, uint32_t done, uint64_t behind, uint64_t fs_base);

/* What a mark TRACE_SPANS would say of an item of the last out-of-band block: words as behind the mark. */
void model_inline_spans(struct model *model, unsigned core, const struct trace_program *program, uint32_t item,
			const uint64_t *words);

#endif
