#include "report/profile_rows.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile.h"

struct row_in_order { /* qsort has no context: what decides is beside the pointer */
	const struct named_row *row;
	uint64_t self, inclusive;
};

static int order(const void *a, const void *b)
{
	const struct row_in_order *x = a, *y = b;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->inclusive != y->inclusive)
		return x->inclusive > y->inclusive ? -1 : 1;
	int names = strcmp(x->row->name, y->row->name);
	if (!names)
		names = strcmp(x->row->file ? x->row->file : "", y->row->file ? y->row->file : "");
	if (!names && x->row->line != y->row->line)
		return x->row->line < y->row->line ? -1 : 1;
	return names ? names : strcmp(x->row->module, y->row->module);
}

const struct named_row **profile_rows_sorted(const struct named_table *table, size_t event, bool with_callers,
					     size_t *n)
{
	struct row_in_order *sorted = calloc(table->n + 1, sizeof *sorted);
	const struct named_row **rows = calloc(table->n + 1, sizeof *rows);
	*n = 0;
	if (!sorted || !rows) {
		free(sorted);
		free(rows);
		return NULL;
	}
	for (size_t i = 0; i < table->n; i++) {
		const struct named_count *c = &table->rows[i].counts[event];
		if (c->self || (with_callers && c->inclusive))
			sorted[(*n)++] = (struct row_in_order){&table->rows[i], c->self, c->inclusive};
	}
	qsort(sorted, *n, sizeof *sorted, order);
	for (size_t i = 0; i < *n; i++)
		rows[i] = sorted[i].row;
	free(sorted);
	return rows;
}

const struct named_table *profile_table(const struct named_profile *named, enum profile_by by)
{
	switch (by) {
	case PROFILE_BY_LINE: return &named->by_line;
	case PROFILE_BY_THREAD: return &named->by_thread;
	case PROFILE_BY_PROCESS: return &named->by_process;
	case PROFILE_BY_FUNCTION:
	case PROFILE_BY_DATA: break;
	}
	return &named->by_function;
}

const char *profile_by_name(enum profile_by by)
{
	switch (by) {
	case PROFILE_BY_LINE: return "line";
	case PROFILE_BY_THREAD: return "thread";
	case PROFILE_BY_PROCESS: return "process";
	case PROFILE_BY_FUNCTION:
	case PROFILE_BY_DATA: break;
	}
	return "function";
}

const char *profile_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash && slash[1] ? slash + 1 : path;
}

/* Bytes of the UTF-8 character at text, 0 if it is none, or one that acts: C0 and C1 controls, and what changes
 * the direction of writing (U+200E, U+200F, U+202A-E, U+2066-9). */
static size_t harmless_character(const unsigned char *text, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = text[0] < 0x80       ? 1
		   : text[0] >> 5 == 6  ? 2
		   : text[0] >> 4 == 14 ? 3
		   : text[0] >> 3 == 30 ? 4
					: 0;
	if (!n)
		return 0;
	*code = n == 1 ? text[0] : text[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	bool acts = *code < 0x20 || (*code >= 0x7f && *code < 0xa0) || *code == 0x200e || *code == 0x200f ||
		    (*code >= 0x202a && *code <= 0x202e) || (*code >= 0x2066 && *code <= 0x2069) ||
		    *code == 0x2028 || *code == 0x2029 || (*code >= 0xd800 && *code < 0xe000) || *code > 0x10ffff;
	return acts || *code < least[n] ? 0 : n;
}

void profile_append_escaped(struct str *out, const char *text)
{
	uint32_t code;
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		size_t n = harmless_character(at, &code);
		if (n)
			str_append_bytes(out, (const char *)at, n);
		else
			str_appendf(out, "\\x%02x", *at);
		at += n ? n : 1;
	}
}

void profile_append_row_name(struct str *out, const struct named_row *row)
{
	const char *module = profile_base_name(row->module), *file = profile_base_name(row->file);
	if (!row->name[0] && file) { /* a line */
		profile_append_escaped(out, file);
		str_appendf(out, row->line ? ":%u" : ":?", row->line);
		file = NULL;
	} else {
		profile_append_escaped(out, row->name);
	}
	if (strcmp(row->name, row->module) == 0 && !file)
		return; /* "[kernel]" */
	str_append(out, " (");
	profile_append_escaped(out, module);
	if (file) {
		str_append_char(out, ':');
		profile_append_escaped(out, file);
		if (row->line)
			str_appendf(out, ":%u", row->line);
	}
	str_append_char(out, ')');
}

static bool matches(const char *const *patterns, const char *name)
{
	for (; patterns && *patterns; patterns++)
		if (strcmp(*patterns, name) == 0 || fnmatch(*patterns, name, 0) == 0)
			return true;
	return false;
}

bool profile_row_is_wanted(const struct named_row *row, const struct profile_report_options *options)
{
	const char *file = profile_base_name(row->file), *name = row->name[0] || !file ? row->name : file;
	if (options->only && *options->only && !matches(options->only, name))
		return false;
	if (options->modules && *options->modules && !matches(options->modules, row->module) &&
	    !matches(options->modules, profile_base_name(row->module)))
		return false;
	return !matches(options->exclude, name);
}

/* What a listing of the function with its callers sorts by. */
static uint64_t size_of(const struct named_row *row, size_t event, bool inclusive)
{
	return inclusive ? row->counts[event].inclusive : row->counts[event].self;
}

static bool is_among(const uint32_t *rows, size_t n, uint32_t row)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i] == row)
			return true;
	return false;
}

/* The largest that is wanted and not there yet; UINT32_MAX: there is none. */
static uint32_t next_hottest(const struct named_profile *named, const struct profile_report_options *options,
			     size_t event, bool inclusive, const uint32_t *rows, size_t n)
{
	uint32_t best = UINT32_MAX;
	uint64_t most = 0;
	for (uint32_t i = 0; i < named->by_function.n; i++) {
		const struct named_row *row = &named->by_function.rows[i];
		if (size_of(row, event, inclusive) > most && profile_row_is_wanted(row, options) &&
		    !is_among(rows, n, i)) {
			best = i;
			most = size_of(row, event, inclusive);
		}
	}
	return best;
}

size_t profile_hottest_functions(const struct named_profile *named, const struct profile_report_options *options,
				 bool with_callers, uint32_t *rows, size_t most)
{
	static const double ENOUGH = 0.95, LEAST = 0.01;
	double least = options->quit_share > 0 ? options->quit_share : options->top ? 0 : LEAST;
	bool named_one = options->only && options->only[0];
	size_t n = 0, each = options->top ? options->top : PROFILE_VIEWS_MOST;
	for (size_t e = 0; e < named->profile->n_events; e++) {
		uint64_t before = 0;
		size_t first = n;
		if ((options->one_event && e != options->event) || !named->sums[e])
			continue;
		for (size_t i = 0; i < n; i++)
			before += named->by_function.rows[rows[i]].counts[e].self;
		while (n < most && n - first < each &&
		       (with_callers || named_one || profile_share(before, named->sums[e]) < ENOUGH)) {
			uint32_t row = next_hottest(named, options, e, with_callers, rows, n);
			if (row == UINT32_MAX ||
			    (!named_one && profile_share(size_of(&named->by_function.rows[row], e, with_callers),
							 named->sums[e]) < least))
				break;
			before += named->by_function.rows[row].counts[e].self;
			rows[n++] = row;
		}
	}
	return n;
}
