/* Intervals hold the truth as often as they say: simulated, seeded, 20,000 draws each. The binomial standard error
 * at 95 % is 0.15 %, so that ±1 % is 6.5 of them; the same seeds give the same numbers on every run. Under sanitizers a
 * twentieth of the draws is made, and so many standard errors are more: there it is the memory that is judged. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "stats/stats.h"
#include "tap.h"

#define DRAWS 20000
#ifdef SANITIZED
static int draws = DRAWS / 20;
#else
static int draws = DRAWS; /* stats_coverage_test TIMES: so many times as many (make check-full) */
#endif

/* What so many standard errors are more with fewer draws than DRAWS; the bounds below are for these. */
static double wider(double errors, double share)
{
	double error = sqrt(share * (1 - share));
	return draws < DRAWS ? errors * error * (1 / sqrt(draws) - 1 / sqrt(DRAWS)) : 0;
}

static double normal(struct random *r)
{
	/* (0, 1): the half step keeps 0 out */
	return gsl_cdf_ugaussian_Pinv(random_unit(r) + 0x1.0p-54);
}

static void within(double covered, double low, double high, const char *fact)
{
	printf("# %s: %.2f %%\n", fact, 100 * covered);
	double more = wider(6.5, 0.95);
	ok(covered >= low - more && covered <= high + more, "%s", fact);
}

static void of_mean(size_t n, double confidence, double tolerance)
{
	struct random r = {.state = 1000 + n};
	size_t covered = 0;
	double x[100];
	for (int draw = 0; draw < draws; draw++) {
		struct interval i;
		for (size_t k = 0; k < n; k++)
			x[k] = 1e6 + 3 * normal(&r);
		stats_mean_interval(x, n, confidence, &i);
		covered += i.low <= 1e6 && 1e6 <= i.high;
	}
	char fact[96];
	snprintf(fact, sizeof fact, "the %.0f %% t-interval of %zu normal values covers their mean",
		 100 * confidence, n);
	within((double)covered / draws, confidence - tolerance, confidence + tolerance, fact);
}

static void of_p5mon(void)
{
	struct random r = {.state = 77};
	size_t covered = 0;
	for (int draw = 0; draw < draws; draw++) {
		struct interval i;
		double x[3] = {normal(&r), normal(&r), normal(&r)};
		stats_mean_interval_p5mon(x, 3, 0.95, &i);
		covered += i.low <= 0 && 0 <= i.high;
	}
	within((double)covered / draws, 0.80, 0.90, "run_p5mon's 95 % interval of 3 values covers less than 90 %");
}

static void of_welch(size_t nx, size_t ny, double sx, double sy)
{
	struct random r = {.state = 2000 + nx};
	size_t covered = 0, found = 0;
	double x[100], y[100];
	for (int draw = 0; draw < draws; draw++) {
		struct stats_difference d;
		for (size_t k = 0; k < nx; k++)
			x[k] = 10 + sx * normal(&r);
		for (size_t k = 0; k < ny; k++)
			y[k] = 10 + sy * normal(&r);
		stats_difference(x, nx, y, ny, 0.95, &d);
		bool holds = d.absolute.low <= 0 && 0 <= d.absolute.high;
		covered += holds;
		found += (d.p_value < 0.05) != holds;
	}
	char fact[112];
	snprintf(fact, sizeof fact, "Welch's 95 %% interval covers, %zu values of sd %.0f against %zu of sd %.0f",
		 nx, sx, ny, sy);
	within((double)covered / draws, 0.94, 0.96, fact);
	ok(found == (size_t)draws, "Welch's p < 0.05 exactly where the interval leaves 0 out");
}

/* Lognormal: skewed as run times are. Its median is e^0 = 1. */
static void of_median(size_t n, double exact)
{
	struct random r = {.state = 3000 + n};
	size_t covered = 0;
	double x[100];
	for (int draw = 0; draw < draws; draw++) {
		struct interval i;
		for (size_t k = 0; k < n; k++)
			x[k] = exp(normal(&r));
		stats_median_interval(x, n, 0.95, &i);
		covered += i.low <= 1 && 1 <= i.high;
	}
	char fact[112];
	snprintf(fact, sizeof fact,
		 "the median's interval of %zu lognormal values covers at least 95 %%, and no more than it must",
		 n);
	/* exact: 1 - 2 P(B(n, 1/2) < k), what the ranks give whatever the distribution */
	within((double)covered / draws, exact - 0.005 > 0.945 ? exact - 0.005 : 0.945, exact + 0.005, fact);
	ok(exact >= 0.95, "… whose exact coverage %.4f is not below nominal", exact);
}

