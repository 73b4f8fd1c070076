#include "profile/counted.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "result/profile_builder.h"

static const char *copy(struct profile *p, const char *text)
{
	return text ? arena_strdup(&p->arena, text) : NULL;
}

/* The sum of its places, or why they cannot be used. */
static bool check_sum(struct profile *p, const struct locations *l, size_t event)
{
	struct profile_event *e = &p->events[event];
	uint64_t sum = 0;
	bool fits = true;
	for (size_t i = 0; i < l->n; i++)
		fits &= !__builtin_add_overflow(sum, l->all[i].counts[event], &sum);
	if (l->period) {
		e->gaps = GAPS_FIXED;
		e->gap = l->period;
		e->samples = sum;
		e->lost = l->events[event].lost;
		return true;
	}
	if (e->why || (fits && sum == e->total))
		return true;
	e->why = fits ? arena_printf(
				&p->arena,
				"its places have %llu and its count is %llu: a defect of tare, please report it",
				(unsigned long long)sum, (unsigned long long)e->total)
		      : "the counts of its places do not fit in 64 bits: a defect of tare, please report it";
	return e->why != NULL;
}

static bool take_events(struct profile *p, const struct locations *l)
{
	p->n_events = l->n_events;
	if (!(p->events = arena_alloc(&p->arena, (l->n_events + 1) * sizeof *p->events)))
		return false;
	for (size_t i = 0; i < l->n_events; i++) {
		const struct located_event *from = &l->events[i];
		struct profile_event *e = &p->events[i];
		*e = (struct profile_event){.label = copy(p, from->label ? from->label : ""),
					    .unit = copy(p, from->unit ? from->unit : ""),
					    .machine = copy(p, from->machine),
					    .source = from->machine ? SOURCE_MODEL : SOURCE_EXACT,
					    .why = copy(p, from->why),
					    .gaps = GAPS_NONE,
					    .has_total = true,
					    .total = from->total};
		if (!e->label || !e->unit || (from->machine && !e->machine) || (from->why && !e->why) ||
		    !check_sum(p, l, i))
			return false;
	}
	return true;
}

static uint32_t module_of(struct profile_builder *b, const char *path, uint32_t pid)
{
	struct profile_module module = {.kind = MODULE_FILE, .path = path ? path : ""};
	if (!module.path[0])
		module.kind = MODULE_ANONYMOUS, module.pid = pid;
	else if (strcmp(module.path, "[vdso]") == 0)
		module.kind = MODULE_VDSO;
	else if (module.path[0] == '[')
		module.kind = MODULE_UNKNOWN;
	return profile_builder_module(b, &module);
}

/* A place is there once: nothing is to be found again, neither it nor its counts. PROFILE_NO_INDEX when memory ran
 * out. */
static uint32_t add_node(struct profile_builder *b, uint32_t module, uint64_t offset)
{
	struct profile *p = b->out;
	if (module == PROFILE_NO_INDEX || p->n_nodes >= PROFILE_NO_INDEX - 1 ||
	    !vec_grow((void **)&p->nodes, &b->node_capacity, p->n_nodes, sizeof *p->nodes))
		return PROFILE_NO_INDEX;
	p->nodes[p->n_nodes] = (struct profile_node){.module = module, .offset = offset};
	return (uint32_t)p->n_nodes++;
}

static bool add_cell(struct profile_builder *b, uint32_t node, uint32_t task, uint32_t event, uint64_t count)
{
	struct profile *p = b->out;
	if (p->n_cells >= PROFILE_NO_INDEX - 1 ||
	    !vec_grow((void **)&p->cells, &b->cell_capacity, p->n_cells, sizeof *p->cells))
		return false;
	p->cells[p->n_cells++] = (struct profile_cell){node, task, event, count};
	return true;
}

static bool take_places(struct profile_builder *b, const struct locations *l)
{
	uint32_t task = profile_builder_task(b, 0, 0), module = PROFILE_NO_INDEX;
	const struct location *before = NULL; /* whose module that is */
	if (task == PROFILE_NO_INDEX)
		return false;
	for (size_t i = 0; i < l->n; i++) {
		const struct location *at = &l->all[i];
		uint32_t node = PROFILE_NO_INDEX;
		for (size_t e = 0; e < l->n_events; e++) {
			if (!at->counts[e] || b->out->events[e].why)
				continue;
			if (!before || before->module != at->module || before->pid != at->pid)
				module = module_of(b, at->module, at->pid);
			before = at;
			if (node == PROFILE_NO_INDEX)
				node = add_node(b, module, at->offset);
			if (node == PROFILE_NO_INDEX || !add_cell(b, node, task, (uint32_t)e, at->counts[e]))
				return false;
		}
	}
	for (size_t i = 0; i < l->n_notes; i++)
		if (!profile_builder_note(b, l->notes[i]))
			return false;
	return true;
}

/* Why the arcs are not the whole count; NULL: they are, or memory ran out. */
static const char *arcs_wrong(struct profile *p, const struct locations *l)
{
	for (size_t e = 0; e < l->n_events; e++) {
		uint64_t sum = locations_arcs_sum(l, e);
		if (!p->events[e].why && sum != p->events[e].total)
			return arena_printf(
				&p->arena,
				"no call graph: its calls have %llu %s and the count is %llu: a defect of "
				"tare, please report it",
				(unsigned long long)sum, p->events[e].label,
				(unsigned long long)p->events[e].total);
	}
	return NULL;
}

static bool take_arc(struct profile_builder *b, const struct locations *l, const struct location_arc *from)
{
	struct profile *p = b->out;
	struct profile_arc arc = {.caller_module = PROFILE_NO_CALLER,
				  .caller_offset = from->caller_offset,
				  .callee_module = module_of(b, from->callee, from->callee_pid),
				  .callee_offset = from->callee_offset,
				  .calls = from->calls};
	if (from->caller && (arc.caller_module = module_of(b, from->caller, from->caller_pid)) == PROFILE_NO_INDEX)
		return false;
	arc.inclusive = arena_alloc(&p->arena, (l->n_events + 1) * sizeof *arc.inclusive);
	if (!arc.inclusive || arc.callee_module == PROFILE_NO_INDEX ||
	    !vec_grow((void **)&p->arcs, &b->arc_capacity, p->n_arcs, sizeof arc))
		return false;
	for (size_t e = 0; e < l->n_events; e++)
		arc.inclusive[e] = p->events[e].why ? 0 : from->inclusive[e];
	p->arcs[p->n_arcs++] = arc;
	return true;
}

static bool take_arcs(struct profile_builder *b, const struct locations *l)
{
	const char *wrong = l->n_arcs ? arcs_wrong(b->out, l) : NULL;
	if (l->arcs_why && !(wrong = arena_printf(&b->out->arena, "no call graph: %s", l->arcs_why)))
		return false;
	if (wrong)
		return profile_builder_note(b, wrong);
	for (size_t i = 0; i < l->n_arcs; i++)
		if (!take_arc(b, l, &l->arcs[i]))
			return false;
	if (l->n_arcs)
		b->out->stacks = STACKS_EXACT;
	return true;
}

bool profile_counted(const struct locations *locations, struct profile **out, struct error *err)
{
	struct profile_builder builder;
	*out = NULL;
	if (!profile_builder_open(&builder))
		return error_no_memory(err);
	if (!take_events(builder.out, locations) || !take_places(&builder, locations) ||
	    !take_arcs(&builder, locations)) {
		profile_builder_close(&builder);
		return error_no_memory(err);
	}
	*out = profile_builder_finish(&builder);
	return *out || error_no_memory(err);
}
