/* One counting, from its counters' opening to their last reading.
 *
 *     prepare: hold the program, find the tasks or CPUs, open everything, disabled
 *     go:      the program's exec enables its counters (enable_on_exec); others are enabled by hand
 *     stop:    disable, read, add up
 *
 * 1. An event has a column for each of its variants (one, but on machines with several kinds of cores).
 *    counters[target × n_columns + column] is -1 where none is open.
 * 2. What one target lacks is missing in the whole event: its reading says why instead of giving a part.
 * 3. A thread is counted once: with its own counter, or as an heir of the thread that started it, never with both.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/launch.h"
#include "backend/perf/counter/cancel.h"
#include "backend/perf/counter/cgroup.h"
#include "backend/perf/counter/counter.h"
#include "backend/perf/counter/pmu.h"
#include "backend/perf/probe/regions.h"
#include "backend/perf/state.h"
#include "backend/perf/counter/targets.h"

/* What became of one event. */
struct track {
	const struct answer *answer;
	size_t column;            /* the first of its variants */
	enum reading_state state; /* COUNTED as long as nothing went wrong */
	char why[256];
};

struct counting {
	struct backend *backend;
	enum target_kind kind;
	bool begins_off; /* enabled by perf_turn() */
	bool by_target;  /* a row of readings for each target */
	bool starts_now; /* perf_go() starts the program: nothing is opened for it before */
	size_t n_events, n_columns;
	struct track *tracks;
	struct counter_targets targets;
	int *counters;
	struct command command;
	struct launch launch;
	pid_t pid;
	int cgroup;             /* its folder; -1: none was asked for */
	bool was_on;            /* turned on, at some time */
	struct probed *regions; /* NULL: none were asked for */
};

/* ---- opening ---- */

static bool hopeless(int os_errno) { return os_errno == EMFILE || os_errno == ENFILE || os_errno == ENOMEM; }

static int *counter_at(const struct counting *c, size_t at, const struct track *track, size_t variant)
{
	return &c->counters[at * c->n_columns + track->column + variant];
}

static void drop(struct counting *c, size_t event)
{
	const struct track *track = &c->tracks[event];
	for (size_t p = 0; p < c->targets.list.count; p++) {
		for (size_t v = 0; v < track->answer->variants.n; v++) {
			int *fd = counter_at(c, p, track, v);
			if (*fd >= 0)
				close(*fd);
			*fd = -1;
		}
	}
}

static void refuse(struct track *track, enum reading_state state, const char *why)
{
	track->state = state;
	snprintf(track->why, sizeof track->why, "%s", why);
}

/* Why an event that works is not for this kind of target; NULL when it is. */
static const char *not_for_target(const struct answer *answer, enum target_kind kind, bool cgroup)
{
	const struct event_encoding *encoding = &answer->encoding;
	if (kind != TARGET_CPUS && answer->variants.whole_cpus)
		return "it counts whole CPUs or packages, not programs: use -a or -C";
	if (cgroup && answer->variants.whole_cpus)
		return "it counts whole CPUs or packages, and not the tasks of a control group";
	/* task_clock_event_read() gives the time of the counter's context, and a CPU's context never sleeps */
	if (kind == TARGET_CPUS && encoding->type == PERF_TYPE_SOFTWARE &&
	    encoding->config == PERF_COUNT_SW_TASK_CLOCK)
		return "on whole CPUs the kernel's task clock also counts the idle time";
	return NULL;
}

/* Does this target count the event? For a package one of its CPUs counts, and the others would count it again; a
 * core is counted by the PMU of its kind. */
static bool counts_here(const struct variant *variant, const struct counter_target *to)
{
	return to->cpu < 0 || !variant->cpus[0] || pmu_list_has(variant->cpus, to->cpu);
}

