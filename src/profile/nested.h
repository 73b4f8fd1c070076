/*
 * Which source lines call what comes back to them. What took place in such a line and in its calls cannot be added
 * up from an exact call graph: a call of a function that is active already adds nothing to its arc (struct
 * profile_arc), and the outermost call also has the inner executions of the line in it. Of all other lines the
 * inclusive count is their own and that of their calls.
 *
 * A line is nested if one of the functions that it calls leads, by arcs, to a function that has code of this line.
 *
 * The same holds of a row of several functions (all code that a process made as it ran and that has no name is in
 * one row): it is nested if something else that one of them calls leads back to the row. What a recursion of a
 * single function counts is known.
 */
#ifndef TARE_PROFILE_NESTED_H
#define TARE_PROFILE_NESTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nested_pair {
	uint32_t from, to;
};

/* Functions and lines are numbers below n_functions and n_lines. Pairs may be there more than once, in any order.
 */
struct nested_lines {
	size_t n_functions, n_lines;
	struct nested_pair *arcs; /* caller, callee */
	size_t n_arcs, arc_capacity;
	struct nested_pair *places; /* line, a function that has code of it */
	size_t n_places, place_capacity;
	struct nested_pair *calls; /* line, a function that it calls */
	size_t n_calls, call_capacity;
};

/* Each returns false when memory ran out. */
bool nested_add_arc(struct nested_lines *lines, uint32_t caller, uint32_t callee);
bool nested_add_place(struct nested_lines *lines, uint32_t line, uint32_t function);
bool nested_add_call(struct nested_lines *lines, uint32_t line, uint32_t callee);

/* nested[n_lines]. Sorts the pairs. */
bool nested_find(struct nested_lines *lines, bool *nested);

void nested_free(struct nested_lines *lines);

struct nested_row_arc {
	uint32_t caller, callee; /* rows; no caller: UINT32_MAX */
	uint32_t space;          /* with offset: which of the callee's functions it is */
	uint64_t offset;
};
/* nested[n_rows], of rows of functions. False when memory ran out. */
bool nested_rows_find(const struct nested_row_arc *arcs, size_t n_arcs, size_t n_rows, bool *nested);

#endif
