/*
 * model_run() against the reference: random programs, random walks through them, every kind of item and mark of
 * engine/wire/trace.h, buffers cut anywhere, several cores, what is counted charged to its instruction.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "declared.h"
#include "model/declare/check.h"
#include "model/core/coherence/coherence.h"
#include "reference.h"
#include "tap.h"
#include "walks.h"

/* ---- a case ---- */

static const size_t site_bytes[2] = {BLOCKS * ITEMS_MOST * MODEL_WATCHES * sizeof(uint64_t),
				     (size_t)NUMBERS *MODEL_WATCHES * sizeof(uint64_t)};

struct outcome {
	bool equal, lawful, charged, summed;
	const char *law;
};

static bool sites_equal(const struct program *p, const struct model_watch *watches, unsigned n,
			uint64_t *const is[2], uint64_t *const expected[2], bool print)
{
	bool equal = true;
	for (unsigned which = 0; which < 2; which++)
		for (size_t site = 0; site < (which ? BLOCKS : p->n_items) * n; site++) {
			size_t i = which ? p->numbers[site / n] * (size_t)n + site % n : site;
			if (is[which][i] != expected[which][i]) {
				equal = false;
				if (print)
					printf("# %s %zu, watch %zu (part %u index %u count %u): charged %llu, "
					       "the reference says %llu\n",
					       which ? "block" : "item", i / n, i % n, watches[i % n].component,
					       watches[i % n].index, watches[i % n].count,
					       (unsigned long long)is[which][i],
					       (unsigned long long)expected[which][i]);
			}
		}
	return equal;
}

/* What the core calls it. */
static unsigned number_of(const struct walk *w, unsigned core)
{
	return w->many ? (core & 1) + core / 2 * COHERENCE_CORES : core;
}

static struct outcome run_case(const struct machine *machine, const struct model_options *options,
			       const struct program *p, const struct walk *w, unsigned cores,
			       const struct model_watch *watches, unsigned n_watches, bool scalar, bool print)
{
	struct outcome outcome = {true, true, true, true, NULL};
	struct trace_block *blocks = sparse(NUMBERS * sizeof(*blocks));
	struct trace_program templates = {blocks, p->items};
	struct simulated core;
	struct reference *reference = reference_new(machine, options);
	struct random cut = {w->cut};
	uint64_t *sites[2][2], fs_base = 0x31000, *buffer = malloc(RECORDS_MOST * sizeof(struct record));
	size_t filled = 0;
	for (unsigned i = 0; i < 4; i++)
		sites[i / 2][i % 2] = sparse(site_bytes[i % 2]);
	for (unsigned b = 0; b < BLOCKS; b++)
		blocks[p->numbers[b]] = p->blocks[b];
	simulated_make_with(&core, machine, options);
	if (scalar)
		simulated_scalar(&core);
	model_watch(core.model, watches, n_watches, sites[0][0], sites[0][1]);
	reference_watch(reference, watches, n_watches, sites[1][0], sites[1][1]);
	for (unsigned k = 0; k < cores && !w->late; k++) {
		simulated_core(&core, number_of(w, k));
		reference_core(reference, k);
	}
	for (size_t i = 0; i < w->n; i++) {
		const struct record *record = &w->records[i];
		if (!core.counts[number_of(w, record->core)]) {
			simulated_core(&core, number_of(w, record->core));
			reference_core(reference, record->core);
		}
		memcpy(buffer + filled, record->entries, record->n * sizeof(uint64_t));
		filled += record->n;
		reference_run(reference, record->core, &templates, record->entries, record->n, fs_base);
		if (i + 1 < w->n && w->records[i + 1].core == record->core && !random_in(&cut, w->cuts))
			continue;
		model_run(core.model, number_of(w, record->core), &templates, buffer, filled, fs_base);
		filled = 0;
	}
	for (unsigned k = 0; k < cores; k++) {
		if (!core.counts[number_of(w, k)])
			continue;
		if (print)
			printf("# core %u:\n", k);
		if (!counts_equal(machine, core.counts[number_of(w, k)], reference_counts(reference, k), print))
			outcome.equal = false;
		if (!model_conserves(machine, options, core.counts[number_of(w, k)], &outcome.law)) {
			outcome.lawful = false;
			break;
		}
	}
	outcome.charged = sites_equal(p, watches, n_watches, sites[0], sites[1], print);
	for (unsigned i = 0; i < 4; i++)
		munmap(sites[i / 2][i % 2], site_bytes[i % 2]);
	munmap(blocks, NUMBERS * sizeof(*blocks));
	free(buffer);
	simulated_free(&core);
	reference_free(reference);
	return outcome;
}

