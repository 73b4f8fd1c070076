/* Wu and Mencer (2009): how well samples find the instructions that are executed most. Their programs were SPEC
 * CPU 2006's; ours are those of the suite (session/suite.h), each sampled at nine periods and counted exactly. The
 * measures' formulas stand in profile/accuracy.h.
 *
 * A model of a machine has no clock to sample by: this study runs on this machine alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/paper_inside.h"
#include "session/suite.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The suite's programs as measurements of the study. */
static void tell_progress(void *context, const char *name, size_t number, size_t of)
{
	struct paper_work *w = context;
	if (w->asked->progress)
		w->asked->progress(w->asked->progress_context, name, number, of);
}

static const struct studied_program *first_studied(const struct sampling_suite *suite)
{
	const struct studied_program *found = NULL;
	for (size_t i = 0; i < suite->n; i++)
		if (!suite->programs[i].why &&
		    (!found || strcmp(suite->programs[i].name, "gcc") == 0)) /* theirs was gcc */
			found = &suite->programs[i];
	return found;
}

/* Both outlive the suite. */
static const char *name_of(struct paper_work *w, const struct studied_program *p)
{
	return paper_printf(w, "%s", p->name);
}

static const char *decimal(struct paper_work *w, int digits, double value)
{
	return isnan(value) ? "–" : paper_printf(w, "%.*f", digits, value);
}

static const char *period_text(struct paper_work *w, const struct sampling_study *s, uint64_t period)
{
	return paper_printf(w, "%s%s%s", paper_count_text(w, (double)period), s->unit[0] ? " " : "", s->unit);
}

/* ---- what they found ---- */

static const struct {
	enum study_finding_kind kind;
	const char *figure, *found;
} findings[] = {
	{FINDING_TOP, "Figure 1", "the most sampled instruction is not the most executed one"},
	{FINDING_NRMSE_SIZE, "Figure 2", "NRMSE is 0.2 or less in most programs"},
	{FINDING_NRMSE_TREND, "Figure 2", "NRMSE has no trend with the period"},
	{FINDING_COVERAGE_SIZE, "Figure 3", "sample coverage is 0.5 or more in most programs"},
	{FINDING_COVERAGE, "Figure 3", "sample coverage falls with the period"},
	{FINDING_ORDER_SIZE, "Figure 4", "order deviation is 1 or less in most programs"},
	{FINDING_ORDER, "Figure 4", "order deviation rises with the period"},
	{FINDING_ORDER_BEST, "Figures 2 to 4", "order deviation follows the period best of the three"},
	{FINDING_BRANCHES, "Figure 4", "programs with more branches have a larger order deviation"},
};

static bool tell_findings(struct paper_work *w, const struct sampling_suite *suite)
{
	static const char *const columns[] = {"figure", "Wu and Mencer found", "here", "programs", "p", NULL};
	static const char *const verdicts[] = {[FINDING_REPRODUCED] = "reproduced",
					       [FINDING_DIFFERS] = "differs",
					       [FINDING_NOT_SHOWN] = "not shown"};
	if (!paper_heading(w, "Findings", "their sentences, tested on our programs"))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < COUNT(findings); i++) {
		const struct study_finding *f = &suite->findings[findings[i].kind];
		const char *cells[] = {findings[i].figure, findings[i].found, verdicts[f->verdict],
				       findings[i].kind == FINDING_BRANCHES
					       ? paper_printf(w, "%zu", f->of)
					       : paper_printf(w, "%zu of %zu", f->as_found, f->of),
				       decimal(w, 4, f->p)};
		if (!paper_row_of(w, block, cells))
			return false;
	}
	return block &&
	       paper_text(
		       w,
		       "p is a sign test's over programs (of branches: Mann's). 'Reproduced' needs 0.05 or less, "
		       "'differs' the same for the opposite. That NRMSE has no trend is reproduced where %d "
		       "programs "
		       "or more show none.",
		       SUITE_LEAST);
}

/* ---- Figure 1 ---- */

