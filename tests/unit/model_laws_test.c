/* The laws of a core's counts (model/core/model.h, 3): each is broken by one count, and named; lawful counts pass. And the table of classes, full. */
#include <stdlib.h>
#include <string.h>

#include "model/core/cache/classify.h"
#include "model/core/internal.h"
#include "model/core/model.h"
#include "tap.h"

static struct machine one_of_each(void)
{
	struct machine m = {.name = "laws", .n_caches = 1, .n_tlbs = 1, .first_instruction = 0, .first_data = 0};
	m.caches[0] = (struct machine_cache){
		.name = "L1", .line_bytes = 32, .sets = 64, .ways = 1, .holds = 3, .next = MACHINE_NONE};
	m.tlbs[0] = (struct machine_tlb){.name = "TLB", .sets = 1, .ways = 64, .holds = 3, .next = MACHINE_NONE};
	return m;
}

/* Every law holds, most of them with nothing to spare. */
static struct model_counts lawful(void)
{
	struct model_counts n = {0};
	uint64_t *c = n.cache[0], *t = n.tlb[0], *b = n.branch, *s = n.stream;
	c[CACHE_READS] = c[CACHE_READ_MISSES] = 10;
	c[CACHE_WRITES] = c[CACHE_WRITE_MISSES] = 20;
	c[CACHE_FETCHES] = c[CACHE_FETCH_MISSES] = 30;
	c[CACHE_BYPASSES] = 40, c[CACHE_VICTIM_HITS] = 20;
	c[CACHE_PREFETCHES] = c[CACHE_PREFETCHES_USED] = 5;
	c[CACHE_FILLS] = c[CACHE_EVICTIONS] = 60 - 40 + 5;
	c[CACHE_INTERVENTIONS] = 7, c[CACHE_WRITE_BACKS] = 25 + 7;
	c[CACHE_COMPULSORY] = 30, c[CACHE_CAPACITY] = 15, c[CACHE_CONFLICT] = 8, c[CACHE_UNCLASSIFIED] = 4;
	c[CACHE_COHERENCE_MISSES] = c[CACHE_FALSE_SHARING_MISSES] = 3;
	t[TLB_READS] = t[TLB_READ_MISSES] = 4, t[TLB_WRITES] = t[TLB_WRITE_MISSES] = 5,
	t[TLB_FETCHES] = t[TLB_FETCH_MISSES] = 6;
	b[BRANCH_ALL] = 30, b[BRANCH_CONDITIONAL] = b[BRANCH_CONDITIONAL_MISPREDICTED] = 10,
	b[BRANCH_INDIRECT] = b[BRANCH_INDIRECT_MISPREDICTED] = 7;
	b[BRANCH_RETURNS] = b[BRANCH_RETURN_MISPREDICTED] = 3, b[BRANCH_MISPREDICTED] = 20, b[BRANCH_TAKEN] = 30;
	b[BRANCH_BTB_LOOKUPS] = 20, b[BRANCH_BTB_HITS] = 15, b[BRANCH_BTB_MISSES] = b[BRANCH_BTB_MISSES_TAKEN] = 5;
	s[STREAM_READS] = s[STREAM_MISALIGNED_READS] = s[STREAM_LINE_CROSSING_READS] = 10;
	s[STREAM_WRITES] = s[STREAM_MISALIGNED_WRITES] = s[STREAM_LINE_CROSSING_WRITES] = 20;
	s[STREAM_MISALIGNED] = s[STREAM_LINE_CROSSING] = s[STREAM_PAGE_CROSSING] = 30;
	s[STREAM_PENTIUM_MISALIGNED] = 60, s[STREAM_PENTIUM_MISALIGNED_READS] = 20;
	return n;
}