struct trial {
	struct machine machine;
	struct model_options options;
	struct program program;
	struct walk walk;
	unsigned cores, n_watches;
	bool scalar; /* without vectors */
	struct model_watch watches[MODEL_WATCHES];
};

static bool fails(const struct trial *t)
{
	struct outcome o = run_case(&t->machine, &t->options, &t->program, &t->walk, t->cores, t->watches,
				    t->n_watches, t->scalar, false);
	return !o.equal || !o.lawful || !o.charged;
}

/* Shorter, then with records left out: as long as it still fails, and a bounded number of tries. */
static void shrink(struct trial *t)
{
	static struct walk was;
	unsigned tries = 0;
	size_t holds = 0;
	while (t->walk.n - holds > 1) { /* what went wrong stays wrong: the first record that does it */
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
	while (t->n_watches) {
		t->n_watches--;
		if (!fails(t)) {
			t->n_watches++;
			break;
		}
	}
}

static void print_trial(const struct trial *t)
{
	static const char *const kinds[] = {"read",      "write",  "prefetch", "rep read",
					    "rep write", "gather", "scatter"};
	struct outcome o = run_case(&t->machine, &t->options, &t->program, &t->walk, t->cores, t->watches,
				    t->n_watches, t->scalar, true);
	if (!o.lawful)
		printf("# model_conserves: %s\n", o.law);
	machine_print(&t->machine, &t->options);
	for (size_t i = 0; i < t->walk.n && i < 40; i++) {
		const struct record *record = &t->walk.records[i];
		const uint64_t *at = record->entries;
		printf("#   core %u:", record->core);
		if (*at & TRACE_MARK) {
			printf(" mark %u argument %u", trace_mark_kind(*at), trace_mark_argument(*at));
			at++;
			for (; trace_mark_kind(record->entries[0]) != TRACE_PARTIAL &&
			       at < record->entries + record->n;
			     at++)
				printf(" %#llx", (unsigned long long)*at);
		}
		if (at < record->entries + record->n) {
			const struct trace_block *block = &t->program.blocks[*at++ % NUMBERS_APART];
			printf(" block %u pc %#llx %u bytes %u insns", (unsigned)at[-1],
			       (unsigned long long)block->pc, block->length, block->insns);
			for (uint32_t n = block->first_item; n < block->first_item + block->items; n++) {
				const struct trace_item *item = &t->program.items[n];
				printf("\n#     item %u insn %u offset %u %s %u bytes flags %u lanes %u at %lld",
				       n, item->insn, item->offset, kinds[item->kind], item->bytes, item->flags,
				       item->lanes, (long long)item->displacement);
				if (item->value != TRACE_NO_VALUE)
					printf(" + %#llx", (unsigned long long)at[item->value]);
				if (item->second != TRACE_NO_VALUE)
					printf(", second %#llx", (unsigned long long)at[item->second]);
			}
		}
		printf("\n");
	}
}

static void random_watches(struct random *r, struct trial *t)
{
	t->n_watches = random_in(r, 3) ? 0 : 1 + (unsigned)random_below(r, MODEL_WATCHES);
	for (unsigned w = 0; w < t->n_watches; w++) {
		unsigned part = (unsigned)random_below(r, 3);
		struct model_watch watch = {.component = MODEL_STREAM,
					    .count = (uint8_t)random_below(r, STREAM_COUNTS)};
		if (part == 0 && t->machine.n_caches)
			watch = (struct model_watch){MODEL_CACHE, (uint8_t)random_below(r, t->machine.n_caches),
						     (uint8_t)random_below(r, CACHE_COUNTS), 0};
		if (part == 1 && t->machine.n_tlbs)
			watch = (struct model_watch){MODEL_TLB, (uint8_t)random_below(r, t->machine.n_tlbs),
						     (uint8_t)random_below(r, TLB_COUNTS), 0};
		t->watches[w] = watch;
	}
}

static void compare(const char *fact, uint64_t family, unsigned cases, unsigned cores, bool coherent, bool usual)
{
	static struct trial t;
	unsigned failed = 0;
	for (unsigned i = 0; i < cases && !failed; i++) {
		struct random r = {family << 32 | i};
		struct machine_fault fault;
		memset(&t, 0, sizeof(t));
		if (usual)
			usual_machine(&r, &t.machine, coherent);
		else
			random_machine(&r, &t.machine, coherent);
		t.options = (struct model_options){
			.no_branches = 1, .classify = !usual && random_in(&r, 2), .orders = i % 2};
		if (!machine_is_sound(&t.machine, &fault)) {
			printf("# case %u is refused: [%s] %s: %s\n", i, fault.stanza, fault.key, fault.why);
			failed++;
			break;
		}
		t.cores = 1 + (unsigned)random_below(&r, cores);
		random_program(&r, &t.program, usual);
		random_walk(&r, &t.machine, &t.program, &t.walk,
			    usual ? random_in(&r, 8) ? RECORDS_MOST : 1500 : 5 + random_below(&r, 120), t.cores,
			    usual);
		random_watches(&r, &t);
		for (unsigned way = 0; way < 3; way++) {
			t.options.no_filters = way == 2;
			t.scalar = way == 1;
			if (fails(&t)) {
				printf("# family %llu case %u:\n", (unsigned long long)family, i);
				failed++;
				shrink(&t);
				print_trial(&t);
				break;
			}
		}
	}
	ok(!failed, "%s (%u machines and programs, filters on, without vectors, and off)", fact, cases);
}

/* More blocks than a core would keep anything about, twice. */
static void many_blocks(void)
{
	enum { MANY = 300000 };
	struct random r = {106};
	struct machine machine;
	struct simulated core;
	struct reference *reference;
	struct trace_block *blocks = sparse(MANY * sizeof(*blocks));
	struct trace_item item = {.kind = TRACE_READ, .bytes = 8, .value = 0, .second = TRACE_NO_VALUE};
	struct trace_program program = {blocks, &item};
	uint64_t *entries = malloc(2 * 2 * MANY * sizeof(*entries));
	size_t n = 0;
	usual_machine(&r, &machine, false);
	for (uint32_t b = 0; b < MANY; b++)
		blocks[b] = (struct trace_block){
			.pc = 0x400000 + b * 12ull, .items = 1, .values = 1, .length = 12, .insns = 3};
	for (uint32_t i = 0; i < 2 * MANY; i++) {
		entries[n++] = i % MANY;
		entries[n++] = 0x10000000 + i % 4096 * 8;
	}
	simulated_make(&core, &machine);
	simulated_core(&core, 0);
	reference = reference_new(&machine, &(struct model_options){0});
	reference_core(reference, 0);
	model_run(core.model, 0, &program, entries, n, 0);
	reference_run(reference, 0, &program, entries, n, 0);
	ok(counts_equal(&machine, core.counts[0], reference_counts(reference, 0), true),
	   "300,000 blocks one after the other, twice");
	simulated_free(&core);
	reference_free(reference);
	munmap(blocks, MANY * sizeof(*blocks));
	free(entries);
}

int main(int argc, char **argv) /* [TIMES [FAMILY]]: longer runs, by hand; 0.2: a fifth */
{
	unsigned only = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	double times = argc > 1 ? atof(argv[1]) : 1;
	if (!only || only == 101)
		compare("a trace of one thread counts as the reference", 101, 700 * times, 1, false, false);
	if (!only || only == 102)
		compare("traces of threads whose caches are not coherent", 102, 200 * times, CORES_MOST, false,
			false);
	if (!only || only == 103)
		compare("traces of threads whose caches are coherent", 103, 300 * times, CORES_MOST, true, false);
	if (!only || only == 104)
		compare("a usual machine, long loops of usual code", 104, 150 * times, 1, false, true);
	if (!only || only == 105)
		compare("usual machines, threads, coherent caches", 105, 200 * times, CORES_MOST, true, true);
	if (!only || only == 106)
		many_blocks();
	return done();
}
