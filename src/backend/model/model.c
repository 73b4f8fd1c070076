/*
 * The backend's face, and one execution's models:
 *
 *     available: exact's events, else a row's formula bound to a machine
 *     prepare:   struct modelling (the machines that are asked of, the bound events) ──► engine/counting.h ──► readings
 *
 * What always holds:
 *  1. A machine runs only if an event is asked of it; of a machine that runs, prediction and translation only if
 *     an event needs them (no count of the caches depends on them).
 *  2. A reading from a model carries the machine's name.
 *  3. An event that names no machine is the first machine's. (To have it of each, ask for NAME::EVENT of
 *     each.)
 */
#include "backend/model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/available.h"
#include "backend/engine/counting.h"
#include "backend/engine/trial.h"
#include "backend/model/events.h"
#include "backend/model/sampling.h"
#include "model/declare/machines.h"

enum {
	MACHINES_MOST = 8, /* of one run: their models share the caches of the real machine */
	GROUPS_MOST = 64,  /* of one machine's sets, where they are sampled */
};

struct declared {
	char name[256]; /* as it was asked for: a name or a path */
	struct machine machine;
	bool looked_up, found;
	struct error why;
};

struct backend {
	struct declared declared[MACHINES_MOST];
	const char *names[MACHINES_MOST]; /* of the machines themselves, for machines() */
	size_t n;
	struct engine_trial trial, stream_trial;
};

/* ---- which machines ---- */

/* The host is looked up when an event needs it: `auto` opens this backend whenever something is counted. */
static bool look_up(struct declared *d, struct error *err)
{
	if (!d->looked_up) {
		d->looked_up = true;
		d->found = machine_find(d->name, &d->machine, &d->why);
	}
	if (!d->found && err)
		*err = d->why;
	return d->found;
}

