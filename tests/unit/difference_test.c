/* Intervals of differences between two profiles: published values, and their coverage by the sum over two binomial
 * distributions. */
#include <gsl/gsl_randist.h>

#include "report/profile_difference.h"
#include "stats/stats.h"
#include "tap.h"

static struct profile_estimate estimate(uint64_t k, uint64_t n, double factor)
{
	struct interval is = {0};
	stats_share(k, n, 0.95, &is);
	return (struct profile_estimate){factor * is.value, factor * is.low, factor * is.high, true};
}

/* Newcombe (1998), table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 5/56 - 0/29. The last one's share of 0 is
 * within what our Wilson interval modifies next to 0 and 1 (so is 9 of 10): those ends differ by the tolerance
 * that stands there. */
static void published(void)
{
	static const struct {
		uint64_t a, m, b, n;
		double low, high, tolerance;
	} rows[] = {{56, 70, 48, 80, 0.0524, 0.3339, 5e-5},
		    {9, 10, 3, 10, 0.1705, 0.8090, 0.05},
		    {5, 56, 0, 29, -0.0381, 0.1926, 5e-4}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct profile_estimate after = estimate(rows[i].a, rows[i].m, 1),
					before = estimate(rows[i].b, rows[i].n, 1);
		struct profile_change is = profile_change_of(&before, &after, false);
		ok(is.has_interval, "%d of %d against %d of %d has an interval", (int)rows[i].a, (int)rows[i].m,
		   (int)rows[i].b, (int)rows[i].n);
		near(is.low, rows[i].low, rows[i].tolerance, "its low end is Newcombe's");
		near(is.high, rows[i].high, rows[i].tolerance, "its high end is Newcombe's");
		ok(is.sure == (is.low > 0), "it is sure where it does not contain 0");
	}
}

static void exact(void)
{
	const struct profile_estimate before = {.value = 1000}, after = {.value = 1001};
	struct profile_change is = profile_change_of(&before, &after, true);
	ok(is.value == 1 && is.sure && !is.has_interval, "a counted difference of 1 is sure, and has no interval");
	is = profile_change_of(&before, &before, true);
	ok(is.value == 0 && !is.sure, "no difference is none");
	is = profile_change_of(&before, &after, false);
	ok(!is.sure && !is.has_interval, "of samples without intervals nothing is sure");
}

/* P(the interval contains the true difference), of samples n0 and n1 with the shares p0 and p1, as amounts with
 * other totals. */
static double coverage(unsigned n0, double p0, double f0, unsigned n1, double p1, double f1)
{
	double sum = 0, truth = f1 * p1 - f0 * p0;
	for (unsigned k = 0; k <= n0; k++) {
		double weight = gsl_ran_binomial_pdf(k, p0, n0);
		struct profile_estimate before = estimate(k, n0, f0);
		if (weight < 1e-12)
			continue;
		for (unsigned l = 0; l <= n1; l++) {
			struct profile_estimate after = estimate(l, n1, f1);
			struct profile_change is = profile_change_of(&before, &after, false);
			if (is.low <= truth && truth <= is.high)
				sum += weight * gsl_ran_binomial_pdf(l, p1, n1);
		}
	}
	return sum;
}

static void covers(void)
{
	static const double shares[] = {0.02, 0.1, 0.3, 0.5, 0.8};
	double least = 1, mean = 0;
	int n = 0;
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 5; j++)
			for (int totals = 0; totals < 2; totals++) {
				double is = coverage(120, shares[i], 1, 80, shares[j], totals ? 3.7 : 1);
				least = is < least ? is : least;
				mean += is;
				n++;
			}
	mean /= n;
	ok(mean >= 0.95, "intervals of differences cover the truth in 95 %% of profiles or more (%.4f)", mean);
	ok(least >= 0.925, "of no shares in less than 92.5 %% (%.4f)", least);
}

int main(void)
{
	published();
	exact();
	covers();
	return done();
}
