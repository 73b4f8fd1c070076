/*
 * Every row of data/events that a model counts, on a machine whose counts are all different, against what is written here by hand of the row's
 * sentence: a row, a name or a count that is taken for another gives another value. perf's generic names are in model_backend_test.c.
 */
#include <stdio.h>
#include <string.h>

#include "backend/model/components.h"
#include "backend/model/events.h"
#include "model/declare/check.h"
#include "tap.h"

struct term {
	uint8_t part, index, count;
	int8_t sign;
};

/* Caches: 0 L1I, 1 L1D, 2 L2, 3 L3, which is shared; TLBs: 0 of code, 1 and 2 of data, small and large pages, 3 behind them. */
// clang-format off: a table, a row a line
static const struct {
	const char *name;
	uint32_t times, over;
	struct term terms[6];
} truths[] = {
	{"l1d-accesses", 1, 1, {{MODEL_CACHE, 1, CACHE_READS, 1}, {MODEL_CACHE, 1, CACHE_WRITES, 1}}},
	{"l1d-reads", 1, 1, {{MODEL_CACHE, 1, CACHE_READS, 1}}},
	{"l1d-writes", 1, 1, {{MODEL_CACHE, 1, CACHE_WRITES, 1}}},
	{"l1d-read-misses", 1, 1, {{MODEL_CACHE, 1, CACHE_READ_MISSES, 1}}},
	{"l1d-write-misses", 1, 1, {{MODEL_CACHE, 1, CACHE_WRITE_MISSES, 1}}},
	{"l1d-misses", 1, 1, {{MODEL_CACHE, 1, CACHE_READ_MISSES, 1}, {MODEL_CACHE, 1, CACHE_WRITE_MISSES, 1}}},
	{"l1d-hits",
	 1,
	 1,
	 {{MODEL_CACHE, 1, CACHE_READS, 1},
	  {MODEL_CACHE, 1, CACHE_WRITES, 1},
	  {MODEL_CACHE, 1, CACHE_READ_MISSES, -1},
	  {MODEL_CACHE, 1, CACHE_WRITE_MISSES, -1}}},
	{"l1i-hits", 1, 1, {{MODEL_CACHE, 0, CACHE_FETCHES, 1}, {MODEL_CACHE, 0, CACHE_FETCH_MISSES, -1}}},
	{"l1-misses",
	 1,
	 1,
	 {{MODEL_CACHE, 1, CACHE_READ_MISSES, 1},
	  {MODEL_CACHE, 1, CACHE_WRITE_MISSES, 1},
	  {MODEL_CACHE, 0, CACHE_FETCH_MISSES, 1}}},
	{"l1-accesses",
	 1,
	 1,
	 {{MODEL_CACHE, 1, CACHE_READS, 1},
	  {MODEL_CACHE, 1, CACHE_WRITES, 1},
	  {MODEL_CACHE, 0, CACHE_FETCHES, 1}}},
	{"l1-hits",
	 1,
	 1,
	 {{MODEL_CACHE, 1, CACHE_READS, 1},
	  {MODEL_CACHE, 1, CACHE_WRITES, 1},
	  {MODEL_CACHE, 0, CACHE_FETCHES, 1},
	  {MODEL_CACHE, 1, CACHE_READ_MISSES, -1},
	  {MODEL_CACHE, 1, CACHE_WRITE_MISSES, -1},
	  {MODEL_CACHE, 0, CACHE_FETCH_MISSES, -1}}},
	{"l1-reads", 1, 1, {{MODEL_CACHE, 1, CACHE_READS, 1}, {MODEL_CACHE, 0, CACHE_FETCHES, 1}}},
	{"l1d-replacements", 1, 1, {{MODEL_CACHE, 1, CACHE_FILLS, 1}}},
	{"l1d-writebacks", 1, 1, {{MODEL_CACHE, 1, CACHE_WRITE_BACKS, 1}}},
	{"l2-writebacks", 1, 1, {{MODEL_CACHE, 2, CACHE_WRITE_BACKS, 1}}},
	{"l3-writebacks", 1, 1, {{MODEL_CACHE, 3, CACHE_WRITE_BACKS, 1}}},
	{"l2-accesses",
	 1,
	 1,
	 {{MODEL_CACHE, 2, CACHE_READS, 1},
	  {MODEL_CACHE, 2, CACHE_WRITES, 1},
	  {MODEL_CACHE, 2, CACHE_FETCHES, 1}}},
	{"l2-misses",
	 1,
	 1,
	 {{MODEL_CACHE, 2, CACHE_READ_MISSES, 1},
	  {MODEL_CACHE, 2, CACHE_WRITE_MISSES, 1},
	  {MODEL_CACHE, 2, CACHE_FETCH_MISSES, 1}}},
	{"l2-hits",
	 1,
	 1,
	 {{MODEL_CACHE, 2, CACHE_READS, 1},
	  {MODEL_CACHE, 2, CACHE_WRITES, 1},
	  {MODEL_CACHE, 2, CACHE_FETCHES, 1},
	  {MODEL_CACHE, 2, CACHE_READ_MISSES, -1},
	  {MODEL_CACHE, 2, CACHE_WRITE_MISSES, -1},
	  {MODEL_CACHE, 2, CACHE_FETCH_MISSES, -1}}},
	{"l2-data-accesses", 1, 1, {{MODEL_CACHE, 2, CACHE_READS, 1}, {MODEL_CACHE, 2, CACHE_WRITES, 1}}},
	{"l2-data-misses",
	 1,
	 1,
	 {{MODEL_CACHE, 2, CACHE_READ_MISSES, 1}, {MODEL_CACHE, 2, CACHE_WRITE_MISSES, 1}}},
	{"l2-data-hits",
	 1,
	 1,
	 {{MODEL_CACHE, 2, CACHE_READS, 1},
	  {MODEL_CACHE, 2, CACHE_WRITES, 1},
	  {MODEL_CACHE, 2, CACHE_READ_MISSES, -1},
	  {MODEL_CACHE, 2, CACHE_WRITE_MISSES, -1}}},
	{"l2-data-reads", 1, 1, {{MODEL_CACHE, 2, CACHE_READS, 1}}},
	{"l2-data-read-misses", 1, 1, {{MODEL_CACHE, 2, CACHE_READ_MISSES, 1}}},
	{"l2-data-writes", 1, 1, {{MODEL_CACHE, 2, CACHE_WRITES, 1}}},
	{"l2-data-write-misses", 1, 1, {{MODEL_CACHE, 2, CACHE_WRITE_MISSES, 1}}},
	{"l2-code-accesses", 1, 1, {{MODEL_CACHE, 2, CACHE_FETCHES, 1}}},
	{"l2-code-misses", 1, 1, {{MODEL_CACHE, 2, CACHE_FETCH_MISSES, 1}}},
	{"l2-code-hits", 1, 1, {{MODEL_CACHE, 2, CACHE_FETCHES, 1}, {MODEL_CACHE, 2, CACHE_FETCH_MISSES, -1}}},
	{"l2-reads", 1, 1, {{MODEL_CACHE, 2, CACHE_READS, 1}, {MODEL_CACHE, 2, CACHE_FETCHES, 1}}},
	{"l3-accesses",
	 1,
	 1,
	 {{MODEL_CACHE, 3, CACHE_READS, 1},
	  {MODEL_CACHE, 3, CACHE_WRITES, 1},
	  {MODEL_CACHE, 3, CACHE_FETCHES, 1}}},
	{"l3-misses",
	 1,
	 1,
	 {{MODEL_CACHE, 3, CACHE_READ_MISSES, 1},
	  {MODEL_CACHE, 3, CACHE_WRITE_MISSES, 1},
	  {MODEL_CACHE, 3, CACHE_FETCH_MISSES, 1}}},
	{"l3-hits",
	 1,
	 1,
	 {{MODEL_CACHE, 3, CACHE_READS, 1},
	  {MODEL_CACHE, 3, CACHE_WRITES, 1},
	  {MODEL_CACHE, 3, CACHE_FETCHES, 1},
	  {MODEL_CACHE, 3, CACHE_READ_MISSES, -1},
	  {MODEL_CACHE, 3, CACHE_WRITE_MISSES, -1},
	  {MODEL_CACHE, 3, CACHE_FETCH_MISSES, -1}}},
	{"l3-data-accesses", 1, 1, {{MODEL_CACHE, 3, CACHE_READS, 1}, {MODEL_CACHE, 3, CACHE_WRITES, 1}}},
	{"l3-data-misses",
	 1,
	 1,
	 {{MODEL_CACHE, 3, CACHE_READ_MISSES, 1}, {MODEL_CACHE, 3, CACHE_WRITE_MISSES, 1}}},
	{"l3-data-hits",
	 1,
	 1,
	 {{MODEL_CACHE, 3, CACHE_READS, 1},
	  {MODEL_CACHE, 3, CACHE_WRITES, 1},
	  {MODEL_CACHE, 3, CACHE_READ_MISSES, -1},
	  {MODEL_CACHE, 3, CACHE_WRITE_MISSES, -1}}},
	{"l3-data-reads", 1, 1, {{MODEL_CACHE, 3, CACHE_READS, 1}}},
	{"l3-data-read-misses", 1, 1, {{MODEL_CACHE, 3, CACHE_READ_MISSES, 1}}},
	{"l3-data-writes", 1, 1, {{MODEL_CACHE, 3, CACHE_WRITES, 1}}},
	{"l3-data-write-misses", 1, 1, {{MODEL_CACHE, 3, CACHE_WRITE_MISSES, 1}}},
	{"l3-code-accesses", 1, 1, {{MODEL_CACHE, 3, CACHE_FETCHES, 1}}},
	{"l3-code-misses", 1, 1, {{MODEL_CACHE, 3, CACHE_FETCH_MISSES, 1}}},
	{"l3-code-hits", 1, 1, {{MODEL_CACHE, 3, CACHE_FETCHES, 1}, {MODEL_CACHE, 3, CACHE_FETCH_MISSES, -1}}},
	{"l3-reads", 1, 1, {{MODEL_CACHE, 3, CACHE_READS, 1}, {MODEL_CACHE, 3, CACHE_FETCHES, 1}}},
	{"dtlb-misses",
	 1,
	 1,
	 {{MODEL_TLB, 1, TLB_READ_MISSES, 1},
	  {MODEL_TLB, 2, TLB_READ_MISSES, 1},
	  {MODEL_TLB, 1, TLB_WRITE_MISSES, 1},
	  {MODEL_TLB, 2, TLB_WRITE_MISSES, 1}}},
	{"itlb-misses", 1, 1, {{MODEL_TLB, 0, TLB_FETCH_MISSES, 1}}},
	{"tlb-misses",
	 1,
	 1,
	 {{MODEL_TLB, 3, TLB_READ_MISSES, 1},
	  {MODEL_TLB, 3, TLB_WRITE_MISSES, 1},
	  {MODEL_TLB, 3, TLB_FETCH_MISSES, 1}}},
	{"dtlb-load-walks", 1, 1, {{MODEL_TLB, 3, TLB_READ_MISSES, 1}}},
	{"dtlb-store-walks", 1, 1, {{MODEL_TLB, 3, TLB_WRITE_MISSES, 1}}},
	{"dtlb-walks", 1, 1, {{MODEL_TLB, 3, TLB_READ_MISSES, 1}, {MODEL_TLB, 3, TLB_WRITE_MISSES, 1}}},
	{"itlb-walks", 1, 1, {{MODEL_TLB, 3, TLB_FETCH_MISSES, 1}}},
	{"stlb-accesses",
	 1,
	 1,
	 {{MODEL_TLB, 3, TLB_READS, 1}, {MODEL_TLB, 3, TLB_WRITES, 1}, {MODEL_TLB, 3, TLB_FETCHES, 1}}},
	{"stlb-misses",
	 1,
	 1,
	 {{MODEL_TLB, 3, TLB_READ_MISSES, 1},
	  {MODEL_TLB, 3, TLB_WRITE_MISSES, 1},
	  {MODEL_TLB, 3, TLB_FETCH_MISSES, 1}}},
	{"l1i-fills", 1, 1, {{MODEL_CACHE, 0, CACHE_FILLS, 1}}},
	{"l1i-prefetches", 1, 1, {{MODEL_CACHE, 0, CACHE_PREFETCHES, 1}}},
	{"l2-fills", 1, 1, {{MODEL_CACHE, 2, CACHE_FILLS, 1}}},
	{"l2-prefetches", 1, 1, {{MODEL_CACHE, 2, CACHE_PREFETCHES, 1}}},
	{"l3-fills", 1, 1, {{MODEL_CACHE, 3, CACHE_FILLS, 1}}},
	{"l3-prefetches", 1, 1, {{MODEL_CACHE, 3, CACHE_PREFETCHES, 1}}},
	{"l1d-prefetches", 1, 1, {{MODEL_CACHE, 1, CACHE_PREFETCHES, 1}}},
	{"l1i-evictions", 1, 1, {{MODEL_CACHE, 0, CACHE_EVICTIONS, 1}}},
	{"l1i-prefetches-used", 1, 1, {{MODEL_CACHE, 0, CACHE_PREFETCHES_USED, 1}}},
	{"l1i-compulsory-misses", 1, 1, {{MODEL_CACHE, 0, CACHE_COMPULSORY, 1}}},
	{"l1i-capacity-misses", 1, 1, {{MODEL_CACHE, 0, CACHE_CAPACITY, 1}}},
	{"l1i-conflict-misses", 1, 1, {{MODEL_CACHE, 0, CACHE_CONFLICT, 1}}},
	{"l1d-evictions", 1, 1, {{MODEL_CACHE, 1, CACHE_EVICTIONS, 1}}},
	{"l1d-prefetches-used", 1, 1, {{MODEL_CACHE, 1, CACHE_PREFETCHES_USED, 1}}},
	{"l1d-compulsory-misses", 1, 1, {{MODEL_CACHE, 1, CACHE_COMPULSORY, 1}}},
	{"l1d-capacity-misses", 1, 1, {{MODEL_CACHE, 1, CACHE_CAPACITY, 1}}},
	{"l1d-conflict-misses", 1, 1, {{MODEL_CACHE, 1, CACHE_CONFLICT, 1}}},
	{"l2-evictions", 1, 1, {{MODEL_CACHE, 2, CACHE_EVICTIONS, 1}}},
	{"l2-prefetches-used", 1, 1, {{MODEL_CACHE, 2, CACHE_PREFETCHES_USED, 1}}},
	{"l2-compulsory-misses", 1, 1, {{MODEL_CACHE, 2, CACHE_COMPULSORY, 1}}},
	{"l2-capacity-misses", 1, 1, {{MODEL_CACHE, 2, CACHE_CAPACITY, 1}}},
	{"l2-conflict-misses", 1, 1, {{MODEL_CACHE, 2, CACHE_CONFLICT, 1}}},
	{"l3-evictions", 1, 1, {{MODEL_CACHE, 3, CACHE_EVICTIONS, 1}}},
	{"l3-prefetches-used", 1, 1, {{MODEL_CACHE, 3, CACHE_PREFETCHES_USED, 1}}},
	{"l3-compulsory-misses", 1, 1, {{MODEL_CACHE, 3, CACHE_COMPULSORY, 1}}},
	{"l3-capacity-misses", 1, 1, {{MODEL_CACHE, 3, CACHE_CAPACITY, 1}}},
	{"l3-conflict-misses", 1, 1, {{MODEL_CACHE, 3, CACHE_CONFLICT, 1}}},
	{"l1d-misses-in-order", 1, 1, {{MODEL_CACHE, 1, CACHE_ORDERED_MISSES, 1}}},
	{"l2-hits-in-order",
	 1,
	 1,
	 {{MODEL_CACHE, 2, CACHE_ORDERED, 1}, {MODEL_CACHE, 2, CACHE_ORDERED_MISSES, -1}}},
	{"l2-misses-in-order", 1, 1, {{MODEL_CACHE, 2, CACHE_ORDERED_MISSES, 1}}},
	{"l3-hits-in-order",
	 1,
	 1,
	 {{MODEL_CACHE, 3, CACHE_ORDERED, 1}, {MODEL_CACHE, 3, CACHE_ORDERED_MISSES, -1}}},
	{"l3-misses-in-order", 1, 1, {{MODEL_CACHE, 3, CACHE_ORDERED_MISSES, 1}}},
	{"l1d-bypasses", 1, 1, {{MODEL_CACHE, 1, CACHE_BYPASSES, 1}}},
	{"l1d-victim-hits", 1, 1, {{MODEL_CACHE, 1, CACHE_VICTIM_HITS, 1}}},
	{"l2-bypasses", 1, 1, {{MODEL_CACHE, 2, CACHE_BYPASSES, 1}}},
	{"l2-victim-hits", 1, 1, {{MODEL_CACHE, 2, CACHE_VICTIM_HITS, 1}}},
	{"l1d-writes-through", 1, 1, {{MODEL_CACHE, 1, CACHE_WRITES_THROUGH, 1}}},
	{"l1i-back-invalidations", 1, 1, {{MODEL_CACHE, 0, CACHE_BACK_INVALIDATIONS, 1}}},
	{"l1d-back-invalidations", 1, 1, {{MODEL_CACHE, 1, CACHE_BACK_INVALIDATIONS, 1}}},
	{"l2-back-invalidations", 1, 1, {{MODEL_CACHE, 2, CACHE_BACK_INVALIDATIONS, 1}}},
	{"interventions", 1, 1, {{MODEL_CACHE, 2, CACHE_INTERVENTIONS, 1}}},
	{"l1d-interventions", 1, 1, {{MODEL_CACHE, 1, CACHE_INTERVENTIONS, 1}}},
	{"invalidations", 1, 1, {{MODEL_CACHE, 2, CACHE_INVALIDATIONS, 1}}},
	{"l1d-invalidations", 1, 1, {{MODEL_CACHE, 1, CACHE_INVALIDATIONS, 1}}},
	{"coherence-misses", 1, 1, {{MODEL_CACHE, 2, CACHE_COHERENCE_MISSES, 1}}},
	{"l1d-coherence-misses", 1, 1, {{MODEL_CACHE, 1, CACHE_COHERENCE_MISSES, 1}}},
	{"false-sharing-misses", 1, 1, {{MODEL_CACHE, 2, CACHE_FALSE_SHARING_MISSES, 1}}},
	{"l1d-false-sharing-misses", 1, 1, {{MODEL_CACHE, 1, CACHE_FALSE_SHARING_MISSES, 1}}},
	{"upgrades", 1, 1, {{MODEL_CACHE, 2, CACHE_UPGRADES, 1}}},
	{"true-sharing-misses",
	 1,
	 1,
	 {{MODEL_CACHE, 2, CACHE_COHERENCE_MISSES, 1}, {MODEL_CACHE, 2, CACHE_FALSE_SHARING_MISSES, -1}}},
	{"l1d-write-hits-owned",
	 1,
	 1,
	 {{MODEL_CACHE, 1, CACHE_WRITES, 1},
	  {MODEL_CACHE, 1, CACHE_WRITE_MISSES, -1},
	  {MODEL_CACHE, 1, CACHE_UPGRADES, -1}}},
	{"l2-quadwords-written-back", 128, 16, {{MODEL_CACHE, 2, CACHE_WRITE_BACKS, 1}}},
	{"l1d-quadwords-written-back", 32, 16, {{MODEL_CACHE, 1, CACHE_WRITE_BACKS, 1}}},
	{"indirect-branch-misses", 1, 1, {{MODEL_BRANCH, 0, BRANCH_INDIRECT_MISPREDICTED, 1}}},
	{"target-misses",
	 1,
	 1,
	 {{MODEL_BRANCH, 0, BRANCH_INDIRECT_MISPREDICTED, 1}, {MODEL_BRANCH, 0, BRANCH_RETURN_MISPREDICTED, 1}}},
	{"return-misses", 1, 1, {{MODEL_BRANCH, 0, BRANCH_RETURN_MISPREDICTED, 1}}},
	{"conditional-branch-misses", 1, 1, {{MODEL_BRANCH, 0, BRANCH_CONDITIONAL_MISPREDICTED, 1}}},
	{"conditional-branch-hits",
	 1,
	 1,
	 {{MODEL_BRANCH, 0, BRANCH_CONDITIONAL, 1}, {MODEL_BRANCH, 0, BRANCH_CONDITIONAL_MISPREDICTED, -1}}},
	{"predicted-taken-branches", 1, 1, {{MODEL_BRANCH, 0, BRANCH_PREDICTED_TAKEN, 1}}},
	{"btb-lookups", 1, 1, {{MODEL_BRANCH, 0, BRANCH_BTB_LOOKUPS, 1}}},
	{"btb-hits", 1, 1, {{MODEL_BRANCH, 0, BRANCH_BTB_HITS, 1}}},
	{"btb-misses", 1, 1, {{MODEL_BRANCH, 0, BRANCH_BTB_MISSES_TAKEN, 1}}},
	{"taken-branches-or-btb-hits",
	 1,
	 1,
	 {{MODEL_BRANCH, 0, BRANCH_BTB_HITS, 1}, {MODEL_BRANCH, 0, BRANCH_BTB_MISSES_TAKEN, 1}}},
	{"fetch-blocks", 1, 1, {{MODEL_STREAM, 0, STREAM_FETCH_BLOCKS, 1}}},
};
// clang-format on

