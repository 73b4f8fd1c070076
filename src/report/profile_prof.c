/* A listing as SpeedShop's prof has it (Zagha, Appendix C), word for word: when it was made and of what, the
 * counter, its overflow value and the machine, how it is sorted, then "overflows(%)  cum overflows(%)  procedure
 * (dso:file)". Of counted events "counts" stands in the place of "overflows". What was not executed is not
 * listed. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/profile.h"
#include "report/profile_rows.h"
#include "report/table.h"

enum {
	BEFORE_NAME = 42, /* columns of a row */
	NAME_LEAST = 8,   /* … of its name, on narrow terminals */
	/* … where the listing is not on a terminal: it is searched, and names of templates are long */
	NAME_MOST = 200,
};

struct prof_listing {
	FILE *out;
	const struct named_profile *named;
	const struct profile_report_options *options;
	const struct profile_event *e;
	size_t event, name_columns;
	bool lines, counted;
};

static void put_rule(const struct prof_listing *l)
{
	static const char rule[] = "-------------------------------------------------------------------------";
	fprintf(l->out, "%.*s\n", (int)(BEFORE_NAME + l->name_columns), rule);
}

static void put_wrapped(const struct prof_listing *l, const char *text)
{
	text_wrap(l->out, text, 0, 2, BEFORE_NAME + l->name_columns);
}

static void put_fact(const struct prof_listing *l, const char *what, const char *value)
{
	struct str shown = {0}, whole = {0};
	profile_append_escaped(&shown, value && value[0] ? value : "not known");
	columns_shorten(&whole, shown.text && !shown.failed ? shown.text : "?",
			BEFORE_NAME + l->name_columns - (sizeof "Counter overflow value: " - 1));
	fprintf(l->out, "%-22s: %s\n", what, whole.text && !whole.failed ? whole.text : "?");
	str_free(&shown);
	str_free(&whole);
}

/* "Wed May  1 16:25:50 1996", of where the reader is */
static void put_date(const struct prof_listing *l)
{
	time_t now = (time_t)l->options->made_unix;
	struct tm local;
	char text[64] = "";
	if (localtime_r(&now, &local))
		strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &local);
	fprintf(l->out, "Profile listing generated %s\n", text);
}

static void put_origin(const struct prof_listing *l)
{
	struct str command = {0};
	str_append(&command, "tare report --prof ");
	profile_append_escaped(&command, l->options->file ? l->options->file : "");
	put_rule(l);
	put_date(l);
	int at = fprintf(l->out, "with:      ");
	text_wrap(l->out, command.text && !command.failed ? command.text : "", (size_t)at, (size_t)at,
		  BEFORE_NAME + l->name_columns);
	put_rule(l);
	fputc('\n', l->out);
	str_free(&command);
}

static void put_counter(const struct prof_listing *l)
{
	const struct profile *p = l->named->profile;
	char text[64];
	put_fact(l, "Counter", l->e->label);
	if (l->e->gaps == GAPS_RATE)
		snprintf(text, sizeof text, "%g a second", l->e->rate);
	else
		snprintf(text, sizeof text, "%llu", (unsigned long long)l->e->gap);
	put_fact(l, "Counter overflow value", l->counted ? "none: counted, not sampled" : text);
	snprintf(text, sizeof text, "%llu", (unsigned long long)l->named->sums[l->event]);
	put_fact(l, l->counted ? "Total number of counts" : "Total number of ovfls", text);
	put_fact(l, "CPU", l->e->machine ? l->e->machine : p->machine.cpu);
	put_fact(l, "FPU", l->e->machine ? "not modelled" : "the CPU's own");
	snprintf(text, sizeof text, "%.1fMHz", p->clock_mhz);
	put_fact(l, "Clock", l->e->machine ? "not modelled" : p->clock_mhz > 0 ? text : NULL);
	snprintf(text, sizeof text, "%d", p->machine.cpus);
	put_fact(l, "Number of CPUs", text);
	fputc('\n', l->out);
}

