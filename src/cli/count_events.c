#include "cli/count_events.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/metric_level.h"
#include "compat/perfex_events.h"

/* Metrics shown without -m when all their events are counted anyway. */
static const char *const default_metrics[] = { "ipc", "branch-miss-rate", "cpu-utilisation", NULL };

struct build {
	struct selection *selection;
	const struct counting_means *means;
	VEC(struct event) events;
	VEC(const struct metric *) metrics;
	VEC(struct slot) slots;
	struct str user_only; /* "cycles, branches (why); " without the last ")" */
	char user_only_why[sizeof((struct availability *)0)->why];
	const char *const *machines; /* that the backend models */
	size_t n_machines;
	bool required;       /* what is added now is */
};

static bool add_slot(struct build *b, long event, const char *label, const char *why, struct error *err)
{
	if (b->slots.count >= EVENT_LIST_MOST)
		return error_set(err, ERROR_LIMIT, "more than %d events", EVENT_LIST_MOST);
	return vec_push(&b->slots, ((struct slot){ event, label, why, NULL, b->required })) || error_no_memory(err);
}

static long find_label(const struct build *b, const char *label)
{
	for (size_t i = 0; i < b->events.count; i++)
		if (strcmp(b->events.items[i].label, label) == 0)
			return (long)i;
	return SLOT_NO_EVENT;
}

/* An event asked for twice is counted and shown once, unless `again`. */
static bool add_event(struct build *b, const struct event *event, const char *label, bool again, struct error *err)
{
	long known = again ? SLOT_NO_EVENT : find_label(b, event->label);
	for (size_t i = 0; known != SLOT_NO_EVENT && i < b->slots.count; i++)
		if (b->slots.items[i].event == known)
			b->slots.items[i].required |= b->required;
	if (known != SLOT_NO_EVENT)
		return true;
	if (b->events.count >= EVENT_LIST_MOST)
		return error_set(err, ERROR_LIMIT, "more than %d events", EVENT_LIST_MOST);
	if (!vec_push(&b->events, *event))
		return error_no_memory(err);
	return add_slot(b, (long)b->events.count - 1, label, NULL, err);
}

static bool counted(const struct build *b, const struct event *event, struct availability *answer)
{
	*answer = (struct availability){ .state = READING_UNSUPPORTED };
	b->means->operations->available(b->means->backend, event, answer);
	return answer->state == READING_COUNTED;
}

/* For the remark under the table. That the engine knows one level only is no news. */
static void remember_user_only(struct build *b, const struct event *event, const char *why)
{
	bool same = b->user_only.length && strcmp(why, b->user_only_why) == 0;
	if (b->user_only.length && !same)
		str_appendf(&b->user_only, " (%s); ", b->user_only_why);
	str_appendf(&b->user_only, "%s%s", same ? ", " : b->user_only.length ? "" : "user level only: ", event->label);
	snprintf(b->user_only_why, sizeof b->user_only_why, "%s", why);
}

/* Where no level was asked for: both where that works, else the program's own part, under a name that says so
 * (instructions:u). */
static void settle_level(struct build *b, struct event *event)
{
	struct availability answer, refusal;
	struct event user;
	char request[256];
	bool account = event->definition && (event->definition->counted_by & COUNTED_BY_PROCESS);
	if (event->text[metric_level_at(event->text)] || account || counted(b, event, &refusal))
		return;
	snprintf(request, sizeof request, "%s:u", event->text);
	if (!event_parse(b->means->events, request, &user, NULL))
		return;
	if (!counted(b, &user, &answer) && !(answer.prevented && !refusal.prevented)) /* then its reason is the one to be told */
		return;
	if (answer.state == READING_COUNTED && answer.source != SOURCE_EXACT && answer.source != SOURCE_MODEL)
		remember_user_only(b, event, refusal.why);
	*event = user;
}

/* Is the same event asked for at user level as well? Then both are shown, each for itself. */
static bool has_user_twin(const struct event *events, size_t n, const struct event *event)
{
	char label[256];
	snprintf(label, sizeof label, "%s:u", event->label);
	for (size_t i = 0; i < n; i++)
		if (strcmp(events[i].label, label) == 0)
			return true;
	return false;
}

