#include "session/models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/wait_status.h"
#include "measure/measure.h"
#include "session/session.h"
#include "session/suite_programs.h"
#include "session/trusting.h"
#include "trust/kernels.h"
#include "trust/models_errors.h"

struct models_work {
	const struct models_asked *asked;
	struct models_study *study;
	struct session model, counters;
	VEC(struct event) of_model, of_counters; /* the same events, in one order */
	struct error *err;
};

/* ---- events ---- */

static bool is_counted(struct session *s, const struct event *event, enum source source)
{
	struct availability here = {.state = READING_UNSUPPORTED};
	s->operations->available(s->backend, event, &here);
	return here.state == READING_COUNTED && here.source == source;
}

/* Adds the event where the model and a counter both count it. */
static bool add_event(struct models_work *w, const char *request, bool asked)
{
	struct event modelled, counted;
	if (!event_parse(w->model.events, request, &modelled, w->err) ||
	    !event_parse(w->counters.events, request, &counted, w->err))
		return false;
	bool has_model = is_counted(&w->model, &modelled, SOURCE_MODEL),
	     has_counter = is_counted(&w->counters, &counted, SOURCE_HW);
	w->study->not_modelled += has_model && !has_counter;
	if (has_model && has_counter)
		return (vec_push(&w->of_model, modelled) && vec_push(&w->of_counters, counted)) ||
		       error_no_memory(w->err);
	return !asked || error_set(w->err, ERROR_UNSUPPORTED, "'%s' is not counted by %s", request,
				   has_model ? "a hardware counter of this machine" : "the model");
}

static bool add_asked_events(struct models_work *w)
{
	struct event *events = NULL;
	size_t n = 0;
	bool done = event_parse_list(w->model.events, w->asked->events, &events, &n, w->err);
	for (size_t i = 0; done && i < n; i++)
		done = add_event(w, events[i].text, true);
	free(events);
	return done;
}

static bool add_all_events(struct models_work *w)
{
	char request[128];
	bool done = true;
	for (size_t i = 0; done && i < event_table_count(w->model.events); i++) {
		const struct event_definition *d = event_table_at(w->model.events, i);
		snprintf(request, sizeof request, "%s:u", d->name);
		if (d->counted_by & COUNTED_BY_MODEL)
			done = add_event(w, request, false);
	}
	return done;
}

/* A PMU that counts anything: else there is nothing to compare with. */
static bool check_counters(struct models_work *w)
{
	static const char *const basic[] = {"instructions:u", "cycles:u"};
	struct event event;
	struct availability here = {.state = READING_UNSUPPORTED};
	for (size_t i = 0; i < sizeof basic / sizeof *basic; i++) {
		if (!event_parse(w->counters.events, basic[i], &event, w->err))
			return false;
		w->counters.operations->available(w->counters.backend, &event, &here);
		if (here.state == READING_COUNTED && here.source == SOURCE_HW)
			return true;
	}
	error_set(w->err, ERROR_UNSUPPORTED, "there are no hardware counters to compare '%s' with: %s",
		  w->asked->model, here.why[0] ? here.why : "instructions and cycles are not counted");
	return error_hint(w->err,
			  "run it on bare metal, or in a virtual machine whose hypervisor gives it a PMU; 'tare "
			  "doctor' says what this machine lacks");
}

static bool find_events(struct models_work *w)
{
	struct arena *arena = &w->study->arena;
	if (!check_counters(w) || !(w->asked->events ? add_asked_events(w) : add_all_events(w)))
		return false;
	w->study->n_events = w->of_model.count;
	if (!w->study->n_events)
		return error_set(w->err, ERROR_UNSUPPORTED,
				 "this machine's counters count none of the events that '%s' models",
				 w->asked->model);
	w->study->events = arena_alloc(arena, w->study->n_events * sizeof *w->study->events);
	if (!w->study->events)
		return error_no_memory(w->err);
	for (size_t i = 0; i < w->study->n_events; i++) {
		w->study->events[i] = (struct models_event){
			.label = arena_strdup(arena, w->of_model.items[i].label), .trust = TRUST_VERIFIED};
		if (!w->study->events[i].label)
			return error_no_memory(w->err);
	}
	return true;
}

