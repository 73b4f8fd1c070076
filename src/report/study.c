#include "report/study.h"

#include <math.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/json_writer.h"
#include "report/number.h"
#include "report/profile_rows.h"

enum { VERSION = 1 };

/* The level at which a direction counts as shown. */
static const double LEVEL = 0.05;

static const struct {
	const char *key, *name, *expected; /* what should happen as the period grows */
} measures[STUDY_MEASURES] = {
	[STUDY_NRMSE] = {"nrmse", "NRMSE", "rises"},
	[STUDY_COVERAGE] = {"sample_coverage", "sample coverage", "falls"},
	[STUDY_ORDER] = {"order_deviation", "order deviation", "rises"},
	[STUDY_VARIATION] = {"total_variation", "total variation", "rises"},
	[STUDY_WEIGHT] = {"weight_matching_10", "weight matching(10)", "falls"},
	[STUDY_KEY] = {"key_matching_10", "key matching(10)", "falls"},
	[STUDY_KENDALL] = {"kendall", "Kendall's tau-b", "falls"},
	[STUDY_TOP] = {"top_chance", "P(top is right)", "falls"},
};

/* Is the direction shown, its opposite, or neither? */
static const char *verdict_of(const struct study_trend *trend)
{
	return !trend->known                 ? "no values to compare"
	       : trend->p_rises <= LEVEL     ? "shown"
	       : trend->p_rises >= 1 - LEVEL ? "the opposite is shown"
					     : "not shown";
}

static const char *count_cell(struct document *d, uint64_t count)
{
	char number[NUMBER_BYTES];
	number_group(number, (double)count, 0);
	return document_printf(d, "%s", number);
}

static void push(struct document *d, struct columns *columns, const struct columns_row *row)
{
	if (!vec_push(&columns->rows, *row))
		d->failed = true;
}

static struct columns *table(struct document *d, const char *const *headings, size_t n)
{
	document_add(d, BLOCK_GAP, NULL, NULL);
	struct columns *columns = document_add_columns(d, n);
	for (size_t i = 0; columns && i < n; i++)
		columns->headings[i] = headings[i];
	if (columns)
		columns->flexible = n - 1;
	return columns;
}

static const char *period_cell(struct document *d, const struct sampling_study *study, uint64_t period)
{
	bool ns = strcmp(study->unit, "ns") == 0;
	return ns ? document_printf(d, "%g ms", (double)period / 1e6) : count_cell(d, period);
}

static void add_by_instruction(struct document *d, const struct sampling_study *study)
{
	static const char *const headings[] = {"period",    "samples", "places",   "kernel",     "unmapped",
					       "elsewhere", "NRMSE",   "coverage", "order dev.", "distance"};
	enum { N = sizeof headings / sizeof *headings };
	document_add(d, BLOCK_GAP, NULL, NULL);
	document_add(d, BLOCK_HEADING, "by instruction", " (Wu and Mencer's measures; distance in bytes)");
	struct columns *columns = table(d, headings, N);
	for (size_t i = 0; columns && i < study->n_periods; i++) {
		const struct sampling_accuracy *a = &study->periods[i];
		bool some = a->judged > 0;
		const struct columns_row row = {{period_cell(d, study, a->period), count_cell(d, a->judged),
						 count_cell(d, a->instructions), count_cell(d, a->kernel),
						 count_cell(d, a->unmapped), count_cell(d, a->elsewhere),
						 document_double(d, "%.4f", some ? a->nrmse : NAN),
						 document_double(d, "%.4f", some ? a->sample_coverage : NAN),
						 document_double(d, "%.4f", some ? a->order_deviation : NAN),
						 document_double(d, "%.0f", a->distance)},
						false};
		push(d, columns, &row);
	}
}

static void add_by_function(struct document *d, const struct sampling_study *study)
{
	static const char *const headings[] = {"period",  "overlap", "tot. var.", "weight(10)",
					       "key(10)", "tau-b",   "P(top)"};
	enum { N = sizeof headings / sizeof *headings };
	document_add(d, BLOCK_GAP, NULL, NULL);
	document_add(d, BLOCK_HEADING, "by function",
		     " (shares of samples against shares of executed instructions)");
	struct columns *columns = table(d, headings, N);
	for (size_t i = 0; columns && i < study->n_periods; i++) {
		const struct sampling_accuracy *a = &study->periods[i];
		const struct columns_row row = {
			{period_cell(d, study, a->period), document_double(d, "%.4f", a->overlap),
			 document_double(d, "%.4f", a->total_variation),
			 document_double(d, "%.4f", a->weight_matching),
			 document_double(d, "%.4f", a->key_matching), document_double(d, "%.4f", a->kendall),
			 document_double(d, "%.4f", a->top_chance)},
			false};
		push(d, columns, &row);
	}
}

static void add_trends(struct document *d, const struct sampling_study *study)
{
	static const char *const headings[] = {"tau", "p", "with the period, it should"};
	document_add(d, BLOCK_GAP, NULL, NULL);
	document_add(d, BLOCK_HEADING, "rule under test", ": the longer the period, the larger the error");
	struct columns *columns = table(d, headings, 3);
	if (columns)
		columns->left[2] = true;
	for (size_t m = 0; columns && m < STUDY_MEASURES; m++) {
		const struct study_trend *trend = &study->trends[m];
		const char *text = document_printf(d, "%s: %s: %s", measures[m].name, measures[m].expected,
						   verdict_of(trend));
		const struct columns_row row = {{document_double(d, "%+.2f", trend->known ? trend->tau : NAN),
						 document_double(d, "%.4f", trend->known ? trend->p_rises : NAN),
						 text},
						false};
		push(d, columns, &row);
	}
}

