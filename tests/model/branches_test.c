/*
 * Branches of whole programs, by model_run(): random blocks and walks through them, ordinary blocks and decided ones (model/core/fast/inline.h) in turns,
 * several cores of one model, threads that end and others that begin in their place, every kind of mark, buffers cut anywhere; against a
 * model without filters for each thread, which goes block by block and branch by branch. All counts are to be the same, and where counts of branches
 * are watched, each block's.
 *
 * Blocks share what makes it hard: the same place under several numbers, blocks that begin in another one and end with its branch, numbers that
 * want the same slot of the plans.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "declared.h"
#include "model/declare/check.h"
#include "model/core/fast/inline.h"
#include "model/core/fast/plan.h"
#include "tap.h"

enum { PLACES = 600, BLOCKS_MOST = 4 * PLACES, CORES = 3, NUMBERS_MOST = 3 * (int)PLAN_SLOTS, RECORDS = 1 << 14 };

struct blocks {
	struct trace_block *by_number; /* sparse */
	uint32_t numbers[BLOCKS_MOST], n;
	uint64_t
		taken[BLOCKS_MOST]; /* of a conditional one's outcomes, bits: the next ones that it has, in turn */
	uint32_t at_pc[4 * PLACES][4]; /* of blocks at the same place, indices + 1 */
	unsigned places;
	uint64_t pc[4 * PLACES];
};

struct thread {
	struct simulated alone;
	uint64_t stack[64], entries[RECORDS];
	unsigned depth, at; /* at: the block that is executed next */
	uint64_t turns[BLOCKS_MOST];
	size_t filled;
	bool lives;
};

struct trial {
	struct machine machine;
	struct blocks blocks;
	struct thread threads[CORES];
	struct simulated together;
	struct trace_program program;
	uint64_t branches;
	struct model_watch watches[MODEL_WATCHES];
	unsigned n_watches;
	uint64_t *charged[2],
		charges; /* [number * n_watches + w]: of all threads together; of each alone, summed up */
};

static unsigned place_of(struct blocks *b, uint64_t pc)
{
	unsigned i = 0;
	while (i < b->places && b->pc[i] != pc)
		i++;
	if (i == b->places)
		b->pc[b->places++] = pc;
	return i;
}

static void add(struct random *r, struct blocks *b, const struct trace_block *block)
{
	static const unsigned slots[] = {0, PLAN_SLOTS, 2 * PLAN_SLOTS};
	unsigned place = place_of(b, block->pc), same = 0;
	uint32_t number;
	while (same < 4 && b->at_pc[place][same])
		same++;
	if (same == 4 || b->n == BLOCKS_MOST)
		return;
	do {
		number = (uint32_t)(1 + random_below(r, 3000) + slots[random_below(r, 3)]);
	} while (b->by_number[number].length);
	b->by_number[number] = *block;
	b->numbers[b->n] = number;
	b->taken[b->n] = random_in(r, 2) ? random_in(r, 2) ? 0 : ~0ull : random_next(r);
	b->at_pc[place][same] = ++b->n;
}

/* Blocks side by side, so that each has one behind it. */
static void random_blocks(struct random *r, struct blocks *b, unsigned inlined)
{
	static struct trace_block block[PLACES];
	unsigned n = 8 + (unsigned)random_below(r, random_in(r, 3) ? PLACES - 8 : 40),
		 gap = random_in(r, 2) ? 0 : 1 + (unsigned)random_below(r, 3);
	uint64_t pc = 0x400000 + random_below(r, 4096);
	for (unsigned i = 0; i < n; i++) {
		static const uint8_t endings[] = {TRACE_END_CONDITIONAL,   TRACE_END_CONDITIONAL,
						  TRACE_END_CONDITIONAL,   TRACE_END_JUMP,
						  TRACE_END_CALL,          TRACE_END_RETURN,
						  TRACE_END_INDIRECT_JUMP, TRACE_END_INDIRECT_CALL,
						  TRACE_END_NONE,          TRACE_END_SYSTEM};
		uint8_t ending = i + 1 == n ? TRACE_END_JUMP : endings[random_below(r, random_in(r, 3) ? 10 : 4)];
		uint16_t length = (uint16_t)(8 + random_below(r, 60) + (gap == 3 ? 4096 : 0));
		// clang-format off: a table, a row a line
		block[i] = (struct trace_block){.pc = pc,
						.length = length,
						.insns = (uint16_t)(3 + random_below(r, 5)),
						.ending = ending,
						.ending_length = (uint8_t)(2 + random_below(r, 4))};
		// clang-format on
		if (random_in(r, 30)) /* too many for a plan */
			block[i].insns += 300, block[i].length = length += 1200;
		pc += length + (ending == TRACE_END_JUMP || ending == TRACE_END_RETURN ? gap : 0);
	}
	for (unsigned i = 0; i < n; i++) {
		bool direct = block[i].ending == TRACE_END_CONDITIONAL || block[i].ending == TRACE_END_JUMP ||
			      block[i].ending == TRACE_END_CALL;
		unsigned to = random_in(r, 3) ? i : (unsigned)random_below(r, n);
		if (direct)
			block[i].target = block[to].pc + (random_in(r, 4) ? 1 : 0);
	}
	for (unsigned i = 0; i < n; i++)
		for (unsigned again = 0; again < 3; again++) {
			struct trace_block copy = block[i];
			if (again && !random_in(r, 3))
				continue;
			if (again && copy.ending == TRACE_END_JUMP && random_in(r, 2)) /* the code is another */
				copy.ending = TRACE_END_INDIRECT_JUMP, copy.target = 0;
			copy.flags = random_below(r, 100) < inlined ? TRACE_INLINED : 0;
			add(r, b, &copy);
			copy.pc++, copy.length--, copy.insns--; /* from its second instruction on */
			if (!again)
				add(r, b, &copy);
		}
}

