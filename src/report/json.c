/* A result as JSON; docs/result.schema.json says what may stand where, tare-count(1) what it means. */
#include <sys/wait.h>

#include "report/json_writer.h"
#include "report/report.h"

static void write_estimate(struct json *json, const struct estimate *e)
{
	json_open(json, NULL, '{');
	json_text(json, "event", e->event);
	if (e->known) {
		json_number(json, "value", e->value);
		/* without an interval nothing is known of the bounds; an infinite bound is null too, and then
		 * "confidence" is a number */
		if (e->has_interval) {
			json_number(json, "low", e->low);
			json_number(json, "high", e->high);
			json_number(json, "confidence", e->confidence);
		} else {
			json_null(json, "low");
			json_null(json, "high");
			json_null(json, "confidence");
		}
	} else {
		json_null(json, "value");
		json_null(json, "low");
		json_null(json, "high");
		json_null(json, "confidence");
		json_text(json, "why", e->why ? e->why : "not counted");
	}
	json_text(json, "unit", e->unit);
	if (e->level && e->level[0])
		json_text(json, "level", e->level);
	json_open(json, "runs", '[');
	for (size_t i = 0; i < e->n_runs; i++)
		json_number(json, NULL, e->runs[i]);
	json_close(json, ']');
	json_text(json, "source", source_name(e->source));
	json_text(json, "trust", trust_name(e->trust));
	if (e->evidence)
		json_text(json, "evidence", e->evidence);
	json_number(json, "share_running", e->known ? e->share_running : 0);
	if (e->note)
		json_text(json, "note", e->note);
	if (e->tid)
		json_integer(json, "tid", e->tid);
	if (e->cpu >= 0)
		json_integer(json, "cpu", e->cpu);
	json_close(json, '}');
}

static void write_estimates(struct json *json, const char *key, const struct estimate *estimates, size_t n)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < n; i++)
		write_estimate(json, &estimates[i]);
	json_close(json, ']');
}

static void write_machine(struct json *json, const struct machine_facts *machine)
{
	json_open(json, "machine", '{');
	json_text(json, "cpu", machine->cpu);
	json_integer(json, "cpus", machine->cpus);
	json_text(json, "architecture", machine->architecture);
	json_text(json, "kernel", machine->kernel);
	json_text(json, "hostname", machine->hostname);
	json_text(json, "pmu", machine->pmu);
	json_text(json, "hypervisor", machine->hypervisor);
	json_close(json, '}');
}

static void write_ending(struct json *json, const struct result *result)
{
	if (!result->command || !(WIFEXITED(result->wait_status) || WIFSIGNALED(result->wait_status))) {
		json_null(json, "exit");
		return;
	}
	json->lines = 1; /* short enough for one line */
	json_open(json, "exit", '{');
	if (WIFSIGNALED(result->wait_status))
		json_integer(json, "signal", WTERMSIG(result->wait_status));
	else
		json_integer(json, "status", WEXITSTATUS(result->wait_status));
	json_close(json, '}');
	json->lines = 2;
}

void report_json(FILE *out, const struct result *result)
{
	struct json json = { .out = out, .lines = 2 };
	json_open(&json, NULL, '{');
	json_integer(&json, "tare", 1);
	json_text(&json, "version", TARE_VERSION);
	write_machine(&json, &result->machine);
	if (result->command) {
		json_open(&json, "command", '[');
		for (const char *const *word = result->command; *word; word++)
			json_text(&json, NULL, *word);
		json_close(&json, ']');
	} else {
		json_null(&json, "command");
	}
	json_text(&json, "target", result->target);
	json_integer(&json, "started", (int64_t)result->started_unix);
	json_integer(&json, "repetitions", (int64_t)result->repetitions);
	json_integer(&json, "repetitions_done", (int64_t)result->repetitions_done);
	json_integer(&json, "executions", (int64_t)result->executions);
	json_integer(&json, "warm_ups", (int64_t)result->warm_ups);
	json_integer(&json, "passes", (int64_t)result->passes);
	json_number(&json, "elapsed_seconds", result->elapsed_seconds);
	json_number(&json, "confidence", result->confidence);
	json_bool(&json, "interrupted", result->interrupted);
	write_ending(&json, result);
	write_estimates(&json, "results", result->estimates, result->n_estimates);
	write_estimates(&json, "metrics", result->metrics, result->n_metrics);
	json_open(&json, "outliers", '[');
	for (size_t i = 0; i < result->n_outliers; i++) {
		json_open(&json, NULL, '{');
		json_integer(&json, "repetition", (int64_t)result->outliers[i].repetition + 1);
		json_text(&json, "event", result->outliers[i].event);
		json_text(&json, "cause", result->outliers[i].cause);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_open(&json, "notes", '[');
	for (size_t i = 0; i < result->n_notes; i++)
		json_text(&json, NULL, result->notes[i]);
	json_close(&json, ']');
	json_close(&json, '}');
}
