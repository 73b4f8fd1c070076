/* See counters.h. What is going to be measured, and the way through it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "measure/measure.h"
#include "session/counters_inside.h"
#include "session/surroundings.h"
#include "store/runs/verdicts.h"

/* Counted besides, of the same executions: what makes a counter that counts interrupts show more. */
static const char *const account[COUNTERS_ACCOUNT] = {"minor-faults", "major-faults", "voluntary-switches",
						      "involuntary-switches", "cpu-time"};

/* ---- events ---- */

static bool has_name(const char *list, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	return false;
}

static bool collect_names(struct counters_study *c, struct error *err)
{
	for (size_t k = 0; k < c->kernels.count; k++)
		for (size_t p = 0; p < c->kernels.all[k].n_predictions; p++) {
			const char *name = c->kernels.all[k].predictions[p].event;
			bool known = false;
			for (size_t i = 0; i < c->names.count; i++)
				known |= strcmp(c->names.items[i], name) == 0;
			if (!known && !vec_push(&c->names, name))
				return error_no_memory(err);
		}
	return true;
}

static bool is_of_software(const struct event_definition *d)
{
	return d->encodings && d->encodings[0] && strncmp(d->encodings[0], "software:", 9) == 0;
}

static bool add_not_measured(struct counters_study *c, struct counters_backend *b, const char *label,
			     const struct availability *here, struct error *err)
{
	struct counters_not_measured row = {
		.label = label, .why = arena_strdup(&c->found.arena, here->why), .silent = here->silent};
	for (size_t i = 0; i < b->not_measured.count; i++)
		if (strcmp(b->not_measured.items[i].label, label) == 0)
			return true;
	return (row.why && vec_push(&b->not_measured, row)) || error_no_memory(err);
}

/* Adds the event where the backend counts it. */
static bool add_event(struct counters_study *c, struct counters_backend *b, const char *request, struct error *err)
{
	struct counters_event e = {0};
	struct availability here = {.state = READING_COUNTED};
	if (!event_parse(b->session.events, request, &e.event, err))
		return false;
	const struct event_definition *d = e.event.definition;
	/* kernels predict what a program does at the user level */
	e.name = d && !(e.event.levels == LEVEL_KERNEL) ? d->name : "";
	for (size_t i = 0; i < b->events.count; i++)
		if (strcmp(b->events.items[i].event.label, e.event.label) == 0)
			return true;
	if (d && d->counted_by == COUNTED_BY_PROCESS) {
		here.source = SOURCE_OS;
		if (b->exact) {
			here.state = READING_UNSUPPORTED;
			snprintf(here.why, sizeof here.why, "it would include the engine's own work");
		}
	} else {
		b->session.operations->available(b->session.backend, &e.event, &here);
	}
	if (here.state != READING_COUNTED && here.state != READING_UNPROVEN)
		return !(here.silent || c->asked.events) || add_not_measured(c, b, e.event.label, &here, err);
	e.unproven = here.state == READING_UNPROVEN;
	e.source = here.source;
	return vec_push(&b->events, e) || error_no_memory(err);
}

static bool add_default_events(struct counters_study *c, struct counters_backend *b, struct error *err)
{
	char request[128];
	bool done = true;
	for (size_t i = 0; done && i < c->names.count; i++) {
		const struct event_definition *d = event_table_find(b->session.events, c->names.items[i]);
		if (!d)
			continue;
		bool levels = d->counted_by != COUNTED_BY_PROCESS;
		snprintf(request, sizeof request, "%s%s", d->name, levels ? ":u" : "");
		done = add_event(c, b, request, err);
		if (done && !b->exact && levels && is_of_software(d))
			done = add_event(c, b, d->name, err);
	}
	return done && (b->exact || (add_event(c, b, "cycles:u", err) && add_event(c, b, "instructions:k", err)));
}

static bool add_asked_events(struct counters_study *c, struct counters_backend *b, struct error *err)
{
	struct event *events = NULL;
	size_t n = 0;
	bool done = event_parse_list(b->session.events, c->asked.events, &events, &n, err);
	for (size_t i = 0; done && i < n; i++)
		done = add_event(c, b, events[i].text, err);
	free(events);
	return done;
}

