#include "profile/nested.h"

#include <stdlib.h>

#include "base/vec.h"

static bool add(struct nested_pair **pairs, size_t *capacity, size_t *n, uint32_t from, uint32_t to)
{
	if (!vec_grow((void **)pairs, capacity, *n, sizeof **pairs))
		return false;
	(*pairs)[(*n)++] = (struct nested_pair){from, to};
	return true;
}

bool nested_add_arc(struct nested_lines *l, uint32_t caller, uint32_t callee)
{
	return add(&l->arcs, &l->arc_capacity, &l->n_arcs, caller, callee);
}

bool nested_add_place(struct nested_lines *l, uint32_t line, uint32_t function)
{
	return add(&l->places, &l->place_capacity, &l->n_places, line, function);
}

bool nested_add_call(struct nested_lines *l, uint32_t line, uint32_t callee)
{
	return add(&l->calls, &l->call_capacity, &l->n_calls, line, callee);
}

void nested_free(struct nested_lines *l)
{
	free(l->arcs);
	free(l->places);
	free(l->calls);
	*l = (struct nested_lines){0};
}

/* ---- pairs, sorted: those of one number lie together ---- */

static int by_numbers(const void *a, const void *b)
{
	const struct nested_pair *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Each pair once. */
static size_t sort(struct nested_pair *pairs, size_t n)
{
	size_t kept = 0;
	if (n)
		qsort(pairs, n, sizeof *pairs, by_numbers);
	for (size_t i = 0; i < n; i++)
		if (!kept || by_numbers(&pairs[kept - 1], &pairs[i]))
			pairs[kept++] = pairs[i];
	return kept;
}

/* first[i] … first[i + 1]: the pairs of i. The caller frees it; NULL when memory ran out. */
static size_t *index_of(const struct nested_pair *pairs, size_t n, size_t numbers)
{
	size_t *first = calloc(numbers + 2, sizeof *first), at = 0;
	for (size_t i = 0; first && i <= numbers; i++) {
		while (at < n && pairs[at].from < i)
			at++;
		first[i] = at;
	}
	return first;
}

/* ---- cycles of functions: Tarjan's strongly connected components (SIAM J. Comput. 1, 1972), without recursion
 * ---- */

struct components {
	const struct nested_pair *arcs;
	const size_t *first;
	uint32_t *component; /* by function; two are in one cycle if theirs are equal */
	uint32_t *order, *low, *stack, *path;
	size_t *next;
	size_t n_stack, n_path;
	uint32_t visited;
};

static void enter(struct components *c, uint32_t function)
{
	c->order[function] = c->low[function] = ++c->visited;
	c->next[function] = c->first[function];
	c->stack[c->n_stack++] = function;
	c->path[c->n_path++] = function;
}

static void leave(struct components *c, uint32_t function)
{
	c->n_path--;
	if (c->n_path && c->low[function] < c->low[c->path[c->n_path - 1]])
		c->low[c->path[c->n_path - 1]] = c->low[function];
	if (c->low[function] != c->order[function])
		return;
	uint32_t member;
	do {
		member = c->stack[--c->n_stack];
		c->component[member] = function + 1;
	} while (member != function);
}

static void visit(struct components *c, uint32_t root)
{
	enter(c, root);
	while (c->n_path) {
		uint32_t at = c->path[c->n_path - 1];
		if (c->next[at] == c->first[at + 1]) {
			leave(c, at);
			continue;
		}
		uint32_t callee = c->arcs[c->next[at]++].to;
		if (!c->order[callee])
			enter(c, callee);
		else if (!c->component[callee] && c->order[callee] < c->low[at])
			c->low[at] = c->order[callee];
	}
}

/* [n_functions], the caller's; NULL when memory ran out */
static uint32_t *components_of(const struct nested_lines *l, const size_t *first)
{
	size_t n = l->n_functions + 1;
	struct components c = {.arcs = l->arcs,
			       .first = first,
			       .component = calloc(n, sizeof(uint32_t)),
			       .order = calloc(n, sizeof(uint32_t)),
			       .low = calloc(n, sizeof(uint32_t)),
			       .stack = calloc(n, sizeof(uint32_t)),
			       .path = calloc(n, sizeof(uint32_t)),
			       .next = calloc(n, sizeof(size_t))};
	bool done = c.component && c.order && c.low && c.stack && c.path && c.next;
	for (uint32_t i = 0; done && i < l->n_functions; i++)
		if (!c.order[i])
			visit(&c, i);
	free(c.order);
	free(c.low);
	free(c.stack);
	free(c.path);
	free(c.next);
	if (!done)
		free(c.component);
	return done ? c.component : NULL;
}

/* ---- lines ---- */

struct line_search {
	const struct nested_lines *lines;
	const size_t *arcs, *places, *calls;         /* index_of() */
	uint32_t *component, *wanted, *seen, *to_do; /* by function; wanted, seen: the line plus one */
};

/* Does one of the functions that the line calls lead to one that has code of it? */
static bool comes_back(const struct line_search *s, uint32_t line)
{
	const struct nested_lines *l = s->lines;
	size_t n = 0;
	for (size_t i = s->places[line]; i < s->places[line + 1]; i++)
		s->wanted[l->places[i].to] = line + 1;
	for (size_t i = s->calls[line]; i < s->calls[line + 1]; i++)
		if (s->seen[l->calls[i].to] != line + 1) {
			s->seen[l->calls[i].to] = line + 1;
			s->to_do[n++] = l->calls[i].to;
		}
	while (n) {
		uint32_t at = s->to_do[--n];
		if (s->wanted[at] == line + 1)
			return true;
		for (size_t i = s->arcs[at]; i < s->arcs[at + 1]; i++)
			if (s->seen[l->arcs[i].to] != line + 1) {
				s->seen[l->arcs[i].to] = line + 1;
				s->to_do[n++] = l->arcs[i].to;
			}
	}
	return false;
}

static bool is_nested(const struct line_search *s, uint32_t line)
{
	const struct nested_lines *l = s->lines;
	size_t place = s->places[line];
	if (s->calls[line] == s->calls[line + 1] || place == s->places[line + 1])
		return false;
	if (place + 1 < s->places[line + 1])
		return comes_back(s, line);
	/* nearly all lines: of one function, which has the call, so that only a cycle leads back to it */
	for (size_t i = s->calls[line]; i < s->calls[line + 1]; i++)
		if (s->component[l->calls[i].to] == s->component[l->places[place].to])
			return true;
	return false;
}

bool nested_find(struct nested_lines *l, bool *nested)
{
	l->n_arcs = sort(l->arcs, l->n_arcs);
	l->n_places = sort(l->places, l->n_places);
	l->n_calls = sort(l->calls, l->n_calls);
	size_t *arcs = index_of(l->arcs, l->n_arcs, l->n_functions),
	       *places = index_of(l->places, l->n_places, l->n_lines),
	       *calls = index_of(l->calls, l->n_calls, l->n_lines);
	struct line_search s = {.lines = l,
				.arcs = arcs,
				.places = places,
				.calls = calls,
				.component = arcs ? components_of(l, arcs) : NULL,
				.wanted = calloc(l->n_functions + 1, sizeof(uint32_t)),
				.seen = calloc(l->n_functions + 1, sizeof(uint32_t)),
				.to_do = calloc(l->n_functions + 1, sizeof(uint32_t))};
	bool done = places && calls && s.component && s.wanted && s.seen && s.to_do;
	for (uint32_t i = 0; done && i < l->n_lines; i++)
		nested[i] = is_nested(&s, i);
	free(arcs);
	free(places);
	free(calls);
	free(s.component);
	free(s.wanted);
	free(s.seen);
	free(s.to_do);
	return done;
}

/* ---- rows of functions ---- */

bool nested_rows_find(const struct nested_row_arc *arcs, size_t n_arcs, size_t n_rows, bool *nested)
{
	struct nested_lines rows = {.n_functions = n_rows, .n_lines = n_rows};
	const struct nested_row_arc **first = calloc(n_rows + 1, sizeof *first); /* to each */
	bool *several = calloc(n_rows + 1, sizeof *several), done = first && several;
	for (size_t i = 0; done && i < n_arcs; i++) {
		const struct nested_row_arc *a = &arcs[i], **to = &first[a->callee];
		if (*to && ((*to)->offset != a->offset || (*to)->space != a->space))
			several[a->callee] = true;
		*to = *to ? *to : a;
		done = a->caller == UINT32_MAX || nested_add_arc(&rows, a->caller, a->callee);
	}
	for (size_t i = 0; done && i < n_arcs; i++)
		if (arcs[i].caller != UINT32_MAX && arcs[i].caller != arcs[i].callee && several[arcs[i].caller])
			done = nested_add_place(&rows, arcs[i].caller, arcs[i].caller) &&
			       nested_add_call(&rows, arcs[i].caller, arcs[i].callee);
	done = done && nested_find(&rows, nested);
	nested_free(&rows);
	free(first);
	free(several);
	return done;
}
