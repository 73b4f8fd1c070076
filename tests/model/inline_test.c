/*
 * Accesses decided by generated code (model/core/fast/inline.h) against model_run() of the ordinary stream: random machines
 * and programs. inline_play.h plays the generated code in C. All counts are to be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/declare/check.h"
#include "model/core/fast/request_queue.h"
#include "model/core/fast/inline.h"
#include "inline_play.h"

struct trial {
	struct machine machine;
	struct model_options options;
	struct program program;
	struct walk walk;
	size_t end;            /* given up there */
	unsigned without_plan; /* one block in so many */
	bool scalar;           /* without vectors */
	bool merges;           /* see struct played */
	bool again;            /* see struct played: of all counts only what was executed is the same then */
	struct model_watch watches[MODEL_WATCHES];
	unsigned n_watches;
};

struct outcome {
	bool can, equal, lawful;
	const char *law;
	uint64_t done, found, merged, unplanned, charged;
};

static bool branches_equal(const struct model_counts *is, const struct model_counts *expected, bool print)
{
	bool equal = true;
	for (unsigned what = 0; what < BRANCH_COUNTS; what++)
		if (is->branch[what] != expected->branch[what]) {
			equal = false;
			if (print)
				printf("# branch count %u: %llu, by the stream %llu\n", what,
				       (unsigned long long)is->branch[what],
				       (unsigned long long)expected->branch[what]);
		}
	return equal;
}

static bool executed_equal(const struct model_counts *is, const struct model_counts *expected)
{
	static const enum model_stream_count executed[] = {STREAM_INSTRUCTIONS, STREAM_BLOCKS, STREAM_READS,
							   STREAM_WRITES, STREAM_FETCH_BLOCKS};
	bool equal = true;
	for (unsigned i = 0; i < sizeof(executed) / sizeof(*executed); i++)
		equal &= is->stream[executed[i]] == expected->stream[executed[i]];
	return equal;
}

/* What each block's fetches, and each instruction's accesses, are charged with: of a read and a write of the same bytes by one instruction either
 * item may have it. Adds to *charged what was expected. */
static bool charges_equal(const struct trial *t, uint64_t *const is[2], uint64_t *const expected[2],
			  uint64_t *charged, bool print)
{
	for (unsigned b = 0; b < BLOCKS; b++)
		for (unsigned w = 0; w < t->n_watches; w++) {
			const struct trace_block *block = &t->program.blocks[b];
			uint64_t sums[2][2] = {{0}};
			for (unsigned decided = 0; decided < 2; decided++) {
				const size_t at = (size_t)(t->program.numbers[b] + decided * NUMBERS) *
							  t->n_watches +
						  w;
				sums[0][0] += is[1][at], sums[0][1] += expected[1][at];
			}
			*charged += sums[0][1];
			if (sums[0][0] != sums[0][1]) {
				if (print)
					printf("# block %u, watch %u (part %u index %u count %u): charged %llu, "
					       "the stream's %llu\n",
					       b, w, t->watches[w].component, t->watches[w].index,
					       t->watches[w].count, (unsigned long long)sums[0][0],
					       (unsigned long long)sums[0][1]);
				return false;
			}
			for (uint32_t i = block->first_item; i < block->first_item + block->items; i++) {
				if (i > block->first_item &&
				    t->program.items[i].insn != t->program.items[i - 1].insn)
					sums[1][0] = sums[1][1] = 0;
				sums[1][0] += is[0][(size_t)i * t->n_watches + w];
				sums[1][1] += expected[0][(size_t)i * t->n_watches + w];
				*charged += expected[0][(size_t)i * t->n_watches + w];
				if (i + 1 < block->first_item + block->items &&
				    t->program.items[i + 1].insn == t->program.items[i].insn)
					continue;
				if (sums[1][0] != sums[1][1]) {
					if (print)
						printf("# block %u item %u, watch %u (part %u index %u count %u): "
						       "charged %llu, the stream's %llu\n",
						       b, i, w, t->watches[w].component, t->watches[w].index,
						       t->watches[w].count, (unsigned long long)sums[1][0],
						       (unsigned long long)sums[1][1]);
					return false;
				}
			}
		}
	return true;
}

