/* The TLBs of a modelled core: against closed forms (docs/closed-forms.md 1.3, 1.4, 1.14) and, on random streams, against model_tlb_reference.h,
   with filters and without. */
#include "model/core/fast/timed_lines.h"
#include "model/core/cache/lines.h"
#include "model/core/fast/processor.h"
#include "model/core/tlb/tlb.h"
#include "model_tlb_reference.h"
#include "tap.h"

#define ANY (MACHINE_INSTRUCTIONS | MACHINE_DATA)

static uint64_t seed = 1;
static uint64_t draw(uint64_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static struct machine_tlb tlb(unsigned sets, unsigned ways, unsigned page_bytes, unsigned pages,
			      unsigned replacement, unsigned next)
{
	return (struct machine_tlb){.sets = sets,
				    .ways = ways,
				    .page_bytes = page_bytes,
				    .pages_per_entry = pages,
				    .holds = ANY,
				    .replacement = replacement,
				    .next = next};
}

static struct machine machine_of_one(struct machine_tlb only)
{
	struct machine m = {.seed = 7, .n_tlbs = 1, .first_instruction_tlb = MACHINE_NONE};
	m.tlbs[0] = only;
	return m;
}

struct under_test {
	struct machine machine;
	struct tlb_map map;
	void *memory;
	struct tlbs *tlbs;
	struct model_counts counts;
};

static void begin_with(struct under_test *u, struct machine machine, struct model_options options)
{
	memset(u, 0, sizeof(*u));
	u->machine = machine;
	while (machine.page_bytes >> u->map.shift > 1)
		u->map.shift++;
	u->memory = aligned_alloc(64, tlbs_bytes(&machine));
	memset(u->memory, 0, tlbs_bytes(&machine));
	u->tlbs = tlbs_init(u->memory, &u->machine, &options, &u->map);
}

static void begin(struct under_test *u, struct machine machine)
{
	begin_with(u, machine, (struct model_options){0});
}

static void end(struct under_test *u) { free(u->memory); }
static void reads(struct under_test *u, uint64_t address, unsigned bytes)
{
	tlbs_access(u->tlbs, address, bytes, TLB_READS, &u->counts);
}

/* U(b, n, x): units of size x touched by n bytes at b */
static uint64_t units(uint64_t b, uint64_t n, uint64_t x) { return (b + n - 1) / x - b / x + 1; }

/* ---- closed forms ---- */

static void array(void)
{
	bool all = true;
	for (unsigned round = 0; round < 300; round++) {
		struct under_test u;
		uint64_t b = 0x10000000 + 4 * draw(3000), n = 1 + draw(30000);
		begin(&u, machine_of_one(tlb(1, 64, 0, 1, REPLACE_LRU, MACHINE_NONE)));
		for (uint64_t i = 0; i < n; i++) {
			reads(&u, b + 4 * i, 4);
			tlbs_access(u.tlbs, b + 4 * i, 4, TLB_WRITES, &u.counts);
		}
		uint64_t *c = u.counts.tlb[0];
		all &= c[TLB_READS] == n && c[TLB_WRITES] == n && c[TLB_READ_MISSES] == units(b, 4 * n, 4096) &&
		       !c[TLB_WRITE_MISSES];
		end(&u);
	}
	ok(all, "a[i] = a[i] + 1 over n ints misses U(b, 4n, 4096) pages, all by reads");
}

static void ordinary_pages(void)
{
	static const unsigned sizes[] = {4096, 8192, 16384, 65536};
	bool all = true, whole = true;
	for (unsigned round = 0; round < 200; round++) {
		struct under_test u;
		struct machine m = machine_of_one(tlb(1, 64, 0, 1, REPLACE_LRU, MACHINE_NONE));
		uint64_t b = 0x10000000 + 4 * draw(30000), n = 1 + draw(30000);
		m.page_bytes = sizes[draw(4)];
		begin(&u, m);
		for (uint64_t i = 0; i < n; i++)
			reads(&u, b + 4 * i, 4);
		all &= u.counts.tlb[0][TLB_READS] == n &&
		       u.counts.tlb[0][TLB_READ_MISSES] == units(b, 4 * n, m.page_bytes);
		/* back from huge pages: in the machine's own again */
		whole &= tlb_map_set(&u.map, 1 << 30, 4 << 20, 2 << 20) && tlb_map_shift(&u.map, 1 << 30) == 21 &&
			 tlb_map_set(&u.map, 1 << 30, 4 << 20, 4096) &&
			 1u << tlb_map_shift(&u.map, 1 << 30) == m.page_bytes && u.map.count == 0;
		end(&u);
	}
	ok(all, "on machines with pages of 4, 8, 16 and 64 KB an array of n ints misses U(b, 4n, page) times");
	ok(whole, "memory that is no longer in huge pages is in the machine's own");
}

static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }

