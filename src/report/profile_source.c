/* The hottest lines in their source: windows of it, with what took place in each line beside it. */
#include <stdlib.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/event_columns.h"
#include "report/profile.h"
#include "report/profile_rows.h"
#include "report/source_text.h"

enum {
	CONTEXT = 3,         /* lines around a hot one */
	LINES_MOST = 30,     /* hot lines, unless --top says how many */
	HEADING_MOST = 200,  /* columns, where the report is not on a terminal */
	BESIDE = 6 + 2 + 16, /* columns beside those of events: the line, and the least of its text */
};

/* The lines with this share of the event are shown, as far as LINES_MOST allows; so are lines that call and
 * have at least that share with their calls. */
static const double SHARE_HOT = 0.95, SHARE_CALLING = 0.10;

struct hot_line {
	const struct named_row *row;
	bool shown;
};

struct source_report {
	struct document *document;
	const struct named_profile *named;
	size_t width; /* of headings */
	struct event_columns columns;
	struct hot_line *lines;
	size_t n;
};

/* ---- rows ---- */

static size_t add_counts(struct source_report *r, struct columns_row *row, const struct named_row *line)
{
	uint64_t counts[EVENT_COLUMNS_MOST];
	for (size_t i = 0; i < r->columns.n; i++)
		counts[i] = line ? line->counts[r->columns.events[i]].self : 0;
	return event_columns_cells(&r->columns, row, counts);
}

/* Of a line that calls: what took place in it and in its calls. */
static size_t add_inclusive(struct source_report *r, struct columns_row *row, size_t c,
			    const struct named_row *line)
{
	for (size_t i = 0; i < r->columns.inclusive; i++) {
		size_t event = r->columns.events[i];
		const struct named_count *count = line && line->calls ? &line->counts[event] : NULL;
		double share = count ? profile_share(count->inclusive, r->named->sums[event]) : 0;
		row->cells[c++] = !count          ? ""
				  : count->nested ? PROFILE_NESTED
						  : document_printf(r->document, "%.1f%%", 100 * share);
	}
	return c;
}

static void add_line(struct source_report *r, struct columns *columns, const struct named_row *line,
		     unsigned number, const char *text)
{
	struct columns_row row = {0};
	size_t c = add_counts(r, &row, line);
	c = add_inclusive(r, &row, c, line);
	row.cells[c++] = number ? document_printf(r->document, "%u", number) : "";
	row.cells[c] = text;
	row.emphasis = line != NULL;
	if (!vec_push(&columns->rows, row))
		r->document->failed = true;
}

static struct columns *add_table(struct source_report *r)
{
	struct columns *columns = document_add_columns(r->document, 1);
	if (!columns)
		return NULL;
	size_t c = event_columns_headings(&r->columns, columns);
	c = event_columns_inclusive_headings(&r->columns, columns, c);
	columns->headings[c++] = "line";
	columns->left[c] = true;
	columns->cut_at_end = true;
	columns->n = c + 1;
	columns->flexible = c;
	return columns;
}

/* ---- files ---- */

static bool same_file(const struct named_row *a, const struct named_row *b)
{
	return strcmp(a->file, b->file) == 0 && strcmp(a->module, b->module) == 0;
}

/* The row of that line of the file, whether it is one of the hottest or not; NULL. */
static const struct named_row *row_of_line(const struct source_report *r, const struct named_row *file,
					   unsigned line)
{
	const struct named_table *t = &r->named->by_line;
	for (size_t i = 0; i < t->n; i++) {
		const struct named_row *row = &t->rows[i];
		if (row->line != line || !row->file || !same_file(row, file))
			continue;
		for (size_t e = 0; e < r->columns.n; e++)
			if (row->counts[r->columns.events[e]].self ||
			    (row->calls && row->counts[r->columns.events[e]].inclusive))
				return row;
	}
	return NULL;
}

static bool is_near_hot(const struct source_report *r, const struct named_row *file, unsigned line)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct named_row *row = r->lines[i].row;
		if (row->line + CONTEXT >= line && row->line <= line + CONTEXT && same_file(row, file))
			return true;
	}
	return false;
}

