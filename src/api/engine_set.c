#include "api/engine_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/wire/question.h"

_Static_assert(QUESTION_EVENTS >= TARE_EVENTS_MOST, "one question for all events of a set");

struct engine_set {
	struct question question; /* its events' names are those of the set */
	uint64_t sum[TARE_EVENTS_MOST], began[TARE_EVENTS_MOST];
	uint64_t sum_ns, began_ns;
};

struct engine_set *engine_set_new(void)
{
	struct engine_set *set = calloc(1, sizeof *set);
	if (set)
		set->question.bytes = sizeof set->question;
	return set;
}

void engine_set_free(struct engine_set *set) { free(set); }

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- asking ---- */

#if defined(__x86_64__) && !defined(__ILP32__)
/* 1 by the engine, which returns in its place; otherwise 0. */
__attribute__((naked)) static unsigned long engine_ask(__attribute__((unused)) struct question *question)
{
	__asm__(".byte 0x66, 0x0f, 0x1f, 0x84, 0x00\n\t.long 0x5441520a\n\txor %eax, %eax\n\tret");
}
#else
static unsigned long engine_ask(struct question *question)
{
	(void)question;
	return 0;
}
#endif

/* The values of all events now, in the question. */
static bool ask(const struct tare_counters *c, struct tare_error *error)
{
	struct question *q = &c->engine->question;
	if (c->scope == TARE_THREAD && c->thread != gettid())
		return api_fail_text(
			error, TARE_ERROR_USAGE,
			"another thread opened the set: under tare's engine it reads its counters itself",
			"open a set in this thread");
	q->scope = c->scope == TARE_THREAD ? QUESTION_OF_THREAD : QUESTION_OF_PROCESS;
	for (uint32_t i = 0; i < q->n; i++)
		q->events[i].state = QUESTION_UNKNOWN;
	if (engine_ask(q) != 1)
		return api_fail_text(error, TARE_ERROR_UNSUPPORTED, "tare's engine does not answer this process",
				     "it answers a libtare of its own release, and programs that have not changed "
				     "their rights");
	for (uint32_t i = 0; i < q->n; i++) {
		struct question_event *event = &q->events[i];
		struct error inner = {0};
		if (event->state == QUESTION_EXACT || event->state == QUESTION_MODELLED)
			continue;
		event->why[sizeof event->why - 1] = event->hint[sizeof event->hint - 1] = 0;
		error_set(&inner, ERROR_UNSUPPORTED, "cannot count '%s' under tare's engine: %s", event->name,
			  event->why);
		error_hint(&inner, "%s", event->hint);
		return api_fail(error, &inner);
	}
	return true;
}

/* ---- a set's life ---- */

/* The event's name is put into the question. */
static bool add_one(struct tare_counters *c, const struct event *event, struct error *err)
{
	struct counted_event added = {
		.event = *event, .unit = event->definition ? event->definition->unit : "events", .scale = 1};
	struct question *q = &c->engine->question;
	if (q->n >= TARE_EVENTS_MOST) {
		error_set(err, ERROR_LIMIT, "a set has at most %d events; '%s' is one more", TARE_EVENTS_MOST,
			  event->label);
		return error_hint(err, "open another set");
	}
	if (strlen(event->text) >= QUESTION_NAME)
		return error_set(err, ERROR_USAGE, "the event's name '%.40s...' is longer than %u bytes",
				 event->text, QUESTION_NAME - 1);
	if (!vec_push(&c->events, added))
		return error_no_memory(err);
	struct question_event *to = &q->events[q->n];
	*to = (struct question_event){0};
	memcpy(to->name, event->text, strlen(event->text));
	c->engine->sum[q->n++] = 0;
	return true;
}

bool engine_add(struct tare_counters *c, const char *events, struct tare_error *error)
{
	struct error inner = {0};
	struct event *list = NULL;
	size_t n = 0, had = c->events.count;
	bool done = event_parse_list(c->table, events, &list, &n, &inner);
	for (size_t i = 0; done && i < n; i++)
		done = add_one(c, &list[i], &inner);
	free(list);
	if (!done)
		api_fail(error, &inner);
	done = done && ask(c, error);
	for (size_t i = had; done && i < c->events.count; i++)
		c->events.items[i].source = c->engine->question.events[i].state == QUESTION_EXACT ? SOURCE_EXACT
												  : SOURCE_MODEL;
	if (!done) {
		counters_cut(c, had);
		c->engine->question.n = (uint32_t)had;
	}
	return done;
}

