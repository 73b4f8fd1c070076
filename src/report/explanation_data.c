/* An explanation as JSON and CSV. */
#include <math.h>

#include "report/csv_columns.h"
#include "report/explanation.h"
#include "report/explanation_data.h"

enum { VERSION = 1 };

static void write_bounded(struct json *json, const char *key, const struct bounded *b)
{
	json_write_open(json, key, '{');
	json_write_number(json, "typical", b->typical);
	json_write_number(json, "least", b->least);
	json_write_number(json, "most", b->most);
	json_write_close(json, '}');
}

static void write_part(struct json *json, const struct explained_part *part)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "event", part->event);
	json_write_text(json, "operation", part->operation);
	json_write_number(json, "count", part->counted ? part->count : NAN);
	json_write_text(json, "source", part->counted ? source_name(part->source) : NULL);
	json_write_text(json, "machine", part->machine);
	write_bounded(json, "cost_seconds", &part->cost);
	write_bounded(json, "seconds", &part->seconds);
	json_write_text(json, "cost_source", part->cost_source);
	json_write_text(json, "why", part->why);
	json_write_close(json, '}');
}

static void write_cause(struct json *json, const struct explained_cause *cause)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "cause", cause_name(cause->cause));
	json_write_text(json, "from", cause->measured ? "measurement" : "counts");
	json_write_number(json, "typical", cause->known ? cause->seconds.typical : NAN);
	json_write_number(json, "least", cause->known ? cause->seconds.least : NAN);
	json_write_number(json, "most", cause->known ? cause->seconds.most : NAN);
	json_write_text(json, "why", cause->why);
	json_write_open(json, "parts", '[');
	for (size_t i = 0; i < cause->n_parts; i++)
		write_part(json, &cause->parts[i]);
	json_write_close(json, ']');
	json_write_close(json, '}');
}

static void write_measured(struct json *json, const struct explanation *e)
{
	if (!e->has_measured) {
		json_write_null(json, "measured");
		return;
	}
	json_write_open(json, "measured", '{');
	json_write_number(json, "elapsed_seconds", e->elapsed_s);
	json_write_number(json, "user_seconds", e->user_s);
	json_write_number(json, "system_seconds", e->system_s);
	json_write_number(json, "not_running_seconds", e->not_running_s);
	json_write_number(json, "waiting_seconds", e->waiting_s);
	json_write_number(json, "total_seconds", e->total_s);
	json_write_integer(json, "threads", (int64_t)e->threads_most);
	json_write_close(json, '}');
}

static void write_place(struct json *json, const struct explained_place *place)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "name", place->name);
	json_write_text(json, "module", place->module);
	json_write_text(json, "file", place->file);
	json_write_integer(json, "line", place->line);
	json_write_text(json, "kind", place->kind);
	json_write_number(json, "seconds", place->sum);
	json_write_open(json, "causes", '{');
	for (unsigned c = 0; c < CAUSES_COUNTED; c++)
		if (!isnan(place->seconds[c]))
			json_write_number(json, cause_name((enum cause)c), place->seconds[c]);
	json_write_close(json, '}');
	json_write_close(json, '}');
}

static void write_advice(struct json *json, const struct explained_advice *a)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "rule", a->rule);
	json_write_text(json, "text", a->text);
	json_write_text(json, "evidence", a->evidence);
	json_write_text(json, "function", a->function);
	json_write_text(json, "file", a->file);
	json_write_integer(json, "line", a->line);
	json_write_text(json, "why_no_line", a->why_no_line);
	json_write_number(json, "seconds", a->seconds);
	json_write_number(json, "share", a->share);
	json_write_close(json, '}');
}

static void write_stack(struct json *json, const char **functions, size_t n, const char *file, unsigned line)
{
	json_write_open(json, "functions", '[');
	for (size_t i = 0; i < n; i++)
		json_write_text(json, NULL, functions[i]);
	json_write_close(json, ']');
	json_write_text(json, "file", file);
	json_write_integer(json, "line", line);
}

