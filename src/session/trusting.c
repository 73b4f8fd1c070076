/* What was verified before (tare verify), beside the numbers of a result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/profile.h"
#include "session/session.h"
#include "session/surroundings.h"
#include "session/trusting.h"
#include "store/runs/verdicts.h"
#include "trust/verdict.h"

static enum verdict_kind kind_of(const char *name)
{
	for (int i = 0; i < VERDICT_KINDS; i++)
		if (strcmp(verdict_kind_name((enum verdict_kind)i), name) == 0)
			return (enum verdict_kind)i;
	return VERDICT_UNJUDGED;
}

static bool is_of(const struct kept_verdict *row, const struct estimate *e, const char *interface)
{
	enum source source = e->source == SOURCE_SCALED ? SOURCE_HW : e->source;
	return row->source == source && strcmp(row->event, e->event) == 0 &&
	       strcmp(row->interface, interface) == 0 &&
	       (source != SOURCE_MODEL || (e->machine && row->machine && strcmp(e->machine, row->machine) == 0));
}

/* Its counter was seen to count nothing here: a 0 is not a count. */
static bool not_counted(struct result *result, struct estimate *e, const struct kept_verdict *row)
{
	if (e->value > 0)
		return true;
	e->why = arena_printf(&result->arena, "its counter counts nothing here ('tare verify', verification %lld)",
			      (long long)row->evidence);
	e->known = e->has_interval = false;
	e->source = SOURCE_NONE;
	e->n_runs = 0;
	return e->why != NULL;
}

static enum trust trust_of(const struct estimate *e, const struct kept_verdict *row)
{
	enum trust trust = verdict_trust(kind_of(row->kind), e->has_tare, row->usable_from,
					 e->has_tare ? e->gross : e->value);
	/* what was extrapolated is another question than whether the counter counts */
	return e->source == SOURCE_SCALED && trust == TRUST_VERIFIED ? TRUST_UNVERIFIED : trust;
}

static bool judge(struct result *result, struct estimate *e, const struct kept_verdict *row)
{
	if (kind_of(row->kind) == VERDICT_NOTHING)
		return not_counted(result, e, row);
	enum trust trust = trust_of(e, row);
	if (trust == TRUST_UNVERIFIED)
		return true;
	e->trust = trust;
	/* a calibration's id comes first */
	e->evidence = arena_printf(&result->arena, "%s%sverification:%lld", e->evidence ? e->evidence : "",
				   e->evidence ? " " : "", (long long)row->evidence);
	return e->evidence != NULL;
}

/* One line for what a reader has to know before using a number. */
static void say(struct str *line, const char *word, const struct estimate *e, const struct kept_verdict *row)
{
	if (strstr(line->text ? line->text : "", e->event))
		return;
	str_appendf(line, "%s%s", line->length ? ", " : word, e->event);
	str_appendf(line, " (%s)", row->text[0] ? row->text : row->kind);
}

struct trust_lines {
	struct str biased, refuted;
};

static bool judge_all(struct result *result, struct estimate *estimates, size_t n, const char *interface,
		      const struct verdict_list *list, struct trust_lines *lines)
{
	bool done = true;
	for (size_t i = 0; i < n && done; i++) {
		struct estimate *e = &estimates[i];
		if (!e->known || e->trust == TRUST_REFUTED)
			continue;
		if (e->source == SOURCE_EXACT) {
			e->trust = TRUST_VERIFIED; /* by the tests of its release */
			if (!e->evidence)
				e->evidence = "release:" TARE_VERSION;
			continue;
		}
		for (size_t k = 0; list && k < list->rows.count; k++) {
			const struct kept_verdict *row = &list->rows.items[k];
			if (!is_of(row, e, interface))
				continue;
			done = judge(result, e, row);
			if (e->known && e->trust == TRUST_BIASED)
				say(&lines->biased, "biased: ", e, row);
			else if (e->known && e->trust == TRUST_REFUTED)
				say(&lines->refuted, "refuted: ", e, row);
			break;
		}
	}
	return done;
}

