/* perfex's listing (Zagha, Appendix C): a dotted line an event, counter 0's events, then counter 1's.
 *
 * An estimate is one of perfex's events when it is labelled "r10000:<listed name>" ("r12000:…" of that machine);
 * cycles and graduated instructions can be there twice, once for each counter, and their disagreement says what
 * multiplexing costs; of one or two events whose counts were scaled a line says between which numbers they are.
 * Other events follow under their own names, and metrics. With costs (perfex -y) each line has the times of its
 * event, and statistics follow (perfex_statistics.c). With rows of threads (perfex -mp) there is a listing for
 * each, and then that of all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "report/modelled.h"
#include "compat/perfex_events.h"
#include "compat/perfex_listing.h"
#include "report/region.h"
#include "compat/reports.h"

enum { DOTTED_COLUMNS = 64, NUMBER_COLUMNS = 15 };

void perfex_dots(FILE *out, const char *name)
{
	char shown[256];
	str_escape_to(shown, sizeof shown, name);
	int dots = DOTTED_COLUMNS - (int)strlen(shown);
	fputs(shown, out);
	for (int i = 0; i < (dots < 5 ? 5 : dots); i++)
		fputc('.', out);
}

static void print_time(FILE *out, double count, double each)
{
	if (isnan(each))
		fprintf(out, " %12s", "-");
	else
		fprintf(out, " %12.6f", count * each);
}

/* times: NULL without -y */
static void print_line(FILE *out, const char *name, const struct estimate *e, int decimals,
		       const struct perfex_times *times)
{
	perfex_dots(out, name);
	if (e->known) {
		fprintf(out, " %*.*f", NUMBER_COLUMNS, decimals, e->value);
		if (times) {
			print_time(out, e->value, times->typical);
			print_time(out, e->value, times->least);
			print_time(out, e->value, times->most);
		}
		fputc('\n', out);
		return;
	}
	char why[512];
	str_escape_to(why, sizeof why, e->why ? e->why : "no reason is known");
	if (e->has_least)
		fprintf(out, " %*.0f or more: %s\n", NUMBER_COLUMNS, e->least, why);
	else
		fprintf(out, " not counted: %s\n", why);
}

/* Behind "r10000:" or "r12000:"; NULL: it is not an event of perfex's. */
static const char *listed_name(const struct estimate *e, enum perfex_machine *machine)
{
	for (unsigned i = 0; i < PERFEX_MACHINES; i++) {
		const char *name = perfex_machine_name((enum perfex_machine)i);
		size_t length = strlen(name);
		*machine = (enum perfex_machine)i;
		if (strncmp(e->event, name, length) == 0 && e->event[length] == ':')
			return e->event + length + 1;
	}
	return NULL;
}

/* The machine whose events were counted: all are of one. */
static enum perfex_machine machine_of(const struct result *result)
{
	enum perfex_machine machine;
	for (size_t i = 0; i < result->n_estimates; i++)
		if (listed_name(&result->estimates[i], &machine))
			return machine;
	return PERFEX_R10000;
}

static bool is_of(const struct perfex_rows *rows, const struct estimate *e)
{
	return rows->tid || rows->pid ? e->pid == rows->pid && e->tid == rows->tid : estimate_is_total(e);
}

/* The estimate of one of its events; the occurrence-th of that name. */
static const struct estimate *find(const struct perfex_rows *rows, const char *listed, size_t occurrence)
{
	for (size_t i = 0; i < rows->result->n_estimates; i++) {
		const struct estimate *e = &rows->result->estimates[i];
		enum perfex_machine machine;
		const char *name = listed_name(e, &machine);
		if (is_of(rows, e) && name && strcmp(name, listed) == 0 && occurrence-- == 0)
			return e;
	}
	return NULL;
}

const struct estimate *perfex_row(const struct perfex_rows *rows, size_t event)
{
	const char *listed = perfex_event_of(rows->machine, event)->listed;
	size_t before = 0;
	for (size_t i = 0; i < event; i++)
		before += strcmp(perfex_event_of(rows->machine, i)->listed, listed) == 0;
	const struct estimate *e = find(rows, listed, before);
	return e || !before ? e : find(rows, listed, 0);
}

static void print_disagreement(FILE *out, const struct perfex_rows *rows, const char *listed)
{
	const struct estimate *a = find(rows, listed, 0), *b = find(rows, listed, 1);
	if (!a || !b || !a->known || !b->known || a->value + b->value == 0)
		return;
	fprintf(out, "%s: the two counts differ by %.2f %%%s\n", listed,
		200 * fabs(a->value - b->value) / (a->value + b->value),
		a->source == SOURCE_SCALED || b->source == SOURCE_SCALED ? " (the error of multiplexing)" : "");
}

