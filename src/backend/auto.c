#include "backend/auto.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The members of `auto`, best first: a hardware counter disturbs least. The models' backend counts all that
 * `exact` does, in the same execution as what is modelled (of this machine); `exact` stands in where it does not
 * open. */
static const char *const preference[] = {"perf", "model", "exact"};

enum { MEMBERS_MOST = 8 };

struct backend {
	struct backend_member members[MEMBERS_MOST];
	size_t n;
};

struct counting {
	const struct backend_member *member; /* it counts this execution */
	struct counting *inner;
	size_t *place; /* of each inner event among the n asked for */
	size_t n_inner;
	size_t n;
	bool *left_out;  /* n */
	const char *why; /* of those left out */
};

enum { NOBODY = (size_t)-1 };

/* The member that counts an event, and how; NOBODY with the most telling answer. One whose counter was never seen
 * to move counts it where nobody else does. */
static size_t member_of(struct backend *b, const struct event *event, struct availability *out)
{
	struct availability first = {.state = READING_UNSUPPORTED};
	bool answered = false;
	size_t unproven = NOBODY;
	for (size_t i = 0; i < b->n; i++) {
		/* what is asked of a modelled machine is for those to answer that model one */
		if (event->machine && !b->members[i].operations->machines && (answered || i + 1 < b->n))
			continue;
		b->members[i].operations->available(b->members[i].backend, event, out);
		if (out->state == READING_COUNTED)
			return i;
		if (out->state == READING_UNPROVEN && unproven == NOBODY) {
			unproven = i;
			first = *out;
			answered = true;
		}
		if (unproven != NOBODY)
			continue;
		/* what could be had with more rights, or in other circumstances, is worth more to know than what
		 * is not there */
		if (!answered || (first.state == READING_UNSUPPORTED && !first.prevented &&
				  (out->state == READING_DENIED || out->prevented)))
			first = *out;
		answered = true;
	}
	*out = first;
	return unproven;
}

bool backend_auto_join(const struct backend_member *members, size_t n, struct backend **out, struct error *err)
{
	*out = NULL;
	if (n < 1 || n > MEMBERS_MOST)
		return error_set(err, ERROR_UNSUPPORTED, "no backend works here");
	struct backend *b = calloc(1, sizeof *b);
	if (!b)
		return error_no_memory(err);
	memcpy(b->members, members, n * sizeof *members);
	b->n = n;
	*out = b;
	return true;
}

static void auto_close(struct backend *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n; i++)
		b->members[i].operations->close(b->members[i].backend);
	free(b);
}

static bool auto_open(const char *argument, struct backend **out, struct error *err)
{
	struct backend_member members[MEMBERS_MOST];
	size_t n = 0;
	*out = NULL;
	if (argument)
		return error_set(err, ERROR_USAGE, "backend 'auto' takes no argument, but got '%s'", argument);
	for (size_t i = 0; i < sizeof preference / sizeof *preference; i++) {
		const char *none;
		const struct backend_operations *operations = backend_by_name(preference[i], &none, NULL);
		if (operations && operations->open(operations->by_itself, &members[n].backend, err))
			members[n++].operations = operations;
	}
	if (n == 0)
		return false; /* with the last member's reason */
	if (backend_auto_join(members, n, out, err))
		return true;
	while (n--)
		members[n].operations->close(members[n].backend);
	return false;
}

static void auto_available(struct backend *b, const struct event *event, struct availability *out)
{
	member_of(b, event, out);
}

static bool auto_only_modelled(struct backend *b, const struct event *event)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct backend_member *m = &b->members[i];
		struct availability answer;
		if (m->operations->only_modelled)
			return m->operations->only_modelled(m->backend, event);
		m->operations->available(m->backend, event, &answer);
		if (answer.state == READING_COUNTED)
			return false;
	}
	return false;
}

static bool auto_fits(struct backend *b, const struct event *const *events, size_t n)
{
	struct availability answer;
	size_t member = n ? member_of(b, events[0], &answer) : NOBODY;
	if (member == NOBODY)
		return n == 0;
	for (size_t i = 1; i < n; i++)
		if (member_of(b, events[i], &answer) != member)
			return false;
	return b->members[member].operations->fits(b->members[member].backend, events, n);
}

static bool auto_native(struct backend *b, const struct event *const *events, size_t n)
{
	struct availability answer;
	for (size_t i = 0; i < n; i++) {
		size_t member = member_of(b, events[i], &answer);
		if (member == NOBODY)
			continue;
		const struct backend_member *m = &b->members[member];
		if (m->operations->native && !m->operations->native(m->backend, &events[i], 1))
			return false;
	}
	return true;
}