/* The events in one array, as measure_count() takes them. */
static bool join_events(struct counters_backend *b, struct error *err)
{
	b->first_account = b->events.count;
	b->n_account = b->account && b->events.count ? COUNTERS_ACCOUNT : 0;
	b->all = calloc(b->first_account + COUNTERS_ACCOUNT, sizeof *b->all);
	if (!b->all)
		return error_no_memory(err);
	for (size_t i = 0; i < b->events.count; i++)
		b->all[i] = b->events.items[i].event;
	for (size_t i = 0; i < b->n_account; i++)
		if (!event_parse(b->session.events, account[i], &b->all[b->first_account + i], err))
			return false;
	return true;
}

static bool open_backend(struct counters_study *c, const char *on, struct error *err)
{
	if (c->n_backends == COUNTERS_BACKENDS_MOST)
		return error_set(err, ERROR_USAGE, "at most %d backends are verified at once",
				 COUNTERS_BACKENDS_MOST);
	struct counters_backend *b = &c->backends[c->n_backends++];
	b->on = on;
	b->exact = strcmp(on, "exact") == 0 || strncmp(on, "model", 5) == 0;
	b->account = !b->exact;
	if (!session_open(&b->session, NULL, on, NULL, 0, err))
		return false;
	/* by the name that was asked for: a machine of a file has its path */
	const char *named = strchr(on, ':');
	b->modelled = b->session.n_machines == 1 && c->asked.machine;
	if (b->modelled && !c->asked.machine(named ? named + 1 : b->session.machines[0], &b->machine, err))
		return false;
	return (c->asked.events ? add_asked_events(c, b, err) : add_default_events(c, b, err)) &&
	       join_events(b, err);
}

static bool is_backend(const char *name)
{
	for (size_t i = 0; i < backend_kinds(); i++)
		if (strcmp(backend_kind(i)->name, name) == 0)
			return true;
	return false;
}

static bool open_backends(struct counters_study *c, struct error *err)
{
	const char *list = c->asked.on ? c->asked.on : is_backend("exact") ? "exact,perf" : "perf";
	char *copy = arena_strdup(&c->found.arena, list), *rest = copy, *on;
	c->found.on = arena_strdup(&c->found.arena, list);
	if (!copy || !c->found.on)
		return error_no_memory(err);
	while ((on = strsep(&rest, ",")))
		if (!open_backend(c, on, err))
			return false;
	size_t events = 0;
	for (size_t i = 0; i < c->n_backends; i++)
		events += c->backends[i].events.count;
	if (events)
		return true;
	error_set(err, ERROR_UNSUPPORTED, "nothing that '%s' counts here is to be verified", list);
	const struct counters_backend *last = &c->backends[c->n_backends - 1];
	if (last->not_measured.count)
		error_hint(err, "%s by '%s': %s", last->not_measured.items[0].label, last->on,
			   last->not_measured.items[0].why);
	return false;
}

/* ---- kernels and sizes ---- */

/* Is it predicted to count anything, at the kernel's largest size? */
static bool moves_on(const struct kernel *kernel, const char *event, const struct kernel_machine *machine)
{
	double value;
	uint64_t n = kernel->n_quick ? kernel->quick[kernel->n_quick - 1] : kernel->n_most;
	return (kernel_predict(kernel, event, n, machine, &value, NULL) && value > 0) ||
	       (kernel_predict_region(kernel, event, n, machine, &value, NULL) && value > 0);
}

static bool moves(const struct counters_study *c, const struct kernel *kernel, const char *event)
{
	bool found = moves_on(kernel, event, NULL);
	for (size_t b = 0; !found && b < c->n_backends; b++)
		found = c->backends[b].modelled && moves_on(kernel, event, &c->backends[b].machine);
	return found;
}

/* Counters of the machine come first: the engine has tests of its own. */
static size_t weight_of(const struct counters_study *c, const char *event)
{
	for (size_t b = 0; b < c->n_backends; b++)
		for (size_t i = 0; !c->backends[b].exact && i < c->backends[b].events.count; i++)
			if (strcmp(c->backends[b].events.items[i].name, event) == 0)
				return 1000;
	return 1;
}

