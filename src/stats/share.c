/* The interval of a share: k of n samples.
 *
 * Wilson: Probable inference, the law of succession, and statistical inference, JASA 22 (1927): the shares p that
 * the test |k - n·p| <= z · sqrt(n·p·(1-p)) does not reject. Next to 0 and 1 its coverage falls: a row that
 * expects 0.18 samples is left out whenever it has one (83.8 % at 95 %). There one end is the Poisson
 * distribution's, as in Brown, Cai, DasGupta: Interval estimation for a binomial proportion, Statistical Science
 * 16 (2001), section 4.1.1.
 *
 * Why without a continuity correction: coverage at 95 %, exact, mean (least) over shares that expect so many of n
 * = 1000 samples (tests/unit/share_test.c, where 10 … 10^4 are; of 10 samples the least is 91.6):
 *
 *     expected         0.01 … 0.1     0.1 … 0.5     0.5 … 1       1 … 3         3 … 10        10 … 100
 *     Wilson           96.2 (90.5)    92.8 (83.8)   95.0 (89.5)   96.0 (91.6)   95.4 (92.9)   95.1 (93.9)
 *     with correction  98.1 (94.9)    98.4 (95.3)   97.8 (95.6)   97.7 (96.0)   97.3 (95.9)   96.1 (95.1)
 *     this one         98.2 (95.0)    98.3 (95.0)   97.6 (95.1)   96.1 (92.8)   95.4 (92.9)   95.1 (93.9)
 *
 * The correction makes the interval wider for all counts; the modification only where it is needed. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "stats/stats.h"
#include "stats/student.h"

static struct interval wilson(double share, double n, double z)
{
	double shrink = 1 + z * z / n;
	double middle = (share + z * z / (2 * n)) / shrink;
	double half = z / shrink * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
	/* at 0 and 1 that end is the share itself; rounding must not move it */
	return (struct interval){
		.value = share,
		.low = share > 0 ? fmax(middle - half, 0) : 0,
		.high = share < 1 ? fmin(middle + half, 1) : 1,
	};
}

/* The lower end for a count that is next to 0: the Poisson mean that has k or more with probability 1 -
 * confidence. One-sided, because the upper tail of so small a mean has nothing to miss. */
static double poisson_low(double k, double confidence) { return gsl_cdf_chisq_Pinv(1 - confidence, 2 * k) / 2; }

/* The interval of `share`, known as well as from n equal samples; n and the samples in the row, n · share, need
 * not be whole. */
static struct interval interval_of(double share, double n, double confidence)
{
	gsl_set_error_handler_off();
	struct interval interval = wilson(share, n, normal_quantile((1 + confidence) / 2));
	double few = n <= 50 ? 2.5 : 3.5; /* Brown, Cai, DasGupta's 2 and 3: up to which count */
	double k = n * share, rest = n * (1 - share);
	if (k > 0 && k < few)
		interval.low = fmin(interval.low, poisson_low(k, confidence) / n);
	if (rest > 0 && rest < few)
		interval.high = fmax(interval.high, 1 - poisson_low(rest, confidence) / n);
	return interval;
}

bool stats_share(uint64_t k, uint64_t n, double confidence, struct interval *out)
{
	if (n == 0 || k > n || !(confidence > 0 && confidence < 1))
		return false;
	*out = interval_of((double)k / (double)n, (double)n, confidence);
	return true;
}

bool stats_clustered_share(uint64_t k, uint64_t n, double cluster, double confidence, struct interval *out)
{
	if (n == 0 || k > n || !(cluster >= 1) || !(confidence > 0 && confidence < 1))
		return false;
	*out = interval_of((double)k / (double)n, fmax(1, (double)n / cluster), confidence);
	return true;
}

/* The wider of two intervals: that of all runs' samples together, as if they were independent, and Wilson's with
 * as many samples as the spread between the runs' shares is worth, with Student's t in place of the normal. The
 * first is there because a few runs may agree by chance.
 *
 * The variance is that of a ratio of sums (Cochran, section 6.3), one more R/(R-1) wider: shares of runs that
 * differ are skewed.
 *
 * Why not t on the shares, or on their logits: seen at 95 %, 20,000 draws (tests/unit/stats_coverage_test.c has
 * the third). Runs of 1000 samples whose shares differ by exp(N(0, 0.5)) in odds, 3 … 20 runs: t on shares: 89.8 …
 * 95.0 %; t on logits (+ 0.5): 87.6 … 95.2 %, at its worst with many runs; this one: 94.5 … 99.4 %, and 95 % or
 * more where the odds differ by exp(N(0, 0.25)). A share that every run has alike gives a plain t of width 0. */
bool stats_replicated_share(const uint64_t *k, const uint64_t *n, size_t runs, double confidence,
			    struct interval *out)
{
	uint64_t all_k = 0, all_n = 0;
	for (size_t i = 0; i < runs; i++) {
		if (n[i] == 0 || k[i] > n[i])
			return false;
		all_k += k[i];
		all_n += n[i];
	}
	struct interval together;
	if (runs < 2 || !stats_share(all_k, all_n, confidence, &together))
		return false;
	double share = together.value, of = (double)all_n, squares = 0, freedom = (double)(runs - 1);
	for (size_t i = 0; i < runs; i++) {
		double difference = (double)k[i] - share * (double)n[i];
		squares += difference * difference;
	}
	double widen = (double)runs / freedom;
	double variance = squares * widen * widen / (of * of);
	*out = together;
	if (!(variance > 0))
		return true;
	struct interval between = wilson(share, share * (1 - share) / variance,
					 student_two_sided(confidence, freedom));
	out->low = fmin(out->low, between.low);
	out->high = fmax(out->high, between.high);
	return true;
}
