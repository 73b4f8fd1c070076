/*
 * Regions of a record: which there are, of all processes under one numbering, and what was counted in each.
 *
 *     regions_plan (before the start: what is asked for) ──► execution ──► regions_new ──► tally_new adds counts ──► regions_fill
 *
 * What always holds:
 *  1. The regions asked for come first, in their order, entered or not; those that the program named follow, one
 *     for a name, in the order of their first mention.
 *  2. A region's counts are the sum over all blocks whose context contains it, corrected as the program's are:
 *     passes that did not end are in them up to the instruction at which the thread left or ended. Where a region
 *     that the program named was left, other than by its end, nobody can know (a longjmp may stay inside): `open`
 *     says that its counts are not to be used.
 *  3. With `exclusive`, every instruction that is in a region is in exactly one region alone: the one of its
 *     context that was entered last. Of nested regions, one alone is itself less those directly in it.
 *  4. why is set if the record lost something that any region's counts need; then none is used.
 */
#ifndef TARE_BACKEND_ENGINE_REGIONS_H
#define TARE_BACKEND_ENGINE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/x86/vector.h"
#include "base/error.h"
#include "engine/inject/view.h"
#include "engine/wire/region.h"
#include "model/core/counts.h"
#include "result/region.h"

struct counted_region {
	const char *name; /* of one that the program named: not ended by a 0; in the record */
	size_t name_bytes;
	bool asked;
	/* the engine's own (engine/wire/region.h, REGION_HIDDEN): of no report */
	bool hidden;
	uint64_t entries, exits, unbalanced, threads;
	/* threads whose pass through a region that the program named did not end; what they inherited apart */
	uint64_t open;
	uint64_t switched; /* threads that went to another stack in it */
	/* instructions of the access stream that led to ends of passes, and are not of the region */
	uint64_t moved;
	uint64_t count[COUNTS];
	struct model_counts *models; /* [machines], of the access stream; NULL: not asked for, or not known */
	/* exclusive: of those, what was executed while it was the region entered last */
	uint64_t alone[COUNTS];
	struct model_counts *models_alone; /* likewise */
};

struct execution_regions {
	struct counted_region *all;
	size_t n, n_asked;
	const char *why;             /* no region's counts can be used; a constant, or NULL */
	const char *why_named;       /* none of those that the program named; likewise */
	struct model_counts *models; /* [n][machines]; with `exclusive` as many more, of each alone */
	size_t machines;
	const char *models_why;       /* none of the access stream's counts can be used; likewise */
	const char *alone_why;        /* none of those of regions alone; likewise */
	bool exclusive;               /* what was executed in each alone was asked for (RECORD_EXCLUSIVE) */
	const char *lost;             /* not every region is here; likewise */
	struct region_image **images; /* [n_processes], of the view; several may be one */
	size_t n_processes;
	const struct view *view;
};

/* For injection_options: an array of record_region_range to be freed with free(); NULL without an error when no
 * range is asked for. */
bool regions_plan(const struct region_asked *asked, size_t n, struct record_region_range **out, size_t *n_ranges,
		  struct error *err);

/* *out is the caller's, to be freed before the view. children: also of forked processes. */
/* machines: struct model_counts of each thread; 0: the access stream was not asked for */
bool regions_new(const struct view *view, size_t n_asked, bool children, size_t machines,
		 struct execution_regions **out, struct error *err);
void regions_free(struct execution_regions *regions);

/* The regions of a context of that process's blocks: *n of them, as indices. *damaged is set when there is no such
 * context. */
const uint32_t *regions_of(const struct execution_regions *regions, const struct view_process *owner,
			   uint32_t context, uint32_t *n, bool *damaged);
/* The index of the number that an image has given a region; SIZE_MAX: there is none. */
size_t regions_index(const struct execution_regions *regions, const struct view_process *process, uint32_t local);
uint32_t regions_local_count(const struct execution_regions *regions, const struct view_process *process);

#endif
