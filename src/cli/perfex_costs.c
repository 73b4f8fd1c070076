#include "cli/perfex_costs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain_costs.h"
#include "compat/perfex_listing.h"

const char *perfex_costs_machine(const char *on)
{
	static char name[128]; /* written once for a command */
	static const char model[] = "model:";
	if (!on || strncmp(on, model, strlen(model)) != 0)
		return NULL;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(on + strlen(model), ","), on + strlen(model));
	return strcmp(name, "host") == 0 ? NULL : name;
}

static void print_key(const char *key, double seconds)
{
	if (!isnan(seconds))
		printf("%s = %.12g\n", key, seconds * 1e9);
}

static void print_file(const struct costs *costs)
{
	printf("[costs]\nmachine = %s\ntitle = %s\nsource = %s\n", costs->machine, costs->title, costs->title);
	if (costs->clock_hz > 0)
		printf("clock_hz = %.12g\n", costs->clock_hz);
	for (unsigned i = 0; i < OPERATIONS; i++) {
		const struct cost *cost = &costs->of[i];
		if (!cost->known)
			continue;
		printf("\n[cost]\nof = %s\nunit = ns\n", operation_name((enum cost_operation)i));
		print_key("typical", cost->typical);
		print_key("minimum", cost->least);
		print_key("maximum", cost->most);
		printf("source = %s\n", cost->source ? cost->source : costs->title);
	}
}

static void print_ns(double seconds)
{
	if (isnan(seconds))
		printf(" %12s", "-");
	else
		printf(" %12.3f", seconds * 1e9);
}

static void print_events(const struct costs *costs)
{
	printf("%s\n%-60s %12s %12s %12s\n", costs->title, "event", "typical ns", "minimum ns", "maximum ns");
	for (unsigned i = 0; i < PERFEX_EVENTS; i++) {
		struct perfex_times times = perfex_times_of(costs, i);
		printf("%2u %-57s", i, perfex_event_of(PERFEX_R10000, i)->listed);
		print_ns(times.typical);
		print_ns(times.least);
		print_ns(times.most);
		putchar('\n');
	}
}

bool perfex_print_costs(const char *file, const char *on, bool by_event, struct error *err)
{
	const char *machine = perfex_costs_machine(on);
	struct costs_found found;
	if (!explain_find_costs(file, machine ? machine : "host", !machine, 0.95, true, &found, err))
		return false;
	if (!found.known)
		return error_set(err, ERROR_NOT_FOUND, "perfex: no costs: %s", found.why);
	if (by_event)
		print_events(&found.costs);
	else
		print_file(&found.costs);
	costs_free(&found.costs);
	return fflush(stdout) == 0 || error_set(err, ERROR_IO, "perfex: cannot write to standard output");
}
