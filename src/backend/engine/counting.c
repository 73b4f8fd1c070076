#include "backend/engine/counting.h"

#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "backend/engine/answer.h"
#include "backend/engine/blocks.h"
#include "backend/engine/calls.h"
#include "backend/engine/fold.h"
#include "backend/engine/inputs.h"
#include "backend/engine/kept.h"
#include "backend/engine/locations.h"
#include "backend/engine/regions.h"
#include "backend/engine/syscalls.h"
#include "backend/engine/tally.h"
#include "backend/launch.h"
#include "base/clock.h"
#include "engine/inject/injection.h"
#include "engine/wire/calls.h"
#include "engine/x86/served.h"

struct counting {
	struct launch launch;
	struct command command;    /* its strings are borrowed until stop */
	struct injection *session; /* NULL: natively */
	struct execution_event *events;
	size_t n;
	struct counting_models models; /* n = 0: none */
	struct location_plan plan;
	struct fold_context fold;
	struct kept_use kept;
	bool keeps_none; /* kept translations were asked for, and are not used for what is counted */
	struct answer_context answer;
	const struct function_finder *functions; /* borrowed until the start */
	bool calls;
	const char *calls_why; /* they were asked for, and are not followed: why; NULL */
	char calls_text[CALLS_WHY_BYTES];
	struct record_call_event call_events[RECORD_CALL_EVENTS];
	size_t machines; /* struct model_counts of each thread; 0: the access stream was not asked for */
	bool children, per_thread, per_process;
	bool inside; /* places are of the regions asked for alone */
	/* borrowed, as target->regions; [n_asked] */
	struct region_name {
		const char *name, *text;
		enum region_kind kind;
	} * asked;
	size_t n_asked;
	uint64_t began_ns;
};

static void host_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	__cpuid_count(leaf, sub, out[0], out[1], out[2], out[3]);
}

