/* Which events and metrics `tare count` measures, and how each row of the report relates to them. */
#ifndef TARE_CLI_COUNT_EVENTS_H
#define TARE_CLI_COUNT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "cli/count_options.h"
#include "compat/parameters.h"
#include "event/event.h"
#include "event/metric.h"
#include "result/result.h"

enum { SLOT_NO_EVENT = -1 };

/* One asked-for row, in the order of asking. */
struct slot {
	long event;        /* index into events; SLOT_NO_EVENT: nothing here has its meaning, why says so */
	const char *label; /* shown instead of the event's own; NULL */
	const char *why;
	const char *unit;  /* without an event; NULL: "events" */
	bool required;     /* --require */
};

struct selection {
	struct event *events;
	size_t n_events;
	const struct metric **metrics;
	size_t n_metrics;
	struct slot *slots;
	size_t n_slots;
	bool defaults;     /* nothing was asked for: rows that cannot be counted become a remark */
	const char *user_only; /* a remark: what the kernel refused to count at both levels, and why; NULL */
	struct arena arena;
};

/* Where names are looked up and availability is asked for. */
struct counting_means {
	struct event_table *events;
	struct metric_table *metrics; /* NULL when none are needed; gets those at one level */
	const struct backend_operations *operations;
	struct backend *backend;
	bool runs_program; /* false: the operating system keeps no account of the target */
};

/* parameters is NULL without -P and -F. */
bool selection_make(struct selection *out, const struct count_request *request, const struct parameters *parameters,
		    const struct counting_means *means, struct error *err);
void selection_free(struct selection *selection);

/* Are any metrics needed? Their table is loaded only then. */
bool selection_needs_metrics(const struct count_request *request);

/* Puts the rows of a measured result into the order of asking, under their labels, with rows for what nothing here
 * can count; fold: of a default set, rows that this machine cannot count become one remark. False when memory ran
 * out (the result is as it was). */
bool selection_finish(const struct selection *selection, const struct counting_means *means, struct result *result,
		      bool fold);

/* What was required (strict: asked for) and is not counted in all of the runs: a line each to standard error. How many there are. To be
 * called before selection_finish(). */
size_t selection_missing(const struct selection *selection, const struct result *result, bool strict);

#endif
