/* measure_count(): what is asked for is split into passes, executed, and turned into a result.
 *
 *     ask ──► split ──► warm up ──► for each repetition: for each pass: execute, collect ──► report
 *
 * The order is run_p5mon's (Safford, section 4.2): passes of one repetition are neighbours in time, so that a slow
 * change of the machine's state spreads over all events alike. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/str.h"
#include "measure/execution.h"
#include "measure/measurement.h"

static const uint64_t SLICE_DEFAULT_NS = 10000000u;
/* Bounds memory, and catches slips: at a millisecond each this is a quarter of an hour. */
static const size_t EXECUTIONS_MOST = 1000000;

static bool check_options(const struct measure_options *options, struct error *err)
{
	if (options->size < sizeof *options)
		return error_set(err, ERROR_USAGE, "measure options of an older version (%zu bytes, not %zu)",
				 options->size, sizeof *options);
	const unsigned char *bytes = (const unsigned char *)options;
	for (size_t i = sizeof *options; i < options->size; i++)
		if (bytes[i])
			return error_set(err, ERROR_USAGE, "measure options of a newer version");
	if (options->repetitions < 1)
		return error_set(err, ERROR_USAGE, "the number of repetitions must be at least 1");
	if (!(options->confidence > 0 && options->confidence < 1))
		return error_set(err, ERROR_USAGE, "the confidence must be between 0 and 1");
	return true;
}

/* What counts each event: the backend (in pass 0 until split() says which), the account, or nothing. */
static bool ask(struct measurement *s)
{
	struct arena *arena = &s->result->arena;
	for (size_t i = 0; i < s->n_events; i++) {
		const struct event *event = &s->events[i];
		const struct event_definition *row = event->definition;
		struct availability answer = {.state = READING_UNSUPPORTED};
		const char *lack = account_lacks(event, s->target);
		s->pass_of[i] = PASS_NONE;
		bool account_only = row && row->counted_by == COUNTED_BY_PROCESS;
		if (!account_only) {
			s->operations->available(s->backend, event, &answer);
			if (answer.state == READING_COUNTED || (answer.state == READING_UNPROVEN && lack)) {
				s->pass_of[i] = 0;
				continue;
			}
		}
		if (!lack) {
			s->by_account[i] = true;
			continue;
		}
		const char *why = account_only ? lack : answer.why[0] ? answer.why : "not available here";
		s->series.items[i].why = arena_strdup(arena, why);
		if (!s->series.items[i].why)
			return false;
		if (!account_only && answer.remedy[0] && !(s->remedies[i] = arena_strdup(arena, answer.remedy)))
			return false;
	}
	return true;
}

/* Is the operating system's account asked for, and no pass one whose account is the program's own? */
static bool account_needs_execution(const struct measurement *s)
{
	bool asked = false;
	for (size_t i = 0; i < s->n_events; i++)
		asked |= s->by_account[i];
	if (!asked || !s->operations->native)
		return false;
	for (size_t pass = 0; pass < s->passes; pass++)
		if (s->operations->native(s->backend, s->pass_events + s->pass_start[pass],
					  s->pass_start[pass + 1] - s->pass_start[pass]))
			return false;
	return true;
}