/* All variants of an event at one target. False with errno; *opened is how many were to be opened there. */
static bool open_target(struct counting *c, const struct track *track, size_t p, enum counter_heirs heirs,
			size_t *opened)
{
	const struct counter_target *to = &c->targets.list.items[p];
	const struct variants *variants = &track->answer->variants;
	for (size_t v = 0; v < variants->n; v++) {
		struct counter_request request = {.encoding = &variants->items[v].encoding,
						  .levels = track->answer->open_levels,
						  .heirs = heirs,
						  .of_cgroup = c->cgroup >= 0,
						  .begin_at_exec = c->kind == TARGET_COMMAND && !c->begins_off};
		if (!counts_here(&variants->items[v], to))
			continue;
		int fd = counter_open(&request, c->cgroup >= 0 ? c->cgroup : to->task, to->cpu);
		*counter_at(c, p, track, v) = fd;
		if (fd < 0)
			return false;
		++*opened;
	}
	return true;
}

/* Opens one event's counters everywhere. False when there is no sense in going on. */
static bool open_event(struct counting *c, const struct target *target, size_t event, struct error *err)
{
	struct track *track = &c->tracks[event];
	const struct answer *answer = track->answer;
	struct attempt attempt = {.action = COUNTER_OPEN,
				  .event = answer->label,
				  .how = answer->how,
				  .levels = answer->open_levels,
				  .type = answer->encoding.type,
				  .threads_only = heirs_of(target) == HEIRS_THREADS,
				  .of_cgroup = c->cgroup >= 0,
				  .counters = c->targets.list.count * c->n_columns};
	size_t open = 0;
	int os_errno = 0;
	for (size_t p = 0; p < c->targets.list.count && (os_errno == 0 || os_errno == ESRCH); p++) {
		if (open_target(c, track, p, heirs_of(target), &open))
			continue;
		os_errno = errno; /* ESRCH: a thread that has ended since it was listed */
		attempt.task = c->kind == TARGET_COMMAND ? COUNTER_SELF : c->targets.list.items[p].task;
		attempt.cpu = c->targets.list.items[p].cpu;
	}
	if (open > 0 && (os_errno == 0 || os_errno == ESRCH))
		return true;
	if (os_errno == 0) {
		refuse(track, READING_UNSUPPORTED,
		       "none of these CPUs counts it (one CPU counts for its package)");
		error_set(err, ERROR_UNSUPPORTED, "cannot count '%s' on these CPUs", answer->label);
		error_hint(err, "CPUs that count it: %s", answer->variants.items[0].cpus);
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
	size_t n = c->n_columns * c->targets.list.count;
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
	/* a program is worth running for the operating system's account of it alone; others would be waited for in
	 * vain */
	if (done && c->n_events > 0 && open == 0 && c->kind != TARGET_COMMAND)
		return false;
	return done;
}

/* ---- finding out what and where ---- */

static bool find_events(struct counting *c, const struct event *const *events, const char *cancelled,
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
		track->column = c->n_columns;
		c->n_columns += track->answer->variants.n;
		const struct availability *known = &track->answer->availability;
		const char *not_here = cancelled ? cancelled
						 : not_for_target(track->answer, c->kind, c->cgroup >= 0);
		if (known->state != READING_COUNTED && known->state != READING_UNPROVEN)
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
static bool has_newcomer(const struct counter_targets *then, const struct counter_targets *now)
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

/* Forgets threads that had ended before any of their counters was opened. */
static void forget_ended(struct counting *c)
{
	size_t kept = 0;
	for (size_t p = 0; p < c->targets.list.count; p++) {
		bool open = c->n_columns == 0;
		for (size_t i = 0; i < c->n_columns; i++)
			open = open || c->counters[p * c->n_columns + i] >= 0;
		if (!open)
			continue;
		c->targets.list.items[kept] = c->targets.list.items[p];
		memmove(c->counters + kept * c->n_columns, c->counters + p * c->n_columns,
			c->n_columns * sizeof *c->counters);
		kept++;
	}
	/* if none is left, the one reason for it is in the tracks */
	if (kept)
		c->targets.list.count = kept;
}

/* Counters for the threads of running processes. One that starts while they are opened may have been started by a
 * thread with a counter (then it is counted as its heir) or by one still without (then it is not): nothing tells.
 * So it is done again until no thread has started meanwhile. */
static bool open_threads(struct counting *c, const struct target *target, struct error *err)
{
	enum { ATTEMPTS = 50 };
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		struct counter_targets now;
		if (!counter_targets_find(&c->targets, target, err) || !open_counters(c, target, err))
			return false;
		/* when all have ended, what was counted of them can still be read */
		bool again = counter_targets_find(&now, target, NULL) && has_newcomer(&c->targets, &now);
		counter_targets_free(&now);
		if (!again) {
			forget_ended(c);
			return true;
		}
		close_counters(c);
		counter_targets_free(&c->targets);
	}
	error_set(err, ERROR_BUSY, "cannot count process %d: it starts threads faster than counters can be opened",
		  (int)target->pids[0]);
	return error_hint(err, "count it from its start: tare count PROGRAM");
}

/* Counters of the regions: of their own, since they are read by thread. */
static bool begin_regions(struct counting *c, const struct target *target, const struct event *const *names,
			  struct error *err)
{
	struct region_event *events = calloc(c->n_events + 1, sizeof *events);
	if (!events)
		return error_no_memory(err);
	for (size_t i = 0; i < c->n_events; i++) {
		const struct track *track = &c->tracks[i];
		const struct variants *variants = &track->answer->variants;
		events[i] = (struct region_event){.why = track->why};
		if (track->state != READING_COUNTED)
			continue;
		if (variants->n != 1 || variants->some_cores) {
			events[i].why = "it is not counted in regions on machines with several kinds of cores";
			continue;
		}
		events[i].encoding = &variants->items[0].encoding;
		events[i].levels = track->answer->open_levels;
		events[i].source = track->answer->availability.source;
		const struct event *event = names[i];
		events[i].instructions = event->definition &&
					 strcmp(event->definition->name, "instructions") == 0 &&
					 event->levels == LEVEL_USER && events[i].source == SOURCE_HW;
		const char *unit = event->definition && event->definition->unit ? event->definition->unit : "";
		bool kernel = events[i].source == SOURCE_HW && (events[i].levels & LEVEL_KERNEL);
		events[i].time = kernel || strcmp(unit, "ns") == 0 || strcmp(unit, "cycles") == 0;
		events[i].scale = events[i].encoding->scale > 0 ? events[i].encoding->scale : 1;
	}
	if (!c->backend->bias)
		c->backend->bias = calloc(1, sizeof *c->backend->bias);
	bool done = c->backend->bias
			    ? probed_begin(target, c->pid, events, c->n_events, c->backend->bias, &c->regions, err)
			    : error_no_memory(err);
	free(events);
	return done;
}

static bool set_up(struct counting *c, const struct target *target, const struct event *const *events,
		   struct error *err)
{
	const char *cancelled = NULL;
	if (target->command) {
		c->command = *target->command;
		/* nothing is to be opened for a held process */
		c->starts_now = c->kind == TARGET_COMMAND && !c->n_events && !target->n_regions;
	}
	if (c->starts_now)
		return true;
	if (target->command) {
		char *path = launch_find(&c->command, err);
		if (!path)
			return false;
		if (c->kind == TARGET_COMMAND)
			cancelled = exec_cancels(path);
		free(path);
	}
	if (target->cgroup && (c->cgroup = cgroup_open(target->cgroup, err)) < 0)
		return false;
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
		return counter_targets_find(&c->targets, target, err) && open_counters(c, target, err);
	if (!vec_push(&c->targets.list, ((struct counter_target){c->pid, -1})))
		return error_no_memory(err);
	return open_counters(c, target, err) && (!target->n_regions || begin_regions(c, target, events, err));
}

bool perf_prepare(struct backend *backend, const struct target *target, const struct event *const *events,
		  size_t n, struct counting **out, struct error *err)
{
	*out = NULL;
	struct counting *c = calloc(1, sizeof *c);
	if (!c)
		return error_no_memory(err);
	*c = (struct counting){.backend = backend,
			       .kind = target->kind,
			       .begins_off = target->begins_off,
			       .by_target = target->kind == TARGET_CPUS ? target->per_cpu : target->per_thread,
			       .n_events = n,
			       .cgroup = -1,
			       .launch = {.go_fd = -1, .failed_fd = -1}};
	if (!set_up(c, target, events, err)) {
		perf_end(c);
		return false;
	}
	*out = c;
	return true;
}

pid_t perf_process(const struct counting *c) { return c->pid; }

/* Counters of the tasks' children follow (perf_event_for_each_child() in kernel/events/core.c). */
bool perf_turn(struct counting *c, bool on, struct error *err)
{
	c->was_on |= on;
	for (size_t i = 0; i < c->n_columns * c->targets.list.count; i++)
		if (c->counters[i] >= 0 &&
		    !(on ? counter_enable(c->counters[i]) : counter_disable(c->counters[i])))
			return error_set_errno(err, ERROR_SYSTEM, errno,
					       on ? "cannot start a counter" : "cannot stop a counter");
	return true;
}

bool perf_go(struct counting *c, struct error *err)
{
	if (c->kind != TARGET_COMMAND && !c->begins_off && !perf_turn(c, true, err))
		return false;
	if (c->starts_now ? !launch_now(&c->command, &c->launch, err)
			  : c->launch.pid && !launch_go(&c->launch, &c->command, err)) {
		c->pid = 0;
		return false;
	}
	if (c->starts_now)
		c->pid = c->launch.pid;
	return true;
}

/* ---- reading ---- */

/* Readings are whole numbers of the event's unit. A count in parts of it (energy, 2^-32 J) has to reach this many
 * units, so that rounding changes it by less than 0.05 %; a smaller one would be 0 or nearly anything. */
static const double ROUNDED_LEAST = 1000;

static bool too_small(uint64_t count, double scale)
{
	return scale < 1 && count > 0 && (double)count * scale < ROUNDED_LEAST;
}

/* The sum over an event's variants at one target. Each has been enabled all the time of the target; together they
 * have run all that time, if each kind of core had a counter for it. */
static bool read_place(const struct counting *c, const struct track *track, size_t p, struct counter_values *sum,
		       size_t *open)
{
	*sum = (struct counter_values){0};
	for (size_t v = 0; v < track->answer->variants.n; v++) {
		struct counter_values one;
		int fd = *counter_at(c, p, track, v);
		if (fd < 0)
			continue;
		if (!counter_read(fd, &one))
			return false;
		++*open;
		sum->count += one.count;
		sum->running_ns += one.running_ns;
		if (one.enabled_ns > sum->enabled_ns)
			sum->enabled_ns = one.enabled_ns;
	}
	/* they are read one after the other, while time goes on */
	if (track->answer->variants.n > 1 && sum->running_ns > sum->enabled_ns)
		sum->enabled_ns = sum->running_ns;
	return true;
}

/* Why a sum is not a reading; NULL when it is one. *state becomes what it is instead. */
static const char *flaw(const struct counting *c, const struct track *track, const struct counter_values *sum,
			size_t open, enum reading_state *state)
{
	bool command = c->kind == TARGET_COMMAND;
	*state = READING_NEVER_RAN;
	if (open == 0)
		return c->kind == TARGET_CPUS ? "another CPU counts it for the package" : "the thread had ended";
	if (track->answer->variants.some_cores && c->kind != TARGET_CPUS && sum->running_ns < sum->enabled_ns) {
		*state = READING_FAILED;
		return "its PMU is on some of the CPUs only, and the program also ran on others (or the event "
		       "shared its counter)";
	}
	if (sum->enabled_ns > 0 && sum->running_ns == 0)
		return "it never got a counter";
	/* a control group's counter is enabled while one of its tasks runs */
	bool idle = c->cgroup >= 0 && c->was_on;
	if (c->begins_off && sum->enabled_ns == 0 && !idle) {
		*state = READING_FAILED;
		return "counting was never on while the target ran";
	}
	if (command && sum->enabled_ns == 0) {
		/* every program that runs at all does so for some time after its exec */
		*state = READING_FAILED;
		return "the program was never executed, or the kernel stopped counting it";
	}
	*state = READING_COUNTED;
	return NULL;
}

/* The sum over targets first … last-1. The reason, if any, is the track's or static. */
static void read_event(struct counting *c, size_t event, size_t first, size_t last, struct reading *r)
{
	struct track *track = &c->tracks[event];
	struct counter_values sum = {0};
	size_t open = 0;
	*r = (struct reading){.state = track->state, .cpu = -1, .why = track->why};
	if (track->state != READING_COUNTED)
		return;
	for (size_t p = first; p < last; p++) {
		struct counter_values one;
		if (!read_place(c, track, p, &one, &open)) {
			r->state = track->state = READING_FAILED;
			snprintf(track->why, sizeof track->why, "its counter could not be read: %s",
				 errno ? strerror(errno) : "the kernel stopped counting it");
			return;
		}
		sum.count += one.count;
		sum.enabled_ns += one.enabled_ns;
		sum.running_ns += one.running_ns;
	}
	r->enabled_ns = sum.enabled_ns;
	r->running_ns = sum.running_ns;
	r->why = flaw(c, track, &sum, open, &r->state);
	if (r->state != READING_COUNTED)
		return;
	double scale = track->answer->encoding.scale > 0 ? track->answer->encoding.scale : 1;
	if (too_small(sum.count, scale)) {
		r->state = READING_FAILED;
		r->why = "the count is less than one of its unit: count for longer";
		return;
	}
	r->source = track->answer->availability.source;
	r->unproven = track->answer->availability.state == READING_UNPROVEN;
	/* to the nearest; not llround(), which would make libtare need libm */
	r->count_raw = scale == 1 ? sum.count : (uint64_t)((double)sum.count * scale + 0.5);
}

bool perf_read_running(struct counting *c, struct reading *readings, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < c->n_events; i++)
		read_event(c, i, 0, c->targets.list.count, &readings[i]);
	return true;
}

