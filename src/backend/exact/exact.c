/* The backend's face; an execution is counting.h's. */
#include "backend/exact/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/counting.h"
#include "backend/engine/events.h"
#include "backend/engine/trial.h"

struct backend {
	struct trial trial, stream_trial;
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

static void close_exact(struct backend *backend)
{
	free(backend);
}

bool exact_event_level(const struct event *event, struct availability *out)
{
	*out = (struct availability){.state = READING_UNSUPPORTED};
	if (event->levels == LEVEL_USER)
		return true;
	if (event->levels == LEVEL_KERNEL) {
		snprintf(out->why, sizeof out->why, "the engine counts user mode only");
		return false;
	}
	/* no level asked for means both: a part is no count of that */
	snprintf(out->why, sizeof out->why, "the engine counts user mode only, and both levels were asked for");
	size_t length = strlen(event->label);
	bool said = length > 3 && (strcmp(event->label + length - 3, ":uk") == 0 || strcmp(event->label + length - 3, ":ku") == 0);
	snprintf(out->remedy, sizeof out->remedy, "ask for it at user level: %.*s:u", (int)(said ? length - 3 : length < 100 ? length : 100), event->label);
	return false;
}

void exact_event_available(const struct event *event, struct trial *trial, struct availability *out)
{
	const struct exact_event *exact = exact_event_find(event);
	*out = (struct availability){.state = READING_UNSUPPORTED};
	if (!exact)
		snprintf(out->why, sizeof out->why, "the engine does not count '%.100s': it counts what instructions do, in user mode",
		         event->label);
	else if (!exact_event_level(event, out))
		return;
	else if (exact->why_not)
		snprintf(out->why, sizeof out->why, "%s", exact->why_not);
	else if (!trial_passed(trial)) {
		out->prevented = true;
		snprintf(out->why, sizeof out->why, "%.250s", trial->why);
		snprintf(out->remedy, sizeof out->remedy, "%.250s", trial->remedy);
	} else if (!trial_counts(trial, exact))
		snprintf(out->why, sizeof out->why, "the engine counts '%.100s' wrongly here: of a small known program it is not what it must be",
		         event->label);
	else
		*out = (struct availability){.state = READING_COUNTED, .source = SOURCE_EXACT};
}

static void available(struct backend *backend, const struct event *event, struct availability *out)
{
	if (event->machine) {
		*out = (struct availability){.state = READING_UNSUPPORTED};
		snprintf(out->why, sizeof out->why, "'%.100s' is asked of a modelled machine, and this backend models none", event->label);
		snprintf(out->remedy, sizeof out->remedy, "count it with --on model:%.60s", event->machine);
		return;
	}
	const struct exact_event *exact = exact_event_find(event);
	exact_event_available(event, exact && exact_event_needs_trace(exact) ? &backend->stream_trial : &backend->trial, out);
}

static bool prepare(struct backend *backend, const struct target *target, const struct event *const *events, size_t n,
                    struct counting **out, struct error *err)
{
	struct counted_event *counted = calloc(n + 1, sizeof *counted);
	(void)backend;
	*out = NULL;
	if (!counted)
		return error_no_memory(err);
	for (size_t i = 0; i < n; i++)
		counted[i].exact = events[i]->levels == LEVEL_USER && !events[i]->machine ? exact_event_find(events[i]) : NULL;
	bool done = counting_start(target, counted, n, NULL, out, err);
	free(counted);
	return done;
}

static void diagnose(struct backend *backend, struct finding *findings, size_t most, size_t *count)
{
	struct finding *f = trial_finding(&backend->trial, "exact counts", findings, most, count);
	if (f)
		snprintf(f->detail, sizeof f->detail, "tare's engine counts a known program to the instruction (user mode, programs that "
		         "tare starts)");
}

const struct backend_operations exact_backend = {
	.name = "exact",
	.summary = "tare's engine: what instructions do, counted exactly, in user mode, with no PMU; x86-64",
	.open = open_exact,
	.close = close_exact,
	.available = available,
	.prepare = prepare,
	.diagnose = diagnose,
	COUNTING_OPERATIONS,
};
