#include "backend/model/components.h"

#include <stdio.h>
#include <string.h>

struct name {
	const char *text;
	uint8_t count;
	bool fetches; /* of a cache or TLB: looked for on the code's way */
};

static const struct name cache_names[] = {
	{"reads", CACHE_READS, false},
	{"writes", CACHE_WRITES, false},
	{"fetches", CACHE_FETCHES, true},
	{"read_misses", CACHE_READ_MISSES, false},
	{"write_misses", CACHE_WRITE_MISSES, false},
	{"fetch_misses", CACHE_FETCH_MISSES, true},
	{"fills", CACHE_FILLS, false},
	{"bypasses", CACHE_BYPASSES, false},
	{"evictions", CACHE_EVICTIONS, false},
	{"write_backs", CACHE_WRITE_BACKS, false},
	{"writes_through", CACHE_WRITES_THROUGH, false},
	{"prefetches", CACHE_PREFETCHES, false},
	{"prefetches_used", CACHE_PREFETCHES_USED, false},
	{"victim_hits", CACHE_VICTIM_HITS, false},
	{"compulsory", CACHE_COMPULSORY, false},
	{"capacity", CACHE_CAPACITY, false},
	{"conflict", CACHE_CONFLICT, false},
	{"back_invalidations", CACHE_BACK_INVALIDATIONS, false},
	{"invalidations", CACHE_INVALIDATIONS, false},
	{"interventions", CACHE_INTERVENTIONS, false},
	{"upgrades", CACHE_UPGRADES, false},
	{"coherence_misses", CACHE_COHERENCE_MISSES, false},
	{"false_sharing_misses", CACHE_FALSE_SHARING_MISSES, false},
	{"ordered", CACHE_ORDERED, false},
	{"ordered_misses", CACHE_ORDERED_MISSES, false},
};
static const struct name tlb_names[] = {
	{"reads", TLB_READS, false},
	{"writes", TLB_WRITES, false},
	{"fetches", TLB_FETCHES, true},
	{"read_misses", TLB_READ_MISSES, false},
	{"write_misses", TLB_WRITE_MISSES, false},
	{"fetch_misses", TLB_FETCH_MISSES, true},
};
static const struct name branch_names[] = {
	{"all", BRANCH_ALL, false},
	{"conditional", BRANCH_CONDITIONAL, false},
	{"taken", BRANCH_TAKEN, false},
	{"indirect", BRANCH_INDIRECT, false},
	{"calls", BRANCH_CALLS, false},
	{"returns", BRANCH_RETURNS, false},
	{"mispredicted", BRANCH_MISPREDICTED, false},
	{"conditional_mispredicted", BRANCH_CONDITIONAL_MISPREDICTED, false},
	{"indirect_mispredicted", BRANCH_INDIRECT_MISPREDICTED, false},
	{"return_mispredicted", BRANCH_RETURN_MISPREDICTED, false},
	{"predicted_taken", BRANCH_PREDICTED_TAKEN, false},
};
static const struct name btb_names[] = {
	{"lookups", BRANCH_BTB_LOOKUPS, false},
	{"hits", BRANCH_BTB_HITS, false},
	{"misses", BRANCH_BTB_MISSES, false},
	{"misses_taken", BRANCH_BTB_MISSES_TAKEN, false},
};
static const struct name stream_names[] = {
	{"instructions", STREAM_INSTRUCTIONS, false},
	{"blocks", STREAM_BLOCKS, false},
	{"reads", STREAM_READS, false},
	{"writes", STREAM_WRITES, false},
	{"misaligned", STREAM_MISALIGNED, false},
	{"misaligned_reads", STREAM_MISALIGNED_READS, false},
	{"misaligned_writes", STREAM_MISALIGNED_WRITES, false},
	{"line_crossing", STREAM_LINE_CROSSING, false},
	{"page_crossing", STREAM_PAGE_CROSSING, false},
	{"fetch_blocks", STREAM_FETCH_BLOCKS, false},
	{"line_crossing_reads", STREAM_LINE_CROSSING_READS, false},
	{"line_crossing_writes", STREAM_LINE_CROSSING_WRITES, false},
	{"pentium_misaligned", STREAM_PENTIUM_MISALIGNED, false},
	{"pentium_misaligned_reads", STREAM_PENTIUM_MISALIGNED_READS, false},
};
static const struct name filter_names[] = {
	/* for measuring the models themselves: bench/model */
	{"undecided_accesses", FILTER_NOT_INLINED_ACCESSES, false},
	{"undecided_fetches", FILTER_NOT_INLINED_FETCHES, false},
	{"decided_blocks", FILTER_INLINED_BLOCKS, false},
};

