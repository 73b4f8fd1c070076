#include "report/profile_calls.h"

#include <stdlib.h>

static void add_saturated(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static uint32_t row_of_node(const struct named_profile *n, uint32_t node)
{
	const struct named_place *place = &n->places[n->place_of_node[node]];
	return n->functions[n->frames[place->first_frame + place->n_frames - 1].function].row;
}

/* One stack: the row above the function's outermost call, and below its innermost one. */
struct call_passage {
	bool found, is_leaf;
	unsigned times;
	uint32_t caller, callee;
};

static struct call_passage pass(const struct named_profile *n, uint32_t leaf, uint32_t row)
{
	struct call_passage p = {.caller = PROFILE_NO_CALLER};
	uint32_t below = PROFILE_NO_CALLER;
	for (uint32_t node = leaf; node; node = n->profile->nodes[node].parent) {
		uint32_t here = row_of_node(n, node);
		if (here == row) {
			if (!p.found) {
				p.is_leaf = node == leaf;
				p.callee = below;
			}
			p.found = true;
			p.times++;
			uint32_t parent = n->profile->nodes[node].parent;
			p.caller = parent ? row_of_node(n, parent) : PROFILE_NO_CALLER;
		}
		below = here;
	}
	return p;
}

static int larger_first(const void *a, const void *b)
{
	const struct profile_call *x = a, *y = b;
	if (y->count != x->count)
		return y->count < x->count ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Of all rows, and behind them "(none)". */
struct call_sums {
	struct profile_call *callers, *callees;
	size_t n;
};

static bool list(const struct profile_call *sums, size_t rows, struct profile_call **out, size_t *n)
{
	*n = 0;
	if (!(*out = calloc(rows + 1, sizeof **out)))
		return false;
	for (size_t i = 0; i <= rows; i++) {
		if (!sums[i].count && !sums[i].calls)
			continue;
		(*out)[*n] = sums[i];
		(*out)[(*n)++].row = i < rows ? (uint32_t)i : PROFILE_NO_CALLER;
	}
	qsort(*out, *n, sizeof **out, larger_first);
	return true;
}

static void add_stacks(const struct named_profile *named, uint32_t row, size_t event, struct call_sums *sums,
		       struct profile_calls *out)
{
	const struct profile *p = named->profile;
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct profile_cell *c = &p->cells[i];
		if (c->event != event || named->place_of_node[c->node] == UINT32_MAX)
			continue;
		struct call_passage at = pass(named, c->node, row);
		if (!at.found)
			continue;
		add_saturated(&out->inclusive, c->count);
		add_saturated(&sums->callers[at.caller == PROFILE_NO_CALLER ? sums->n : at.caller].count,
			      c->count);
		add_saturated(at.is_leaf ? &out->self : &sums->callees[at.callee].count, c->count);
		out->recursive |= at.times > 1;
	}
}

/* Arcs have 0 where the function is active already: the outermost call has it. */
static void add_arcs(const struct named_profile *named, uint32_t row, size_t event, struct call_sums *sums,
		     struct profile_calls *out)
{
	const struct named_count *own = &named->by_function.rows[row].counts[event];
	out->counted = true;
	out->self = own->self;
	out->inclusive = own->inclusive;
	out->nested = own->nested;
	for (size_t i = 0; i < named->n_arcs; i++) {
		const struct named_arc *arc = &named->arcs[i];
		if (arc->callee == row) {
			struct profile_call *call =
				&sums->callers[arc->caller == PROFILE_NO_CALLER ? sums->n : arc->caller];
			add_saturated(&call->calls, arc->calls);
			add_saturated(&call->count, arc->caller == row ? 0 : arc->inclusive[event]);
		}
		if (arc->caller == row) {
			add_saturated(&sums->callees[arc->callee].calls, arc->calls);
			add_saturated(&sums->callees[arc->callee].count,
				      arc->callee == row ? 0 : arc->inclusive[event]);
		}
		out->recursive |= arc->caller == row && arc->callee == row;
	}
}

bool profile_calls_of(const struct named_profile *named, uint32_t row, size_t event, struct profile_calls *out)
{
	size_t rows = named->by_function.n;
	struct call_sums sums = {.callers = calloc(rows + 1, sizeof *sums.callers),
				 .callees = calloc(rows + 1, sizeof *sums.callees),
				 .n = rows};
	*out = (struct profile_calls){0};
	bool done = sums.callers && sums.callees;
	if (done && named->n_arcs)
		add_arcs(named, row, event, &sums, out);
	else if (done)
		add_stacks(named, row, event, &sums, out);
	done = done && list(sums.callers, rows, &out->callers, &out->n_callers) &&
	       list(sums.callees, rows, &out->callees, &out->n_callees);
	free(sums.callers);
	free(sums.callees);
	if (!done)
		profile_calls_free(out);
	return done;
}

void profile_calls_free(struct profile_calls *calls)
{
	free(calls->callers);
	free(calls->callees);
	*calls = (struct profile_calls){0};
}