/* The kernels to run: all that can; of a quick look as few as reach the most events, then in their order. */
static void choose_kernels(const struct counters_study *c, bool *chosen)
{
	size_t n = 0, most = c->asked.quick && !c->asked.kernels ? COUNTERS_QUICK_KERNELS : c->kernels.count;
	bool *reached = calloc(c->names.count + 1, sizeof *reached);
	while (reached && n < most) {
		size_t best = c->kernels.count, best_new = 0;
		for (size_t k = 0; k < c->kernels.count; k++) {
			const struct kernel *kernel = &c->kernels.all[k];
			size_t new = 1;
			if (chosen[k] || kernel->why_not || !kernel->path ||
			    (c->asked.kernels && !has_name(c->asked.kernels, kernel->name)))
				continue;
			for (size_t e = 0; e < c->names.count; e++)
				if (!reached[e] && moves(c, kernel, c->names.items[e]))
					new += weight_of(c, c->names.items[e]);
			if (new > best_new)
				best = k, best_new = new;
		}
		if (best == c->kernels.count)
			break;
		chosen[best] = true;
		n++;
		for (size_t e = 0; e < c->names.count; e++)
			reached[e] |= moves(c, &c->kernels.all[best], c->names.items[e]);
	}
	free(reached);
}

static bool is_done(const struct counters_study *c, const struct counters_step *step)
{
	for (size_t i = 0; i < c->found.resumed; i++) {
		const struct kept_point *p = &c->found.points.items[i];
		bool exact = p->source == SOURCE_EXACT || p->source == SOURCE_MODEL;
		if (p->size == step->size && strcmp(p->kernel, step->kernel->name) == 0 &&
		    strcmp(p->interface, counters_interface_name(step->interface)) == 0 &&
		    exact == step->backend->exact)
			return true;
	}
	return false;
}

static bool add_steps(struct counters_study *c, struct counters_backend *b, const struct kernel *kernel,
		      enum kernel_interface interface, struct error *err)
{
	const uint64_t *sizes = c->asked.quick ? kernel->quick : kernel->sizes;
	size_t n = c->asked.quick ? kernel->n_quick : kernel->n_sizes,
	       take = c->asked.quick && n > COUNTERS_QUICK_SIZES ? COUNTERS_QUICK_SIZES : n;
	for (size_t i = 0; i < take; i++) {
		size_t at = take > 1 ? (i * (n - 1) + (take - 1) / 2) / (take - 1) : 0;
		struct counters_step step = {
			.backend = b, .kernel = kernel, .interface = interface, .size = sizes[at]};
		step.done = is_done(c, &step);
		if (!vec_push(&c->steps, step))
			return error_no_memory(err);
	}
	return true;
}

static bool predicts(const struct counters_study *c, const struct kernel *kernel, const struct counters_backend *b,
		     enum kernel_interface interface)
{
	double factor;
	for (size_t i = 0; i < kernel->n_predictions; i++)
		for (size_t e = 0; e < b->events.count; e++)
			if ((kernel->predictions[i].interfaces & 1U << interface) &&
			    strcmp(kernel->predictions[i].event,
				   counters_predicted_by(c, b->events.items[e].name, &factor)) == 0)
				return true;
	return false;
}

/* Is anything known of what this backend counts there: by arithmetic, or by an engine that ran before? */
static bool tells(const struct counters_study *c, const struct kernel *kernel, const struct counters_backend *b,
		  enum kernel_interface interface)
{
	if (predicts(c, kernel, b, interface))
		return true;
	for (const struct counters_backend *engine = c->backends; engine < b; engine++)
		for (size_t i = 0; engine->exact && i < engine->events.count; i++)
			for (size_t k = 0; k < b->events.count; k++)
				if (strcmp(engine->events.items[i].event.label, b->events.items[k].event.label) ==
				    0)
					return true;
	return false;
}

/* Is it predicted to count anything in the kernel's region, of what this backend counts in regions? */
static bool moves_in_region(const struct counters_study *c, const struct counters_backend *b,
			    const struct kernel *kernel, const char *name)
{
	uint64_t n = kernel->n_quick ? kernel->quick[kernel->n_quick - 1] : kernel->n_most;
	bool counted = false;
	double factor, value;
	for (size_t i = 0; i < b->events.count && !counted; i++) {
		const struct counters_event *e = &b->events.items[i];
		bool of_process = e->event.definition && e->event.definition->counted_by == COUNTED_BY_PROCESS;
		counted = !of_process && strcmp(counters_predicted_by(c, e->name, &factor), name) == 0;
	}
	return counted && kernel_predict_region(kernel, name, n, NULL, &value, NULL) && value > 0;
}

/* To put a kernel's probes in and to take them out, Linux waits some hundred milliseconds for all CPUs. So a quick
 * look at counters takes regions of those kernels alone that move an event which fewer than COUNTERS_QUICK_REGIONS
 * moved before. seen: [c->names] */
