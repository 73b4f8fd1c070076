/* Executions for a paper's study. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/wait_status.h"
#include "measure/measure.h"
#include "session/paper_inside.h"

static bool add_event(struct paper_work *w, struct paper_counter *c, const char *request, size_t at)
{
	struct event event;
	struct availability here = {.state = READING_UNSUPPORTED};
	if (!event_parse(c->session.events, request, &event, w->err))
		return false;
	c->session.operations->available(c->session.backend, &event, &here);
	if (here.state == READING_COUNTED) {
		c->events[c->n_events] = event;
		c->at[c->n_events++] = at;
		return true;
	}
	c->why[at] = paper_printf(w, "%s", here.why[0] ? here.why : "not counted here");
	return true;
}

bool paper_counter_open(struct paper_work *w, struct paper_counter *c, const char *on, const char *const *requests,
			size_t n)
{
	*c = (struct paper_counter){.n_asked = n};
	bool done = session_open(&c->session, NULL, on, NULL, 0, w->err);
	for (size_t i = 0; done && i < n; i++)
		done = add_event(w, c, requests[i], i);
	return done;
}

void paper_counter_close(struct paper_counter *c)
{
	if (c->session.events)
		session_close(&c->session);
	*c = (struct paper_counter){0};
}

static void fill(struct paper_work *w, struct paper_count *to, const struct estimate *e)
{
	to->known = e->known && e->n_runs > 0;
	if (!to->known) {
		to->why = paper_printf(w, "%s", e->why ? e->why : "not counted");
		return;
	}
	double sum = 0, squares = 0;
	to->runs = e->n_runs;
	to->least = to->most = e->runs[0];
	for (size_t i = 0; i < e->n_runs; i++) {
		sum += e->runs[i];
		to->least = fmin(to->least, e->runs[i]);
		to->most = fmax(to->most, e->runs[i]);
	}
	to->mean = sum / (double)e->n_runs;
	for (size_t i = 0; i < e->n_runs; i++)
		squares += (e->runs[i] - to->mean) * (e->runs[i] - to->mean);
	to->sd = e->n_runs > 1 ? sqrt(squares / (double)(e->n_runs - 1)) : NAN;
	to->source = paper_printf(w, "%s", e->machine ? e->machine : source_name(e->source));
}

static bool check_status(struct paper_work *w, const struct result *result, const char *program)
{
	int status = result->wait_status;
	if (result->interrupted)
		return error_set(w->err, ERROR_SYSTEM, "interrupted");
	if (status == 0)
		return true;
	return error_set(w->err, ERROR_SYSTEM, "'%s' ended with status %d", program, wait_status_shell(status));
}

/* A counter varies, the engine and models do not: one more execution tells which. */
static size_t repetitions(const struct paper_work *w, const struct paper_counter *c)
{
	return !c->varies ? PAPER_EXACT_RUNS : w->asked->quick ? PAPER_QUICK_RUNS : PAPER_RUNS;
}

static bool execute(struct paper_work *w, struct paper_counter *c, const char *const *argv, const char *region,
		    struct result **result)
{
	struct command command = {.argv = (char *const *)argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true};
	struct session_regions regions = {0};
	struct measure_options options = {
		.size = sizeof options,
		.repetitions = repetitions(w, c),
		.several_runs = true,
		.has_warm_ups = true,
		.confidence = 0.95,
		.program_output = OUTPUT_NONE,
		.interrupt = w->asked->interrupt,
	};
	*result = NULL;
	if (region && !session_regions_find(&regions, &region, 1, &command, w->err))
		return false;
	target.regions = regions.asked;
	target.n_regions = regions.n;
	bool done = measure_count(c->session.operations, c->session.backend, &target, c->events, c->n_events, NULL,
				  0, &options, result, w->err);
	session_regions_free(&regions);
	return done;
}

static bool any_of_hardware(const struct result *result)
{
	for (size_t i = 0; i < result->n_estimates; i++)
		if (result->estimates[i].known && result->estimates[i].source == SOURCE_HW)
			return true;
	return false;
}

