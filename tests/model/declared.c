#include "declared.h"
#include "model/core/coherence/coherence.h"
#include "model/core/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

uint64_t random_below(struct random *r, uint64_t n) { return random_next(r) % n; }

bool random_in(struct random *r, unsigned n) { return random_below(r, n) == 0; }

/* ---- machines ---- */

static void random_cache(struct random *r, struct machine_cache *c, uint32_t line_bytes)
{
	c->line_bytes = line_bytes;
	c->sets = random_in(r, 3) ? 1u + (uint32_t)random_below(r, 9) : 1u << random_below(r, 4);
	c->ways = random_in(r, 3) ? 1u + (uint32_t)random_below(r, 9) : 1u << random_below(r, 4);
	c->replacement = (uint8_t)random_below(r, 6);
	if (c->replacement == REPLACE_PLRU)
		c->ways = 1u << random_below(r, 5);
	c->write = random_in(r, 4) ? WRITE_THROUGH : WRITE_BACK;
	c->write_allocate = !random_in(r, 4);
	c->rrip_bits = (uint8_t)(1 + random_below(r, random_in(r, 4) ? 7 : 3));
	c->prefetch_degree = (uint8_t)(1 + random_below(r, random_in(r, 5) ? 16 : 3));
	c->prefetch_entries = (uint16_t)(1u << random_below(r, 5));
	c->prefetch = random_in(r, 3) ? (uint8_t)(1 + random_below(r, 2)) : PREFETCH_NONE;
	c->victim_lines = random_in(r, 5) ? (uint16_t)(1 + random_below(r, 5)) : 0;
}

static void name(struct machine_cache *c, const char *text) { snprintf(c->name, sizeof(c->name), "%s", text); }

static void random_tlb(struct random *r, struct machine_tlb *tlb, const char *name, unsigned holds,
		       uint32_t page_bytes)
{
	snprintf(tlb->name, sizeof(tlb->name), "%s", name);
	tlb->sets = 1u + (uint32_t)random_below(r, 4);
	tlb->ways = 1u << random_below(r, 4);
	tlb->page_bytes = random_in(r, 4) ? random_in(r, 3) ? 2097152 : page_bytes : 0;
	tlb->pages_per_entry = random_in(r, 3) ? 2 : 1;
	tlb->holds = (uint8_t)holds;
	tlb->replacement = (uint8_t)random_below(r, 4);
	tlb->next = MACHINE_NONE;
}

/* Most machines have pages of 4 KB. */
static uint32_t random_page(struct random *r) { return random_in(r, 3) ? 4096u << random_below(r, 5) : 4096; }

static void random_tlbs(struct random *r, struct machine *m)
{
	bool data = !random_in(r, 4), instructions = !random_in(r, 4), one = random_in(r, 5);
	unsigned n = 0;
	m->page_bytes = random_page(r);
	if (data && !one)
		random_tlb(r, &m->tlbs[m->first_data_tlb = (uint8_t)n++], "DTLB", MACHINE_DATA, m->page_bytes);
	if (instructions && !one)
		random_tlb(r, &m->tlbs[m->first_instruction_tlb = (uint8_t)n++], "ITLB", MACHINE_INSTRUCTIONS,
			   m->page_bytes);
	if (one || (n && !random_in(r, 3))) {
		for (unsigned t = 0; t < n; t++)
			m->tlbs[t].next = t == 0 || !random_in(r, 3) ? (uint8_t)n : MACHINE_NONE;
		if (one)
			m->first_data_tlb = m->first_instruction_tlb = 0;
		random_tlb(r, &m->tlbs[n++], "STLB", MACHINE_DATA | MACHINE_INSTRUCTIONS, m->page_bytes);
	}
	m->n_tlbs = (uint8_t)n;
}

/* Lines of a level behind one with lines of front_bytes. */
static uint32_t line_behind(struct random *r, uint32_t front_bytes, bool smaller)
{
	if (random_in(r, 3))
		return front_bytes << random_below(r, 3);
	if (smaller && random_in(r, 8) && front_bytes > 8)
		return front_bytes / 2;
	return front_bytes;
}

