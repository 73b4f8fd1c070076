/* The backend's face; an execution is engine/counting.h's. */
#include "backend/exact/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/available.h"
#include "backend/engine/counting.h"
#include "backend/engine/trial.h"

struct backend {
	struct engine_trial trial, stream_trial;
};

static bool open_exact(const char *argument, struct backend **out, struct error *err)
{
	*out = NULL;
	if (argument && *argument) {
		error_set(err, ERROR_USAGE, "the backend 'exact' takes no argument '%s'", argument);
		return error_hint(err, "use --on exact");
	}
	if (!(*out = calloc(1, sizeof **out)))
		return error_no_memory(err);
	(*out)->stream_trial.traced = true;
	return true;
}

static void close_exact(struct backend *backend) { free(backend); }

static void available(struct backend *backend, const struct event *event, struct availability *out)
{
	if (event->machine) {
		*out = (struct availability){.state = READING_UNSUPPORTED};
		snprintf(out->why, sizeof out->why,
			 "'%.100s' is an event of a modelled machine, and this backend models none", event->label);
		snprintf(out->remedy, sizeof out->remedy, "count it with --on model:%.60s", event->machine);
		return;
	}
	const struct exact_event *exact = exact_event_find(event);
	exact_event_available(
		event, exact && exact_event_needs_trace(exact) ? &backend->stream_trial : &backend->trial, out);
}

static bool prepare(struct backend *backend, const struct target *target, const struct event *const *events,
		    size_t n, struct counting **out, struct error *err)
{
	struct execution_event *counted = calloc(n + 1, sizeof *counted);
	(void)backend;
	*out = NULL;
	if (!counted)
		return error_no_memory(err);
	for (size_t i = 0; i < n; i++)
		counted[i].exact = events[i]->levels == LEVEL_USER && !events[i]->machine
					   ? exact_event_find(events[i])
					   : NULL;
	bool done = counting_start(target, counted, n, NULL, out, err);
	free(counted);
	return done;
}

static void diagnose(struct backend *backend, struct finding *findings, size_t most, size_t *count)
{
	struct finding *f = trial_finding(&backend->trial, "exact counts", findings, most, count);
	if (f)
		snprintf(f->detail, sizeof f->detail,
			 "tare's engine counts a known program to the instruction (user mode, programs that "
			 "tare starts)");
}

const struct backend_operations exact_backend = {
	.name = "exact",
	.summary = "tare's engine: counts exactly what instructions do, in user mode, without a PMU; x86-64",
	.open = open_exact,
	.close = close_exact,
	.available = available,
	.prepare = prepare,
	.diagnose = diagnose,
	COUNTING_OPERATIONS,
};