static void add_heading(struct source_report *r, const struct named_row *file, const struct source_text *source)
{
	struct str name = {0}, text = {0}, rest = {0};
	profile_append_escaped(&name, file->file);
	str_append(&name, " (");
	profile_append_escaped(&name, profile_base_name(file->module));
	str_append(&name, ")");
	columns_shorten(&text, name.text && !name.failed ? name.text : "?", r->width - 1); /* and a colon */
	str_free(&name);
	if (source->why[0]) {
		str_append(&rest, ": no source, ");
		profile_append_escaped(&rest, source->why);
	} else if (source->newer) {
		str_append(&rest, ": CHANGED since the profile was taken: its lines may be others");
	}
	document_add(r->document, BLOCK_GAP, NULL, NULL);
	document_add_str(r->document, BLOCK_HEADING, document_str(r->document, &text), &rest, "");
}

/* readable: only if its source can be read; else only if not. */
static void add_file(struct source_report *r, const struct named_row *file, bool readable)
{
	struct source_text source;
	struct columns *columns;
	source_text_read(file->file, r->named->profile->started_unix, &source);
	if (readable != !source.why[0]) {
		source_text_free(&source);
		return;
	}
	add_heading(r, file, &source);
	unsigned before = 0;
	if ((columns = add_table(r))) {
		for (unsigned line = 1; line <= source.n; line++) {
			if (!is_near_hot(r, file, line))
				continue;
			if (before && before + 1 != line)
				add_line(r, columns, NULL, 0, "…");
			before = line;
			add_line(r, columns, row_of_line(r, file, line), line,
				 source_text_shown(r->document, source.lines[line - 1]));
		}
		for (size_t i = 0; i < r->n; i++) { /* without its source, the number alone */
			const struct named_row *row = r->lines[i].row;
			if (same_file(row, file) && row->line > source.n)
				add_line(r, columns, row, row->line, "");
		}
	}
	for (size_t i = 0; i < r->n; i++)
		r->lines[i].shown |= same_file(r->lines[i].row, file);
	source_text_free(&source);
}

static void add_hot(struct source_report *r, const struct named_row *row)
{
	bool there = !row->file || !row->line;
	for (size_t i = 0; i < r->n && !there; i++)
		there = r->lines[i].row == row;
	if (!there)
		r->lines[r->n++].row = row;
}

static void add_calling(struct source_report *r, size_t event, size_t most)
{
	const struct named_table *t = &r->named->by_line;
	for (size_t i = 0, taken = 0; i < t->n && taken < most; i++) {
		const struct named_count *count = &t->rows[i].counts[event];
		if (!t->rows[i].calls || count->nested ||
		    profile_share(count->inclusive, r->named->sums[event]) < SHARE_CALLING)
			continue;
		add_hot(r, &t->rows[i]);
		taken++;
	}
}

/* The hottest lines of an event that are not there yet. */
static bool add_hottest(struct source_report *r, size_t event, size_t most)
{
	size_t n;
	uint64_t before = 0;
	const struct named_row **rows = profile_rows_sorted(&r->named->by_line, event, false, &n);
	if (!rows)
		return false;
	for (size_t i = 0, taken = 0;
	     i < n && taken < most && profile_share(before, r->named->sums[event]) < SHARE_HOT; i++) {
		add_hot(r, rows[i]);
		before += rows[i]->counts[event].self;
		taken++;
	}
	free(rows);
	return true;
}

void build_profile_source(struct document *document, const struct named_profile *named,
			  const struct profile_report_options *options)
{
	int width = options->text.width;
	struct source_report r = {
		.document = document, .named = named, .width = width ? (size_t)width : HEADING_MOST};
	event_columns_open(&r.columns, document, named, options, BESIDE, named->n_arcs > 0);
	r.lines = calloc(named->by_line.n + 1, sizeof *r.lines);
	bool done = r.lines != NULL;
	event_columns_legend(&r.columns);
	for (size_t i = 0; done && i < r.columns.n; i++)
		done = add_hottest(&r, r.columns.events[i], options->top ? options->top : LINES_MOST);
	for (size_t i = 0; done && i < r.columns.inclusive; i++)
		add_calling(&r, r.columns.events[i], options->top ? options->top : LINES_MOST);
	document->failed |= !done;
	for (int readable = 1; readable >= 0; readable--) /* those with source first */
		for (size_t i = 0; done && i < r.n; i++)
			if (!r.lines[i].shown)
				add_file(&r, r.lines[i].row, readable);
	if (done && r.columns.n && !r.n)
		document_add(document, BLOCK_PARAGRAPH, NULL,
			     "no source lines are known: compile with -g, or install the debug files");
	free(r.lines);
}