static void write_wait(struct json *json, const struct explained_wait *w)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "cause", cause_name(w->cause));
	json_write_number(json, "seconds", w->seconds);
	json_write_integer(json, "waits", (int64_t)w->times);
	write_stack(json, w->functions, w->n_functions, w->file, w->line);
	json_write_close(json, '}');
}

static void write_waits(struct json *json, const struct explanation *e)
{
	if (!e->has_waits) {
		json_write_null(json, "waits");
		return;
	}
	json_write_open(json, "waits", '{');
	json_write_number(json, "seconds", e->waits_s);
	json_write_number(json, "ready_seconds", e->preempted_s);
	json_write_open(json, "places", '[');
	for (size_t i = 0; i < e->waits.count; i++)
		write_wait(json, &e->waits.items[i]);
	json_write_close(json, ']');
	json_write_open(json, "page_faults", '[');
	for (size_t i = 0; i < e->faults.count; i++) {
		json_write_open(json, NULL, '{');
		json_write_text(json, "function", e->faults.items[i].function);
		json_write_text(json, "file", e->faults.items[i].file);
		json_write_integer(json, "line", e->faults.items[i].line);
		json_write_integer(json, "faults", (int64_t)e->faults.items[i].faults);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
	json_write_close(json, '}');
}

static void write_calls(struct json *json, const struct explanation *e)
{
	if (!e->has_calls) {
		json_write_null(json, "system_calls");
		return;
	}
	json_write_open(json, "system_calls", '{');
	json_write_number(json, "seconds", e->calls_s);
	json_write_open(json, "calls", '[');
	for (size_t i = 0; i < e->calls.count; i++) {
		json_write_open(json, NULL, '{');
		json_write_text(json, "name", e->calls.items[i].name);
		json_write_integer(json, "count", (int64_t)e->calls.items[i].count);
		json_write_number(json, "seconds", e->calls.items[i].seconds);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
	json_write_open(json, "places", '[');
	for (size_t i = 0; i < e->call_places.count; i++) {
		const struct explained_call *call = &e->call_places.items[i];
		json_write_open(json, NULL, '{');
		json_write_text(json, "name", call->name);
		json_write_integer(json, "count", (int64_t)call->count);
		json_write_number(json, "seconds", call->seconds);
		write_stack(json, call->functions, call->n_functions, call->file, call->line);
		json_write_close(json, '}');
	}
	json_write_close(json, ']');
	json_write_close(json, '}');
}

static void write_arrays(struct json *json, const struct explanation *e)
{
	json_write_open(json, "causes", '[');
	for (unsigned c = 0; c < CAUSES; c++)
		write_cause(json, &e->causes[c]);
	json_write_close(json, ']');
	json_write_text(json, "by", e->by ? breakdown_by_name(e->by) : NULL);
	json_write_open(json, "places", '[');
	for (size_t i = 0; i < e->n_places; i++)
		write_place(json, &e->places[i]);
	json_write_close(json, ']');
	write_waits(json, e);
	json_write_text(json, "why_no_waits", e->why_no_waits);
	write_calls(json, e);
	json_write_text(json, "why_no_system_calls", e->why_no_calls);
	json_write_open(json, "advice", '[');
	for (size_t i = 0; i < e->advice.count; i++)
		write_advice(json, &e->advice.items[i]);
	json_write_close(json, ']');
	json_write_open(json, "notes", '[');
	for (size_t i = 0; i < e->notes.count; i++)
		json_write_text(json, NULL, e->notes.items[i].text);
	json_write_close(json, ']');
}

void explanation_write_json(struct json *json, const char *key, const struct explanation *e)
{
	json_write_open(json, key, '{');
	json_write_integer(json, "tare_explanation", VERSION);
	json_write_open(json, "command", '[');
	for (const char *const *word = e->command; *word; word++)
		json_write_text(json, NULL, *word);
	json_write_close(json, ']');
	json_write_text(json, "on", e->on);
	json_write_text(json, "costs_of", e->machine);
	json_write_text(json, "costs_from", e->costs_source);
	json_write_number(json, "confidence", e->confidence);
	write_measured(json, e);
	json_write_open(json, "sum", '{');
	json_write_number(json, "typical", e->sum_typical);
	json_write_number(json, "least", e->sum_least);
	json_write_number(json, "most", e->sum_most);
	json_write_close(json, '}');
	json_write_number(json, "unexplained_seconds", e->unexplained_s);
	json_write_number(json, "overlap_seconds", e->overlap_s);
	write_arrays(json, e);
	json_write_close(json, '}');
}

void report_explanation_json(FILE *out, const struct explanation *e)
{
	struct json json = {.out = out, .lines = 2};
	explanation_write_json(&json, NULL, e);
	fputc('\n', out);
}

/* ---- CSV ---- */

static void csv_row(FILE *out, const char *kind, const char *cause, const char *name,
		    const struct bounded *seconds, bool known)
{
	fprintf(out, "1,%s", kind);
	csv_text(out, cause);
	csv_text(out, name);
	csv_number(out, known, seconds->typical);
	csv_number(out, known, seconds->least);
	csv_number(out, known, seconds->most);
}

/* The columns of an event, empty for other rows; and the line's end. */
static void csv_part(FILE *out, const struct explained_part *part, const char *why, const char *value)
{
	csv_number(out, part && part->counted, part ? part->count : NAN);
	csv_number(out, part != NULL, part ? part->cost.typical : NAN);
	csv_text(out, part && part->counted ? source_name(part->source) : "");
	csv_text(out, part ? part->why : why);
	if (value)
		csv_text(out, value);
	fputs("\r\n", out);
}

static void csv_measured(FILE *out, const char *name, double seconds, const char *value)
{
	csv_row(out, "measured", "", name, &(struct bounded){seconds, NAN, NAN}, true);
	csv_part(out, NULL, "", value);
}

void explanation_write_csv_head(FILE *out, bool with_value)
{
	fprintf(out, "tare,kind,cause,name,seconds,least,most,count,cost_seconds,source,why%s\r\n",
		with_value ? ",value" : "");
}

void explanation_write_csv(FILE *out, const struct explanation *e, const char *value)
{
	for (unsigned c = 0; c < CAUSES; c++) {
		const struct explained_cause *cause = &e->causes[c];
		csv_row(out, "cause", cause_name((enum cause)c), "", &cause->seconds, cause->known);
		csv_part(out, NULL, cause->why, value);
		for (size_t i = 0; i < cause->n_parts; i++) {
			csv_row(out, "event", cause_name((enum cause)c), cause->parts[i].event,
				&cause->parts[i].seconds, true);
			csv_part(out, &cause->parts[i], NULL, value);
		}
	}
	if (e->has_measured) {
		csv_measured(out, "elapsed", e->elapsed_s, value);
		csv_measured(out, "user", e->user_s, value);
		csv_measured(out, "system", e->system_s, value);
		csv_measured(out, "total", e->total_s, value);
	}
	csv_measured(out, "unexplained", e->unexplained_s, value);
	csv_measured(out, "overlap", e->overlap_s, value);
	for (size_t i = 0; i < e->n_places; i++)
		for (unsigned c = 0; c < CAUSES_COUNTED; c++)
			if (e->places[i].seconds[c] > 0) {
				csv_row(out, "place", cause_name((enum cause)c), e->places[i].name,
					&(struct bounded){e->places[i].seconds[c], NAN, NAN}, true);
				csv_part(out, NULL, "", value);
			}
	for (size_t i = 0; i < e->advice.count; i++) {
		const struct explained_advice *a = &e->advice.items[i];
		csv_row(out, "advice", a->rule, a->function, &(struct bounded){a->seconds, NAN, NAN}, true);
		csv_part(out, NULL, a->evidence, value);
	}
}

void report_explanation_csv(FILE *out, const struct explanation *e)
{
	explanation_write_csv_head(out, false);
	explanation_write_csv(out, e, NULL);
}
