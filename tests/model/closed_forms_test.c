/*
 * The closed forms of the papers' kernels (docs/closed-forms.md, 1; the numbers of its items are in the facts), to the
 * last miss: streams are written as the kernels touch memory, parameters are random, and a form is to hold in
 * every case. Items 14 to 16: sweeps_test.c.
 */
#include "closed_forms.h"

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
	struct form f = {"1: straight-line code misses once a line and once a page, U(b,bytes,L) and U(b,bytes,P)",
			 0, 0};
	struct random r = {1};
	for (; f.cases < 300; f.cases++) {
		uint32_t line_bytes = random_line(&r);
		struct machine m = one_cache(line_bytes, 1 + (uint32_t)random_below(&r, 64),
					     1 + (uint32_t)random_below(&r, 4), MACHINE_INSTRUCTIONS);
		uint64_t b = 0x400000 + random_below(&r, 8192), bytes = 1 + random_below(&r, 60000);
		add_tlb(&m, 1, 1 + (uint32_t)random_below(&r, 64), MACHINE_INSTRUCTIONS);
		on(&m);
		execute(&r, b, bytes);
		check(&f, cache_misses(0, 0), U(b, bytes, line_bytes), "L1I misses", b, bytes, line_bytes, 0);
		check(&f, cache_of(0, 0, CACHE_FETCHES), U(b, bytes, line_bytes), "lines fetched", b, bytes,
		      line_bytes, 0);
		check(&f, tlb_misses(0), U(b, bytes, 4096), "ITLB misses", b, bytes, 0, 0);
		check(&f, sim.counts[0]->stream[STREAM_FETCH_BLOCKS], U(b, bytes, m.fetch_bytes), "fetch blocks",
		      b, bytes, 0, 0);
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
	struct form f = {"2: a loop of straight-line code: k·n instructions, n conditional branches, n - 1 "
			 "taken; its lines by the thrash law",
			 0, 0};
	struct random r = {2};
	for (; f.cases < 300; f.cases++) {
		uint32_t sets = 1 + (uint32_t)random_below(&r, 24), ways = 1 + (uint32_t)random_below(&r, 4),
			 line_bytes = random_line(&r);
		struct machine m = one_cache(line_bytes, sets, ways, MACHINE_INSTRUCTIONS);
		uint64_t n = 2 + random_below(&r, 60), entries[64], lines;
		struct trace_block block = {.pc = 0x400000 + random_below(&r, 4096),
					    .insns = (uint16_t)(1 + random_below(&r, 100)),
					    .ending = TRACE_END_CONDITIONAL,
					    .ending_length = 2};
		struct trace_program program = {&block, NULL};
		block.target = block.pc;
		block.length = (uint16_t)(block.insns * 4);
		m.direction = (struct machine_direction){.kind = PREDICT_TAKEN};
		on(&m);
		memset(entries, 0, sizeof(entries));
		model_run(sim.model, 0, &program, entries, n, 0);
		/* then on, behind it */
		entries[0] = trace_mark(TRACE_BREAK, 0);
		entries[1] = block.pc + block.length;
		model_run(sim.model, 0, &program, entries, 2, 0);
		lines = U(block.pc, block.length, line_bytes);
		check(&f, cache_misses(0, 0), thrash_law(lines, 1, sets, ways, n), "L1I misses", lines, sets, ways,
		      n);
		check(&f, cache_of(0, 0, CACHE_FETCHES), lines * n, "lines fetched", lines, n, 0, 0);
		check(&f, sim.counts[0]->stream[STREAM_INSTRUCTIONS], n * block.insns, "instructions", n,
		      block.insns, 0, 0);
		check(&f, sim.counts[0]->branch[BRANCH_CONDITIONAL], n, "conditional branches", n, 0, 0, 0);
		check(&f, sim.counts[0]->branch[BRANCH_TAKEN], n - 1, "taken branches", n, 0, 0, 0);
		check(&f, sim.counts[0]->branch[BRANCH_MISPREDICTED], 1, "mispredictions of always taken", n, 0, 0,
		      0);
		off();
	}
	conclude(&f);
}

