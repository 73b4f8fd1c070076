/* A listing as SpeedShop's prof has it (Zagha, Appendix C): a header with the counter, its overflow value and the
 * machine, then "overflows(%)  cum overflows(%)  procedure (dso:file)". Of counted events the counts stand in the
 * place of overflows. What was not executed is not listed. */
#include <stdlib.h>
#include <string.h>

#include "report/build.h"
#include "report/columns.h"
#include "report/number.h"
#include "report/profile.h"
#include "report/profile_rows.h"

enum {
	BEFORE_NAME = 49, /* columns of a row */
	NAME_LEAST = 8,   /* … of its name, on narrow terminals */
	/* … where the listing is not on a terminal: it is searched, and names of templates are long */
	NAME_MOST = 200,
};

static const char rule[] = "-------------------------------------------------------------------------";

static void put_fact(FILE *out, const char *what, const char *value)
{
	struct str shown = {0};
	profile_append_escaped(&shown, value && value[0] ? value : "not known");
	fprintf(out, "%-23s: %s\n", what, shown.text && !shown.failed ? shown.text : "?");
	str_free(&shown);
}

static void put_header(FILE *out, const struct named_profile *named, size_t event, size_t columns)
{
	const struct profile *p = named->profile;
	const struct profile_event *e = &p->events[event];
	char text[NUMBER_BYTES + 32];
	fprintf(out, "%.*s\n", (int)columns, rule);
	put_fact(out, "Counter", e->label);
	if (e->gaps == GAPS_RATE)
		snprintf(text, sizeof text, "%g a second", e->rate);
	else
		snprintf(text, sizeof text, "%llu", (unsigned long long)e->gap);
	put_fact(out, "Counter overflow value", e->gaps == GAPS_NONE ? "none: counted, not sampled" : text);
	snprintf(text, sizeof text, "%llu", (unsigned long long)named->sums[event]);
	put_fact(out, e->gaps == GAPS_NONE ? "Total counts" : "Total numbers of ovfls", text);
	put_fact(out, "CPU", e->machine ? e->machine : p->machine.cpu);
	put_fact(out, "Clock", NULL);
	snprintf(text, sizeof text, "%d", p->machine.cpus);
	put_fact(out, "Number of CPUs", text);
	fprintf(out, "%.*s\n", (int)columns, rule);
}

static void put_row(FILE *out, uint64_t count, uint64_t before, uint64_t sum, const char *name)
{
	char number[NUMBER_BYTES];
	number_group(number, (double)count, 0);
	fprintf(out, "%15s(%5.1f%%)", number, 100 * profile_share(count, sum));
	number_group(number, (double)(before + count), 0);
	fprintf(out, " %15s(%5.1f%%)  %s\n", number, 100 * profile_share(before + count, sum), name);
}

static size_t name_columns(const struct report_options *text)
{
	if (!text->width)
		return NAME_MOST;
	return text->width >= BEFORE_NAME + NAME_LEAST ? (size_t)text->width - BEFORE_NAME : NAME_LEAST;
}

static void put_event(FILE *out, const struct named_profile *named, size_t event,
		      const struct profile_report_options *options)
{
	bool lines = options->by == PROFILE_BY_LINE;
	uint64_t sum = named->sums[event], before = 0;
	size_t n = 0, shown = 0, left = 0;
	const struct named_row **rows = profile_rows_sorted(lines ? &named->by_line : &named->by_function, event,
							    false, &n);
	struct str heading = {0};
	columns_shorten(&heading, lines ? "line (dso)" : "procedure (dso:file)", name_columns(&options->text));
	fprintf(out, "%15s%-8s %15s%-8s  %s\n",
		named->profile->events[event].gaps == GAPS_NONE ? "counts" : "overflows", "(%)", "cum", "(%)",
		heading.text && !heading.failed ? heading.text : "");
	str_free(&heading);
	for (size_t i = 0; rows && i < n; i++) {
		uint64_t count = rows[i]->counts[event].self;
		struct str name = {0}, shown_name = {0};
		if (!profile_row_is_wanted(rows[i], options) || (options->top && shown == options->top) ||
		    profile_share(count, sum) < options->quit_share) {
			left++;
			continue;
		}
		profile_append_row_name(&name, rows[i]);
		columns_shorten(&shown_name, name.text && !name.failed ? name.text : "?",
				name_columns(&options->text));
		put_row(out, count, before, sum, shown_name.text && !shown_name.failed ? shown_name.text : "?");
		str_free(&name);
		str_free(&shown_name);
		before += count;
		shown++;
	}
	if (left) {
		char name[64];
		snprintf(name, sizeof name, left == 1 ? "%zu other" : "%zu others", left);
		put_row(out, sum - before, before, sum, name);
	}
	put_row(out, sum, 0, sum, "TOTAL");
	free(rows);
}

void report_profile_prof(FILE *out, const struct named_profile *named,
			 const struct profile_report_options *options)
{
	for (size_t i = 0; i < named->profile->n_events; i++) {
		const struct profile_event *e = &named->profile->events[i];
		if (options->one_event && i != options->event)
			continue;
		put_header(out, named, i, BEFORE_NAME + name_columns(&options->text));
		if (e->why)
			put_fact(out, "No profile", e->why);
		else
			put_event(out, named, i, options);
		fputc('\n', out);
	}
	struct document document = {0};
	build_profile_views(&document, named, options);
	report_document_text(out, &document, &options->text);
	document_free(&document);
}