/* Splits what the backend counts into passes. */
static bool split(struct measurement *s)
{
	size_t n = 0;
	const struct event **wanted = calloc(s->n_events + 1, sizeof *wanted);
	size_t *place = calloc(s->n_events + 1, sizeof *place), *group = calloc(s->n_events + 1, sizeof *group);
	s->pass_events = calloc(s->n_events + 1, sizeof *s->pass_events);
	s->pass_event_index = calloc(s->n_events + 1, sizeof *s->pass_event_index);
	s->pass_start = calloc(s->n_events + 3, sizeof *s->pass_start);
	bool done = wanted && place && group && s->pass_events && s->pass_event_index && s->pass_start;
	if (!done)
		goto out;
	for (size_t i = 0; i < s->n_events; i++) {
		if (s->pass_of[i] == PASS_NONE)
			continue;
		wanted[n] = &s->events[i];
		place[n++] = i;
	}
	/* A plain run needs to know only whether it fits; how many groups there would be is asked for when a
	 * remark needs it. One event that works fits. */
	size_t groups = n < 2 ? n : 1;
	bool regions = s->target->n_regions > 0;
	bool several = s->options.repetitions > 1 || s->options.several_runs;
	if (several)
		groups = measure_plan(s->operations, s->backend, wanted, n, regions, group);
	else
		s->multiplexed = n > (regions ? 0 : 1) &&
				 !measure_fits(s->operations, s->backend, wanted, n, regions);
	s->passes = groups ? groups : 1;
	size_t next = 0;
	for (size_t pass = 0; pass < groups; pass++) {
		s->pass_start[pass] = next;
		for (size_t i = 0; i < n; i++) {
			if (group[i] != pass)
				continue;
			s->pass_events[next] = wanted[i];
			s->pass_event_index[next++] = place[i];
			s->pass_of[place[i]] = pass;
		}
	}
	for (size_t pass = groups; pass <= s->passes; pass++)
		s->pass_start[pass] = next;
	if (several && account_needs_execution(s)) {
		s->pass_start[s->passes + 1] = next;
		s->passes++;
	}
out:
	free(wanted);
	free(place);
	free(group);
	return done;
}

static bool begin(struct measurement *s)
{
	size_t n = s->n_events + 1;
	s->by_account = calloc(n, sizeof *s->by_account);
	s->pass_of = calloc(n, sizeof *s->pass_of);
	s->remedies = calloc(n, sizeof *s->remedies);
	if (!s->by_account || !s->pass_of || !s->remedies)
		return false;
	for (size_t i = 0; i < s->n_events; i++)
		if (!vec_push(&s->series, ((struct series){.event = i, .cpu = -1})))
			return false;
	return true;
}

/* The executions' number is known only now. */
static bool make_room(struct measurement *s, struct error *err)
{
	size_t repetitions = s->options.repetitions, most = EXECUTIONS_MOST / s->passes;
	if (repetitions > most || s->options.warm_ups > EXECUTIONS_MOST) {
		error_set(err, ERROR_LIMIT,
			  "%zu repetitions of %zu pass%s and %zu warm-ups are more than %zu executions",
			  repetitions, s->passes, s->passes == 1 ? "" : "es", s->options.warm_ups,
			  EXECUTIONS_MOST);
		return error_hint(err, "ask for fewer repetitions, or for fewer events");
	}
	s->warm_ups = s->options.has_warm_ups ? s->options.warm_ups : repetitions * s->passes > 1 ? 1 : 0;
	s->accounts = calloc(repetitions * s->passes, sizeof *s->accounts);
	if (!s->accounts)
		return error_no_memory(err);
	for (size_t i = 0; i < s->n_events; i++) {
		s->series.items[i].counts = calloc(repetitions, sizeof(struct series_count));
		if (!s->series.items[i].counts)
			return error_no_memory(err);
	}
	return true;
}

static size_t measure_executions(const struct measurement *s)
{
	return s->warm_ups + s->options.repetitions * s->passes;
}

static void tell_progress(const struct measurement *s, size_t execution, size_t executions)
{
	if (!s->options.progress)
		return;
	bool warm_up = execution < s->warm_ups;
	size_t counted = warm_up ? 0 : execution - s->warm_ups, pass = counted % s->passes;
	double elapsed = s->result->elapsed_seconds;
	struct measure_progress progress = {
		.execution = execution + 1,
		.executions = executions,
		.warm_up = warm_up,
		.repetition = counted / s->passes,
		.pass = pass,
		.passes = s->passes,
		.events = s->pass_events + s->pass_start[pass],
		.n_events = s->pass_start[pass + 1] - s->pass_start[pass],
		.elapsed_seconds = elapsed,
		.left_seconds = execution ? elapsed / (double)execution * (double)(executions - execution) : -1,
	};
	s->options.progress(s->options.progress_context, &progress);
}

