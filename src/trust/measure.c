#include "trust/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "trust/helper_programs.h"
#include "measure/measure.h"
#include "trust/noise.h"
#include "trust/overhead.h"

/* What the kernel `empty` itself counts, which is not overhead: kernels/empty.truth. Everything else that it has a
 * row for is 0. */
static const struct {
	const char *event;
	double count;
} empty_counts[] = {{"instructions", 3}, {"system-calls", 1}};

static double empty_count(const struct event *event)
{
	for (size_t i = 0; event->definition && i < sizeof empty_counts / sizeof *empty_counts; i++)
		if (strcmp(event->definition->name, empty_counts[i].event) == 0)
			return event->levels & LEVEL_USER ? empty_counts[i].count : 0;
	return 0;
}

bool not_calibrated(struct calibrating *c, enum interface interface, const char *event, const char *why,
		    struct error *err)
{
	struct arena *arena = &c->calibration.arena;
	struct not_calibrated missing = {interface, event ? arena_strdup(arena, event) : NULL,
					 arena_strdup(arena, why)};
	return (missing.why && vec_push(&c->missing, missing)) || error_no_memory(err);
}

/* ---- events ---- */

/* One that cannot be counted is left out; *answer says why. */
static bool add_event(struct calibrating *c, const char *text, bool *hardware, struct availability *answer,
		      struct error *err)
{
	struct calibrated_event e = {0};
	*answer = (struct availability){.state = READING_UNSUPPORTED};
	*hardware = false;
	if (!event_parse(c->table, text, &e.event, err))
		return false;
	for (size_t i = 0; i < c->events.count; i++)
		if (strcmp(c->events.items[i].event.label, e.event.label) == 0)
			return true;
	c->operations->available(c->backend, &e.event, answer);
	if (answer->state != READING_COUNTED)
		return true;
	*hardware = e.hardware = answer->source == SOURCE_HW;
	e.constant = e.hardware && e.event.definition && e.event.definition->constant_overhead;
	return vec_push(&c->events, e) || error_no_memory(err);
}

/* At both levels together, and of hardware events, which the kernel's part of reading is in, also at
 * user level. */
static bool add_levels(struct calibrating *c, const char *name, struct error *err)
{
	char text[128];
	bool hardware, user;
	struct availability answer;
	if (snprintf(text, sizeof text, "%s:u", name) >= (int)sizeof text)
		return true;
	return add_event(c, name, &hardware, &answer, err) &&
	       (!hardware || add_event(c, text, &user, &answer, err));
}

static bool default_events(struct calibrating *c, struct error *err)
{
	for (size_t i = 0; i < event_table_count(c->table); i++) {
		const struct event_definition *row = event_table_at(c->table, i);
		if ((row->counted_by & COUNTED_BY_PERF) && (row->in_default_set || row->constant_overhead) &&
		    !add_levels(c, row->name, err))
			return false;
	}
	return true;
}

static bool listed_events(struct calibrating *c, const char *list, struct error *err)
{
	struct event *events = NULL;
	size_t n = 0;
	if (!event_parse_list(c->table, list, &events, &n, err))
		return false;
	bool done = true;
	for (size_t i = 0; done && i < n; i++) {
		struct availability answer;
		bool hardware;
		size_t before = c->events.count;
		done = add_event(c, events[i].text, &hardware, &answer, err);
		if (done && c->events.count == before && answer.why[0])
			for (unsigned k = 0; done && k < INTERFACES; k++)
				done = !c->wanted[k] ||
				       not_calibrated(c, (enum interface)k, events[i].label, answer.why, err);
	}
	free(events);
	return done;
}

bool calibrating_begin(struct calibrating *c, const char *list, struct error *err)
{
	if (list ? !listed_events(c, list, err) : !default_events(c, err))
		return false;
	if (c->events.count == 0) {
		error_set(err, ERROR_UNSUPPORTED, "no event can be counted here");
		return error_hint(err, "'tare doctor' shows what to do about it");
	}
	return true;
}

void calibrating_end(struct calibrating *c)
{
	vec_free(&c->events);
	vec_free(&c->missing);
	calibration_free(&c->calibration);
}

/* ---- executions of a program ---- */

