/* The cache models against counts worked out by hand, one option at a time. */
#include <stdlib.h>
#include <string.h>

#include "model_lab.h"

/* One private data cache in front of memory, 64-byte lines, LRU, write-back, write-allocate. */
static struct machine one_cache(uint32_t sets, uint32_t ways)
{
	// clang-format off: a table, a row a line
	struct machine machine = {.name = "lab",
				  .cores = 1,
				  .fetch_bytes = 16,
				  .seed = 1,
				  .n_caches = 1,
				  .first_instruction = MACHINE_NONE,
				  .first_data = 0,
				  .first_instruction_tlb = MACHINE_NONE,
				  .first_data_tlb = MACHINE_NONE};
	machine.caches[0] = (struct machine_cache){.name = "L1D",
						   .line_bytes = 64,
						   .sets = sets,
						   .ways = ways,
						   .holds = MACHINE_DATA,
						   .write_allocate = 1,
						   .next = MACHINE_NONE,
						   .rrip_bits = 2};
	// clang-format on
	return machine;
}

static struct machine two_caches(uint32_t sets1, uint32_t ways1, uint32_t sets2, uint32_t ways2)
{
	struct machine machine = one_cache(sets1, ways1);
	machine.n_caches = 2;
	machine.caches[1] = machine.caches[0];
	machine.caches[1].sets = sets2;
	machine.caches[1].ways = ways2;
	machine.caches[0].next = 1;
	return machine;
}

/* "r3 w0 r3": reads and writes of 8 bytes in line n; x7: a prefetch instruction */
static void play(struct lab *lab, unsigned core, const char *accesses)
{
	for (const char *p = accesses; *p;) {
		char what = *p++;
		uint64_t line = strtoull(p, (char **)&p, 10);
		model_access(lab->model, core, line * 64, 8,
			     what == 'w'   ? TRACE_WRITE
			     : what == 'x' ? TRACE_PREFETCH
					   : TRACE_READ,
			     0);
		while (*p == ' ')
			p++;
	}
}

/* What cache c counted after the accesses. */
static uint64_t after_all_with(const struct machine *machine, struct model_options options, const char *accesses,
			       unsigned c, enum model_cache_count what)
{
	struct lab lab;
	uint64_t count;
	lab_open_with(&lab, machine, options, 1);
	play(&lab, 0, accesses);
	count = lab.counts[0].cache[c][what];
	if (!conserves(&lab))
		count = UINT64_MAX;
	lab_close(&lab);
	return count;
}

static uint64_t after_all(const struct machine *machine, const char *accesses, unsigned c,
			  enum model_cache_count what)
{
	return after_all_with(machine, (struct model_options){0}, accesses, c, what);
}

static uint64_t misses_after(const struct machine *machine, const char *accesses)
{
	return after_all(machine, accesses, 0, CACHE_READ_MISSES) +
	       after_all(machine, accesses, 0, CACHE_WRITE_MISSES);
}

/* ---- by hand ---- */

