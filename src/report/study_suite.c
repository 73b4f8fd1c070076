#include "report/study_suite.h"

#include <math.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/json_writer.h"
#include "report/number.h"
#include "report/profile_rows.h"
#include "report/study.h"

enum { VERSION = 1 };

static const struct {
	const char *key, *says;
} findings[FINDINGS] = {
	[FINDING_NRMSE_TREND] = {"nrmse_no_trend", "NRMSE has no obvious trend"},
	[FINDING_COVERAGE] = {"coverage_falls", "coverage falls with the period"},
	[FINDING_ORDER] = {"order_deviation_rises", "order deviation rises with the period"},
	[FINDING_ORDER_BEST] = {"order_deviation_fits_best", "order deviation follows the period best"},
	[FINDING_NRMSE_SIZE] = {"nrmse_most_0_2", "NRMSE is 0.2 or less in most programs"},
	[FINDING_COVERAGE_SIZE] = {"coverage_least_0_5", "coverage is 0.5 or more in most programs"},
	[FINDING_ORDER_SIZE] = {"order_deviation_most_1", "order deviation is 1 or less in most"},
	[FINDING_TOP] = {"top_differs", "the most sampled is not the most executed"},
	[FINDING_BRANCHES] = {"branches", "more branches, larger order deviation"},
};

static const char *verdict_of(const struct study_finding *finding)
{
	return finding->verdict == FINDING_REPRODUCED ? "reproduced"
	       : finding->verdict == FINDING_DIFFERS  ? "differs"
						      : "not shown";
}

static const char *tau(struct document *d, const struct sampling_study *s, enum study_measure measure)
{
	return document_double(d, "%+.2f", s->trends[measure].known ? s->trends[measure].tau : NAN);
}

static struct columns *table(struct document *d, const char *const *headings, size_t n)
{
	document_add(d, BLOCK_GAP, NULL, NULL);
	struct columns *columns = document_add_columns(d, n);
	for (size_t i = 0; columns && i < n; i++)
		columns->headings[i] = headings[i];
	if (columns) {
		columns->flexible = n - 1;
		columns->left[n - 1] = true;
	}
	return columns;
}

static void push(struct document *d, struct columns *columns, const struct columns_row *row)
{
	if (!vec_push(&columns->rows, *row))
		d->failed = true;
}

static void add_programs(struct document *d, const struct sampling_suite *suite)
{
	static const char *const headings[] = {"samples", "NRMSE", "tau", "cover.",   "tau",
					       "order",   "tau",   "top", "branches", "program"};
	struct columns *columns = table(d, headings, sizeof headings / sizeof *headings);
	for (size_t i = 0; columns && i < suite->n; i++) {
		const struct studied_program *p = &suite->programs[i];
		const struct sampling_study *s = &p->study;
		if (p->why || !s->n_periods)
			continue;
		const struct sampling_accuracy *a = &s->periods[0];
		bool some = a->judged > 0;
		double branches = s->has_branches && s->executed ? 100 * (double)s->branches / (double)s->executed
								 : NAN;
		char samples[NUMBER_BYTES];
		number_group(samples, (double)a->judged, 0);
		const struct columns_row row = {
			{document_printf(d, "%s", samples), document_double(d, "%.3f", some ? a->nrmse : NAN),
			 tau(d, s, STUDY_NRMSE), document_double(d, "%.3f", some ? a->sample_coverage : NAN),
			 tau(d, s, STUDY_COVERAGE), document_double(d, "%.3f", some ? a->order_deviation : NAN),
			 tau(d, s, STUDY_ORDER), document_double(d, "%.2f", some ? a->top_instruction : NAN),
			 document_double(d, "%.1f%%", branches), p->name},
			false};
		push(d, columns, &row);
	}
}

static void add_findings(struct document *d, const struct sampling_suite *suite)
{
	static const char *const headings[] = {"programs", "p", "here", "Wu and Mencer found"};
	document_add(d, BLOCK_GAP, NULL, NULL);
	document_add(d, BLOCK_HEADING, "findings", "");
	struct columns *columns = table(d, headings, 4);
	if (columns)
		columns->left[2] = true;
	for (int i = 0; columns && i < FINDINGS; i++) {
		const struct study_finding *f = &suite->findings[i];
		const char *programs = i == FINDING_BRANCHES
					       ? document_printf(d, "%zu", f->of)
					       : document_printf(d, "%zu of %zu", f->as_found, f->of);
		const struct columns_row row = {
			{programs, document_double(d, "%.4f", f->p), verdict_of(f), findings[i].says}, false};
		push(d, columns, &row);
	}
}

