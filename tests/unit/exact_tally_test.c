/* From a record to counts and basic blocks: records written by hand, truths beside them. */
#include <stdio.h>
#include <string.h>

#include "backend/engine/blocks.h"
#include "backend/engine/events.h"
#include "backend/engine/syscalls.h"
#include "backend/engine/tally.h"
#include "tap.h"
#include "unit/exact_record.h"

/*
 * 0x1000: xor %eax,%eax           31 c0            a: entered at 0x1000
 * 0x1002: mov (%rdi),%rcx         48 8b 0f
 * 0x1005: rep movsb               f3 a4            (site)
 * 0x1007: dec %ecx                ff c9            b
 * 0x1009: jnz 0x1002              75 f7
 * 0x100b: ret                     c3               c
 */
static const uint8_t code[] = {0x31, 0xc0, 0x48, 0x8b, 0x0f, 0xf3, 0xa4, 0xff, 0xc9, 0x75, 0xf7, 0xc3};

/* blocks: 0 a at 0x1000 (3 insns, counter 0, site 1); 1 b (2 insns, counter 2, taken 3); 2 from 0x1002 (2 insns, counter 4, site 5);
 * 3 c (1, counter 6) */
// clang-format off: a table, a row a line
static const struct record_block four[] = {
	{.address = 0x1000,
	 .code = 0,
	 .length_bytes = 7,
	 .insns = 3,
	 .counter = 0,
	 .taken = RECORD_NONE,
	 .module = 0,
	 .flags = 1},
	{.address = 0x1007,
	 .code = 7,
	 .length_bytes = 4,
	 .insns = 2,
	 .counter = 2,
	 .taken = 3,
	 .module = 0,
	 .flags = 0},
	{.address = 0x1002,
	 .code = 2,
	 .length_bytes = 5,
	 .insns = 2,
	 .counter = 4,
	 .taken = RECORD_NONE,
	 .module = 0,
	 .flags = 1},
	{.address = 0x100b,
	 .code = 11,
	 .length_bytes = 1,
	 .insns = 1,
	 .counter = 6,
	 .taken = RECORD_NONE,
	 .module = 0,
	 .flags = 1},
};
// clang-format on
static const struct record_site two_sites[] = {
	{.block = 0, .insn = 2, .kind = RECORD_SITE_ITERATIONS, .counter = 1},
	{.block = 2, .insn = 1, .kind = RECORD_SITE_ITERATIONS, .counter = 5},
};
static const struct record_module one_module = {
	.address = 0x1000, .length = 0x1000, .file_offset = 0x200, .path = "/a\tb"};

static uint32_t image(struct hand *h, uint32_t parent)
{
	uint32_t index = hand_process(h, parent, false);
	struct record_process *p = injection_process(h->injection, index);
	p->blocks = hand_area(h, four, sizeof *four, 4, 0);
	p->code = hand_area(h, code, 1, sizeof code, 0);
	p->sites = hand_area(h, two_sites, sizeof *two_sites, 2, 0);
	p->modules = hand_area(h, &one_module, sizeof one_module, 1, 0);
	return index;
}

/* By the vectors of blocks, and, without basic blocks, by the shapes of instructions. */
static struct tally *tally_of(struct hand *h, bool children, struct view **view)
{
	struct tally_options options = {.children = children, .blocks = true, .code_lines = true};
	struct tally *tally = NULL, *by_shapes = NULL;
	if (!view_new(h->injection, view, &h->err) || !tally_new(*view, &options, &tally, &h->err))
		printf("# %s\n", h->err.text);
	options.blocks = false;
	bool same = tally && tally_new(*view, &options, &by_shapes, &h->err) && !tally->why == !by_shapes->why;
	for (unsigned c = 0; same && c < COUNTS; c++)
		same = c == COUNT_BASIC_BLOCKS || (!tally->unknown[c] == !by_shapes->unknown[c] &&
						   (tally->why || tally->total[c] == by_shapes->total[c]));
	ok(same, "a record has the same counts by vectors of blocks and by shapes of instructions");
	tally_free(by_shapes);
	return tally;
}

/* 1 time through a, 4 rounds more: counters of one thread */
static const uint64_t once[8] = {1, 10, 5, 4, 4, 40, 1, 0};

