/*
 * Levels behind the first caches that are asked later (model/core/fast/request_queue.h): what waits is done before anybody looks, and a long stream,
 * in which levels are asked for hundreds of lines at a time, counts as the reference does, line by line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "declared.h"
#include "model/core/fast/request_queue.h"
#include "reference.h"
#include "tap.h"
#include "walks.h"

enum { L1I, L1D, L2, L3 };
#define NOT_SEQUENTIAL (1ull << 63)

/* ---- a machine of caches ---- */

static struct machine_cache level(const char *name, uint32_t line_bytes, uint32_t sets, uint32_t ways,
				  uint8_t holds, uint8_t next)
{
	// clang-format off: a table, a row a line
	struct machine_cache is = {.line_bytes = line_bytes,
				   .sets = sets,
				   .ways = ways,
				   .holds = holds,
				   .write_allocate = 1,
				   .next = next,
				   .rrip_bits = 2};
	// clang-format on
	snprintf(is.name, sizeof(is.name), "%s", name);
	return is;
}

static struct machine three_levels(void)
{
	// clang-format off: a table, a row a line
	struct machine m = {.name = "three",
			    .cores = 2,
			    .fetch_bytes = 16,
			    .seed = 1,
			    .first_instruction = L1I,
			    .first_data = L1D,
			    .first_instruction_tlb = MACHINE_NONE,
			    .first_data_tlb = MACHINE_NONE,
			    .n_caches = 4};
	// clang-format on
	m.caches[L1I] = level("L1I", 64, 4, 8, MACHINE_INSTRUCTIONS, L2);
	m.caches[L1D] = level("L1D", 64, 4, 8, MACHINE_DATA, L2);
	m.caches[L2] = level("L2", 64, 16, 16, MACHINE_INSTRUCTIONS | MACHINE_DATA, L3);
	m.caches[L3] = level("L3", 64, 24, 20, MACHINE_INSTRUCTIONS | MACHINE_DATA, MACHINE_NONE);
	m.caches[L3].shared = 1;
	return m;
}

/* ---- blocks of one access each, and what generated code does with them ---- */

#define PLACES 96u /* of code: each has a block that reads and one that writes */

struct played {
	struct simulated core;
	struct model_inline where;
	struct trace_block blocks[2 * PLACES];
	struct trace_item items[2];
	struct trace_program program;
	struct inline_record records[2 * PLACES][INLINE_RECORDS];
	int n_records[2 * PLACES];
};

static const struct model_options orders = {.orders = 1};

static struct played *play(const struct machine *machine, bool scalar)
{
	struct played *p = calloc(1, sizeof(*p));
	p->program = (struct trace_program){p->blocks, p->items};
	for (unsigned i = 0; i < 2; i++)
		p->items[i] = (struct trace_item){
			.kind = i ? TRACE_WRITE : TRACE_READ, .bytes = 8, .second = TRACE_NO_VALUE};
	for (uint32_t b = 0; b < 2 * PLACES; b++)
		p->blocks[b] = (struct trace_block){.pc = 0x400000 + b * 64ull,
						    .length = 8,
						    .insns = 2,
						    .items = 1,
						    .values = 1,
						    .first_item = b & 1};
	simulated_make_with(&p->core, machine, &orders);
	if (scalar)
		simulated_scalar(&p->core);
	simulated_core(&p->core, 0);
	return p;
}

static void inlined(struct played *p)
{
	model_inline_where(p->core.model, 0, &p->where);
	for (uint32_t b = 0; b < 2 * PLACES; b++) {
		p->n_records[b] = model_inline_plan(p->core.model, 0, &p->program, b, p->records[b]);
		p->blocks[b].flags = TRACE_INLINED;
	}
}

static void end(struct played *p)
{
	simulated_free(&p->core);
	free(p);
}

static uint64_t count(const struct played *p, unsigned cache, enum model_cache_count what)
{
	return p->core.counts[0]->cache[cache][what];
}

static void *at(struct played *p, uint32_t offset) { return (char *)p->core.core_memory[0] + offset; }

static void do_record(struct played *p, uint32_t block, const struct inline_record *r, uint64_t value)
{
	uint64_t address = (uint64_t)r->displacement + (r->fetch ? 0 : value), *recency = at(p, p->where.recency),
		 *touched = at(p, p->where.touched);
	const struct inline_fetch *fetch = (struct inline_fetch *)at(p, p->where.fetch) + r->index;
	const struct inline_entry *data = (struct inline_entry *)at(p, p->where.data) +
					  (address >> p->where.shift & (p->where.data_entries - 1));
	uint32_t way;
	if (r->fetch ? fetch->tag != r->tag : r->called || (address & (uint64_t)(int64_t)r->mask) != data->line) {
		model_inline_miss(p->core.model, 0, &p->program, block, r->record, address, NOT_SEQUENTIAL, 0);
		return;
	}
	way = r->fetch ? fetch->way : data->way;
	touched[way] = ((uint64_t *)at(p, p->where.pages))[r->fetch ? fetch->page : data->page] = ++*recency;
	if (r->writes)
		((uint8_t *)at(p, p->where.written))[way] = 1;
}

