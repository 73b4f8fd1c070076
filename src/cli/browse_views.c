#include "cli/browse_views.h"

#include <stdlib.h>
#include <string.h>

#include "report/document.h"
#include "report/profile_calls.h"
#include "report/profile_rows.h"
#include "report/source_text.h"
#include "session/profile_views.h"

static const char *keep(struct browse_view *view, struct str *text)
{
	const char *kept = text->failed ? NULL : arena_strdup(&view->arena, text->text ? text->text : "");
	str_free(text);
	return kept ? kept : "(out of memory)";
}

static const char *name_of(struct browse_view *view, const struct named_row *row)
{
	struct str name = {0};
	profile_append_row_name(&name, row);
	return keep(view, &name);
}

static const char *escaped(struct browse_view *view, const char *text)
{
	struct str shown = {0};
	profile_append_escaped(&shown, text);
	return keep(view, &shown);
}

static bool add(struct browse_view *view, struct browse_row row, struct error *err)
{
	return vec_push(&view->rows, row) || error_no_memory(err);
}

/* A remark, in rows that a terminal of 60 columns shows whole. */
static bool add_text(struct browse_view *view, const char *text, struct error *err)
{
	enum { REMARK_BYTES = 56 };
	const char *rest = escaped(view, text);
	bool done = true;
	do {
		size_t n = strlen(rest);
		if (n > REMARK_BYTES) {
			const char *space = memrchr(rest, ' ', REMARK_BYTES + 1);
			n = space && space > rest ? (size_t)(space - rest) : strcspn(rest, " ");
		}
		const char *row = arena_printf(&view->arena, "%.*s", (int)n, rest);
		done = row ? add(view, (struct browse_row){.text = row, .mark = "", .function = VIEW_NO_ROW}, err)
			   : error_no_memory(err);
		rest += n;
		rest += strspn(rest, " ");
	} while (done && *rest);
	return done;
}

/* ---- lists ---- */

static int by_self(const void *a, const void *b)
{
	const struct browse_row *x = a, *y = b;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return x->inclusive != y->inclusive ? (x->inclusive > y->inclusive ? -1 : 1) : strcmp(x->text, y->text);
}

static int by_inclusive(const void *a, const void *b)
{
	const struct browse_row *x = a, *y = b;
	return x->inclusive != y->inclusive ? (x->inclusive > y->inclusive ? -1 : 1) : by_self(a, b);
}

static int by_name(const void *a, const void *b)
{
	const struct browse_row *x = a, *y = b;
	int names = strcmp(x->text, y->text);
	return names ? names : by_self(a, b);
}

static bool fill_list(struct browse_view *view, const struct named_profile *named, struct error *err)
{
	static int (*const orders[])(const void *, const void *) = {
		[ORDER_SELF] = by_self, [ORDER_INCLUSIVE] = by_inclusive, [ORDER_NAME] = by_name};
	bool lines = view->kind == VIEW_LINES;
	const struct named_table *table = lines ? &named->by_line : &named->by_function;
	for (size_t i = 0; i < table->n; i++) {
		const struct named_count *count = &table->rows[i].counts[view->event];
		struct browse_row row = {.text = "",
					 .mark = "",
					 .counts = true,
					 .self = count->self,
					 .inclusive = count->inclusive,
					 .nested = count->nested,
					 .named = &table->rows[i],
					 .function = lines ? VIEW_NO_ROW : (uint32_t)i};
		if (!count->self && !count->inclusive)
			continue;
		row.text = name_of(view, &table->rows[i]);
		if (!add(view, row, err))
			return false;
	}
	if (view->rows.count)
		qsort(view->rows.items, view->rows.count, sizeof *view->rows.items, orders[view->order]);
	view->title = lines ? "lines" : "functions";
	return view->rows.count || add_text(view, "no samples or counts of this event", err);
}

/* ---- source ---- */

/* Rows are the file's lines. A line that the file does not have (it has changed) has no row. */
static void add_line_counts(struct browse_view *view, const struct named_profile *named)
{
	for (size_t i = 0; i < named->by_line.n; i++) {
		const struct named_row *r = &named->by_line.rows[i];
		if (!r->line || r->line > view->rows.count || !r->file || strcmp(r->file, view->of->file) != 0 ||
		    strcmp(r->module, view->of->module) != 0)
			continue;
		struct browse_row *row = &view->rows.items[r->line - 1];
		row->self += r->counts[view->event].self;
		row->inclusive += r->counts[view->event].inclusive;
		row->nested |= r->counts[view->event].nested;
		row->counts = row->self || row->inclusive;
	}
}

/* The hottest line of a function's file, from its first line on, as far as the file's next function; else the
 * row's own line. */
static size_t line_to_select(const struct browse_view *view)
{
	size_t best = view->of->line ? view->of->line - 1 : 0;
	if (view->of->name[0] && best < view->rows.count)
		for (size_t i = best; i < view->rows.count && i < best + 400; i++)
			if (view->rows.items[i].self > view->rows.items[best].self)
				best = i;
	return best;
}

