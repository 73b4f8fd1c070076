/* One kernel at one size, counted: points of what was seen. */
#include "session/counters_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/wait_status.h"

const char *counters_interface_name(enum kernel_interface interface)
{
	return interface == KERNEL_REGION ? "region" : "command";
}

size_t counters_repetitions(const struct counters_study *c, const struct counters_step *step)
{
	return step->backend->exact ? COUNTERS_EXACT_RUNS
	       : c->asked.quick     ? COUNTERS_QUICK_RUNS
				    : COUNTERS_FULL_RUNS;
}

/* What a region has no row of: the process's account alone has it. */
static const char NOT_OF_REGIONS[] = "the operating system counts it for whole processes only";

/* The estimates of the interface: of a region not all events have one. */
static const struct estimate *counts_of(const struct counters_step *step, const struct result *result, size_t *n)
{
	if (step->interface == KERNEL_COMMAND) {
		*n = result->n_estimates;
		return result->estimates;
	}
	*n = result->n_regions ? result->regions[0].n_estimates : 0;
	return result->n_regions ? result->regions[0].estimates : NULL;
}

/* Executions by the backend, with all events that have a value to be told there. */
static bool execute(struct counters_study *c, const struct counters_step *step, size_t repetitions,
		    struct result **result, struct error *err)
{
	struct counters_backend *b = step->backend;
	bool region = step->interface == KERNEL_REGION;
	char number[24];
	char *argv[] = {(char *)(region ? step->kernel->region_path : step->kernel->path), number, NULL};
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true};
	struct session_regions regions = {0};
	struct measure_options options = {
		.size = sizeof options,
		.repetitions = repetitions,
		.several_runs = true,
		.has_warm_ups = true,
		.confidence = 0.95,
		.program_output = OUTPUT_NONE,
		.interrupt = c->asked.interrupt,
	};
	snprintf(number, sizeof number, "%llu", (unsigned long long)step->size);
	*result = NULL;
	if (region && !session_regions_find(&regions, &step->kernel->region, 1, &command, err))
		return false;
	target.regions = regions.asked;
	target.n_regions = regions.n;
	bool done = measure_count(b->session.operations, b->session.backend, &target, b->all,
				  b->first_account + b->n_account, NULL, 0, &options, result, err);
	session_regions_free(&regions);
	if (done && (*result)->wait_status != 0 && !(*result)->interrupted) {
		int status = (*result)->wait_status;
		done = error_set(err, ERROR_SYSTEM, "the kernel '%s%s %s' ended with status %d",
				 step->kernel->name, region ? "-region" : "", number, wait_status_shell(status));
		result_free(*result);
		*result = NULL;
	}
	return done;
}

/* Faults and switches of each execution; NULL where they are not known. */
static double *interrupts_of(struct counters_study *c, const struct counters_step *step,
			     const struct result *result, size_t n)
{
	const struct counters_backend *b = step->backend;
	double *sum = b->n_account ? arena_alloc(&c->found.arena, (n + 1) * sizeof *sum) : NULL;
	for (size_t a = 0; sum && a < COUNTERS_INTERRUPTS; a++) {
		const struct estimate *e = &result->estimates[b->first_account + a];
		if (!e->known || e->n_runs != n)
			return NULL;
		for (size_t i = 0; i < n; i++)
			sum[i] += e->runs[i];
	}
	return sum;
}

/* Of each execution; NULL where it is not known. */
static double *cpu_seconds_of(struct counters_study *c, const struct counters_step *step,
			      const struct result *result, size_t n)
{
	const struct counters_backend *b = step->backend;
	const struct estimate *e = b->n_account ? &result->estimates[b->first_account + COUNTERS_INTERRUPTS]
						: NULL;
	double *seconds = e && e->known && e->n_runs == n ? arena_alloc(&c->found.arena, (n + 1) * sizeof *seconds)
							  : NULL;
	for (size_t i = 0; seconds && i < n; i++)
		seconds[i] = e->runs[i] / 1e9;
	return seconds;
}

const char *counters_predicted_by(const struct counters_study *c, const char *event, double *factor)
{
	bool cycles = c->asked.cycles_per_instruction > 0 && strcmp(event, "cycles") == 0;
	*factor = cycles ? c->asked.cycles_per_instruction : 1;
	return cycles ? "instructions" : event;
}

static bool predict(const struct counters_study *c, const struct counters_step *step, const char *event,
		    double *value)
{
	double factor;
	const char *by = counters_predicted_by(c, event, &factor);
	const struct kernel_machine *machine = step->backend->modelled ? &step->backend->machine : NULL;
	bool done = step->interface == KERNEL_REGION
			    ? kernel_predict_region(step->kernel, by, step->size, machine, value, NULL)
			    : kernel_predict(step->kernel, by, step->size, machine, value, NULL);
	if (done)
		*value *= factor;
	return done;
}

/* What the engine counted there, each time alike. */
static bool engine_says(const struct counters_study *c, const struct kept_point *of, double *value)
{
	for (size_t i = 0; i < c->found.points.count; i++) {
		const struct kept_point *p = &c->found.points.items[i];
		if (p->source != SOURCE_EXACT || p->size != of->size || strcmp(p->kernel, of->kernel) != 0 ||
		    strcmp(p->event, of->event) != 0 || strcmp(p->interface, of->interface) != 0)
			continue;
		for (size_t k = 1; k < p->n_observed; k++)
			if (p->observed[k] != p->observed[0])
				return false;
		*value = p->n_observed ? p->observed[0] : NAN;
		return p->n_observed > 0;
	}
	return false;
}

