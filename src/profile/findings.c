/* Wu and Mencer's findings, each asked of the programs that were studied here. A program is one observation: its
 * periods are not independent of each other. */
#include <math.h>
#include <stdlib.h>

#include "profile/study.h"
#include "stats/stats.h"

/* The level at which a direction counts as shown. */
static const double LEVEL = 0.05;

/* Programs that it takes to say that there is no direction. When five of six go one way, the sign test shows that
 * of four programs never, and of twelve in most cases. */
enum { NONE_SHOWN_LEAST = 12 };

/* What a program says of a finding. */
enum vote { FOR, AGAINST, NEITHER };

static struct study_finding judge(size_t as_found, size_t of)
{
	struct study_finding f = {.as_found = as_found, .of = of, .p = stats_sign_test(as_found, of)};
	f.verdict = !of                                           ? FINDING_NOT_SHOWN
		    : f.p <= LEVEL                                ? FINDING_REPRODUCED
		    : stats_sign_test(of - as_found, of) <= LEVEL ? FINDING_DIFFERS
								  : FINDING_NOT_SHOWN;
	return f;
}

static enum vote vote_sign(double x) { return x > 0 ? FOR : x < 0 ? AGAINST : NEITHER; }

static double tau_of(const struct sampling_study *study, enum study_measure measure)
{
	return study->trends[measure].known ? study->trends[measure].tau : 0;
}

/* Of the shortest period, which has the most samples. */
static enum vote ask(const struct sampling_study *s, enum study_finding_kind kind)
{
	const struct sampling_accuracy *a = &s->periods[0];
	bool some = s->n_periods > 0 && a->judged > 0;
	double order = tau_of(s, STUDY_ORDER);
	switch (kind) {
	case FINDING_NRMSE_TREND: return vote_sign(tau_of(s, STUDY_NRMSE));
	case FINDING_COVERAGE: return vote_sign(tau_of(s, STUDY_COVERAGE));
	case FINDING_ORDER: return vote_sign(order);
	case FINDING_ORDER_BEST: return vote_sign(order - fmax(tau_of(s, STUDY_NRMSE), tau_of(s, STUDY_COVERAGE)));
	case FINDING_NRMSE_SIZE: return !some ? NEITHER : a->nrmse <= 0.2 ? FOR : AGAINST;
	case FINDING_COVERAGE_SIZE: return !some ? NEITHER : a->sample_coverage >= 0.5 ? FOR : AGAINST;
	case FINDING_ORDER_SIZE: return !some ? NEITHER : a->order_deviation <= 1 ? FOR : AGAINST;
	case FINDING_TOP: return !some ? NEITHER : a->top_instruction < 1 ? FOR : AGAINST;
	case FINDING_BRANCHES:
	case FINDINGS: break;
	}
	return NEITHER;
}

static struct study_finding count_votes(const struct sampling_suite *suite, enum study_finding_kind kind)
{
	size_t votes[NEITHER + 1] = {0};
	for (size_t i = 0; i < suite->n; i++)
		if (!suite->programs[i].why)
			votes[ask(&suite->programs[i].study, kind)]++;
	struct study_finding f = judge(votes[FOR], votes[FOR] + votes[AGAINST]);
	if (kind == FINDING_NRMSE_TREND) /* they found none: a direction, either one, is what differs */
		f.verdict = f.verdict != FINDING_NOT_SHOWN              ? FINDING_DIFFERS
			    : f.of + votes[NEITHER] >= NONE_SHOWN_LEAST ? FINDING_REPRODUCED
									: FINDING_NOT_SHOWN;
	return f;
}

struct branchy {
	double part, order;
};

static int by_part(const void *a, const void *b)
{
	const struct branchy *x = a, *y = b;
	return (x->part > y->part) - (x->part < y->part);
}

/* Does order deviation rise from programs with few branches to those with many? Mann's test over programs. */
static struct study_finding ask_branches(const struct sampling_suite *suite)
{
	struct study_finding f = {.verdict = FINDING_NOT_SHOWN, .p = NAN};
	struct branchy *all = calloc(suite->n + 1, sizeof *all);
	double *order = calloc(suite->n + 1, sizeof *order), tau;
	for (size_t i = 0; all && order && i < suite->n; i++) {
		const struct sampling_study *s = &suite->programs[i].study;
		if (suite->programs[i].why || !s->has_branches || !s->n_periods || !s->periods[0].judged ||
		    !s->executed)
			continue;
		all[f.of++] = (struct branchy){(double)s->branches / (double)s->executed,
					       s->periods[0].order_deviation};
	}
	if (all)
		qsort(all, f.of, sizeof *all, by_part);
	for (size_t i = 0; i < f.of; i++)
		order[i] = all[i].order;
	for (size_t i = 1; i < f.of; i++)
		f.as_found += order[i] > order[i - 1];
	if (all && order && stats_trend(order, f.of, &tau, &f.p))
		f.verdict = f.p <= LEVEL       ? FINDING_REPRODUCED
			    : f.p >= 1 - LEVEL ? FINDING_DIFFERS
					       : FINDING_NOT_SHOWN;
	free(all);
	free(order);
	return f;
}

void study_add_findings(struct sampling_suite *suite)
{
	for (int kind = 0; kind < FINDINGS; kind++)
		suite->findings[kind] = kind == FINDING_BRANCHES
						? ask_branches(suite)
						: count_votes(suite, (enum study_finding_kind)kind);
}
