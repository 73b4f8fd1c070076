/* The judge of counters (trust/verdict.h): counters that are faulty in a known way are named, clean ones are never accused. Their
 * counts are made by arithmetic (verdict_world.h).
 *
 *     verdict_test [TIMES]      TIMES × 1000 simulated runs of clean counters */
#include <gsl/gsl_cdf.h>

#include "verdict_world.h"

/* ---- planted faults ---- */

static double clean(double x, double u, const double *z, struct random *r) { return (void)u, (void)z, (void)r, x; }
static double twice(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, 2 * x;
}
static double sixteen(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, 16 * x;
}
static double half(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, floor(x / 2);
}
static double tenth_more(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, floor(1.1 * x);
}
static double overhead(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, x + 139;
}
static double per_interrupt(double x, double u, const double *z, struct random *r)
{
	return (void)z, (void)r, x + u;
}
static double per_tick(double x, double u, const double *z, struct random *r)
{
	return (void)u, x + floor(z[INSTRUCTIONS] / 1e9 * 1000 + random_unit(r));
}
static double stuck(double x, double u, const double *z, struct random *r)
{
	return (void)x, (void)u, (void)z, (void)r, 4711;
}
static double nothing(double x, double u, const double *z, struct random *r)
{
	return (void)x, (void)u, (void)z, (void)r, 0;
}
static double wraps(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, fmod(x, ldexp(1, 40));
}
static double saturates(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, fmin(x, 65535);
}
static double throttled(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, fmin(x, floor(20000 + 0.3 * (x - 20000)));
}
static double loads_instead(double x, double u, const double *z, struct random *r)
{
	return (void)x, (void)u, (void)r, z[LOADS];
}
static double stores_too(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)r, x + z[STORES];
}
static double iterations_too(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)r, x + z[REP];
}
static double users_and_own(double x, double u, const double *z, struct random *r)
{
	return (void)x, z[INSTRUCTIONS] + 40000 + 2000 * u + 900 * normal(r);
}
static double own(double x, double u, const double *z, struct random *r)
{
	return (void)x, (void)z, 40000 + 2000 * u + 900 * normal(r);
}
/* samples of 1000 events, of which a fifth is lost */
static double drops(double x, double u, const double *z, struct random *r)
{
	double n = floor(x / 1000);
	(void)u, (void)z;
	return 1000 * fmin(n, fmax(0, nearbyint(0.8 * n + sqrt(0.16 * n) * normal(r))));
}
static double in_steps(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, 1000 * floor(x / 1000);
}
static double twice_in_rep(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)r, z[REP] > 0 ? 2 * x : x;
}

/* ---- what the judge once let pass ---- */

static double twice_in_half(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, random_unit(r) < 0.5 ? x : 2 * x;
}
static double noisy_twice_in_half(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, nearbyint((random_unit(r) < 0.5 ? x : 2 * x) + 20 * normal(r));
}
static double dead_in_a_tenth(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, random_unit(r) < 0.1 ? 0 : x;
}
static double anything_in_a_tenth(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, random_unit(r) < 0.1 ? nearbyint(x * (1.5 + 5 * random_unit(r))) : x;
}
static double low_bits_lost(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, 256 * floor(x / 256);
}
static double low_bits_lost_noisy(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, 256 * floor((x + floor(60 * random_unit(r))) / 256);
}
static double low_bit_lost(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, 2 * floor(x / 2);
}
static double late(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, fmax(0, x - 1000);
}
static double late_noisy(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, fmax(0, nearbyint(x - 1000 + 5 * normal(r)));
}
static double random_share(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, floor(x * 0.9 * random_unit(r));
}
static double any_share(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, floor(x * 2 * random_unit(r));
}
static double wraps_decimal(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, fmod(x, 100000);
}
static double wraps_decimal_noisy(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, fmod(x + floor(10 * random_unit(r)), 100000);
}
static double at_least(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, fmax(x, 5000);
}
/* it never varies, so what it does not count is no noise */
static double one_percent_from_some_size(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, (void)r, x > 150000 ? floor(1.01 * x) : x;
}

