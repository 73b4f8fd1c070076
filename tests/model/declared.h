/* Random machines, small enough that a few hundred accesses fill them, and random streams: all of a seed. */
#ifndef TARE_TESTS_MODEL_DECLARED_H
#define TARE_TESTS_MODEL_DECLARED_H

#include "model/core/model.h"

struct random {
	uint64_t state;
};

uint64_t random_next(struct random *r);              /* splitmix64 (Steele et al. 2014) */
uint64_t random_below(struct random *r, uint64_t n); /* 0 … n - 1 */
bool random_in(struct random *r, unsigned n);        /* true one time in n */

/* coherent: private caches and coherence between them */
void random_machine(struct random *r, struct machine *machine, bool coherent);

/*
 * As machines are: L1I, L1D, L2, perhaps L3, of powers of two, LRU or tree PLRU, write-back; DTLB, ITLB, STLB; a
 * bit smaller.
 */
void usual_machine(struct random *r, struct machine *machine, bool coherent);

/*
 * A machine with one data cache, or one instruction cache (index 0) and nothing else, LRU, write-back, allocating.
 */
struct machine one_cache(uint32_t line_bytes, uint32_t sets, uint32_t ways, enum machine_holds holds);
void machine_print(const struct machine *machine, const struct model_options *options);

/* An address far from this one (0: the same), whose granule has the same place in the table of holders (model/core/coherence/coherence.h). */
uint64_t same_place(const struct machine *machine, uint64_t address, unsigned which);

/* The core with memory of its own. */
#define SIMULATED_CORES 128
struct simulated {
	struct model *model;
	struct machine machine;
	struct model_options options;
	struct model_counts *counts[SIMULATED_CORES];
	void *memory, *core_memory[SIMULATED_CORES];
	uint64_t bytes, core_bytes;
};
void simulated_make(struct simulated *s, const struct machine *machine); /* without options */
void simulated_make_with(struct simulated *s, const struct machine *machine, const struct model_options *options);
/* What is compiled twice (model/core/fast/vectors.h) runs without vectors from now on, as on a processor that has none. */
void simulated_scalar(struct simulated *s);
void simulated_core(struct simulated *s, unsigned core);
void simulated_free(struct simulated *s);

const char *cache_count_name(unsigned what);
const char *tlb_count_name(unsigned what);
const char *stream_count_name(unsigned what);

/* Prints what differs between two cores' counts, `# ` in front; true if nothing does. Branches are left out. */
bool counts_equal(const struct machine *machine, const struct model_counts *is,
		  const struct model_counts *expected, bool print);

#endif
