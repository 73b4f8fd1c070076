#include "report/data_profile.h"

#include <stdlib.h>
#include <string.h>

#include "report/breakdown.h"
#include "report/build.h"
#include "report/columns.h"
#include "report/csv_columns.h"
#include "report/html/html.h"
#include "report/number.h"
#include "report/origin.h"
#include "report/profile_rows.h"

static const double SHARE_SHOWN = 0.99;
static const double CALLERS_SHARE =
	0.01; /* of rows with less, the calls that led to the allocation are not shown */
enum { ROWS_MOST = 40, EVENTS_MOST = COLUMNS_MOST - 2 };
enum { HTML_ROWS = 500 };

struct data_listing {
	struct document *document;
	const struct breakdown *b;
	size_t events[EVENTS_MOST], n_events; /* those that have columns */
};

/* ---- names ---- */

/* "heap", "file": what the row's kind is called; a file's mapping is not one of memory alone. */
static const char *kind_of(const struct breakdown_row *row)
{
	const char *kind = row->kind ? row->kind : "unknown";
	if (strcmp(kind, "mapping") == 0 && row->module[0] && row->module[0] != '[')
		return "file";
	return kind;
}

/* "module:file:line" */
static void append_home(struct str *out, const char *module, const char *file, unsigned line)
{
	profile_append_escaped(out, module[0] ? profile_base_name(module) : "memory");
	if (file) {
		str_append_char(out, ':');
		profile_append_escaped(out, profile_base_name(file));
		if (line)
			str_appendf(out, ":%u", line);
	}
}

static void append_size(struct str *out, const struct breakdown_row *row)
{
	char number[NUMBER_BYTES];
	if (row->blocks > 1) {
		number_group(number, (double)row->blocks, 0);
		str_appendf(out, ", %s blocks", number);
	}
	if (row->bytes) {
		number_group(number, (double)row->bytes, 0);
		str_appendf(out, ", %s byte%s", number, row->bytes == 1 ? "" : "s");
	}
}

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Functions that allocate for whoever calls them, by the names that they have by custom: xmalloc, g_malloc0,
 * xstrdup, pool_alloc, operator new, what C++ containers call. */
static bool is_wrapper(const char *function)
{
	static const char *const ends[] = {"alloc",  "alloc0",  "allocarray", "memalign",
					   "strdup", "strndup", "memdup"};
	size_t length = strcspn(function, "("), end;
	if (begins(function, "std::") || begins(function, "__gnu_cxx::") || begins(function, "operator new"))
		return true;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		end = strlen(ends[i]);
		if (length >= end && strncmp(function + length - end, ends[i], end) == 0)
			return true;
	}
	return false;
}

/* The frame of a block's stack that wanted the block; where all are wrappers, the innermost one. */
static size_t site_of(const struct breakdown_row *row)
{
	size_t site = 0;
	while (site < row->n_frames && is_wrapper(row->frames[site].function))
		site++;
	return site < row->n_frames ? site : 0;
}

/* " by xstrdup, xmalloc" */
static void append_wrappers(struct str *out, const struct breakdown_row *row, size_t site)
{
	for (size_t i = site; i-- > 0;) {
		str_append(out, i + 1 == site ? " by " : ", ");
		profile_append_escaped(out, row->frames[i].function);
	}
}

/* "table (prog, 4,096 bytes)", "heap of make (prog:FILE:5, 10 blocks, 640 bytes)", "[file] /etc/ld.so.cache":
 * where there is little room, the name stays and the end of what is in parentheses. */
static const char *name_of(struct document *document, const struct breakdown_row *row)
{
	struct str text = {0}, where = {0};
	size_t site = site_of(row);
	const struct breakdown_frame *frame = row->n_frames ? &row->frames[site] : NULL;
	const char *kind = kind_of(row);
	if (frame) {
		str_appendf(&text, "%s of ", kind);
		profile_append_escaped(&text, frame->function);
		append_wrappers(&text, row, site);
		append_home(&where, frame->module, frame->file, frame->line);
	} else if (strcmp(kind, "file") == 0) {
		str_append(&text, "[file] ");
		profile_append_escaped(&text, row->module);
	} else {
		profile_append_escaped(&text, row->name);
		if (row->module[0])
			append_home(&where, row->module, row->file, 0);
	}
	append_size(&where, row);
	const char *inside = !where.length ? "" : where.text[0] == ',' ? where.text + 2 : where.text;
	if (*inside)
		str_appendf(&text, " (%s)", inside);
	document->failed |= where.failed;
	str_free(&where);
	return document_str(document, &text);
}

