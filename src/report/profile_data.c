/* A profile's rows as JSON and CSV: all of them, with full precision. Version 1 of both; within a version only
 * what is new is added: keys, and columns at the end. */
#include <string.h>

#include "report/json_writer.h"
#include "report/number.h"
#include "report/export.h"
#include "report/profile.h"
#include "report/profile_check.h"
#include "report/profile_rows.h"

enum { VERSION = 1 };

/* ---- JSON ---- */

static void write_machine(struct json *json, const struct machine_facts *m)
{
	json_write_open(json, "machine", '{');
	json_write_text(json, "cpu", m->cpu);
	json_write_integer(json, "cpus", m->cpus);
	json_write_text(json, "kernel", m->kernel);
	json_write_text(json, "pmu", m->pmu);
	json_write_close(json, '}');
}

static void write_events(struct json *json, const struct named_profile *named)
{
	json_write_open(json, "events", '[');
	for (size_t i = 0; i < named->profile->n_events; i++) {
		const struct profile_event *e = &named->profile->events[i];
		bool sampled = e->gaps != GAPS_NONE;
		json_write_open(json, NULL, '{');
		json_write_text(json, "event", e->label);
		json_write_text(json, "unit", e->unit);
		json_write_text(json, "source", source_name(e->source));
		json_write_text(json, "machine", e->machine);
		json_write_text(json, "trust", trust_name(e->trust));
		if (e->evidence)
			json_write_text(json, "evidence", e->evidence);
		json_write_text(json, "why", e->why);
		json_write_text(json, "gaps", profile_gaps_name(e->gaps));
		if (sampled && e->gaps == GAPS_RATE)
			json_write_number(json, "rate", e->rate);
		else if (sampled)
			json_write_number(json, "gap", (double)e->gap);
		if (sampled) {
			json_write_number(json, "samples", (double)e->samples);
			json_write_number(json, "lost", (double)e->lost);
			json_write_number(json, "throttled", (double)e->throttled);
			json_write_number(json, "seed", (double)e->seed);
			json_write_integer(json, "redraw", e->redraw);
			if (e->cost_ns > 0)
				json_write_number(json, "cost_ns", e->cost_ns);
		}
		if (e->has_total)
			json_write_number(json, "total", (double)e->total);
		else
			json_write_null(json, "total");
		if (e->part > 0) {
			json_write_number(json, "part", e->part);
			json_write_number(json, "turn_samples", e->turn_samples);
		}
		if (e->has_scaled) {
			json_write_open(json, "scaled", '{');
			json_write_number(json, "value", e->scaled);
			json_write_number(json, "low", e->scaled_low);
			json_write_number(json, "high", e->scaled_high);
			json_write_close(json, '}');
		}
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void write_runs(struct json *json, const struct profile *p)
{
	if (!p->n_runs)
		return;
	json_write_open(json, "runs", '[');
	for (size_t i = 0; i < p->n_runs; i++) {
		json_write_open(json, NULL, '{');
		json_write_number(json, "seed", (double)p->runs[i].seed);
		json_write_integer(json, "wait_status", p->runs[i].wait_status);
		json_write_open(json, "gaps", '[');
		for (size_t e = 0; e < p->n_events; e++)
			json_write_number(json, NULL, (double)p->runs[i].gaps[e]);
		json_write_close(json, ']');
		json_write_open(json, "samples", '[');
		for (size_t e = 0; e < p->n_events; e++)
			json_write_number(json, NULL, (double)p->runs[i].samples[e]);
		json_write_close(json, ']');
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void write_count(struct json *json, const struct named_count *c, uint64_t sum)
{
	json_write_open(json, NULL, '{');
	json_write_number(json, "self", (double)c->self);
	if (c->nested)
		json_write_null(json, "inclusive");
	else
		json_write_number(json, "inclusive", (double)c->inclusive);
	json_write_number(json, "share", profile_share(c->self, sum));
	if (c->has_interval) {
		json_write_number(json, "low", c->low);
		json_write_number(json, "high", c->high);
	}
	if (c->check) {
		json_write_open(json, "check", '{');
		json_write_text(json, "verdict", profile_verdict_name(c->check->verdict));
		json_write_number(json, "first_share", c->check->first);
		json_write_number(json, "second_share", c->check->second);
		json_write_number(json, "difference_low", c->check->low);
		json_write_number(json, "difference_high", c->check->high);
		json_write_number(json, "p", c->check->p);
		json_write_close(json, '}');
	}
	if (c->first_rank) {
		json_write_integer(json, "first_rank", c->first_rank);
		json_write_integer(json, "last_rank", c->last_rank);
	}
	json_write_close(json, '}');
}

static void write_rows(struct json *json, const char *key, const struct named_profile *named,
		       const struct named_table *table)
{
	json_write_open(json, key, '[');
	for (size_t i = 0; i < table->n; i++) {
		const struct named_row *row = &table->rows[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "function", row->name[0] ? row->name : NULL);
		json_write_text(json, "module", row->module);
		json_write_text(json, "file", row->file);
		if (row->line)
			json_write_integer(json, "line", row->line);
		else
			json_write_null(json, "line");
		json_write_open(json, "counts", '[');
		for (size_t e = 0; e < named->profile->n_events; e++)
			write_count(json, &row->counts[e], named->sums[e]);
		json_write_close(json, ']');
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void write_tasks(struct json *json, const char *key, const struct named_profile *named,
			const struct named_table *table, bool threads)
{
	json_write_open(json, key, '[');
	for (size_t i = 0; i < table->n; i++) {
		const struct named_row *row = &table->rows[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "name", row->name);
		json_write_integer(json, "process", row->task->pid);
		if (threads)
			json_write_integer(json, "thread", row->task->tid);
		if (named->profile->n_runs)
			json_write_integer(json, "run", row->task->run);
		json_write_open(json, "counts", '[');
		for (size_t e = 0; e < named->profile->n_events; e++)
			write_count(json, &row->counts[e], named->sums[e]);
		json_write_close(json, ']');
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void write_function(struct json *json, const char *key, const char *module_key, const struct named_row *row)
{
	json_write_text(json, key, row ? row->name : NULL);
	json_write_text(json, module_key, row ? row->module : NULL);
}

/* The exact call graph. */
static void write_calls(struct json *json, const struct named_profile *named)
{
	const struct named_row *rows = named->by_function.rows;
	if (!named->n_arcs)
		return;
	json_write_open(json, "calls", '[');
	for (size_t i = 0; i < named->n_arcs; i++) {
		const struct named_arc *arc = &named->arcs[i];
		bool begins = arc->caller == UINT32_MAX;
		const struct named_frame *at = begins ? NULL
						      : &named->frames[named->places[arc->place].first_frame];
		json_write_open(json, NULL, '{');
		write_function(json, "caller", "caller_module", begins ? NULL : &rows[arc->caller]);
		json_write_text(json, "caller_file", at ? at->file : NULL);
		if (at && at->line)
			json_write_integer(json, "caller_line", at->line);
		else
			json_write_null(json, "caller_line");
		write_function(json, "callee", "callee_module", &rows[arc->callee]);
		json_write_number(json, "calls", (double)arc->calls);
		json_write_open(json, "inclusive", '[');
		for (size_t e = 0; e < named->profile->n_events; e++)
			json_write_number(json, NULL, (double)arc->inclusive[e]);
		json_write_close(json, ']');
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
}

static void write_texts(struct json *json, const char *key, const char *const *texts, size_t n)
{
	json_write_open(json, key, '[');
	for (size_t i = 0; i < n; i++)
		json_write_text(json, NULL, texts[i]);
	json_write_close(json, ']');
}

void report_profile_json(FILE *out, const struct named_profile *named)
{
	const struct profile *p = named->profile;
	struct json json = {.out = out, .lines = 2};
	size_t words = 0;
	while (p->command && p->command[words])
		words++;
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "tare_profile", VERSION);
	if (p->command)
		write_texts(&json, "command", p->command, words);
	else
		json_write_null(&json, "command");
	json_write_text(&json, "target", p->target);
	json_write_number(&json, "started", (double)p->started_unix);
	write_machine(&json, &p->machine);
	json_write_text(&json, "stacks", profile_stacks_name(p->stacks));
	json_write_number(&json, "confidence", named->confidence);
	write_events(&json, named);
	write_runs(&json, p);
	write_rows(&json, "functions", named, &named->by_function);
	write_rows(&json, "lines", named, &named->by_line);
	write_tasks(&json, "threads", named, &named->by_thread, true);
	write_tasks(&json, "processes", named, &named->by_process, false);
	write_calls(&json, named);
	write_texts(&json, "notes", p->notes, p->n_notes);
	write_texts(&json, "name_notes", named->notes, named->n_notes);
	json_write_close(&json, '}');
}

/* ---- CSV (RFC 4180) ---- */

/* What begins with these acts as a formula where a spreadsheet opens the file: an apostrophe stands before it. */
void profile_csv_text(FILE *out, const char *text)
{
	struct str shown = {0};
	profile_append_escaped(&shown, text ? text : "");
	const char *at = shown.text ? shown.text : "";
	fputs(*at && strchr("=+-@", *at) ? ",\"'" : ",\"", out);
	for (; *at; at++) {
		if (*at == '"')
			fputc('"', out);
		fputc(*at, out);
	}
	fputc('"', out);
	str_free(&shown);
}

static void number_field(FILE *out, double value)
{
	char text[NUMBER_BYTES];
	number_exact(text, value);
	fprintf(out, ",%s", text);
}

static void csv_rows(FILE *out, const struct named_profile *named, const struct named_table *table,
		     const char *kind)
{
	for (size_t e = 0; e < named->profile->n_events; e++) {
		for (size_t i = 0; i < table->n; i++) {
			const struct named_row *row = &table->rows[i];
			const struct named_count *c = &row->counts[e];
			if (!c->self && !c->inclusive)
				continue;
			fprintf(out, "%d,%s", VERSION, kind);
			profile_csv_text(out, named->profile->events[e].label);
			profile_csv_text(out, row->name);
			profile_csv_text(out, row->module);
			profile_csv_text(out, row->file);
			if (row->line)
				fprintf(out, ",%u", row->line);
			else
				fputc(',', out);
			number_field(out, (double)c->self);
			if (c->nested)
				fputc(',', out);
			else
				number_field(out, (double)c->inclusive);
			number_field(out, profile_share(c->self, named->sums[e]));
			if (c->has_interval) {
				number_field(out, c->low);
				number_field(out, c->high);
			} else {
				fputs(",,", out);
			}
			if (c->first_rank)
				fprintf(out, ",%u,%u,,,\r\n", c->first_rank, c->last_rank);
			else
				fputs(",,,,,\r\n", out);
		}
	}
}

/* An arc of the call graph: function and module are the callee's, file and line the call's. */
static void csv_calls(FILE *out, const struct named_profile *named)
{
	const struct named_row *rows = named->by_function.rows;
	for (size_t e = 0; e < named->profile->n_events; e++) {
		for (size_t i = 0; i < named->n_arcs; i++) {
			const struct named_arc *arc = &named->arcs[i];
			bool begins = arc->caller == UINT32_MAX;
			const struct named_frame *at =
				begins ? NULL : &named->frames[named->places[arc->place].first_frame];
			fprintf(out, "%d,call", VERSION);
			profile_csv_text(out, named->profile->events[e].label);
			profile_csv_text(out, rows[arc->callee].name);
			profile_csv_text(out, rows[arc->callee].module);
			profile_csv_text(out, at ? at->file : NULL);
			if (at && at->line)
				fprintf(out, ",%u", at->line);
			else
				fputc(',', out);
			fputc(',', out);
			number_field(out, (double)arc->inclusive[e]);
			number_field(out, profile_share(arc->inclusive[e], named->sums[e]));
			fputs(",,,,", out);
			profile_csv_text(out, begins ? NULL : rows[arc->caller].name);
			profile_csv_text(out, begins ? NULL : rows[arc->caller].module);
			number_field(out, (double)arc->calls);
			fputs("\r\n", out);
		}
	}
}

void report_profile_csv(FILE *out, const struct named_profile *named)
{
	fputs("tare,kind,event,function,module,file,line,self,inclusive,share,low,high,first_rank,last_rank,"
	      "caller,"
	      "caller_module,calls\r\n",
	      out);
	csv_rows(out, named, &named->by_function, "function");
	csv_rows(out, named, &named->by_line, "line");
	csv_rows(out, named, &named->by_thread, "thread");
	csv_rows(out, named, &named->by_process, "process");
	csv_calls(out, named);
}

bool export_json(FILE *out, const struct named_profile *named, const struct export_options *options,
		 struct error *err)
{
	(void)options;
	(void)err;
	report_profile_json(out, named);
	return true;
}

bool export_csv(FILE *out, const struct named_profile *named, const struct export_options *options,
		struct error *err)
{
	(void)options;
	(void)err;
	report_profile_csv(out, named);
	return true;
}