/* One of the blocks that begin there. */
static unsigned block_at(struct random *r, struct blocks *b, uint64_t pc)
{
	unsigned place = place_of(b, pc), n = 0;
	while (n < 4 && b->at_pc[place][n])
		n++;
	return n ? b->at_pc[place][random_below(r, n)] - 1 : (unsigned)random_below(r, b->n);
}

static void random_predictors(struct random *r, struct machine *m)
{
	static const uint16_t histories[] = {5, 15, 44, 130};
	struct machine_direction *d = &m->direction;
	struct machine_targets *t = &m->targets;
	*d = (struct machine_direction){.kind = (uint8_t)random_below(r, PREDICT_BTB + 1),
					.counter_bits = 2,
					.initial = 1,
					.history_bits = 8,
					.entries = 256,
					.local_entries = 64,
					.local_counters = 256,
					.local_counter_bits = 3,
					.choice_entries = 256,
					.choice_bits = 2,
					.weight_bits = 8,
					.threshold = 30,
					.tables = 4,
					.useful_reset = random_in(r, 2) ? 1000 : 262144};
	if (random_in(r, 2))
		d->kind = PREDICT_TAGE;
	for (unsigned i = 0; i < 4; i++)
		d->table_entries[i] = 1024, d->table_history[i] = histories[i], d->table_tag_bits[i] = 9;
	if (random_in(r, 3))
		d->tables = 3, d->table_entries[1] = 64;
	t->btb_sets = random_in(r, 5) ? 0 : 1u << random_below(r, random_in(r, 2) ? 4 : 10);
	t->btb_sets += t->btb_sets && random_in(r, 6);
	t->btb_ways = random_in(r, 2) ? 8 : 1u << random_below(r, 4);
	t->btb_ways += random_in(r, 6);
	if (random_in(r, 3))
		t->btb_ways = 2;
	t->btb_replacement = random_in(r, 3) ? REPLACE_FIFO : REPLACE_LRU;
	t->btb_allocation = random_in(r, 3) ? BTB_ALLOCATE_ALL : BTB_ALLOCATE_TAKEN;
	t->btb_holds_returns = random_in(r, 3);
	t->return_entries = random_in(r, 4) ? 0 : 1 + (uint32_t)random_below(r, 32);
	t->indirect_entries = random_in(r, 3) ? 0 : 64;
	t->indirect_history = random_in(r, 2) ? 8 : (uint8_t)(1 + random_below(r, 10));
	if (d->kind == PREDICT_BTB && !t->btb_sets)
		t->btb_sets = 16;
}

/* Mispredictions alone are charged a batch at a time, anything else branch by branch. */
static void random_watches(struct random *r, struct trial *t)
{
	static const uint8_t mispredicted[] = {BRANCH_MISPREDICTED, BRANCH_CONDITIONAL_MISPREDICTED,
					       BRANCH_INDIRECT_MISPREDICTED, BRANCH_RETURN_MISPREDICTED};
	const bool any = random_in(r, 3);
	t->n_watches = random_in(r, 3) ? 0 : 1 + (unsigned)random_below(r, MODEL_WATCHES);
	for (unsigned w = 0; w < t->n_watches; w++)
		t->watches[w] = (struct model_watch){.component = MODEL_BRANCH,
						     .count = any ? (uint8_t)random_below(r, BRANCH_COUNTS)
								  : mispredicted[random_below(r, 4)]};
	if (t->n_watches && random_in(r, 2)) /* beside something else */
		t->watches[0] = (struct model_watch){MODEL_CACHE, 0, CACHE_FETCH_MISSES, 0};
}

