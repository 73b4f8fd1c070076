/* Wu and Mencer's findings asked of studies made by hand, and their figures drawn (tests/cli/verify_test.py opens them). */
#include <stdlib.h>

#include "profile/study.h"
#include "report/study_figures.h"
#include "report/study_suite.h"
#include "stats/stats.h"
#include "tap.h"

enum { PROGRAMS = 12, PERIODS = 9 };
static struct sampling_accuracy periods[PROGRAMS][PERIODS];
static struct studied_program programs[PROGRAMS + 1];
static struct sampling_suite suite;

/* From values at the first period, each with a trend of so many periods up or down. */
static void plant(size_t i, double nrmse, double coverage, double order, double top, double trend)
{
	struct studied_program *p = &programs[i];
	*p = (struct studied_program){.name = "<prog> & \"co\"",
				      .study = {.event = "cpu-clock",
						.unit = "ns",
						.executed = 1000,
						.branches = 100 + 10 * i,
						.has_branches = true,
						.periods = periods[i],
						.n_periods = PERIODS}};
	for (int k = 0; k < PERIODS; k++)
		periods[i][k] = (struct sampling_accuracy){.period = 1000u << k,
							   .judged = 5000u >> k,
							   .nrmse = nrmse + 0.001 * ((k * 5 + (int)i) % 9),
							   .sample_coverage = coverage - trend * 0.01 * k,
							   .order_deviation = order + trend * 0.1 * k,
							   .top_instruction = top};
	study_add_trends(&p->study);
}

static void ask(void)
{
	suite.programs = programs;
	study_add_findings(&suite);
}

static enum finding_verdict of(enum study_finding_kind kind) { return suite.findings[kind].verdict; }

static void test_findings(void)
{
	suite.n = PROGRAMS;
	for (size_t i = 0; i < PROGRAMS; i++)
		plant(i, 0.1, 0.6, 0.5 + 0.02 * (double)i, 0.3, 1);
	ask();
	ok(of(FINDING_COVERAGE) == FINDING_REPRODUCED && of(FINDING_ORDER) == FINDING_REPRODUCED &&
		   of(FINDING_NRMSE_SIZE) == FINDING_REPRODUCED &&
		   of(FINDING_COVERAGE_SIZE) == FINDING_REPRODUCED &&
		   of(FINDING_ORDER_SIZE) == FINDING_REPRODUCED && of(FINDING_TOP) == FINDING_REPRODUCED,
	   "twelve programs that do as theirs did reproduce what they found");
	ok(of(FINDING_BRANCHES) == FINDING_REPRODUCED, "so does order deviation that rises with the branches");
	ok(of(FINDING_NRMSE_TREND) == FINDING_REPRODUCED && suite.findings[FINDING_NRMSE_TREND].p > 0.05,
	   "NRMSE without a direction is as they found it");
	ok(suite.findings[FINDING_COVERAGE].as_found == 12 && suite.findings[FINDING_COVERAGE].of == 12,
	   "all twelve tell");
	near(suite.findings[FINDING_COVERAGE].p, 1.0 / 4096, 1e-12, "its p is the sign test's: 2^-12");

	for (size_t i = 0; i < PROGRAMS; i++)
		plant(i, 0.5, 0.4, 3 - 0.02 * (double)i, 1, -1);
	ask();
	bool all = true;
	for (int kind = 0; kind < FINDINGS; kind++)
		all = all && (kind == FINDING_NRMSE_TREND || kind == FINDING_ORDER_BEST ||
			      of((enum study_finding_kind)kind) == FINDING_DIFFERS);
	ok(all, "twelve programs that do the opposite differ, in each of them");
	for (size_t i = 0; i < PROGRAMS; i++)
		for (int k = 0; k < PERIODS; k++)
			periods[i][k].nrmse = 0.1 + 0.01 * k;
	for (size_t i = 0; i < PROGRAMS; i++)
		study_add_trends(&programs[i].study);
	ask();
	ok(of(FINDING_NRMSE_TREND) == FINDING_DIFFERS && of(FINDING_ORDER_BEST) == FINDING_DIFFERS,
	   "NRMSE that rises in all of them differs from what they found, and fits better");

	for (size_t i = 0; i < PROGRAMS; i++)
		plant(i, i % 2 ? 0.1 : 0.5, 0.6, 0.5, 0.3, i % 2 ? 1 : -1);
	ask();
	ok(of(FINDING_ORDER) == FINDING_NOT_SHOWN && of(FINDING_NRMSE_SIZE) == FINDING_NOT_SHOWN,
	   "six of twelve show nothing");
	ok(of(FINDING_BRANCHES) == FINDING_NOT_SHOWN && isnan(suite.findings[FINDING_BRANCHES].p),
	   "equal order deviations have no direction");

	suite.n = 4;
	for (size_t i = 0; i < 4; i++)
		plant(i, 0.1, 0.6, 0.5, 0.3, 1);
	ask();
	ok(of(FINDING_COVERAGE) == FINDING_NOT_SHOWN, "four programs are too few for any direction");
	for (size_t i = 0; i < 4; i++) {
		for (int k = 0; k < PERIODS; k++)
			periods[i][k].nrmse = 0.1 + 0.01 * k;
		study_add_trends(&programs[i].study);
	}
	ask();
	ok(of(FINDING_NRMSE_TREND) == FINDING_NOT_SHOWN,
	   "NRMSE that rises in all of four programs is no evidence that it has no direction");
	for (size_t i = 0; i < 4; i++)
		programs[i].why = (char *)"not installed";
	ask();
	all = true;
	for (int kind = 0; kind < FINDINGS; kind++)
		all = all && of((enum study_finding_kind)kind) == FINDING_NOT_SHOWN && !suite.findings[kind].of;
	ok(all, "of no program nothing is shown, not even that NRMSE has no trend");
	near(stats_sign_test(8, 9), 10.0 / 512, 1e-12, "8 or more of 9 go one way in 10 of 512");
	ok(stats_sign_test(0, 0) == 1 && stats_sign_test(0, 5) == 1, "none of none is no evidence");
}

/* findings_test --figures: to standard output */
static void draw(void)
{
	suite.n = 3;
	for (size_t i = 0; i < 3; i++)
		plant(i, 0.1 * (double)(i + 1), 0.6, pow(10, (double)i - 1), 0.3, 1);
	periods[1][8].judged = 0;
	programs[2].why = (char *)"not installed";
	struct sampling_study *s = &programs[0].study;
	s->n_places = 2;
	s->places[0] = (struct study_place){.name = "<b>hot\x1b[31m+0x4", .sampled = 0.4, .executed = 0.2};
	s->places[1] = (struct study_place){.name = "warm+0x8", .sampled = 0.1, .executed = 0};
	report_study_figures(stdout, programs, 3, 0);
}

int main(int n, char **arguments)
{
	if (n > 1 && strcmp(arguments[1], "--figures") == 0) {
		draw();
		return 0;
	}
	test_findings();
	return done();
}