/* The event's own; NULL: there is none. */
static const struct estimate *find_count(const struct estimate *counts, size_t n, const char *label)
{
	for (size_t i = 0; i < n; i++)
		if (estimate_is_total(&counts[i]) && strcmp(counts[i].event, label) == 0)
			return &counts[i];
	return NULL;
}

static bool add_point(struct counters_study *c, const struct counters_step *step,
		      const struct counters_event *event, const struct estimate *e, double *interrupts,
		      double *cpu_seconds, size_t n, struct error *err)
{
	struct arena *arena = &c->found.arena;
	const struct counters_backend *b = step->backend;
	/* a counter that was never seen to move, and shows 0: here that is what it shows */
	size_t shown = !e ? 0 : e->known ? e->n_runs : event->unproven ? e->n_silent : 0;
	const char *why = !e ? NOT_OF_REGIONS : e->known ? e->missing_why : e->why;
	const char *machine = e && e->machine ? e->machine : b->modelled ? b->session.machines[0] : NULL;
	struct kept_point p = {.kernel = step->kernel->name,
			       .size = step->size,
			       .event = event->event.label,
			       .interface = counters_interface_name(step->interface),
			       .source = e && e->known ? e->source : event->source,
			       .machine = machine ? arena_strdup(arena, machine) : NULL,
			       .predicted = NAN,
			       .n_observed = shown,
			       .refused = n > shown ? n - shown : 0,
			       .interrupts = interrupts,
			       .n_interrupts = interrupts ? n : 0,
			       .cpu_seconds = cpu_seconds,
			       .n_cpu_seconds = cpu_seconds ? n : 0};
	double engine;
	if (p.refused && !(p.refused_why = arena_strdup(arena, why ? why : "no reason was given")))
		return error_no_memory(err);
	if (predict(c, step, event->name, &p.predicted))
		p.witnesses |= WITNESS_ARITHMETIC;
	if (!step->backend->exact && engine_says(c, &p, &engine)) {
		if (!(p.witnesses & WITNESS_ARITHMETIC))
			p.predicted = engine;
		if (p.predicted == engine)
			p.witnesses |= WITNESS_ENGINE;
	}
	if (p.n_observed != n) {
		p.interrupts = p.cpu_seconds = NULL;
		p.n_interrupts = p.n_cpu_seconds = 0;
	}
	p.observed = arena_alloc(arena, (p.n_observed + 1) * sizeof *p.observed);
	if (!p.observed)
		return error_no_memory(err);
	for (size_t i = 0; e && e->known && i < e->n_runs; i++)
		p.observed[i] = e->runs[i];
	return vec_push(&c->found.points, p) || error_no_memory(err);
}

/* Then all of its points are. */
static bool is_refused_region(const struct counters_step *step, const struct error *err)
{
	return step->interface == KERNEL_REGION && session_regions_refused(err);
}

static bool add_refused(struct counters_study *c, const struct counters_step *step, size_t repetitions,
			const struct error *why, struct error *err)
{
	const struct estimate refused = {.why = why->text, .cpu = -1};
	for (size_t i = 0; i < step->backend->events.count; i++)
		if (!add_point(c, step, &step->backend->events.items[i], &refused, NULL, NULL, repetitions, err))
			return false;
	return true;
}

bool counters_measure(struct counters_study *c, const struct counters_step *step, size_t repetitions,
		      struct error *err)
{
	struct counters_backend *b = step->backend;
	struct result *result;
	size_t n;
	struct error why = {0};
	if (!execute(c, step, repetitions, &result, &why)) {
		if (is_refused_region(step, &why))
			return add_refused(c, step, repetitions, &why, err);
		*err = why;
		return false;
	}
	const struct estimate *counts = counts_of(step, result, &n);
	double *interrupts = interrupts_of(c, step, result, result->repetitions_done);
	double *cpu_seconds = cpu_seconds_of(c, step, result, result->repetitions_done);
	bool done = !result->interrupted;
	for (size_t i = 0; done && i < b->events.count; i++) {
		const struct counters_event *event = &b->events.items[i];
		done = add_point(c, step, event, find_count(counts, n, event->event.label), interrupts,
				 cpu_seconds, result->repetitions_done, err);
	}
	if (result->interrupted)
		error_set(err, ERROR_SYSTEM, "interrupted");
	c->found.executions += result->executions;
	result_free(result);
	return done;
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

double counters_cpu_seconds(void)
{
	struct rusage own, others;
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &others);
	return seconds_of(own.ru_utime) + seconds_of(own.ru_stime) + seconds_of(others.ru_utime) +
	       seconds_of(others.ru_stime);
}

bool counters_try(struct counters_study *c, const struct counters_step *step, size_t repetitions,
		  struct counters_time *took, struct error *err)
{
	struct clock clock = clock_monotonic();
	struct result *result;
	uint64_t begin = clock_now_ns(&clock);
	double cpu = counters_cpu_seconds();
	if (!execute(c, step, repetitions, &result, err)) {
		if (!is_refused_region(step, err))
			return false;
		*err = (struct error){0};
	} else {
		result_free(result);
	}
	*took = (struct counters_time){.seconds = (double)(clock_now_ns(&clock) - begin) / 1e9,
				       .cpu = counters_cpu_seconds() - cpu};
	return true;
}