/* What breaks a law: added to one count; `and`: to a second, so that no other law is broken before it. */
struct count {
	enum model_component component;
	unsigned count;
	int add;
};
static const struct {
	struct count one, and;
	const char *law;
} broken[] = {
	{{MODEL_CACHE, CACHE_READS, -1}, {0}, "misses exceed accesses"},
	{{MODEL_CACHE, CACHE_WRITES, -1}, {0}, "misses exceed accesses"},
	{{MODEL_CACHE, CACHE_FETCHES, -1}, {0}, "misses exceed accesses"},
	{{MODEL_CACHE, CACHE_FILLS, 1}, {0}, "fills are not"},
	{{MODEL_CACHE, CACHE_FILLS, -1}, {0}, "fills are not"},
	{{MODEL_CACHE, CACHE_PREFETCHES, 1}, {0}, "fills are not"},
	{{MODEL_CACHE, CACHE_BYPASSES, 21}, {MODEL_CACHE, CACHE_FILLS, -21}, "bypasses exceed misses"},
	{{MODEL_CACHE, CACHE_VICTIM_HITS, 1}, {0}, "victim buffer hits"},
	{{MODEL_CACHE, CACHE_EVICTIONS, 1}, {0}, "evictions exceed fills"},
	{{MODEL_CACHE, CACHE_WRITE_BACKS, 1}, {0}, "write-backs exceed fills"},
	{{MODEL_CACHE, CACHE_INTERVENTIONS, -1}, {0}, "write-backs exceed fills"},
	{{MODEL_CACHE, CACHE_PREFETCHES_USED, 1}, {0}, "used more often"},
	{{MODEL_CACHE, CACHE_COMPULSORY, 1}, {0}, "classes of misses"},
	{{MODEL_CACHE, CACHE_CAPACITY, -1}, {0}, "classes of misses"},
	{{MODEL_CACHE, CACHE_CONFLICT, -1}, {0}, "classes of misses"},
	{{MODEL_CACHE, CACHE_UNCLASSIFIED, 1}, {0}, "classes of misses"},
	{{MODEL_CACHE, CACHE_FALSE_SHARING_MISSES, 1}, {0}, "false sharing exceeds"},
	{{MODEL_TLB, TLB_READS, -1}, {0}, "TLB misses"},
	{{MODEL_TLB, TLB_WRITES, -1}, {0}, "TLB misses"},
	{{MODEL_TLB, TLB_FETCHES, -1}, {0}, "TLB misses"},
	{{MODEL_BRANCH, BRANCH_MISPREDICTED, 1}, {0}, "kinds of mispredictions"},
	{{MODEL_BRANCH, BRANCH_RETURN_MISPREDICTED, -1}, {0}, "kinds of mispredictions"},
	{{MODEL_BRANCH, BRANCH_BTB_HITS, 1}, {0}, "BTB hits"},
	{{MODEL_BRANCH, BRANCH_BTB_LOOKUPS, 1}, {0}, "BTB hits"},
	{{MODEL_BRANCH, BRANCH_BTB_MISSES_TAKEN, 1}, {0}, "BTB hits"},
	{{MODEL_BRANCH, BRANCH_TAKEN, 1}, {0}, "more branches of a kind"},
	{{MODEL_BRANCH, BRANCH_CONDITIONAL, 21}, {0}, "more branches of a kind"},
	{{MODEL_BRANCH, BRANCH_CONDITIONAL, -1}, {0}, "more branches of a kind"},
	{{MODEL_BRANCH, BRANCH_INDIRECT, -1}, {0}, "more branches of a kind"},
	{{MODEL_BRANCH, BRANCH_RETURNS, -1}, {0}, "more branches of a kind"},
	{{MODEL_BRANCH, BRANCH_ALL, -11}, {MODEL_BRANCH, BRANCH_TAKEN, -11}, "more branches of a kind"},
	{{MODEL_STREAM, STREAM_MISALIGNED, 1}, {0}, "do not add up"},
	{{MODEL_STREAM, STREAM_LINE_CROSSING_READS, -1}, {0}, "do not add up"},
	{{MODEL_STREAM, STREAM_MISALIGNED_READS, 1}, {MODEL_STREAM, STREAM_MISALIGNED, 1}, "more misaligned"},
	{{MODEL_STREAM, STREAM_MISALIGNED_WRITES, 1}, {MODEL_STREAM, STREAM_MISALIGNED, 1}, "more misaligned"},
	{{MODEL_STREAM, STREAM_LINE_CROSSING_WRITES, 1},
	 {MODEL_STREAM, STREAM_LINE_CROSSING, 1},
	 "more misaligned"},
	{{MODEL_STREAM, STREAM_PAGE_CROSSING, 1}, {0}, "more misaligned"},
	{{MODEL_STREAM, STREAM_PENTIUM_MISALIGNED, 1}, {0}, "more misaligned"},
	{{MODEL_STREAM, STREAM_PENTIUM_MISALIGNED_READS, 1}, {0}, "more misaligned"},
	{{MODEL_STREAM, STREAM_PENTIUM_MISALIGNED_READS, -1}, {0}, "more misaligned"},
	{{MODEL_STREAM, STREAM_READS, 1}, {0}, "fewer accesses"},
	{{MODEL_STREAM, STREAM_WRITES, 1}, {0}, "fewer accesses"},
};

static void change(struct model_counts *n, const struct count *what)
{
	uint64_t *of = what->component == MODEL_CACHE    ? n->cache[0]
		       : what->component == MODEL_TLB    ? n->tlb[0]
		       : what->component == MODEL_BRANCH ? n->branch
							 : n->stream;
	of[what->count] += (uint64_t)(int64_t)what->add;
}

static void full_table(void)
{
	struct model_memory measured = {0};
	struct classes classes;
	classes_init(&classes, &measured, 4);
	void *memory = calloc(1, measured.used + 4096);
	struct model_memory arena = {memory, 0};
	unsigned compulsory = 0, unknown = 0;
	classes_init(&classes, &arena, 4);
	for (uint64_t region = 0; region < CLASSES_REGIONS / 8 * 7; region++)
		compulsory += classes_access(&classes, region * 64, true) == CACHE_COMPULSORY;
	equal_u64(compulsory, CLASSES_REGIONS / 8 * 7,
		  "first accesses to as many regions as the table has room for are compulsory misses");
	for (uint64_t region = CLASSES_REGIONS; region < CLASSES_REGIONS + 100; region++)
		unknown += classes_access(&classes, region * 64, true) == CACHE_UNCLASSIFIED;
	equal_u64(unknown, 100, "beyond, nobody can tell a first access from another: unclassified");
	ok(classes_access(&classes, (CLASSES_REGIONS + 99) * 64ull, true) == CACHE_CONFLICT,
	   "but what a cache of that size would hold is a conflict");
	ok(classes_access(&classes, 64, true) == CACHE_CAPACITY,
	   "and of the regions that are known it is told as ever");
	free(memory);
}

int main(void)
{
	struct machine m = one_of_each();
	struct model_options options = {.classify = 1};
	const char *why = "";
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		struct model_counts n = lawful();
		change(&n, &broken[i].one);
		if (broken[i].and.add)
			change(&n, &broken[i].and);
		ok(!model_conserves(&m, &options, &n, &why) && why && strstr(why, broken[i].law),
		   "law %zu, broken: %s", i + 1, broken[i].law);
	}
	struct model_counts n = lawful();
	ok(model_conserves(&m, &options, &n, &why) && !why, "lawful counts pass");
	n.cache[0][CACHE_COMPULSORY]++;
	options.classify = 0;
	ok(model_conserves(&m, &options, &n, &why), "classes are not asked of misses that were not classed");
	full_table();
	return done();
}
