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

/* sums[rows + 1], the last one of "(none)", as a list. */
static bool list(const uint64_t *sums, size_t rows, struct profile_call **out, size_t *n)
{
	*n = 0;
	if (!(*out = calloc(rows + 1, sizeof **out)))
		return false;
	for (size_t i = 0; i <= rows; i++)
		if (sums[i])
			(*out)[(*n)++] = (struct profile_call){i < rows ? (uint32_t)i : PROFILE_NO_CALLER,
							       sums[i]};
	qsort(*out, *n, sizeof **out, larger_first);
	return true;
}

bool profile_calls_of(const struct named_profile *named, uint32_t row, size_t event, struct profile_calls *out)
{
	const struct profile *p = named->profile;
	size_t rows = named->by_function.n;
	uint64_t *callers = calloc(rows + 1, sizeof *callers), *callees = calloc(rows + 1, sizeof *callees);
	*out = (struct profile_calls){0};
	bool done = callers && callees;
	for (size_t i = 0; done && i < p->n_cells; i++) {
		const struct profile_cell *c = &p->cells[i];
		if (c->event != event || named->place_of_node[c->node] == UINT32_MAX)
			continue;
		struct call_passage at = pass(named, c->node, row);
		if (!at.found)
			continue;
		add_saturated(&out->inclusive, c->count);
		add_saturated(&callers[at.caller == PROFILE_NO_CALLER ? rows : at.caller], c->count);
		add_saturated(at.is_leaf ? &out->self : &callees[at.callee], c->count);
		out->recursive |= at.times > 1;
	}
	done = done && list(callers, rows, &out->callers, &out->n_callers) &&
	       list(callees, rows, &out->callees, &out->n_callees);
	free(callers);
	free(callees);
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
