/* Counting from a recording: events, counters and readings are the recording's; the program is a real one.
 *
 * 1. The program is executed as every backend executes it (launch.h), so that its streams, its exit status and
 *    what the operating system says of it are real. Targets without a program execute none.
 * 2. The k-th prepare() takes the k-th recorded execution, a measurement's warm-ups included.
 * 3. An event is the recording's when the recording has its text as asked for, or its label. `cycles:u` is not
 *    `cycles`.
 * 4. What the recording does not hold is an error, never a 0. */
#include "backend/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "backend/launch.h"
#include "backend/replay/recording.h"
#include "base/file.h"

struct backend {
	struct recording recording;
	size_t prepared; /* executions so far */
};

struct counting {
	const struct backend *backend;
	const struct recorded_execution *execution;
	size_t number;  /* of the execution, 1-based, for messages */
	size_t *events; /* the recording's indices of the events asked for */
	size_t n;
	bool in_rows; /* the target wants the recorded rows, not their sum */
	size_t sampled;
	struct command command;
	struct launch launch;
	bool launched;
};

enum { NO_EVENT = -1 };

static bool replay_open(const char *argument, struct backend **out, struct error *err)
{
	*out = NULL;
	if (!argument || !*argument) {
		error_set(err, ERROR_USAGE, "replay needs a recording");
		return error_hint(err, "use --on replay:FILE");
	}
	size_t length;
	char *text = file_read(argument, RECORDING_BYTES_MOST, &length, err);
	if (!text)
		return false;
	struct backend *b = calloc(1, sizeof *b);
	bool done = b ? recording_parse(text, length, argument, &b->recording, err) : error_no_memory(err);
	free(text);
	if (!done) {
		free(b);
		return false;
	}
	*out = b;
	return true;
}

static void replay_close(struct backend *b)
{
	if (!b)
		return;
	recording_free(&b->recording);
	free(b);
}

/* The recording's index of the event, or NO_EVENT. */
static ptrdiff_t find(const struct recording *recording, const struct event *event)
{
	const char *const names[] = {event->text, event->label};
	for (size_t name = 0; name < sizeof names / sizeof *names; name++)
		for (size_t i = 0; names[name] && i < recording->n_events; i++)
			if (strcmp(recording->events[i].name, names[name]) == 0)
				return (ptrdiff_t)i;
	return NO_EVENT;
}

static void replay_available(struct backend *b, const struct event *event, struct availability *out)
{
	ptrdiff_t index = find(&b->recording, event);
	if (index != NO_EVENT) {
		*out = b->recording.events[index].availability;
		return;
	}
	*out = (struct availability){.state = READING_UNSUPPORTED};
	strcpy(out->why, "the recording does not have this event");
}

/* The recording's indices of events; an event that is not counted there does not fit anywhere. */
static bool indices(const struct recording *recording, const struct event *const *events, size_t n, size_t *out,
		    const struct event **missing)
{
	for (size_t i = 0; i < n; i++) {
		ptrdiff_t index = find(recording, events[i]);
		*missing = events[i];
		if (index == NO_EVENT || (recording->events[index].availability.state != READING_COUNTED &&
					  recording->events[index].availability.state != READING_UNPROVEN))
			return false;
		out[i] = (size_t)index;
	}
	return true;
}

static bool replay_fits(struct backend *b, const struct event *const *events, size_t n)
{
	const struct event *missing;
	size_t *index = malloc((n + 1) * sizeof *index);
	bool fits = index && indices(&b->recording, events, n, index, &missing) &&
		    recording_fits(&b->recording, index, n);
	free(index);
	return fits;
}

static const struct recorded_reading *reading_of(const struct recorded_moment *moment, size_t event)
{
	for (size_t i = 0; i < moment->n_readings; i++)
		if (moment->readings[i].event == event)
			return &moment->readings[i];
	return NULL;
}

/* The recorded failure of this step, where there is one; then *err has it and the answer is true. */
static bool fails(const struct counting *c, enum recorded_step step, struct error *err)
{
	if (c->execution->fails_at != step)
		return false;
	if (err)
		*err = c->execution->failure;
	return true;
}

static void replay_end(struct counting *c)
{
	if (!c)
		return;
	if (c->launched)
		launch_abandon(&c->launch);
	free(c->events);
	free(c);
}

/* The execution's place in the recording, and readings of all that is asked for. */
static bool choose_execution(struct backend *b, struct counting *c, const struct event *const *events,
			     struct error *err)
{
	const struct recording *r = &b->recording;
	size_t index = c->number - 1;
	if (index >= r->n_executions) {
		if (!r->repeats || r->n_executions == 0)
			return error_set(err, ERROR_NOT_FOUND,
					 "the recording '%s' has %zu execution%s; this is number %zu", r->path,
					 r->n_executions, r->n_executions == 1 ? "" : "s", c->number);
		index = r->n_executions - 1;
	}
	c->execution = &r->executions[index];
	/* one that fails before its end has no readings to ask for */
	if (c->execution->fails_at != FAILS_NEVER && c->execution->fails_at != FAILS_SAMPLE)
		return true;
	for (size_t i = 0; i < c->n; i++)
		if (!reading_of(&c->execution->end, c->events[i]))
			return error_set(err, ERROR_NOT_FOUND,
					 "execution %zu of the recording '%s' has no reading of '%s'", index + 1,
					 r->path, events[i]->label);
	return true;
}

