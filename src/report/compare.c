/* A comparison as data: of each event a row with the baseline's value, and one below it for each other command. */
#include "report/compare.h"

#include <math.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/number.h"
#include "report/origin.h"
#include "report/table.h"

enum { COLUMN_NAME, COLUMN_VALUE, COLUMN_SPREAD, COLUMN_DIFFERENCE, COLUMN_VERDICT, COLUMNS_OF_TABLE };
enum { COMMAND_SHOWN_BYTES = 300, LABEL_COLUMNS = 20 };

static void push(struct document *d, struct columns *columns, const struct columns_row *row)
{
	if (!vec_push(&columns->rows, *row))
		d->failed = true;
}

/* "+1.2", with the minus sign of typography. */
static const char *signed_number(struct document *d, double value, int decimals)
{
	char number[NUMBER_BYTES];
	number_group(number, fabs(value), decimals);
	bool zero = strspn(number, "0.,") == strlen(number);
	return document_printf(d, "%s%s", zero ? "" : value < 0 ? "\u2212" : "+", number);
}

static int decimals_of_percent(double percent, double half)
{
	double size = fabs(percent);
	if (half > 0 && isfinite(half)) {
		int decimals = number_half_width_decimals(half, 0);
		return decimals > 4 ? 4 : decimals;
	}
	return size == 0 ? 0 : size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 5;
}

static const char *percent_text(struct document *d, double percent)
{
	char number[NUMBER_BYTES];
	number_group(number, percent, percent >= 10 ? 0 : percent >= 1 ? 1 : percent >= 0.01 ? 2 : 4);
	return document_printf(d, "%s", number);
}

const char *gate_outcome_text(enum gate_outcome outcome)
{
	switch (outcome) {
	case GATE_PASSED: return "passed";
	case GATE_FAILED: return "FAILED";
	case GATE_UNDECIDED: return "cannot tell";
	}
	return "cannot tell";
}

const char *comparison_verdict_text(struct document *d, const struct compared *c)
{
	switch (c->verdict) {
	case COMPARISON_UNKNOWN: return c->has_numbers ? "too few runs" : "not compared";
	case COMPARISON_EQUAL: return "equal";
	case COMPARISON_LESS: return c->misleading ? "less (misleading)" : "less";
	case COMPARISON_MORE: return c->misleading ? "more (misleading)" : "more";
	case COMPARISON_WITHIN_FLOOR:
		return document_printf(d, "in the noise (%s %%)", percent_text(d, 100 * c->floor));
	case COMPARISON_NONE_SEEN:
		if (!isfinite(c->detectable))
			return "none seen";
		return document_printf(d, "none \u2265 %s %%", percent_text(d, 100 * c->detectable));
	}
	return "";
}

const char *comparison_difference_text(struct document *d, const struct compared *c)
{
	if (!c->has_numbers)
		return NULL;
	if (!isfinite(c->relative)) { /* from 0: in the event's unit */
		struct number_scale scale = number_scale_of(c->estimate, false);
		return document_printf(d, "%s%s%s", signed_number(d, c->difference * scale.factor, scale.decimals),
				       scale.unit[0] ? " " : "", scale.unit);
	}
	double percent = 100 * c->relative, low = 100 * c->relative_low, high = 100 * c->relative_high;
	if (!c->has_relative)
		return document_printf(d, "%s %%", signed_number(d, percent, decimals_of_percent(percent, 0)));
	double below = percent - low, above = high - percent, half = fmax(below, above);
	if (half == 0)
		return document_printf(d, "%s \u00b1 0 %%",
				       signed_number(d, percent, decimals_of_percent(percent, 0)));
	int decimals = decimals_of_percent(percent, half);
	if (half > 999.5)
		return document_printf(d, "%s %%", signed_number(d, percent, 0));
	if (fabs(above - below) > 0.1 * half)
		return document_printf(d, "%s \u2026 %s %%", signed_number(d, low, decimals),
				       signed_number(d, high, decimals));
	char number[NUMBER_BYTES];
	number_group(number, half, decimals);
	return document_printf(d, "%s \u00b1 %s %%", signed_number(d, percent, decimals), number);
}

/* ---- one row ---- */

