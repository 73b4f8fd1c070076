#include "profile/inclusive.h"

#include <stdlib.h>

#include "profile/nested.h"

static void add_saturated(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static bool find_nested(const struct named_profile *out, const struct profile *p, bool *nested)
{
	struct nested_row_arc *arcs = calloc(out->n_arcs + 1, sizeof *arcs);
	for (size_t i = 0; arcs && i < out->n_arcs; i++)
		arcs[i] = (struct nested_row_arc){.caller = out->arcs[i].caller,
						  .callee = out->arcs[i].callee,
						  .space = p->arcs[i].callee_module,
						  .offset = p->arcs[i].callee_offset};
	bool done = arcs && nested_rows_find(arcs, out->n_arcs, out->by_function.n, nested);
	free(arcs);
	return done;
}

static bool add_to_functions(struct named_profile *out, const struct profile *p)
{
	struct named_table *functions = &out->by_function;
	bool *nested = calloc(functions->n + 1, sizeof *nested);
	bool done = nested && find_nested(out, p, nested);
	for (size_t i = 0; i < functions->n; i++)
		for (size_t e = 0; e < p->n_events; e++)
			functions->rows[i].counts[e].inclusive = 0;
	for (size_t i = 0; i < out->n_arcs; i++) {
		const struct named_arc *arc = &out->arcs[i];
		for (size_t e = 0; arc->caller != arc->callee && e < p->n_events; e++)
			add_saturated(&functions->rows[arc->callee].counts[e].inclusive, arc->inclusive[e]);
	}
	for (size_t i = 0; done && i < functions->n; i++)
		for (size_t e = 0; e < p->n_events; e++) {
			struct named_count *count = &functions->rows[i].counts[e];
			/* a place in no function is a row of its own; to most of them no call leads, and to
			 * others control also comes otherwise */
			count->nested = nested[i] || (count->inclusive && count->inclusive < count->self);
			if (count->nested || !count->inclusive)
				count->inclusive = count->self;
		}
	free(nested);
	return done;
}

/* Does an inner level of the place have the line, too? */
static bool is_there(const struct named_profile *n, const struct named_place *place, uint32_t level)
{
	for (uint32_t i = 0; i < level; i++)
		if (n->frames[place->first_frame + i].line_row == n->frames[place->first_frame + level].line_row)
			return true;
	return false;
}

static uint32_t function_of(const struct named_profile *n, const struct named_place *place)
{
	return n->functions[n->frames[place->first_frame + place->n_frames - 1].function].row;
}

/* The lines' counts are there already, with what was inlined in them. */
static bool add_to_lines(struct named_profile *out, const struct profile *p)
{
	struct named_table *lines = &out->by_line;
	struct nested_lines pairs = {.n_functions = out->by_function.n, .n_lines = lines->n};
	bool *nested = calloc(lines->n + 1, sizeof *nested), done = nested != NULL;
	for (size_t i = 0; done && i < out->n_places; i++) {
		const struct named_place *place = &out->places[i];
		for (uint32_t level = 0; done && level < place->n_frames; level++)
			done = nested_add_place(&pairs, out->frames[place->first_frame + level].line_row,
						function_of(out, place));
	}
	for (size_t i = 0; done && i < out->n_arcs; i++) {
		const struct named_arc *arc = &out->arcs[i];
		if (arc->caller == UINT32_MAX)
			continue;
		const struct named_place *place = &out->places[arc->place];
		done = nested_add_arc(&pairs, arc->caller, arc->callee);
		for (uint32_t level = 0; done && level < place->n_frames; level++) {
			uint32_t line = out->frames[place->first_frame + level].line_row;
			done = nested_add_call(&pairs, line, arc->callee);
			lines->rows[line].calls = true;
			for (size_t e = 0; !is_there(out, place, level) && e < p->n_events; e++)
				add_saturated(&lines->rows[line].counts[e].inclusive, arc->inclusive[e]);
		}
	}
	done = done && nested_find(&pairs, nested);
	for (size_t i = 0; done && i < lines->n; i++)
		for (size_t e = 0; nested[i] && e < p->n_events; e++)
			lines->rows[i].counts[e].nested = true;
	nested_free(&pairs);
	free(nested);
	return done;
}

bool named_add_arcs(struct named_profile *out, const struct profile *p)
{
	if (!p->n_arcs)
		return true;
	out->has_inclusive = true;
	return add_to_functions(out, p) && add_to_lines(out, p);
}