static void add_notes(struct document *d, const struct sampling_suite *suite)
{
	document_add(d, BLOCK_GAP, NULL, NULL);
	for (size_t i = 0; i < suite->n; i++) {
		if (!suite->programs[i].why)
			continue;
		struct str text = {0};
		str_appendf(&text, "%s was not studied: ", suite->programs[i].name);
		profile_append_escaped(&text, suite->programs[i].why);
		document_add_str(d, BLOCK_NOTE, "-", &text, NULL);
	}
	document_add(d, BLOCK_NOTE, "-",
		     "NRMSE, coverage, order deviation and top are at the shortest period. tau: Kendall's, of the "
		     "error against the period; + is an error that rises, a coverage that falls.");
	document_add(
		d, BLOCK_NOTE, "-",
		"top: executions of the most sampled instruction, as a part of those of the most executed one. "
		"branches: of the executed instructions.");
	document_add(d, BLOCK_NOTE, "-",
		     "programs: as they found it, of those that tell; p: a sign test's, of branches Mann's. "
		     "Reproduced: "
		     "0.05 or less; differs: the opposite is. That NRMSE has a trend is the opposite of their "
		     "finding: reproduced means that none is shown.");
	document_add(
		d, BLOCK_NOTE, "-",
		"Samples follow time, executions do not: where instructions take unequal times (CPI), that is in "
		"all three measures at every period.");
}

void report_suite_text(FILE *out, const struct sampling_suite *suite, const struct report_options *options)
{
	struct document document = {0};
	size_t studied = 0;
	const struct sampling_study *any = NULL;
	for (size_t i = 0; i < suite->n; i++)
		if (!suite->programs[i].why) {
			studied++;
			any = any ? any : &suite->programs[i].study;
		}
	document_add(&document, BLOCK_GAP, NULL, NULL);
	document_add(&document, BLOCK_TITLE, "tare verify sampling:",
		     document_printf(&document, "%zu program%s", studied, studied == 1 ? "" : "s"));
	if (any && any->n_periods)
		document_add(&document, BLOCK_PARAGRAPH, NULL,
			     document_printf(
				     &document,
				     "%s sampled at %zu period%s from %llu%s%s, with gaps of period + uniform(0, "
				     "period/8), against executed instructions, counted exactly.",
				     any->event, any->n_periods, any->n_periods == 1 ? "" : "s",
				     (unsigned long long)any->periods[0].period, any->unit[0] ? " " : "",
				     any->unit));
	add_programs(&document, suite);
	add_findings(&document, suite);
	add_notes(&document, suite);
	report_document_text(out, &document, options);
	document_free(&document);
}

/* ---- JSON ---- */

void report_suite_json(FILE *out, const struct sampling_suite *suite)
{
	struct json json = {.out = out, .lines = 2};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "version", VERSION);
	json_write_text(&json, "study", "sampling-suite");
	json_write_open(&json, "programs", '[');
	for (size_t i = 0; i < suite->n; i++) {
		json_write_open(&json, NULL, '{');
		json_write_text(&json, "program", suite->programs[i].name);
		json_write_text(&json, "why", suite->programs[i].why);
		if (!suite->programs[i].why)
			report_study_json_body(&json, &suite->programs[i].study);
		json_write_close(&json, '}');
	}
	json_write_close(&json, ']');
	json_write_open(&json, "findings", '[');
	for (int i = 0; i < FINDINGS; i++) {
		const struct study_finding *f = &suite->findings[i];
		json_write_open(&json, NULL, '{');
		json_write_text(&json, "finding", findings[i].key);
		json_write_text(&json, "says", findings[i].says);
		json_write_text(&json, "verdict", verdict_of(f));
		json_write_integer(&json, "as_found", (int64_t)f->as_found);
		json_write_integer(&json, "of", (int64_t)f->of);
		json_write_number(&json, "p", f->p);
		json_write_close(&json, '}');
	}
	json_write_close(&json, ']');
	json_write_close(&json, '}');
	fputc('\n', out);
}