static bool no_name(struct error *err)
{
	char names[400] = "";
	const char *const *all = machine_names();
	for (size_t i = 0; all[i]; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", all[i]);
	error_set(err, ERROR_USAGE, "no machine is named: use --on model:NAME");
	return error_hint(err, "there are: %s; or a machine file's path", names);
}

static bool add_machine(struct backend *b, const char *name, size_t length, struct error *err)
{
	/* "model:r12000,model:host": the prefix may be said again */
	if (length > 6 && !strncmp(name, "model:", 6))
		name += 6, length -= 6;
	if (length == 0)
		return no_name(err);
	if (b->n == MACHINES_MOST)
		return error_set(err, ERROR_LIMIT, "more than %d machines in one run", MACHINES_MOST);
	struct declared *d = &b->declared[b->n];
	if (length >= sizeof d->name)
		return error_set(err, ERROR_USAGE, "the machine's name '%.*s...' is too long", 40, name);
	memcpy(d->name, name, length);
	if (strcmp(d->name, "host") != 0 && !look_up(d, err)) {
		if (err && err->code == ERROR_NOT_FOUND)
			err->code = ERROR_USAGE;
		return false;
	}
	b->names[b->n] = d->looked_up ? d->machine.name : d->name;
	for (size_t i = 0; i < b->n; i++)
		if (!strcmp(b->names[i], b->names[b->n]))
			return error_set(err, ERROR_USAGE, "the machine '%s' is named twice", b->names[i]);
	b->n++;
	return true;
}

static void close_model(struct backend *b) { free(b); }

static bool open_model(const char *argument, struct backend **out, struct error *err)
{
	*out = NULL;
	if (!argument || !*argument)
		return no_name(err);
	struct backend *b = calloc(1, sizeof *b);
	if (!b)
		return error_no_memory(err);
	b->stream_trial.traced = true;
	for (const char *at = argument;;) {
		size_t length = strcspn(at, ",");
		if (!add_machine(b, at, length, err)) {
			close_model(b);
			return false;
		}
		if (!at[length])
			break;
		at += length + 1;
	}
	*out = b;
	return true;
}

static const char *const *machines(struct backend *b, size_t *n)
{
	*n = b->n;
	return b->names;
}

static const char *family(struct backend *b, size_t machine)
{
	return machine < b->n && look_up(&b->declared[machine], NULL) ? model_family(&b->declared[machine].machine)
								      : NULL;
}

/* ---- what can be counted ---- */

/* The machine that an event is asked of; NULL with the reason. */
static struct declared *machine_of(struct backend *b, const struct event *event, struct availability *out)
{
	struct error err = {0};
	size_t i = 0;
	while (event->machine && i < b->n && strcmp(b->names[i], event->machine) != 0)
		i++;
	/* an event names its machine as clearly as --on does */
	if (i == b->n && !add_machine(b, event->machine, strlen(event->machine), &err)) {
		snprintf(out->why, sizeof out->why, "%.250s", err.text);
		snprintf(out->remedy, sizeof out->remedy, "%.250s", err.hint);
		return NULL;
	}
	if (!look_up(&b->declared[i], &err)) {
		snprintf(out->why, sizeof out->why, "%.250s", err.text);
		snprintf(out->remedy, sizeof out->remedy, "%.250s", err.hint);
		return NULL;
	}
	return &b->declared[i];
}

static void available(struct backend *b, const struct event *event, struct availability *out)
{
	struct model_event bound;
	if (exact_event_find(event)) {
		exact_event_available(
			event, exact_event_needs_trace(exact_event_find(event)) ? &b->stream_trial : &b->trial,
			out);
		return;
	}
	*out = (struct availability){.state = READING_UNSUPPORTED};
	struct declared *d = machine_of(b, event, out);
	if (!d)
		return;
	if (!event->definition || !(event->definition->counted_by & COUNTED_BY_MODEL)) {
		snprintf(out->why, sizeof out->why, "neither the engine nor a machine model counts '%.100s'",
			 event->label);
		return;
	}
	if (!model_event_bind(event->definition, &d->machine, &bound, out->why, sizeof out->why))
		return;
	if (!trial_passed(&b->stream_trial)) {
		out->prevented = true;
		snprintf(out->why, sizeof out->why, "%.250s", b->stream_trial.why);
		snprintf(out->remedy, sizeof out->remedy, "%.250s", b->stream_trial.remedy);
		return;
	}
	/* last: what cannot be counted cannot at any level, and that is what a reader has to know */
	if (exact_event_level(event, out))
		*out = (struct availability){.state = READING_COUNTED, .source = SOURCE_MODEL};
}

static bool only_modelled(struct backend *b, const struct event *event)
{
	(void)b;
	return event->definition && event->definition->model && !exact_event_find(event);
}

/* ---- one execution ---- */

struct modelling {
	/* [n], and behind those, where sets are sampled, counts of each one's groups */
	struct model_setup machines[MACHINES_MOST * (1 + GROUPS_MOST)];
	size_t n, n_groups;
	unsigned share; /* of groups one in so many is modelled; 0: all sets */
	uint64_t seed;
	struct model_event *events; /* as many as the execution has; those that are modelled are filled */
	struct machine declared[MACHINES_MOST]; /* as they are without what nobody asked for taken out */
	struct model_event asked;               /* by a program, last */
};

static bool value_of(void *context, const void *modelled, const struct model_counts *counts, uint64_t *out,
		     const char **why)
{
	(void)context;
	return model_event_value(modelled, counts, out, why);
}

static bool estimate(void *context, const void *modelled, size_t machine, const struct model_counts *counts,
		     struct arena *arena, struct reading *r, const char **why)
{
	const struct modelling *m = context;
	return sampling_read(modelled, &m->machines[machine].machine, &m->machines[machine].options,
			     &counts[machine], arena, r, why);
}

static bool conserves(void *context, size_t machine, const struct model_counts *counts, const char **why)
{
	const struct modelling *m = context;
	struct model_counts sum;
	if (machine >= m->n)
		return true;
	if (m->share) {
		sampling_sum(&m->machines[machine].options, counts, &sum);
		counts = &sum;
	}
	return model_conserves(&m->machines[machine].machine, &m->machines[machine].options, counts, why);
}

static size_t watches_of(void *context, const void *modelled, struct model_watch *out, size_t most, uint8_t *minus)
{
	(void)context;
	return model_event_watches(modelled, out, most, minus);
}

/* A machine of the run that counts the event: the named one, or the first. */
static bool resolve(void *context, const struct event *event, struct execution_event *out, char *why, char *hint,
		    size_t size)
{
	struct modelling *m = context;
	size_t i = 0;
	while (event->machine && i < m->n && strcmp(m->machines[i].machine.name, event->machine) != 0)
		i++;
	if (i == m->n) {
		snprintf(why, size, "the machine '%.60s' is not modelled in this run", event->machine);
		snprintf(hint, size, "run the program by 'tare count --on model:%.60s'", event->machine);
		return false;
	}
	if (m->share) {
		snprintf(why, size,
			 "sets of '%.60s' are sampled in this run, and nothing of it is counted by place",
			 m->machines[i].machine.name);
		snprintf(hint, size, "run the program without --sampled");
		return false;
	}
	struct model_event *bound = &m->asked;
	const struct model_options *options = &m->machines[i].options;
	if (!model_event_bind(event->definition, &m->declared[i], bound, why, size))
		return false;
	bool runs = model_event_bind(event->definition, &m->machines[i].machine, bound, why, size) &&
		    !(options->no_branches && model_event_uses(bound, MODEL_BRANCH)) &&
		    !(!options->classify && model_event_classifies(bound)) &&
		    !(!options->orders && model_event_orders(bound)) &&
		    !(!options->in_step && m->machines[i].machine.coherent && model_event_shares(bound));
	if (!runs) {
		snprintf(why, size,
			 "this part of '%.60s' is not modelled in this run: no event of it was asked for",
			 m->machines[i].machine.name);
		snprintf(hint, size, "also name it to tare count: -e %.100s", event->label);
		return false;
	}
	out->modelled = bound, out->machine = i;
	return true;
}

static const char *name_of(void *context, size_t machine)
{
	return ((const struct modelling *)context)->machines[machine].machine.name;
}

static void release(void *context)
{
	struct modelling *m = context;
	if (m)
		free(m->events);
	free(m);
}

__attribute__((format(printf, 4, 5))) static bool say(struct run *run, struct result_note *lines,
						      enum note_rank rank, const char *format, ...)
{
	char text[400];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	lines[run->n_remarks] = (struct result_note){arena_strdup(&run->arena, text), rank};
	return lines[run->n_remarks++].text != NULL;
}

static bool several_threads(const struct view *view, bool children)
{
	for (size_t i = 0; i < view->n_processes; i++)
		if ((children || !view->processes[i].descendant) && view->processes[i].n_threads > 1)
			return true;
	return false;
}

/* "4 KiB", "4 KiB (r10000: 16 KiB)" */
static void name_pages(const struct modelling *m, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "4 KiB"), others = 0;
	for (size_t i = 0; i < m->n && used < size; i++)
		if (m->machines[i].machine.page_bytes > 4096)
			used += (size_t)snprintf(text + used, size - used, "%s%.20s: %u KiB",
						 others++ ? ", " : " (", m->machines[i].machine.name,
						 m->machines[i].machine.page_bytes >> 10);
	if (others && used < size)
		snprintf(text + used, size - used, ")");
}