static struct outcome run_case(const struct trial *t, bool print)
{
	static struct played p;
	struct outcome outcome = {true, true, true, NULL, 0, 0, 0, 0, 0};
	uint64_t *charges[2][2]; /* generated code's, the stream's; of items, of blocks */
	struct simulated stream;
	struct trace_block *ordinary = NULL; /* the same numbers, not decided */
	struct random cut = {t->walk.cut};
	uint64_t *buffer = malloc(RECORDS_MOST * sizeof(struct record));
	size_t filled = 0;

	memset(&p, 0, sizeof(p));
	simulated_make_with(&p.core, &t->machine, &t->options);
	simulated_core(&p.core, 0);
	for (unsigned i = 0; i < 4; i++)
		charges[i / 2][i % 2] = sparse(2 * NUMBERS * MODEL_WATCHES * 8ull);
	if (t->n_watches)
		model_watch(p.core.model, t->watches, t->n_watches, charges[0][0], charges[0][1]);
	if (!model_inline_can(p.core.model)) {
		outcome.can = false;
		for (unsigned i = 0; i < 4; i++)
			munmap(charges[i / 2][i % 2], 2 * NUMBERS * MODEL_WATCHES * 8ull);
		simulated_free(&p.core);
		free(buffer);
		return outcome;
	}
	if (t->scalar)
		simulated_scalar(&p.core);
	p.blocks = sparse(2 * NUMBERS * sizeof(*p.blocks));
	ordinary = sparse(2 * NUMBERS * sizeof(*ordinary));
	p.templates = (struct trace_program){p.blocks, t->program.items};
	p.program = &t->program;
	p.again = t->again;
	p.merges = t->merges;
#ifndef SANITIZED /* whose functions use them */
	p.vectors = __builtin_cpu_supports("avx512bw");
#endif
	p.trace = malloc(RECORDS_MOST * sizeof(struct record));
	p.behind = NOT_SEQUENTIAL;
	p.fetched = NOT_FETCHED;
	for (unsigned b = 0; b < BLOCKS; b++) {
		uint32_t number = t->program.numbers[b];
		p.blocks[number] = p.blocks[number + NUMBERS] = ordinary[number] = ordinary[number + NUMBERS] =
			t->program.blocks[b];
	}
	model_inline_where(p.core.model, 0, &p.where);
	p.on = true;
	simulated_make_with(&stream, &t->machine, &t->options);
	simulated_core(&stream, 0);
	if (t->n_watches)
		model_watch(stream.model, t->watches, t->n_watches, charges[1][0], charges[1][1]);
	for (size_t i = 0; i < t->walk.n; i++) {
		const struct record *record = &t->walk.records[i];
		if (i == t->end && p.on)
			give_up(&p);
		memcpy(buffer + filled, record->entries, record->n * sizeof(uint64_t));
		if (p.on && !(*record->entries & TRACE_MARK))
			buffer[filled] += NUMBERS;
		else if (p.on && trace_mark_kind(*record->entries) == TRACE_PARTIAL)
			buffer[filled + 1] += NUMBERS;
		filled += record->n;
		play_record(&p, record, random_in(&cut, t->without_plan));
		if (random_in(&cut, t->walk.cuts))
			flush(&p);
	}
	flush(&p);
	model_run(stream.model, 0, &(struct trace_program){ordinary, t->program.items}, buffer, filled, FS_BASE);
	if (t->again)
		outcome.equal = executed_equal(p.core.counts[0], stream.counts[0]);
	else if (!counts_equal(&t->machine, p.core.counts[0], stream.counts[0], print))
		outcome.equal = false;
	if (!branches_equal(p.core.counts[0], stream.counts[0], print))
		outcome.equal = false;
	if (!t->again && !charges_equal(t, charges[0], charges[1], &outcome.charged, print))
		outcome.equal = false;
	outcome.lawful = t->again || model_conserves(&t->machine, &t->options, p.core.counts[0], &outcome.law);
	if (p.vectors_changed) {
		outcome.equal = false;
		if (print)
			printf("# a vector register of the program's was changed\n");
	}
	outcome.done = p.done;
	outcome.found = p.found;
	outcome.merged = p.merged;
	outcome.unplanned = p.unplanned;
	for (unsigned i = 0; i < 4; i++)
		munmap(charges[i / 2][i % 2], 2 * NUMBERS * MODEL_WATCHES * 8ull);
	munmap(p.blocks, 2 * NUMBERS * sizeof(*p.blocks));
	munmap(ordinary, 2 * NUMBERS * sizeof(*ordinary));
	free(p.trace);
	free(buffer);
	simulated_free(&p.core);
	simulated_free(&stream);
	return outcome;
}