static void unknown(const struct paper_counter *c, struct paper_count *counts)
{
	for (size_t i = 0; i < c->n_asked; i++)
		counts[i] = (struct paper_count){
			.mean = NAN, .sd = NAN, .least = NAN, .most = NAN, .why = c->why[i]};
}

/* Executes argv as often as the counters need. *result is freed by the caller, also after a failure. */
static bool measure(struct paper_work *w, struct paper_counter *c, const char *const *argv, const char *region,
		    struct result **result)
{
	*result = NULL;
	if (w->asked->interrupt && *w->asked->interrupt)
		return error_set(w->err, ERROR_SYSTEM, "interrupted");
	bool done = execute(w, c, argv, region, result);
	if (done && !c->varies && any_of_hardware(*result)) {
		c->varies = true;
		result_free(*result);
		done = execute(w, c, argv, region, result);
	}
	return done && check_status(w, *result, argv[0]);
}

static void take(struct paper_work *w, const struct paper_counter *c, const struct result *result, bool of_region,
		 struct paper_count *counts)
{
	const struct estimate *estimates = !of_region          ? result->estimates
					   : result->n_regions ? result->regions[0].estimates
							       : NULL;
	size_t n = !of_region ? result->n_estimates : result->n_regions ? result->regions[0].n_estimates : 0;
	for (size_t i = 0; i < c->n_events && i < n; i++)
		fill(w, &counts[c->at[i]], &estimates[i]);
}

static bool count(struct paper_work *w, struct paper_counter *c, const char *const *argv, const char *region,
		  bool of_region, struct paper_count *counts)
{
	struct result *result = NULL;
	unknown(c, counts);
	if (!c->n_events)
		return true;
	bool done = measure(w, c, argv, region, &result);
	if (done) {
		take(w, c, result, of_region, counts);
		w->study->executions += result->executions;
	}
	result_free(result);
	if (done || !region || !session_regions_refused(w->err))
		return done;
	const char *why = paper_printf(w, "%s", w->err->text);
	for (size_t i = 0; i < c->n_events; i++)
		counts[c->at[i]].why = why;
	*w->err = (struct error){0};
	return true;
}

bool paper_count(struct paper_work *w, struct paper_counter *c, const char *const *argv, const char *region,
		 struct paper_count *counts)
{
	return count(w, c, argv, region, region != NULL, counts);
}

bool paper_count_own_region(struct paper_work *w, struct paper_counter *c, const char *const *argv,
			    struct paper_count *counts)
{
	return count(w, c, argv, NULL, true, counts);
}

const struct kernel *paper_kernel(struct paper_work *w, const char *name)
{
	const struct kernel *kernel = kernels_find(&w->kernels, name);
	if (!kernel || kernel->why_not || !kernel->region_path) {
		error_set(w->err, ERROR_NOT_FOUND, "the kernel '%s' cannot run: %s", name,
			  kernel && kernel->why_not ? kernel->why_not : "it is not there");
		return NULL;
	}
	return kernel;
}

bool paper_sweep(struct paper_work *w, const char *name, bool region, const char *on, const char *const *requests,
		 size_t n_requests, const uint64_t *sizes, size_t n_sizes, struct paper_count *counts)
{
	struct paper_counter counter;
	const struct kernel *kernel = kernels_find(&w->kernels, name);
	if (kernel && kernel->path && kernel->why_not) { /* this CPU lacks an instruction of it */
		for (size_t i = 0; i < n_sizes * n_requests; i++)
			counts[i] = (struct paper_count){
				.mean = NAN, .sd = NAN, .least = NAN, .most = NAN, .why = kernel->why_not};
		return true;
	}
	if (!(kernel = paper_kernel(w, name)))
		return false;
	bool done = paper_counter_open(w, &counter, on, requests, n_requests);
	for (size_t i = 0; done && i < n_sizes; i++) {
		char number[24];
		const char *argv[] = {region ? kernel->region_path : kernel->path, number, NULL};
		snprintf(number, sizeof number, "%llu", (unsigned long long)sizes[i]);
		if (w->asked->progress)
			w->asked->progress(w->asked->progress_context, name, w->done++, w->all);
		done = paper_count(w, &counter, argv, region ? kernel->region : NULL, counts + i * n_requests);
	}
	paper_counter_close(&counter);
	return done;
}
