/* A comparison as JSON and as CSV, in base units and full precision. */
#include <math.h>

#include "report/csv_columns.h"
#include "report/compare.h"
#include "report/json_writer.h"
#include "report/number.h"

enum { VERSION = 1 };

/* ---- JSON ---- */

static void write_run_statistics(struct json *json, const struct estimate *e)
{
	json_write_open(json, "runs", '[');
	for (size_t i = 0; i < e->n_runs; i++)
		json_write_number(json, NULL, e->runs[i]);
	json_write_close(json, ']');
	json_write_number(json, "min", e->run_min);
	json_write_number(json, "median", e->run_median);
	json_write_number(json, "max", e->run_max);
	json_write_number(json, "sd", e->run_sd);
}

static void write_estimate(struct json *json, const struct estimate *e)
{
	bool known = e && e->known, interval = known && e->has_interval;
	json_write_number(json, "value", known ? e->value : NAN);
	json_write_number(json, "low", interval ? e->low : NAN);
	json_write_number(json, "high", interval ? e->high : NAN);
	if (!known) {
		json_write_text(json, "why_not_counted", e && e->why ? e->why : "there is no such count");
		return;
	}
	json_write_text(json, "source", source_name(e->source));
	json_write_text(json, "trust", trust_name(e->trust));
	if (e->machine)
		json_write_text(json, "machine", e->machine);
	write_run_statistics(json, e);
}

static void write_difference(struct json *json, const struct compared *one)
{
	bool numbers = one->has_numbers;
	json_write_text(json, "verdict", comparison_verdict_name(one->verdict));
	if (one->why)
		json_write_text(json, "why", one->why);
	json_write_number(json, "difference", numbers ? one->difference : NAN);
	json_write_number(json, "difference_low", numbers && one->has_interval ? one->low : NAN);
	json_write_number(json, "difference_high", numbers && one->has_interval ? one->high : NAN);
	json_write_number(json, "relative", numbers ? one->relative : NAN);
	json_write_number(json, "relative_low", numbers && one->has_relative ? one->relative_low : NAN);
	json_write_number(json, "relative_high", numbers && one->has_relative ? one->relative_high : NAN);
	json_write_number(json, "p", numbers ? one->p_value : NAN);
	json_write_number(json, "p_corrected", numbers ? one->p_adjusted : NAN);
	json_write_number(json, "effect_size", numbers ? one->effect : NAN);
	json_write_number(json, "superiority", numbers ? one->superiority : NAN);
	json_write_number(json, "detectable", numbers ? one->detectable : NAN);
	json_write_number(json, "noise_floor", numbers ? one->floor : NAN);
	if (one->misleading)
		json_write_bool(json, "misleading", true);
}

static const char *unit_of(const struct comparison *c, const struct comparison_row *row)
{
	for (size_t i = 0; i < c->n; i++)
		if (row->commands[i].estimate)
			return row->commands[i].estimate->unit;
	return NULL;
}

static void write_row(struct json *json, const struct comparison *c, const struct comparison_row *row)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, row->is_metric ? "metric" : "event", row->event);
	if (row->region)
		json_write_text(json, "region", row->region);
	json_write_text(json, "unit", unit_of(c, row));
	json_write_open(json, "commands", '[');
	for (size_t i = 0; i < c->n; i++) {
		json_write_open(json, NULL, '{');
		json_write_text(json, "command", c->names[i]);
		write_estimate(json, row->commands[i].estimate);
		if (i > 0)
			write_difference(json, &row->commands[i]);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
	json_write_close(json, '}');
}

