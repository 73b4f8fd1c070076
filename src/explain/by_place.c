#include "explain/by_place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void by_place_begin(struct by_place *p, struct explanation *e, unsigned levels, const struct costs *costs)
{
	*p = (struct by_place){.e = e, .costs = costs};
	p->n_rules = cause_rules_of(levels, costs, p->rules);
	/* what has no cost is not counted by place */
	for (size_t i = 0; i < p->n_rules; i++)
		p->taken[i] = !costs->of[p->rules[i].operation].known || p->rules[i].cause == CAUSE_CALLS;
}

static void append_events(const struct by_place *p, const char *gap, struct str *out)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (!p->taken[i])
			str_appendf(out, "%s%s%s%s", out->length ? gap : "", p->rules[i].event,
				    p->rules[i].less ? gap : "", p->rules[i].less ? p->rules[i].less : "");
}

void by_place_events(const struct by_place *p, struct str *out) { append_events(p, ",", out); }

/* n_events: it has no rows of it. */
static size_t event_of(const struct breakdown *b, const char *label)
{
	for (size_t i = 0; i < b->n_events; i++)
		if (strcmp(b->events[i].label, label) == 0 && !b->events[i].why && !b->events[i].defect)
			return i;
	return b->n_events;
}

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static uint64_t hash_of(const struct breakdown_row *row)
{
	uint64_t hash = hash_text(hash_text(hash_text(HASH_BEGIN, row->name), row->module), row->file);
	return hash_number(hash_text(hash, row->kind), row->line);
}

static bool keep_text(struct arena *arena, const char *text, const char **out)
{
	*out = text ? arena_strdup(arena, text) : NULL;
	return !text || *out;
}

/* A heap object is where it was allocated: objects of two places have two rows. */
static bool same_frames(const struct explained_place *place, const struct breakdown_row *row)
{
	const struct breakdown_frame *frame = row->n_frames ? &row->frames[0] : NULL;
	return same_text(place->allocated_in, frame ? frame->function : NULL) &&
	       place->allocated_at == (frame ? frame->line : 0);
}

/* The place of the row, new or not; NULL: memory ran out. */
static struct explained_place *place_of(struct by_place *p, const struct breakdown_row *row)
{
	uint64_t hash = hash_of(row);
	struct hash_search search = hash_find(&p->index, hash);
	struct arena *arena = &p->e->arena;
	for (uint32_t i; hash_next(&search, &i);) {
		struct explained_place *place = &p->found.items[i];
		if (place->line == row->line && same_text(place->name, row->name) &&
		    same_text(place->module, row->module) && same_text(place->file, row->file) &&
		    same_text(place->kind, row->kind) && same_frames(place, row))
			return place;
	}
	struct explained_place new = {.line = row->line, .sum = 0};
	const struct breakdown_frame *frame = row->n_frames ? &row->frames[0] : NULL;
	for (unsigned c = 0; c < CAUSES_COUNTED; c++)
		new.seconds[c] = NAN;
	new.allocated_at = frame ? frame->line : 0;
	if (!keep_text(arena, row->name, &new.name) || !keep_text(arena, row->module, &new.module) ||
	    !keep_text(arena, row->file, &new.file) || !keep_text(arena, row->kind, &new.kind) ||
	    !keep_text(arena, frame ? frame->function : NULL, &new.allocated_in) || !vec_push(&p->found, new) ||
	    !hash_add(&p->index, hash, (uint32_t)p->found.count - 1))
		return NULL;
	return &p->found.items[p->found.count - 1];
}

static double typical_of(const struct cost *cost)
{
	return !isnan(cost->typical) ? cost->typical : !isnan(cost->most) ? cost->most : cost->least;
}

static bool add_rule(struct by_place *p, const struct cause_rule *rule, const struct breakdown *b, size_t event,
		     size_t less)
{
	double cost = typical_of(&p->costs->of[rule->operation]);
	for (size_t r = 0; r < b->n_rows; r++) {
		const struct breakdown_row *row = &b->rows[r];
		double count = (double)row->counts[event] - (rule->less ? (double)row->counts[less] : 0);
		struct explained_place *place = place_of(p, row);
		if (!place)
			return false;
		double *sum = &place->seconds[rule->cause];
		*sum = (isnan(*sum) ? 0 : *sum) + fmax(count, 0) * cost;
		place->sum += fmax(count, 0) * cost;
	}
	return true;
}

bool by_place_add(struct by_place *p, const struct breakdown *b, bool *more)
{
	*more = false;
	p->e->by = b->by;
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct cause_rule *rule = &p->rules[i];
		size_t event = event_of(b, rule->event), less = rule->less ? event_of(b, rule->less) : 0;
		if (p->taken[i] || event == b->n_events || less == b->n_events)
			continue;
		p->taken[i] = *more = true;
		if (!add_rule(p, rule, b, event, less))
			return false;
	}
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct explained_place *x = a, *y = b;
	if (x->sum != y->sum)
		return (x->sum < y->sum) - (x->sum > y->sum);
	int order = strcmp(x->name, y->name);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

bool by_place_end(struct by_place *p, struct error *err)
{
	struct explanation *e = p->e;
	struct str missing = {0};
	bool done = true;
	append_events(p, ", ", &missing); /* a sentence's, which is broken into lines */
	if (missing.length) {
		const char *text = arena_printf(&e->arena, "Not counted by %s, and so not in its rows: %s.",
						breakdown_by_name(e->by), missing.text);
		done = text && vec_push(&e->notes, ((struct result_note){text, NOTE_READ}));
	}
	e->places = arena_alloc(&e->arena, (p->found.count + 1) * sizeof *e->places);
	done = done && e->places && !missing.failed;
	if (done && p->found.count) {
		e->n_places = p->found.count;
		memcpy(e->places, p->found.items, p->found.count * sizeof *e->places);
		qsort(e->places, e->n_places, sizeof *e->places, by_time);
	}
	str_free(&missing);
	by_place_free(p);
	return done || error_no_memory(err);
}

void by_place_free(struct by_place *p)
{
	vec_free(&p->found);
	hash_free(&p->index);
}
