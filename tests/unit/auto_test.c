/* backend/auto: who counts an event, what shares an execution, and what is left out of a plain run. The members are
 * scripted: no process runs. */
#include "backend/auto.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* A member counts the events that its letters begin with, each as its place in the letters times 100. */
struct backend {
	const char *counts; /* "ab": events that begin with a or b */
	const char *denied;
	enum source source;
	size_t prepared, closed;
	bool fail_stop;
	bool no_probes; /* regions are refused */
};

struct counting {
	struct backend *backend;
	const struct event *events[16];
	size_t n, rows;
};

static void fake_available(struct backend *b, const struct event *event, struct availability *out)
{
	*out = (struct availability){.state = READING_UNSUPPORTED, .why = "no such counter"};
	if (strchr(b->counts, event->text[0]))
		*out = (struct availability){.state = READING_COUNTED, .source = b->source};
	else if (b->denied && strchr(b->denied, event->text[0]))
		*out = (struct availability){.state = READING_DENIED, .why = "paranoid"};
}

static bool fake_fits(struct backend *b, const struct event *const *events, size_t n)
{
	(void)b;
	(void)events;
	return n <= 3;
}

static bool fake_prepare(struct backend *b, const struct target *target, const struct event *const *events,
			 size_t n, struct counting **out, struct error *err)
{
	*out = NULL;
	if (target->n_regions && b->no_probes)
		return error_set(err, ERROR_PERMISSION, "scripted");
	struct counting *c = calloc(1, sizeof *c);
	c->backend = b;
	c->n = n;
	c->rows = target->per_thread ? 2 : 1;
	memcpy(c->events, events, n * sizeof *events);
	b->prepared++;
	*out = c;
	return true;
}

static pid_t fake_process(const struct counting *c)
{
	(void)c;
	return 0;
}

static bool fake_go(struct counting *c, struct error *err)
{
	(void)c;
	(void)err;
	return true;
}

static void read_all(const struct counting *c, struct reading *readings, pid_t tid)
{
	for (size_t i = 0; i < c->n; i++) {
		const char *place = strchr(c->backend->counts, c->events[i]->text[0]);
		readings[i] = (struct reading){.state = READING_COUNTED,
					       .source = c->backend->source,
					       .count_raw = (uint64_t)(place - c->backend->counts + 1) * 100,
					       .tid = tid,
					       .cpu = -1};
	}
}

static bool fake_read_running(struct counting *c, struct reading *readings, struct error *err)
{
	(void)err;
	read_all(c, readings, 0);
	return true;
}

static bool fake_stop(struct counting *c, struct run *run, struct error *err)
{
	if (c->backend->fail_stop)
		return error_set(err, ERROR_SYSTEM, "scripted");
	run->n_events = c->n;
	run->n_rows = c->rows;
	run->readings = arena_alloc(&run->arena, (c->n * c->rows + 1) * sizeof *run->readings);
	for (size_t row = 0; row < c->rows; row++)
		read_all(c, run->readings + row * c->n, c->rows > 1 ? (pid_t)(10 + row) : 0);
	return true;
}

static void fake_end(struct counting *c) { free(c); }

static void fake_close(struct backend *b) { b->closed++; }

// clang-format off: a table, a row a line
static const struct backend_operations counters = {
	.name = "counters",
	.regions = true,
	.available = fake_available,
	.fits = fake_fits,
	.prepare = fake_prepare,
	.process = fake_process,
	.go = fake_go,
	.read_running = fake_read_running,
	.stop = fake_stop,
	.end = fake_end,
	.close = fake_close,
};
static const struct backend_operations engine = {
	.name = "engine",
	.starts_only = true,
	.regions = true,
	.available = fake_available,
	.fits = fake_fits,
	.prepare = fake_prepare,
	.process = fake_process,
	.go = fake_go,
	.read_running = fake_read_running,
	.stop = fake_stop,
	.end = fake_end,
	.close = fake_close,
};
// clang-format on

