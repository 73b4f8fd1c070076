/* Do values in an order rise? Mann: Nonparametric tests against trend, Econometrica 13 (1945): Kendall's S over
 * all pairs. The distribution of S without ties is exact, by the recurrence of Kendall: Rank correlation methods,
 * chapter 5: of n values, ways(n, d) orders have d pairs that fall; with ties, or above EXACT_MOST values, normal
 * with corrections for ties and continuity. */
#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"
#include "stats/student.h"

enum { EXACT_MOST = 30 };

/* P(at most `falling` of the pairs of n values fall) when all orders are equally likely. */
static double exact_few_fall(size_t n, size_t falling)
{
	double ways[EXACT_MOST * (EXACT_MOST - 1) / 2 + 1] = {1};
	size_t most = 0;
	for (size_t k = 2; k <= n;
	     k++) { /* the k-th value falls below 0 … k-1 of those before it, equally likely */
		double before[EXACT_MOST * (EXACT_MOST - 1) / 2 + 1];
		for (size_t d = 0; d <= most; d++)
			before[d] = ways[d];
		for (size_t d = 0; d <= most + k - 1; d++) {
			ways[d] = 0;
			for (size_t own = 0; own < k && own <= d; own++)
				ways[d] += d - own <= most ? before[d - own] / (double)k : 0;
		}
		most += k - 1;
	}
	double sum = 0;
	for (size_t d = 0; d <= falling && d <= most; d++)
		sum += ways[d];
	return fmin(sum, 1);
}

/* Σ t (t-1) (2t+5) over groups of t equal values, and whether there are any. */
static double tie_sum(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		size_t equal = 1;
		bool first = true;
		for (size_t j = 0; j < n; j++) {
			first = first && !(j < i && x[j] == x[i]);
			equal += j != i && x[j] == x[i];
		}
		double t = (double)equal;
		sum += first ? t * (t - 1) * (2 * t + 5) : 0;
	}
	return sum;
}

bool stats_trend(const double *x, size_t n, double *tau, double *p_rises)
{
	double rising = 0, falling = 0, pairs = (double)n * ((double)n - 1) / 2;
	if (n < 3)
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			rising += x[i] > x[j];
			falling += x[i] < x[j];
		}
	double s = rising - falling, dn = (double)n, ties = tie_sum(x, n);
	if (rising + falling == 0)
		return false; /* all values are equal */
	*tau = s / sqrt(pairs * (rising + falling));
	if (ties == 0 && n <= EXACT_MOST) {
		*p_rises = exact_few_fall(n, (size_t)falling);
		return true;
	}
	double variance = (dn * (dn - 1) * (2 * dn + 5) - ties) / 18;
	*p_rises = normal_probability(-(s - 1) / sqrt(variance));
	return true;
}