static bool fails(const struct trial *t)
{
	struct outcome o = run_case(t, false);
	return !o.equal || !o.lawful;
}

static void shrink(struct trial *t)
{
	static struct walk was;
	unsigned tries = 0;
	size_t holds = 0;
	while (t->walk.n - holds > 1) {
		size_t all = t->walk.n;
		t->walk.n = (holds + all) / 2;
		if (!fails(t)) {
			holds = t->walk.n;
			t->walk.n = all;
		}
	}
	for (size_t piece = t->walk.n / 2 ? t->walk.n / 2 : 1; piece; piece /= 2)
		for (size_t from = 0; from + piece <= t->walk.n && tries < 1500; tries++) {
			was = t->walk;
			t->walk.n -= piece;
			memmove(&t->walk.records[from], &was.records[from + piece],
				(was.n - from - piece) * sizeof(struct record));
			if (!fails(t)) {
				t->walk = was;
				from += piece;
			}
		}
}

static void print_trial(const struct trial *t)
{
	struct outcome o = run_case(t, true);
	if (!o.lawful)
		printf("# model_conserves: %s\n", o.law);
	machine_print(&t->machine, &t->options);
	for (size_t i = 0; i < t->walk.n && i < 40; i++) {
		const struct record *record = &t->walk.records[i];
		printf("#  ");
		for (unsigned e = 0; e < record->n; e++)
			printf(" %#llx", (unsigned long long)record->entries[e]);
		printf("\n");
		for (unsigned b = 0; b < BLOCKS; b++) {
			const struct trace_block *block = &t->program.blocks[b];
			bool is = t->program.numbers[b] == record->entries[0] ||
				  (trace_mark_kind(record->entries[0]) == TRACE_PARTIAL &&
				   t->program.numbers[b] == record->entries[1]);
			if (!is)
				continue;
			printf("#     block at %#llx, %u bytes, %u instructions\n", (unsigned long long)block->pc,
			       block->length, block->insns);
			for (uint32_t n = block->first_item; n < block->first_item + block->items; n++) {
				const struct trace_item *item = &t->program.items[n];
				printf("#     item %u insn %u offset %u kind %u %u bytes flags %u value %u at "
				       "%lld\n",
				       n, item->insn, item->offset, item->kind, item->bytes, item->flags,
				       item->value, (long long)item->displacement);
			}
		}
	}
}

static void some_branches(struct random *r, struct machine *m)
{
	m->direction = (struct machine_direction){.kind = random_in(r, 2) ? PREDICT_GSHARE : PREDICT_BIMODAL,
						  .counter_bits = 2,
						  .history_bits = 6,
						  .entries = 64};
	m->targets = (struct machine_targets){.btb_sets = 8, .btb_ways = 2, .return_entries = 4};
}

/* As many as two vectors hold; a first data cache of other lines than the first instruction cache's. */
static void more_ways(struct random *r, struct machine *m)
{
	struct machine was = *m;
	struct machine_fault fault;
	for (unsigned c = 0; c < m->n_caches; c++)
		if (m->caches[c].replacement == REPLACE_LRU && m->caches[c].sets < 256)
			m->caches[c].ways = 6 + (uint32_t)random_below(r, 12);
	if (m->first_instruction != MACHINE_NONE && m->first_instruction != m->first_data && random_in(r, 2))
		m->caches[m->first_instruction].line_bytes = 32;
	if (!machine_is_sound(m, &fault))
		*m = was;
}