static bool adds_region(const struct counters_study *c, const struct counters_backend *b,
			const struct kernel *kernel, unsigned *seen)
{
	bool adds = false;
	if (b->exact || !c->asked.quick || c->asked.kernels)
		return true;
	for (size_t i = 0; i < c->names.count; i++)
		adds |= seen[i] < COUNTERS_QUICK_REGIONS && moves_in_region(c, b, kernel, c->names.items[i]);
	for (size_t i = 0; adds && i < c->names.count; i++)
		seen[i] += moves_in_region(c, b, kernel, c->names.items[i]);
	return adds;
}

static bool plan_backend(struct counters_study *c, struct counters_backend *b, const bool *chosen,
			 struct error *err)
{
	unsigned *seen = calloc(c->names.count + 1, sizeof *seen);
	bool done = seen != NULL || error_no_memory(err);
	for (size_t k = 0; done && b->events.count && k < c->kernels.count; k++)
		for (int i = 0; done && chosen[k] && i < KERNEL_INTERFACES; i++) {
			const struct kernel *kernel = &c->kernels.all[k];
			bool region = i == KERNEL_REGION;
			if (region && (!kernel->region || !kernel->region_path ||
				       !b->session.operations->regions || !adds_region(c, b, kernel, seen)))
				continue;
			if (tells(c, kernel, b, (enum kernel_interface)i))
				done = add_steps(c, b, kernel, (enum kernel_interface)i, err);
		}
	free(seen);
	return done;
}

static bool plan(struct counters_study *c, struct error *err)
{
	bool *chosen = calloc(c->kernels.count + 1, sizeof *chosen), done = chosen != NULL;
	if (!chosen)
		return error_no_memory(err);
	choose_kernels(c, chosen);
	for (size_t k = 0; k < c->kernels.count; k++)
		c->found.kernels += chosen[k];
	for (size_t b = 0; done && b < c->n_backends; b++)
		done = plan_backend(c, &c->backends[b], chosen, err);
	free(chosen);
	return done &&
	       (c->steps.count ||
		error_set(err, ERROR_NOT_FOUND, "no kernel that can run here tells what these events must count"));
}

static bool check_kernels(const struct counters_study *c, struct error *err)
{
	char name[64];
	for (const char *at = c->asked.kernels; at && *at; at += strcspn(at, ","), at += *at == ',') {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
		const struct kernel *kernel = kernels_find(&c->kernels, name);
		if (!kernel) {
			error_set(err, ERROR_USAGE, "there is no kernel '%s'", name);
			return error_hint(err, "'tare list kernels' shows them");
		}
		if (kernel->why_not)
			return error_set(err, ERROR_UNSUPPORTED, "the kernel '%s' cannot run here: %s", name,
					 kernel->why_not);
	}
	return true;
}

/* ---- begin and end ---- */

/* What was asked for, as a text: an interrupted verification goes on where it is the same. */
static bool describe_selection(struct counters_study *c, struct error *err)
{
	struct str text = {0};
	if (c->asked.kernels)
		str_appendf(&text, "kernels %s", c->asked.kernels);
	if (c->asked.events)
		str_appendf(&text, "%sevents %s", text.length ? "; " : "", c->asked.events);
	if (c->asked.cycles_per_instruction > 0)
		str_appendf(&text, "%scpi %g", text.length ? "; " : "", c->asked.cycles_per_instruction);
	c->found.selection = text.failed ? NULL : arena_strdup(&c->found.arena, text.length ? text.text : "");
	str_free(&text);
	return c->found.selection || error_no_memory(err);
}

static bool open_store(struct counters_study *c, struct error *err)
{
	struct error why = {0};
	if (!c->asked.keeping || c->asked.keeping->off)
		return true;
	if (!keep_open(c->asked.keeping, RUNS_WRITE, &c->runs, &why)) {
		if (why.text[0])
			*err = why;
		return why.code == ERROR_NOT_FOUND && !why.text[0];
	}
	if (!c->asked.anew && !runs_resume_verification(c->runs, &c->found, err))
		return false;
	c->found.resumed = c->found.points.count;
	c->found.resumed_seconds = c->found.seconds;
	return true;
}

/* Room for all points at once, which the executions' processes do not inherit: to copy the entries of a full
 * grid's 40 MB at each fork takes as long as the execution. A block beyond malloc's largest threshold is a mapping
 * of its own (mallopt(3), M_MMAP_THRESHOLD): nothing else is in it, and the advice ends with it. */
