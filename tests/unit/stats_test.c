/* stats/ against published tables and certified values; each constant's source stands beside it. */
#include "stats/stats.h"

#include "stats/student.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The t quantile that an interval used: half-width · √n / s. */
static double quantile_used(size_t n, double confidence)
{
	double x[200] = {0};
	for (size_t i = 0; i < n; i++)
		x[i] = (double)(i % 2) * 2 + (double)i / 100;
	struct interval interval;
	if (!stats_mean_interval(x, n, confidence, &interval))
		return NAN;
	return (interval.high - interval.value) * sqrt((double)n) / stats_sd(x, n);
}

/* Fisher, Yates: Statistical tables, table III (any textbook's t table). */
static void t_table(void)
{
	static const struct {
		size_t df;
		double at_95, at_99;
	} rows[] = {
		{1, 12.706, 63.657}, {2, 4.303, 9.925},  {3, 3.182, 5.841},  {4, 2.776, 4.604},
		{5, 2.571, 4.032},   {6, 2.447, 3.707},  {9, 2.262, 3.250},  {10, 2.228, 3.169},
		{20, 2.086, 2.845},  {30, 2.042, 2.750}, {60, 2.000, 2.660}, {120, 1.980, 2.617},
	};
	bool right = true;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double at_95 = quantile_used(rows[i].df + 1, 0.95), at_99 = quantile_used(rows[i].df + 1, 0.99);
		if (!(fabs(at_95 - rows[i].at_95) < 0.0005001 && fabs(at_99 - rows[i].at_99) < 0.0005001)) {
			printf("# df %zu: %.4f %.4f\n", rows[i].df, at_95, at_99);
			right = false;
		}
	}
	ok(right, "t quantiles are those of the printed table, 12 degrees of freedom at 95 and 99 %%");
}

/* GSL's inverse is iterative: here against its own distribution function, with the fractions that Welch's test and
 * stats_multiplex() ask for. */
static void t_inverse(void)
{
	double worst = 0;
	for (double df = 1; df < 1e6; df *= 1.037)
		for (int i = 0; i < 2; i++) {
			double confidence = i ? 0.99 : 0.95, q = student_two_sided(confidence, df);
			double error = fabs(student_p_value(q, df) / (1 - confidence) - 1);
			worst = error > worst || isnan(error) ? error : worst;
		}
	printf("# worst relative error of the tail: %.2g\n", worst);
	ok(worst < 1e-9, "t quantiles invert the distribution for whole and fractional degrees of freedom");
	ok(isnan(student_two_sided(0.95, 0)) && isnan(student_two_sided(1, 5)),
	   "there is no t quantile without freedom or at 100 %%");
}

/* NIST Statistical Reference Datasets, univariate summary statistics. Certified values there to 15 digits; the
 * log relative error asked for is what doubles can hold of the data. */
static double digits_right(double is, double certified)
{
	if (is == certified)
		return 15;
	return -log10(fabs(is - certified) / fabs(certified));
}

static void certified(const char *name, const double *x, size_t n, double mean, double sd, double sd_digits)
{
	double of_mean = digits_right(stats_mean(x, n), mean), of_sd = digits_right(stats_sd(x, n), sd);
	if (!(of_mean >= 14 && of_sd >= sd_digits))
		printf("# mean %.1f digits, sd %.1f digits\n", of_mean, of_sd);
	ok(of_mean >= 14 && of_sd >= sd_digits, "NIST StRD %s: mean and standard deviation as certified", name);
}

static void numacc(const char *name, double first, double low, double high, double sd_digits)
{
	double x[1001] = {first};
	for (size_t i = 1; i < 1001; i++)
		x[i] = i % 2 ? low : high;
	certified(name, x, 1001, first, 0.1, sd_digits);
}