/* Of what found accesses do not count: else there are no inline checks (charges_all). */
static void some_watches(struct random *r, struct trial *t)
{
	t->n_watches = 1 + (unsigned)random_below(r, MODEL_WATCHES);
	for (unsigned w = 0; w < t->n_watches; w++) {
		const unsigned part = (unsigned)random_below(r, 4);
		struct model_watch watch = {.component = MODEL_STREAM,
					    .count = random_in(r, 2) ? STREAM_MISALIGNED : STREAM_LINE_CROSSING};
		if (part == 0 && t->machine.n_caches)
			watch = (struct model_watch){
				MODEL_CACHE, (uint8_t)random_below(r, t->machine.n_caches),
				(uint8_t)(CACHE_FETCHES + 1 + random_below(r, CACHE_COUNTS - CACHE_FETCHES - 1)),
				0};
		else if (part == 1 && t->machine.n_tlbs)
			watch = (struct model_watch){
				MODEL_TLB, (uint8_t)random_below(r, t->machine.n_tlbs),
				(uint8_t)(TLB_FETCHES + 1 + random_below(r, TLB_COUNTS - TLB_FETCHES - 1)), 0};
		else if (part == 2 && !t->options.no_branches)
			watch = (struct model_watch){MODEL_BRANCH, 0, BRANCH_MISPREDICTED, 0};
		t->watches[w] = watch;
	}
}

static void large_accesses(struct program *p)
{
	for (uint32_t i = 0; i < p->n_items; i++)
		if (p->items[i].kind <= TRACE_WRITE && !p->items[i].flags &&
		    p->items[i].second == TRACE_NO_VALUE) {
			p->items[i].bytes = 64;
			p->items[i].displacement &= -32;
		}
}

/* Its values may be anything. */
static bool simple(const struct program *p, const struct trace_block *block)
{
	for (uint32_t i = block->first_item; i < block->first_item + block->items; i++)
		if (p->items[i].kind > TRACE_PREFETCH || p->items[i].second != TRACE_NO_VALUE)
			return false;
	return true;
}

/* Pages under the code change, and it goes on behind where it was. */
static void pages_anew(struct random *r, const struct program *p, struct walk *w)
{
	for (size_t i = 1; i + 2 < w->n; i++) {
		struct record *before = &w->records[i - 1], *mark = &w->records[i], *next = &w->records[i + 1];
		unsigned b = 0;
		while (b < BLOCKS && p->numbers[b] != before->entries[0])
			b++;
		if (b + 1 >= BLOCKS || !random_in(r, 6) || !simple(p, &p->blocks[b + 1]))
			continue;
		*mark = (struct record){
			.entries = {trace_mark(TRACE_PAGES, 0), 0x400000 & ~4095ull, 0x40000000, 4096}, .n = 4};
		next->entries[0] = p->numbers[b + 1];
		for (unsigned v = 0; v < p->blocks[b + 1].values; v++)
			next->entries[1 + v] = 0x20000 + random_below(r, 4096);
		next->n = (uint8_t)(1 + p->blocks[b + 1].values);
	}
}

/* Its levels behind the first ones wait (model/core/fast/request_queue.h), and what is not found goes the shortest way there is (model/core/fast/lru_fast.h). */
static void waiting_machine(struct random *r, struct machine *m)
{
	usual_machine(r, m, false);
	for (unsigned c = 0; c < m->n_caches; c++) {
		struct machine_cache *is = &m->caches[c];
		is->line_bytes = 64;
		is->replacement = REPLACE_LRU;
		is->inclusion = INCLUSION_NONE;
		is->prefetch = PREFETCH_NONE;
		if (c == m->first_data || c == m->first_instruction) {
			is->sets = 1u << random_below(r, 3);
			is->ways = random_in(r, 3) ? 12 : 8 + (uint32_t)random_below(r, 9);
		}
	}
}

enum machines { ANY, USUAL /* with usual code, which has records to merge */, WAITING };

