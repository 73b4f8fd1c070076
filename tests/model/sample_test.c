/*
 * Sampled sets (src/model/core/sample.h): what a group counts is the same whichever others are modelled, and all groups
 * together count what the model without sampling does. Random accesses, fetches and prefetches of one and of two cores,
 * one by one and as a stream of blocks, on machines with caches of each inclusion and write policy.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/sample.h"
#include "tap.h"

enum { GROUPS = 64, STEPS = 60000, CORES = 2, BLOCKS = 32, ITEMS = 4, RECORDS = 64, TURNS = 400 };

struct counted {
	struct model_counts own, group[GROUPS];
};

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 20;
}

static struct machine machine_with(enum machine_inclusion inclusion, enum machine_write write, uint8_t replacement,
				   bool coherent)
{
	struct machine m = {.name = "sampled",
			    .cores = CORES,
			    .fetch_bytes = 16,
			    .seed = 1,
			    .n_caches = 3,
			    .first_instruction = 0,
			    .first_data = 1,
			    .first_instruction_tlb = MACHINE_NONE,
			    .first_data_tlb = MACHINE_NONE,
			    .coherent = coherent};
	m.caches[0] = (struct machine_cache){.name = "L1I",
					     .line_bytes = 32,
					     .sets = 128,
					     .ways = 2,
					     .next = 2,
					     .holds = MACHINE_INSTRUCTIONS,
					     .replacement = replacement};
	m.caches[1] = (struct machine_cache){.name = "L1D",
					     .line_bytes = 64,
					     .sets = 64,
					     .ways = 2,
					     .next = 2,
					     .holds = MACHINE_DATA,
					     .replacement = replacement,
					     .write = (uint8_t)write,
					     .write_allocate = write == WRITE_BACK};
	m.caches[2] = (struct machine_cache){.name = "L2",
					     .line_bytes = 64,
					     .sets = 192,
					     .ways = 4,
					     .next = MACHINE_NONE,
					     .holds = MACHINE_INSTRUCTIONS | MACHINE_DATA,
					     .replacement = REPLACE_LRU,
					     .inclusion = (uint8_t)inclusion,
					     .write_allocate = 1};
	return m;
}

/* ---- the same steps, whatever is sampled ---- */

static void run_steps(struct model *model, unsigned cores)
{
	uint64_t state = 7;
	for (unsigned s = 0; s < STEPS; s++) {
		uint64_t address = 0x10000 + random_next(&state) % 49152, kind = random_next(&state) % 8;
		uint32_t bytes = 1u << random_next(&state) % 7;
		unsigned core = (unsigned)(random_next(&state) % cores);
		if (kind < 2)
			model_fetch(model, core, 0x400000 + address / 2, bytes, 0);
		else
			model_access(model, core, address, bytes,
				     kind == 7  ? TRACE_PREFETCH
				     : kind % 2 ? TRACE_WRITE
						: TRACE_READ,
				     0);
	}
}

/* Blocks of code, some of them far apart; accesses, most of them near each other, one in eight of them misaligned. */
static void run_stream(struct model *model, unsigned cores)
{
	static struct trace_block blocks[BLOCKS];
	static struct trace_item items[BLOCKS * ITEMS];
	const struct trace_program program = {blocks, items};
	uint64_t state = 11, entries[RECORDS * (1 + ITEMS)];
	for (unsigned b = 0; b < BLOCKS; b++) {
		blocks[b] = (struct trace_block){.pc = 0x400000 + b * 40ull + (b % 4) * 8192,
						 .first_item = b * ITEMS,
						 .items = ITEMS,
						 .values = ITEMS,
						 .length = 40,
						 .insns = ITEMS + 1,
						 .ending = TRACE_END_CONDITIONAL,
						 .ending_length = 2,
						 .target = 0x400000};
		for (unsigned i = 0; i < ITEMS; i++) {
			uint64_t kind = random_next(&state) % 8;
			items[b * ITEMS + i] = (struct trace_item){
				.kind = kind == 7  ? TRACE_PREFETCH
					: kind < 3 ? TRACE_WRITE
						   : TRACE_READ,
				.bytes = (uint16_t)(1u << random_next(&state) % 5),
				.value = (uint8_t)i,
				.second = TRACE_NO_VALUE,
				.insn = (uint8_t)i,
				.offset = (uint16_t)(8 * i)};
		}
	}
	for (unsigned t = 0; t < TURNS; t++) {
		uint64_t *at = entries;
		for (unsigned record = 0; record < RECORDS; record++) {
			*at++ = random_next(&state) % BLOCKS;
			for (unsigned i = 0; i < ITEMS; i++) {
				uint64_t far = random_next(&state) % 8 ? 2048 : 98304;
				*at++ = 0x10000 + random_next(&state) % far / 16 * 16 +
					(random_next(&state) % 8 ? 0 : random_next(&state) % 16);
			}
		}
		model_run(model, t % cores, &program, entries, (size_t)(at - entries), 0);
	}
}