static uint64_t ns_of(struct timeval t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u; }

static void take_out(uint64_t *amount, uint64_t part) { *amount -= part < *amount ? part : *amount; }

/* The operating system's account of the program began with the fork: faults and switches of the held process are
 * not the program's. */
static void correct_account(const struct counting *c, struct run *run)
{
	const struct rusage *before = &c->launch.before;
	take_out(&run->elapsed_ns, c->launch.before_ns);
	take_out(&run->user_ns, ns_of(before->ru_utime));
	take_out(&run->system_ns, ns_of(before->ru_stime));
	take_out(&run->minor_faults, (uint64_t)before->ru_minflt);
	take_out(&run->major_faults, (uint64_t)before->ru_majflt);
	take_out(&run->voluntary_switches, (uint64_t)before->ru_nvcsw);
	take_out(&run->involuntary_switches, (uint64_t)before->ru_nivcsw);
}

bool perf_stop(struct counting *c, struct run *run, struct error *err)
{
	size_t targets = c->targets.list.count, n = c->n_columns * targets;
	for (size_t i = 0; i < n; i++)
		if (c->counters[i] >= 0)
			counter_disable(c->counters[i]);
	correct_account(c, run);
	run->n_events = c->n_events;
	run->n_rows = c->by_target ? targets : 1;
	run->readings = arena_alloc(&run->arena, (run->n_rows * run->n_events + 1) * sizeof *run->readings);
	if (!run->readings)
		return error_no_memory(err);
	for (size_t row = 0; row < run->n_rows; row++) {
		for (size_t i = 0; i < c->n_events; i++) {
			struct reading *r = &run->readings[row * c->n_events + i];
			read_event(c, i, c->by_target ? row : 0, c->by_target ? row + 1 : targets, r);
			if (c->by_target) {
				r->tid = c->kind == TARGET_CPUS ? 0 : c->targets.list.items[row].task;
				r->cpu = c->targets.list.items[row].cpu;
			}
			if (r->why && !(r->why = arena_strdup(&run->arena, r->why)))
				return error_no_memory(err);
		}
	}
	return !c->regions || probed_stop(c->regions, run, err);
}

void perf_end(struct counting *c)
{
	close_counters(c);
	probed_end(c->regions);
	launch_abandon(&c->launch);
	counter_targets_free(&c->targets);
	if (c->cgroup >= 0)
		close(c->cgroup);
	free(c->tracks);
	free(c);
}
