/* The cache models with filters against none, on random machines and programs: no count changes. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model_lab.h"

static uint64_t seed;
static uint32_t draw(uint32_t n) /* 0 … n - 1: splitmix64 (Steele et al. 2014) */
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15ull);
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)((z ^ z >> 31) >> 16) % n;
}

static struct machine_cache random_cache(uint32_t line_bytes, bool first)
{
	// clang-format off: a table, a row a line
	struct machine_cache cache = {.line_bytes = line_bytes,
				      .sets = 1 + draw(first ? 9 : 20),
				      .ways = 1 + draw(6),
				      .holds = MACHINE_DATA | MACHINE_INSTRUCTIONS,
				      .replacement = (uint8_t)draw(6),
				      .write = draw(4) == 0,
				      .write_allocate = draw(4) != 0,
				      .next = MACHINE_NONE,
				      .rrip_bits = (uint8_t)(1 + draw(3)),
				      .prefetch = (uint8_t)(draw(3) ? 0 : 1 + draw(2)),
				      .prefetch_degree = (uint8_t)(1 + draw(3)),
				      .prefetch_entries = 16,
				      .victim_lines = (uint16_t)(draw(3) ? 0 : 1 + draw(4))};
	// clang-format on
	if (cache.replacement == REPLACE_PLRU)
		cache.ways = 1u << draw(4);
	if (draw(8) == 0 && cache.replacement != REPLACE_PLRU)
		cache.ways = 33 + draw(20);
	if (!first)
		cache.inclusion = (uint8_t)draw(3);
	return cache;
}

static struct machine random_machine(void)
{
	// clang-format off: a table, a row a line
	struct machine machine = {.fetch_bytes = 16,
				  .seed = 1 + draw(1000),
				  .coherent = (uint8_t)draw(2),
				  .first_data_tlb = MACHINE_NONE,
				  .first_instruction_tlb = MACHINE_NONE,
				  .cores = 2};
	// clang-format on
	uint32_t line = 16u << draw(3);
	unsigned behind = draw(3); /* levels behind the first */
	bool split = draw(4) != 0, shared = false,
	     simple = draw(2); /* plain: as most machines are, and as the fast paths want them */
	unsigned n = split ? 2 : 1;
	machine.n_caches = (uint8_t)(n + behind);
	machine.first_instruction = 0;
	machine.first_data = (uint8_t)(n - 1);
	for (unsigned c = 0; c < machine.n_caches; c++) {
		if (c >= n && draw(3) == 0 && machine.caches[c - 1].inclusion != INCLUSION_EXCLUSIVE)
			line *= 2;
		machine.caches[c] = random_cache(line, c < n);
		if (simple) {
			struct machine_cache *cache = &machine.caches[c];
			cache->replacement = REPLACE_LRU, cache->write = WRITE_BACK, cache->write_allocate = 1;
			cache->prefetch = PREFETCH_NONE, cache->victim_lines = 0;
			cache->sets = 1u << draw(c < n ? 4 : 5), cache->ways = 1 + draw(8);
		}
		if (machine.caches[c].inclusion == INCLUSION_EXCLUSIVE && c > 0 &&
		    line != machine.caches[c - 1].line_bytes)
			machine.caches[c].inclusion = INCLUSION_NONE;
		shared = shared || (c >= n && draw(2));
		machine.caches[c].shared = shared;
		if (c + 1 < machine.n_caches)
			machine.caches[c].next = (uint8_t)(c < n ? n : c + 1);
		if (c < n && !behind)
			machine.caches[c].next = MACHINE_NONE;
	}
	if (simple)
		machine.coherent = machine.coherent && !draw(4);
	if (draw(2)) {
		machine.n_tlbs = 3;
		for (unsigned t = 0; t < 3; t++)
			// clang-format off: a table, a row a line
			machine.tlbs[t] = (struct machine_tlb){.sets = 1u << draw(3),
							       .ways = 1u << draw(3),
							       .pages_per_entry = (uint8_t)(1 + draw(2)),
							       .replacement = (uint8_t)draw(4),
							       .next = t < 2 ? 2 : MACHINE_NONE,
							       .holds = 3};
		// clang-format on
		machine.first_instruction_tlb = 0;
		machine.first_data_tlb = (uint8_t)draw(2);
	}
	machine.direction = (struct machine_direction){
		.kind = PREDICT_BIMODAL, .counter_bits = 2, .initial = 1, .entries = 256};
	return machine;
}

#define BLOCKS 60
#define ITEMS (BLOCKS * 8)

struct program {
	struct trace_block blocks[BLOCKS];
	struct trace_item items[ITEMS];
};