static void fill_value(struct document *d, struct columns_row *row, const struct estimate *e,
		       const struct number_units *units, bool is_metric, bool marked)
{
	char number[NUMBER_BYTES];
	if (!e || !e->known) {
		row->cells[COLUMN_VALUE] = "-";
		return;
	}
	struct number_scale scale = number_scale_in(units, e, is_metric);
	number_group(number, e->value * scale.factor, scale.decimals);
	/* numbers stay below each other */
	const char *mark = trust_mark(e->trust, e->source);
	row->cells[COLUMN_VALUE] = document_printf(d, "%s%s%s%s", number, scale.unit[0] ? " " : "", scale.unit,
						   mark[0] || !marked ? mark : " ");
	if (!e->has_interval) {
		row->cells[COLUMN_SPREAD] = "\u00b1?";
		return;
	}
	double half = fmax(e->high - e->value, e->value - e->low) * scale.factor;
	number_group(number, half, half > 0 ? number_half_width_decimals(half, scale.decimals) : 0);
	row->cells[COLUMN_SPREAD] = document_printf(d, "\u00b1 %s", number);
}

static const char *label_of(struct document *d, const struct comparison *c, size_t i)
{
	struct str shown = {0};
	columns_shorten(&shown, document_escaped(d, c->names[i]), LABEL_COLUMNS);
	const char *label = document_str(d, &shown);
	return label ? label : "";
}

/* An event that no command has counted is one line. */
static bool is_counted_anywhere(const struct comparison *c, const struct comparison_row *row)
{
	for (size_t i = 0; i < c->n; i++)
		if (row->commands[i].estimate && row->commands[i].estimate->known)
			return true;
	return false;
}

static struct columns_range range_of(const struct compared *c)
{
	bool ends = c->has_numbers && c->has_relative;
	return (struct columns_range){.known = c->has_numbers && isfinite(c->relative),
				      .at = 100 * c->relative,
				      .low = ends ? 100 * c->relative_low : -INFINITY,
				      .high = ends ? 100 * c->relative_high : INFINITY,
				      .floor = 100 * c->floor,
				      .sign = c->verdict == COMPARISON_LESS   ? -1
					      : c->verdict == COMPARISON_MORE ? 1
									      : 0};
}

static void add_row(struct document *d, struct columns *columns, const struct comparison *c,
		    const struct comparison_row *row, const struct number_units *units, bool marked)
{
	struct columns_row first = {.cells = {[COLUMN_NAME] = document_escaped(d, row->event)}};
	if (!is_counted_anywhere(c, row)) {
		first.cells[COLUMN_VALUE] = "-";
		first.cells[COLUMN_VERDICT] = "not counted";
		push(d, columns, &first);
		return;
	}
	fill_value(d, &first, row->commands[0].estimate, units, row->is_metric, marked);
	push(d, columns, &first);
	for (size_t i = 1; i < c->n; i++) {
		const struct compared *one = &row->commands[i];
		struct columns_row other = {
			.cells = {[COLUMN_NAME] = document_printf(d, "  %s", label_of(d, c, i))}};
		fill_value(d, &other, one->estimate, units, row->is_metric, marked);
		other.cells[COLUMN_DIFFERENCE] = comparison_difference_text(d, one);
		other.cells[COLUMN_VERDICT] = comparison_verdict_text(d, one);
		other.place = COLUMNS_BELOW;
		other.range = range_of(one);
		other.emphasis = one->verdict == COMPARISON_LESS || one->verdict == COMPARISON_MORE;
		push(d, columns, &other);
	}
}

/* ---- tables ---- */

static bool equal(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static void add_table(struct document *d, const struct comparison *c, const char *region, bool metrics)
{
	struct number_units units = {0};
	struct columns *columns = NULL;
	bool marked = false;
	for (size_t i = 0; i < c->n_rows; i++)
		for (size_t j = 0; j < c->n; j++) {
			const struct estimate *e = c->rows[i].commands[j].estimate;
			if (!e || !equal(c->rows[i].region, region))
				continue;
			number_units_add(&units, e);
			marked |= e->known && trust_mark(e->trust, e->source)[0];
		}
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct comparison_row *row = &c->rows[i];
		if (row->is_metric != metrics || !equal(row->region, region))
			continue;
		if (!columns) {
			document_add(d, BLOCK_GAP, NULL, NULL);
			if (region)
				document_add(d, BLOCK_SUBTITLE, "region", region);
			if (!(columns = document_add_columns(d, COLUMNS_OF_TABLE)))
				return;
			columns->headings[COLUMN_NAME] = metrics ? "metric" : "event";
			columns->headings[COLUMN_VALUE] = "value";
			columns->headings[COLUMN_SPREAD] = document_printf(d, "%.0f %%", 100 * c->confidence);
			columns->headings[COLUMN_DIFFERENCE] = "difference";
			columns->headings[COLUMN_VERDICT] = "verdict";
			columns->left[COLUMN_NAME] = columns->left[COLUMN_VERDICT] = true;
			/* a number that is cut would be another one; a name is not */
			columns->flexible = COLUMN_NAME;
			columns->folds = true;
			columns->axis = AXIS_DIFFERENCE;
		}
		add_row(d, columns, c, row, &units, marked);
	}
}