static void nist(void)
{
	static const double michelson[] = {
		/* 299 km/s + thousandths: Dorsey 1944, via StRD "Michelso" */
		850,  740, 900, 1070, 930, 850, 950, 980, 980, 880, 1000, 980, 930, 650, 760, 810, 1000,
		1000, 960, 960, 960,  940, 960, 940, 880, 800, 850, 880,  900, 840, 830, 790, 810, 880,
		880,  830, 800, 790,  760, 800, 880, 880, 880, 860, 720,  720, 620, 860, 970, 950, 880,
		910,  850, 870, 840,  840, 850, 840, 840, 840, 890, 810,  810, 820, 800, 770, 760, 740,
		750,  760, 910, 920,  890, 860, 880, 720, 840, 850, 850,  780, 890, 840, 780, 810, 760,
		810,  790, 810, 820,  850, 870, 870, 810, 740, 810, 940,  950, 800, 810, 870,
	};
	double x[COUNT(michelson)];
	for (size_t i = 0; i < COUNT(michelson); i++)
		x[i] = (299000 + michelson[i]) / 1000;
	certified("Michelso", x, COUNT(x), 299.8524, 0.0790105478190518, 12);

	static const double numacc1[] = {10000001, 10000003, 10000002};
	certified("NumAcc1", numacc1, 3, 10000002, 1, 15);
	numacc("NumAcc2", 1.2, 1.1, 1.3, 14);
	numacc("NumAcc3", 1000000.2, 1000000.1, 1000000.3, 9);
	numacc("NumAcc4", 10000000.2, 10000000.1, 10000000.3, 8);
}

static void quantiles(void)
{
	static const double ten[] = {7, 3, 10, 1, 5, 2, 9, 4, 8, 6};
	static const double before[] = {7, 3, 10, 1, 5, 2, 9, 4, 8, 6};
	/* R 4: quantile(1:10, c(0, .1, .25, .333, .5, .9, 1)); type 7 of Hyndman & Fan (1996) is (n-1)p + 1 */
	near(stats_quantile(ten, 10, 0), 1, 0, "the 0-quantile is the smallest value");
	near(stats_quantile(ten, 10, 0.1), 1.9, 1e-12, "type 7: quantile(1:10, 0.1) = 1.9");
	near(stats_quantile(ten, 10, 0.25), 3.25, 1e-12, "type 7: quantile(1:10, 0.25) = 3.25");
	near(stats_quantile(ten, 10, 0.333), 3.997, 1e-12, "type 7: quantile(1:10, 0.333) = 3.997");
	near(stats_quantile(ten, 10, 1), 10, 0, "the 1-quantile is the largest value");
	near(stats_median(ten, 10), 5.5, 0, "the median of an even number of values is between the middle two");
	near(stats_median(ten, 9), 5, 0, "the median of an odd number of values is the middle one");
	near(stats_mad(ten, 10), 3.7065, 5e-5, "R: mad(1:10) = 3.7065");
	static const double nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	near(stats_mad(nine, 9), 2.965204, 1e-5, "R: mad(1:9) = 2.9652");
	ok(memcmp(ten, before, sizeof ten) == 0, "samples are left in their order");
	ok(isnan(stats_quantile(ten, 0, 0.5)) && isnan(stats_median(ten, 0)) && isnan(stats_mean(ten, 0)) &&
		   isnan(stats_mad(ten, 0)),
	   "no values have no median, mean or MAD, rather than 0");
	ok(isnan(stats_sd(ten, 1)), "one value has no standard deviation, rather than 0");
	ok(isnan(stats_quantile(ten, 10, 1.01)), "there is no quantile above 1");
}

