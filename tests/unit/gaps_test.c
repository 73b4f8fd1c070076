/* Do intervals of shares hold the truth, whatever the gaps between samples and whatever the program's phases? Simulated, seeded: what
 * tare's documents say of gaps is asserted here.
 *
 * The simulator: a program is a function of time (cycles) that says whether its hot row runs. It is sampled about 1000 times, from a
 * start that is random, with gaps of one kind, mean 65,536 cycles. Truth is the row's share of the time. Each cell of the table is how many
 * of the programs' 95 % intervals hold it. A gap may be drawn once for several samples
 * (redraw), because to change a counter's gap takes a system call.
 *
 * What comes out of it: an exponential gap that is used more than once would need samples that count as their gaps. Half of a gap fixed
 * and half exponential, used for 4 samples, does not: such are tare's gaps.
 *
 * The second part has the kernel's rule: a gap repeats until tare sets the next, and setting it begins it anew. tare sets it some time
 * after it was due. Gaps are then those of src/backend/perf/sample/gaps.c, and the samples have to be as many as the mean gap says, for
 * otherwise a time with drawn gaps and one with fixed gaps (threads) would have different shares of the samples. */
#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#include "backend/perf/sample/gaps.h"
#include "base/random.h"
#include "stats/stats.h"
#include "tap.h"

static int draws = 2000; /* gaps_test TIMES: so many times as many (make check-full) */

/* ---- programs ---- */

/* A loop in which the row runs in the first `duty` of each period; with a second period it does so only while the outer loop is in its
 * first `outer_duty`. */
struct program {
	const char *name;
	double period, duty;
	double outer_period, outer_duty; /* 0: none */
};

static const double WHOLE = 65536 * 1000.0;
static const struct program programs[] = {
	{"short loop, out of step", 65536 / 64.37, 0.3, 0, 0},
	{"short loop in step: 64 to a gap", 1024, 0.3, 0, 0},
	{"loop in step: one to a gap", 65536, 0.3, 0, 0},
	{"loop in step with the jittered gap's mean", 65536 * 1.0625, 0.3, 0, 0},
	{"loop in step with the prime gap", 65537, 0.3, 0, 0},
	{"loop of 2.7 gaps", 65536 * 2.7, 0.3, 0, 0},
	{"phases of 20 gaps", 65536 * 20.3, 0.3, 0, 0},
	{"ten long phases", WHOLE / 10, 0.3, 0, 0},
	{"a short loop in step, in ten long phases", 1024, 0.5, WHOLE / 10, 0.6},
	{"one phase of a third of the run", WHOLE, 0.3, 0, 0},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };
// clang-format off: a table, a row a line
enum {
	OUT_OF_STEP,
	STEP_SHORT,
	STEP_ONE,
	STEP_JITTER,
	STEP_PRIME,
	LOOP_MEDIUM,
	PHASES_20,
	PHASES_10,
	NESTED,
	ONE_PHASE
};
// clang-format on

static double turn(double time, double period)
{
	double turns = time / period;
	return turns - floor(turns);
}

static bool in_row(const struct program *program, double time)
{
	return turn(time, program->period) < program->duty &&
	       (program->outer_period == 0 || turn(time, program->outer_period) < program->outer_duty);
}

static double share_of(const struct program *program)
{
	return program->duty * (program->outer_period == 0 ? 1 : program->outer_duty);
}

/* ---- gaps ---- */

struct gaps {
	const char *name;
	enum { FIXED, JITTER, EXPONENTIAL, HALF } kind; /* HALF: half of the mean + exponential */
	double mean;
	unsigned redraw;
};

static double draw_gap(const struct gaps *gaps, struct random *r)
{
	if (gaps->kind == FIXED)
		return gaps->mean;
	if (gaps->kind == JITTER)
		return gaps->mean * (1 + random_unit(r) / 8);
	if (gaps->kind == HALF)
		return gaps->mean * (0.5 - 0.5 * log(1 - random_unit(r)));
	return -gaps->mean * log(1 - random_unit(r));
}

