/*
 * What is compiled twice: without vectors (batch.c) and for AVX-512 (vectors.c, where vectors_here() is
 * VECTORS_AVX512).
 *
 * Equals   the same functions of batch.c
 * For      processors with AVX-512
 * Test     tests/model/run_test.c, tests/model/requests_test.c, tests/model/inline_test.c: with and without
 *          vectors
 */
#ifndef TARE_MODEL_CORE_FAST_VECTORS_H
#define TARE_MODEL_CORE_FAST_VECTORS_H

#include "model/core/fast/plan.h"

/* Fills the batch with blocks from entry i on; their branches are posted. Returns where it stopped: the batch is
   full, or no such block follows. */
size_t flatten_vectors(struct core *core, struct batch *batch, const struct trace_program *program,
		       const uint64_t *entries, size_t i, size_t n);

/* A record that the table does not have, on a plain machine. False: it is none of its sort, nothing was done. */
/* inline_vectors.c: the same, and all vector registers are as they were */
bool simple_record_saved(struct core *core, uint64_t record);
/* lru_fast_access_64() (lru_fast.h), and likewise */
void lru_fast_data_saved(struct core *core, uint64_t record, uint32_t page);
void lru_fast_fetch_saved(struct core *core, uint64_t record, uint32_t page);
/* lru_fast_record() (lru_fast.h), likewise */
void lru_fast_record_saved(struct core *core, uint64_t record, uint32_t page);
bool simple_record_vectors(struct core *core, uint64_t record);

#endif