/* ---- faults that were chosen last ---- */

/* a misprediction's recovery, in each rep: an event that few of the kernels are predicted to have */
static double three_for_each_rep(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)r, x + 3 * z[REP];
}
/* not kept when the program is switched out: what came before is lost */
static double reset_at_switches(double x, double u, const double *z, struct random *r)
{
	double last = 0;
	(void)u, (void)z;
	for (double at = -20000 * log(1 - random_unit(r)); at < x; at += -20000 * log(1 - random_unit(r)))
		last = at;
	return x - floor(last);
}
static double reset_in_a_quarter(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, random_unit(r) < 0.25 ? floor(x * random_unit(r)) : x;
}
/* on one CPU alone: an execution begins there or not, and may come from there */
static double on_one_cpu(double x, double u, const double *z, struct random *r)
{
	double on = random_unit(r);
	return (void)u, (void)z, on < 0.4 ? x : on < 0.8 ? 0 : floor(x * random_unit(r));
}
/* the loop around what is measured is in it: here the loop's own branch */
static double loop_too(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)r, x + 2 * (z[BRANCHES] - (z[LOADS] > 4 && z[FP] == 0 ? 8 : 7));
}
/* another process's events, in some executions */
static double others_too(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, random_unit(r) < 0.3 ? x + 50000 + floor(3000 * random_unit(r)) : x;
}
/* … or as long as the program runs */
static double others_all_the_time(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, x + floor(0.4 * x * random_unit(r));
}

/* … and what is like them, and is none of them */
static double more_or_less_beyond(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, x < 20000 ? x : floor(x * 3 * random_unit(r));
}
static double more_or_less_at_times(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, random_unit(r) < 0.3 ? fmax(0, x + floor(100000 * (random_unit(r) - 0.5))) : x;
}
static double a_little_in_proportion_at_times(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, random_unit(r) < 0.5 ? x + floor(0.02 * x * random_unit(r)) : x;
}
static double loop_of_one_kernel_too(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)r, z[LOADS] == 4 && z[STORES] == 0 && z[REP] == 0 ? x + z[BRANCHES] - 7 : x;
}

/* ---- clean counters: on average they show what took place, or a constant more ---- */

static double with_noise(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, nearbyint(x + 20 * normal(r));
}
static double with_growing_noise(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, nearbyint(x * (1 + 0.02 * normal(r)));
}
static double with_poisson_noise(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, fmax(0, nearbyint(x + sqrt(x) * normal(r)));
}
/* an overhead of whole events that differs from execution to execution: Korn's perfex */
static double with_overhead(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, x + floor(-200 * log(1 - random_unit(r)));
}
static double with_fixed_overhead(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, x + 139 + floor(4 * random_unit(r));
}
/* now and then a thousand more: another program was scheduled */
static double with_rare_excess(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, x + (random_unit(r) < 0.02 ? 1000 * random_unit(r) : 0);
}

/* starts of kernels differ, and nothing else does */
static double with_offsets_of_kernels(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)r, x + (z[FP] > 0 ? 3 : 0) + (z[REP] > 0 ? 40 : 0);
}
/* Korn's perfex: an overhead beyond most of the tested sizes */
static double with_large_overhead(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, x + floor(-20000 * log(1 - random_unit(r)));
}

/* the last events before the end are not seen */
static double with_lag(double x, double u, const double *z, struct random *r)
{
	return (void)u, (void)z, x - floor(fmin(x, 200) * random_unit(r));
}

/* ---- facts ---- */

