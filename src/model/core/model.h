/*
 * A machine's counters over an access stream (engine/wire/trace.h). Freestanding: this folder calls nothing
 * outside itself, allocates nothing, and is built twice, hosted (tests, tools) and into the runtime that runs
 * inside the measured program.
 *
 *     machine, options ──► model_init, model_core_init ──► model_run(core, entries) … ──► struct model_counts of each core
 *
 * What always holds:
 *  1. The counts are a function of the machine, of the options and of the sequence of calls: not of addresses of
 *     the model's own memory, nor of time.
 *  2. The filter, and all else that options.no_filters turns off, changes no count: what it decides is
 *     done in full, in fewer steps.
 *  3. For every cache: misses <= accesses (hits are what is left); fills = misses - bypasses + prefetches (but for
 *     exclusive levels); of private ones write-backs <= fills + interventions (a modified line that another core
 *     reads is written back and stays; no interventions on machines that are not coherent). model_conserves() says so.
 *  4. An access that crosses a line's end is an access to each of its lines; one that crosses a page's end uses
 *     each page.
 */
#ifndef TARE_MODEL_CORE_MODEL_H
#define TARE_MODEL_CORE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/wire/trace.h"
#include "model/core/counts.h"
#include "model/core/machine.h"
#include "model/core/options.h"

struct model;

/* Bytes of zeroed memory for the machine, and for each core of it; a multiple of 4096. Memory that is never
 * touched stays 0. */
uint64_t model_bytes(const struct machine *machine, const struct model_options *options);
uint64_t model_core_bytes(const struct machine *machine, const struct model_options *options);

/* memory: zeroed, 4096-aligned, stays the caller's. Machine and options are copied; the machine was checked
 * (machine_is_sound). */
struct model *model_init(void *memory, const struct machine *machine, const struct model_options *options);

/*
 * Before the first core: the process has the pages that `other` knows of, a model of the same process or of the
 * one it is a copy of. whole: nobody was in it; else what it knows cannot be told, and the TLBs' counts are not to
 * be used.
 */
void model_pages(struct model *model, const struct model *other, bool whole);

/* How often a core wanted what another one held, so far: where that stays as it is nobody sees in which turns
 * cores are run. */
uint64_t model_meetings(const struct model *model);

/* Core `core` (0 … MODEL_CORES_MAX - 1) begins to exist, cold. counts: where it counts, zeroed; outlives the
 * model. */
#define MODEL_CORES_MAX 1024
void model_core_init(struct model *model, unsigned core, void *memory, struct model_counts *counts);
/* The same core, what it holds unchanged, counts elsewhere from now on (a thread ended, another goes on there). */
void model_core_counts(struct model *model, unsigned core, struct model_counts *counts);

/*
 * Per-instruction counts: of every event watched, item_counts[item * n + w] (and for fetches and branches
 * block_counts[block * n + w]) grows by one where it happens. NULL: not wanted. Zeroed by the caller, as large as
 * the program's templates will ever be.
 */
#define MODEL_WATCHES 8
/* component: enum model_component; index: which cache or TLB; count: of its enum */
struct model_watch {
	uint8_t component, index, count, unused;
};
void model_watch(struct model *model, const struct model_watch *watches, unsigned n, uint64_t *item_counts,
		 uint64_t *block_counts);

/* What the watched events have counted of what the core did, whichever core counts it: watched[n]. Between two
 * runs. */
void model_watched(const struct model *model, unsigned core, uint64_t watched[MODEL_WATCHES]);

/*
 * After model_watch(), instead of counts by instruction: each core's period-th event of all that is watched is
 * logged, in item_counts, which has so many words (overflow/overflow.h); skid: instructions.
 */
void model_overflow(struct model *model, uint64_t period, uint32_t skid, uint64_t words);

/*
 * From the next entry on the numbers of blocks and items mean others, and per-instruction counts go to other
 * arrays (model_watch). What caches, TLBs and predictors hold stays; strides, which are learned by item, are
 * learned anew. False: where a core's last branch went had not been said (TRACE_BREAK), and that branch is lost.
 */
bool model_renumber(struct model *model, uint64_t *item_counts, uint64_t *block_counts);

/*
 * Counts by data object (objects/objects.h): what the watched events of data accesses touched; instruction fetch
 * is OBJECT_CODE's. Each core has a stack of calls (object_calls_bytes(), zeroed). After model_watch(); NULL: not
 * wanted.
 */
struct objects;
struct object_calls;
void model_objects(struct model *model, struct objects *objects);
void model_core_calls(struct model *model, unsigned core, struct object_calls *calls);

/* Runs entries [0, n) of one thread on a core. Not to be called for the same model by two threads at once. */
void model_run(struct model *model, unsigned core, const struct trace_program *program, const uint64_t *entries,
	       size_t n, uint64_t fs_base);

/* One step each, for tests and for streams that are not a trace: the same counts as model_run's. item, block: for
 * watches, or 0 */
void model_access(struct model *model, unsigned core, uint64_t address, uint32_t bytes, enum trace_kind kind,
		  uint32_t item);
void model_fetch(struct model *model, unsigned core, uint64_t address, uint32_t bytes, uint32_t block);

/* False: why, a constant, names the law that was broken (a defect of the model, never of the program). */
bool model_conserves(const struct machine *machine, const struct model_options *options,
		     const struct model_counts *counts, const char **why);

#endif
