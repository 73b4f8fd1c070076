/* Numbers in, numbers out (distributions and quantiles by GSL).
 *
 * Samples are arrays x[n] of finite doubles, unchanged unless a comment says otherwise. A statistic that does
 * not exist for its input (a standard deviation of one number) is false or NAN, never 0. */
#ifndef TARE_STATS_STATS_H
#define TARE_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
	double value; /* the point estimate */
	double low, high;
};

double stats_mean(const double *x, size_t n);
/* Sample standard deviation (divisor n-1); NAN for n < 2. */
double stats_sd(const double *x, size_t n);
double stats_median(const double *x, size_t n);
/* Median absolute deviation from the median, times 1.4826 (consistent for the normal). */
double stats_mad(const double *x, size_t n);
/* p-quantile, 0 <= p <= 1, linear interpolation (type 7 of Hyndman & Fan 1996; R's default). */
double stats_quantile(const double *x, size_t n, double p);

/* mean ± t((1+confidence)/2, n-1) · s/√n. False for n < 2. */
bool stats_mean_interval(const double *x, size_t n, double confidence, struct interval *out);

/* Safford's interval: population standard deviation and n degrees of freedom (docs/closed-forms.md 2); too
 * narrow, only for --compat p5mon. False for n < 1; half-width 0 for n = 1. */
bool stats_mean_interval_p5mon(const double *x, size_t n, double confidence, struct interval *out);

/* Distribution-free interval for the median from order statistics (binomial); false when n is too small
 * for the confidence (n < 6 at 95 %). */
bool stats_median_interval(const double *x, size_t n, double confidence, struct interval *out);

/* The total over `of` groups of which n were drawn at random, without replacement, and have y[n]: an interval that
 * knows of skewness (stats/sampled.c). n == of: the total itself. */
struct interval stats_sampled_total(const double *y, size_t n, size_t of, double confidence);

/* ---- two samples against each other (stats/difference.c), several at once (holm.c) ---- */

struct stats_difference {
	double mean_x, mean_y;
	struct interval absolute; /* mean(y) − mean(x) */
	struct interval relative; /* mean(y)/mean(x) − 1; infinite where x is 0 and y is not */
	/* false: low and high are infinite. Of constant samples there is an interval (of width 0) when they are
	 * large enough for the confidence: 3 each at 95 % */
	bool has_interval, has_relative;
	bool constant;      /* neither sample has any spread … */
	bool all_equal;     /* … and all of both are one value */
	double p_value;     /* two-sided; of the means being equal */
	double p_least;     /* what no p-value of so many runs is below */
	double effect;      /* Hedges' g; NAN without spread */
	double superiority; /* P(y > x) + P(y = x)/2: 0.5 of equals; NAN without values */
	double error;       /* standard error of the difference */
	double df, t;       /* Welch's; the interval's quantile; 0 where constant, NAN where unknown */
};

/* False for an empty sample, and when nothing finite comes out. */
bool stats_difference(const double *x, size_t nx, const double *y, size_t ny, double confidence,
		      struct stats_difference *out);
/* The same of means whose values are not at hand, but their intervals: mean ± t(n − 1) standard errors, of n
 * runs. */
bool stats_difference_of_means(const struct interval *x, size_t nx, const struct interval *y, size_t ny,
			       double confidence, struct stats_difference *out);
/* The smallest absolute difference that a test at level alpha would have found with the probability `power`
 * (above 0.5); INFINITY: none, with so few runs. */
double stats_detectable(const struct stats_difference *d, double alpha, double power);
/* See p_least. */
double stats_least_p(size_t nx, size_t ny);

/* p[n] → adjusted[n]: p-values that may each be compared with alpha, while the chance that any true null
 * hypothesis is rejected stays alpha at most. False when memory ran out. */
bool stats_adjust_holm(const double *p, size_t n, double *adjusted);

/* Marks outliers by the generalized ESD procedure (Rosner 1983): at most `most` of them, and of a normal sample
 * any at all with probability alpha. Returns how many; marks[n]. */
size_t stats_esd_outliers(const double *x, size_t n, size_t most, double alpha, bool *marks);
/* The same for repetitions: at most a tenth of them (one, of fewer than 20), at alpha = 1 %; what deviates from
 * the median by less than 3.5 floors is none. Returns how many; marks[n]. None are marked for n < 5. */
size_t stats_outliers(const double *x, size_t n, double floor, bool *marks);

