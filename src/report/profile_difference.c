#include "report/profile_difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/build.h"
#include "report/columns.h"
#include "report/number.h"
#include "report/profile_rows.h"
#include "stats/stats.h"

enum { ROWS_MOST = 40 };

struct changed_row {
	const struct named_row *row;
	const char *module; /* module_of() */
	uint64_t counts[2]; /* before, after */
	const struct named_count *own[2];
	size_t rows[2]; /* that have this name */
	struct profile_estimate of[2];
	struct profile_change change;
};

struct difference {
	struct document *document;
	const struct named_profile *named[2]; /* before, after */
	size_t event[2];
	const struct profile_report_options *options;
	enum profile_by by;
	bool exact, amounts, intervals;
	double factor[2]; /* from a share to what is compared */
	VEC(struct changed_row) rows;
	struct hash_index index;
};

struct profile_change profile_change_of(const struct profile_estimate *before,
					const struct profile_estimate *after, bool exact)
{
	struct profile_change c = {.value = after->value - before->value,
				   .has_interval = !exact && before->has_interval && after->has_interval};
	c.low = c.high = c.value;
	c.sure = exact && c.value != 0;
	if (!c.has_interval)
		return c;
	c.low = c.value - hypot(after->value - after->low, before->high - before->value);
	c.high = c.value + hypot(after->high - after->value, before->value - before->low);
	c.sure = c.low > 0 || c.high < 0;
	return c;
}

/* ---- rows ---- */

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

/* What tells the row's module in both profiles: versions of a program may have files of different names. */
static const char *module_of(const struct named_profile *named, const struct named_row *row)
{
	const char *const *command = named->profile->command;
	const char *name = profile_base_name(row->module);
	return command && command[0] && same_text(name, profile_base_name(command[0])) ? "[program]" : name;
}

static bool same_row(const struct named_row *a, const struct named_row *b, bool lines)
{
	return strcmp(a->name, b->name) == 0 &&
	       (!lines ||
		(a->line == b->line && same_text(profile_base_name(a->file), profile_base_name(b->file))));
}

static struct changed_row *row_of(struct difference *d, const struct named_row *row, int side)
{
	const char *module = module_of(d->named[side], row);
	bool lines = d->by == PROFILE_BY_LINE;
	uint64_t hash = hash_text(hash_text(HASH_BEGIN, row->name), module);
	if (lines)
		hash = hash_number(hash_text(hash, row->file ? profile_base_name(row->file) : ""), row->line);
	struct hash_search search = hash_find(&d->index, hash);
	for (uint32_t i; hash_next(&search, &i);)
		if (same_text(d->rows.items[i].module, module) && same_row(d->rows.items[i].row, row, lines))
			return &d->rows.items[i];
	struct changed_row new = {.row = row, .module = module};
	if (!vec_push(&d->rows, new) || !hash_add(&d->index, hash, (uint32_t)d->rows.count - 1))
		return NULL;
	return &d->rows.items[d->rows.count - 1];
}

static bool collect(struct difference *d)
{
	for (int side = 0; side < 2; side++) {
		const struct named_profile *named = d->named[side];
		const struct named_table *table = d->by == PROFILE_BY_LINE ? &named->by_line : &named->by_function;
		for (size_t i = 0; i < table->n; i++) {
			const struct named_count *count = &table->rows[i].counts[d->event[side]];
			if (!count->self || !profile_row_is_wanted(&table->rows[i], d->options))
				continue;
			struct changed_row *row = row_of(d, &table->rows[i], side);
			if (!row)
				return false;
			row->counts[side] += count->self;
			row->own[side] = count;
			row->rows[side]++;
			if (side)
				row->row = &table->rows[i]; /* the newer place */
		}
	}
	return true;
}

static bool has_intervals(const struct named_profile *named, size_t event)
{
	for (size_t i = 0; i < named->by_function.n; i++)
		if (named->by_function.rows[i].counts[event].has_interval)
			return true;
	return false;
}

static void estimate(struct difference *d, struct changed_row *row, int side)
{
	struct profile_estimate *e = &row->of[side];
	uint64_t sum = d->named[side]->sums[d->event[side]];
	struct interval interval;
	double factor = d->factor[side];
	e->value = factor * profile_share(row->counts[side], sum);
	if (d->exact) {
		e->value = (double)row->counts[side];
		return;
	}
	if (!d->intervals)
		return;
	if (row->rows[side] == 1) {
		e->has_interval = row->own[side]->has_interval;
		e->low = factor * row->own[side]->low;
		e->high = factor * row->own[side]->high;
	} else if (stats_share(row->counts[side], sum, d->named[side]->confidence, &interval)) {
		e->has_interval = true;
		e->low = factor * interval.low;
		e->high = factor * interval.high;
	}
}