static void begin(struct engine_set *set)
{
	for (uint32_t i = 0; i < set->question.n; i++)
		set->began[i] = set->question.events[i].value;
	set->began_ns = now_ns();
}

bool engine_start(struct tare_counters *c, struct tare_error *error)
{
	if (c->started)
		return true;
	if (!ask(c, error))
		return false;
	begin(c->engine);
	c->started = true;
	return true;
}

bool engine_read(const struct tare_counters *c, struct tare_reading *readings, struct tare_error *error)
{
	const struct engine_set *set = c->engine;
	if (c->started && !ask(c, error))
		return false;
	uint64_t ns = set->sum_ns + (c->started ? now_ns() - set->began_ns : 0);
	for (uint32_t i = 0; i < set->question.n; i++)
		readings[i] = (struct tare_reading){
			.count = set->sum[i] + (c->started ? set->question.events[i].value - set->began[i] : 0),
			.enabled_ns = ns,
			.running_ns = ns,
			.state = TARE_COUNTED};
	return true;
}

bool engine_stop(struct tare_counters *c, struct tare_reading *readings, struct tare_error *error)
{
	struct engine_set *set = c->engine;
	struct tare_reading now[TARE_EVENTS_MOST];
	if (!engine_read(c, now, error))
		return false;
	for (uint32_t i = 0; i < set->question.n; i++)
		set->sum[i] = now[i].count;
	if (set->question.n)
		set->sum_ns = now[0].enabled_ns;
	c->started = false;
	if (readings)
		memcpy(readings, now, set->question.n * sizeof *readings);
	return true;
}

bool engine_reset(struct tare_counters *c, struct tare_error *error)
{
	struct engine_set *set = c->engine;
	if (c->started && !ask(c, error))
		return false;
	memset(set->sum, 0, sizeof set->sum);
	set->sum_ns = 0;
	begin(set);
	return true;
}

/* ---- without it ---- */

/* The machine that the engine counts these events on: "exact" needs none. NULL: it does not count them all. */
static const char *engine_counts_on(const char *list)
{
	const char *on = NULL;
#if defined(__x86_64__) && !defined(__ILP32__)
	struct event_table *table = event_table_new(NULL);
	struct event *events = NULL;
	size_t n = 0;
	bool counts = table && event_parse_list(table, list, &events, &n, NULL) && n > 0, exact = true;
	for (size_t i = 0; counts && i < n; i++) {
		const struct event_definition *row = events[i].definition;
		bool user = events[i].levels == LEVEL_USER || !strchr(events[i].label, ':');
		counts = user && row && (row->counted_by & COUNTED_BY_EXACT || row->model || row->models);
		exact = exact && counts && row->counted_by & COUNTED_BY_EXACT;
	}
	/* perfex's and run_p5mon's events are of those machines */
	if (counts)
		on = strncmp(list, "r10000:", 7) == 0  ? "model:r10000"
		     : strncmp(list, "p5mon:", 6) == 0 ? "model:pentium"
		     : exact                           ? "exact"
						       : "model:host";
	free(events);
	event_table_free(table);
#else
	(void)list;
#endif
	return on;
}

bool engine_counts(const char *list) { return engine_counts_on(list) != NULL; }

static const char SUGGESTION[] = "without hardware counters, 'tare count --on ";

void engine_suggest(struct tare_error *error, const char *events)
{
	char text[sizeof error->hint];
	bool cannot = error && (error->code == TARE_ERROR_UNSUPPORTED || error->code == TARE_ERROR_PERMISSION);
	const char *on = cannot ? engine_counts_on(events) : NULL;
	if (!on)
		return;
	int n = snprintf(text, sizeof text, "%s%s%s%s %s' answers these calls", error->hint,
			 *error->hint ? "; " : "", SUGGESTION, on, program_invocation_name);
	if (n > 0 && (size_t)n < sizeof text)
		memcpy(error->hint, text, (size_t)n + 1);
}

size_t engine_suggestion_at(const char *hint)
{
	const char *at = strstr(hint, SUGGESTION);
	if (!at)
		return strlen(hint);
	return (size_t)(at - hint) - (at > hint ? strlen("; ") : 0);
}
