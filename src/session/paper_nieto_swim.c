/* Nieto et al., sections 4.1 and 4.2 (Table 1): the loop DO 100 of SPEC 2000's swim, compiled in four ways by
 * gfortran (kernels/swim.f90). Of each: what all of it counts, what the loop's own code counts of that, and
 * what that code must count as its instructions tell. */
#include <stdio.h>
#include <string.h>

#include "session/paper_inside.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { VERSIONS = PAPER_SWIMS, METRICS = 4, SIDE = 512, SIDE_QUICK = 128 };
/* N = M = 512, 120 times */
static const double THEIR_ITERATIONS = 512.0 * 512 * 120;

static const char *const kernels[VERSIONS] = {"swim-d0", "swim-r8d0", "swim-e0", "swim-r8e0"};
static const char *const printed[VERSIONS] = {"SwimD0", "SwimR8D0", "SwimE0", "SwimR8E0"};
static const char *const requests[METRICS] = {"loads:u", "stores:u", "instructions:u", "calls:u"};
static const struct {
	const char *name, *row; /* row: of Table 1; NULL: the paper has none */
} metrics[METRICS] = {
	{"loads", "PM_LD_CMPL"}, {"stores", "PM_ST_CMPL"}, {"instructions", "PM_INST_CMPL"}, {"calls", NULL}};

struct swim_seen {
	double side;
	struct paper_split counts[VERSIONS][METRICS];
	double predicted[VERSIONS][METRICS];
};

static bool count(struct paper_work *w, struct swim_seen *s, const char *const *programs)
{
	char number[24];
	s->side = w->asked->quick ? SIDE_QUICK : SIDE;
	snprintf(number, sizeof number, "%.0f", s->side);
	for (size_t v = 0; v < VERSIONS; v++) {
		const char *argv[] = {programs[v], number, NULL};
		if (w->asked->progress)
			w->asked->progress(w->asked->progress_context, kernels[v], w->done++, w->all);
		if (!paper_split(w, "exact", requests, METRICS, argv, "kernel_body", "kernel_body",
				 s->counts[v]) ||
		    !paper_predict(w, programs[v], "kernel_body", requests, METRICS, s->side, s->predicted[v]))
			return false;
	}
	return true;
}

static const char *each(struct paper_work *w, double value) { return paper_printf(w, "%.2f", value); }

enum swim_row { WHOLE, OWN, CODE };

static bool tell_row(struct paper_work *w, struct paper_block *block, const struct swim_seen *s, size_t m,
		     enum swim_row row)
{
	const char *cells[2 + VERSIONS];
	double iterations = s->side * s->side;
	cells[0] = row == WHOLE ? metrics[m].name
		   : row == OWN ? paper_printf(w, "%s, own code", metrics[m].name)
				: paper_printf(w, "%s, predicted", metrics[m].name);
	cells[1] = row == CODE ? "arithmetic" : s->counts[0][m].known ? s->counts[0][m].source : "not counted";
	for (size_t v = 0; v < VERSIONS; v++) {
		const struct paper_split *c = &s->counts[v][m];
		cells[2 + v] = row == CODE ? each(w, s->predicted[v][m] / iterations)
			       : c->known  ? each(w, (row == OWN ? c->own : c->all) / iterations)
					   : "–";
	}
	return paper_row_of(w, block, cells);
}

static bool tell_printed(struct paper_work *w, struct paper_block *block, const struct paper_table *t,
			 const char *name, const char *row)
{
	const char *cells[2 + VERSIONS] = {name, "paper"};
	for (size_t v = 0; v < VERSIONS; v++)
		cells[2 + v] = each(w, paper_number(paper_cell(t, row, printed[v])) / THEIR_ITERATIONS);
	return paper_row_of(w, block, cells);
}

static bool tell(struct paper_work *w, const struct paper_table *t, const struct swim_seen *s)
{
	static const char *const columns[] = {"an iteration", "source",   "SwimD0", "SwimR8D0",
					      "SwimE0",       "SwimR8E0", NULL};
	if (!paper_heading(
		    w, paper_printf(w, "%s, here", t->number),
		    paper_printf(w, "an iteration of the inner loop, %.0f x %.0f points", s->side, s->side)))
		return false;
	struct paper_block *block = paper_table_block(w, columns);
	bool done = block != NULL;
	for (size_t m = 0; done && m < METRICS; m++) {
		done = (!metrics[m].row || tell_printed(w, block, t, metrics[m].name, metrics[m].row)) &&
		       tell_row(w, block, s, m, WHOLE) && tell_row(w, block, s, m, OWN) &&
		       tell_row(w, block, s, m, CODE);
	}
	return done && tell_printed(w, block, t, "cycles", "PM_CYC");
}

static bool tell_differences(struct paper_work *w, const struct paper_table *t, const struct swim_seen *s)
{
	enum { LOADS, STORES, INSTRUCTIONS, CALLS };
	double iterations = s->side * s->side;
	const char *row = metrics[INSTRUCTIONS].row;
	return paper_text(w,
			  "The four versions are alike but for SwimR8D0, here as in the paper: its .5D0 and .25D0 "
			  "have 16 bytes. Its "
			  "instructions are %.1f times SwimD0's in the paper, and %.1f times here. Power's number "
			  "of 16 bytes is a "
			  "pair of doubles, which takes a few instructions; x86-64's is IEEE's quadruple "
			  "precision, by functions "
			  "of libgcc (%.0f calls an iteration).",
			  paper_number(paper_cell(t, row, "SwimR8D0")) /
				  paper_number(paper_cell(t, row, "SwimD0")),
			  s->counts[1][INSTRUCTIONS].all / s->counts[0][INSTRUCTIONS].all,
			  s->counts[1][CALLS].all / iterations) &&
	       paper_text(w,
			  "Loads: theirs are %.2f an iteration of SwimD0, ours %.2f. gfortran keeps what one "
			  "iteration reads of a row "
			  "in registers for the next one. Stores: four an iteration are the program's; what "
			  "theirs have more (5.49) saves "
			  "registers to memory, because there are not enough of them (section 4.2). Ours are "
			  "%.2f. In SwimR8D0 it is the other "
			  "way round: theirs are 4.00, ours save operands around each call.",
			  paper_number(paper_cell(t, metrics[LOADS].row, "SwimD0")) / THEIR_ITERATIONS,
			  s->counts[0][LOADS].all / iterations, s->counts[0][STORES].all / iterations) &&
	       paper_text(w, "What the loop's own code counts, without what it calls, is predicted from its "
			     "instructions alone ('tare predict'): each block times "
			     "the iterations of the loops around it. What it calls depends on the numbers, and is "
			     "not predicted.") &&
	       paper_missing(w, "Cycles and execution time: they are of a clock, and a model has none; 'tare "
				"count -e cycles' counts them on a "
				"machine that has the counter.");
}

bool paper_nieto_swim(struct paper_work *w)
{
	struct paper_table t;
	struct swim_seen s = {0};
	const char *programs[VERSIONS];
	if (!paper_find(w, "nieto-1", &t) || !paper_printed(w, &t))
		return false;
	for (size_t v = 0; v < VERSIONS; v++)
		if (!(programs[v] = paper_program(w, paper_printf(w, "%s-region", kernels[v]))))
			return w->err->code == ERROR_NOT_FOUND &&
			       paper_missing(w,
					     "Table 1 here: %s (it needs a Fortran compiler when tare is built).",
					     w->err->text);
	return count(w, &s, programs) && tell(w, &t, &s) && tell_differences(w, &t, &s);
}