/* XCR0; 0 without xsave. */
static uint64_t enabled_state(void)
{
	enum { FEATURES = 1, ECX = 2, OSXSAVE = 27 };
	uint32_t r[4], low, high;
	host_cpuid(FEATURES, 0, r);
	if (!(r[ECX] >> OSXSAVE & 1))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

static uint64_t now_ns(void)
{
	struct clock clock = clock_monotonic();
	return clock_now_ns(&clock);
}

void counting_end(struct counting *c)
{
	if (!c)
		return;
	launch_abandon(&c->launch);
	injection_free(c->session);
	if (c->models.release)
		c->models.release(c->models.context);
	location_plan_free(&c->plan);
	kept_close(&c->kept);
	free(c->events);
	free(c->asked);
	free(c);
}

/* As engine/wire/calls.h has them, which has the same words. */
static bool find_functions(void *context, const char *path, struct record_function **out, size_t *n)
{
	const struct function_finder *finder = context;
	struct function_range *ranges;
	_Static_assert(sizeof(struct record_function) == sizeof(struct function_range), "the same words");
	if (!finder->find(finder->context, path, &ranges, n))
		return false;
	*out = (struct record_function *)(void *)ranges;
	return true;
}

/* The machines run, and the stream is looked at, for the sake of an event only. */
static void choose_trace(struct counting *c, const struct counting_options *options,
			 struct injection_options *session)
{
	bool modelled = false, addresses = false;
	for (size_t i = 0; i < c->n; i++) {
		modelled |= c->events[i].modelled != NULL;
		addresses |= c->events[i].exact && exact_event_needs_trace(c->events[i].exact);
	}
	if (!modelled)
		c->models.n = 0;
	if (c->models.n) {
		session->machines = c->models.machines;
		session->machine_count = c->models.n;
		session->machine_bytes = c->models.bytes;
	}
	session->watches = (const uint8_t(*)[4])c->plan.watches;
	session->watch_count = c->plan.n_watches;
	session->objects = c->plan.of == LOCATIONS_OF_DATA;
	/* what is counted by data is counted from the stream, even where the blocks have the sum */
	session->trace = c->models.n > 0 || addresses || c->plan.n_watches > 0;
	session->calls = c->calls, session->calls_alone = !c->children;
	session->call_events = c->call_events, session->call_event_count = c->calls ? c->n : 0;
	session->functions = c->calls && c->functions ? find_functions : NULL;
	session->functions_context = (void *)(uintptr_t)c->functions;
	c->fold = (struct fold_context){.plan = &c->plan, .events = c->events, .n = c->n, .inside = c->inside};
	if (c->plan.of == LOCATIONS_OF_CODE)
		session->fold_context = &c->fold;
	c->answer = (struct answer_context){.models = &c->models};
	session->answer = answer_question;
	session->answer_context = &c->answer;
	session->trace_bytes = options ? options->trace_bytes : 0;
	session->blocks_most = options ? options->blocks_most : 0;
	session->whole_blocks = options ? options->whole_blocks : 0;
	c->machines = !session->trace ? 0 : c->models.n ? c->models.n : 1;
}

/* What the program is to be shown of the machine. False: this one has less. */
static bool choose_cpu(const struct command *command, uint32_t *served, struct error *err)
{
	static const char *const names[] = {[SERVED_HOST] = "host",
					    [SERVED_V2] = "x86-64-v2",
					    [SERVED_V3] = "x86-64-v3",
					    [SERVED_V4] = "x86-64-v4"};
	const char *lacks;
	enum served_cpu asked = SERVED_NONE;
	for (enum served_cpu cpu = SERVED_HOST; command->cpu && cpu <= SERVED_V4; cpu++)
		if (strcmp(names[cpu], command->cpu) == 0)
			asked = cpu;
	*served = asked;
	if (x86_served_fits(asked, enabled_state(), host_cpuid, &lacks))
		return true;
	error_set(err, ERROR_UNSUPPORTED, "this machine's CPU cannot show the program an %s: it lacks %s",
		  command->cpu, lacks);
	for (enum served_cpu cpu = asked - 1; cpu >= SERVED_V2; cpu--)
		if (x86_served_fits(cpu, enabled_state(), host_cpuid, &lacks))
			return error_hint(err, "use --cpu %s, here and on the machines that are compared with",
					  names[cpu]);
	return error_hint(err, "use --cpu host: counts are then those of this machine's CPU");
}

/* What is kept is translated for counts of blocks alone; and where a way was linked before, nobody sees that the
 * block it leads to begins a basic block. */
static bool may_keep(const struct counting *c, const struct injection_options *session)
{
	bool leaders = false;
	for (size_t i = 0; i < c->n; i++)
		leaders |= c->events[i].exact && exact_event_uses(c->events[i].exact, COUNT_BASIC_BLOCKS);
	return c->n > 0 && !session->trace && !session->calls && !session->region_ranges && !session->served &&
	       !leaders && c->plan.of == LOCATIONS_NONE && !session->blocks_most && !session->overflow_period;
}

bool counting_start(const struct target *target, const struct execution_event *events, size_t n,
		    const struct counting_options *options, struct counting **out, struct error *err)
{
	struct injection_options session = {.size = sizeof session, .fold = fold_part};
	struct record_region_range *ranges = NULL;
	struct counting *c;
	*out = NULL;
	if (!(c = calloc(1, sizeof *c))) {
		if (options && options->models && options->models->release)
			options->models->release(options->models->context);
		return error_no_memory(err);
	}
	if (options && options->models)
		c->models = *options->models;
	c->launch = (struct launch){.go_fd = -1, .failed_fd = -1};
	if (target->kind != TARGET_COMMAND) {
		error_set(err, ERROR_UNSUPPORTED, "the engine counts programs that tare starts, not running ones");
		error_hint(err, "give the program's command, or use --on perf");
		goto fail;
	}
	c->command = *target->command;
	c->n = n, c->children = target->follow_children, c->per_thread = target->per_thread;
	c->per_process = target->per_process;
	c->functions = target->functions;
	c->inside = target->locations_inside && target->n_regions > 0;
	if (!(c->events = calloc(n + 1, sizeof *c->events))) {
		error_no_memory(err);
		goto fail;
	}
	if (n)
		memcpy(c->events, events, n * sizeof *events);
	if (!location_plan_new(&c->plan, target->locations, c->events, n, &c->models)) {
		error_no_memory(err);
		goto fail;
	}
	if (target->overflow_period)
		location_plan_sample(&c->plan, target->overflow_period, target->overflow_skid, n);
	if (target->call_graph && target->locations == LOCATIONS_OF_CODE)
		c->calls = !(c->calls_why = calls_plan(c->events, n, &c->plan, c->call_events, c->calls_text));
	session.overflow_period = target->overflow_period;
	session.overflow_skid = target->overflow_skid;
	choose_trace(c, options, &session);
	if (n > 0 && !choose_cpu(target->command, &session.served, err))
		goto fail;
	if (!(c->asked = calloc(target->n_regions + 1, sizeof *c->asked))) {
		error_no_memory(err);
		goto fail;
	}
	for (c->n_asked = 0; c->n_asked < target->n_regions; c->n_asked++) {
		const struct region_asked *asked = &target->regions[c->n_asked];
		c->asked[c->n_asked] = (struct region_name){asked->name, asked->text, asked->kind};
	}
	if (!regions_plan(target->regions, target->n_regions, &ranges, &session.region_ranges, err))
		goto fail;
	session.regions = ranges, session.region_count = target->n_regions;
	session.exclusive = target->exclusive;
	c->keeps_none = target->keep && n > 0 && !may_keep(c, &session);
	if (target->keep && !c->keeps_none) {
		kept_open(&c->kept, NULL, target->command->argv[0]);
		kept_offer(&c->kept, &session);
	}
	/* the attendant is made first: it shall hold none of the command's descriptors */
	if (n > 0 && !injection_new(&session, &c->session, err))
		goto fail;
	if (!launch_hold(target->command, &c->launch, err))
		goto fail;
	free(ranges);
	*out = c;
	return true;
fail:
	free(ranges);
	counting_end(c);
	return false;
}

bool counting_fits(struct backend *backend, const struct event *const *events, size_t n)
{
	(void)backend, (void)events, (void)n;
	return true;
}

bool counting_native(struct backend *backend, const struct event *const *events, size_t n)
{
	(void)backend, (void)events;
	return n == 0;
}

pid_t counting_process(const struct counting *c) { return c->launch.pid; }

/* As launch_go() does; that waits for the exec, which here the tracer must. */
static void release(void *arg) { launch_release(arg); }

bool counting_go(struct counting *c, struct error *err)
{
	if (c->session) {
		switch (injection_take(c->session, c->launch.pid, release, &c->launch, err)) {
		case SESSION_FAILED: c->launch.pid = 0; return false;
		case SESSION_NOT_STARTED: /* launch_go() says why */
		case SESSION_TAKEN: break;
		}
	}
	c->began_ns = now_ns();
	return launch_go(&c->launch, &c->command, err);
}

static struct reading failed(const char *why)
{
	return (struct reading){.state = READING_FAILED, .source = SOURCE_NONE, .why = why, .cpu = -1};
}

/* regions: those of the view, with what was counted in them; NULL: not wanted */
static bool look(const struct counting *c, bool still_running, struct view **view, struct tally **tally,
		 struct execution_regions **regions, struct error *err)
{
	struct tally_options options = {
		.children = c->children, .still_running = still_running, .machines = c->machines};
	*tally = NULL;
	for (size_t i = 0; i < c->n; i++) {
		const struct exact_event *exact = c->events[i].exact;
		options.blocks |= exact && exact_event_uses(exact, COUNT_BASIC_BLOCKS);
		options.code_lines |= exact && (exact_event_uses(exact, COUNT_CODE_LINES) ||
						exact_event_uses(exact, COUNT_CODE_PAGES));
	}
	if (!view_new(c->session, view, err) ||
	    (regions && !regions_new(*view, c->n_asked, c->children, c->machines, regions, err)))
		return false;
	options.regions = regions ? *regions : NULL;
	return tally_new(*view, &options, tally, err);
}

/* row: NULL for all of them. why: what is wrong with the event's counts, lives as long as the reading has to; or
 * NULL. */
static struct reading reading_of(const struct counting *c, const struct execution_event *event,
				 const struct tally *tally, const struct tally_row *row, const char *why,
				 uint64_t ns)
{
	struct reading r = {
		.state = READING_COUNTED, .source = SOURCE_EXACT, .enabled_ns = ns, .running_ns = ns, .cpu = -1};
	if (!event->exact && !event->modelled)
		return failed("the engine does not count it");
	if (why)
		return failed(why);
	if (event->exact)
		return exact_event_value(event->exact, row ? row->count : tally->total, &r.count_raw)
			       ? r
			       : failed("the count does not fit in 64 bits");
	const struct model_counts *counts = row ? row->models : tally->models;
	r.source = SOURCE_MODEL;
	r.machine = c->models.name(c->models.context, event->machine);
	return c->models.value(c->models.context, event->modelled, &counts[event->machine], &r.count_raw, &why)
		       ? r
		       : failed(why);
}

/* Of a program that has not ended, or not between two instructions: what it has done at least. *r: the reading,
 * which is not known. */
static void add_least(const struct execution_event *event, const struct tally *tally, struct reading *r)
{
	uint64_t value, uncertain, sum = 0;
	if (!event->exact || event->exact->why_not || exact_event_unknown(event->exact, tally) ||
	    !exact_event_value(event->exact, tally->total, &value))
		return;
	for (unsigned i = 0; i < COUNTS; i++) {
		if (!exact_event_uses(event->exact, (enum exact_count)i))
			continue;
		if (!tally_uncertain(tally, (enum exact_count)i, &uncertain) ||
		    __builtin_add_overflow(sum, uncertain, &sum))
			return;
	}
	r->has_least = value > sum;
	r->count_raw = value > sum ? value - sum : 0;
	r->source = SOURCE_EXACT;
}

static bool fill_least(const struct counting *c, struct run *run, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	bool done = look(c, true, &view, &tally, NULL, err);
	for (size_t i = 0; done && !tally->why && i < c->n; i++)
		if (run->readings[i].state == READING_FAILED)
			add_least(&c->events[i], tally, &run->readings[i]);
	tally_free(tally);
	view_free(view);
	return done;
}

bool counting_sample(struct counting *c, struct reading *readings, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	bool done = c->session == NULL || look(c, true, &view, &tally, NULL, err);
	for (size_t i = 0; done && c->session && i < c->n; i++) {
		const struct execution_event *event = &c->events[i];
		/* what runs has not handed in all of its access stream */
		bool unknown = event->exact ? exact_event_unknown(event->exact, tally) ||
						      exact_event_needs_trace(event->exact)
					    : true;
		readings[i] = reading_of(c, event, tally, NULL, unknown ? "not known so far" : NULL,
					 now_ns() - c->began_ns);
	}
	tally_free(tally);
	view_free(view);
	return done;
}

/* Code lines and pages are of processes: a thread has none of its own. */
static bool is_of_process(const struct execution_event *event)
{
	return event->exact && (exact_event_uses(event->exact, COUNT_CODE_LINES) ||
				exact_event_uses(event->exact, COUNT_CODE_PAGES));
}

/* What a row's process executed last, in the arena: processes are in the order of their images. NULL when the
 * record does not say it, or memory ran out. */
static const char *command_of(const struct view *view, const struct tally_row *row, struct arena *arena)
{
	for (size_t i = view->n_processes; i-- > 0;) {
		const struct view_process *p = &view->processes[i];
		if (!p->record || p->record->pid != row->pid || !p->path[0])
			continue;
		const char *slash = strrchr(p->path, '/');
		return arena_strdup(arena, slash && slash[1] ? slash + 1 : p->path);
	}
	return NULL;
}

/* All rows of one event; view: whose names they have. */
static bool fill(const struct counting *c, struct run *run, size_t i, const struct tally *tally,
		 const struct view *view, bool rows, uint64_t ns)
{
	const struct execution_event *event = &c->events[i];
	const char *why = event->exact      ? exact_event_unknown(event->exact, tally)
			  : event->modelled ? tally->models_why
					    : NULL;
	if (why && !(why = arena_strdup(&run->arena, why)))
		return false;
	for (size_t row = 0; row < run->n_rows; row++) {
		struct reading *r = &run->readings[row * run->n_events + i];
		if (rows && is_of_process(event))
			*r = failed("it is counted for the whole program, not for its parts");
		else
			*r = reading_of(c, event, tally, rows ? &tally->rows[row] : NULL, why, ns);
		if ((r->why && !(r->why = arena_strdup(&run->arena, r->why))) ||
		    (r->machine && !(r->machine = arena_strdup(&run->arena, r->machine))))
			return false;
		r->tid = rows ? (pid_t)tally->rows[row].tid : 0;
		r->pid = rows ? (pid_t)tally->rows[row].pid : 0;
		r->command = rows ? command_of(view, &tally->rows[row], &run->arena) : NULL;
	}
	return true;
}

/* Why no count of the region is known; NULL. */
static const char *region_unknown(const struct execution_regions *regions, const struct counted_region *region)
{
	const char *why = regions->why ? regions->why : !region->asked ? regions->why_named : NULL;
	if (!why && !region->asked && region->open)
		why = "it was entered more often than left (a longjmp, an exception, a thread or the program "
		      "ended inside): the end of that pass is unknown";
	if (!why && region->switched)
		why = "a thread switched to another stack in it (a coroutine, a user-level thread): which "
		      "instructions there belong to the region is unknown";
	return why;
}

/* Of a region alone: what is not known of another may be in this one. */
static const char *alone_unknown(const struct execution_regions *regions)
{
	const char *why = regions->alone_why;
	for (size_t i = 0; i < regions->n && !why; i++)
		if (!regions->all[i].hidden && region_unknown(regions, &regions->all[i]))
			why = "where another region, which may lie in this one, ended is unknown";
	return why;
}

/* Of one region; alone: of what took place outside of those entered in it. */
static struct reading reading_in(const struct counting *c, const struct execution_event *event,
				 const struct tally *tally, const struct execution_regions *regions,
				 const struct counted_region *region, bool alone, uint64_t ns)
{
	struct reading r = {
		.state = READING_COUNTED, .source = SOURCE_EXACT, .enabled_ns = ns, .running_ns = ns, .cpu = -1};
	const uint64_t *count = alone ? region->alone : region->count;
	const struct model_counts *models = alone ? region->models_alone : region->models;
	const char *why = region_unknown(regions, region);
	if (!why && alone)
		why = alone_unknown(regions);
	if (!event->exact && !event->modelled)
		return failed("the engine does not count it");
	if (!why && (event->modelled || exact_event_needs_trace(event->exact)))
		why = tally->models_why ? tally->models_why : regions->models_why;
	if (is_of_process(event)) {
		r = failed(
			"it is known for the whole program only: distinct lines cannot be added up over regions");
		r.state = READING_UNSUPPORTED;
		return r;
	}
	if (!why && event->exact)
		why = exact_event_unknown(event->exact, tally);
	if (why)
		return failed(why);
	if (event->exact)
		return exact_event_value(event->exact, count, &r.count_raw)
			       ? r
			       : failed("the count does not fit in 64 bits");
	r.source = SOURCE_MODEL;
	r.machine = c->models.name(c->models.context, event->machine);
	return c->models.value(c->models.context, event->modelled, &models[event->machine], &r.count_raw, &why)
		       ? r
		       : failed(why);
}

static bool fill_region(const struct counting *c, struct run *run, const struct tally *tally,
			const struct execution_regions *regions, size_t i, bool alone, uint64_t ns)
{
	const struct counted_region *from = &regions->all[i];
	struct run_region *to = &run->regions[run->n_regions++];
	*to = (struct run_region){.kind = REGION_LIBRARY,
				  .text = "libtare",
				  .entries = from->entries,
				  .exits = from->exits,
				  .unbalanced = from->unbalanced,
				  .threads = from->threads};
	if (from->asked) {
		to->kind = c->asked[i].kind;
		to->name = arena_strdup(&run->arena, c->asked[i].name);
		to->text = arena_strdup(&run->arena, c->asked[i].text);
	} else {
		char *name = arena_alloc(&run->arena, from->name_bytes + 1);
		if (name)
			memcpy(name, from->name, from->name_bytes);
		to->name = name;
	}
	to->exclusive = alone;
	if (alone && to->name && to->text) {
		bool same = strcmp(to->name, to->text) == 0;
		to->name = arena_printf(&run->arena, "%s" REGION_EXCLUSIVE, to->name);
		to->text = same ? to->name : to->text;
	}
	to->readings = arena_alloc(&run->arena, (c->n + 1) * sizeof *to->readings);
	if (!to->name || !to->text || !to->readings)
		return false;
	for (size_t e = 0; e < c->n; e++) {
		struct reading *r = &to->readings[e];
		*r = reading_in(c, &c->events[e], tally, regions, from, alone, ns);
		if ((r->why && !(r->why = arena_strdup(&run->arena, r->why))) ||
		    (r->machine && !(r->machine = arena_strdup(&run->arena, r->machine))))
			return false;
	}
	return true;
}

static bool add_remark(struct run *run, enum note_rank rank, const char *text)
{
	struct result_note *lines = arena_alloc(&run->arena, (run->n_remarks + 1) * sizeof *lines);
	if (!lines || !(lines[run->n_remarks].text = arena_strdup(&run->arena, text)))
		return false;
	lines[run->n_remarks].rank = rank;
	if (run->n_remarks)
		memcpy(lines, run->remarks, run->n_remarks * sizeof *lines);
	run->remarks = lines;
	run->n_remarks++;
	return true;
}

static bool fill_regions(const struct counting *c, struct run *run, const struct tally *tally,
			 const struct execution_regions *regions, uint64_t ns)
{
	run->regions = arena_alloc(&run->arena, (2 * regions->n + 1) * sizeof *run->regions);
	run->n_regions = 0;
	for (unsigned alone = 0; alone <= regions->exclusive; alone++)
		for (size_t i = 0; run->regions && i < regions->n; i++)
			if (!regions->all[i].hidden && !fill_region(c, run, tally, regions, i, alone, ns))
				return false;
	return run->regions && (!regions->lost || add_remark(run, NOTE_ACT, regions->lost));
}

/* A model that breaks a law of its own is a defect of tare: nothing of it is reported. */
static void check_laws(const struct counting *c, struct tally *tally)
{
	const char *why = NULL;
	for (size_t r = 0; r < tally->n_rows && !tally->models_why; r++)
		for (size_t m = 0; m < c->models.n && !tally->models_why; m++)
			if (!c->models.conserves(c->models.context, m, &tally->rows[r].models[m], &why)) {
				snprintf(tally->models_text, sizeof tally->models_text,
					 "the model of '%s' broke a law of its own (%s) in thread %u: a defect of "
					 "tare",
					 c->models.name(c->models.context, m), why, tally->rows[r].tid);
				tally->models_why = tally->models_text;
			}
}

/* Why the counts may be those of this machine or this run alone (--reproducible). */
static bool add_limits(const struct counting *c, const struct view *view, struct run *run)
{
	const char *notes[INPUTS_LIMITS];
	inputs_limits(view, c->children, notes);
	for (size_t i = 0; notes[i]; i++)
		if (!add_remark(run, NOTE_ACT, notes[i]))
			return false;
	struct str seen = {0};
	inputs_seen(view, c->children, &seen);
	bool done = !seen.failed;
	if (done && seen.text) {
		struct str text = {0};
		str_appendf(&text, "the program looked at what other machines may answer otherwise: %s",
			    seen.text);
		done = !text.failed && add_remark(run, NOTE_DETAIL, text.text);
		str_free(&text);
	}
	str_free(&seen);
	return done;
}

bool counting_stop(struct counting *c, struct run *run, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	struct execution_regions *regions = NULL;
	bool done = false;
	uint64_t ns = now_ns() - c->began_ns;
	run->under_engine = c->session != NULL;
	run->n_events = c->n;
	run->n_rows = 1;
	if (c->session) {
		if (!look(c, false, &view, &tally, &regions, err))
			goto out;
		check_laws(c, tally);
		kept_update(&c->kept, view);
	}
	bool rows = tally && (c->per_thread || c->per_process) && tally->n_rows > 0;
	if (rows && !tally_join(tally, c->per_thread, c->machines)) {
		error_set(err, ERROR_UNSUPPORTED, "a process's or thread's count does not fit in 64 bits");
		goto out;
	}
	if (rows)
		run->n_rows = tally->n_rows;
	run->readings = arena_alloc(&run->arena, (run->n_rows * run->n_events + 1) * sizeof *run->readings);
	done = run->readings != NULL;
	for (size_t i = 0; done && i < c->n; i++)
		done = fill(c, run, i, tally, view, rows, ns);
	if (done && c->models.n && c->models.remark && !tally->models_why)
		done = c->models.remark(c->models.context, view, c->children, run);
	if (done && view)
		done = add_limits(c, view, run);
	if (done && c->keeps_none)
		done = add_remark(run, NOTE_ACT,
				  "--keep does nothing for models, places, regions, basic blocks and "
				  "--reproducible: count without them, or leave it out");
	if (done && regions)
		done = fill_regions(c, run, tally, regions, ns);
	if (done && tally && tally->why && !rows)
		done = fill_least(c, run, err);
	if (!done)
		error_no_memory(err);
out:
	regions_free(regions);
	tally_free(tally);
	view_free(view);
	return done;
}

bool counting_blocks(struct counting *c, enum blocks_by by, struct str *out, struct error *err)
{
	static const enum blocks_groups groups[] = {[BLOCKS_OF_ALL] = BLOCKS_TOGETHER,
						    [BLOCKS_OF_PROCESSES] = BLOCKS_BY_PROCESS,
						    [BLOCKS_OF_THREADS] = BLOCKS_BY_THREAD};
	struct view *view = NULL;
	struct blocks *blocks = NULL;
	bool done = false;
	if (!c->session)
		return error_set(err, ERROR_USAGE,
				 "the program did not run under the engine: no requested event needs it");
	if (!view_new(c->session, &view, err) || !blocks_new(view, c->children, groups[by], &blocks, err))
		goto out;
	if (blocks->why) {
		error_set(err, ERROR_UNSUPPORTED, "no basic blocks: %s", blocks->why);
		goto out;
	}
	blocks_write(blocks, groups[by], out);
	done = true;
out:
	blocks_free(blocks);
	view_free(view);
	return done;
}

bool counting_system_calls(struct counting *c, struct str *out, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	bool done = false;
	if (!c->session)
		return error_set(err, ERROR_USAGE,
				 "the program did not run under the engine: no requested event needs it");
	if (!look(c, false, &view, &tally, NULL, err))
		goto out;
	if (tally->why) {
		error_set(err, ERROR_UNSUPPORTED, "no system calls: %s", tally->why);
		goto out;
	}
	syscalls_write(view, c->children, out);
	done = true;
out:
	tally_free(tally);
	view_free(view);
	return done;
}

bool counting_inputs(struct counting *c, struct str *out, struct error *err)
{
	struct view *view = NULL;
	if (!c->session)
		return error_set(err, ERROR_USAGE,
				 "the program did not run under the engine: no requested event needs it");
	if (!view_new(c->session, &view, err))
		return false;
	inputs_write(view, c->children, out);
	view_free(view);
	return true;
}

/* What is not known of one of the regions has no places in them either. */
static bool check_inside(const struct counting *c, const struct tally *tally,
			 const struct execution_regions *regions, struct locations *out)
{
	for (size_t i = 0; i < out->n_events; i++)
		for (size_t r = 0; r < c->n_asked && !out->events[i].why; r++) {
			const struct reading reading = reading_in(c, &c->events[i], tally, regions,
								  &regions->all[r], false, 0);
			if (reading.state != READING_COUNTED &&
			    !(out->events[i].why = arena_printf(&out->arena, "in %s: %s", c->asked[r].name,
								reading.why)))
				return false;
		}
	return true;
}

bool counting_locations(struct counting *c, struct locations *out, struct error *err)
{
	struct view *view = NULL;
	struct tally *tally = NULL;
	struct execution_regions *regions = NULL;
	bool done = false;
	*out = (struct locations){0};
	if (!c->session || c->plan.of == LOCATIONS_NONE)
		return error_set(err, ERROR_USAGE,
				 "the program did not run under the engine: no requested event needs it");
	if (!look(c, false, &view, &tally, c->inside ? &regions : NULL, err))
		goto out;
	if (tally->why) {
		error_set(err, ERROR_UNSUPPORTED, "no places: %s", tally->why);
		goto out;
	}
	done = locations_fill(&c->plan, view, c->children, regions, c->events, c->n, out, err);
	if (done && c->inside && !check_inside(c, tally, regions, out))
		done = error_no_memory(err);
	if (done && c->calls && !calls_fill(view, c->children, out))
		done = error_no_memory(err);
	if (done && c->calls_why && !(out->arcs_why = arena_strdup(&out->arena, c->calls_why)))
		done = error_no_memory(err);
	/* an event that has no count has no places either */
	for (size_t i = 0; done && i < out->n_events; i++) {
		const struct execution_event *event = &c->events[i];
		const char *why = event->exact ? exact_event_unknown(event->exact, tally) : tally->models_why;
		if (why && !out->events[i].why && !(out->events[i].why = arena_strdup(&out->arena, why)))
			done = error_no_memory(err);
	}
	if (!done)
		locations_free(out);
out:
	regions_free(regions);
	tally_free(tally);
	view_free(view);
	return done;
}