/* ---- rows ---- */

static uint64_t count_of(const struct data_listing *l, const struct breakdown_row *row, size_t column)
{
	return row->counts[l->events[column]];
}

static const char *number_cell(struct document *document, uint64_t count)
{
	char number[NUMBER_BYTES];
	number_group(number, (double)count, 0);
	return document_printf(document, "%s", number);
}

/* counts of the listing's columns */
static void add_row(const struct data_listing *l, struct columns *columns, const uint64_t *counts,
		    const char *name, enum columns_place place, bool emphasis)
{
	struct columns_row row = {.emphasis = emphasis, .place = place};
	double share = breakdown_share(counts[0], l->b->events[l->events[0]].sum);
	size_t c = 0;
	for (size_t i = 0; i < l->n_events; i++) {
		row.cells[c++] = number_cell(l->document, counts[i]);
		if (i == 0)
			row.cells[c++] = document_printf(l->document, "%.1f%%", 100 * share);
	}
	row.cells[c] = name;
	if (place == COLUMNS_OWN)
		row.range = (struct columns_range){.known = true, .at = share, .low = share, .high = share};
	if (!vec_push(&columns->rows, row))
		l->document->failed = true;
}

/* Where it was allocated was said: the calls that led there, to main(). */
static void add_callers(const struct data_listing *l, struct columns *columns, const struct breakdown_row *row)
{
	for (size_t i = site_of(row) + 1; i < row->n_frames; i++) {
		const struct breakdown_frame *frame = &row->frames[i];
		struct columns_row below = {.place = COLUMNS_BELOW};
		struct str text = {0};
		str_append(&text, "  called from ");
		profile_append_escaped(&text, frame->function);
		str_append(&text, " (");
		append_home(&text, frame->module, frame->file, frame->line);
		str_append_char(&text, ')');
		below.cells[l->n_events + 1] = document_str(l->document, &text);
		if (!vec_push(&columns->rows, below))
			l->document->failed = true;
		if (strcmp(frame->function, "main") == 0)
			return;
	}
}

static void add_headings(const struct data_listing *l, struct columns *columns, const char *what)
{
	size_t c = 0;
	for (size_t i = 0; i < l->n_events; i++) {
		struct str label = {0};
		const char *from = l->b->events[l->events[i]].label, *level = strchr(from, ':');
		/* what the engine counts is all of user level */
		char text[128];
		snprintf(text, sizeof text, "%.*s",
			 level && strcmp(level, ":u") == 0 ? (int)(level - from) : (int)strlen(from), from);
		profile_append_escaped(&label, text);
		columns->headings[c++] = document_str(l->document, &label);
		if (i == 0)
			columns->headings[c++] = "share";
	}
	columns->left[c] = true;
	columns->headings[c++] = what;
	columns->n = c;
	columns->flexible = c - 1;
	columns->axis = AXIS_SHARE;
}

static struct columns *begin_table(const struct data_listing *l, const char *what)
{
	document_add(l->document, BLOCK_GAP, NULL, NULL);
	struct columns *columns = document_add_columns(l->document, 1);
	if (columns)
		add_headings(l, columns, what);
	return columns;
}

static void add_total(const struct data_listing *l, struct columns *columns)
{
	uint64_t total[EVENTS_MOST];
	for (size_t i = 0; i < l->n_events; i++)
		total[i] = l->b->events[l->events[i]].sum;
	add_row(l, columns, total, "TOTAL", COLUMNS_LAST, true);
}

static bool is_listed(const struct data_listing *l, const struct breakdown_row *row)
{
	for (size_t i = 0; i < l->n_events; i++)
		if (count_of(l, row, i))
			return true;
	return false;
}

