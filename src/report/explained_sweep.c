#include "report/explained_sweep.h"

#include <math.h>
#include <string.h>

#include "report/build.h"
#include "report/explanation_cells.h"
#include "report/explanation_figure.h"
#include "report/html/html.h"
#include "report/number.h"
#include "report/stacked.h"
#include "report/table.h"

enum {
	UNEXPLAINED = EXPLAINED_UNEXPLAINED,
	PARTS = EXPLAINED_PARTS,
	BAR_LEAST = 10,
	BAR_MOST = 100,
	BESIDE_BAR = 6, /* indent and gaps */
	GAP = 2,
	PAGE_COLUMNS = 200,
	VALUE_MOST = 16,
};
/* A cause that has nowhere more than this has no column of its own. */
static const double SHARE_LEAST = 0.005;

/* How a cause looks in a bar of letters, and its name above a narrow column. */
static const struct {
	char letter;
	const char *heading;
} looks[PARTS] = {
	[CAUSE_COMPUTING] = {'c', "computing"},
	[CAUSE_L1] = {'1', "L1"},
	[CAUSE_L2] = {'2', "L2"},
	[CAUSE_L3] = {'3', "L3"},
	[CAUSE_MEMORY] = {'m', "memory"},
	[CAUSE_TLB] = {'t', "TLB"},
	[CAUSE_BRANCHES] = {'b', "mispred."},
	[CAUSE_FAULTS] = {'f', "faults"},
	[CAUSE_CALLS] = {'s', "calls"},
	[CAUSE_LOCKS] = {'l', "locks"},
	[CAUSE_IO] = {'i', "in/out"},
	[CAUSE_SLEEPING] = {'z', "sleeping"},
	[CAUSE_WAITING] = {'w', "waiting"},
	[CAUSE_NOT_RUNNING] = {'n', "not run."},
	[UNEXPLAINED] = {'.', "unexpl."},
};

struct sweep_report {
	const struct explained_sweep *sweep;
	struct document *d;
	size_t width;
	bool page;
	double times[SWEEP_POINTS_MOST][PARTS]; /* seconds, 0 where nothing is known */
	double whole[SWEEP_POINTS_MOST];        /* the sum of them */
	bool shown[PARTS];
};

static void gather(struct sweep_report *r)
{
	for (size_t i = 0; i < r->sweep->n; i++)
		for (unsigned p = 0; p < PARTS; p++) {
			r->times[i][p] = explained_part_seconds(&r->sweep->points[i].explanation, p);
			r->whole[i] += r->times[i][p];
		}
	for (size_t i = 0; i < r->sweep->n; i++)
		for (unsigned p = 0; p < PARTS; p++)
			r->shown[p] |= r->times[i][p] > SHARE_LEAST * r->whole[i];
}

static double share(const struct sweep_report *r, size_t point, unsigned part)
{
	return r->whole[point] > 0 ? r->times[point][part] / r->whole[point] : 0;
}

/* ---- the figure in letters ---- */

/* `columns` letters for `all` seconds; parts end at the nearest letter, so that no rounding adds up. */
static const char *bar(const struct sweep_report *r, size_t point, double all, size_t columns)
{
	struct str text = {0};
	double sum = 0;
	size_t at = 0;
	for (unsigned p = 0; p < PARTS && all > 0; p++) {
		sum += r->times[point][p];
		size_t end = (size_t)lround(fmin(sum / all, 1) * (double)columns);
		for (; at < end; at++)
			str_append_char(&text, looks[p].letter);
	}
	return document_str(r->d, &text);
}

static double per_work(const struct sweep_report *r, size_t point, double seconds)
{
	return seconds / r->sweep->points[point].work;
}

static const char *speedup_cell(struct document *d, double speedup)
{
	return isnan(speedup) ? "-" : document_printf(d, "%.2f", speedup);
}

static const char *value_cell(struct document *d, const char *value)
{
	struct str text = {0};
	columns_shorten(&text, document_escaped(d, value), VALUE_MOST);
	return document_str(d, &text);
}