/* ---- several machines in one run ---- */

static bool is_modelled(const struct build *b, const struct event *event)
{
	struct availability answer;
	return counted(b, event, &answer) && answer.source == SOURCE_MODEL;
}

/* "r12000::l1d-misses", at the level at which it can be counted. */
static bool event_of_machine(struct build *b, const struct event *event, size_t machine, struct event *out, struct error *err)
{
	char request[512];
	snprintf(request, sizeof request, "%s::%s", b->machines[machine], event->text);
	if (!event_parse(b->means->events, request, out, err))
		return false;
	settle_level(b, out);
	return true;
}

/* Is it to be asked of each machine? What the engine counts by itself is the same on all. */
static bool is_of_each_machine(struct build *b, const struct event *event)
{
	struct event one;
	if (event->machine)
		return false;
	for (size_t i = 0; b->n_machines > 1 && i < b->n_machines; i++)
		if (event_of_machine(b, event, i, &one, NULL) && is_modelled(b, &one))
			return true;
	return false;
}

static bool add_of_each_machine(struct build *b, const struct event *event, struct error *err)
{
	for (size_t i = 0; i < b->n_machines; i++) {
		struct event one;
		if (!event_of_machine(b, event, i, &one, err) || !add_event(b, &one, NULL, false, err))
			return false;
	}
	return true;
}

static bool add_list(struct build *b, const char *list, struct error *err)
{
	struct event *events = NULL;
	size_t n = 0;
	bool done = event_parse_list(b->means->events, list, &events, &n, err);
	for (size_t i = 0; done && i < n; i++) {
		if (is_of_each_machine(b, &events[i])) {
			done = add_of_each_machine(b, &events[i], err);
			continue;
		}
		if (!has_user_twin(events, n, &events[i]))
			settle_level(b, &events[i]);
		done = add_event(b, &events[i], NULL, false, err);
	}
	free(events);
	return done;
}

/* ---- the default set ---- */

static const char only_a_model[] =
	"only a machine model counts it here, and only when asked for, as the program takes longer then: -e NAME, or --on model:host";

/* At whichever level it is asked for. */
static bool is_only_modelled(const struct build *b, const struct event *event)
{
	char request[256];
	struct event user;
	bool (*asks)(struct backend *, const struct event *) = b->means->operations->only_modelled;
	snprintf(request, sizeof request, "%s:u", event->text);
	return asks && asks(b->means->backend, event) && event_parse(b->means->events, request, &user, NULL) &&
	       asks(b->means->backend, &user);
}

/* Where nobody chose a machine, no default set slows the program down for the sake of one. */
static bool add_unmodelled(struct build *b, const struct event_definition *row, struct error *err)
{
	if (!add_slot(b, SLOT_NO_EVENT, row->name, only_a_model, err))
		return false;
	b->slots.items[b->slots.count - 1].unit = row->unit;
	return true;
}

static bool add_defaults(struct build *b, struct error *err)
{
	const struct event_table *table = b->means->events;
	b->selection->defaults = true;
	for (size_t i = 0; i < event_table_count(table); i++) {
		const struct event_definition *row = event_table_at(table, i);
		struct event event;
		struct availability answer;
		if (!row->in_default_set && !row->default_if_exact)
			continue;
		/* the kernel's account of a process is there only for programs that tare starts */
		if (row->counted_by == COUNTED_BY_PROCESS && !b->means->runs_program &&
		    strcmp(row->name, "elapsed-time") != 0)
			continue;
		if (!event_parse(b->means->events, row->name, &event, err))
			return false;
		if (is_of_each_machine(b, &event)) {
			if (!add_of_each_machine(b, &event, err))
				return false;
			continue;
		}
		if (b->n_machines == 0 && is_only_modelled(b, &event)) {
			if (!add_unmodelled(b, row, err))
				return false;
			continue;
		}
		settle_level(b, &event);
		if (!row->in_default_set && !(counted(b, &event, &answer) && answer.source == SOURCE_EXACT))
			continue;
		if (!add_event(b, &event, NULL, false, err))
			return false;
	}
	return true;
}

/* ---- metrics ---- */