/* Does the interval hold the truth? */
static bool holds(const struct program *program, const struct gaps *gaps, struct random *r)
{
	uint64_t row = 0, all = 0;
	/* the run begins anywhere in its loops; phases of the whole run begin with it */
	double start = program->period < WHOLE / 10 ? random_unit(r) * program->period : 0;
	double gap = 0, time = 0;
	for (unsigned sample = 0;; sample++) {
		if (sample % gaps->redraw == 0)
			gap = draw_gap(gaps, r);
		time += sample == 0 ? gap * random_unit(r) : gap;
		if (time >= WHOLE)
			break;
		all++;
		row += in_row(program, time + start);
	}
	struct interval interval;
	double truth = share_of(program);
	bool done = stats_share(row, all, 0.95, &interval);
	return done && interval.low <= truth && truth <= interval.high;
}

static const struct gaps kinds[] = {
	{"exponential, each anew", EXPONENTIAL, 65536, 1},
	{"exponential, every 4", EXPONENTIAL, 65536, 4},
	{"exponential, every 16", EXPONENTIAL, 65536, 16},
	{"exponential, every 64", EXPONENTIAL, 65536, 64},
	{"jitter, each anew", JITTER, 65536, 1},
	{"jitter, every 16", JITTER, 65536, 16},
	{"fixed", FIXED, 65536, 1},
	{"prime", FIXED, 65537, 1},
	{"tare's: half fixed, every 4", HALF, 65536, 4},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
// clang-format off: a table, a row a line
enum { EXP_1, EXP_4, EXP_16, EXP_64, JITTER_1, JITTER_16, FIXED_, PRIME, HALF_4 };
// clang-format on

static double coverage[KINDS][PROGRAMS];

static void simulate(void)
{
	for (size_t k = 0; k < KINDS; k++)
		for (size_t p = 0; p < PROGRAMS; p++) {
			struct random r = {.state = 100 * k + p};
			int covered = 0;
			for (int draw = 0; draw < draws; draw++)
				covered += holds(&programs[p], &kinds[k], &r);
			coverage[k][p] = (double)covered / draws;
		}
	for (size_t k = 0; k < KINDS; k++) {
		printf("# %-32s", kinds[k].name);
		for (size_t p = 0; p < PROGRAMS; p++)
			printf(" %5.1f", 100 * coverage[k][p]);
		putchar('\n');
	}
}

/* Not rejected at 99 % that it covers `stated` or more. */
static bool not_below(double covered, double stated)
{
	return gsl_cdf_binomial_P((unsigned)lround(covered * draws), stated, (unsigned)draws) >= 0.01;
}

static void all_covered(size_t kind, double stated, const char *what)
{
	bool all = true;
	for (size_t p = 0; p < PROGRAMS; p++)
		all = all && not_below(coverage[kind][p], stated);
	ok(all, "%s: that %.0f %% or more are covered is not rejected at 99 %%, in any phase structure", what,
	   100 * stated);
}

static void facts(void)
{
	bool within = true;
	for (size_t p = 0; p < PROGRAMS; p++)
		within = within && coverage[EXP_1][p] >= 0.92 && coverage[EXP_1][p] <= 0.98;
	ok(within, "exponential gaps, each drawn anew: 92 … 98 %% are covered in every phase structure");
	all_covered(EXP_1, 0.95, "exponential gaps, each drawn anew");

	ok(coverage[FIXED_][STEP_SHORT] == 0 && coverage[FIXED_][STEP_ONE] == 0 && coverage[FIXED_][NESTED] == 0,
	   "a fixed gap covers 0 %% of loops that are in step with it");
	ok(coverage[PRIME][STEP_SHORT] >= 0.95 && coverage[PRIME][NESTED] >= 0.95,
	   "a prime gap covers loops whose period is a power of two");
	ok(coverage[PRIME][STEP_PRIME] == 0 && coverage[PRIME][STEP_ONE] < 0.01,
	   "… and next to nothing of loops that are in step with the prime, or nearly");
	bool jitter = true;
	for (size_t p = 0; p < PROGRAMS; p++)
		jitter = jitter && (p == STEP_JITTER || coverage[JITTER_1][p] >= 0.927);
	ok(jitter, "a gap of T + uniform(0, T/8) covers 92.7 %% or more in all but one of them");
	ok(coverage[JITTER_1][STEP_JITTER] < 0.3,
	   "… and less than 30 %% of a loop that takes as long as its mean, 17/16 T");

	/* a gap that is used again */
	bool loops = true;
	for (size_t p = 0; p <= STEP_PRIME; p++)
		loops = loops && coverage[EXP_4][p] >= 0.92 && coverage[EXP_16][p] >= 0.92 &&
			coverage[EXP_64][p] >= 0.92;
	ok(loops,
	   "an exponential gap used for 4, 16 or 64 samples covers 92 %% or more of short loops, in step or not");
	ok(coverage[EXP_4][ONE_PHASE] < 0.75 && coverage[EXP_16][ONE_PHASE] < 0.5 &&
		   coverage[EXP_64][ONE_PHASE] < 0.3,
	   "… but of long phases less than 75, 50 and 30 %% where all samples count the same");
	/* src/backend/perf/sample/gaps.h: for runs of k samples the counts vary as k · (deviation/mean)² times a Poisson process's: as once */
	all_covered(
		HALF_4, 0.94,
		"tare's default, half of the gap fixed and half exponential, for 4 samples that count the same");
}

/* ---- the kernel's rule ---- */

/* tare sets a gap so long after it was due, in mean gaps: exponential with this mean, and sometimes of `starved` */
struct delay {
	const char *name;
	double mean, chance, starved;
};

static const struct delay delays[] = {
	{"none", 0, 0, 0},
	{"a twentieth of a gap", 0.05, 0, 0},
	{"a third of a gap", 0.3, 0, 0},
	{"a gap", 1, 0, 0},
	{"a third, and 5 gaps one time in 20", 0.3, 0.05, 5},
	{"4 gaps", 4, 0, 0},
	{"50 gaps", 50, 0, 0},
	{"100 gaps", 100, 0, 0},
};
enum { DELAYS = sizeof delays / sizeof *delays, SHORT_DELAYS = 6, THIRD = 2, FIFTY_GAPS = 6, HUNDRED_GAPS = 7 };

static double random_delay(const struct delay *delay, struct random *r)
{
	bool starved = delay->chance > 0 && random_unit(r) < delay->chance;
	return -65536 * (starved ? delay->starved : delay->mean) * log(1 - random_unit(r));
}

struct course_result {
	uint64_t samples, in_row;
	double run; /* gap_mean_run() */
};

/* One stream, sampled for `whole` events. corrected false: each gap is drawn and set, and nothing is made good. */
static struct course_result run_course(const struct program *program, const struct delay *delay,
				       const struct gap_plan *plan, bool corrected, double whole, struct random *r)
{
	struct gap_course course;
	struct course_result result = {0};
	double start = program->period < WHOLE / 10 ? random_unit(r) * program->period : 0, time = 0;
	gap_begin(&course, plan);
	while (time < whole) {
		double gap = (double)gap_next(&course, plan, r), set = time, due = INFINITY;
		uint64_t samples = 0;
		while ((time += gap) < whole && time <= due) {
			result.in_row += in_row(program, time + start);
			if (++samples == plan->redraw)
				due = time + random_delay(delay, r);
		}
		result.samples += samples;
		if (due > whole) /* the run ends first */
			return result.run = gap_mean_run(course.samples + (double)samples,
							 course.squares + (double)(samples * samples)),
			       result;
		/* what passed since the last sample is lost */
		time = due;
		gap_end(&course, plan, (uint64_t)(time - set), samples, corrected);
	}
	return result;
}

/* Samples in 20 runs, of those that the mean gap says. */
static double rate_of(const struct delay *delay, const struct gap_plan *plan, bool corrected)
{
	struct random r = {.state = plan->redraw};
	enum { RUNS = 20 };
	uint64_t samples = 0;
	for (int run = 0; run < RUNS; run++)
		samples += run_course(&programs[0], delay, plan, corrected, 4 * WHOLE, &r).samples;
	return (double)samples / (4000.0 * RUNS) * (double)gap_mean(plan->gaps, plan->gap) / 65536;
}

static void rates(void)
{
	static const uint32_t redraws[] = {1, 2, 3, 4, 8, 16};
	struct gap_plan plan = {GAPS_EXPONENTIAL, 65536, 0};
	double worst = 0, worst_long = 0, worst_jitter = 0;
	for (size_t d = 0; d < DELAYS; d++)
		for (size_t i = 0; i < sizeof redraws / sizeof *redraws; i++) {
			plan.redraw = redraws[i];
			plan.gaps = GAPS_EXPONENTIAL;
			double off = fabs(rate_of(&delays[d], &plan, true) - 1);
			worst_long = off > worst_long ? off : worst_long;
			worst = d < FIFTY_GAPS && off > worst ? off : worst;
			plan.gaps = GAPS_JITTER;
			off = fabs(rate_of(&delays[d], &plan, true) - 1);
			worst_jitter = off > worst_jitter ? off : worst_jitter;
		}
	printf("# samples are off what the mean gap says by at most %.2f %%, with delays of 50 gaps or more %.2f "
	       "%%, "
	       "with jitter %.2f %%\n",
	       100 * worst, 100 * worst_long, 100 * worst_jitter);
	ok(worst < 0.01, "whatever the delay up to 4 gaps, and drawn anew every 1 to 16 samples: samples are as "
			 "many as the mean gap says, to 1 %%");
	ok(worst_long < 0.01, "with delays of 50 and 100 gaps likewise");
	ok(worst_jitter < 0.01, "with jittered gaps to 1 %%");
	plan = (struct gap_plan){GAPS_EXPONENTIAL, 65536, 4};
	plan.redraw = 1;
	double lost = rate_of(&delays[THIRD], &plan, false);
	printf("# without correction: %.3f\n", lost);
	ok(lost < 0.9, "where nothing is made good, gaps begun anew give more than 10 %% too few");
	/* nothing is to be learnt of gaps whose samples were lost: without their samples they seem too long */
	struct gap_course course;
	gap_begin(&course, &plan);
	struct random r = {.state = 1};
	gap_next(&course, &plan, &r);
	gap_end(&course, &plan, 100 * 65536, 1, false);
	ok(course.owed == 0, "a gap of which samples were lost changes nothing");
}

/* A program may be over, or in another phase, after a few of tare's delays: then nothing is left to make good. */
static void short_phases(void)
{
	enum { RUNS = 2000 };
	static const double gaps[] = {100, 500};
	static const double root_most[] = {0.125,
					   0.05}; /* of the mean square; a Poisson process has 0.1 and 0.045 */
	const struct gap_plan plan = {GAPS_EXPONENTIAL, 65536, GAP_REDRAW};
	for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
		struct random r = {.state = 11 + i};
		double most = 0, squares = 0;
		for (int run = 0; run < RUNS; run++) {
			double off = (double)run_course(&programs[0], &delays[HUNDRED_GAPS], &plan, true,
							gaps[i] * 65536, &r)
						     .samples /
					     gaps[i] -
				     1;
			squares += off * off / RUNS;
			most = fabs(off) > most ? fabs(off) : most;
		}
		printf("# %.0f gaps, delays of 100: samples are off by %.1f %%, at most %.0f %%\n", gaps[i],
		       100 * sqrt(squares), 100 * most);
		ok(sqrt(squares) < root_most[i] && most < 0.6,
		   "a phase of %.0f gaps, with delays of 100 gaps: about as many samples as are due, each time",
		   gaps[i]);
	}
}