void random_machine(struct random *r, struct machine *m, bool coherent)
{
	unsigned levels = 1 + (unsigned)random_below(r, 4), n = 0, first_shared;
	/* of 32 bytes on, a table of hits is kept (model/core/fast/filter.h) */
	uint32_t line_bytes = random_in(r, 2) ? 32u << random_below(r, 2) : 4u << random_below(r, 5);
	bool split = !random_in(r, 4);
	memset(m, 0, sizeof(*m));
	snprintf(m->name, sizeof(m->name), "random");
	m->cores = 1;
	m->fetch_bytes = 4u << random_below(r, 5);
	m->seed = random_next(r) | 1;
	m->first_instruction_tlb = m->first_data_tlb = m->first_instruction = m->first_data = MACHINE_NONE;
	m->coherent = coherent;
	if (random_in(r, 2))
		random_tlbs(r, m);
	if (m->n_tlbs && !coherent && random_in(r, 40))
		return; /* no caches at all */

	/* the front: L1I and L1D, or one for both, or data alone */
	if (split) {
		random_cache(r, &m->caches[0], random_in(r, 3) ? line_bytes * 2 : line_bytes);
		random_cache(r, &m->caches[1], line_bytes);
		name(&m->caches[0], "L1I");
		name(&m->caches[1], "L1D");
		m->caches[0].holds = MACHINE_INSTRUCTIONS;
		m->caches[1].holds = MACHINE_DATA;
		m->first_instruction = 0;
		m->first_data = 1;
		n = 2;
	} else {
		random_cache(r, &m->caches[0], line_bytes);
		name(&m->caches[0], "L1");
		m->caches[0].holds = MACHINE_INSTRUCTIONS | MACHINE_DATA;
		m->first_data = 0;
		m->first_instruction = random_in(r, 4) ? MACHINE_NONE : 0;
		n = 1;
	}
	first_shared = coherent ? 1 + (unsigned)random_below(r, levels) : (unsigned)random_below(r, levels + 1);
	for (unsigned c = 0; c < n; c++) {
		m->caches[c].next = MACHINE_NONE;
		m->caches[c].shared = first_shared == 0;
	}
	for (unsigned level = 1; level < levels; level++, n++) {
		struct machine_cache *c = &m->caches[n], *front = &m->caches[n - 1];
		bool joins = level == 1 && split;
		uint32_t largest = joins && m->caches[0].line_bytes > front->line_bytes ? m->caches[0].line_bytes
											: front->line_bytes;
		random_cache(r, c, line_behind(r, coherent ? largest : front->line_bytes, !coherent));
		c->name[0] = 'L';
		c->name[1] = (char)('1' + level);
		c->holds = MACHINE_INSTRUCTIONS | MACHINE_DATA;
		c->next = MACHINE_NONE;
		c->shared = level >= first_shared;
		front->next = (uint8_t)n;
		if (joins && !random_in(r, 4))
			m->caches[0].next = (uint8_t)n;
		c->sets *= 1u + (uint32_t)random_below(r, 4);
		c->inclusion = (uint8_t)random_below(r, 3);
		if (c->inclusion == INCLUSION_EXCLUSIVE) {
			c->line_bytes = front->line_bytes;
			if (joins && m->caches[0].next == n && m->caches[0].line_bytes != c->line_bytes)
				m->caches[0].line_bytes = c->line_bytes;
			c->prefetch = PREFETCH_NONE;
			c->write = WRITE_BACK;
		}
	}
	m->n_caches = (uint8_t)n;
	for (unsigned c = 0; c < n; c++)
		if (m->caches[c].prefetch != PREFETCH_STRIDE)
			m->caches[c].prefetch_entries = 0;
}

static struct machine_cache usual_cache(struct random *r, const char *text, uint32_t line_bytes,
					unsigned sets_power, unsigned holds, unsigned next)
{
	struct machine_cache c = {.line_bytes = line_bytes,
				  .sets = 1u << (sets_power - random_below(r, 3)),
				  .ways = 2u << random_below(r, 3),
				  .holds = (uint8_t)holds,
				  .replacement = random_in(r, 4) ? REPLACE_PLRU : REPLACE_LRU,
				  .write = WRITE_BACK,
				  .write_allocate = 1,
				  .next = (uint8_t)next,
				  .rrip_bits = 2,
				  .prefetch_degree = 1};
	name(&c, text);
	return c;
}

