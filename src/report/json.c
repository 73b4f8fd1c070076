/* A result as JSON; docs/result.schema.json says what may stand where, tare-count(1) what it means. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/str.h"
#include "report/breakdown.h"
#include "report/machine_json.h"
#include "report/region.h"
#include "report/report.h"
#include "result/given.h"

static void write_estimate(struct json *json, const struct estimate *e, bool statistics)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "event", e->event);
	if (e->known) {
		json_write_number(json, "value", e->value);
		/* without an interval nothing is known of the bounds; an infinite bound is null too, and then
		 * "confidence" is a number */
		if (e->has_interval) {
			json_write_number(json, "low", e->low);
			json_write_number(json, "high", e->high);
			json_write_number(json, "confidence", e->confidence);
		} else {
			json_write_null(json, "low");
			json_write_null(json, "high");
			json_write_null(json, "confidence");
		}
	} else {
		json_write_null(json, "value");
		json_write_null(json, "low");
		json_write_null(json, "high");
		json_write_null(json, "confidence");
		if (e->has_least)
			json_write_number(json, "at_least", e->least);
		json_write_text(json, "why", e->why ? e->why : "not counted");
	}
	json_write_text(json, "unit", e->unit);
	if (e->level && e->level[0])
		json_write_text(json, "level", e->level);
	json_write_open(json, "runs", '[');
	for (size_t i = 0; i < e->n_runs; i++)
		json_write_number(json, NULL, e->runs[i]);
	json_write_close(json, ']');
	if (statistics && e->n_runs) {
		json_write_number(json, "min", e->run_min);
		json_write_number(json, "median", e->run_median);
		json_write_number(json, "max", e->run_max);
		json_write_number(json, "sd", e->run_sd);
	}
	json_write_text(json, "source", source_name(e->source));
	json_write_text(json, "trust", trust_name(e->trust));
	if (e->machine)
		json_write_text(json, "machine", e->machine);
	if (e->evidence)
		json_write_text(json, "evidence", e->evidence);
	if (e->has_tare) {
		json_write_number(json, "gross", e->gross);
		json_write_number(json, "tare", e->tare);
	} else if (e->known && isfinite(e->bound) && e->evidence) {
		json_write_number(json, "bound", e->bound);
	}
	json_write_number(json, "share_running", e->known ? e->share_running : 0);
	if (e->note)
		json_write_text(json, "note", e->note);
	if (e->pid)
		json_write_integer(json, "pid", e->pid);
	if (e->tid)
		json_write_integer(json, "tid", e->tid);
	if (e->command)
		json_write_text(json, "command", e->command);
	if (e->cpu >= 0)
		json_write_integer(json, "cpu", e->cpu);
	json_write_close(json, '}');
}

static void write_estimates(struct json *json, const char *key, const struct estimate *estimates, size_t n,
			    bool statistics)
{
	json_write_open(json, key, '[');
	for (size_t i = 0; i < n; i++)
		write_estimate(json, &estimates[i], statistics);
	json_write_close(json, ']');
}

static bool is_exclusive(const char *name)
{
	size_t n = strlen(name), m = strlen(REGION_EXCLUSIVE);
	return n > m && strcmp(name + n - m, REGION_EXCLUSIVE) == 0;
}

