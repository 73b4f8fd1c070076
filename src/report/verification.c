#include "report/verification.h"

#include <math.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/json_writer.h"
#include "report/number.h"

enum { VERSION = 1, CELL_MOST = 10 };

void report_duration(char *out, size_t out_bytes, double seconds)
{
	if (!(seconds < 90))
		snprintf(out, out_bytes, seconds < 5400 ? "%.0f min" : "%.1f h",
			 seconds < 5400 ? seconds / 60 : seconds / 3600);
	else
		snprintf(out, out_bytes, "%.0f s", seconds);
}

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* The other interface's row with the same verdict, behind this one. */
static const struct kept_verdict *twin_of(const struct verification *v, size_t index)
{
	const struct kept_verdict *row = &v->verdicts.items[index];
	for (size_t i = 0; i < v->verdicts.count; i++) {
		const struct kept_verdict *other = &v->verdicts.items[i];
		if (other != row && same(other->event, row->event) && other->source == row->source &&
		    same(other->machine, row->machine) && same(other->kind, row->kind) &&
		    same(other->text, row->text) && other->witnesses == row->witnesses &&
		    (row->refused > 0) == (other->refused > 0) && same(other->refused_why, row->refused_why))
			return other;
	}
	return NULL;
}

static const char *witnesses_of(unsigned witnesses)
{
	switch (witnesses) {
	case WITNESS_ARITHMETIC: return "arith.";
	case WITNESS_ENGINE: return "engine";
	case WITNESS_ARITHMETIC | WITNESS_ENGINE: return "both";
	default: return "none";
	}
}

static const char *source_cell(struct document *d, const struct kept_verdict *row)
{
	return row->machine ? document_printf(d, "%s", row->machine) : source_name(row->source);
}

/* What a cell has room for; sentences below say the rest. */
static bool is_short(const struct kept_verdict *row) { return strlen(row->text) <= CELL_MOST; }

static const char *verdict_cell(struct document *d, const struct kept_verdict *row)
{
	const char *text = row->text[0] && is_short(row) ? document_printf(d, "%s %s", row->kind, row->text)
							 : row->kind;
	return text ? document_escaped(d, text) : NULL;
}

static void push(struct document *d, struct columns *columns, const struct columns_row *row)
{
	if (!vec_push(&columns->rows, *row))
		d->failed = true;
}

static void add_table(struct document *d, const struct verification *v)
{
	static const char *const headings[] = {"event", "source", "via", "witness", "verdict"};
	struct columns *columns = document_add_columns(d, 5);
	if (!columns)
		return;
	for (size_t i = 0; i < 5; i++) {
		columns->headings[i] = headings[i];
		columns->left[i] = true;
	}
	columns->flexible = 0;
	for (size_t i = 0; i < v->verdicts.count; i++) {
		const struct kept_verdict *row = &v->verdicts.items[i], *twin = twin_of(v, i);
		if (twin && twin < row)
			continue;
		push(d, columns,
		     &(struct columns_row){.cells = {document_escaped(d, row->event), source_cell(d, row),
						     twin ? "both" : row->interface, witnesses_of(row->witnesses),
						     verdict_cell(d, row)},
					   .emphasis = row->fault});
	}
}

/* A sentence for each verdict that a cell has no room for. */
static void add_sentences(struct document *d, const struct verification *v, bool faults)
{
	for (size_t i = 0; i < v->verdicts.count; i++) {
		const struct kept_verdict *row = &v->verdicts.items[i], *twin = twin_of(v, i);
		if (!row->text[0] || row->fault != faults || (twin && twin < row) || (!faults && is_short(row)))
			continue;
		document_add(d, BLOCK_NOTE, faults ? "!" : "-",
			     document_printf(d, "%s (%s, %s) %s%s: %s", row->event, source_cell(d, row),
					     twin ? "both" : row->interface,
					     strncmp(row->kind, "counts", 6) == 0 ? "" : "is ", row->kind,
					     row->text));
	}
}

