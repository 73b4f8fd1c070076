/* A profile as a listing: of each event a heading and its functions or lines, the largest first. The listing is
 * that of SpeedShop's prof (Zagha), with an interval for each share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/number.h"
#include "report/origin.h"
#include "report/profile.h"
#include "report/profile_check.h"
#include "report/profile_rows.h"

/* A listing ends when it has this much of the count; what is left is one row. */
static const double SHARE_SHOWN = 0.999;
enum { WIDE = 110 };     /* columns of a terminal that has room for all of a listing's own */
enum { ROWS_MOST = 60 }; /* … or so many rows, of a flat profile; --top asks for more */

static void add_title(struct document *document, const struct profile *p)
{
	struct str text = {0};
	if (p->target)
		profile_append_escaped(&text, p->target);
	if (p->target && p->command)
		str_append(&text, ", while running");
	for (size_t i = 0; p->command && p->command[i]; i++) {
		str_append(&text, i || p->target ? " " : "");
		profile_append_escaped(&text, p->command[i]);
	}
	document_add(document, BLOCK_GAP, NULL, NULL);
	document_add_str(document, BLOCK_TITLE, "tare profile:", &text, "");
}

static void append_time(struct str *text, double ns)
{
	struct estimate e = {.event = "", .unit = "ns", .value = ns};
	struct number_scale scale = number_scale_of(&e, false);
	char number[NUMBER_BYTES];
	number_group(number, ns * scale.factor, scale.decimals > 2 ? 2 : scale.decimals);
	/* "1.00 ms" is "1 ms" */
	char *point = strchr(number, '.');
	if (point && strspn(point + 1, "0") == strlen(point + 1))
		*point = '\0';
	str_appendf(text, "%s %s", number, scale.unit);
}

static void append_amount(struct str *text, double value, const char *unit)
{
	char number[NUMBER_BYTES];
	if (strcmp(unit, "ns") == 0) {
		append_time(text, value);
		return;
	}
	number_group(number, value, 0);
	str_appendf(text, "%s%s%s", number, unit[0] ? " " : "", unit);
}

static void append_count(struct str *text, uint64_t count, const char *one, const char *many)
{
	char number[NUMBER_BYTES];
	number_group(number, (double)count, 0);
	str_appendf(text, "%s %s", number, count == 1 ? one : many);
}

/* Of a gap that was chosen by it. All runs' samples are of all runs' time, which is not known together. */
static void append_cost(struct str *text, const struct profile *p, const struct profile_event *e)
{
	double time_ns = (double)p->user_ns + (double)p->system_ns;
	if (!(e->cost_ns > 0))
		return;
	str_append(text, "; a sample costs ");
	append_time(text, e->cost_ns);
	/* samples of whole CPUs, or of a group, are not of the program that runs beside */
	if (time_ns > 0 && !p->n_runs && !p->target)
		str_appendf(text, " here, %.1f %% of the program's CPU time in all",
			    100 * (double)(e->samples + e->lost) * e->cost_ns / time_ns);
	else
		str_append(text, " here (the gap is such that it takes 2 % of the time at most)");
}

/* Of an event set's. */
static void append_turns(struct str *text, const struct profile_event *e)
{
	if (!(e->part > 0))
		return;
	str_appendf(text, "; its set had its turn for %.1f %% of the time", 100 * e->part);
	if (!e->has_scaled)
		return;
	str_append(text, ", scaled to all of it: ");
	append_amount(text, e->scaled, e->unit);
	str_append(text, " (95 %: ");
	append_amount(text, e->scaled_low, e->unit);
	if (isfinite(e->scaled_high)) {
		str_append(text, " to ");
		append_amount(text, e->scaled_high, e->unit);
		str_append(text, ")");
	} else {
		str_append(text, " or more: the turns are too few to tell)");
	}
}