static bool values_are_numbers(const struct explained_sweep *sweep)
{
	bool numbers = true;
	for (size_t i = 0; i < sweep->n; i++)
		numbers &= sweep->points[i].value[strspn(sweep->points[i].value, "0123456789.")] == '\0';
	return numbers;
}

/* Columns that cells of this column need. */
static size_t widest(const struct columns *columns, size_t c)
{
	size_t most = text_columns(columns->headings[c]);
	for (size_t i = 0; i < columns->rows.count; i++) {
		size_t have = text_columns(columns->rows.items[i].cells[c] ? columns->rows.items[i].cells[c] : "");
		most = have > most ? have : most;
	}
	return most;
}

/* Value, time, speed-up; then the bar. Of a page the bars are a drawing. */
static void add_times(struct sweep_report *r)
{
	const struct explained_sweep *sweep = r->sweep;
	bool measured = sweep->points[0].explanation.has_measured;
	size_t n = 2 + measured + sweep->threads, last = n;
	double most = 0;
	struct columns *columns = document_add_columns(r->d, n + !r->page);
	if (!columns)
		return;
	const char *headings[] = {document_escaped(r->d, sweep->name), measured ? "measured" : "causes",
				  measured ? "causes" : "speed-up", "speed-up"};
	for (size_t c = 0; c < n; c++)
		columns->headings[c] = headings[c];
	columns->ordered = columns->matrix = true;
	columns->left[0] = !values_are_numbers(sweep);
	columns->left[last] = true;
	columns->flexible = 0;
	for (size_t i = 0; i < sweep->n; i++) {
		const struct explanation *e = &sweep->points[i].explanation;
		struct columns_row row = {0};
		size_t c = 0;
		row.cells[c++] = value_cell(r->d, sweep->points[i].value);
		if (measured)
			row.cells[c++] = explained_time_cell(r->d, per_work(r, i, e->total_s));
		row.cells[c++] = explained_time_cell(r->d, per_work(r, i, e->sum_typical));
		if (sweep->threads)
			row.cells[c++] = speedup_cell(r->d, explained_sweep_speedup(sweep, i));
		explained_push(r->d, columns, &row);
		most = fmax(most, per_work(r, i, r->whole[i]));
	}
	if (r->page)
		return;
	size_t used = BESIDE_BAR;
	for (size_t c = 0; c < n; c++)
		used += widest(columns, c) + GAP;
	size_t room = r->width > used + BAR_LEAST ? r->width - used : BAR_LEAST;
	room = room > BAR_MOST ? BAR_MOST : room;
	columns->headings[last] = sweep->per ? "" : "by cause, of 100 %";
	for (size_t i = 0; i < columns->rows.count; i++)
		columns->rows.items[i].cells[last] = bar(
			r, i, sweep->per ? most * sweep->points[i].work : r->whole[i], room);
}

/* "c computing, m memory" */
static void add_letters(struct sweep_report *r)
{
	struct str text = {0};
	for (unsigned p = 0; p < PARTS; p++)
		if (r->shown[p])
			str_appendf(&text, "%s%c %s", text.length ? ", " : "", looks[p].letter,
				    explained_part_name(p));
	document_add_str(r->d, BLOCK_PARAGRAPH, NULL, &text, NULL);
}

/* ---- shares ---- */

static double largest_share(const struct sweep_report *r, unsigned part)
{
	double most = 0;
	for (size_t i = 0; i < r->sweep->n; i++)
		most = fmax(most, share(r, i, part));
	return most;
}

/* As many causes as there is room for, those of the largest shares; in their own order. Returns how many are left
 * out. */
static size_t choose(const struct sweep_report *r, bool *chosen)
{
	size_t used = BESIDE_BAR + VALUE_MOST, left = 0;
	for (;;) {
		unsigned best = PARTS;
		for (unsigned p = 0; p < PARTS; p++)
			if (r->shown[p] && !chosen[p] &&
			    (best == PARTS || largest_share(r, p) > largest_share(r, best)))
				best = p;
		if (best == PARTS)
			return 0;
		used += GAP + text_columns(looks[best].heading);
		if (used > r->width)
			break;
		chosen[best] = true;
	}
	for (unsigned p = 0; p < PARTS; p++)
		left += r->shown[p] && !chosen[p];
	return left;
}

