/* Advice on branches and on what is computed. See advice.h. */
#include <math.h>
#include <string.h>

#include "explain/advice_rules.h"

/* Turns that a predictor's history can hold are predicted; and so short a loop can be unrolled. */
static const double SHORT_TURNS = 16;
/* A branch that goes either way as often goes by data, wherever compilers put its two sides. */
static const double LEAST_TURNS = 2.5;
static const double OFTEN_MISPREDICTED = 0.1;
/* The end of a loop is mispredicted once each time. A branch that is wrong more often than it leaves goes by
 * data. */
static const double ONCE_EACH = 1.1;

void advice_on_branches(struct giving *g)
{
	double all = advice_count(g, EVIDENCE_CONDITIONAL), taken = advice_count(g, EVIDENCE_TAKEN),
	       missed = advice_count(g, EVIDENCE_MISPREDICTED), fixed = advice_count(g, EVIDENCE_STATIC_MISSES),
	       left = all - taken, seconds = missed * advice_typical(g, OPERATION_BRANCH_MISS);
	bool worth = isnan(seconds) ? advice_is_often(g, missed) : advice_is_worth(seconds, g->busy);
	if (!worth || !(all > 0))
		return;
	/* "backward taken" is wrong when a backward branch is not taken, and when a forward one is */
	bool loop = fabs(fixed - left) < fabs(fixed - taken) && all >= LEAST_TURNS * left;
	if (loop && left > 0 && all / left <= SHORT_TURNS && missed >= ADVICE_MOST * fmin(left, taken) &&
	    missed <= ONCE_EACH * left)
		advice_say(
			g, "short-loop", seconds,
			arena_printf(
				&g->e->arena,
				"Unroll the loop, or give it a fixed number of turns: it has %.1f turns in the "
				"mean, and "
				"the predictor does not know when it ends.",
				all / left),
			arena_printf(&g->e->arena,
				     "%s of %s executions of its branch were mispredicted; it was left %s times.",
				     GROUPED(missed), GROUPED(all), GROUPED(left)));
	else if ((!loop || missed > ONCE_EACH * left) && missed >= OFTEN_MISPREDICTED * all)
		advice_say(g, "unpredictable-branch", seconds,
			   "Replace the branch by arithmetic or a conditional move, or sort the data: which way "
			   "it goes "
			   "depends "
			   "on data without a pattern.",
			   arena_printf(&g->e->arena, "%s of %s executions (%.0f %%) were mispredicted.",
					GROUPED(missed), GROUPED(all), 100 * missed / all));
}

/* ---- what is computed ---- */

/* Of all instructions: a function that has so many is the one to look at. */
static const double MUCH = 0.25;

void advice_on_conversions(struct giving *g)
{
	double conversions = advice_count(g, EVIDENCE_CONVERSIONS),
	       operations = advice_count(g, EVIDENCE_FP_OPERATIONS),
	       seconds = conversions * advice_typical(g, OPERATION_INSTRUCTION);
	if (!advice_is_worth(seconds, g->busy) || !(conversions >= ADVICE_MOST * operations))
		return;
	advice_say(g, "conversions", seconds,
		   "Keep to one precision: numbers are converted between single and double to be computed with. "
		   "In C a "
		   "constant is double unless it ends with f (1.5f).",
		   arena_printf(&g->e->arena,
				"%s conversions between precisions, for %s floating-point operations.",
				GROUPED(conversions), GROUPED(operations)));
}

static double of_function(const struct giving *g, const struct evidence_row *row, enum evidence kind)
{
	return evidence_count(g->functions, row, kind);
}

/* Of all functions. Threads that wait by running count otherwise in each execution: shares are of this one. */
static double of_functions(const struct giving *g, enum evidence kind) { return evidence_sum(g->functions, kind); }

/* Seconds of so many of the functions' instructions, in the execution that is explained. */
static double computing_seconds(const struct giving *g, double instructions)
{
	double all = of_functions(g, EVIDENCE_INSTRUCTIONS);
	return all > 0 ? instructions / all * g->instructions * advice_typical(g, OPERATION_INSTRUCTION) : NAN;
}

/* The line that has most of it. What is inlined has another name by line: then the one that has most of all, if it
 * has more than all other functions together, so that it is in this one. */
static struct advice_line line_in(const struct giving *g, const struct evidence_row *function, enum evidence kind)
{
	const struct evidence_row *most = advice_most(g, kind, function->function);
	if (!most) {
		double others = of_functions(g, kind) - of_function(g, function, kind);
		most = advice_most(g, kind, NULL);
		most = most && evidence_count(g->evidence, most, kind) > others ? most : NULL;
	}
	return advice_line_of(most);
}

/* Functions whose instructions are scalar arithmetic mostly: vectors do more than one operation an instruction. */
static void arithmetic(struct giving *g, const struct evidence_row *row)
{
	double instructions = of_function(g, row, EVIDENCE_INSTRUCTIONS),
	       operations = of_function(g, row, EVIDENCE_FP_OPERATIONS),
	       seconds = computing_seconds(g, operations);
	if (!(operations >= ADVICE_MOST * instructions) || operations > instructions ||
	    !advice_is_worth(seconds, g->busy))
		return;
	const struct advice_line line = line_in(g, row, EVIDENCE_FP_OPERATIONS);
	g->row = row;
	advice_say_at(
		g, "arithmetic", seconds,
		"Look for a cheaper way to the same numbers: an instruction of the processor that does it (square "
		"root, division, multiply-add), vector instructions (-O3, -march=native), or fewer operations.",
		arena_printf(&g->e->arena,
			     "%s of the function's %s instructions are floating-point operations on single "
			     "numbers.",
			     GROUPED(operations), GROUPED(instructions)),
		&line);
	g->row = NULL;
}

