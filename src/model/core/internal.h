/*
 * What the files of this folder share: a model, its cores, and the steps between them.
 *
 *     run.c (trace) ──► step.c (a fetch, an access, a branch) ──► cache/hierarchy.c (caches in a tree) ──► cache/lines.c (sets)
 *                                                            └──► tlb/tlb.c, predict/branch.c
 *
 * What always holds:
 *  1. All memory is the caller's two areas (model_bytes, model_core_bytes); pointers inside them are to them, or
 *     to the caller's counts.
 *  2. No table of pointers and no libc: this is built into the runtime, which has memcpy and memset only.
 */
#ifndef TARE_MODEL_CORE_INTERNAL_H
#define TARE_MODEL_CORE_INTERNAL_H

#include "model/core/predict/branch.h"
#include "model/core/coherence/coherence.h"
#include "model/core/fast/filter.h"
#include "model/core/model.h"
#include "model/core/objects/objects.h"
#include "model/core/overflow/overflow.h"
#include "model/core/tlb/tlb.h"

/* a pc that no instruction has; a line and a page that do not exist: far from every address in user space */
#define NOWHERE (1ull << 63)
#define NO_BLOCK (~0ull)

struct cache;
struct coherence_lost;
struct plans;
struct batch;
struct request_queue;

/* What of branches is charged to blocks: nothing; mispredictions only, a batch at a time
 * (fast/branch_charges.c); any of their counts, branch by branch. */
enum branch_charges { CHARGES_NO_BRANCH, CHARGES_MISPREDICTED, CHARGES_EACH };

struct fetch {               /* a block on its way through the fetch units: what is entered already */
	uint64_t line, unit; /* the next ones */
	uint32_t block;
};

struct core {
	struct model *model;
	struct model_counts *counts;
	struct model_counts *own, *groups; /* with options.sample: counts is one of these (sample.h) */
	unsigned number;
	/* behind the last byte executed; NOWHERE: what comes was not reached sequentially */
	uint64_t next_pc;
	uint64_t pending; /* the block whose branch is still to be resolved: by the next header */
	struct cache *caches[MACHINE_CACHES];         /* as machine.caches[]; shared ones are the model's */
	struct cache *first_data, *first_instruction; /* or NULL */
	uint8_t lru_fast; /* enum lru_fast: records that the filter does not have may go by fast/lru_fast.h */
	/* requests of the first caches that wait, or NULL; levels: NULL: none can (fast/request_queue.h) */
	struct request_queue *requests, *levels;
	struct tlbs *tlbs;    /* or NULL */
	struct filter filter; /* table NULL: none */
	/* filter.data and filter.fetch while generated code resolves accesses */
	struct inline_entry *inline_data;
	struct inline_fetch *inline_fetch;
	uint8_t *sampled;       /* fast/inline.h; or NULL */
	struct fetch stepping;  /* fast/inline.c: of the block that goes step by step */
	uint64_t stepping_last; /* the last byte that it may have fetched behind its last record */
	bool is_stepping;
	uint64_t recency;            /* of hits */
	bool steps;                  /* the next block goes step by step */
	bool simple;                 /* in this run: what the table does not have needs fast/simple_loop.h only */
	struct branches *branches;   /* or NULL */
	struct coherence_lost *lost; /* or NULL */
	/* the access under way (cache/hierarchy.c) */
	uint64_t address;
	uint32_t bytes, id;
	unsigned fill_flags, missed; /* enum coherence_line, enum coherence_miss */
	unsigned ordered;            /* enum order; with options.orders */
	/* reads, writes and (pages) fetches that counted themselves in caches, in TLBs, though a plan's sums have
	 * them */
	uint64_t self_counted[2], self_counted_pages[3];
	uint64_t accessed;          /* address of the last data access */
	struct object_calls *calls; /* or NULL */
	/* per-instruction counts (step.c): what was already charged to somebody; what this core made others
	 * count */
	uint64_t charged[MODEL_WATCHES];
	/* fast/charge.h: where the watched counts are, and of which watch */
	const uint64_t *charges[MODEL_WATCHES];
	uint8_t charges_watch[MODEL_WATCHES], n_charges;
	uint8_t charges_branches; /* enum branch_charges: how this run does it (charge_begin()) */
	uint64_t elsewhere[MACHINE_CACHES][CACHE_COUNTS];
	struct overflow_state overflow;
};

struct model {
	struct machine machine;
	struct model_options options;
	unsigned fetch_shift;
	unsigned core_count;           /* the highest number + 1 */
	bool snoops;                   /* coherence is at work: more than one core */
	bool simple;                   /* the first caches are plain (cache/cache.h), and nothing prefetches */
	bool distinct_writes;          /* a write that hits may need more than a read: HIT_WRITE */
	bool pages_changed;            /* since the machine began */
	bool inlined, inline_by_units; /* generated code resolves accesses; by_units when that began */
	bool by_units;                 /* fetch units are records of their own: tlbs_by_units(), HIT_PAGE */
	bool vectors;                  /* AVX-512 */
	bool sets_vectors;             /* and there are sets that it is worth saving registers for */
	bool charges_all;              /* a watch is on what a batch's sums count */
	uint8_t charges_branches;      /* enum branch_charges: what the watches ask for */
	struct plans *plans;           /* NULL: every block goes step by step */
	struct batch *batch;
	uint32_t btb_changes; /* of all cores, which share the plans' static branches */
	unsigned n_watches;
	struct model_watch watches[MODEL_WATCHES];
	uint64_t *item_counts, *block_counts;
	uint64_t overflow_period; /* 0: events are counted by instruction; else item_counts is the log */
	uint64_t overflow_words;
	uint32_t overflow_skid;
	struct objects *objects;          /* NULL: not wanted */
	uint8_t in_front[MACHINE_CACHES]; /* bits: caches whose way to memory leads through it */
	struct cache *shared[MACHINE_CACHES];
	struct coherence coherence;
	struct core *acting; /* in whose access we are */
	struct core *waits;  /* something of it may wait (core_settle()); or NULL */
	struct tlb_map pages;
	struct core *cores[MODEL_CORES_MAX]; /* NULL: not yet */
};