static void replacement(void)
{
	struct machine machine = one_cache(1, 2);
	equal_u64(misses_after(&machine, "r0 r1 r0 r2 r0"), 3, "LRU of 2: 2 replaces 1, which is older than 0");
	equal_u64(misses_after(&machine, "r0 r1 r0 r2 r1"), 4, "LRU of 2: 1 is gone");
	machine.caches[0].replacement = REPLACE_FIFO;
	equal_u64(misses_after(&machine, "r0 r1 r0 r2 r1"), 3,
		  "FIFO of 2: 2 replaces 0, the first in, though just used");
	machine = one_cache(1, 4);
	machine.caches[0].replacement = REPLACE_PLRU;
	/* 0 1 2 3 fill ways 0 … 3; root points left, left node at way 0; 0 again: root right, right node at way 2 */
	equal_u64(misses_after(&machine, "r0 r1 r2 r3 r0 r4 r1 r3"), 5,
		  "PLRU of 4: after 0 1 2 3 0, 4 replaces 2");
	equal_u64(misses_after(&machine, "r0 r1 r2 r3 r0 r4 r2"), 6, "PLRU of 4: 2 is gone");
	machine.caches[0].replacement = REPLACE_SRRIP;
	/* inserted at 2; 0 hit: 0. 4: ages 0 2 2 2 → 1 3 3 3: way 1 */
	equal_u64(misses_after(&machine, "r0 r1 r2 r3 r0 r4 r0 r2 r3"), 5,
		  "SRRIP of 4: the line that was hit stays, 1 goes first");
	equal_u64(misses_after(&machine, "r0 r1 r2 r3 r0 r4 r1"), 6, "SRRIP of 4: 1 is gone");
	machine.caches[0].replacement = REPLACE_BRRIP;
	/* inserted at 3: 4 replaces way 0, 5 way 0 again */
	equal_u64(misses_after(&machine, "r0 r1 r2 r3 r4 r5 r1 r2 r3"), 6,
		  "BRRIP of 4: newcomers replace each other");
	machine = one_cache(1, 8);
	machine.caches[0].replacement = REPLACE_RANDOM;
	equal_u64(misses_after(&machine, "r0 r1 r2 r3 r4 r5 r6 r7 r0 r1 r2 r3 r4 r5 r6 r7"), 8,
		  "random: nothing is replaced while a way is free");
	machine = one_cache(3, 1);
	equal_u64(misses_after(&machine, "r0 r1 r2 r3 r1 r2 r0"), 5, "3 sets: 0 and 3 share one");
	machine = one_cache(1, 128);
	equal_u64(misses_after(&machine, "r5 r6 r7 r8 r5 r6 r7 r8"), 4, "128 ways are found by hash");
}

/* m lines, R sweeps over them: docs/closed-forms.md 1.4 */
static void sweeps(uint32_t sets, uint32_t ways, enum machine_replacement policy, unsigned m, uint64_t expected,
		   const char *fact)
{
	struct machine machine = one_cache(sets, ways);
	struct lab lab;
	machine.caches[0].replacement = policy;
	lab_open(&lab, &machine, 1);
	for (unsigned r = 0; r < 3; r++)
		for (unsigned i = 0; i < m; i++)
			model_access(lab.model, 0, 64ull * i, 4, TRACE_READ, 0);
	ok(conserves(&lab), "conserved: %s", fact);
	equal_u64(lab.counts[0].cache[0][CACHE_READ_MISSES], expected, fact);
	lab_close(&lab);
}

static void writes(void)
{
	struct machine machine = one_cache(1, 1);
	equal_u64(after_all(&machine, "w0 w0 r1 r0 r1", 0, CACHE_WRITE_BACKS), 1,
		  "write-back: once, when the dirty line leaves");
	machine.caches[0].write = WRITE_THROUGH;
	equal_u64(after_all(&machine, "w0 w0 r1", 0, CACHE_WRITE_BACKS), 0,
		  "write-through: nothing is written back");
	equal_u64(after_all(&machine, "w0 w0 r1", 0, CACHE_WRITES_THROUGH), 2,
		  "write-through: every store is handed on");
	machine.caches[0].write_allocate = 0;
	equal_u64(after_all(&machine, "w0 w0 r0 w0", 0, CACHE_BYPASSES), 2,
		  "no allocation: a store's miss is a bypass");
	equal_u64(after_all(&machine, "w0 w0 r0 w0", 0, CACHE_FILLS), 1, "no allocation: the read fills");

	machine = two_caches(1, 1, 4, 1);
	equal_u64(after_all(&machine, "w0 r1 r2", 1, CACHE_WRITES), 1, "a store's miss is a write access behind");
	equal_u64(after_all(&machine, "w0 r1 r4", 1, CACHE_WRITE_BACKS), 1,
		  "a write-back makes the line behind dirty");
	equal_u64(after_all(&machine, "w0 r4 r1", 1, CACHE_WRITE_BACKS_PASSED), 1,
		  "a write-back of a line that is not there is handed on");
	machine.caches[0].write = WRITE_THROUGH;
	equal_u64(after_all(&machine, "w0 w0", 1, CACHE_WRITES), 3,
		  "write-through with allocation: the line, then each store");
	machine = two_caches(1, 1, 4, 1);
	machine.caches[1].line_bytes = 32;
	equal_u64(after_all(&machine, "r0", 1, CACHE_READ_MISSES), 2,
		  "smaller lines behind are asked for one by one");
	machine.caches[1].line_bytes = 128;
	equal_u64(after_all(&machine, "r0 r1", 1, CACHE_READ_MISSES), 1, "larger lines behind hold the neighbour");
}

