/* Intervals of shares: published values, and their coverage, summed over the binomial distribution: no draws. */
#include <gsl/gsl_randist.h>

#include "stats/stats.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Newcombe: Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table I,
 * method 3 (the score interval without correction). 1 of 29 is within the modification: see modified(). */
static void published(void)
{
	static const struct {
		uint64_t k, n;
		double low, high;
	} rows[] = {{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interval is = {0};
		ok(stats_share(rows[i].k, rows[i].n, 0.95, &is), "%.0f of %.0f has an interval", (double)rows[i].k,
		   (double)rows[i].n);
		near(is.low, rows[i].low, 5e-5, "its low end is Newcombe's");
		near(is.high, rows[i].high, 5e-5, "its high end is Newcombe's");
		near(is.value, (double)rows[i].k / (double)rows[i].n, 0, "its value is the share itself");
	}
}

/* Brown, Cai, DasGupta (2001), section 4.1.1: the low end of k of n next to 0 is λ/n, where P(Poisson(λ) >= k) = 1 - confidence: for
 * k = 1: -log(0.95) = 0.051293, for 2: 0.355362, for 3: 0.817691 (chi-square tables: 0.05 quantiles of 2, 4, 6 degrees, halved). */
static void modified(void)
{
	struct interval is = {0}, other = {0};
	stats_share(1, 29, 0.95, &is);
	near(is.low, 0.051293 / 29, 1e-7, "1 of 29 has the Poisson distribution's low end");
	near(is.high, 0.1718, 5e-5, "… and Newcombe's high end");
	stats_share(2, 29, 0.95, &is);
	near(is.low, 0.355362 / 29, 1e-7, "so has 2 of 29");
	stats_share(3, 29, 0.95, &is);
	/* by hand: p = 0.103448, z = 1.959964: (p + z²/58 - z·sqrt(p(1-p)/29 + z²/(4·29²)))/(1 + z²/29) */
	near(is.low, 0.0358, 5e-5, "3 of 29 has Wilson's");
	stats_share(3, 51, 0.95, &is);
	near(is.low, 0.817691 / 51, 1e-7, "3 of 51 has the Poisson distribution's");
	stats_share(4, 51, 0.95, &other);
	ok(other.low > 4 / 51.0 / 3, "4 of 51 has Wilson's");
	stats_share(48, 51, 0.95, &other);
	near(other.high, 1 - is.low, 1e-12, "what is next to 1 mirrors what is next to 0");
	near(other.low, 1 - is.high, 1e-12, "at both ends");
	stats_share(20, 20, 0.95, &is);
	ok(is.high == 1 && is.value == 1, "all of 20 has 1 as its high end");
	near(is.low, 1 - 0.1611, 5e-5, "… and a low end below 1");
}

static void refused(void)
{
	struct interval is = {7, 7, 7};
	ok(!stats_share(0, 0, 0.95, &is), "no samples have no share, rather than 0");
	ok(!stats_share(3, 2, 0.95, &is), "3 of 2 has no share");
	ok(!stats_share(1, 2, 1, &is) && !stats_share(1, 2, 0, &is), "there is no interval at 0 or 100 %%");
	ok(is.value == 7 && is.low == 7 && is.high == 7, "what is refused leaves the interval as it was");
	ok(stats_share(UINT64_C(1) << 52, UINT64_C(1) << 53, 0.95, &is) && is.low < 0.5 && is.high > 0.5 &&
		   is.high - is.low < 3e-8,
	   "2^52 of 2^53 samples have an interval, and a narrow one");
}

static bool same(struct interval a, struct interval b)
{
	return fabs(a.value - b.value) < 1e-15 && fabs(a.low - b.low) < 1e-12 && fabs(a.high - b.high) < 1e-12;
}

static void replicated(void)
{
	struct interval is = {0}, plain = {0};
	/* squares (10-15)² + (20-15)² = 50, · 2² / 200² = 0.005; worth 0.1275/0.005 = 25.5 samples; t(0.975, 1) = 12.7062; Wilson:
	 * (0.15 + 161.447/51 ∓ 12.7062·sqrt(0.005 + 161.447/(4·25.5²)))/(1 + 161.447/25.5) = 0.45226 ∓ 0.44885 */
	ok(stats_replicated_share((uint64_t[]){10, 20}, (uint64_t[]){100, 100}, 2, 0.95, &is) && is.value == 0.15,
	   "two runs: the share of all samples");
	near(is.low, 0.00341, 2e-5, "two runs: the low end by hand");
	near(is.high, 0.90111, 2e-5, "two runs: the high end by hand");
	stats_share(30, 300, 0.95, &plain);
	ok(stats_replicated_share((uint64_t[]){10, 10, 10}, (uint64_t[]){100, 100, 100}, 3, 0.95, &is) &&
		   same(is, plain),
	   "runs that agree by chance have the interval of all their samples, not one of width 0");
	stats_share(0, 300, 0.95, &plain);
	ok(stats_replicated_share((uint64_t[]){0, 0, 0}, (uint64_t[]){100, 100, 100}, 3, 0.95, &is) &&
		   same(is, plain),
	   "so has a row that no run saw");
	ok(!stats_replicated_share((uint64_t[]){1}, (uint64_t[]){100}, 1, 0.95, &is),
	   "one run says nothing of the spread");
	ok(!stats_replicated_share((uint64_t[]){1, 0}, (uint64_t[]){100, 0}, 2, 0.95, &is),
	   "a run without samples is refused");
}

struct coverage {
	double mean, least;
};

/* Over shares that expect from … to samples of n, each 1 % more than the one before. */
static struct coverage covered(uint64_t n, double from, double to, double confidence)
{
	static double low[10001], high[10001];
	for (uint64_t k = 0; k <= n; k++) {
		struct interval is = {0};
		stats_share(k, n, confidence, &is);
		low[k] = is.low;
		high[k] = is.high;
	}
	struct coverage c = {.least = 1};
	size_t shares = 0;
	for (double expected = from; expected < to; expected *= 1.01) {
		double share = expected / (double)n, sum = 0;
		for (uint64_t k = 0; k <= n; k++)
			if (low[k] <= share && share <= high[k])
				sum += gsl_ran_binomial_pdf((unsigned)k, share, (unsigned)n);
		c.mean += sum;
		c.least = fmin(c.least, sum);
		shares++;
	}
	c.mean /= (double)shares;
	return c;
}

/* The table in the head of stats/share.c. */
static void coverage(void)
{
	static const struct {
		double from, to, mean, least;
	} bands[] = {
		{0.01, 0.1, 0.98, 0.95}, {0.1, 0.5, 0.98, 0.95}, {0.5, 1, 0.96, 0.92},
		{1, 3, 0.955, 0.916},    {3, 10, 0.95, 0.919},   {10, 100, 0.95, 0.933},
	};
	static const uint64_t sizes[] = {10, 30, 100, 1000, 10000};
	for (size_t s = 0; s < COUNT(sizes); s++)
		for (size_t b = 0; b < COUNT(bands); b++) {
			double n = (double)sizes[s], to = fmin(bands[b].to, n / 2);
			if (bands[b].from >= to)
				continue;
			struct coverage c = covered(sizes[s], bands[b].from, to, 0.95);
			printf("# n = %.0f, %g … %g expected: mean %.4f, least %.4f\n", n, bands[b].from, to,
			       c.mean, c.least);
			ok(c.mean >= bands[b].mean && c.mean <= 0.985 && c.least >= bands[b].least,
			   "n = %.0f: shares that expect %g … %g samples are covered in %.1f %% or more, none in "
			   "less than %.1f %%",
			   n, bands[b].from, bands[b].to, 100 * bands[b].mean, 100 * bands[b].least);
		}
	struct coverage at_99 = covered(1000, 0.01, 100, 0.99);
	printf("# at 99 %%: mean %.4f, least %.4f\n", at_99.mean, at_99.least);
	ok(at_99.mean >= 0.99 && at_99.least >= 0.96,
	   "at 99 %%: the mean is 99 %% or more, no share is below 96 %%");
}

int main(void)
{
	published();
	modified();
	refused();
	replicated();
	coverage();
	return done();
}