static void intervals(void)
{
	struct interval i;
	static const double one[] = {5};
	ok(!stats_mean_interval(one, 1, 0.95, &i), "one value has no t-interval");
	static const double same[] = {7, 7, 7};
	ok(stats_mean_interval(same, 3, 0.95, &i) && i.low == 7 && i.high == 7,
	   "equal values have a t-interval of width 0");
	ok(!stats_mean_interval(same, 3, 1, &i), "there is no interval at 100 %%");

	/* Safford (1997), Figures 4.4, 4.6 and 4.7: all seven raw examples that he prints */
	static const struct {
		double x[5];
		size_t n;
		double mean, half;
	} p5mon[] = {
		{{201902, 201902, 201902, 201902, 201907}, 5, 201903.0, 2.3},
		{{269, 269, 269, 269, 271}, 5, 269.4, 0.9},
		{{11113, 11003, 10962, 10975, 10979}, 5, 11006.4, 63.2},
		{{8856, 8876, 8816, 8850, 8845}, 5, 8848.6, 22.3},
		{{498, 498, 511}, 3, 502.3, 11.3},
		{{2995, 2996, 2988}, 3, 2993.0, 6.5},
		{{59, 58, 55}, 3, 57.3, 3.1},
	};
	bool right = true;
	for (size_t k = 0; k < COUNT(p5mon); k++) {
		bool found = stats_mean_interval_p5mon(p5mon[k].x, p5mon[k].n, 0.95, &i);
		right = right && found && fabs(i.value - p5mon[k].mean) <= 0.05 &&
			fabs(i.high - i.value - p5mon[k].half) <= 0.06; /* he used t = 2.571, to 3 places */
	}
	ok(right, "run_p5mon's interval reproduces the thesis's seven examples to print precision");
	ok(stats_mean_interval_p5mon(one, 1, 0.95, &i) && i.low == 5 && i.high == 5,
	   "run_p5mon's interval of one value is 0 wide");
	struct interval ours;
	stats_mean_interval(p5mon[4].x, 3, 0.95, &ours);
	stats_mean_interval_p5mon(p5mon[4].x, 3, 0.95, &i);
	near((i.high - i.low) / (ours.high - ours.low), 0.60, 0.005,
	     "run_p5mon's interval is 0.60 of the right one at n = 3");

	/* ranks (k, n+1-k) of the 95 % interval for a median: Conover, table A3 with p = 1/2 */
	static const struct {
		size_t n, k;
	} ranks[] = {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {15, 4}, {20, 6}, {25, 8}, {50, 18}, {100, 40}};
	right = true;
	for (size_t r = 0; r < COUNT(ranks); r++) {
		double x[100];
		size_t n = ranks[r].n;
		for (size_t k = 0; k < n; k++)
			x[k] = (double)((k * 37) % 101); /* any order of distinct values */
		double sorted[101];
		size_t m = 0;
		for (int v = 0; v < 101; v++)
			for (size_t k = 0; k < n; k++)
				if (x[k] == v)
					sorted[m++] = v;
		bool found = stats_median_interval(x, n, 0.95, &i);
		if (!found || i.low != sorted[ranks[r].k - 1] || i.high != sorted[n - ranks[r].k]) {
			printf("# n = %zu\n", n);
			right = false;
		}
	}
	ok(right, "the median's interval takes the tabled ranks for 9 sample sizes");
	static const double five[] = {1, 2, 3, 4, 5};
	ok(!stats_median_interval(five, 5, 0.95, &i),
	   "five values are too few for a 95 %% interval of the median");
	ok(!stats_median_interval(five, 0, 0.95, &i), "no values are too few for an interval of the median");
}

