/* Planting faults into counters, each ten times, with other parameters, numbers of executions and chance each time: each has to be named
 * each time. The counts are made by arithmetic (verdict_world.h). */
#ifndef TARE_TESTS_VERDICT_PLANT_H
#define TARE_TESTS_VERDICT_PLANT_H

#include "verdict_world.h"

enum { TIMES = 10 };

/* What a fault needs besides its events: set for each planting, in the order of the executions. */
static struct {
	unsigned which; /* 0 … TIMES - 1 */
	double before, sum, most;
	size_t executions;
} planting;

#define FAULT(name, shown)                                                                                        \
	static double name(double x, double u, const double *z, struct random *r)                                 \
	{                                                                                                         \
		return (void)x, (void)u, (void)z, (void)r, (shown);                                               \
	}

static double swap(double *kept, double by)
{
	double before = *kept;
	*kept = by;
	return before;
}

struct planted_fault {
	const char *name;
	shows *counter;
	int event;
	double scale; /* of the kernels' sizes */
	enum verdict_kind kind;
	enum verdict_shape shape;
	const char *text; /* %u: a number of the planting */
	unsigned first, step;
};

/* What depends on chance: in how many executions, and the most that was seen. */
static bool says_about(const char *text, enum verdict_shape shape, unsigned which)
{
	double share, number;
	int end = 0;
	if (shape == SHAPE_LAGS) {
		double most = 5000 * (which + 1);
		return sscanf(text,
			      "shows up to %lf less, at any size, as one that is read too early; within 5 %% %n",
			      &number, &end) == 1 &&
		       end && number <= most && number > 0.8 * most;
	}
	return sscanf(text, "in %lf %% of the executions it counts 2^%lf too %n", &share, &number, &end) == 2 &&
	       end && share < 15 &&
	       strcmp(text + end, number == 32   ? "many"
				  : number == 20 ? "few"
						 : "") == 0;
}

/* nth: of chance */
static void plant(const struct planted_fault *fault, size_t nth)
{
	static struct world w;
	char text[300], expected[300];
	size_t named = 0;
	for (unsigned i = 0; i < TIMES; i++) {
		planting.which = i, planting.before = planting.sum = planting.most = 0, planting.executions = 0;
		simulate(&w, fault->event, fault->scale, i % 2 ? 5 : 10, fault->counter, true, 100 * nth + i);
		struct verdict v = judge(&w, text);
		unsigned number = fault->first + i * fault->step;
		bool chance = v.shape == SHAPE_LAGS || v.shape == SHAPE_CARRY;
		if (fault->text)
			snprintf(expected, sizeof expected, fault->text, number);
		else
			snprintf(expected, sizeof expected, "stays at %.15g", ldexp(1, 8 + (int)i) - 1);
		bool is = v.kind == fault->kind && v.shape == fault->shape &&
			  (chance ? says_about(text, v.shape, i) : strcmp(text, expected) == 0);
		if (!is)
			printf("# planting %u is %s, %s: %s\n", i, verdict_kind_name(v.kind),
			       verdict_shape_name(v.shape), text);
		named += is;
	}
	ok(named == TIMES, "%s: %s: is named each of ten times (%zu)", names[fault->event], fault->name, named);
}

#endif