/* Executions that gave no count, where other executions counted the same event. */
static void add_refusals(struct document *d, const struct verification *v)
{
	for (size_t i = 0; i < v->verdicts.count; i++) {
		const struct kept_verdict *row = &v->verdicts.items[i], *twin = twin_of(v, i);
		size_t refused = row->refused + (twin ? twin->refused : 0);
		if (!row->refused || row->refused == row->refused_of || (twin && twin < row))
			continue;
		document_add(d, BLOCK_NOTE, "-",
			     document_printf(d, "%s (%s, %s) was not counted in %zu of %zu executions: %s",
					     row->event, source_cell(d, row), twin ? "both" : row->interface,
					     refused, row->refused_of + (twin ? twin->refused_of : 0),
					     row->refused_why));
	}
}

static void add_list(struct document *d, const struct verification *v)
{
	struct str text = {0};
	if (!v->without_stimulus.count)
		return;
	str_append(&text, "No kernel that ran moves these, so nothing is said of them: ");
	for (size_t i = 0; i < v->without_stimulus.count; i++)
		str_appendf(&text, "%s%s", i ? ", " : "", v->without_stimulus.items[i]);
	str_append(&text, ".");
	const char *kept = document_str(d, &text);
	if (kept)
		document_add(d, BLOCK_NOTE, "-", kept);
}

static size_t count_faults(const struct verification *v)
{
	size_t n = 0;
	for (size_t i = 0; i < v->verdicts.count; i++)
		n += v->verdicts.items[i].fault;
	return n;
}

static void add_summary(struct document *d, const struct verification *v)
{
	char took[32];
	size_t faults = count_faults(v);
	unsigned witnesses = 0;
	bool counters = false;
	for (size_t i = 0; i < v->verdicts.count; i++) {
		const struct kept_verdict *row = &v->verdicts.items[i];
		witnesses |= row->witnesses | (row->source == SOURCE_EXACT ? (unsigned)WITNESS_ENGINE : 0);
		counters |= row->source == SOURCE_HW || row->source == SOURCE_OS;
	}
	report_duration(took, sizeof took, v->seconds - v->resumed_seconds);
	document_add(
		d, BLOCK_NOTE, "-",
		document_printf(d, "%zu kernel%s, %zu executions in %s%s (the %s grid). Witnesses: %s%s%s.",
				v->kernels, v->kernels == 1 ? "" : "s", v->executions, took,
				v->resumed ? " since it went on" : "", v->grid, "arithmetic",
				witnesses & WITNESS_ENGINE ? ", tare's engine" : "",
				counters ? ", the counters of this machine" : "; no counters of this machine"));
	if (faults)
		document_add(d, BLOCK_NOTE, "!",
			     document_printf(d, "%zu verdict%s against a counter: do not rely on its numbers.",
					     faults, faults == 1 ? " is" : "s are"));
	if (v->id)
		document_add(
			d, BLOCK_NOTE, "-",
			document_printf(
				d, "Kept as verification %lld: reports of this machine now say what was verified.",
				(long long)v->id));
}

void report_verification_text(FILE *out, const struct verification *v, const struct report_options *options)
{
	struct document d = {0};
	document_add(&d, BLOCK_GAP, NULL, NULL);
	document_add(&d, BLOCK_TITLE, "tare verify:",
		     document_printf(&d, "%s, %s", v->facts.cpu ? v->facts.cpu : "unknown CPU",
				     v->facts.kernel ? v->facts.kernel : "unknown kernel"));
	document_add(&d, BLOCK_GAP, NULL, NULL);
	add_table(&d, v);
	document_add(&d, BLOCK_GAP, NULL, NULL);
	add_sentences(&d, v, true);
	add_sentences(&d, v, false);
	add_refusals(&d, v);
	add_list(&d, v);
	add_summary(&d, v);
	report_document_text(out, &d, options);
	document_free(&d);
}

/* ---- JSON ---- */

static void write_witnesses(struct json *json, unsigned witnesses)
{
	json_write_open(json, "witnesses", '[');
	if (witnesses & WITNESS_ARITHMETIC)
		json_write_text(json, NULL, "arithmetic");
	if (witnesses & WITNESS_ENGINE)
		json_write_text(json, NULL, "engine");
	json_write_close(json, ']');
}

