/* One counting, from its counters' opening to their last reading.
 *
 *     prepare: hold the program, find the tasks or CPUs, open everything, disabled
 *     go:      the program's exec enables its counters (enable_on_exec); others are enabled by hand
 *     stop:    disable, read, add up
 *
 * 1. counters[place × n_events + event]; -1 where none is open.
 * 2. What one place lacks is missing in the whole event: its reading says why instead of giving a part.
 * 3. A thread is counted once: with its own counter, or as an heir of the thread that started it, never with both. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/launch.h"
#include "backend/perf/cancel.h"
#include "backend/perf/counter.h"
#include "backend/perf/pmu.h"
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

static void refuse(struct track *track, enum reading_state state, const char *why)
{
	track->state = state;
	snprintf(track->why, sizeof track->why, "%s", why);
}

static enum counter_heirs heirs_of(const struct target *target)
{
	if (target->kind == TARGET_CPUS)
		return HEIRS_NONE;
	if (target->follow_children)
		return HEIRS_ALL;
	/* a process is all of its threads; a thread is one */
	return target->kind == TARGET_THREADS ? HEIRS_NONE : HEIRS_THREADS;
}

/* Why an event that works is not for this kind of target; NULL when it is. */
static const char *not_for_target(const struct answer *answer, enum target_kind kind)
{
	const struct event_encoding *encoding = &answer->encoding;
	if (kind != TARGET_CPUS && answer->cpus_only)
		return "it counts whole CPUs or packages, not programs: use -a or -C";
	/* task_clock_event_read() gives the time of the counter's context, and a CPU's context never sleeps */
	if (kind == TARGET_CPUS && encoding->type == PERF_TYPE_SOFTWARE && encoding->config == PERF_COUNT_SW_TASK_CLOCK)
		return "of whole CPUs the kernel's task clock counts the idle time too";
	return NULL;
}

/* Does this place count the event? For a package one of its CPUs counts, and the others would count it again. */
static bool counts_here(const struct answer *answer, const struct place *place)
{
	return place->cpu < 0 || !answer->cpumask[0] || pmu_list_has(answer->cpumask, place->cpu);
}

/* Opens one event's counters everywhere. False when there is no sense in going on. */
static bool open_event(struct counting *c, const struct target *target, size_t event, struct error *err)
{
	struct track *track = &c->tracks[event];
	const struct answer *answer = track->answer;
	bool command = c->kind == TARGET_COMMAND;
	struct counter_request request = { .encoding = &answer->encoding,
					   .levels = answer->open_levels,
					   .heirs = heirs_of(target),
					   .begin_at_exec = command };
	struct attempt attempt = { .action = COUNTER_OPEN,
				   .event = answer->label,
				   .how = answer->how,
				   .levels = answer->open_levels,
				   .type = answer->encoding.type,
				   .threads_only = request.heirs == HEIRS_THREADS,
				   .counters = c->places.list.count * c->n_events };
	size_t open = 0;
	int os_errno = 0;
	for (size_t p = 0; p < c->places.list.count; p++) {
		const struct place *place = &c->places.list.items[p];
		if (!counts_here(answer, place))
			continue;
		int fd = counter_open(&request, place->task, place->cpu);
		c->counters[p * c->n_events + event] = fd;
		open += fd >= 0;
		if (fd >= 0)
			continue;
		os_errno = errno;
		attempt.task = command ? COUNTER_SELF : place->task;
		attempt.cpu = place->cpu;
		if (os_errno != ESRCH)
			break; /* else a thread that has ended since it was listed */
	}
	if (open > 0 && (os_errno == 0 || os_errno == ESRCH))
		return true;
	if (os_errno == 0) {
		refuse(track, READING_UNSUPPORTED, "none of these CPUs counts it (one CPU counts for its package)");
		error_set(err, ERROR_UNSUPPORTED, "cannot count '%s' on these CPUs", answer->label);
		error_hint(err, "CPUs that count it: %s", answer->cpumask);
		return true;
	}
	struct error reason;
	failure_explain(os_errno, &attempt, machine_state(c->backend), &reason);
	if (err)
		*err = reason;
	if (hopeless(os_errno))
		return false;
	drop(c, event);
	struct failure failure = failure_of(os_errno, &attempt, machine_state(c->backend));
	refuse(track, failure_state(failure.code), failure.why);
	return true;
}

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
	/* the program is forked already, and has the limit as it was */
	limit_raise(&limit, n);
	size_t open = 0;
	for (size_t i = 0; done && i < c->n_events; i++) {
		if (c->tracks[i].state == READING_COUNTED)
			done = open_event(c, target, i, err);
		open += c->tracks[i].state == READING_COUNTED;
	}
	limit_restore(&limit);
	/* a program is worth running for the operating system's account of it alone; others would be waited for in vain */
	if (done && c->n_events > 0 && open == 0 && c->kind != TARGET_COMMAND)
		return false;
	return done;
}

/* ---- finding out what and where ---- */

static bool find_events(struct counting *c, const struct event *const *events, const char *cancelled, struct error *err)
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
		const char *not_here = cancelled ? cancelled : not_for_target(track->answer, c->kind);
		if (known->state != READING_COUNTED)
			refuse(track, known->state, known->why);
		else if (not_here)
			refuse(track, cancelled ? READING_DENIED : READING_UNSUPPORTED, not_here);
		if (track->state == READING_COUNTED)
			continue;
		error_set(err, track->state == READING_DENIED ? ERROR_PERMISSION : ERROR_UNSUPPORTED,
			  "cannot count '%s': %s", events[i]->label, track->why);
		if (known->remedy[0])
			error_hint(err, "%s", known->remedy);
	}
	return true;
}

