/* After the measurement: the result's rows in the order in which they were asked for, and what nobody asked for
 * and nothing here counts folded into one note for each reason. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "session/reason.h"

/* Not counted because nothing here can count it, or not in such a run; not because its turn never came. */
static bool cannot_count(const struct session *session, const struct asked_row *row, const struct estimate *e)
{
	struct availability answer = {.state = READING_COUNTED};
	if (e->known || row->event == ROW_NO_EVENT)
		return false;
	if (e->why && strcmp(e->why, UNDER_ENGINE) == 0)
		return true;
	session->operations->available(session->backend, &session->events_of->selection.events.items[row->event],
				       &answer);
	return answer.state != READING_COUNTED;
}

/* "not counted: a, b (why)" for each reason, and how many there are; user_only: a note that is in the result's
 * arena, or NULL. */
static bool remark(struct result *result, const char *user_only, const struct estimate *const *folded, size_t n)
{
	VEC(struct result_note) notes = {0};
	VEC(size_t) numbers = {0};
	struct reasons reasons = {0};
	bool done = false;
	for (size_t i = 0; i < result->n_notes; i++)
		if (!vec_push(&notes, result->notes[i]))
			goto out;
	for (size_t i = 0; i < n; i++) {
		const char *why = folded[i]->why ? folded[i]->why : "no reason is known";
		size_t number = reasons_add(&reasons, &result->arena, why, NULL, folded[i]->event);
		if (!number || !vec_push(&numbers, number))
			goto out;
	}
	for (size_t r = 1; r <= reasons.items.count; r++) {
		struct str text = {0};
		for (size_t i = 0; i < n; i++)
			if (numbers.items[i] == r)
				str_appendf(&text, "%s%s", text.length ? ", " : "not counted: ", folded[i]->event);
		str_appendf(&text, " (%s)", reasons_text(&reasons, r));
		char *note = text.failed ? NULL : arena_strdup(&result->arena, text.text);
		str_free(&text);
		if (!note || !vec_push(&notes, ((struct result_note){note, NOTE_DETAIL})))
			goto out;
	}
	if (user_only && !vec_push(&notes, ((struct result_note){user_only, NOTE_READ})))
		goto out;
	if (n) {
		const char *all = arena_printf(
			&result->arena, "not counted here: %zu standard event%s (-v and 'tare doctor' say why)", n,
			n == 1 ? "" : "s");
		if (!all || !vec_push(&notes, ((struct result_note){all, NOTE_READ})))
			goto out;
	}
	struct result_note *kept = arena_alloc(&result->arena, (notes.count + 1) * sizeof *kept);
	if (!kept)
		goto out;
	if (notes.count)
		memcpy(kept, notes.items, notes.count * sizeof *kept);
	result->notes = kept;
	result->n_notes = notes.count;
	done = true;
out:
	vec_free(&notes);
	vec_free(&numbers);
	vec_free(&reasons.items);
	return done;
}

bool session_order_rows(struct session *session, bool fold)
{
	const struct selection *selection = &session->events_of->selection;
	struct result *result = session->result;
	size_t n = 0, n_folded = 0, most = result->n_estimates + selection->rows.count;
	struct estimate *rows = arena_alloc(&result->arena, (most + 1) * sizeof *rows);
	const struct estimate **first = calloc(selection->events.count + 2, sizeof *first);
	const struct estimate **folded = calloc(selection->rows.count + 1, sizeof *folded);
	const struct estimate *end = result->estimates + result->n_estimates;
	size_t event = 0;
	const char *user_only = NULL;
	bool done = rows && first && folded;
	if (!done)
		goto out;
	if (selection->user_only.length &&
	    (selection->user_only.failed ||
	     !(user_only = arena_printf(&result->arena, "%s (%s)", selection->user_only.text,
					selection->user_only_why))))
		goto no_memory;
	/* totals are in the order of the events, each before its threads' or CPUs' rows */
	for (const struct estimate *e = result->estimates; e < end && event <= selection->events.count; e++)
		if (estimate_is_total(e))
			first[event++] = e;
	for (size_t i = 0; i < selection->rows.count; i++) {
		const struct asked_row *asked = &selection->rows.items[i];
		if (asked->event == ROW_NO_EVENT) {
			struct estimate *row = arena_alloc(&result->arena, sizeof *row);
			if (!row)
				goto no_memory;
			*row = (struct estimate){.event = arena_strdup(&result->arena, asked->label),
						 .unit = asked->unit ? asked->unit : "events",
						 .level = "",
						 .confidence = result->confidence,
						 .why = asked->why,
						 .cpu = -1};
			if (!row->event ||
			    (asked->unit && !(row->unit = arena_strdup(&result->arena, asked->unit))))
				goto no_memory;
			if (fold && selection->defaults)
				folded[n_folded++] = row;
			else
				rows[n++] = *row;
			continue;
		}
		const struct estimate *e = first[asked->event];
		if (!e)
			continue;
		if (fold && selection->defaults && cannot_count(session, asked, e)) {
			folded[n_folded++] = e;
			continue;
		}
		do {
			rows[n] = *e;
			if (asked->label && !(rows[n].event = arena_strdup(&result->arena, asked->label)))
				goto no_memory;
			n++;
		} while (++e < end && !estimate_is_total(e));
	}
	if (fold && selection->defaults) {
		/* nobody asked for these rates: without a value they add nothing to their events' */
		size_t kept = 0;
		for (size_t i = 0; i < result->n_metrics; i++)
			if (result->metrics[i].known)
				result->metrics[kept++] = result->metrics[i];
		result->n_metrics = kept;
	}
	done = remark(result, user_only, folded, n_folded);
	if (done) {
		result->estimates = rows;
		result->n_estimates = n;
	}
	goto out;
no_memory:
	done = false;
out:
	free(first);
	free(folded);
	return done;
}
