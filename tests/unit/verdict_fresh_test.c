/* Faults of counters by name, as in verdict_names_test.c: those that were planted last, and what is near them. */
#include "verdict_plant.h"

static double of_u(double u, double share, struct random *r)
{
	double n = 0;
	for (double i = 0; i < u; i++)
		n += random_unit(r) < share;
	return n;
}
FAULT(on_odd_cores, planting.executions++ % 2 ? x : 0)
FAULT(each_third_sample_lost, x - 1024 * floor(x / (1024 * (planting.which + 3))))
FAULT(three_more_of_each, x + 3 * floor(x / (100 + 7 * planting.which)))
FAULT(stays_at_2_31, fmin(x, ldexp(1, 31) - 1))
FAULT(many_for_each_switch, x + (100 + 50 * planting.which) * of_u(u, 0.3, r))
FAULT(thousands_from, x > 700000 ? floor(x / (1000 + planting.which)) : x)
FAULT(steps_of_seven, 7 * floor(x / 7))
FAULT(steps_of_thirteen, 13 * ceil(x / 13))
FAULT(larger_of_two, fmax(x, swap(&planting.before, x)))
FAULT(read_too_early, x - floor(fmin(x, 5000 * (planting.which + 1)) * random_unit(r)))
FAULT(carry_too_early, x + (random_unit(r) < 0.05 ? ldexp(1, 32) : 0))
FAULT(carry_too_late, x - (x > 4e6 && planting.executions++ % 7 == 3 ? ldexp(1, 20) : 0))

// clang-format off: a table, a row a line
static const struct planted_fault faults[] = {
	{"an event on one of two cores alone", on_odd_cores, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_STUCK,
	 "in 50 %% of the executions it shows 0", 0, 0},
	{"one of several samples lost", each_third_sample_lost, INSTRUCTIONS, 1, VERDICT_PROPORTIONAL, SHAPE_EACH,
	 "counts 1024 less for each %u events", 3 * 1024, 1024},
	{"three more for each hundred", three_more_of_each, INSTRUCTIONS, 1, VERDICT_PROPORTIONAL, SHAPE_EACH,
	 "counts 3 more for each %u events", 100, 7},
	{"many for each switch", many_for_each_switch, INSTRUCTIONS, 1000, VERDICT_PROPORTIONAL, SHAPE_SOME,
	 "counts %u more for some of the interrupts, faults and switches", 100, 50},
	{"another unit from a size on", thousands_from, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_BEYOND,
	 "up to 600024 it is right; from 1000021 on it counts one of %u events", 1000, 1},
	{"steps of seven", steps_of_seven, INSTRUCTIONS, 1, VERDICT_NOISY, SHAPE_RESOLUTION,
	 "counts in steps of 7; within 5 %% from 140 on", 0, 0},
	{"steps of thirteen", steps_of_thirteen, INSTRUCTIONS, 1, VERDICT_NOISY, SHAPE_RESOLUTION,
	 "counts in steps of 13; within 5 %% from 260 on", 0, 0},
	{"the larger count of two executions", larger_of_two, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_KEEPS,
	 "shows the events of the execution before where those were more", 0, 0},
	{"a carry that is missing at times", carry_too_late, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_CARRY, NULL, 0,
	 0},
	{"a carry that comes too early at times", carry_too_early, LOADS, 1, VERDICT_WRONG, SHAPE_CARRY, NULL, 0,
	 0},
	{"a counter that is read too early", read_too_early, INSTRUCTIONS, 1, VERDICT_NOISY, SHAPE_LAGS, NULL, 0,
	 0},
	{"31 bits that are kept", stays_at_2_31, INSTRUCTIONS, 1000, VERDICT_WRONG, SHAPE_SATURATES,
	 "stays at 2147483647", 0, 0},
};
// clang-format on