/* "1,234 samples, one each 1 ms on average (exponential gaps, seed 1)", and what was lost */
static void append_sampling(struct str *text, const struct profile *p, size_t event)
{
	const struct profile_event *e = &p->events[event];
	char number[NUMBER_BYTES];
	append_count(text, e->samples, "sample", "samples");
	if (e->gap == 1) {
		str_append(text, ", one each time");
	} else if (e->gaps == GAPS_RATE) {
		number_group(number, e->rate, 0);
		str_appendf(text, ", %s a second (the kernel adjusts the gap)", number);
	} else {
		str_append(text, ", one each ");
		append_amount(text, (double)e->gap, e->unit);
		str_append(text, e->gaps == GAPS_FIXED    ? ""
				 : e->gaps == GAPS_JITTER ? " and up to an eighth more"
							  : " on average");
		if (e->gaps == GAPS_FIXED)
			str_append(text, " (fixed gaps)");
		else
			str_appendf(text, " (%s gaps, seed %llu", profile_gaps_name(e->gaps),
				    (unsigned long long)e->seed);
		if (e->gaps != GAPS_FIXED && e->redraw > 1)
			str_appendf(text, ", drawn anew every %u samples%s", e->redraw,
				    e->redraw > PROFILE_REDRAW_MOST && !p->n_runs ? ", too seldom for intervals"
										  : "");
		if (e->gaps != GAPS_FIXED && !e->redraw)
			str_append(text, p->n_runs ? " until threads or children began, then fixed"
						   : " until threads or children began, then fixed: no intervals");
		if (e->gaps != GAPS_FIXED)
			str_append(text, ")");
	}
	if (e->has_total) {
		str_append(text, e->part > 0 ? "; in its turns " : "; in all ");
		append_amount(text, (double)e->total, e->unit);
		str_append(text, trust_mark(e->trust, e->source));
		if (e->gap > 1 && !p->checks_gaps) {
			/* jitter is the gap and uniform(0, gap / 8) */
			double mean = (double)e->gap * (e->gaps == GAPS_JITTER ? 1 + 1.0 / 16 : 1);
			number_group(number, (double)e->total / mean, 0);
			str_appendf(text, ", for which %s %s expected", number,
				    strcmp(number, "1") == 0 ? "sample is" : "samples are");
		}
	}
	append_turns(text, e);
	append_cost(text, p, e);
	if (e->lost) {
		str_append(text, "; ");
		append_count(text, e->lost, "sample was lost", "samples were lost");
	}
	if (e->throttled) {
		str_append(text, "; the kernel paused sampling ");
		append_count(text, e->throttled, "time", "times");
	}
}

static void add_heading(struct document *document, const struct named_profile *named, size_t event,
			enum profile_by by)
{
	const struct profile_event *e = &named->profile->events[event];
	struct str label = {0}, rest = {0};
	profile_append_escaped(&label, e->label);
	str_appendf(&label, " by %s", profile_by_name(by));
	if (e->machine) {
		str_append(&label, ", modelled on ");
		profile_append_escaped(&label, e->machine);
	}
	str_append(&label, ":");
	if (e->gaps == GAPS_NONE) {
		append_amount(&rest, (double)e->total, e->unit);
		str_appendf(&rest, "%s, counted, not sampled", trust_mark(e->trust, e->source));
	} else {
		profile_append_runs(&rest, named->profile, event, append_amount);
		append_sampling(&rest, named->profile, event);
	}
	document_add(document, BLOCK_GAP, NULL, NULL);
	document_add(document, BLOCK_SUBTITLE, document_str(document, &label), document_str(document, &rest));
}

/* Columns of a listing; those of no use in it are left out. */
struct profile_listing {
	struct document *document;
	const struct named_profile *named;
	struct columns *columns;
	size_t event;
	bool intervals, inclusive, cumulative, ranks, checks, wide;
	size_t left_out; /* rows that are not wanted */
	uint64_t sum, before;
};

static const char *number_cell(struct document *document, uint64_t count)
{
	char number[NUMBER_BYTES];
	number_group(number, (double)count, 0);
	return document_printf(document, "%s", number);
}

static const char *share_cell(struct document *document, double share)
{
	return document_printf(document, "%.1f%%", 100 * share);
}

static void add_headings(struct profile_listing *l, enum profile_by by)
{
	const struct profile_event *e = &l->named->profile->events[l->event];
	size_t c = 0;
	l->columns->headings[c++] = e->gaps == GAPS_NONE ? "counts" : "samples";
	l->columns->headings[c++] = "share";
	if (l->intervals) {
		l->columns->short_headings[c] = document_printf(l->document, "%g %%", 100 * l->named->confidence);
		l->columns->headings[c++] = document_printf(l->document, "%g %% interval",
							    100 * l->named->confidence);
	}
	if (l->cumulative)
		l->columns->headings[c++] = "cum.";
	if (l->inclusive) {
		l->columns->short_headings[c] = "incl.";
		l->columns->headings[c++] = "with calls";
	}
	if (l->inclusive && l->wide)
		l->columns->headings[c++] = "share";
	if (l->ranks)
		l->columns->headings[c++] = "rank";
	if (l->checks) { /* where the shares differ, a note below has both */
		l->columns->spare[c] = l->columns->spare[c + 1] = true;
		l->columns->headings[c++] = "gap 1";
		l->columns->headings[c++] = "gap 2";
		l->columns->headings[c++] = "agree";
	}
	l->columns->left[c] = true;
	l->columns->headings[c++] = by == PROFILE_BY_LINE       ? "line (module)"
				    : by == PROFILE_BY_FUNCTION ? "function (module:file:line)"
								: profile_by_name(by);
	l->columns->n = c;
	l->columns->flexible = c - 1;
	l->columns->axis = AXIS_SHARE;
}