/* How the threads' accesses were interleaved: in short, and in full. */
static bool remark_threads(struct run *run, struct result_note *lines, bool in_step)
{
	if (in_step)
		return say(run, lines, NOTE_READ,
			   "threads were kept in step: the misses that they cause each other vary from run to "
			   "run") &&
		       say(run, lines, NOTE_DETAIL,
			   "threads in step: the model takes a few basic blocks of accesses from each in turn; "
			   "invalidations, interventions and sharing misses are those of this interleaving, and "
			   "vary from run to run, by half where threads meet only for milliseconds on a busy "
			   "machine; the cores of a real machine may take lines from each other more often, or "
			   "less "
			   "often");
	return say(run, lines, NOTE_READ,
		   "threads were not kept in step: they cause each other fewer misses than on real cores") &&
	       say(run, lines, NOTE_DETAIL,
		   "threads: the others see the accesses of a thread a buffer at a time; the lines that they take "
		   "from each other, and the misses that this causes, are far fewer than on cores that run side "
		   "by "
		   "side, and vary from run to run; with -e coherence-misses, threads are kept in step");
}

static bool remark(void *context, const struct view *view, bool children, struct run *run)
{
	const struct modelling *m = context;
	struct result_note *lines = arena_alloc(&run->arena, (m->n + 4) * sizeof *lines);
	bool coherent = false, in_step = false;
	char pages[64];
	if (!lines)
		return false;
	run->remarks = lines;
	for (size_t i = 0; i < m->n; i++) {
		const struct machine *machine = &m->machines[i].machine;
		coherent |= machine->coherent;
		in_step |= m->machines[i].options.in_step;
		if (!say(run, lines, NOTE_READ, "model %s: %s", machine->name,
			 machine->title[0] ? machine->title : "a machine without a title"))
			return false;
	}
	if (m->share > 1 &&
	    !say(run, lines, NOTE_READ,
		 "sampled: 1/%u of the caches' sets were modelled, drawn by seed %llu; what a few sets "
		 "alone cause may be in none of them",
		 m->share, (unsigned long long)m->seed))
		return false;
	name_pages(m, pages, sizeof pages);
	if (!say(run, lines, NOTE_DETAIL,
		 "modelled: this program's own accesses in user mode, on a declared machine, without those of the "
		 "kernel; each thread has its own core and each process its own machine, cold at the start; pages "
		 "of %s except where the process maps larger ones",
		 pages))
		return false;
	if (!coherent || !several_threads(view, children))
		return true;
	return remark_threads(run, lines, in_step);
}

/* The machine's place among those that run; it is added when it is not there yet. */
static size_t place_of(struct modelling *m, const struct machine *machine)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->machines[i].machine.name, machine->name))
			return i;
	m->machines[m->n].machine = *machine;
	return m->n++;
}