static bool replay_prepare(struct backend *b, const struct target *target, const struct event *const *events,
			   size_t n, struct counting **out, struct error *err)
{
	const struct event *missing = NULL;
	bool done = false;
	*out = NULL;
	struct counting *c = calloc(1, sizeof *c);
	if (!c)
		return error_no_memory(err);
	*c = (struct counting){.backend = b,
			       .number = ++b->prepared,
			       .n = n,
			       .events = malloc((n + 1) * sizeof *c->events),
			       .in_rows = target->per_thread || target->per_cpu};
	if (!c->events) {
		error_no_memory(err);
		goto out;
	}
	if (!indices(&b->recording, events, n, c->events, &missing)) {
		error_set(err, ERROR_UNSUPPORTED, "the recording '%s' does not count '%s'", b->recording.path,
			  missing->label);
		goto out;
	}
	if (!choose_execution(b, c, events, err) || fails(c, FAILS_PREPARE, err))
		goto out;
	if (target->command) {
		c->command = *target->command;
		if (!launch_hold(&c->command, &c->launch, err))
			goto out;
		c->launched = true;
	}
	done = true;
	*out = c;
out:
	if (!done)
		replay_end(c);
	return done;
}

static pid_t replay_process(const struct counting *c) { return c->launched ? c->launch.pid : 0; }

static bool replay_go(struct counting *c, struct error *err)
{
	if (fails(c, FAILS_GO, err))
		return false;
	return !c->launched || launch_go(&c->launch, &c->command, err);
}

static bool replay_read_running(struct counting *c, struct reading *readings, struct error *err)
{
	if (fails(c, FAILS_SAMPLE, err))
		return false;
	/* measure/ takes the rest as one long slice then, so that what comes out does not depend on how long the
	 * program runs, once it ran for long enough */
	if (c->sampled >= c->execution->n_samples)
		return error_set(err, ERROR_NOT_FOUND, "execution %zu of the recording has %zu sample%s",
				 c->number, c->execution->n_samples, c->execution->n_samples == 1 ? "" : "s");
	const struct recorded_moment *moment = &c->execution->samples[c->sampled];
	for (size_t i = 0; i < c->n; i++) {
		const struct recorded_reading *r = reading_of(moment, c->events[i]);
		if (!r)
			return error_set(err, ERROR_NOT_FOUND,
					 "sample %zu of execution %zu has no reading of '%s'", c->sampled + 1,
					 c->number, c->backend->recording.events[c->events[i]].name);
		readings[i] = r->rows[0];
	}
	c->sampled++;
	return true;
}

/* All rows together: a row that was not counted makes the sum so, but a thread that never ran adds nothing. */
static struct reading sum_rows(const struct recorded_reading *recorded)
{
	struct reading sum = recorded->rows[0];
	sum.tid = 0;
	sum.cpu = -1;
	for (size_t i = 1; i < recorded->n_rows; i++) {
		const struct reading *row = &recorded->rows[i];
		sum.enabled_ns += row->enabled_ns;
		sum.running_ns += row->running_ns;
		sum.count_raw += row->count_raw;
		if (row->state == READING_NEVER_RAN ||
		    (sum.state != READING_NEVER_RAN && sum.state != READING_COUNTED))
			continue;
		if (sum.state != row->state) {
			sum.state = row->state;
			sum.source = row->source;
			sum.why = row->why;
		}
	}
	return sum;
}

/* One row of one execution, or all rows together. */
struct recorded_place {
	const struct counting *c;
	size_t row;
};

static struct reading reading_at(const struct counting *c, const struct recorded_reading *recorded, size_t row)
{
	return c->in_rows ? recorded->rows[row] : sum_rows(recorded);
}

/* An event that this execution has no reading of shows nothing. */
static uint64_t recorded_count(const void *context, size_t event)
{
	const struct recorded_place *place = context;
	const struct recorded_reading *recorded = reading_of(&place->c->execution->end, event);
	return recorded ? reading_at(place->c, recorded, place->row).count_raw : 0;
}

static void corrupt(const struct counting *c, size_t event, size_t row, const struct run *run,
		    struct reading *reading)
{
	const struct recording *r = &c->backend->recording;
	struct recorded_place place = {c, row};
	if (reading->state == READING_COUNTED)
		reading->count_raw = corrupt_count(r->corruptions, r->n_corruptions, event, reading->count_raw,
						   run, c->number, recorded_count, &place);
}

static bool replay_stop(struct counting *c, struct run *run, struct error *err)
{
	const struct recorded_execution *x = c->execution;
	if (fails(c, FAILS_STOP, err))
		return false;
	size_t rows = c->in_rows && x->n_rows ? x->n_rows : 1;
	struct reading *readings = arena_alloc(&run->arena, (rows * c->n + 1) * sizeof *readings);
	if (!readings)
		return error_no_memory(err);
	for (size_t i = 0; i < c->n; i++) {
		const struct recorded_reading *recorded = reading_of(&x->end, c->events[i]);
		for (size_t row = 0; row < rows; row++) {
			struct reading *out = &readings[row * c->n + i];
			*out = reading_at(c, recorded, row);
			corrupt(c, c->events[i], row, run, out);
			/* the recording may be gone before the run is */
			if (out->why && !(out->why = arena_strdup(&run->arena, out->why)))
				return error_no_memory(err);
		}
	}
	run->readings = readings;
	run->n_events = c->n;
	run->n_rows = rows;
	return true;
}

static void replay_diagnose(struct backend *b, struct finding *findings, size_t most, size_t *count)
{
	for (size_t i = 0; i < b->recording.n_findings && *count < most; i++)
		findings[(*count)++] = b->recording.findings[i];
}

const struct backend_operations replay_backend = {
	.name = "replay",
	.summary = "recorded readings, for tests; replay:FILE names the recording",
	.open = replay_open,
	.close = replay_close,
	.available = replay_available,
	.fits = replay_fits,
	.prepare = replay_prepare,
	.process = replay_process,
	.go = replay_go,
	.read_running = replay_read_running,
	.stop = replay_stop,
	.end = replay_end,
	.diagnose = replay_diagnose,
};