/* Clocks and counts that the operating system keeps of a process as a whole. */
static bool has_no_levels(const struct build *b, const char *name)
{
	const struct event_definition *row = event_table_find(b->means->events, name);
	return row && row->counted_by == COUNTED_BY_PROCESS;
}

/* All of its events at that level: one that cannot be counted so leaves the metric without a value, it is never
 * mixed with those of both levels. */
static const struct metric *at_level(struct build *b, const struct metric *metric, const char *level,
				     struct error *err)
{
	size_t n = metric_event_count(metric);
	const char **requests = arena_alloc(&b->selection->arena, (n + 1) * sizeof *requests);
	bool done = requests != NULL;
	for (size_t i = 0; done && i < n; i++) {
		const char *event = metric_event(metric, i);
		requests[i] = event[metric_level_at(event)] || has_no_levels(b, event)
				  ? event
				  : arena_printf(&b->selection->arena, "%s%s", event, level);
		done = requests[i] != NULL;
	}
	if (done)
		return metric_at_level(b->means->metrics, metric, level, requests, err);
	error_no_memory(err);
	return NULL;
}

/* "ipc", "ipc:u" */
static const struct metric *metric_named(struct build *b, const char *word, struct error *err)
{
	size_t length = metric_level_at(word);
	char *name = arena_strndup(&b->selection->arena, word, length);
	if (!name) {
		error_no_memory(err);
		return NULL;
	}
	const struct metric *metric = metric_find(b->means->metrics, name, err);
	return metric && word[length] ? at_level(b, metric, word + length, err) : metric;
}

/* The metric over one machine's events: "r12000::l1d-load-miss-rate:u". */
static const struct metric *of_machine(struct build *b, const struct metric *metric, size_t machine, struct error *err)
{
	struct arena *arena = &b->selection->arena;
	size_t n = metric_event_count(metric);
	const char **requests = arena_alloc(arena, (n + 1) * sizeof *requests);
	const char *name = arena_printf(arena, "%s::%s", b->machines[machine], metric_name(metric));
	bool done = requests && name;
	for (size_t i = 0; done && i < n; i++) {
		struct event event, one;
		requests[i] = metric_event(metric, i);
		if (event_parse(b->means->events, requests[i], &event, NULL) && is_of_each_machine(b, &event) &&
		    event_of_machine(b, &event, machine, &one, NULL))
			requests[i] = one.text;
	}
	if (done)
		return metric_renamed(b->means->metrics, metric, name, requests, err);
	error_no_memory(err);
	return NULL;
}

static bool is_metric_of_each_machine(struct build *b, const struct metric *metric)
{
	for (size_t i = 0; i < metric_event_count(metric); i++) {
		struct event event;
		if (event_parse(b->means->events, metric_event(metric, i), &event, NULL) && is_of_each_machine(b, &event))
			return true;
	}
	return false;
}

static bool add_metric(struct build *b, const struct metric *metric, struct error *err)
{
	for (size_t i = 0; i < b->metrics.count; i++)
		if (b->metrics.items[i] == metric)
			return true;
	for (size_t i = 0; i < metric_event_count(metric); i++) {
		struct event event;
		if (!event_parse(b->means->events, metric_event(metric, i), &event, err) ||
		    !add_event(b, &event, NULL, false, err))
			return false;
	}
	return vec_push(&b->metrics, metric) || error_no_memory(err);
}

/* Does the backend count it, or does the operating system keep it of a program that tare starts? */
static bool known_here(const struct build *b, const struct event *event)
{
	struct availability answer;
	bool account = event->definition && (event->definition->counted_by & COUNTED_BY_PROCESS);
	return (account && b->means->runs_program) || counted(b, event, &answer);
}

/* Are all of its events known here? */
static bool works(const struct build *b, const struct metric *metric)
{
	for (size_t i = 0; i < metric_event_count(metric); i++) {
		struct event event;
		if (!event_parse(b->means->events, metric_event(metric, i), &event, NULL) || !known_here(b, &event))
			return false;
	}
	return true;
}

/* As settle_level(), of a metric; NULL on failure. */
static const struct metric *settle_metric(struct build *b, const struct metric *metric, struct error *err)
{
	const char *name = metric_name(metric);
	if (name[metric_level_at(name)] || works(b, metric))
		return metric;
	const struct metric *user = at_level(b, metric, ":u", err);
	return user && works(b, user) ? user : user ? metric : NULL;
}

