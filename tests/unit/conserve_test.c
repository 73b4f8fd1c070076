/* The laws of a model's counts (model/core/conserve.c): lawful ones pass, and each law that is broken is found, by its name. */
#include <stdlib.h>

#include "model/core/internal.h"
#include "tap.h"

static struct machine machine = {.n_caches = 1, .n_tlbs = 1, .first_data = 0};
static const struct model_options classified = {.classify = 1};

/* 100 reads and 50 writes of which 10 and 5 missed, 3 fetched ahead; 20 branches. */
static struct model_counts lawful(void)
{
	struct model_counts c = {0};
	uint64_t *cache = c.cache[0], *tlb = c.tlb[0], *branch = c.branch, *stream = c.stream;
	cache[CACHE_READS] = 100, cache[CACHE_WRITES] = 50, cache[CACHE_READ_MISSES] = 10,
	cache[CACHE_WRITE_MISSES] = 5;
	cache[CACHE_PREFETCHES] = 3, cache[CACHE_PREFETCHES_USED] = 2, cache[CACHE_FILLS] = 18,
	cache[CACHE_EVICTIONS] = 9;
	cache[CACHE_WRITE_BACKS] = 4, cache[CACHE_COMPULSORY] = 7, cache[CACHE_CAPACITY] = 4,
	cache[CACHE_CONFLICT] = 4;
	tlb[TLB_READS] = 100, tlb[TLB_WRITES] = 50, tlb[TLB_READ_MISSES] = 2, tlb[TLB_WRITE_MISSES] = 1;
	branch[BRANCH_ALL] = 20, branch[BRANCH_CONDITIONAL] = 12, branch[BRANCH_TAKEN] = 15,
	branch[BRANCH_RETURNS] = 4, branch[BRANCH_INDIRECT] = 2;
	branch[BRANCH_MISPREDICTED] = 4, branch[BRANCH_CONDITIONAL_MISPREDICTED] = 2,
	branch[BRANCH_RETURN_MISPREDICTED] = 1;
	branch[BRANCH_INDIRECT_MISPREDICTED] = 1, branch[BRANCH_BTB_LOOKUPS] = 20, branch[BRANCH_BTB_HITS] = 17,
	branch[BRANCH_BTB_MISSES] = 3;
	stream[STREAM_READS] = 90, stream[STREAM_WRITES] = 45, stream[STREAM_MISALIGNED] = 3,
	stream[STREAM_MISALIGNED_READS] = 2;
	stream[STREAM_MISALIGNED_WRITES] = 1, stream[STREAM_LINE_CROSSING] = 2,
	stream[STREAM_LINE_CROSSING_READS] = 2;
	return c;
}

enum part { CACHE, TLB, BRANCH, STREAM };

static const struct {
	enum part part;
	unsigned count;
	uint64_t value;
	const char *law;
} broken[] = {
	{CACHE, CACHE_READ_MISSES, 101, "misses exceed accesses"},
	{CACHE, CACHE_WRITE_MISSES, 51, "misses exceed accesses"},
	{CACHE, CACHE_FETCH_MISSES, 1, "misses exceed accesses"},
	{CACHE, CACHE_FILLS, 17, "fills are not misses"},
	{CACHE, CACHE_PREFETCHES, 4, "fills are not misses"},
	{CACHE, CACHE_VICTIM_HITS, 16, "victim buffer hits"},
	{CACHE, CACHE_EVICTIONS, 19, "evictions exceed fills"},
	{CACHE, CACHE_WRITE_BACKS, 19, "write-backs exceed fills"},
	{CACHE, CACHE_PREFETCHES_USED, 4, "prefetched lines were used more often"},
	{CACHE, CACHE_CAPACITY, 5, "classes of misses do not add up"},
	{CACHE, CACHE_CONFLICT, 3, "classes of misses do not add up"},
	{CACHE, CACHE_FALSE_SHARING_MISSES, 1, "false sharing exceeds"},
	{TLB, TLB_READ_MISSES, 101, "TLB misses exceed accesses"},
	{TLB, TLB_WRITE_MISSES, 51, "TLB misses exceed accesses"},
	{TLB, TLB_FETCH_MISSES, 1, "TLB misses exceed accesses"},
	{BRANCH, BRANCH_MISPREDICTED, 5, "kinds of mispredictions do not add up"},
	{BRANCH, BRANCH_BTB_HITS, 18, "BTB hits and misses are not the lookups"},
	{BRANCH, BRANCH_TAKEN, 21, "more branches of a kind than branches"},
	{BRANCH, BRANCH_CONDITIONAL, 1, "more branches of a kind than branches"},
	{STREAM, STREAM_MISALIGNED, 4, "do not add up"},
	{STREAM, STREAM_LINE_CROSSING, 1, "do not add up"},
	{STREAM, STREAM_PAGE_CROSSING, 3, "more misaligned or crossing accesses"},
	{STREAM, STREAM_READS, 101, "the first data cache saw fewer accesses"},
	{STREAM, STREAM_WRITES, 51, "the first data cache saw fewer accesses"},
};

int main(void)
{
	struct model_counts counts = lawful();
	const char *why = "";
	ok(model_conserves(&machine, &classified, &counts, &why) && !why,
	   "counts that obey the laws are believed (%s)", why ? why : "");
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		counts = lawful();
		uint64_t *of[] = {counts.cache[0], counts.tlb[0], counts.branch, counts.stream};
		of[broken[i].part][broken[i].count] = broken[i].value;
		bool believed = model_conserves(&machine, &classified, &counts, &why);
		ok(!believed && why && strstr(why, broken[i].law), "broken law %zu is found: %s (%s)", i + 1,
		   broken[i].law,
		   believed ? "believed"
		   : why    ? why
			    : "");
	}
	return done();
}