static void inclusion(void)
{
	struct machine machine = two_caches(1, 2, 2, 1);
	machine.caches[1].inclusion = INCLUSION_INCLUSIVE;
	/* 2 replaces 0 behind, and 0 is lost in front */
	equal_u64(after_all(&machine, "r0 r2 r0", 0, CACHE_READ_MISSES), 3,
		  "inclusive: what the level behind replaces is lost in front");
	equal_u64(after_all(&machine, "w0 r2", 0, CACHE_BACK_INVALIDATIONS), 1,
		  "inclusive: counted as a back-invalidation");
	equal_u64(after_all(&machine, "w0 r2", 1, CACHE_WRITE_BACKS), 1,
		  "inclusive: what was dirty in front goes to memory");
	machine.caches[1].inclusion = INCLUSION_NONE;
	equal_u64(after_all(&machine, "r0 r2 r0", 0, CACHE_READ_MISSES), 2, "neither: it stays in front");
	machine = two_caches(1, 1, 1, 2);
	machine.caches[1].inclusion = INCLUSION_EXCLUSIVE;
	equal_u64(after_all(&machine, "r0 r1 r2 r0 r1 r2", 1, CACHE_READ_MISSES), 3,
		  "exclusive: one line in front and two behind hold three");
	equal_u64(after_all(&machine, "r0 r1 r2 r3 r0", 1, CACHE_READ_MISSES), 5, "exclusive: not four");
	equal_u64(after_all(&machine, "w0 r1 r0 r1 r2 r3 r4", 1, CACHE_WRITE_BACKS), 1,
		  "exclusive: dirtiness moves with the line, written back once");
	equal_u64(after_all(&machine, "r0", 1, CACHE_FILLS), 0, "exclusive: a miss does not fill it");
}

static void victims(void)
{
	struct machine machine = one_cache(1, 1);
	machine.caches[0].victim_lines = 1;
	equal_u64(after_all(&machine, "r0 r1 r0 r1 r0", 0, CACHE_VICTIM_HITS), 3,
		  "a victim buffer of one line serves two in conflict");
	equal_u64(after_all(&machine, "r0 r1 r2 r0 r1 r2", 0, CACHE_VICTIM_HITS), 0, "but not three");
	equal_u64(after_all(&machine, "w0 r1 r2", 0, CACHE_WRITE_BACKS), 1,
		  "a dirty line is written back when it leaves the buffer");
	equal_u64(after_all(&machine, "w0 r1", 0, CACHE_WRITE_BACKS), 0, "not before");
}