/* Coverage of the intervals, as long as no gap was used for too long. */
static void covered_with_delays(void)
{
	const struct gap_plan plan = {GAPS_EXPONENTIAL, 65536, GAP_REDRAW};
	for (size_t d = 0; d < SHORT_DELAYS; d++) {
		double least = 1, runs = 0;
		bool all = true;
		for (size_t p = 0; p < PROGRAMS; p++) {
			struct random r = {.state = 1000 * d + p};
			int held = 0;
			for (int draw = 0; draw < draws; draw++) {
				struct interval interval;
				struct course_result result = run_course(&programs[p], &delays[d], &plan, true,
									 WHOLE, &r);
				runs += result.run / draws / PROGRAMS;
				held += stats_share(result.in_row, result.samples, 0.95, &interval) &&
					interval.low <= share_of(&programs[p]) &&
					share_of(&programs[p]) <= interval.high;
			}
			least = (double)held / draws < least ? (double)held / draws : least;
			all = all && not_below((double)held / draws, 0.94);
		}
		printf("# delay %s: at least %.1f %% covered, a gap lasts %.1f samples\n", delays[d].name,
		       100 * least, runs);
		ok(all && runs < GAP_RUN_MOST,
		   "delayed by %s: that 94 %% or more are covered is not rejected at 99 %%, in any phase "
		   "structure",
		   delays[d].name);
	}
	struct random r = {.state = 7};
	double run = run_course(&programs[0], &delays[FIFTY_GAPS], &plan, true, WHOLE, &r).run;
	ok(run > GAP_RUN_MOST, "delays for which that is not so are known by their mean run (%.1f)", run);
}

int main(int n, char **arguments)
{
	if (n > 1)
		draws *= atoi(arguments[1]);
	simulate();
	facts();
	rates();
	short_phases();
	covered_with_delays();
	return done();
}
