/* The hottest lines in their source: windows of it, with what took place in each line beside it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "report/build.h"
#include "report/columns.h"
#include "report/number.h"
#include "report/profile.h"
#include "report/profile_rows.h"

enum {
	CONTEXT = 3,            /* lines around a hot one */
	LINES_MOST = 30,        /* hot lines, unless --top says how many */
	SOURCE_MOST = 16 << 20, /* bytes of a file */
	EVENTS_MOST = 8,
	WITH_COUNTS = 1, /* with so many events at most, counts stand beside the shares */
};

/* The lines with this share of the event are shown, as far as LINES_MOST allows. */
static const double SHARE_HOT = 0.95;

struct hot_line {
	const struct named_row *row;
	bool shown;
};

struct source_report {
	struct document *document;
	const struct named_profile *named;
	size_t events[EVENTS_MOST], n_events;
	struct hot_line *lines;
	size_t n;
};

/* ---- the source ---- */

struct source_text {
	char *bytes;
	const char **lines; /* each ends in '\0'; line 1 is lines[0] */
	size_t n;
	char why[256];
	bool newer; /* it was written after the profile was taken */
};

static bool split_lines(struct source_text *s)
{
	size_t n = 1;
	for (const char *at = s->bytes; (at = strchr(at, '\n')); at++)
		n++;
	if (!(s->lines = calloc(n, sizeof *s->lines)))
		return false;
	for (char *at = s->bytes; at && *at;) {
		s->lines[s->n++] = at;
		if ((at = strchr(at, '\n')))
			*at++ = '\0';
	}
	return true;
}

/* Not to hang on a FIFO, nor to read a device, that has a source file's name. */
static bool is_regular(const char *path, uint64_t taken_unix, struct source_text *s)
{
	struct stat status;
	if (stat(path, &status) != 0) {
		snprintf(s->why, sizeof s->why, "%s", strerror(errno));
		return false;
	}
	s->newer = taken_unix && status.st_mtime > (time_t)taken_unix;
	if (!S_ISREG(status.st_mode))
		snprintf(s->why, sizeof s->why, "it is not a regular file");
	return S_ISREG(status.st_mode);
}

static void read_source(const char *path, uint64_t taken_unix, struct source_text *s)
{
	struct error err = {0};
	size_t length;
	*s = (struct source_text){0};
	if (!is_regular(path, taken_unix, s))
		return;
	if (!(s->bytes = file_read(path, SOURCE_MOST, &length, &err)))
		snprintf(s->why, sizeof s->why, "%.200s", err.text);
	else if (strlen(s->bytes) != length)
		snprintf(s->why, sizeof s->why, "it is not text");
	else if (!split_lines(s))
		snprintf(s->why, sizeof s->why, "out of memory");
	if (s->why[0])
		s->n = 0;
}

static void free_source(struct source_text *s)
{
	free(s->bytes);
	free(s->lines);
}

/* ---- rows ---- */

/* The text of a line, with tabs as spaces and nothing that acts. */
static const char *shown_text(struct document *document, const char *text)
{
	struct str plain = {0}, shown = {0};
	for (size_t column = 0; *text && *text != '\r'; text++) {
		size_t n = *text == '\t' ? 8 - column % 8 : 1;
		for (size_t i = 0; *text == '\t' && i < n; i++)
			str_append_char(&plain, ' ');
		if (*text != '\t')
			str_append_char(&plain, *text);
		column += n;
	}
	profile_append_escaped(&shown, plain.text ? plain.text : "");
	str_free(&plain);
	return document_str(document, &shown);
}

static size_t add_counts(struct source_report *r, struct columns_row *row, const struct named_row *line)
{
	size_t c = 0;
	char number[NUMBER_BYTES];
	for (size_t i = 0; i < r->n_events; i++) {
		uint64_t count = line ? line->counts[r->events[i]].self : 0;
		number_group(number, (double)count, 0);
		if (r->n_events <= WITH_COUNTS)
			row->cells[c++] = count ? document_printf(r->document, "%s", number) : "";
		row->cells[c++] = count ? document_printf(r->document, "%.1f%%",
							  100 * profile_share(count, r->named->sums[r->events[i]]))
					: "";
	}
	return c;
}

