/*
 * A slow simulator of everything that model/core/machine.h declares, written from the rules that the heads of
 * model/core/cache/hierarchy.c, model/core/cache/lines.h, model/core/cache/classify.h, model/core/coherence/coherence.h, model/core/tlb/tlb.h and model/core/run.c state (and model/core/counts.h, engine/wire/trace.h): it shares no code
 * with the core, has no filters, and every lookup is a walk through a list. A set is an array of ways and the order in which they were last used.
 *
 * What always holds: it counts into struct model_counts as the core does, but for the branches (tests/unit has
 * their references).
 */
#ifndef TARE_TESTS_MODEL_REFERENCE_H
#define TARE_TESTS_MODEL_REFERENCE_H

#include "model/core/model.h"

struct reference;

/* Of the options it takes those on what is counted. Freed with reference_free(). */
struct reference *reference_new(const struct machine *machine, const struct model_options *options);
void reference_free(struct reference *r);
void reference_core(struct reference *r, unsigned core); /* begins to exist */
const struct model_counts *reference_counts(const struct reference *r, unsigned core);

/* As model_watch(), but branches: what each item or block of reference_run() did to the counts of all cores. */
void reference_watch(struct reference *r, const struct model_watch *watches, unsigned n, uint64_t *item_counts,
		     uint64_t *block_counts);

void reference_access(struct reference *r, unsigned core, uint64_t address, uint32_t bytes, enum trace_kind kind,
		      uint32_t item);
void reference_fetch(struct reference *r, unsigned core, uint64_t address, uint32_t bytes, uint32_t block);
void reference_run(struct reference *r, unsigned core, const struct trace_program *program,
		   const uint64_t *entries, size_t n, uint64_t fs_base);

#endif