static bool add_metric_list(struct build *b, const char *list, struct error *err)
{
	char *copy = strdup(list), *rest = copy;
	bool done = copy || error_no_memory(err);
	for (char *word; done && (word = strsep(&rest, ","));) {
		const struct metric *metric = NULL;
		word = str_trim(word);
		if (!*word)
			done = error_set(err, ERROR_USAGE, "an empty name in the list of metrics '%s'", list);
		else if (!(metric = metric_named(b, word, err)) || !(metric = settle_metric(b, metric, err)))
			done = false;
		else if (!is_metric_of_each_machine(b, metric))
			done = add_metric(b, metric, err);
		else
			for (size_t i = 0; done && i < b->n_machines; i++) {
				const struct metric *one = of_machine(b, metric, i, err);
				done = one && add_metric(b, one, err);
			}
	}
	free(copy);
	return done;
}

/* … and asked for already? */
static bool has_inputs(const struct build *b, const struct metric *metric)
{
	for (size_t i = 0; i < metric_event_count(metric); i++) {
		long at = find_label(b, metric_event(metric, i));
		if (at == SLOT_NO_EVENT || !known_here(b, &b->events.items[at]))
			return false;
	}
	return true;
}

static bool add_default_metrics(struct build *b, struct error *err)
{
	for (const char *const *name = default_metrics; *name; name++) {
		const struct metric *metric = metric_find(b->means->metrics, *name, NULL);
		/* where only the program's own part can be counted, its rates */
		if (metric && !has_inputs(b, metric))
			metric = at_level(b, metric, ":u", NULL);
		if (metric && has_inputs(b, metric) && !add_metric(b, metric, err))
			return false;
	}
	return true;
}

/* ---- run_p5mon and perfex ---- */

static bool add_paper_event(struct build *b, const struct event_definition *row, const char *levels,
			    const char *label, const char *why_not, struct error *err)
{
	struct event event;
	char request[256];
	if (!row)
		return add_slot(b, SLOT_NO_EVENT, label, why_not, err);
	/* the clocks and counts of the operating system have no levels to choose */
	snprintf(request, sizeof request, "%s%s", row->name, row->counted_by == COUNTED_BY_PROCESS ? "" : levels);
	return event_parse(b->means->events, request, &event, err) && add_event(b, &event, label, true, err);
}

static bool add_p5mon(struct build *b, const struct parameters *parameters, enum compat compat, struct error *err)
{
	const char *levels = parameters->user_events && parameters->kernel_events ? ""
			     : parameters->user_events                            ? ":u"
										  : ":k";
	bool none = !parameters->user_events && !parameters->kernel_events;
	for (size_t i = 0; i < P5MON_EVENTS; i++) {
		const struct p5mon_event *event = p5mon_event_at(i);
		if (!parameters->events[i])
			continue;
		const struct event_definition *row = paper_event_find(b->means->events, "p5mon", event->parameter);
		char *label = arena_printf(&b->selection->arena, "p5mon:%s", event->parameter);
		if (!label)
			return error_no_memory(err);
		if (none)
			row = NULL;
		const char *why = none ? "user_events and kernel_events are both no"
				       : "tare has no event with the meaning of this one of the Pentium";
		/* in tare's own table a row is called what was counted */
		if (!add_paper_event(b, row, levels, row && compat != COMPAT_P5MON ? NULL : label, why, err))
			return false;
	}
	return true;
}

static bool add_perfex_event(struct build *b, size_t index, struct error *err)
{
	const char *family = b->n_machines ? b->means->operations->family(b->means->backend, 0) : NULL;
	enum perfex_machine machine = family && strcmp(family, "r12000") == 0 ? PERFEX_R12000 : PERFEX_R10000;
	const struct event_definition *row = perfex_event_definition(b->means->events, machine, index);
	char *label = arena_printf(&b->selection->arena, "%s:%s", perfex_machine_name(machine), perfex_event_of(machine, index)->listed);
	if (!label)
		return error_no_memory(err);
	/* perfex counts at user level unless told otherwise */
	return add_paper_event(b, row, ":u", label, "tare has no event with the meaning of this one of the R10000",
			       err);
}