static void welch(void)
{
	/* Cushny & Peebles' sleep data, as in Student: The probable error of a mean (1908); R's t.test(extra ~
	 * group): t = -1.8608, df = 17.776, p-value = 0.07939, 95 % interval -3.3654832 … 0.2054832 */
	static const double x[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
	static const double y[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
	struct stats_difference d;
	ok(stats_difference(y, 10, x, 10, 0.95, &d), "Welch's test takes Student's sleep data");
	near(d.absolute.value, -1.58, 1e-12, "the difference of the means is -1.58");
	near(d.absolute.low, -3.3654832, 5e-8, "the interval's low end is R's");
	near(d.absolute.high, 0.2054832, 5e-8, "the interval's high end is R's");
	near(d.df, 17.776, 5e-4, "the degrees of freedom are R's");
	near(d.p_value, 0.07939, 5e-6, "the p-value is R's");
}

/* NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.17.3: Rosner's example of 54 values, at most 10 of them at 5 %,
 * has three outliers. */
static void esd(void)
{
	static const double x[] = {-0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49,
				   1.49,  1.55, 1.56, 1.58, 1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91,
				   1.94,  1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26,
				   2.35,  2.37, 2.40, 2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93,
				   3.21,  3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01};
	bool marks[54];
	ok(stats_esd_outliers(x, 54, 10, 0.05, marks) == 3 && marks[51] && marks[52] && marks[53] && !marks[50],
	   "Rosner's example has its three outliers, though neither the first nor the second alone is one");
	ok(stats_esd_outliers(x, 54, 2, 0.05, marks) == 0, "looked at by twos none of them is one");
	ok(stats_esd_outliers(x, 54, 10, 0.01, marks) == 0, "nor is any at 1 %%");
}

static void trend(void)
{
	double tau, p;
	static const double up[] = {1, 2, 3, 4, 5}, down[] = {5, 4, 3, 2, 1}, nearly[] = {1, 2, 4, 3, 5},
			    flat[] = {2, 2, 2};
	ok(stats_trend(up, 5, &tau, &p) && tau == 1, "values that rise have tau 1");
	near(p, 1 / 120.0, 1e-15, "… in one order of 120");
	ok(stats_trend(down, 5, &tau, &p) && tau == -1 && p > 1 - 1e-12, "values that fall have tau -1, p 1");
	/* one pair of ten falls; 4 orders of 120 have one such pair, one none */
	stats_trend(nearly, 5, &tau, &p);
	near(tau, 0.8, 1e-15, "one of ten pairs falls: tau 0.8");
	near(p, 5 / 120.0, 1e-15, "… or less, in 5 orders of 120");
	static const double nine[] = {2, 1, 4, 3, 6, 9, 5, 8, 7};
	stats_trend(nine, 9, &tau, &p);
	/* pairs that fall: 21 43 65 95 98 97 87: S = 36 - 14 = 22, of which Kendall's table 1 has 0.012 */
	near(tau, 22 / 36.0, 1e-15, "nine values of which 7 pairs fall: S = 22");
	near(p, 0.012, 5e-4, "… has Kendall's tabled probability");
	static const double ties[] = {1, 1, 2, 2, 3, 3};
	/* S = 12, variance (6·5·17 - 3·2·1·9)/18 = 25.333: Φ(-11/5.0332) = 0.01442; tau-b 12/√(15·12) */
	ok(stats_trend(ties, 6, &tau, &p), "ties are no trouble");
	near(tau, 12 / sqrt(180), 1e-12, "tau-b with three pairs of ties");
	near(p, 0.01442, 5e-5, "… and the normal p-value");
	ok(!stats_trend(flat, 3, &tau, &p) && !stats_trend(up, 2, &tau, &p),
	   "equal values, and two, have no trend");
}

static void outliers(void)
{
	bool marks[20];
	static const double x[] = {2.0, 2.1, 1.9, 2.9, 2.0, 1.95, 2.05, 2.1, 1.9};
	ok(stats_outliers(x, 9, 0.001, marks) == 1 && marks[3], "a run that is far from all others is an outlier");
	static const double near_[] = {2.0, 2.1, 1.9, 2.2, 2.0, 1.95, 2.05, 2.1, 1.9};
	ok(stats_outliers(near_, 9, 0.001, marks) == 0, "one that is at their edge is not");
	static const double same[] = {100, 100, 100, 100, 100, 104};
	ok(stats_outliers(same, 6, 1, marks) == 1 && marks[5],
	   "where all others are equal the floor decides: 4 > 3.5 · 1");
	ok(stats_outliers(same, 6, 2, marks) == 0, "where all others are equal the floor decides: 4 < 3.5 · 2");
	static const double four[] = {1, 1, 1, 1000};
	marks[3] = true;
	ok(stats_outliers(four, 4, 0.1, marks) == 0 && !marks[3],
	   "four values are too few to call one an outlier");
	/* a second kind of runs: five of twenty are no outliers, wherever they lie */
	double two_kinds[20];
	size_t most = 0;
	for (int far = 1; far <= 1000; far *= 10) {
		for (size_t i = 0; i < 20; i++)
			two_kinds[i] = 100 + (double)(i % 3) + (i < 5 ? far : 0);
		size_t found = stats_outliers(two_kinds, 20, 0.001, marks);
		most = found > most ? found : most;
	}
	equal_u64(most, 0, "five of twenty runs that lie apart are no outliers");
	for (size_t i = 0; i < 20; i++)
		two_kinds[i] = 100 + (double)(i % 3) + (i < 2 ? 50 : 0);
	ok(stats_outliers(two_kinds, 20, 0.001, marks) == 2 && marks[0] && marks[1],
	   "two of twenty are found, though each hides the other from a test of one");
}

/* Of a population of 64 groups: all drawn, some drawn, none with anything. */
static void sampled_totals(void)
{
	double y[64], mirrored[8], mixed[8];
	const double zeros[8] = {0}, sample[8] = {10, 12, 9, 11, 10, 30, 8, 12};
	for (size_t i = 0; i < 64; i++)
		y[i] = (double)(i * i);
	struct interval all = stats_sampled_total(y, 64, 64, 0.95);
	ok(all.value == 85344 && all.low == 85344 && all.high == 85344, "of all groups the total is known");
	struct interval none = stats_sampled_total(zeros, 8, 64, 0.95);
	ok(none.value == 0 && none.low == 0 && none.high >= 3 * 56.0 / 8,
	   "what no drawn group has others may have");
	struct interval some = stats_sampled_total(sample, 8, 64, 0.95);
	ok(some.value == 816 && some.low >= 102 && some.low < some.value,
	   "the total is that of the drawn groups at least");
	ok(some.high - some.value > 2 * (some.value - some.low),
	   "away from 0, where one group may have much, the interval reaches farther");
	for (size_t i = 0; i < 8; i++) {
		mirrored[i] = -sample[i];
		mixed[i] = sample[i] - 11;
	}
	struct interval below = stats_sampled_total(mirrored, 8, 64, 0.95);
	ok(below.low == -some.high && below.value == -some.value && below.high == -some.low,
	   "of differences below 0 it is the mirror image");
	struct interval both = stats_sampled_total(mixed, 8, 64, 0.95);
	ok(both.low < both.value - 64 && both.high > both.value + 64 && both.low < -64,
	   "of differences on both sides of 0 it reaches far on both");

	/* each group has 9 % more than the one before, the last 250 times as much as the first: 2,000 samples of 8 */
	uint64_t state = 1, within = 0, plain = 0;
	for (unsigned s = 0; s < 2000; s++) {
		size_t order[64];
		double drawn[8], total = 0;
		struct interval mean;
		for (size_t i = 0; i < 64; i++) {
			y[i] = i ? y[i - 1] * 1.09 : 100;
			total += y[i];
			order[i] = i;
		}
		for (size_t i = 0; i < 8; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			size_t other = i + (size_t)((state >> 33) % (64 - i)), was = order[i];
			order[i] = order[other];
			order[other] = was;
			drawn[i] = y[order[i]];
		}
		struct interval one = stats_sampled_total(drawn, 8, 64, 0.95);
		within += one.low <= total && total <= one.high;
		plain += stats_mean_interval(drawn, 8, 0.95, &mean) && mean.low * 64 <= total &&
			 total <= mean.high * 64;
	}
	printf("# %llu of 2000, Student's %llu\n", (unsigned long long)within, (unsigned long long)plain);
	ok(within >= 1900 && plain < 1800, "of a skewed population 95 % of the intervals have the total in them");
}

int main(void)
{
	t_table();
	t_inverse();
	nist();
	quantiles();
	intervals();
	welch();
	esd();
	trend();
	outliers();
	sampled_totals();
	return done();
}
