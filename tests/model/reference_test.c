/*
 * The core against the reference: random machines, random accesses, one by one. All counts of every cache, TLB and
 * core are to be the same, with filters and without, and to obey the laws of model_conserves(). What fails is made
 * small before it is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "declared.h"
#include "model/declare/check.h"
#include "model/core/coherence/coherence.h"
#include "reference.h"
#include "tap.h"

enum { STEPS_MOST = 1200, CORES_MOST = 4, ITEMS = 24 };

enum step_kind { STEP_READ, STEP_WRITE, STEP_PREFETCH, STEP_FETCH, STEP_CORE /* begins to exist */ };

struct step {
	uint8_t core, kind;
	uint32_t bytes, id;
	uint64_t address;
};

struct stream {
	struct step steps[STEPS_MOST];
	size_t n;
	bool many; /* cores, by their numbers */
};

/* ---- streams ---- */

/* About how much the first levels hold, so that streams fit, nearly fit, or do not. */
static uint64_t about_bytes(const struct machine *m, struct random *r)
{
	const struct machine_cache *c = m->n_caches ? &m->caches[random_below(r, m->n_caches)] : NULL;
	uint64_t bytes = c ? (uint64_t)c->sets * c->ways * c->line_bytes : 4096;
	return 1 + bytes * (1 + random_below(r, 8)) / 4;
}

static void random_stream(struct random *r, const struct machine *m, struct stream *s, size_t n, unsigned cores,
			  bool far)
{
	uint64_t bases[3] = {0x10000, 0x7fff0000 + random_below(r, 4096), random_in(r, 8) ? 0 : 0x400ffe},
		 at[ITEMS], pc = 0x400000;
	uint64_t span = about_bytes(m, r), code_span = about_bytes(m, r);
	int64_t stride[ITEMS];
	unsigned core = 0, alive = 1, turn = random_in(r, 2) ? 1 : 1 + (unsigned)random_below(r, 30);
	bool wild = random_in(r, 4);
	for (unsigned i = 0; i < ITEMS; i++) {
		at[i] = bases[random_below(r, 3)] + random_below(r, span);
		stride[i] = random_in(r, 3) ? 0 : (int64_t)random_below(r, 64) - (random_in(r, 3) ? 64 : 0);
		if (random_in(r, 3))
			stride[i] *= (int64_t)(m->n_caches ? m->caches[0].line_bytes : 64) / 4;
	}
	s->many = random_in(r, 4);
	s->n = 0;
	s->steps[s->n++] = (struct step){.kind = STEP_CORE};
	while (s->n < n) {
		struct step *step = &s->steps[s->n++];
		unsigned i = (unsigned)random_below(r, ITEMS);
		uint64_t what = random_below(r, 100);
		if (alive < cores && random_in(r, 20)) {
			*step = (struct step){.kind = STEP_CORE, .core = (uint8_t)alive++};
			continue;
		}
		if (random_in(r, turn))
			core = (unsigned)random_below(r, alive);
		step->core = (uint8_t)core;
		if (what < 25) { /* a run of code, often the one that follows */
			if (!random_in(r, 3))
				pc = 0x400000 + random_below(r, code_span);
			*step = (struct step){.kind = STEP_FETCH,
					      .core = (uint8_t)core,
					      .bytes = 1 + (uint32_t)random_below(r, random_in(r, 6) ? 300 : 24),
					      .address = pc,
					      .id = (uint32_t)random_below(r, ITEMS)};
			pc += step->bytes;
			continue;
		}
		step->kind = what < 65 ? STEP_READ : what < 97 ? STEP_WRITE : STEP_PREFETCH;
		step->bytes = random_in(r, 30) ? 1 + (uint32_t)random_below(r, 130)
					       : 1u << random_below(r, random_in(r, 4) ? 6 : 4);
		step->id = i;
		step->address = far ? same_place(m, at[i], i % 4) : at[i];
		if (!stride[i] || wild)
			at[i] = bases[random_below(r, wild ? 3 : 1)] +
				random_below(r, random_in(r, 3) ? 1 + span / 8 : span);
		else
			at[i] += (uint64_t)stride[i];
		if (at[i] >> 40) /* went below 0 */
			at[i] = random_below(r, span);
	}
}

/* ---- a case ---- */

struct run {
	bool equal;
	bool lawful;
	const char *law;
};

/* What the core calls it: in some cases of more than can be told apart. */
static unsigned number_of(const struct stream *s, unsigned core)
{
	return s->many ? (core & 1) + core / 2 * COHERENCE_CORES : core;
}