static void compare(const char *fact, uint64_t family, unsigned cases, enum machines machines,
		    unsigned found_least, bool again)
{
	static struct trial t;
	unsigned failed = 0, could = 0;
	uint64_t all = 0, in_table = 0, merged = 0, unplanned = 0, waited = 0, charged = 0;
	uint8_t levels[REQUESTS_LEVELS];
	bool usual;
	for (unsigned i = 0; i < cases && !failed; i++) {
		struct random r = {family << 32 | i};
		struct machine_fault fault;
		struct outcome o;
		memset(&t, 0, sizeof(t));
		usual = machines == USUAL || (machines == WAITING && random_in(&r, 2));
		if (machines == WAITING)
			waiting_machine(&r, &t.machine);
		else if (usual)
			usual_machine(&r, &t.machine, false);
		else
			random_machine(&r, &t.machine, false);
		if (machines != WAITING && random_in(&r, 3))
			more_ways(&r, &t.machine);
		t.options.orders = i % 2;
		t.options.no_branches = !random_in(&r, 2);
		if (!t.options.no_branches)
			some_branches(&r, &t.machine);
		if (!machine_is_sound(&t.machine, &fault)) {
			printf("# case %u is refused: [%s] %s: %s\n", i, fault.stanza, fault.key, fault.why);
			failed++;
			break;
		}
		random_program(&r, &t.program, usual);
		random_walk(&r, &t.machine, &t.program, &t.walk,
			    usual ? random_in(&r, 8) ? RECORDS_MOST : 1500 : 5 + random_below(&r, 300), 1, usual);
		if (random_in(&r, 8))
			large_accesses(&t.program);
		if (random_in(&r, 4))
			pages_anew(&r, &t.program, &t.walk);
		t.without_plan = random_in(&r, 2) ? 1u << 30 : 10;
		t.scalar = random_in(&r, 3);
		t.merges = random_in(&r, 2);
		t.again = again;
		t.end = random_in(&r, 4) ? random_below(&r, t.walk.n) : SIZE_MAX;
		if (!again && random_in(&r, 2))
			some_watches(&r, &t);
		o = run_case(&t, false);
		charged += o.charged;
		could += o.can;
		waited += o.can && requests_levels(&t.machine, &t.options, levels);
		all += o.done;
		in_table += o.found;
		merged += o.merged;
		unplanned += o.unplanned;
		if (o.equal && o.lawful)
			continue;
		printf("# family %llu case %u:\n", (unsigned long long)family, i);
		failed++;
		shrink(&t);
		print_trial(&t);
	}
	ok(!failed, "%s (%u machines and programs)", fact, cases);
	/* else this would say nothing */
	ok(could * 3 > cases && 100 * in_table > found_least * all && unplanned &&
		   (machines != USUAL || merged > all / 50) && (machines == ANY || waited >= cases / 5),
	   "%u of the machines can, %llu %% of the records are found, %llu touched with others, %llu blocks had "
	   "no plan, on %llu machines requests waited",
	   could, (unsigned long long)(100 * in_table / (all ? all : 1)), (unsigned long long)merged,
	   (unsigned long long)unplanned, (unsigned long long)waited);
	if (!again)
		ok(charged > cases, "%llu counts were charged to the same instructions and blocks",
		   (unsigned long long)charged);
}

int main(int argc, char **argv) /* [TIMES [FAMILY]]: longer runs, by hand; 0.2: a fifth */
{
	unsigned only = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	double times = argc > 1 ? atof(argv[1]) : 1;
	if (!only || only == 201)
		compare("what generated code decides counts as the stream: any machine, any program", 201,
			1500 * times, ANY, 20, false);
	if (!only || only == 202)
		compare("usual machines, long loops of usual code", 202, 200 * times, USUAL, 50, false);
	if (!only || only == 203)
		compare("what was executed is counted once if a record is done twice", 203, 500 * times, ANY, 10,
			true);
	if (!only || only == 204)
		compare("machines on which requests wait count as the stream", 204, 400 * times, WAITING, 20,
			false);
	return done();
}