/* What is left to say when executions ended early: the reason is a note, what was measured stays. */
static bool stopped(struct measurement *s, const struct error *reason, struct error *err)
{
	struct result *result = s->result;
	if (result->executions <= s->warm_ups) {
		if (err)
			*err = *reason;
		return false;
	}
	return measurement_note(s, NOTE_ACT, "stopped after %zu execution%s: %s", result->executions,
				result->executions == 1 ? "" : "s", reason->text) ||
	       error_no_memory(err);
}

static bool keep_text(struct result *result, const struct str *text, char **out)
{
	if (text->failed)
		return false;
	return !text->text || (*out = arena_strdup(&result->arena, text->text)) != NULL;
}

/* "" where it was given nothing that differs. */
static bool keep_given(struct result *result, const struct str *inputs)
{
	return !inputs->failed &&
	       (result->given = arena_strdup(&result->arena, inputs->text ? inputs->text : "")) != NULL;
}

static bool keep_blocks(const struct measurement *s, const struct execution *x)
{
	struct result *result = s->result;
	if (!x->want_blocks && !s->options.want_system_calls)
		return true;
	if (x->no_blocks.text[0] && !(result->blocks_why = arena_strdup(&result->arena, x->no_blocks.text)))
		return false;
	return keep_text(result, &x->blocks, &result->blocks) &&
	       (!s->options.want_system_calls || keep_text(result, &x->system_calls, &result->system_calls));
}

/* Of places in regions: the count of the regions together. Of several, what their places have, which is between
 * the most of one and the sum of all, for one region may be in another. */
static bool total_inside(const struct execution *x, size_t n_regions, struct locations *l, size_t event)
{
	struct located_event *e = &l->events[event];
	uint64_t most = 0, sum = 0, places = 0;
	for (size_t r = 0; r < n_regions && r < x->run.n_regions; r++) {
		const struct reading *in = &x->run.regions[r].readings[e->event];
		if (in->state != READING_COUNTED) {
			if (!e->why &&
			    !(e->why = arena_strdup(&l->arena, in->why ? in->why : "it was not counted")))
				return false;
			return true;
		}
		most = in->count_raw > most ? in->count_raw : most;
		sum += in->count_raw;
	}
	for (size_t i = 0; i < l->n; i++)
		places += l->all[i].counts[event];
	e->total = n_regions == 1 || l->period || places < most ? most : places > sum ? sum : places;
	return true;
}

/* Takes the locations over, with what reports say of their events. */
static bool keep_locations(struct result *result, struct execution *x)
{
	if (x->no_locations.text[0] &&
	    !(result->locations_why = arena_strdup(&result->arena, x->no_locations.text)))
		return false;
	if (!x->locations.n_events)
		return true;
	if (!(result->locations = malloc(sizeof *result->locations)))
		return false;
	struct locations *l = result->locations;
	*l = x->locations;
	x->locations = (struct locations){0};
	for (size_t i = 0; i < l->n_events; i++) {
		struct located_event *e = &l->events[i];
		const struct event *event = x->events[e->event];
		e->label = arena_strdup(&l->arena, event->label);
		e->unit = arena_strdup(
			&l->arena, event->definition && event->definition->unit ? event->definition->unit : "");
		if (!e->label || !e->unit)
			return false;
		for (size_t row = 0; row < x->run.n_rows; row++) {
			const struct reading *r = &x->run.readings[row * x->n_events + e->event];
			if (r->state == READING_COUNTED)
				e->total += r->count_raw;
			else if (r->state != READING_NEVER_RAN && !e->why &&
				 !(e->why = arena_strdup(&l->arena, r->why ? r->why : "it was not counted")))
				return false;
			if (r->machine && !e->machine && !(e->machine = arena_strdup(&l->arena, r->machine)))
				return false;
		}
		if (l->inside && !total_inside(x, x->target->n_regions, l, i))
			return false;
	}
	return true;
}

