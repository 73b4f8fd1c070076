/* Counts of a program's own code, and with the libraries that it calls: for tables that compare the two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "predict/nest.h"
#include "predict/predict.h"
#include "session/paper_inside.h"
#include "trust/helper_programs.h"

/* By place a run has eight counts of models, and an event is the sum of two at most. */
enum { TOGETHER = 4 };

/* Where the counts of a label stand; n_events: nowhere. */
static size_t event_of(const struct breakdown *b, const char *request)
{
	size_t i = 0;
	while (i < b->n_events && strcmp(b->events[i].label, request) != 0)
		i++;
	return i;
}

static bool is_own(const struct breakdown_row *row, const char *program, const char *function)
{
	return function ? row->name && strcmp(row->name, function) == 0 : strcmp(row->module, program) == 0;
}

static double own_of(const struct breakdown *b, size_t event, const char *program, const char *function)
{
	double sum = 0;
	for (size_t i = 0; i < b->n_rows; i++)
		if (is_own(&b->rows[i], program, function))
			sum += (double)b->rows[i].counts[event];
	return sum;
}

static const struct estimate *estimate_of(const struct result *result, const char *request)
{
	for (size_t i = 0; i < result->n_estimates; i++)
		if (estimate_is_total(&result->estimates[i]) && strcmp(result->estimates[i].event, request) == 0)
			return &result->estimates[i];
	return NULL;
}

static bool fill(struct paper_work *w, const struct session *s, const char *request, const char *program,
		 const char *function, struct paper_split *to)
{
	const struct breakdown *b = s->result->breakdown;
	const struct estimate *e = estimate_of(s->result, request);
	size_t event = event_of(b, request);
	*to = (struct paper_split){0};
	if (!e || !e->known || event == b->n_events || b->events[event].why) {
		const char *why = e && !e->known                                ? e->why
				  : event < b->n_events && b->events[event].why ? b->events[event].why
										: NULL;
		to->why = paper_printf(w, "%s", why ? why : "not counted by place");
		return true;
	}
	to->known = true;
	to->all = (double)b->events[event].total;
	to->own = own_of(b, event, program, function);
	to->source = paper_printf(w, "%s", e->machine ? e->machine : source_name(e->source));
	return true;
}

/* own code of functions[n_functions] (NULL: of the program's file), each out[n] behind the other */
static bool split_some(struct paper_work *w, const char *on, const char *const *requests, size_t n,
		       const char *const *argv, const char *region, const char *const *functions,
		       size_t n_functions, struct paper_split *out)
{
	struct session s = {0};
	struct session_target target = {
		.kind = TARGET_COMMAND, .program = (char *const *)argv, .reproducible = true};
	struct measure_options options = {.size = sizeof options,
					  .repetitions = 1,
					  .confidence = 0.95,
					  .program_output = OUTPUT_NONE,
					  .interrupt = w->asked->interrupt,
					  .locations = LOCATIONS_OF_CODE};
	struct str list = {0};
	char *program = realpath(argv[0], NULL); /* as modules are named */
	for (size_t i = 0; i < n; i++)
		str_appendf(&list, "%s%s", i ? "," : "", requests[i]);
	bool done = (program && !list.failed) || error_no_memory(w->err);
	done = done && session_open(&s, &target, on, NULL, 0, w->err) && session_add_events(&s, list.text, w->err);
	if (done && region) {
		s.target.locations_inside = true;
		done = session_add_regions(&s, &region, 1, w->err);
	}
	done = done && session_measure(&s, &options, w->err);
	if (done && s.result->interrupted)
		done = error_set(w->err, ERROR_SYSTEM, "interrupted");
	else if (done && s.result->wait_status)
		done = error_set(w->err, ERROR_SYSTEM, "'%s' failed", argv[0]);
	done = done && session_break_down(&s, BREAKDOWN_BY_FUNCTION, false, w->err);
	for (size_t f = 0; done && f < n_functions; f++)
		for (size_t i = 0; done && i < n; i++)
			done = fill(w, &s, requests[i], program, functions[f], &out[f * n + i]);
	if (done)
		w->study->executions += s.result->executions;
	session_close(&s);
	str_free(&list);
	free(program);
	return done;
}

bool paper_functions(struct paper_work *w, const char *on, const char *const *requests, size_t n,
		     const char *const *argv, const char *const *functions, size_t n_functions,
		     struct paper_split *out)
{
	return split_some(w, on, requests, n, argv, NULL, functions, n_functions, out);
}

bool paper_split(struct paper_work *w, const char *on, const char *const *requests, size_t n,
		 const char *const *argv, const char *region, const char *function, struct paper_split *out)
{
	struct paper_counter here;
	const char *some[TOGETHER];
	struct paper_split counts[TOGETHER];
	size_t at[TOGETHER], n_some = 0;
	bool done = paper_counter_open(w, &here, on, requests, n);
	for (size_t i = 0; done && i < n; i++) {
		out[i] = (struct paper_split){.why = here.why[i]};
		if (!here.why[i]) {
			some[n_some] = requests[i];
			at[n_some++] = i;
		}
		if (n_some == 0 || (n_some < TOGETHER && i + 1 < n))
			continue;
		done = split_some(w, on, some, n_some, argv, region, &function, 1, counts);
		for (size_t k = 0; done && k < n_some; k++)
			out[at[k]] = counts[k];
		n_some = 0;
	}
	paper_counter_close(&here);
	return done;
}

/* ---- from the code alone ---- */

static bool parse_events(struct paper_work *w, struct session *s, const char *const *requests, size_t n,
			 struct event *events)
{
	for (size_t i = 0; i < n; i++)
		if (!event_parse(s->events, requests[i], &events[i], w->err))
			return false;
	return true;
}

bool paper_predict(struct paper_work *w, const char *program, const char *function, const char *const *requests,
		   size_t n, double side, double *out)
{
	struct session s = {0};
	struct event events[PAPER_EVENTS_MOST];
	struct prediction p = {0};
	bool done = session_open(&s, NULL, "exact", NULL, 0, w->err) && parse_events(w, &s, requests, n, events) &&
		    predict(program, function, events, n, &p, w->err);
	for (size_t i = 0; done && i < n; i++) {
		uint64_t at[NEST_DEPTHS];
		double times = 1;
		done = predict_nest(&p, i, at, w->err);
		out[i] = 0;
		for (size_t depth = 0; done && depth < NEST_DEPTHS; depth++, times *= side)
			out[i] += (double)at[depth] * times;
	}
	prediction_free(&p);
	session_close(&s);
	return done;
}

const char *paper_program(struct paper_work *w, const char *name)
{
	char *found = helper_kernel(name, w->err);
	const char *kept = found ? arena_strdup(&w->study->arena, found) : NULL;
	if (found && !kept)
		error_no_memory(w->err);
	free(found);
	return kept;
}