/* Functions by which compilers compute with numbers of 16 bytes, which no register holds: __multf3,
 * __extenddftf2 … (GCC Internals, "Routines for floating point emulation"; tf is the mode of such a number). */
static bool computes_long_numbers(const char *name)
{
	static const char *const begin[] = {"__add",    "__sub",   "__mul",    "__div",  "__neg",
					    "__extend", "__trunc", "__fixuns", "__fix",  "__floatun",
					    "__float",  "__eq",    "__ne",     "__lt",   "__le",
					    "__gt",     "__ge",    "__cmp",    "__unord"};
	static const char *const modes[] = {"tf", "sf", "df", "xf", "hf", "bf", "si", "di", "ti", "2", "3"};
	bool is_long = false;
	size_t at = 0, i;
	for (i = 0; i < sizeof begin / sizeof *begin && !at; i++)
		at = strncmp(name, begin[i], strlen(begin[i])) == 0 ? strlen(begin[i]) : 0;
	while (at && name[at]) {
		for (i = 0; i < sizeof modes / sizeof *modes; i++)
			if (strncmp(name + at, modes[i], strlen(modes[i])) == 0)
				break;
		if (i == sizeof modes / sizeof *modes)
			return false;
		is_long |= i == 0;
		at += strlen(modes[i]);
	}
	return is_long;
}

/* The line that calls most, where lines are known. */
static const char *most_calls(struct giving *g, const struct evidence_row *most)
{
	if (!most)
		return "";
	const char *slash = strrchr(most->file, '/');
	return arena_printf(&g->e->arena, " The line with the most calls is %s:%u (%s).",
			    slash ? slash + 1 : most->file, most->line,
			    GROUPED(evidence_count(g->evidence, most, EVIDENCE_CALLS)));
}

static void long_numbers(struct giving *g)
{
	double of = 0, most = 0;
	const char *name = NULL;
	for (size_t i = 0; i < g->functions->rows.count; i++) {
		const struct evidence_row *row = &g->functions->rows.items[i];
		double own = of_function(g, row, EVIDENCE_INSTRUCTIONS);
		if (!computes_long_numbers(row->function) || isnan(own))
			continue;
		of += own;
		if (own > most) {
			most = own;
			name = row->function;
		}
	}
	double seconds = computing_seconds(g, of);
	if (!name || !advice_is_worth(seconds, g->busy))
		return;
	const struct evidence_row *calling = advice_most(g, EVIDENCE_CALLS, NULL);
	const struct advice_line line = advice_line_of(calling);
	advice_say_at(
		g, "long-numbers", seconds,
		"Compute with numbers that a register holds: those of 16 bytes (real(16), _Float128) are "
		"computed with "
		"by functions. A compiler switch may have made constants so long (-fdefault-real-8 and .5D0).",
		arena_printf(&g->e->arena, "%s of %s instructions are of such functions, those of %s most.%s",
			     GROUPED(of), GROUPED(of_functions(g, EVIDENCE_INSTRUCTIONS)), name,
			     most_calls(g, calling)),
		&line);
}

/* ---- locks and atomic operations. What one of them costs, no table says. ---- */

static void locked(struct giving *g)
{
	double all = evidence_sum(g->evidence, EVIDENCE_LOCKED),
	       moved = evidence_sum(g->evidence, EVIDENCE_TRUE_SHARING);
	if (!(all > 0) || !advice_is_often(g, all))
		return;
	const char *shared = isnan(moved)
				     ? ""
				     : arena_printf(&g->e->arena,
						    " %s accesses missed because another thread had written what "
						    "they needed.",
						    GROUPED(moved));
	advice_say_at(
		g, "locked-often", NAN,
		"Take locks, and count atomically, less often: collect in each thread what it has, and add it up "
		"once. "
		"A locked instruction waits for all accesses before it, and its line goes from thread to thread.",
		arena_printf(&g->e->arena, "%s locked instructions, one in %.0f instructions.%s", GROUPED(all),
			     g->instructions / all, shared),
		&g->facts->locking);
}

void advice_on_computing(struct giving *g)
{
	for (size_t i = 0; i < g->functions->rows.count; i++)
		arithmetic(g, &g->functions->rows.items[i]);
	long_numbers(g);
	locked(g);
}

void advice_on_most_work(struct giving *g)
{
	const struct evidence_row *most = NULL;
	double own = 0;
	for (size_t i = 0; i < g->functions->rows.count; i++) {
		const struct evidence_row *row = &g->functions->rows.items[i];
		double of = of_function(g, row, EVIDENCE_INSTRUCTIONS);
		if (of > own) {
			own = of;
			most = row;
		}
	}
	double seconds = computing_seconds(g, own), all = of_functions(g, EVIDENCE_INSTRUCTIONS);
	if (!most || !(own >= MUCH * all) || !advice_is_worth(seconds, g->busy))
		return;
	const struct advice_line line = line_in(g, most, EVIDENCE_INSTRUCTIONS);
	g->row = most;
	advice_say_at(g, "most-work", seconds,
		      "Look at what this function computes, at who calls it, and how often ('tare profile'): no "
		      "other rule "
		      "applies.",
		      arena_printf(&g->e->arena, "%s of %s instructions are its own (%.0f %%).", GROUPED(own),
				   GROUPED(all), 100 * own / all),
		      &line);
	g->row = NULL;
}