static struct run run_case(const struct machine *machine, const struct model_options *options,
			   const struct stream *s, bool print)
{
	struct simulated core;
	struct reference *reference = reference_new(machine, options);
	struct run run = {.equal = true, .lawful = true};
	bool exists[CORES_MOST] = {0};
	struct model_counts sum = {0};
	simulated_make_with(&core, machine, options);
	for (size_t i = 0; i < s->n; i++) {
		const struct step *step = &s->steps[i];
		static const enum trace_kind kinds[] = {TRACE_READ, TRACE_WRITE, TRACE_PREFETCH};
		if (!exists[step->core]) {
			exists[step->core] = true;
			simulated_core(&core, number_of(s, step->core));
			reference_core(reference, step->core);
		}
		if (step->kind == STEP_FETCH) {
			model_fetch(core.model, number_of(s, step->core), step->address, step->bytes, step->id);
			reference_fetch(reference, step->core, step->address, step->bytes, step->id);
		} else if (step->kind != STEP_CORE) {
			model_access(core.model, number_of(s, step->core), step->address, step->bytes,
				     kinds[step->kind], step->id);
			reference_access(reference, step->core, step->address, step->bytes, kinds[step->kind],
					 step->id);
		}
	}
	for (unsigned k = 0; k < CORES_MOST; k++) {
		const uint64_t *from;
		if (!exists[k])
			continue;
		if (print)
			printf("# core %u:\n", k);
		if (!counts_equal(machine, core.counts[number_of(s, k)], reference_counts(reference, k), print))
			run.equal = false;
		from = (const uint64_t *)core.counts[number_of(s, k)];
		for (size_t i = 0; i < sizeof(sum) / sizeof(uint64_t); i++)
			((uint64_t *)&sum)[i] += from[i];
	}
	run.lawful = model_conserves(machine, options, &sum, &run.law);
	simulated_free(&core);
	reference_free(reference);
	return run;
}

static bool fails(const struct machine *machine, const struct model_options *options, const struct stream *s)
{
	struct run run = run_case(machine, options, s, false);
	return !run.equal || !run.lawful;
}

/* Removes steps, then features of the machine, as long as it still fails. */
static void shrink(struct machine *machine, struct model_options *options, struct stream *s)
{
	bool smaller = true;
	while (smaller) {
		smaller = false;
		for (size_t piece = s->n / 2 ? s->n / 2 : 1; piece; piece /= 2)
			for (size_t from = 0; from + piece <= s->n;) {
				struct stream *without = malloc(sizeof(*without));
				without->n = s->n - piece;
				without->many = s->many;
				memcpy(without->steps, s->steps, from * sizeof(struct step));
				memcpy(without->steps + from, s->steps + from + piece,
				       (s->n - from - piece) * sizeof(struct step));
				if (fails(machine, options, without)) {
					*s = *without;
					smaller = true;
				} else {
					from += piece;
				}
				free(without);
			}
		for (unsigned c = 0; c < machine->n_caches; c++)
			for (unsigned feature = 0; feature < 8; feature++) {
				struct machine simpler = *machine;
				struct machine_cache *cache = &simpler.caches[c];
				if (feature == 0)
					cache->victim_lines = 0;
				else if (feature == 1)
					cache->prefetch = PREFETCH_NONE, cache->prefetch_entries = 0;
				else if (feature == 2)
					cache->write = WRITE_BACK;
				else if (feature == 3)
					cache->write_allocate = 1;
				else if (feature == 4)
					cache->inclusion = INCLUSION_NONE;
				else if (feature == 5)
					cache->replacement = REPLACE_LRU;
				else if (feature == 6)
					cache->sets = 1;
				else
					simpler.n_tlbs = 0,
					simpler.first_data_tlb = simpler.first_instruction_tlb = MACHINE_NONE;
				if (memcmp(&simpler, machine, sizeof(simpler)) && fails(&simpler, options, s)) {
					*machine = simpler;
					smaller = true;
				}
			}
		struct model_options fewer = *options;
		fewer.classify = 0;
		if (options->classify && fails(machine, &fewer, s)) {
			*options = fewer;
			smaller = true;
		}
		fewer = *options;
		fewer.orders = 0;
		if (options->orders && fails(machine, &fewer, s)) {
			*options = fewer;
			smaller = true;
		}
	}
}

static void print_case(const struct machine *machine, const struct model_options *options, const struct stream *s)
{
	static const char *const names[] = {"read", "write", "prefetch", "fetch", "begins"};
	struct run run = run_case(machine, options, s, true);
	if (!run.lawful)
		printf("# model_conserves: %s\n", run.law);
	machine_print(machine, options);
	for (size_t i = 0; i < s->n && i < 60; i++)
		printf("#   core %u %s %#llx %u bytes, id %u\n", s->steps[i].core, names[s->steps[i].kind],
		       (unsigned long long)s->steps[i].address, s->steps[i].bytes, s->steps[i].id);
	if (s->n > 60)
		printf("#   … %zu steps in all\n", s->n);
}