/* Do the values rise in their order? Mann's test (1945): tau is Kendall's tau-b against the order, -1 … 1, p_rises
 * the one-sided p-value: how often random orders rise as much. Exact for n <= 30 without ties. False for n < 3,
 * and when all values are equal. */
bool stats_trend(const double *x, size_t n, double *tau, double *p_rises);

/* ---- shares of samples (stats/share.c, ranks.c) ---- */

/* The share k/n of n independent samples, as a part of 1, with Wilson's interval (1927), modified next to 0 and 1
 * (Brown, Cai, DasGupta 2001). Coverage at 95 %: mean 95 % or more, at no share below 91.6 %. k = 0 has an
 * interval. Samples are independent with exponential gaps; with fixed ones they need not be. False when n is
 * 0, k > n or the confidence is not within (0, 1). */
bool stats_share(uint64_t k, uint64_t n, double confidence, struct interval *out);
/* The same where samples come in clusters of so many (as a sample sees it), all of which may be alike: as sure as
 * n / cluster samples. */
bool stats_clustered_share(uint64_t k, uint64_t n, double cluster, double confidence, struct interval *out);

/* The share from several runs of the same program, k[i] of n[i] samples in each, for gaps whose samples are not
 * independent (fixed, jittered), and for programs that differ from run to run. Never narrower than stats_share()
 * of their sum. What all runs see alike, as resonance of the same period, it cannot show. False for runs < 2, and
 * when a run has no samples or k[i] > n[i]. */
bool stats_replicated_share(const uint64_t *k, const uint64_t *n, size_t runs, double confidence,
			    struct interval *out);

/* Samples of one row in several runs: k[i] of n[i]. Borrowed. */
struct share_runs {
	const uint64_t *k, *n;
	size_t runs;
};

struct share_agreement {
	double first, second;       /* the groups' shares */
	struct interval difference; /* second - first */
	double p;                   /* two-sided: of so large a difference where the groups have one share */
	double spread;              /* of runs within a group, in variances of independent samples; >= 1 */
	double p_spread;            /* of so large a spread where samples are independent */
};

/* Do two groups of runs have the same share (stats/agree.c)? With 3 runs or more in all: their number less 2 is
 * the test's degrees of freedom. Holds its level for independent samples, clustered ones and programs that differ
 * from run to run (tests/unit/agree_test.c). What both groups see alike it cannot show. False for fewer, and when
 * a run has no samples or k[i] > n[i]. */
bool stats_shares_agree(const struct share_runs *first, const struct share_runs *second, double confidence,
			struct share_agreement *out);

/* The sign test: how often k or more of n go one way where both are as likely; 1 of n = 0. k <= n. */
double stats_sign_test(size_t k, size_t n);

/* The ranks that a row may have: 1 is the hottest. */
struct rank_range {
	size_t first, last;
};

/* Ranks of rows, counts[n] samples in descending order: each row's range begins behind the rows that the samples
 * tell to be hotter and ends before those that they tell to be colder. The chance that any row is told to be
 * hotter than one that is in truth at least as hot is at most error_rate, for all pairs together (samples
 * independent: exponential gaps). False when the counts are not in order, or the rate is not within (0, 1). */
bool stats_ranks(const uint64_t *counts, size_t n, double error_rate, struct rank_range *ranks);

/* The chance that row `which` has the most samples in another profile of as many, as far as these tell: each row's
 * count drawn anew, from the Poisson distribution with its own as mean (a parametric bootstrap); rows that tie
 * share the place. 1 for the only row; NAN above 2^30 samples. */
double stats_top_chance(const uint64_t *counts, size_t n, size_t which);

/* ---- multiplexed counters (stats/multiplex.c) ---- */

/* What one counter did within one slice of the measurement. */
struct slice {
	double count;      /* events counted in the slice */
	double enabled_ns; /* of the measured tasks in the slice */
	double running_ns; /* while the counter counted; <= enabled_ns */
};

/* Total events over all enabled time, from slices that were each counted in part.
 * The interval must cover the truth at its confidence for programs with phases, and for events of one
 * privilege level, whose rate per running nanosecond falls to 0 while the other level runs (enabled and
 * running times include kernel time). low >= what was counted; high = INFINITY when the slices say
 * nothing of the spread. False when nothing ran at all. */
bool stats_multiplex(const struct slice *slices, size_t n, double confidence, struct interval *out);

#endif