/* For discrete counts, whose intervals cannot all cover exactly 95 %. */
static void not_below(double stated, unsigned covered, unsigned of, const char *what)
{
	double p = gsl_cdf_binomial_P(covered, stated, of);
	printf("# %.2f %%, p = %.3f\n", 100.0 * covered / of, p);
	ok(p >= 0.01, "95 %% interval, %s: that it covers %.0f %% or more is not rejected at 99 %%", what,
	   100 * stated);
}

static uint64_t poisson(struct random *r, double mean)
{
	uint64_t k = 0;
	if (mean > 500) /* rounded to the nearest: exact enough where the deviation is 22 */
		return (uint64_t)fmax(0, round(mean + sqrt(mean) * normal(r)));
	for (double left = exp(-mean), product = random_unit(r); product > left; product *= random_unit(r))
		k++;
	return k;
}

/* Rows of a profile: n samples, of which one row expects from … to. It may be any: each draw has a row of its own. */
static void of_share(uint64_t n, double from, double to)
{
	struct random r = {.state = 6000 + n};
	unsigned covered = 0;
	for (int draw = 0; draw < draws; draw++) {
		double share = from / (double)n * pow(to / from, random_unit(&r));
		uint64_t k = 0;
		for (uint64_t i = 0; i < n; i++)
			k += random_unit(&r) < share;
		struct interval i;
		stats_share(k, n, 0.95, &i);
		covered += i.low <= share && share <= i.high;
	}
	char what[112];
	snprintf(what, sizeof what, "a share's, %.0f samples, %g … %g expected", (double)n, from, to);
	not_below(0.95, covered, (unsigned)draws, what);
}

/* The mean share of runs whose odds are p/(1-p) · exp(N(0, sd)): over 2000 quantiles. */
static double mean_share(double odds, double sd)
{
	double sum = 0;
	for (int i = 0; i < 2000; i++) {
		double o = odds * exp(sd * gsl_cdf_ugaussian_Pinv((i + 0.5) / 2000));
		sum += o / (1 + o) / 2000;
	}
	return sum;
}

/* Runs whose shares differ: odds p/(1-p) · exp(N(0, sd)); sd 0: they do not. */
static unsigned replicated(size_t runs, double odds, double sd)
{
	struct random r = {.state = 8000 + runs};
	unsigned covered = 0;
	double truth = mean_share(odds, sd);
	for (int draw = 0; draw < draws; draw++) {
		uint64_t k[20], n[20];
		for (size_t run = 0; run < runs; run++) {
			double o = odds * exp(sd * normal(&r));
			k[run] = poisson(&r, 1000 * o / (1 + o));
			n[run] = k[run] + poisson(&r, 1000 / (1 + o));
		}
		struct interval i = {0};
		stats_replicated_share(k, n, runs, 0.95, &i);
		covered += i.low <= truth && truth <= i.high;
	}
	return covered;
}

static void of_replicated(void)
{
	static const size_t runs[] = {2, 3, 5, 10, 20};
	static const double odds[] = {1, 1 / 9.0, 0.01, 0.001};
	/* shares of runs that differ so much are skewed: what stats/share.c says of them is 94 % */
	static const double spreads[] = {0, 0.25, 0.5}, stated[] = {0.95, 0.95, 0.94};
	for (size_t i = 0; i < 5; i++)
		for (size_t o = 0; o < 4; o++)
			for (size_t s = 0; s < 3; s++) {
				char what[112];
				snprintf(what, sizeof what, "a share's from %zu runs, odds %.3f · exp(N(0, %g))",
					 runs[i], odds[o], spreads[s]);
				not_below(stated[s], replicated(runs[i], odds[o], spreads[s]), (unsigned)draws,
					  what);
			}
}

/* How often a sample in which nothing is wrong has an outlier; `log`: of times with a long tail, whose logarithms are
 * normal with this standard deviation. */