static void thrash(void)
{
	bool all = true;
	for (unsigned round = 0; round < 1500; round++) {
		struct under_test u;
		uint64_t sets = 1 + draw(40), ways = 1 + draw(70), stride = 1 + draw(50), m = 1 + draw(300),
			 sweeps = 1 + draw(5);
		if (sets * ways > 1024)
			continue;
		begin(&u, machine_of_one(tlb(sets, ways, 0, 1, REPLACE_LRU, MACHINE_NONE)));
		for (uint64_t r = 0; r < sweeps; r++)
			for (uint64_t i = 0; i < m; i++)
				reads(&u, 0x400000000 + i * stride * 4096 + 8 * draw(512), 8);
		uint64_t q = sets / gcd(sets, stride), more = m % q, c = m / q;
		uint64_t expected = more * ((c + 1) * (c + 1 <= ways ? 1 : sweeps)) +
				    (q - more) * (c * (c <= ways ? 1 : sweeps));
		all &= u.counts.tlb[0][TLB_READ_MISSES] == expected && u.counts.tlb[0][TLB_READS] == m * sweeps;
		end(&u);
	}
	ok(all, "the thrash law: a set that holds c pages misses c times if c <= ways, else c times a sweep (sets "
		"need be no power of two)");
}

/* N^3 doubles, i + N j + N^2 k, 64 entries, fully associative */
static uint64_t sweep(uint64_t n, int order)
{
	struct under_test u;
	begin(&u, machine_of_one(tlb(1, 64, 0, 1, REPLACE_LRU, MACHINE_NONE)));
	for (uint64_t a = 0; a < n; a++)
		for (uint64_t b = 0; b < n; b++)
			for (uint64_t c = 0; c < n; c++) {
				uint64_t i = order == 'x'   ? c
					     : order == 'z' ? b
							    : c,
					 j = order == 'x' ? b : a,
					 k = order == 'x'   ? a
					     : order == 'z' ? c
							    : b;
				reads(&u, 0x20000000 + 8 * (i + n * j + n * n * k), 8);
			}
	uint64_t misses = u.counts.tlb[0][TLB_READ_MISSES];
	end(&u);
	return misses;
}

static void adi(void)
{
	uint64_t planes = 0;
	equal_u64(sweep(100, 'x'), units(0, 8 * 1000000, 4096),
		  "an X sweep of 100^3 doubles misses every page once");
	equal_u64(sweep(100, 'z'), 1000000,
		  "a Z sweep of 100^3 doubles, k innermost, misses 10^6 times: 100 planes, 64 entries");
	equal_u64(sweep(100, 'i'), 11875, "interchanged (k outside i) it misses 11,875 times");
	for (uint64_t k = 0; k < 40; k++)
		planes += units(0x20000000 + 8 * 1600 * k, 8 * 1600, 4096);
	equal_u64(sweep(40, 'z'), planes,
		  "a Z sweep of 40^3 doubles misses each plane's pages once: 40 planes, 64 entries");
}

