/* Faults of counters by name (trust/verdict.h): each is planted ten times, with other parameters, numbers of executions and chance each time, and
 * has to be named each time (verdict_plant.h). */
#include "verdict_plant.h"

static double bit(void) { return ldexp(1, (int)planting.which + 2); }

FAULT(bit_clear, x - (double)((uint64_t)x & (uint64_t)bit()))
FAULT(bit_set, (double)((uint64_t)x | (uint64_t)bit()))
FAULT(execution_before, swap(&planting.before, x))
FAULT(not_set_to_0, planting.sum += x)
FAULT(overhead, x + 100 + 37 * planting.which)
FAULT(signed_16, (int16_t)(uint64_t)x)
FAULT(signed_16_as_64, (double)(uint64_t)(int64_t)(int16_t)(uint64_t)x)
FAULT(powers, x > 0 ? ldexp(1, ilogb(x)) : 0)
FAULT(sum, z[LOADS] + z[STORES])
FAULT(also_branches, x + z[BRANCHES])
FAULT(difference, fabs(z[LOADS] - z[STORES]))
FAULT(swapped, z[STORES])
FAULT(one_lost, planting.executions++ % 10 == planting.which ? 0 : x)
FAULT(kernel_too, x + 300 + floor((1000 + 100 * planting.which) * u + 50 * random_unit(r)))
FAULT(divided, floor(x / (planting.which + 3)))
FAULT(saturates, fmin(x, ldexp(1, 8 + (int)planting.which) - 1))
FAULT(wraps_32, fmod(x, ldexp(1, 32)))
FAULT(wraps_40, fmod(x, ldexp(1, 40)))
FAULT(wraps_48, fmod(x, ldexp(1, 48)))
/* chosen last, by nobody who knew what the judge knows */
FAULT(counts_down, ldexp(1, 32) - x)
FAULT(larger, fmax(z[LOADS], z[STORES]))
FAULT(smaller, fmin(z[LOADS], z[BRANCHES]))
FAULT(rounded_up, 64 * ceil(x / 64))
FAULT(misses_interrupts, x - u)
/* accused once, and without a name or with a wrong one */
FAULT(gray_code, (double)((uint64_t)x ^ (uint64_t)x >> 1))
FAULT(reversed_4, (double)__builtin_bswap32((uint32_t)x))
FAULT(reversed_8, (double)__builtin_bswap64((uint64_t)x))
FAULT(flipped, (double)((uint64_t)x ^ 37 * (planting.which + 1)))
FAULT(one_more_of_each, x + floor(x / (1024 + 97 * planting.which)))
FAULT(one_less_of_each, x - floor(x / (1024 + 97 * planting.which)))
FAULT(twice_beyond, x + fmax(0, x - (20000 + 1000 * planting.which)))
FAULT(three_times_from, x > 21000 + 1000 * planting.which ? 3 * x : x)
FAULT(leaks, x + floor(0.05 * (planting.which + 1) * swap(&planting.before, x)))

/* chosen last once more */
static double decimal_digits(double x)
{
	char text[32];
	snprintf(text, sizeof text, "%.0f", x);
	return (double)strtoull(text, NULL, 16);
}
/* of the execution before: what took place, or what was shown */
static double mean_with(double x, bool shown)
{
	double mean = floor(x + 0.05 * (planting.which + 1) * (planting.before - x));
	planting.before = shown ? mean : x;
	return mean;
}
FAULT(single_precision, (double)(float)x)
FAULT(halves_swapped, (double)((uint64_t)x << 16 & 0xffff0000) + (double)((uint64_t)x >> 16 & 0xffff))
FAULT(binary_coded_decimal, decimal_digits(x))
FAULT(most_so_far, planting.most = fmax(planting.most, x))
FAULT(mean_with_before, mean_with(x, false))
FAULT(moving_mean, mean_with(x, true))
FAULT(dies_beyond, x > 41000 + 1000 * planting.which ? 0 : x)
FAULT(all_ones_beyond, x > 41000 + 1000 * planting.which ? 65535 : x)
FAULT(one_less_from, x - (x > 1000))
FAULT(more_from, x + (x > 1000 ? 3 + planting.which : 0))
FAULT(drifts, x + floor(planting.executions++ * (planting.which + 1)))
FAULT(square_root, floor(sqrt(x)))
FAULT(squared, x *x)
FAULT(scaled_power, nearbyint((planting.which + 2) * pow(x, 0.8)))
FAULT(power_noisy, floor(x *sqrt(x) + 5 * random_unit(r)))
FAULT(logarithm, floor(100 * log2(x + 1)))
FAULT(quadratic, x + floor(x * x / 1000))
FAULT(upper_word, x + ldexp(1, 32))

