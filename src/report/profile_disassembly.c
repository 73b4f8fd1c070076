/* A function's instructions, with what took place in each beside it, and the source lines that they were made for.
 * */
#include <stdlib.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/event_columns.h"
#include "report/profile.h"
#include "report/profile_rows.h"
#include "report/source_text.h"
#include "report/table.h"

enum {
	CONTEXT = 4,          /* instructions around a hot one */
	WHOLE_MOST = 48,      /* a function with so many is shown whole */
	FILES_MOST = 64,      /* whose source is read */
	BESIDE = 12 + 2 + 16, /* columns beside those of events: the address, and the least of the instruction */
};

struct read_file {
	const char *path;
	struct source_text source;
};

struct disassembly_report {
	struct document *document;
	const struct named_profile *named;
	const struct named_code *code;
	struct event_columns columns;
	struct columns *table;
	struct read_file files[FILES_MOST];
	size_t n_files;
};

static const struct source_text *source_of(struct disassembly_report *r, const char *path)
{
	for (size_t i = 0; i < r->n_files; i++)
		if (strcmp(r->files[i].path, path) == 0)
			return &r->files[i].source;
	if (r->n_files == FILES_MOST)
		return NULL;
	struct read_file *file = &r->files[r->n_files++];
	file->path = path;
	source_text_read(path, r->named->profile->started_unix, &file->source);
	return &file->source;
}

static bool has_counts(const struct disassembly_report *r, size_t i)
{
	for (size_t e = 0; e < r->columns.n; e++)
		if (r->code->all[i].counts[r->columns.events[e]])
			return true;
	return false;
}

/* Enough of any event to be looked at: of a counted profile nearly every instruction has some. */
static bool is_hot(const struct disassembly_report *r, size_t i)
{
	static const double SHARE_HOT = 0.005;
	for (size_t e = 0; e < r->columns.n; e++) {
		size_t event = r->columns.events[e];
		if (profile_share(r->code->all[i].counts[event], r->named->sums[event]) >= SHARE_HOT)
			return true;
	}
	return false;
}

static void add_row(struct disassembly_report *r, const uint64_t *counts, const char *address, const char *text)
{
	static const uint64_t none[EVENT_COLUMNS_MOST];
	struct columns_row row = {.emphasis = counts != NULL};
	size_t c = event_columns_cells(&r->columns, &row, counts ? counts : none);
	row.cells[c++] = address;
	row.cells[c] = text;
	if (!vec_push(&r->table->rows, row))
		r->document->failed = true;
}

/* The line and its text, where another line begins. */
static void add_source(struct disassembly_report *r, const struct named_instruction *at)
{
	struct str text = {0};
	const struct source_text *source = at->line ? source_of(r, at->file) : NULL;
	profile_append_escaped(&text, profile_base_name(at->file));
	str_appendf(&text, at->line ? ":%u" : ":?", at->line);
	const char *line = source && at->line <= source->n
				   ? source_text_shown(r->document, source->lines[at->line - 1])
				   : NULL;
	if (line)
		str_appendf(&text, "  %s", line + strspn(line, " "));
	add_row(r, NULL, "", document_str(r->document, &text));
}

static void add_instruction(struct disassembly_report *r, size_t i)
{
	const struct named_instruction *one = &r->code->all[i];
	uint64_t counts[EVENT_COLUMNS_MOST];
	struct str text = {0};
	for (size_t e = 0; e < r->columns.n; e++)
		counts[e] = one->counts[r->columns.events[e]];
	str_append(&text, "    ");
	profile_append_escaped(&text, one->text);
	add_row(r, has_counts(r, i) ? counts : NULL,
		document_printf(r->document, "%llx", (unsigned long long)one->address),
		document_str(r->document, &text));
}

static bool same_line(const struct named_instruction *a, const struct named_instruction *b)
{
	return a->line == b->line && (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

static void add_instructions(struct disassembly_report *r, bool whole)
{
	const struct named_code *code = r->code;
	const struct named_instruction *before = NULL;
	bool *near = calloc(code->n + 1, sizeof *near), gap = false;
	if (!near) {
		r->document->failed = true;
		return;
	}
	for (size_t i = 0; i < code->n; i++) {
		size_t from = i > CONTEXT ? i - CONTEXT : 0,
		       to = i + CONTEXT < code->n ? i + CONTEXT : code->n - 1;
		if (whole)
			near[i] = true;
		else if (is_hot(r, i))
			memset(near + from, 1, to - from + 1);
	}
	for (size_t i = 0; i < code->n; i++) {
		if (!near[i]) {
			gap = true;
			continue;
		}
		if (gap && before)
			add_row(r, NULL, "\u2026", "");
		if (code->all[i].file && (!before || gap || !same_line(before, &code->all[i])))
			add_source(r, &code->all[i]);
		add_instruction(r, i);
		before = &code->all[i];
		gap = false;
	}
	free(near);
}

static void add_table(struct disassembly_report *r, bool whole)
{
	if (!(r->table = document_add_columns(r->document, 1)))
		return;
	size_t c = event_columns_headings(&r->columns, r->table);
	r->table->headings[c++] = "address";
	r->table->headings[c] = "instruction";
	r->table->left[c] = true;
	r->table->cut_at_end = true;
	r->table->n = c + 1;
	r->table->flexible = c;
	add_instructions(r, whole || r->code->n <= WHOLE_MOST);
}

void build_profile_disassembly(struct document *document, const struct named_profile *named,
			       const struct named_code *code, bool whole,
			       const struct profile_report_options *options)
{
	struct disassembly_report r = {.document = document, .named = named, .code = code};
	struct str name = {0}, heading = {0}, rest = {0};
	event_columns_open(&r.columns, document, named, options, BESIDE, false);
	profile_append_row_name(&name, &named->by_function.rows[code->row]);
	columns_shorten(&heading, name.text ? name.text : "", (size_t)table_width(&options->text) - 1);
	str_free(&name);
	if (code->why) {
		str_append(&rest, ": not disassembled: ");
		profile_append_escaped(&rest, code->why);
	}
	document_add(document, BLOCK_GAP, NULL, NULL);
	document_add_str(document, BLOCK_HEADING, document_str(document, &heading), &rest, "");
	event_columns_legend(&r.columns);
	if (!code->why)
		add_table(&r, whole);
	for (size_t e = 0; e < r.columns.n; e++)
		if (!code->why && code->elsewhere[r.columns.events[e]])
			document_add(document, BLOCK_PARAGRAPH, NULL,
				     document_printf(document,
						     "%llu more at addresses at which no instruction of it begins",
						     (unsigned long long)code->elsewhere[r.columns.events[e]]));
	for (size_t i = 0; i < r.n_files; i++)
		source_text_free(&r.files[i].source);
}
