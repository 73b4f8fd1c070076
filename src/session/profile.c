#include "session/profile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/waiting.h"
#include "profile/by_task.h"
#include "profile/certainty.h"
#include "profile/collect.h"
#include "profile/counted.h"
#include "profile/named.h"
#include "profile/turns.h"
#include "session/metric_level.h"
#include "session/profile_account.h"
#include "session/profile_gap.h"
#include "session/profile_marks.h"
#include "session/selection_inside.h"
#include "store/profile/profile_file.h"
#include "trust/overflows.h"

/* ---- events ---- */

static bool can_sample(const struct session *s, const struct event *event, enum reading_state *state,
		       char why[256])
{
	why[0] = '\0';
	if (!s->operations->sampling) {
		struct availability answer;
		s->operations->available(s->backend, event, &answer);
		*state = answer.state;
		memcpy(why, answer.why, sizeof answer.why);
	} else {
		s->operations->sampling->available(s->backend, event, state, why);
	}
	return *state == READING_COUNTED;
}

static bool refuse(const struct session *s, const struct event *event, enum reading_state state, const char *why,
		   struct error *err)
{
	bool samples = s->operations->sampling != NULL;
	error_set(err, state == READING_DENIED ? ERROR_PERMISSION : ERROR_UNSUPPORTED, "cannot %s '%s' here%s%s",
		  samples ? "sample" : "count", event->label, why[0] ? ": " : "", why);
	return samples ? error_hint(err, "'tare profile' without -e takes what can be sampled here; --on exact "
					 "counts instructions by place without sampling")
		       : false;
}

/* Where no level was asked for: both where that works, else the program's own part. */
static bool settle_level(struct session *s, struct event *event, struct error *err)
{
	enum reading_state state;
	char why[256], request[256];
	struct event user;
	bool has_level = event->text[metric_level_at(event->text)] != '\0';
	if (can_sample(s, event, &state, why))
		return true;
	snprintf(request, sizeof request, "%s:u", event->text);
	if (!has_level && !event->period && event_parse(s->events, request, &user, NULL)) {
		enum reading_state user_state;
		char user_why[256];
		if (can_sample(s, &user, &user_state, user_why)) {
			*event = user;
			return true;
		}
	}
	return refuse(s, event, state, why, err);
}

static bool add_default(struct session *s, struct error *err)
{
	static const char *const choices[] = {"cycles", "cpu-clock"};
	static const char *const counted[] = {"instructions"};
	bool samples = s->operations->sampling != NULL;
	const char *const *names = samples ? choices : counted;
	size_t n = samples ? 2 : 1;
	for (size_t i = 0; i < n; i++) {
		struct event event;
		struct error own = {0};
		if (!event_parse(s->events, names[i], &event, err))
			return false;
		if (settle_level(s, &event, &own))
			return selection_add_event(s, &event, NULL, false, err);
		if (err)
			*err = own;
	}
	return false;
}

bool session_add_profile_events(struct session *s, const char *list, struct error *err)
{
	struct event *events = NULL;
	size_t n = 0;
	if (!list)
		return add_default(s, err);
	if (!s->operations->sampling)
		return session_add_events(s, list, err);
	bool done = event_parse_list(s->events, list, &events, &n, err);
	for (size_t i = 0; done && i < n; i++)
		done = settle_level(s, &events[i], err) && selection_add_event(s, &events[i], NULL, false, err);
	free(events);
	return done;
}

/* ---- what every profile has ---- */

static const char *describe_ids(struct arena *arena, const struct target *target)
{
	struct str text = {0};
	bool cpus = target->kind == TARGET_CPUS, threads = target->kind == TARGET_THREADS;
	size_t n = cpus ? target->n_cpus : target->n_pids;
	if (target->cgroup)
		str_appendf(&text, "control group %s, ", target->cgroup);
	str_append(&text, cpus && !n ? "all CPUs" : cpus ? "CPU" : threads ? "thread" : "process");
	if (n > 1)
		str_append(&text, cpus || threads ? "s" : "es");
	for (size_t i = 0; i < n; i++)
		str_appendf(&text, "%s %d", i ? "," : "", cpus ? target->cpus[i] : (int)target->pids[i]);
	const char *kept = text.failed ? NULL : arena_strdup(arena, text.text);
	str_free(&text);
	return kept;
}