/* ---- what is said in model/core/tlb/tlb.h ---- */

static void pairs(void)
{
	struct under_test u;
	begin(&u, machine_of_one(tlb(1, 64, 0, 2, REPLACE_LRU, MACHINE_NONE)));
	for (unsigned r = 0; r < 3; r++)
		for (unsigned i = 0; i < 128; i++)
			reads(&u, 0x10000000 + 4096 * i, 4);
	equal_u64(u.counts.tlb[0][TLB_READ_MISSES], 64,
		  "64 entries of page pairs (R12000) hold 128 pages: 64 misses, none again");
	reads(&u, 0x10000000 + 4096 - 4, 8);
	equal_u64(u.counts.tlb[0][TLB_READS], 3 * 128 + 2, "an access across the middle of a pair uses two pages");
	end(&u);
}

static void crossing(void)
{
	struct under_test u;
	begin(&u, machine_of_one(tlb(1, 4, 0, 1, REPLACE_LRU, MACHINE_NONE)));
	uint64_t done = tlbs_access(u.tlbs, 0x1ffc, 8, TLB_READS, &u.counts);
	ok(TLB_ACCESSED(done, 0) == 2 && TLB_MISSED(done, 0) == 2,
	   "a read across a page's end is two accesses and, cold, two misses");
	done = tlbs_access(u.tlbs, 0x1ffc, 8, TLB_WRITES, &u.counts);
	ok(TLB_ACCESSED(done, 0) == 2 && TLB_MISSED(done, 0) == 0 && u.counts.tlb[0][TLB_WRITES] == 2,
	   "again, as a write: two hits");
	done = tlbs_access(u.tlbs, 0x2000, 4096, TLB_READS, &u.counts);
	ok(TLB_ACCESSED(done, 0) == 1 && !TLB_MISSED(done, 0), "a whole page is one");
	done = tlbs_access(u.tlbs, 0x1001, 65535, TLB_READS, &u.counts);
	ok(TLB_ACCESSED(done, 0) == 16, "65,535 bytes from the page's second are 16 pages");
	end(&u);
}

static void levels(void)
{
	struct machine m = {.seed = 7, .n_tlbs = 3, .first_data_tlb = 0, .first_instruction_tlb = MACHINE_NONE};
	struct under_test u;
	m.tlbs[0] = tlb(1, 4, 4096, 1, REPLACE_LRU, 1);
	m.tlbs[1] = tlb(1, 2, 2097152, 1, REPLACE_LRU, 2);
	m.tlbs[2] = tlb(16, 4, 0, 1, REPLACE_LRU, MACHINE_NONE);
	begin(&u, m);
	ok(tlb_map_set(&u.map, 0x40000000, 4ull << 21, 1ull << 21), "four huge pages are said to be there");
	for (unsigned r = 0; r < 2; r++) {
		for (unsigned i = 0; i < 8; i++)
			reads(&u, 0x1000 * i, 8);
		for (unsigned i = 0; i < 4; i++)
			reads(&u, 0x40000000 + (1ull << 21) * i + 4096 * i, 8);
	}
	ok(u.counts.tlb[0][TLB_READS] == 16 && u.counts.tlb[1][TLB_READS] == 8,
	   "each first-level TLB is asked for pages of its size only");
	ok(u.counts.tlb[0][TLB_READ_MISSES] == 16 && u.counts.tlb[1][TLB_READ_MISSES] == 8,
	   "8 small pages thrash 4 entries, 4 huge ones 2");
	ok(u.counts.tlb[2][TLB_READS] == 24 && u.counts.tlb[2][TLB_READ_MISSES] == 12,
	   "the second level is asked for what they miss, and misses once each");
	end(&u);
}

