/* Intervals hold the truth as often as they say: simulated, seeded, 20,000 draws each. The binomial standard error
 * at 95 % is 0.15 %, so that ±1 % is 6.5 of them; the same seeds give the same numbers on every run. */
#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#include "base/random.h"
#include "stats/stats.h"
#include "tap.h"

static int draws = 20000; /* stats_coverage_test TIMES: so many times as many (make check-full) */

static double normal(struct random *r)
{
	/* (0, 1): the half step keeps 0 out */
	return gsl_cdf_ugaussian_Pinv(random_unit(r) + 0x1.0p-54);
}

static void within(double covered, double low, double high, const char *fact)
{
	printf("# %s: %.2f %%\n", fact, 100 * covered);
	ok(covered >= low && covered <= high, "%s", fact);
}

static void of_mean(size_t n, double confidence, double tolerance)
{
	struct random r = { .state = 1000 + n };
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
	struct random r = { .state = 77 };
	size_t covered = 0;
	for (int draw = 0; draw < draws; draw++) {
		struct interval i;
		double x[3] = { normal(&r), normal(&r), normal(&r) };
		stats_mean_interval_p5mon(x, 3, 0.95, &i);
		covered += i.low <= 0 && 0 <= i.high;
	}
	within((double)covered / draws, 0.80, 0.90, "run_p5mon's 95 % interval of 3 values covers less than 90 %");
}

static void of_welch(size_t nx, size_t ny, double sx, double sy)
{
	struct random r = { .state = 2000 + nx };
	size_t covered = 0, found = 0;
	double x[100], y[100];
	for (int draw = 0; draw < draws; draw++) {
		struct interval i;
		double p;
		for (size_t k = 0; k < nx; k++)
			x[k] = 10 + sx * normal(&r);
		for (size_t k = 0; k < ny; k++)
			y[k] = 10 + sy * normal(&r);
		stats_welch(x, nx, y, ny, 0.95, &i, &p);
		covered += i.low <= 0 && 0 <= i.high;
		found += (p < 0.05) != (i.low <= 0 && 0 <= i.high);
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
	struct random r = { .state = 3000 + n };
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

/* Run times: a floor and an exponential tail. */
static void of_ratio(size_t n, bool paired, double low, double high)
{
	struct random r = { .state = 4000 + n + paired };
	size_t covered = 0;
	int ratio_draws = draws / 2;
	double x[100], y[100];
	for (int draw = 0; draw < ratio_draws; draw++) {
		struct interval i;
		for (size_t k = 0; k < n; k++) {
			double machine = paired ? 2 * normal(&r) : 0; /* what a pair shares */
			x[k] = 40 + machine - 4 * log(1 - random_unit(&r)) + normal(&r);
			y[k] = 20 + machine / 2 - 2 * log(1 - random_unit(&r)) + normal(&r);
		}
		stats_ratio_bootstrap(x, n, y, n, paired, 0.95, 1000, 5 + (uint64_t)draw, &i);
		covered += i.low <= 2 && 2 <= i.high;
	}
	char fact[112];
	snprintf(fact, sizeof fact, "the bootstrap interval of a ratio covers, %s samples of %zu skewed times",
		 paired ? "paired" : "two", n);
	within((double)covered / ratio_draws, low, high, fact);
}

/* Rows of a profile: n samples, of which one row expects from … to. It may be any: each draw has a row of its own. */
static void of_share(uint64_t n, double from, double to)
{
	struct random r = { .state = 6000 + n };
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
	double p = gsl_cdf_binomial_P(covered, 0.95, (unsigned)draws);
	printf("# %.2f %%, p = %.3f\n", 100.0 * covered / draws, p);
	ok(p >= 0.01, "a share's 95 %% interval: that it covers 95 %% or more is not rejected at 99 %%, %.0f samples, %g … %g expected", (double)n, from,
	   to);
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
	of_median(6, 0.96875);
	of_median(10, 0.978516);
	of_median(25, 0.956715);
	of_median(100, 0.964800);
	of_share(50, 0.05, 25);
	of_share(1000, 0.05, 1);
	of_share(1000, 1, 500);
	of_ratio(5, false, 0.94, 0.98); /* wide, not wrong: so few values are widened the most */
	of_ratio(10, false, 0.94, 0.96);
	of_ratio(30, false, 0.94, 0.96);
	of_ratio(10, true, 0.94, 0.96);
	of_ratio(30, true, 0.94, 0.96);
	return done();
}
