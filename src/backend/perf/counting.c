/* One counting, from its counters' opening to their last reading.
 *
 *     prepare: hold the program, find the tasks or CPUs, open everything, disabled
 *     go:      the program's exec enables its counters (enable_on_exec); others are enabled by hand
 *     stop:    disable, read, add up
 *
 * 1. counters[place × n_events + event]; -1 where none is open.
 * 2. What one place lacks is missing in the whole event: its reading says why instead of giving a part. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/launch.h"
#include "backend/perf/counter.h"
#include "backend/perf/state.h"
#include "backend/perf/targets.h"

/* What became of one event. */
struct track {
	const struct answer *answer;
	enum reading_state state; /* COUNTED as long as nothing went wrong */
	char why[256];
};

struct counting {
	struct backend *backend;
	enum target_kind kind;
	bool by_place; /* a row of readings for each place */
	size_t n_events;
	struct track *tracks;
	struct places places;
	int *counters;
	struct command command;
	struct launch launch;
	pid_t pid;
	bool let_go;
};

/* ---- opening ---- */

static bool hopeless(int os_errno)
{
	return os_errno == EMFILE || os_errno == ENFILE || os_errno == ENOMEM;
}

static void drop(struct counting *c, size_t event)
{
	for (size_t p = 0; p < c->places.list.count; p++) {
		int *fd = &c->counters[p * c->n_events + event];
		if (*fd >= 0)
			close(*fd);
		*fd = -1;
	}
}

static enum reading_state state_of(const struct error *reason)
{
	return reason->code == ERROR_PERMISSION	   ? READING_DENIED
	       : reason->code == ERROR_UNSUPPORTED ? READING_UNSUPPORTED
						   : READING_FAILED;
}

/* Opens one event's counters everywhere. False when there is no sense in going on. */
static bool open_event(struct counting *c, const struct target *target, size_t event, struct error *err)
{
	struct track *track = &c->tracks[event];
	const struct answer *answer = track->answer;
	bool command = c->kind == TARGET_COMMAND;
	struct counter_request request = {
		.encoding = &answer->encoding,
		.levels = answer->levels,
		.heirs = c->kind == TARGET_CPUS	  ? HEIRS_NONE
			 : target->follow_children  ? HEIRS_ALL
			 : c->kind == TARGET_THREADS ? HEIRS_NONE
						     : HEIRS_THREADS,
		.begin_at_exec = command,
	};
	for (size_t p = 0; p < c->places.list.count; p++) {
		const struct place *place = &c->places.list.items[p];
		int fd = counter_open(&request, place->task, place->cpu);
		c->counters[p * c->n_events + event] = fd;
		if (fd >= 0)
			continue;
		if (errno == ESRCH && !command)
			continue; /* a thread that has ended since */
		struct attempt attempt = {
			.action = COUNTER_OPEN,
			.event = answer->text,
			.how = answer->how,
			.levels = answer->levels,
			.type = answer->encoding.type,
			.task = command ? 0 : place->task,
			.cpu = place->cpu,
			.threads_only = request.heirs == HEIRS_THREADS,
			.counters = c->places.list.count * c->n_events,
		};
		struct error reason;
		int os_errno = errno;
		failure_explain(os_errno, &attempt, machine_state(c->backend), &reason);
		if (hopeless(os_errno)) {
			if (err)
				*err = reason;
			return false;
		}
		drop(c, event);
		track->state = state_of(&reason);
		snprintf(track->why, sizeof track->why, "%.255s", reason.text);
		if (err)
			*err = reason;
		break;
	}
	return true;
}

/* All counters; false when none of those that should work could be opened for an attached target. */
static bool open_counters(struct counting *c, const struct target *target, struct error *err)
{
	size_t n = c->n_events * c->places.list.count;
	struct descriptor_limit limit;
	bool done = true;
	c->counters = malloc((n + 1) * sizeof *c->counters);
	if (!c->counters)
		return error_no_memory(err);
	for (size_t i = 0; i < n; i++)
		c->counters[i] = -1;
	limit_raise(&limit, n);
	size_t open = 0;
	for (size_t i = 0; done && i < c->n_events; i++) {
		if (c->tracks[i].state == READING_COUNTED)
			done = open_event(c, target, i, err);
		open += c->tracks[i].state == READING_COUNTED;
	}
	limit_restore(&limit);
	/* a program is worth running for the operating system's account of it alone; waiting for others is not */
	if (done && c->n_events > 0 && open == 0 && c->kind != TARGET_COMMAND)
		return false;
	return done;
}

static bool find_places(struct counting *c, const struct target *target, struct error *err)
{
	if (c->kind != TARGET_COMMAND)
		return places_find(&c->places, target, err);
	return vec_push(&c->places.list, ((struct place){ c->pid, -1 })) || error_no_memory(err);
}