static void prefetching(void)
{
	struct machine machine = one_cache(64, 4);
	struct lab lab;
	machine.caches[0].prefetch = PREFETCH_NEXT_LINE;
	machine.caches[0].prefetch_degree = 1;
	equal_u64(after_all(&machine, "r0 r1 r2 r3 r4 r5", 0, CACHE_READ_MISSES), 1,
		  "next line: a walk misses once");
	equal_u64(after_all(&machine, "r0 r1 r2 r3 r4 r5", 0, CACHE_PREFETCHES_USED), 5,
		  "next line: each of the others was prefetched");
	equal_u64(after_all(&machine, "r0 r1 r2 r3 r4 r5", 0, CACHE_PREFETCHES), 6,
		  "next line: and one more than that");
	equal_u64(after_all(&machine, "r0 r0 r0", 0, CACHE_PREFETCHES), 1,
		  "next line: hits on other lines trigger nothing");
	machine.caches[0].prefetch = PREFETCH_STRIDE;
	machine.caches[0].prefetch_entries = 16;
	equal_u64(after_all(&machine, "r0 r3 r6 r9 r12 r15", 0, CACHE_READ_MISSES), 3,
		  "stride 3: three misses teach it");
	equal_u64(after_all(&machine, "r0 r1 r3 r6 r10 r15", 0, CACHE_PREFETCHES), 0, "no stride: nothing");
	lab_open(&lab, &machine, 1);
	for (unsigned i = 0; i < 6; i++) { /* two instructions in turn */
		model_access(lab.model, 0, 64 * 2 * i, 4, TRACE_READ, 1);
		model_access(lab.model, 0, 64 * (1001 + 5 * i), 4, TRACE_READ, 2);
	}
	equal_u64(lab.counts[0].cache[0][CACHE_READ_MISSES], 6, "strides are each instruction's own");
	ok(conserves(&lab), "conserved with a stride prefetcher");
	lab_close(&lab);
	machine.caches[0].prefetch = PREFETCH_NONE;
	equal_u64(after_all(&machine, "x0 r0 r0", 0, CACHE_READ_MISSES), 0,
		  "a prefetch instruction brings the line in");
	equal_u64(after_all(&machine, "x0 r0 r0", 0, CACHE_READS), 2, "and is no access");
	equal_u64(after_all(&machine, "x0 r0 r0", 0, CACHE_PREFETCHES_USED), 1, "used once");
}

static void ordered(void)
{
	struct machine machine = one_cache(4, 1);
	const struct model_options orders = {.orders = 1};
	equal_u64(after_all_with(&machine, orders, "r0 r1 r2 r3 r4 r5", 0, CACHE_ORDERED_MISSES), 4,
		  "a walk up: in order from the third line on");
	equal_u64(after_all_with(&machine, orders, "r60 r59 r58 r57 r56 r55", 0, CACHE_ORDERED_MISSES), 4,
		  "a walk down likewise");
	equal_u64(after_all_with(&machine, orders, "r0 r2 r4 r6", 0, CACHE_ORDERED_MISSES), 2,
		  "each second line likewise");
	equal_u64(after_all_with(&machine, orders, "r0 r3 r6 r9 r12", 0, CACHE_ORDERED_MISSES), 0,
		  "but not each third");
	equal_u64(after_all_with(&machine, orders, "r10 r11 r10 r11 r10", 0, CACHE_ORDERED_MISSES), 0,
		  "to and fro: no order (and no misses after the second)");
	equal_u64(after_all_with(&machine, orders, "r10 r11 r12 r11 r16 r15 r14 r13", 0, CACHE_ORDERED_MISSES), 3,
		  "a jump and a turn are not in order, what follows them is");
	equal_u64(after_all_with(&machine, orders, "r61 r62 r63 r64 r65", 0, CACHE_ORDERED_MISSES), 3,
		  "into the next 64 lines: the walk goes on");
	equal_u64(after_all_with(&machine, orders, "r66 r65 r64 r63 r62", 0, CACHE_ORDERED_MISSES), 3,
		  "downwards, too");
	struct machine tiny = one_cache(1, 1);
	equal_u64(after_all_with(&tiny, orders, "r60 r61 r62 r63 r64 r67 r68 r60 r61 r62 r63 r64 r65", 0,
				 CACHE_ORDERED_MISSES),
		  7, "and what an earlier walk left there does not stop it");
	equal_u64(after_all_with(&machine, orders, "r40 r41 r42 r64 r65", 0, CACHE_ORDERED_MISSES), 1,
		  "not from the middle of them");
	equal_u64(after_all_with(&machine, orders, "r0 r1000 r1 r1001 r2 r1002", 0, CACHE_ORDERED_MISSES), 2,
		  "two walks in turns are two walks");
	equal_u64(after_all_with(&machine, orders, "r7 r90 r33 r250 r12 r77", 0, CACHE_ORDERED_MISSES), 0,
		  "no order: none");
	equal_u64(after_all(&machine, "r0 r1 r2 r3", 0, CACHE_ORDERED_MISSES), 0, "not asked for: not counted");
}