static void write_regions(struct json *json, const struct result *result, bool statistics)
{
	json_write_open(json, "regions", '[');
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *r = &result->regions[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "name", r->name);
		json_write_text(json, "place", r->text);
		json_write_text(json, "kind", region_kind_name(r->kind));
		if (r->why) {
			json_write_null(json, "entries");
			json_write_null(json, "exits");
			json_write_null(json, "unbalanced_threads");
			json_write_null(json, "threads");
			if (r->least)
				json_write_integer(json, "entries_at_least", (int64_t)r->least);
			json_write_text(json, "why", r->why);
		} else {
			json_write_integer(json, "entries", (int64_t)r->entries);
			json_write_integer(json, "exits", (int64_t)r->exits);
			json_write_integer(json, "unbalanced_threads", (int64_t)r->unbalanced);
			json_write_integer(json, "threads", (int64_t)r->threads);
		}
		if (r->note)
			json_write_text(json, "note", r->note);
		if (is_exclusive(r->name))
			json_write_bool(json, "exclusive", true);
		write_estimates(json, "results", r->estimates, r->n_estimates, statistics);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void write_given(struct json *json, const char *given)
{
	if (!given)
		return;
	json_write_open(json, "given", '[');
	struct given_thing thing;
	while (given_next(&given, &thing)) {
		struct str what = {0}, sum = {0};
		str_appendf(&what, "%.*s", (int)thing.what_length, thing.what);
		str_appendf(&sum, "%.*s", (int)thing.sum_length, thing.sum);
		json_write_open(json, NULL, '{');
		json_write_text(json, "what", what.text);
		json_write_integer(json, "times", (int64_t)thing.times);
		json_write_text(json, "sum", sum.text);
		json_write_close(json, '}');
		str_free(&what);
		str_free(&sum);
	}
	json_write_close(json, ']');
}

static void write_ending(struct json *json, const struct result *result)
{
	if (!result->command || !(WIFEXITED(result->wait_status) || WIFSIGNALED(result->wait_status))) {
		json_write_null(json, "exit");
		return;
	}
	int lines = json->lines;
	json->lines = lines > 1 ? 1 : lines; /* short enough for one line */
	json_write_open(json, "exit", '{');
	if (WIFSIGNALED(result->wait_status))
		json_write_integer(json, "signal", WTERMSIG(result->wait_status));
	else
		json_write_integer(json, "status", WEXITSTATUS(result->wait_status));
	json_write_close(json, '}');
	json->lines = lines;
}

static void write_rank(struct json *json, const struct rank_place *rank)
{
	json_write_open(json, "rank", '{');
	json_write_integer(json, "rank", (int64_t)rank->rank);
	json_write_integer(json, "size", (int64_t)rank->size);
	json_write_text(json, "launcher", rank->launcher);
	json_write_text(json, "job", rank->job);
	json_write_integer(json, "pid", rank->pid);
	json_write_close(json, '}');
}

void report_json(FILE *out, const struct result *result, const struct report_options *options)
{
	bool statistics = options->statistics;
	struct json json = {.out = out, .lines = options->one_line ? 0 : 2};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "tare", 1);
	json_write_text(&json, "version", TARE_VERSION);
	json_write_open(&json, "machine", '{');
	machine_json(&json, &result->machine);
	json_write_close(&json, '}');
	if (options->rank && options->rank->launcher)
		write_rank(&json, options->rank);
	if (result->command) {
		json_write_open(&json, "command", '[');
		for (const char *const *word = result->command; *word; word++)
			json_write_text(&json, NULL, *word);
		json_write_close(&json, ']');
	} else {
		json_write_null(&json, "command");
	}
	json_write_text(&json, "target", result->target);
	json_write_integer(&json, "started", (int64_t)result->started_unix);
	json_write_integer(&json, "repetitions", (int64_t)result->repetitions);
	json_write_integer(&json, "repetitions_done", (int64_t)result->repetitions_done);
	json_write_integer(&json, "executions", (int64_t)result->executions);
	json_write_integer(&json, "warm_ups", (int64_t)result->warm_ups);
	json_write_integer(&json, "passes", (int64_t)result->passes);
	json_write_number(&json, "elapsed_seconds", result->elapsed_seconds);
	json_write_number(&json, "confidence", result->confidence);
	json_write_bool(&json, "interrupted", result->interrupted);
	if (result->timed_out)
		json_write_bool(&json, "timed_out", true);
	write_ending(&json, result);
	write_estimates(&json, "results", result->estimates, result->n_estimates, statistics);
	write_estimates(&json, "metrics", result->metrics, result->n_metrics, statistics);
	if (result->n_regions)
		write_regions(&json, result, statistics);
	json_write_open(&json, "outliers", '[');
	for (size_t i = 0; i < result->n_outliers; i++) {
		json_write_open(&json, NULL, '{');
		json_write_integer(&json, "repetition", (int64_t)result->outliers[i].repetition + 1);
		json_write_text(&json, "event", result->outliers[i].event);
		json_write_text(&json, "cause", result->outliers[i].cause);
		json_write_close(&json, '}');
	}
	json_write_close(&json, ']');
	json_write_open(&json, "notes", '[');
	for (size_t i = 0; i < result->n_notes; i++)
		json_write_text(&json, NULL, result->notes[i].text);
	json_write_close(&json, ']');
	write_given(&json, result->given);
	if (result->breakdown)
		breakdown_json(&json, "breakdown", result->breakdown);
	json_write_close(&json, '}');
}
