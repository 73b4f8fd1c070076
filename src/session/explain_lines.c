/* The lines behind advice that counts by line do not give: of waits and page faults, by an execution that is
 * sampled; of locked instructions, most of which the C library executes, by one that follows calls. */
#include <string.h>

#include "session/explain_inside.h"

/* Advice stands without its line, whatever else failed. */
static bool ends_all(const struct explaining *x, const struct error *own, struct error *err)
{
	bool ends = own->code == ERROR_NO_MEMORY || (x->asked->interrupt && *x->asked->interrupt);
	if (ends)
		error_set(err, own->code, "%s", own->text);
	return ends;
}

/* ---- waits and page faults ---- */

static void hide_waits(struct explanation *e)
{
	e->has_waits = false;
	e->why_no_waits = NULL;
	e->waits.count = e->faults.count = 0;
	e->waits_s = e->preempted_s = 0;
}

static void hide_calls(struct explanation *e)
{
	e->has_calls = false;
	e->why_no_calls = NULL;
	e->calls.count = e->call_places.count = 0;
	e->calls_s = 0;
}

/* pthread_join(3) is also a futex(2). */
static bool is_lock(const struct explained_call *call)
{
	enum cause cause;
	for (size_t i = 0; i < call->n_functions; i++)
		if (explaining_waits_by_name(call->functions[i], &cause))
			return cause == CAUSE_LOCKS;
	return true;
}

/* Of the longest wait for a lock that has one; of system calls, where waits may not be sampled: that of the futex
 * calls that took longest. */
static struct advice_line waiting_line(const struct explanation *e)
{
	bool seen = false;
	for (size_t i = 0; i < e->waits.count; i++) {
		const struct explained_wait *wait = &e->waits.items[i];
		seen |= wait->cause == CAUSE_LOCKS;
		if (wait->cause == CAUSE_LOCKS && wait->file && wait->is_own)
			return (struct advice_line){wait->file, wait->line, NULL};
	}
	for (size_t i = 0; e->why_no_waits && i < e->call_places.count; i++) {
		const struct explained_call *call = &e->call_places.items[i];
		if (strcmp(call->name, "futex") != 0 || !is_lock(call))
			continue;
		seen = true;
		if (call->file)
			return (struct advice_line){call->file, call->line, NULL};
	}
	return (struct advice_line){.why_none = seen ? NULL
						: e->why_no_waits && !e->has_calls
							? e->why_no_waits
							: "the execution that looked for it had "
							  "no such wait"};
}

static bool find_waits(struct explaining *x, struct advice_facts *facts, struct error *err)
{
	struct explanation *e = x->e;
	const struct explain_asked *asked = x->asked;
	struct error own = {0};
	if (!advice_wants_waits(e))
		return true;
	if (!asked->wants_waits && !explaining_waits(x, &own)) {
		if (ends_all(x, &own, err))
			return false;
		if (!(e->why_no_waits = arena_strdup(&e->arena, own.text)))
			return error_no_memory(err);
	}
	if (e->why_no_waits && !asked->wants_waits && !asked->wants_calls && !explaining_calls(x, &own) &&
	    ends_all(x, &own, err))
		return false;
	facts->waiting = waiting_line(e);
	facts->faulting = x->faulting;
	if (!e->faults.count)
		facts->faulting.why_none = "the execution that looked for it had no page faults";
	if (e->why_no_waits)
		facts->faulting.why_none = arena_printf(&e->arena, "page faults may not be sampled here: %s",
							e->why_no_waits);
	if (!asked->wants_waits && !asked->wants_calls)
		hide_calls(e);
	if (!asked->wants_waits)
		hide_waits(e);
	return true;
}

/* ---- locked instructions ---- */

struct locking {
	struct explaining *x;
	struct advice_line line;
};

static size_t event_of(const struct breakdown *b, const char *label)
{
	for (size_t i = 0; i < b->n_events; i++)
		if (strcmp(b->events[i].label, label) == 0)
			return i;
	return b->n_events;
}

struct locking_line {
	const struct breakdown_row *row; /* NULL: none */
	uint64_t has, calls;             /* locked instructions, with what it calls; calls of its own */
	bool most;                       /* three of four, or more */
};

/* Of two lines that have most, the inner one has less; or it has as many, and calls more often than the one that
 * leads to it. */
static bool is_nearer(const struct locking_line *new, const struct locking_line *old)
{
	if (!old->row || new->most != old->most)
		return !old->row || new->most;
	if (!new->most)
		return new->has > old->has;
	return new->has < old->has || (new->has == old->has &&new->calls > old->calls);
}

/* The innermost line of the program's own that has most of them; where none has, the one that has more than
 * others. */
static bool take_locking(void *context, const struct breakdown *b)
{
	struct locking *l = context;
	size_t locked = event_of(b, "locked-instructions:u"), calls = event_of(b, "calls:u");
	struct locking_line best = {0};
	for (size_t r = 0; r < b->n_rows && locked < b->n_events && calls < b->n_events; r++) {
		const struct breakdown_row *row = &b->rows[r];
		if (!row->file || !row->line || !row->inclusive || !row->inclusive[locked] ||
		    explaining_is_c_library(row->module))
			continue;
		const struct locking_line new = {row, row->inclusive[locked], row->counts[calls],
						 4 * row->inclusive[locked] >= 3 * b->events[locked].total};
		if (is_nearer(&new, &best))
			best = new;
	}
	if (!best.row)
		return true;
	l->line = (struct advice_line){arena_strdup(&l->x->e->arena, best.row->file), best.row->line, NULL};
	return l->line.file != NULL;
}

static bool find_locking(struct explaining *x, const struct evidence_rows *evidence, struct advice_facts *facts,
			 struct error *err)
{
	struct locking l = {.x = x};
	struct error own = {0};
	const struct explaining_pass pass = {.on = "exact",
					     .events = "locked-instructions:u,calls:u",
					     .by = BREAKDOWN_BY_LINE,
					     .inclusive = true,
					     .take = take_locking,
					     .context = &l};
	if (!advice_wants_locking(x->e, evidence))
		return true;
	bool done = explaining_pass(x, &pass, &own);
	facts->locking = l.line;
	if (!done && ends_all(x, &own, err))
		return false;
	/* calls that cannot be followed are a reason */
	if (!done)
		facts->locking.why_none = arena_strdup(&x->e->arena, own.text);
	return true;
}

bool explaining_find_lines(struct explaining *x, const struct evidence_rows *evidence, struct advice_facts *facts,
			   struct error *err)
{
	return find_waits(x, facts, err) && find_locking(x, evidence, facts, err);
}
