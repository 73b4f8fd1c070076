#include "backend/engine/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/engine/available.h"
#include "backend/engine/cached_vector.h"
#include "backend/engine/regions.h"
#include "backend/engine/tally.h"
#include "engine/inject/injection.h"
#include "engine/wire/question.h"

struct answering {
	const struct answer_context *context;
	struct question *question;
	const struct view_process *process; /* it asks */
	struct view *view;
	struct tally *tally;
	struct execution_regions *regions;
	struct knowledge *known;
	size_t machines;                          /* struct model_counts of each thread */
	const struct counted_region *own, *calls; /* NULL: there is none */
	uint64_t count[COUNTS];                   /* what is to be told of */
	struct model_counts *models;              /* [machines] */
	const char *why, *models_why;             /* no value, or no modelled one: the reason */
	uint32_t other_threads;                   /* of the process, that have not ended */
};

__attribute__((format(printf, 2, 3))) static void refuse(struct question_event *event, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(event->why, sizeof event->why, format, args);
	va_end(args);
	event->state = QUESTION_REFUSED;
}

/* ---- which event ---- */

static bool resolve_exact(const struct answering *a, struct event *event, const struct exact_event *exact,
			  struct question_event *out)
{
	if (exact->why_not) {
		refuse(out, "%s", exact->why_not);
		return false;
	}
	if (exact_event_uses(exact, COUNT_CODE_LINES) || exact_event_uses(exact, COUNT_CODE_PAGES)) {
		refuse(out, "it is known for the whole program only: distinct lines cannot be subtracted");
		return false;
	}
	if (exact_event_uses(exact, COUNT_BASIC_BLOCKS)) {
		refuse(out, "it is known when the program has ended: code that is found later divides blocks");
		return false;
	}
	if (exact_event_needs_trace(exact) && a->machines == 0) {
		refuse(out, "the engine does not follow the program's accesses in this run");
		snprintf(out->hint, sizeof out->hint, "also name it to tare count: -e %.100s", event->label);
		return false;
	}
	return true;
}

/* An event without a level is, as `tare count` has it, the engine's: at user level. */
static bool names_both_levels(const char *label)
{
	size_t n = strlen(label);
	return n > 3 && strcmp(label + n - 3, ":uk") == 0;
}

/* The event of that name, if it is counted in this run; else the event's `why` says why it is not. */
static bool resolve(const struct answering *a, struct event_table *table, struct question_event *out,
		    struct execution_event *found)
{
	const struct counting_models *models = a->context->models;
	struct availability level;
	struct event event;
	struct error err = {0};
	*found = (struct execution_event){0};
	if (!memchr(out->name, 0, sizeof out->name) || !event_parse(table, out->name, &event, &err)) {
		refuse(out, "%.200s", err.text[0] ? err.text : "its name is too long");
		return false;
	}
	if (!names_both_levels(event.label))
		event.levels = event.levels == LEVEL_KERNEL ? LEVEL_KERNEL : LEVEL_USER;
	const struct exact_event *exact = event.machine ? NULL : exact_event_find(&event);
	if (exact && !resolve_exact(a, &event, exact, out))
		return false;
	if (!exact && (!event.definition || !(event.definition->counted_by & COUNTED_BY_MODEL))) {
		refuse(out, "%.200s",
		       event.definition && event.definition->no_model
			       ? event.definition->no_model
			       : "the engine counts what instructions do, in user mode");
		return false;
	}
	if (!exact && models->n == 0) {
		refuse(out, "no machine is modelled in this run");
		snprintf(out->hint, sizeof out->hint,
			 "run the program by 'tare count --on model:%s', without -e or with -e %.100s",
			 event.machine ? event.machine : "host", event.label);
		return false;
	}
	if (!exact && !models->resolve(models->context, &event, found, out->why, out->hint, sizeof out->why)) {
		out->state = QUESTION_REFUSED;
		return false;
	}
	if (!exact_event_level(&event, &level)) {
		refuse(out, "%.200s", level.why);
		snprintf(out->hint, sizeof out->hint, "%.200s", level.remedy);
		return false;
	}
	found->exact = exact;
	return true;
}

/* ---- how many ---- */

static const struct counted_region *region_of(const struct answering *a, uint32_t local)
{
	size_t index = local ? regions_index(a->regions, a->process, local - 1) : SIZE_MAX;
	const struct counted_region *region = index < a->regions->n ? &a->regions->all[index] : NULL;
	return region && region->hidden ? region : NULL;
}

static bool add_counts(uint64_t to[COUNTS], const uint64_t from[COUNTS])
{
	bool fits = true;
	for (size_t i = 0; i < COUNTS; i++)
		fits &= !__builtin_add_overflow(to[i], from[i], &to[i]);
	return fits;
}

static bool take_counts(uint64_t *to, const uint64_t *from, size_t n)
{
	bool fits = true;
	for (size_t i = 0; i < n; i++)
		fits &= !__builtin_sub_overflow(to[i], from[i], &to[i]);
	return fits;
}

