/* From times of experiments to costs. See measure.h. */
#include <math.h>

#include "explain/measure.h"
#include "stats/stats.h"
#include "stats/student.h"

/* The times of one experiment, or of one less another, sweep by sweep. */
struct cost_series {
	double ns[COST_SWEEPS_MOST];
	size_t n;     /* 0: there is no such experiment */
	double whole; /* of a difference: the median of what is taken off of; the clock may differ in that */
};

static const enum cost_experiment NOTHING = EXPERIMENTS;

/* (of − less) · factor of each sweep; a difference below 0 is measured noise, and stays: the median needs it. */
static struct cost_series series_of(const struct cost_times *times, enum cost_experiment of,
				    enum cost_experiment less, double factor)
{
	struct cost_series s = {.n = 0};
	double whole[COST_SWEEPS_MOST];
	for (size_t i = 0; i < times->sweeps; i++) {
		double ns = times->ns[of][i];
		if (less != NOTHING)
			ns -= times->ns[less][i];
		if (!isfinite(ns))
			continue;
		whole[s.n] = times->ns[of][i] * factor;
		s.ns[s.n++] = ns * factor;
	}
	s.whole = s.n && less != NOTHING ? stats_median(whole, s.n) : 0;
	return s;
}

/* A time is never below 0, whatever noise says. */
static double seconds_of(double ns) { return ns > 0 ? ns * 1e-9 : 0; }

/* The clock's frequency may differ by so much from one calibration to the next, and the sweeps of one agree more
 * than that. Of eight calibrations of an AMD EPYC each one's interval of L2's cost was 0.0001 % wide, and their
 * medians were 0.003 % apart. */
static const double CLOCK_PART = 0.02;

struct deriving {
	const struct cost_times *times;
	double confidence, clock_part;
	struct costs *costs;
	bool failed;
};

/* The confidence of a median's interval in which the median of as many others lies with this one: the difference
 * of two medians spreads √2 times as far as one does. */
static double of_another(double confidence)
{
	return 2 * normal_probability(sqrt(2) * normal_quantile((1 + confidence) / 2)) - 1;
}

/* typical from `typical`; least and most from other series' medians, or (of none) from its deciles. */
static void add(struct deriving *d, enum cost_operation operation, const struct cost_series *typical,
		const struct cost_series *least, const struct cost_series *most, const char *source)
{
	struct cost *cost = &d->costs->of[operation];
	struct interval interval;
	if (!typical->n || (least && !least->n) || (most && !most->n))
		return;
	*cost = (struct cost){.known = true, .n = typical->n, .low = NAN, .high = NAN};
	cost->typical = seconds_of(stats_median(typical->ns, typical->n));
	if (stats_median_interval(typical->ns, typical->n, of_another(d->confidence), &interval)) {
		double low = fmin(interval.low, stats_quantile(typical->ns, typical->n, 0.1)),
		       high = fmax(interval.high, stats_quantile(typical->ns, typical->n, 0.9));
		cost->low = seconds_of(low - d->clock_part * fmax(low, typical->whole));
		cost->high = seconds_of(high + d->clock_part * fmax(high, typical->whole));
	}
	cost->least = seconds_of(least ? stats_median(least->ns, least->n)
				       : stats_quantile(typical->ns, typical->n, 0.1));
	cost->most = seconds_of(most ? stats_median(most->ns, most->n)
				     : stats_quantile(typical->ns, typical->n, 0.9));
	/* on a noisy machine medians of different experiments may cross by a little */
	cost->least = fmin(cost->least, cost->typical);
	cost->most = fmax(cost->most, cost->typical);
	cost->source = arena_strdup(&d->costs->arena, source);
	d->failed |= !cost->source;
}

/* Beyond an instruction: each of its three costs is taken off where it is in the sum. */
static void add_beyond(struct deriving *d, enum cost_operation operation, enum cost_experiment apart,
		       enum cost_experiment chain, const char *source)
{
	struct cost_series typical = series_of(d->times, apart, EXPERIMENT_TWO_CHAINS, 1),
			   least = series_of(d->times, apart, EXPERIMENT_INDEPENDENT, 1),
			   most = series_of(d->times, chain, EXPERIMENT_DEPENDENT, 1);
	add(d, operation, &typical, &least, &most, source);
}

