/* How long a verification will take. */
#include <math.h>

#include "session/counters_inside.h"

/* The steps of one kernel, backend and interface stand together: [from, to). */
static size_t group_end(const struct counters_study *c, size_t from)
{
	const struct counters_step *steps = c->steps.items;
	size_t to = from + 1;
	while (to < c->steps.count && steps[to].kernel == steps[from].kernel &&
	       steps[to].backend == steps[from].backend && steps[to].interface == steps[from].interface)
		to++;
	return to;
}

/* What a step takes: once (finding regions, opening counters), and for each of its executions. */
struct step_cost {
	double once, each_least, each_most; /* each: at the smallest size and at the largest */
};

/* A step that executes its kernel a hundred times is known from more than one that does so three times. */
enum { TRIED_FEW = 3, TRIED_MANY = 10 };

/* From what one execution of the smallest size took, `tried` of it, and so many of the largest. */
static struct step_cost cost_of(double one, double several, size_t tried, double largest, size_t tried_largest)
{
	double each = fmin(fmax((several - one) / (double)(tried - 1), one / 10), one), once = one - each;
	return (struct step_cost){once, each, fmax((largest - once) / (double)tried_largest, each)};
}

/* Linear in the size between the smallest and the largest: kernels are loops. */
static double step_cost(const struct step_cost *cost, double part, size_t repetitions)
{
	return cost->once + (double)repetitions * (cost->each_least + part * (cost->each_most - cost->each_least));
}

static bool predict_group(struct counters_study *c, size_t from, size_t to, double *seconds, struct error *err)
{
	const struct counters_step *first = &c->steps.items[from], *last = &c->steps.items[to - 1];
	struct counters_time one, several, largest;
	bool many = counters_repetitions(c, first) > TRIED_MANY;
	size_t n = many ? TRIED_MANY : TRIED_FEW, n_largest = many ? TRIED_MANY : 1;
	/* the first one reads files that nobody read before */
	if (!counters_try(c, first, 1, &one, err) || !counters_try(c, first, 1, &one, err) ||
	    !counters_try(c, first, n, &several, err) || !counters_try(c, last, n_largest, &largest, err))
		return false;
	const struct step_cost wall = cost_of(one.seconds, several.seconds, n, largest.seconds, n_largest),
			       cpu = cost_of(one.cpu, several.cpu, n, largest.cpu, n_largest);
	for (size_t i = from; i < to; i++) {
		struct counters_step *step = &c->steps.items[i];
		double part = last->size > first->size
				      ? (double)(step->size - first->size) / (double)(last->size - first->size)
				      : 0;
		step->seconds = step_cost(&wall, part, counters_repetitions(c, step));
		if (step->done)
			continue;
		*seconds += step->seconds;
		c->found.predicted_cpu_seconds += step_cost(&cpu, part, counters_repetitions(c, step));
	}
	return true;
}

bool counters_predict_seconds(struct counters_study *c, double *seconds, struct error *err)
{
	*seconds = c->found.predicted_cpu_seconds = 0;
	for (size_t from = 0, to; from < c->steps.count; from = to) {
		to = group_end(c, from);
		if (counters_interrupted(c, err) || !predict_group(c, from, to, seconds, err))
			return false;
	}
	c->found.predicted_seconds = c->found.resumed_seconds + *seconds;
	return true;
}
