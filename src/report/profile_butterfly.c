/* A function between its callers and its callees, of each event: prof's -butterfly, gprof's call graph. */
#include "report/build.h"
#include "report/columns.h"
#include "report/number.h"
#include "report/profile.h"
#include "report/profile_calls.h"
#include "report/profile_rows.h"

enum {
	NEIGHBOURS_MOST = 12, /* callers, and callees, unless --top says how many */
	TITLE_MOST = 52,      /* columns of the function's name above its table */
};

struct butterfly {
	struct document *document;
	const struct named_profile *named;
	struct columns *table;
	uint64_t sum, whole; /* of the event; of the function */
	bool counted;        /* calls were */
	bool nested;         /* whole is not known */
};

static const char *name_of(struct butterfly *b, uint32_t row, const char *indent)
{
	struct str name = {0};
	str_append(&name, indent);
	if (row == PROFILE_NO_CALLER)
		str_append(&name, "(none: the outermost function of its stacks)");
	else
		profile_append_row_name(&name, &b->named->by_function.rows[row]);
	return document_str(b->document, &name);
}

static void add_row(struct butterfly *b, uint64_t count, uint64_t calls, const char *what, const char *name,
		    bool emphasis)
{
	char number[NUMBER_BYTES];
	size_t c = 0;
	struct columns_row row = {.emphasis = emphasis};
	bool known = !emphasis || !b->nested; /* the function's own row has its whole count */
	number_group(number, (double)count, 0);
	row.cells[c++] = known ? document_printf(b->document, "%s", number) : "";
	row.cells[c++] = known ? document_printf(b->document, "%.1f%%", 100 * profile_share(count, b->sum))
			       : PROFILE_NESTED;
	row.cells[c++] = b->nested ? ""
				   : document_printf(b->document, "%.1f%%", 100 * profile_share(count, b->whole));
	number_group(number, (double)calls, 0);
	if (b->counted)
		row.cells[c++] = calls ? document_printf(b->document, "%s", number) : "";
	row.cells[c++] = what;
	row.cells[c] = name;
	if (!vec_push(&b->table->rows, row))
		b->document->failed = true;
}

static void add_neighbours(struct butterfly *b, const struct profile_call *calls, size_t n, const char *what,
			   size_t most)
{
	struct profile_call rest = {0};
	size_t shown = n <= most ? n : most - 1;
	for (size_t i = 0; i < n; i++) {
		if (i < shown) {
			add_row(b, calls[i].count, calls[i].calls, what, name_of(b, calls[i].row, "    "), false);
			continue;
		}
		rest.count += calls[i].count;
		rest.calls += calls[i].calls;
	}
	if (shown < n)
		add_row(b, rest.count, rest.calls, what,
			document_printf(b->document, "    %zu other%s", n - shown, n - shown == 1 ? "" : "s"),
			false);
}

static bool add_table(struct butterfly *b, bool counted)
{
	size_t c = 0;
	if (!(b->table = document_add_columns(b->document, 1)))
		return false;
	b->table->ordered = true;
	b->table->headings[c++] = counted ? "counts" : "samples";
	b->table->headings[c++] = "of all";
	b->table->headings[c++] = "of it";
	if (b->counted)
		b->table->headings[c++] = "calls";
	b->table->left[c] = true;
	b->table->headings[c++] = "";
	b->table->left[c] = true;
	b->table->headings[c] = "function (module:file:line)";
	b->table->flexible = c;
	b->table->n = c + 1;
	return true;
}

static void add_event(struct butterfly *b, const struct profile_calls *calls, uint32_t row, bool counted,
		      size_t most)
{
	uint64_t times = 0;
	b->whole = calls->inclusive;
	b->counted = calls->counted;
	b->nested = calls->nested;
	if (!add_table(b, counted))
		return;
	for (size_t i = 0; i < calls->n_callers; i++)
		times += calls->callers[i].calls;
	add_neighbours(b, calls->callers, calls->n_callers, "caller", most);
	add_row(b, calls->inclusive, times, "function", name_of(b, row, ""), true);
	if (calls->self)
		add_row(b, calls->self, 0, "itself", "    ", false);
	add_neighbours(b, calls->callees, calls->n_callees, "callee", most);
	if (!calls->recursive)
		return;
	document_add(b->document, BLOCK_PARAGRAPH, NULL,
		     calls->counted
			     ? "it calls itself: what its inner calls count is in the outermost call's count"
			     : "it calls itself: callers are of the outermost call, callees of the innermost "
			       "one");
}

void build_profile_butterfly(struct document *document, const struct named_profile *named, uint32_t row,
			     const struct profile_report_options *options)
{
	for (size_t e = 0; e < named->profile->n_events; e++) {
		const struct profile_event *event = &named->profile->events[e];
		struct butterfly b = {.document = document, .named = named, .sum = named->sums[e]};
		struct profile_calls calls;
		struct str label = {0}, name = {0};
		if ((options->one_event && e != options->event) ||
		    !named->by_function.rows[row].counts[e].inclusive)
			continue;
		if (!profile_calls_of(named, row, e, &calls)) {
			document->failed = true;
			return;
		}
		profile_append_escaped(&label, event->label);
		str_append(&label, " around");
		columns_shorten(&name, name_of(&b, row, ""), TITLE_MOST);
		document_add(document, BLOCK_GAP, NULL, NULL);
		document_add(document, BLOCK_SUBTITLE, document_str(document, &label),
			     document_str(document, &name));
		add_event(&b, &calls, row, event->gaps == GAPS_NONE,
			  options->top ? options->top : NEIGHBOURS_MOST);
		profile_calls_free(&calls);
	}
}