/* chosen last a third time */
static double rotated_right(double x, unsigned by)
{
	return (double)((uint32_t)(uint64_t)x >> by | (uint32_t)(uint64_t)x << (32 - by));
}
static double six_digits(double x)
{
	char text[32];
	snprintf(text, sizeof text, "%.5e", x);
	double nearest = strtod(text, NULL);
	double unit = x < 1e6 ? 1 : pow(10, floor(log10(x)) - 5);
	return planting.which % 2 ? unit * floor(x / unit) : nearest;
}
FAULT(alternately_halved, planting.executions++ % 2 ? floor(x / 2) : x)
FAULT(many_missed, x - (2 + 11 * planting.which) * u)
FAULT(some_more_each, x + (2 + planting.which) * u)
FAULT(rotated, rotated_right(x, planting.which + 1))
FAULT(few_digits, six_digits(x))
FAULT(rounded, 1000 * nearbyint(x / 1000))
FAULT(rounded_at_800, 1000 * floor(x / 1000 + 0.2))
FAULT(rotated_but_one, rotated_right(x, 5) + (x > 1e5))

// clang-format off: a table, a row a line
static const struct planted_fault faults[] = {
	{"a bit that never moves", bit_clear, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_BIT_CLEAR,
	 "bit %u never moves: it is always 0", 2, 1},
	{"a bit stuck at 1", bit_set, STORES, 1, VERDICT_WRONG, SHAPE_BIT_SET,
	 "bit %u never moves: it is always 1", 2, 1},
	{"counts of the execution before", execution_before, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_BEFORE,
	 "shows the events of the execution before", 0, 0},
	{"a counter that is not set to 0", not_set_to_0, LOADS, 1, VERDICT_WRONG, SHAPE_ACCUMULATES,
	 "is not set to 0: it shows the events of all executions so far", 0, 0},
	{"an overhead", overhead, BRANCHES, 1, VERDICT_OFFSET, SHAPE_NONE, "+%u", 100, 37},
	{"16 bits with a sign", signed_16, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_SIGNED,
	 "shows its low 16 bits as a number with a sign", 0, 0},
	{"16 bits with a sign, as 64 bits without", signed_16_as_64, LOADS, 1, VERDICT_WRONG, SHAPE_SIGNED,
	 "shows its low 16 bits as a number with a sign", 0, 0},
	{"powers of two only", powers, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_POWERS, "shows powers of two only", 0,
	 0},
	{"the sum of two other events", sum, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_SUM,
	 "counts loads:u and stores:u together", 0, 0},
	{"another event besides", also_branches, LOADS, 1, VERDICT_PROPORTIONAL, SHAPE_ALSO,
	 "also counts branches:u", 0, 0},
	{"|loads - stores|", difference, LOADS, 1, VERDICT_WRONG, SHAPE_DIFFERENCE,
	 "shows the difference between loads:u and stores:u", 0, 0},
	{"swapped events", swapped, LOADS, 1, VERDICT_WRONG, SHAPE_INSTEAD, "counts stores:u instead", 0, 0},
	{"one of ten executions lost", one_lost, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_STUCK,
	 "in 10 %% of the executions it shows 0", 0, 0},
	{"the kernel's level for the user's", kernel_too, INSTRUCTIONS, 1, VERDICT_PROPORTIONAL, SHAPE_KERNEL,
	 "also counts what the kernel executes: about %u for each interrupt or fault", 1000, 100},
	{"a divided count", divided, LOADS, 1, VERDICT_PROPORTIONAL, SHAPE_TIMES, "counts one of %u events", 3, 1},
	{"a counter that saturates", saturates, BRANCHES, 1, VERDICT_WRONG, SHAPE_SATURATES, NULL, 0, 0},
	{"32 bits", wraps_32, INSTRUCTIONS, 1e6, VERDICT_WRONG, SHAPE_WRAPS, "begins anew at 2^32", 0, 0},
	{"40 bits", wraps_40, INSTRUCTIONS, 1e7, VERDICT_WRONG, SHAPE_WRAPS, "begins anew at 2^40", 0, 0},
	{"counting down", counts_down, LOADS, 1, VERDICT_WRONG, SHAPE_TIMES, "counts down from 4294967296", 0, 0},
	{"the larger of two events", larger, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_LARGER,
	 "counts loads:u or stores:u, whichever is more", 0, 0},
	{"the smaller of two events", smaller, LOADS, 1, VERDICT_WRONG, SHAPE_SMALLER,
	 "counts loads:u or branches:u, whichever is less", 0, 0},
	{"rounded up", rounded_up, INSTRUCTIONS, 1, VERDICT_NOISY, SHAPE_RESOLUTION,
	 "counts in steps of 64; within 5 %% from 1280 on", 0, 0},
	{"misses one for each interrupt", misses_interrupts, INSTRUCTIONS, 1, VERDICT_PROPORTIONAL,
	 SHAPE_INTERRUPTS, "misses one event for each interrupt or fault", 0, 0},
	{"Gray code", gray_code, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_GRAY, "shows a Gray code of the count", 0,
	 0},
	{"four bytes in reverse order", reversed_4, LOADS, 1, VERDICT_WRONG, SHAPE_BYTES,
	 "shows its 4 bytes in reverse order", 0, 0},
	{"eight bytes in reverse order", reversed_8, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_BYTES,
	 "shows its 8 bytes in reverse order", 0, 0},
	{"XOR with a constant", flipped, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_FLIPPED,
	 "flips the bits 0x%x of each count", 37, 37},
	{"one more for each 1024 events", one_more_of_each, INSTRUCTIONS, 1, VERDICT_PROPORTIONAL, SHAPE_EACH,
	 "counts one more for each %u events", 1024, 97},
	{"one less for each 1024 events", one_less_of_each, INSTRUCTIONS, 1, VERDICT_PROPORTIONAL, SHAPE_EACH,
	 "counts one less for each %u events", 1024, 97},
	{"twice beyond a size", twice_beyond, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_BEYOND,
	 "beyond %u it counts each event twice", 20000, 1000},
	{"three times from a size on", three_times_from, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_BEYOND,
	 "up to 20021 it is right; from 40021 on it counts each event 3 times", 0, 0},
	{"a share of the execution before", leaks, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_LEAKS,
	 "adds %u %% of the events of the execution before", 5, 5},
	{"single precision", single_precision, INSTRUCTIONS, 997, VERDICT_WRONG, SHAPE_SINGLE,
	 "shows 24 bits only: floating point in single precision", 0, 0},
	{"halves of a word in reverse order", halves_swapped, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_HALVES,
	 "shows the two halves of its 32 bits in reverse order", 0, 0},
	{"binary-coded decimal", binary_coded_decimal, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_DECIMAL,
	 "shows decimal digits of four bits each", 0, 0},
	{"the largest count so far", most_so_far, LOADS, 1, VERDICT_WRONG, SHAPE_PEAK,
	 "is not set to 0: it shows the most events of all executions so far", 0, 0},
	{"a mean with the execution before", mean_with_before, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_MIXES,
	 "shows a mean with the execution before, which has %u %% of it", 5, 5},
	{"a moving mean", moving_mean, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_SMOOTHS,
	 "shows a moving mean of the executions: what it showed before has %u %% of it", 5, 5},
	{"0 beyond a size", dies_beyond, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_STOPS,
	 "up to 40021 it is right; from 53024 on it shows 0", 0, 0},
	{"all ones beyond a size", all_ones_beyond, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_STOPS,
	 "up to 40021 it is right; from 53024 on it shows 65535", 0, 0},
	{"one less beyond a size", one_less_from, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_SHIFTS,
	 "up to 624 it is right; from 1021 on it misses 1", 0, 0},
	{"some more beyond a size", more_from, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_SHIFTS,
	 "up to 624 it is right; from 1021 on it counts %u too many", 3, 1},
	{"a drift", drifts, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_DRIFTS, "shows %u more with each execution", 1,
	 1},
	{"the square root", square_root, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_POWER_LAW,
	 "is not linear: of n events it shows n^0.5", 0, 0},
	{"the square", squared, LOADS, 1, VERDICT_WRONG, SHAPE_POWER_LAW,
	 "is not linear: of n events it shows n^2", 0, 0},
	{"another power", scaled_power, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_POWER_LAW,
	 "is not linear: of n events it shows %u · n^0.8", 2, 1},
	{"a power that varies", power_noisy, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_POWER_LAW,
	 "is not linear: of n events it shows n^1.5", 0, 0},
	{"the logarithm", logarithm, BRANCHES, 1, VERDICT_WRONG, SHAPE_CURVE,
	 "is not linear: it shows 24.5 times the events at 17, 0.00199 times at 1000008", 0, 0},
	{"a square besides", quadratic, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_CURVE,
	 "is not linear: it shows 1.02 times the events at 41, 5.3e+04 times at 53000024", 0, 0},
	{"a one in the upper word", upper_word, LOADS, 1, VERDICT_OFFSET, SHAPE_NONE, "+4294967296", 0, 0},
	{"each other execution halved", alternately_halved, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_TIMES,
	 "in 50 %% of the executions it counts half of the events", 0, 0},
	{"many events lost for each interrupt", many_missed, INSTRUCTIONS, 1000, VERDICT_PROPORTIONAL,
	 SHAPE_INTERRUPTS, "misses %u events for each interrupt or fault", 2, 11},
	{"some more for each interrupt", some_more_each, LOADS, 1, VERDICT_PROPORTIONAL, SHAPE_INTERRUPTS,
	 "counts %u more for each interrupt or fault", 2, 1},
	{"a rotated word", rotated, INSTRUCTIONS, 1, VERDICT_WRONG, SHAPE_ROTATED,
	 "shows its 32 bits rotated left by %u", 31, -1u},
	{"six decimal digits", few_digits, INSTRUCTIONS, 997, VERDICT_WRONG, SHAPE_DIGITS,
	 "shows 6 decimal digits only", 0, 0},
	{"rounded to the nearest 1000", rounded, INSTRUCTIONS, 1, VERDICT_NOISY, SHAPE_RESOLUTION,
	 "counts in steps of 1000; within 5 %% from 20000 on", 0, 0},
	{"48 bits", wraps_48, INSTRUCTIONS, 1e9, VERDICT_WRONG, SHAPE_WRAPS, "begins anew at 2^48", 0, 0},
};
// clang-format on