/* What nobody asked for is not run. */
static void strip(struct modelling *m, const struct execution_event *counted, size_t n)
{
	for (size_t i = 0; i < m->n; i++) {
		struct machine *machine = &m->machines[i].machine;
		struct model_options *options = &m->machines[i].options;
		bool branches = false, translations = false, classes = false, shares = false, orders = false;
		for (size_t k = 0; k < n; k++) {
			const struct model_event *event = counted[k].modelled;
			if (!event || counted[k].machine != i)
				continue;
			branches |= model_event_uses(event, MODEL_BRANCH);
			translations |= model_event_uses(event, MODEL_TLB);
			classes |= model_event_classifies(event);
			shares |= model_event_shares(event);
			orders |= model_event_orders(event);
		}
		if (m->share) /* nothing of these is estimated */
			branches = translations = classes = shares = orders = false;
		options->classify = classes;
		options->orders = orders;
		options->in_step = machine->coherent && shares;
		options->no_branches = !branches;
		if (!translations)
			machine->n_tlbs = 0,
			machine->first_data_tlb = machine->first_instruction_tlb = MACHINE_NONE;
	}
}

/* What sampled groups count stands behind the machines. */
static bool sample(struct modelling *m, struct error *err)
{
	for (size_t i = 0; i < m->n; i++) {
		struct model_options *options = &m->machines[i].options;
		if (!sampling_choose(&m->machines[i].machine, m->share, m->seed, options, err))
			return false;
		options->sample_counts = (uint16_t)(m->n + m->n_groups - i);
		m->n_groups += sampling_drawn(options);
	}
	for (size_t i = 0; i < m->n_groups; i++)
		m->machines[m->n + i].options.counts_only = 1;
	return true;
}

static bool prepare(struct backend *b, const struct target *target, const struct event *const *events, size_t n,
		    struct counting **out, struct error *err)
{
	struct modelling *m = calloc(1, sizeof *m);
	struct execution_event *counted = calloc(n + 1, sizeof *counted);
	struct counting_models models = {.bytes = sizeof(struct model_setup),
					 .value = value_of,
					 .conserves = conserves,
					 .name = name_of,
					 .remark = remark,
					 .watches = watches_of,
					 .resolve = resolve,
					 .release = release};
	struct counting_options options = {.models = &models};
	bool done = false;
	*out = NULL;
	if (!m || !counted || !(m->events = calloc(n + 1, sizeof *m->events))) {
		error_no_memory(err);
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		struct availability answer = {0};
		const struct exact_event *exact = exact_event_find(events[i]);
		if (events[i]->levels != LEVEL_USER)
			continue;
		if (exact) {
			counted[i].exact = exact;
			continue;
		}
		struct declared *d = machine_of(b, events[i], &answer);
		if (!d || !model_event_bind(events[i]->definition, &d->machine, &m->events[i], answer.why,
					    sizeof answer.why))
			continue;
		counted[i].modelled = &m->events[i];
		counted[i].machine = place_of(m, &d->machine);
	}
	for (size_t i = 0; i < m->n; i++)
		m->declared[i] = m->machines[i].machine;
	m->share = target->sampled;
	m->seed = target->sample_seed;
	strip(m, counted, n);
	if (m->share && !sample(m, err))
		goto out;
	models.machines = m->machines;
	models.n = m->n + m->n_groups;
	models.sampled = m->n_groups;
	models.estimate = m->share ? estimate : NULL;
	models.context = m;
	m = NULL; /* counting_start() has it, whatever becomes of it */
	done = counting_start(target, counted, n, &options, out, err);
out:
	release(m);
	free(counted);
	return done;
}

static void diagnose(struct backend *b, struct finding *findings, size_t most, size_t *count)
{
	struct error err = {0};
	struct finding *f = trial_finding(&b->stream_trial, "modelled counts", findings, most, count);
	if (!f)
		return;
	if (look_up(&b->declared[0], &err)) {
		snprintf(f->detail, sizeof f->detail,
			 "misses and mispredictions of declared machines (--on model:NAME, 'tare list machines'), "
			 "this one among them: %.90s",
			 b->declared[0].machine.title);
		return;
	}
	f->state = FINDING_PARTLY;
	snprintf(f->detail, sizeof f->detail,
		 "of declared machines ('tare list machines'), but not of this one: %.150s", err.text);
}

const struct backend_operations model_backend = {
	.name = "model",
	.summary = "a declared machine's caches, TLBs and predictors fed by the engine: model:NAME, see 'tare "
		   "list machines'; x86-64",
	.by_itself = "host",
	.open = open_model,
	.close = close_model,
	.machines = machines,
	.family = family,
	.only_modelled = only_modelled,
	.available = available,
	.prepare = prepare,
	.diagnose = diagnose,
	COUNTING_OPERATIONS,
};