static void classes(void)
{
	struct machine machine = one_cache(2, 1);
	const struct model_options classify = {.classify = 1};
	equal_u64(after_all_with(&machine, classify, "r0 r2 r0", 0, CACHE_COMPULSORY), 2,
		  "first misses are compulsory");
	equal_u64(after_all_with(&machine, classify, "r0 r2 r0", 0, CACHE_CONFLICT), 1,
		  "two lines of one set out of two: conflict");
	equal_u64(after_all_with(&machine, classify, "r0 r1 r2 r0", 0, CACHE_CAPACITY), 1,
		  "three lines in a cache of two: capacity");
}

static void instructions(void)
{
	struct machine machine = one_cache(64, 2);
	struct lab lab;
	machine.first_instruction = 0;
	lab_open(&lab, &machine, 1);
	/* U(b, bytes, 64) = 4 lines of [100, 300), however it is cut */
	model_fetch(lab.model, 0, 100, 28, 0); /* ends at a line's end */
	model_fetch(lab.model, 0, 128, 100, 0);
	model_fetch(lab.model, 0, 228, 72, 0);
	equal_u64(lab.counts[0].cache[0][CACHE_FETCHES], 4,
		  "straight code fetches each line once, however it is cut");
	equal_u64(lab.counts[0].cache[0][CACHE_FETCH_MISSES], 4, "and misses each once");
	equal_u64(lab.counts[0].stream[STREAM_FETCH_BLOCKS], 13,
		  "and each fetch block of 16 bytes: 299 / 16 - 100 / 16 + 1");
	model_fetch(lab.model, 0, 260, 40, 0);
	equal_u64(lab.counts[0].cache[0][CACHE_FETCHES], 5, "a branch within the line is a new access");
	equal_u64(lab.counts[0].cache[0][CACHE_FETCH_MISSES], 4, "but no miss");
	lab_close(&lab);
}

/* ---- the trace ---- */

