/* What a core of a modelled machine counts: plain numbers, in memory that the host reads. Shared levels count in
   the name of the core that made the access. Add at the end of an enum only. */
#ifndef TARE_MODEL_CORE_COUNTS_H
#define TARE_MODEL_CORE_COUNTS_H

#include <stdint.h>

#include "model/core/machine.h"

enum model_component { MODEL_CACHE, MODEL_TLB, MODEL_BRANCH, MODEL_STREAM, MODEL_FILTER };

enum model_cache_count {
	/* Demand accesses, by line touched: at the first level the program's; further in requests for lines,
	   prefetchers' included, and stores handed on by the levels in front, of the kind that the program's
	   access had. Write-backs from in front are none. A fetch is an access to each line that control enters:
	   by reaching a byte of it when the byte executed before was in another line, or was not the one
	   before. */
	CACHE_READS,
	CACHE_WRITES,
	CACHE_FETCHES,
	CACHE_READ_MISSES,
	CACHE_WRITE_MISSES,
	CACHE_FETCH_MISSES,
	CACHE_FILLS, /* lines brought in, for whatever reason */
	/* demand misses that brought no line in (write miss without allocation, exclusive level) */
	CACHE_BYPASSES,
	CACHE_EVICTIONS,   /* lines replaced */
	CACHE_WRITE_BACKS, /* dirty lines written to the next level or to memory */
	CACHE_WRITES_THROUGH,
	/* lines asked for by a prefetcher or a prefetch instruction and not already there */
	CACHE_PREFETCHES,
	CACHE_PREFETCHES_USED, /* first demand hits on such lines */
	CACHE_VICTIM_HITS,     /* misses that the victim buffer served (also counted as misses) */
	/* misses by class (Hill); only with options.classify */
	CACHE_COMPULSORY,
	CACHE_CAPACITY,
	CACHE_CONFLICT,
	CACHE_BACK_INVALIDATIONS, /* lines lost because an inclusive level behind evicted them */
	CACHE_INVALIDATIONS,      /* lines lost to another core's write */
	/* lines held modified or exclusive that another core's access took or downgraded */
	CACHE_INTERVENTIONS,
	CACHE_UPGRADES,         /* writes to lines held shared */
	CACHE_COHERENCE_MISSES, /* misses on lines lost to another core's write */
	/* of these, those on bytes that nobody else has written since the line was lost */
	CACHE_FALSE_SHARING_MISSES,
	CACHE_WRITE_BACKS_PASSED, /* write-backs from in front of lines that it does not hold: handed on */
	/* misses that cannot be told compulsory from capacity: cache/classify.h's table is full */
	CACHE_UNCLASSIFIED,
	/* only with options.orders (cache/order.h): accesses for misses of the first level that are in order, and
	   those of them that missed here; of a first level itself, its misses of data in order */
	CACHE_ORDERED,
	CACHE_ORDERED_MISSES,
	CACHE_COUNTS
};

enum model_tlb_count {
	TLB_READS,
	TLB_WRITES,
	TLB_FETCHES,
	TLB_READ_MISSES,
	TLB_WRITE_MISSES,
	TLB_FETCH_MISSES,
	TLB_COUNTS
};

enum model_branch_count {
	BRANCH_ALL, /* control transfers executed, of any kind, taken or not */
	BRANCH_CONDITIONAL,
	BRANCH_TAKEN /* conditional and unconditional */,
	BRANCH_INDIRECT /* jumps and calls */,
	BRANCH_CALLS,
	BRANCH_RETURNS,
	/* any: wrong direction, or wrong or unknown target of a taken one that is not direct */
	BRANCH_MISPREDICTED,
	BRANCH_CONDITIONAL_MISPREDICTED,
	BRANCH_INDIRECT_MISPREDICTED,
	BRANCH_RETURN_MISPREDICTED,
	BRANCH_BTB_LOOKUPS,
	BRANCH_BTB_HITS,
	BRANCH_BTB_MISSES,
	BRANCH_PREDICTED_TAKEN,
	BRANCH_BTB_MISSES_TAKEN, /* of BRANCH_BTB_MISSES, those of branches that were taken */
	BRANCH_COUNTS
};

enum model_stream_count { /* what the stream is, whatever the machine */
			  STREAM_INSTRUCTIONS,
			  STREAM_BLOCKS,
			  STREAM_READS,
			  STREAM_WRITES, /* data accesses: rep instructions by iteration, gathers by lane */
			  /* accesses whose address is not a multiple of their size (size a power of two) */
			  STREAM_MISALIGNED,
			  STREAM_MISALIGNED_READS,
			  STREAM_MISALIGNED_WRITES,
			  STREAM_LINE_CROSSING, /* of 64 bytes */
			  STREAM_PAGE_CROSSING, /* of 4096 bytes */
			  STREAM_FETCH_BLOCKS,  /* runs of machine.fetch_bytes that were fetched */
			  STREAM_LINE_CROSSING_READS,
			  STREAM_LINE_CROSSING_WRITES, /* which add up to STREAM_LINE_CROSSING */
			  /* accesses that the Pentium counts as misaligned: see pentium_misaligned() */
			  STREAM_PENTIUM_MISALIGNED,
			  STREAM_PENTIUM_MISALIGNED_READS, /* of them; the others are writes */
			  STREAM_COUNTS
};

/* what the model's own work was: no property of the machine, and other with other plans and tables
 * (fast/batch.c) */
enum model_filter_count {
	/* records of data accesses (fast/plan.h) that the filter left to be looked up; a rep instruction is
	 * one */
	FILTER_NOT_INLINED_ACCESSES,
	FILTER_NOT_INLINED_FETCHES, /* likewise of fetches; a block that went step by step is one */
	FILTER_INLINED_BLOCKS,      /* whose fetches and accesses generated code resolved (fast/inline.h) */
	/* not 0: what TLBs count is not the machine's, for the pages' sizes were not all kept (tlb_map.dropped) */
	FILTER_PAGES_UNKNOWN,
	FILTER_COUNTS
};

/*
 * Safford 1997, Appendix A, event 0x0B: of 2 and 4 bytes, what crosses a multiple of 4; of 8 bytes, of 8; of 10
 * bytes, what its parts of 8 and 2 bytes make. Wider accesses, which the Pentium has not, go by their first 8
 * bytes; sizes that are not powers of two are never misaligned.
 */
static inline uint32_t pentium_misaligned(uint64_t address, uint32_t bytes)
{
	if (bytes == 10)
		return (address % 8 != 0) + (address % 4 == 3);
	if (bytes & (bytes - 1))
		return 0;
	return bytes <= 4 ? address % 4 + bytes > 4 : address % 8 != 0;
}

struct model_counts {
	uint64_t cache[MACHINE_CACHES][CACHE_COUNTS];
	uint64_t tlb[MACHINE_TLBS][TLB_COUNTS];
	uint64_t branch[BRANCH_COUNTS];
	uint64_t stream[STREAM_COUNTS];
	uint64_t filter[FILTER_COUNTS];
};

#endif