static struct machine all_there_is(void)
{
	// clang-format off: a table, a row a line
	struct machine m = {.name = "all",
			    .n_caches = 4,
			    .n_tlbs = 4,
			    .first_instruction = 0,
			    .first_data = 1,
			    .first_instruction_tlb = 0,
			    .first_data_tlb = 1,
			    .coherent = 1,
			    .fetch_bytes = 16,
			    .direction = {.kind = PREDICT_BIMODAL},
			    .targets = {.btb_sets = 4, .btb_ways = 1}};
	static const struct machine_cache caches[4] = {
		{.name = "L1I", .line_bytes = 64, .sets = 64, .ways = 8, .holds = 1, .next = 2},
		{.name = "L1D", .line_bytes = 32, .sets = 64, .ways = 8, .holds = 2, .next = 2, .victim_lines = 4},
		{.name = "L2", .line_bytes = 128, .sets = 64, .ways = 8, .holds = 3, .next = 3, .victim_lines = 4},
		{.name = "L3",
		 .line_bytes = 128,
		 .sets = 64,
		 .ways = 8,
		 .holds = 3,
		 .shared = 1,
		 .next = MACHINE_NONE}};
	// clang-format on
	static const struct machine_tlb tlbs[4] = {
		{.name = "ITLB", .sets = 1, .ways = 64, .holds = 1, .next = 3},
		{.name = "DTLB", .sets = 1, .ways = 64, .page_bytes = 4096, .holds = 2, .next = 2},
		{.name = "DTLB2M", .sets = 1, .ways = 8, .page_bytes = 2097152, .holds = 2, .next = 3},
		{.name = "STLB", .sets = 8, .ways = 64, .holds = 3, .next = MACHINE_NONE}};
	memcpy(m.caches, caches, sizeof caches);
	memcpy(m.tlbs, tlbs, sizeof tlbs);
	return m;
}