/* A metric is as good as the weakest of its events; it is one number, so its evidence is theirs. */
static void judge_metrics(struct result *result)
{
	for (size_t m = 0; m < result->n_metrics; m++) {
		struct estimate *metric = &result->metrics[m];
		const struct estimate *weakest = NULL;
		for (size_t i = 0; metric->known && i < metric->n_inputs; i++)
			for (size_t k = 0; k < result->n_estimates; k++) {
				const struct estimate *e = &result->estimates[k];
				if (!estimate_is_total(e) || strcmp(e->event, metric->inputs[i]) != 0)
					continue;
				if (!weakest || (e->trust != weakest->trust &&
						 trust_weakest(e->trust, weakest->trust) == e->trust))
					weakest = e;
				break;
			}
		if (!weakest || metric->trust == TRUST_REFUTED)
			continue;
		metric->trust = weakest->trust;
		metric->evidence = weakest->evidence;
	}
}

static bool add_note(struct result *result, const char *text, enum note_rank rank)
{
	struct result_note *notes = arena_alloc(&result->arena, (result->n_notes + 1) * sizeof *notes);
	if (!notes || !text)
		return false;
	if (result->n_notes)
		memcpy(notes, result->notes, result->n_notes * sizeof *notes);
	notes[result->n_notes++] = (struct result_note){text, rank};
	result->notes = notes;
	return true;
}

static bool add_line(struct result *result, struct str *line)
{
	bool done = !line->failed &&
		    (!line->length || add_note(result, arena_strdup(&result->arena, line->text), NOTE_ACT));
	str_free(line);
	return done;
}

static bool has_counters(const struct result *result)
{
	for (size_t i = 0; i < result->n_estimates; i++)
		if (result->estimates[i].known && result->estimates[i].source != SOURCE_EXACT)
			return true;
	return false;
}

/* False: there are none, for whatever reason; a report does without. */
static bool find(const struct keeping *keeping, const struct machine_facts *machine, struct verdict_list *list)
{
	struct runs *runs;
	struct error err = {0};
	struct arena arena = {0};
	struct surroundings around = {0};
	if (!keep_open(keeping, RUNS_READ, &runs, &err))
		return false;
	surroundings_find(&arena, &around);
	const struct verification here = {
		.facts = *machine, .microcode = around.microcode, .tare_version = TARE_VERSION};
	bool done = runs_find_verdicts(runs, &here, list, &err);
	keep_close(keeping, runs);
	arena_free(&arena);
	return done;
}

static const char *stale_text(struct arena *arena, const struct verdict_list *list)
{
	return arena_printf(arena, "what 'tare verify' found is stale: %s; run it again", list->stale);
}

bool session_trust(struct session *s, const struct keeping *keeping)
{
	struct result *result = s->result;
	struct verdict_list list = {0};
	struct trust_lines lines = {0};
	/* recorded readings are of no machine that was verified */
	bool found = strcmp(s->operations->name, "replay") != 0 && has_counters(result) &&
		     find(keeping, &result->machine, &list);
	bool done = judge_all(result, result->estimates, result->n_estimates, "command", found ? &list : NULL,
			      &lines);
	for (size_t r = 0; done && r < result->n_regions; r++)
		done = judge_all(result, result->regions[r].estimates, result->regions[r].n_estimates, "region",
				 found ? &list : NULL, &lines);
	judge_metrics(result);
	done = add_line(result, &lines.refuted) && done;
	done = add_line(result, &lines.biased) && done;
	if (found && list.stale)
		done = done && add_note(result, stale_text(&result->arena, &list), NOTE_READ);
	if (found)
		verdict_list_free(&list);
	return done;
}

/* ---- intervals ---- */

struct session_trusts {
	struct arena arena; /* of the machine's facts */
	struct verdict_list list;
};

struct session_trusts *session_trusts_open(const struct session *session, const struct keeping *keeping)
{
	struct session_trusts *trusts = calloc(1, sizeof *trusts);
	struct machine_facts here = {0};
	if (trusts && strcmp(session->operations->name, "replay") != 0 &&
	    measure_machine_facts(&trusts->arena, &here) && find(keeping, &here, &trusts->list) &&
	    trusts->list.rows.count)
		return trusts;
	session_trusts_free(trusts);
	return NULL;
}