static void close_counters(struct counting *c)
{
	for (size_t i = 0; c->counters && i < c->n_events; i++)
		drop(c, i);
	free(c->counters);
	c->counters = NULL;
}

/* Is there a thread that had not started when the threads were listed? */
static bool has_newcomer(const struct places *then, const struct places *now)
{
	for (size_t i = 0; i < now->list.count; i++) {
		bool known = false;
		for (size_t j = 0; j < then->list.count && !known; j++)
			known = now->list.items[i].task == then->list.items[j].task;
		if (!known)
			return true;
	}
	return false;
}

/* Counters for the threads of running processes. One that starts while they are opened may have been started by a
 * thread with a counter (then it is counted as its heir) or by one still without (then it is not): nothing tells. So it is
 * done again until no thread has started meanwhile. */
static bool open_threads(struct counting *c, const struct target *target, struct error *err)
{
	enum { ATTEMPTS = 50 };
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		struct places now;
		if (!places_find(&c->places, target, err) || !open_counters(c, target, err))
			return false;
		if (!places_find(&now, target, NULL))
			return true; /* all have ended: what was counted of them can be read */
		bool again = has_newcomer(&c->places, &now);
		places_free(&now);
		if (!again)
			return true;
		close_counters(c);
		places_free(&c->places);
	}
	error_set(err, ERROR_BUSY, "cannot count process %d: it starts threads faster than counters can be opened",
		  (int)target->pids[0]);
	return error_hint(err, "count it from its start: tare count PROGRAM");
}

static bool set_up(struct counting *c, const struct target *target, const struct event *const *events,
		   struct error *err)
{
	const char *cancelled = NULL;
	if (target->command) {
		c->command = *target->command;
		char *path = launch_find(&c->command, err);
		if (!path)
			return false;
		if (c->kind == TARGET_COMMAND)
			cancelled = exec_cancels(path);
		free(path);
	}
	if (!find_events(c, events, cancelled, err))
		return false;
	if (target->command) {
		if (!launch_hold(&c->command, &c->launch, err))
			return false;
		c->pid = c->launch.pid;
	}
	if (c->kind == TARGET_PROCESSES)
		return open_threads(c, target, err);
	if (c->kind != TARGET_COMMAND)
		return places_find(&c->places, target, err) && open_counters(c, target, err);
	if (!vec_push(&c->places.list, ((struct place){ c->pid, -1 })))
		return error_no_memory(err);
	return open_counters(c, target, err);
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

static uint64_t scaled(uint64_t count, double scale)
{
	/* to the nearest; not llround(), which would make libtare need libm */
	return scale == 1 || scale == 0 ? count : (uint64_t)((double)count * scale + 0.5);
}

/* The sum over places first … last-1. why is the track's. */
static void read_event(struct counting *c, size_t event, size_t first, size_t last, struct reading *r)
{
	struct track *track = &c->tracks[event];
	struct counter_values sum = { 0 };
	size_t open = 0;
	*r = (struct reading){ .state = track->state, .source = track->answer->availability.source, .cpu = -1 };
	for (size_t p = first; p < last && r->state == READING_COUNTED; p++) {
		struct counter_values one;
		int fd = c->counters[p * c->n_events + event];
		if (fd < 0)
			continue;
		open++;
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
	r->count_raw = scaled(sum.count, track->answer->encoding.scale);
	if (open > 0 && c->kind == TARGET_COMMAND && sum.enabled_ns == 0) {
		/* every program that runs at all does so for some time after its exec */
		r->state = READING_FAILED;
		r->why = "the program was never executed, or the kernel stopped counting it";
	} else if (open == 0 || (sum.enabled_ns > 0 && sum.running_ns == 0)) {
		r->state = READING_NEVER_RAN;
		r->why = open	? "it never got a counter"
			 : c->kind == TARGET_CPUS ? "another CPU counts it for the package"
						  : "the thread had ended";
	}
	if (r->state != READING_COUNTED) {
		r->source = SOURCE_NONE;
		r->count_raw = 0;
	}
}

bool perf_sample(struct counting *c, struct reading *readings, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < c->n_events; i++)
		read_event(c, i, 0, c->places.list.count, &readings[i]);
	return true;
}

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void take_out(uint64_t *amount, uint64_t part)
{
	*amount -= part < *amount ? part : *amount;
}

/* The operating system's account of the program began with the fork: faults and switches of the held process are not
 * the program's. */
static void correct_account(const struct counting *c, struct run *run)
{
	const struct rusage *before = &c->launch.before;
	take_out(&run->user_ns, ns_of(before->ru_utime));
	take_out(&run->system_ns, ns_of(before->ru_stime));
	take_out(&run->minor_faults, (uint64_t)before->ru_minflt);
	take_out(&run->major_faults, (uint64_t)before->ru_majflt);
	take_out(&run->voluntary_switches, (uint64_t)before->ru_nvcsw);
	take_out(&run->involuntary_switches, (uint64_t)before->ru_nivcsw);
}

bool perf_stop(struct counting *c, struct run *run, struct error *err)
{
	size_t places = c->places.list.count, n = c->n_events * places;
	for (size_t i = 0; i < n; i++)
		if (c->counters[i] >= 0)
			counter_disable(c->counters[i]);
	correct_account(c, run);
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
	close_counters(c);
	launch_abandon(&c->launch);
	places_free(&c->places);
	free(c->tracks);
	free(c);
}