struct part_told {
	struct calibrating *c;
	const char *part;
};

static void tell(void *context, const struct measure_progress *now)
{
	struct part_told *told = context;
	told->c->progress(told->c->progress_context, told->part, now->execution - 1, now->executions);
}

static bool execute(struct calibrating *c, char *const *argv, size_t repetitions, const char *part,
		    struct result **result, struct error *err)
{
	struct command command = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	struct target target = {.kind = TARGET_COMMAND, .command = &command, .follow_children = true};
	struct part_told told = {c, part};
	struct measure_options options = {
		.size = sizeof options,
		.repetitions = repetitions,
		.several_runs = true,
		.has_warm_ups = true,
		.warm_ups = 1,
		.confidence = c->calibration.confidence,
		.program_output = OUTPUT_NONE,
		.progress = c->progress ? tell : NULL,
		.progress_context = &told,
	};
	struct event *events = calloc(c->events.count, sizeof *events);
	if (!events)
		return error_no_memory(err);
	for (size_t i = 0; i < c->events.count; i++)
		events[i] = c->events.items[i].event;
	bool done = measure_count(c->operations, c->backend, &target, events, c->events.count, NULL, 0, &options,
				  result, err);
	free(events);
	return done;
}

bool calibrate_command(struct calibrating *c, struct error *err)
{
	struct arena *arena = &c->calibration.arena;
	struct result *result = NULL;
	char *argv[] = {helper_kernel("empty", err), NULL};
	bool done = argv[0] && execute(c, argv, c->processes, "tare count of an empty program", &result, err);
	for (size_t i = 0; done && i < c->events.count; i++) {
		const struct calibrated_event *e = &c->events.items[i];
		const struct estimate *estimate = &result->estimates[i];
		if (!estimate->known || estimate->n_runs < c->processes) {
			done = not_calibrated(c, INTERFACE_COMMAND, e->event.label,
					      estimate->why ? estimate->why : "some executions gave no count",
					      err);
			continue;
		}
		struct overhead row = {.event = arena_strdup(arena, e->event.label),
				       .unit = arena_strdup(arena, estimate->unit),
				       .interface = INTERFACE_COMMAND,
				       .part = OVERHEAD_PROGRAM,
				       .constant = e->constant};
		for (size_t r = 0; r < estimate->n_runs; r++)
			estimate->runs[r] -= empty_count(&e->event);
		done = row.event && row.unit &&
		       overhead_summarise(estimate->runs, estimate->n_runs, c->calibration.confidence, &row) &&
		       vec_push(&c->calibration.overheads, row);
		if (!done)
			error_no_memory(err);
	}
	result_free(result);
	free(argv[0]);
	return done;
}

bool calibrate_floor(struct calibrating *c, char *const *argv, struct error *err)
{
	struct arena *arena = &c->calibration.arena;
	struct result *result = NULL;
	struct str words = {0};
	bool done = execute(c, argv, 2 * c->floor_runs, "the same program against itself", &result, err);
	for (size_t i = 0; done && i < c->events.count; i++) {
		const struct estimate *e = &result->estimates[i];
		struct noise_floor row = {.event = arena_strdup(arena, c->events.items[i].event.label),
					  .unit = arena_strdup(arena, e->unit)};
		done = row.event && row.unit;
		/* of an event that never takes place nothing relative can be said */
		if (done && e->known && e->n_runs == 2 * c->floor_runs &&
		    noise_floor_of(e->runs, e->n_runs, c->calibration.confidence, &row))
			done = vec_push(&c->calibration.floors, row);
		if (!done)
			error_no_memory(err);
	}
	for (size_t i = 0; argv[i]; i++) {
		char word[256];
		const char *slash = i == 0 ? strrchr(argv[i], '/') : NULL;
		str_escape_to(word, sizeof word, slash ? slash + 1 : argv[i]);
		str_appendf(&words, "%s%s", i ? " " : "", word);
	}
	if (words.length > 200)
		words.text[200] = '\0';
	c->calibration.floor_command = words.failed || !words.text ? ""
								   : arena_strdup(arena, str_trim(words.text));
	str_free(&words);
	result_free(result);
	return done && (c->calibration.floor_command || error_no_memory(err));
}