static uint64_t *at(struct model_counts *c, const struct term *t)
{
	switch ((enum model_component)t->part) {
	case MODEL_CACHE: return &c->cache[t->index][t->count];
	case MODEL_TLB: return &c->tlb[t->index][t->count];
	case MODEL_BRANCH: return &c->branch[t->count];
	case MODEL_STREAM: return &c->stream[t->count];
	case MODEL_FILTER: break;
	}
	return NULL;
}

/* Sums of six of them differ, too: three bits more each, by a generator. What others are subtracted from is larger than they. */
static void fill(struct model_counts *c)
{
	uint64_t *words = (uint64_t *)c, state = 1;
	for (size_t i = 0; i < sizeof *c / sizeof *words; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		words[i] = state >> 40;
	}
	memset(c->filter, 0, sizeof c->filter);
	for (unsigned i = 0; i < MACHINE_CACHES; i++) {
		for (unsigned k = CACHE_READS; k <= CACHE_FETCHES; k++)
			c->cache[i][k] += 1ull << 30;
		c->cache[i][CACHE_COHERENCE_MISSES] += 1ull << 30;
	}
	c->branch[BRANCH_CONDITIONAL] += 1ull << 30;
}

static bool is_generic(const struct event_definition *row)
{
	for (const char *const *e = row->encodings; *e; e++)
		if (!strncmp(*e, "generic:", 8))
			return true;
	return false;
}