static void do_block(struct played *p, uint32_t block, uint64_t value)
{
	for (int i = 0; i < p->n_records[block]; i++)
		do_record(p, block, &p->records[block][i], value);
}

/* ---- what waits is done before anybody looks ---- */

#define SOME 10u

static struct played *ten_wait(const struct machine *machine)
{
	struct played *p = play(machine, false);
	inlined(p);
	for (unsigned i = 0; i < SOME; i++)
		do_record(p, 0, &p->records[0][p->n_records[0] - 1], 0x10000 + i * 64);
	return p;
}

static void looked_at(const char *fact, const struct machine *machine, void (*look)(struct played *p))
{
	struct played *p = ten_wait(machine);
	uint64_t missed = count(p, L1D, CACHE_READ_MISSES), waited = count(p, L2, CACHE_READS);
	look(p);
	ok(missed == SOME && !waited && count(p, L2, CACHE_READS) == SOME &&
		   count(p, L2, CACHE_READ_MISSES) == SOME && count(p, L3, CACHE_READS) == SOME &&
		   count(p, L3, CACHE_FILLS) == SOME,
	   "%s", fact);
	end(p);
}

static void no_longer(struct played *p) { model_inline_end(p->core.model, 0); }

static void run(struct played *p) { model_run(p->core.model, 0, &p->program, (uint64_t[]){0}, 1, 0); }

static void counts_elsewhere(struct played *p)
{
	static struct model_counts other;
	model_core_counts(p->core.model, 0, &other);
}

static void another_begins(struct played *p) { simulated_core(&p->core, 1); }

static void watched(struct played *p)
{
	model_watch(p->core.model, &(struct model_watch){MODEL_CACHE, L2, CACHE_READ_MISSES, 0}, 1, NULL, NULL);
}

/* Its own requests come behind. */
static void another_acts(void)
{
	struct machine machine = three_levels();
	struct played *p = play(&machine, false);
	bool equal, waited;
	simulated_core(&p->core, 1);
	inlined(p);
	for (unsigned i = 0; i < SOME; i++)
		do_record(p, 0, &p->records[0][p->n_records[0] - 1], 0x10000 + i * 64);
	waited = !count(p, L2, CACHE_READS);
	model_access(p->core.model, 1, 0x10000, 8, TRACE_READ, 0);
	equal = count(p, L3, CACHE_READ_MISSES) == SOME && p->core.counts[1]->cache[L3][CACHE_READS] == 1 &&
		!p->core.counts[1]->cache[L3][CACHE_READ_MISSES];
	ok(waited && equal, "what waits is done before another core asks for the same");
	end(p);
}

static void full(void)
{
	struct machine machine = three_levels();
	struct played *p = play(&machine, false);
	uint64_t early = 0;
	inlined(p);
	for (unsigned i = 0; i < REQUESTS_MOST; i++) {
		early += count(p, L2, CACHE_READS) + count(p, L3, CACHE_READS);
		do_record(p, 0, &p->records[0][p->n_records[0] - 1], 0x10000 + i * 64);
	}
	ok(!early && count(p, L2, CACHE_READS) == REQUESTS_MOST && count(p, L3, CACHE_READS) == REQUESTS_MOST,
	   "levels are asked when there is room for no more, and not before");
	end(p);
}

/* ---- machines on which nothing may wait ---- */

static bool waits(const struct machine *machine)
{
	uint8_t caches[REQUESTS_LEVELS];
	return requests_levels(machine, &(struct model_options){0}, caches) != 0;
}

static void not_there(void)
{
	struct machine inclusive = three_levels(), prefetches = three_levels(), split = three_levels(),
		       random = three_levels(), parts = three_levels(), outer = three_levels();
	uint8_t caches[REQUESTS_LEVELS];
	inclusive.caches[L3].inclusion = INCLUSION_INCLUSIVE;
	prefetches.caches[L2].prefetch = PREFETCH_NEXT_LINE;
	split.caches[L1I].next = L3;
	random.caches[L2].replacement = REPLACE_RANDOM;
	parts.caches[L2].line_bytes = 32;
	outer.caches[L3].inclusion = INCLUSION_EXCLUSIVE;
	ok(!waits(&inclusive) && !waits(&prefetches) && !waits(&split) && !waits(&random) && !waits(&parts),
	   "nothing waits in front of inclusive levels, prefetchers, two second levels, other policies, smaller "
	   "lines");
	ok(requests_levels(&outer, &(struct model_options){0}, caches) == 1 && caches[0] == L2,
	   "in front of an exclusive level the one in front of it waits");
}

/* ---- long streams ---- */