static void add_shares(struct sweep_report *r)
{
	bool chosen[PARTS] = {false};
	size_t left = choose(r, chosen), n = 1;
	struct columns *columns = document_add_columns(r->d, 1 + PARTS);
	if (!columns)
		return;
	columns->headings[0] = document_escaped(r->d, r->sweep->name);
	columns->ordered = columns->matrix = true;
	columns->left[0] = !values_are_numbers(r->sweep);
	columns->flexible = 0;
	for (size_t i = 0; i < r->sweep->n; i++) {
		struct columns_row row = {.cells = {value_cell(r->d, r->sweep->points[i].value)}};
		n = 1;
		for (unsigned p = 0; p < PARTS; p++) {
			if (!chosen[p])
				continue;
			columns->headings[n] = r->page ? explained_part_name(p) : looks[p].heading;
			row.cells[n++] = explained_percent(r->d, share(r, i, p));
		}
		explained_push(r->d, columns, &row);
	}
	columns->n = n;
	if (left)
		document_add(r->d, BLOCK_REMARK, "-",
			     document_printf(r->d, "%zu %s in --json and --csv", left,
					     left == 1 ? "cause more" : "causes more"));
}

/* ---- drawings ---- */

/* of_share: each bar is 100 %. */
static struct stacked_figure *figure_of(struct sweep_report *r, bool of_share)
{
	const struct explained_sweep *sweep = r->sweep;
	struct arena *arena = &r->d->arena;
	struct stacked_figure *f = arena_alloc(arena, sizeof *f);
	struct stacked_part *parts = arena_alloc(arena, PARTS * sizeof *parts);
	const char **categories = arena_alloc(arena, sweep->n * sizeof *categories);
	double *values = arena_alloc(arena, sweep->n * PARTS * sizeof *values), most = 0;
	double *marks = arena_alloc(arena, sweep->n * sizeof *marks);
	size_t n_parts = 0;
	if (!f || !parts || !categories || !values || !marks)
		return NULL;
	for (size_t i = 0; i < sweep->n; i++)
		most = fmax(most, per_work(r, i, r->whole[i]));
	struct explained_unit unit = explained_unit_of(most);
	for (unsigned p = 0; p < PARTS; p++)
		if (r->shown[p])
			parts[n_parts++] = (struct stacked_part){explained_part_name(p), p};
	for (size_t i = 0; i < sweep->n; i++) {
		categories[i] = document_escaped(r->d, sweep->points[i].value);
		marks[i] = unit.factor * per_work(r, i, sweep->points[i].explanation.total_s);
		for (size_t k = 0; k < n_parts; k++)
			values[i * n_parts + k] = of_share ? 100 * share(r, i, parts[k].look)
							   : unit.factor *
								     per_work(r, i, r->times[i][parts[k].look]);
	}
	*f = (struct stacked_figure){
		.title = of_share ? "shares of the causes" : "time by cause",
		.x_label = document_escaped(r->d, sweep->name),
		.y_label = of_share     ? "share of the causes"
			   : sweep->per ? document_printf(r->d, "time by cause, of one %s", sweep->per)
					: "time by cause",
		.unit = of_share ? "%" : unit.name,
		.categories = categories,
		.n = sweep->n,
		.parts = parts,
		.n_parts = n_parts,
		.values = values,
		.marks = of_share || !sweep->points[0].explanation.has_measured ? NULL : marks,
		.mark_name = "measured time",
	};
	return f;
}

