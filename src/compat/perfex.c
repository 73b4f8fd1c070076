/* perfex's listing (Zagha, Appendix C): a dotted line an event, counter 0's events, then counter 1's.
 *
 * An estimate is one of perfex's events when it is labelled "r10000:<listed name>" ("r12000:…" of that machine);
 * cycles and graduated instructions can be there twice, once for each counter, and their disagreement says what
 * multiplexing costs. Other events follow under their own names, and metrics as perfex -y has its statistics. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "report/modelled.h"
#include "compat/perfex_events.h"
#include "report/region.h"
#include "compat/reports.h"

enum { DOTTED_COLUMNS = 64, NUMBER_COLUMNS = 15 };

static bool is_total(const struct estimate *e) { return estimate_is_total(e); }

static void print_line(FILE *out, const char *name, const struct estimate *e, int decimals)
{
	char shown[256];
	str_escape_to(shown, sizeof shown, name);
	int dots = DOTTED_COLUMNS - (int)strlen(shown);
	fputs(shown, out);
	for (int i = 0; i < (dots < 5 ? 5 : dots); i++)
		fputc('.', out);
	if (e->known) {
		fprintf(out, " %*.*f\n", NUMBER_COLUMNS, decimals, e->value);
		return;
	}
	char why[512];
	str_escape_to(why, sizeof why, e->why ? e->why : "no reason is known");
	if (e->has_least)
		fprintf(out, " %*.0f or more: %s\n", NUMBER_COLUMNS, e->least, why);
	else
		fprintf(out, " not counted: %s\n", why);
}

/* Behind "r10000:" or "r12000:"; NULL: it is no event of perfex's. */
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

/* The estimate of one of its events; the occurrence-th of that name. */
static const struct estimate *find(const struct result *result, const char *listed, size_t occurrence)
{
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		enum perfex_machine machine;
		const char *name = listed_name(e, &machine);
		if (is_total(e) && name && strcmp(name, listed) == 0 && occurrence-- == 0)
			return e;
	}
	return NULL;
}

static void print_disagreement(FILE *out, const struct result *result, const char *listed)
{
	const struct estimate *a = find(result, listed, 0), *b = find(result, listed, 1);
	if (!a || !b || !a->known || !b->known || a->value + b->value == 0)
		return;
	fprintf(out, "%s: the two counts differ by %.2f %%%s\n", listed,
		200 * fabs(a->value - b->value) / (a->value + b->value),
		a->source == SOURCE_SCALED || b->source == SOURCE_SCALED ? " (the error of multiplexing)" : "");
}

void report_perfex(FILE *out, const struct result *result, const struct event_table *table)
{
	enum perfex_machine machine = machine_of(result), other;
	(void)table;
	if (result->repetitions_done > 1)
		fprintf(out, "Means of %zu executions of each event\n", result->repetitions_done);
	for (size_t i = 0; i < PERFEX_EVENTS; i++) {
		const char *listed = perfex_event_of(machine, i)->listed;
		size_t occurrence = 0;
		for (size_t before = 0; before < i; before++)
			occurrence += strcmp(perfex_event_of(machine, before)->listed, listed) == 0;
		const struct estimate *e = find(result, listed, occurrence);
		if (e)
			print_line(out, listed, e, 0);
	}
	for (size_t i = 0; i < result->n_estimates; i++) {
		const struct estimate *e = &result->estimates[i];
		if (is_total(e) && !listed_name(e, &other))
			print_line(out, e->event, e, 0);
	}
	if (result->n_metrics)
		fputs("\nStatistics\n", out);
	for (size_t i = 0; i < result->n_metrics; i++)
		if (is_total(&result->metrics[i]))
			print_line(out, result->metrics[i].event, &result->metrics[i], 6);
	for (size_t i = 0; i < result->n_regions; i++) {
		const struct region_row *r = &result->regions[i];
		struct str title = {0};
		char name[256];
		region_append_passes(&title, r);
		str_escape_to(name, sizeof name, r->name);
		fprintf(out, "\nRegion %s, %s\n", name, title.text ? title.text : "");
		str_free(&title);
		for (size_t j = 0; j < r->n_estimates; j++)
			print_line(out, r->estimates[j].event, &r->estimates[j], 0);
	}
	print_disagreement(out, result, "Cycles");
	print_disagreement(out, result, "Graduated instructions");
	modelled_print(out, result, "");
	notes_print(out, result, "");
}
