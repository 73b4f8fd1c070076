/* Do two groups of runs tell the same share? A test on counts that may spread more than independent samples do.
 *
 * The spread: Pearson's X² of the runs around their own group's share, by its degrees of freedom, and no less than
 * 1 (quasi-likelihood: McCullagh, Nelder: Generalized linear models, 2nd ed. 1989, sections 4.5 and 9.2). Samples
 * at fixed gaps, and of programs that differ from run to run, are clustered: a binomial test is too sure of them.
 * The difference is compared with Student's t of the runs' degrees of freedom, also where the floor of 1 is what
 * counts: the spread of a few runs may be small by chance. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "stats/stats.h"
#include "stats/student.h"

struct run_group {
	double k, n, runs, share;
};

static bool sum(const struct share_runs *runs, struct run_group *out)
{
	*out = (struct run_group){.runs = (double)runs->runs};
	for (size_t i = 0; i < runs->runs; i++) {
		if (runs->n[i] == 0 || runs->k[i] > runs->n[i])
			return false;
		out->k += (double)runs->k[i];
		out->n += (double)runs->n[i];
	}
	out->share = out->n > 0 ? out->k / out->n : 0;
	return runs->runs > 0;
}

/* A share that is never 0 or 1, so that a row without samples in a group has a variance (Laplace). */
static double smooth(double k, double n) { return (k + 1) / (n + 2); }

/* Σ (k_i - n_i p)² / (n_i p q), with q the groups' common one: under the hypothesis they have one share. */
static double pearson(const struct share_runs *runs, double share, double common)
{
	double squares = 0;
	for (size_t i = 0; i < runs->runs; i++) {
		double n = (double)runs->n[i], difference = (double)runs->k[i] - n * share;
		squares += difference * difference / (n * common * (1 - common));
	}
	return squares;
}

bool stats_shares_agree(const struct share_runs *first, const struct share_runs *second, double confidence,
			struct share_agreement *out)
{
	struct run_group a, b;
	if (!sum(first, &a) || !sum(second, &b) || a.runs + b.runs < 3 || !(confidence > 0 && confidence < 1))
		return false;
	gsl_set_error_handler_off();
	double freedom = a.runs + b.runs - 2, common = smooth(a.k + b.k, a.n + b.n);
	double x2 = pearson(first, a.share, common) + pearson(second, b.share, common);
	double spread = fmax(1, x2 / freedom);
	double pa = smooth(a.k, a.n), pb = smooth(b.k, b.n);
	double half = student_two_sided(confidence, freedom) *
		      sqrt(spread * (pa * (1 - pa) / a.n + pb * (1 - pb) / b.n));
	double error = sqrt(spread * common * (1 - common) * (1 / a.n + 1 / b.n));
	*out = (struct share_agreement){.first = a.share,
					.second = b.share,
					.difference = {b.share - a.share, fmax(b.share - a.share - half, -1),
						       fmin(b.share - a.share + half, 1)},
					.p = student_p_value((b.share - a.share) / error, freedom),
					.spread = spread,
					.p_spread = gsl_cdf_chisq_Q(x2, freedom)};
	return true;
}

double stats_sign_test(size_t k, size_t n)
{
	gsl_set_error_handler_off();
	return k == 0 ? 1 : gsl_cdf_binomial_Q((unsigned)k - 1, 0.5, (unsigned)n);
}