#define NAMED(event, scale, n, counter, knows, kind_is, shape_is, text_is)                                        \
	do {                                                                                                      \
		char text[300];                                                                                   \
		struct verdict v = verdict_of(event, scale, n, counter, knows, text);                             \
		if (!ok(v.kind == (kind_is) && v.shape == (shape_is), #counter " of %s: %s, %s", names[event],    \
			verdict_kind_name(kind_is), verdict_shape_name(shape_is)))                                \
			printf("# is %s, %s: %s\n", verdict_kind_name(v.kind), verdict_shape_name(v.shape),       \
			       text);                                                                             \
		equal_text(text, text_is, "… in words");                                                          \
	} while (0)

#define SAYS(event, n, counter, shape_is, text_is)                                                                \
	do {                                                                                                      \
		char text[300];                                                                                   \
		struct verdict v = verdict_of(event, 1, n, counter, true, text);                                  \
		if (!ok(v.kind == VERDICT_WRONG && v.shape == (shape_is) && strstr(text, text_is),                \
			#counter " of %s: %s", names[event], text_is))                                            \
			printf("# is %s, %s: %s\n", verdict_kind_name(v.kind), verdict_shape_name(v.shape),       \
			       text);                                                                             \
	} while (0)

static void name_what_was_chosen_last(void)
{
	char said[300];
	NAMED(LOADS, 1, 10, three_for_each_rep, true, VERDICT_PROPORTIONAL, SHAPE_ALSO,
	      "counts each iteration of a rep instruction, 3 times");
	SAYS(STORES, 10, reset_in_a_quarter, SHAPE_RANDOM,
	     "% of the executions it shows another share of the events each time");
	SAYS(STORES, 10, reset_at_switches, SHAPE_RESTARTS, "begins anew at times: beyond ");
	SAYS(INSTRUCTIONS, 10, on_one_cpu, SHAPE_RANDOM,
	     "% of the executions it shows another share of the events each time: 0 % to ");
	NAMED(LOADS, 1, 3, loop_too, true, VERDICT_PROPORTIONAL, SHAPE_TURNS,
	      "counts too many: 2 in each turn of a kernel's loop");
	struct verdict v = verdict_of(INSTRUCTIONS, 1, 10, others_too, true, said);
	ok(v.kind == VERDICT_NOISY && v.shape == SHAPE_EXCESS && v.offset > 50000 && v.offset < 53000 &&
		   v.sometimes > 0.2 && v.sometimes < 0.4 && strstr(said, "% of the executions it shows up to 5"),
	   "events of another process in some of the executions are told (%s)", said);
	v = verdict_of(INSTRUCTIONS, 1, 10, others_all_the_time, true, said);
	ok(v.kind == VERDICT_PROPORTIONAL && v.shape == SHAPE_TIMES && fabs(v.factor - 1.2) < 0.05,
	   "events of another process as long as the program runs are no noise (%s)", said);
	ok(verdict_of(INSTRUCTIONS, 1, 10, more_or_less_beyond, true, said).shape != SHAPE_RESTARTS,
	   "a counter that shows more, too, does not begin anew (%s)", said);
	ok(verdict_of(INSTRUCTIONS, 1, 10, more_or_less_at_times, true, said).shape != SHAPE_EXCESS,
	   "nor are events of others what it misses (%s)", said);
	ok(verdict_of(INSTRUCTIONS, 1, 10, a_little_in_proportion_at_times, true, said).shape != SHAPE_EXCESS,
	   "… or what grows with the count (%s)", said);
	v = verdict_of(INSTRUCTIONS, 1, 3, loop_of_one_kernel_too, true, said);
	ok(v.kind == VERDICT_WRONG && v.shape == SHAPE_TIMES && v.only && strcmp(v.only, "loop") == 0,
	   "of one kernel alone its loop is any factor (%s)", said);
	/* where few kernels say what the other event counts, the others have to be right */
	static struct world w;
	simulate(&w, LOADS, 1, 3, three_for_each_rep, true, 1);
	for (size_t p = 0; p < POINTS - SIZES; p++)
		w.others[p][REP] = NAN;
	v = judge(&w, said);
	ok(v.kind == VERDICT_PROPORTIONAL && v.shape == SHAPE_ALSO && v.other == REP && v.factor == 3,
	   "an event that one kernel alone is predicted to have is named (%s)", said);
	for (size_t i = 0; i < 3; i++)
		w.observed[SIZES][i] += 1;
	v = judge(&w, said);
	ok(v.kind != VERDICT_PROPORTIONAL || v.shape != SHAPE_ALSO,
	   "… and not where another kernel's count is wrong, too (%s)", said);
}

static void name_what_passed(void)
{
	SAYS(INSTRUCTIONS, 10, twice_in_half, SHAPE_TIMES, "% of the executions it counts each event twice");
	SAYS(INSTRUCTIONS, 10, noisy_twice_in_half, SHAPE_TIMES, "% of the executions it counts each event twice");
	SAYS(INSTRUCTIONS, 10, dead_in_a_tenth, SHAPE_STUCK, "% of the executions it shows 0");
	SAYS(INSTRUCTIONS, 10, anything_in_a_tenth, SHAPE_NONE, "% of the executions it follows no known form");
	SAYS(INSTRUCTIONS, 10, low_bits_lost, SHAPE_BITS, "loses its low 8 bits");
	SAYS(LOADS, 3, low_bits_lost, SHAPE_BITS, "loses its low 8 bits");
	SAYS(INSTRUCTIONS, 10, low_bits_lost_noisy, SHAPE_BITS, "loses its low 8 bits");
	SAYS(INSTRUCTIONS, 3, low_bit_lost, SHAPE_BITS, "loses its lowest bit");
	SAYS(INSTRUCTIONS, 3, late, SHAPE_LATE, "misses the first 1000 events");
	SAYS(STORES, 10, late, SHAPE_LATE, "misses the first 1000 events");
	SAYS(INSTRUCTIONS, 10, late_noisy, SHAPE_LATE, "misses the first 999 events");
	SAYS(INSTRUCTIONS, 10, random_share, SHAPE_RANDOM, "shows another share of the events each time: ");
	SAYS(INSTRUCTIONS, 10, any_share, SHAPE_RANDOM, "shows another share of the events each time: ");
	SAYS(INSTRUCTIONS, 3, wraps_decimal, SHAPE_WRAPS, "begins anew at 100000");
	SAYS(INSTRUCTIONS, 10, wraps_decimal_noisy, SHAPE_WRAPS, "begins anew at 100000");
	SAYS(INSTRUCTIONS, 3, at_least, SHAPE_AT_LEAST, "never shows less than 5000");
	SAYS(INSTRUCTIONS, 3, one_percent_from_some_size, SHAPE_NONE, "follows no known form: ");
}

static void name_faults(void)
{
	NAMED(INSTRUCTIONS, 1, 3, clean, true, VERDICT_EXACT, SHAPE_NONE, "");
	NAMED(INSTRUCTIONS, 1, 3, overhead, true, VERDICT_OFFSET, SHAPE_NONE, "+139");
	NAMED(INSTRUCTIONS, 1, 3, twice, true, VERDICT_PROPORTIONAL, SHAPE_TIMES, "counts each event twice");
	NAMED(STORES, 1, 3, sixteen, true, VERDICT_PROPORTIONAL, SHAPE_TIMES, "counts each event 16 times");
	NAMED(BRANCHES, 1, 3, half, true, VERDICT_PROPORTIONAL, SHAPE_TIMES, "counts half of the branches");
	NAMED(LOADS, 1, 3, half, true, VERDICT_PROPORTIONAL, SHAPE_TIMES, "counts half of the events");
	NAMED(LOADS, 1, 3, tenth_more, true, VERDICT_PROPORTIONAL, SHAPE_TIMES, "counts 1.1 times the events");
	NAMED(INSTRUCTIONS, 1, 10, per_interrupt, true, VERDICT_PROPORTIONAL, SHAPE_INTERRUPTS,
	      "counts one more for each interrupt or fault");
	NAMED(STORES, 1, 10, per_interrupt, true, VERDICT_PROPORTIONAL, SHAPE_INTERRUPTS,
	      "counts one more for each interrupt or fault");
	NAMED(STORES, 1, 10, per_tick, true, VERDICT_PROPORTIONAL, SHAPE_TICKS,
	      "counts one more for each tick of the timer (about 1000 a second)");
	NAMED(BRANCHES, 1, 3, stuck, true, VERDICT_WRONG, SHAPE_STUCK, "always shows 4711");
	NAMED(FP, 1, 3, nothing, true, VERDICT_NOTHING, SHAPE_NONE, "");
	NAMED(INSTRUCTIONS, 1e6, 3, wraps, false, VERDICT_WRONG, SHAPE_WRAPS, "begins anew at 2^40");
	NAMED(INSTRUCTIONS, 1, 3, saturates, true, VERDICT_WRONG, SHAPE_SATURATES, "stays at 65535");
	NAMED(INSTRUCTIONS, 1, 3, throttled, true, VERDICT_WRONG, SHAPE_THROTTLED,
	      "throttled: beyond 20000 it loses events, 30 % are left");
	NAMED(STORES, 1, 3, loads_instead, true, VERDICT_WRONG, SHAPE_INSTEAD, "counts loads:u instead");
	NAMED(FP, 1, 3, stores_too, true, VERDICT_PROPORTIONAL, SHAPE_ALSO,
	      "also counts stores:u (as the POWER4 does)");
	NAMED(INSTRUCTIONS, 1, 3, iterations_too, true, VERDICT_PROPORTIONAL, SHAPE_ALSO,
	      "counts each iteration of a rep instruction");
	NAMED(KERNEL, 1, 10, users_and_own, true, VERDICT_WRONG, SHAPE_LEVEL,
	      "counts another level: instructions:u");
	NAMED(KERNEL, 1, 10, own, true, VERDICT_UNPREDICTABLE, SHAPE_NONE, "no prediction; no other witness");
	NAMED(INSTRUCTIONS, 1, 3, in_steps, true, VERDICT_NOISY, SHAPE_RESOLUTION,
	      "counts in steps of 1000; within 5 % from 20000 on");
	NAMED(INSTRUCTIONS, 1, 3, twice_in_rep, true, VERDICT_WRONG, SHAPE_TIMES, "rep: counts each event twice");
	name_what_passed();
	name_what_was_chosen_last();
	char text[300];
	struct verdict v = verdict_of(INSTRUCTIONS, 1, 10, drops, true, text);
	ok(v.kind == VERDICT_WRONG && v.shape == SHAPE_DROPS && v.period == 1000 && fabs(v.factor - 0.8) < 0.02,
	   "a fifth of the samples of 1000 events is lost (%s)", text);
	v = verdict_of(KERNEL, 1, 10, own, true, text);
	ok(!verdict_accuses(v.kind), "a count that nothing predicts is not accused");
}

/* Korn, Table 2: 830,000 instructions of overhead, 180 (x · k) or so an iteration. Here by the law itself. */
static void thresholds(void)
{
	static struct world w;
	char text[300];
	simulate(&w, INSTRUCTIONS, 1, 3, overhead, true, 1);
	struct verdict v = judge(&w, text);
	double law = 139 / VERDICT_USABLE, least = INFINITY;
	for (size_t p = 0; p < POINTS; p++)
		if (w.points[p].predicted >= law)
			least = fmin(least, w.points[p].predicted);
	near(v.usable_from, least, 0,
	     "an overhead of 139 is within 5 % from the first tested size on that the threshold law allows");
	ok(v.offset == 139 && v.half_width == 0, "the offset is 139 ± 0");
	simulate(&w, INSTRUCTIONS, 1, 20, with_overhead, true, 1);
	v = judge(&w, text);
	ok(v.kind == VERDICT_NOISY && v.usable_from > 200 / VERDICT_USABLE && v.usable_from < 1e6,
	   "an overhead that varies: usable above %g events (%s)", v.usable_from, text);
	simulate(&w, INSTRUCTIONS, 1, 20, with_growing_noise, true, 1);
	v = judge(&w, text);
	ok(v.kind == VERDICT_NOISY, "noise of 2 %% is noise (%s)", text);
}

static void no_data(void)
{
	static struct world w;
	char text[300];
	simulate(&w, REP, 1, 3, clean, true, 1);
	for (size_t p = 0; p < POINTS; p++)
		w.points[p].n = 0;
	struct verdict v = judge(&w, text);
	ok(v.kind == VERDICT_UNJUDGED, "what was not observed is not judged (%s)", text);
	for (size_t p = 0; p < POINTS; p++)
		w.points[p].refused = 3, w.points[p].why_refused = p == 0 ? "all counters are taken" : "later";
	v = judge(&w, text);
	ok(v.kind == VERDICT_NOT_COUNTED && !verdict_accuses(v.kind) && v.refused == 3 * POINTS &&
		   v.refused_of == v.refused,
	   "what was refused in all executions is not counted, and accuses nobody");
	equal_text(text, "all counters are taken", "… with its first reason");
	simulate(&w, REP, 1, 3, clean, true, 1);
	w.points[POINTS - 1].n = 1, w.points[POINTS - 1].refused = 2, w.points[POINTS - 1].why_refused = "taken";
	w.points[2].n = 0, w.points[2].refused = 3;
	v = judge(&w, text);
	ok(v.kind == VERDICT_EXACT && v.refused == 5 && v.refused_of == 3 * POINTS &&
		   v.executions == 3 * POINTS - 5,
	   "some refused executions are told beside the verdict on the others");
	equal_text(v.why_refused, "no reason was given", "… with the first reason, or that there is none");
	simulate(&w, REP, 1, 3, clean, true, 1);
	w.event.n_points = SIZES; /* the loop has no rep */
	v = judge(&w, text);
	ok(v.kind == VERDICT_EXACT || v.kind == VERDICT_UNJUDGED, "an event without a stimulus (%s)", text);
	ok(v.kind != VERDICT_EXACT, "… is not exact: it is unjudged");
	simulate(&w, LOADS, 1, 3, overhead, true, 1);
	w.event.n_points = 1;
	v = judge(&w, text);
	ok(v.kind == VERDICT_UNJUDGED, "one size does not tell an offset from a factor");
	simulate(&w, LOADS, 1, 3, clean, true, 1);
	w.event.n_points = 0;
	v = judge(&w, text);
	ok(v.kind == VERDICT_UNJUDGED, "no points, no verdict");
	verdict_text(&w.event, &v, text, 1);
	equal_text(text, "", "a text of one byte is empty");
}

/* Clean counts, of which `odd` executions show so many more, every `step`-th point (from `first` on) one of them. */
static struct verdict with_odd_at(size_t n, size_t odd, double more, size_t first, size_t step, enum source source,
				  char text[300])
{
	static struct world w;
	simulate(&w, INSTRUCTIONS, 1, n, clean, false, 1);
	for (size_t i = 0; i < odd; i++)
		w.observed[(first + i * step) % POINTS][i % n] += more;
	w.event.source = source;
	return judge(&w, text);
}

static struct verdict with_odd(size_t n, size_t odd, double more, enum source source, char text[300])
{
	return with_odd_at(n, odd, more, 0, 7, source, text);
}

static void few_are_odd(void)
{
	char text[300];
	struct verdict v = with_odd(100, 1, 1, SOURCE_OS, text);
	ok(v.kind == VERDICT_EXACT && v.usable_from == 0 && v.offset == 0,
	   "one execution of 3000 with one more is no noise");
	equal_text(text, "in all but 1 of 3000 executions", "… and is told");
	v = with_odd_at(100, 15, -5, 0, 2, SOURCE_HW, text);
	ok(v.kind == VERDICT_EXACT, "nor are 15 of them with five less, three of each kernel (%s)", text);
	v = with_odd(100, 1, -6, SOURCE_HW, text);
	ok(v.kind == VERDICT_NOISY, "so is one that is farther off (%s)", text);
	v = with_odd(34, 1, 1, SOURCE_HW, text);
	ok(v.kind == VERDICT_EXACT, "one of 1020 is none (%s)", text);
	v = with_odd(33, 1, 1, SOURCE_HW, text);
	ok(v.kind == VERDICT_NOISY, "one of fewer than 1000 is (%s)", text);
	v = with_odd(100, 1, 1, SOURCE_EXACT, text);
	ok(v.kind == VERDICT_NOISY, "of the engine one is one too many (%s)", text);
	v = with_odd(100, 1, 1, SOURCE_MODEL, text);
	ok(v.kind == VERDICT_NOISY, "and of a model (%s)", text);
}

/* Few of all executions, and yet a fault: they are of one size, or one kernel, or the large counts. */
static void few_are_a_fault(void)
{
	static struct world w;
	char text[300];
	struct verdict v = with_odd_at(100, 2, 1, 9, 0, SOURCE_HW, text);
	ok(v.kind == VERDICT_EXACT, "two of 100 of one size may be disturbed (%s)", text);
	v = with_odd_at(100, 3, 1, 9, 0, SOURCE_HW, text);
	ok(v.kind != VERDICT_EXACT, "three of 100 of one size are a fault of that size (%s)", text);
	v = with_odd_at(100, 3, 1, SIZES, 1, SOURCE_HW, text);
	ok(v.kind == VERDICT_EXACT, "three of 600 of one kernel may be disturbed (%s)", text);
	v = with_odd_at(100, 4, 1, SIZES, 1, SOURCE_HW, text);
	ok(v.kind != VERDICT_EXACT, "four of 600 are a fault on that kernel (%s)", text);
	v = with_odd_at(100, 4, 1, SIZES - 1, SIZES, SOURCE_HW, text);
	ok(v.kind == VERDICT_EXACT, "four at the largest sizes are by chance (%s)", text);
	v = with_odd_at(100, 5, 1, SIZES - 1, SIZES, SOURCE_HW, text);
	ok(v.kind != VERDICT_EXACT, "five, and none at the smaller ones, grow with the count (%s)", text);
	/* of kernels with one size each, one execution of each: 15 of 3000, and 16 */
	static char own[POINTS][12];
	for (size_t odd = 15; odd <= 16; odd++) {
		simulate(&w, INSTRUCTIONS, 1, 100, clean, false, 1);
		w.event.source = SOURCE_HW;
		for (size_t p = 0; p < POINTS; p++) {
			snprintf(own[p], sizeof own[p], "kernel-%zu", p);
			w.points[p].kernel = own[p];
			w.observed[p][0] += p % 2 ? p == 15 && odd == 16 : 1;
		}
		v = judge(&w, text);
		ok((v.kind == VERDICT_EXACT) == (odd == 15), "%zu of 3000 are %s (%s)", odd,
		   odd == 15 ? "few" : "too many", text);
	}
	/* a counter that did not count in an execution, where only 4 events took place */
	for (size_t dead = 0; dead < 2; dead++) {
		simulate(&w, LOADS, 1, 100, clean, false, 1);
		w.event.source = SOURCE_HW;
		w.observed[0][0] = dead ? 0 : 1;
		v = judge(&w, text);
		ok((v.kind == VERDICT_EXACT) == !dead, "one execution shows %s of four events (%s)",
		   dead ? "none" : "one", text);
	}
}

static void trusts(void)
{
	ok(verdict_trust(VERDICT_EXACT, false, 0, 5) == TRUST_VERIFIED, "exact: verified");
	ok(verdict_trust(VERDICT_OFFSET, true, 0, 5) == TRUST_VERIFIED &&
		   verdict_trust(VERDICT_OFFSET, false, 0, 1e9) == TRUST_BIASED,
	   "an offset taken off: verified; left in: biased");
	ok(verdict_trust(VERDICT_PROPORTIONAL, true, 0, 1e9) == TRUST_BIASED, "proportional: biased");
	ok(verdict_trust(VERDICT_NOISY, false, 1000, 1000) == TRUST_VERIFIED &&
		   verdict_trust(VERDICT_NOISY, false, 1000, 999) == TRUST_BIASED &&
		   verdict_trust(VERDICT_NOISY, false, INFINITY, 1e18) == TRUST_BIASED,
	   "noisy: verified from N events on, else biased");
	ok(verdict_trust(VERDICT_WRONG, true, 0, 1e9) == TRUST_REFUTED, "wrong: refuted");
	ok(verdict_trust(VERDICT_UNPREDICTABLE, true, 0, 1e9) == TRUST_UNVERIFIED &&
		   verdict_trust(VERDICT_UNJUDGED, true, 0, 1) == TRUST_UNVERIFIED &&
		   verdict_trust(VERDICT_NOT_COUNTED, true, 0, 1) == TRUST_UNVERIFIED,
	   "unpredictable, unjudged, not counted: unverified");
}

/* 1000 simulated machines, each with 10 clean counters of 3 to 20 executions a point. If a machine were accused with probability p, none of
 * 1000 would be with probability (1 − p)^1000: below 5 % for p above 0.3 %. */
static void accuse_no_clean_one(int times)
{
	static struct world w;
	static shows *const counters[] = {clean,
					  with_noise,
					  with_growing_noise,
					  with_poisson_noise,
					  with_overhead,
					  with_fixed_overhead,
					  with_rare_excess,
					  with_offsets_of_kernels,
					  with_large_overhead,
					  with_lag};
	size_t n = sizeof counters / sizeof *counters, accused[sizeof counters / sizeof *counters] = {0},
	       machines = 0;
	for (int run = 0; run < 1000 * times; run++) {
		bool any = false;
		for (size_t c = 0; c < n; c++) {
			char text[300];
			static const size_t executions[] = {10, 20, 10, 30};
			simulate(&w, (run + (int)c) % REP, 1, counters[c] == clean ? 3 : executions[run % 4],
				 counters[c], run % 2, (uint64_t)run * n + c);
			struct verdict v = judge(&w, text);
			bool bad = verdict_accuses(v.kind) || v.kind == VERDICT_NOTHING ||
				   v.kind == VERDICT_UNJUDGED;
			if (bad && accused[c] < 3)
				printf("# run %d, counter %zu, %s: %s, %s\n", run, c, names[(run + (int)c) % REP],
				       verdict_kind_name(v.kind), text);
			accused[c] += bad;
			any |= bad;
		}
		machines += any;
	}
	unsigned runs = 1000 * (unsigned)times;
	double most = 1 - pow(0.05, 1.0 / runs);
	ok(machines == 0,
	   "no clean counter is accused on any of %u simulated machines: at 95 %%, fewer than %.2g of machines "
	   "would be (%zu)",
	   runs, most, machines);
	ok(gsl_cdf_binomial_P(0, most, runs) <= 0.0500001, "… by the binomial distribution");
}

int main(int argc, char **argv)
{
	name_faults();
	thresholds();
	no_data();
	few_are_odd();
	few_are_a_fault();
	trusts();
	accuse_no_clean_one(argc > 1 ? atoi(argv[1]) : 1);
	return done();
}