/* Execution s->next of all; *more: another one is due. False when it failed and nothing was measured before. */
static bool execute_next(struct measurement *s, struct streams *streams, struct waiter *waiter, bool *more,
			 struct error *err)
{
	struct result *result = s->result;
	const struct command *command = s->target->command;
	size_t executions = measure_executions(s), i = s->next++;
	size_t counted = i < s->warm_ups ? 0 : i - s->warm_ups;
	size_t pass = counted % s->passes, repetition = counted / s->passes;
	struct error reason = {0};
	struct command own = command ? *command : (struct command){0};
	struct target target = *s->target;
	*more = false;
	if (waiter_interrupted(waiter)) {
		result->interrupted = true;
		return true;
	}
	tell_progress(s, i, executions);
	/* the first counted execution under the engine: none was kept before */
	bool first = i >= s->warm_ups && !result->blocks && !result->system_calls && !result->blocks_why &&
		     !result->locations && !result->locations_why;
	struct execution x = {
		.operations = s->operations,
		.backend = s->backend,
		.target = &target,
		.events = s->pass_events + s->pass_start[pass],
		.n_events = s->pass_start[pass + 1] - s->pass_start[pass],
		.slice_ns = s->multiplexed && i >= s->warm_ups
				    ? s->options.slice_ns ? s->options.slice_ns : SLICE_DEFAULT_NS
				    : 0,
		.delay_ns = command ? 0 : s->options.delay_ns,
		.timeout_ns = command ? s->options.timeout_ns : 0,
		.want_blocks = s->options.want_blocks && first && s->operations->blocks,
		.want_system_calls = (s->options.want_system_calls && first && s->operations->system_calls) ||
				     measurement_wants_calls(s),
		.want_inputs = command && s->target->command->reproducible,
		.blocks_by = s->options.blocks_by,
		.want_locations = first && s->operations->locations ? s->options.locations : LOCATIONS_NONE,
		.steal = s->options.repetitions >= 5 ? &s->steal : NULL, /* fewer have no outliers to explain */
		.streams = streams,
		.waiter = waiter,
		.control = s->options.control,
		.intervals = {.every_ns = s->options.interval_ns,
			      .tell = s->options.interval,
			      .context = s->options.interval_context},
	};
	if (command)
		target.command = &own;
	target.turned = control_wanted(&x.control);
	target.begins_off = x.control.begins_off;
	target.locations = x.want_locations;
	if ((command && !streams_next(streams, i, &own, &x.silent, &reason)) || !execution_run(&x, &reason))
		return stopped(s, &reason, err);
	result->executions++;
	/* one that failed is not made up for by a later one */
	if (i <= s->warm_ups || !result->wait_status || x.run.interrupted)
		result->wait_status = x.run.wait_status;
	result->interrupted = x.run.interrupted;
	result->under_engine |= x.run.under_engine;
	if (x.timed_out)
		result->timed_out = true;
	bool done = true;
	if (i >= s->warm_ups) {
		done = measurement_collect(s, pass, repetition, &x) || error_no_memory(err);
		if (first)
			result->first_run = repetition + 1;
		done = done && (!first || keep_blocks(s, &x) || error_no_memory(err));
		if (first && x.want_inputs && x.run.under_engine && s->operations->inputs)
			done = done && (keep_given(result, &x.inputs) || error_no_memory(err));
		done = done && (measurement_keep_calls(s, &x.system_calls, &x.inputs) || error_no_memory(err));
		done = done && (keep_locations(result, &x) || error_no_memory(err));
		if (done && !x.run.interrupted && pass + 1 == s->passes)
			result->repetitions_done++;
	}
	if (done && x.intervals.missed)
		done = measurement_note(s, NOTE_READ,
					"%zu time%s the counters could not be read at an interval's end: the next "
					"interval includes those counts",
					x.intervals.missed, x.intervals.missed == 1 ? "" : "s") ||
		       error_no_memory(err);
	if (done && x.still_running)
		done = measurement_note(
			       s, NOTE_ACT,
			       x.timed_out ? "the program did not end within 2 s of SIGKILL and runs on"
					   : "the program did not end within 2 s of the interrupt and runs on") ||
		       error_no_memory(err);
	execution_free(&x);
	*more = done && !result->interrupted && s->next < executions;
	return done;
}