static void add_core(struct deriving *d)
{
	const struct cost_times *t = d->times;
	struct cost_series dependent = series_of(t, EXPERIMENT_DEPENDENT, NOTHING, 1),
			   two = series_of(t, EXPERIMENT_TWO_CHAINS, NOTHING, 1),
			   independent = series_of(t, EXPERIMENT_INDEPENDENT, NOTHING, 1),
			   mixed = series_of(t, EXPERIMENT_MIXED, NOTHING, 1),
			   /* half of the random bits are guessed wrongly: two steps are one misprediction */
		branches = series_of(t, EXPERIMENT_BRANCH_RANDOM, EXPERIMENT_BRANCH_PREDICTABLE, 2);
	/* a core that has room for loads beside its additions executes more instructions with them */
	bool room = mixed.n && independent.n &&
		    stats_median(mixed.ns, mixed.n) < stats_median(independent.ns, independent.n);
	add(d, OPERATION_INSTRUCTION, &two, room ? &mixed : &independent, &dependent,
	    "additions: two dependent chains side by side; eight, with loads; one");
	add_beyond(d, OPERATION_DIVIDE, EXPERIMENT_DIVIDES_APART, EXPERIMENT_DIVIDES,
		   "divisions of doubles beyond an instruction: independent ones; dependent ones");
	add_beyond(d, OPERATION_SQUARE_ROOT, EXPERIMENT_ROOTS_APART, EXPERIMENT_ROOTS,
		   "square roots of doubles beyond an instruction: independent ones; dependent ones");
	add(d, OPERATION_BRANCH_MISS, &branches, NULL, NULL,
	    "branches on random bits less predictable ones, a half of them mispredicted");
}

static void add_memory(struct deriving *d)
{
	const struct cost_times *t = d->times;
	struct cost_series l1 = series_of(t, EXPERIMENT_L1_CHASE, EXPERIMENT_DEPENDENT, 1),
			   l1_stream = series_of(t, EXPERIMENT_L1_STREAM, EXPERIMENT_TWO_CHAINS, 1),
			   /* three instructions, one of them a load: what two additions beside it do not hide */
		l1_hidden = series_of(t, EXPERIMENT_MIXED, EXPERIMENT_INDEPENDENT, 3),
			   l2 = series_of(t, EXPERIMENT_L2_CHASE, NOTHING, 1),
			   l2_stream = series_of(t, EXPERIMENT_L2_STREAM, NOTHING, 1),
			   l3 = series_of(t, EXPERIMENT_L3_CHASE, NOTHING, 1),
			   l3_stream = series_of(t, EXPERIMENT_L3_STREAM, NOTHING, 1),
			   memory = series_of(t, EXPERIMENT_MEMORY_CHASE, NOTHING, 1),
			   memory_stream = series_of(t, EXPERIMENT_MEMORY_STREAM, NOTHING, 1),
			   near = series_of(t, EXPERIMENT_NEAR_SPREAD, EXPERIMENT_NEAR_PACKED, 1),
			   far = series_of(t, EXPERIMENT_FAR_SPREAD, EXPERIMENT_FAR_PACKED, 1);
	add(d, OPERATION_L1_HIT, &l1_stream, &l1_hidden, &l1,
	    "loads from L1 beyond an instruction: independent ones; among additions; a pointer chase");
	add(d, OPERATION_L2_HIT, &l2, &l2_stream, NULL, "a pointer chase in L2; lines read in order");
	add(d, OPERATION_L3_HIT, &l3, &l3_stream, NULL, "a pointer chase in L3; lines read in order");
	add(d, OPERATION_MEMORY, &memory, &memory_stream, NULL, "a pointer chase in memory; lines read in order");
	add(d, OPERATION_L2_STREAM, &l2_stream, NULL, NULL, "lines of L2 read in order");
	add(d, OPERATION_L3_STREAM, &l3_stream, NULL, NULL, "lines of L3 read in order");
	add(d, OPERATION_MEMORY_STREAM, &memory_stream, NULL, NULL, "lines of memory read in order");
	add(d, OPERATION_TLB_HIT, &near, NULL, NULL,
	    "a pointer chase with a page for each line, less one with the lines packed");
	add(d, OPERATION_TLB_WALK, &far, NULL, NULL,
	    "a pointer chase through more pages than the TLBs hold, less one with the lines packed");
}

static void add_kernel(struct deriving *d)
{
	struct cost_series faults = series_of(d->times, EXPERIMENT_TOUCH_FIRST, EXPERIMENT_TOUCH_AGAIN, 1),
			   calls = series_of(d->times, EXPERIMENT_SYSTEM_CALL, NOTHING, 1);
	add(d, OPERATION_PAGE_FAULT, &faults, NULL, NULL,
	    "first stores into pages of new memory, less second ones");
	add(d, OPERATION_SYSTEM_CALL, &calls, NULL, NULL, "getppid(2)");
}

bool costs_derive(const struct cost_times *times, double confidence, struct costs *costs, struct error *err)
{
	struct deriving d = {.times = times, .confidence = confidence, .clock_part = CLOCK_PART, .costs = costs};
	costs->measured = true;
	costs->confidence = confidence;
	/* an addition takes one cycle on every CPU that Linux runs on */
	struct cost_series dependent = series_of(times, EXPERIMENT_DEPENDENT, NOTHING, 1);
	double cycle = dependent.n ? seconds_of(stats_median(dependent.ns, dependent.n)) : 0;
	costs->clock_hz = cycle > 0 ? 1 / cycle : NAN;
	for (size_t i = 0; cycle > 0 && i < dependent.n; i++)
		d.clock_part = fmax(d.clock_part, fabs(seconds_of(dependent.ns[i]) - cycle) / cycle);
	costs->clock_part = d.clock_part;
	add_core(&d);
	add_memory(&d);
	add_kernel(&d);
	return !d.failed || error_no_memory(err);
}