bool session_trusts_of(const struct session_trusts *trusts, const char *event, enum source source, double value,
		       enum trust *trust)
{
	const struct estimate like = {.event = event, .source = source, .value = value};
	*trust = source == SOURCE_EXACT ? TRUST_VERIFIED : TRUST_UNVERIFIED;
	for (size_t k = 0; source != SOURCE_EXACT && trusts && k < trusts->list.rows.count; k++) {
		const struct kept_verdict *row = &trusts->list.rows.items[k];
		if (!is_of(row, &like, "command"))
			continue;
		if (kind_of(row->kind) == VERDICT_NOTHING)
			return value > 0;
		*trust = trust_of(&like, row);
		return true;
	}
	return true;
}

void session_trusts_free(struct session_trusts *trusts)
{
	if (!trusts)
		return;
	verdict_list_free(&trusts->list);
	arena_free(&trusts->arena);
	free(trusts);
}

/* ---- profiles ---- */

/* Of what was counted while it was sampled; without a count no number of events is known, so the threshold of a
 * noisy counter is not reached. */
static void judge_sampled(struct profile_event *event, const struct kept_verdict *row, struct trust_lines *lines)
{
	enum verdict_kind kind = kind_of(row->kind);
	const struct estimate e = {.event = event->label};
	if (kind == VERDICT_NOTHING)
		return;
	event->trust = verdict_trust(kind, false, row->usable_from, event->has_total ? (double)event->total : 0);
	if (event->trust == TRUST_BIASED)
		say(&lines->biased, "biased: ", &e, row);
	else if (event->trust == TRUST_REFUTED)
		say(&lines->refuted, "refuted: ", &e, row);
}

static bool judge_event(struct profile *p, struct profile_event *event, const struct verdict_list *list,
			struct trust_lines *lines)
{
	if (event->why)
		return true;
	if (event->source == SOURCE_EXACT) {
		event->trust = TRUST_VERIFIED; /* by the tests of its release */
		event->evidence = "release:" TARE_VERSION;
		return true;
	}
	struct estimate like = {.event = event->label, .source = event->source, .machine = event->machine};
	for (size_t k = 0; k < list->rows.count; k++) {
		const struct kept_verdict *row = &list->rows.items[k];
		/* a file says that it was sampled, not by which of the two */
		if (event->source == SOURCE_SAMPLED && (row->source == SOURCE_HW || row->source == SOURCE_OS))
			like.source = row->source;
		if (!is_of(row, &like, "command"))
			continue;
		judge_sampled(event, row, lines);
		if (event->trust != TRUST_UNVERIFIED)
			event->evidence = arena_printf(&p->arena, "verification:%lld", (long long)row->evidence);
		return event->trust == TRUST_UNVERIFIED || event->evidence;
	}
	return true;
}

static bool note_once(struct profile *p, const char *text)
{
	for (size_t i = 0; text && i < p->n_notes; i++)
		if (strcmp(p->notes[i], text) == 0)
			return true;
	return profile_add_note(p, text);
}

static bool note_line(struct profile *p, struct str *line)
{
	bool done = !line->failed && (!line->length || note_once(p, arena_strdup(&p->arena, line->text)));
	str_free(line);
	return done;
}

bool session_trust_profile(struct profile *p, const struct keeping *keeping)
{
	struct verdict_list list = {0};
	struct trust_lines lines = {0};
	bool counters = false, done = true;
	for (size_t i = 0; i < p->n_events; i++)
		counters |= p->events[i].source != SOURCE_EXACT && !p->events[i].why;
	bool found = counters && session_profile_is_of_this_boot(p) && find(keeping, &p->machine, &list);
	for (size_t i = 0; done && i < p->n_events; i++)
		done = judge_event(p, &p->events[i], &list, &lines);
	done = note_line(p, &lines.refuted) && done;
	done = note_line(p, &lines.biased) && done;
	if (done && found && list.stale)
		done = note_once(p, stale_text(&p->arena, &list));
	if (found)
		verdict_list_free(&list);
	return done;
}
