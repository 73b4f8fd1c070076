/* Costs of this machine: which experiments there are, with which sizes, in rounds. See measure.h. */
#include "explain/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "stats/stats.h"

/* Steps of a round in lines of each level: about a millisecond each. The largest set is 256 MB. */
enum { STEPS_L1 = 400000, STEPS_L2 = 100000, STEPS_L3 = 40000, STEPS_MEMORY = 10000, STEPS_TLB = 40000 };
enum { STREAM_MEMORY = 65536, PAGES_TOUCHED = 256, LINES_LEAST = 8, BEST_OF = 3, ATTEMPTS = 3 };
static const uint64_t SET_MOST_BYTES = 256u << 20, SET_OF_MEMORY = 64u << 20;

struct bench {
	const struct cost_geometry *geometry;
	struct cost_timer timer;
	struct cost_chase *sets[COST_SETS]; /* NULL: there is no such level */
};

/* A size between two caches': twice the small one, so that hardly a line is found there, but well below the large
 * one: others may hold a part of it. */
static uint64_t between(uint64_t small, uint64_t large)
{
	uint64_t bytes = small * 2 < large * 3 / 4 ? small * 2 : large * 3 / 4;
	return bytes > SET_MOST_BYTES ? SET_MOST_BYTES : bytes;
}

static uint64_t free_memory(void)
{
	long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : SET_OF_MEMORY;
}

/* Four times the last cache, but no more than a quarter of the memory that is free. */
static uint64_t memory_set(uint64_t last, uint64_t free_bytes)
{
	uint64_t bytes = last * 4 > SET_OF_MEMORY ? last * 4 : SET_OF_MEMORY;
	if (bytes > SET_MOST_BYTES)
		bytes = SET_MOST_BYTES;
	return bytes > free_bytes / 4 ? free_bytes / 4 : bytes;
}

static struct cost_set set_of(uint64_t lines, uint64_t stride, bool small_pages)
{
	return (struct cost_set){lines < LINES_LEAST ? LINES_LEAST : lines, stride, small_pages};
}

void cost_sets_of(const struct cost_geometry *g, uint64_t free_bytes, struct cost_set sets[COST_SETS])
{
	uint64_t line = g->line_bytes, page = g->page_bytes;
	uint64_t last = g->l3_bytes ? g->l3_bytes : g->l2_bytes ? g->l2_bytes : g->l1_bytes;
	uint64_t near = g->second_tlb && g->first_tlb * 4 > g->second_tlb / 2 ? g->second_tlb / 2
									      : g->first_tlb * 4;
	/* Twice what the TLBs hold: a walk in circles misses them then. Of four times as many even the pages'
	 * tables come from memory, in a guest also the hypervisor's: on an AMD EPYC a walk took 260 ns (in half of
	 * the sweeps 230 to 270), of twice as many 33 (27 to 37). */
	uint64_t far = (g->second_tlb ? g->second_tlb : g->first_tlb) * 2;
	memset(sets, 0, COST_SETS * sizeof *sets);
	sets[COST_SET_L1] = set_of(g->l1_bytes / 2 / line, line, false);
	if (g->l2_bytes)
		sets[COST_SET_L2] = set_of(between(g->l1_bytes, g->l2_bytes) / line, line, false);
	if (g->l3_bytes)
		sets[COST_SET_L3] = set_of(between(g->l2_bytes, g->l3_bytes) / line, line, false);
	/* a set that the last cache does not hold four times cannot tell memory from it */
	uint64_t bytes = memory_set(last, free_bytes);
	if (bytes > last * 2)
		sets[COST_SET_MEMORY] = set_of(bytes / line, line, false);
	if (g->second_tlb) {
		sets[COST_SET_NEAR_PACKED] = set_of(near, line, true);
		sets[COST_SET_NEAR_SPREAD] = set_of(near, page, true);
	}
	if (g->first_tlb) {
		sets[COST_SET_FAR_PACKED] = set_of(far, line, true);
		sets[COST_SET_FAR_SPREAD] = set_of(far, page, true);
	}
}

