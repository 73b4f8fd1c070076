/*
 * The closed forms of the papers' kernels (design/LAB.md, 1; numbers of its items in the facts), to the last miss: streams are written as the
 * kernels touch memory, parameters are random, and a form must hold in every case.
 *
 * U(b, n, x): units of x bytes that n bytes from b touch.
 */
#include <stdlib.h>
#include <string.h>

#include "declared.h"
#include "tap.h"

static uint64_t U(uint64_t b, uint64_t n, uint64_t x)
{
	return n ? (b + n - 1) / x - b / x + 1 : 0;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	return b ? gcd(b, a % b) : a;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- what is measured ---- */

static struct simulated sim;

static void on(const struct machine *m)
{
	simulated_make(&sim, m);
	simulated_core(&sim, 0);
}

static void off(void)
{
	simulated_free(&sim);
}

static void load(uint64_t address, uint32_t bytes)
{
	model_access(sim.model, 0, address, bytes, TRACE_READ, 0);
}

static void store(uint64_t address, uint32_t bytes)
{
	model_access(sim.model, 0, address, bytes, TRACE_WRITE, 0);
}

static uint64_t cache_of(unsigned core, unsigned cache, unsigned what)
{
	return sim.counts[core]->cache[cache][what];
}

static uint64_t cache_misses(unsigned core, unsigned cache)
{
	return cache_of(core, cache, CACHE_READ_MISSES) + cache_of(core, cache, CACHE_WRITE_MISSES) + cache_of(core, cache, CACHE_FETCH_MISSES);
}

static uint64_t tlb_misses(unsigned tlb)
{
	const uint64_t *t = sim.counts[0]->tlb[tlb];
	return t[TLB_READ_MISSES] + t[TLB_WRITE_MISSES] + t[TLB_FETCH_MISSES];
}

static void add_tlb(struct machine *m, uint32_t sets, uint32_t ways, enum machine_holds holds)
{
	m->tlbs[m->n_tlbs] = (struct machine_tlb){ .name = "TLB", .sets = sets, .ways = ways, .page_bytes = 4096, .pages_per_entry = 1,
		.holds = (uint8_t)holds, .next = MACHINE_NONE };
	if (holds & MACHINE_DATA)
		m->first_data_tlb = m->n_tlbs;
	if (holds & MACHINE_INSTRUCTIONS)
		m->first_instruction_tlb = m->n_tlbs;
	m->n_tlbs++;
}

/* The first case in which a form did not hold, or that all did. */
struct form { const char *fact; unsigned cases, wrong; };

static void check(struct form *f, uint64_t is, uint64_t expected, const char *what, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	if (is != expected && !f->wrong++)
		printf("# case %u: %s is %llu, the form says %llu (%llu, %llu, %llu, %llu)\n", f->cases, what, (unsigned long long)is,
		       (unsigned long long)expected, (unsigned long long)a, (unsigned long long)b, (unsigned long long)c, (unsigned long long)d);
}

static void conclude(const struct form *f)
{
	ok(f->cases && !f->wrong, "%s (%u cases)", f->fact, f->cases);
}

static uint32_t random_line(struct random *r)
{
	return 16u << random_below(r, 5);
}

/* ---- 1, 2, 9: code ---- */

/* Straight-line code of random instructions from b on. Returns how many. */
static uint64_t execute(struct random *r, uint64_t b, uint64_t bytes)
{
	uint64_t n = 0;
	for (uint64_t at = b; at < b + bytes; n++) {
		uint64_t length = smaller(1 + random_below(r, 15), b + bytes - at);
		model_fetch(sim.model, 0, at, (uint32_t)length, 0);
		at += length;
	}
	return n;
}

static void linear(void)
{
	struct form f = { "1: straight-line code misses once a line and once a page, U(b,bytes,L) and U(b,bytes,P)", 0, 0 };
	struct random r = { 1 };
	for (; f.cases < 300; f.cases++) {
		uint32_t line_bytes = random_line(&r);
		struct machine m = one_cache(line_bytes, 1 + (uint32_t)random_below(&r, 64), 1 + (uint32_t)random_below(&r, 4), MACHINE_INSTRUCTIONS);
		uint64_t b = 0x400000 + random_below(&r, 8192), bytes = 1 + random_below(&r, 60000);
		add_tlb(&m, 1, 1 + (uint32_t)random_below(&r, 64), MACHINE_INSTRUCTIONS);
		on(&m);
		execute(&r, b, bytes);
		check(&f, cache_misses(0, 0), U(b, bytes, line_bytes), "L1I misses", b, bytes, line_bytes, 0);
		check(&f, cache_of(0, 0, CACHE_FETCHES), U(b, bytes, line_bytes), "lines fetched", b, bytes, line_bytes, 0);
		check(&f, tlb_misses(0), U(b, bytes, 4096), "ITLB misses", b, bytes, 0, 0);
		check(&f, sim.counts[0]->stream[STREAM_FETCH_BLOCKS], U(b, bytes, m.fetch_bytes), "fetch blocks", b, bytes, 0, 0);
		off();
	}
	conclude(&f);
}

/* Contiguous or strided lines swept R times: set i of the q that are used holds c of the m. */
static uint64_t thrash_law(uint64_t m, uint64_t stride, uint64_t sets, uint64_t ways, uint64_t sweeps)
{
	uint64_t q = sets / gcd(sets, stride), misses = 0;
	for (uint64_t i = 0; i < q; i++) {
		uint64_t c = m / q + (i < m % q);
		misses += c <= ways ? c : c * sweeps;
	}
	return misses;
}

static void loop(void)
{
	struct form f = { "2: a loop of straight-line code: k·n instructions, n conditional branches, n - 1 taken; its lines by the thrash law", 0, 0 };
	struct random r = { 2 };
	for (; f.cases < 300; f.cases++) {
		uint32_t sets = 1 + (uint32_t)random_below(&r, 24), ways = 1 + (uint32_t)random_below(&r, 4), line_bytes = random_line(&r);
		struct machine m = one_cache(line_bytes, sets, ways, MACHINE_INSTRUCTIONS);
		uint64_t n = 2 + random_below(&r, 60), entries[64], lines;
		struct trace_block block = { .pc = 0x400000 + random_below(&r, 4096), .insns = (uint16_t)(1 + random_below(&r, 100)),
			.ending = TRACE_END_CONDITIONAL, .ending_length = 2 };
		struct trace_program program = { &block, NULL };
		block.target = block.pc;
		block.length = (uint16_t)(block.insns * 4);
		m.has_branches = 1;
		m.direction = (struct machine_direction){ .kind = PREDICT_TAKEN };
		on(&m);
		memset(entries, 0, sizeof(entries));
		model_run(sim.model, 0, &program, entries, n, 0);
		/* then on, behind it */
		entries[0] = trace_mark(TRACE_BREAK, 0);
		entries[1] = block.pc + block.length;
		model_run(sim.model, 0, &program, entries, 2, 0);
		lines = U(block.pc, block.length, line_bytes);
		check(&f, cache_misses(0, 0), thrash_law(lines, 1, sets, ways, n), "L1I misses", lines, sets, ways, n);
		check(&f, cache_of(0, 0, CACHE_FETCHES), lines * n, "lines fetched", lines, n, 0, 0);
		check(&f, sim.counts[0]->stream[STREAM_INSTRUCTIONS], n * block.insns, "instructions", n, block.insns, 0, 0);
		check(&f, sim.counts[0]->branch[BRANCH_CONDITIONAL], n, "conditional branches", n, 0, 0, 0);
		check(&f, sim.counts[0]->branch[BRANCH_TAKEN], n - 1, "taken branches", n, 0, 0, 0);
		check(&f, sim.counts[0]->branch[BRANCH_MISPREDICTED], 1, "mispredictions of always taken", n, 0, 0, 0);
		off();
	}
	conclude(&f);
}

static void icache(void)
{
	struct form f = { "9: 2^5 … 2^18 instructions: hits by fetch block are fetches - misses, by instruction I - misses; Power3: I/8 - I/32", 0, 0 };
	struct random r = { 9 };
	for (unsigned power = 5; power <= 18; power++)
		for (unsigned aligned = 0; aligned < 2; aligned++, f.cases++) {
			uint64_t n = 1ull << power, b = 0x10000000 + (aligned ? 0 : 4 * (1 + random_below(&r, 1000))), misses, fetches;
			struct machine m = one_cache(128, 2, 128, MACHINE_INSTRUCTIONS); /* POWER3: 32 KB, 128 ways of 128 bytes */
			struct trace_block *blocks = calloc(n / 8, sizeof(*blocks));
			uint64_t *entries = calloc(n / 8, sizeof(*entries));
			struct trace_program program = { blocks, NULL };
			for (uint64_t i = 0; i < n / 8; i++) {
				blocks[i] = (struct trace_block){ .pc = b + 32 * i, .length = 32, .insns = 8 };
				entries[i] = i;
			}
			m.fetch_bytes = 32;
			on(&m);
			model_run(sim.model, 0, &program, entries, n / 8, 0);
			free(blocks);
			free(entries);
			misses = cache_misses(0, 0);
			fetches = sim.counts[0]->stream[STREAM_FETCH_BLOCKS];
			check(&f, misses, U(b, 4 * n, 128), "misses", b, n, 0, 0);
			check(&f, fetches - misses, U(b, 4 * n, 32) - U(b, 4 * n, 128), "hits by fetch block", b, n, 0, 0);
			check(&f, sim.counts[0]->stream[STREAM_INSTRUCTIONS] - misses, n - U(b, 4 * n, 128), "hits by instruction", b, n, 0, 0);
			if (aligned)
				check(&f, fetches - misses, n / 8 - n / 32, "I/8 - I/32", b, n, 0, 0);
			off();
		}
	conclude(&f);
}

/* ---- 3: a[i] = a[i] + 1 ---- */

static void array(void)
{
	struct form f = { "3: a[i] = a[i] + 1 misses U(b,4N,L), writes back max(0, U - S·A) within the run, L2 and DTLB U at theirs", 0, 0 };
	struct random r = { 3 };
	for (; f.cases < 2000; f.cases++) {
		uint32_t line_bytes = random_line(&r), sets = 1 + (uint32_t)random_below(&r, 64), ways = 1 + (uint32_t)random_below(&r, 8), wider;
		struct machine m = one_cache(line_bytes, sets, ways, MACHINE_DATA);
		uint64_t n = 1 + random_below(&r, random_in(&r, 4) ? 20000 : 1500), b = 0x600000 + random_below(&r, 8192), lines;
		if (sets * ways < 2)
			b &= ~3ull; /* elements across two lines need both */
		wider = line_bytes << random_below(&r, 3);
		m.caches[0].next = 1;
		m.caches[1] = m.caches[0];
		m.caches[1].line_bytes = wider;
		m.caches[1].sets = sets * (1 + (uint32_t)random_below(&r, 4));
		m.caches[1].ways = ways + 1;
		m.caches[1].next = MACHINE_NONE;
		m.n_caches = 2;
		add_tlb(&m, 1, 2 + (uint32_t)random_below(&r, 62), MACHINE_DATA);
		on(&m);
		for (uint64_t i = 0; i < n; i++) {
			load(b + 4 * i, 4);
			store(b + 4 * i, 4);
		}
		lines = U(b, 4 * n, line_bytes);
		check(&f, sim.counts[0]->stream[STREAM_READS], n, "loads", b, n, 0, 0);
		check(&f, sim.counts[0]->stream[STREAM_WRITES], n, "stores", b, n, 0, 0);
		check(&f, cache_misses(0, 0), lines, "L1D misses", b, n, line_bytes, 0);
		check(&f, cache_of(0, 0, CACHE_WRITE_MISSES), 0, "stores that miss", b, n, line_bytes, 0);
		check(&f, cache_of(0, 0, CACHE_WRITE_BACKS), lines > sets * ways ? lines - sets * ways : 0, "write-backs", b, n, sets, ways);
		check(&f, cache_misses(0, 1), U(b, 4 * n, wider), "L2 misses", b, n, wider, 0);
		check(&f, tlb_misses(0), U(b, 4 * n, 4096), "DTLB misses", b, n, 0, 0);
		off();
	}
	conclude(&f);
}

/* ---- 4: thrash ---- */

static void thrash(bool tlb)
{
	struct form f = { tlb ? "4: the same law for a TLB" : "4: m addresses s lines apart, R sweeps: a set that holds c lines misses c, or c·R if c > A", 0, 0 };
	struct random r = { tlb ? 41 : 4 };
	for (; f.cases < 3000; f.cases++) {
		uint32_t line_bytes = tlb ? 4096 : random_line(&r), sets = 1 + (uint32_t)random_below(&r, 48), ways = 1 + (uint32_t)random_below(&r, 8);
		struct machine m = one_cache(tlb ? 64 : line_bytes, tlb ? 1 : sets, tlb ? 1 : ways, MACHINE_DATA);
		uint64_t stride = 1 + random_below(&r, 70), addresses = 1 + random_below(&r, 150), sweeps = 1 + random_below(&r, 5), is;
		uint64_t b = 0x1000000 + random_below(&r, 1000) * line_bytes;
		if (tlb)
			add_tlb(&m, sets, ways, MACHINE_DATA);
		on(&m);
		for (uint64_t sweep = 0; sweep < sweeps; sweep++)
			for (uint64_t i = 0; i < addresses; i++)
				load(b + i * stride * line_bytes, 4);
		is = tlb ? tlb_misses(0) : cache_misses(0, 0);
		check(&f, is, thrash_law(addresses, stride, sets, ways, sweeps), "misses", addresses, stride, sets, ways);
		off();
	}
	conclude(&f);
}

/* ---- 11: misaligned ---- */

static void misaligned(void)
{
	struct form f = { "11: N reads and writes of w bytes side by side: splits are floor((b+wN-1)/x) - floor(b/x) unless w divides b; 2N misaligned", 0, 0 };
	struct random r = { 11 };
	for (; f.cases < 4000; f.cases++) {
		uint32_t line_bytes = 16u << random_below(&r, 4), w = 1u << random_below(&r, 5);
		struct machine m = one_cache(line_bytes, 8, 2, MACHINE_DATA);
		uint64_t n = 1 + random_below(&r, 400), b = 0x700000 + random_below(&r, 8192), lines = 0, lines_64 = 0, pages = 0;
		const uint64_t *s;
		add_tlb(&m, 1, 4, MACHINE_DATA);
		on(&m);
		for (uint64_t i = 0; i < n; i++) {
			load(b + w * i, w);
			store(b + w * i, w);
		}
		load(0x10000, 8); /* the loop's own */
		store(0x10000, 8);
		if (b % w) {
			lines = (b + w * n - 1) / line_bytes - b / line_bytes;
			lines_64 = (b + w * n - 1) / 64 - b / 64;
			pages = (b + w * n - 1) / 4096 - b / 4096;
		}
		s = sim.counts[0]->stream;
		check(&f, s[STREAM_READS], n + 1, "reads", b, w, n, 0);
		check(&f, s[STREAM_WRITES], n + 1, "writes", b, w, n, 0);
		check(&f, s[STREAM_MISALIGNED], b % w ? 2 * n : 0, "misaligned", b, w, n, 0);
		check(&f, s[STREAM_MISALIGNED_READS] + s[STREAM_MISALIGNED_WRITES], s[STREAM_MISALIGNED], "misaligned, kind by kind", b, w, n, 0);
		check(&f, s[STREAM_LINE_CROSSING_READS], lines_64, "reads across 64-byte lines", b, w, n, 0);
		check(&f, s[STREAM_LINE_CROSSING], 2 * lines_64, "accesses across 64-byte lines", b, w, n, 0);
		check(&f, s[STREAM_PAGE_CROSSING], 2 * pages, "accesses across pages", b, w, n, 0);
		check(&f, cache_of(0, 0, CACHE_READS), n + 1 + lines, "reads of lines", b, w, n, line_bytes);
		check(&f, cache_of(0, 0, CACHE_WRITES), n + 1 + lines, "writes of lines", b, w, n, line_bytes);
		check(&f, sim.counts[0]->tlb[0][TLB_READS], n + 1 + pages, "reads of pages", b, w, n, 0);
		off();
	}
	conclude(&f);
}

/* ---- 13: a K × K convolution, as a trace ---- */

/* Blocks: 0 the innermost loop's body with its branch, 1 the rows' branch, 2 the pixels' branch; top-tested: 3 … 5 the bodies' jumps back. */
static void convolve(unsigned k, uint64_t pixels, bool top_tested, const struct machine_direction *direction, uint64_t *branches, uint64_t *mispredicted,
		     uint64_t *later)
{
	struct machine m = one_cache(64, 64, 8, MACHINE_INSTRUCTIONS);
	enum { INNER, ROWS, PIXELS, INNER_BODY, ROWS_BODY, PIXELS_BODY, END, N };
	struct trace_block blocks[N];
	struct trace_program program = { blocks, NULL };
	uint64_t *entries = malloc(pixels * 4 * (k + 2) * (k + 2) * sizeof(*entries));
	size_t n = 0, half = 0;
	for (unsigned b = 0; b < N; b++)
		blocks[b] = (struct trace_block){ .pc = 0x400000 + 16 * b, .length = 16, .insns = 4, .ending_length = 2,
			.ending = b <= PIXELS ? TRACE_END_CONDITIONAL : b == END ? TRACE_END_NONE : TRACE_END_JUMP };
	if (!top_tested) {
		/* each body ends in its branch back; the bodies around the inner loops are in the blocks' own 16 bytes */
		blocks[INNER].target = blocks[ROWS].target = blocks[PIXELS].target = blocks[INNER].pc;
		for (uint64_t p = 0; p < pixels; p++) {
			for (unsigned i = 0; i < k; i++) {
				for (unsigned j = 0; j < k; j++)
					entries[n++] = INNER;
				entries[n++] = ROWS;
			}
			entries[n++] = PIXELS;
			if (p == pixels / 2)
				half = n;
		}
		/* falls through to whatever is behind */
		entries[n++] = trace_mark(TRACE_BREAK, 0);
		entries[n++] = blocks[PIXELS].pc + blocks[PIXELS].length;
	} else {
		/* a test leaves its loop when taken; else its body follows, and jumps back */
		blocks[INNER].pc = 0x400000, blocks[INNER_BODY].pc = 0x400010;
		blocks[ROWS].pc = 0x400100, blocks[ROWS_BODY].pc = 0x400110;
		blocks[PIXELS].pc = 0x400200, blocks[PIXELS_BODY].pc = 0x400210;
		blocks[INNER].target = blocks[ROWS].pc;
		blocks[ROWS].target = blocks[PIXELS].pc;
		blocks[PIXELS].target = blocks[END].pc = 0x400300;
		blocks[INNER_BODY].target = blocks[ROWS_BODY].target = blocks[INNER].pc;
		blocks[PIXELS_BODY].target = blocks[ROWS].pc;
		for (uint64_t p = 0; p < pixels; p++) {
			entries[n++] = PIXELS;
			entries[n++] = PIXELS_BODY;
			for (unsigned i = 0; i < k; i++) {
				entries[n++] = ROWS;
				entries[n++] = ROWS_BODY;
				for (unsigned j = 0; j < k; j++) {
					entries[n++] = INNER;
					entries[n++] = INNER_BODY;
				}
				entries[n++] = INNER;
			}
			entries[n++] = ROWS;
			if (p == pixels / 2)
				half = n;
		}
		entries[n++] = PIXELS;
		entries[n++] = END;
	}
	m.has_branches = 1;
	m.direction = *direction;
	on(&m);
	model_run(sim.model, 0, &program, entries, half, 0);
	*later = sim.counts[0]->branch[BRANCH_CONDITIONAL_MISPREDICTED];
	model_run(sim.model, 0, &program, entries + half, n - half, 0);
	*branches = sim.counts[0]->branch[BRANCH_CONDITIONAL];
	*mispredicted = sim.counts[0]->branch[BRANCH_CONDITIONAL_MISPREDICTED];
	*later = *mispredicted - *later;
	off();
	free(entries);
}

static void convolution(void)
{
	struct machine_direction taken = { .kind = PREDICT_BIMODAL, .counter_bits = 2, .initial = 3, .entries = 4096 }, not_taken = taken;
	struct machine_direction history = { .kind = PREDICT_GSHARE, .counter_bits = 2, .initial = 2, .history_bits = 16, .entries = 65536 };
	struct form f = { "13: a K×K convolution, 2-bit counters: K²+K+1 branches, K+1 mispredictions a pixel bottom-tested; +2K+... top-tested", 0, 0 };
	uint64_t branches, mispredicted, later, pixels = 1000;
	f.fact = "13: K×K convolution, 2-bit counters: K+1 mispredictions a pixel, of K²+K+1 branches bottom-tested, of K²+2K+2 top-tested";
	not_taken.initial = 0;
	for (unsigned k = 2; k < 9; k++, f.cases++) {
		convolve(k, pixels, false, &taken, &branches, &mispredicted, &later);
		check(&f, branches, pixels * (k * k + k + 1), "bottom-tested branches", k, 0, 0, 0);
		check(&f, mispredicted, pixels * (k + 1) + 1, "bottom-tested mispredictions (and the last)", k, 0, 0, 0);
		convolve(k, pixels, true, &not_taken, &branches, &mispredicted, &later);
		check(&f, branches, pixels * (k * (k + 1) + k + 1 + 1) + 1, "top-tested branches (and the last)", k, 0, 0, 0);
		check(&f, mispredicted, pixels * (k + 1) + 1, "top-tested mispredictions (and the last)", k, 0, 0, 0);
	}
	conclude(&f);
	convolve(3, pixels, false, &taken, &branches, &mispredicted, &later);
	ok(branches == 13 * pixels && mispredicted - 1 == 4 * pixels, "13: a 3×3 convolution mispredicts 4 of 13 branches");
	convolve(3, pixels, true, &not_taken, &branches, &mispredicted, &later);
	ok(branches - 1 == 17 * pixels && mispredicted - 1 == 4 * pixels, "13: top-tested, 4 of 17");
	convolve(3, pixels, false, &history, &branches, &mispredicted, &later);
	equal_u64(later, 1, "13: 16 bits of global history learn it: in the second half only the end is mispredicted");
}

/* ---- 14: ADI sweeps over N³ doubles ---- */

enum sweep { SWEEP_X, SWEEP_Y, SWEEP_Z, SWEEP_Z_INTERCHANGED };

static struct machine adi_machine(void)
{
	struct machine m = one_cache(64, 64, 8, MACHINE_DATA);
	add_tlb(&m, 1, 64, MACHINE_DATA);
	return m;
}

/* One line of the recurrence: the value before is in a register. */
static void sweep_line(uint64_t address, uint64_t n, uint64_t stride)
{
	for (uint64_t i = 0; i < n; i++) {
		load(address + i * stride, 8);
		if (i)
			store(address + i * stride, 8);
	}
}

/* plane: bytes from one k to the next, 8N² unless padded */
static void adi(enum sweep sweep, uint64_t n, uint64_t plane)
{
	uint64_t row = 8 * n;
	for (uint64_t a = 0; a < n; a++)
		for (uint64_t b = 0; b < n; b++)
			switch (sweep) {
			case SWEEP_X: sweep_line(a * plane + b * row, n, 8); break;
			case SWEEP_Y: sweep_line(a * plane + b * 8, n, row); break;
			case SWEEP_Z: sweep_line(a * row + b * 8, n, plane); break;
			case SWEEP_Z_INTERCHANGED: /* j, then k, i innermost: the value before is memory's */
				for (uint64_t i = 0; i < n; i++) {
					if (b)
						load(a * row + (b - 1) * plane + 8 * i, 8);
					load(a * row + b * plane + 8 * i, 8);
					if (b)
						store(a * row + b * plane + 8 * i, 8);
				}
				break;
			}
}

static uint64_t sum_over_planes(uint64_t n, uint64_t plane, uint64_t unit)
{
	uint64_t sum = 0;
	for (uint64_t k = 0; k < n; k++)
		sum += U(k * plane, 8 * n * n, unit);
	return sum;
}

static void adi_sweeps(unsigned step)
{
	struct form x = { "14: the X sweep misses U(0,8N³,L) and U(0,8N³,P), N = 8 … 130; loads N³, stores (N-1)N²", 0, 0 };
	struct form y = { "14: the Y sweep's misses are compulsory if an N² slice fits", 0, 0 };
	struct form z = { "14: the Z sweep: TLB misses U(all), ΣU(plane), N³; L1 by its capacity A·S/gcd(S, 8N²/L)", 0, 0 };
	struct machine m = adi_machine();
	for (uint64_t n = 8; n <= 130; n += step) {
		uint64_t all = 8 * n * n * n, plane = 8 * n * n;
		on(&m);
		adi(SWEEP_X, n, plane);
		check(&x, cache_misses(0, 0), U(0, all, 64), "L1 misses", n, 0, 0, 0);
		check(&x, tlb_misses(0), U(0, all, 4096), "TLB misses", n, 0, 0, 0);
		check(&x, sim.counts[0]->stream[STREAM_READS], n * n * n, "loads", n, 0, 0, 0);
		check(&x, sim.counts[0]->stream[STREAM_WRITES], (n - 1) * n * n, "stores", n, 0, 0, 0);
		x.cases++;
		off();

		on(&m);
		adi(SWEEP_Y, n, plane);
		if (plane / 64 + 2 <= 512) { /* however it lies */
			check(&y, cache_misses(0, 0), U(0, all, 64), "L1 misses", n, 0, 0, 0);
			y.cases++;
		}
		check(&y, tlb_misses(0), U(0, all, 4096), "TLB misses", n, 0, 0, 0); /* 8 · 130² is 34 pages */
		off();

		on(&m);
		adi(SWEEP_Z, n, plane);
		check(&z, tlb_misses(0), U(0, all, 4096) <= 64 ? U(0, all, 4096) : n <= 64 ? sum_over_planes(n, plane, 4096) : n * n * n, "TLB misses", n, 0, 0, 0);
		if (plane % 64 == 0) {
			uint64_t capacity = 8 * 64 / gcd(64, plane / 64);
			check(&z, cache_misses(0, 0),
			      U(0, all, 64) <= 512 ? U(0, all, 64) : n <= capacity ? sum_over_planes(n, plane, 64) : n * n * n, "L1 misses", n, 0, 0, 0);
		}
		z.cases++;
		off();
	}
	conclude(&x);
	conclude(&y);
	conclude(&z);
}

static void adi_tuned(void)
{
	struct machine m = adi_machine();
	uint64_t before_tlb, before_l1, misses, n = 128;
	on(&m);
	adi(SWEEP_Z, 100, 80000);
	before_tlb = tlb_misses(0);
	before_l1 = cache_misses(0, 0);
	off();
	equal_u64(before_tlb, 1000000, "14: the Z sweep at N = 100 misses the TLB a million times");
	equal_u64(before_l1, 125000, "14: and L1 125,000 times");
	on(&m);
	adi(SWEEP_Z_INTERCHANGED, 100, 80000);
	equal_u64(tlb_misses(0), 11875, "14: interchanged, the TLB 11,875 times");
	equal_u64(cache_misses(0, 0), 130000, "14: and L1 130,000 times: the paper's slight increase");
	off();

	on(&m); /* X and Y, plane by plane */
	misses = 0;
	for (uint64_t k = 0; k < 60; k++) {
		uint64_t x;
		for (uint64_t j = 0; j < 60; j++)
			sweep_line(k * 28800 + j * 480, 60, 8);
		x = cache_misses(0, 0);
		for (uint64_t i = 0; i < 60; i++)
			sweep_line(k * 28800 + i * 8, 60, 480);
		misses += cache_misses(0, 0) - x;
	}
	equal_u64(misses, 0, "14: fused with X, the Y sweep misses nothing");
	equal_u64(cache_misses(0, 0), U(0, 8 * 60 * 60 * 60, 64), "14: both miss once a line");
	off();

	on(&m);
	adi(SWEEP_Z, n, 8 * n * n);
	equal_u64(cache_misses(0, 0), n * n * n, "14: N = 128: every access of the Z sweep misses L1");
	off();
	on(&m);
	adi(SWEEP_Z, n, 8 * n * n + 64);
	equal_u64(cache_misses(0, 0), sum_over_planes(n, 8 * n * n + 64, 64), "14: a line of padding behind each plane, and they miss once a line");
	off();
}

/* ---- 15: a search through structures, and through a shadow array of their keys ---- */

static void search(void)
{
	struct form f = { "15: a search misses n times if z >= L, else U(b+off,(n-1)z+4,L); the shadow array U(b,4n,L)", 0, 0 };
	struct form ratio = { "15: whole lines of keys: the shadow array misses L/4 times less", 0, 0 };
	struct random r = { 15 };
	for (; f.cases < 2000; f.cases++) {
		uint32_t line_bytes = random_line(&r);
		struct machine m = one_cache(line_bytes, 1 + (uint32_t)random_below(&r, 64), 1 + (uint32_t)random_below(&r, 4), MACHINE_DATA);
		uint64_t z = 4 * (1 + random_below(&r, 100)), offset = 4 * random_below(&r, z / 4), n = 1 + random_below(&r, 500), shadow;
		uint64_t b = 0x800000 + 4 * random_below(&r, 4096), b_shadow = 0x900000 + (random_in(&r, 2) ? 0 : 4 * random_below(&r, 1000));
		bool whole = random_in(&r, 2);
		if (whole)
			n = (1 + n / 16) * (line_bytes / 4);
		on(&m);
		for (uint64_t i = 0; i < n; i++)
			load(b + offset + i * z, 4);
		check(&f, cache_misses(0, 0), z >= line_bytes ? n : U(b + offset, (n - 1) * z + 4, line_bytes), "misses", b + offset, z, n, line_bytes);
		off();
		on(&m);
		for (uint64_t i = 0; i < n; i++)
			load(b_shadow + 4 * i, 4);
		shadow = cache_misses(0, 0);
		check(&f, shadow, U(b_shadow, 4 * n, line_bytes), "shadow array's misses", b_shadow, n, line_bytes, 0);
		off();
		if (whole && z >= line_bytes && b_shadow % line_bytes == 0) {
			check(&ratio, shadow * (line_bytes / 4), n, "shadow misses × L/4", n, line_bytes, 0, 0);
			ratio.cases++;
		}
	}
	conclude(&f);
	conclude(&ratio);
}

/* ---- 16: false sharing ---- */

/* p threads, each adds M times to its own word, q times a turn. padded: a line each. Machine: L1D each, a level of all behind. */
static void false_sharing(void)
{
	struct form f = { "16: a line of m > 1 threads: mR - 1 interventions and invalidations, 1 cold miss; padded: 0, and p cold misses", 0, 0 };
	struct form kinds = { "16: of their misses mR - m are coherence misses, all by false sharing; of one word shared by all, none", 0, 0 };
	struct random r = { 16 };
	for (; f.cases < 2000; f.cases++, kinds.cases++) {
		uint32_t line_bytes = 32u << random_below(&r, 3);
		struct machine m = one_cache(line_bytes, 16, 2, MACHINE_DATA);
		uint64_t threads = 2 + random_below(&r, 7), times = 1 + random_below(&r, 40), quantum = 1 + random_below(&r, 10), turns;
		uint64_t layout = random_below(&r, 3), apart = layout == 0 ? 8 : layout == 1 ? line_bytes : 0, b = 0x600000 + 8 * random_below(&r, line_bytes / 8);
		uint64_t interventions = 0, invalidations = 0, cold, misses = 0, coherence = 0, of_false = 0, upgrades = 0, lines, behind = 0;
		uint64_t expected_bounces = 0, expected_coherence = 0;
		m.coherent = 1;
		m.caches[0].next = 1;
		m.caches[1] = m.caches[0];
		m.caches[1].shared = 1;
		m.caches[1].next = MACHINE_NONE;
		m.caches[1].sets = 64;
		m.n_caches = 2;
		simulated_make(&sim, &m);
		for (unsigned t = 0; t < threads; t++)
			simulated_core(&sim, t);
		turns = (times + quantum - 1) / quantum;
		for (uint64_t turn = 0; turn < turns; turn++)
			for (unsigned t = 0; t < threads; t++)
				for (uint64_t i = turn * quantum; i < smaller(times, (turn + 1) * quantum); i++) {
					model_access(sim.model, t, b + t * apart, 8, TRACE_READ, 0);
					model_access(sim.model, t, b + t * apart, 8, TRACE_WRITE, 0);
				}
		lines = apart ? U(b, (threads - 1) * apart + 8, line_bytes) : 1;
		for (uint64_t line = b / line_bytes; line < b / line_bytes + lines; line++) {
			uint64_t sharers = 0;
			for (unsigned t = 0; t < threads; t++)
				sharers += (b + t * apart) / line_bytes == line;
			expected_bounces += sharers > 1 ? sharers * turns - 1 : 0;
			expected_coherence += sharers > 1 ? sharers * turns - sharers : 0;
		}
		for (unsigned t = 0; t < threads; t++) {
			interventions += cache_of(t, 0, CACHE_INTERVENTIONS);
			invalidations += cache_of(t, 0, CACHE_INVALIDATIONS);
			upgrades += cache_of(t, 0, CACHE_UPGRADES);
			coherence += cache_of(t, 0, CACHE_COHERENCE_MISSES);
			of_false += cache_of(t, 0, CACHE_FALSE_SHARING_MISSES);
			misses += cache_misses(t, 0);
			behind += cache_misses(t, 1);
		}
		cold = misses - interventions; /* by no other core's copy */
		check(&f, interventions, expected_bounces, "interventions", threads, times, quantum, apart);
		check(&f, invalidations, expected_bounces, "invalidations", threads, times, quantum, apart);
		check(&f, upgrades, expected_bounces, "upgrades", threads, times, quantum, apart);
		check(&f, cold, lines, "cold misses", threads, times, quantum, apart);
		check(&f, behind, lines, "misses of the shared level", threads, times, quantum, apart);
		check(&kinds, coherence, expected_coherence, "coherence misses", threads, times, quantum, apart);
		check(&kinds, of_false, apart ? expected_coherence : 0, "by false sharing", threads, times, quantum, apart);
		off();
	}
	conclude(&f);
	conclude(&kinds);
}

int main(void)
{
	linear();
	loop();
	icache();
	array();
	thrash(false);
	thrash(true);
	misaligned();
	convolution();
#ifdef SANITIZED
	adi_sweeps(11);
#else
	adi_sweeps(1);
#endif
	adi_tuned();
	search();
	false_sharing();
	return done();
}