static void write_commands(struct json *json, const struct comparison *c)
{
	json_write_open(json, "commands", '[');
	for (size_t i = 0; i < c->n; i++) {
		json_write_open(json, NULL, '{');
		json_write_text(json, "name", c->names[i]);
		json_write_open(json, "command", '[');
		for (size_t j = 0; c->results[i]->command && c->results[i]->command[j]; j++)
			json_write_text(json, NULL, c->results[i]->command[j]);
		json_write_close(json, ']');
		json_write_integer(json, "runs", (int64_t)c->results[i]->repetitions_done);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void write_gates(struct json *json, const struct comparison *c)
{
	static const char *const outcomes[] = {"passed", "failed", "undecided"};
	json_write_open(json, "gates", '[');
	for (size_t i = 0; i < c->n_gates; i++) {
		json_write_open(json, NULL, '{');
		json_write_text(json, "gate", c->gates[i].text);
		json_write_text(json, "command", c->names[c->gates[i].command]);
		json_write_text(json, "outcome", outcomes[c->gates[i].outcome]);
		json_write_text(json, "reason", c->gates[i].reason);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

void report_comparison_json(FILE *out, const struct comparison *c)
{
	struct json json = {.out = out, .lines = 2};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "version", VERSION);
	write_commands(&json, c);
	json_write_number(&json, "confidence", c->confidence);
	json_write_integer(&json, "repetitions", (int64_t)c->repetitions);
	json_write_integer(&json, "comparisons", (int64_t)c->tests);
	json_write_bool(&json, "interleaved", c->interleaved);
	json_write_bool(&json, "interrupted", c->interrupted);
	if (c->interleaved)
		json_write_integer(&json, "seed", (int64_t)c->seed);
	json_write_text(&json, "layout", c->layout);
	json_write_open(&json, "rows", '[');
	for (size_t i = 0; i < c->n_rows; i++)
		write_row(&json, c, &c->rows[i]);
	json_write_close(&json, ']');
	write_gates(&json, c);
	json_write_open(&json, "notes", '[');
	if (c->machines)
		json_write_text(&json, NULL, c->machines);
	for (size_t i = 0; i < c->n_notes; i++)
		json_write_text(&json, NULL, c->notes[i].text);
	json_write_close(&json, ']');
	json_write_close(&json, '}');
	fputc('\n', out);
}

/* ---- CSV: a line for each event and command ---- */

static void csv_row(FILE *out, const struct comparison *c, const struct comparison_row *row, size_t i)
{
	const struct compared *one = &row->commands[i];
	const struct estimate *e = one->estimate;
	bool known = e && e->known, interval = known && e->has_interval, other = i > 0 && one->has_numbers;
	fprintf(out, "%d,%s", VERSION, row->is_metric ? "metric" : row->region ? "region" : "event");
	csv_text(out, row->event);
	csv_text(out, row->region);
	csv_text(out, c->names[i]);
	csv_number(out, known, known ? e->value : 0);
	csv_number(out, interval, interval ? e->low : 0);
	csv_number(out, interval, interval ? e->high : 0);
	csv_text(out, unit_of(c, row));
	csv_number(out, known, known ? (double)e->n_runs : 0);
	csv_number(out, known, known ? e->run_min : 0);
	csv_number(out, known, known ? e->run_median : 0);
	csv_number(out, known, known ? e->run_max : 0);
	csv_number(out, known, known ? e->run_sd : 0);
	csv_text(out, known ? source_name(e->source) : NULL);
	csv_text(out, i > 0 ? comparison_verdict_name(one->verdict) : "baseline");
	csv_number(out, other, one->difference);
	csv_number(out, other && one->has_interval, one->low);
	csv_number(out, other && one->has_interval, one->high);
	csv_number(out, other, one->relative);
	csv_number(out, other && one->has_relative, one->relative_low);
	csv_number(out, other && one->has_relative, one->relative_high);
	csv_number(out, other, one->p_value);
	csv_number(out, other, one->p_adjusted);
	csv_number(out, other, one->effect);
	csv_number(out, other, one->detectable);
	csv_text(out, !known ? e && e->why ? e->why : "there is no such count" : one->why);
	fputs("\r\n", out);
}

void report_comparison_csv(FILE *out, const struct comparison *c)
{
	fputs("tare,kind,event,region,command,value,low,high,unit,runs,min,median,max,sd,source,verdict,"
	      "difference,"
	      "difference_low,difference_high,relative,relative_low,relative_high,p,p_corrected,effect_size,"
	      "detectable,why\r\n",
	      out);
	for (size_t r = 0; r < c->n_rows; r++)
		for (size_t i = 0; i < c->n; i++)
			csv_row(out, c, &c->rows[r], i);
}