/* Regions in the order of their first row. */
static void add_regions(struct document *d, const struct comparison *c)
{
	for (size_t i = 0; i < c->n_rows; i++) {
		bool before = !c->rows[i].region;
		for (size_t j = 0; j < i && !before; j++)
			before = equal(c->rows[j].region, c->rows[i].region);
		if (!before)
			add_table(d, c, c->rows[i].region, false);
	}
}

static void add_statistics(struct document *d, const struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		document_add(d, BLOCK_GAP, NULL, NULL);
		document_add(d, BLOCK_SUBTITLE, document_escaped(d, c->names[i]), "each run by itself");
		build_statistics(d, c->results[i]);
	}
}

void comparison_append_command(struct str *text, const char *const *command)
{
	for (size_t i = 0; command && command[i]; i++) {
		char word[COMMAND_SHOWN_BYTES];
		str_escape_to(word, sizeof word, command[i]);
		bool plain = word[0] && !word[strcspn(word, " \t\"'\\$&|;<>*?()")];
		str_appendf(text, plain ? "%s%s" : "%s'%s'", i ? " " : "", word);
	}
}

/* Which command each name stands for. */
static void add_commands(struct document *d, const struct comparison *c)
{
	document_add(d, BLOCK_GAP, NULL, NULL);
	document_add(d, BLOCK_TITLE,
		     "tare compare:", document_printf(d, "%s is the baseline", document_escaped(d, c->names[0])));
	for (size_t i = 0; i < c->n; i++) {
		struct str text = {0};
		comparison_append_command(&text, c->results[i]->command);
		document_add_str(d, BLOCK_SUBTITLE, document_escaped(d, c->names[i]), &text, "");
	}
}

static void add_gates(struct document *d, const struct comparison *c)
{
	if (!c->n_gates)
		return;
	document_add(d, BLOCK_GAP, NULL, NULL);
	for (size_t i = 0; i < c->n_gates; i++) {
		const struct gate_result *gate = &c->gates[i];
		const char *label = document_printf(d, "gate %s of %s:", document_escaped(d, gate->text),
						    document_escaped(d, c->names[gate->command]));
		document_add(d, BLOCK_NOTE, label,
			     document_printf(d, "%s (%s)", gate_outcome_text(gate->outcome),
					     document_escaped(d, gate->reason)));
		if (d->blocks.count && d->blocks.items[d->blocks.count - 1].kind == BLOCK_NOTE)
			d->blocks.items[d->blocks.count - 1].answer = true;
	}
}

/* "B: 2 less, 1 more, 3 equal, 10 without a difference seen, 1 not compared" */
static void add_summaries(struct document *d, const struct comparison *c)
{
	for (size_t i = 1; i < c->n; i++) {
		size_t times[COMPARISON_MORE + 1] = {0}, n = 0;
		static const struct {
			enum comparison_verdict verdict;
			const char *words;
		} order[] = {{COMPARISON_LESS, "less"},
			     {COMPARISON_MORE, "more"},
			     {COMPARISON_EQUAL, "equal"},
			     {COMPARISON_NONE_SEEN, "without a difference seen"},
			     {COMPARISON_WITHIN_FLOOR, "within this machine's noise floor"},
			     {COMPARISON_UNKNOWN, "not compared"}};
		struct str text = {0};
		for (size_t r = 0; r < c->n_rows; r++)
			times[c->rows[r].commands[i].verdict]++;
		str_appendf(&text, "%s: ", document_escaped(d, c->names[i]));
		for (size_t k = 0; k < sizeof order / sizeof *order; k++)
			if (times[order[k].verdict])
				str_appendf(&text, "%s%zu %s", n++ ? ", " : "", times[order[k].verdict],
					    order[k].words);
		document_note(d, NOTE_READ, NULL, document_str(d, &text));
		if (d->blocks.count && d->blocks.items[d->blocks.count - 1].ranked)
			d->blocks.items[d->blocks.count - 1].answer = true;
	}
}