static void full_map(void)
{
	struct tlb_map map = {0};
	bool all = true;
	for (unsigned i = 0; i < TLB_RANGES; i++)
		all &= tlb_map_set(&map, (2 * i + 1ull) << 21, 1 << 21, 1 << 21);
	ok(all && map.count == TLB_RANGES && !map.dropped,
	   "as many separate ranges as the map has room for are kept");
	ok(!tlb_map_set(&map, 1ull << 40, 1 << 21, 1 << 21) && map.dropped == 1 &&
		   tlb_map_shift(&map, 1ull << 40) == 12,
	   "one more is refused and counted; its memory keeps its size");
	struct tlb_map wrong = {0};
	ok(!tlb_map_set(&wrong, 0, 1 << 21, 12288) && !tlb_map_set(&wrong, 0, 1 << 21, 2048) &&
		   !tlb_map_set(&wrong, ~0ull << 21, 4 << 21, 1 << 21) && wrong.dropped == 3 && !wrong.count,
	   "pages of a size that is none, and ranges without an end, are refused and counted as well");
	ok(tlb_map_set(&map, 2ull << 21, 1 << 21, 1 << 21) && map.count == TLB_RANGES - 1,
	   "neighbours of one size become one range");
}

/* ---- against the reference ---- */

static bool counts_equal(const struct model_counts *a, const struct model_counts *b)
{
	return !memcmp(a->tlb, b->tlb, sizeof(a->tlb));
}

static uint64_t some_address(unsigned pages)
{
	static uint64_t last[4];
	uint64_t *l = &last[draw(4)];
	if (draw(3)) /* near where we were */
		*l += draw(64);
	else
		*l = 0x40000000 + draw(pages) * 4096 + draw(4096);
	return *l;
}

/* ---- as a core asks: for pages alone, in few steps if it can ---- */

struct alone {
	struct under_test u;
	struct filter filter;
	uint64_t clock;
};

static void begin_alone(struct alone *l, struct machine machine)
{
	memset(l, 0, sizeof(*l));
	begin(&l->u, machine);
	// clang-format off: a table, a row a line
	l->filter = (struct filter){.table = calloc(1 << FILTER_BITS, 8),
				    .pages = calloc(FILTER_PAGES, 8),
				    .page_table = calloc(2 << FILTER_PAGE_BITS, 8),
				    .occupied = calloc(2 * FILTER_PAGES, 8),
				    .shift = 6,
				    .occupied_shift = (uint8_t)tlbs_occupied_shift(&machine, 6)};
	// clang-format on
	tlbs_time(l->u.tlbs, &l->filter, &l->clock);
}

static void end_alone(struct alone *l)
{
	free(l->filter.table), free(l->filter.pages), free(l->filter.page_table), free(l->filter.occupied);
	end(&l->u);
}

static void access_alone(struct alone *l, uint64_t address, unsigned bytes, enum model_tlb_count kind)
{
	unsigned first = kind == TLB_FETCHES ? l->u.machine.first_instruction_tlb : l->u.machine.first_data_tlb;
	bool counted, one = (address & 4095) + bytes <= 4096 && first != MACHINE_NONE;
	uint32_t page = one ? tlbs_page(l->u.tlbs, address, kind, &l->u.counts, &counted) : TLB_PASSED;
	if (!one || (page == TLB_PASSED && kind != TLB_FETCHES))
		tlbs_access(l->u.tlbs, address, bytes, kind, &l->u.counts);
	else if (!counted)
		l->u.counts.tlb[first][kind]++;
}

static unsigned lru_fast; /* machines in which pages are asked for in few steps */