static bool describe_target(struct measurement *s)
{
	struct result *result = s->result;
	struct arena *arena = &result->arena;
	const struct target *target = s->target;
	if (target->command) {
		size_t n = 0;
		while (target->command->argv[n])
			n++;
		char const **command = arena_alloc(arena, (n + 1) * sizeof *command);
		for (size_t i = 0; command && i < n; i++)
			if (!(command[i] = arena_strdup(arena, target->command->argv[i])))
				return false;
		result->command = command;
		if (!command)
			return false;
	}
	struct str text = {0};
	if (target->kind == TARGET_COMMAND) {
		if (target->command->reproducible)
			str_appendf(&text, "--reproducible%s%s", target->command->cpu ? " --cpu " : "",
				    target->command->cpu ? target->command->cpu : "");
		if (!target->follow_children)
			str_appendf(&text, "%s--no-children", text.length ? " " : "");
		result->conditions = text.failed ? NULL : arena_strdup(arena, text.text ? text.text : "");
		str_free(&text);
		return result->conditions != NULL;
	}
	if (target->cgroup)
		str_appendf(&text, "control group %s, ", target->cgroup);
	if (target->kind == TARGET_CPUS) {
		str_append(&text, target->n_cpus == 0 ? "all CPUs" : target->n_cpus == 1 ? "CPU" : "CPUs");
		for (size_t i = 0; i < target->n_cpus; i++)
			str_appendf(&text, "%s %d", i ? "," : "", target->cpus[i]);
	} else {
		str_append(&text, target->kind == TARGET_THREADS ? "thread" : "process");
		if (target->n_pids > 1)
			str_append(&text, target->kind == TARGET_THREADS ? "s" : "es");
		for (size_t i = 0; i < target->n_pids; i++)
			str_appendf(&text, "%s %d", i ? "," : "", (int)target->pids[i]);
	}
	result->target = text.failed ? NULL : arena_strdup(arena, text.text);
	str_free(&text);
	return result->target != NULL;
}

static bool report(struct measurement *s)
{
	struct result *result = s->result;
	struct rusage own;
	if (getrusage(RUSAGE_SELF, &own) == 0) /* what each program held before its exec was this, or less */
		s->own_peak_bytes = (uint64_t)own.ru_maxrss * 1024;
	result->repetitions = s->options.repetitions;
	result->warm_ups = s->warm_ups;
	result->passes = s->passes;
	result->confidence = s->options.confidence;
	measurement_judge_unproven(s);
	if (!describe_target(s) || !measure_machine_facts(&result->arena, &result->machine) ||
	    !measurement_estimate(s) || !measurement_derive(s))
		return false;
	measurement_describe_runs(s);
	return measurement_name_outliers(s) && measurement_remark_differing(s) && measurement_remark(s);
}

static void end(struct measurement *s)
{
	for (size_t i = 0; i < s->series.count; i++)
		free(s->series.items[i].counts);
	vec_free(&s->series);
	vec_free(&s->regions);
	vec_free(&s->notes);
	free(s->by_account);
	free(s->pass_of);
	free(s->remedies);
	free(s->pass_events);
	free(s->pass_event_index);
	free(s->pass_start);
	free(s->accounts);
}

struct measure_steps {
	struct measurement measurement;
	struct streams streams;
};