static bool charged_equally(struct trial *t, bool print)
{
	for (unsigned i = 0; i < t->blocks.n; i++)
		for (unsigned w = 0; w < t->n_watches; w++) {
			const size_t at = (size_t)t->blocks.numbers[i] * t->n_watches + w;
			t->charges += t->charged[1][at];
			if (t->charged[0][at] == t->charged[1][at])
				continue;
			if (print)
				printf("# block %u, watch %u (part %u, count %u): charged %llu, alone %llu\n",
				       t->blocks.numbers[i], w, t->watches[w].component, t->watches[w].count,
				       (unsigned long long)t->charged[0][at],
				       (unsigned long long)t->charged[1][at]);
			return false;
		}
	return true;
}

static void begin(struct trial *t, unsigned k)
{
	struct thread *thread = &t->threads[k];
	struct model_inline where;
	*thread = (struct thread){.lives = true};
	simulated_make_with(&thread->alone, &t->machine, &(struct model_options){.no_filters = 1});
	model_watch(thread->alone.model, t->watches, t->n_watches, NULL, t->charged[1]);
	simulated_core(&thread->alone, 0);
	simulated_core(&t->together, k);
	model_inline_where(t->together.model, k, &where);
}

static void run(struct trial *t, unsigned k)
{
	struct thread *thread = &t->threads[k];
	model_run(t->together.model, k, &t->program, thread->entries, thread->filled, 0);
	model_run(thread->alone.model, 0, &t->program, thread->entries, thread->filled, 0);
	thread->filled = 0;
}

/* The thread ends: are its counts the same? */
static bool end(struct trial *t, unsigned k, bool print)
{
	struct model_counts *is, *expected;
	bool equal;
	run(t, k);
	model_inline_end(t->together.model, k);
	is = t->together.counts[k], expected = t->threads[k].alone.counts[0];
	equal = counts_equal(&t->machine, is, expected, print) &&
		!memcmp(is->branch, expected->branch, sizeof is->branch);
	for (unsigned i = 0; i < BRANCH_COUNTS && print; i++)
		if (is->branch[i] != expected->branch[i])
			printf("# core %u, branch count %u: %llu, the reference says %llu\n", k, i,
			       (unsigned long long)is->branch[i], (unsigned long long)expected->branch[i]);
	t->branches += is->branch[BRANCH_ALL];
	simulated_free(&t->threads[k].alone);
	munmap(t->together.core_memory[k], t->together.core_bytes);
	munmap(t->together.counts[k], sizeof(struct model_counts));
	t->together.core_memory[k] = NULL;
	t->together.counts[k] = NULL;
	t->threads[k].lives = false;
	return equal;
}

static void put(struct thread *thread, uint64_t entry) { thread->entries[thread->filled++] = entry; }

/* A block, and where control goes from it; or a mark. */
static void step(struct random *r, struct trial *t, struct thread *thread)
{
	struct blocks *b = &t->blocks;
	const uint32_t number = b->numbers[thread->at];
	const struct trace_block *block = &b->by_number[number];
	uint64_t behind = block->pc + block->length, to = behind;
	if (random_in(r, 300)) {
		put(thread, trace_mark(TRACE_PARTIAL, (uint32_t)random_below(r, block->insns)));
		put(thread, number);
		put(thread, trace_mark(TRACE_BREAK, 0));
		put(thread, b->by_number[b->numbers[thread->at = (unsigned)random_below(r, b->n)]].pc);
		return;
	}
	put(thread, number);
	switch (block->ending) {
	case TRACE_END_CONDITIONAL:
		if (b->taken[thread->at] >> (thread->turns[thread->at]++ & 63) & 1 ? !random_in(r, 40)
										   : random_in(r, 40))
			to = block->target;
		break;
	case TRACE_END_CALL:
	case TRACE_END_INDIRECT_CALL:
		thread->stack[thread->depth++ % 64] = behind;
		to = block->target;
		break;
	case TRACE_END_JUMP: to = block->target; break;
	case TRACE_END_RETURN:
		to = thread->depth && !random_in(r, 30) ? thread->stack[--thread->depth % 64] : 0;
		break;
	default: break;
	}
	if (block->ending == TRACE_END_INDIRECT_JUMP || block->ending == TRACE_END_INDIRECT_CALL)
		to = b->by_number[b->numbers[(thread->at * 7 + random_below(r, random_in(r, 3) ? 4 : 1)) % b->n]]
			     .pc;
	if (!to)
		to = b->by_number[b->numbers[random_below(r, b->n)]].pc;
	thread->at = block_at(r, b, to);
	to = b->by_number[b->numbers[thread->at]].pc;
	if (random_in(r, 200)) {
		put(thread, trace_mark(random_in(r, 2) ? TRACE_RETURNED : TRACE_BREAK, 0));
		put(thread, to);
		if (trace_mark_kind(thread->entries[thread->filled - 2]) == TRACE_RETURNED)
			put(thread, 0x7000);
	} else if (random_in(r, 200)) {
		thread->at = (unsigned)random_below(
			r,
			b->n); /* no consequence of that block, and nobody says so: as after a buffer that was lost */
	}
}