static void put_order(const struct prof_listing *l)
{
	const char *what = l->counted ? "counts" : "overflows";
	char text[128];
	put_rule(l);
	fprintf(l->out, "%s using %s.\n", l->lines ? "-h[eavy]" : "-p[rocedures]",
		l->counted ? "exact counts" : "counter overflow");
	snprintf(text, sizeof text, "Sorted in descending order by the number of %s in each %s.", what,
		 l->lines ? "line" : "procedure");
	put_wrapped(l, text);
	fprintf(l->out, "Unexecuted %s are excluded.\n", l->lines ? "lines" : "procedures");
	put_rule(l);
	fputc('\n', l->out);
}

/* "procedure (dso:file)" */
static void append_name(struct str *text, const struct named_row *row, bool line)
{
	if (line) {
		profile_append_row_name(text, row);
		return;
	}
	profile_append_escaped(text, row->name);
	str_append(text, " (");
	profile_append_escaped(text, profile_base_name(row->module));
	if (row->file) {
		str_append(text, ":");
		profile_append_escaped(text, profile_base_name(row->file));
	}
	str_append(text, ")");
}

static void put_name(const struct prof_listing *l, const char *name)
{
	struct str shown = {0};
	columns_shorten(&shown, name, l->name_columns);
	fprintf(l->out, "  %s\n", shown.text && !shown.failed ? shown.text : "?");
	str_free(&shown);
}

static void put_row(const struct prof_listing *l, uint64_t count, uint64_t before, const char *name)
{
	uint64_t sum = l->named->sums[l->event];
	fprintf(l->out, "%12llu(%5.1f)  %12llu(%5.1f)", (unsigned long long)count, 100 * profile_share(count, sum),
		(unsigned long long)(before + count), 100 * profile_share(before + count, sum));
	put_name(l, name);
}

static void put_rows(const struct prof_listing *l)
{
	const struct profile_report_options *options = l->options;
	const char *what = l->counted ? "counts" : "overflows";
	uint64_t sum = l->named->sums[l->event], before = 0;
	size_t n = 0, shown = 0, left = 0;
	const struct named_row **rows = profile_rows_sorted(l->lines ? &l->named->by_line : &l->named->by_function,
							    l->event, false, &n);
	char heading[32];
	snprintf(heading, sizeof heading, "cum %s", what);
	fprintf(l->out, "%12s(%%)    %14s(%%)   ", what, heading);
	put_name(l, l->lines ? "line (dso)" : "procedure (dso:file)");
	for (size_t i = 0; rows && i < n; i++) {
		uint64_t count = rows[i]->counts[l->event].self;
		struct str name = {0};
		if (!profile_row_is_wanted(rows[i], options) || (options->top && shown == options->top) ||
		    profile_share(count, sum) < options->quit_share) {
			left++;
			continue;
		}
		append_name(&name, rows[i], l->lines);
		put_row(l, count, before, name.text && !name.failed ? name.text : "?");
		str_free(&name);
		before += count;
		shown++;
	}
	if (left) {
		char name[64];
		snprintf(name, sizeof name, left == 1 ? "%zu other" : "%zu others", left);
		put_row(l, sum - before, before, name);
	}
	fprintf(l->out, "\n%12llu(100.0)%21s", (unsigned long long)sum, "");
	put_name(l, "TOTAL");
	free(rows);
}

static size_t name_columns(const struct report_options *text)
{
	if (!text->width)
		return NAME_MOST;
	return text->width >= BEFORE_NAME + NAME_LEAST ? (size_t)text->width - BEFORE_NAME : NAME_LEAST;
}

void report_profile_prof(FILE *out, const struct named_profile *named,
			 const struct profile_report_options *options)
{
	struct prof_listing l = {.out = out,
				 .named = named,
				 .options = options,
				 .name_columns = name_columns(&options->text),
				 .lines = options->by == PROFILE_BY_LINE};
	put_origin(&l);
	for (l.event = 0; l.event < named->profile->n_events; l.event++) {
		l.e = &named->profile->events[l.event];
		l.counted = l.e->gaps == GAPS_NONE;
		if (options->one_event && l.event != options->event)
			continue;
		put_counter(&l);
		if (l.e->why) {
			put_fact(&l, "No profile", l.e->why);
		} else {
			put_order(&l);
			put_rows(&l);
		}
		fputc('\n', out);
	}
	struct document document = {0};
	build_profile_views(&document, named, options);
	report_document_text(out, &document, &options->text);
	document_free(&document);
}