void usual_machine(struct random *r, struct machine *m, bool coherent)
{
	uint32_t line_bytes = 32u << random_below(r, 3);
	bool third = random_in(r, 2);
	memset(m, 0, sizeof(*m));
	snprintf(m->name, sizeof(m->name), "usual");
	m->cores = 1;
	m->fetch_bytes = 16u << random_below(r, 2);
	m->seed = random_next(r) | 1;
	m->coherent = coherent;
	m->n_caches = third ? 4 : 3;
	m->first_data = 1;
	m->caches[0] = usual_cache(r, "L1I", line_bytes, 5, MACHINE_INSTRUCTIONS, 2);
	m->caches[1] = usual_cache(r, "L1D", line_bytes, 5, MACHINE_DATA, 2);
	m->caches[2] = usual_cache(r, "L2", line_bytes << random_below(r, 2), 7,
				   MACHINE_DATA | MACHINE_INSTRUCTIONS, third ? 3 : MACHINE_NONE);
	m->caches[3] = usual_cache(r, "L3", m->caches[2].line_bytes, 9, MACHINE_DATA | MACHINE_INSTRUCTIONS,
				   MACHINE_NONE);
	m->caches[2].inclusion = random_in(r, 3) ? INCLUSION_INCLUSIVE : INCLUSION_NONE;
	m->caches[2].shared = !third;
	m->caches[3].shared = 1;
	m->caches[3].inclusion = random_in(r, 2) ? INCLUSION_NONE
				 : m->caches[3].line_bytes == m->caches[2].line_bytes && random_in(r, 2)
					 ? INCLUSION_EXCLUSIVE
					 : INCLUSION_INCLUSIVE;
	if (random_in(r, 3)) { /* so small that what it evicts is in front of it */
		m->caches[2].sets = 1u << random_below(r, 4);
		m->caches[2].ways = 4;
		m->caches[2].inclusion = random_in(r, 3) ? INCLUSION_NONE : INCLUSION_INCLUSIVE;
	}
	if (!third)
		memset(&m->caches[3], 0, sizeof(m->caches[3]));
	if (random_in(r, 5))
		m->caches[2].prefetch = PREFETCH_NEXT_LINE;
	m->n_tlbs = 3;
	m->page_bytes = random_page(r);
	m->first_instruction_tlb = 1;
	for (unsigned t = 0; t < 3; t++) {
		random_tlb(r, &m->tlbs[t],
			   t == 0   ? "DTLB"
			   : t == 1 ? "ITLB"
				    : "STLB",
			   t == 0   ? MACHINE_DATA
			   : t == 1 ? MACHINE_INSTRUCTIONS
				    : MACHINE_DATA | MACHINE_INSTRUCTIONS,
			   m->page_bytes);
		m->tlbs[t].page_bytes = 0;
		m->tlbs[t].replacement = REPLACE_LRU;
		m->tlbs[t].sets = 1u << random_below(r, 4);
		m->tlbs[t].next = t == 2 ? MACHINE_NONE : 2;
	}
	if (random_in(r, 5)) { /* one TLB for both sides */
		m->n_tlbs = 1;
		m->first_data_tlb = m->first_instruction_tlb = 0;
		m->tlbs[0].holds = MACHINE_DATA | MACHINE_INSTRUCTIONS;
		m->tlbs[0].next = MACHINE_NONE;
	}
	if (random_in(r, 6)) { /* one first cache */
		m->caches[1].holds = MACHINE_DATA | MACHINE_INSTRUCTIONS;
		m->n_caches--;
		memmove(&m->caches[0], &m->caches[1], m->n_caches * sizeof(m->caches[0]));
		memset(&m->caches[m->n_caches], 0, sizeof(m->caches[0]));
		for (unsigned c = 0; c < m->n_caches; c++)
			if (m->caches[c].next != MACHINE_NONE)
				m->caches[c].next--;
		m->first_data = m->first_instruction = 0;
	}
}

struct machine one_cache(uint32_t line_bytes, uint32_t sets, uint32_t ways, enum machine_holds holds)
{
	struct machine m = {.name = "one",
			    .cores = 1,
			    .fetch_bytes = 16,
			    .seed = 1,
			    .n_caches = 1,
			    .first_instruction = MACHINE_NONE,
			    .first_data = MACHINE_NONE,
			    .first_instruction_tlb = MACHINE_NONE,
			    .first_data_tlb = MACHINE_NONE};
	m.caches[0] = (struct machine_cache){.name = "L1",
					     .line_bytes = line_bytes,
					     .sets = sets,
					     .ways = ways,
					     .holds = (uint8_t)holds,
					     .write_allocate = 1,
					     .next = MACHINE_NONE,
					     .rrip_bits = 2,
					     .prefetch_degree = 1};
	if (holds & MACHINE_INSTRUCTIONS)
		m.first_instruction = 0;
	if (holds & MACHINE_DATA)
		m.first_data = 0;
	return m;
}