static bool tell_places(struct paper_work *w, const struct studied_program *p)
{
	static const char *const columns[] = {"instruction", "% of samples", "% of executed instructions", NULL};
	enum { ROWS_MOST = 10 };
	const struct sampling_study *s = &p->study;
	const char *title = "Figure 1";
	if (!paper_heading(w, title,
			   paper_printf(w, "count percentages of %s at the shortest period, %s", p->name,
					period_text(w, s, s->periods[0].period))))
		return false;
	struct paper_block *block = paper_figure_block(w, title, "place among the most sampled instructions",
						       "% of all samples, and of all executed instructions");
	struct paper_series *line = block ? paper_series_of(w, block, "samples", s->event, s->n_places) : NULL;
	for (int executed = 0; line && executed < 2; executed++) {
		for (size_t i = 0; i < s->n_places; i++) {
			line->x[line->n] = (double)(i + 1);
			line->y[line->n++] = 100 * (executed ? s->places[i].executed : s->places[i].sampled);
		}
		line->source = paper_printf(w, "%s", line->source);
		if (!executed)
			line = paper_series_of(w, block, "executed instructions", "exact", s->n_places);
	}
	if (!line || !(block = paper_table_block(w, columns)))
		return false;
	for (size_t i = 0; i < s->n_places && i < ROWS_MOST; i++) {
		const char *cells[] = {paper_printf(w, "%s", s->places[i].name),
				       decimal(w, 3, 100 * s->places[i].sampled),
				       decimal(w, 3, 100 * s->places[i].executed)};
		if (!paper_row_of(w, block, cells))
			return false;
	}
	return paper_text(w, "Samples follow time, executions do not: an instruction that waits for memory or "
			     "divides is sampled "
			     "more often than it is executed. The three measures call that an error of sampling, "
			     "at every period.");
}

/* ---- Figures 2 to 4 ---- */

struct wu_measure {
	const char *title, *name;
	enum study_measure measure;
	bool logarithmic;
};
static const struct wu_measure measures[] = {
	{"Figure 2", "normalized root mean square error (NRMSE)", STUDY_NRMSE, false},
	{"Figure 3", "sample coverage (SC)", STUDY_COVERAGE, false},
	{"Figure 4", "order deviation (OD)", STUDY_ORDER, true},
};

/* NAN: no samples at that period. */
static double value_of(const struct sampling_accuracy *a, enum study_measure measure)
{
	return a->judged == 0              ? NAN
	       : measure == STUDY_NRMSE    ? a->nrmse
	       : measure == STUDY_COVERAGE ? a->sample_coverage
					   : a->order_deviation;
}

static bool draw_measure(struct paper_work *w, const struct sampling_suite *suite,
			 const struct studied_program *any, const struct wu_measure *m)
{
	struct paper_block *block = paper_figure_block(w, m->title, "programs; in each the periods ascend",
						       m->name);
	if (!block)
		return false;
	block->figure.bars = true;
	block->figure.logarithmic = m->logarithmic;
	block->figure.categories = arena_alloc(&w->study->arena, suite->n * sizeof *block->figure.categories);
	if (!block->figure.categories)
		return error_no_memory(w->err);
	for (size_t i = 0; i < suite->n; i++)
		if (!suite->programs[i].why)
			block->figure.categories[block->figure.n_categories++] = name_of(w, &suite->programs[i]);
	for (size_t k = 0; k < any->study.n_periods; k++) {
		struct paper_series *bars = paper_series_of(
			w, block, period_text(w, &any->study, any->study.periods[k].period),
			paper_printf(w, "%s", any->study.event), suite->n);
		for (size_t i = 0; bars && i < suite->n; i++) {
			const struct studied_program *p = &suite->programs[i];
			if (p->why)
				continue;
			bars->x[bars->n] = (double)(bars->n + 1);
			bars->y[bars->n++] = value_of(&p->study.periods[k], m->measure);
		}
		if (!bars)
			return false;
	}
	return true;
}

static const char *tau_text(struct paper_work *w, const struct study_trend *trend)
{
	return trend->known ? paper_printf(w, "%+.2f", trend->tau) : "–";
}

