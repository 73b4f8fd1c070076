#include "profile/merge.h"

#include <stdlib.h>
#include <string.h>

#include "result/profile_builder.h"

static const char *copy(struct profile *p, const char *text)
{
	return text ? arena_strdup(&p->arena, text) : NULL;
}

static bool copy_command(struct profile *to, const struct profile *from)
{
	size_t n = 0;
	while (from->command && from->command[n])
		n++;
	char const **words = from->command ? arena_alloc(&to->arena, (n + 1) * sizeof *words) : NULL;
	for (size_t i = 0; words && i < n; i++)
		if (!(words[i] = copy(to, from->command[i])))
			return false;
	to->command = words;
	return words || !from->command;
}

/* What the first run says of all. */
static bool copy_facts(struct profile *to, const struct profile *from)
{
	const struct machine_facts *m = &from->machine;
	to->machine = *m;
	to->machine.cpu = copy(to, m->cpu);
	to->machine.kernel = copy(to, m->kernel);
	to->machine.hostname = copy(to, m->hostname);
	to->machine.architecture = copy(to, m->architecture);
	to->machine.hypervisor = copy(to, m->hypervisor);
	to->machine.pmu = copy(to, m->pmu);
	to->clock_mhz = from->clock_mhz;
	to->target = copy(to, from->target);
	to->tare_version = copy(to, from->tare_version);
	to->started_unix = from->started_unix;
	to->first_ns = from->first_ns;
	to->wait_status = from->wait_status;
	to->stacks = from->stacks;
	to->n_events = from->n_events;
	to->events = arena_alloc(&to->arena, (from->n_events + 1) * sizeof *to->events);
	for (size_t e = 0; to->events && e < from->n_events; e++) {
		struct profile_event *event = &to->events[e];
		*event = from->events[e];
		event->label = copy(to, from->events[e].label);
		event->unit = copy(to, from->events[e].unit);
		event->machine = copy(to, from->events[e].machine);
		event->why = copy(to, from->events[e].why);
		event->evidence = copy(to, from->events[e].evidence);
		event->samples = event->lost = event->throttled = event->total = 0;
		if (!event->label || !event->unit)
			return false;
	}
	return to->events && copy_command(to, from);
}

static bool add_run(struct profile *to, const struct profile *from, struct profile_run *run)
{
	run->wait_status = from->wait_status;
	run->gaps = arena_alloc(&to->arena, (to->n_events + 1) * sizeof *run->gaps);
	run->samples = arena_alloc(&to->arena, (to->n_events + 1) * sizeof *run->samples);
	if (!run->gaps || !run->samples)
		return false;
	for (size_t e = 0; e < to->n_events; e++) {
		const struct profile_event *one = &from->events[e];
		struct profile_event *all = &to->events[e];
		run->gaps[e] = one->gap;
		to->checks_gaps |= one->gap != all->gap;
		run->samples[e] = one->samples;
		if (one->seed)
			run->seed = one->seed;
		all->samples += one->samples;
		all->lost += one->lost;
		all->throttled += one->throttled;
		all->total += one->total;
		all->has_total &= one->has_total;
		/* as sure as the least sure of them: 0 is not drawn to the end */
		if (!one->redraw || !all->redraw)
			all->redraw = 0;
		else if (one->redraw > all->redraw)
			all->redraw = one->redraw;
		if (one->why && !all->why && !(all->why = copy(to, one->why)))
			return false;
	}
	to->user_ns += from->user_ns;
	to->system_ns += from->system_ns;
	to->last_ns = from->last_ns;
	return true;
}

/* from's nodes and tasks, as those of the whole. NULL when memory ran out. */
static uint32_t *map_nodes(struct profile_builder *b, const struct profile *from)
{
	uint32_t *nodes = calloc(from->n_nodes + 1, sizeof *nodes);
	for (size_t i = 1; nodes && i < from->n_nodes; i++) {
		const struct profile_node *node = &from->nodes[i];
		uint32_t module = profile_builder_module(b, &from->modules[node->module]);
		nodes[i] = module == PROFILE_NO_INDEX
				   ? PROFILE_NO_INDEX
				   : profile_builder_node(b, nodes[node->parent], module, node->offset);
		if (nodes[i] == PROFILE_NO_INDEX) {
			free(nodes);
			return NULL;
		}
	}
	return nodes;
}

static bool add_cells(struct profile_builder *b, const struct profile *from, uint32_t run)
{
	uint32_t *nodes = map_nodes(b, from);
	bool done = nodes != NULL;
	for (size_t i = 0; done && i < from->n_cells; i++) {
		const struct profile_cell *cell = &from->cells[i];
		const struct profile_task *from_task = &from->tasks[cell->task];
		uint32_t task = profile_builder_task_of_run(b, run, from_task->pid, from_task->tid);
		done = task != PROFILE_NO_INDEX && profile_builder_name_task(b, task, from_task->name) &&
		       profile_builder_add(b, nodes[cell->node], task, cell->event, cell->count);
	}
	free(nodes);
	return done;
}

static bool add_notes(struct profile_builder *b, const struct profile *from)
{
	for (size_t i = 0; i < from->n_notes; i++) {
		bool known = false;
		for (size_t k = 0; k < b->out->n_notes; k++)
			known |= strcmp(b->out->notes[k], from->notes[i]) == 0;
		if (!known && !profile_builder_note(b, from->notes[i]))
			return false;
	}
	return true;
}

static bool go_together(const struct profile *a, const struct profile *b)
{
	if (a->n_events != b->n_events || b->n_arcs)
		return false;
	for (size_t e = 0; e < a->n_events; e++)
		if (strcmp(a->events[e].label, b->events[e].label) != 0 || b->events[e].gaps == GAPS_NONE)
			return false;
	return true;
}

bool profile_merge(const struct profile *const *profiles, size_t n, struct profile **out, struct error *err)
{
	struct profile_builder builder;
	*out = NULL;
	for (size_t i = 0; i < n; i++)
		if (!go_together(profiles[0], profiles[i]))
			return error_set(err, ERROR_SYNTAX, "run %zu did not sample what run 1 did", i + 1);
	if (!profile_builder_open(&builder))
		return error_no_memory(err);
	struct profile *p = builder.out;
	bool done = copy_facts(p, profiles[0]) && (p->runs = arena_alloc(&p->arena, n * sizeof *p->runs)) != NULL;
	p->n_runs = done ? n : 0;
	for (size_t i = 0; done && i < n; i++)
		done = add_run(p, profiles[i], &p->runs[i]) && add_cells(&builder, profiles[i], (uint32_t)i) &&
		       add_notes(&builder, profiles[i]);
	if (!done) {
		profile_builder_close(&builder);
		return error_no_memory(err);
	}
	*out = profile_builder_finish(&builder);
	return *out || error_no_memory(err);
}