/* Of two events, as `perfex -e … -e …` counts them. */
static void print_ratio(FILE *out, const struct perfex_rows *rows, const char *const names[2],
			const struct estimate *const pair[2], size_t n)
{
	(void)rows;
	if (n != 2 || !pair[0]->known || !pair[1]->known || pair[1]->value == 0 || !strcmp(names[0], names[1]))
		return;
	char a[256], b[256];
	str_escape_to(a, sizeof a, names[0]);
	str_escape_to(b, sizeof b, names[1]);
	fprintf(out, "Ratio: %s / %s = %.6f\n", a, b, pair[0]->value / pair[1]->value);
}

/* Likewise. Of perfex -a, the events that both counters count say what multiplexing costs. */
static void print_scaled(FILE *out, const char *const names[2], const struct estimate *const pair[2], size_t n)
{
	for (size_t i = 0; i < n && n <= 2; i++) {
		const struct estimate *e = pair[i];
		char name[256];
		if (!e->known || e->source != SOURCE_SCALED || !e->has_interval)
			continue;
		str_escape_to(name, sizeof name, names[i]);
		if (isfinite(e->high))
			fprintf(out, "%s: counted %.0f %% of the time; between %.0f and %.0f\n", name,
				100 * e->share_running, e->low, e->high);
		else
			fprintf(out, "%s: counted %.0f %% of the time; at least %.0f\n", name,
				100 * e->share_running, e->low);
	}
}

static void print_events(FILE *out, const struct perfex_rows *rows, const struct costs *costs)
{
	const struct result *result = rows->result;
	const struct estimate *pair[2];
	const char *names[2];
	size_t n = 0;
	enum perfex_machine other;
	if (costs)
		fprintf(out, "%*s %*s %12s %12s %12s\n", DOTTED_COLUMNS, "", NUMBER_COLUMNS, "count", "typical s",
			"minimum s", "maximum s");
	for (size_t i = 0; i < PERFEX_EVENTS; i++) {
		const char *listed = perfex_event_of(rows->machine, i)->listed;
		size_t occurrence = 0;
		for (size_t before = 0; before < i; before++)
			occurrence += strcmp(perfex_event_of(rows->machine, before)->listed, listed) == 0;
		const struct estimate *e = find(rows, listed, occurrence);
		struct perfex_times times = {NAN, NAN, NAN};
		if (costs)
			times = perfex_times_of(costs, (unsigned)i);
		if (!e)
			continue;
		if (n < 2)
			pair[n] = e, names[n] = listed;
		n++;
		print_line(out, listed, e, 0, costs ? &times : NULL);
	}
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		if (!is_of(rows, e) || listed_name(e, &other))
			continue;
		if (n < 2)
			pair[n] = e, names[n] = e->event;
		n++;
		print_line(out, e->event, e, 0, NULL);
	}
	print_scaled(out, names, pair, n);
	print_ratio(out, rows, names, pair, n);
	if (costs)
		perfex_print_statistics(out, rows);
}

/* perfex -mp: each thread once, in the order of the rows. */
static bool print_threads(FILE *out, struct perfex_rows rows, const struct costs *costs)
{
	const struct result *result = rows.result;
	bool any = false;
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		bool before = estimate_is_total(e) || !e->tid;
		for (size_t k = 0; k < i && !before; k++)
			before = result->estimates[k].tid == e->tid && result->estimates[k].pid == e->pid;
		if (before)
			continue;
		rows.pid = e->pid, rows.tid = e->tid;
		fprintf(out, "%sThread %d of process %d\n", any ? "\n" : "", (int)e->tid, (int)e->pid);
		print_events(out, &rows, costs);
		any = true;
	}
	if (any)
		fputs("\nAll threads\n", out);
	return any;
}

void report_perfex(FILE *out, const struct result *result, const struct perfex_costs *asked)
{
	const struct perfex_rows rows = {.result = result, .machine = machine_of(result)};
	const struct costs *costs = asked ? asked->costs : NULL;
	if (result->repetitions_done > 1)
		fprintf(out, "Means of %zu executions of each event\n", result->repetitions_done);
	print_threads(out, rows, costs);
	print_events(out, &rows, costs);
	if (asked)
		fprintf(out, "\nCosts: %s\n", asked->origin);
	if (result->n_metrics)
		fputs("\nStatistics\n", out);
	for (size_t i = 0; i < result->n_metrics; i++)
		if (estimate_is_total(&result->metrics[i]))
			print_line(out, result->metrics[i].event, &result->metrics[i], 6, NULL);
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *r = &result->regions[i];
		struct str title = {0};
		char name[256];
		region_append_passes(&title, r);
		str_escape_to(name, sizeof name, r->name);
		fprintf(out, "\nRegion %s, %s\n", name, title.text ? title.text : "");
		str_free(&title);
		for (size_t j = 0; j < r->n_estimates; j++)
			print_line(out, r->estimates[j].event, &r->estimates[j], 0, NULL);
	}
	print_disagreement(out, &rows, "Cycles");
	print_disagreement(out, &rows, "Graduated instructions");
	modelled_print(out, result, "");
	notes_print(out, result, "");
}
