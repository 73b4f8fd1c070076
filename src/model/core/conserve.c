/* Laws that a core's counts obey, whatever the program: model.h, 3. Counts of shared levels are in the names of
   several cores; each law here holds for one core alone. */
#include "model/core/internal.h"

static bool cache_conserves(const struct machine *machine, const struct model_options *options, unsigned index,
			    const uint64_t *c, const char **why)
{
	const struct machine_cache *is = &machine->caches[index];
	uint64_t misses = c[CACHE_READ_MISSES] + c[CACHE_WRITE_MISSES] + c[CACHE_FETCH_MISSES];
	bool exclusive = is->inclusion == INCLUSION_EXCLUSIVE,
	     first = machine->first_data == index || machine->first_instruction == index;
	*why = "misses exceed accesses";
	if (c[CACHE_READ_MISSES] > c[CACHE_READS] || c[CACHE_WRITE_MISSES] > c[CACHE_WRITES] ||
	    c[CACHE_FETCH_MISSES] > c[CACHE_FETCHES])
		return false;
	*why = "fills are not misses - bypasses + prefetches";
	if (!exclusive && c[CACHE_FILLS] != misses - c[CACHE_BYPASSES] + c[CACHE_PREFETCHES])
		return false;
	*why = "bypasses exceed misses";
	if (c[CACHE_BYPASSES] > misses)
		return false;
	*why = "victim buffer hits and bypasses exceed misses";
	if (c[CACHE_VICTIM_HITS] + c[CACHE_BYPASSES] > misses)
		return false;
	*why = "evictions exceed fills";
	if (c[CACHE_EVICTIONS] > c[CACHE_FILLS])
		return false;
	*why = "write-backs exceed fills"; /* a line that another core reads is written back and stays */
	if (c[CACHE_WRITE_BACKS] > c[CACHE_FILLS] + c[CACHE_INTERVENTIONS] && !is->shared)
		return false;
	*why = "prefetched lines were used more often than prefetched";
	if (c[CACHE_PREFETCHES_USED] > c[CACHE_PREFETCHES] && !is->shared)
		return false;
	*why = "classes of misses do not add up to the misses";
	if (options->classify && c[CACHE_COMPULSORY] + c[CACHE_CAPACITY] + c[CACHE_CONFLICT] +
						 c[CACHE_UNCLASSIFIED] + c[CACHE_COHERENCE_MISSES] !=
					 misses)
		return false;
	*why = "more misses in order than misses, or than accesses for them";
	if (c[CACHE_ORDERED_MISSES] > misses || (!first && c[CACHE_ORDERED_MISSES] > c[CACHE_ORDERED]))
		return false;
	*why = "false sharing exceeds coherence misses";
	return c[CACHE_FALSE_SHARING_MISSES] <= c[CACHE_COHERENCE_MISSES];
}

static bool tlb_conserves(const uint64_t *t, const char **why)
{
	*why = "TLB misses exceed accesses";
	return t[TLB_READ_MISSES] <= t[TLB_READS] && t[TLB_WRITE_MISSES] <= t[TLB_WRITES] &&
	       t[TLB_FETCH_MISSES] <= t[TLB_FETCHES];
}

static bool branches_conserve(const uint64_t *b, const char **why)
{
	*why = "kinds of mispredictions do not add up";
	if (b[BRANCH_MISPREDICTED] !=
	    b[BRANCH_CONDITIONAL_MISPREDICTED] + b[BRANCH_INDIRECT_MISPREDICTED] + b[BRANCH_RETURN_MISPREDICTED])
		return false;
	*why = "BTB hits and misses are not the lookups";
	if (b[BRANCH_BTB_HITS] + b[BRANCH_BTB_MISSES] != b[BRANCH_BTB_LOOKUPS] ||
	    b[BRANCH_BTB_MISSES_TAKEN] > b[BRANCH_BTB_MISSES])
		return false;
	*why = "more branches of a kind than branches";
	return b[BRANCH_MISPREDICTED] <= b[BRANCH_ALL] && b[BRANCH_CONDITIONAL] <= b[BRANCH_ALL] &&
	       b[BRANCH_TAKEN] <= b[BRANCH_ALL] && b[BRANCH_CONDITIONAL_MISPREDICTED] <= b[BRANCH_CONDITIONAL] &&
	       b[BRANCH_RETURN_MISPREDICTED] <= b[BRANCH_RETURNS] &&
	       b[BRANCH_INDIRECT_MISPREDICTED] <= b[BRANCH_INDIRECT];
}

static bool stream_conserves(const struct machine *machine, const struct model_counts *counts, const char **why)
{
	const uint64_t *s = counts->stream;
	*why = "reads and writes that are misaligned or cross a line do not add up";
	if (s[STREAM_MISALIGNED] != s[STREAM_MISALIGNED_READS] + s[STREAM_MISALIGNED_WRITES] ||
	    s[STREAM_LINE_CROSSING] != s[STREAM_LINE_CROSSING_READS] + s[STREAM_LINE_CROSSING_WRITES])
		return false;
	*why = "more misaligned or crossing accesses than accesses";
	if (s[STREAM_MISALIGNED_READS] > s[STREAM_READS] || s[STREAM_MISALIGNED_WRITES] > s[STREAM_WRITES] ||
	    s[STREAM_LINE_CROSSING_READS] > s[STREAM_READS] || s[STREAM_LINE_CROSSING_WRITES] > s[STREAM_WRITES] ||
	    s[STREAM_PAGE_CROSSING] > s[STREAM_LINE_CROSSING] ||
	    s[STREAM_PENTIUM_MISALIGNED_READS] > 2 * s[STREAM_READS] ||
	    s[STREAM_PENTIUM_MISALIGNED_READS] > s[STREAM_PENTIUM_MISALIGNED] ||
	    s[STREAM_PENTIUM_MISALIGNED] - s[STREAM_PENTIUM_MISALIGNED_READS] > 2 * s[STREAM_WRITES])
		return false;
	*why = "the first data cache saw fewer accesses than the program made";
	if (machine->first_data == MACHINE_NONE)
		return true;
	return counts->cache[machine->first_data][CACHE_READS] >= s[STREAM_READS] &&
	       counts->cache[machine->first_data][CACHE_WRITES] >= s[STREAM_WRITES];
}

bool model_conserves(const struct machine *machine, const struct model_options *options,
		     const struct model_counts *counts, const char **why)
{
	for (unsigned c = 0; c < machine->n_caches; c++)
		if (!cache_conserves(machine, options, c, counts->cache[c], why))
			return false;
	for (unsigned t = 0; t < machine->n_tlbs; t++)
		if (!tlb_conserves(counts->tlb[t], why))
			return false;
	if (!branches_conserve(counts->branch, why) || !stream_conserves(machine, counts, why))
		return false;
	*why = NULL;
	return true;
}