static void of_outliers(size_t n, double log, double most)
{
	struct random r = {.state = 9000 + n};
	size_t any = 0, worst = 0;
	double x[100];
	bool marks[100];
	for (int draw = 0; draw < draws; draw++) {
		for (size_t k = 0; k < n; k++)
			x[k] = 1e6 * (log > 0 ? exp(log * normal(&r)) : 1 + 0.05 * normal(&r));
		size_t found = stats_outliers(x, n, 1000, marks);
		any += found > 0;
		worst = found > worst ? found : worst;
	}
	printf("# %.2f %% of the samples, at most %zu in one\n", 100.0 * any / draws, worst);
	ok((double)any / draws <= most + wider(3, most) && worst <= n / 10 + 1,
	   "%zu %s repetitions: at most %.1f %% of such samples have an outlier, and never more than a tenth of "
	   "the runs are",
	   n, log > 0 ? "skewed" : "normal", 100 * most);
}

/* Two programs' times, the second 2 % longer; `log`: lognormal with this deviation, else normal with 5 %. Beside ours what
 * hyperfine 1.15 prints as "1.02 ± 0.07 times faster": the ratio of the means and its runs' standard deviation (its
 * src/benchmark/relative_speed.rs), for which it states no probability. That one does not narrow with more runs, so it holds the
 * truth too seldom in few runs, and is too wide in many. */
static void of_difference(size_t n, double log, double least, double theirs_low, double theirs_high)
{
	struct random r = {.state = 11000 + n};
	const double truth = 0.02;
	double x[100], y[100], wide = 0;
	unsigned ours = 0, theirs = 0;
	for (int draw = 0; draw < draws; draw++) {
		double m[2] = {0}, v[2] = {0};
		struct stats_difference d;
		for (size_t k = 0; k < n; k++) {
			x[k] = log > 0 ? exp(log * normal(&r)) : 1 + 0.05 * normal(&r);
			y[k] = (1 + truth) * (log > 0 ? exp(log * normal(&r)) : 1 + 0.05 * normal(&r));
			m[0] += x[k] / (double)n;
			m[1] += y[k] / (double)n;
		}
		for (size_t k = 0; k < n; k++) {
			v[0] += (x[k] - m[0]) * (x[k] - m[0]) / (double)(n - 1);
			v[1] += (y[k] - m[1]) * (y[k] - m[1]) / (double)(n - 1);
		}
		if (!stats_difference(x, n, y, n, 0.95, &d))
			continue;
		double ratio = m[1] / m[0], deviation = ratio * sqrt(v[0] / (m[0] * m[0]) + v[1] / (m[1] * m[1]));
		ours += d.relative.low <= truth && truth <= d.relative.high;
		theirs += fabs(ratio - 1 - truth) <= deviation;
		wide += 2 * deviation / (d.relative.high - d.relative.low) / draws;
	}
	double a = (double)ours / draws, b = (double)theirs / draws;
	printf("# ours %.2f %%; hyperfine's %.2f %%, and %.2f times as wide\n", 100 * a, 100 * b, wide);
	ok(a >= least - wider(6.5, 0.95) && b >= theirs_low - wider(6.5, 0.9) &&
		   b <= theirs_high + wider(6.5, 0.9),
	   "%zu %s runs of two programs: the interval of their difference holds it in 95 %%, hyperfine's in %g to "
	   "%g %%",
	   n, log > 0 ? "skewed" : "normal", 100 * theirs_low, 100 * theirs_high);
}

int main(int n, char **arguments)
{
	if (n > 1)
		draws *= atoi(arguments[1]);
	of_mean(2, 0.95, 0.01);
	of_mean(3, 0.95, 0.01);
	of_mean(5, 0.95, 0.01);
	of_mean(10, 0.95, 0.01);
	of_mean(30, 0.95, 0.01);
	of_mean(5, 0.99, 0.005);
	of_p5mon();
	of_welch(10, 10, 1, 1);
	of_welch(10, 20, 1, 4);
	of_welch(20, 8, 1, 3);
	of_difference(3, 0, 0.945, 0.70, 0.90);
	of_difference(10, 0, 0.945, 0.98, 1);
	of_difference(30, 0, 0.945, 0.999, 1);
	of_difference(10, 0.25, 0.94, 0.98, 1);
	of_median(6, 0.96875);
	of_median(10, 0.978516);
	of_median(25, 0.956715);
	of_median(100, 0.964800);
	/* 1 % and three standard errors of 20,000 draws */
	of_outliers(5, 0, 0.0122);
	of_outliers(10, 0, 0.0122);
	of_outliers(20, 0, 0.0122);
	of_outliers(50, 0, 0.0122);
	of_outliers(10, 0.25, 0.04);
	of_outliers(20, 0.25, 0.075);
	of_share(50, 0.05, 25);
	of_share(1000, 0.05, 1);
	of_share(1000, 1, 500);
	of_replicated();
	return done();
}