static int surest_first(const void *a, const void *b)
{
	const struct changed_row *x = a, *y = b;
	if (x->change.sure != y->change.sure)
		return x->change.sure ? -1 : 1;
	double change = fabs(y->change.value) - fabs(x->change.value);
	return change != 0 ? (change > 0 ? 1 : -1) : strcmp(x->row->name, y->row->name);
}

/* ---- text ---- */

struct scale {
	double factor;
	int decimals;
	const char *unit;
};

static struct scale scale_of(const struct difference *d)
{
	if (!d->amounts)
		return (struct scale){100, 1, "%"};
	const struct profile_event *e = &d->named[1]->profile->events[d->event[1]];
	double largest = fmax(d->factor[0], d->factor[1]);
	if (strcmp(e->unit, "ns") != 0)
		return (struct scale){1, 0, e->unit};
	return largest >= 1e10  ? (struct scale){1e-9, 2, "s"}
	       : largest >= 1e7 ? (struct scale){1e-6, 1, "ms"}
				: (struct scale){1e-3, 1, "\u00b5s"};
}

static const char *amount(struct difference *d, const struct scale *scale, double value, bool sign)
{
	char number[NUMBER_BYTES];
	double shown = fabs(value * scale->factor);
	number_group(number, shown, scale->decimals);
	bool zero = strspn(number, "0.") == strlen(number);
	return document_printf(d->document, "%s%s", zero ? "" : value < 0 ? "\u2212" : sign ? "+" : "", number);
}

static const char *name_of(struct difference *d, const struct named_row *row)
{
	struct str name = {0};
	profile_append_row_name(&name, row);
	return document_str(d->document, &name);
}

static void add_row(struct difference *d, struct columns *table, const struct scale *scale,
		    const struct changed_row *r, const char *name, bool emphasis)
{
	struct columns_row row = {.emphasis = emphasis};
	size_t c = 0;
	row.cells[c++] = r->of[0].value != 0 ? amount(d, scale, r->of[0].value, false) : "";
	row.cells[c++] = r->of[1].value != 0 ? amount(d, scale, r->of[1].value, false) : "";
	row.cells[c++] = amount(d, scale, r->change.value, true);
	if (d->intervals)
		row.cells[c++] = r->change.has_interval ? document_printf(d->document, "%s … %s",
									  amount(d, scale, r->change.low, true),
									  amount(d, scale, r->change.high, true))
							: "";
	row.cells[c] = name;
	if (!vec_push(&table->rows, row))
		d->document->failed = true;
}

static struct columns *add_table(struct difference *d)
{
	struct columns *table = document_add_columns(d->document, 1);
	size_t c = 0;
	if (!table)
		return NULL;
	table->headings[c++] = "before";
	table->headings[c++] = "after";
	table->headings[c++] = "change";
	if (d->intervals)
		table->headings[c++] = document_printf(d->document, "%g %% interval",
						       100 * d->named[1]->confidence);
	table->left[c] = true;
	table->headings[c] = d->by == PROFILE_BY_LINE ? "line (module)" : "function (module:file:line)";
	table->flexible = c;
	table->n = c + 1;
	return table;
}

static void add_heading(struct difference *d)
{
	struct str label = {0};
	const struct scale scale = scale_of(d);
	profile_append_escaped(&label, d->named[1]->profile->events[d->event[1]].label);
	str_append(&label, d->by == PROFILE_BY_LINE ? " by line:" : " by function:");
	document_add(d->document, BLOCK_GAP, NULL, NULL);
	document_add(d->document, BLOCK_SUBTITLE, document_str(d->document, &label),
		     document_printf(d->document, "in %s, %s", scale.unit[0] ? scale.unit : "events",
				     d->exact ? "counted, not sampled"
				     : d->amounts
					     ? "shares of the samples times the event's count, which is known"
					     : "shares of the samples: the event's count is not known in both"));
	document_add(d->document, BLOCK_GAP, NULL, NULL);
}