static void add_data(const struct data_listing *l, size_t top)
{
	struct columns *columns = begin_table(l, "data (module:file:line)");
	uint64_t before = 0, rest[EVENTS_MOST] = {0}, sum = l->b->events[l->events[0]].sum;
	size_t shown = 0, others = 0;
	bool enough = false;
	/* the breakdown's rows are in the order of the first event with rows, then of the next */
	for (size_t r = 0; columns && r < l->b->n_rows; r++) {
		const struct breakdown_row *row = &l->b->rows[r];
		uint64_t counts[EVENTS_MOST];
		if (!is_listed(l, row))
			continue;
		for (size_t i = 0; i < l->n_events; i++)
			counts[i] = count_of(l, row, i);
		enough = enough ||
			 (top ? shown >= top : shown >= ROWS_MOST || breakdown_share(before, sum) >= SHARE_SHOWN);
		if (!enough) {
			add_row(l, columns, counts, name_of(l->document, row), COLUMNS_OWN, false);
			if (breakdown_share(counts[0], sum) >= CALLERS_SHARE)
				add_callers(l, columns, row);
			before += counts[0];
			shown++;
			continue;
		}
		for (size_t i = 0; i < l->n_events; i++)
			rest[i] += counts[i];
		others++;
	}
	if (!columns)
		return;
	if (others)
		add_row(l, columns, rest,
			document_printf(l->document, "%zu other%s", others, others == 1 ? "" : "s"), COLUMNS_LAST,
			false);
	add_total(l, columns);
}

/* ---- by kind of memory ---- */

struct kind_sum {
	const char *kind, *text;
	uint64_t counts[EVENTS_MOST];
	bool any;
};

static int by_first(const void *a, const void *b)
{
	const struct kind_sum *x = a, *y = b;
	for (size_t i = 0; i < EVENTS_MOST; i++)
		if (x->counts[i] != y->counts[i])
			return x->counts[i] > y->counts[i] ? -1 : 1;
	return strcmp(x->kind, y->kind);
}

static void add_kinds(const struct data_listing *l)
{
	struct kind_sum kinds[] = {
		{.kind = "variable", .text = "static variables and constants"},
		{.kind = "thread-local", .text = "thread-local variables"},
		{.kind = "heap", .text = "heap blocks"},
		{.kind = "allocator", .text = "heap outside of its blocks"},
		{.kind = "stack", .text = "stacks"},
		{.kind = "mapping", .text = "mappings without a file"},
		{.kind = "file", .text = "mapped files"},
		{.kind = "code", .text = "instructions"},
		{.kind = "unknown", .text = "unknown"},
	};
	enum { KINDS = sizeof kinds / sizeof *kinds };
	struct columns *columns = begin_table(l, "kind of memory");
	for (size_t r = 0; r < l->b->n_rows; r++) {
		const char *kind = kind_of(&l->b->rows[r]);
		size_t k = 0;
		while (k < KINDS - 1 && strcmp(kinds[k].kind, kind) != 0)
			k++;
		for (size_t i = 0; i < l->n_events; i++) {
			kinds[k].counts[i] += count_of(l, &l->b->rows[r], i);
			kinds[k].any |= count_of(l, &l->b->rows[r], i) != 0;
		}
	}
	qsort(kinds, KINDS, sizeof *kinds, by_first);
	for (size_t k = 0; columns && k < KINDS; k++)
		if (kinds[k].any)
			add_row(l, columns, kinds[k].counts, kinds[k].text, COLUMNS_OWN, false);
	if (columns)
		add_total(l, columns);
}

/* ---- all ---- */

static void add_title(struct document *document, const struct result *result)
{
	struct str text = {0};
	for (size_t i = 0; result->command && result->command[i]; i++) {
		str_append(&text, i ? " " : "");
		profile_append_escaped(&text, result->command[i]);
	}
	document_add(document, BLOCK_GAP, NULL, NULL);
	document_add_str(document, BLOCK_TITLE, "tare profile:", &text, "");
}

/* "data, modelled on host: counted, not sampled" */
static void add_heading(const struct data_listing *l)
{
	struct str label = {0};
	const char *machine = NULL;
	for (size_t i = 0; i < l->b->n_events && !machine; i++)
		machine = l->b->events[i].machine;
	str_append(&label, "by data");
	if (machine) {
		str_append(&label, ", modelled on ");
		profile_append_escaped(&label, machine);
	}
	str_append(&label, ":");
	document_add(l->document, BLOCK_GAP, NULL, NULL);
	document_add(l->document, BLOCK_SUBTITLE, document_str(l->document, &label), "counted, not sampled");
}

static void add_note(struct document *document, const char *label, const char *text)
{
	struct str shown = {0};
	profile_append_escaped(&shown, text);
	document_add_str(document, BLOCK_NOTE, label, &shown, NULL);
}