static const struct event event_a = {.text = "a"}, event_b = {.text = "b"}, event_c = {.text = "c"},
			  event_d = {.text = "d"};

/* Joins an operating system's member (counts os) and an engine (counts c and b). */
static struct backend *join(struct backend *kernel, struct backend *exact)
{
	struct backend_member members[] = {{&counters, kernel}, {&engine, exact}};
	struct backend *b = NULL;
	backend_auto_join(members, 2, &b, NULL);
	return b;
}

/* Who counts one event in an execution with a region: the source; SOURCE_NONE when it is refused. */
static enum source region_source(const struct event *event, bool can_probe, const char *no_edges,
				 const char *engine_counts)
{
	struct backend kernel = {.counts = "a", .source = SOURCE_HW, .no_probes = !can_probe};
	struct backend exact = {.counts = engine_counts, .source = SOURCE_EXACT};
	const struct region_asked asked = {.name = "f", .no_edges = no_edges};
	struct target target = {.kind = TARGET_COMMAND, .regions = &asked, .n_regions = 1};
	struct backend *b = join(&kernel, &exact);
	struct counting *c = NULL;
	struct run run = {0};
	enum source source = SOURCE_NONE;
	if (backend_auto.prepare(b, &target, &event, 1, &c, NULL)) {
		backend_auto.stop(c, &run, NULL);
		source = run.readings[0].source;
		backend_auto.end(c);
	}
	run_free(&run);
	backend_auto.close(b);
	return source;
}

static void regions(void)
{
	ok(region_source(&event_a, true, NULL, "ab") == SOURCE_HW, "a region is counted where its event is");
	ok(region_source(&event_b, true, NULL, "ab") == SOURCE_EXACT, "by the engine, too");
	ok(region_source(&event_a, true, "it jumps", "ab") == SOURCE_EXACT,
	   "one that cannot be probed goes to the engine, if that counts its event");
	ok(region_source(&event_a, false, NULL, "ab") == SOURCE_EXACT,
	   "so does one for which probes are not allowed");
	ok(region_source(&event_a, false, NULL, "b") == SOURCE_NONE,
	   "but nothing is counted otherwise than it can be");
}

/* One execution of three events a, b, c; false when it failed. Fills run. */
static bool execute(struct backend *b, const struct target *target, struct run *run)
{
	const struct event *const events[] = {&event_a, &event_b, &event_c};
	struct counting *c = NULL;
	*run = (struct run){0};
	if (!backend_auto.prepare(b, target, events, 3, &c, NULL))
		return false;
	bool ran = backend_auto.go(c, NULL) && backend_auto.stop(c, run, NULL);
	backend_auto.end(c);
	return ran;
}

static void test_choice(void)
{
	struct backend kernel = {.counts = "a", .denied = "d", .source = SOURCE_OS};
	struct backend exact = {.counts = "cba", .source = SOURCE_EXACT};
	struct backend *b = join(&kernel, &exact);
	struct availability out;
	backend_auto.available(b, &event_a, &out);
	ok(out.state == READING_COUNTED && out.source == SOURCE_OS,
	   "the first member that counts an event counts it");
	backend_auto.available(b, &event_c, &out);
	ok(out.source == SOURCE_EXACT, "what the first cannot count, the next does");
	backend_auto.available(b, &event_d, &out);
	ok(out.state == READING_DENIED && strcmp(out.why, "paranoid") == 0,
	   "of two refusals, the one that more rights would lift is told");
	const struct event *mixed[] = {&event_a, &event_c}, *same[] = {&event_b, &event_c};
	ok(!backend_auto.fits(b, mixed, 2), "events of two members do not share an execution");
	ok(backend_auto.fits(b, same, 2), "events of one member do, when they fit it");
	backend_auto.close(b);
	ok(kernel.closed == 1 && exact.closed == 1, "closing closes the members");
}

static const char *const *fake_machines(struct backend *b, size_t *n)
{
	static const char *const names[] = {"r12000"};
	(void)b;
	*n = 1;
	return names;
}