/* fast/request_queue.c: what waits is done, and nothing waits any more. */
void core_settle(struct core *core);

/* What comes is in that core's access. */
static inline void core_acts(struct core *core)
{
	struct core *waits = core->model->waits;
	if (waits && waits != core)
		core_settle(waits);
	core->model->acting = core;
}

/* ---- steps (step.c) ---- */

/* also counts the stream's */
void step_access(struct core *core, uint64_t address, uint32_t bytes, bool write, uint32_t item);
void step_memory(struct core *core, uint64_t address, uint32_t bytes, bool write, uint32_t item); /* does not */
void step_prefetch(struct core *core, uint64_t address, uint32_t bytes, uint32_t item);
/* all but its being a read or a write */
void step_item(struct core *core, uint64_t address, uint32_t bytes, bool write, uint32_t item);
/* An access within a line that hits, by the table; counted. False: nothing was done. */
bool step_hit(struct core *core, uint64_t address, uint32_t bytes, bool write);
void step_count_hits(struct core *core, bool write, uint64_t in_cache, uint64_t in_tlb); /* so many more of them */
/* A page, of a record that neither table has: its entry among filter.pages. The plan's sums have the access, too,
   and if it counts itself they are told (self_counted_pages). TLB_PASSED: not the first TLB's; then of data
   nothing was done. */
uint32_t step_page(struct core *core, uint64_t address, enum model_tlb_count kind);
/* Notes the record's granule in the table, if it is held as it must be. */
void step_filter_insert(struct core *core, uint64_t record);

struct fetch step_fetch_begin(struct core *core, uint64_t pc, uint32_t block);
/* all units up to the ones that pc is in */
void step_fetch_to(struct core *core, struct fetch *fetch, uint64_t pc);
void step_branch(struct core *core, uint64_t pc, uint32_t length, enum trace_ending ending, bool taken,
		 uint64_t target, uint32_t block);

/* Entries from i on, as far as they are blocks that can be run fast (fast/batch.c). Returns where it stopped. */
size_t run_fast(struct core *core, const struct trace_program *program, const uint64_t *entries, size_t i,
		size_t n, uint64_t fs_base);
/* run.c: a block step by step (done: instructions that were executed; UINT32_MAX: all); one item, or all of a rep
 * instruction, how many */
void run_block(struct core *core, const struct trace_program *program, uint32_t number, const uint64_t *values,
	       uint32_t done, uint64_t fs_base);
uint32_t run_item(struct core *core, const struct trace_program *program, uint32_t item, uint32_t end,
		  const uint64_t *values, uint64_t fs_base);
/* run.c: what a mark TRACE_SPANS says of an item; words: behind the mark. Returns how many there are. */
size_t run_spans(struct core *core, const struct trace_program *program, uint32_t item, const uint64_t *words);
/* fast/inlined.c: what the headers of inlined blocks count (fast/inline.h): of items, reads and writes but those
 * of rep instructions and gathers */
static inline bool inlined_counts(const struct trace_item *item) { return item->kind <= TRACE_WRITE; }
void inlined_sums(const struct trace_item *items, unsigned n, uint64_t *reads, uint64_t *writes);
void run_inlined(struct core *core, const struct trace_program *program, uint32_t number, uint32_t done);
size_t run_headers(struct core *core, const struct trace_program *program, const uint64_t *entries, size_t i,
		   size_t n);
/* fast/inline.c: a block that went step by step is over */
void inline_stepped(struct core *core);
/* run.c: of a block that was left behind `done` instructions, how many of its items were accessed, and how many
 * bytes fetched at least */
uint32_t run_items_done(const struct trace_block *block, const struct trace_item *items, uint32_t done,
			uint32_t *fetched);
void resolve(struct core *core, const struct trace_program *program, uint64_t went_to);
/* fast/plan.c: what plans are made from has changed. */
void plans_forget(struct model *model);

/* What was counted since the last charge, to an item or a block. */
void charge_begin(struct core *core);
void charge(struct core *core, uint64_t *totals, uint64_t number, bool data);
static inline void charge_item(struct core *core, uint32_t item)
{
	if (core->model->n_watches)
		charge(core, core->model->item_counts, item, true);
}
static inline void charge_block(struct core *core, uint32_t block)
{
	if (core->model->n_watches)
		charge(core, core->model->block_counts, block, false);
}

static inline unsigned log2_of(uint64_t power) { return (unsigned)__builtin_ctzll(power); }

static inline uint64_t pages_of(uint64_t bytes) { return (bytes + 4095) & ~4095ull; }

#endif
