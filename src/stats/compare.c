/* Two samples against each other.
 *
 * Sources: Welch: The generalization of "Student's" problem when several different population variances
 * are involved, Biometrika 34 (1947), with Satterthwaite's degrees of freedom. Mann, Whitney: On a test of
 * whether one of two random variables is stochastically larger than the other, Ann. Math. Stat. 18 (1947):
 * the exact distribution by their recurrence; tie correction as in Conover, section 5.1. */
#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"
#include "stats/student.h"

bool stats_welch(const double *x, size_t nx, const double *y, size_t ny, double confidence,
		 struct interval *difference, double *p_value)
{
	if (nx < 2 || ny < 2)
		return false;
	double sx = stats_sd(x, nx), sy = stats_sd(y, ny);
	double ex = sx * sx / (double)nx, ey = sy * sy / (double)ny; /* squared standard errors of the means */
	double delta = stats_mean(x, nx) - stats_mean(y, ny), error = sqrt(ex + ey);
	if (error == 0) { /* both constant: the difference is exact */
		*difference = (struct interval){delta, delta, delta};
		*p_value = delta == 0 ? 1 : 0;
		return true;
	}
	double df = (ex + ey) * (ex + ey) / (ex * ex / (double)(nx - 1) + ey * ey / (double)(ny - 1));
	double half = student_two_sided(confidence, df) * error;
	if (!isfinite(half))
		return false;
	*difference = (struct interval){.value = delta, .low = delta - half, .high = delta + half};
	*p_value = student_p_value(delta / error, df);
	return true;
}

struct ranked {
	double value;
	bool of_x;
};

static int compare_ranked(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;
	return (x > y) - (x < y);
}

enum { EXACT_MOST = 20 }; /* C(40, 20) = 1.4·10^11 arrangements: exact in a double */

/* P(U <= u) without ties. ways[n][u]: arrangements of m x-values and n y-values in which U = u, by
 * ways(m, n, u) = ways(m-1, n, u-n) + ways(m, n-1, u); the table is rebuilt row by row over m. */
static double exact_lower_tail(size_t m, size_t n, size_t u)
{
	double ways[EXACT_MOST + 1][EXACT_MOST * EXACT_MOST + 1] = {{0}};
	for (size_t j = 0; j <= n; j++)
		ways[j][0] = 1; /* m = 0: one arrangement, U = 0 */
	for (size_t i = 1; i <= m; i++)
		for (size_t j = 1; j <= n; j++) /* ways[0] stays: n = 0 has one arrangement, U = 0 */
			for (size_t k = i * j + 1; k-- > 0;)
				ways[j][k] = (k >= j ? ways[j][k - j] : 0) + ways[j - 1][k];
	double below = 0, all = 0;
	for (size_t k = 0; k <= m * n; k++) {
		all += ways[n][k];
		below += k <= u ? ways[n][k] : 0;
	}
	return below / all;
}

bool stats_mann_whitney(const double *x, size_t nx, const double *y, size_t ny, double *u, double *p_value)
{
	if (nx == 0 || ny == 0)
		return false;
	size_t n = nx + ny;
	struct ranked *all = malloc(n * sizeof *all);
	if (!all)
		return false;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct ranked){.value = i < nx ? x[i] : y[i - nx], .of_x = i < nx};
	qsort(all, n, sizeof *all, compare_ranked);

	double rank_sum = 0, tie_sum = 0; /* tie_sum: Σ (t³ - t) over groups of t equal values */
	for (size_t i = 0, end; i < n; i = end) {
		size_t of_x = 0;
		for (end = i; end < n && all[end].value == all[i].value; end++)
			of_x += all[end].of_x;
		double t = (double)(end - i), rank = (double)(i + 1 + end) / 2; /* the group's mean rank */
		rank_sum += rank * (double)of_x;
		tie_sum += t * t * t - t;
	}
	free(all);

	double dx = (double)nx, dy = (double)ny, dn = (double)n;
	*u = rank_sum - dx * (dx + 1) / 2; /* pairs in which x > y, ties a half */
	if (tie_sum == 0 && nx <= EXACT_MOST && ny <= EXACT_MOST) {
		double smaller = fmin(*u, dx * dy - *u);
		*p_value = fmin(1, 2 * exact_lower_tail(nx, ny, (size_t)smaller));
		return true;
	}
	double variance = dx * dy / 12 * (dn + 1 - tie_sum / (dn * (dn - 1)));
	double distance = fabs(*u - dx * dy / 2) - 0.5; /* the continuity correction */
	if (!(variance > 0) || distance <= 0)
		*p_value = 1; /* all values equal, or U at its mean */
	else
		*p_value = fmin(1, 2 * normal_probability(-distance / sqrt(variance)));
	return true;
}