int main(void)
{
	struct event_table *table = event_table_new(NULL);
	struct machine m = all_there_is();
	static struct model_counts counts;
	size_t n = sizeof truths / sizeof *truths;
	unsigned without = 0;
	fill(&counts);
	for (size_t i = 0; i < n; i++) {
		const struct event_definition *row = event_table_find(table, truths[i].name);
		struct model_event event;
		char why[256] = "";
		const char *no = "";
		uint64_t value = 0, truth = 0;
		for (const struct term *t = truths[i].terms; t < truths[i].terms + 6 && t->sign; t++)
			truth += t->sign > 0 ? *at(&counts, t) : 0 - *at(&counts, t);
		truth = truth * truths[i].times / truths[i].over;
		bool good = row && model_event_bind(row, &m, &event, why, sizeof why) &&
			    model_event_value(&event, &counts, &value, &no);
		ok(good && value == truth, "%s is what its sentence says", truths[i].name);
		if (!good || value != truth)
			printf("# %llu, not %llu %s%s\n", (unsigned long long)value, (unsigned long long)truth,
			       why, no);
	}
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		bool found = !row->model || (is_generic(row) && strcmp(row->name, "l1d-prefetches"));
		for (size_t k = 0; k < n && !found; k++)
			found = !strcmp(truths[k].name, row->name);
		if (!found) {
			printf("# %s\n", row->name);
			without++;
		}
	}
	equal_u64(without, 0, "every row that a model counts is here");
	struct model_event event;
	char why[256];
	// clang-format off: a table, a row a line
	static const struct {
		const char *name;
		bool classes, shares, orders;
	} needs[] = {
		{"l1d-compulsory-misses", true, false},
		{"l1d-capacity-misses", true, false},
		{"l1d-conflict-misses", true, false},
		{"invalidations", false, true},
		{"interventions", false, true},
		{"upgrades", false, true},
		{"coherence-misses", false, true},
		{"false-sharing-misses", false, true},
		{"l1d-misses", false, false},
		{"l2-hits-in-order", false, false, true},
		{"l3-misses-in-order", false, false, true},
		{"l1d-back-invalidations", false, false},
	};
	// clang-format on
	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
		ok(model_event_bind(event_table_find(table, needs[i].name), &m, &event, why, sizeof why) &&
			   model_event_classifies(&event) == needs[i].classes &&
			   model_event_shares(&event) == needs[i].shares &&
			   model_event_orders(&event) == needs[i].orders,
		   "%s %s classed misses, and %s threads in step%s", needs[i].name,
		   needs[i].classes ? "needs" : "does not need", needs[i].shares ? "needs" : "does not need",
		   needs[i].orders ? "; misses in order are told from others" : "");
	counts.filter[FILTER_PAGES_UNKNOWN] = 1;
	uint64_t value;
	const char *no = NULL;
	ok(model_event_bind(event_table_find(table, "tlb-misses"), &m, &event, why, sizeof why) &&
		   !model_event_value(&event, &counts, &value, &no) && strstr(no, "pages"),
	   "where the pages' sizes are not known, TLB misses are not");
	ok(model_event_bind(event_table_find(table, "l1d-misses"), &m, &event, why, sizeof why) &&
		   model_event_value(&event, &counts, &value, &no),
	   "and misses of caches are");
	event_table_free(table);
	return done();
}