static void add_notes(struct document *d)
{
	document_add(d, BLOCK_GAP, NULL, NULL);
	document_add(
		d, BLOCK_NOTE, "-",
		"tau: Kendall's, of the error against the period; p: how often random orders rise as much (Mann's "
		"test). Shown: p is 0.05 or less.");
	document_add(d, BLOCK_NOTE, "-",
		     "kernel, unmapped, elsewhere: samples in the kernel, in memory of no file, and at code that "
		     "the exact "
		     "run did not execute. They are in no measure.");
	document_add(d, BLOCK_NOTE, "-",
		     "Instructions that take longer than others have more samples than executions: that is in all "
		     "these errors, and no period removes it.");
}

void report_study_text(FILE *out, const struct sampling_study *study, char *const *program,
		       const struct report_options *options)
{
	struct document document = {0};
	struct str text = {0};
	for (size_t i = 0; program[i]; i++) {
		str_append(&text, i ? " " : "");
		profile_append_escaped(&text, program[i]);
	}
	document_add(&document, BLOCK_GAP, NULL, NULL);
	document_add_str(&document, BLOCK_TITLE, "tare verify sampling:", &text, "");
	char number[NUMBER_BYTES];
	number_group(number, (double)study->executed, 0);
	document_add(
		&document, BLOCK_PARAGRAPH, NULL,
		document_printf(&document,
				"%s sampled with gaps of period + uniform(0, period/8), seed %llu, against %s "
				"executed instructions, counted exactly.",
				study->event, (unsigned long long)study->seed, number));
	add_by_instruction(&document, study);
	add_by_function(&document, study);
	add_trends(&document, study);
	add_notes(&document);
	report_document_text(out, &document, options);
	document_free(&document);
}

/* ---- JSON ---- */

static void write_period(struct json *json, const struct sampling_accuracy *a)
{
	bool some = a->judged > 0;
	json_write_open(json, NULL, '{');
	json_write_integer(json, "period", (int64_t)a->period);
	json_write_integer(json, "samples", (int64_t)a->judged);
	json_write_integer(json, "places", (int64_t)a->instructions);
	json_write_integer(json, "kernel", (int64_t)a->kernel);
	json_write_integer(json, "unmapped", (int64_t)a->unmapped);
	json_write_integer(json, "elsewhere", (int64_t)a->elsewhere);
	json_write_integer(json, "lost", (int64_t)a->lost);
	json_write_integer(json, "throttled", (int64_t)a->throttled);
	json_write_number(json, "nrmse", some ? a->nrmse : NAN);
	json_write_number(json, "sample_coverage", some ? a->sample_coverage : NAN);
	json_write_number(json, "order_deviation", some ? a->order_deviation : NAN);
	json_write_number(json, "top_instruction", some ? a->top_instruction : NAN);
	json_write_number(json, "distance_bytes", a->distance);
	json_write_number(json, "overlap", a->overlap);
	json_write_number(json, "total_variation", a->total_variation);
	json_write_number(json, "weight_matching_10", a->weight_matching);
	json_write_number(json, "key_matching_10", a->key_matching);
	json_write_number(json, "kendall", a->kendall);
	json_write_number(json, "top_chance", a->top_chance);
	json_write_close(json, '}');
}

void report_study_json_body(struct json *json, const struct sampling_study *study)
{
	json_write_text(json, "event", study->event);
	json_write_text(json, "unit", study->unit);
	json_write_text(json, "gaps", "period + uniform(0, period/8)");
	json_write_integer(json, "seed", (int64_t)study->seed);
	json_write_integer(json, "executed_instructions", (int64_t)study->executed);
	if (study->has_branches)
		json_write_integer(json, "executed_branches", (int64_t)study->branches);
	else
		json_write_null(json, "executed_branches");
	json_write_open(json, "periods", '[');
	for (size_t i = 0; i < study->n_periods; i++)
		write_period(json, &study->periods[i]);
	json_write_close(json, ']');
	json_write_open(json, "error_rises_with_period", '[');
	for (size_t m = 0; m < STUDY_MEASURES; m++) {
		const struct study_trend *trend = &study->trends[m];
		json_write_open(json, NULL, '{');
		json_write_text(json, "measure", measures[m].key);
		json_write_text(json, "expected", measures[m].expected);
		json_write_number(json, "tau", trend->known ? trend->tau : NAN);
		json_write_number(json, "p", trend->known ? trend->p_rises : NAN);
		json_write_text(json, "verdict", verdict_of(trend));
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

void report_study_json(FILE *out, const struct sampling_study *study, char *const *program)
{
	struct json json = {.out = out, .lines = 2};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "version", VERSION);
	json_write_text(&json, "study", "sampling");
	json_write_open(&json, "command", '[');
	for (size_t i = 0; program[i]; i++)
		json_write_text(&json, NULL, program[i]);
	json_write_close(&json, ']');
	report_study_json_body(&json, study);
	json_write_close(&json, '}');
	fputc('\n', out);
}
