/* A breakdown as rows: of each event the functions, lines or objects with the most counts, what they have
 * together, and the rest in one row. The listing is that of SpeedShop's prof (Zagha, "counts(%) cum counts(%)
 * procedure (dso:file)"). */
#include <stdlib.h>
#include <string.h>

#include "report/breakdown.h"
#include "report/build.h"
#include "report/number.h"

enum { NOTES_SHOWN = 8 };

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash && slash[1] ? slash + 1 : path;
}

static void append_escaped(struct str *out, const char *text)
{
	char shown[512];
	str_escape_to(shown, sizeof shown, text);
	str_append(out, shown);
}

/* "(module:file:line)" */
static void append_home(struct str *out, const char *module, const char *file, unsigned line)
{
	if (!module[0] && !file)
		return;
	str_append(out, " (");
	append_escaped(out, module[0] ? base_name(module) : "memory");
	if (file) {
		str_append_char(out, ':');
		append_escaped(out, base_name(file));
		if (line)
			str_appendf(out, ":%u", line);
	}
	str_append_char(out, ')');
}

static void append_name(struct str *out, const struct breakdown *b, const struct breakdown_row *row)
{
	char number[NUMBER_BYTES];
	if (b->by == BREAKDOWN_BY_LINE && row->file) {
		append_escaped(out, base_name(row->file));
		if (row->line)
			str_appendf(out, ":%u", row->line);
		else
			str_append(out, ":?"); /* the compiler's own code */
		append_home(out, row->module, NULL, 0);
		return;
	}
	append_escaped(out, row->name);
	if (b->by == BREAKDOWN_BY_LIBRARY)
		return;
	if (b->by == BREAKDOWN_BY_OBJECT) {
		if (row->bytes) {
			number_group(number, (double)row->bytes, 0);
			str_appendf(out, ", %s bytes", number);
		}
		if (row->blocks > 1)
			str_appendf(out, " in %llu blocks", (unsigned long long)row->blocks);
	}
	append_home(out, row->module, row->file, 0);
}

static void push(struct document *document, struct document_table *table, struct document_row row)
{
	if (!vec_push(&table->rows, row))
		document->failed = true;
}

static void put_count(struct document *document, struct document_row *row, int cell, uint64_t count, uint64_t sum)
{
	char number[NUMBER_BYTES];
	number_group(number, (double)count, 0);
	row->cells[cell] = document_printf(document, "%s", number);
	row->cells[cell + 1] = document_printf(document, "%.1f%%", 100 * breakdown_share(count, sum));
}

/* count, of sum; second: of the cumulative, or the inclusive, column; NULL: not known */
static void add_row(struct document *document, struct document_table *table, uint64_t count,
		    const uint64_t *second, uint64_t sum, const char *name)
{
	struct document_row row = {.kind = ROW_COUNT, .known = true};
	put_count(document, &row, CELL_COUNT, count, sum);
	if (second)
		put_count(document, &row, CELL_CUMULATIVE, *second, sum);
	row.cells[CELL_NAME] = name;
	push(document, table, row);
}

/* Where an object was allocated, and the calls that led there. */
static void add_frames(struct document *document, struct document_table *table, const struct breakdown_row *row)
{
	for (size_t i = 0; i < row->n_frames; i++) {
		struct str line = {0};
		str_append(&line, i ? "called from " : "allocated in ");
		append_escaped(&line, row->frames[i].function);
		append_home(&line, row->frames[i].module, row->frames[i].file, row->frames[i].line);
		push(document, table,
		     (struct document_row){.kind = ROW_FRAME, .cells = {document_str(document, &line)}});
	}
}

/* True: a row is there whose inclusive count is not known. */
static bool add_rows(struct document *document, const struct breakdown *b, size_t event,
		     const struct breakdown_row **rows, size_t n)
{
	struct document_table *table = document_add_table(document, BLOCK_BREAKDOWN);
	uint64_t before = 0, sum = b->events[event].sum;
	/* one more row takes no more room than the line that says it is there */
	size_t shown = n <= BREAKDOWN_ROWS_SHOWN + 1 ? n : BREAKDOWN_ROWS_SHOWN;
	bool nested = false;
	if (!table)
		return false;
	table->headings[CELL_COUNT] = b->inclusive ? "self(%)" : "counts(%)";
	table->headings[CELL_CUMULATIVE] = b->inclusive ? "inclusive(%)" : "cum(%)";
	table->headings[CELL_NAME] = b->by == BREAKDOWN_BY_FUNCTION  ? "function (module:file)"
				     : b->by == BREAKDOWN_BY_LINE    ? "line (module)"
				     : b->by == BREAKDOWN_BY_LIBRARY ? "program or library"
								     : "object (module)";
	for (size_t i = 0; i < shown; i++) {
		struct str name = {0};
		append_name(&name, b, rows[i]);
		before += rows[i]->counts[event];
		const uint64_t *all = rows[i]->inclusive ? &rows[i]->inclusive[event] : NULL;
		nested |= b->inclusive && !all;
		add_row(document, table, rows[i]->counts[event], b->inclusive ? all : &before, sum,
			document_str(document, &name));
		add_frames(document, table, rows[i]);
	}
	if (shown < n)
		add_row(document, table, sum - before, b->inclusive ? NULL : &sum, sum,
			document_printf(document, "%zu other%s", n - shown, n - shown == 1 ? "" : "s"));
	add_row(document, table, sum, &sum, sum, "TOTAL");
	return nested;
}

