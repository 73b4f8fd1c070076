/*
 * Costs of this machine, by experiments: each executes one kind of step very often and gives the time of one step.
 *
 *     sweeps × rounds × experiments ──► times[experiment][sweep] ──► costs_derive() ──► struct costs
 *
 * What always holds:
 *  1. An experiment runs once in each round, so that a slow moment of the machine falls on all of them.
 *  2. Each sweep has memory of its own, mapped while that of the one before is still there: which pages a set has
 *     decides what a cache keeps of it, and that differs from one calibration to the next. A sweep's time is the
 *     median of its rounds.
 *  3. A cost that is a difference of two experiments is taken within a sweep, before the median.
 *  4. `typical` is a median over the sweeps. Where no experiment gives a minimum or a maximum, it is the lower or
 *     the upper decile of the sweeps.
 *  5. Between low and high another calibration's typical lies, with that confidence: the distribution-free
 *     interval of the median (binomial order statistics, stats_median_interval()), as much wider as the difference
 *     of two medians is; at least the sweeps' deciles, as slow moments may last longer than a calibration; and
 *     beyond that what the clock's frequency may differ by.
 *  6. costs_derive() knows no clock: tests plant times. */
#ifndef TARE_EXPLAIN_MEASURE_H
#define TARE_EXPLAIN_MEASURE_H

#include "explain/costs.h"

/* What one step is. */
enum cost_experiment {
	EXPERIMENT_DEPENDENT,   /* an addition that needs the one before */
	EXPERIMENT_TWO_CHAINS,  /* an addition; two such chains side by side */
	EXPERIMENT_INDEPENDENT, /* an addition; eight chains side by side */
	EXPERIMENT_MIXED,       /* likewise, each third instruction a load from L1 that nothing waits for */
	EXPERIMENT_DIVIDES,     /* a division of doubles that needs the one before */
	EXPERIMENT_DIVIDES_APART,
	EXPERIMENT_ROOTS, /* a square root, likewise */
	EXPERIMENT_ROOTS_APART,
	EXPERIMENT_L1_CHASE,  /* a load whose address is what the one before loaded; half of L1 */
	EXPERIMENT_L1_STREAM, /* a load from the line after */
	EXPERIMENT_L2_CHASE,  /* the same in a set of lines that L2 holds and L1 does not … */
	EXPERIMENT_L2_STREAM,
	EXPERIMENT_L3_CHASE,
	EXPERIMENT_L3_STREAM,
	EXPERIMENT_MEMORY_CHASE, /* … and one that no cache holds */
	EXPERIMENT_MEMORY_STREAM,
	EXPERIMENT_NEAR_PACKED, /* a chase through few lines, packed … */
	EXPERIMENT_NEAR_SPREAD, /* … and one in each page: more pages than the first TLB has entries */
	EXPERIMENT_FAR_PACKED,
	EXPERIMENT_FAR_SPREAD,         /* … and more than the second has */
	EXPERIMENT_BRANCH_PREDICTABLE, /* a branch that is never taken … */
	EXPERIMENT_BRANCH_RANDOM,      /* … and one on a random bit: half of them are predicted wrongly */
	EXPERIMENT_TOUCH_FIRST,        /* a store into a page of a new mapping … */
	EXPERIMENT_TOUCH_AGAIN,        /* … and a second one */
	EXPERIMENT_SYSTEM_CALL,        /* getppid(2) */
	EXPERIMENTS,
};

/* What the experiments' sizes follow from. 0: there is none. */
struct cost_geometry {
	uint64_t l1_bytes, l2_bytes, l3_bytes, line_bytes, page_bytes;
	uint64_t first_tlb, second_tlb; /* entries */
};

enum { COST_SWEEPS_MOST = 101, COST_ROUNDS_MOST = 15 /* of a sweep */ };

/* ns of one step; NAN: there is no such experiment on this machine. */
struct cost_times {
	size_t sweeps;
	double ns[EXPERIMENTS][COST_SWEEPS_MOST];
};

/* Fills in what the times say: rows of costs->of, with their sources (in costs->arena). False when memory ran
 * out. */
bool costs_derive(const struct cost_times *times, double confidence, struct costs *costs, struct error *err);

struct cost_plan {
	size_t sweeps, rounds; /* rounds: of each sweep */
	double pause_s;        /* between sweeps: slow moments of the machine are longer than a sweep */
	size_t least;          /* so many sweeps in any case … */
	double most_s;         /* … and more, and pauses, while they fit into this time */
};

/* What comes after `done` sweeps in so many seconds; at least one. */
enum cost_next { COST_REST, COST_GO_ON, COST_ENOUGH };
enum cost_next costs_next(const struct cost_plan *plan, size_t done, double seconds);

/* Measures; *seconds: what it took. progress may be NULL. */
bool costs_take(const struct cost_geometry *geometry, const struct cost_plan *plan, struct cost_times *out,
		double *seconds, void (*progress)(void *context, size_t done, size_t all), void *context,
		struct error *err);

/* The lines that chases and streams go through. */
enum cost_set_kind {
	COST_SET_L1,
	COST_SET_L2,
	COST_SET_L3,
	COST_SET_MEMORY,
	COST_SET_NEAR_PACKED,
	COST_SET_NEAR_SPREAD,
	COST_SET_FAR_PACKED,
	COST_SET_FAR_SPREAD,
	COST_SETS,
};
struct cost_set {
	uint64_t lines, stride; /* lines 0: there is no such level */
	bool small_pages;       /* never in large ones */
};
/* tests/cli/cost_sets_test.py counts what they miss on declared machines. */
void cost_sets_of(const struct cost_geometry *geometry, uint64_t free_bytes, struct cost_set sets[COST_SETS]);

/* ---- pieces (measure_memory.c, measure_core.c) ---- */

/* Seconds per call of what is timed, by the processor's time stamp counter where there is one. */
struct cost_timer {
	double ns_per_tick;
};
uint64_t cost_ticks(void);

/* ns per step, each; they keep the compiler from changing what a step is. */
double cost_core(const struct cost_timer *timer, enum cost_experiment experiment);

struct cost_chase; /* lines linked in a random circle */
/* n lines, each `stride` bytes behind the one before; `small_pages`: never in large ones. NULL: no memory. */
struct cost_chase *cost_chase_new(size_t n, size_t stride, size_t line_bytes, bool small_pages);
double cost_chase_run(struct cost_chase *chase, const struct cost_timer *timer, size_t steps, bool warm);
double cost_chase_stream(struct cost_chase *chase, const struct cost_timer *timer, size_t steps, bool warm);
void cost_chase_free(struct cost_chase *chase);
/* Both of a new mapping of n pages. NAN: there is no memory. */
void cost_touch(const struct cost_timer *timer, size_t page_bytes, size_t n, double *first, double *again);

#endif