static bool same_as_reference(struct machine m, unsigned pages, bool sizes, unsigned steps)
{
	static struct ref_tlbs r;
	struct under_test filtered, simple;
	struct alone alone;
	bool same = true;
	ref_tlbs_begin(&r, &m);
	begin(&filtered, m);
	begin_alone(&alone, m);
	begin_with(&simple, m, (struct model_options){.no_filters = 1});
	for (unsigned i = 0; i < steps && same; i++) {
		if (sizes && r.n_said < 500 && !draw(steps / 400)) {
			uint64_t start = 0x40000000 + (draw(64) << (12 + draw(10))), length = (1 + draw(16))
											      << (12 + draw(10));
			uint64_t page_bytes = draw(2) ? 1 << 21 : draw(2) ? 4096 : 65536;
			if (!draw(4)) /* no other pages any more: the short way again */
				start = 0x40000000, length = 1 << 30, page_bytes = 4096;
			ref_pages(&r, start, length, page_bytes);
			same &= tlb_map_set(&filtered.map, start, length, page_bytes) &&
				tlb_map_set(&simple.map, start, length, page_bytes) &&
				tlb_map_set(&alone.u.map, start, length, page_bytes);
			tlbs_forget(alone.u.tlbs, start, length);
			tlbs_forget(filtered.tlbs, start, length);
			tlbs_forget(simple.tlbs, start, length);
		}
		uint64_t address = some_address(pages);
		unsigned bytes = draw(50) ? 1u << draw(6) : 1 + draw(20000);
		enum model_tlb_count kind = draw(3) ? TLB_READS : draw(2) ? TLB_WRITES : TLB_FETCHES;
		struct model_counts before = r.counts;
		ref_tlbs_access(&r, address, bytes, kind);
		uint64_t a = tlbs_access(filtered.tlbs, address, bytes, kind, &filtered.counts);
		uint64_t b = tlbs_access(simple.tlbs, address, bytes, kind, &simple.counts);
		same &= a == b && counts_equal(&filtered.counts, &r.counts) &&
			counts_equal(&simple.counts, &r.counts);
		for (unsigned t = 0; t < m.n_tlbs; t++)
			same &= TLB_ACCESSED(a, t) == r.counts.tlb[t][kind] - before.tlb[t][kind] &&
				TLB_MISSED(a, t) == r.counts.tlb[t][kind + 3] - before.tlb[t][kind + 3];
		access_alone(&alone, address, bytes, kind);
		same &= counts_equal(&alone.u.counts, &r.counts);
		if (!same)
			printf("# differs at step %u, address %#" PRIx64 ", %u bytes, kind %d\n", i, address,
			       bytes, kind);
	}
	end(&filtered);
	end(&simple);
	lru_fast += alone.u.tlbs->lru_fast[TLB_DATA];
	end_alone(&alone);
	ref_tlbs_end(&r);
	return same;
}