static bool describe(struct profile *p, const struct session *s)
{
	const struct command *command = s->target.command;
	size_t n = 0;
	p->started_unix = (uint64_t)time(NULL);
	p->tare_version = TARE_VERSION;
	p->clock_mhz = measure_clock_mhz();
	while (command && command->argv[n])
		n++;
	char const **words = command ? arena_alloc(&p->arena, (n + 1) * sizeof *words) : NULL;
	if (command && !words)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!(words[i] = arena_strdup(&p->arena, command->argv[i])))
			return false;
	p->command = words;
	if (s->target.kind != TARGET_COMMAND && !s->target.own_cgroup &&
	    !(p->target = describe_ids(&p->arena, &s->target)))
		return false;
	return measure_machine_facts(&p->arena, &p->machine);
}

/* ---- counted ---- */

/* Of counted modules nobody said which files they were: those that are there at the program's end. */
static bool add_build_ids(struct profile *p)
{
	struct symbols *symbols;
	if (!symbols_new(NULL, &symbols, NULL))
		return false;
	for (size_t i = 0; i < p->n_modules; i++) {
		struct profile_module *m = &p->modules[i];
		if (m->kind != MODULE_FILE || m->build_id_bytes)
			continue;
		size_t n = symbols_build_id(symbols, m->path, m->build_id, sizeof m->build_id);
		m->build_id_bytes = (uint8_t)(n <= sizeof m->build_id ? n : 0);
	}
	symbols_free(symbols);
	return true;
}

/* A program that --timeout ended: the profile is of the part until then. */
static bool note_timeout(struct profile *p, uint64_t timeout_ns)
{
	return profile_add_note(
		p, arena_printf(&p->arena,
				"the program was ended after %g s (--timeout): counts are of the part until "
				"then, the whole program has at least as many",
				(double)timeout_ns / 1e9));
}

void session_free_named(struct named_profile *named, struct profile *profile)
{
	if (named)
		named_profile_free(named);
	if (profile)
		profile_free(profile);
	free(named);
	free(profile);
}

bool profile_exact_options(const struct session *s, const struct profiling *asked, enum locations_of of,
			   struct measure_options *out, struct error *err)
{
	*out = (struct measure_options){.size = sizeof *out,
					.repetitions = 1,
					.confidence = 0.95,
					.program_output = OUTPUT_ALL,
					.interrupt = asked->interrupt,
					.timeout_ns = asked->timeout_ns,
					.locations = of};
	return s->target.command ||
	       error_set(err, ERROR_USAGE, "the backend '%s' profiles programs that tare starts",
			 s->operations->name);
}

static bool profile_exactly(struct session *s, const struct profiling *asked, struct profile **out,
			    struct error *err)
{
	struct measure_options options;
	if (!profile_exact_options(s, asked, LOCATIONS_OF_CODE, &options, err))
		return false;
	if (!profile_places_add(s, &asked->places, asked->stacks == STACKS_EXACT, err))
		return false;
	s->target.overflow_period = asked->prime && asked->gap > 1 ? profile_gap_prime(asked->gap) : asked->gap;
	s->target.overflow_skid = asked->skid;
	if (!(asked->stacks == STACKS_EXACT ? session_measure_calls(s, &options, err)
					    : session_measure(s, &options, err)))
		return false;
	if (!s->result->locations) {
		error_set(err, ERROR_UNSUPPORTED, "no counts by place: %s",
			  s->result->locations_why ? s->result->locations_why
						   : "no execution ran under the engine");
		return error_hint(err, "ask for an event that the engine or a model counts: -e instructions:u");
	}
	if (!profile_counted(s->result->locations, out, err))
		return false;
	(*out)->wait_status = s->result->wait_status;
	if (asked->timed_out)
		*asked->timed_out |= s->result->timed_out;
	if (describe(*out, s) && add_build_ids(*out) && profile_places_counted(s, *out) &&
	    overflows_check(*out, NULL) && (!s->result->timed_out || note_timeout(*out, asked->timeout_ns)))
		return true;
	profile_free(*out);
	free(*out);
	*out = NULL;
	return error_no_memory(err);
}

/* Samples of a simulated counter: the file has them one by one. */
static bool keep_simulated(struct profile_log *log, const struct profile *p, struct error *err)
{
	bool done = true;
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct profile_cell *cell = &p->cells[i];
		const struct profile_sample sample = {.node = cell->node,
						      .task = cell->task,
						      .event = cell->event,
						      .gap = p->events[cell->event].gap};
		if (p->events[cell->event].gaps != GAPS_NONE)
			for (uint64_t k = 0; done && k < cell->count; k++)
				done = profile_log_sample(log, p, &sample, err);
	}
	return done;
}