/* "loads by function", and ", modelled on r12000, of run 1 of 5" */
static void add_heading(struct document *document, const struct breakdown *b, const struct breakdown_event *e)
{
	struct str label = {0}, rest = {0};
	append_escaped(&label, e->label);
	str_appendf(&label, " by %s", breakdown_by_name(b->by));
	if (e->machine) {
		str_append(&rest, ", modelled on ");
		append_escaped(&rest, e->machine);
	}
	if (b->runs > 1)
		str_appendf(&rest, ", of run %zu of %zu", b->run, b->runs);
	document_add(document, BLOCK_GAP, NULL, NULL);
	document_add_str(document, BLOCK_HEADING, document_str(document, &label), &rest, "");
}

static void add_event(struct document *document, const struct breakdown *b, size_t event)
{
	const struct breakdown_event *e = &b->events[event];
	struct str text = {0};
	size_t n = 0;
	if (e->why)
		return;
	add_heading(document, b, e);
	if (e->defect) {
		str_append(&text, "WRONG: ");
		append_escaped(&text, e->defect);
		document_add_str(document, BLOCK_WARNING, NULL, &text, NULL);
	}
	const struct breakdown_row **rows = breakdown_sorted(b, event, b->inclusive, &n);
	if (rows && add_rows(document, b, event, rows, n))
		document_add(
			document, BLOCK_REMARK, "-",
			b->by == BREAKDOWN_BY_LINE
				? "inclusive -: this line calls what comes back to it (a recursion)"
				: "inclusive -: code without a name, which calls what comes back to such code, "
				  "or to which control comes otherwise than by calls");
	document->failed |= !rows;
	free(rows);
}

/* Events that have no rows: one remark for each reason. */
static void add_reasons(struct document *document, const struct breakdown *b)
{
	bool first = true;
	for (size_t i = 0; i < b->n_events; i++) {
		const char *why = b->events[i].why;
		bool before = false;
		for (size_t k = 0; why && k < i; k++)
			before |= b->events[k].why && strcmp(b->events[k].why, why) == 0;
		if (!why || before)
			continue;
		struct str text = {0};
		for (size_t k = i; k < b->n_events; k++) {
			if (!b->events[k].why || strcmp(b->events[k].why, why) != 0)
				continue;
			str_append(&text, k > i ? ", " : "");
			append_escaped(&text, b->events[k].label);
		}
		str_appendf(&text, " by %s: not broken down: ", breakdown_by_name(b->by));
		append_escaped(&text, why);
		if (first)
			document_add(document, BLOCK_GAP, NULL, NULL);
		first = false;
		document_add_str(document, BLOCK_REMARK, "-", &text, NULL);
	}
}

void build_breakdown(struct document *document, const struct breakdown *b, bool first_only)
{
	size_t shown = b->n_notes < NOTES_SHOWN ? b->n_notes : NOTES_SHOWN, with_rows = 0;
	for (size_t i = 0; i < b->n_events; i++) {
		if (!first_only || !with_rows)
			add_event(document, b, i);
		with_rows += !b->events[i].why;
	}
	if (!first_only || !with_rows)
		add_reasons(document, b);
	else if (with_rows > 1)
		document_note(document, NOTE_READ, "-",
			      document_printf(document, "%zu more event%s by %s: -v shows %s, -e chooses",
					      with_rows - 1, with_rows == 2 ? "" : "s", breakdown_by_name(b->by),
					      with_rows == 2 ? "it" : "them"));
	if (shown)
		document_add(document, BLOCK_GAP, NULL, NULL);
	for (size_t i = 0; i < shown; i++)
		document_add(document, BLOCK_REMARK, "-", b->notes[i]);
	if (b->n_notes > shown)
		document_add(document, BLOCK_LINE, NULL,
			     document_printf(document, "- and %zu more file%s without all names",
					     b->n_notes - shown, b->n_notes - shown == 1 ? "" : "s"));
}