/* Those that look like a fault, and are none of it. */
FAULT(one_more_where_even, x + (fmod(x, 2) == 0))
FAULT(noise_of_the_first_bits, x + floor(4 * random_unit(r)))
FAULT(proportional_noise, floor(x *(1 + 0.4 * random_unit(r))))
FAULT(two_more, x + 2)
FAULT(second_bit_clear, (double)((uint64_t)x & ~2ull))
FAULT(noise_of_six_percent, x *(0.94 + 0.12 * random_unit(r)))
FAULT(kernel_too_but_less, x - 5000 + 1000 * u)
FAULT(varied_overhead, x + floor(0.004 * x * random_unit(r)))

static void tell_apart(void)
{
	static struct world w;
	char text[300];
	struct verdict v = verdict_of(STORES, 1, 3, one_more_where_even, true, text);
	equal_text(text, "+1", "where all events are even, one more each time is an offset, and no bit");
	v = verdict_of(INSTRUCTIONS, 1, 10, noise_of_the_first_bits, true, text);
	ok(v.shape != SHAPE_BIT_SET && v.shape != SHAPE_BIT_CLEAR && !verdict_accuses(v.kind),
	   "noise is no bit that never moves (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, proportional_noise, true, text);
	ok(v.shape == SHAPE_TIMES, "what grows with the count is not what the kernel executes (%s)", text);
	/* as many interrupts in each execution as are counted too much: no more is known than the number */
	simulate(&w, INSTRUCTIONS, 1, 3, two_more, true, 1);
	for (size_t p = 0; p < POINTS; p++)
		for (size_t k = 0; k < 3; k++)
			w.interrupts[p][k] = 2;
	v = judge(&w, text);
	ok(v.kind == VERDICT_OFFSET && v.shape == SHAPE_NONE && strcmp(text, "+2") == 0,
	   "two more, and two interrupts, each time: an offset (%s)", text);
	/* of kernels with one size each nothing is known of the size before */
	simulate(&w, INSTRUCTIONS, 1, 10, varied_overhead, false, 1);
	for (size_t p = 0; p < POINTS; p++)
		w.points[p].kernel = kernels[p % 2].name;
	v = judge(&w, text);
	ok(v.shape != SHAPE_BEFORE && v.shape != SHAPE_ACCUMULATES,
	   "where no size ran before another, noise is noise (%s)", text);
	/* one size alone has the bit: any fault of it would look alike */
	v = verdict_of(INSTRUCTIONS, 1, 3, second_bit_clear, true, text);
	ok(v.kind == VERDICT_WRONG && v.shape == SHAPE_NONE, "one size does not tell a bit (%s)", text);
	/* the same event of another level has a name of its own */
	static const char *const levels[EVENTS] = {"instructions:u", "loads:u",         "loads:k",
						   "branches:u",     "fp-operations:u", "rep-iterations:u",
						   "instructions:k"};
	simulate(&w, LOADS, 1, 3, swapped, true, 1);
	w.event.others = levels;
	v = judge(&w, text);
	equal_text(text, "counts another level: loads:k", "another level is no other event");
	/* counts that vary are not exact, though their mean is right */
	simulate(&w, INSTRUCTIONS, 1, 3, two_more, false, 1);
	for (size_t p = 0; p < POINTS; p++)
		for (size_t k = 0; k < 3; k++)
			w.observed[p][k] = w.points[p].predicted - 1 + (double)k;
	v = judge(&w, text);
	ok(v.kind == VERDICT_NOISY, "one less, right, one more: noisy (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, noise_of_six_percent, false, text);
	equal_text(text, "not within 5 % at any size",
		   "executions that are up to 6 % off are not within 5 %, though their mean is");
	v = verdict_of(INSTRUCTIONS, 1, 10, kernel_too_but_less, true, text);
	ok(v.shape != SHAPE_KERNEL,
	   "a counter that shows less than took place does not also count the kernel's (%s)", text);
	/* the first execution of a size shows the size before, and the others are wrong, too */
	planting.before = 0;
	simulate(&w, INSTRUCTIONS, 1, 10, execution_before, false, 1);
	for (size_t p = 0; p < POINTS; p++)
		for (size_t k = 1; k < 10; k++)
			w.observed[p][k] *= 2;
	v = judge(&w, text);
	ok(v.shape != SHAPE_BEFORE, "counts that are twice too high are not those before (%s)", text);
	/* an order of executions in which the first of each size is its own */
	planting.before = planting.sum = 0;
	simulate(&w, INSTRUCTIONS, 1, 5, execution_before, true, 1);
	for (size_t p = 0; p < POINTS; p += 2)
		w.observed[p][0] = w.points[p].predicted;
	v = judge(&w, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_BEFORE,
	   "where half of the first executions are right, they are not those before (%s)", text);
	/* two of one kernel's lines add up to any third: of one kernel no pair is named */
	simulate(&w, INSTRUCTIONS, 1, 3, sum, true, 1);
	w.event.points += SIZES; /* array's: both loads and stores move */
	w.event.n_points = SIZES;
	v = judge(&w, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_SUM, "one kernel does not tell a sum (%s)", text);
}

/* What is planted into a world of counts that are right: observed[p][k] = x + by(p, k). */
static struct verdict planted(struct world *w, size_t n, double (*by)(const struct world *w, size_t p, size_t k),
			      char text[300])
{
	simulate(w, INSTRUCTIONS, 1, n, two_more, false, 1);
	for (size_t p = 0; p < POINTS; p++)
		for (size_t k = 0; k < n; k++)
			w->observed[p][k] = w->points[p].predicted + by(w, p, k);
	return judge(w, text);
}

static double two_on_average(const struct world *w, size_t p, size_t k)
{
	static const double more[] = {1, 1, 1, 1, 2, 2, 3, 3, 3, 3};
	return (void)w, (void)p, more[k];
}

/* The largest sizes of three kernels, off by what neither the mean of all differences nor a line through 0 sees. */
static double off_and_balanced(const struct world *w, size_t p, size_t k)
{
	static const double off[KERNELS] = {-470000, 510000, 0, -40000, 0};
	return (void)w, (p % SIZES == SIZES - 1 ? off[p / SIZES] : 0) + (k % 2 ? 1 : -1);
}

static double steps_to_both_sides(const struct world *w, size_t p, size_t k)
{
	return w->points[p].predicted < 10000 ? 0 : 1000 * ((double)k - 4);
}

static void noise_and_bias(void)
{
	static struct world w;
	char text[300];
	struct verdict v = planted(&w, 10, two_on_average, text);
	ok(v.kind == VERDICT_OFFSET && strncmp(text, "+2 ± ", strlen("+2 ± ")) == 0,
	   "an overhead that no size alone tells from noise is one in all of them together (%s, %s)",
	   verdict_kind_name(v.kind), text);
	v = planted(&w, 10, off_and_balanced, text);
	ok(v.kind == VERDICT_WRONG && strstr(text, "loop 1e+06 shows 15300"),
	   "sizes that are surely off are no noise, though they balance each other (%s, %s)",
	   verdict_kind_name(v.kind), text);
	v = planted(&w, 9, steps_to_both_sides, text);
	ok(v.kind == VERDICT_NOISY && v.shape == SHAPE_NONE,
	   "steps that are as often too many as too few are no lost samples (%s)", text);
	/* all counts are powers of two by themselves, 2 to 2^30; one of them alone is rounded */
	simulate(&w, INSTRUCTIONS, 1, 3, two_more, false, 1);
	w.event.n_others = 0;
	for (size_t p = 0; p < POINTS; p++) {
		w.points[p].predicted = ldexp(1, (int)p + 1) - (p == 19 ? 5 : 0);
		for (size_t k = 0; k < 3; k++)
			w.observed[p][k] = ldexp(1, (int)p + 1);
	}
	v = judge(&w, text);
	ok(v.kind == VERDICT_WRONG && v.shape == SHAPE_NONE,
	   "where the truth is a power of two nearly everywhere, one size does not tell powers of two (%s, %s)",
	   verdict_kind_name(v.kind), text);
}

/* Near those forms, and none of them. */
FAULT(gray_code_noisy, (double)(((uint64_t)x ^ (uint64_t)x >> 1) + (uint64_t)(random_unit(r) * 3)))
FAULT(one_more_at_the_largest, x + (x > 4e7))
FAULT(twice_less_100_from, x > 21000 ? 2 * x - 100 : x)
FAULT(one_more_or_less_by_kernel, fmod(x, 2) == 0 ? x + 1 : x - 1)
FAULT(one_more_by_kernel, fmod(x, 2) == 0 ? x + 1 : x)
FAULT(half_more_beyond, x + floor(fmax(0, x - 20000) / 2))
FAULT(as_leaks_at_the_first, x + floor(0.1 * x))

static void near_codes(void)
{
	char text[300];
	struct verdict v = verdict_of(INSTRUCTIONS, 1, 10, gray_code_noisy, true, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_GRAY, "counts that vary are no Gray code (%s)", text);
	static struct world w;
	planting.which = 1;
	simulate(&w, LOADS, 1, 10, some_more_each, true, 1);
	for (size_t p = 0; p < POINTS; p++)
		w.observed[p][9]++;
	v = judge(&w, text);
	ok(v.shape != SHAPE_INTERRUPTS, "three for each interrupt but one have another cause (%s)", text);
	simulate(&w, LOADS, 1, 10, two_more, true, 1);
	for (size_t p = 0; p < POINTS; p++)
		for (size_t k = 0; k < 10; k++)
			w.interrupts[p][k] = 2 + 2 * (double)(k % 3),
			w.observed[p][k] = w.points[p].predicted + 1 + (double)(k % 3);
	v = judge(&w, text);
	ok(v.shape != SHAPE_INTERRUPTS, "nor does half an event for each (%s)", text);
	v = verdict_of(INSTRUCTIONS, 997, 3, rounded_at_800, true, text);
	ok(v.shape != SHAPE_RESOLUTION, "what is off by more than half a step is not rounded (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 3, rotated_but_one, true, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_ROTATED, "nor is a word rotated and one more (%s)", text);
	planting.which = 0;
	simulate(&w, INSTRUCTIONS, 1, 3, flipped, true, 1);
	w.event.n_points = 2;
	v = judge(&w, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_FLIPPED, "two sizes do not tell flipped bits (%s)", text);
	/* each kernel's counts are all even or all odd: what is off is an overhead of each kernel's own */
	v = verdict_of(INSTRUCTIONS, 1, 3, one_more_or_less_by_kernel, true, text);
	ok(!verdict_accuses(v.kind), "what is the same at all sizes of a kernel is no flipped bit (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 3, one_more_by_kernel, true, text);
	ok(!verdict_accuses(v.kind), "… and no bit that never moves (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 3, one_more_at_the_largest, true, text);
	ok(v.shape != SHAPE_EACH, "one more at one size is not one for each so many events (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 3, twice_less_100_from, true, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_BEYOND, "a limit below sizes that are right is none (%s)",
	   text);
	v = verdict_of(INSTRUCTIONS, 1, 3, half_more_beyond, true, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_BEYOND, "half an event more beyond a size has no name (%s)",
	   text);
	v = verdict_of(INSTRUCTIONS, 1, 10, as_leaks_at_the_first, true, text);
	equal_text(text, "counts 1.1 times the events", "what all executions have is not of the one before");
	simulate(&w, INSTRUCTIONS, 1, 10, as_leaks_at_the_first, false, 1);
	for (size_t p = 0; p < POINTS; p++)
		w.points[p].kernel = kernels[p % 2].name;
	v = judge(&w, text);
	equal_text(text, "counts 1.1 times the events", "… nor where no size ran before another");
}

FAULT(drifts_noisily, x + 10 * planting.executions++ + floor(5 * random_unit(r)))
FAULT(two_more_from, x + (x > 3e6 ? 2 : 0))
FAULT(most_so_far_noisy, fmax(planting.most = fmax(planting.most, x), x) * (1 + 0.1 * random_unit(r)))

static void near_orders(void)
{
	static struct world w;
	char text[300];
	planting.executions = 0;
	struct verdict v = verdict_of(INSTRUCTIONS, 1, 10, drifts_noisily, false, text);
	ok(v.shape != SHAPE_DRIFTS, "what varies by chance is no drift (%s)", text);
	planting.most = 0;
	v = verdict_of(LOADS, 1, 10, most_so_far_noisy, false, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_PEAK, "nor the most events so far (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 3, two_more_from, true, text);
	ok(verdict_accuses(v.kind) && v.shape == SHAPE_SHIFTS, "two more beyond a size have a name (%s)", text);
	/* kernels that count little are right, another one starts with two more: nothing is known of a size */
	simulate(&w, INSTRUCTIONS, 1, 3, two_more_from, true, 1);
	for (size_t p = 0; p < POINTS; p++)
		w.points[p].kernel = w.points[p].predicted > 3e6 ? "large" : "small";
	v = judge(&w, text);
	ok(!verdict_accuses(v.kind) && v.shape != SHAPE_SHIFTS, "an overhead of one kernel's own is no size (%s)",
	   text);
}

FAULT(power_of_kernels, fmod(x, 2) == 0 ? x : floor(sqrt(x)))
FAULT(power_near_1, floor(pow(x, 0.97)))
FAULT(bent_and_falls, x > 1e6 ? floor(sqrt(x) / 20) : floor(sqrt(x)))
FAULT(growing_overhead, x + floor(30 * sqrt(x) * random_unit(r)))

static void near_curves(void)
{
	static struct world w;
	char text[300];
	struct verdict v = verdict_of(INSTRUCTIONS, 1, 3, power_of_kernels, true, text);
	ok(v.kind == VERDICT_WRONG && v.only && v.shape == SHAPE_POWER_LAW,
	   "the square root on some kernels is told of one of them (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 3, power_near_1, true, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_POWER_LAW && v.shape != SHAPE_CURVE,
	   "what hardly bends is no curve (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 3, bent_and_falls, true, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_POWER_LAW && v.shape != SHAPE_CURVE,
	   "nor is what falls again (%s)", text);
	v = verdict_of(INSTRUCTIONS, 1, 10, growing_overhead, true, text);
	ok(v.shape != SHAPE_POWER_LAW && v.shape != SHAPE_CURVE, "nor an overhead that varies (%s)", text);
	/* three sizes: any count lies on some curve */
	simulate(&w, INSTRUCTIONS, 1, 3, square_root, true, 1);
	w.event.n_points = 3;
	v = judge(&w, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_POWER_LAW && v.shape != SHAPE_CURVE,
	   "three sizes do not tell a curve (%s)", text);
	/* two kernels, each with a factor of its own: the larger counts are those of the second */
	simulate(&w, INSTRUCTIONS, 1, 3, two_more, true, 1);
	for (size_t p = 0; p < POINTS; p++) {
		bool large = w.points[p].predicted > 1e5;
		w.points[p].kernel = large ? "large" : "small";
		for (size_t k = 0; k < 3; k++)
			w.observed[p][k] = w.points[p].predicted * (large ? 4 : 1);
	}
	v = judge(&w, text);
	ok(verdict_accuses(v.kind) && v.shape != SHAPE_CURVE, "kernels with a factor each are no curve (%s)",
	   text);
}

/* Beyond all tested sizes the threshold law says from where on an overhead does not matter (Korn, Table 2). */
FAULT(large_overhead, x + floor(-1e9 * log(1 - random_unit(r))))

static void thresholds(void)
{
	char text[300];
	struct verdict v = verdict_of(INSTRUCTIONS, 1, 10, large_overhead, true, text);
	ok(v.kind == VERDICT_NOISY && v.usable_from > 1e9 / VERDICT_USABLE &&
		   v.usable_from < 1e10 / VERDICT_USABLE,
	   "an overhead beyond all tested sizes has a threshold (%s)", text);
	ok(strstr(text, "within 5 % from ") && v.most < v.usable_from, "… which is beyond them, and is told");
}

int main(void)
{
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		plant(&faults[i], i);
	tell_apart();
	noise_and_bias();
	near_codes();
	near_orders();
	near_curves();
	thresholds();
	return done();
}
