/* Lines that call what comes back to them: by hand, and random graphs against a search of all ways. */
#include <stdlib.h>
#include <string.h>

#include "profile/nested.h"
#include "tap.h"

enum { FUNCTIONS = 12, LINES = 16 };

static uint64_t state = 88172645463325252u;

static unsigned random_below(unsigned n)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* Marsaglia's xorshift */
	return (unsigned)(state >> 33) % n;
}

static void need(bool done)
{
	if (!done)
		exit(2);
}

static void by_hand(void)
{
	/* 0 calls 1 (line 0) and 2 (line 1), 1 calls 2 (line 2), 2 calls 1 (line 3) and 3 (line 4); line 5 is in 0 and
	 * in 3, and calls 2 */
	static const struct nested_pair calls[] = {{0, 1}, {1, 2}, {2, 2}, {3, 1}, {4, 3}, {5, 2}};
	static const unsigned caller[] = {0, 0, 1, 2, 2, 0};
	struct nested_lines lines = {.n_functions = 4, .n_lines = 7};
	bool nested[7];
	for (unsigned i = 0; i < 6; i++) {
		need(nested_add_place(&lines, calls[i].from, caller[i]));
		need(nested_add_call(&lines, calls[i].from, calls[i].to));
		need(nested_add_arc(&lines, caller[i], calls[i].to));
	}
	need(nested_add_place(&lines, 5, 3) && nested_add_place(&lines, 6, 2) && nested_find(&lines, nested));
	ok(!nested[0] && !nested[1], "a line that calls a recursion from outside is not nested");
	ok(nested[2] && nested[3], "lines of two functions that call each other are");
	ok(!nested[4], "a call that leaves the recursion is not");
	ok(nested[5], "a line in two functions, of which one leads to the other by a call from it, is");
	ok(!nested[6], "a line that does not call is not");
	nested_free(&lines);
}

static void of_functions(void)
{
	/* row 0 begins; 1 has functions 1 and 2, and calls 2, which calls 1: a recursion by way of another row; 3 has
	 * two functions that call each other; 4 is a function that calls 5, which calls it */
	static const struct nested_row_arc arcs[] = {
		{UINT32_MAX, 0, 0, 0}, {0, 1, 7, 1}, {1, 2, 7, 1}, {2, 1, 7, 2}, {0, 3, 7, 1},
		{3, 3, 7, 2},          {3, 3, 7, 1}, {0, 4, 7, 1}, {4, 5, 7, 1}, {5, 4, 7, 1},
		{3, 5, 7, 1},          {0, 6, 7, 1}, {6, 2, 7, 1}, {2, 6, 8, 1}, {6, 5, 7, 1},
	};
	bool nested[7];
	need(nested_rows_find(arcs, sizeof arcs / sizeof *arcs, 7, nested));
	ok(nested[1], "a row of two functions that comes back to itself by way of another one is nested");
	ok(nested[6], "also if the functions have one offset, of two processes or modules");
	ok(!nested[0] && !nested[2], "those around it are not: each is of one function");
	ok(!nested[3],
	   "functions of a row that only call each other are not: what leaves the row does not come back");
	ok(!nested[4] && !nested[5], "a recursion of functions that have rows of their own is not");
	ok(nested_rows_find(NULL, 0, 3, nested) && !nested[0] && !nested[1] && !nested[2], "without arcs none is");
}

static bool leads_to(bool arcs[FUNCTIONS][FUNCTIONS], unsigned from, unsigned to)
{
	return from == to || arcs[from][to];
}

/* Warshall: all that is reached */
static void close_arcs(bool arcs[FUNCTIONS][FUNCTIONS])
{
	for (unsigned k = 0; k < FUNCTIONS; k++)
		for (unsigned i = 0; i < FUNCTIONS; i++)
			for (unsigned j = 0; j < FUNCTIONS; j++)
				arcs[i][j] |= arcs[i][k] && arcs[k][j];
}

static bool random_graph(unsigned n_calls)
{
	bool arcs[FUNCTIONS][FUNCTIONS] = {{0}}, places[LINES][FUNCTIONS] = {{0}}, calls[LINES][FUNCTIONS] = {{0}};
	struct nested_lines lines = {.n_functions = FUNCTIONS, .n_lines = LINES};
	bool nested[LINES], same = true;
	for (unsigned i = 0; i < n_calls; i++) {
		unsigned line = random_below(LINES),
			 caller = random_below(4) ? line % FUNCTIONS : random_below(FUNCTIONS),
			 callee = random_below(FUNCTIONS);
		places[line][caller] = calls[line][callee] = arcs[caller][callee] = true;
		need(nested_add_place(&lines, line, caller) && nested_add_call(&lines, line, callee) &&
		     nested_add_arc(&lines, caller, callee));
	}
	close_arcs(arcs);
	need(nested_find(&lines, nested));
	for (unsigned line = 0; line < LINES; line++) {
		bool expected = false;
		for (unsigned callee = 0; callee < FUNCTIONS; callee++)
			for (unsigned f = 0; f < FUNCTIONS; f++)
				expected |= calls[line][callee] && places[line][f] && leads_to(arcs, callee, f);
		same &= nested[line] == expected;
	}
	nested_free(&lines);
	return same;
}

int main(void)
{
	bool same = true;
	by_hand();
	of_functions();
	for (unsigned i = 0; i < 20000; i++)
		same &= random_graph(1 + i % 30);
	ok(same, "20000 random graphs: as a search of all ways has it");
	return done();
}