static struct stacked_figure *speedup_figure(struct sweep_report *r)
{
	const struct explained_sweep *sweep = r->sweep;
	struct arena *arena = &r->d->arena;
	struct stacked_figure *f = arena_alloc(arena, sizeof *f);
	struct stacked_part *part = arena_alloc(arena, sizeof *part);
	const char **categories = arena_alloc(arena, sweep->n * sizeof *categories);
	double *values = arena_alloc(arena, sweep->n * sizeof *values);
	if (!f || !part || !categories || !values)
		return NULL;
	*part = (struct stacked_part){"elapsed time of the first over that of each", CAUSE_COMPUTING};
	for (size_t i = 0; i < sweep->n; i++) {
		categories[i] = document_escaped(r->d, sweep->points[i].value);
		values[i] = explained_sweep_speedup(sweep, i);
	}
	*f = (struct stacked_figure){.title = "speed-up",
				     .x_label = document_escaped(r->d, sweep->name),
				     .y_label = "speed-up",
				     .unit = "\u00d7",
				     .categories = categories,
				     .n = sweep->n,
				     .parts = part,
				     .n_parts = 1,
				     .values = values};
	return f;
}

/* ---- sentences ---- */

static const char *at_value(struct sweep_report *r, size_t point)
{
	return document_printf(r->d, "%s = %s", r->sweep->name,
			       document_escaped(r->d, r->sweep->points[point].value));
}

/* The part that is more at the last point than at the first, by of(); PARTS: none is. */
static unsigned grown(struct sweep_report *r,
		      double (*of)(const struct sweep_report *r, size_t point, unsigned part))
{
	unsigned most = PARTS;
	double growth = 0;
	for (unsigned p = 0; p < PARTS; p++) {
		double more = of(r, r->sweep->n - 1, p) - of(r, 0, p);
		if (more > growth) {
			growth = more;
			most = p;
		}
	}
	return most;
}

static double part_per_work(const struct sweep_report *r, size_t point, unsigned part)
{
	return per_work(r, point, r->times[point][part]);
}

static void add_growth(struct sweep_report *r, size_t last)
{
	struct str text = {0};
	unsigned most = grown(r, part_per_work);
	str_appendf(&text, "From %s to %s the causes for one %s go from %s to %s.", at_value(r, 0),
		    at_value(r, last), r->sweep->per, explained_time_cell(r->d, per_work(r, 0, r->whole[0])),
		    explained_time_cell(r->d, per_work(r, last, r->whole[last])));
	if (most < PARTS)
		str_appendf(&text, " What grows most is %s: from %s to %s.", explained_part_name(most),
			    explained_time_cell(r->d, part_per_work(r, 0, most)),
			    explained_time_cell(r->d, part_per_work(r, last, most)));
	document_add_str(r->d, BLOCK_PARAGRAPH, NULL, &text, NULL);
}

/* Which cause grows: of the time for one unit of work, or, where none is known, of the shares. */
static void add_answer(struct sweep_report *r)
{
	size_t last = r->sweep->n - 1;
	if (last == 0 || !(r->whole[0] > 0) || !(r->whole[last] > 0))
		return;
	if (r->sweep->per) {
		add_growth(r, last);
		return;
	}
	unsigned most = grown(r, share);
	if (most < PARTS && share(r, last, most) - share(r, 0, most) > SHARE_LEAST)
		document_add(r->d, BLOCK_PARAGRAPH, NULL,
			     document_printf(r->d, "The share of %s grows most: from %s at %s to %s at %s.",
					     explained_part_name(most), explained_percent(r->d, share(r, 0, most)),
					     at_value(r, 0), explained_percent(r->d, share(r, last, most)),
					     at_value(r, last)));
}

static void note(struct sweep_report *r, bool act, const char *text)
{
	if (r->page)
		document_note(r->d, act ? NOTE_ACT : NOTE_READ, "-", text);
	else
		document_add(r->d, BLOCK_NOTE, act ? "!" : "-", text);
}

/* Causes whose events took place at some value, and have no cost. */
static void add_missing(struct sweep_report *r)
{
	struct str text = {0};
	for (unsigned c = 0; c < CAUSES_COUNTED; c++)
		for (size_t i = 0; i < r->sweep->n; i++)
			if (explained_sum_lacks_costs(&r->sweep->points[i].explanation) &&
			    explained_lacks_cost(&r->sweep->points[i].explanation, (enum cause)c)) {
				str_appendf(&text, "%s%s", text.length ? ", " : "", cause_name((enum cause)c));
				break;
			}
	if (!text.length)
		return;
	str_append(&text, ": there were such events, and no cost of them is known: their time is missing above. "
			  "--costs FILE gives costs (tare-explain(1)).");
	note(r, true, document_str(r->d, &text));
}