static bool keep_counted(const struct profile *p, const char *path, struct error *err)
{
	struct profile_log *log;
	if (!profile_log_create(path, p, &log, err))
		return false;
	if (keep_simulated(log, p, err))
		return profile_log_finish(log, p, err);
	profile_log_abandon(log);
	return false;
}

/* ---- sampled ---- */

static const uint64_t DRAIN_STACKS_NS = 5000000u; /* of copied stacks, 8 KiB and more each */
static const uint64_t DRAIN_NS = 50000000u;       /* between two looks into the buffers */
static const uint64_t TURN_TICK_LEAST_NS = 1000000u;
static const uint64_t FLUSH_NS = 1000000000u; /* a kill -9 loses what is younger */

struct profiling_run {
	struct session *session;
	const struct sampling_operations *operations;
	struct sampling *sampling;
	struct collector *collector;
	struct profile_log *log;
	struct error failure;
	uint64_t drain_ns, enable_at, flush_at;
	bool failed, waits_to_enable, takes_moments, timed_out;
	VEC(struct profile_moment) moments;
	double *stood_for; /* [n events]: the sum of the samples' gaps */
	struct profile_turns turns;
	struct profile_control *control; /* NULL: no orders */
	uint64_t unknown_orders;
};

static bool keep_sample(void *context, const struct profile *so_far, const struct profile_sample *sample,
			struct error *err)
{
	struct profiling_run *run = context;
	const struct profile_moment moment = {
		.time_ns = sample->time_ns, .node = sample->node, .task = sample->task, .event = sample->event};
	run->stood_for[sample->event] += (double)sample->gap;
	if (run->takes_moments && !vec_push(&run->moments, moment))
		return error_no_memory(err);
	return !run->log || profile_log_sample(run->log, so_far, sample, err);
}

static bool follow(struct profiling_run *run, enum control_order order, struct error *err)
{
	switch (order) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		run->waits_to_enable = false;
		return run->operations->enable(run->sampling, order == CONTROL_ENABLE, err);
	case CONTROL_SNAPSHOT: {
		/* what is in the buffers is given out a round later (backend/perf/sample/window.h) */
		bool done = run->operations->drain(run->sampling, 0, err) &&
			    run->operations->drain(run->sampling, 0, err);
		return done && (!run->log || profile_log_flush(run->log, err));
	}
	case CONTROL_UNKNOWN: run->unknown_orders++; return true;
	case CONTROL_PING:
	case CONTROL_NONE: break;
	}
	return true;
}

static void take_orders(struct profiling_run *run)
{
	enum control_order order;
	while (run->control && !run->failed && (order = profile_control_next(run->control)) != CONTROL_NONE) {
		run->failed = !follow(run, order, &run->failure);
		if (!run->failed && order != CONTROL_UNKNOWN)
			profile_control_answer(run->control);
	}
}

static void look(void *context, uint64_t now_ns, uint64_t *tick_ns)
{
	struct profiling_run *run = context;
	*tick_ns = run->drain_ns;
	if (run->failed)
		return;
	take_orders(run);
	if (run->waits_to_enable && now_ns >= run->enable_at) {
		run->waits_to_enable = false;
		run->failed = !run->operations->enable(run->sampling, true, &run->failure);
	} else if (run->waits_to_enable && run->enable_at - now_ns < run->drain_ns) {
		*tick_ns = run->enable_at - now_ns;
	}
	if (!run->failed)
		run->failed = !run->operations->drain(run->sampling, 0, &run->failure);
	if (!run->failed && run->log && now_ns >= run->flush_at) {
		run->flush_at = now_ns + FLUSH_NS;
		run->failed = !profile_log_flush(run->log, &run->failure);
	}
}