/* ---- one program ---- */

static bool execute(struct models_work *w, struct session *s, const struct event *events, char *const *argv,
		    size_t repetitions, struct error *why)
{
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true};
	struct measure_options options = {
		.size = sizeof options,
		.repetitions = repetitions,
		.several_runs = true,
		.has_warm_ups = true,
		.confidence = 0.95,
		.program_output = OUTPUT_NONE,
		.interrupt = w->asked->interrupt,
	};
	result_free(s->result);
	s->result = NULL;
	if (!measure_count(s->operations, s->backend, &target, events, w->study->n_events, NULL, 0, &options,
			   &s->result, why))
		return false;
	int status = s->result->wait_status;
	w->study->executions += s->result->executions;
	return status == 0 || error_set(why, ERROR_SYSTEM, "it ended with status %d", wait_status_shell(status));
}

static bool is_interrupted(const struct models_work *w, struct error *err)
{
	return w->asked->interrupt && *w->asked->interrupt && !error_set(err, ERROR_SYSTEM, "interrupted");
}

/* False when memory ran out. */
static bool pair_up(struct models_work *w, size_t i, struct models_pair *out)
{
	const struct estimate *model = &w->model.result->estimates[i],
			      *counter = &w->counters.result->estimates[i];
	struct models_event *event = &w->study->events[i];
	*out = (struct models_pair){.model = NAN, .counter = NAN, .low = NAN, .high = NAN};
	if (!model->known || !counter->known) {
		const char *why = !model->known ? model->why : counter->why;
		out->state = MODELS_UNKNOWN;
		out->why = arena_strdup(&w->study->arena, why ? why : "not counted");
	} else {
		out->model = model->value;
		out->counter = counter->value;
		out->low = counter->has_interval ? counter->low : counter->value;
		out->high = counter->has_interval ? counter->high : counter->value;
		event->trust = trust_weakest(event->trust, counter->trust);
	}
	models_pair_judge(out);
	return out->state != MODELS_UNKNOWN || out->why;
}

/* Where the program cannot be compared, that is its `why`, and no error. */
static bool compare(struct models_work *w, char *const *argv, struct models_program *program)
{
	struct error why = {0};
	struct arena *arena = &w->study->arena;
	bool both = execute(w, &w->counters, w->of_counters.items, argv, MODELS_COUNTED_RUNS, &why) &&
		    execute(w, &w->model, w->of_model.items, argv, 1, &why);
	if (is_interrupted(w, w->err))
		return false;
	if (!both) {
		if (why.code == ERROR_NO_MEMORY)
			return error_no_memory(w->err);
		program->why = arena_strdup(arena, why.text);
		return program->why || error_no_memory(w->err);
	}
	bool done = session_trust(&w->counters, w->asked->keeping);
	program->pairs = done ? arena_alloc(arena, w->study->n_events * sizeof *program->pairs) : NULL;
	done = program->pairs != NULL;
	for (size_t i = 0; done && i < w->study->n_events; i++)
		done = pair_up(w, i, &program->pairs[i]);
	return done || error_no_memory(w->err);
}

/* ---- programs ---- */

static const char *const quick_kernels[] = {"loop",  "array", "loads",  "stores",    "branches",
					    "calls", "pages", "thrash", "thrash-l2", "search"};

static bool is_named(const char *list, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
			return true;
	return false;
}

/* Each name of the list is a kernel's. */
static bool check_kernels(const struct models_work *w, const struct kernels *kernels)
{
	char name[64];
	for (const char *at = w->asked->kernels; at && *at; at += strcspn(at, ","), at += *at == ',') {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
		if (!kernels_find(kernels, name)) {
			error_set(w->err, ERROR_USAGE, "there is no kernel '%s'", name);
			return error_hint(w->err, "'tare list kernels' shows them");
		}
	}
	return true;
}