static bool has_note(const struct explanation *e, const char *text)
{
	for (size_t i = 0; i < e->notes.count; i++)
		if (strcmp(e->notes.items[i].text, text) == 0)
			return true;
	return false;
}

/* Unless an earlier point has it; with the point's value, unless all have it. */
static void add_point_note(struct sweep_report *r, size_t point, const struct result_note *n)
{
	bool earlier = false, all = true;
	for (size_t i = 0; i < r->sweep->n; i++) {
		bool has = has_note(&r->sweep->points[i].explanation, n->text);
		earlier |= has && i < point;
		all &= has;
	}
	if (!earlier)
		note(r, n->rank == NOTE_ACT,
		     all ? n->text : document_printf(r->d, "%s: %s", at_value(r, point), n->text));
}

static void add_notes(struct sweep_report *r)
{
	const struct explained_sweep *sweep = r->sweep;
	const struct explanation *first = &sweep->points[0].explanation;
	add_missing(r);
	note(r, false,
	     first->has_measured
		     ? "Each value was executed once as it is, to measure its time, and once to count its events: "
		       "times of single executions vary."
		     : "No time was measured: these costs are not of this machine. Shares are of the causes' "
		       "sum.");
	if (sweep->variable)
		note(r, false,
		     document_printf(r->d, "The values were set as the environment variable %s.",
				     sweep->variable));
	if (sweep->threads && first->has_measured)
		note(r, false,
		     "The speed-up is the first value's elapsed time divided by each value's. 'measured' is the "
		     "sum of the "
		     "threads' times.");
	for (size_t i = 0; i < sweep->n; i++)
		for (size_t k = 0; k < sweep->points[i].explanation.notes.count; k++)
			add_point_note(r, i, &sweep->points[i].explanation.notes.items[k]);
}

static void build(struct sweep_report *r)
{
	struct str title = {0};
	gather(r);
	explained_append_command(&title, r->sweep->command);
	document_add(r->d, BLOCK_GAP, NULL, NULL);
	document_add_str(r->d, BLOCK_TITLE, "tare explain:", &title, "");
	document_add(r->d, BLOCK_GAP, NULL, NULL);
	if (!r->sweep->n)
		return;
	add_answer(r);
	document_add(r->d, BLOCK_GAP, NULL, NULL);
	if (r->page) {
		document_add_stacked(r->d, figure_of(r, false));
		document_add_stacked(r->d, figure_of(r, true));
		if (r->sweep->threads && r->sweep->points[0].explanation.has_measured)
			document_add_stacked(r->d, speedup_figure(r));
	}
	add_times(r);
	if (!r->page) {
		document_add(r->d, BLOCK_GAP, NULL, NULL);
		add_letters(r);
	}
	document_add(r->d, BLOCK_GAP, NULL, NULL);
	add_shares(r);
	document_add(r->d, BLOCK_GAP, NULL, NULL);
	add_notes(r);
}

void report_sweep_text(FILE *out, const struct explained_sweep *sweep, const struct report_options *options)
{
	struct document d = {0};
	struct sweep_report r = {.sweep = sweep, .d = &d, .width = (size_t)table_width(options)};
	build(&r);
	report_document_text(out, &d, options);
	document_free(&d);
}

void report_sweep_html(FILE *out, const struct explained_sweep *sweep)
{
	struct document d = {0};
	struct str name = {0};
	struct sweep_report r = {.sweep = sweep, .d = &d, .width = PAGE_COLUMNS, .page = true};
	build(&r);
	explained_append_command(&name, sweep->command);
	report_document_html(out, &d, name.text ? name.text : "tare");
	str_free(&name);
	document_free(&d);
}