#define LAST 100    /* levels behind: as far as it goes */
#define PRIVATE 101 /* as far as caches are the core's own */

static const struct role {
	const char *name, *shown;
	uint8_t component;
	const struct name *counts;
	size_t n;
	bool code;      /* begins on the code's way, whatever is counted */
	unsigned level; /* steps behind the first */
} roles[] = {
#define ROLE(component, names) component, names, sizeof names / sizeof *names
	{"l1i", "first-level instruction cache", ROLE(MODEL_CACHE, cache_names), true, 0},
	{"l1d", "first-level data cache", ROLE(MODEL_CACHE, cache_names), false, 0},
	{"l2", "second-level cache", ROLE(MODEL_CACHE, cache_names), false, 1},
	{"l3", "third-level cache", ROLE(MODEL_CACHE, cache_names), false, 2},
	{"llc", "cache", ROLE(MODEL_CACHE, cache_names), false, LAST},
	{"private", "private data cache", ROLE(MODEL_CACHE, cache_names), false, PRIVATE},
	{"itlb", "instruction TLB", ROLE(MODEL_TLB, tlb_names), true, 0},
	{"dtlb", "data TLB", ROLE(MODEL_TLB, tlb_names), false, 0},
	{"stlb", "second-level TLB", ROLE(MODEL_TLB, tlb_names), false, 1},
	{"dwalk", "data TLB", ROLE(MODEL_TLB, tlb_names), false, LAST},
	{"iwalk", "instruction TLB", ROLE(MODEL_TLB, tlb_names), true, LAST},
	{"branch", "branch prediction", ROLE(MODEL_BRANCH, branch_names), false, 0},
	{"btb", "branch target buffer", ROLE(MODEL_BRANCH, btb_names), false, 0},
	{"stream", "access stream", ROLE(MODEL_STREAM, stream_names), false, 0},
	{"filters", "filters", ROLE(MODEL_FILTER, filter_names), false, 0},
#undef ROLE
};

static const struct role *role_of(const char *name, const char **rest)
{
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		size_t length = strlen(roles[i].name);
		if (!strncmp(roles[i].name, name, length) && name[length] == '.') {
			*rest = name + length + 1;
			return &roles[i];
		}
	}
	return NULL;
}

static const struct name *count_of(const struct role *role, const char *text)
{
	for (size_t i = 0; i < role->n; i++)
		if (!strcmp(role->counts[i].text, text))
			return &role->counts[i];
	return NULL;
}

static bool is_constant(const struct role *role, const char *text)
{
	return role->component == MODEL_CACHE && !strcmp(text, "line_bytes");
}

/* The TLB that is on the same level for pages of the other size: behind `at`, each for one size only
 * (model/core/tlb/tlb.h: what a TLB does not hold passes through it uncounted). MACHINE_NONE: there is none, and
 * the level is this TLB alone. */
static uint8_t twin_of(const struct machine *machine, uint8_t at)
{
	const struct machine_tlb *tlb = &machine->tlbs[at];
	uint8_t next = tlb->next;
	return next != MACHINE_NONE && tlb->page_bytes && machine->tlbs[next].page_bytes &&
			       machine->tlbs[next].page_bytes != tlb->page_bytes
		       ? next
		       : MACHINE_NONE;
}

/* A TLB for larger pages only that has no twin is passed through on the way: the levels that count hold the
 * machine's ordinary pages. */
static bool holds_small_pages(const struct machine *machine, uint8_t at)
{
	return machine->tlbs[at].page_bytes == 0 ||
	       machine->tlbs[at].page_bytes == (machine->page_bytes ? machine->page_bytes : 4096) ||
	       twin_of(machine, at) != MACHINE_NONE;
}