static bool describe_events(struct profile *p, const struct sampled_event *events, const double *costs, size_t n,
			    uint64_t seed)
{
	if (!(p->events = arena_alloc(&p->arena, (n + 1) * sizeof *p->events)))
		return false;
	p->n_events = n;
	for (size_t i = 0; i < n; i++) {
		const struct event *event = events[i].event;
		struct profile_event *e = &p->events[i];
		const char *unit = event->definition && event->definition->unit ? event->definition->unit : "";
		bool drawn = events[i].gaps == GAPS_EXPONENTIAL || events[i].gaps == GAPS_JITTER;
		*e = (struct profile_event){.label = arena_strdup(&p->arena, event->label),
					    .unit = arena_strdup(&p->arena, unit),
					    .source = SOURCE_SAMPLED,
					    .gaps = events[i].gaps,
					    .gap = events[i].gap,
					    .rate = events[i].rate,
					    .cost_ns = costs[i],
					    .seed = drawn ? seed : 0};
		if (!e->label || !e->unit)
			return false;
	}
	return true;
}

/* Samples and orders both wake; -1: they are looked for at each tick. */
static int wakes_of(const struct profiling_run *run)
{
	int samples = run->operations->wakes(run->sampling);
	if (!run->control)
		return samples;
	struct epoll_event first = {.events = EPOLLIN}, second = {.events = EPOLLIN};
	int both = epoll_create1(EPOLL_CLOEXEC);
	if (both >= 0) {
		epoll_ctl(both, EPOLL_CTL_ADD, samples, &first);
		epoll_ctl(both, EPOLL_CTL_ADD, run->control->orders, &second);
	}
	return both;
}

static void wait_for_end(struct profiling_run *run, const struct profiling *asked, struct profile *p)
{
	struct session *s = run->session;
	struct waiter waiter;
	struct waited waited;
	const struct clock clock = clock_monotonic();
	waiter_open(&waiter, asked->interrupt, &clock);
	int wakes = wakes_of(run);
	struct wait_for what = {.process = run->operations->process(run->sampling),
				.wakes = &wakes,
				.target = &s->target,
				.delay_ns = asked->for_ns,
				.timeout_ns = asked->timeout_ns,
				.tick_ns = run->waits_to_enable && asked->delay_ns < run->drain_ns
						   ? asked->delay_ns
						   : run->drain_ns,
				.tick = look,
				.context = run};
	wait_until(&waiter, &what, &waited);
	waiter_close(&waiter);
	take_orders(run); /* that came with the end */
	if (run->control && wakes >= 0)
		close(wakes);
	if (waited.ended) {
		p->wait_status = waited.status;
		p->user_ns = (uint64_t)waited.usage.ru_utime.tv_sec * 1000000000u +
			     (uint64_t)waited.usage.ru_utime.tv_usec * 1000u;
		p->system_ns = (uint64_t)waited.usage.ru_stime.tv_sec * 1000000000u +
			       (uint64_t)waited.usage.ru_stime.tv_usec * 1000u;
	} else if (what.process > 0) {
		p->wait_status = waited.interrupted ? abs((int)*asked->interrupt) : SIGKILL;
	}
	run->timed_out = waited.timed_out;
	if (asked->timed_out)
		*asked->timed_out |= waited.timed_out;
}

static bool keep_as_experiment(struct profiling_run *run, const struct profiling *asked, struct profile *p,
			       struct error *err)
{
	const char *path = experiment_file(asked->experiment, p->command[0], p->pid, &p->arena);
	return path ? profile_log_create(path, p, &run->log, err) : error_no_memory(err);
}

/* From prepare() to stop(); the collector has what was seen. */
static bool sample(struct profiling_run *run, const struct profiling *asked,
		   const struct sampling_request *request, struct sampling_account *accounts, struct error *err)
{
	struct session *s = run->session;
	struct sampling_sink sink = collector_sink(run->collector);
	sink.switched = asked->switched;
	sink.switched_context = asked->switched_context;
	sink.turned = asked->turn_ns ? profile_turns_add : NULL;
	sink.turned_context = &run->turns;
	struct profile *p = collector_profile(run->collector);
	bool done = run->operations->prepare(s->backend, &s->target, request, &sink, &run->sampling, err);
	if (!done)
		return false;
	p->pid = asked->experiment ? (int)run->operations->process(run->sampling) : 0;
	if (asked->experiment && !keep_as_experiment(run, asked, p, err)) {
		run->operations->end(run->sampling);
		return false;
	}
	const struct clock clock = clock_monotonic();
	uint64_t begin = clock_now_ns(&clock);
	run->waits_to_enable = request->disabled && !asked->disabled;
	run->enable_at = begin + asked->delay_ns;
	run->flush_at = begin + FLUSH_NS;
	if ((done = run->operations->go(run->sampling, err))) {
		wait_for_end(run, asked, p);
		done = run->operations->stop(run->sampling, accounts, err) && !run->failed;
		if (run->failed && err)
			*err = run->failure;
		p->first_ns = begin;
		p->last_ns = clock_now_ns(&clock);
	}
	run->operations->end(run->sampling);
	return done;
}