static void stream(const char *fact, const struct machine *machine, bool scalar, uint64_t seed)
{
	enum { BLOCKS_RUN = 30000 };
	struct played *p = play(machine, scalar), *ordinary = play(machine, scalar);
	struct reference *reference = reference_new(machine, &orders);
	uint64_t *entries = malloc(2 * BLOCKS_RUN * sizeof(*entries)),
		 *headers = malloc(BLOCKS_RUN * sizeof(*headers)), lines = 0;
	struct random r = {seed};
	bool equal;
	for (unsigned c = 0; c < machine->n_caches; c++)
		lines = machine->caches[c].sets * machine->caches[c].ways > lines
				? machine->caches[c].sets * machine->caches[c].ways
				: lines;
	reference_core(reference, 0);
	inlined(p);
	for (unsigned i = 0; i < BLOCKS_RUN; i++) {
		uint64_t near = random_in(&r, 2) ? lines / 8 + 1 : 2 * lines;
		entries[2 * i] = headers[i] = random_below(&r, 2 * PLACES);
		entries[2 * i + 1] = 0x10000000 + random_below(&r, near) * machine->caches[L1D].line_bytes;
		do_block(p, (uint32_t)headers[i], entries[2 * i + 1]);
	}
	model_run(p->core.model, 0, &p->program, headers, BLOCKS_RUN, 0);
	model_run(ordinary->core.model, 0, &ordinary->program, entries, 2 * BLOCKS_RUN, 0);
	reference_run(reference, 0, &ordinary->program, entries, 2 * BLOCKS_RUN, 0);
	equal = counts_equal(machine, p->core.counts[0], reference_counts(reference, 0), true) &&
		counts_equal(machine, ordinary->core.counts[0], reference_counts(reference, 0), true);
	ok(equal && count(p, L1D, CACHE_FILLS) > 4 * REQUESTS_MOST &&
		   count(p, L1D, CACHE_WRITE_BACKS) > REQUESTS_MOST,
	   "%s", fact);
	free(entries);
	free(headers);
	reference_free(reference);
	end(p);
	end(ordinary);
}

static void streams(void)
{
	static const uint32_t ways[] = {1, 2, 3, 7, 8, 9, 12, 15, 16, 17, 20, 24, 25, 31, 32};
	char fact[160];
	for (unsigned i = 0; i < 2 * sizeof(ways) / sizeof(*ways); i++) {
		struct machine m = three_levels();
		uint32_t n = ways[i / 2];
		m.caches[L2].ways = n;
		m.caches[L2].sets = 64 / n + 1;
		m.caches[L3].ways = ways[(i / 2 + 4) % (sizeof(ways) / sizeof(*ways))];
		m.caches[L1D].ways = n <= 16 ? n : 12;
		m.caches[L1I].ways = n <= 16 ? n : 8;
		snprintf(fact, sizeof(fact), "sets of %u ways behind sets of %u, then of %u, as the reference, %s",
			 n, m.caches[L1D].ways, m.caches[L3].ways,
			 i & 1 ? "without vectors" : "with vectors if there are");
		stream(fact, &m, i & 1, 300 + i);
	}
	for (unsigned i = 0; i < 6; i++) {
		struct machine m = three_levels();
		// clang-format off: a table, a row a line
		static const char *const what[] = {"lines of 32 bytes for data in front of 64",
						   "lines of 64 bytes in front of 128",
						   "an exclusive last level",
						   "an inclusive one, asked at once",
						   "one level alone, and memory",
						   "sets of 2 ways of 32 bytes in front of inclusive 128"};
		// clang-format on
		if (i == 0 || i == 5)
			m.caches[L1D].line_bytes = 32;
		if (i == 1 || i == 5)
			m.caches[L2].line_bytes = m.caches[L3].line_bytes = 128;
		if (i == 2)
			m.caches[L3].inclusion = INCLUSION_EXCLUSIVE;
		if (i == 3 || i == 5)
			m.caches[L2].inclusion = INCLUSION_INCLUSIVE;
		if (i == 4) {
			m.n_caches = 3;
			m.caches[L2].next = MACHINE_NONE;
		}
		if (i == 5)
			m.caches[L1D].ways = m.caches[L1I].ways = 2;
		snprintf(fact, sizeof(fact), "%s, as the reference", what[i]);
		stream(fact, &m, false, 400 + i);
	}
}

int main(void)
{
	struct machine machine = three_levels(), coherent = three_levels();
	coherent.coherent = 1;
	looked_at("nothing waits when generated code decides no longer", &machine, no_longer);
	looked_at("nothing waits behind a run of the trace", &machine, run);
	looked_at("nothing waits when counts go elsewhere", &machine, counts_elsewhere);
	looked_at("nothing waits when another core begins", &machine, another_begins);
	looked_at("nothing waits when another core begins that is coherent with it", &coherent, another_begins);
	looked_at("nothing waits when somebody watches", &machine, watched);
	another_acts();
	full();
	not_there();
	streams();
	return done();
}