/* Those that are not there yet. */
static bool bench_open(struct bench *b, struct error *err)
{
	struct cost_set sets[COST_SETS];
	cost_sets_of(b->geometry, free_memory(), sets);
	for (unsigned i = 0; i < COST_SETS; i++)
		if (sets[i].lines && !b->sets[i] &&
		    !(b->sets[i] = cost_chase_new(sets[i].lines, sets[i].stride, b->geometry->line_bytes,
						  sets[i].small_pages)))
			return error_no_memory(err);
	return true;
}

static void bench_close(struct bench *b)
{
	for (unsigned i = 0; i < COST_SETS; i++)
		cost_chase_free(b->sets[i]);
}

static double chase(struct cost_chase *c, const struct bench *b, size_t steps, bool warm)
{
	return c ? cost_chase_run(c, &b->timer, steps, warm) : NAN;
}

static double stream(struct cost_chase *c, const struct bench *b, size_t steps, bool warm)
{
	return c ? cost_chase_stream(c, &b->timer, steps, warm) : NAN;
}

static double run(struct bench *b, enum cost_experiment experiment, double *touched_again)
{
	double first;
	switch (experiment) {
	case EXPERIMENT_L1_CHASE: return chase(b->sets[COST_SET_L1], b, STEPS_L1, true);
	case EXPERIMENT_L1_STREAM: return stream(b->sets[COST_SET_L1], b, STEPS_L1, true);
	case EXPERIMENT_L2_CHASE: return chase(b->sets[COST_SET_L2], b, STEPS_L2, true);
	case EXPERIMENT_L2_STREAM: return stream(b->sets[COST_SET_L2], b, STEPS_L2, true);
	case EXPERIMENT_L3_CHASE: return chase(b->sets[COST_SET_L3], b, STEPS_L3, true);
	case EXPERIMENT_L3_STREAM: return stream(b->sets[COST_SET_L3], b, STEPS_L3, true);
	/* not warmed: the set is larger than all caches, and the walk goes on where the last round stopped */
	case EXPERIMENT_MEMORY_CHASE: return chase(b->sets[COST_SET_MEMORY], b, STEPS_MEMORY, false);
	case EXPERIMENT_MEMORY_STREAM: return stream(b->sets[COST_SET_MEMORY], b, STREAM_MEMORY, false);
	case EXPERIMENT_NEAR_PACKED: return chase(b->sets[COST_SET_NEAR_PACKED], b, STEPS_TLB, true);
	case EXPERIMENT_NEAR_SPREAD: return chase(b->sets[COST_SET_NEAR_SPREAD], b, STEPS_TLB, true);
	case EXPERIMENT_FAR_PACKED: return chase(b->sets[COST_SET_FAR_PACKED], b, STEPS_TLB, true);
	case EXPERIMENT_FAR_SPREAD: return chase(b->sets[COST_SET_FAR_SPREAD], b, STEPS_TLB, true);
	case EXPERIMENT_TOUCH_FIRST:
		cost_touch(&b->timer, b->geometry->page_bytes, PAGES_TOUCHED, &first, touched_again);
		return first;
	case EXPERIMENT_TOUCH_AGAIN: return *touched_again;
	default: return cost_core(&b->timer, experiment);
	}
}

/* Ticks of the time stamp counter in 50 ms of the system's clock. */
static void find_tick(struct cost_timer *timer, const struct clock *clock)
{
	enum { LONG_ENOUGH_NS = 50000000 };
	uint64_t began_ns = clock_now_ns(clock), began = cost_ticks(), now_ns, now;
	do {
		now_ns = clock_now_ns(clock);
		now = cost_ticks();
	} while (now_ns - began_ns < LONG_ENOUGH_NS);
	timer->ns_per_tick = now > began ? (double)(now_ns - began_ns) / (double)(now - began) : 1;
}