static void write_verdict(struct json *json, const struct kept_verdict *row)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "event", row->event);
	json_write_text(json, "interface", row->interface);
	json_write_text(json, "source", source_name(row->source));
	json_write_text(json, "machine", row->machine);
	json_write_text(json, "verdict", row->kind);
	json_write_text(json, "shape", row->shape[0] ? row->shape : NULL);
	json_write_text(json, "text", row->text);
	json_write_number(json, "factor", row->shape[0] ? row->factor : NAN);
	json_write_number(json, "offset", row->offset);
	json_write_number(json, "half_width", row->half_width);
	json_write_number(json, "usable_from", row->usable_from);
	json_write_number(json, "error", row->error);
	json_write_number(json, "least", row->least);
	json_write_number(json, "most", row->most);
	write_witnesses(json, row->witnesses);
	json_write_integer(json, "kernels", (int64_t)row->kernels);
	json_write_integer(json, "points", (int64_t)row->points);
	json_write_integer(json, "executions", (int64_t)row->executions);
	json_write_integer(json, "refused", (int64_t)row->refused);
	json_write_integer(json, "refused_of", (int64_t)row->refused_of);
	json_write_text(json, "refused_why", row->refused_why);
	json_write_bool(json, "fault", row->fault);
	json_write_close(json, '}');
}

static void write_point(struct json *json, const struct kept_point *p)
{
	json_write_open(json, NULL, '{');
	json_write_text(json, "kernel", p->kernel);
	json_write_integer(json, "size", (int64_t)p->size);
	json_write_text(json, "event", p->event);
	json_write_text(json, "interface", p->interface);
	json_write_text(json, "source", source_name(p->source));
	json_write_number(json, "predicted", p->predicted);
	json_write_open(json, "observed", '[');
	for (size_t i = 0; i < p->n_observed; i++)
		json_write_number(json, NULL, p->observed[i]);
	json_write_close(json, ']');
	json_write_integer(json, "refused", (int64_t)p->refused);
	json_write_text(json, "refused_why", p->refused_why);
	json_write_close(json, '}');
}

void report_verification_json(FILE *out, const struct verification *v)
{
	struct json json = {.out = out, .lines = 2};
	json_write_open(&json, NULL, '{');
	json_write_integer(&json, "version", VERSION);
	json_write_text(&json, "cpu", v->facts.cpu);
	json_write_text(&json, "microcode", v->microcode);
	json_write_text(&json, "kernel", v->facts.kernel);
	json_write_text(&json, "tare", v->tare_version);
	json_write_text(&json, "grid", v->grid);
	json_write_text(&json, "backends", v->on);
	json_write_integer(&json, "kernels", (int64_t)v->kernels);
	json_write_integer(&json, "executions", (int64_t)v->executions);
	json_write_number(&json, "seconds", v->seconds);
	json_write_number(&json, "predicted_seconds", v->predicted_seconds);
	json_write_number(&json, "resumed_seconds", v->resumed_seconds);
	json_write_number(&json, "cpu_seconds", v->cpu_seconds);
	json_write_number(&json, "predicted_cpu_seconds", v->predicted_cpu_seconds);
	if (v->id)
		json_write_integer(&json, "verification", v->id);
	else
		json_write_null(&json, "verification");
	json_write_integer(&json, "resumed_points", (int64_t)v->resumed);
	json_write_open(&json, "verdicts", '[');
	for (size_t i = 0; i < v->verdicts.count; i++)
		write_verdict(&json, &v->verdicts.items[i]);
	json_write_close(&json, ']');
	json_write_open(&json, "without_stimulus", '[');
	for (size_t i = 0; i < v->without_stimulus.count; i++)
		json_write_text(&json, NULL, v->without_stimulus.items[i]);
	json_write_close(&json, ']');
	json_write_open(&json, "points", '[');
	for (size_t i = 0; i < v->points.count; i++)
		write_point(&json, &v->points.items[i]);
	json_write_close(&json, ']');
	json_write_close(&json, '}');
	fputc('\n', out);
}