static void add_notes(const struct data_listing *l, const struct result *result)
{
	document_add(l->document, BLOCK_GAP, NULL, NULL);
	if (result->timed_out || result->interrupted)
		add_note(l->document, "!",
			 result->timed_out
				 ? "the program was ended by --timeout: counts are of the part until then"
				 : "interrupted: counts are of the part until then");
	for (size_t i = 0; i < l->b->n_events; i++)
		if (l->b->events[i].why)
			add_note(l->document, "-",
				 document_printf(l->document, "no column of %s: %s", l->b->events[i].label,
						 l->b->events[i].why));
	for (size_t i = 0; i < l->b->n_notes; i++)
		add_note(l->document, "-", l->b->notes[i]);
	for (size_t i = 0; i < result->n_notes; i++)
		add_note(l->document, result->notes[i].rank == NOTE_ACT ? "!" : "-", result->notes[i].text);
}

static void build(struct document *document, const struct result *result,
		  const struct data_profile_options *options)
{
	struct data_listing l = {.document = document, .b = result->breakdown};
	bool any = false;
	for (size_t i = 0; i < l.b->n_events && l.n_events < EVENTS_MOST; i++)
		if (!l.b->events[i].why) {
			l.events[l.n_events++] = i;
			any |= l.b->events[i].sum != 0;
		}
	add_title(document, result);
	add_heading(&l);
	if (any) {
		add_data(&l, options->top);
		add_kinds(&l);
	} else if (l.n_events) {
		document_add(document, BLOCK_PARAGRAPH, NULL, "none of the events took place");
	}
	add_notes(&l, result);
	if (options->text.origin)
		build_origin(document, &result->machine, result->started_unix, options->text.origin);
}

void report_data_profile_text(FILE *out, const struct result *result, const struct data_profile_options *options)
{
	struct document document = {0};
	build(&document, result, options);
	report_document_text(out, &document, &options->text);
	document_free(&document);
}

void report_data_profile_html(FILE *out, const struct result *result, const struct data_profile_options *options)
{
	struct document document = {0};
	struct str name = {0};
	struct data_profile_options all = *options;
	if (!all.top)
		all.top = HTML_ROWS;
	build(&document, result, &all);
	for (size_t i = 0; result->command && result->command[i]; i++)
		str_appendf(&name, "%s%s", i ? " " : "", result->command[i]);
	report_document_html(out, &document, name.text ? name.text : "tare");
	str_free(&name);
	document_free(&document);
}

/* ---- CSV ---- */

static void csv_row(FILE *out, const struct breakdown *b, size_t event, const struct breakdown_row *row)
{
	const struct breakdown_event *e = &b->events[event];
	struct str stack = {0};
	fputs("1", out);
	profile_csv_text(out, kind_of(row));
	profile_csv_text(out, row->name);
	profile_csv_text(out, row->module);
	profile_csv_text(out, e->label);
	profile_csv_text(out, e->machine);
	fprintf(out, ",%llu", (unsigned long long)row->counts[event]);
	csv_number(out, e->sum != 0, breakdown_share(row->counts[event], e->sum));
	if (row->bytes)
		fprintf(out, ",%llu,%llu", (unsigned long long)row->blocks, (unsigned long long)row->bytes);
	else
		fputs(",,", out);
	breakdown_append_frames(&stack, row);
	profile_csv_text(out, stack.text);
	str_free(&stack);
	fputs(",\r\n", out);
}

void report_data_profile_csv(FILE *out, const struct result *result)
{
	const struct breakdown *b = result->breakdown;
	fputs("tare,kind,data,module,event,machine,count,share,blocks,bytes,stack,why\r\n", out);
	for (size_t e = 0; e < b->n_events; e++) {
		for (size_t r = 0; r < b->n_rows && !b->events[e].why; r++)
			if (b->rows[r].counts[e])
				csv_row(out, b, e, &b->rows[r]);
		/* what the shares are of, or why there are none */
		fputs("1,total,,", out);
		profile_csv_text(out, b->events[e].label);
		profile_csv_text(out, b->events[e].machine);
		if (b->events[e].why)
			fputs(",,", out);
		else
			fprintf(out, ",%llu,1", (unsigned long long)b->events[e].sum);
		fputs(",,,", out);
		profile_csv_text(out, b->events[e].why);
		fputs("\r\n", out);
	}
}