void machine_print(const struct machine *m, const struct model_options *options)
{
	static const char *const replacement[] = {"lru", "plru", "fifo", "random", "srrip", "brrip"};
	static const char *const inclusion[] = {"", " inclusive", " exclusive"};
	static const char *const prefetch[] = {"", " next-line", " stride"};
	printf("# fetch_bytes %u seed %#llx%s%s%s%s\n", m->fetch_bytes, (unsigned long long)m->seed,
	       m->coherent ? " coherent" : "", options->classify ? " classify" : "",
	       options->orders ? " orders" : "", options->no_filters ? " no_filters" : "");
	for (unsigned i = 0; i < m->n_caches; i++) {
		const struct machine_cache *c = &m->caches[i];
		printf("# cache %u %s: %u sets x %u ways x %u bytes %s%s %s%s%s", i, c->name, c->sets, c->ways,
		       c->line_bytes, replacement[c->replacement], c->shared ? " shared" : "",
		       c->write == WRITE_THROUGH ? "write-through" : "write-back",
		       c->write_allocate ? "" : " no-allocate", inclusion[c->inclusion]);
		if (c->prefetch)
			printf("%s degree %u entries %u", prefetch[c->prefetch], c->prefetch_degree,
			       c->prefetch_entries);
		if (c->victim_lines)
			printf(" victim %u", c->victim_lines);
		if (c->replacement >= REPLACE_SRRIP)
			printf(" rrip_bits %u", c->rrip_bits);
		printf(" next %d%s%s\n", c->next == MACHINE_NONE ? -1 : c->next,
		       i == m->first_data ? " <- data" : "", i == m->first_instruction ? " <- fetches" : "");
	}
	for (unsigned i = 0; i < m->n_tlbs; i++)
		printf("# tlb %u: %u sets x %u ways of %u pages, page_bytes %u, %s next %d%s%s\n", i,
		       m->tlbs[i].sets, m->tlbs[i].ways, m->tlbs[i].pages_per_entry, m->tlbs[i].page_bytes,
		       replacement[m->tlbs[i].replacement], m->tlbs[i].next == MACHINE_NONE ? -1 : m->tlbs[i].next,
		       i == m->first_data_tlb ? " <- data" : "",
		       i == m->first_instruction_tlb ? " <- fetches" : "");
}

/* ---- the core ---- */

/* Pages of it that are never touched cost nothing. */
static void *zeroed(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);
	if (memory == MAP_FAILED)
		abort();
	return memory;
}

void simulated_make_with(struct simulated *s, const struct machine *machine, const struct model_options *options)
{
	memset(s, 0, sizeof(*s));
	s->machine = *machine;
	s->options = *options;
	s->memory = zeroed(s->bytes = model_bytes(machine, options));
	s->model = model_init(s->memory, machine, options);
}

void simulated_make(struct simulated *s, const struct machine *machine)
{
	simulated_make_with(s, machine, &(struct model_options){0});
}

void simulated_scalar(struct simulated *s) { s->model->vectors = s->model->sets_vectors = false; }

void simulated_core(struct simulated *s, unsigned core)
{
	s->core_memory[core] = zeroed(s->core_bytes = model_core_bytes(&s->machine, &s->options));
	s->counts[core] = zeroed(sizeof(struct model_counts));
	model_core_init(s->model, core, s->core_memory[core], s->counts[core]);
}

void simulated_free(struct simulated *s)
{
	for (unsigned k = 0; k < SIMULATED_CORES; k++) {
		if (s->core_memory[k]) {
			munmap(s->core_memory[k], s->core_bytes);
			munmap(s->counts[k], sizeof(struct model_counts));
		}
	}
	munmap(s->memory, s->bytes);
}