static void random_program(struct program *program)
{
	uint64_t pc = 0x400000 + draw(64);
	uint32_t next = 0;
	memset(program, 0, sizeof *program);
	for (unsigned b = 0; b < BLOCKS; b++) {
		struct trace_block *block = &program->blocks[b];
		uint16_t offset = 0;
		*block = (struct trace_block){.pc = pc,
					      .first_item = next,
					      .values = 12,
					      .insns = (uint16_t)(8 + draw(3)),
					      .ending = (uint8_t)draw(8),
					      .ending_length = 1,
					      .items = (uint16_t)draw(8)};
		for (unsigned i = 0; i < block->items; i++) {
			struct trace_item *item = &program->items[next++];
			*item = (struct trace_item){.bytes = (uint16_t)(1u << draw(5)),
						    .kind = (uint8_t)draw(2),
						    .value = (uint8_t)draw(6),
						    .second = TRACE_NO_VALUE,
						    .displacement = draw(4) ? 8 * draw(4) : draw(200),
						    .insn = (uint8_t)i,
						    .offset = offset};
			offset = (uint16_t)(offset + 1 + draw(12));
			switch (draw(30)) {
			case 0: item->kind = TRACE_PREFETCH; break;
			case 1: item->flags = TRACE_FS; break;
			case 2:
				item->value = TRACE_NO_VALUE;
				item->displacement = 0x500000 + 8 * draw(100);
				break;
			case 3: item->bytes = draw(2) ? 10 : 512; break;
			case 4:
				item->kind = (uint8_t)(TRACE_GATHER + draw(2));
				item->bytes = item->index_bytes = (uint8_t)(4 << draw(2));
				item->lanes = 4, item->scale = 8, item->second = 8;
				item->mask = (uint8_t)draw(3), item->mask_at = 7;
				break;
			case 5:
			case 6: {
				bool two = i + 1u < block->items;
				item->bytes = (uint16_t)(1u << draw(4));
				item->kind = (uint8_t)(TRACE_REP_READ + draw(2));
				item->displacement = 0, item->value = 0, item->second = 6;
				if (two) {
					*(&program->items[next++]) = *item;
					program->items[next - 1].kind = (uint8_t)(TRACE_REP_READ + draw(2));
					i++;
				}
				break;
			}
			}
		}
		block->length = (uint16_t)(offset + 1 + draw(20));
		pc += block->length + (draw(3) ? 0 : draw(300));
	}
	for (unsigned b = 0; b < BLOCKS; b++)
		if (program->blocks[b].ending >= TRACE_END_CONDITIONAL &&
		    program->blocks[b].ending <= TRACE_END_CALL)
			program->blocks[b].target = program->blocks[draw(BLOCKS)].pc;
}

static size_t random_entries(const struct program *program, uint64_t *entries, size_t room)
{
	size_t n = 0;
	uint32_t b = draw(BLOCKS);
	uint64_t bases[6];
	for (unsigned i = 0; i < 6; i++)
		bases[i] = 0x600000 + 8 * draw(800);
	while (n + 16 < room) {
		if (draw(50) == 0)
			entries[n++] = trace_mark(TRACE_PARTIAL, draw(10));
		entries[n++] = b;
		for (unsigned v = 0; v < 6; v++) {
			if (draw(4) == 0)
				bases[v] += 8 * draw(5);
			if (draw(25) == 0)
				bases[v] = 0x600000 + draw(8000);
			entries[n++] = bases[v];
		}
		entries[n++] = bases[0] + 8 * draw(60) - 8 * draw(30);
		entries[n++] = draw(2) ? draw(16) : (uint64_t)draw(1u << 30) << 34;
		for (unsigned v = 8; v < program->blocks[b].values; v++)
			entries[n++] = (uint64_t)draw(40) << 32 | draw(40);
		if (draw(40) == 0) {
			entries[n++] = trace_mark(TRACE_BREAK, 0);
			entries[n++] = 0x400000;
		}
		b = draw(3) == 0 ? draw(BLOCKS) : draw(3) == 0 ? b : (b + 1) % BLOCKS;
	}
	return n;
}

static void run_random(struct lab *lab, const struct program *program, uint64_t *const *parts,
		       const size_t *lengths, unsigned n_parts, unsigned cores)
{
	struct trace_program templates = {program->blocks, program->items};
	for (unsigned p = 0; p < n_parts; p++)
		model_run(lab->model, p % cores, &templates, parts[p], lengths[p], 0x7000000);
}

#define PARTS 12
#define ENTRIES 4000

/* All that the machine counts; how many accesses the filters decided is what differs. */
static bool same_counts(const struct lab *a, const struct lab *b, uint64_t round)
{
	for (unsigned k = 0; k < CORES; k++) {
		const uint64_t *x = (const uint64_t *)&a->counts[k], *y = (const uint64_t *)&b->counts[k];
		for (size_t i = 0; i < offsetof(struct model_counts, filter) / 8; i++)
			if (x[i] != y[i]) {
				size_t c = i / CACHE_COUNTS;
				printf("# round %" PRIu64 ", core %u, %s %zu count %zu: filtered %" PRIu64
				       ", unfiltered %" PRIu64 "\n",
				       round, k, c < MACHINE_CACHES ? "cache" : "word", c < MACHINE_CACHES ? c : i,
				       i % CACHE_COUNTS, x[i], y[i]);
				return false;
			}
	}
	return true;
}

