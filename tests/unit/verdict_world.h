/* Counters made by arithmetic, for tests of the judge (trust/verdict.h): five kernels, whose events are known multiples of their size, and a
 * counter that shows them with a planted fault. */
#ifndef TARE_TESTS_VERDICT_WORLD_H
#define TARE_TESTS_VERDICT_WORLD_H

#include <stdlib.h>

#include "base/random.h"
#include "tap.h"
#include "trust/verdict.h"

enum { INSTRUCTIONS, LOADS, STORES, BRANCHES, FP, REP, KERNEL, EVENTS };
static const char *const names[EVENTS] = {"instructions:u",  "loads:u",          "stores:u",      "branches:u",
					  "fp-operations:u", "rep-iterations:u", "instructions:k"};

enum { KERNELS = 5, SIZES = 6, POINTS = KERNELS * SIZES, MOST = 100 };
/* per unit of size, and once */
static const struct {
	const char *name;
	double each[EVENTS], once[EVENTS];
} kernels[KERNELS] = {
	{"loop", {2, 0, 0, 1, 0, 0, NAN}, {21, 4, 0, 7, 0, 0, NAN}},
	{"array", {6, 1, 1, 1, 0, 0, NAN}, {24, 4, 0, 8, 0, 0, NAN}},
	{"stores", {10, 0, 8, 1, 0, 0, NAN}, {21, 4, 0, 7, 0, 0, NAN}},
	{"fp", {53, 2, 1, 1, 50, 0, NAN}, {24, 4, 0, 7, 0, 0, NAN}},
	{"rep", {4, 0, 0, 1, 0, 30, NAN}, {21, 4, 0, 7, 0, 0, NAN}},
};
static const double sizes[SIZES] = {10, 100, 1000, 10000, 100000, 1000000};

/* One counter's world: its points, filled by simulate(). */
struct world {
	struct judged_point points[POINTS];
	double observed[POINTS][MOST], interrupts[POINTS][MOST], cpu_seconds[POINTS][MOST], others[POINTS][EVENTS];
	struct judged_event event;
};

static double predicted(size_t kernel, double size, int event)
{
	return kernels[kernel].each[event] * size + kernels[kernel].once[event];
}

static double normal(struct random *r)
{
	return sqrt(-2 * log(1 - random_unit(r))) * cos(2 * M_PI * random_unit(r));
}

/* What a counter shows of x events in an execution with u interrupts; z: all events' predictions. */
typedef double shows(double x, double u, const double *z, struct random *r);

static void simulate(struct world *w, int event, double scale, size_t n, shows *counter, bool knows_interrupts,
		     uint64_t seed)
{
	struct random r = {seed};
	for (size_t k = 0; k < KERNELS; k++)
		for (size_t s = 0; s < SIZES; s++) {
			size_t p = k * SIZES + s;
			double size = sizes[s] * scale;
			for (int e = 0; e < EVENTS; e++)
				w->others[p][e] = predicted(k, size, e);
			w->points[p] = (struct judged_point){
				.kernel = kernels[k].name,
				.size = size,
				.predicted = w->others[p][event],
				.n = n,
				.observed = w->observed[p],
				.others = w->others[p],
				.cpu_seconds = knows_interrupts ? w->cpu_seconds[p] : NULL,
				.interrupts = knows_interrupts ? w->interrupts[p] : NULL};
			for (size_t i = 0; i < n; i++) {
				/* at 1000 a second and 10^9 instructions a second, and some faults at the start */
				double mean = fmin(w->others[p][INSTRUCTIONS] / 1e6, 1e4),
				       u = 2; /* so many are drawn one by one */
				for (double left = mean + sqrt(mean) * normal(&r); left > random_unit(&r); left--)
					u++;
				w->interrupts[p][i] = u;
				w->cpu_seconds[p][i] = w->others[p][INSTRUCTIONS] / 1e9;
				w->observed[p][i] = counter(w->others[p][event], u, w->others[p], &r);
			}
		}
	// clang-format off: a table, a row a line
	w->event = (struct judged_event){.event = names[event],
					 .points = w->points,
					 .n_points = POINTS,
					 .others = names,
					 .n_others = EVENTS};
	// clang-format on
}

static struct verdict judge(struct world *w, char text[300])
{
	struct verdict v;
	if (!verdict_judge(&w->event, &v))
		ok(false, "memory");
	verdict_text(&w->event, &v, text, 300);
	return v;
}

__attribute__((unused)) static struct verdict verdict_of(int event, double scale, size_t n, shows *counter,
							 bool knows, char text[300])
{
	static struct world w;
	simulate(&w, event, scale, n, counter, knows, 7);
	return judge(&w, text);
}

#endif