static bool is_chosen(const struct models_work *w, const struct kernel *kernel)
{
	bool chosen = !w->asked->quick && !w->asked->kernels;
	if (w->asked->kernels)
		chosen = is_named(w->asked->kernels, kernel->name);
	for (size_t i = 0; !w->asked->kernels && i < sizeof quick_kernels / sizeof *quick_kernels; i++)
		chosen |= strcmp(quick_kernels[i], kernel->name) == 0;
	return chosen && kernel->path && !kernel->why_not && kernel->n_quick;
}

static struct models_program *next(struct models_work *w, const char *name, bool kernel, size_t all)
{
	struct models_program *program = &w->study->programs[w->study->n_programs];
	*program = (struct models_program){.name = arena_strdup(&w->study->arena, name), .kernel = kernel};
	if (w->asked->progress)
		w->asked->progress(w->asked->progress_context, name, w->study->n_programs, all);
	w->study->n_programs++;
	return program->name ? program : NULL;
}

/* Each at the largest of its quick sizes. */
static bool compare_kernels(struct models_work *w, const struct kernels *kernels, size_t all)
{
	for (size_t i = 0; i < kernels->count; i++) {
		const struct kernel *kernel = &kernels->all[i];
		char number[24];
		char *argv[] = {(char *)kernel->path, number, NULL};
		if (!is_chosen(w, kernel))
			continue;
		snprintf(number, sizeof number, "%llu", (unsigned long long)kernel->quick[kernel->n_quick - 1]);
		struct models_program *program = next(w, kernel->name, true, all);
		if (!program)
			return error_no_memory(w->err);
		if (!compare(w, argv, program))
			return false;
	}
	return true;
}

static bool compare_programs(struct models_work *w, size_t all)
{
	struct suite_programs *suite;
	bool done = suite_programs_begin(&suite, w->err);
	for (size_t i = 0; done && i < suite_programs_count(); i++) {
		struct suite_program one;
		suite_programs_at(suite, i, &one);
		if (w->asked->quick && !one.quick)
			continue;
		struct models_program *program = next(w, one.name, false, all);
		if (!program)
			done = error_no_memory(w->err);
		else if (one.why)
			program->why = one.why;
		else
			done = compare(w, one.argv, program);
	}
	suite_programs_end(suite);
	return done;
}

static bool compare_all(struct models_work *w)
{
	struct kernels kernels;
	size_t all = suite_programs_count();
	if (!kernels_load(NULL, &kernels, w->err))
		return false;
	if (!check_kernels(w, &kernels)) {
		kernels_free(&kernels);
		return false;
	}
	for (size_t i = 0; i < kernels.count; i++)
		all += is_chosen(w, &kernels.all[i]);
	w->study->programs = arena_alloc(&w->study->arena, all * sizeof *w->study->programs);
	bool done = w->study->programs ? compare_kernels(w, &kernels, all) && compare_programs(w, all)
				       : error_no_memory(w->err);
	kernels_free(&kernels);
	return done;
}

static bool describe(struct models_work *w)
{
	struct arena *arena = &w->study->arena;
	w->study->quick = w->asked->quick;
	w->study->model = arena_strdup(arena, w->model.n_machines ? w->model.machines[0] : w->asked->model);
	w->study->counters = arena_strdup(arena, w->asked->counters);
	return (w->study->model && w->study->counters && measure_machine_facts(arena, &w->study->facts)) ||
	       error_no_memory(w->err);
}

bool session_models(const struct models_asked *asked, struct models_study *out, struct error *err)
{
	struct models_work w = {.asked = asked, .study = out, .err = err};
	*out = (struct models_study){0};
	bool done = session_open(&w.counters, NULL, asked->counters, NULL, 0, err) &&
		    session_open(&w.model, NULL, asked->model, NULL, 0, err) && describe(&w) && find_events(&w) &&
		    compare_all(&w) && (models_sum_up(out) || error_no_memory(err));
	session_close(&w.model);
	session_close(&w.counters);
	vec_free(&w.of_model);
	vec_free(&w.of_counters);
	if (!done)
		session_models_free(out);
	return done;
}

void session_models_free(struct models_study *study)
{
	arena_free(&study->arena);
	*study = (struct models_study){0};
}