static void filters(unsigned rounds)
{
	uint64_t *parts[PARTS];
	size_t lengths[PARTS];
	struct program program;
	struct lab with, without;
	unsigned differ = 0, unlawful = 0, again = 0, uncharged = 0;
	for (unsigned p = 0; p < PARTS; p++)
		parts[p] = malloc(ENTRIES * sizeof **parts);
	for (unsigned round = 0; round < rounds; round++) {
		struct machine machine;
		struct model_counts first;
		unsigned cores;
		uint64_t *sites_items = calloc(ITEMS, 8 * MODEL_WATCHES),
			 *sites_blocks = calloc(BLOCKS, 8 * MODEL_WATCHES);
		struct model_watch watches[MODEL_WATCHES];
		seed = round * 1000003;
		machine = random_machine();
		random_program(&program);
		cores = 1 + draw(CORES);
		for (unsigned p = 0; p < PARTS; p++)
			lengths[p] = random_entries(&program, parts[p], ENTRIES);
		lab_open(&with, &machine, cores);
		run_random(&with, &program, parts, lengths, PARTS, cores);
		unlawful += !conserves(&with);
		first = with.counts[0];
		lab_open_with(&without, &machine, (struct model_options){.no_filters = 1}, cores);
		run_random(&without, &program, parts, lengths, PARTS, cores);
		differ += !same_counts(&with, &without, round);
		lab_close(&with);
		lab_close(&without);
		/* with classes and watches: the same counts, and every one charged to an item or a block */
		lab_open_with(&with, &machine, (struct model_options){.classify = (uint8_t)draw(2)}, cores);
		for (unsigned w = 0; w < MODEL_WATCHES; w++) {
			// clang-format off: a table, a row a line
			watches[w] = (struct model_watch){.component = (uint8_t)(w < 5    ? MODEL_CACHE
										 : w == 5 ? MODEL_TLB
										 : w == 6 ? MODEL_BRANCH
											  : MODEL_STREAM)};
			// clang-format on
			watches[w].index = (uint8_t)(w < 5 ? draw(machine.n_caches) : 0);
			watches[w].count = (uint8_t)(w < 5       ? (round % 2 ? 3 : 0) + draw(CACHE_COUNTS - 3)
						     : w == 5    ? (round % 2 ? 3 : 0) + draw(3)
						     : w == 6    ? draw(BRANCH_COUNTS)
						     : round % 2 ? STREAM_MISALIGNED + draw(3)
								 : draw(STREAM_COUNTS));
		}
		model_watch(with.model, watches, MODEL_WATCHES, sites_items, sites_blocks);
		run_random(&with, &program, parts, lengths, PARTS, cores);
		unlawful += !conserves(&with);
		for (unsigned i = 0; i <= CACHE_WRITE_BACKS; i++)
			again += with.counts[0].cache[machine.first_data][i] != first.cache[machine.first_data][i];
		for (unsigned w = 0; w < MODEL_WATCHES; w++) {
			uint64_t charged = 0, counted = 0;
			for (unsigned i = 0; i < ITEMS; i++)
				charged += sites_items[i * MODEL_WATCHES + w];
			for (unsigned b = 0; b < BLOCKS; b++)
				charged += sites_blocks[b * MODEL_WATCHES + w];
			for (unsigned k = 0; k < cores; k++) {
				const struct model_counts *c = &with.counts[k];
				counted += w < 5    ? c->cache[watches[w].index][watches[w].count]
					   : w == 5 ? c->tlb[0][watches[w].count]
					   : w == 6 ? c->branch[watches[w].count]
						    : c->stream[watches[w].count];
			}
			if (charged != counted && !uncharged++)
				printf("# round %u part %u index %u count %u: charged %" PRIu64 " of %" PRIu64
				       "\n",
				       round, watches[w].component, watches[w].index, watches[w].count, charged,
				       counted);
		}
		lab_close(&with);
		free(sites_items);
		free(sites_blocks);
	}
	for (unsigned p = 0; p < PARTS; p++)
		free(parts[p]);
	equal_u64(differ, 0, "filters change no count, on random machines of every policy and option");
	equal_u64(unlawful, 0, "counts conserve on all of them");
	equal_u64(again, 0, "nor do classes and watches change what is counted");
	equal_u64(uncharged, 0, "what is watched is charged to items and blocks to the last one");
}

int main(int argc, char **argv) /* [MACHINES]: more of them, by hand */
{
#ifdef SANITIZED
	unsigned machines = 30;
#else
	unsigned machines = 150;
#endif
	filters(argc > 1 ? (unsigned)atoi(argv[1]) : machines);
	return done();
}