static const char *rank_cell(struct document *d, const struct named_count *count)
{
	if (count->first_rank == count->last_rank)
		return count->first_rank ? document_printf(d, "%u", count->first_rank) : "";
	return document_printf(d, "%u\u2013%u", count->first_rank, count->last_rank);
}

static struct columns_range range_of(const struct profile_listing *l, const struct named_count *count)
{
	double share = profile_share(count->self, l->sum);
	bool interval = count->has_interval && l->intervals;
	return (struct columns_range){.known = true,
				      .at = share,
				      .low = interval ? count->low : share,
				      .high = interval ? count->high : share};
}

static void add_row(struct profile_listing *l, const struct named_count *count, const char *name, bool emphasis,
		    enum columns_place place)
{
	struct document *d = l->document;
	struct columns_row row = {.emphasis = emphasis, .place = place};
	size_t c = 0;
	bool some = count->self > 0;
	if (place == COLUMNS_OWN)
		row.range = range_of(l, count);
	row.cells[c++] = number_cell(d, count->self);
	row.cells[c++] = share_cell(d, profile_share(count->self, l->sum));
	if (l->intervals)
		row.cells[c++] = count->has_interval && some ? document_printf(d, "%.1f\u2013%.1f%%",
									       100 * count->low, 100 * count->high)
							     : "";
	if (l->cumulative)
		row.cells[c++] = some && !emphasis ? share_cell(d, profile_share(l->before + count->self, l->sum))
						   : "";
	if (l->inclusive) {
		if (l->wide)
			row.cells[c++] = count->inclusive && !count->nested ? number_cell(d, count->inclusive)
									    : "";
		row.cells[c++] = count->nested      ? PROFILE_NESTED
				 : count->inclusive ? share_cell(d, profile_share(count->inclusive, l->sum))
						    : "";
	}
	if (l->ranks)
		row.cells[c++] = rank_cell(d, count);
	if (l->checks) {
		row.cells[c++] = count->check ? share_cell(d, count->check->first) : "";
		row.cells[c++] = count->check ? share_cell(d, count->check->second) : "";
		row.cells[c++] = count->check ? profile_verdict_text(count->check->verdict) : "";
	}
	row.cells[c] = name;
	l->before += emphasis ? 0 : count->self;
	if (!vec_push(&l->columns->rows, row))
		d->failed = true;
}

/* How many rows are shown: up to --top, down to the smallest share asked for, until nearly all of the count. */
static size_t rows_shown(const struct profile_listing *l, const struct named_row **rows, size_t n,
			 const struct profile_report_options *options)
{
	uint64_t before = 0;
	size_t shown = 0, most = options->rows_most ? options->rows_most : ROWS_MOST;
	while (shown < n) {
		const struct named_count *count = &rows[shown]->counts[l->event];
		bool callers = !count->self;
		bool enough = profile_share(before, l->sum) >= SHARE_SHOWN &&
			      !(callers && profile_share(count->inclusive, l->sum) >= 1 - SHARE_SHOWN);
		if (options->top ? shown >= options->top : enough || shown >= most)
			break;
		if (options->quit_share > 0 &&
		    profile_share(callers ? count->inclusive : count->self, l->sum) < options->quit_share)
			break;
		before += count->self;
		shown++;
	}
	/* one more row takes no more room than the line that says it is there */
	return !options->top && options->quit_share <= 0 && shown + 1 == n ? n : shown;
}

static void add_rows(struct profile_listing *l, const struct named_row **rows, size_t n,
		     const struct profile_report_options *options)
{
	size_t shown = rows_shown(l, rows, n, options);
	for (size_t i = 0; i < n; i++) {
		l->intervals |= rows[i]->counts[l->event].has_interval;
		l->ranks |= rows[i]->counts[l->event].first_rank != rows[i]->counts[l->event].last_rank;
	}
	add_headings(l, options->by);
	for (size_t i = 0; i < shown; i++) {
		struct str name = {0};
		profile_append_row_name(&name, rows[i]);
		add_row(l, &rows[i]->counts[l->event], document_str(l->document, &name), false, COLUMNS_OWN);
	}
	size_t others = n - shown + l->left_out;
	if (others)
		add_row(l, &(struct named_count){.self = l->sum - l->before},
			document_printf(l->document, "%zu other%s", others, others == 1 ? "" : "s"), false,
			COLUMNS_LAST);
	add_row(l, &(struct named_count){.self = l->sum}, "TOTAL", true, COLUMNS_LAST);
	if (l->ranks)
		document_add(l->document, BLOCK_NOTE, "rank",
			     "2\u20137: some place from 2 to 7, the samples do not tell which");
}