/* `cases` machines of a family, each with filters and without. */
static void compare(const char *fact, uint64_t family, unsigned cases, size_t steps, unsigned cores, bool coherent,
		    bool far, void (*change)(struct random *r, struct machine *m, struct model_options *options))
{
	static struct stream s;
	struct machine machine;
	unsigned failed = 0, refused = 0;
	for (unsigned i = 0; i < cases && failed < 1; i++) {
		struct random r = {family << 32 | i};
		struct machine_fault fault;
		struct model_options options = {.no_branches = 1};
		random_machine(&r, &machine, coherent);
		options.classify = random_in(&r, 2);
		options.orders = i % 2;
		if (change)
			change(&r, &machine, &options);
		if (!machine_is_sound(&machine, &fault)) {
			if (!refused++)
				printf("# case %u is refused: [%s] %s: %s\n", i, fault.stanza, fault.key,
				       fault.why);
			continue;
		}
		random_stream(&r, &machine, &s, 20 + random_below(&r, steps - 20),
			      cores ? 1 + (unsigned)random_below(&r, cores) : 1, far);
		for (options.no_filters = 0; options.no_filters < 2; options.no_filters++)
			if (fails(&machine, &options, &s)) {
				printf("# family %llu case %u:\n", (unsigned long long)family, i);
				failed++;
				shrink(&machine, &options, &s);
				print_case(&machine, &options, &s);
				break;
			}
	}
	ok(!failed && !refused, "%s (%u machines, filters on and off)", fact, cases);
}

/* ---- families ---- */

static void lru_only(struct random *r, struct machine *m, struct model_options *options)
{
	(void)r;
	for (unsigned c = 0; c < m->n_caches; c++) {
		m->caches[c].replacement = REPLACE_LRU;
		m->caches[c].prefetch = PREFETCH_NONE;
		m->caches[c].prefetch_entries = 0;
		m->caches[c].victim_lines = 0;
	}
	options->classify = 0;
}

static void many_ways(struct random *r, struct machine *m, struct model_options *options)
{
	(void)options;
	for (unsigned c = 0; c < m->n_caches; c++) {
		m->caches[c].sets = 1 + (uint32_t)random_below(r, 3);
		m->caches[c].ways = 20 + (uint32_t)random_below(r, 60);
		if (m->caches[c].replacement == REPLACE_PLRU)
			m->caches[c].ways = random_in(r, 2) ? 32 : 64;
		if (random_in(r, 4))
			m->caches[c].victim_lines = 20 + (uint16_t)random_below(r, 60);
	}
}

static void classified(struct random *r, struct machine *m, struct model_options *options)
{
	(void)r, (void)m;
	options->classify = 1;
}

static void level_kind(struct machine *m, unsigned inclusion)
{
	for (unsigned c = 1; c < m->n_caches; c++)
		if (strcmp(m->caches[c].name, "L1D")) {
			m->caches[c].inclusion = (uint8_t)inclusion;
			if (inclusion == INCLUSION_EXCLUSIVE) {
				for (unsigned f = 0; f < m->n_caches; f++)
					m->caches[f].line_bytes = m->caches[0].line_bytes;
				m->caches[c].prefetch = PREFETCH_NONE;
				m->caches[c].prefetch_entries = 0;
				m->caches[c].write = WRITE_BACK;
			}
		}
}

static void inclusive(struct random *r, struct machine *m, struct model_options *options)
{
	(void)options;
	(void)r;
	level_kind(m, INCLUSION_INCLUSIVE);
}

static void exclusive(struct random *r, struct machine *m, struct model_options *options)
{
	(void)options;
	(void)r;
	level_kind(m, INCLUSION_EXCLUSIVE);
}

static void prefetching(struct random *r, struct machine *m, struct model_options *options)
{
	(void)options;
	for (unsigned c = 0; c < m->n_caches; c++)
		if (m->caches[c].inclusion != INCLUSION_EXCLUSIVE) {
			m->caches[c].prefetch = (uint8_t)(1 + random_below(r, 2));
			m->caches[c].prefetch_entries = m->caches[c].prefetch == PREFETCH_STRIDE
								? (uint16_t)(1u << random_below(r, 5))
								: 0;
		}
}

int main(int argc, char **argv)
{
	double times = argc > 1 ? atof(argv[1]) : 1; /* longer runs by hand; 0.2: a fifth */
	compare("LRU caches count as lists do", 1, 600 * times, 600, 0, false, false, lru_only);
	compare("any machine of one core counts as the reference", 2, 1500 * times, 600, 0, false, false, NULL);
	compare("caches of many ways count as the reference", 3, 200 * times, 1200, 0, false, false, many_ways);
	compare("misses are classed as by Hill's definition", 4, 300 * times, 600, 0, false, false, classified);
	compare("inclusive levels take lines from the levels in front", 5, 400 * times, 600, 0, false, false,
		inclusive);
	compare("exclusive levels hold what the levels in front evicted", 6, 400 * times, 600, 0, false, false,
		exclusive);
	compare("prefetchers bring in what the reference's do", 7, 400 * times, 600, 0, false, false, prefetching);
	compare("cores that share a level, without coherence", 8, 400 * times, 600, CORES_MOST, false, false,
		NULL);
	compare("coherent cores: interventions, invalidations, upgrades, false sharing", 9, 1000 * times, 600,
		CORES_MOST, true, false, NULL);
	compare("coherent cores with inclusive levels", 10, 300 * times, 600, CORES_MOST, true, false, inclusive);
	compare("coherent cores, granules of the same place among the holders", 11, 300 * times, 600, CORES_MOST,
		true, true, NULL);
	return done();
}