static void icache(void)
{
	struct form f = {"9: 2^5 … 2^18 instructions: hits by fetch block are fetches - misses, by instruction I "
			 "- misses; Power3: I/8 - I/32",
			 0, 0};
	struct random r = {9};
	for (unsigned power = 5; power <= 18; power++)
		for (unsigned aligned = 0; aligned < 2; aligned++, f.cases++) {
			uint64_t n = 1ull << power,
				 b = 0x10000000 + (aligned ? 0 : 4 * (1 + random_below(&r, 1000))), misses,
				 fetches;
			struct machine m = one_cache(
				128, 2, 128, MACHINE_INSTRUCTIONS); /* POWER3: 32 KB, 128 ways of 128 bytes */
			struct trace_block *blocks = calloc(n / 8, sizeof(*blocks));
			uint64_t *entries = calloc(n / 8, sizeof(*entries));
			struct trace_program program = {blocks, NULL};
			for (uint64_t i = 0; i < n / 8; i++) {
				blocks[i] = (struct trace_block){.pc = b + 32 * i, .length = 32, .insns = 8};
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
			check(&f, fetches - misses, U(b, 4 * n, 32) - U(b, 4 * n, 128), "hits by fetch block", b,
			      n, 0, 0);
			check(&f, sim.counts[0]->stream[STREAM_INSTRUCTIONS] - misses, n - U(b, 4 * n, 128),
			      "hits by instruction", b, n, 0, 0);
			if (aligned)
				check(&f, fetches - misses, n / 8 - n / 32, "I/8 - I/32", b, n, 0, 0);
			off();
		}
	conclude(&f);
}

/* ---- 3: a[i] = a[i] + 1 ---- */

static void array(void)
{
	struct form f = {"3: a[i] = a[i] + 1 misses U(b,4N,L), writes back max(0, U - S·A) within the run, L2 "
			 "and DTLB U at theirs",
			 0, 0};
	struct random r = {3};
	for (; f.cases < 2000; f.cases++) {
		uint32_t line_bytes = random_line(&r), sets = 1 + (uint32_t)random_below(&r, 64),
			 ways = 1 + (uint32_t)random_below(&r, 8), wider;
		struct machine m = one_cache(line_bytes, sets, ways, MACHINE_DATA);
		uint64_t n = 1 + random_below(&r, random_in(&r, 4) ? 20000 : 1500),
			 b = 0x600000 + random_below(&r, 8192), lines;
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
		check(&f, cache_of(0, 0, CACHE_WRITE_BACKS), lines > sets * ways ? lines - sets * ways : 0,
		      "write-backs", b, n, sets, ways);
		check(&f, cache_misses(0, 1), U(b, 4 * n, wider), "L2 misses", b, n, wider, 0);
		check(&f, tlb_misses(0), U(b, 4 * n, 4096), "DTLB misses", b, n, 0, 0);
		off();
	}
	conclude(&f);
}

/* ---- 4: thrash ---- */

static void thrash(bool tlb)
{
	struct form f = {
		tlb ? "4: the same law for a TLB"
		    : "4: m addresses s lines apart, R sweeps: a set that holds c lines misses c, or c·R if c > A",
		0, 0};
	struct random r = {tlb ? 41 : 4};
	for (; f.cases < 3000; f.cases++) {
		uint32_t line_bytes = tlb ? 4096 : random_line(&r), sets = 1 + (uint32_t)random_below(&r, 48),
			 ways = 1 + (uint32_t)random_below(&r, 8);
		struct machine m = one_cache(tlb ? 64 : line_bytes, tlb ? 1 : sets, tlb ? 1 : ways, MACHINE_DATA);
		uint64_t stride = 1 + random_below(&r, 70), addresses = 1 + random_below(&r, 150),
			 sweeps = 1 + random_below(&r, 5), is;
		uint64_t b = 0x1000000 + random_below(&r, 1000) * line_bytes;
		if (tlb)
			add_tlb(&m, sets, ways, MACHINE_DATA);
		on(&m);
		for (uint64_t sweep = 0; sweep < sweeps; sweep++)
			for (uint64_t i = 0; i < addresses; i++)
				load(b + i * stride * line_bytes, 4);
		is = tlb ? tlb_misses(0) : cache_misses(0, 0);
		check(&f, is, thrash_law(addresses, stride, sets, ways, sweeps), "misses", addresses, stride, sets,
		      ways);
		off();
	}
	conclude(&f);
}

/* ---- 11: misaligned ---- */

static void misaligned(void)
{
	struct form f = {"11: N reads and writes of w bytes side by side: splits are floor((b+wN-1)/x) - "
			 "floor(b/x) unless w divides b; 2N misaligned",
			 0, 0};
	struct random r = {11};
	for (; f.cases < 4000; f.cases++) {
		uint32_t line_bytes = 16u << random_below(&r, 4), w = 1u << random_below(&r, 5);
		struct machine m = one_cache(line_bytes, 8, 2, MACHINE_DATA);
		uint64_t n = 1 + random_below(&r, 400), b = 0x700000 + random_below(&r, 8192), lines = 0,
			 lines_64 = 0, pages = 0;
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
		check(&f, s[STREAM_MISALIGNED_READS] + s[STREAM_MISALIGNED_WRITES], s[STREAM_MISALIGNED],
		      "misaligned, kind by kind", b, w, n, 0);
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

/*
 * Blocks: 0 the innermost loop's body with its branch, 1 the rows' branch, 2 the pixels' branch; top-tested: 3 … 5
 * the bodies' jumps back.
 */
static void convolve(unsigned k, uint64_t pixels, bool top_tested, const struct machine_direction *direction,
		     uint64_t *branches, uint64_t *mispredicted, uint64_t *later)
{
	struct machine m = one_cache(64, 64, 8, MACHINE_INSTRUCTIONS);
	enum { INNER, ROWS, PIXELS, INNER_BODY, ROWS_BODY, PIXELS_BODY, END, N };
	struct trace_block blocks[N];
	struct trace_program program = {blocks, NULL};
	uint64_t *entries = malloc(pixels * 4 * (k + 2) * (k + 2) * sizeof(*entries));
	size_t n = 0, half = 0;
	for (unsigned b = 0; b < N; b++)
		blocks[b] = (struct trace_block){.pc = 0x400000 + 16 * b,
						 .length = 16,
						 .insns = 4,
						 .ending_length = 2,
						 .ending = b <= PIXELS ? TRACE_END_CONDITIONAL
							   : b == END  ? TRACE_END_NONE
								       : TRACE_END_JUMP};
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
	struct machine_direction taken = {.kind = PREDICT_BIMODAL,
					  .counter_bits = 2,
					  .initial = 3,
					  .entries = 4096},
				 not_taken = taken;
	struct machine_direction history = {
		.kind = PREDICT_GSHARE, .counter_bits = 2, .initial = 2, .history_bits = 16, .entries = 65536};
	struct form f = {"13: a K×K convolution, 2-bit counters: K²+K+1 branches, K+1 mispredictions a pixel "
			 "bottom-tested; +2K+... top-tested",
			 0, 0};
	uint64_t branches, mispredicted, later, pixels = 1000;
	f.fact = "13: K×K convolution, 2-bit counters: K+1 mispredictions a pixel, of K²+K+1 branches "
		 "bottom-tested, of K²+2K+2 top-tested";
	not_taken.initial = 0;
	for (unsigned k = 2; k < 9; k++, f.cases++) {
		convolve(k, pixels, false, &taken, &branches, &mispredicted, &later);
		check(&f, branches, pixels * (k * k + k + 1), "bottom-tested branches", k, 0, 0, 0);
		check(&f, mispredicted, pixels * (k + 1) + 1, "bottom-tested mispredictions (and the last)", k, 0,
		      0, 0);
		convolve(k, pixels, true, &not_taken, &branches, &mispredicted, &later);
		check(&f, branches, pixels * (k * (k + 1) + k + 1 + 1) + 1, "top-tested branches (and the last)",
		      k, 0, 0, 0);
		check(&f, mispredicted, pixels * (k + 1) + 1, "top-tested mispredictions (and the last)", k, 0, 0,
		      0);
	}
	conclude(&f);
	convolve(3, pixels, false, &taken, &branches, &mispredicted, &later);
	ok(branches == 13 * pixels && mispredicted - 1 == 4 * pixels,
	   "13: a 3×3 convolution mispredicts 4 of 13 branches");
	convolve(3, pixels, true, &not_taken, &branches, &mispredicted, &later);
	ok(branches - 1 == 17 * pixels && mispredicted - 1 == 4 * pixels, "13: top-tested, 4 of 17");
	convolve(3, pixels, false, &history, &branches, &mispredicted, &later);
	equal_u64(later, 1,
		  "13: 16 bits of global history learn it: in the second half only the end is mispredicted");
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
	return done();
}