static void stream(void)
{
	// clang-format off: a table, a row a line
	const struct trace_item items[] = {
		{.kind = TRACE_READ, .bytes = 8, .value = 0, .displacement = 4, .second = TRACE_NO_VALUE},
		{.kind = TRACE_REP_READ, .bytes = 4, .value = 1, .second = 2, .insn = 1, .offset = 4},
		{.kind = TRACE_REP_WRITE, .bytes = 4, .value = 3, .second = 4, .insn = 1, .offset = 4},
		{.kind = TRACE_READ,
		 .bytes = 4,
		 .flags = TRACE_BIT,
		 .value = 0,
		 .second = 5,
		 .insn = 2,
		 .offset = 6},
		{.kind = TRACE_GATHER,
		 .bytes = 4,
		 .lanes = 4,
		 .index_bytes = 4,
		 .scale = 4,
		 .mask = TRACE_MASK_ELEMENTS,
		 .mask_at = 6,
		 .value = 0,
		 .second = 8,
		 .insn = 3,
		 .offset = 9},
		{.kind = TRACE_WRITE,
		 .bytes = 16,
		 .flags = TRACE_FS,
		 .value = TRACE_NO_VALUE,
		 .displacement = 0x28,
		 .insn = 4,
		 .offset = 12},
	};
	const struct trace_block blocks[] = {{.pc = 0x1000,
					      .items = 6,
					      .values = 10,
					      .length = 40,
					      .insns = 6,
					      .ending = TRACE_END_RETURN,
					      .ending_length = 1}};
	// clang-format on
	const struct trace_program program = {blocks, items};
	// clang-format off: a table, a row a line
	uint64_t entries[] = {0,
			      0x10000,
			      0x20002,
			      0x20002 + 400,
			      0x30000,
			      0x30000 + 400,
			      (uint64_t)-1,
			      0x8000000080000000,
			      0x80000000,
			      0xffffffff00000000,
			      0x7fff};
	// clang-format on
	struct machine machine = one_cache(64, 2);
	struct lab lab;
	uint64_t *s = lab.counts[0].stream;

	lab_open(&lab, &machine, 1);
	model_run(lab.model, 0, &program, entries, 11, 0x700000);
	equal_u64(s[STREAM_INSTRUCTIONS], 6, "a block's instructions");
	equal_u64(s[STREAM_READS], 1 + 100 + 1 + 3,
		  "reads: one, 100 iterations, a bit's word, three lanes of four");
	equal_u64(s[STREAM_WRITES], 100 + 1, "writes: 100 iterations and one to fs");
	equal_u64(s[STREAM_MISALIGNED_READS], 101,
		  "misaligned reads: at 4 of 8 bytes, and the 100 of rep movs at 2 mod 4");
	equal_u64(s[STREAM_MISALIGNED_WRITES], 1, "a misaligned write at fs:0x28 of 16 bytes");
	equal_u64(s[STREAM_LINE_CROSSING_READS], 6, "(2 + 400 - 1) / 64 lines' ends are crossed");
	/* lines: 0x10000; 0x20000 + 7; 0x30000 + 7 (7 lines of 400 bytes); 0xfffc (bit -1: the word before); lanes: indices 0, -1 masked?, … */
	ok(conserves(&lab), "conserved after rep, gather, bit and fs");
	equal_u64(lab.counts[0].cache[0][CACHE_READS], 105 + 6, "an access that crosses a line is one to each");
	entries[2] = 0x20002 + 396, entries[3] = 0x20002 - 4;
	entries[4] = 0x30000 + 396, entries[5] = 0x30000 - 4;
	model_run(lab.model, 0, &program, entries, 11, 0x700000);
	equal_u64(s[STREAM_WRITES], 202, "downwards: as many iterations");
	equal_u64(s[STREAM_LINE_CROSSING_READS], 12, "and crossings");
	lab_close(&lab);

	lab_open(&lab, &machine, 1);
	uint64_t partial[12] = {trace_mark(TRACE_PARTIAL, 1)};
	memcpy(partial + 1, entries, sizeof entries);
	partial[1 + 2] = 0x20000, partial[1 + 3] = 0x20000 + 40, partial[1 + 4] = 0x30000,
		    partial[1 + 5] = 0x30000 + 40;
	model_run(lab.model, 0, &program, partial, 12, 0);
	equal_u64(s[STREAM_INSTRUCTIONS], 1, "interrupted in its second instruction: one was executed");
	equal_u64(s[STREAM_READS], 11, "and 10 iterations of that rep instruction were made");
	equal_u64(s[STREAM_WRITES], 10, "written, too");
	lab_close(&lab);
}

int main(void)
{
	replacement();
	sweeps(8, 2, REPLACE_LRU, 20, 2 * 4 + 4 * 3 * 3,
	       "20 lines swept thrice over 8 sets of 2: the four sets that hold 3 thrash");
	sweeps(1, 40, REPLACE_LRU, 41, 123, "41 lines in 40 ways, hashed: LRU misses all");
	sweeps(1, 40, REPLACE_FIFO, 40, 40, "40 lines in 40 ways: only the first sweep misses");
	sweeps(12, 1, REPLACE_LRU, 12, 12, "12 sets are no power of two and hold 12 lines");
	writes();
	inclusion();
	victims();
	prefetching();
	ordered();
	classes();
	instructions();
	stream();
	return done();
}