static long times_preempted(void)
{
	struct rusage usage;
	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* Another thread on this CPU would be in the time: such a run is done again, a few times. Of three runs the
 * shortest counts: what shares caches and memory with this machine, other guests of a hypervisor too, only ever
 * adds. */
static double run_alone(struct bench *b, enum cost_experiment experiment, double *touched_again)
{
	double best = NAN;
	for (unsigned attempt = 0, alone = 0; attempt < ATTEMPTS && alone < BEST_OF; attempt++) {
		long before = times_preempted();
		double ns = run(b, experiment, touched_again);
		if (experiment == EXPERIMENT_TOUCH_FIRST || experiment == EXPERIMENT_TOUCH_AGAIN)
			return ns; /* of one mapping */
		alone += times_preempted() == before;
		best = fmin(best, ns);
	}
	return best;
}

/* The median of the rounds that there are; NAN: of none. */
static double middle(double *rounds, size_t n)
{
	size_t known = 0;
	for (size_t i = 0; i < n; i++)
		if (isfinite(rounds[i]))
			rounds[known++] = rounds[i];
	return known ? stats_median(rounds, known) : NAN;
}

static void sweep(struct bench *b, size_t rounds, struct cost_times *out, size_t at)
{
	double ns[EXPERIMENTS][COST_ROUNDS_MOST], again = NAN;
	for (size_t round = 0; round < rounds; round++)
		for (unsigned e = 0; e < EXPERIMENTS; e++)
			ns[e][round] = run_alone(b, (enum cost_experiment)e, &again);
	for (unsigned e = 0; e < EXPERIMENTS; e++)
		out->ns[e][at] = middle(ns[e], rounds);
}

static void rest(double seconds)
{
	struct timespec left = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
	nanosleep(&left, NULL);
}

/* New memory, other than that of the sweep before. */
static bool open_again(struct bench *b, struct error *err)
{
	struct bench old = *b;
	*b = (struct bench){.geometry = old.geometry, .timer = old.timer};
	/* it is most of a cache many times over: its pages do not matter */
	b->sets[COST_SET_MEMORY] = old.sets[COST_SET_MEMORY];
	old.sets[COST_SET_MEMORY] = NULL;
	bool done = bench_open(b, err);
	bench_close(&old);
	return done;
}

enum cost_next costs_next(const struct cost_plan *plan, size_t done, double seconds)
{
	double each = seconds / (double)done;
	if (done >= plan->least && each * (double)(done + 1) > plan->most_s)
		return COST_ENOUGH;
	return each * (double)plan->sweeps > plan->most_s ? COST_GO_ON : COST_REST;
}

bool costs_take(const struct cost_geometry *geometry, const struct cost_plan *plan, struct cost_times *out,
		double *seconds, void (*progress)(void *context, size_t done, size_t all), void *context,
		struct error *err)
{
	struct bench bench = {.geometry = geometry};
	const struct clock clock = clock_monotonic();
	uint64_t began_ns = clock_now_ns(&clock);
	size_t rounds = plan->rounds < COST_ROUNDS_MOST ? plan->rounds : COST_ROUNDS_MOST;
	bool done = true;
	find_tick(&bench.timer, &clock);
	out->sweeps = plan->sweeps < COST_SWEEPS_MOST ? plan->sweeps : COST_SWEEPS_MOST;
	for (size_t i = 0; done && i < out->sweeps; i++) {
		if (progress)
			progress(context, i, out->sweeps);
		double so_far = 1e-9 * (double)(clock_now_ns(&clock) - began_ns);
		enum cost_next next = i ? costs_next(plan, i, so_far) : COST_GO_ON;
		if (next == COST_ENOUGH) {
			out->sweeps = i;
			break;
		}
		if (next == COST_REST)
			rest(plan->pause_s);
		done = open_again(&bench, err);
		if (done)
			sweep(&bench, rounds, out, i);
	}
	bench_close(&bench);
	*seconds = 1e-9 * (double)(clock_now_ns(&clock) - began_ns);
	return done;
}