static void add_rows(struct difference *d)
{
	const struct scale scale = scale_of(d);
	struct columns *table;
	struct changed_row all = {.of = {{.value = d->factor[0]}, {.value = d->factor[1]}}};
	size_t most = d->options->top ? d->options->top : ROWS_MOST, shown = 0, left = 0, sure = 0, unsure = 0;
	all.change.value = d->factor[1] - d->factor[0];
	if (!(table = add_table(d)))
		return;
	for (size_t i = 0; i < d->rows.count; i++) {
		const struct changed_row *row = &d->rows.items[i];
		sure += row->change.sure;
		unsure += !row->change.sure && row->change.value != 0;
		if (row->change.value == 0)
			continue;
		if (shown < most && (row->change.sure || shown < most / 2)) {
			add_row(d, table, &scale, row, name_of(d, row->row), false);
			shown++;
		} else {
			left++;
		}
	}
	if (d->amounts)
		add_row(d, table, &scale, &all, "TOTAL", true);
	if (left)
		document_add(d->document, BLOCK_PARAGRAPH, NULL,
			     document_printf(d->document, "%zu more: --top shows them", left));
	if (d->intervals && unsure)
		document_add(
			d->document, BLOCK_PARAGRAPH, NULL,
			document_printf(d->document,
					"%zu of %zu change%s may be chance: the interval contains 0. Such rows "
					"stand last. Each interval is of its row alone",
					unsure, sure + unsure, sure + unsure == 1 ? "" : "s"));
	else if (!d->exact && !d->intervals)
		document_add(d->document, BLOCK_PARAGRAPH, NULL,
			     "no intervals: the samples of one of the two were not drawn at random to the end");
}

static void add_event(struct difference *d)
{
	const struct profile_event *e[2] = {&d->named[0]->profile->events[d->event[0]],
					    &d->named[1]->profile->events[d->event[1]]};
	d->exact = e[0]->gaps == GAPS_NONE && e[1]->gaps == GAPS_NONE;
	d->amounts = e[0]->has_total && e[1]->has_total;
	for (int side = 0; side < 2; side++)
		d->factor[side] = !d->amounts ? 1 : e[side]->has_scaled ? e[side]->scaled : (double)e[side]->total;
	bool done = collect(d);
	/* samples of turns are clustered */
	d->intervals = !d->exact && !(e[0]->part > 0) && !(e[1]->part > 0) &&
		       has_intervals(d->named[0], d->event[0]) && has_intervals(d->named[1], d->event[1]);
	for (size_t i = 0; i < d->rows.count; i++) {
		estimate(d, &d->rows.items[i], 0);
		estimate(d, &d->rows.items[i], 1);
		d->rows.items[i].change = profile_change_of(&d->rows.items[i].of[0], &d->rows.items[i].of[1],
							    d->exact);
	}
	if (d->rows.count)
		qsort(d->rows.items, d->rows.count, sizeof *d->rows.items, surest_first);
	add_heading(d);
	add_rows(d);
	d->document->failed |= !done;
	vec_free(&d->rows);
	hash_free(&d->index);
}

/* ---- all together ---- */

static void add_title(struct document *document, const char *label, const struct profile *p)
{
	struct str text = {0};
	if (p->target)
		profile_append_escaped(&text, p->target);
	for (size_t i = 0; p->command && p->command[i]; i++) {
		str_append(&text, i || p->target ? " " : "");
		profile_append_escaped(&text, p->command[i]);
	}
	document_add_str(document, BLOCK_TITLE, label, &text, "");
}

/* The event of that label, with counts; n_events: there is none. */
static size_t event_of(const struct named_profile *named, const char *label)
{
	size_t i = 0;
	while (i < named->profile->n_events &&
	       (strcmp(named->profile->events[i].label, label) != 0 || named->profile->events[i].why))
		i++;
	return i;
}

void report_profile_difference(FILE *out, const struct named_profile *after, const struct named_profile *before,
			       const struct profile_report_options *options)
{
	struct document document = {0};
	document_add(&document, BLOCK_GAP, NULL, NULL);
	add_title(&document, "before:", before->profile);
	add_title(&document, "after: ", after->profile);
	for (size_t e = 0; e < after->profile->n_events; e++) {
		const char *label = after->profile->events[e].label;
		struct difference d = {.document = &document,
				       .named = {before, after},
				       .event = {event_of(before, label), e},
				       .options = options,
				       .by = options->by};
		if ((options->one_event && e != options->event) || after->profile->events[e].why)
			continue;
		if (d.event[0] < before->profile->n_events) {
			add_event(&d);
			continue;
		}
		struct str text = {0};
		str_append(&text, "not compared, the other profile does not have it: ");
		profile_append_escaped(&text, label);
		document_add(&document, BLOCK_GAP, NULL, NULL);
		document_add_str(&document, BLOCK_PARAGRAPH, NULL, &text, NULL);
	}
	report_document_text(out, &document, &options->text);
	document_free(&document);
}