/* perfex's -e: a number, at most one a counter; anything else is a list of tare's own. */
static bool add_perfex_list(struct build *b, const char *list, long chosen[2], struct error *err)
{
	unsigned long long index;
	if (!isdigit((unsigned char)list[0]) || !str_to_u64(list, &index))
		return add_list(b, list, err);
	if (index >= PERFEX_EVENTS)
		return error_set(err, ERROR_USAGE, "perfex's events are 0 to %d, not %s", PERFEX_EVENTS - 1, list);
	long *counter = &chosen[index / PERFEX_PER_COUNTER];
	if (*counter >= 0) {
		error_set(err, ERROR_USAGE, "conflicting counters: events %ld and %llu are both of counter %llu",
			  *counter, index, index / PERFEX_PER_COUNTER);
		return error_hint(err, "choose one of 0 to 15 and one of 16 to 31");
	}
	*counter = (long)index;
	return add_perfex_event(b, index, err);
}

static bool choose(struct build *b, const struct count_request *request, const struct parameters *parameters,
		   struct error *err)
{
	long chosen[2] = { -1, -1 };
	bool perfex = request->compat == COMPAT_PERFEX;
	if (b->n_machines > 1 && (parameters || request->compat != COMPAT_NONE)) {
		error_set(err, ERROR_USAGE, "-P, -F and --compat report of one machine, not of %zu", b->n_machines);
		return error_hint(err, "choose one: --on model:%s", b->machines[0]);
	}
	if (parameters && !add_p5mon(b, parameters, request->compat, err))
		return false;
	for (size_t i = 0; i < request->event_lists.count; i++) {
		const char *list = request->event_lists.items[i];
		if (!(perfex ? add_perfex_list(b, list, chosen, err) : add_list(b, list, err)))
			return false;
	}
	b->required = true;
	for (size_t i = 0; i < request->required.count; i++)
		if (!add_list(b, request->required.items[i], err))
			return false;
	b->required = false;
	for (size_t i = 0; i < request->metric_lists.count; i++)
		if (!add_metric_list(b, request->metric_lists.items[i], err))
			return false;
	if (perfex && (request->perfex_all || b->slots.count == 0)) {
		for (size_t i = 0; i < PERFEX_EVENTS; i++)
			if (!add_perfex_event(b, i, err))
				return false;
	}
	if (b->slots.count)
		return true;
	if (request->parameter_file) {
		error_set(err, ERROR_USAGE, "'%s' asks for no event", request->parameter_file);
		return error_hint(err, "set one to yes (count_clocks = yes;), or give -e");
	}
	return add_defaults(b, err) && add_default_metrics(b, err);
}

bool selection_needs_metrics(const struct count_request *request)
{
	/* -F alone may leave the choice of events to the defaults */
	bool events = request->event_lists.count || request->required.count || request->compat == COMPAT_PERFEX || request->parameter_file;
	return request->metric_lists.count || !events;
}

bool selection_make(struct selection *out, const struct count_request *request,
		    const struct parameters *parameters, const struct counting_means *means, struct error *err)
{
	*out = (struct selection){ 0 };
	struct build b = { .selection = out, .means = means };
	if (means->operations->machines)
		b.machines = means->operations->machines(means->backend, &b.n_machines);
	bool done = choose(&b, request, parameters, err);
	out->events = b.events.items;
	out->n_events = b.events.count;
	out->metrics = b.metrics.items;
	out->n_metrics = b.metrics.count;
	out->slots = b.slots.items;
	out->n_slots = b.slots.count;
	if (b.user_only.length) {
		str_appendf(&b.user_only, " (%s)", b.user_only_why);
		out->user_only = b.user_only.failed ? NULL : arena_strdup(&out->arena, b.user_only.text);
	}
	str_free(&b.user_only);
	if (!done)
		selection_free(out);
	return done;
}

void selection_free(struct selection *selection)
{
	free(selection->events);
	free(selection->metrics);
	free(selection->slots);
	arena_free(&selection->arena);
	*selection = (struct selection){ 0 };
}
