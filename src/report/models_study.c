#include "report/models_study.h"

#include <math.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/json_writer.h"
#include "report/number.h"

enum { VERSION = 1 };

static size_t programs_compared(const struct models_study *study, bool kernels)
{
	size_t n = 0;
	for (size_t i = 0; i < study->n_programs; i++)
		n += !study->programs[i].why && study->programs[i].kernel == kernels;
	return n;
}

/* "-12 %"; four times as many: "+300 %" */
static const char *percent(struct document *d, double error)
{
	double value = 100 * error;
	if (isnan(error))
		return "–";
	return document_printf(d, fabs(value) < 9.95 ? "%+.1f %%" : "%+.0f %%", fabs(value) < 0.05 ? 0.0 : value);
}

static const char *percent_in(struct document *d, double error, const char *program)
{
	return program ? document_printf(d, "%s %s", percent(d, error), program) : "–";
}

static void add_events(struct document *d, const struct models_study *study)
{
	static const char *const headings[] = {"event", "programs", "median", "least", "most", "within 10 %"};
	enum { COLUMNS = sizeof headings / sizeof *headings };
	struct columns *columns = document_add_columns(d, COLUMNS);
	if (!columns)
		return;
	for (size_t i = 0; i < COLUMNS; i++)
		columns->headings[i] = headings[i];
	columns->left[0] = columns->left[3] = columns->left[4] = true;
	columns->flexible = 0;
	columns->folds = true;
	for (size_t i = 0; i < study->n_events; i++) {
		const struct models_event *e = &study->events[i];
		const struct columns_row row = {
			.cells = {document_printf(d, "%s%s", e->label,
						  e->compared ? trust_mark(e->trust, SOURCE_HW) : ""),
				  document_printf(d, "%zu", e->compared), percent(d, e->median),
				  percent_in(d, e->least, e->least_in), percent_in(d, e->most, e->most_in),
				  e->compared ? document_printf(d, "%zu", e->within_tenth) : "–"}};
		if (!vec_push(&columns->rows, row))
			d->failed = true;
	}
}

/* Programs that could not be compared; those with the same reason in one note. */
static void add_reasons(struct document *d, const struct models_study *study)
{
	for (size_t i = 0; i < study->n_programs; i++) {
		const char *why = study->programs[i].why;
		struct str text = {0};
		bool told = false;
		for (size_t k = 0; why && k < i; k++)
			told |= study->programs[k].why && strcmp(study->programs[k].why, why) == 0;
		if (!why || told)
			continue;
		str_appendf(&text, "Not compared: %s", study->programs[i].name);
		for (size_t k = i + 1; k < study->n_programs; k++)
			if (study->programs[k].why && strcmp(study->programs[k].why, why) == 0)
				str_appendf(&text, ", %s", study->programs[k].name);
		str_appendf(&text, " (%s).", why);
		document_add_str(d, BLOCK_NOTE, "-", &text, NULL);
	}
}

static void add_suspects(struct document *d, const struct models_study *study)
{
	for (size_t i = 0; i < study->n_events; i++) {
		const struct models_event *e = &study->events[i];
		if (e->compared && (e->trust == TRUST_REFUTED || e->trust == TRUST_BIASED))
			document_add(d, BLOCK_NOTE, "!",
				     document_printf(d,
						     "The counter of %s is %s itself ('tare verify'): its error "
						     "is not the model's "
						     "alone.",
						     e->label, trust_name(e->trust)));
	}
}

static void add_notes(struct document *d, const struct models_study *study)
{
	const size_t kernels = programs_compared(study, true), programs = programs_compared(study, false);
	add_suspects(d, study);
	document_add(
		d, BLOCK_NOTE, "-",
		"Errors: the model's count against the counter's mean, as a share of the counter's. - is a model "
		"that counts too few.");
	document_add(d, BLOCK_NOTE, "-",
		     document_printf(d,
				     "Programs in which a counter shows fewer than %.0f events are left out of "
				     "that event's row.",
				     MODELS_LEAST_EVENTS));
	if (study->not_modelled)
		document_add(d, BLOCK_NOTE, "-",
			     document_printf(d, "%zu more event%s modelled, and no counter here counts %s.",
					     study->not_modelled, study->not_modelled == 1 ? " is" : "s are",
					     study->not_modelled == 1 ? "it" : "them"));
	add_reasons(d, study);
	document_add(d, BLOCK_NOTE, "-",
		     document_printf(d, "%zu kernel%s, %zu program%s, %zu execution%s, at user level.", kernels,
				     kernels == 1 ? "" : "s", programs, programs == 1 ? "" : "s",
				     study->executions, study->executions == 1 ? "" : "s"));
}