bool measure_begin(const struct backend_operations *operations, struct backend *backend,
		   const struct target *target, const struct event *events, size_t n_events,
		   const struct metric *const *metrics, size_t n_metrics, const struct measure_options *options,
		   struct measure_steps **out, struct error *err)
{
	*out = NULL;
	if (!check_options(options, err))
		return false;
	struct measure_steps *steps = malloc(sizeof *steps);
	if (!steps)
		return error_no_memory(err);
	*steps = (struct measure_steps){
		.measurement = {.operations = operations,
				.backend = backend,
				.target = target,
				.events = events,
				.n_events = n_events,
				.metrics = metrics,
				.n_metrics = n_metrics,
				.options = *options,
				.clock = options->clock ? *options->clock : clock_monotonic()},
		.streams = {.copy_fd = -1, .sink_fd = -1},
	};
	struct measurement *s = &steps->measurement;
	s->result = result_new();
	if (!s->result || !begin(s) || !ask(s) || !split(s)) {
		error_no_memory(err);
		goto failed;
	}
	s->result->started_unix = (uint64_t)time(NULL);
	if (!make_room(s, err) || !streams_open(&steps->streams, target->command, options->program_output,
						measure_executions(s), options->interrupt, err))
		goto failed;
	if (steps->streams.note && !measurement_note(s, NOTE_READ, "%s", steps->streams.note)) {
		error_no_memory(err);
		goto failed;
	}
	*out = steps;
	return true;
failed:
	measure_abandon(steps);
	return false;
}

void measure_plan_of(const struct measure_steps *steps, size_t *warm_ups, size_t *passes)
{
	*warm_ups = steps->measurement.warm_ups;
	*passes = steps->measurement.passes;
}

bool measure_step(struct measure_steps *steps, bool *more, struct error *err)
{
	struct measurement *s = &steps->measurement;
	struct waiter waiter;
	uint64_t begin_ns = clock_now_ns(&s->clock);
	waiter_open(&waiter, s->options.interrupt, &s->clock);
	bool done = execute_next(s, &steps->streams, &waiter, more, err);
	waiter_close(&waiter);
	s->result->elapsed_seconds += (double)(clock_now_ns(&s->clock) - begin_ns) / 1e9;
	return done;
}

const struct result *measure_so_far(const struct measure_steps *steps) { return steps->measurement.result; }

void measure_abandon(struct measure_steps *steps)
{
	if (!steps)
		return;
	streams_close(&steps->streams);
	end(&steps->measurement);
	result_free(steps->measurement.result);
	free(steps);
}

bool measure_end(struct measure_steps *steps, struct result **out, struct error *err)
{
	struct measurement *s = &steps->measurement;
	*out = NULL;
	bool done = s->result->executions > s->warm_ups;
	if (!done && s->result->timed_out) {
		error_set(err, ERROR_SYSTEM,
			  "the warm-up did not end within %g s (--timeout): nothing was measured",
			  (double)s->options.timeout_ns / 1e9);
		if (err)
			err->os_errno = ETIMEDOUT;
	} else if (!done)
		error_set(err, ERROR_SYSTEM, "interrupted before anything was measured");
	done = done && (report(s) || error_no_memory(err));
	if (done) {
		*out = s->result;
		s->result = NULL;
	}
	measure_abandon(steps);
	return done;
}

bool measure_count(const struct backend_operations *operations, struct backend *backend,
		   const struct target *target, const struct event *events, size_t n_events,
		   const struct metric *const *metrics, size_t n_metrics, const struct measure_options *options,
		   struct result **out, struct error *err)
{
	struct measure_steps *steps;
	bool more = true;
	*out = NULL;
	if (!measure_begin(operations, backend, target, events, n_events, metrics, n_metrics, options, &steps,
			   err))
		return false;
	while (more)
		if (!measure_step(steps, &more, err)) {
			measure_abandon(steps);
			return false;
		}
	return measure_end(steps, out, err);
}