static void random_streams(void)
{
	// clang-format off: a table, a row a line
	static const struct {
		uint8_t replacement;
		const char *name;
	} policies[] = {{REPLACE_LRU, "LRU"},
			{REPLACE_PLRU, "tree PLRU"},
			{REPLACE_FIFO, "FIFO"},
			{REPLACE_RANDOM, "random"}};
	// clang-format on
	static const unsigned shapes[][2] = {{1, 64}, {1, 4}, {16, 4}, {7, 2}, {64, 1},
					     {3, 32}, {1, 1}, {2, 12}, {4, 8}, {1, 40}};
	for (unsigned p = 0; p < 4; p++) {
		unsigned replacement = policies[p].replacement;
		lru_fast = 0;
		bool one = true, unified = true, split = true, paired = true, larger = true;
		for (unsigned s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
			unsigned sets = shapes[s][0], ways = shapes[s][1];
			if (replacement == REPLACE_PLRU && ways & (ways - 1))
				continue;
			struct machine m = machine_of_one(tlb(sets, ways, 0, 1, replacement, MACHINE_NONE));
			one &= same_as_reference(m, 3 * sets * ways, false, 4000);
			m.first_instruction_tlb = 0;
			m.tlbs[0].pages_per_entry = 2;
			paired &= same_as_reference(m, 5 * sets * ways, true, 4000);
			/* R10000: a small instruction TLB in front of the joint one */
			m = (struct machine){
				.seed = 9, .n_tlbs = 2, .first_data_tlb = 1, .first_instruction_tlb = 0};
			m.tlbs[0] = tlb(1, 8, 0, 1, replacement, 1);
			m.tlbs[1] = tlb(sets, ways, 0, 1, replacement, MACHINE_NONE);
			unified &= same_as_reference(m, 2 * sets * ways, false, 4000);
			m = (struct machine){
				.seed = 9, .n_tlbs = 4, .first_data_tlb = 0, .first_instruction_tlb = 2};
			m.tlbs[0] = tlb(4, 4, 4096, 1, replacement, 1);
			m.tlbs[1] = tlb(1, 4, 1 << 21, 1, replacement, 3);
			m.tlbs[2] = tlb(2, 4, 0, 1, replacement, 3);
			m.tlbs[3] = tlb(sets, ways, 0, 1, replacement, MACHINE_NONE);
			split &= same_as_reference(m, 6 * sets * ways, true, 6000);
			m.page_bytes = m.tlbs[0].page_bytes = 16384;
			larger &= same_as_reference(m, 20 * sets * ways, true, 4000);
			m = machine_of_one(tlb(sets, ways, 0, 2, replacement, MACHINE_NONE));
			m.page_bytes = 16384;
			m.first_instruction_tlb = 0;
			larger &= same_as_reference(m, 20 * sets * ways, true, 4000) &&
				  same_as_reference(m, 20 * sets * ways, false, 4000);
		}
		ok(replacement == REPLACE_LRU || replacement == REPLACE_FIFO ? lru_fast >= 30 : !lru_fast,
		   "%s: %s", policies[p].name,
		   lru_fast ? "most machines' pages are asked for in few steps" : "nothing goes in few steps");
		ok(one,
		   "%s: one TLB of ten shapes counts as the reference, with filters and without, also when pages "
		   "alone are asked for",
		   policies[p].name);
		ok(paired, "%s: so do page pairs, fetches and data in one, while page sizes change",
		   policies[p].name);
		ok(unified, "%s: so does an instruction TLB in front of a joint one", policies[p].name);
		ok(larger, "%s: so do both on machines with pages of 16 KB", policies[p].name);
		ok(split, "%s: so do two levels, the first split by page size", policies[p].name);
	}
}

static void least_of_many(void)
{
	uint64_t times[256];
	bool same = true, vectors = vectors_here() == VECTORS_AVX512;
	for (unsigned round = 0; vectors && round < 3000; round++) {
		unsigned n = 8 * (1 + (unsigned)draw(32));
		for (unsigned i = 0; i < n; i++)
			times[i] = draw(3) ? draw(1ull << 30) << (round % 26) : draw(2 * n);
		same &= vectors_least(times, n) == lines_least(times, n);
	}
	ok(same, "the least of 8 to 256 times is the same with vectors%s",
	   vectors ? "" : " # SKIP no AVX-512 here");
}

static void mixed(void)
{
	static const unsigned others[] = {REPLACE_PLRU, REPLACE_RANDOM};
	bool same = true;
	for (unsigned i = 0; i < 16; i++) {
		struct machine m = {
			.seed = 3, .n_tlbs = 3, .first_data_tlb = i & 1, .first_instruction_tlb = !(i & 1)};
		m.tlbs[0] = tlb(4, 4, 0, 1, others[i / 2 % 2], 2);
		m.tlbs[1] = tlb(4, 4, 0, 1, REPLACE_LRU, 2);
		m.tlbs[2] = tlb(8, 4, 0, 1, REPLACE_LRU, MACHINE_NONE);
		same &= same_as_reference(m, 60, false, 4000);
	}
	ok(same, "so do two first TLBs of different policies in front of one");
}

int main(void)
{
	least_of_many();
	array();
	ordinary_pages();
	thrash();
	adi();
	pairs();
	crossing();
	levels();
	full_map();
	random_streams();
	mixed();
	return done();
}