static void add_method(struct document *d, const struct comparison *c)
{
	struct str text = {0};
	double seconds = 0;
	size_t executions = 0;
	for (size_t i = 0; i < c->n; i++) {
		seconds += c->results[i]->elapsed_seconds;
		executions += c->results[i]->executions;
	}
	if (c->interrupted)
		str_append(&text, "interrupted: ");
	if (c->interleaved)
		str_appendf(&text, "%zu run%s of each, in random order (seed %llu): %zu executions in %.3g s",
			    c->repetitions, c->repetitions == 1 ? "" : "s", (unsigned long long)c->seed,
			    executions, seconds);
	else
		str_appendf(&text, "stored runs, which were not made in turns: %s",
			    c->machines ? document_escaped(d, c->machines)
					: "a change of the machine between them looks like a difference");
	if (c->layout)
		str_appendf(&text, "; drawn for each execution: %s", c->layout);
	if (c->tests > 1)
		str_appendf(&text, "; verdicts are corrected for %zu comparisons, intervals are not", c->tests);
	document_note(d, c->interrupted || !c->interleaved ? NOTE_ACT : NOTE_READ, NULL, document_str(d, &text));
}

/* Remarks of single estimates ("an upper bound: …"). */
static void add_remarks(struct document *d, const struct comparison *c)
{
	for (size_t r = 0; r < c->n_rows; r++)
		for (size_t i = 0; i < c->n; i++) {
			const struct estimate *e = c->rows[r].commands[i].estimate;
			if (!e || !e->known || !e->note)
				continue;
			document_note(d, NOTE_DETAIL, "-",
				      document_printf(d, "%s of %s: %s", document_escaped(d, c->rows[r].event),
						      document_escaped(d, c->names[i]), e->note));
		}
}

/* Why rows have no verdict: each reason once, with its events. */
static void add_reasons(struct document *d, const struct comparison *c)
{
	for (size_t at = 0; at < c->n_rows * c->n; at++) {
		const struct compared *one = &c->rows[at / c->n].commands[at % c->n];
		struct str text = {0};
		bool before = false;
		if (at % c->n == 0 || one->verdict != COMPARISON_UNKNOWN || !one->why)
			continue;
		for (size_t i = 0; i < at && !before; i++)
			before = i % c->n && equal(c->rows[i / c->n].commands[i % c->n].why, one->why);
		if (before)
			continue;
		const char *last = NULL;
		for (size_t i = at; i < c->n_rows * c->n; i++) {
			const struct comparison_row *row = &c->rows[i / c->n];
			if (i % c->n == 0 || !equal(row->commands[i % c->n].why, one->why) || last == row->event)
				continue;
			str_appendf(&text, "%s%s", last ? ", " : "not compared: ", row->event);
			last = row->event;
		}
		str_appendf(&text, " (%s)", one->why);
		document_note(d, NOTE_READ, "-", document_escaped_whole(d, &text));
		str_free(&text);
	}
}

/* What "none ≥ 0.4 %" and "in the noise" mean. */
static void add_legend(struct document *d, const struct comparison *c)
{
	bool none = false, noise = false;
	for (size_t i = 0; i < c->n_rows * c->n; i++) {
		const struct compared *one = &c->rows[i / c->n].commands[i % c->n];
		none |= i % c->n && one->verdict == COMPARISON_NONE_SEEN && isfinite(one->detectable);
		noise |= i % c->n && one->verdict == COMPARISON_WITHIN_FLOOR;
	}
	if (none)
		document_note(
			d, NOTE_READ, "-",
			"none \u2265 0.4 %: no difference that this machine could see; it would have seen one of "
			"0.4 % (in 4 of 5 such comparisons)");
	if (c->shows_misleading)
		document_note(
			d, NOTE_ACT, "!",
			"misleading: this rate is better, but the time is worse; more work done per second is "
			"no gain where there is more work");
	if (noise)
		document_note(
			d, NOTE_READ, "-",
			"in the noise (2 %): a difference, but one command against itself differed by 2 % when "
			"this machine was calibrated");
}

void report_build_comparison(struct document *d, const struct comparison *c, const struct report_options *options)
{
	add_commands(d, c);
	add_table(d, c, NULL, false);
	add_table(d, c, NULL, true);
	add_regions(d, c);
	if (options->statistics)
		add_statistics(d, c);
	add_gates(d, c);
	add_reasons(d, c);
	add_summaries(d, c);
	add_method(d, c);
	for (size_t i = 0; i < c->n_notes; i++)
		document_note(d, c->notes[i].rank, c->notes[i].rank == NOTE_ACT ? "!" : "-", c->notes[i].text);
	add_legend(d, c);
	add_remarks(d, c);
	if (options->origin && c->n) {
		build_sources(d, c->results, c->n);
		build_origin(d, &c->results[0]->machine, c->results[0]->started_unix, options->origin);
	}
}

void report_comparison_text(FILE *out, const struct comparison *c, const struct report_options *options)
{
	struct document document = {0};
	report_build_comparison(&document, c, options);
	report_document_text(out, &document, options);
	document_free(&document);
}
