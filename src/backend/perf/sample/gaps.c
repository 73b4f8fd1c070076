#include "backend/perf/sample/gaps.h"

#include <math.h>

double random_exponential(struct random *random)
{
	/* A first number that begins a falling run of odd length is distributed as exp(-x) on [0, 1); each
	 * failure adds 1, and happens with the chance 1/e. */
	for (double whole = 0;; whole++) {
		double first = random_unit(random), last = first;
		bool odd = true;
		for (double next; (next = random_unit(random)) < last; last = next)
			odd = !odd;
		if (odd)
			return whole + first;
	}
}

uint64_t gap_mean(enum profile_gaps gaps, uint64_t gap) { return gaps == GAPS_JITTER ? gap + gap / 16 : gap; }

uint64_t gap_draw(struct random *random, enum profile_gaps gaps, uint64_t gap)
{
	switch (gaps) {
	case GAPS_EXPONENTIAL: {
		/* beyond 2^62 the kernel takes none; a gap is never that long */
		double drawn = (1 + random_exponential(random)) * (double)gap / 2 + 0.5;
		return drawn < 1 ? 1 : drawn > 0x1p62 ? 1ull << 62 : (uint64_t)drawn;
	}
	case GAPS_JITTER: return gap + random_below(random, gap / 8 + 1);
	case GAPS_NONE:
	case GAPS_FIXED:
	case GAPS_RATE: break;
	}
	return gap;
}

/* What was lost or too much is made good over so many gaps: in less, the gaps of one would depend on the last. */
enum { GAPS_TO_SETTLE = 2, GAPS_TO_LEARN = 4 };

/* A factor beyond these would make the cost of sampling another than what was asked for. */
static const double FACTOR_LEAST = 0.25, FACTOR_MOST = 4;

/* A gap of GAPS_EXPONENTIAL may be used for so many samples with its whole spread (gaps.h); and a first gap is
 * expected to be used for so many: nothing is known of tare's delays then, and nothing may follow that makes them
 * good. */
static const double RUN_OF_A_DRAW = 4, RUN_AT_FIRST = 32;

static double at_least(double value, double least) { return value < least ? least : value; }

void gap_begin(struct gap_course *course, const struct gap_plan *plan)
{
	*course = (struct gap_course){.lasts = RUN_AT_FIRST * (double)gap_mean(plan->gaps, plan->gap)};
}

/* A delay that was long once is expected again at once, and forgotten slowly: what is owed would otherwise be made
 * good many times over, by a short gap that lasts as long. */
static double expected(double lasted, double counted)
{
	return counted > lasted ? counted : lasted + (counted - lasted) / GAPS_TO_LEARN;
}

void gap_end(struct gap_course *course, const struct gap_plan *plan, uint64_t counted, uint64_t samples,
	     bool whole)
{
	double n = (double)samples, mean = (double)gap_mean(plan->gaps, plan->gap);
	double meant = n < plan->redraw ? n : plan->redraw;
	if (whole)
		course->owed += (double)counted - n * mean - meant * (course->drawn - mean);
	course->lasts = expected(course->lasts, (double)counted);
	course->samples += n;
	course->squares += n * n;
}

uint64_t gap_next(struct gap_course *course, const struct gap_plan *plan, struct random *random)
{
	double mean = (double)gap_mean(plan->gaps, plan->gap);
	double lasts = at_least(course->lasts, plan->redraw * mean);
	/* the samples of the next gaps are to stand for what passes in them and for what is owed */
	double passes = GAPS_TO_SETTLE * lasts, due = passes + course->owed;
	double factor = due > passes / FACTOR_MOST ? at_least(passes / due, FACTOR_LEAST) : FACTOR_MOST;
	double run = lasts / mean;
	bool wide = plan->gaps != GAPS_EXPONENTIAL || run <= RUN_OF_A_DRAW;
	course->drawn = mean + ((double)gap_draw(random, plan->gaps, plan->gap) - mean) *
				       (wide ? 1 : sqrt(RUN_OF_A_DRAW / run));
	double gap = course->drawn * factor + 0.5;
	/* the kernel's limit, as in gap_draw() */
	course->gap = gap < 1 ? 1 : gap > 0x1p62 ? 1ull << 62 : (uint64_t)gap;
	return course->gap;
}

double gap_mean_run(double samples, double squares) { return samples > 0 ? squares / samples : 0; }
