/*
 * Regions: their counts become series as the program's own do, with the same estimates.
 *
 * - A region's events are those that the backend also counts of the program; what comes from the account of the
 *   process (times, memory) is of the process only.
 * - Entries and exits are those of the first execution; a region whose entries differ between executions says so.
 * - A region that the program names itself is there from the first execution on that has it; where it is missing
 *   it was not entered.
 */
#include <stdlib.h>
#include <string.h>

#include "measure/execution.h"
#include "measure/measurement.h"

static struct region_series *series_of(struct measurement *s, const struct run_region *r)
{
	for (size_t i = 0; i < s->regions.count; i++)
		if (s->regions.items[i]->exclusive == r->exclusive &&
		    strcmp(s->regions.items[i]->name, r->name) == 0 &&
		    strcmp(s->regions.items[i]->text, r->text) == 0)
			return s->regions.items[i];
	struct arena *arena = &s->result->arena;
	struct region_series *new = arena_alloc(arena, sizeof *new);
	if (!new || !(new->name = arena_strdup(arena, r->name)) || !(new->text = arena_strdup(arena, r->text)) ||
	    !(new->series = arena_alloc(arena, (s->n_events + 1) * sizeof *new->series)))
		return NULL;
	new->kind = r->kind;
	new->exclusive = r->exclusive;
	new->entries = r->entries, new->exits = r->exits, new->unbalanced = r->unbalanced,
	new->threads = r->threads;
	new->least = new->most = r->entries;
	new->seen = r->least;
	if (r->why && !(new->why = arena_strdup(arena, r->why)))
		return NULL;
	for (size_t i = 0; i < s->n_events; i++) {
		new->series[i] = (struct series){.event = i, .cpu = -1};
		if (!(new->series[i].counts = arena_alloc(arena,
							  s->options.repetitions * sizeof(struct series_count))))
			return NULL;
	}
	return vec_push(&s->regions, new) ? new : NULL;
}

bool measurement_collect_regions(struct measurement *s, size_t pass, size_t repetition, const struct execution *x)
{
	const struct run *run = &x->run;
	for (size_t i = 0; i < run->n_regions; i++) {
		const struct run_region *r = &run->regions[i];
		struct region_series *series = series_of(s, r);
		if (!series)
			return false;
		if (!run->interrupted) {
			series->least = r->entries < series->least ? r->entries : series->least;
			series->most = r->entries > series->most ? r->entries : series->most;
		}
		for (size_t e = 0; e < x->n_events; e++) {
			size_t event = s->pass_event_index[s->pass_start[pass] + e];
			if (!measurement_keep(s, &series->series[event], repetition, &r->readings[e], NULL,
					      run->interrupted))
				return false;
		}
	}
	return true;
}

static const char *note_of(struct measurement *s, const struct region_series *series)
{
	const char *note = NULL;
	for (size_t i = 0; i < s->target->n_regions; i++)
		if (strcmp(s->target->regions[i].name, series->name) == 0 && series->kind != REGION_LIBRARY)
			note = s->target->regions[i].note;
	if (series->least == series->most)
		return note ? arena_strdup(&s->result->arena, note) : "";
	return arena_printf(&s->result->arena, "%s%sentered %llu to %llu times, by run", note ? note : "",
			    note ? "; " : "", (unsigned long long)series->least, (unsigned long long)series->most);
}

bool measurement_estimate_regions(struct measurement *s, struct series_count *scratch)
{
	struct result *result = s->result;
	struct arena *arena = &result->arena;
	result->regions = arena_alloc(arena, (s->regions.count + 1) * sizeof *result->regions);
	if (!result->regions)
		return false;
	for (size_t i = 0; i < s->regions.count; i++) {
		const struct region_series *series = s->regions.items[i];
		struct region_row *row = &result->regions[i];
		*row = (struct region_row){.name = series->name,
					   .text = series->text,
					   .kind = series->kind,
					   .entries = series->entries,
					   .exits = series->exits,
					   .unbalanced = series->unbalanced,
					   .threads = series->threads,
					   .why = series->why,
					   .least = series->seen,
					   .note = note_of(s, series)};
		row->estimates = arena_alloc(arena, (s->n_events + 1) * sizeof *row->estimates);
		if (!row->estimates || !row->note)
			return false;
		if (!row->note[0])
			row->note = NULL;
		for (size_t event = 0; event < s->n_events; event++) {
			if (s->pass_of[event] == PASS_NONE)
				continue;
			if (!measurement_estimate_one(s, &series->series[event], scratch,
						      &row->estimates[row->n_estimates++]))
				return false;
		}
		result->n_regions++;
	}
	return true;
}