/* The backends that count an execution of these events, see 3 in the header. members[n] gets each event's. */
static size_t choose(struct backend *b, const struct target *target, const struct event *const *events, size_t n,
		     size_t *members)
{
	size_t engine = NOBODY, hardware = NOBODY;
	for (size_t i = 0; i < n; i++) {
		struct availability answer;
		members[i] = member_of(b, events[i], &answer);
		if (members[i] == NOBODY)
			continue;
		/* one that may count nothing keeps nobody else from counting */
		if (hardware == NOBODY && answer.source == SOURCE_HW && answer.state == READING_COUNTED)
			hardware = members[i];
		if (engine == NOBODY && b->members[members[i]].operations->starts_only)
			engine = members[i];
	}
	if (hardware != NOBODY)
		return hardware;
	if (engine != NOBODY && target->kind == TARGET_COMMAND)
		return engine;
	for (size_t i = 0; i < b->n; i++)
		if (!b->members[i].operations->starts_only || target->kind == TARGET_COMMAND)
			return i;
	return 0;
}

static const char *reason(const struct backend_member *chosen, const struct target *target)
{
	if (chosen->operations->starts_only)
		return UNDER_ENGINE;
	if (target->kind != TARGET_COMMAND)
		return "only the engine can count it here, and it counts only programs that tare starts";
	return "only the engine can count it here, and it would disturb this run's hardware counters; "
	       "--several-runs counts both, --on exact only this event";
}

static bool auto_system_calls(struct counting *c, struct str *out, struct error *err)
{
	if (!c->member->operations->system_calls)
		return error_set(err, ERROR_UNSUPPORTED, "the backend '%s' does not count system calls by name",
				 c->member->operations->name);
	return c->member->operations->system_calls(c->inner, out, err);
}

static bool auto_inputs(struct counting *c, struct str *out, struct error *err)
{
	return c->member->operations->inputs && c->member->operations->inputs(c->inner, out, err);
}

static bool auto_blocks(struct counting *c, enum blocks_by by, struct str *out, struct error *err)
{
	if (!c->member->operations->blocks)
		return error_set(err, ERROR_UNSUPPORTED, "the backend '%s' does not count basic blocks",
				 c->member->operations->name);
	return c->member->operations->blocks(c->inner, by, out, err);
}

static bool auto_locations(struct counting *c, struct locations *out, struct error *err)
{
	*out = (struct locations){0};
	if (!c->member->operations->locations)
		return error_set(err, ERROR_UNSUPPORTED, "the backend '%s' does not know where events took place",
				 c->member->operations->name);
	if (!c->member->operations->locations(c->inner, out, err))
		return false;
	for (size_t i = 0; i < out->n_events; i++)
		out->events[i].event = c->place[out->events[i].event];
	return true;
}

static void auto_end(struct counting *c)
{
	if (!c)
		return;
	if (c->inner)
		c->member->operations->end(c->inner);
	free(c->place);
	free(c->left_out);
	free(c);
}

static bool counts_all(const struct backend_member *member, const struct event *const *events,
		       const size_t *members, size_t n, size_t of)
{
	struct availability answer;
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		if (members[i] != of)
			continue;
		member->operations->available(member->backend, events[i], &answer);
		if (answer.state != READING_COUNTED)
			return false;
		any = true;
	}
	return any;
}

/* Regions are counted where their events are. What cannot be probed goes, with all events of the execution, to a
 * member that needs no probes, if one also counts these events; readings name their source.
 * members[] follows. */
static size_t choose_for_regions(struct backend *b, const struct target *target, const struct event *const *events,
				 size_t n, size_t *members, size_t chosen, bool probes)
{
	for (size_t i = 0; i < target->n_regions; i++)
		probes &= !target->regions[i].no_edges;
	const struct backend_operations *operations = b->members[chosen].operations;
	if (operations->regions && (probes || operations->starts_only))
		return chosen;
	for (size_t i = 0; i < b->n; i++) {
		const struct backend_member *m = &b->members[i];
		if (i == chosen || !m->operations->regions || (!probes && !m->operations->starts_only) ||
		    !counts_all(m, events, members, n, chosen))
			continue;
		for (size_t j = 0; j < n; j++)
			if (members[j] == chosen)
				members[j] = i;
		return i;
	}
	return chosen;
}

/* The execution by one member; own: room for its events. */
static bool prepare_with(struct counting *c, struct backend *b, const struct target *target,
			 const struct event *const *events, size_t n, const size_t *members, size_t chosen,
			 const struct event **own, struct error *err)
{
	c->member = &b->members[chosen];
	c->n = n;
	c->n_inner = 0;
	c->why = reason(c->member, target);
	if (target->n_regions && !c->member->operations->regions)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the backend '%s', which counts %s here, does not count regions",
				 c->member->operations->name, n ? events[0]->label : "nothing");
	if (target->exclusive && target->n_regions && !c->member->operations->exclusive) {
		error_set(err, ERROR_UNSUPPORTED,
			  "the backend '%s', which counts %s here, does not count regions exclusive of those in "
			  "them",
			  c->member->operations->name, n ? events[0]->label : "nothing");
		return error_hint(err, "choose events that the engine also counts, or remove --exclusive");
	}
	if (target->turned && !c->member->operations->turn) {
		error_set(
			err, ERROR_UNSUPPORTED,
			"the backend '%s', which counts %s here, cannot be turned on and off: it counts the whole "
			"program",
			c->member->operations->name, n ? events[0]->label : "nothing");
		return error_hint(err, "choose --on perf, or count a part of the program: --region PLACE");
	}
	for (size_t i = 0; i < n; i++) {
		c->left_out[i] = members[i] != chosen;
		if (c->left_out[i])
			continue;
		c->place[c->n_inner] = i;
		own[c->n_inner++] = events[i];
	}
	return c->member->operations->prepare(c->member->backend, target, own, c->n_inner, &c->inner, err);
}