static bool take_moments(const struct profiling_run *run, struct profile *p)
{
	size_t bytes = run->moments.count * sizeof *p->moments;
	if (!bytes)
		return true;
	if (!(p->moments = arena_alloc(&p->arena, bytes)))
		return false;
	memcpy(p->moments, run->moments.items, bytes);
	p->n_moments = run->moments.count;
	return true;
}

/* A heading names the program; that it was in a group is not seen there. */
static bool note_own_cgroup(const struct profiling_run *run, struct error *err)
{
	return collector_note(
		run->collector,
		"--own-cgroup: the program ran in a control group of its own, which was sampled on each CPU", err);
}

static bool note_orders(const struct profiling_run *run, struct error *err)
{
	char text[128];
	snprintf(text, sizeof text,
		 "--control: unknown orders were left out: %llu (known are enable, disable, "
		 "snapshot, ping)",
		 (unsigned long long)run->unknown_orders);
	return collector_note(run->collector, text, err);
}

static bool profile_by_samples(struct session *s, const struct profiling *asked, struct profile **out,
			       struct error *err)
{
	struct profiling_run run = {.session = s,
				    .operations = s->operations->sampling,
				    .takes_moments = asked->moments,
				    .control = asked->control,
				    .stood_for = calloc(s->selection.events.count + 1, sizeof *run.stood_for),
				    .drain_ns = asked->stacks == STACKS_DWARF ? DRAIN_STACKS_NS : DRAIN_NS};
	size_t n = s->selection.events.count;
	double *costs = calloc(n + 1, sizeof *costs);
	struct sampled_event *events = costs ? profile_gaps_choose(s, asked, costs) : NULL;
	struct sampling_account *accounts = calloc(n + 1, sizeof *accounts);
	struct collect_options options = {
		.n_events = n, .stacks = asked->stacks, .keep = keep_sample, .keep_context = &run};
	/* a turn ends when tare looks: a quarter too late at most */
	if (asked->turn_ns && asked->turn_ns / 4 < run.drain_ns)
		run.drain_ns = asked->turn_ns / 4 > TURN_TICK_LEAST_NS ? asked->turn_ns / 4 : TURN_TICK_LEAST_NS;
	struct symbols *symbols = NULL;
	struct found_places found = {0};
	struct region_marks marks = {0};
	bool done = false;
	if (!region_marks_open(&marks, s)) {
		error_no_memory(err);
		goto out;
	}
	if (asked->stacks != STACKS_NONE &&
	    (!symbols_new(NULL, &symbols, err) || !unwinder_new(symbols, &options.unwinder, err)))
		goto out;
	if (!events || !accounts || !run.stood_for || !profile_turns_new(&run.turns, n) ||
	    !collector_new(&options, &run.collector, err)) {
		error_no_memory(err);
		goto out;
	}
	struct profile *p = collector_profile(run.collector);
	p->stacks = asked->stacks;
	if (!describe(p, s) || !describe_events(p, events, costs, n, asked->seed)) {
		error_no_memory(err);
		goto out;
	}
	if (asked->keep && !profile_log_create(asked->keep, p, &run.log, err))
		goto out;
	if (profile_places_count(&asked->places) && !profile_places_find(s, &asked->places, &found, err))
		goto out;
	const struct sampling_request request = {.events = events,
						 .n_events = n,
						 .seed = asked->seed,
						 .redraw = asked->redraw,
						 .stacks = asked->stacks,
						 .stack_bytes = asked->stack_bytes,
						 .places = found.regions.n ? &found.places : NULL,
						 .turn_ns = asked->turn_ns,
						 .disabled = asked->delay_ns > 0 || asked->disabled};
	if (!sample(&run, asked, &request, accounts, err))
		goto out;
	if (!profile_account_take(p, accounts, err))
		goto out;
	if (asked->turn_ns && !profile_turns_take(&run.turns, p)) {
		error_no_memory(err);
		goto out;
	}
	if (!asked->turn_ns && !profile_account_note(run.collector, accounts, err))
		goto out;
	if (found.regions.n && n &&
	    !profile_places_note(run.collector, &asked->places, &accounts[0].bounds, p->last_ns - p->first_ns,
				 err))
		goto out;
	if (s->target.own_cgroup && !note_own_cgroup(&run, err))
		goto out;
	if (run.unknown_orders && !note_orders(&run, err))
		goto out;
	/* samples in places alone are fewer than the counter counted */
	done = collector_finish(run.collector, out, err) && (take_moments(&run, *out) || error_no_memory(err)) &&
	       (found.regions.n || overflows_check(*out, run.stood_for) || error_no_memory(err)) &&
	       (!run.timed_out || note_timeout(*out, asked->timeout_ns) || error_no_memory(err)) &&
	       (region_marks_take(&marks, *out) || error_no_memory(err));
	run.collector = NULL;
	if (done && run.log) {
		done = profile_log_finish(run.log, *out, err);
		run.log = NULL;
	}
	if (!done && *out) {
		profile_free(*out);
		free(*out);
		*out = NULL;
	}
out:
	region_marks_close(&marks);
	profile_turns_free(&run.turns);
	vec_free(&run.moments);
	free(run.stood_for);
	profile_log_abandon(run.log);
	collector_free(run.collector);
	if (options.unwinder)
		unwinder_free(options.unwinder);
	symbols_free(symbols);
	session_regions_free(&found.regions);
	free(events);
	free(costs);
	free(accounts);
	return done;
}