struct lines_known {
	uint64_t known;      /* of the count, this much has a line */
	uint64_t left_out;   /* … may have one: it was not looked for */
	uint64_t of_no_file; /* [kernel], [jit], [anonymous]: no debug file has lines of these */
	const struct named_row *hottest;
};

static struct lines_known lines_known(const struct named_profile *named, size_t event)
{
	struct lines_known lines = {0};
	for (size_t i = 0; i < named->by_line.n; i++) {
		const struct named_row *row = &named->by_line.rows[i];
		const uint64_t self = row->counts[event].self;
		lines.known += row->file && row->line ? self : 0;
		lines.left_out += row->lines_left_out ? self : 0;
		lines.of_no_file += row->module[0] == '[' ? self : 0;
		if (row->file && row->line && (!lines.hottest || self > lines.hottest->counts[event].self))
			lines.hottest = row;
	}
	return lines;
}

/* Below a listing of functions: the one line that has most, which may be spread over many functions (templates,
 * what was inlined). Appends it and returns its label; NULL: there is none. */
static const char *append_hottest_line(struct str *text, const struct lines_known *lines, uint64_t sum,
				       size_t event, const struct profile_report_options *options)
{
	if (profile_share(lines->known, sum) < 0.5) { /* the hottest one would be any */
		str_appendf(text, "not known for %.1f%% of this%s", 100 * (1 - profile_share(lines->known, sum)),
			    2 * lines->of_no_file >= sum - lines->known
				    ? ", which is mostly code without a file"
				    : ". Compile with -g, or install debug files (packages named "
				      "-dbgsym), or set DEBUGINFOD_URLS");
		return "lines:";
	}
	if (!lines->hottest || !lines->hottest->counts[event].self)
		return NULL;
	profile_append_row_name(text, lines->hottest);
	str_appendf(text, ", %.1f%%%s", 100 * profile_share(lines->hottest->counts[event].self, sum),
		    options->annotate ? "" : "; --annotate shows it in its source");
	return "hottest line:";
}

static void add_hottest_line(struct document *document, const struct named_profile *named, size_t event,
			     const struct profile_report_options *options)
{
	const struct lines_known lines = lines_known(named, event);
	struct str text = {0};
	const char *label = append_hottest_line(&text, &lines, named->sums[event], event, options);
	if (label)
		document_add_str(document, BLOCK_NOTE, label, &text, NULL);
}

static void add_event(struct document *document, const struct named_profile *named, size_t event,
		      const struct profile_report_options *options)
{
	const struct profile_event *e = &named->profile->events[event];
	struct profile_listing l = {.document = document,
				    .named = named,
				    .event = event,
				    .inclusive = named->has_inclusive,
				    .checks = named->profile->checks_gaps,
				    .cumulative = (!named->has_inclusive && !named->profile->checks_gaps) ||
						  options->text.width >= WIDE,
				    .wide = options->text.width >= WIDE,
				    .sum = named->sums[event]};
	size_t n;
	add_heading(document, named, event, options->by);
	if (e->why) {
		struct str text = {0};
		str_append(&text, "no profile: ");
		profile_append_escaped(&text, e->why);
		document_add_str(document, BLOCK_PARAGRAPH, NULL, &text, NULL);
		return;
	}
	if (l.sum == 0) {
		document_add(document, BLOCK_PARAGRAPH, NULL,
			     e->gaps == GAPS_NONE ? "it did not take place"
			     : e->has_total && e->total >= e->gap && e->gap
				     ? "no samples: in no thread or process did the event take place once a gap; "
				       "take a shorter gap (-c), or add --own-cgroup"
			     : e->has_total ? "no samples: the event took place less often than once a gap"
					    : "no samples");
		return;
	}
	bool of_code = options->by == PROFILE_BY_FUNCTION || options->by == PROFILE_BY_LINE;
	l.inclusive &= of_code;
	const struct named_row **rows = profile_rows_sorted(profile_table(named, options->by), event, l.inclusive,
							    &n);
	size_t wanted = 0;
	for (size_t i = 0; rows && i < n; i++)
		if (profile_row_is_wanted(rows[i], options))
			rows[wanted++] = rows[i];
	l.left_out = n - wanted;
	n = wanted;
	document_add(document, BLOCK_GAP, NULL, NULL);
	if (rows && (l.columns = document_add_columns(document, 1)))
		add_rows(&l, rows, n, options);
	if (rows && l.checks)
		build_profile_check(document, event, rows, n, options->by == PROFILE_BY_LINE);
	if (options->by == PROFILE_BY_FUNCTION && !l.left_out)
		add_hottest_line(document, named, event, options);
	document->failed |= !rows;
	free(rows);
}