static bool fill_source(struct browse_view *view, const struct named_profile *named, struct error *err)
{
	struct source_text source;
	struct document document = {0};
	bool done = true, first = !view->title;
	if (!view->of->file) {
		view->title = "source";
		return add_text(view, "its source is not known: compile with -g, or install its debug file", err);
	}
	view->title = escaped(view, view->of->file);
	source_text_read(view->of->file, named->profile->started_unix, &source);
	if (source.why[0])
		done = add_text(view, source.why, err);
	else if (source.newer)
		view->title = arena_printf(&view->arena, "%s: CHANGED since the profile was taken", view->title);
	for (size_t i = 0; done && i < source.n; i++) {
		const char *text = source_text_shown(&document, source.lines[i]);
		struct browse_row row = {.text = arena_strdup(&view->arena, text ? text : ""),
					 .mark = arena_printf(&view->arena, "%zu", i + 1),
					 .function = VIEW_NO_ROW};
		done = row.text && row.mark ? add(view, row, err) : error_no_memory(err);
	}
	if (done && source.n)
		add_line_counts(view, named);
	if (first && done)
		view->selected = line_to_select(view);
	source_text_free(&source);
	document_free(&document);
	return done && (view->title || error_no_memory(err));
}

/* ---- instructions ---- */

static bool fill_code(struct browse_view *view, const struct named_profile *named, struct error *err)
{
	uint32_t function = (uint32_t)(view->of - named->by_function.rows);
	struct named_code code;
	uint64_t most = 0;
	bool done = true, first = !view->title;
	view->title = name_of(view, view->of);
	if (!session_disassemble(named, &function, 1, &code, err))
		return false;
	if (code.why)
		done = add_text(view, code.why, err);
	for (size_t i = 0; done && i < code.n; i++) {
		const struct named_instruction *one = &code.all[i];
		struct browse_row row = {
			.text = escaped(view, one->text),
			.mark = arena_printf(&view->arena, "%llx", (unsigned long long)one->address),
			.self = one->counts[view->event],
			.inclusive = one->counts[view->event],
			.counts = one->counts[view->event] != 0,
			.function = VIEW_NO_ROW};
		if (first && row.self > most) {
			most = row.self;
			view->selected = view->rows.count;
		}
		done = row.mark ? add(view, row, err) : error_no_memory(err);
	}
	named_code_free(&code);
	return done;
}

/* ---- callers and callees ---- */

static bool add_calls(struct browse_view *view, const struct named_profile *named,
		      const struct profile_call *calls, size_t n, const char *mark, struct error *err)
{
	bool done = true;
	for (size_t i = 0; done && i < n; i++) {
		bool none = calls[i].row == PROFILE_NO_CALLER;
		const struct named_row *row = none ? NULL : &named->by_function.rows[calls[i].row];
		done = add(
			view,
			(struct browse_row){.text = none ? "(none: the outermost function)" : name_of(view, row),
					    .mark = mark,
					    .counts = true,
					    .self = row ? row->counts[view->event].self : 0,
					    .inclusive = calls[i].count,
					    .named = row,
					    .function = none ? VIEW_NO_ROW : calls[i].row},
			err);
	}
	return done;
}

static bool fill_calls(struct browse_view *view, const struct named_profile *named, struct error *err)
{
	uint32_t function = (uint32_t)(view->of - named->by_function.rows);
	struct profile_calls calls;
	bool first = !view->title;
	view->title = name_of(view, view->of);
	if (!named->has_inclusive)
		return add_text(
			view,
			"no callers and callees: record call stacks by tare profile -g or --call-graph dwarf",
			err);
	if (!profile_calls_of(named, function, view->event, &calls))
		return error_no_memory(err);
	bool done = add_calls(view, named, calls.callers, calls.n_callers, "caller", err);
	if (first)
		view->selected = view->rows.count;
	done = done && add(view,
			   (struct browse_row){.text = name_of(view, view->of),
					       .mark = "function",
					       .counts = true,
					       .self = calls.self,
					       .inclusive = calls.inclusive,
					       .nested = calls.nested,
					       .named = view->of,
					       .function = function},
			   err);
	done = done && add_calls(view, named, calls.callees, calls.n_callees, "callee", err);
	profile_calls_free(&calls);
	return done;
}

/* ---- all ---- */

bool browse_view_fill(struct browse_view *view, const struct named_profile *named, struct error *err)
{
	bool done = false;
	view->rows.count = 0;
	switch (view->kind) {
	case VIEW_FUNCTIONS:
	case VIEW_LINES: done = fill_list(view, named, err); break;
	case VIEW_SOURCE: done = fill_source(view, named, err); break;
	case VIEW_CODE: done = fill_code(view, named, err); break;
	case VIEW_CALLS: done = fill_calls(view, named, err); break;
	}
	if (view->selected >= view->rows.count)
		view->selected = view->rows.count ? view->rows.count - 1 : 0;
	return done;
}

void browse_view_free(struct browse_view *view)
{
	vec_free(&view->rows);
	arena_free(&view->arena);
}