static bool reserve_points(struct counters_study *c, struct error *err)
{
	static const size_t THRESHOLD_MOST = 4 * 1024 * 1024 * sizeof(long);
	size_t n = c->found.points.count, page = (size_t)sysconf(_SC_PAGESIZE);
	struct kept_point *items;
	for (size_t i = 0; i < c->steps.count; i++)
		n += c->steps.items[i].backend->events.count;
	if (n * sizeof *items <= THRESHOLD_MOST)
		return true;
	if (!(items = realloc(c->found.points.items, n * sizeof *items)))
		return error_no_memory(err);
	c->found.points.items = items;
	c->found.points.capacity = n;
	uintptr_t from = ((uintptr_t)items + page - 1) / page * page, to = (uintptr_t)(items + n) / page * page;
	madvise((void *)from, to - from, MADV_DONTFORK);
	return true;
}

bool counters_begin(const struct counters_asked *asked, struct counters_study **out, struct error *err)
{
	struct counters_study *c = calloc(1, sizeof *c);
	struct surroundings around = {0};
	*out = NULL;
	if (!c)
		return error_no_memory(err);
	c->asked = *asked;
	c->found.grid = asked->quick ? "quick" : "full";
	c->found.tare_version = TARE_VERSION;
	c->found.started_unix = (uint64_t)time(NULL);
	surroundings_find(&c->found.arena, &around);
	c->found.microcode = around.microcode;
	if ((measure_machine_facts(&c->found.arena, &c->found.facts) || error_no_memory(err)) &&
	    kernels_load(NULL, &c->kernels, err) && check_kernels(c, err) && collect_names(c, err) &&
	    open_backends(c, err) && describe_selection(c, err) && open_store(c, err) && plan(c, err) &&
	    reserve_points(c, err)) {
		*out = c;
		return true;
	}
	counters_end(c);
	return false;
}

void counters_end(struct counters_study *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_backends; i++) {
		vec_free(&c->backends[i].events);
		vec_free(&c->backends[i].not_measured);
		free(c->backends[i].all);
		session_close(&c->backends[i].session);
	}
	if (c->runs)
		runs_close(c->runs);
	vec_free(&c->steps);
	vec_free(&c->names);
	kernels_free(&c->kernels);
	verification_free(&c->found);
	free(c);
}

const struct verification *counters_found(const struct counters_study *c) { return &c->found; }

/* ---- the way through ---- */

bool counters_interrupted(const struct counters_study *c, struct error *err)
{
	return c->asked.interrupt && *c->asked.interrupt && !error_set(err, ERROR_SYSTEM, "interrupted");
}

static void tell(const struct counters_study *c, size_t at, double took)
{
	double before = 0, after = 0;
	for (size_t i = 0; i < c->steps.count; i++)
		if (!c->steps.items[i].done)
			*(i < at ? &before : &after) += c->steps.items[i].seconds;
	if (c->asked.progress)
		c->asked.progress(c->asked.progress_context, at, c->steps.count,
				  !(before + after > 0)    ? -1
				  : took > 1 && before > 0 ? after * took / before
							   : after,
				  c->steps.items[at].kernel->name);
}

static bool keep_points(struct counters_study *c, size_t from, struct error *err)
{
	return !c->runs || c->found.points.count == from || runs_put_points(c->runs, &c->found, from, err);
}

bool counters_run(struct counters_study *c, struct error *err)
{
	struct clock clock = clock_monotonic();
	uint64_t begin = clock_now_ns(&clock);
	double before = c->found.resumed_seconds, cpu_before = counters_cpu_seconds();
	size_t kept = c->found.points.count;
	bool done = !c->runs || c->found.id || runs_begin_verification(c->runs, &c->found, err);
	for (size_t i = 0; done && i < c->steps.count; i++) {
		const struct counters_step *step = &c->steps.items[i];
		double took = (double)(clock_now_ns(&clock) - begin) / 1e9;
		tell(c, i, took);
		if (!step->done)
			done = !counters_interrupted(c, err) &&
			       counters_measure(c, step, counters_repetitions(c, step), err);
		c->found.seconds = before + (double)(clock_now_ns(&clock) - begin) / 1e9;
		c->found.cpu_seconds = counters_cpu_seconds() - cpu_before;
		if (i + 1 == c->steps.count || c->steps.items[i + 1].kernel != step->kernel || !done) {
			struct error why = {0};
			if (!keep_points(c, kept, done ? err : &why))
				return false;
			kept = c->found.points.count;
		}
	}
	return done;
}
