#include "backend/engine/counting.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/counting_internal.h"
#include "base/clock.h"
#include "engine/wire/called.h"
#include "engine/x86/served.h"

uint64_t counting_now_ns(void)
{
	struct clock clock = clock_monotonic();
	return clock_now_ns(&clock);
}

uint64_t counting_now_ticks(void) { return __builtin_ia32_rdtsc(); }

void counting_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	__cpuid_count(leaf, sub, out[0], out[1], out[2], out[3]);
}

/* XCR0; 0 without xsave. */
static uint64_t enabled_state(void)
{
	enum { FEATURES = 1, ECX = 2, OSXSAVE = 27 };
	uint32_t r[4], low, high;
	counting_cpuid(FEATURES, 0, r);
	if (!(r[ECX] >> OSXSAVE & 1))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

void counting_end(struct counting *c)
{
	if (!c)
		return;
	launch_abandon(&c->launch);
	injection_free(c->injection);
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

/* As engine/wire/called.h has it, which has the same words. */
static bool find_caller(void *context, const char *path, uint64_t offset, struct record_caller *out)
{
	const struct caller_finder *finder = context;
	struct caller_rule rule = {0};
	_Static_assert(sizeof rule == sizeof *out && (int)CALLER_SIGNAL == (int)RECORD_CALLER_SIGNAL &&
			       (int)CALLER_FRAME_LOST == (int)RECORD_FRAME_LOST,
		       "the same words");
	if (!finder->find(finder->context, path, offset, &rule))
		return false;
	memcpy(out, &rule, sizeof *out);
	return true;
}

/* The machines run, and the stream is looked at, for the sake of an event only. */
static void choose_trace(struct counting *c, const struct counting_options *options,
			 struct injection_options *wanted)
{
	bool modelled = false, addresses = false;
	for (size_t i = 0; i < c->n; i++) {
		modelled |= c->events[i].modelled != NULL;
		addresses |= c->events[i].exact && exact_event_needs_trace(c->events[i].exact);
	}
	if (!modelled)
		c->models.n = 0;
	if (c->models.n) {
		wanted->machines = c->models.machines;
		wanted->machine_count = c->models.n;
		wanted->machine_bytes = c->models.bytes;
	}
	wanted->watches = (const uint8_t(*)[4])c->plan.watches;
	wanted->watch_count = c->plan.n_watches;
	wanted->objects = c->plan.of == LOCATIONS_OF_DATA;
	/* what is counted by data is counted from the stream, even where the blocks have the sum */
	wanted->trace = c->models.n > 0 || addresses || c->plan.n_watches > 0;
	wanted->calls = c->calls, wanted->calls_alone = !c->children;
	wanted->call_events = c->call_events, wanted->call_event_count = c->calls ? c->n : 0;
	wanted->functions = c->calls && c->functions ? find_functions : NULL;
	wanted->functions_context = (void *)(uintptr_t)c->functions;
	c->fold = (struct fold_context){.plan = &c->plan, .events = c->events, .n = c->n, .inside = c->inside};
	if (c->plan.of == LOCATIONS_OF_CODE)
		wanted->fold_context = &c->fold;
	c->answer = (struct answer_context){.models = &c->models};
	wanted->answer = answer_question;
	wanted->answer_context = &c->answer;
	wanted->trace_bytes = options ? options->trace_bytes : 0;
	wanted->blocks_most = options ? options->blocks_most : 0;
	wanted->whole_blocks = options ? options->whole_blocks : 0;
	c->machines = !wanted->trace ? 0 : c->models.n ? c->models.n : 1;
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
	if (x86_served_fits(asked, enabled_state(), counting_cpuid, &lacks))
		return true;
	error_set(err, ERROR_UNSUPPORTED, "this machine's CPU cannot show the program an %s: it lacks %s",
		  command->cpu, lacks);
	for (enum served_cpu cpu = asked - 1; cpu >= SERVED_V2; cpu--)
		if (x86_served_fits(cpu, enabled_state(), counting_cpuid, &lacks))
			return error_hint(err, "use --cpu %s, here and on the machines that are compared with",
					  names[cpu]);
	return error_hint(err, "use --cpu host: counts are then those of this machine's CPU");
}

/* What is kept is translated for counts of blocks alone; and where a way was linked before, nobody sees that the
 * block it leads to begins a basic block. */
static bool may_keep(const struct counting *c, const struct injection_options *wanted)
{
	bool leaders = false;
	for (size_t i = 0; i < c->n; i++)
		leaders |= c->events[i].exact && exact_event_uses(c->events[i].exact, COUNT_BASIC_BLOCKS);
	return c->n > 0 && !wanted->trace && !wanted->calls && !wanted->region_ranges && !wanted->served &&
	       !leaders && c->plan.of == LOCATIONS_NONE && !wanted->blocks_most && !wanted->overflow_period;
}

bool counting_start(const struct target *target, const struct execution_event *events, size_t n,
		    const struct counting_options *options, struct counting **out, struct error *err)
{
	struct injection_options wanted = {.size = sizeof wanted, .fold = fold_part};
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
	c->times_calls = target->times_calls;
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
	wanted.overflow_period = target->overflow_period;
	wanted.overflow_skid = target->overflow_skid;
	choose_trace(c, options, &wanted);
	if (n > 0 && !choose_cpu(target->command, &wanted.served, err))
		goto fail;
	if (!(c->asked = calloc(target->n_regions + 1, sizeof *c->asked))) {
		error_no_memory(err);
		goto fail;
	}
	for (c->n_asked = 0; c->n_asked < target->n_regions; c->n_asked++) {
		const struct region_asked *asked = &target->regions[c->n_asked];
		c->asked[c->n_asked] = (struct region_name){asked->name, asked->text, asked->kind};
	}
	if (!regions_plan(target->regions, target->n_regions, &ranges, &wanted.region_ranges, err))
		goto fail;
	wanted.regions = ranges, wanted.region_count = target->n_regions;
	wanted.exclusive = target->exclusive;
	wanted.times_calls = target->times_calls;
	wanted.caller = target->times_calls && target->callers ? find_caller : NULL;
	wanted.caller_context = (void *)(uintptr_t)target->callers;
	c->keeps_none = target->keep && n > 0 && !may_keep(c, &wanted);
	if (target->keep && !c->keeps_none) {
		kept_open(&c->kept, NULL, target->command->argv[0]);
		kept_offer(&c->kept, &wanted);
	}
	/* what a file has is not made again */
	if (!target->no_sharing && wanted.kept_bytes == 0 && may_keep(c, &wanted))
		wanted.share = kept_share;
	/* the attendant is made first: it shall hold none of the command's descriptors */
	if (n > 0 && !injection_new(&wanted, &c->injection, err))
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
	if (c->injection) {
		switch (injection_take(c->injection, c->launch.pid, release, &c->launch, err)) {
		case INJECTION_FAILED: c->launch.pid = 0; return false;
		case INJECTION_NOT_STARTED: /* launch_go() says why */
		case INJECTION_TAKEN: break;
		}
	}
	c->began_ns = counting_now_ns();
	c->began_ticks = c->times_calls ? counting_now_ticks() : 0;
	return launch_go(&c->launch, &c->command, err);
}