static bool set_up(struct counting *c, const struct target *target, const struct event *const *events,
		   struct error *err)
{
	c->tracks = calloc(c->n_events + 1, sizeof *c->tracks);
	if (!c->tracks)
		return error_no_memory(err);
	for (size_t i = 0; i < c->n_events; i++) {
		struct track *track = &c->tracks[i];
		track->answer = answer_find(c->backend, events[i]);
		if (!track->answer)
			return error_no_memory(err);
		const struct availability *known = &track->answer->availability;
		track->state = known->state;
		snprintf(track->why, sizeof track->why, "%s", known->why);
		if (known->state != READING_COUNTED && err)
			error_set(err, known->state == READING_DENIED ? ERROR_PERMISSION : ERROR_UNSUPPORTED,
				  "cannot count '%s': %s", events[i]->text, known->why);
	}
	if (target->command) {
		c->command = *target->command;
		if (!launch_hold(&c->command, &c->launch, err))
			return false;
		c->pid = c->launch.pid;
	}
	return find_places(c, target, err) && open_counters(c, target, err);
}

bool perf_prepare(struct backend *backend, const struct target *target, const struct event *const *events, size_t n,
		  struct counting **out, struct error *err)
{
	*out = NULL;
	struct counting *c = calloc(1, sizeof *c);
	if (!c)
		return error_no_memory(err);
	*c = (struct counting){ .backend = backend,
				.kind = target->kind,
				.by_place = target->kind == TARGET_CPUS ? target->per_cpu : target->per_thread,
				.n_events = n,
				.launch = { .go_fd = -1, .failed_fd = -1 } };
	if (!set_up(c, target, events, err)) {
		perf_end(c);
		return false;
	}
	*out = c;
	return true;
}

pid_t perf_process(const struct counting *c)
{
	return c->pid;
}

bool perf_go(struct counting *c, struct error *err)
{
	size_t n = c->kind == TARGET_COMMAND ? 0 : c->n_events * c->places.list.count;
	for (size_t i = 0; i < n; i++)
		if (c->counters[i] >= 0 && !counter_enable(c->counters[i]))
			return error_set_errno(err, ERROR_SYSTEM, errno, "cannot start the counter of '%s'",
					       c->tracks[i % c->n_events].answer->text);
	c->let_go = true;
	if (c->launch.pid && !launch_go(&c->launch, &c->command, err)) {
		c->pid = 0;
		return false;
	}
	return true;
}

/* ---- reading ---- */

/* The sum over places first … last-1. why is the track's. */
static void read_event(struct counting *c, size_t event, size_t first, size_t last, struct reading *r)
{
	struct track *track = &c->tracks[event];
	struct counter_values sum = { 0 };
	*r = (struct reading){ .state = track->state, .source = track->answer->availability.source, .cpu = -1 };
	for (size_t p = first; p < last && r->state == READING_COUNTED; p++) {
		struct counter_values one;
		int fd = c->counters[p * c->n_events + event];
		if (fd < 0)
			continue;
		if (!counter_read(fd, &one)) {
			r->state = track->state = READING_FAILED;
			snprintf(track->why, sizeof track->why, "its counter could not be read: %s",
				 errno ? strerror(errno) : "the kernel has given it up");
			break;
		}
		sum.count += one.count;
		sum.enabled_ns += one.enabled_ns;
		sum.running_ns += one.running_ns;
	}
	if (r->state != READING_COUNTED) {
		r->source = SOURCE_NONE;
		r->why = track->why;
		return;
	}
	r->enabled_ns = sum.enabled_ns;
	r->running_ns = sum.running_ns;
	double scale = track->answer->encoding.scale;
	r->count_raw = scale == 1 || scale == 0 ? sum.count : (uint64_t)llround((double)sum.count * scale);
	if (sum.enabled_ns > 0 && sum.running_ns == 0) {
		r->state = READING_NEVER_RAN;
		r->source = SOURCE_NONE;
		r->count_raw = 0;
		r->why = "it never got a counter";
	}
}

bool perf_sample(struct counting *c, struct reading *readings, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < c->n_events; i++)
		read_event(c, i, 0, c->places.list.count, &readings[i]);
	return true;
}

bool perf_stop(struct counting *c, struct run *run, struct error *err)
{
	size_t places = c->places.list.count, n = c->n_events * places;
	for (size_t i = 0; i < n; i++)
		if (c->counters[i] >= 0)
			counter_disable(c->counters[i]);
	run->n_events = c->n_events;
	run->n_rows = c->by_place ? places : 1;
	run->readings = arena_alloc(&run->arena, (run->n_rows * run->n_events + 1) * sizeof *run->readings);
	if (!run->readings)
		return error_no_memory(err);
	for (size_t row = 0; row < run->n_rows; row++) {
		for (size_t i = 0; i < c->n_events; i++) {
			struct reading *r = &run->readings[row * c->n_events + i];
			read_event(c, i, c->by_place ? row : 0, c->by_place ? row + 1 : places, r);
			if (c->by_place) {
				r->tid = c->kind == TARGET_CPUS ? 0 : c->places.list.items[row].task;
				r->cpu = c->places.list.items[row].cpu;
			}
			if (r->why && !(r->why = arena_strdup(&run->arena, r->why)))
				return error_no_memory(err);
		}
	}
	return true;
}

void perf_end(struct counting *c)
{
	for (size_t i = 0; c->counters && i < c->n_events; i++)
		drop(c, i);
	launch_abandon(&c->launch);
	places_free(&c->places);
	free(c->counters);
	free(c->tracks);
	free(c);
}