static void test_counts(void)
{
	struct hand h = hand_new();
	struct view *view;
	uint32_t index = image(&h, RECORD_NONE);
	hand_thread(&h, index, 7, once, 8);
	struct tally *t = tally_of(&h, true, &view);
	if (ok(t && !t->why, "a sound record has a tally")) {
		equal_u64(t->total[COUNT_INSTRUCTIONS], 3 + 5 * 2 + 4 * 2 + 1,
			  "instructions are counts times lengths");
		equal_u64(t->total[COUNT_LOADS], 5 + 5 + 1,
			  "a rep that loads is one load each time it runs; ret loads too");
		equal_u64(t->total[COUNT_ITERATIONS], 50, "rep iterations come from the sites");
		equal_u64(t->total[COUNT_REP], 5, "a rep instruction is one instruction");
		equal_u64(t->total[COUNT_READS], 5 + 50 + 1, "a rep reads once an iteration");
		equal_u64(t->total[COUNT_WRITE_BYTES], 50, "a rep movsb writes one byte an iteration");
		equal_u64(t->total[COUNT_CONDITIONAL], 5, "conditional branches are counted");
		equal_u64(t->total[COUNT_TAKEN], 4, "taken branches are counted");
		equal_u64(t->total[COUNT_RETURNS], 1, "returns are counted");
		/* a runs over the leader 0x1002: two blocks; four rounds from there; the return */
		equal_u64(t->total[COUNT_BASIC_BLOCKS], 2 + 4 + 1,
			  "blocks are counted at leaders, also those in the middle of a run");
		equal_u64(t->total[COUNT_CODE_LINES], 1, "code lines are distinct");
		equal_u64(t->total[COUNT_CODE_PAGES], 1, "code pages are distinct");
	}
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

static void test_threads(void)
{
	struct hand h = hand_new();
	struct view *view;
	uint64_t twice[8] = {2, 20, 10, 8, 8, 80, 2, 0};
	uint32_t index = image(&h, RECORD_NONE);
	hand_thread(&h, index, 7, once, 8);
	hand_thread(&h, index, 8, twice, 8);
	struct tally *t = tally_of(&h, true, &view);
	if (ok(t && !t->why && t->n_rows == 2, "every thread has a row")) {
		equal_u64(t->rows[0].tid, 7, "rows are in the order of the threads' starts");
		equal_u64(t->rows[0].count[COUNT_INSTRUCTIONS], 22, "a row counts its thread's instructions");
		equal_u64(t->rows[1].count[COUNT_INSTRUCTIONS], 44, "a second row counts its own");
		equal_u64(t->total[COUNT_INSTRUCTIONS], 66, "the whole is the sum over threads");
	}
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

/* A process of two threads, of which one execs: three rows of a record, of which two are one thread's. */
static struct tally *joined(struct hand *h, bool threads, struct view **view)
{
	*h = hand_new();
	uint32_t first = image(h, RECORD_NONE);
	hand_thread(h, first, 7, once, 8);
	hand_thread(h, first, 8, once, 8);
	injection_process(h->injection, first)->state = RECORD_EXECED;
	uint32_t second = image(h, first);
	injection_process(h->injection, second)->pid = injection_process(h->injection, first)->pid;
	hand_thread(h, second, 7, once, 8);
	struct tally *t = tally_of(h, true, view);
	return t && tally_join(t, threads, 0) ? t : NULL;
}

static void test_joined(void)
{
	struct hand h;
	struct view *view;
	struct tally *t = joined(&h, true, &view);
	if (ok(t && t->n_rows == 2 && t->rows[0].tid == 7 && t->rows[1].tid == 8,
	       "rows of threads are as many as threads")) {
		equal_u64(t->rows[0].count[COUNT_INSTRUCTIONS], 44,
			  "a thread that execs has one row for all that it ran");
		equal_u64(t->rows[1].count[COUNT_INSTRUCTIONS], 22, "… and nothing of another's");
	}
	tally_free(t), view_free(view), hand_free(&h);
	t = joined(&h, false, &view);
	if (ok(t && t->n_rows == 1, "rows of processes are as many as processes"))
		equal_u64(t->rows[0].count[COUNT_INSTRUCTIONS], 66, "… with all that their threads ran");
	tally_free(t), view_free(view), hand_free(&h);
}

static void test_nothing(void)
{
	struct hand h = hand_new();
	struct view *view;
	struct tally *t = tally_of(&h, true, &view);
	ok(t && t->why && strstr(t->why, "no record of the program"),
	   "a record without any process is not a count of 0: %s", t && t->why ? t->why : "no reason");
	tally_free(t), view_free(view), hand_free(&h);
}

/*
 * What the processor's state decides (engine/x86/xstate.h), of instructions that this machine may not have. Each ends its block; its counter has
 * bytes, or operations.
 */
static const uint8_t state_code[] = {
	0x0f, 0xae, 0x27,                   /* 0  xsave (%rdi) */
	0x0f, 0xc7, 0x27,                   /* 3  xsavec (%rdi) */
	0x0f, 0xae, 0x2f,                   /* 6  xrstor (%rdi) */
	0x0f, 0xae, 0x07,                   /* 9  fxsave (%rdi): without a counter */
	0xc4, 0xe2, 0x7b, 0x4b, 0x04, 0x37, /* 12 tileloadd (%rdi,%rsi), %tmm0 */
	0xc4, 0xe2, 0x7a, 0x4b, 0x04, 0x37, /* 18 tilestored %tmm0, (%rdi,%rsi) */
	0xc4, 0xe2, 0x6a, 0x5c, 0xc1,       /* 24 tdpbf16ps %tmm2, %tmm1, %tmm0 */
};

static uint32_t state_image(struct hand *h, unsigned sites_known)
{
	static const uint8_t at[] = {0, 3, 6, 9, 12, 18, 24, sizeof state_code};
	struct record_block blocks[7];
	struct record_site sites[7];
	unsigned n_sites = 0;
	for (uint32_t i = 0; i < 7; i++) {
		// clang-format off: a table, a row a line
		blocks[i] = (struct record_block){.address = 0x1000 + at[i],
						  .code = at[i],
						  .length_bytes = (uint16_t)(at[i + 1] - at[i]),
						  .insns = 1,
						  .counter = 2 * i,
						  .taken = RECORD_NONE,
						  .module = 0,
						  .flags = 1};
		// clang-format on
		if (at[i] != 9 && n_sites < sites_known)
			sites[n_sites++] = (struct record_site){
				.block = i, .insn = 0, .kind = RECORD_SITE_AMOUNT, .counter = 2 * i + 1};
	}
	uint32_t index = hand_process(h, RECORD_NONE, false);
	struct record_process *p = injection_process(h->injection, index);
	p->blocks = hand_area(h, blocks, sizeof *blocks, 7, 0);
	p->code = hand_area(h, state_code, 1, sizeof state_code, 0);
	p->sites = hand_area(h, sites, sizeof *sites, n_sites, 0);
	p->modules = hand_area(h, &one_module, sizeof one_module, 1, 0);
	return index;
}

static void test_state(void)
{
	struct view *view;
	/* 2 xsave of 680 bytes, 3 xsavec of 280, 4 xrstor of 324, 5 fxsave, 1000 loads and 10 stores of whole tiles, 1000 products of them */
	static const uint64_t counters[14] = {2, 2 * 680, 3,       3 * 280, 4,     4 * 324, 5,
					      0, 1000,    1024000, 10,      10240, 1000,    16384000};
	struct hand h = hand_new();
	hand_thread(&h, state_image(&h, 7), 7, counters, 14);
	struct tally *t = tally_of(&h, true, &view);
	if (ok(t && !t->why, "a record with amounts has a tally")) {
		equal_u64(t->total[COUNT_FP_OPERATIONS], 16384000,
			  "1,000 tdpbf16ps of whole tiles are 16,384,000 FP operations");
		equal_u64(t->total[COUNT_HALF_OPERATIONS], 16384000, "… of half precision");
		equal_u64(t->total[COUNT_SINGLE_OPERATIONS] + t->total[COUNT_DOUBLE_OPERATIONS], 0,
			  "… and of no other");
		equal_u64(t->total[COUNT_READ_BYTES], 2 * 8 + 4 * 324 + 1024000,
			  "xsave reads a word of its header, xrstor and a load of a tile what they read");
		equal_u64(t->total[COUNT_WRITE_BYTES], 2 * 680 + 3 * 280 + 5 * 416 + 10240,
			  "saves and a store of a tile write what they wrote, fxsave 416 bytes");
		equal_u64(t->total[COUNT_READS], 2 + 4 + 1000, "each is one read …");
		equal_u64(t->total[COUNT_WRITES], 2 + 3 + 5 + 10, "… or write, and xsave both");
		equal_u64(t->total[COUNT_ITERATIONS], 0, "bytes are no iterations");
		ok(!t->unknown[COUNT_READ_BYTES] && !t->unknown[COUNT_FP_OPERATIONS], "all of it is known");
	}
	tally_free(t);
	view_free(view);
	hand_free(&h);
	h = hand_new();
	hand_thread(&h, state_image(&h, 3), 7, counters, 14); /* the record was full: the tiles have no counters */
	t = tally_of(&h, true, &view);
	if (ok(t && !t->why, "a record without some of the counters has a tally")) {
		ok(t->unknown[COUNT_READ_BYTES] && t->unknown[COUNT_WRITE_BYTES] &&
			   t->unknown[COUNT_FP_OPERATIONS] && t->unknown[COUNT_HALF_OPERATIONS],
		   "bytes and operations that nobody counted are not known: not counted, not 0");
		ok(!t->unknown[COUNT_READS] && !t->unknown[COUNT_INSTRUCTIONS] &&
			   t->total[COUNT_READS] == 2 + 4 + 1000,
		   "what the code tells is known as ever");
	}
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

static void test_fork(void)
{
	struct hand h = hand_new();
	struct view *view;
	uint32_t parent = image(&h, RECORD_NONE);
	/* the child inherits blocks 0 and 1 of four, and translates `ret` anew as its number 2 */
	// clang-format off: a table, a row a line
	struct record_block own = {.address = 0x100b,
				   .code = 0,
				   .length_bytes = 1,
				   .insns = 1,
				   .counter = 4,
				   .taken = RECORD_NONE,
				   .module = 0,
				   .flags = 1};
	// clang-format on
	uint64_t counters[6] = {3, 30, 3, 0, 3, 0};
	hand_thread(&h, parent, 7, once, 8);
	uint32_t child = hand_process(&h, parent, true);
	struct record_process *p = injection_process(h.injection, child);
	p->blocks = hand_area(&h, &own, sizeof own, 1, 2);
	p->code = hand_area(&h, code + 11, 1, 1, 0);
	p->sites = hand_area(&h, two_sites, sizeof *two_sites, 0, 1);
	p->modules = hand_area(&h, &one_module, sizeof one_module, 0, 1);
	hand_thread(&h, child, 9, counters, 6);
	struct tally *t = tally_of(&h, true, &view);
	if (ok(t && !t->why && t->n_rows == 2, "a forked child has a row of its own")) {
		equal_u64(t->rows[1].count[COUNT_INSTRUCTIONS], 3 * 3 + 3 * 2 + 3,
			  "a child counts inherited blocks and its own");
		equal_u64(t->rows[1].count[COUNT_ITERATIONS], 30, "inherited rep instructions have their sites");
		equal_u64(t->rows[0].count[COUNT_INSTRUCTIONS], 22, "its parent keeps its own counts");
		struct blocks *b = NULL;
		ok(blocks_new(view, true, BLOCKS_TOGETHER, &b, &h.err) && !b->why &&
			   b->instructions == t->total[COUNT_INSTRUCTIONS],
		   "blocks of parent and child add up to the instructions");
		blocks_free(b);
	}
	tally_free(t);
	view_free(view);
	t = tally_of(&h, false, &view);
	if (ok(t && !t->why && t->n_rows == 1, "without children only the first program counts"))
		equal_u64(t->total[COUNT_INSTRUCTIONS], 22, "a child's instructions are not in it");
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

static void test_exec(void)
{
	struct hand h = hand_new();
	struct view *view;
	uint32_t first = image(&h, RECORD_NONE);
	hand_thread(&h, first, 7, once, 8);
	injection_process(h.injection, first)->state = RECORD_EXECED;
	uint32_t second = image(&h, first);
	hand_thread(&h, second, 7, once, 8);
	struct tally *t = tally_of(&h, false, &view);
	ok(t && !t->why, "a program that replaced itself is sound");
	equal_u64(t ? t->total[COUNT_INSTRUCTIONS] : 0, 44, "what it became counts, even without children");
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

static void test_corrections(void)
{
	struct hand h = hand_new();
	struct view *view;
	uint32_t index = image(&h, RECORD_NONE);
	/* the load of block 2 faulted once: of its 2 instructions none ran; it was entered once more */
	struct record_correction cut = {.block = 2, .done = 0, .tid = 7, .times = 1};
	hand_thread(&h, index, 7, once, 8);
	injection_process(h.injection, index)->corrections = hand_area(&h, &cut, sizeof cut, 1, 0);
	struct tally *t = tally_of(&h, true, &view);
	if (ok(t && !t->why, "a record with corrections is sound")) {
		equal_u64(t->total[COUNT_INSTRUCTIONS], 20, "instructions that did not run are taken away");
		equal_u64(t->total[COUNT_LOADS], 9, "so are their loads");
		equal_u64(t->total[COUNT_BASIC_BLOCKS], 6, "a block that did not begin is not counted");
		struct blocks *b = NULL;
		ok(blocks_new(view, true, BLOCKS_BY_THREAD, &b, &h.err) && !b->why && b->instructions == 20,
		   "blocks follow the corrections");
		blocks_free(b);
	}
	tally_free(t);
	view_free(view);
	cut.times = 100;
	hand_write(&h, injection_process(h.injection, index)->corrections.offset, &cut, sizeof cut);
	t = tally_of(&h, true, &view);
	ok(t && t->why, "more corrections than executions are not exact");
	tally_free(t);
	view_free(view);
	cut = (struct record_correction){.block = 9, .done = 0, .tid = 7, .times = 1};
	hand_write(&h, injection_process(h.injection, index)->corrections.offset, &cut, sizeof cut);
	t = tally_of(&h, true, &view);
	ok(t && t->why, "a correction of a block that is not there is not exact");
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

static void test_fall(void)
{
	struct hand h = hand_new();
	struct view *view;
	uint32_t index = image(&h, RECORD_NONE);
	struct record_block block = four[1];
	struct record_correction cut = {.block = 1, .done = 1, .tid = 7, .times = 2};
	uint64_t counters[8] = {
		1, 10, 7, 1,
		4, 40, 1, 0}; /* the branch's block: entered 7 times, left early twice, fallen through once */
	block.flags |= RECORD_BLOCK_COUNTS_FALL;
	hand_write(&h, injection_process(h.injection, index)->blocks.offset + sizeof block, &block, sizeof block);
	hand_thread(&h, index, 7, counters, 8);
	injection_process(h.injection, index)->corrections = hand_area(&h, &cut, sizeof cut, 1, 0);
	struct tally *t = tally_of(&h, true, &view);
	if (ok(t && !t->why, "a branch that counts its fall-through is sound")) {
		equal_u64(t->total[COUNT_CONDITIONAL], 5, "branches that were not reached are not counted");
		equal_u64(t->total[COUNT_TAKEN], 4, "taken is entered, less left early, less fallen through");
	}
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

static void test_follows(void)
{
	struct hand h = hand_new();
	struct view *view;
	uint32_t index = image(&h, RECORD_NONE);
	/* block 1 (the branch) is entered from block 0 only, block 3 (ret) from block 1 when it falls through */
	struct record_block b[4];
	struct record_correction cut = {.block = 0, .done = 1, .tid = 7, .times = 2};
	uint64_t counters[8] = {
		10, 100, 999, 6,
		0,  0,   999, 0}; /* entered 10 times, left early twice; taken 6 times; 999: no counters */
	memcpy(b, four, sizeof b);
	b[1].counter = 0, b[1].flags |= RECORD_BLOCK_FOLLOWS;
	b[3].counter = 1, b[3].flags |= RECORD_BLOCK_FOLLOWS;
	hand_write(&h, injection_process(h.injection, index)->blocks.offset, b, sizeof b);
	hand_thread(&h, index, 7, counters, 8);
	injection_process(h.injection, index)->corrections = hand_area(&h, &cut, sizeof cut, 1, 0);
	struct tally *t = tally_of(&h, true, &view);
	if (ok(t && !t->why, "blocks that follow others are sound")) {
		equal_u64(t->total[COUNT_CONDITIONAL], 8,
			  "a block that follows is entered as often as the one before was left");
		equal_u64(t->total[COUNT_RETURNS], 2, "behind a branch, as often as it went the other way");
		equal_u64(t->total[COUNT_INSTRUCTIONS], 10 * 3 - 2 * 2 + 8 * 2 + 2,
			  "and all their instructions are counted");
	}
	tally_free(t);
	view_free(view);
	b[1].counter = 3; /* a later one */
	hand_write(&h, injection_process(h.injection, index)->blocks.offset, b, sizeof b);
	t = tally_of(&h, true, &view);
	ok(t && t->why, "a block that follows a later one is not exact");
	tally_free(t);
	view_free(view);
	b[1].counter = 0;
	hand_write(&h, injection_process(h.injection, index)->blocks.offset, b, sizeof b);
	cut.times = 11;
	hand_write(&h, injection_process(h.injection, index)->corrections.offset, &cut, sizeof cut);
	t = tally_of(&h, true, &view);
	ok(t && t->why, "a block left more often than it was entered is not exact");
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

/* Each of these must give a reason and read nothing outside. */
static void test_damage(void)
{
	// clang-format off: a table, a row a line
	static const char *const facts[] = {
		"a process that was killed is not exact",
		"a process that still runs is not exact",
		"the runtime's own reason makes it inexact",
		"bytes that do not decode are not exact",
		"a block longer than the code area is not exact",
		"more inherited blocks than the parent has are not exact",
		"an area larger than its room is not exact",
		"an area outside the file is not exact",
		"a parent that is no process is not exact",
		"a count beyond 64 bits is not exact",
		"a ring of threads is not exact",
	};
	// clang-format on
	for (unsigned damage = 0; damage < sizeof facts / sizeof *facts; damage++) {
		struct hand h = hand_new();
		struct view *view;
		uint32_t index = image(&h, RECORD_NONE);
		uint64_t counters[8];
		memcpy(counters, once, sizeof counters);
		if (damage == 9)
			counters[0] = UINT64_MAX / 2;
		hand_thread(&h, index, 7, counters, 8);
		struct record_process *p = injection_process(h.injection, index);
		struct record_block block = four[0];
		uint64_t first = p->first_thread;
		switch (damage) {
		case 0:
			p->state = RECORD_RUNNING;
			p->pid = 0x7ffffffe;
			break;
		case 1:
			p->state = RECORD_RUNNING;
			p->pid = (uint32_t)getpid();
			break;
		case 2:
			p->inexact = 1;
			strcpy(p->reason, "because");
			break;
		case 3: hand_write(&h, p->code.offset, "\x06", 1); break; /* push es: not in 64-bit mode */
		case 4:
			block.code = 10;
			hand_write(&h, p->blocks.offset, &block, sizeof block);
			break;
		case 5:
			p->blocks.inherited = 2;
			p->forked = 1;
			break;
		case 6: p->blocks.count = 1000; break;
		case 7: p->blocks.offset = UINT64_MAX & ~4095ull; break;
		case 8: p->parent = 5; break;
		case 10: hand_write(&h, first, &first, sizeof first); break;
		default: break;
		}
		struct tally *t = tally_of(&h, true, &view);
		ok(t && t->why, "%s (%s)", facts[damage], t && t->why ? t->why : "no reason");
		if (damage == 2 && t && t->why)
			ok(strstr(t->why, "because") != NULL, "the reason is the runtime's");
		for (int e = 0; t && e < 3; e++)
			ok(exact_event_unknown(exact_event_at((size_t)e), t) != NULL, "then no event has a count");
		tally_free(t);
		view_free(view);
		hand_free(&h);
	}
}

/* Numbers that would keep the reader busy for minutes, or out of memory, if they were believed. */
static void test_claims(void)
{
	static const char *const facts[] = {
		"more blocks than the engine has numbers for are damage, and are not gone through",
		"thousands of entries that claim the same bytes are damage",
		"more counters than the engine gives a thread are damage",
		"threads whose counters are the same bytes are damage"};
	static const uint8_t nops[1 << 20] = {0x90};
	for (unsigned damage = 0; damage < sizeof facts / sizeof *facts; damage++) {
		struct hand h = hand_new();
		struct view *view;
		uint32_t index = image(&h, RECORD_NONE);
		struct record_process *p = injection_process(h.injection, index);
		struct record_thread thread;
		hand_thread(&h, index, 7, once, 8);
		if (damage == 3)
			hand_thread(&h, index, 8, once, 8);
		uint64_t first = p->first_thread;
		if (pread(injection_fd(h.injection), &thread, sizeof thread, (off_t)first) !=
		    (ssize_t)sizeof thread)
			abort();
		switch (damage) {
		case 0:
			p->blocks.count = 1u << 31;
			p->blocks.bytes = 1ull << 40;
			break;
		case 1: {
			struct record_area all = hand_area(&h, nops, 1, sizeof nops, 0);
			for (unsigned i = 0; i < 3000; i++)
				injection_process(h.injection, hand_process(&h, RECORD_NONE, false))->code = all;
			break;
		}
		case 2:
			thread.counters_most = UINT32_MAX;
			hand_write(&h, first, &thread, sizeof thread);
			break;
		default:
			thread.counters = thread.next - RECORD_PAGE;
			hand_write(&h, first, &thread, sizeof thread);
			break;
		}
		struct tally *t = tally_of(&h, true, &view);
		ok(t && t->why, "%s (%s)", facts[damage], t && t->why ? t->why : "no reason");
		tally_free(t);
		view_free(view);
		hand_free(&h);
	}
}

/* Programs run on while tare reads, and may write over all of it. */
static void test_copy(void)
{
	struct hand h = hand_new();
	struct view *view;
	struct tally *t = NULL;
	struct tally_options options = {.children = true, .blocks = true, .code_lines = true};
	uint32_t index = image(&h, RECORD_NONE);
	uint8_t over[4096];
	memset(over, 0xff, sizeof over);
	hand_thread(&h, index, 7, once, 8);
	bool made = view_new(h.injection, &view, &h.err);
	for (uint64_t at = RECORD_SPACE_OFFSET; at < injection_record(h.injection)->next_offset; at += sizeof over)
		hand_write(&h, at, over, sizeof over);
	memset(injection_process(h.injection, index), 0xff, sizeof(struct record_process));
	if (ok(made && tally_new(view, &options, &t, &h.err) && !t->why,
	       "what a view has read does not change any more"))
		equal_u64(t->total[COUNT_INSTRUCTIONS], 22, "and is counted as it was");
	tally_free(t);
	view_free(view);
	hand_free(&h);
	h = hand_new();
	ok(ftruncate(injection_fd(h.injection), 0) != 0, "nobody can cut the record under those who read it");
	struct record_process *p = injection_process(h.injection, image(&h, RECORD_NONE));
	strcpy(p->path, "/bin/\033[2Jname");
	p->inexact = 1;
	strcpy(p->reason, "the \a reason");
	t = tally_of(&h, true, &view);
	ok(t && t->why && strstr(t->why, "/bin/?[2Jname") && strstr(t->why, "the ? reason"),
	   "no control characters of the record reach a terminal");
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

static void test_ended_at_once(void)
{
	struct hand h = hand_new();
	struct view *view;
	uint32_t index = image(&h, RECORD_NONE), child = hand_process(&h, index, true);
	struct record_process *p = injection_process(h.injection, child);
	hand_thread(&h, index, 7, once, 8);
	p->state = RECORD_RESERVED, p->pid = 0x7ffffffe;
	struct tally *t = tally_of(&h, true, &view);
	ok(t && !t->why && t->total[COUNT_INSTRUCTIONS] == 22,
	   "a process killed before its first instruction counts 0, exactly");
	tally_free(t);
	view_free(view);
	p->pid = 0;
	t = tally_of(&h, true, &view);
	ok(t && t->why, "one of which nothing is known yet is not exact");
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

static void test_killed_waiting(void)
{
	// clang-format off: a table, a row a line
	static const struct {
		uint32_t state, call, waits;
		bool exact;
		const char *fact;
	} cases[] = {
		{RECORD_THREAD_RUNNING, 35, 1, true,
		 "a process killed while its only thread waits in a call is exact"},
		{RECORD_THREAD_RUNNING, 1, 0, false, "one killed in a call that may have done something is not"},
		{RECORD_THREAD_RUNNING, 0, 0, false, "nor is one killed in no call"},
		{RECORD_THREAD_EXITED, 35, 1, false, "nor one of whose threads none is there"},
	};
	// clang-format on
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hand h = hand_new();
		struct view *view;
		uint32_t index = image(&h, RECORD_NONE);
		struct record_process *p = injection_process(h.injection, index);
		struct record_thread thread;
		p->state = RECORD_RUNNING, p->pid = 0x7ffffffe; /* no such process */
		hand_thread(&h, index, 7, once, 8);
		if (pread(injection_fd(h.injection), &thread, sizeof thread, (off_t)p->first_thread) !=
		    (ssize_t)sizeof thread)
			abort();
		thread.state = cases[i].state, thread.call = cases[i].call, thread.waits = cases[i].waits;
		hand_write(&h, p->first_thread, &thread, sizeof thread);
		struct tally *t = tally_of(&h, true, &view);
		ok(t && !t->why == cases[i].exact, "%s", cases[i].fact);
		tally_free(t);
		view_free(view);
		hand_free(&h);
	}
}

static void test_rep_without_site(void)
{
	struct hand h = hand_new();
	struct view *view;
	uint32_t index = image(&h, RECORD_NONE);
	hand_thread(&h, index, 7, once, 8);
	injection_process(h.injection, index)->sites.count = 1;
	struct tally *t = tally_of(&h, true, &view);
	ok(t && !t->why, "a rep without a counter leaves the record exact");
	for (size_t i = 0; t && i < exact_event_count(); i++) {
		const struct exact_event *e = exact_event_at(i);
		if (!strcmp(e->name, "instructions"))
			ok(!exact_event_unknown(e, t), "instructions are known then");
		if (!strcmp(e->name, "data-accesses") || !strcmp(e->name, "rep-iterations"))
			ok(exact_event_unknown(e, t) != NULL, "%s is not", e->name);
	}
	tally_free(t);
	view_free(view);
	hand_free(&h);
}

static void test_blocks(void)
{
	struct hand h = hand_new();
	struct view *view;
	struct blocks *b = NULL;
	struct str text = {0};
	uint32_t index = image(&h, RECORD_NONE);
	hand_thread(&h, index, 7, once, 8);
	ok(view_new(h.injection, &view, &h.err) && blocks_new(view, true, BLOCKS_TOGETHER, &b, &h.err),
	   "blocks can be made");
	if (b) {
		blocks_write(b, BLOCKS_TOGETHER, &text);
		equal_text(text.text,
			   "module\toffset\tlength_bytes\tinstructions\tcount\n"
			   "/a\\tb\t0x200\t2\t1\t1\n" /* a up to the leader */
			   "/a\\tb\t0x202\t9\t4\t5\n" /* the loop: b is no leader, it follows a rep */
			   "/a\\tb\t0x20b\t1\t1\t1\n",
			   "runs are split at leaders only, joined over reps, and a module's name is escaped");
	}
	str_free(&text);
	blocks_free(b);
	view_free(view);
	hand_free(&h);
}

static void test_leader_of_equal_count(void)
{
	struct hand h = hand_new();
	struct view *view;
	struct blocks *b = NULL;
	const uint64_t straight[8] = {1, 10, 1, 0,
				      0, 0,  1, 0}; /* block 2 was entered by another process, say: never here */
	uint32_t index = image(&h, RECORD_NONE);
	hand_thread(&h, index, 7, straight, 8);
	if (ok(view_new(h.injection, &view, &h.err) && blocks_new(view, true, BLOCKS_TOGETHER, &b, &h.err) &&
		       b->count == 3,
	       "a leader splits a run even where the counts on both sides are equal"))
		ok(b->rows[1].offset == 0x202 && b->rows[1].insns == 4 && b->rows[1].count == 1, "at its place");
	blocks_free(b);
	view_free(view);
	hand_free(&h);
}

static void test_events(void)
{
	uint64_t count[COUNTS] = {0}, value;
	const struct exact_event *branches = NULL, *not_taken = NULL;
	for (size_t i = 0; i < exact_event_count(); i++) {
		if (!strcmp(exact_event_at(i)->name, "branches"))
			branches = exact_event_at(i);
		if (!strcmp(exact_event_at(i)->name, "conditional-not-taken"))
			not_taken = exact_event_at(i);
	}
	count[COUNT_CONDITIONAL] = UINT64_MAX;
	count[COUNT_RETURNS] = 1;
	ok(!exact_event_value(branches, count, &value), "a sum that does not fit has no value");
	count[COUNT_CONDITIONAL] = 3, count[COUNT_TAKEN] = 4;
	ok(!exact_event_value(not_taken, count, &value), "more taken than executed has no value");
	count[COUNT_TAKEN] = 1;
	ok(exact_event_value(not_taken, count, &value) && value == 2, "a difference has one");
}

static void test_table(void)
{
	struct error err;
	struct event_table *table = event_table_new(&err);
	size_t missing = 0, unknown = 0;
	for (size_t i = 0; table && i < event_table_count(table); i++) {
		struct event event = {.definition = event_table_at(table, i), .levels = LEVEL_USER};
		if ((event.definition->counted_by & COUNTED_BY_EXACT) && !exact_event_find(&event)) {
			printf("# no formula: %s\n", event.definition->name);
			missing++;
		}
	}
	for (size_t i = 0; table && i < exact_event_count(); i++) {
		const struct event_definition *d = event_table_find(table, exact_event_at(i)->name);
		if (!d || !(d->counted_by & COUNTED_BY_EXACT)) {
			printf("# not in data/events/ as exact: %s\n", exact_event_at(i)->name);
			unknown++;
		}
	}
	ok(table && missing == 0, "every event that data/events/ gives to the engine has a formula");
	ok(table && unknown == 0, "every formula's event is in data/events/");
	event_table_free(table);
}

/* A processor whose last extended leaf, and whose leaf 0x80000007, are planted. */
static uint32_t planted_last, planted_power;
static void planted_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	(void)sub;
	memset(out, 0, 4 * sizeof *out);
	if (leaf == 0x80000000)
		out[0] = planted_last;
	else if (leaf == 0x80000007)
		out[3] = planted_power;
	else
		out[3] = ~0u;
}

static void test_clock(void)
{
	planted_last = 0x80000008, planted_power = 1u << 8;
	ok(syscalls_clock_steady(planted_cpuid), "an invariant time stamp counter is a clock");
	planted_power = ~(1u << 8);
	ok(!syscalls_clock_steady(planted_cpuid), "one that may change its rate is not");
	planted_last = 0x80000006, planted_power = ~0u;
	ok(!syscalls_clock_steady(planted_cpuid), "nor is that of a processor which does not say so");
}

int main(void)
{
	test_clock();
	test_counts();
	test_threads();
	test_joined();
	test_nothing();
	test_state();
	test_fork();
	test_exec();
	test_corrections();
	test_fall();
	test_follows();
	test_damage();
	test_claims();
	test_copy();
	test_ended_at_once();
	test_killed_waiting();
	test_rep_without_site();
	test_blocks();
	test_leader_of_equal_count();
	test_events();
	test_table();
	return done();
}
