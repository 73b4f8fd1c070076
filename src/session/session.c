#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "profile/breakdown.h"
#include "trust/apply.h"
#include "trust/calibration_here.h"
#include "trust/conservation.h"

enum { EVENT_FILE_MOST_BYTES = 4 << 20 };

_Static_assert(sizeof(pid_t) == sizeof(int), "ids are also processes'");

static void set_target(struct session *s, const struct session_target *asked)
{
	struct target *t = &s->target;
	s->command = (struct command){.argv = asked->program, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	s->command.reproducible = asked->reproducible;
	s->command.cpu = asked->cpu;
	s->command.group = asked->group;
	t->keep = asked->keep;
	t->no_sharing = asked->no_sharing;
	t->sampled = asked->sampled;
	t->sample_seed = asked->sample_seed;
	t->command = asked->program ? &s->command : NULL;
	t->kind = asked->kind;
	if (t->kind == TARGET_PROCESSES || t->kind == TARGET_THREADS) {
		t->pids = asked->ids;
		t->n_pids = asked->n_ids;
	} else if (t->kind == TARGET_CPUS) {
		t->cpus = asked->ids;
		t->n_cpus = asked->n_ids;
		t->cgroup = asked->cgroup;
		t->own_cgroup = asked->own_cgroup;
	}
	/* a thread is one thread, what it starts is another */
	t->follow_children = !asked->no_children && t->kind != TARGET_THREADS;
	t->per_thread = asked->per_thread;
	t->per_cpu = asked->per_cpu;
	t->per_process = asked->per_process;
	t->times_calls = asked->times_calls;
}

bool session_open(struct session *s, const struct session_target *target, const char *on,
		  const char *const *event_files, size_t n_event_files, struct error *err)
{
	const char *argument = NULL;
	*s = (struct session){0};
	s->events_of = s;
	if (target)
		set_target(s, target);
	if (!(s->events = event_table_new(err)))
		return false;
	for (size_t i = 0; i < n_event_files; i++) {
		size_t length;
		char *text = file_read(event_files[i], EVENT_FILE_MOST_BYTES, &length, err);
		bool added = text && event_table_add(s->events, text, length, event_files[i], err);
		free(text);
		if (!added)
			return false;
	}
	s->operations = backend_by_name(on, &argument, err);
	if (!s->operations || !s->operations->open(argument, &s->backend, err))
		return false;
	if ((s->target.cgroup || s->target.own_cgroup) &&
	    (s->operations->starts_only || strcmp(s->operations->name, "replay") == 0)) {
		error_set(err, ERROR_USAGE, "the backend '%s' does not count control groups", s->operations->name);
		return error_hint(err, "the kernel's counters do: --on perf, or leave out --on");
	}
	if (s->operations->machines)
		s->machines = s->operations->machines(s->backend, &s->n_machines);
	return true;
}

void session_share(struct session *s, struct session *owner)
{
	*s = (struct session){.events = owner->events,
			      .metrics = owner->metrics,
			      .operations = owner->operations,
			      .backend = owner->backend,
			      .machines = owner->machines,
			      .n_machines = owner->n_machines,
			      .events_of = owner,
			      .command = owner->command,
			      .target = owner->target};
	s->target.command = &s->command;
	s->target.regions = NULL;
	s->target.n_regions = 0;
}

void session_set_program(struct session *s, char *const *program, int input_fd)
{
	s->command.argv = program;
	s->command.stdin_fd = input_fd;
	s->target.command = &s->command;
}

void session_close(struct session *s)
{
	result_free(s->result);
	session_regions_free(&s->regions);
	if (s->events_of != s) {
		*s = (struct session){0};
		return;
	}
	selection_free(&s->selection);
	if (s->backend)
		s->operations->close(s->backend);
	metric_table_free(s->metrics);
	event_table_free(s->events);
	*s = (struct session){0};
}

bool session_add_regions(struct session *s, const char *const *places, size_t n, struct error *err)
{
	if (n == 0)
		return true;
	if (!s->operations->regions) {
		error_set(err, ERROR_USAGE, "the backend '%s' does not count regions", s->operations->name);
		return error_hint(err, "use --on perf or --on exact, or leave out --on");
	}
	if (!session_regions_find(&s->regions, places, n, &s->command, err))
		return false;
	s->target.regions = s->regions.asked;
	s->target.n_regions = s->regions.n;
	return true;
}

bool session_ask_exclusive(struct session *s, struct error *err)
{
	if (!s->operations->exclusive) {
		error_set(err, ERROR_USAGE, "the backend '%s' does not count regions exclusive of those in them",
			  s->operations->name);
		return error_hint(err, "the engine does: --on exact, or --on model:MACHINE");
	}
	s->target.exclusive = true;
	return true;
}

bool session_check_laws(struct session *s, struct error *err)
{
	struct laws *laws = laws_new(law_files, err);
	bool done = laws && (laws_check(laws, s->result) != (size_t)-1 || error_no_memory(err));
	laws_free(laws);
	return done;
}

bool session_measure(struct session *s, const struct measure_options *options, struct error *err)
{
	const struct selection *selection = &s->events_of->selection;
	return measure_count(s->operations, s->backend, &s->target, selection->events.items,
			     selection->events.count, selection->metrics.items, selection->metrics.count, options,
			     &s->result, err) &&
	       session_check_laws(s, err);
}

bool session_take_off(struct session *s, bool only_regions)
{
	struct calibration calibration = {0};
	char why[256];
	if (only_regions)
		return trust_apply_to_regions(s->result);
	/* a recording is of another machine, maybe: only what is named counts for it */
	const char *named = getenv("TARE_CALIBRATION");
	bool recorded = strcmp(s->operations->name, "replay") == 0;
	bool here = (!recorded || (named && *named)) &&
		    calibration_here(&s->result->machine, &calibration, why, sizeof why);
	bool done = trust_apply(s->result, here ? &calibration : NULL);
	calibration_free(&calibration);
	return done;
}

/* In a process of the backend's own, which ends with the program. */
static bool find_functions(void *context, const char *path, struct function_range **out, size_t *n)
{
	struct symbols **symbols = context;
	struct symbol_function *all;
	if ((!*symbols && !symbols_new(NULL, symbols, NULL)) || !symbols_functions(*symbols, path, &all, n, NULL))
		return false;
	*out = (struct function_range *)(void *)all;
	_Static_assert(sizeof(struct symbol_function) == sizeof(struct function_range), "the same words");
	return true;
}

/* RECORD_CALL_EVENTS of engine/wire/record.h, which a session does not see: cli_inclusive asks for as many events,
 * and for one more. */
#define CALL_EVENTS 8u

bool session_check_calls(const struct session *s, struct error *err)
{
	const struct selection *selection = &s->events_of->selection;
	size_t followed = 0; /* events of executions without the engine have no calls anyway */
	for (size_t i = 0; i < selection->events.count; i++) {
		const struct event *event = &selection->events.items[i];
		followed += s->operations->native && !s->operations->native(s->backend, &event, 1);
	}
	if (followed <= CALL_EVENTS)
		return true;
	error_set(err, ERROR_USAGE, "--inclusive follows calls for %u events at most, and %zu are asked for",
		  CALL_EVENTS, followed);
	return error_hint(err, "run the program several times, with some of the events each");
}

bool session_measure_calls(struct session *s, const struct measure_options *options, struct error *err)
{
	struct symbols *symbols = NULL;
	struct function_finder finder = {.context = &symbols, .find = find_functions};
	s->target.call_graph = true;
	s->target.functions = &finder;
	bool done = session_measure(s, options, err);
	s->target.call_graph = false;
	s->target.functions = NULL;
	return done;
}

static bool name_places(struct result *result, enum breakdown_by by, bool inclusive, struct error *err)
{
	struct symbols *symbols;
	if (!symbols_new(NULL, &symbols, err))
		return false;
	bool done = breakdown_new(result->locations, symbols, by, inclusive, &result->breakdown, err);
	symbols_free(symbols);
	if (done) {
		result->breakdown->run = result->first_run;
		result->breakdown->runs = result->repetitions;
	}
	return done;
}

bool session_break_down(struct session *s, enum breakdown_by by, bool inclusive, struct error *err)
{
	struct result *result = s->result;
	const char *defect = NULL, *wrong = NULL;
	char text[320];
	if (!result->locations) {
		error_set(err, ERROR_UNSUPPORTED, "no counts by %s: %s", breakdown_by_name(by),
			  result->locations_why ? result->locations_why : "no execution ran under the engine");
		return error_hint(
			err, "ask for an event that the engine or a model counts: -e instructions:u --on exact");
	}
	if (inclusive)
		wrong = breakdown_arcs_wrong(result->locations, text, sizeof text);
	if (!name_places(result, by, inclusive && !wrong, err))
		return false;
	for (size_t i = 0; i < result->breakdown->n_events && !defect; i++)
		defect = result->breakdown->events[i].defect;
	if (defect)
		return error_set(err, ERROR_SYSTEM, "the counts by %s are wrong: %s", breakdown_by_name(by),
				 defect);
	return !wrong || error_set(err, ERROR_UNSUPPORTED, "no inclusive counts: %s", wrong);
}

bool session_counted_any(const struct session *s)
{
	for (size_t i = 0; i < s->result->n_estimates; i++) {
		const struct estimate *e = &s->result->estimates[i];
		if (e->known && !(s->selection.defaults && strcmp(e->event, "elapsed-time") == 0))
			return true;
	}
	return false;
}