static void test_machines(void)
{
	static const struct event asked = {.text = "a", .label = "r12000::a", .machine = "r12000"};
	struct backend kernel = {.counts = "a", .source = SOURCE_HW},
		       model = {.counts = "a", .source = SOURCE_MODEL};
	struct backend_operations models = engine;
	struct backend *b = NULL;
	struct availability out;
	models.machines = fake_machines;
	struct backend_member members[] = {{&counters, &kernel}, {&models, &model}};
	backend_auto_join(members, 2, &b, NULL);
	backend_auto.available(b, &asked, &out);
	ok(out.state == READING_COUNTED && out.source == SOURCE_MODEL,
	   "what is asked of a modelled machine is not counted by another member, better as it may be");
	backend_auto.available(b, &event_a, &out);
	ok(out.source == SOURCE_HW, "what is asked of no machine is the first member's");
	backend_auto.close(b);
}

static void test_plain_run(void)
{
	struct backend kernel = {.counts = "a", .source = SOURCE_OS},
		       exact = {.counts = "cb", .source = SOURCE_EXACT};
	struct backend *b = join(&kernel, &exact);
	struct target program = {.kind = TARGET_COMMAND}, process = {.kind = TARGET_PROCESSES};
	struct run run;

	bool ran = execute(b, &program, &run);
	ok(ran && exact.prepared == 1 && kernel.prepared == 0, "a plain run with engine events is the engine's");
	ok(ran && run.n_events == 3 && run.readings[1].count_raw == 200 && run.readings[2].count_raw == 100,
	   "readings come in the order asked for");
	ok(ran && run.readings[0].state == READING_FAILED && strstr(run.readings[0].why, "--several-runs"),
	   "what the kernel counts of the engine's run is not passed off as the program's");
	run_free(&run);

	program.per_thread = true;
	ran = execute(b, &program, &run);
	ok(ran && run.n_rows == 2 && run.readings[3].state == READING_FAILED && run.readings[3].tid == 11 &&
		   run.readings[4].count_raw == 200,
	   "rows of threads keep their places");
	run_free(&run);
	program.per_thread = false;

	ran = execute(b, &process, &run);
	ok(ran && kernel.prepared == 1 && run.readings[0].count_raw == 100 &&
		   run.readings[1].state == READING_FAILED,
	   "a running process is counted by a member that can attach; the engine's events say why not");
	run_free(&run);

	kernel.source = SOURCE_HW;
	ran = execute(b, &program, &run);
	ok(ran && run.readings[0].state == READING_COUNTED && run.readings[1].state == READING_FAILED,
	   "a hardware counter is not disturbed by the engine in the same run");
	run_free(&run);

	exact.fail_stop = kernel.fail_stop = true;
	ok(!execute(b, &program, &run), "a member's failure is the whole's");
	run_free(&run);
	backend_auto.close(b);
}

static void test_sample(void)
{
	struct backend kernel = {.counts = "a", .source = SOURCE_OS},
		       exact = {.counts = "cb", .source = SOURCE_EXACT};
	struct backend *b = join(&kernel, &exact);
	struct target program = {.kind = TARGET_COMMAND};
	const struct event *const events[] = {&event_a, &event_b};
	struct counting *c = NULL;
	struct reading readings[2] = {0};
	bool ran = backend_auto.prepare(b, &program, events, 2, &c, NULL) &&
		   backend_auto.read_running(c, readings, NULL);
	ok(ran && readings[0].state == READING_FAILED && readings[1].count_raw == 200,
	   "a sample on the way has the same places");
	backend_auto.end(c);
	struct error err = {0};
	struct backend *none = NULL;
	ok(!backend_auto_join(NULL, 0, &none, &err) && !none && err.code == ERROR_UNSUPPORTED,
	   "nobody to join is an error");
	backend_auto.close(b);
}

int main(void)
{
	test_choice();
	test_machines();
	test_plain_run();
	test_sample();
	regions();
	return done();
}