static void add_notes(struct document *document, const char *const *notes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct str text = {0};
		profile_append_escaped(&text, notes[i]);
		document_add_str(document, BLOCK_NOTE, "-", &text, NULL);
	}
}

/* Of the event that is asked for, or the first with counts. */
static void add_flame(struct document *document, const struct named_profile *named,
		      const struct profile_report_options *options)
{
	size_t event = options->one_event ? options->event : 0;
	while (!options->one_event && event < named->profile->n_events && !named->sums[event])
		event++;
	if (event < named->profile->n_events && named->sums[event])
		document_add_flame(document, named, event);
}

void report_build_profile(struct document *document, const struct named_profile *named,
			  const struct profile_report_options *options)
{
	add_title(document, named->profile);
	for (size_t i = 0; i < named->profile->n_events; i++)
		if (!options->one_event || i == options->event)
			add_event(document, named, i, options);
	if (options->draw)
		add_flame(document, named, options);
	build_profile_views(document, named, options);
	if (named->profile->n_notes + named->n_notes || profile_stacks_remark(named))
		document_add(document, BLOCK_GAP, NULL, NULL);
	add_notes(document, named->profile->notes, named->profile->n_notes);
	add_notes(document, named->notes, named->n_notes);
	const char *stacks = profile_stacks_remark(named);
	if (stacks)
		document_add(document, BLOCK_NOTE, "-", stacks);
	if (options->text.origin)
		build_origin(document, &named->profile->machine, named->profile->started_unix,
			     options->text.origin);
}

void report_profile_text(FILE *out, const struct named_profile *named,
			 const struct profile_report_options *options)
{
	struct document document = {0};
	report_build_profile(&document, named, options);
	report_document_text(out, &document, &options->text);
	document_free(&document);
}

/* ---- without some lines ---- */

/* What is said of lines changes as more of them are known, in one direction: it is the same with none and with all
 * of those that were left out only if it is the same with any. */
static bool hottest_line_wants_lines(const struct named_profile *named, size_t event,
				     const struct profile_report_options *options)
{
	const struct lines_known least = lines_known(named, event);
	struct lines_known most = least;
	struct str with_none = {0}, with_all = {0};
	most.known += least.left_out;
	const char *none = append_hottest_line(&with_none, &least, named->sums[event], event, options);
	const char *all = append_hottest_line(&with_all, &most, named->sums[event], event, options);
	bool differs = !none || !all || strcmp(none, all) != 0 || with_none.failed || with_all.failed ||
		       strcmp(with_none.text, with_all.text) != 0;
	/* one that was left out has that much at most */
	bool beaten = least.hottest && least.hottest->counts[event].self <= least.left_out &&
		      profile_share(most.known, named->sums[event]) >= 0.5;
	str_free(&with_none);
	str_free(&with_all);
	return least.left_out && (differs || beaten);
}

/* Is one of the rows without lines shown, or as large as one that is? Rows of one size are in the order of their
 * names and lines. */
static bool rows_want_lines(const struct named_profile *named, size_t event,
			    const struct profile_report_options *options)
{
	const struct profile_listing l = {.named = named, .event = event, .sum = named->sums[event]};
	size_t n;
	const struct named_row **rows = profile_rows_sorted(&named->by_function, event, named->has_inclusive, &n);
	size_t shown = rows ? rows_shown(&l, rows, n, options) : 0;
	uint64_t least = shown ? rows[shown - 1]->counts[event].self : 0;
	bool wanted = !rows;
	for (size_t i = 0; rows && i < n; i++)
		wanted |= rows[i]->lines_left_out && rows[i]->counts[event].self >= least;
	free(rows);
	return wanted;
}

bool profile_list_wants_lines(const struct named_profile *named, const struct profile_report_options *options)
{
	bool wanted = false;
	for (size_t e = 0; e < named->profile->n_events; e++)
		if ((!options->one_event || e == options->event) && named->sums[e])
			wanted |= rows_want_lines(named, e, options) ||
				  hottest_line_wants_lines(named, e, options);
	return wanted;
}