/* The figure's values at the shortest and the longest period, and the trend between them. */
static bool tell_measure(struct paper_work *w, const struct sampling_suite *suite,
			 const struct studied_program *any, const struct wu_measure *m)
{
	size_t last = any->study.n_periods - 1;
	const struct sampling_accuracy *periods = any->study.periods;
	const char *columns[] = {"program",
				 "samples",
				 period_text(w, &any->study, periods[0].period),
				 period_text(w, &any->study, periods[last / 2].period),
				 period_text(w, &any->study, periods[last].period),
				 "trend (tau)",
				 NULL};
	if (!paper_heading(w, m->title, m->name) || !draw_measure(w, suite, any, m))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	for (size_t i = 0; block && i < suite->n; i++) {
		const struct studied_program *p = &suite->programs[i];
		const struct sampling_study *s = &p->study;
		if (p->why)
			continue;
		const char *cells[] = {name_of(w, p),
				       paper_count_text(w, (double)s->periods[0].judged),
				       decimal(w, 4, value_of(&s->periods[0], m->measure)),
				       decimal(w, 4, value_of(&s->periods[last / 2], m->measure)),
				       decimal(w, 4, value_of(&s->periods[last], m->measure)),
				       tau_text(w, &s->trends[m->measure])};
		if (!paper_row_of(w, block, cells))
			return false;
	}
	return block && paper_text(w,
				   "'samples' are those of the shortest period. trend: Kendall's tau of the error "
				   "against the period; "
				   "above 0 the longer period is worse%s.",
				   m->measure == STUDY_COVERAGE ? " (covers less)" : "");
}

/* A line for each reason. */
static bool tell_left_out(struct paper_work *w, const struct sampling_suite *suite)
{
	bool told[SUITE_MOST] = {false};
	for (size_t i = 0; i < suite->n; i++) {
		const char *why = suite->programs[i].why, *names = "";
		for (size_t k = i; why && !told[i] && k < suite->n; k++)
			if (suite->programs[k].why && strcmp(suite->programs[k].why, why) == 0) {
				names = paper_printf(w, "%s%s%s", names, names[0] ? ", " : "",
						     suite->programs[k].name);
				told[k] = k > i;
			}
		if (names[0] && !paper_text(w, "Not studied (%s): %s.", why, names))
			return false;
	}
	return true;
}

static bool tell(struct paper_work *w, const struct sampling_suite *suite)
{
	struct paper_table t;
	const struct studied_program *any = first_studied(suite);
	if (!paper_text(w,
			"Theirs: SPEC CPU 2006 (55 programs with their inputs) on an Opteron, cycles sampled by "
			"pfmon at periods of "
			"64K to 16M, executions counted by Pin. "
			"Ours: programs of this machine with inputs that tare makes, %s sampled at periods of %s "
			"to %s, executions "
			"counted by the engine. "
			"Each gap is the period and a random part of up to an eighth of it, as theirs.",
			any->study.event, period_text(w, &any->study, any->study.periods[0].period),
			period_text(w, &any->study, any->study.periods[any->study.n_periods - 1].period)) ||
	    !paper_find(w, "wu-findings", &t) || !paper_printed(w, &t) || !tell_findings(w, suite) ||
	    !tell_places(w, any))
		return false;
	for (size_t i = 0; i < COUNT(measures); i++)
		if (!tell_measure(w, suite, any, &measures[i]))
			return false;
	const struct sampling_accuracy *periods = any->study.periods;
	return paper_text(w,
			  "Theirs ran for minutes, ours run for about a second: of %s there are %s samples at the "
			  "shortest period, and %s at the longest. The fewer samples there are, the nearer NRMSE "
			  "comes "
			  "to 1 and coverage to 0. So Figures 2 and 3 differ in size from theirs, and NRMSE "
			  "follows the "
			  "period here.",
			  any->name, paper_count_text(w, (double)periods[0].judged),
			  paper_count_text(w, (double)periods[any->study.n_periods - 1].judged)) &&
	       tell_left_out(w, suite) &&
	       paper_missing(w, "The experiment on a modelled Opteron: tare's models "
				"have no clock, so there is nothing to sample by.");
}

bool paper_wu(struct paper_work *w)
{
	struct sampling_suite suite;
	struct verify_sampling asked = {.seed = 1, .quick = w->asked->quick, .interrupt = w->asked->interrupt};
	if (!session_verify_suite(&asked, tell_progress, w, &suite, w->err))
		return false;
	bool done = tell(w, &suite);
	for (size_t i = 0; i < suite.n; i++)
		w->study->executions += suite.programs[i].why ? 0 : 1 + suite.programs[i].study.n_periods;
	session_suite_free(&suite);
	return done;
}