void report_models_text(FILE *out, const struct models_study *study, const struct report_options *options)
{
	struct document d = {0};
	document_add(&d, BLOCK_GAP, NULL, NULL);
	document_add(&d, BLOCK_TITLE, "tare verify models:",
		     document_printf(&d, "the model '%s' against the counters of %s, %s", study->model,
				     study->facts.cpu ? study->facts.cpu : "unknown CPU",
				     study->facts.kernel ? study->facts.kernel : "unknown kernel"));
	document_add(&d, BLOCK_GAP, NULL, NULL);
	add_events(&d, study);
	document_add(&d, BLOCK_GAP, NULL, NULL);
	add_notes(&d, study);
	report_document_text(out, &d, options);
	document_free(&d);
}

/* ---- JSON ---- */

static void write_event(struct json *json, const struct models_event *e)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "event", e->label);
	json_write_text(json, "trust", e->compared ? trust_name(e->trust) : NULL);
	json_write_integer(json, "compared", (int64_t)e->compared);
	json_write_integer(json, "too_few", (int64_t)e->too_few);
	json_write_integer(json, "unknown", (int64_t)e->unknown);
	json_write_number(json, "median_error", e->median);
	json_write_number(json, "least_error", e->least);
	json_write_text(json, "least_in", e->least_in);
	json_write_number(json, "most_error", e->most);
	json_write_text(json, "most_in", e->most_in);
	json_write_integer(json, "within_10_percent", (int64_t)e->within_tenth);
	json_write_integer(json, "within_50_percent", (int64_t)e->within_half);
	json_write_integer(json, "inside_interval", (int64_t)e->inside);
	json_write_close(json, '}');
}

static void write_pair(struct json *json, const char *event, const struct models_pair *pair)
{
	static const char *const states[] = {"compared", "too few", "unknown"};
	json_write_open(json, NULL, '{');
	json_write_text(json, "event", event);
	json_write_text(json, "state", states[pair->state]);
	json_write_number(json, "model", pair->model);
	json_write_number(json, "counter", pair->counter);
	json_write_number(json, "low", pair->low);
	json_write_number(json, "high", pair->high);
	json_write_number(json, "error", pair->error);
	if (pair->why)
		json_write_text(json, "why", pair->why);
	json_write_close(json, '}');
}

static void write_program(struct json *json, const struct models_study *study, const struct models_program *p)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "program", p->name);
	json_write_bool(json, "kernel", p->kernel);
	json_write_text(json, "why", p->why);
	json_write_open(json, "events", '[');
	for (size_t i = 0; !p->why && i < study->n_events; i++)
		write_pair(json, study->events[i].label, &p->pairs[i]);
	json_write_close(json, ']');
	json_write_close(json, '}');
}

void report_models_json(FILE *out, const struct models_study *study)
{
	struct json json = {.out = out, .lines = 3};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "version", VERSION);
	json_write_text(&json, "model", study->model);
	json_write_text(&json, "counters", study->counters);
	json_write_text(&json, "cpu", study->facts.cpu);
	json_write_text(&json, "kernel", study->facts.kernel);
	json_write_text(&json, "grid", study->quick ? "quick" : "full");
	json_write_integer(&json, "executions", (int64_t)study->executions);
	json_write_open(&json, "events", '[');
	for (size_t i = 0; i < study->n_events; i++)
		write_event(&json, &study->events[i]);
	json_write_close(&json, ']');
	json_write_open(&json, "programs", '[');
	for (size_t i = 0; i < study->n_programs; i++)
		write_program(&json, study, &study->programs[i]);
	json_write_close(&json, ']');
	json_write_close(&json, '}');
	fputc('\n', out);
}