static bool auto_prepare(struct backend *b, const struct target *target, const struct event *const *events,
			 size_t n, struct counting **out, struct error *err)
{
	struct counting *c = calloc(1, sizeof *c);
	size_t *members = calloc(n + 1, sizeof *members);
	const struct event **own = calloc(n + 1, sizeof *own);
	bool done = false;
	*out = NULL;
	if (!c || !members || !own || !(c->place = calloc(n + 1, sizeof *c->place)) ||
	    !(c->left_out = calloc(n + 1, sizeof *c->left_out))) {
		error_no_memory(err);
		goto out;
	}
	size_t chosen = choose(b, target, events, n, members);
	if (!target->n_regions) {
		done = prepare_with(c, b, target, events, n, members, chosen, own, err);
		goto out;
	}
	struct error failure = {0};
	chosen = choose_for_regions(b, target, events, n, members, chosen, !target->exclusive);
	done = prepare_with(c, b, target, events, n, members, chosen, own, &failure);
	/* what this user, or this kernel, does not let probe */
	size_t other = done || (failure.code != ERROR_PERMISSION && failure.code != ERROR_UNSUPPORTED)
			       ? chosen
			       : choose_for_regions(b, target, events, n, members, chosen, false);
	if (other != chosen)
		done = prepare_with(c, b, target, events, n, members, other, own, &failure);
	if (!done && err)
		*err = failure;
out:
	free(members);
	free(own);
	if (done)
		*out = c;
	else
		auto_end(c);
	return done;
}

static pid_t auto_process(const struct counting *c) { return c->member->operations->process(c->inner); }

static bool auto_go(struct counting *c, struct error *err) { return c->member->operations->go(c->inner, err); }

/* One row of inner readings put to the places of their events. */
static void spread(const struct counting *c, const struct reading *inner, const char *why, struct reading *row)
{
	for (size_t i = 0; i < c->n_inner; i++)
		row[c->place[i]] = inner[i];
	for (size_t i = 0; i < c->n; i++)
		if (c->left_out[i])
			row[i] = (struct reading){.state = READING_FAILED,
						  .why = why,
						  .tid = c->n_inner ? inner[0].tid : 0,
						  .cpu = c->n_inner ? inner[0].cpu : -1};
}

/* A member that cannot was refused in auto_prepare(). */
static bool auto_turn(struct counting *c, bool on, struct error *err)
{
	return c->member->operations->turn(c->inner, on, err);
}

static bool auto_read_running(struct counting *c, struct reading *readings, struct error *err)
{
	struct reading *inner = calloc(c->n_inner + 1, sizeof *inner);
	if (!inner)
		return error_no_memory(err);
	bool done = c->member->operations->read_running(c->inner, inner, err);
	if (done)
		spread(c, inner, c->why, readings);
	free(inner);
	return done;
}

static bool auto_stop(struct counting *c, struct run *run, struct error *err)
{
	if (!c->member->operations->stop(c->inner, run, err))
		return false;
	if (c->n_inner == c->n)
		return true;
	for (size_t i = 0; i < run->n_regions; i++) {
		struct reading *readings = arena_alloc(&run->arena, c->n * sizeof *readings);
		if (!readings)
			return error_no_memory(err);
		spread(c, run->regions[i].readings, c->why, readings);
		run->regions[i].readings = readings;
	}
	size_t rows = run->n_rows ? run->n_rows : 1;
	struct reading *inner = run->readings;
	struct reading *all = arena_alloc(&run->arena, rows * c->n * sizeof *all);
	if (!all)
		return error_no_memory(err);
	for (size_t row = 0; row < rows; row++)
		spread(c, inner + row * c->n_inner, c->why, all + row * c->n);
	run->readings = all;
	run->n_events = c->n;
	run->n_rows = rows;
	return true;
}

/* The members are asked themselves. */
static void auto_diagnose(struct backend *b, struct finding *findings, size_t most, size_t *count)
{
	(void)b, (void)findings, (void)most, (void)count;
}

const struct backend_operations backend_auto = {
	.name = "auto",
	.summary = "each event by the best of the other backends that counts it here",
	.regions = true,
	.exclusive = true,
	.open = auto_open,
	.close = auto_close,
	.only_modelled = auto_only_modelled,
	.available = auto_available,
	.fits = auto_fits,
	.native = auto_native,
	.prepare = auto_prepare,
	.process = auto_process,
	.go = auto_go,
	.turn = auto_turn,
	.read_running = auto_read_running,
	.stop = auto_stop,
	.blocks = auto_blocks,
	.system_calls = auto_system_calls,
	.inputs = auto_inputs,
	.locations = auto_locations,
	.end = auto_end,
	.diagnose = auto_diagnose,
};
