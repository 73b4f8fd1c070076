/*
 * Accesses that generated code decides itself: contract between this folder and the runtime's translator.
 *
 *     block ──model_inline_plan()──► records in program order ──translator──► before the record's first instruction, in the block's code:
 *
 *       data:   a = address;  i = a >> shift & (data_entries - 1);  (a & mask) == data[i].line ?
 *                                                                          touched[data[i].way] = pages[data[i].page] = time,
 *                                                                          (writes:) written[data[i].way] = 1
 *                                                                        : model_inline_miss(…, record, a)
 *       fetch:  the same with fetch[index].tag == tag, both constants of the code
 *
 * What always holds:
 *  1. Records are done in program order, each before the instruction `insn` is executed, whatever hit or missed;
 *     so all that a model knows of the past is right at each miss. What of it may be left out, as it moves
 *     nothing: records of data in a row, none of a fetch between them, that are all there and whose granules are
 *     one or two may touch each granule once, the last record's last; a fetch of the page that was fetched from
 *     last need not touch it; and a time may be one fetch's and one access's. The last two not where `skips`.
 *  2. Of a block all of whose records are done like that the trace has the header only (TRACE_INLINED in its
 *     template, values 0): model_run() counts its instructions, accesses and fetches as hits, predicts its branch,
 *     and moves nothing in caches and TLBs. A miss counts itself, and what it takes off the sums of hits
 *     (core->self_counted) is wrong for a moment only.
 *  3. A block that has no plan (rep, gathers, bit offsets, more records than fit …) has its values stored as ever,
 *     but apart from the trace, and model_inline_block() is called with them behind its last instruction but the
 *     ending, before any other block's records; its header goes into the trace like the others', and is
 *     TRACE_INLINED like theirs.
 *  4. A block that faults after `done` instructions: the records of later instructions were not done. The one of
 *     instruction `done` may have been: made again it hits, and moves nothing. (TRACE_PARTIAL in front of the
 *     header; no values here either.)
 *  5. Counts are identical to model_run()'s of the same program's stream, whatever the policy; where that cannot
 *     be had there is no plan, or model_inline_can() is false.
 *  6. Counts are right after model_run() of the whole trace, and when model_inline_end() was called. TRACE_PAGES
 *     is run before the program goes on.
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
	uint32_t steps;          /* uint8_t: model_inline_miss() is to be given behind whatever the record says */
	/* uint64_t: the last time that was given; a record's time is larger than all before, but see 1 */
	uint32_t recency;
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

/* A block that is reached sequentially does not enter the unit it begins in again. */
enum inline_skip {
	INLINE_ALWAYS,   /* not such a record */
	INLINE_HARMLESS, /* found, it moves nothing: model_inline_miss() looks whether it was to be done */
	INLINE_SKIP,     /* not to be done at all then (first TLB for both sides, …: recency would move) */
};

struct inline_record {
	uint8_t insn; /* before this one */
	/* data: of the block's items the one whose operand gives the address; it is `insn`'s */
	uint8_t item;
	bool fetch, writes;
	bool called;      /* nothing is looked up: model_inline_miss() at once */
	uint8_t skip;     /* enum inline_skip */
	bool asks_behind; /* model_inline_miss() looks at it */
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

/* A property of the machine and the session (watches, objects, cores, page sizes): false: model_run() does it all.
   May become false with TRACE_PAGES or another core. */
bool model_inline_can(const struct model *model);
/* From now on accesses of the core are decided like this; the tables are empty. */
void model_inline_where(struct model *model, unsigned core, struct model_inline *where);
/* No longer: model_run() of the trace so far comes first. */
void model_inline_end(struct model *model, unsigned core);
/* Accesses to data in that memory are not found, until they missed again. Moves nothing, counts nothing. */
void model_inline_forget(struct model *model, unsigned core, uint64_t address, uint64_t bytes);
/* Fills records[INLINE_RECORDS], returns how many; -1: see 3. A function of the template, which is complete (with
 * its values as ever). */
int model_inline_plan(struct model *model, unsigned core, const struct trace_program *program, uint32_t block,
		      struct inline_record *records);
/* Not found, or called. record: struct inline_record's. address: of data with the displacement, of a fetch the
   displacement. behind: the pc behind the last byte that was executed before the block; bit 63: not the block's
   pc. Anything, where nobody asks. General registers only, as all of this folder that the runtime has. */
void model_inline_miss(struct model *model, unsigned core, const struct trace_program *program, uint32_t block,
		       uint64_t record, uint64_t address, uint64_t behind, uint64_t fs_base);
/* All fetches and accesses of a block, step by step, nothing that model_run() will count from its header. done:
   instructions executed; UINT32_MAX: all. */
void model_inline_block(struct model *model, unsigned core, const struct trace_program *program, uint32_t block,
			const uint64_t *values, uint32_t done, uint64_t behind, uint64_t fs_base);

/* What a mark TRACE_SPANS would say of an item of the block that was made last, which has no plan: words as behind
 * the mark. */
void model_inline_spans(struct model *model, unsigned core, const struct trace_program *program, uint32_t item,
			const uint64_t *words);

#endif