static uint64_t charges;

static bool try(unsigned number, bool print)
{
	struct random r = {211ull << 32 | number};
	static struct trial t;
	const size_t bytes = NUMBERS_MOST * sizeof(struct trace_block);
	bool equal = true;
	uint64_t steps = 30000;
	memset(&t, 0, sizeof t);
	t.machine = one_cache(64, 64, 4, MACHINE_INSTRUCTIONS);
	random_predictors(&r, &t.machine);
	random_watches(&r, &t);
	for (unsigned i = 0; i < 2; i++)
		t.charged[i] = mmap(NULL, NUMBERS_MOST * MODEL_WATCHES * 8ull, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	t.blocks.by_number = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				  -1, 0);
	random_blocks(&r, &t.blocks, random_in(&r, 3) ? 60 : 100);
	t.program = (struct trace_program){t.blocks.by_number, NULL};
	simulated_make(&t.together, &t.machine);
	model_watch(t.together.model, t.watches, t.n_watches,
		    t.charged[0] + (size_t)NUMBERS_MOST * (MODEL_WATCHES - 1), t.charged[0]);
	if (number & 1)
		simulated_scalar(&t.together);
	unsigned cores = number % 4 ? CORES : 1;
	while (steps) {
		unsigned k = (unsigned)random_below(&r, cores),
			 n = 1 + (unsigned)random_below(&r, random_in(&r, 3) ? 20 : 2500);
		if (!t.threads[k].lives)
			begin(&t, k);
		for (; n && steps; n--, steps--)
			step(&r, &t, &t.threads[k]);
		run(&t, k);
		if (random_in(&r, 40))
			plans_forget(t.together.model);
		if (random_in(&r, 25))
			equal &= end(&t, k, print);
	}
	for (unsigned k = 0; k < cores; k++)
		if (t.threads[k].lives)
			equal &= end(&t, k, print);
	equal &= t.branches > 5000;
	equal &= charged_equally(&t, print);
	charges += t.charges;
	if (!equal && print)
		printf("# case %u: direction %u, %u tables, BTB %u x %u, policy %u, allocation %u, stack %u, "
		       "indirect %u; %u blocks, %llu branches\n",
		       number, t.machine.direction.kind, t.machine.direction.tables, t.machine.targets.btb_sets,
		       t.machine.targets.btb_ways, t.machine.targets.btb_replacement,
		       t.machine.targets.btb_allocation, t.machine.targets.return_entries,
		       t.machine.targets.indirect_entries, t.blocks.n, (unsigned long long)t.branches);
	simulated_free(&t.together);
	munmap(t.blocks.by_number, bytes);
	for (unsigned i = 0; i < 2; i++)
		munmap(t.charged[i], NUMBERS_MOST * MODEL_WATCHES * 8ull);
	return equal;
}

int main(int argc, char **argv)
{
	unsigned cases = argc > 1 ? (unsigned)atoi(argv[1]) : 300, wrong = 0;
	for (unsigned i = 0; i < cases; i++)
		if (!try(i, wrong < 3))
			wrong++;
	ok(!wrong,
	   "branches of ordinary and decided blocks of several cores count, and are charged, as one by one: %u of "
	   "%u programs",
	   cases - wrong, cases);
	ok(charges > 1000 * (uint64_t)cases, "%llu charges of branches were compared",
	   (unsigned long long)charges);
	return done();
}