bool session_profile(struct session *s, const struct profiling *asked, struct profile **out, struct error *err)
{
	*out = NULL;
	if (s->operations->sampling)
		return profile_by_samples(s, asked, out, err);
	if (!profile_exactly(s, asked, out, err))
		return false;
	const char *keep = asked->keep;
	if (asked->experiment) {
		/* the engine's process is not known here: tare's own */
		(*out)->pid = (int)getpid();
		keep = experiment_file(asked->experiment, (*out)->command[0], (*out)->pid, &(*out)->arena);
		if (!keep)
			error_no_memory(err);
	}
	if ((!keep && !asked->experiment) || (keep && keep_counted(*out, keep, err)))
		return true;
	profile_free(*out);
	free(*out);
	*out = NULL;
	return false;
}

/* When this machine was started (proc(5), /proc/stat); UINT64_MAX where the kernel does not say. */
static uint64_t boot_unix(void)
{
	unsigned long long seconds = 0;
	char line[256];
	FILE *stat = fopen("/proc/stat", "re");
	while (stat && fgets(line, sizeof line, stat) && sscanf(line, "btime %llu", &seconds) != 1)
		;
	if (stat)
		fclose(stat);
	return seconds ? seconds : UINT64_MAX;
}

bool session_profile_is_of_this_boot(const struct profile *p)
{
	struct arena arena = {0};
	struct machine_facts here;
	bool same = measure_machine_facts(&arena, &here) && p->machine.kernel && p->machine.hostname &&
		    strcmp(here.kernel, p->machine.kernel) == 0 &&
		    strcmp(here.hostname, p->machine.hostname) == 0 && p->started_unix >= boot_unix();
	arena_free(&arena);
	return same;
}

static bool name_profile(const struct profile *profile, double lines_from_share, double confidence,
			 struct named_profile **out, struct error *err)
{
	struct symbols *symbols;
	*out = NULL;
	const struct symbols_options wanted = {.size = sizeof wanted, .debuginfod = true};
	const struct named_options options = {.here = session_profile_is_of_this_boot(profile),
					      .lines_from_share = lines_from_share};
	if (!symbols_new(&wanted, &symbols, err))
		return false;
	bool done = named_profile_new(profile, symbols, &options, out, err);
	symbols_free(symbols);
	if (done && !(by_task_add(*out) && certainty_add(*out, confidence))) {
		named_profile_free(*out);
		free(*out);
		*out = NULL;
		return error_no_memory(err);
	}
	return done;
}

bool session_name_profile(const struct profile *profile, double confidence, struct named_profile **out,
			  struct error *err)
{
	return name_profile(profile, 0, confidence, out, err);
}

bool session_name_functions(const struct profile *profile, double confidence, struct named_profile **out,
			    struct error *err)
{
	/* shares in tenths of a percent are mostly the same without such files */
	static const double LINES_FROM_SHARE = 0.0005;
	/* a caller that wants the lines after all would wait twice for a server that does not answer */
	const char *servers = getenv("DEBUGINFOD_URLS");
	return name_profile(profile, servers && *servers ? 0 : LINES_FROM_SHARE, confidence, out, err);
}