static void add_line(struct source_report *r, struct columns *columns, const struct named_row *line,
		     unsigned number, const char *text)
{
	struct columns_row row = {0};
	size_t c = add_counts(r, &row, line);
	row.cells[c++] = number ? document_printf(r->document, "%u", number) : "";
	row.cells[c] = text;
	row.emphasis = line != NULL;
	if (!vec_push(&columns->rows, row))
		r->document->failed = true;
}

static struct columns *add_table(struct source_report *r)
{
	size_t c = 0;
	struct columns *columns = document_add_columns(r->document, 1);
	if (!columns)
		return NULL;
	for (size_t i = 0; i < r->n_events; i++) {
		struct str label = {0};
		profile_append_escaped(&label, r->named->profile->events[r->events[i]].label);
		if (r->n_events <= WITH_COUNTS)
			columns->headings[c++] = document_str(r->document, &label);
		str_append(&label, r->n_events <= WITH_COUNTS ? "share" : "");
		columns->headings[c++] = document_str(r->document, &label);
	}
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
		for (size_t e = 0; e < r->n_events; e++)
			if (row->counts[r->events[e]].self)
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
	struct str text = {0}, rest = {0};
	profile_append_escaped(&text, file->file);
	str_append(&rest, " (");
	profile_append_escaped(&rest, profile_base_name(file->module));
	str_append(&rest, ")");
	if (source->why[0]) {
		str_append(&rest, ": no source, ");
		profile_append_escaped(&rest, source->why);
	} else if (source->newer) {
		str_append(&rest, ": CHANGED since the profile was taken: its lines may be others");
	}
	document_add(r->document, BLOCK_GAP, NULL, NULL);
	document_add_str(r->document, BLOCK_HEADING, document_str(r->document, &text), &rest, "");
}

static void add_file(struct source_report *r, const struct named_row *file)
{
	struct source_text source;
	struct columns *columns;
	read_source(file->file, r->named->profile->started_unix, &source);
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
				 shown_text(r->document, source.lines[line - 1]));
		}
		for (size_t i = 0; i < r->n; i++) { /* without its source, the number alone */
			const struct named_row *row = r->lines[i].row;
			if (same_file(row, file) && row->line > source.n)
				add_line(r, columns, row, row->line, "");
		}
	}
	for (size_t i = 0; i < r->n; i++)
		r->lines[i].shown |= same_file(r->lines[i].row, file);
	free_source(&source);
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
		bool there = !rows[i]->file || !rows[i]->line;
		for (size_t j = 0; j < r->n && !there; j++)
			there = r->lines[j].row == rows[i];
		before += rows[i]->counts[event].self;
		if (!there)
			r->lines[r->n++].row = rows[i];
		taken++;
	}
	free(rows);
	return true;
}

void build_profile_source(struct document *document, const struct named_profile *named, size_t most)
{
	struct source_report r = {.document = document, .named = named};
	for (size_t i = 0; i < named->profile->n_events && r.n_events < EVENTS_MOST; i++)
		if (named->sums[i])
			r.events[r.n_events++] = i;
	r.lines = calloc(named->by_line.n + 1, sizeof *r.lines);
	bool done = r.lines != NULL;
	for (size_t i = 0; done && i < r.n_events; i++)
		done = add_hottest(&r, r.events[i], most ? most : LINES_MOST);
	document->failed |= !done;
	for (size_t i = 0; done && i < r.n; i++)
		if (!r.lines[i].shown)
			add_file(&r, r.lines[i].row);
	if (done && r.n_events && !r.n)
		document_add(document, BLOCK_PARAGRAPH, NULL,
			     "no source lines are known: compile with -g, or install the debug files");
	free(r.lines);
}