static void find_other_threads(struct answering *a)
{
	for (size_t i = 0; i < a->process->n_threads; i++) {
		const struct record_thread *thread = a->process->threads[i].record;
		a->other_threads += thread->state != RECORD_THREAD_EXITED && thread->tid != a->question->asker;
	}
}

static void sum_thread(struct answering *a)
{
	if (!a->own)
		return; /* nothing was executed outside of its first call since */
	memcpy(a->count, a->own->count, sizeof a->count);
	if (a->own->switched || a->own->unbalanced)
		a->why = "a call of libtare was reached by a way that the engine cannot tell from the program's "
			 "own "
			 "instructions";
	if (a->machines == 0)
		return;
	if (!a->own->models) {
		a->models_why = a->regions->models_why;
		return;
	}
	memcpy(a->models, a->own->models, a->machines * sizeof *a->models);
	if (a->own->moved || a->own->models[0].stream[STREAM_INSTRUCTIONS] != a->own->count[COUNT_INSTRUCTIONS])
		a->models_why = "the access stream's instructions are not those that were executed: a call of "
				"libtare could not be taken out of it";
}

static void sum_process(struct answering *a)
{
	for (size_t r = 0; r < a->tally->n_rows; r++) {
		const struct tally_row *row = &a->tally->rows[r];
		if (row->process != a->process->head->index)
			continue;
		if (!add_counts(a->count, row->count) ||
		    (a->machines && !tally_add_models(a->models, row->models, a->machines)))
			a->why = "a count does not fit in 64 bits";
	}
	if (a->other_threads)
		a->models_why = "other threads of the process run: what they have accessed is not all known yet";
	if (!a->calls)
		return;
	if (a->calls->switched || a->calls->unbalanced || !take_counts(a->count, a->calls->count, COUNTS))
		a->why = "the engine's record of regions is damaged";
	if (a->machines && !a->calls->models)
		a->models_why = a->regions->models_why;
	if (a->machines && a->calls->models && !a->models_why &&
	    !take_counts((uint64_t *)a->models, (const uint64_t *)a->calls->models,
			 a->machines * sizeof *a->models / sizeof(uint64_t)))
		a->models_why = "the engine's record of regions is damaged";
}

static bool look(struct answering *a, struct injection *injection, uint32_t index)
{
	const struct record_head *record = injection_record(injection);
	struct tally_options options = {.children = true,
					.part = true,
					.still_running = true,
					.machines = a->machines,
					.knowledge = a->known};
	if (!view_process_new(injection, index, &a->view, NULL) || index >= a->view->n_processes ||
	    !regions_new(a->view, record->region_count, true, a->machines, &a->regions, NULL))
		return false;
	options.regions = a->regions;
	a->process = &a->view->processes[index];
	a->own = region_of(a, a->question->own);
	a->calls = region_of(a, a->question->calls);
	if (a->question->scope == QUESTION_OF_THREAD)
		options.only = a->own;
	if (!tally_new(a->view, &options, &a->tally, NULL) ||
	    !(a->models = calloc(a->machines + 1, sizeof *a->models)))
		return false;
	a->why = a->tally->why ? a->tally->why : a->regions->why;
	a->models_why = a->tally->models_why ? a->tally->models_why : a->regions->models_why;
	find_other_threads(a);
	if (!a->why && a->question->scope == QUESTION_OF_THREAD)
		sum_thread(a);
	else if (!a->why)
		sum_process(a);
	return true;
}

static void answer_event(const struct answering *a, const struct execution_event *found,
			 struct question_event *out)
{
	const char *why = a->why;
	if (!why && found->exact)
		why = exact_event_unknown(found->exact, a->tally);
	if (!why && (found->modelled || exact_event_needs_trace(found->exact)))
		why = a->models_why;
	if (!why && found->exact && !exact_event_value(found->exact, a->count, &out->value))
		why = "the count does not fit in 64 bits";
	if (!why && found->modelled &&
	    !a->context->models->value(a->context->models->context, found->modelled, &a->models[found->machine],
				       &out->value, &why))
		why = why ? why : "the model has no value";
	if (why)
		refuse(out, "%s", why);
	else
		out->state = found->exact ? QUESTION_EXACT : QUESTION_MODELLED;
}

void answer_question(void *context, struct injection *injection, uint32_t index, struct question *question)
{
	struct answer_context *from = context;
	if (!from->table)
		from->table = event_table_new(NULL);
	if (!from->known && (from->known = calloc(1, sizeof *from->known)))
		from->known->keeps = true;
	struct answering a = {.context = from, .question = question, .known = from->known};
	struct event_table *table = from->table;
	if (injection_record(injection)->flags & RECORD_TRACE)
		a.machines = from->models->n ? from->models->n : 1;
	bool known = table && look(&a, injection, index);
	for (uint32_t i = 0; i < question->n; i++) {
		struct question_event *out = &question->events[i];
		struct execution_event found;
		out->state = QUESTION_UNKNOWN, out->value = 0;
		out->why[0] = out->hint[0] = 0;
		if (!known)
			refuse(out, "the engine's record cannot be read");
		else if (resolve(&a, table, out, &found))
			answer_event(&a, &found, out);
	}
	tally_free(a.tally);
	regions_free(a.regions);
	view_free(a.view);
	free(a.models);
}
