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

bool stats_share(uint64_t k, uint64_t n, double confidence, struct interval *out)
{
	if (n == 0 || k > n || !(confidence > 0 && confidence < 1))
		return false;
	gsl_set_error_handler_off();
	double of = (double)n;
	struct interval interval = wilson((double)k / of, of, normal_quantile((1 + confidence) / 2));
	uint64_t few = n <= 50 ? 2 : 3, rest = n - k; /* Brown, Cai, DasGupta's: up to which count */
	if (k >= 1 && k <= few)
		interval.low = fmin(interval.low, poisson_low((double)k, confidence) / of);
	if (rest >= 1 && rest <= few)
		interval.high = fmax(interval.high, 1 - poisson_low((double)rest, confidence) / of);
	*out = interval;
	return true;
}