uint64_t same_place(const struct machine *machine, uint64_t address, unsigned which)
{
	struct coherence_place nothing;
	struct coherence coherence = {.places = &nothing};
	unsigned shift = 0;
	uint64_t granule, moved;
	for (unsigned c = 0; c < machine->n_caches; c++)
		while (!machine->caches[c].shared && machine->caches[c].line_bytes > 1u << shift)
			shift++;
	granule = address >> shift;
	if (!which)
		return address;
	/* what the upper bits do there the lower ones undo */
	for (moved = granule + ((uint64_t)which << 24);
	     coherence_place(&coherence, moved) != coherence_place(&coherence, granule);)
		moved ^= (uint64_t)(coherence_place(&coherence, moved) - &nothing) ^
			 (uint64_t)(coherence_place(&coherence, granule) - &nothing);
	return moved << shift | (address & ((1ull << shift) - 1));
}

/* ---- counts ---- */

const char *cache_count_name(unsigned what)
{
	static const char *const names[CACHE_COUNTS] = {[CACHE_READS] = "reads",
							[CACHE_WRITES] = "writes",
							[CACHE_FETCHES] = "fetches",
							[CACHE_READ_MISSES] = "read misses",
							[CACHE_WRITE_MISSES] = "write misses",
							[CACHE_FETCH_MISSES] = "fetch misses",
							[CACHE_FILLS] = "fills",
							[CACHE_BYPASSES] = "bypasses",
							[CACHE_EVICTIONS] = "evictions",
							[CACHE_WRITE_BACKS] = "write-backs",
							[CACHE_WRITE_BACKS_PASSED] = "write-backs passed",
							[CACHE_WRITES_THROUGH] = "writes through",
							[CACHE_PREFETCHES] = "prefetches",
							[CACHE_PREFETCHES_USED] = "prefetches used",
							[CACHE_VICTIM_HITS] = "victim hits",
							[CACHE_COMPULSORY] = "compulsory",
							[CACHE_CAPACITY] = "capacity",
							[CACHE_CONFLICT] = "conflict",
							[CACHE_BACK_INVALIDATIONS] = "back-invalidations",
							[CACHE_INVALIDATIONS] = "invalidations",
							[CACHE_INTERVENTIONS] = "interventions",
							[CACHE_UPGRADES] = "upgrades",
							[CACHE_COHERENCE_MISSES] = "coherence misses",
							[CACHE_FALSE_SHARING_MISSES] = "false sharing misses",
							[CACHE_UNCLASSIFIED] = "unclassified",
							[CACHE_ORDERED] = "in order",
							[CACHE_ORDERED_MISSES] = "misses in order"};
	return names[what] ? names[what] : "a count that this test does not know";
}

const char *tlb_count_name(unsigned what)
{
	static const char *const names[TLB_COUNTS] = {"reads",       "writes",       "fetches",
						      "read misses", "write misses", "fetch misses"};
	return names[what];
}

const char *stream_count_name(unsigned what)
{
	static const char *const names[STREAM_COUNTS] = {"instructions",
							 "blocks",
							 "reads",
							 "writes",
							 "misaligned",
							 "misaligned reads",
							 "misaligned writes",
							 "line crossing",
							 "page crossing",
							 "fetch blocks",
							 "line crossing reads",
							 "line crossing writes"};
	return names[what] ? names[what] : "?";
}

static bool same(uint64_t is, uint64_t expected, const char *where, const char *what, bool print)
{
	if (is != expected && print)
		printf("# %s %s: is %llu, the reference says %llu\n", where, what, (unsigned long long)is,
		       (unsigned long long)expected);
	return is == expected;
}

bool counts_equal(const struct machine *m, const struct model_counts *is, const struct model_counts *expected,
		  bool print)
{
	bool equal = true;
	for (unsigned c = 0; c < MACHINE_CACHES; c++)
		for (unsigned what = 0; what < CACHE_COUNTS; what++)
			equal &= same(is->cache[c][what], expected->cache[c][what],
				      c < m->n_caches ? m->caches[c].name : "no cache", cache_count_name(what),
				      print);
	for (unsigned t = 0; t < MACHINE_TLBS; t++)
		for (unsigned what = 0; what < TLB_COUNTS; what++)
			equal &= same(is->tlb[t][what], expected->tlb[t][what],
				      t < m->n_tlbs ? m->tlbs[t].name : "no TLB", tlb_count_name(what), print);
	for (unsigned what = 0; what < STREAM_COUNTS; what++)
		equal &= same(is->stream[what], expected->stream[what], "stream", stream_count_name(what), print);
	return equal;
}