static void run(const struct machine *machine, uint64_t sample, unsigned cores, bool stream, struct counted *out)
{
	struct model_options options = {.no_branches = 1};
	if (sample)
		options.sample = sample, options.sample_groups = GROUPS, options.sample_shift = 6,
		options.sample_counts = 1;
	void *memory = aligned_alloc(4096, model_bytes(machine, &options)), *of[CORES];
	memset(memory, 0, model_bytes(machine, &options));
	memset(out, 0, cores * sizeof *out);
	struct model *model = model_init(memory, machine, &options);
	for (unsigned c = 0; c < cores; c++) {
		of[c] = aligned_alloc(4096, model_core_bytes(machine, &options));
		memset(of[c], 0, model_core_bytes(machine, &options));
		model_core_init(model, c, of[c], &out[c].own);
	}
	if (stream)
		run_stream(model, cores);
	else
		run_steps(model, cores);
	for (unsigned c = 0; c < cores; c++)
		free(of[c]);
	free(memory);
}

static uint64_t sum_of(const struct counted *c, size_t word)
{
	uint64_t sum = ((const uint64_t *)&c->own)[word];
	for (unsigned g = 0; g < GROUPS; g++)
		sum += ((const uint64_t *)&c->group[g])[word];
	return sum;
}

/* Of the filter's own work there are other counts. */
static const size_t WORDS = offsetof(struct model_counts, filter) / sizeof(uint64_t);

/* Accesses that the table of hits did not decide. */
static uint64_t undecided(const struct counted *c) { return sum_of(c, WORDS + FILTER_NOT_INLINED_ACCESSES); }

static void check_of(const struct machine *machine, unsigned cores, bool stream, const char *name)
{
	static struct counted whole[CORES], all[CORES], some[CORES];
	const uint64_t samples[] = {1, 1ull << 63, 0x8421084210842108ull, 0xaaaaaaaaaaaaaaaaull};
	const char *how = stream ? "a stream of blocks" : "one by one";
	bool sums = true, groups = true, first = true, misses = true, fewer = true;
	run(machine, 0, cores, stream, whole);
	run(machine, ~0ull, cores, stream, all);
	for (unsigned c = 0; c < cores; c++) {
		for (size_t w = 0; w < WORDS; w++)
			sums &= sum_of(&all[c], w) == ((const uint64_t *)&whole[c].own)[w];
		misses &= whole[c].own.cache[1][CACHE_READ_MISSES] > 1000 &&
			  whole[c].own.cache[2][CACHE_READ_MISSES] > 1000;
	}
	ok(sums && misses, "%s, %s: all groups count what the model without sampling does", name, how);
	for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
		run(machine, samples[s], cores, stream, some);
		for (unsigned c = 0; c < cores; c++) {
			for (unsigned g = 0, at = 0; g < GROUPS; g++)
				if (samples[s] >> g & 1)
					groups &= !memcmp(&some[c].group[at++], &all[c].group[g],
							  WORDS * sizeof(uint64_t));
			for (unsigned what = CACHE_READS; what <= CACHE_WRITES; what++)
				first &= some[c].own.cache[1][what] == whole[c].own.cache[1][what];
			fewer &= undecided(&some[c]) <= undecided(&whole[c]);
		}
	}
	ok(groups, "%s, %s: a group counts the same, whichever others are modelled", name, how);
	ok(first, "%s, %s: accesses of the first cache are counted of all sets", name, how);
	if (stream)
		ok(fewer, "%s: with fewer groups the table of hits leaves no more accesses undecided", name);
}

static void check(const struct machine *machine, unsigned cores, const char *name)
{
	check_of(machine, cores, false, name);
	check_of(machine, cores, true, name);
}

int main(void)
{
	struct machine m = machine_with(INCLUSION_NONE, WRITE_BACK, REPLACE_LRU, false);
	check(&m, 1, "no inclusion");
	m = machine_with(INCLUSION_INCLUSIVE, WRITE_BACK, REPLACE_PLRU, false);
	check(&m, 1, "inclusive, PLRU");
	m = machine_with(INCLUSION_EXCLUSIVE, WRITE_BACK, REPLACE_FIFO, false);
	m.caches[0].line_bytes = 64,
	m.caches[0].sets = 64; /* an exclusive level's lines are those in front of it */
	check(&m, 1, "exclusive, FIFO");
	m = machine_with(INCLUSION_NONE, WRITE_THROUGH, REPLACE_SRRIP, false);
	m.caches[0].rrip_bits = m.caches[1].rrip_bits = 2;
	check(&m, 1, "write-through, SRRIP");
	m = machine_with(INCLUSION_NONE, WRITE_BACK, REPLACE_LRU, true);
	check(&m, 2, "two coherent cores");
	return done();
}