/* Near those, and none of them. */
FAULT(fifteen_for_each_switch, x + 15 * of_u(u, 0.3, r))
FAULT(many_for_each_switch_too_many, x + 500 * (u + 1 + of_u(u, 0.3, r)))
FAULT(one_more_carry_each_time, x + (x > 4e6 ? ldexp(1, 32) : 0))
FAULT(no_power_of_two, x + (random_unit(r) < 0.05 ? 1.01 * ldexp(1, 32) : 0))
FAULT(carry_of_noise, x + floor(3e7 * random_unit(r)) + (random_unit(r) < 0.05 ? ldexp(1, 32) : 0))
FAULT(carry_alone, x + (planting.executions++ == 77 ? 1.0005 * ldexp(1, 32) : 0))
FAULT(overhead_twice_at_times, x + 48 * (1 + (random_unit(r) < 0.05)))
FAULT(carry_in_most, x + (random_unit(r) < 0.7 ? ldexp(1, 32) : 0))
FAULT(small_carry, x + (random_unit(r) < 0.05 ? ldexp(1, 19) : 0))
FAULT(thousands_and_one, x > 700000 ? floor(x / 1000) + 1 : x)
FAULT(tens, 10 * floor(x / 10))
FAULT(sevens_noisy, 7 * floor(x / 7 + 2 * random_unit(r)))
FAULT(late_or_early, x + floor(fmin(x, 5000) * (random_unit(r) - 0.9)))
FAULT(late_and_grows, x - floor(0.02 * x * random_unit(r)))
FAULT(late_by_four_at_least, x - floor(fmin(x, 4000 + 1000 * random_unit(r))))
FAULT(one_more_where_by_three, x + (fmod(x, 3) == 0))
FAULT(late_by_the_root, x - floor(sqrt(x) * random_unit(r)))
FAULT(late_by_a_few_more, x - (x > 1000 ? floor(100 + 10 * log10(x) + 3 * random_unit(r)) : 0))

static void near_them(void)
{
	static struct world w;
	char text[300];
	planting.which = 8, planting.before = planting.executions = 0;
	struct verdict v = verdict_of(INSTRUCTIONS, 1000, 10, fifteen_for_each_switch, true, text);
	ok(v.shape != SHAPE_SOME,
	   "fifteen for some interrupts have no name: they are a common divisor by chance (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1000, 10, many_for_each_switch, false, text);
	ok(v.shape != SHAPE_SOME, "nor are many, where nothing is known of interrupts (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1000, 10, many_for_each_switch_too_many, true, text);
	ok(v.shape != SHAPE_SOME, "nor more than there were interrupts (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 5, one_more_carry_each_time, true, text);
	ok(verdict_accuses(v.kind) && v.shape == SHAPE_SHIFTS,
	   "a power of two more from a size on, each time, is no carry (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, no_power_of_two, true, text);
	ok(v.shape != SHAPE_CARRY, "another number is no carry (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, carry_of_noise, true, text);
	ok(v.shape != SHAPE_CARRY, "nor is a power of two among noise (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, carry_alone, true, text);
	ok(planting.executions > 77 && !verdict_accuses(v.kind), "nor one execution of all that is near one (%s)",
	   text);
	v = verdict_of(INSTRUCTIONS, 1, 10, overhead_twice_at_times, true, text);
	ok(!verdict_accuses(v.kind), "an overhead that is there twice at times is not of interrupts (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, carry_in_most, true, text);
	ok(v.shape != SHAPE_CARRY, "nor is one in most executions (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, small_carry, true, text);
	ok(v.shape != SHAPE_CARRY, "nor a small one, which other programs may count (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 3, thousands_and_one, true, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_BEYOND, "a thousandth and one is no unit (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 3, tens, true, text);
	ok(!verdict_accuses(v.kind) && v.shape == SHAPE_NONE,
	   "where each kernel is off by a constant of its own, steps are not told (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, sevens_noisy, true, text);
	ok(v.shape != SHAPE_RESOLUTION, "steps of seven that vary are none (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, late_or_early, true, text);
	ok(v.shape != SHAPE_LAGS, "a counter that shows more, too, is not read too early (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, late_and_grows, true, text);
	ok(v.shape != SHAPE_LAGS, "nor one that misses more the more there are (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, late_by_four_at_least, true, text);
	ok(v.shape != SHAPE_LAGS, "nor one that always misses 4000 (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, late_by_the_root, true, text);
	ok(v.shape != SHAPE_LAGS, "nor one that misses the root of the count (%s)", text);
	v = verdict_of(FP, 1, 10, late_by_a_few_more, true, text);
	ok(v.shape != SHAPE_THROTTLED, "and one that misses a few more at large counts is not throttled (%s)",
	   text);
	v = verdict_of(INSTRUCTIONS, 1, 10, one_more_where_by_three, true, text);
	ok(v.kind == VERDICT_NOISY && v.shape == SHAPE_NONE, "what never varies is of no interrupts (%s)", text);
	/* two kernels begin after larger ones: the third one's order is turned */
	for (size_t few = 0; few < 3; few++) {
		planting.before = 0;
		simulate(&w, INSTRUCTIONS, 1, 5, larger_of_two, true, 1);
		w.event.n_points = (few == 1 ? 3 : 4) * SIZES;
		w.observed[SIZES + 1][few == 2] += few == 2 ? 1 : 0;
		v = judge(&w, text);
		ok((v.shape == SHAPE_KEEPS) == (few == 0), "%s (%s)",
		   few == 0   ? "three kernels that show the one before tell it"
		   : few == 1 ? "two do not"
			      : "nor where another execution is wrong",
		   text);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		plant(&faults[i], i);
	near_them();
	return done();
}