static uint8_t next_of(const struct machine *machine, const struct role *role, uint8_t at)
{
	if (role->component == MODEL_CACHE)
		return machine->caches[at].next;
	uint8_t twin = twin_of(machine, at);
	for (at = machine->tlbs[twin == MACHINE_NONE ? at : twin].next;
	     at != MACHINE_NONE && !holds_small_pages(machine, at);)
		at = machine->tlbs[at].next;
	return at;
}

/* The cache or TLB that plays the role; MACHINE_NONE. */
static uint8_t walk(const struct machine *machine, const struct role *role, bool code)
{
	uint8_t at = role->component == MODEL_CACHE
			     ? (code ? machine->first_instruction : machine->first_data)
			     : (code ? machine->first_instruction_tlb : machine->first_data_tlb);
	if (at != MACHINE_NONE && role->level == PRIVATE && machine->caches[at].shared)
		return MACHINE_NONE;
	for (unsigned step = 0; at != MACHINE_NONE && step < role->level; step++) {
		uint8_t next = next_of(machine, role, at);
		bool end = next == MACHINE_NONE || (role->level == PRIVATE && machine->caches[next].shared);
		if (end && role->level >= LAST)
			break;
		at = next;
	}
	return at;
}

/* What a machine must have for a count to mean anything. NULL: nothing; else what it lacks. */
static const char *lack(const struct machine *machine, const struct role *role, const struct name *name,
			uint8_t at)
{
	if (role->component == MODEL_BRANCH) {
		bool predicts = machine->direction.kind != PREDICT_NONE;
		if (role->counts == btb_names && machine->targets.btb_sets == 0)
			return "branch target buffer";
		return predicts || name->count <= BRANCH_RETURNS ? NULL : "branch prediction";
	}
	if (role->component != MODEL_CACHE)
		return NULL;
	const struct machine_cache *cache = &machine->caches[at];
	switch (name->count) {
	case CACHE_VICTIM_HITS: return cache->victim_lines ? NULL : "victim buffer there";
	case CACHE_INVALIDATIONS:
	case CACHE_INTERVENTIONS:
	case CACHE_UPGRADES:
	case CACHE_COHERENCE_MISSES:
	case CACHE_FALSE_SHARING_MISSES:
		return machine->coherent && !cache->shared ? NULL
		       : machine->coherent                 ? "coherence there: all cores share it"
							   : "coherence between caches";
	default: return NULL;
	}
}

bool component_find(const struct machine *machine, const char *name, struct component_place *out, char *why,
		    size_t size)
{
	const char *rest;
	const struct role *role = role_of(name, &rest);
	const struct name *count = role ? count_of(role, rest) : NULL;
	uint8_t at = 0;
	*out = (struct component_place){0};
	if (!role || (!count && !is_constant(role, rest))) {
		snprintf(why, size, "no machine has a counter '%.60s'", name);
		return false;
	}
	if (role->component == MODEL_CACHE || role->component == MODEL_TLB) {
		at = walk(machine, role, role->code || (count && count->fetches));
		if (at == MACHINE_NONE) {
			snprintf(why, size, "'%s' as declared has no %s", machine->name, role->shown);
			return false;
		}
	}
	if (!count) {
		*out = (struct component_place){.constant = true,
						.value = machine->caches[at].line_bytes,
						.component = role->component,
						.index = at};
		return true;
	}
	const char *lacks = lack(machine, role, count, at);
	if (lacks) {
		snprintf(why, size, "'%s' as declared has no %s", machine->name, lacks);
		return false;
	}
	*out = (struct component_place){.component = role->component, .index = at, .count = count->count};
	if (role->component == MODEL_TLB) {
		uint8_t twin = twin_of(machine, at);
		out->twinned = twin != MACHINE_NONE;
		out->twin = out->twinned ? twin : 0;
	}
	return true;
}

uint64_t component_value(const struct component_place *place, const struct model_counts *counts)
{
	if (place->constant)
		return place->value;
	switch ((enum model_component)place->component) {
	case MODEL_CACHE: return counts->cache[place->index][place->count];
	case MODEL_TLB:
		return counts->tlb[place->index][place->count] +
		       (place->twinned ? counts->tlb[place->twin][place->count] : 0);
	case MODEL_BRANCH: return counts->branch[place->count];
	case MODEL_STREAM: return counts->stream[place->count];
	case MODEL_FILTER: return counts->filter[place->count];
	}
	return 0;
}
